//! What usvg reads otherwise than browsers do.

use std::{collections::BTreeSet, ops::Range};

use roxmltree::{Document, Node};

use super::{
    css::{self, Css},
    edits::Edits,
    frozen::frozen,
    probe,
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
    let mut edits = Edits::of(text);
    let css = css::is_in(text).then(|| style_of(document));
    for (element, name, value) in frozen(document) {
        edits.set(element, name, &value);
    }
    size(document.root_element(), &mut edits);
    let filters = document.descendants().filter(|node| node.has_tag_name("filter"));
    let filters = filters.filter_map(|filter| filter.attribute("id")).collect();
    for node in document.descendants().filter(Node::is_element) {
        attributes(node, &filters, &mut edits);
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
            if let Some(plain) = plain.filter(|plain| plain != value) {
                edits.replace(attribute.range_value(), &plain);
            }
        }
        if name == "style" {
            let sheet = sheet_of(node);
            let plain = css.as_ref().filter(|_| css::is_in(&sheet)).map(|css| css.sheet(&sheet));
            let changed =
                plain.as_ref().is_some_and(|plain| *plain != sheet) || node.children().any(|c| c.is_comment());
            if let Some(range) = content(text, node).filter(|_| changed) {
                edits.replace(range, plain.as_deref().unwrap_or(&sheet));
            }
        }
    }
    edits.done()
}

/// Where a root with a view box says one side alone, the other follows it, and is no share of the view box.
fn size(root: Node<'_, '_>, edits: &mut Edits<'_>) {
    let follows = |name: &str| root.attribute(name).is_none_or(|side| side.trim().ends_with('%'));
    if root.has_attribute("viewBox") && follows("width") != follows("height") {
        let (width, height) = probe::size(|name| root.attribute(name));
        edits.set(root, "width", &width.to_string());
        edits.set(root, "height", &height.to_string());
    }
}

/// Attributes that browsers take otherwise: none asks what features there are, but for what is not drawn here; a filter that
/// is not there does nothing; and what resvg displaces is shifted by the scale times itself.
fn attributes(node: Node<'_, '_>, filters: &BTreeSet<&str>, edits: &mut Edits<'_>) {
    if let Some(features) = node.attribute_node("requiredFeatures").filter(|_| !node.has_tag_name("foreignObject")) {
        edits.remove(features);
    }
    let filter = node.attribute("filter").and_then(|value| value.trim().strip_prefix("url(#")?.strip_suffix(')'));
    if filter.is_some_and(|filter| !filters.contains(filter)) {
        edits.set(node, "filter", "none");
    }
    let scale = node.attribute("scale").filter(|_| node.has_tag_name("feDisplacementMap"));
    if let Some(scale) = scale.and_then(|scale| scale.trim().parse().ok()).filter(|scale: &f64| *scale > 0.0) {
        edits.set(node, "scale", &scale.sqrt().to_string());
    }
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
    fn attributes_mean_what_they_mean_in_browsers() {
        for (text, plain) in [
            ("<svg width='100%' height='50' viewBox='0 0 4 2'/>", "<svg width='100' height='50' viewBox='0 0 4 2'/>"),
            ("<svg height='50' viewBox='0 0 4 2'/>", "<svg width=\"100\" height='50' viewBox='0 0 4 2'/>"),
            ("<svg><g filter='url(#a)'/></svg>", "<svg><g filter='none'/></svg>"),
            ("<svg><feDisplacementMap scale='16'/></svg>", "<svg><feDisplacementMap scale='4'/></svg>"),
            (
                "<svg><switch><foreignObject requiredFeatures='a'/><g requiredFeatures='a'/></switch></svg>",
                "<svg><switch><foreignObject requiredFeatures='a'/><g /></switch></svg>",
            ),
        ] {
            assert_eq!(mended(text).unwrap(), plain);
        }
        assert_eq!(
            mended("<svg width='9' height='9' viewBox='0 0 4 2'><filter id='a'/><g filter='url(#a)'/></svg>"),
            None
        );
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
