use super::super::{
    Settings,
    path::{Keep, Path},
    screen::Screen,
    style::{Value, animated, inherited, is_styled, marked, paints},
    tree::{Element, Id, Tree},
};
use crate::error::Result;

pub(super) const BEFORE: &str = "<svg viewBox=\"0 0 99 99\"><path fill=\"red\" d=\"M0 0h9v9z\"/><path fill=\"red\" d=\"M20 0h9v9z\"/><path fill=\"red\" d=\"M21 0h9v9z\"/></svg>";
pub(super) const AFTER: &str = "<svg viewBox=\"0 0 99 99\"><path fill=\"red\" d=\"m0 0h9v9zm20 0h9v9z\"/><path fill=\"red\" d=\"M21 0h9v9z\"/></svg>";

/// Far below every tolerance: numbers are rounded later.
const FINE: f64 = 1e-9;

/// Boxes that are compared before a path counts as touching: with more it gets slow.
const BOXES: usize = 64;

/// Pixels of the screen between paths: two that share one cover it one after the other, and not together.
const GAP: f64 = 4.0;

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    if settings.kinds || is_styled(tree) {
        return Ok(());
    }
    let screen = Screen::of(tree);
    let (animated, marked) = (animated(tree), marked(tree));
    let fill = ["fill", "stroke"].map(|name| inherited(tree, name));
    let plain = |tree: &Tree, id: Id| {
        let painted = |value: &Value| matches!(value, Value::Known(value) if !value.contains("url("));
        // Strokes reach further than the data, and gradients may be in units of the box.
        tree.is(id, &["path"])
            && !animated[id.index()]
            && !marked[id.index()]
            && tree.children(id).is_empty()
            && painted(&fill[0][id.index()])
            && !paints(&fill[1][id.index()])
            && tree.element(id).is_some_and(|element| {
                !["id", "style", "class", "clip-path", "mask", "filter", "pathLength", "role", "tabindex"]
                    .iter()
                    .any(|name| element.has(name))
            })
    };
    let mut gone = Vec::new();
    for parent in tree.elements() {
        if !tree.is(parent, &["g", "svg", "a", "symbol", "mask", "pattern", "marker"]) {
            continue;
        }
        let mut open: Option<(Id, Element, Path, Vec<[f64; 4]>)> = None;
        for child in tree.children(parent).to_vec() {
            settings.run.check()?;
            if tree.element(child).is_none() {
                continue;
            }
            let Some((bounds, path)) = plain(tree, child).then(|| measured(tree, child)).flatten() else {
                open = None;
                continue;
            };
            let mut look = tree.element(child).cloned().unwrap_or_default();
            look.unset("d");
            look.attributes.sort_by(|a, b| a.name.cmp(&b.name));
            match &mut open {
                Some((first, same, joined, boxes))
                    if *same == look
                        && boxes.len() < BOXES
                        && boxes.iter().all(|other| apart(*other, bounds, GAP / screen.place(tree, child).scale)) =>
                {
                    joined.segments.extend(path.segments);
                    tree.set(*first, "d", joined.write(FINE, Keep::ALL, settings.run)?);
                    gone.push(child);
                    boxes.push(bounds);
                }
                _ => open = Some((child, look, path, vec![bounds])),
            }
        }
    }
    tree.remove_all(&gone);
    Ok(())
}

fn measured(tree: &Tree, id: Id) -> Option<([f64; 4], Path)> {
    let path = Path::parse(tree.get(id, "d")?)?;
    Some((path.bounds()?, path))
}

/// Whether two boxes (left, top, right, bottom) have at least `gap` between them.
fn apart(a: [f64; 4], b: [f64; 4], gap: f64) -> bool {
    a[2] + gap < b[0] || b[2] + gap < a[0] || a[3] + gap < b[1] || b[3] + gap < a[1]
}
