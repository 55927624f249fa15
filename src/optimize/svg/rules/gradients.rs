use std::collections::BTreeMap;

use super::super::{
    Settings,
    matrix::Matrix,
    path::number,
    refs,
    screen::Screen,
    style::{animated, is_styled},
    tree::{Id, Tree},
};
use crate::error::Result;

pub(super) const BEFORE: &str = "<svg viewBox=\"0 0 99 99\"><linearGradient id=\"a\"><stop/></linearGradient>\
    <linearGradient id=\"b\" href=\"#a\" x1=\"0\" x2=\"9\" gradientUnits=\"userSpaceOnUse\" gradientTransform=\"scale(2)\"/></svg>";
pub(super) const AFTER: &str = "<svg viewBox=\"0 0 99 99\"><linearGradient id=\"b\" x1=\"0\" x2=\"18\" gradientUnits=\"userSpaceOnUse\" y1=\"0\" y2=\"0\"><stop/></linearGradient></svg>";

const GRADIENTS: [&str; 2] = ["linearGradient", "radialGradient"];

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    if is_styled(tree) {
        return Ok(());
    }
    let animated = animated(tree);
    if !settings.keep_ids {
        take_in_stops(tree, &animated, settings)?;
    }
    let ids = refs::by_id(tree);
    drop_focus(tree, &ids, settings)?;
    let screen = Screen::of(tree);
    let templates = users(tree);
    for id in tree.elements() {
        settings.run.check()?;
        let built_on = tree.get(id, "id").is_some_and(|name| templates.contains_key(name));
        let still = tree.is(id, &GRADIENTS) && !animated[id.index()] && tree.get(id, "style").is_none();
        if still && !built_on && silent(tree, &ids, id, &["gradientTransform"]) {
            straighten(tree, id, settings.tolerance / screen.place(tree, id).scale);
        }
    }
    Ok(())
}

/// Who names an id, by attribute.
fn users(tree: &Tree) -> BTreeMap<String, Vec<(Id, String)>> {
    let mut users: BTreeMap<String, Vec<(Id, String)>> = BTreeMap::new();
    for (id, name, target) in refs::references(tree) {
        if tree.is(id, &GRADIENTS) {
            users.entry(target).or_default().push((id, name));
        }
    }
    users
}

/// A gradient that only lends its stops to one other gives them away.
fn take_in_stops(tree: &mut Tree, animated: &[bool], settings: &Settings<'_>) -> Result<()> {
    let mut uses: BTreeMap<String, Vec<(Id, String)>> = BTreeMap::new();
    for (id, attribute, target) in refs::references(tree) {
        uses.entry(target).or_default().push((id, attribute));
    }
    let (ids, mut gone) = (refs::by_id(tree), Vec::new());
    for (name, users) in uses {
        settings.run.check()?;
        let (Some(&lender), [(user, attribute)]) = (ids.get(&name), users.as_slice()) else { continue };
        let bare = tree.element(lender).is_some_and(|element| {
            element.is(&GRADIENTS) && element.attributes.iter().all(|attribute| attribute.name == "id")
        });
        let empty = tree.is(*user, &GRADIENTS) && tree.children(*user).is_empty() && *user != lender;
        let still = !animated[lender.index()] && !animated[user.index()];
        if bare && empty && still && attribute == "href" && tree.parent(lender).is_some() {
            tree.pour(lender, *user);
            tree.unset(*user, "href");
            gone.push(lender);
        }
    }
    tree.remove_all(&gone);
    Ok(())
}

/// A focus in the centre is where it is without being said, unless another gradient says otherwise.
fn drop_focus(tree: &mut Tree, ids: &BTreeMap<String, Id>, settings: &Settings<'_>) -> Result<()> {
    for id in tree.elements() {
        settings.run.check()?;
        let said = |name: &str| tree.get(id, name).is_some();
        let centred = |f: &str, c: &str| !said(f) || tree.get(id, c) == tree.get(id, f);
        if tree.is(id, &["radialGradient"])
            && (said("fx") || said("fy"))
            && centred("fx", "cx")
            && centred("fy", "cy")
            && silent(tree, ids, id, &["fx", "fy"])
        {
            tree.unset(id, "fx");
            tree.unset(id, "fy");
        }
    }
    Ok(())
}

/// Whether nothing that a gradient builds on has one of these attributes; along a longer way than anybody takes, it may.
fn silent(tree: &Tree, ids: &BTreeMap<String, Id>, id: Id, names: &[&str]) -> bool {
    const LONGEST: usize = 16;
    let lender = |id: &Id| ids.get(tree.get(*id, "href")?.trim_start_matches('#')).copied();
    let mut above = std::iter::successors(Some(id), lender).skip(1);
    above.by_ref().take(LONGEST).all(|id| names.iter().all(|name| tree.get(id, name).is_none()))
        && above.next().is_none()
}

/// Takes the transform into the numbers of the gradient where that is exact and shorter.
fn straighten(tree: &mut Tree, id: Id, tolerance: f64) {
    let Some(matrix) = tree.get(id, "gradientTransform").and_then(Matrix::parse) else { return };
    let boxed = tree.get(id, "gradientUnits") != Some("userSpaceOnUse");
    // What is not said here may be said where the gradient builds on.
    let builds = tree.get(id, "href").is_some();
    let number = |name: &str, default: Option<f64>| match tree.get(id, name).map(str::trim) {
        Some(text) => match text.strip_suffix('%') {
            Some(share) => share.parse().ok().filter(|_| boxed).map(|share: f64| share / 100.0),
            None => text.parse().ok(),
        },
        None => default.filter(|_| !builds),
    };
    let moved: Option<Vec<(&str, f64)>> = match tree.name(id) {
        "linearGradient" => {
            let far = boxed.then_some(1.0);
            (|| {
                linear(
                    matrix,
                    number("x1", Some(0.0))?,
                    number("y1", Some(0.0))?,
                    number("x2", far)?,
                    number("y2", Some(0.0))?,
                )
            })()
        }
        _ => {
            let half = boxed.then_some(0.5);
            let focus = ["fx", "fy", "fr"].iter().any(|name| tree.get(id, name).is_some());
            if focus {
                None
            } else {
                (|| radial(matrix, number("cx", half)?, number("cy", half)?, number("r", half)?))()
            }
        }
    };
    let Some(moved) = moved else { return };
    let old: usize = ["x1", "y1", "x2", "y2", "cx", "cy", "r"]
        .iter()
        .filter_map(|name| Some(name.len() + tree.get(id, name)?.len() + 4))
        .sum();
    let texts: Vec<(&str, String)> =
        moved.iter().map(|(name, value)| (*name, number::shortest(*value, tolerance))).collect();
    let new: usize = texts.iter().map(|(name, text)| name.len() + text.len() + 4).sum();
    if new <= old + "gradientTransform".len() + 4 + tree.get(id, "gradientTransform").map_or(0, str::len) {
        tree.unset(id, "gradientTransform");
        for (name, value) in moved {
            tree.set(id, name, number::shortest(value, tolerance * 1e-3));
        }
    }
}

/// A linear gradient says how far along it a point lies; that is linear, so that there are two points which say the same
/// without the transform.
fn linear(matrix: Matrix, x1: f64, y1: f64, x2: f64, y2: f64) -> Option<Vec<(&'static str, f64)>> {
    let back = matrix.inverse()?.0;
    let (dx, dy) = (x2 - x1, y2 - y1);
    let square = dx * dx + dy * dy;
    // How much further along a step of one to the right or down leads.
    let (nx, ny) = ((dx * back[0] + dy * back[1]) / square, (dx * back[2] + dy * back[3]) / square);
    let steep = nx * nx + ny * ny;
    let (x1, y1) = matrix.apply(x1, y1);
    let all = [x1, y1, x1 + nx / steep, y1 + ny / steep];
    all.iter().all(|number| number.is_finite()).then(|| ["x1", "y1", "x2", "y2"].into_iter().zip(all).collect())
}

/// A circle stays one under transforms that keep shapes.
fn radial(matrix: Matrix, cx: f64, cy: f64, r: f64) -> Option<Vec<(&'static str, f64)>> {
    let factor = matrix.uniform()?;
    let (cx, cy) = matrix.apply(cx, cy);
    Some(vec![("cx", cx), ("cy", cy), ("r", r * factor)])
}
