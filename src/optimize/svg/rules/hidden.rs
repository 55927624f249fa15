use std::collections::BTreeSet;

use super::super::{
    Settings,
    names::{ANIMATIONS, SHAPES},
    path::{Path, Segment},
    refs,
    style::{animated, inherited, is_styled, marked, paints},
    tree::{Element, Id, Tree},
};
use crate::error::Result;

pub(super) const BEFORE: &str = "<svg><g display=\"none\"><path d=\"M0 0h9\"/></g><rect width=\"0\" height=\"9\"/><path d=\"\"/><circle r=\"9\" fill=\"none\"/>\
    <g/><text/><path d=\"M0 0h9v9z\"/></svg>";
pub(super) const AFTER: &str = "<svg><path d=\"M0 0h9v9z\"/></svg>";

pub(super) fn apply(tree: &mut Tree, _: &Settings<'_>) -> Result<()> {
    if is_styled(tree) {
        return Ok(());
    }
    // What is not drawn belongs to a box all the same, around whose middle things may turn.
    let boxed = |element: &Element| {
        element.has("transform-box") || element.get("style").is_some_and(|style| style.contains("transform-box"))
    };
    let turns =
        tree.changes().say("transform-box") || tree.elements().into_iter().filter_map(|id| tree.element(id)).any(boxed);
    let (fill, stroke) = (inherited(tree, "fill"), inherited(tree, "stroke"));
    let named: BTreeSet<Id> = {
        let ids = refs::by_id(tree);
        refs::references(tree).iter().filter_map(|(_, _, target)| ids.get(target).copied()).collect()
    };
    let (animated, marked) = (animated(tree), marked(tree));
    let moving = tree.changes().are_any() || tree.elements().into_iter().any(|id| tree.is(id, &ANIMATIONS));
    let unpainted = |tree: &Tree, id: Id| {
        tree.is(id, &SHAPES)
            && !paints(&fill[id.index()])
            && !paints(&stroke[id.index()])
            && !tree.within(id, &["clipPath"])
            // Without paint it may still be what pointers hit.
            && tree.upwards(id).all(|id| tree.get(id, "pointer-events").is_none_or(|events| events.trim() == "none"))
            && !marked[id.index()]
    };
    tree.retain(|tree, id| {
        let element = tree.element(id);
        let plain = element.is_some_and(|element| !element.html && !element.has("style") && !element.has("id"));
        if !plain || named.contains(&id) || animated[id.index()] || tree.within(id, &["switch"]) {
            return true;
        }
        !(is_switched_off(tree, id)
            || has_no_size(tree, id, marked[id.index()])
            || unpainted(tree, id) && !moving && !turns)
    });
    drop_empty(tree, &named);
    Ok(())
}

fn is_switched_off(tree: &Tree, id: Id) -> bool {
    tree.get(id, "display") == Some("none")
        && !tree.is(id, &["stop", "clipPath", "mask", "marker", "pattern", "filter", "symbol"])
        && !tree.upwards(id).any(|id| tree.get(id, "id").is_some() && tree.is(id, &["symbol", "clipPath", "mask"]))
        && !holds_named(tree, id)
}

/// What is switched off is still there for those who name it.
fn holds_named(tree: &Tree, id: Id) -> bool {
    tree.descendants(id).into_iter().any(|id| tree.get(id, "id").is_some())
}

/// A shape that the specification switches off by its numbers. Markers are drawn where a path only moves, too.
fn has_no_size(tree: &Tree, id: Id, marked: bool) -> bool {
    let zero = |name: &str| tree.get(id, name).is_some_and(|value| value.trim().parse() == Ok(0.0));
    match tree.name(id) {
        "rect" | "image" | "pattern" => zero("width") || zero("height"),
        "circle" => zero("r"),
        "ellipse" => zero("rx") || zero("ry"),
        "path" => match tree.get(id, "d") {
            None => !tree.children(id).iter().any(|child| tree.is(*child, &ANIMATIONS)),
            Some(data) => Path::parse(data).is_some_and(|path| {
                path.segments.is_empty()
                    || !marked && path.segments.iter().all(|segment| matches!(segment, Segment::Move(_)))
            }),
        },
        "polygon" | "polyline" => tree.get(id, "points").is_none_or(|points| points.trim().is_empty()),
        _ => false,
    }
}

/// Containers of nothing, from the inside out. A mask or a clip path without content hides what uses it; a filter on
/// nothing may still paint.
fn drop_empty(tree: &mut Tree, named: &BTreeSet<Id>) {
    let mut gone = vec![false; tree.capacity()];
    for id in tree.elements().into_iter().rev() {
        let empty = tree.is(id, &["g", "defs", "switch", "a", "text", "tspan", "symbol"])
            && tree.children(id).iter().all(|child| gone[child.index()]);
        let kept = ["id", "filter", "style"].iter().any(|name| tree.get(id, name).is_some()) || named.contains(&id);
        let chosen = tree.parent(id).is_none_or(|parent| tree.is(parent, &["switch"]));
        gone[id.index()] = empty && !kept && !chosen;
    }
    tree.retain(|_, id| !gone[id.index()]);
}
