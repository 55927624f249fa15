//! Another size for a document: it stays one, with the same view box.

use super::{
    path::number,
    screen,
    tree::{Content, Element, Tree},
};
use crate::operation::Frame;

/// Sets `width`, `height` and `viewBox`.
pub(super) fn resize(tree: &mut Tree, frame: Frame) {
    let root = tree.root();
    let (old_width, old_height) = (screen::side(tree, root, "width"), screen::side(tree, root, "height"));
    let (width, height, (x, y)) = screen::view(tree, root);
    // A document that is not of its view box's shape shows more than the box, on two sides.
    let (mut shown, mut corner) = ((width, height), (x, y));
    let stretched = tree.get(root, "preserveAspectRatio").is_some_and(|ratio| ratio.trim() == "none");
    if let (Some(w), Some(h), true, false) = (old_width, old_height, tree.get(root, "viewBox").is_some(), stretched) {
        let scale = (w / width).min(h / height);
        shown = (w / scale, h / scale);
        corner = (x - (shown.0 - width) / 2.0, y - (shown.1 - height) / 2.0);
    }
    let [left, top, across, down] = frame.part;
    let view = [corner.0 + left * shown.0, corner.1 + top * shown.1, across * shown.0, down * shown.1];
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
