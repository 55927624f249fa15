use super::super::{
    Settings,
    tree::{Content, Id, Tree},
};
use crate::error::Result;

pub(super) const BEFORE: &str = "<svg version=\"1.1\" data-name=\"Layer 1\" xml:space=\"preserve\"><metadata>x</metadata><desc>Created with \
    Sketch.</desc><title>Kept</title><g/></svg>";
pub(super) const AFTER: &str = "<svg><title>Kept</title><g/></svg>";

/// Attributes without a meaning for any viewer of today.
const ATTRIBUTES: [&str; 10] = [
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

pub(super) fn apply(tree: &mut Tree, _: &Settings<'_>) -> Result<()> {
    tree.retain(|tree, id| !tree.is(id, &["metadata"]) && !is_advertisement(tree, id));
    let texts = tree.elements().iter().any(|id| tree.is(*id, &["text"]));
    for id in tree.elements() {
        if let Some(element) = tree.element_mut(id).filter(|element| !element.html) {
            element.attributes.retain(|attribute| {
                !ATTRIBUTES.contains(&attribute.name.as_str()) && (texts || attribute.name != "xml:space")
            });
        }
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
