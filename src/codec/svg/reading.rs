//! What usvg reads otherwise than browsers do.

use std::{collections::BTreeSet, ops::Range};

use roxmltree::{Document, Node};

use super::{
    css::{self, Css},
    frozen::frozen,
};

/// Presentation attributes whose values may be computed.
const COMPUTED: [&str; 6] = ["fill", "stroke", "color", "stop-color", "flood-color", "lighting-color"];

/// `text` as usvg has to read it to see what browsers do; `None` where that is the same. Each name is only where it stands
/// first, as browsers take the first of several elements with a name, and usvg the last; names of shapes stay where styles may
/// ask for them. Sheets are without comments of XML, as usvg takes what stands before the first; styles say what they come
/// to on a light screen; and animations that stay as they end are there already.
pub(super) fn mended(text: &str, document: &Document<'_>) -> Option<String> {
    let styled = text.contains("<style");
    let mut seen = BTreeSet::new();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let css = css::is_in(text).then(|| style_of(document));
    for (element, name, value) in frozen(document) {
        let set = element.attribute_node(name).map(|attribute| (attribute.range_value(), escaped(value)));
        edits.push(set.unwrap_or_else(|| (behind_name(text, element), format!(" {name}=\"{}\"", escaped(value)))));
    }
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
        // Elements within a sheet go with it, and what an animation leaves of a value counts.
        if range.start < at {
            continue;
        }
        mended.extend([&text[at..range.start], &plain]);
        at = range.end;
    }
    mended.push_str(&text[at..]);
    Some(mended)
}

/// The place behind the name of an element.
fn behind_name(text: &str, element: Node<'_, '_>) -> Range<usize> {
    let range = element.range();
    let end = text[range.clone()].find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>'));
    let at = range.start + end.unwrap_or(range.len());
    at..at
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
    fn what_animations_leave_is_there() {
        let set = "<set attributeName='fill' to='a&amp;b'/>";
        let text = format!("<svg><g>{set}</g><g id='x' fill='var(--a,c)'>{set}</g></svg>");
        let plain = format!("<svg><g fill=\"a&amp;b\">{set}</g><g id='x' fill='a&amp;b'>{set}</g></svg>");
        assert_eq!(mended(&text).unwrap(), plain);
        let sheet = "<svg><style>@keyframes k{to{fill:red}}a{animation:k 1s both}</style><g style='animation:k 1s both'/></svg>";
        let plain = mended(sheet).unwrap();
        assert!(plain.contains("a{animation:k 1s both;fill:red}") && plain.contains("'animation:k 1s both;fill:red'"));
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
