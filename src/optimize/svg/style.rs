//! What elements inherit.

use std::collections::BTreeMap;

use super::{
    names::{ANIMATIONS, property},
    refs::{by_id, references},
    tree::{Id, Tree},
};

/// What is known of a property's value at an element.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    /// That of whoever uses the element.
    Context,
    /// This.
    Known(String),
}

/// The value of an inherited property at every node, by [`Id::index`]; what stands outside of the document counts as the
/// initial value.
pub(super) fn inherited(tree: &Tree, name: &str) -> Vec<Value> {
    let initial = property(name).map_or("", |property| property.initial);
    let mut values = vec![Value::Known(initial.to_owned()); tree.capacity()];
    let used = used(tree);
    for id in tree.descendants(tree.root()) {
        let value = match (tree.get(id, name), tree.parent(id)) {
            (Some(value), _) => Value::Known(value.to_owned()),
            (None, _) if used[id.index()] => Value::Context,
            (None, Some(parent)) => values[parent.index()].clone(),
            (None, None) => continue,
        };
        values[id.index()] = value;
    }
    values
}

/// The elements that a `use` names, by [`Id::index`].
pub(super) fn used(tree: &Tree) -> Vec<bool> {
    let mut used = vec![false; tree.capacity()];
    let ids = by_id(tree);
    for (id, name, target) in references(tree) {
        if name == "href"
            && tree.is(id, &["use"])
            && let Some(target) = ids.get(&target)
        {
            used[target.index()] = true;
        }
    }
    used
}

/// Whether an element has a property, at rest or in time, that is not `none`.
pub(super) fn paints(value: &Value) -> bool {
    *value != Value::Known("none".to_owned())
}

/// Whether the document has a sheet that could not be folded, so that attributes are not all there is.
pub(super) fn is_styled(tree: &Tree) -> bool {
    tree.elements().iter().any(|id| tree.is(*id, &["style"]))
}

/// Whether elements change over time, by an animation inside them or one that names them; by [`Id::index`].
pub(super) fn animated(tree: &Tree) -> Vec<bool> {
    let mut animated = vec![false; tree.capacity()];
    let animations: Vec<Id> = tree.elements().into_iter().filter(|id| tree.is(*id, &ANIMATIONS)).collect();
    let ids = if animations.is_empty() { BTreeMap::new() } else { by_id(tree) };
    for id in animations {
        let named = tree.get(id, "href").map(|href| ids.get(href.trim().trim_start_matches('#')).copied());
        if let Some(target) = named.unwrap_or_else(|| tree.parent(id)) {
            animated[target.index()] = true;
        }
    }
    animated
}

/// Elements with text in them or around them, those that show such elsewhere and those that these refer to, by
/// [`Id::index`]. A renderer without its font does not see text, so that nothing about it can be verified.
pub(super) fn textual(tree: &Tree) -> Vec<bool> {
    let (mut textual, mut found) = (vec![false; tree.capacity()], Vec::new());
    for id in tree.elements() {
        if tree.is(id, &["text", "font", "foreignObject"]) {
            found.extend(tree.upwards(id).chain(tree.descendants(id)));
        }
    }
    let targets = by_id(tree);
    let links: Vec<(Id, Id)> =
        references(tree).iter().filter_map(|(from, _, name)| Some((*from, *targets.get(name)?))).collect();
    while !found.is_empty() {
        found.drain(..).for_each(|id| textual[id.index()] = true);
        for &(from, to) in &links {
            match (textual[from.index()], textual[to.index()]) {
                (true, false) => found.extend(tree.descendants(to)),
                (false, true) => found.extend(tree.upwards(from)),
                _ => {}
            }
        }
    }
    textual
}
