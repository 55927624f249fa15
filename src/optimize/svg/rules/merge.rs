use super::super::{
    Settings,
    path::{Keep, Path, Point, Segment},
    screen::Screen,
    style::{Value, animated, inherited, is_styled, marked, paints},
    tree::{Element, Id, Tree},
};
use crate::error::Result;

pub(super) const BEFORE: &str = "<svg viewBox=\"0 0 99 99\"><path fill=\"red\" d=\"M0 0h9v9z\"/><path fill=\"red\" d=\"M20 0h9v9z\"/><path fill=\"red\" d=\"M21 0h9v9z\"/></svg>";
pub(super) const AFTER: &str = "<svg viewBox=\"0 0 99 99\"><path fill=\"red\" d=\"m0 0h9v9zm20 0h9v9z\"/><path fill=\"red\" d=\"M21 0h9v9z\"/></svg>";

/// Far below every tolerance: numbers are rounded later.
const FINE: f64 = 1e-9;

/// Boxes that are compared before a path counts as touching, and paths of one look that others may join: with more it gets slow.
const BOXES: usize = 64;
const OPEN: usize = 8;

/// Pixels of the screen between paths: two that share one cover it one after the other, and not together.
const GAP: f64 = 4.0;

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    if settings.kinds || is_styled(tree) {
        return Ok(());
    }
    let (screen, paint) = (Screen::of(tree), Paint::of(tree));
    let mut gone = Vec::new();
    for parent in tree.elements() {
        if !tree.is(parent, &["g", "svg", "a", "symbol", "mask", "pattern", "marker"]) {
            continue;
        }
        // Neighbours of one look, some of them joined.
        let mut alike: Option<(Element, Vec<Joined>)> = None;
        for child in tree.children(parent).to_vec() {
            settings.run.check()?;
            if tree.element(child).is_none() {
                continue;
            }
            let Some(one) = paint.measured(tree, child, GAP / screen.place(tree, child).scale) else {
                finish(tree, alike.take(), settings)?;
                continue;
            };
            let mut look = tree.element(child).cloned().unwrap_or_default();
            look.unset("d");
            look.attributes.sort_by(|a, b| a.name.cmp(&b.name));
            let open = alike.as_mut().filter(|(same, _)| *same == look).map(|(_, open)| open);
            let room = open.as_ref().and_then(|open| open.iter().position(|joined| joined.has_room(&one)));
            match (open, room) {
                (Some(open), Some(at)) => {
                    open[at].take(one);
                    gone.push(child);
                }
                // In whatever order, unless the outline of one lies on the fill of another.
                (Some(open), None) if !one.outlined => {
                    if open.len() < OPEN {
                        open.push(one);
                    }
                }
                _ => finish(tree, alike.replace((look, vec![one])), settings)?,
            }
        }
        finish(tree, alike, settings)?;
    }
    tree.remove_all(&gone);
    Ok(())
}

fn finish(tree: &mut Tree, alike: Option<(Element, Vec<Joined>)>, settings: &Settings<'_>) -> Result<()> {
    for joined in alike.into_iter().flat_map(|(_, open)| open).filter(|joined| joined.several) {
        tree.set(joined.first, "d", joined.path.write(FINE, Keep::ALL, settings.run)?);
    }
    Ok(())
}

/// A path with what was joined to it.
struct Joined {
    first: Id,
    path: Path,
    /// Around all that is painted, with half of the space that is kept: left, top, right, bottom.
    boxes: Vec<[f64; 4]>,
    /// There is both a fill and a stroke.
    outlined: bool,
    several: bool,
}

impl Joined {
    /// Whether another path touches nothing here.
    fn has_room(&self, other: &Self) -> bool {
        let apart = |a: &[f64; 4], b: &[f64; 4]| a[2] < b[0] || b[2] < a[0] || a[3] < b[1] || b[3] < a[1];
        self.boxes.len() + other.boxes.len() <= BOXES
            && self.boxes.iter().all(|one| other.boxes.iter().all(|other| apart(one, other)))
    }

    fn take(&mut self, other: Self) {
        self.path.segments.extend(other.path.segments);
        self.boxes.extend(other.boxes);
        self.several = true;
    }
}

/// What paints paths, by [`Id::index`].
struct Paint {
    fill: Vec<Value>,
    stroke: Vec<Value>,
    /// How far strokes reach at corners and caps, and how they are dashed.
    width: Vec<Value>,
    join: Vec<Value>,
    limit: Vec<Value>,
    dashes: Vec<Value>,
    /// What else there is to be seen, or changes.
    more: Vec<bool>,
}

impl Paint {
    fn of(tree: &Tree) -> Self {
        let [fill, stroke, width, join, limit, dashes] =
            ["fill", "stroke", "stroke-width", "stroke-linejoin", "stroke-miterlimit", "stroke-dasharray"]
                .map(|name| inherited(tree, name));
        let more = animated(tree).into_iter().zip(marked(tree)).map(|(animated, marked)| animated || marked).collect();
        Self { fill, stroke, width, join, limit, dashes, more }
    }

    /// A path that may join others which are `gap` apart from it.
    fn measured(&self, tree: &Tree, id: Id, gap: f64) -> Option<Joined> {
        const BOUND: [&str; 9] =
            ["id", "style", "class", "clip-path", "mask", "filter", "pathLength", "role", "tabindex"];
        let element = tree.element(id).filter(|element| element.is(&["path"]) && tree.children(id).is_empty())?;
        // Gradients may be in units of the box.
        let painted = |values: &[Value]| matches!(&values[id.index()], Value::Known(value) if !value.contains("url("));
        if self.more[id.index()]
            || !painted(&self.fill)
            || !painted(&self.stroke)
            || BOUND.iter().any(|name| element.has(name))
        {
            return None;
        }
        let (fill, stroke) = (paints(&self.fill[id.index()]), paints(&self.stroke[id.index()]));
        let reach = if stroke { self.reach(element, id)? } else { 0.0 };
        let path = Path::parse(element.get("d")?)?;
        // Between the lines of a stroke there may be others.
        let boxes: Vec<[f64; 4]> = if fill { path.bounds().into_iter().collect() } else { pieces(&path) };
        let around = reach + gap / 2.0;
        let boxes: Vec<_> =
            boxes.into_iter().map(|[x0, y0, x1, y1]| [x0 - around, y0 - around, x1 + around, y1 + around]).collect();
        (!boxes.is_empty()).then_some(Joined { first: id, path, boxes, outlined: fill && stroke, several: false })
    }

    /// How far a stroke paints beside its path.
    fn reach(&self, element: &Element, id: Id) -> Option<f64> {
        let number = |values: &[Value]| match &values[id.index()] {
            Value::Known(value) => value.parse::<f64>().ok(),
            Value::Context => None,
        };
        let (width, limit) = (number(&self.width)?, number(&self.limit)?);
        let known = |values: &[Value], word: &str| values[id.index()] == Value::Known(word.to_owned());
        let sharp = if known(&self.join, "round") || known(&self.join, "bevel") { 0.0 } else { limit };
        // Square caps reach as far as their diagonal.
        let plain = known(&self.dashes, "none") && !element.has("vector-effect");
        plain.then_some(width / 2.0 * sharp.max(std::f64::consts::SQRT_2))
    }
}

/// The boxes around the segments of a path.
fn pieces(path: &Path) -> Vec<[f64; 4]> {
    let mut start = Point::ZERO;
    let mut drawn = |(from, segment)| match segment {
        Segment::Move(to) => {
            start = to;
            None
        }
        Segment::Close => Some(vec![Segment::Move(from), Segment::Line(start)]),
        other => Some(vec![Segment::Move(from), other]),
    };
    path.with_starts().filter_map(|one| Path { segments: drawn(one)? }.bounds()).collect()
}
