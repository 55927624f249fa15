//! Transforms taken into the numbers of what has them.

use super::super::{
    Settings,
    matrix::Matrix,
    path::{Keep, Path, number},
    screen::Screen,
    style::{Value, animated, inherited, linked, marked, paints, used},
    tree::{Id, Tree},
};
use crate::{control::Run, error::Result};

/// At full length numbers are this part of the tolerance off: they are rounded once, at the end.
const FULL: f64 = 1e-6;

/// What a transform costs beside its text.
pub(super) const ATTRIBUTE: isize = 13;

/// What of a document says whether a shape can do without its transform.
pub(super) struct Folding<'a> {
    settings: &'a Settings<'a>,
    screen: Screen,
    /// Fill, stroke, its width, dashes and their shift.
    looks: [Vec<Value>; 5],
    marked: Vec<bool>,
    used: Vec<bool>,
    animated: Vec<bool>,
    /// What others draw, or move along: by a link.
    linked: Vec<bool>,
    /// Paths along which things move, as their data say and not their transforms.
    followed: Vec<bool>,
}

/// A shape in the units around it.
#[derive(Debug)]
pub(super) struct Folded {
    attributes: Vec<(&'static str, String)>,
    /// Its data, to be written at this tolerance.
    path: Option<(Path, f64)>,
    /// The bytes that these take more than before, without those of the transform.
    pub more: isize,
}

impl<'a> Folding<'a> {
    pub(super) fn new(tree: &Tree, settings: &'a Settings<'a>) -> Self {
        Self {
            settings,
            screen: Screen::of(tree),
            looks: ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-dashoffset"]
                .map(|name| inherited(tree, name)),
            marked: marked(tree),
            used: used(tree),
            animated: animated(tree),
            linked: linked(tree, |_| true),
            followed: linked(tree, |id| tree.is(id, &["mpath"])),
        }
    }

    /// Whether an element may get another transform: nothing changes it in time, and nobody draws it elsewhere.
    pub(super) fn may_turn(&self, tree: &Tree, id: Id) -> bool {
        let free = tree.element(id).is_some_and(|element| !element.has("style") && !element.has("transform-origin"));
        free && !self.animated[id.index()] && !self.linked[id.index()]
    }

    /// The length of the attribute that turns an element by `matrix`.
    pub(super) fn length(&self, tree: &Tree, id: Id, matrix: Matrix) -> isize {
        let place = self.screen.place(tree, id);
        let text = matrix.write(self.settings.tolerance / place.scale * matrix.growth(), place.extent);
        if text.is_empty() { 0 } else { text.len() as isize + ATTRIBUTE }
    }

    /// A path with its transform, which `matrix` is, in its data; `None` where something hangs on its units.
    pub(super) fn path(&self, tree: &Tree, id: Id, matrix: Matrix) -> Result<Option<Folded>> {
        let (stroke, width) = self.stroke(id);
        if self.is_bound(tree, id)
            || [&self.marked, &self.animated, &self.followed].iter().any(|which| which[id.index()])
            || self.used[id.index()] && stroke
            || tree.get(id, "pathLength").is_some()
        {
            return Ok(None);
        }
        let width = match (stroke, matrix.uniform(), width) {
            (false, ..) => None,
            (true, Some(factor), Some(width)) => Some(width * factor),
            _ => return Ok(None),
        };
        let Some(path) = tree.get(id, "d").and_then(|data| self.settings.path(data)) else { return Ok(None) };
        let Some(moved) = path.transform(matrix.0) else { return Ok(None) };
        let before = self.settings.tolerance / self.screen.place(tree, id).scale;
        let after = before * matrix.growth();
        let keep = if stroke { Keep::ALL } else { Keep::default() };
        let old = path.write(before, keep, self.settings.run)?.len();
        let new = moved.write(after, keep, self.settings.run)?.len();
        let width = width.map(|width| ("stroke-width", number::shortest(width, after / 4.0)));
        let more = new as isize - old as isize + width.as_ref().map_or(0, |(_, width)| width.len() as isize + 16);
        Ok(Some(Folded { attributes: width.into_iter().collect(), path: Some((moved, after * FULL)), more }))
    }

    /// A shape without a transform of its own, shifted; `None` where something hangs on its units.
    pub(super) fn shifted(&self, tree: &Tree, id: Id, [x, y]: [f64; 2]) -> Option<Folded> {
        let names: &[(&'static str, f64)] = match tree.name(id) {
            "rect" | "use" | "image" => &[("x", x), ("y", y)],
            "circle" | "ellipse" => &[("cx", x), ("cy", y)],
            "line" => &[("x1", x), ("y1", y), ("x2", x), ("y2", y)],
            _ => return None,
        };
        if self.is_bound(tree, id) {
            return None;
        }
        let tolerance = self.settings.tolerance / self.screen.place(tree, id).scale;
        let length = |name: &str, value: f64| match number::shortest(value, tolerance / 2.0).as_str() {
            "0" => 0,
            text => (name.len() + text.len() + 4) as isize,
        };
        let mut folded = Folded { attributes: Vec::new(), path: None, more: 0 };
        for (name, shift) in names {
            let old = tree.get(id, name).map_or(Some(0.0), |value| value.trim().parse::<f64>().ok())?;
            folded.more += length(name, old + shift) - length(name, old);
            folded.attributes.push((name, number::shortest(old + shift, tolerance * FULL)));
        }
        Some(folded)
    }

    /// Whether a stroke is painted, and how wide it is where no dashes hang on that.
    fn stroke(&self, id: Id) -> (bool, Option<f64>) {
        let [_, stroke, width, dashes, shift] = self.looks.each_ref().map(|values| &values[id.index()]);
        let plain = *dashes == Value::Known("none".into()) && *shift == Value::Known("0".into());
        let width = match width {
            Value::Known(width) if plain => width.parse().ok(),
            _ => None,
        };
        (paints(stroke), width)
    }

    /// Whether something is in the units of an element: paint, or what it is cut by.
    fn is_bound(&self, tree: &Tree, id: Id) -> bool {
        let [fill, stroke, ..] = self.looks.each_ref().map(|values| &values[id.index()]);
        let painted = |value: &Value| {
            matches!(value, Value::Context) || matches!(value, Value::Known(text) if text.contains("url("))
        };
        let bound = ["clip-path", "mask", "filter", "style", "transform-origin", "vector-effect"];
        painted(fill) || painted(stroke) || bound.iter().any(|name| tree.get(id, name).is_some())
    }
}

impl Folded {
    /// Puts it in the place of the element that it is made from.
    pub(super) fn replace(self, tree: &mut Tree, id: Id, run: Run<'_>) -> Result<()> {
        tree.unset(id, "transform");
        if let Some((path, tolerance)) = self.path {
            tree.set(id, "d", path.write(tolerance, Keep { cubics: true, ..Keep::ALL }, run)?);
        }
        for (name, value) in self.attributes {
            tree.set(id, name, value);
        }
        Ok(())
    }
}
