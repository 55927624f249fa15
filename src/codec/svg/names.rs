//! Elements that have the same name.

use std::collections::BTreeSet;

use roxmltree::{Document, Node};

/// `text` with each name only where it stands first, as browsers take the first of several elements with a name, and usvg the
/// last; `None` where that is so already. Names of shapes stay where styles may ask for them.
pub(super) fn first(text: &str, document: &Document<'_>) -> Option<String> {
    let styled = text.contains("<style");
    let mut seen = BTreeSet::new();
    let mut again = Vec::new();
    for node in document.descendants().filter(Node::is_element) {
        for id in node.attributes().filter(|attribute| attribute.name() == "id" && !attribute.value().is_empty()) {
            if !seen.insert(id.value()) && (!styled || is_only_referred(node.tag_name().name())) {
                again.push(id.range_value());
            }
        }
    }
    let mut text = (!again.is_empty()).then(|| text.to_owned())?;
    for range in again {
        let blank = " ".repeat(range.len());
        text.replace_range(range, &blank);
    }
    Some(text)
}

/// Elements that show nothing but where something refers to them.
fn is_only_referred(name: &str) -> bool {
    let names = ["linearGradient", "radialGradient", "pattern", "clipPath", "mask", "filter", "marker"];
    names.contains(&name)
}
