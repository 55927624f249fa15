//! Another size for a document: it stays one, with the same view box.

use super::{
    css,
    path::number,
    screen,
    tree::{Content, Element, Id, Tree},
};
use crate::operation::Frame;

/// How a view box lies in a document of another shape.
#[derive(Debug, Clone, Copy)]
enum Ratio {
    Stretched,
    /// The shares of what is over that lie to the left and above, and whether the box is as large as to leave nothing free.
    Kept {
        shares: [f64; 2],
        slice: bool,
    },
}

impl Ratio {
    fn of(text: &str) -> Self {
        let mut words = text.split_ascii_whitespace().skip_while(|word| *word == "defer");
        let align = words.next().unwrap_or("");
        let share = |least: &str, most: &str| match align {
            _ if align.contains(least) => 0.0,
            _ if align.contains(most) => 1.0,
            _ => 0.5,
        };
        match align {
            "none" => Self::Stretched,
            _ => Self::Kept {
                shares: [share("xMin", "xMax"), share("YMin", "YMax")],
                slice: words.next() == Some("slice"),
            },
        }
    }
}

/// Sets `width`, `height` and `viewBox`.
pub(super) fn resize(tree: &mut Tree, frame: Frame) {
    let root = tree.root();
    let (width, height) = screen::size(tree, root);
    let (mut across, mut down, mut corner) = screen::view(tree, root);
    let old = [corner.0, corner.1, across, down];
    let ratio = Ratio::of(tree.get(root, "preserveAspectRatio").unwrap_or(""));
    let stretched = matches!(ratio, Ratio::Stretched);
    if let Ratio::Kept { shares: [x, y], slice } = ratio {
        // A document that is not of its view box's shape shows more than the box, or less of it.
        let (wide, high) = (width / across, height / down);
        let scale = if slice { wide.max(high) } else { wide.min(high) };
        let (more_across, more_down) = (width / scale - across, height / scale - down);
        corner = (corner.0 - x * more_across, corner.1 - y * more_down);
        (across, down) = (across + more_across, down + more_down);
    }
    let [left, top, wide, high] = frame.part;
    let seen = [corner.0 + left * across, corner.1 + top * down, wide * across, high * down];
    let written = |sides: [f64; 4]| sides.map(|side| number::shortest(side, 0.0));
    if seen != old && tree.elements().into_iter().any(|id| id != root && leans_on_view(tree, id)) {
        keep_view(tree, written(old));
    }
    let view = written(seen);
    tree.set(root, "viewBox", view.join(" "));
    tree.set(root, "width", frame.width.to_string());
    tree.set(root, "height", frame.height.to_string());
    match frame.stretched {
        true => tree.set(root, "preserveAspectRatio", "none"),
        false if !stretched => drop(tree.unset(root, "preserveAspectRatio")),
        false => {}
    }
    if frame.ground[3] > 0 {
        let [r, g, b, a] = frame.ground;
        let mut ground = over("rect", &view);
        // The root may have said how everything is drawn.
        let style = "stroke:none;visibility:visible;fill-opacity:";
        ground.set("style", format!("fill:#{r:02x}{g:02x}{b:02x};{style}{}", f64::from(a) / 255.0));
        let id = tree.append(root, Content::Element(ground));
        tree.adopt(root, id, true);
    }
}

/// Whether an element has a length that is a share of the view box, by being said so or by not being said.
fn leans_on_view(tree: &Tree, id: Id) -> bool {
    const LENGTHS: [&str; 20] = [
        "x",
        "y",
        "width",
        "height",
        "cx",
        "cy",
        "r",
        "rx",
        "ry",
        "x1",
        "y1",
        "x2",
        "y2",
        "fx",
        "fy",
        "dx",
        "dy",
        "stroke-width",
        "stroke-dasharray",
        "stroke-dashoffset",
    ];
    let get = |name: &str| tree.get(id, name);
    let (units, whole): (_, &[&str]) = match tree.name(id) {
        "linearGradient" => (Some("gradientUnits"), &["x2"]),
        "radialGradient" => (Some("gradientUnits"), &["cx", "cy", "r"]),
        "mask" => (Some("maskUnits"), &["x", "y", "width", "height"]),
        "filter" => (Some("filterUnits"), &["x", "y", "width", "height"]),
        "pattern" => (Some("patternUnits"), &[]),
        "svg" => (None, &["width", "height"]),
        _ => (None, &[]),
    };
    let boxed = units.is_some_and(|units| get(units).is_none_or(|units| units.trim() != "userSpaceOnUse"));
    let share = |name: &str| get(name).is_some_and(|length| length.contains('%'));
    css::says(tree, id, |css| css.contains('%'))
        || !boxed && (LENGTHS.into_iter().any(share) || whole.iter().any(|name| get(name).is_none()))
}

/// Puts all that is drawn into a document of its own that has the view box of before.
fn keep_view(tree: &mut Tree, view: [String; 4]) {
    let root = tree.root();
    let Some(last) = tree.children(root).len().checked_sub(1) else { return };
    let mut inner = over("svg", &view);
    inner.set("viewBox", view.join(" "));
    inner.set("overflow", "visible");
    tree.wrap(root, 0, last, inner);
}

/// An element that covers a view box.
fn over(name: &str, view: &[String; 4]) -> Element {
    let mut element = Element::new(name);
    ["x", "y", "width", "height"].iter().zip(view).for_each(|(name, side)| element.set(name, side.as_str()));
    element
}
