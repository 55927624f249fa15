use std::collections::BTreeMap;

use super::super::{
    Settings,
    names::{ANIMATIONS, DEFINITIONS},
    outside::is_library,
    refs,
    style::{animated, is_styled},
    tree::{Id, Tree},
    write::write_part,
};
use crate::error::Result;

pub(super) const BEFORE: &str = "<svg><defs><clipPath id=\"a\"><path d=\"M0 0h9v9z\"/></clipPath><clipPath id=\"b\"><path d=\"M0 0h9v9z\"/></clipPath>\
    <linearGradient id=\"c\"/></defs><g clip-path=\"url(#a)\"/><g clip-path=\"url(#b)\"/></svg>";
pub(super) const AFTER: &str = "<svg><clipPath id=\"a\"><path d=\"M0 0h9v9z\"/></clipPath><g clip-path=\"url(#a)\"/><g clip-path=\"url(#a)\"/></svg>";

/// Definitions that draw nothing where they stand even without `defs` around them.
const STANDING: [&str; 9] =
    ["clipPath", "mask", "pattern", "marker", "symbol", "filter", "linearGradient", "radialGradient", "style"];

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    if is_styled(tree) || is_library(tree) {
        return Ok(());
    }
    drop_unused(tree, settings)?;
    if !settings.keep_ids {
        super::ids::drop_unused(tree);
        share_equal(tree, settings)?;
    }
    dissolve_defs(tree, settings)
}

/// Definitions whose content nothing names that is drawn or named itself.
fn drop_unused(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    let ids = refs::by_id(tree);
    let mut targets: BTreeMap<Id, Vec<Id>> = BTreeMap::new();
    for (from, _, name) in refs::references(tree) {
        targets.entry(from).or_default().extend(ids.get(&name));
    }
    let mut reach = Reach { tree, used: vec![false; tree.capacity()], open: vec![tree.root()] };
    let lasts = |id: &Id| {
        settings.keep_ids && tree.get(*id, "id").is_some()
            || tree.is(*id, &ANIMATIONS) && tree.get(*id, "href").is_some()
    };
    tree.elements().into_iter().filter(lasts).for_each(|id| reach.name(id));
    let mut live = vec![false; tree.capacity()];
    while let Some(id) = reach.open.pop() {
        settings.run.check()?;
        if !std::mem::replace(&mut live[id.index()], true) {
            reach.open.extend(tree.children(id).iter().filter(|child| !is_definition(tree, **child)));
            targets.get(&id).into_iter().flatten().for_each(|target| reach.name(*target));
        }
    }
    let used = reach.used;
    tree.retain(|tree, id| used[id.index()] || !is_definition(tree, id));
    Ok(())
}

/// Whether an element is nothing without who names it.
fn is_definition(tree: &Tree, id: Id) -> bool {
    let defined = tree.is(id, &DEFINITIONS) || tree.parent(id).is_some_and(|parent| tree.is(parent, &["defs"]));
    defined && !tree.is(id, &["defs", "style", "font"]) && tree.element(id).is_some()
}

/// What is reached from what is drawn.
struct Reach<'a> {
    tree: &'a Tree,
    /// Named, or around what is.
    used: Vec<bool>,
    /// Elements whose content and names are still to be followed.
    open: Vec<Id>,
}

impl Reach<'_> {
    fn name(&mut self, id: Id) {
        for id in self.tree.upwards(id) {
            if std::mem::replace(&mut self.used[id.index()], true) {
                break;
            }
            self.open.push(id);
        }
    }
}

/// Equal definitions but for their ids become the first of them.
fn share_equal(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    let mut first: BTreeMap<String, String> = BTreeMap::new();
    let mut renamed: BTreeMap<String, String> = BTreeMap::new();
    let mut gone: Vec<Id> = Vec::new();
    let animated = animated(tree);
    for id in tree.elements() {
        settings.run.check()?;
        let moves = |id: Id| tree.descendants(id).into_iter().any(|id| animated[id.index()]);
        if !tree.is(id, &STANDING) || tree.is(id, &["symbol", "style"]) || moves(id) {
            continue;
        }
        let Some(name) = tree.get(id, "id").map(str::to_owned) else { continue };
        let inner = tree.descendants(id).into_iter().skip(1).any(|id| tree.get(id, "id").is_some());
        if inner {
            continue;
        }
        // What is inherited from around them is part of what they are.
        let outer: Vec<_> = tree.upwards(id).skip(1).filter(|id| !is_bare_defs(tree, *id)).collect();
        let context = if outer.len() > 1 { format!("{:?}", outer) } else { String::new() };
        match first.get(&(context.clone() + &write_part(tree, id))) {
            Some(same) => {
                renamed.insert(name, same.clone());
                gone.push(id);
            }
            None => drop(first.insert(context + &write_part(tree, id), name)),
        }
    }
    tree.remove_all(&gone);
    rename(tree, &renamed);
    Ok(())
}

/// Whether an element only holds definitions, and hands nothing down to them.
fn is_bare_defs(tree: &Tree, id: Id) -> bool {
    tree.is(id, &["defs"])
        && tree.element(id).is_some_and(|element| element.attributes.iter().all(|it| it.name == "id"))
}

/// Replaces the ids that attributes name.
pub(super) fn rename(tree: &mut Tree, names: &BTreeMap<String, String>) {
    if names.is_empty() {
        return;
    }
    for id in tree.elements() {
        let Some(element) = tree.element_mut(id) else { continue };
        for attribute in &mut element.attributes {
            if attribute.name != "id"
                && (attribute.value.contains('#')
                    || attribute.value.contains('.')
                    || attribute.name.starts_with("aria-"))
            {
                attribute.value = refs::renamed(&attribute.name, &attribute.value, |id| names.get(id).cloned());
            }
        }
    }
}

/// Definitions that stand without `defs` as well do so.
fn dissolve_defs(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    for id in tree.elements() {
        settings.run.check()?;
        let plain = tree.is(id, &["defs"]) && tree.element(id).is_some_and(|element| element.attributes.is_empty());
        let holds = plain && tree.children(id).iter().all(|child| tree.is(*child, &STANDING));
        let parent = tree.parent(id).is_some_and(|parent| tree.is(parent, &["svg", "g"]));
        if holds && parent {
            tree.dissolve(id);
        }
    }
    Ok(())
}
