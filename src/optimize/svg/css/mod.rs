//! Style sheets: read, matched, and folded into the elements they style.

mod matched;
mod text;
mod valid;

pub(super) use matched::{Cascade, Sheet, falls_back};
pub(super) use text::{Declaration, declarations, rules, stripped, written};
pub(super) use valid::{Place, is_invalid};

use super::tree::{Content, Id, Tree};

/// The texts of `style` elements, [stripped].
pub(super) fn sheets(tree: &Tree, styles: &[Id]) -> impl Iterator<Item = String> {
    styles.iter().flat_map(|id| tree.children(*id)).filter_map(|child| match tree.content(*child) {
        Content::Text(text) => Some(stripped(text)),
        Content::Element(_) => None,
    })
}
