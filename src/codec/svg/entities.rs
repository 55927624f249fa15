//! Document types are cut out, with what their entities stand for in the places of these and attributes where they hold by
//! default, so that no parser has anything to expand. Nothing is loaded.

use std::collections::{BTreeMap, BTreeSet};

use super::{damaged, doctype::Doctype, probe::tag_length};
use crate::{control::Run, error::Result, limits::within};

/// Entities within entities within entities.
const DEPTH: u8 = 10;
/// Places of entities between two questions whether to go on.
const AT_ONCE: u32 = 10_000;
/// What the limit is of.
const RESOLVED: &str = "SVG text in bytes, entities resolved";
/// How a quote stands in a value, at the longest.
const QUOTE: &str = "&quot;";
/// Characters that end a name.
const ENDS: [char; 9] = ['&', ';', '<', '>', '"', '\'', '[', ']', '%'];

/// `text` without its document type, and with what internal entities stand for; `None` where it has no document type.
/// References to anything else stay, for a parser to refuse.
///
/// # Errors
/// [`Error::Limit`] for more than [`svg_text_bytes`](crate::Limits::svg_text_bytes) with all entities resolved, or more than
/// 10,000 of them; [`Error::Input`] for entities that hold themselves and for a document type that is not well-formed.
pub(super) fn resolved(text: &str, run: Run<'_>) -> Result<Option<String>> {
    let Some(start) = prolog(text) else { return Ok(None) };
    let (doctype, rest) = Doctype::read(&text[start..], run)?;
    let entities = Entities::measured(&doctype)?;
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..start]);
    entities.content(rest, &mut out, run)?;
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
pub(super) fn opaque(text: &str) -> Option<usize> {
    let all = [("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>")];
    let (open, close) = all.into_iter().find(|(open, _)| text.starts_with(open))?;
    Some(text[open.len()..].find(close).map_or(usize::MAX, |at| open.len() + at + close.len()))
}

pub(super) const fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// The name of the reference that begins here; that of a character begins with `#`.
pub(super) fn reference(text: &str) -> Option<&str> {
    let name = name(text.strip_prefix('&')?)?;
    text[1 + name.len()..].starts_with(';').then_some(name)
}

/// The name that begins here, up to what ends it.
pub(super) fn name(text: &str) -> Option<&str> {
    let end = text.find(|c| ENDS.contains(&c) || is_space(c)).filter(|end| *end > 0)?;
    Some(&text[..end])
}

/// The names of the attributes of a tag.
fn attributes(tag: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut rest = tag;
    while let Some((before, quote, behind)) =
        rest.find(['"', '\'']).map(|at| (&rest[..at], &rest[at..=at], &rest[at + 1..]))
    {
        found.extend(before.trim_end_matches(|c| c == '=' || is_space(c)).rsplit(is_space).next());
        rest = behind.split_once(quote).map_or("", |(_, rest)| rest);
    }
    found
}

/// Entities whose lengths are known.
struct Entities<'a> {
    doctype: &'a Doctype<'a>,
    measures: BTreeMap<&'a str, Measure>,
}

/// What an entity comes to.
#[derive(Clone, Copy)]
struct Measure {
    /// Bytes, references counted along with what they stand for, and quotes as they are where they end no value.
    length: u64,
    /// 1 where no entity is within.
    depth: u8,
    /// It has elements, or else what can stand in an attribute.
    markup: bool,
}

impl<'a> Entities<'a> {
    fn measured(doctype: &'a Doctype<'a>) -> Result<Self> {
        let mut entities = Self { doctype, measures: BTreeMap::new() };
        for name in doctype.entities.keys() {
            entities.measure(name, 1)?;
        }
        Ok(entities)
    }

    fn measure(&mut self, name: &'a str, within: u8) -> Result<Option<Measure>> {
        let Some(value) = self.doctype.entities.get(name) else { return Ok(None) };
        let too_deep = || damaged(format!("nests entities more than {DEPTH} deep"));
        let known = match self.measures.get(name) {
            Some(known) => *known,
            None if within > DEPTH => return Err(too_deep()),
            None => {
                let length = value.len() + value.matches(['"', '\'']).count() * (QUOTE.len() - 1);
                let mut sum = Measure { length: length as u64, depth: 1, markup: value.contains('<') };
                for (at, _) in value.match_indices('&') {
                    let inner = reference(&value[at..]).map_or(Ok(None), |inner| self.measure(inner, within + 1))?;
                    if let Some(inner) = inner {
                        sum.length = sum.length.saturating_add(inner.length);
                        sum.depth = sum.depth.max(inner.depth + 1);
                        sum.markup |= inner.markup;
                    }
                }
                self.measures.insert(name, sum);
                sum
            }
        };
        if known.depth > DEPTH { Err(too_deep()) } else { Ok(Some(known)) }
    }

    /// The entity that a reference here names, if it comes to no more than what may still be added to `out` before `rest`.
    fn named<'b>(&self, rest: &'b str, out: &str, run: Run<'_>) -> Result<Option<(&'b str, &'a str, Measure)>> {
        let Some(name) = reference(rest) else { return Ok(None) };
        let known = self.doctype.entities.get(name).zip(self.measures.get(name));
        let Some((value, measure)) = known else { return Ok(None) };
        let length = ((out.len() + rest.len()) as u64).saturating_add(measure.length);
        within(RESOLVED, length, run.limits.svg_text_bytes)?;
        Ok(Some((name, value, *measure)))
    }

    /// Adds what stands between tags, and these, to `out`, with what entities stand for.
    fn content(&self, text: &str, out: &mut String, run: Run<'_>) -> Result<()> {
        let (mut rest, mut places) = (text, 0u32);
        while let Some(at) = memchr::memchr2(b'<', b'&', rest.as_bytes()) {
            places = places.wrapping_add(1);
            if places.is_multiple_of(AT_ONCE) {
                run.check()?;
            }
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let done = if let Some((name, value, _)) = self.named(rest, out, run)? {
                self.content(value, out, run)?;
                name.len() + 2
            } else if rest.starts_with('<') && opaque(rest).is_none() {
                let length = tag_length(rest.as_bytes()).map_or(rest.len(), |at| at + 1);
                self.tag(&rest[..length], out, run)?;
                length
            } else {
                let stays = opaque(rest).unwrap_or(1).min(rest.len());
                out.push_str(&rest[..stays]);
                stays
            };
            rest = &rest[done..];
        }
        out.push_str(rest);
        Ok(())
    }

    /// Adds a tag to `out`, with the attributes that it has by default.
    fn tag(&self, tag: &str, out: &mut String, run: Run<'_>) -> Result<()> {
        let ends = |c: char| is_space(c) || matches!(c, '/' | '>');
        let (name, rest) = tag.split_at(1 + tag[1..].find(ends).unwrap_or(tag.len() - 1));
        out.push_str(name);
        if let Some(defaults) = self.doctype.defaults.get(&name[1..]) {
            let said = attributes(rest);
            for (name, value) in defaults.iter().filter(|(name, _)| !said.contains(*name)) {
                let quote = if value.contains('"') { '\'' } else { '"' };
                out.push_str(&format!(" {name}={quote}"));
                self.values(value, false, out, run)?;
                out.push(quote);
            }
            within(RESOLVED, out.len() as u64, run.limits.svg_text_bytes)?;
        }
        self.values(rest, false, out, run)
    }

    /// Adds attributes to `out`; quotes from `inside` an entity end no value. What has markup cannot stand there, and is left
    /// for a parser to refuse.
    fn values(&self, text: &str, inside: bool, out: &mut String, run: Run<'_>) -> Result<()> {
        let mut rest = text;
        while let Some(at) = rest.find(['&', '"', '\'']) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            match self.named(rest, out, run)? {
                Some((name, value, Measure { markup: false, .. })) => {
                    self.values(value, true, out, run)?;
                    rest = &rest[name.len() + 2..];
                }
                _ => {
                    match &rest[..1] {
                        "\"" if inside => out.push_str(QUOTE),
                        "'" if inside => out.push_str("&apos;"),
                        other => out.push_str(other),
                    }
                    rest = &rest[1..];
                }
            }
        }
        out.push_str(rest);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Limits, Unattended,
        codec::svg::{self, doctype::ENTITIES},
    };

    fn of(text: &str) -> Result<Option<String>> {
        resolved(text, Run { limits: &Limits::default(), control: &Unattended })
    }

    #[test]
    fn what_a_document_type_declares_stands_in_its_places() {
        let text = r#"<?xml version="1.0"?><!-- <!DOCTYPE x> --> <!DOCTYPE svg PUBLIC "a" 'b>' [ <!ENTITY % p 'q'>
            <!ENTITY n "it's &m;"><!ENTITY m 'm&#33;' ><!ENTITY n 'second'><!ENTITY lt "&#38;#60;">
            <!-- <!ENTITY c ''> --><?x <!ENTITY c ''>?><!ELEMENT svg (a)><!ATTLIST svg x CDATA "]>">
            <!ENTITY far SYSTEM "file"> ] ><svg a="&n;"><!-- &n; --><![CDATA[&n;]]><?y &n;?>&n;&p;&c;&far;&lt;&</svg>"#;
        let plain = r#"<?xml version="1.0"?><!-- <!DOCTYPE x> --> <svg x="]>" a="it&apos;s m!"><!-- &n; --><![CDATA[&n;]]><?y &n;?>it's m!&p;&c;&far;&lt;&</svg>"#;
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
    fn entities_with_elements_stand_between_tags_and_in_no_attribute() {
        let text = |body: &str| {
            format!(
                r#"<!DOCTYPE svg [<!ENTITY q 'a"b'><!ENTITY g "<g id='&q;'/>"><!ENTITY h "&#60;g id=&#34;&q;&#34;>&g;&#60;/g>">
                <!ENTITY l "&#38;#60;">]><svg>{body}</svg>"#
            )
        };
        let g = "<g id='a&quot;b'/>";
        let cases = [
            ("&g;&g;", format!("{g}{g}")),
            ("&h;", format!("<g id=\"a&quot;b\">{g}</g>")),
            ("<a b='&g;'>&l;</a>", "<a b='&g;'>&#60;</a>".to_owned()),
            ("<a b='>' c='&q;&l;'/>", "<a b='>' c='a&quot;b&#60;'/>".to_owned()),
        ];
        for (body, plain) in cases {
            assert_eq!(of(&text(body)).unwrap(), Some(format!("<svg>{plain}</svg>")), "{body}");
        }
    }

    #[test]
    fn attributes_stand_where_they_hold_by_default() {
        let declared = r#"<!ENTITY e 'x'><!ATTLIST g a CDATA #FIXED 'b&e;"' b (c|d) "c" c NOTATION (x) #REQUIRED d ID #IMPLIED>
            <!ATTLIST g a CDATA 'second' x:e CDATA ''>"#;
        let of = |body: &str| of(&format!("<!DOCTYPE svg [{declared}]><svg>{body}</svg>")).unwrap();
        let plain = |body: &str| Some(format!("<svg>{body}</svg>"));
        assert_eq!(of("<g/><gg/>"), plain(r#"<g a='bx"' b="c" x:e=""/><gg/>"#));
        assert_eq!(of("<g b = ' a=\"' x:e='1'></g>"), plain(r#"<g a='bx"' b = ' a="' x:e='1'></g>"#));
    }

    #[test]
    fn entities_hold_neither_themselves_nor_many_others_within_others() {
        let chain = |names: &mut dyn Iterator<Item = u8>| {
            let all = names.fold(String::new(), |all, at| all + &format!("<!ENTITY e{at} '&e{};'>", at + 1));
            all + "<!ENTITY e10 ''>"
        };
        let deep = "<!ENTITY e11 'x'>".to_owned() + &chain(&mut (0..11)).replace("<!ENTITY e10 ''>", "");
        let cases = [
            ("<!ENTITY a '&#x26;a;'>", "more than 10 deep"),
            ("<!ENTITY a '&#xD800;'>", "begins no reference"),
            ("<!ATTLIST svg a CDATA>", "not well-formed"),
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
