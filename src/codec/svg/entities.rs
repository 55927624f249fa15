//! Document types: cut out, with what their entities stand for in the places of these, so that no parser has anything to
//! expand. Nothing is loaded.

use std::collections::BTreeMap;

use super::damaged;
use crate::{
    control::Run,
    error::{Error, Result},
    limits::within,
};

/// Entities within entities within entities.
const DEPTH: u8 = 10;
/// Entities of a document type.
const ENTITIES: u64 = 10_000;
/// Places of entities between two questions whether to go on.
const AT_ONCE: u32 = 10_000;
/// Entities that need not be declared, and stay what they are if they are.
const PREDEFINED: [&str; 5] = ["amp", "apos", "gt", "lt", "quot"];
/// Characters that end a name.
const ENDS: [char; 9] = ['&', ';', '<', '>', '"', '\'', '[', ']', '%'];

/// `text` without its document type, and with what internal entities stand for; `None` where it has no document type.
/// References to anything else stay, for a parser to refuse.
///
/// # Errors
/// [`Error::Limit`] for more than [`svg_text_bytes`](crate::Limits::svg_text_bytes) with all entities resolved, or more than
/// 10,000 of them; [`Error::Unsupported`] for entities that hold markup, [`Error::Input`] for those that hold themselves and
/// for a document type that is not well-formed.
pub(super) fn resolved(text: &str, run: Run<'_>) -> Result<Option<String>> {
    let Some(start) = prolog(text) else { return Ok(None) };
    let mut reader = Reader { rest: &text[start..] };
    let values = reader.doctype(run)?.ok_or_else(|| damaged("has a document type that is not well-formed"))?;
    let entities = Entities::measured(&values)?;
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..start]);
    entities.resolve(reader.rest, &mut out, run)?;
    Ok(Some(out))
}

/// Where the document type begins, if there is one: behind white space, comments and instructions.
fn prolog(text: &str) -> Option<usize> {
    let mut rest = text.trim_start_matches(is_space);
    while !rest.starts_with("<!DOCTYPE") {
        rest = rest.get(opaque(rest)?..)?.trim_start_matches(is_space);
    }
    Some(text.len() - rest.len())
}

/// The length of the comment, instruction or character data that begins here, in which nothing is resolved; beyond all text
/// where it does not end.
fn opaque(text: &str) -> Option<usize> {
    let all = [("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>")];
    let (open, close) = all.into_iter().find(|(open, _)| text.starts_with(open))?;
    Some(text[open.len()..].find(close).map_or(usize::MAX, |at| open.len() + at + close.len()))
}

const fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// The name of the reference that begins here; that of a character begins with `#`.
fn reference(text: &str) -> Option<&str> {
    let name = name(text.strip_prefix('&')?)?;
    text[1 + name.len()..].starts_with(';').then_some(name)
}

/// The name that begins here, up to what ends it.
fn name(text: &str) -> Option<&str> {
    let end = text.find(|c| ENDS.contains(&c) || is_space(c)).filter(|end| *end > 0)?;
    Some(&text[..end])
}

/// What is left of a document type.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    /// The internal entities that are declared, by name; `None` where the document type is not well-formed.
    fn doctype(&mut self, run: Run<'_>) -> Result<Option<BTreeMap<&'a str, String>>> {
        let mut values = BTreeMap::new();
        let opened = self.take("<!DOCTYPE") && self.space() && self.name().is_some() && self.external().is_some();
        self.space();
        if opened && self.take(">") {
            return Ok(Some(values));
        }
        if !opened || !self.take("[") {
            return Ok(None);
        }
        loop {
            self.space();
            if self.take("]") {
                self.space();
                return Ok(self.take(">").then_some(values));
            }
            run.check()?;
            if let Some(length) = opaque(self.rest) {
                let Some(rest) = self.rest.get(length..) else { return Ok(None) };
                self.rest = rest;
            } else if self.take("<!ENTITY") {
                let Some(declared) = self.entity() else { return Ok(None) };
                // The first of several counts.
                let counts = |name: &str| !values.contains_key(name) && !PREDEFINED.contains(&name);
                if let Some((name, value)) = declared.filter(|(name, _)| counts(name)) {
                    values.insert(name, checked(name, value)?);
                    within("SVG entities", values.len() as u64, ENTITIES)?;
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

/// The value of an entity as it may stand between quotes. It has no markup, and no reference that becomes some.
fn checked(name: &str, value: &str) -> Result<String> {
    let markup = || Error::unsupported(format!("markup in the SVG entity {name:?}"));
    if value.contains('<') {
        return Err(markup());
    }
    for (at, _) in value.match_indices('&') {
        let inner = reference(&value[at..])
            .ok_or_else(|| damaged(format!("has an ampersand that begins no reference in the entity {name:?}")))?;
        let character = inner.strip_prefix('#').map(|code| match code.strip_prefix('x') {
            Some(code) => u32::from_str_radix(code, 16),
            None => code.parse(),
        });
        if matches!(character, Some(Ok(0x26 | 0x3C))) {
            return Err(markup());
        }
    }
    Ok(value.replace('"', "&quot;").replace('\'', "&apos;"))
}

/// Entities whose lengths are known.
struct Entities<'a> {
    values: &'a BTreeMap<&'a str, String>,
    measures: BTreeMap<&'a str, Measure>,
}

/// What an entity comes to.
#[derive(Clone, Copy)]
struct Measure {
    /// Bytes, references counted along with what they stand for.
    length: u64,
    /// 1 where no entity is within.
    depth: u8,
}

impl<'a> Entities<'a> {
    fn measured(values: &'a BTreeMap<&'a str, String>) -> Result<Self> {
        let mut entities = Self { values, measures: BTreeMap::new() };
        for name in values.keys() {
            entities.measure(name, 1)?;
        }
        Ok(entities)
    }

    fn measure(&mut self, name: &'a str, within: u8) -> Result<Option<Measure>> {
        let Some(value) = self.values.get(name) else { return Ok(None) };
        let too_deep = || damaged(format!("nests entities more than {DEPTH} deep"));
        let known = match self.measures.get(name) {
            Some(known) => *known,
            None if within > DEPTH => return Err(too_deep()),
            None => {
                let mut sum = Measure { length: value.len() as u64, depth: 1 };
                for (at, _) in value.match_indices('&') {
                    let inner = reference(&value[at..]).map_or(Ok(None), |inner| self.measure(inner, within + 1))?;
                    if let Some(inner) = inner {
                        sum.length = sum.length.saturating_add(inner.length);
                        sum.depth = sum.depth.max(inner.depth + 1);
                    }
                }
                self.measures.insert(name, sum);
                sum
            }
        };
        if known.depth > DEPTH { Err(too_deep()) } else { Ok(Some(known)) }
    }

    /// Adds `text` to `out`, with what entities stand for.
    fn resolve(&self, text: &str, out: &mut String, run: Run<'_>) -> Result<()> {
        let (mut rest, mut places) = (text, 0u32);
        while let Some(at) = memchr::memchr2(b'<', b'&', rest.as_bytes()) {
            places = places.wrapping_add(1);
            if places.is_multiple_of(AT_ONCE) {
                run.check()?;
            }
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let stays = match reference(rest).and_then(|name| self.measures.get_key_value(name)) {
                Some((name, measure)) => {
                    let length = (out.len() + rest.len()) as u64;
                    let length = length.saturating_add(measure.length);
                    within("SVG text in bytes, entities resolved", length, run.limits.svg_text_bytes)?;
                    self.expand(name, out);
                    rest = &rest[name.len() + 2..];
                    0
                }
                None => opaque(rest).unwrap_or(1).min(rest.len()),
            };
            out.push_str(&rest[..stays]);
            rest = &rest[stays..];
        }
        out.push_str(rest);
        Ok(())
    }

    fn expand(&self, name: &str, out: &mut String) {
        let mut rest = self.values.get(name).map_or("", String::as_str);
        while let Some(at) = rest.find('&') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            match reference(rest).filter(|name| self.values.contains_key(name)) {
                Some(inner) => {
                    self.expand(inner, out);
                    rest = &rest[inner.len() + 2..];
                }
                None => {
                    out.push('&');
                    rest = &rest[1..];
                }
            }
        }
        out.push_str(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Unattended, codec::svg};

    fn of(text: &str) -> Result<Option<String>> {
        resolved(text, Run { limits: &Limits::default(), control: &Unattended })
    }

    #[test]
    fn what_a_document_type_declares_stands_in_its_places() {
        let text = r#"<?xml version="1.0"?><!-- <!DOCTYPE x> --> <!DOCTYPE svg PUBLIC "a" 'b>' [ <!ENTITY % p 'q'>
            <!ENTITY n "it's &m;"><!ENTITY m 'm&#33;' ><!ENTITY n 'second'><!ENTITY lt "&#38;#60;">
            <!-- <!ENTITY c ''> --><?x <!ENTITY c ''>?><!ELEMENT svg (a)><!ATTLIST svg x CDATA "]>">
            <!ENTITY far SYSTEM "file"> ] ><svg a="&n;"><!-- &n; --><![CDATA[&n;]]><?y &n;?>&n;&p;&c;&far;&lt;&</svg>"#;
        let plain = r#"<?xml version="1.0"?><!-- <!DOCTYPE x> --> <svg a="it&apos;s m&#33;"><!-- &n; --><![CDATA[&n;]]><?y &n;?>it&apos;s m&#33;&p;&c;&far;&lt;&</svg>"#;
        assert_eq!(of(text).unwrap().as_deref(), Some(plain));
        assert_eq!(of("<!DOCTYPE svg><svg/>").unwrap().as_deref(), Some("<svg/>"));
        assert_eq!(of("<svg><!DOCTYPE svg [<!ENTITY a 'b'>]></svg>").unwrap(), None);
    }

    #[test]
    fn what_entities_come_to_is_counted_before_it_is_written() {
        let long = "x".repeat(64 << 10);
        let name = "n".repeat(100);
        let many = |declared: &str, name: &str| {
            format!("<!DOCTYPE svg [{declared}]><svg>{}</svg>", format!("&{name};").repeat(1_000))
        };
        let cases = [
            many(&format!("<!ENTITY a '{long}'>"), "a"),
            many(&format!("<!-- <!ENTITY a ''> --><!ENTITY a '{long}'>"), "a"),
            many(&format!("<!ENTITY {name} '{long}'>"), &name),
            many(&format!("<!ENTITY b '{long}'><!ENTITY a '&b;'>"), "a"),
            format!("{}<!DOCTYPE svg []>", many(&format!("<!ENTITY a '{long}'>"), "a")),
        ];
        for text in cases {
            let error = of(&text).unwrap_err().to_string();
            assert!(error.contains("SVG text in bytes, entities resolved is 33"), "{error}");
        }
        let many = (0..=ENTITIES).fold(String::new(), |all, at| all + &format!("<!ENTITY e{at} ''>"));
        let error = of(&format!("<!DOCTYPE svg [{many}]><svg/>")).unwrap_err().to_string();
        assert!(error.contains("SVG entities is 10001"), "{error}");
    }

    #[test]
    fn entities_hold_no_markup_and_neither_themselves_nor_many_others_within_others() {
        let chain = |names: &mut dyn Iterator<Item = u8>| {
            let all = names.fold(String::new(), |all, at| all + &format!("<!ENTITY e{at} '&e{};'>", at + 1));
            all + "<!ENTITY e10 ''>"
        };
        let deep = "<!ENTITY e11 'x'>".to_owned() + &chain(&mut (0..11)).replace("<!ENTITY e10 ''>", "");
        let cases = [
            ("<!ENTITY a '<g/>'>", "markup in the SVG entity \"a\""),
            ("<!ENTITY a '&#60;g/>'>", "markup in the SVG entity \"a\""),
            ("<!ENTITY a '&#x26;'>", "markup in the SVG entity \"a\""),
            ("<!ENTITY a '&a;'>", "more than 10 deep"),
            (&deep, "more than 10 deep"),
            ("<!ENTITY a 'b & c'>", "begins no reference"),
            ("%a;", "not well-formed"),
            ("<!ENTITY a 'b'", "not well-formed"),
            ("<!--", "not well-formed"),
        ];
        for (declared, problem) in cases {
            let error = of(&format!("<!DOCTYPE svg [{declared}]><svg/>")).unwrap_err();
            let told = std::error::Error::source(&error).map_or_else(String::new, ToString::to_string);
            assert!(format!("{error} {told}").contains(problem), "{declared}: {error}");
        }
        assert!(of(&format!("<!DOCTYPE svg [{}]><svg/>", chain(&mut (1..10)))).is_ok());
    }

    #[test]
    fn a_document_type_in_another_place_and_entities_of_none_are_refused() {
        let limits = Limits::default();
        let run = Run { limits: &limits, control: &Unattended };
        let svg = "<svg xmlns='http://www.w3.org/2000/svg'>&a;</svg>";
        let declared = "<!DOCTYPE svg [<!ENTITY a 'b'>]>";
        let refused = [
            format!("<!DOCTYPE svg [<!ENTITY % a 'b'>]>{svg}"),
            format!("<!DOCTYPE svg [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>{svg}"),
            format!("{declared}{declared}{svg}"),
            format!("{declared}{svg}{declared}"),
            format!("<!-- -- -->{svg}{declared}"),
        ];
        for text in refused {
            let read = svg::text(text.as_bytes(), run).unwrap();
            let error = svg::document(&read, run).unwrap_err();
            assert!(error.to_string().contains("is not well-formed XML"), "{text}: {error}");
        }
        let text = format!("{declared}{svg}");
        assert!(svg::document(&svg::text(text.as_bytes(), run).unwrap(), run).is_ok());
    }
}
