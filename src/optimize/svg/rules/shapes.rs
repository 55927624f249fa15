use super::super::{
    Settings,
    path::{Keep, Path},
    screen::Screen,
    style::{animated, inherited, is_styled, marked, paints},
    tree::{Id, Tree},
};
use crate::error::Result;

pub(super) const BEFORE: &str = "<svg viewBox=\"0 0 99 99\"><polygon points=\"0,0 9,0 9,9\"/><line x1=\"1\" y1=\"2\" x2=\"3\" y2=\"4\" stroke=\"red\"/><rect width=\"9\" height=\"8\"/></svg>";
pub(super) const AFTER: &str = "<svg viewBox=\"0 0 99 99\"><path d=\"m0 0h9v9z\"/><path stroke=\"red\" d=\"m1 2 2 2\"/><path d=\"m0 0h9v8H0z\"/></svg>";

/// Attributes of geometry.
const GEOMETRY: [&str; 12] = ["x", "y", "width", "height", "rx", "ry", "cx", "cy", "r", "points", "d", "x1"];

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    if is_styled(tree) || tree.changes().ask_for("path") {
        return Ok(());
    }
    let screen = Screen::of(tree);
    let (stroke, animated) = (inherited(tree, "stroke"), animated(tree));
    // What is at the vertices of a path is at none of a rectangle's.
    let marked = marked(tree);
    for id in tree.elements() {
        let plain = tree.element(id).is_some_and(|element| !element.has("style") && !element.has("pathLength"));
        if !plain || animated[id.index()] || !tree.is(id, &["rect", "circle", "ellipse", "line", "polyline", "polygon"])
        {
            continue;
        }
        let stays = tree.is(id, &["rect"]) && (settings.kinds || marked[id.index()]);
        let Some(path) = geometry(tree, id).filter(|_| !stays) else { continue };
        let stroked = paints(&stroke[id.index()]);
        let tolerance = settings.tolerance / screen.place(tree, id).scale;
        let keep = if stroked { Keep::ALL } else { Keep::default() };
        let data = path.write(tolerance, keep, settings.run)?;
        let name = tree.name(id);
        let numbers: usize = numbers(tree, id, tolerance);
        let (old, new) = (name.len() + numbers, "path".len() + data.len() + 5);
        // A path costs nothing more when it can be joined with its neighbours.
        if new <= old {
            become_path(tree, id, &path.write(tolerance * 1e-3, Keep::ALL, settings.run)?);
        }
    }
    Ok(())
}

/// The length of the attributes of geometry as they will be written.
fn numbers(tree: &Tree, id: Id, tolerance: f64) -> usize {
    let element = tree.element(id).into_iter().flat_map(|element| &element.attributes);
    let geometry = element.filter(|attribute| is_geometry(&attribute.name));
    geometry
        .map(|attribute| {
            let values: Vec<f64> = values(&attribute.value).unwrap_or_default();
            attribute.name.len() + 4 + super::super::path::number::list(&values, tolerance).len()
        })
        .sum()
}

fn is_geometry(name: &str) -> bool {
    GEOMETRY.contains(&name) || matches!(name, "y1" | "x2" | "y2")
}

fn values(text: &str) -> Option<Vec<f64>> {
    let mut found = Vec::new();
    for number in svgtypes::NumberListParser::from(text) {
        found.push(number.ok()?);
    }
    Some(found)
}

/// The shape as a path; `None` where it depends on the viewport or on what the path would not have.
fn geometry(tree: &Tree, id: Id) -> Option<Path> {
    let number = |name: &str| tree.get(id, name).map_or(Some(None), |value| value.trim().parse::<f64>().ok().map(Some));
    let or_zero = |name: &str| Some(number(name)?.unwrap_or(0.0));
    match tree.name(id) {
        // Round corners and circles take more as paths.
        "rect" if tree.get(id, "rx").is_none() && tree.get(id, "ry").is_none() => {
            let (width, height) = (number("width")??, number("height")??);
            let (x, y) = (or_zero("x")?, or_zero("y")?);
            (width > 0.0 && height > 0.0).then(|| Path::rect(x, y, width, height, 0.0, 0.0))
        }
        "line" => Some(Path::line(or_zero("x1")?, or_zero("y1")?, or_zero("x2")?, or_zero("y2")?)),
        kind @ ("polyline" | "polygon") => {
            let numbers = values(tree.get(id, "points")?)?;
            let points: Vec<(f64, f64)> = numbers.chunks_exact(2).map(|point| (point[0], point[1])).collect();
            let whole = points.len() >= 2 && numbers.len() % 2 == 0;
            whole.then(|| if kind == "polygon" { Path::polygon(&points) } else { Path::polyline(&points) })
        }
        _ => None,
    }
}

fn become_path(tree: &mut Tree, id: Id, data: &str) {
    let Some(element) = tree.element_mut(id) else { return };
    element.attributes.retain(|attribute| !is_geometry(&attribute.name));
    "path".clone_into(&mut element.name);
    element.set("d", data);
}
