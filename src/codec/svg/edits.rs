//! A text of XML with some places of it changed.

use std::ops::Range;

use roxmltree::{Attribute, Node};

/// Changes to a text. Of several to one place the first counts.
pub(super) struct Edits<'a> {
    text: &'a str,
    edits: Vec<(Range<usize>, String)>,
}

impl<'a> Edits<'a> {
    pub(super) const fn of(text: &'a str) -> Self {
        Self { text, edits: Vec::new() }
    }

    /// What stands at a place becomes `plain`, with its signs escaped.
    pub(super) fn replace(&mut self, range: Range<usize>, plain: &str) {
        self.edits.push((range, escaped(plain)));
    }

    pub(super) fn remove(&mut self, attribute: Attribute<'_, '_>) {
        self.edits.push((attribute.range(), String::new()));
    }

    /// Gives an element an attribute, or another value of it.
    pub(super) fn set(&mut self, element: Node<'_, '_>, name: &str, value: &str) {
        match element.attribute_node(name) {
            Some(attribute) => self.replace(attribute.range_value(), value),
            None => {
                let range = element.range();
                let name_ends = |c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>');
                let at = range.start + self.text[range.clone()].find(name_ends).unwrap_or(range.len());
                self.edits.push((at..at, format!(" {name}=\"{}\"", escaped(value))));
            }
        }
    }

    /// The changed text; `None` where nothing changes.
    pub(super) fn done(mut self) -> Option<String> {
        if self.edits.is_empty() {
            return None;
        }
        self.edits.sort_by_key(|(range, _)| range.start);
        let (mut done, mut at) = (String::with_capacity(self.text.len()), 0);
        for (range, plain) in self.edits {
            // What is within another change goes with it.
            if range.start < at {
                continue;
            }
            done.extend([&self.text[at..range.start], &plain]);
            at = range.end;
        }
        done.push_str(&self.text[at..]);
        Some(done)
    }
}

/// As content of an element or an attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&apos;")
}
