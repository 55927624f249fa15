use std::collections::BTreeSet;

use super::super::{
    Settings,
    matrix::Matrix,
    names::{DEFINITIONS, DRAWN, property},
    refs,
    style::{animated, coloured, is_relative, is_styled, linked},
    tree::{Attribute, Element, Id, Tree},
};
use crate::{codec::svg::urls, control::Run, error::Result};

pub(super) const BEFORE: &str = "<svg><clipPath id=\"a\"/><g><g transform=\"scale(2)\"><path d=\"M0 0h9\" transform=\"scale(3)\"/></g></g>\
    <g clip-path=\"url(#a)\"><use href=\"#b\"/></g><g clip-path=\"url(#a)\"><use href=\"#c\"/></g><g clip-path=\"url(#a)\"><use href=\"#d\"/></g></svg>";
pub(super) const AFTER: &str = "<svg><clipPath id=\"a\"/><path d=\"M0 0h9\" transform=\"matrix(6 0 0 6 0 0)\"/>\
    <g clip-path=\"url(#a)\"><use href=\"#b\"/><use href=\"#c\"/><use href=\"#d\"/></g></svg>";

/// What the tags of a group cost.
pub(super) const TAGS: usize = 7;

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    if is_styled(tree) {
        return Ok(());
    }
    let still = Still::of(tree);
    for id in tree.elements().into_iter().rev() {
        settings.run.check()?;
        // Browsers clip by shapes, and all away by groups.
        if tree.is(id, &["g"]) && tree.parent(id).is_some() && still.stands(id) && !tree.within(id, &["clipPath"]) {
            dissolve(tree, id, &still);
        }
    }
    let named: BTreeSet<String> = refs::references(tree).into_iter().map(|(_, _, target)| target).collect();
    for id in tree.elements() {
        settings.run.check()?;
        if tree.is(id, &["g", "svg", "a", "clipPath", "mask", "symbol"]) {
            if tree.is(id, &["g", "svg", "a", "mask", "symbol"]) && !tree.changes().ask_for("g") {
                share(tree, id, &still, settings.run)?;
            }
            join(tree, id, &named, &still, settings.run)?;
        }
    }
    Ok(())
}

/// Takes a group away whose attributes its only child can have, or that has none.
fn dissolve(tree: &mut Tree, id: Id, still: &Still) {
    let Some(group) = tree.element(id).cloned() else { return };
    let parent_ok = tree.parent(id).is_some_and(|parent| !tree.is(parent, &["switch"]));
    let drawn: Vec<Id> = tree.children(id).to_vec();
    let only_drawn = drawn.iter().all(|child| {
        tree.is(*child, &DRAWN) || tree.is(*child, &["g", "svg", "a", "switch"]) || tree.is(*child, &DEFINITIONS)
    });
    if !parent_ok || !only_drawn || group.has("id") || group.has("style") || group.has("class") {
        return;
    }
    if group.attributes.is_empty() {
        tree.dissolve(id);
        return;
    }
    match drawn[..] {
        [child] if passes_on(tree, &group, child, still) => {
            for attribute in &group.attributes {
                pass_on(tree, child, &attribute.name, &attribute.value);
            }
            tree.dissolve(id);
        }
        _ if drawn.iter().any(|child| still.is_drawn_elsewhere(*child)) => {}
        _ => spread(tree, id, &group, &drawn, still),
    }
}

/// Inherited properties go to the children where that is shorter than the group.
fn spread(tree: &mut Tree, id: Id, group: &Element, children: &[Id], still: &Still) {
    let able = |child: &Id| tree.is(*child, &DRAWN) || tree.is(*child, &["g", "a", "switch"]);
    if children.is_empty()
        || !group.attributes.iter().all(|it| children.iter().all(|child| still.is_handed_on(tree, it, *child)))
        || !children.iter().all(able)
    {
        return;
    }
    let length = |name: &str, value: &str| name.len() + value.len() + 4;
    let whole: usize = group.attributes.iter().map(|attribute| length(&attribute.name, &attribute.value)).sum();
    let spread: usize = group
        .attributes
        .iter()
        .map(|attribute| {
            children.iter().filter(|child| tree.get(**child, &attribute.name).is_none()).count()
                * length(&attribute.name, &attribute.value)
        })
        .sum();
    if spread <= whole + TAGS {
        for child in children {
            for attribute in &group.attributes {
                if tree.get(*child, &attribute.name).is_none() {
                    tree.set(*child, &attribute.name, attribute.value.as_str());
                }
            }
        }
        tree.dissolve(id);
    }
}

fn passes_on(tree: &Tree, group: &Element, child: Id, still: &Still) -> bool {
    let Some(element) = tree.element(child) else { return false };
    if !(element.is(&DRAWN) || element.is(&["g"]))
        || element.is(&["tspan"])
        || element.has("id")
        || element.has("style")
        || element.has("class")
        || element.has("transform-origin")
        || !still.stands(child)
    {
        return false;
    }
    let transformed = element.has("transform");
    let bound = |name: &str| matches!(name, "clip-path" | "mask" | "filter");
    let inner_bound = element.is_cut();
    group.attributes.iter().all(|attribute| match attribute.name.as_str() {
        "transform" => {
            transformable(group, attribute.value.as_str())
                && element.get("transform").is_none_or(|inner| Matrix::parse(inner).is_some())
        }
        // Clips and masks are in the units of who has them, and come after its own.
        name if bound(name) => {
            !transformed
                && !inner_bound
                && !element.has("opacity")
                && !element.is(&["use", "image"])
                && !still.is_boxed(&attribute.value)
        }
        "opacity" => !element.has("opacity") && !inner_bound,
        _ => still.is_handed_on(tree, attribute, child),
    })
}

fn transformable(group: &Element, transform: &str) -> bool {
    !group.is_cut() && Matrix::parse(transform).is_some()
}

/// What is known of the document before anything moves.
struct Still {
    animated: Vec<bool>,
    linked: Vec<bool>,
    /// Definitions in the units of their user's own.
    unboxed: BTreeSet<String>,
    /// See [`coloured`].
    coloured: bool,
    /// Something is blended with what is below it in its group.
    blended: bool,
}

impl Still {
    fn of(tree: &Tree) -> Self {
        let unboxed = tree.elements().into_iter().filter(|id| {
            tree.is(*id, &["clipPath"])
                && tree.get(*id, "clipPathUnits").is_none_or(|units| units != "objectBoundingBox")
        });
        Self {
            animated: animated(tree),
            linked: linked(tree, |_| true),
            unboxed: unboxed.filter_map(|id| tree.get(id, "id").map(str::to_owned)).collect(),
            coloured: coloured(tree),
            blended: ["mix-blend-mode", "isolation"].iter().any(|name| tree.changes().say(name))
                || tree.elements().into_iter().any(|id| {
                    tree.get(id, "style").is_some_and(|style| style.contains("blend") || style.contains("isolation"))
                }),
        }
    }

    /// Whether an element is the same at any time. Groups made since are.
    fn stands(&self, id: Id) -> bool {
        !self.animated.get(id.index()).copied().unwrap_or(false)
    }

    /// Whether an attribute of a group is inherited, and a child that has it itself shows the same, be it by one of its own.
    fn is_handed_on(&self, tree: &Tree, attribute: &Attribute, child: Id) -> bool {
        let values = [Some(attribute.value.as_str()), tree.get(child, &attribute.name)];
        property(&attribute.name).is_some_and(|property| property.inherited)
            && values.into_iter().flatten().all(|value| !is_relative(&attribute.name, value, self.coloured))
    }

    /// Whether a link leads to an element, which is drawn there as it is by itself, without what is around it here.
    fn is_drawn_elsewhere(&self, id: Id) -> bool {
        self.linked.get(id.index()).copied().unwrap_or(false)
    }

    /// Whether what is named draws in units of the box of whoever names it. A group's box is not that of its child alone.
    fn is_boxed(&self, value: &str) -> bool {
        urls(value).first().is_none_or(|url| !self.unboxed.contains(url.trim_start_matches('#')))
    }
}

fn pass_on(tree: &mut Tree, child: Id, name: &str, value: &str) {
    match (name, tree.get(child, name)) {
        ("transform", Some(inner)) => {
            if let (Some(outer), Some(inner)) = (Matrix::parse(value), Matrix::parse(inner)) {
                tree.set(child, name, outer.then_inside(inner).spelled());
            }
        }
        (_, Some(_)) => {}
        (_, None) => tree.set(child, name, value),
    }
}

/// Neighbouring groups with the same attributes become one, where each is drawn on its own anyway.
fn join(tree: &mut Tree, parent: Id, named: &BTreeSet<String>, still: &Still, run: Run<'_>) -> Result<()> {
    let children = tree.children(parent).to_vec();
    let joins = |tree: &Tree, id: Id| {
        tree.is(id, &["g"])
            && still.stands(id)
            && tree.element(id).is_some_and(|element| {
                !element.attributes.is_empty()
                    && element.get("id").is_none_or(|id| !named.contains(id))
                    && element.attributes.iter().all(|attribute| {
                        matches!(attribute.name.as_str(), "transform")
                            || attribute.name == "clip-path" && !still.blended && !still.is_boxed(&attribute.value)
                            || property(&attribute.name).is_some_and(|property| property.inherited)
                    })
            })
    };
    let (mut last, mut gone): (Option<Id>, _) = (None, Vec::new());
    for child in children {
        run.check()?;
        let fits = joins(tree, child);
        match last {
            Some(first)
                if fits && tree.element(first).map(|e| &e.attributes) == tree.element(child).map(|e| &e.attributes) =>
            {
                tree.pour(child, first);
                gone.push(child);
            }
            _ => last = fits.then_some(child),
        }
    }
    tree.remove_all(&gone);
    Ok(())
}

/// Runs of neighbours with the same clip path or transform get a group that has it for all of them.
fn share(tree: &mut Tree, parent: Id, still: &Still, run: Run<'_>) -> Result<()> {
    // What is clipped is a group of its own, in which things are blended.
    let names = if still.blended { &["transform"][..] } else { &["clip-path", "transform"] };
    for &name in names {
        let mut at = 0;
        while let Some(&child) = tree.children(parent).get(at) {
            run.check()?;
            let count = count_from(tree, parent, at, name, still);
            let Some(value) = tree.get(child, name).map(str::to_owned).filter(|_| count > 1) else {
                at += 1;
                continue;
            };
            let mut next = at + count;
            let attribute = name.len() + value.len() + 4;
            let inner = tree.children(parent)[at..at + count].to_vec();
            // Groups that are left with nothing go as well.
            let bare = inner
                .iter()
                .filter(|id| {
                    tree.is(**id, &["g"]) && tree.element(**id).is_some_and(|element| element.attributes.len() == 1)
                })
                .count();
            if (count - 1) * attribute + bare * TAGS > TAGS
                && count < tree.children(parent).len() + usize::from(!tree.is(parent, &["g"]))
            {
                inner.iter().for_each(|id| drop(tree.unset(*id, name)));
                let mut group = Element::new("g");
                group.set(name, value);
                let wrapped = tree.wrap(parent, at, at + count - 1, group);
                for id in tree.children(wrapped).to_vec() {
                    run.check()?;
                    if tree.is(id, &["g"]) && tree.element(id).is_some_and(|element| element.attributes.is_empty()) {
                        tree.dissolve(id);
                    }
                }
                next = at + 1;
            }
            at = next;
        }
    }
    Ok(())
}

/// How many children from `at` on have the same value of an attribute that a group could have for them.
fn count_from(tree: &Tree, parent: Id, at: usize, name: &str, still: &Still) -> usize {
    let children = &tree.children(parent)[at..];
    let value = |id: Id| tree.element(id).filter(|_| able(tree, id, name, still)).and_then(|element| element.get(name));
    let Some(first) = children.first().and_then(|id| value(*id)) else { return 0 };
    children.iter().take_while(|id| value(**id) == Some(first)).count()
}

fn able(tree: &Tree, id: Id, name: &str, still: &Still) -> bool {
    let Some(element) = tree.element(id) else { return false };
    let bound = ["clip-path", "mask", "filter", "style", "transform", "transform-origin", "opacity"]
        .iter()
        .filter(|other| **other != name)
        .any(|other| element.has(other));
    (element.is(&DRAWN) || element.is(&["g"]))
        && !element.is(&["tspan", "textPath", "tref"])
        && !bound
        && still.stands(id)
        && !still.is_drawn_elsewhere(id)
        && (name == "transform" || element.get(name).is_some_and(|value| !still.is_boxed(value)))
}
