use super::super::{Settings, names::property, tree::Tree};
use crate::error::Result;

pub(super) const BEFORE: &str =
    "<svg viewBox=\"0 0 9 9\" width=\"9\"><path d=\"M0 0\" stroke=\"red\" id=\"a\" fill=\"red\"/></svg>";
pub(super) const AFTER: &str =
    "<svg width=\"9\" viewBox=\"0 0 9 9\"><path id=\"a\" fill=\"red\" stroke=\"red\" d=\"M0 0\"/></svg>";

/// Attributes in one order everywhere repeat longer strings; what differs most comes last.
pub(super) fn apply(tree: &mut Tree, _: &Settings<'_>) -> Result<()> {
    for id in tree.elements() {
        if let Some(element) = tree.element_mut(id) {
            element.attributes.sort_by(|a, b| key(&a.name).cmp(&key(&b.name)));
        }
    }
    Ok(())
}

fn key(name: &str) -> (u8, &str) {
    let place = match name {
        "id" => 0,
        "class" => 1,
        "width" => 4,
        "height" => 5,
        "viewBox" => 6,
        "transform" => 7,
        "d" | "points" => 9,
        _ if property(name).is_some() => 2,
        _ => 3,
    };
    (place, name)
}
