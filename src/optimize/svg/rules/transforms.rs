use std::collections::BTreeSet;

use super::super::{
    Settings,
    matrix::Matrix,
    path::Keep,
    refs,
    screen::Screen,
    style::{Value, animated, inherited, is_styled, marked, paints, reached, textual, unsteady, used},
    tree::{Id, Tree},
};
use crate::error::Result;

pub(super) const BEFORE: &str = "<svg viewBox=\"0 0 99 99\"><g transform=\"translate(0, 0)\"><path transform=\"translate(10.000 20)\" d=\"M0 0h9v9z\"/>\
    <use href=\"#a\" transform=\"scale(2,2) scale(2)\"/></g></svg>";
pub(super) const AFTER: &str =
    "<svg viewBox=\"0 0 99 99\"><g><path d=\"m10 20h9v9z\"/><use href=\"#a\" transform=\"scale(4)\"/></g></svg>";

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    let (screen, textual, unsteady) = (Screen::of(tree), textual(tree, settings.run)?, unsteady(tree));
    // From one transform to another of the same form they change otherwise than to one of another form.
    let turned = if tree.changes().say("transform") { reached(tree) } else { vec![false; tree.capacity()] };
    for id in tree.elements() {
        settings.run.check()?;
        for name in ["transform", "gradientTransform", "patternTransform"] {
            let Some(matrix) = tree.get(id, name).and_then(Matrix::parse) else { continue };
            if tree.is(id, &["svg"])
                || turned[id.index()]
                || tree.element(id).is_some_and(|element| element.has("style"))
            {
                continue;
            }
            let tolerance = settings.pixels(textual[id.index()], unsteady[id.index()]);
            let text = shortest(tree, id, name, matrix, &screen, tolerance);
            // Without one of its own it would have that of what it builds on.
            if text.is_empty() && name != "transform" && tree.get(id, "href").is_some() {
                continue;
            }
            match text.is_empty() {
                true => drop(tree.unset(id, name)),
                false => tree.set(id, name, text),
            }
        }
    }
    if !is_styled(tree) {
        fold_into_paths(tree, &screen, settings)?;
    }
    Ok(())
}

/// The shortest form of the whole transform, or of its parts where that is shorter, as with rotations.
fn shortest(tree: &Tree, id: Id, name: &str, matrix: Matrix, screen: &Screen, tolerance: f64) -> String {
    let place = screen.place(tree, id);
    // The attribute is read in the units around the element.
    let around = place.scale / matrix.growth().max(1e-12);
    let tolerance = tolerance / around.max(1e-12);
    let whole = matrix.write(tolerance, place.extent);
    let old = tree.get(id, name).unwrap_or("");
    let parts = old
        .split_ascii_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace(", ", ",")
        .replace(" (", "(")
        .replace(") ", ")")
        .replace("( ", "(");
    if parts.len() < whole.len() { parts } else { whole }
}

/// The paths along which things move, as their data say and not their transforms.
fn followed(tree: &Tree) -> BTreeSet<Id> {
    let ids = refs::by_id(tree);
    let names = refs::references(tree).into_iter().filter(|(id, ..)| tree.is(*id, &["mpath"]));
    names.filter_map(|(.., target)| ids.get(&target).copied()).collect()
}

/// A path takes its transform into its data if that is shorter and nothing else hangs on its units.
fn fold_into_paths(tree: &mut Tree, screen: &Screen, settings: &Settings<'_>) -> Result<()> {
    let looks =
        ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-dashoffset"].map(|name| inherited(tree, name));
    let marked = marked(tree);
    let (used, animated, followed) = (used(tree), animated(tree), followed(tree));
    for id in tree.elements() {
        let Some(matrix) = tree.get(id, "transform").and_then(Matrix::parse).filter(|_| tree.is(id, &["path"])) else {
            continue;
        };
        let [fill, stroke, width, dashes, shift] = looks.each_ref().map(|values| &values[id.index()]);
        let element = |name: &str| tree.get(id, name);
        let painted = |value: &Value| {
            matches!(value, Value::Context) || matches!(value, Value::Known(text) if text.contains("url("))
        };
        let bound = ["clip-path", "mask", "filter", "style", "transform-origin", "vector-effect", "pathLength"];
        if painted(fill)
            || painted(stroke)
            || bound.iter().any(|name| element(name).is_some())
            || marked[id.index()]
            || animated[id.index()]
            || followed.contains(&id)
            || used[id.index()] && element("id").is_some() && paints(stroke)
        {
            continue;
        }
        let stroked = paints(stroke);
        let width = match (stroked, matrix.uniform(), width) {
            (false, ..) => None,
            (true, Some(factor), Value::Known(width))
                if *dashes == Value::Known("none".into()) && *shift == Value::Known("0".into()) =>
            {
                let Ok(width) = width.parse::<f64>() else { continue };
                Some(width * factor)
            }
            _ => continue,
        };
        let place = screen.place(tree, id);
        let Some(moved) = element("d").and_then(|data| settings.path(data)).and_then(|path| path.transform(matrix.0))
        else {
            continue;
        };
        let before = settings.tolerance / place.scale;
        let keep = if stroked { Keep::ALL } else { Keep::default() };
        let after = before * matrix.growth();
        let whole = element("d").and_then(|data| settings.path(data));
        let whole = whole.map_or(Ok(String::new()), |path| path.write(before, keep, settings.run))?;
        let old = whole.len() + element("transform").map_or(0, str::len) + 13;
        let data = moved.write(after, keep, settings.run)?;
        let width = width.map(|width| super::super::path::number::shortest(width, after / 4.0));
        let new = data.len() + width.as_ref().map_or(0, |width| width.len() + 16);
        if new < old {
            tree.unset(id, "transform");
            // At full length: the data are rounded once, at the end.
            tree.set(id, "d", moved.write(after * 1e-3, Keep::ALL, settings.run)?);
            if let Some(width) = width {
                tree.set(id, "stroke-width", width);
            }
        }
    }
    Ok(())
}
