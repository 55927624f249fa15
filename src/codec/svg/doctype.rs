//! Document types: what their entities stand for, and which attributes elements have by default.

use std::collections::BTreeMap;

use super::{
    damaged,
    entities::{is_space, name, opaque, reference},
};
use crate::{control::Run, error::Result, limits::within};

/// Entities of a document type.
pub(super) const ENTITIES: u64 = 10_000;
/// Entities that need not be declared, and stay what they are if they are.
const PREDEFINED: [&str; 5] = ["amp", "apos", "gt", "lt", "quot"];

/// What a document type declares.
#[derive(Debug, Default)]
pub(super) struct Doctype<'a> {
    /// The replacement texts of internal entities.
    pub entities: BTreeMap<&'a str, String>,
    /// The attributes that elements of a name have where they do not say otherwise.
    pub defaults: BTreeMap<&'a str, BTreeMap<&'a str, &'a str>>,
}

impl<'a> Doctype<'a> {
    /// Reads the document type that `text` begins with, and the text behind it.
    pub(super) fn read(text: &'a str, run: Run<'_>) -> Result<(Self, &'a str)> {
        let mut reader = Reader { rest: text };
        let doctype = reader.doctype(run)?.ok_or_else(|| damaged("has a document type that is not well-formed"))?;
        Ok((doctype, reader.rest))
    }
}

/// What is left of a document type.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    /// `None` where the document type is not well-formed.
    fn doctype(&mut self, run: Run<'_>) -> Result<Option<Doctype<'a>>> {
        let mut declared = Doctype::default();
        let opened = self.take("<!DOCTYPE") && self.space() && self.name().is_some() && self.external().is_some();
        self.space();
        if opened && self.take(">") {
            return Ok(Some(declared));
        }
        if !opened || !self.take("[") {
            return Ok(None);
        }
        loop {
            self.space();
            if self.take("]") {
                self.space();
                return Ok(self.take(">").then_some(declared));
            }
            run.check()?;
            if let Some(length) = opaque(self.rest) {
                let Some(rest) = self.rest.get(length..) else { return Ok(None) };
                self.rest = rest;
            } else if self.take("<!ENTITY") {
                let Some(entity) = self.entity() else { return Ok(None) };
                // The first of several counts.
                let counts = |name: &str| !declared.entities.contains_key(name) && !PREDEFINED.contains(&name);
                if let Some((name, value)) = entity.filter(|(name, _)| counts(name)) {
                    declared.entities.insert(name, replacement(name, value)?);
                    within("SVG entities", declared.entities.len() as u64, ENTITIES)?;
                }
            } else if self.take("<!ATTLIST") {
                if self.attributes(&mut declared.defaults).is_none() {
                    return Ok(None);
                }
            } else if !self.rest.starts_with("<!") || self.skipped().is_none() {
                return Ok(None);
            }
        }
    }

    /// The name and value of an internal entity; none for one that is external, or only for document types.
    fn entity(&mut self) -> Option<Option<(&'a str, &'a str)>> {
        self.space().then_some(())?;
        let parameter = self.take("%");
        (!parameter || self.space()).then_some(())?;
        let name = self.name()?;
        self.space().then_some(())?;
        let value = self.quoted();
        if value.is_none() {
            self.external()?.then_some(())?;
            self.skipped()?;
            return Some(None);
        }
        self.space();
        self.take(">").then_some(value.filter(|_| !parameter).map(|value| (name, value)))
    }

    /// The defaults of a list of attributes.
    fn attributes(&mut self, defaults: &mut BTreeMap<&'a str, BTreeMap<&'a str, &'a str>>) -> Option<()> {
        self.space().then_some(())?;
        let element = self.name()?;
        loop {
            self.space();
            if self.take(">") {
                return Some(());
            }
            let name = self.name()?;
            self.space().then_some(())?;
            if !self.rest.starts_with('(') {
                self.name()?;
                self.space().then_some(())?;
            }
            if self.take("(") {
                self.rest = self.rest.split_once(')')?.1;
                self.space().then_some(())?;
            }
            if !self.take("#REQUIRED") && !self.take("#IMPLIED") {
                self.take("#FIXED");
                self.space();
                defaults.entry(element).or_default().entry(name).or_insert(self.quoted()?);
            }
        }
    }

    /// Steps over the address of what is somewhere else; whether there is one.
    fn external(&mut self) -> Option<bool> {
        self.space();
        let public = self.take("PUBLIC");
        if !public && !self.take("SYSTEM") {
            return Some(false);
        }
        for _ in 0..=u8::from(public) {
            self.space().then_some(())?;
            self.quoted()?;
        }
        Some(true)
    }

    /// Steps behind the end of a declaration, in whose quotes no bracket counts.
    fn skipped(&mut self) -> Option<()> {
        loop {
            let at = self.rest.find(['>', '"', '\''])?;
            self.rest = &self.rest[at..];
            if self.take(">") {
                return Some(());
            }
            self.quoted()?;
        }
    }

    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn space(&mut self) -> bool {
        let rest = self.rest.trim_start_matches(is_space);
        rest.len() < std::mem::replace(&mut self.rest, rest).len()
    }

    fn name(&mut self) -> Option<&'a str> {
        let name = name(self.rest)?;
        self.rest = &self.rest[name.len()..];
        Some(name)
    }

    fn quoted(&mut self) -> Option<&'a str> {
        let quote = self.rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, rest) = self.rest[1..].split_once(quote)?;
        self.rest = rest;
        Some(value)
    }
}

/// What stands for an entity of such a value: characters that it names by number are in there already.
fn replacement(name: &str, value: &str) -> Result<String> {
    let wrong = || damaged(format!("has an ampersand that begins no reference in the entity {name:?}"));
    let (mut text, mut rest) = (String::with_capacity(value.len()), value);
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let inner = reference(rest).ok_or_else(wrong)?;
        let end = inner.len() + 2;
        match inner.strip_prefix('#') {
            None => text.push_str(&rest[..end]),
            Some(code) => {
                let code = code.strip_prefix('x').map_or_else(|| code.parse(), |hex| u32::from_str_radix(hex, 16));
                text.push(code.ok().and_then(char::from_u32).ok_or_else(wrong)?);
            }
        }
        rest = &rest[end..];
    }
    text.push_str(rest);
    Ok(text)
}
