//! How large everything is on a screen, which says how exact its numbers have to be.

use std::collections::BTreeMap;

use super::{
    css,
    matrix::Matrix,
    refs,
    tree::{Id, Tree},
};
use crate::codec::svg::{self, urls};

/// The longer side of the screen, in pixels; the larger of the two sizes at which results are compared.
const SIDE: f64 = 2048.0;

/// Visits of elements, through all who use them, for each element of the document.
const VISITS: usize = 8;

/// How an element's own units meet the screen, by [`Id::index`].
#[derive(Debug, Clone)]
pub(super) struct Screen {
    places: Vec<Place>,
}

/// The place of an element: within its own `transform`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// Pixels for a unit where it is drawn largest; 0 where it is not drawn.
    pub scale: f64,
    /// How far from the origin of its units the screen reaches.
    pub extent: f64,
}

impl Screen {
    pub(super) fn of(tree: &Tree) -> Self {
        let mut walk = Walk {
            tree,
            ids: refs::by_id(tree),
            places: vec![Place::default(); tree.capacity()],
            left: VISITS * tree.capacity() + 1000,
        };
        let (width, height, corner) = view(tree, tree.root());
        let scale = SIDE / width.max(height);
        let outer = Matrix([scale, 0.0, 0.0, scale, -corner.0 * scale, -corner.1 * scale]);
        let mut open = vec![(tree.root(), outer)];
        while let Some((id, outer)) = open.pop() {
            walk.visit(id, outer, &mut open);
        }
        Self { places: walk.places }
    }

    /// The scale of what is drawn largest.
    pub(super) fn largest(&self) -> f64 {
        self.places.iter().fold(0.0, |most: f64, place| most.max(place.scale))
    }

    /// The place of `id` inside its own transform. What is drawn nowhere gets that of the whole document.
    pub(super) fn place(&self, tree: &Tree, id: Id) -> Place {
        let found = self.places[id.index()];
        if found.scale > 0.0 || id == tree.root() { found } else { self.places[tree.root().index()] }
    }
}

struct Walk<'a> {
    tree: &'a Tree,
    ids: BTreeMap<String, Id>,
    places: Vec<Place>,
    left: usize,
}

impl Walk<'_> {
    fn visit(&mut self, id: Id, outer: Matrix, open: &mut Vec<(Id, Matrix)>) {
        let Some(left) = self.left.checked_sub(1) else { return };
        self.left = left;
        let own =
            ["transform", "gradientTransform", "patternTransform"].iter().find_map(|name| self.tree.get(id, name));
        let mut inside = own.and_then(Matrix::parse).map_or(outer, |own| outer.then_inside(own));
        if let Some(inner) = nested_view(self.tree, id) {
            inside = inside.then_inside(inner);
        }
        // Where it grows in time, what it is at its largest counts.
        let grown = self.tree.children(id).iter().filter_map(|child| grown(self.tree, *child)).fold(0.0, f64::max);
        let largest = outer.then_inside(Matrix([grown, 0.0, 0.0, grown, 0.0, 0.0]));
        inside = if largest.growth() > inside.growth() { largest } else { inside };
        let place = Place { scale: inside.growth(), extent: extent(inside) };
        let known = &mut self.places[id.index()];
        // Through another way a little larger is the same.
        if known.scale >= place.scale * 0.99 && known.extent >= place.extent * 0.99 {
            return;
        }
        *known = Place { scale: known.scale.max(place.scale), extent: known.extent.max(place.extent) };
        for (name, target) in self.named(id) {
            open.push((target, self.entered(name, target, inside)));
        }
        let children = self.tree.children(id).iter().filter(|child| self.tree.element(**child).is_some());
        let defined = |child: Id| self.tree.is(child, &super::names::DEFINITIONS);
        open.extend(children.filter(|child| !defined(**child)).map(|child| (*child, inside)));
    }

    /// The elements that this one draws by name.
    fn named(&self, id: Id) -> Vec<(&'static str, Id)> {
        const NAMES: [&str; 9] =
            ["href", "fill", "stroke", "clip-path", "mask", "filter", "marker-start", "marker-mid", "marker-end"];
        let mut found = Vec::new();
        for name in NAMES {
            let Some(value) = self.tree.get(id, name) else { continue };
            let target = match name {
                "href" => value.trim().strip_prefix('#'),
                _ => urls(value).first().and_then(|url| url.strip_prefix('#')),
            };
            found.extend(target.and_then(|target| self.ids.get(target)).map(|target| (name, *target)));
        }
        found
    }

    /// The units in which what is named draws.
    fn entered(&self, name: &str, target: Id, inside: Matrix) -> Matrix {
        let of_box = |attribute: &str, default: bool| {
            self.tree.get(target, attribute).map_or(default, |units| units.trim() == "objectBoundingBox")
        };
        let boxed = match self.tree.name(target) {
            "linearGradient" | "radialGradient" => of_box("gradientUnits", true),
            "clipPath" => of_box("clipPathUnits", false),
            "mask" => of_box("maskContentUnits", false) || of_box("maskUnits", true),
            "pattern" => of_box("patternContentUnits", false) || of_box("patternUnits", true),
            "filter" => of_box("filterUnits", true),
            _ => false,
        };
        match (boxed, name) {
            // A box is no larger than the screen.
            (true, _) => Matrix([SIDE.max(inside.growth()), 0.0, 0.0, SIDE.max(inside.growth()), 0.0, 0.0]),
            // Markers grow with strokes, whose widths are seldom more.
            (_, "marker-start" | "marker-mid" | "marker-end") => {
                inside.then_inside(Matrix([10.0, 0.0, 0.0, 10.0, 0.0, 0.0]))
            }
            _ => inside,
        }
    }
}

/// The largest factor of an animation that scales what it is in.
fn grown(tree: &Tree, id: Id) -> Option<f64> {
    let scales = tree.is(id, &["animateTransform"]) && tree.get(id, "type").is_some_and(|kind| kind.trim() == "scale");
    let values = ["from", "to", "by", "values"].into_iter().filter_map(|name| tree.get(id, name)).filter(|_| scales);
    let numbers =
        values.flat_map(|value| value.split([' ', ',', ';', '\t', '\n'])).filter_map(|one| one.parse::<f64>().ok());
    numbers.map(f64::abs).filter(|number| number.is_finite()).reduce(f64::max)
}

/// How far the screen reaches in the units of `inside`.
fn extent(inside: Matrix) -> f64 {
    let Some(back) = inside.inverse() else { return 1e6 };
    let corners = [(0.0, 0.0), (SIDE, 0.0), (0.0, SIDE), (SIDE, SIDE)].map(|(x, y)| back.apply(x, y));
    corners.iter().fold(0.0, |most: f64, (x, y)| most.max(x.abs()).max(y.abs()))
}

/// Whether things are drawn larger by what no [`Screen`] sees: transforms of CSS, and view boxes that change over time.
pub(super) fn grows_unseen(tree: &Tree) -> bool {
    const WORDS: [&str; 4] = ["scale", "matrix", "zoom", "perspective"];
    let grows = |css: &str| WORDS.iter().any(|word| css.contains(word));
    tree.elements().into_iter().any(|id| {
        tree.get(id, "attributeName").is_some_and(|name| name.trim() == "viewBox") || css::says(tree, id, grows)
    })
}

/// Width and height of an `svg` in its own units, and their corner.
pub(super) fn view(tree: &Tree, id: Id) -> (f64, f64, (f64, f64)) {
    let numbers = tree.get(id, "viewBox").map(view_box).unwrap_or_default();
    match numbers[..] {
        [x, y, width, height] if width > 0.0 && height > 0.0 => (width, height, (x, y)),
        _ => {
            let (width, height) = size(tree, id);
            (width, height, (0.0, 0.0))
        }
    }
}

/// Width and height in pixels.
pub(super) fn size(tree: &Tree, id: Id) -> (f64, f64) {
    svg::size(|name| tree.get(id, name))
}

/// A width or height in user units, above 0.
fn side(tree: &Tree, id: Id, name: &str) -> Option<f64> {
    tree.get(id, name)?.trim().trim_end_matches("px").parse().ok().filter(|side: &f64| *side > 0.0 && side.is_finite())
}

fn view_box(text: &str) -> Vec<f64> {
    text.split([',', ' ', '\t', '\n', '\r']).filter_map(|number| number.trim().parse().ok()).collect()
}

/// The transform that a view box inside the document makes.
fn nested_view(tree: &Tree, id: Id) -> Option<Matrix> {
    if id == tree.root() || !tree.is(id, &["svg", "symbol", "marker", "pattern"]) || tree.get(id, "viewBox").is_none() {
        return None;
    }
    let (width, height, corner) = view(tree, id);
    // A symbol takes its size from who uses it: at most all of the screen, in whatever units it is there.
    let scale = match (side(tree, id, "width"), side(tree, id, "height")) {
        (Some(w), Some(h)) => (w / width).max(h / height),
        _ => 1.0,
    };
    Some(Matrix([scale, 0.0, 0.0, scale, -corner.0 * scale, -corner.1 * scale]))
}
