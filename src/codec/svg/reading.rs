//! What usvg reads otherwise than browsers do.

use std::{collections::BTreeSet, ops::Range};

use roxmltree::{Document, Node};

use super::css::{self, Css};

/// Presentation attributes whose values may be computed.
const COMPUTED: [&str; 6] = ["fill", "stroke", "color", "stop-color", "flood-color", "lighting-color"];

/// `text` as usvg has to read it to see what browsers do; `None` where that is the same. Each name is only where it stands
/// first, as browsers take the first of several elements with a name, and usvg the last; names of shapes stay where styles may
/// ask for them. Sheets are without comments of XML, as usvg takes what stands before the first; and styles say what they come
/// to on a light screen.
pub(super) fn mended(text: &str, document: &Document<'_>) -> Option<String> {
    let styled = text.contains("<style");
    let mut seen = BTreeSet::new();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let css = css::is_in(text).then(|| style_of(document));
    for node in document.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        for attribute in node.attributes() {
            let value = attribute.value();
            let plain = match (attribute.name(), &css) {
                ("id", _) => {
                    let again = !value.is_empty() && !seen.insert(value) && (!styled || is_only_referred(name));
                    again.then(String::new)
                }
                ("style", Some(css)) if css::is_in(value) => Some(css.declarations(&css::stripped(value))),
                (name, Some(css)) if COMPUTED.contains(&name) && css::is_in(value) => Some(css.value(value)),
                _ => None,
            };
            edits.extend(plain.filter(|plain| plain != value).map(|plain| (attribute.range_value(), escaped(&plain))));
        }
        if name == "style" {
            let sheet = sheet_of(node);
            let plain = css.as_ref().filter(|_| css::is_in(&sheet)).map(|css| css.sheet(&sheet));
            let changed =
                plain.as_ref().is_some_and(|plain| *plain != sheet) || node.children().any(|c| c.is_comment());
            let content = content(text, node).filter(|_| changed);
            edits.extend(content.map(|range| (range, escaped(plain.as_deref().unwrap_or(&sheet)))));
        }
    }
    if edits.is_empty() {
        return None;
    }
    edits.sort_by_key(|(range, _)| range.start);
    let (mut mended, mut at) = (String::with_capacity(text.len()), 0);
    for (range, plain) in edits {
        // Elements within a sheet go with it.
        if range.start < at {
            continue;
        }
        mended.extend([&text[at..range.start], &plain]);
        at = range.end;
    }
    mended.push_str(&text[at..]);
    Some(mended)
}

fn style_of(document: &Document<'_>) -> Css {
    let sheets = document.descendants().filter(|node| node.tag_name().name() == "style").map(sheet_of);
    let sheets: Vec<String> = sheets.collect();
    let root = document.root_element().attribute("style").unwrap_or_default();
    Css::new(sheets.iter().map(String::as_str), &css::stripped(root))
}

/// Without comments.
fn sheet_of(style: Node<'_, '_>) -> String {
    css::stripped(&style.children().filter(Node::is_text).filter_map(|text| text.text()).collect::<String>())
}

/// Where the content of an element stands; `None` where it has none.
fn content(text: &str, node: Node<'_, '_>) -> Option<Range<usize>> {
    let range = node.range();
    let (mut quote, mut open) = (None, None);
    for (at, c) in text[range.clone()].bytes().enumerate() {
        match (quote, c) {
            (None, b'"' | b'\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, b'>') => {
                open = Some(range.start + at + 1);
                break;
            }
            _ => {}
        }
    }
    let close = range.start + text[range].rfind("</")?;
    open.filter(|open| *open <= close).map(|open| open..close)
}

/// As content of an element or an attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&apos;")
}

/// Elements that show nothing but where something refers to them.
fn is_only_referred(name: &str) -> bool {
    let names = ["linearGradient", "radialGradient", "pattern", "clipPath", "mask", "filter", "marker"];
    names.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended(text: &str) -> Option<String> {
        super::mended(text, &Document::parse(text).unwrap())
    }

    #[test]
    fn sheets_are_in_one_piece_and_names_where_they_stand_first() {
        assert_eq!(mended("<svg><!--a--><style>a{b:c}</style><g id='a'/></svg>"), None);
        assert_eq!(mended("<svg><style>a{b:<!--x-->c}</style></svg>").unwrap(), "<svg><style>a{b:c}</style></svg>");
        assert_eq!(mended("<svg><mask id='a'/><g id='a'/></svg>").unwrap(), "<svg><mask id='a'/><g id=''/></svg>");
    }

    #[test]
    fn styles_say_what_they_come_to() {
        let text = "<svg style='--a:red'><style type='x>y'><![CDATA[:root>a{fill:var(--a)}]]></style>\
            <a style='fill:light-dark(\"x\",b)' fill='var(--b,&lt;)'/><g fill='var(--a)' class='var(--a)'/></svg>";
        let plain = "<svg style='--a:red'><style type='x>y'>svg&gt;a{fill:red}</style>\
            <a style='fill:&quot;x&quot;' fill='&lt;'/><g fill='red' class='var(--a)'/></svg>";
        assert_eq!(mended(text).unwrap(), plain);
        assert_eq!(mended("<svg><style>a{transform:none}</style></svg>"), None);
        let nested = "<svg><style>:root{a:b}<g style='fill:var(--a,red)'/></style></svg>";
        assert_eq!(mended(nested).unwrap(), "<svg><style>svg{a:b}</style></svg>");
    }
}
