use std::collections::BTreeMap;

use super::{
    super::{Settings, outside::is_library, refs, style::is_styled, tree::Tree},
    definitions::rename,
};
use crate::error::Result;

pub(super) const BEFORE: &str =
    "<svg><path id=\"unused\"/><linearGradient id=\"gradient-1\"/><path fill=\"url('#gradient-1')\"/></svg>";
pub(super) const AFTER: &str = "<svg><path/><linearGradient id=\"a\"/><path fill=\"url(#a)\"/></svg>";

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    if settings.keep_ids || is_styled(tree) || is_library(tree) {
        return Ok(());
    }
    let mut order: Vec<(usize, usize, String)> = Vec::new();
    for (name, count) in drop_unused(tree) {
        order.push((count, order.len(), name));
    }
    // The shortest names for those that are named most.
    order.sort_by_key(|(count, place, _)| (usize::MAX - count, *place));
    let changes = tree.changes();
    let free = (0..).map(short_name).filter(|name| !changes.name(name));
    let names: BTreeMap<String, String> = order.into_iter().map(|(_, _, old)| old).zip(free).collect();
    rename(tree, &names);
    for id in tree.elements() {
        if let Some(new) = tree.get(id, "id").and_then(|old| names.get(old)).cloned() {
            tree.set(id, "id", new);
        }
    }
    Ok(())
}

/// Drops the ids that nothing names; gives back the others and how often they are named, in document order.
pub(super) fn drop_unused(tree: &mut Tree) -> Vec<(String, usize)> {
    let ids = refs::by_id(tree);
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for (_, _, target) in refs::references(tree) {
        *uses.entry(target).or_default() += 1;
    }
    let mut found = Vec::new();
    for id in tree.elements() {
        let Some(name) = tree.get(id, "id").map(str::to_owned) else { continue };
        // Those that selectors name stay as they are.
        if tree.changes().name(&name) {
            continue;
        }
        match uses.get(&name) {
            // Of several elements with one id the first has it.
            Some(count) if ids.get(&name) == Some(&id) => found.push((name, *count)),
            _ => drop(tree.unset(id, "id")),
        }
    }
    found
}

/// `a` to `Z`, then names of two characters whose second may be a digit, and so on.
pub(super) fn short_name(mut at: usize) -> String {
    const FIRST: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const REST: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let mut name = char::from(FIRST[at % FIRST.len()]).to_string();
    at /= FIRST.len();
    while at > 0 {
        at -= 1;
        name.push(char::from(REST[at % REST.len()]));
        at /= REST.len();
    }
    name
}
