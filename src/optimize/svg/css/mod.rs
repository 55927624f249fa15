//! Style sheets: read, matched, and folded into the elements they style.

mod changes;
mod matched;
mod reach;
mod valid;

pub(super) use changes::Changes;
pub(super) use matched::{Cascade, Sheet, falls_back};
pub(super) use reach::reaching;
pub(super) use valid::{Place, is_invalid};

use super::tree::{Content, Id, Tree};
pub(super) use crate::codec::svg::{Declaration, declarations, in_name, rule, rules, split, stripped, written};

/// Whether an element has such CSS, as a `style` or a sheet.
pub(super) fn says(tree: &Tree, id: Id, such: impl Fn(&str) -> bool) -> bool {
    tree.get(id, "style").is_some_and(&such) || tree.is(id, &["style"]) && sheets(tree, &[id]).any(|sheet| such(&sheet))
}

/// The `style` elements of a document.
pub(super) fn styles(tree: &Tree) -> Vec<Id> {
    tree.elements().into_iter().filter(|id| tree.is(*id, &["style"])).collect()
}

/// Whether a `style` element holds CSS.
pub(super) fn is_css(tree: &Tree, id: Id) -> bool {
    tree.get(id, "type").is_none_or(|kind| kind.is_empty() || kind.eq_ignore_ascii_case("text/css"))
}

/// The texts of `style` elements, [stripped].
pub(super) fn sheets(tree: &Tree, styles: &[Id]) -> impl Iterator<Item = String> {
    styles.iter().flat_map(|id| tree.children(*id)).filter_map(|child| match tree.content(*child) {
        Content::Text(text) => Some(stripped(text)),
        Content::Element(_) => None,
    })
}
