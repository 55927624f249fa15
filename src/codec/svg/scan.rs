//! One pass over the markup of an SVG before anything is built of it: how many elements there are and how deep, and how many
//! attributes.
//!
//! It agrees with a parser on every well-formed beginning of a document, and leaves it to the parser to refuse the rest.

use std::collections::BTreeSet;

use crate::{control::Run, error::Result, limits::within};

/// Attributes of one element; a parser compares each with all before it.
const ATTRIBUTES_OF_ONE: u64 = 1_000;
/// Prefixes of namespaces in one document; a parser copies them for every element that declares one more.
const PREFIXES: u64 = 64;
/// Elements and the like between two questions whether to go on.
const NODES_AT_ONCE: u64 = 10_000;

/// Checks `text` against the limits.
pub(super) fn check(text: &str, run: Run<'_>) -> Result<()> {
    run.check()?;
    let mut scan = Scan { rest: text, run, nodes: 0, depth: 0, attributes: 0, prefixes: BTreeSet::new() };
    while let Some(at) = memchr::memchr(b'<', scan.rest.as_bytes()) {
        scan.rest = &scan.rest[at..];
        let Some(length) = scan.markup()? else { break };
        scan.rest = &scan.rest[length..];
    }
    Ok(())
}

struct Scan<'a> {
    rest: &'a str,
    run: Run<'a>,
    nodes: u64,
    depth: u64,
    attributes: u64,
    prefixes: BTreeSet<&'a str>,
}

impl<'a> Scan<'a> {
    /// Counts the markup that begins here, and tells its length; `None` where it does not end.
    fn markup(&mut self) -> Result<Option<usize>> {
        let rest = self.rest;
        if !rest.starts_with("</") {
            self.nodes += 1;
            within("SVG elements, comments and instructions", self.nodes, self.run.limits.svg_elements)?;
            if self.nodes.is_multiple_of(NODES_AT_ONCE) {
                self.run.check()?;
            }
        }
        Ok(if let Some(comment) = rest.strip_prefix("<!--") {
            comment.find("-->").map(|at| at + 7)
        } else if rest.starts_with("<![CDATA[") {
            rest.find("]]>").map(|at| at + 3)
        } else if rest.starts_with("<?") {
            rest.find("?>").map(|at| at + 2)
        } else if rest.starts_with("</") {
            self.depth = self.depth.saturating_sub(1);
            rest.find('>').map(|at| at + 1)
        } else {
            self.element()?
        })
    }

    fn element(&mut self) -> Result<Option<usize>> {
        let limits = self.run.limits;
        let bytes = self.rest.as_bytes();
        let (mut at, mut attributes, mut name) = (1, 0, 1);
        while let Some(found) = memchr::memchr3(b'>', b'"', b'\'', &bytes[at..]) {
            let found = at + found;
            if bytes[found] == b'>' {
                self.attributes += attributes;
                within("SVG attributes", self.attributes, limits.svg_attributes)?;
                if bytes[found - 1] != b'/' {
                    self.depth += 1;
                    within("depth of SVG elements", self.depth, limits.svg_depth)?;
                }
                return Ok(Some(found + 1));
            }
            let Some(length) = memchr::memchr(bytes[found], &bytes[found + 1..]) else { return Ok(None) };
            attributes += 1;
            within("attributes of one SVG element", attributes, ATTRIBUTES_OF_ONE)?;
            self.attribute(&self.rest[name..found], length)?;
            at = found + 1 + length + 1;
            name = at;
        }
        Ok(None)
    }

    /// One attribute, whose name is at the end of `before` in front of an equals sign, with a value of so many bytes.
    fn attribute(&mut self, before: &'a str, length: usize) -> Result<()> {
        let name = before.trim_end_matches(|c: char| c == '=' || c.is_ascii_whitespace());
        let name = name.rsplit(|c: char| c.is_ascii_whitespace()).next().unwrap_or(name);
        if let Some(prefix) = name.strip_prefix("xmlns:") {
            self.prefixes.insert(prefix);
            within("SVG namespace prefixes", self.prefixes.len() as u64, PREFIXES)?;
        }
        // Links hold embedded pictures, which have limits of their own.
        let links = name == "href" || name.ends_with(":href");
        if links {
            Ok(())
        } else {
            within("bytes of an SVG attribute", length as u64, self.run.limits.svg_attribute_bytes)
        }
    }
}
