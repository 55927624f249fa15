//! What usvg reads otherwise than browsers do.

use std::{collections::BTreeSet, ops::Range};

use roxmltree::{Document, Node};

/// `text` as usvg has to read it to see what browsers do; `None` where that is the same. Each name is only where it stands
/// first, as browsers take the first of several elements with a name, and usvg the last; names of shapes stay where styles may
/// ask for them. And sheets are without comments of XML, as usvg takes what stands before the first.
pub(super) fn mended(text: &str, document: &Document<'_>) -> Option<String> {
    let styled = text.contains("<style");
    let mut seen = BTreeSet::new();
    let mut blank: Vec<Range<usize>> = Vec::new();
    for node in document.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        for id in node.attributes().filter(|attribute| attribute.name() == "id" && !attribute.value().is_empty()) {
            if !seen.insert(id.value()) && (!styled || is_only_referred(name)) {
                blank.push(id.range_value());
            }
        }
        if name == "style" {
            blank.extend(node.children().filter(Node::is_comment).map(|comment| comment.range()));
        }
    }
    let mut text = (!blank.is_empty()).then(|| text.to_owned())?;
    for range in blank {
        let spaces = " ".repeat(range.len());
        text.replace_range(range, &spaces);
    }
    Some(text)
}

/// Elements that show nothing but where something refers to them.
fn is_only_referred(name: &str) -> bool {
    let names = ["linearGradient", "radialGradient", "pattern", "clipPath", "mask", "filter", "marker"];
    names.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sheets_are_in_one_piece_and_names_where_they_stand_first() {
        let mended = |text: &str| mended(text, &Document::parse(text).unwrap());
        assert_eq!(mended("<svg><!--a--><style>a{b:c}</style><g id='a'/></svg>"), None);
        let sheet = mended("<svg><style>a{b:<!--x-->c}</style></svg>").unwrap();
        assert_eq!(sheet, format!("<svg><style>a{{b:{}c}}</style></svg>", " ".repeat(8)));
        let names = mended("<svg><mask id='a'/><g id='a'/></svg>").unwrap();
        assert_eq!(names, "<svg><mask id='a'/><g id=' '/></svg>");
    }
}
