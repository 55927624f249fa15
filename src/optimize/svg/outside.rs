//! What of a document is decided outside of it, or by what stands around a place, so that rules cannot know it.

use super::{
    Settings,
    names::{DEFINITIONS, DRAWN},
    style::used,
    tree::{Id, Tree},
};

/// What may be done to symbols that others draw: their paint, size and stroke come from there.
const OF_SYMBOLS: [&str; 7] = ["unmatched", "editors", "images", "colours", "definitions", "ids", "order"];
/// What may be done where a sheet picks elements by their attributes or their place among others.
const OF_PICKED: [&str; 4] = ["unmatched", "images", "paths", "order"];
/// How selectors do that.
const PICKS: [&str; 11] = ["[", "+", "~", ":nth-", ":first-", ":last-", ":only-", ":empty", ":has(", ":not(", ":is("];

/// Whether a rule can know what it does to the document as it is now.
pub(super) fn allows(tree: &Tree, settings: &Settings<'_>, rule: &str) -> bool {
    let forbids =
        |allowed: &[&str], holds: fn(&Tree, bool) -> bool| !allowed.contains(&rule) && holds(tree, settings.keep_ids);
    let forbidden = forbids(&OF_SYMBOLS, lends_symbols)
        || forbids(&OF_PICKED, picks)
        || rule == "paths" && sheets_ask(tree, &["[d"]);
    !forbidden
}

/// A document of symbols and views, or of definitions alone, that is used by their names from outside.
pub(super) fn is_library(tree: &Tree) -> bool {
    let elements = tree.elements();
    let any = |names: &[&str]| elements.iter().any(|id| tree.is(*id, names));
    let drawn =
        |id: &Id| tree.is(*id, &DRAWN) && !tree.within(*id, &["symbol", "defs"]) && !tree.within(*id, &DEFINITIONS);
    let root = tree.children(tree.root());
    let defined = |id: &Id| tree.element(*id).is_none() || tree.is(*id, &["symbol", "defs", "title", "desc", "style"]);
    let of_definitions = root.iter().any(|id| tree.is(*id, &["symbol", "defs"])) && root.iter().all(defined);
    any(&["view"]) || of_definitions || any(&["symbol"]) && !elements.iter().any(drawn)
}

fn lends_symbols(tree: &Tree, keep_ids: bool) -> bool {
    let unused = || {
        let used = used(tree);
        tree.elements().into_iter().any(|id| tree.is(id, &["symbol"]) && !used[id.index()])
    };
    is_library(tree) || keep_ids && unused()
}

fn picks(tree: &Tree, _: bool) -> bool {
    sheets_ask(tree, &PICKS)
}

/// Whether a selector has one of these in it.
fn sheets_ask(tree: &Tree, words: &[&str]) -> bool {
    words.iter().any(|word| tree.changes().selectors().contains(word))
}
