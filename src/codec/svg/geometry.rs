//! Geometry that styles declare (SVG 2, section 7), which usvg takes from attributes alone.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

use super::{edits::Edits, style::Style};
use crate::{control::Run, error::Result, limits::within};

/// The properties, and elements that have them.
const PROPERTIES: [(&str, &[&str]); 10] = [
    ("x", &["rect", "image", "use", "svg", "foreignObject"]),
    ("y", &["rect", "image", "use", "svg", "foreignObject"]),
    ("width", &["rect", "image", "use", "svg", "foreignObject"]),
    ("height", &["rect", "image", "use", "svg", "foreignObject"]),
    ("cx", &["circle", "ellipse"]),
    ("cy", &["circle", "ellipse"]),
    ("r", &["circle"]),
    ("rx", &["rect", "ellipse"]),
    ("ry", &["rect", "ellipse"]),
    ("d", &["path"]),
];

/// `text` with attributes for the geometry that its styles declare; `None` where they declare none.
///
/// # Errors
/// As of [`Style`].
pub(super) fn mended(text: &str, document: &Document<'_>, run: Run<'_>) -> Result<Option<String>> {
    let elements = || document.descendants().filter(Node::is_element);
    let css =
        |node: &Node<'_, '_>| node.has_tag_name("style") && node.children().any(|c| c.text().is_some_and(declares));
    if !elements().any(|node| css(&node) || node.attribute("style").is_some_and(declares)) {
        return Ok(None);
    }
    let root = document.root_element();
    let (style, mut edits, mut length) = (Style::new(root, run)?, Edits::of(text), text.len() as u64);
    for node in elements().filter(|node| *node != root) {
        let kind = node.tag_name().name();
        let of_kind = |name: &str| PROPERTIES.iter().any(|(known, kinds)| *known == name && kinds.contains(&kind));
        if PROPERTIES.iter().any(|(_, kinds)| kinds.contains(&kind)) {
            let declared = style.of(node, run)?.into_iter().filter(|(name, _)| of_kind(name));
            // The last of several counts.
            let last: BTreeMap<_, _> =
                declared.filter_map(|(name, value)| Some((name, attribute(name, value)?))).collect();
            for (name, value) in last {
                // What one rule says may stand at many elements.
                length += value.len() as u64;
                within("SVG text in bytes, with what styles say", length, run.limits.svg_text_bytes)?;
                edits.set(node, name, value);
            }
        }
    }
    Ok(edits.done())
}

/// Whether there is a declaration of one of the properties.
fn declares(css: &str) -> bool {
    let of_one = |piece: &str| piece.split_once(':').is_some_and(|(name, _)| is_property(name.trim()));
    css.split([';', '{', '}']).any(of_one)
}

fn is_property(name: &str) -> bool {
    PROPERTIES.iter().any(|(known, _)| *known == name)
}

/// The value of the attribute that says what a declaration does; `None` where it is none that browsers understand, or one
/// that no attribute has.
fn attribute<'a>(name: &str, value: &'a str) -> Option<&'a str> {
    let value = value.trim();
    if name == "d" {
        let path = value.strip_prefix("path(")?.strip_suffix(')')?.trim();
        return ['"', '\''].iter().find_map(|quote| path.strip_prefix(*quote)?.strip_suffix(*quote));
    }
    let unit = value.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
    let has_number = unit.len() < value.len();
    let has_unit = unit == "%" || !unit.is_empty() && unit.chars().all(|c| c.is_ascii_alphabetic());
    (has_number && (has_unit || value.parse() == Ok(0.0))).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, error::Error, limits::Limits};

    #[test]
    fn what_styles_declare_stands_in_attributes() {
        let limits = Limits { svg_text_bytes: 10_000, ..Limits::default() };
        let mended = |text: &str| {
            let run = Run { limits: &limits, control: &Unattended };
            mended(text, &Document::parse(text).unwrap(), run)
        };
        let sheet = "<style>.c{width:12px;height:5%;r:3px}.c.d{ rx : 2px }</style>";
        let text = format!(
            "<svg style='width:9px'>{sheet}<rect class='c d' width='1' style='x:10px;y:0'/><circle class='c' r='9'/>\
             <path style=\"d:path('M0 0h9')\"/></svg>"
        );
        let plain = format!(
            "<svg style='width:9px'>{sheet}<rect height=\"5%\" rx=\"2px\" x=\"10px\" y=\"0\" class='c d' width='12px' \
             style='x:10px;y:0'/><circle class='c' r='3px'/><path d=\"M0 0h9\" style=\"d:path('M0 0h9')\"/></svg>"
        );
        assert_eq!(mended(&text).unwrap().unwrap(), plain);
        for text in [
            "<svg><rect style='stroke-width:3px'/></svg>",
            "<svg><rect style='width:5;x:auto;rx:calc(1px + 1px)'/></svg>",
        ] {
            assert_eq!(mended(text).unwrap(), None);
        }
        let long = format!("<style>path{{d:path('{}')}}</style>", "M0 0".repeat(100));
        let many = mended(&format!("<svg>{long}{}</svg>", "<path/>".repeat(100)));
        assert!(matches!(many, Err(Error::Limit { wanted: 10_001.., .. })), "{many:?}");
    }
}
