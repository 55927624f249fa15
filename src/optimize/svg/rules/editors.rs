use super::super::{
    Settings, css,
    names::is_attribute,
    tree::{Attribute, Content, Id, Tree},
};
use crate::error::Result;

pub(super) const BEFORE: &str = "<svg version=\"1.1\" data-name=\"Layer 1\" xml:space=\"preserve\"><metadata>x</metadata><desc>Created with \
    Sketch.</desc><title>Kept</title><g p-id=\"7\" data-kept=\"7\"/></svg>";
pub(super) const AFTER: &str = "<svg><title>Kept</title><g data-kept=\"7\"/></svg>";

/// Attributes without a meaning for any viewer of today.
const IDLE: [&str; 10] = [
    "version",
    "baseProfile",
    "enable-background",
    "data-name",
    "zoomAndPan",
    "overflow-x",
    "about",
    "resource",
    "property",
    "typeof",
];

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    tree.retain(|tree, id| !tree.is(id, &["metadata"]) && !is_advertisement(tree, id));
    let elements = tree.elements();
    let texts = elements.iter().any(|id| tree.is(*id, &["text"]));
    let asked = elements.iter().any(|id| css::says(tree, *id, |css| css.contains("attr(")));
    for id in elements {
        let Some(element) = tree.element_mut(id).filter(|element| !element.html) else { continue };
        element.attributes.retain(|Attribute { name, .. }| {
            !IDLE.contains(&name.as_str())
                && (texts || name != "xml:space")
                && (settings.keep_ids || asked || is_attribute(name))
        });
    }
    Ok(())
}

/// A description that names the program instead of the picture.
fn is_advertisement(tree: &Tree, id: Id) -> bool {
    let text = || match tree.children(id).first().map(|child| tree.content(*child)) {
        Some(Content::Text(text)) => text.trim_start(),
        _ => "",
    };
    tree.is(id, &["desc"]) && (text().starts_with("Created with") || text().starts_with("Created using"))
}
