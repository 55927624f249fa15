//! How much text the entities of a document type stand for. Nothing is expanded to find out, and nothing is loaded.

use std::collections::BTreeMap;

use super::damaged;
use crate::error::{Error, Result};

/// Entities within entities within entities; a parser allows ten.
const DEPTH: u8 = 10;

/// The internal entities of a document, by name, with the bytes they stand for.
#[derive(Debug, Default)]
pub(super) struct Entities<'a> {
    lengths: BTreeMap<&'a str, u64>,
}

impl<'a> Entities<'a> {
    /// What is declared between `<!DOCTYPE` and its end. External entities stand for nothing: their use is an error.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for entities that hold markup, [`Error::Input`] for those that hold themselves.
    pub(super) fn declared(doctype: &'a str) -> Result<Self> {
        let mut values = BTreeMap::new();
        for declaration in doctype.split("<!ENTITY").skip(1) {
            let Some((name, value)) = named_value(declaration) else { continue };
            if value.contains('<') {
                return Err(Error::unsupported(format!("markup in the SVG entity {name:?}")));
            }
            values.entry(name).or_insert(value);
        }
        let mut entities = Self::default();
        for name in values.keys() {
            entities.measure(name, &values, 0)?;
        }
        Ok(entities)
    }

    fn measure(&mut self, name: &'a str, values: &BTreeMap<&'a str, &'a str>, depth: u8) -> Result<u64> {
        if let Some(length) = self.lengths.get(name) {
            return Ok(*length);
        }
        let Some(value) = values.get(name) else { return Ok(0) };
        if depth == DEPTH {
            return Err(damaged(format!("nests entities more than {DEPTH} deep")));
        }
        let mut length = value.len() as u64;
        for inner in references(value) {
            length = length.saturating_add(self.measure(inner, values, depth + 1)?);
        }
        self.lengths.insert(name, length);
        Ok(length)
    }

    /// The bytes of `text` with every entity in its place.
    pub(super) fn expanded_length(&self, text: &str) -> u64 {
        let whole = text.len() as u64;
        if self.lengths.is_empty() {
            return whole;
        }
        let lengths = references(text).filter_map(|name| self.lengths.get(name));
        lengths.fold(whole, |sum, length| sum.saturating_add(*length))
    }
}

/// The name and the quoted value behind `<!ENTITY`; `None` for external and parameter entities.
fn named_value(declaration: &str) -> Option<(&str, &str)> {
    let (name, value) = declaration.trim_start().split_once(|c: char| c.is_ascii_whitespace())?;
    let value = value.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (value, _) = value[1..].split_once(quote)?;
    Some((name, value))
}

/// The names between `&` and `;`.
fn references(text: &str) -> impl Iterator<Item = &str> {
    text.split('&').skip(1).filter_map(|rest| {
        let end = rest.bytes().take(64).position(|c| c == b';')?;
        Some(&rest[..end])
    })
}
