//! What elements inherit.

use std::collections::BTreeMap;

use super::{
    css::declarations,
    names::{ANIMATIONS, property},
    refs::{by_id, references},
    tree::{Id, Tree},
};
use crate::{control::Run, error::Result};

const MARKERS: [&str; 3] = ["marker-start", "marker-mid", "marker-end"];

/// What is known of a property's value at an element.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    /// That of whoever uses the element, one that changes over time, or one that a `style` declares.
    Context,
    /// This.
    Known(String),
}

/// The value of an inherited property at every node, by [`Id::index`]; what stands outside of the document counts as the
/// initial value.
pub(super) fn inherited(tree: &Tree, name: &str) -> Vec<Value> {
    let initial = property(name).map_or("", |property| property.initial);
    let mut values = vec![Value::Known(initial.to_owned()); tree.capacity()];
    let (used, moving) = (used(tree), moving(tree, name));
    for id in tree.descendants(tree.root()) {
        let value = match (tree.get(id, name), tree.parent(id)) {
            _ if moving[id.index()] || is_declared(tree, id, name) => Value::Context,
            (Some(value), _) => Value::Known(value.to_owned()),
            (None, _) if used[id.index()] => Value::Context,
            (None, Some(parent)) => values[parent.index()].clone(),
            (None, None) => continue,
        };
        values[id.index()] = value;
    }
    values
}

/// The elements of which one attribute or property changes, in time or by a sheet; by [`Id::index`].
pub(super) fn moving(tree: &Tree, name: &str) -> Vec<bool> {
    let mut moving = if tree.changes().say(name) { reached(tree) } else { vec![false; tree.capacity()] };
    for (animation, target) in animations(tree) {
        if tree.get(animation, "attributeName").is_some_and(|changed| changed.trim() == name) {
            moving[target.index()] = true;
        }
    }
    moving
}

/// Whether a property changes of any element, in time or by a sheet.
pub(super) fn moves(tree: &Tree, name: &str) -> bool {
    moving(tree, name).contains(&true)
}

/// Whether the `style` of an element has a word in a property, which then is not what attributes say.
pub(super) fn is_declared(tree: &Tree, id: Id, name: &str) -> bool {
    let shorthand = ["font", "marker"].into_iter().find(|shorthand| name.starts_with(shorthand)).unwrap_or("all");
    let words = [name, "all", shorthand];
    let Some(style) = tree.get(id, "style") else { return false };
    // To look for words is much quicker than to read a style, and this is asked of every element for many properties.
    words.iter().any(|word| has_word(style, word))
        && declarations(style).iter().any(|declaration| words.contains(&declaration.name.as_str()))
}

/// Whether a word is in a text, in whatever case.
fn has_word(text: &str, word: &str) -> bool {
    text.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether something has a colour of its own for `currentColor`.
pub(super) fn coloured(tree: &Tree) -> bool {
    tree.elements().into_iter().any(|id| tree.get(id, "color").is_some())
}

/// Whether a value means another thing where other properties or what is around it are others, in a document that is
/// [`coloured`] or not.
pub(super) fn is_relative(name: &str, value: &str, coloured: bool) -> bool {
    const WORDS: [&str; 12] =
        ["inherit", "var(", "calc(", "em", "ex", "%", "bolder", "lighter", "larger", "smaller", "initial", "unset"];
    match name {
        _ if value.eq_ignore_ascii_case("currentcolor") => coloured,
        "font-family" | "fill" | "stroke" | "cursor" => {
            matches!(value, "inherit" | "initial" | "unset") || value.contains("var(")
        }
        _ => WORDS.iter().any(|word| value.contains(word)) && !value.contains("decreme"),
    }
}

/// The elements that a `use` names, by [`Id::index`].
pub(super) fn used(tree: &Tree) -> Vec<bool> {
    linked(tree, |id| tree.is(id, &["use"]))
}

/// The elements to which such elements link, by [`Id::index`].
pub(super) fn linked(tree: &Tree, by: impl Fn(Id) -> bool) -> Vec<bool> {
    let mut linked = vec![false; tree.capacity()];
    let ids = by_id(tree);
    for (id, name, target) in references(tree) {
        if name == "href"
            && by(id)
            && let Some(target) = ids.get(&target)
        {
            linked[target.index()] = true;
        }
    }
    linked
}

/// Whether an element has a property, at rest or in time, that is not `none`.
pub(super) fn paints(value: &Value) -> bool {
    *value != Value::Known("none".to_owned())
}

/// Whether markers are drawn at the vertices of an element, by [`Id::index`].
pub(super) fn marked(tree: &Tree) -> Vec<bool> {
    let markers = MARKERS.map(|name| inherited(tree, name));
    (0..tree.capacity()).map(|at| markers.iter().any(|values| paints(&values[at]))).collect()
}

/// Whether anything says of markers that there are any, at rest or in time.
pub(super) fn names_markers(tree: &Tree) -> bool {
    let named =
        |id: Id, name: &str| tree.get(id, name).is_some_and(|value| value != "none") || is_declared(tree, id, name);
    let elements = tree.elements();
    MARKERS.iter().any(|name| elements.iter().any(|id| named(*id, name)) || moves(tree, name))
}

/// Whether the document has a sheet of which nobody knows what it changes, so that attributes are not all there is.
pub(super) fn is_styled(tree: &Tree) -> bool {
    tree.changes().are_unknown()
}

/// The elements that sheets may change, by [`Id::index`].
pub(super) fn reached(tree: &Tree) -> Vec<bool> {
    let mut reached = vec![false; tree.capacity()];
    if tree.changes().are_any() {
        for id in tree.elements() {
            reached[id.index()] = tree.element(id).is_some_and(|element| tree.changes().reach(element));
        }
    }
    reached
}

/// The elements that change: over time, by an animation inside them or one that names them, or by sheets; by [`Id::index`].
pub(super) fn animated(tree: &Tree) -> Vec<bool> {
    let mut animated = reached(tree);
    for (_, target) in animations(tree) {
        animated[target.index()] = true;
    }
    animated
}

/// Elements that may look otherwise than at rest, with all that they draw, by [`Id::index`]: what changes, and what is in it or
/// named by it.
pub(super) fn unsteady(tree: &Tree) -> Vec<bool> {
    let changes = animated(tree);
    let mut unsteady = vec![false; tree.capacity()];
    let mut open: Vec<Id> =
        tree.elements().into_iter().filter(|id| changes[id.index()] || tree.changes().are_unknown()).collect();
    if open.is_empty() {
        return unsteady;
    }
    let ids = by_id(tree);
    let mut named = vec![Vec::new(); tree.capacity()];
    for (from, _, name) in references(tree) {
        named[from.index()].extend(ids.get(&name));
    }
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut unsteady[id.index()], true) {
            open.extend(tree.children(id));
            open.extend(&named[id.index()]);
        }
    }
    unsteady
}

/// The animations, and what each changes.
fn animations(tree: &Tree) -> Vec<(Id, Id)> {
    let animations: Vec<Id> = tree.elements().into_iter().filter(|id| tree.is(*id, &ANIMATIONS)).collect();
    let ids = if animations.is_empty() { BTreeMap::new() } else { by_id(tree) };
    let target = |id: Id| match tree.get(id, "href") {
        Some(href) => ids.get(href.trim().trim_start_matches('#')).copied(),
        None => tree.parent(id),
    };
    animations.into_iter().filter_map(|id| Some((id, target(id)?))).collect()
}

/// Elements with text in them or around them, those that show such elsewhere and those that these refer to, by
/// [`Id::index`]. A renderer without its font does not see text, so that nothing about it can be verified.
pub(super) fn textual(tree: &Tree, run: Run<'_>) -> Result<Vec<bool>> {
    let mut found = Textual { tree, is: vec![false; tree.capacity()], open: Vec::new() };
    for id in tree.elements() {
        if tree.is(id, &["text", "font", "foreignObject"]) {
            found.below(id);
            found.above(id);
        }
    }
    let ids = by_id(tree);
    let mut links = vec![(Vec::new(), Vec::new()); tree.capacity()];
    for (from, _, name) in references(tree) {
        if let Some(to) = ids.get(&name) {
            links[from.index()].0.push(*to);
            links[to.index()].1.push(from);
        }
    }
    while let Some(id) = found.open.pop() {
        run.check()?;
        let (to, from) = &links[id.index()];
        to.iter().for_each(|to| found.below(*to));
        for from in from {
            if !found.is[from.index()] {
                found.above(*from);
            }
        }
    }
    Ok(found.is)
}

/// Elements are entered once each, however many links lead to them.
struct Textual<'a> {
    tree: &'a Tree,
    is: Vec<bool>,
    /// Found, with their links still to be followed.
    open: Vec<Id>,
}

impl Textual<'_> {
    fn enter(&mut self, id: Id) -> bool {
        let new = !std::mem::replace(&mut self.is[id.index()], true);
        self.open.extend(new.then_some(id));
        new
    }

    /// `id` and all below it. Where something was found already, so was all below that: what leads upwards leads to the
    /// root.
    fn below(&mut self, id: Id) {
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            if self.enter(id) {
                open.extend(self.tree.children(id));
            }
        }
    }

    /// `id` and all around it.
    fn above(&mut self, id: Id) {
        for id in self.tree.upwards(id) {
            self.enter(id);
        }
    }
}
