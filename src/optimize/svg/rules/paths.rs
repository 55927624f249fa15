use super::super::{
    Settings,
    path::Keep,
    refs,
    screen::Screen,
    style::{Value, inherited, is_styled, marked, moving, paints, unsteady},
    tree::{Id, Tree},
};
use crate::error::Result;

pub(super) const BEFORE: &str =
    "<svg viewBox=\"0 0 99 99\"><path d=\"M 10.000,10 L 20,10 L 20,20.5 L 10,20.5 Z\"/></svg>";
pub(super) const AFTER: &str = "<svg viewBox=\"0 0 99 99\"><path d=\"m10 10h10v10.5H10\"/></svg>";

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    let screen = Screen::of(tree);
    let looks = Looks::of(tree);
    let (moving, unsteady) = (moving(tree, "d"), unsteady(tree));
    for id in tree.elements() {
        settings.run.check()?;
        let name = match tree.name(id) {
            "path" | "glyph" | "missing-glyph" => "d",
            "polygon" | "polyline" => "points",
            _ => continue,
        };
        let Some(data) = tree.get(id, name) else { continue };
        // Text along a path cannot be verified.
        let followed = looks.followed[id.index()];
        let tolerance = settings.pixels(followed, unsteady[id.index()]) / screen.place(tree, id).scale;
        if name == "points" {
            let points: std::result::Result<Vec<f64>, _> = svgtypes::NumberListParser::from(data).collect();
            if let Ok(points) = points {
                tree.set(id, name, super::super::path::number::list(&points, tolerance));
            }
            continue;
        }
        // An animation of the data needs their commands as they are.
        let Some(path) = settings.path(data).filter(|_| !moving[id.index()]) else { continue };
        let keep = if settings.gentle { Keep::ALL } else { looks.keep(tree, id) };
        let keep =
            Keep { curves: keep.curves || settings.kinds, cubics: settings.cubics, single: settings.single, ..keep };
        let mut shortest = path.write(tolerance, keep, settings.run)?;
        if settings.lossy && !keep.vertices && !followed {
            // Half is for the shape, half for its numbers.
            let simple = path.simplify(tolerance, keep, settings.run)?.write(tolerance, keep, settings.run)?;
            shortest = if simple.len() < shortest.len() { simple } else { shortest };
        }
        // What sums of single precision come to may take more digits than the steps between.
        if shortest.len() <= data.len() {
            tree.set(id, name, shortest);
        }
    }
    Ok(())
}

/// What of paths shows beside their fill.
pub(super) struct Looks {
    stroke: Vec<Value>,
    caps: Vec<Value>,
    dashes: Vec<Value>,
    marked: Vec<bool>,
    /// Paths that something runs along.
    followed: Vec<bool>,
    styled: bool,
}

impl Looks {
    pub(super) fn of(tree: &Tree) -> Self {
        let mut followed = vec![false; tree.capacity()];
        let ids = refs::by_id(tree);
        for (id, _, target) in refs::references(tree) {
            if tree.is(id, &["textPath", "mpath", "animateMotion"])
                && let Some(target) = ids.get(&target)
            {
                followed[target.index()] = true;
            }
        }
        Self {
            stroke: inherited(tree, "stroke"),
            caps: inherited(tree, "stroke-linecap"),
            dashes: inherited(tree, "stroke-dasharray"),
            marked: marked(tree),
            followed,
            styled: is_styled(tree),
        }
    }

    pub(super) fn keep(&self, tree: &Tree, id: Id) -> Keep {
        let at = id.index();
        if self.styled || self.followed[at] || tree.get(id, "pathLength").is_some() || tree.get(id, "style").is_some() {
            return Keep::ALL;
        }
        if tree.within(id, &["clipPath"]) {
            return Keep::default();
        }
        let stroke = paints(&self.stroke[at]);
        Keep {
            stroke,
            dots: stroke && self.caps[at] != Value::Known("butt".to_owned()),
            vertices: self.marked[at],
            start: stroke && paints(&self.dashes[at]),
            curves: false,
            cubics: false,
            single: false,
        }
    }
}
