//! Another size for a document: it stays one, with the same view box.

use super::{
    path::number,
    screen,
    tree::{Content, Element, Tree},
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
    let view = [corner.0 + left * across, corner.1 + top * down, wide * across, high * down];
    tree.set(root, "viewBox", view.map(|side| number::shortest(side, 0.0)).join(" "));
    tree.set(root, "width", frame.width.to_string());
    tree.set(root, "height", frame.height.to_string());
    match frame.stretched {
        true => tree.set(root, "preserveAspectRatio", "none"),
        false if !stretched => drop(tree.unset(root, "preserveAspectRatio")),
        false => {}
    }
    if frame.ground[3] > 0 {
        let [r, g, b, a] = frame.ground;
        let mut ground = Element::new("rect");
        ["x", "y", "width", "height"].iter().zip(view).for_each(|(name, value)| ground.set(name, value.to_string()));
        ground.set("fill", format!("#{r:02x}{g:02x}{b:02x}"));
        if a < u8::MAX {
            ground.set("fill-opacity", (f64::from(a) / 255.0).to_string());
        }
        let id = tree.append(root, Content::Element(ground));
        tree.adopt(root, id, true);
    }
}
