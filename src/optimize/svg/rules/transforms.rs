use super::{
    super::{
        Settings,
        matrix::Matrix,
        screen::Screen,
        style::{is_styled, reached, textual, unsteady},
        tree::{Id, Tree},
    },
    folding::{ATTRIBUTE, Folding},
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
        fold_into_paths(tree, settings)?;
    }
    Ok(())
}

/// A path takes its transform into its data if that is shorter and nothing else hangs on its units.
fn fold_into_paths(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    let turned = |id: &Id| tree.is(*id, &["path"]) && tree.get(*id, "transform").is_some();
    let paths: Vec<Id> = tree.elements().into_iter().filter(turned).collect();
    if paths.is_empty() {
        return Ok(());
    }
    let folding = Folding::new(tree, settings);
    for id in paths {
        let Some((text, matrix)) = tree.get(id, "transform").and_then(|text| Some((text, Matrix::parse(text)?))) else {
            continue;
        };
        let length = text.len() as isize + ATTRIBUTE;
        if let Some(folded) = folding.path(tree, id, matrix)?.filter(|folded| folded.more < length) {
            folded.replace(tree, id, settings.run)?;
        }
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
