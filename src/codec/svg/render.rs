//! A tree on pixels: the walk of resvg (MIT or Apache-2.0, the Resvg Authors), with layers no larger than what is seen of
//! them, where resvg's reach to five times the canvas, and a question before every node whether to go on.
//!
//! Filters, and pictures of pixels, are left to resvg.

use resvg::{
    tiny_skia::{BlendMode, FilterQuality, IntRect, Mask, MaskType, Pixmap, PixmapMut, PixmapPaint, Transform},
    usvg::{self, Group, ImageKind, Node},
};

use super::paint;
use crate::{
    control::Run,
    error::{Error, Result},
};

/// Draws the children of `group`.
pub(super) fn nodes(group: &Group, transform: Transform, on: &mut PixmapMut<'_>, run: Run<'_>) -> Result<()> {
    for node in group.children() {
        run.check()?;
        match node {
            Node::Group(group) => self::group(node, group, transform, on, run)?,
            Node::Path(path) => paint::path(path, transform, on, run)?,
            Node::Text(text) => self::group(node, text.flattened(), transform, on, run)?,
            Node::Image(image) if !image.is_visible() => {}
            Node::Image(image) => match image.kind() {
                ImageKind::SVG(tree) => {
                    let mut layer = layer(on.width(), on.height())?;
                    nodes(tree.root(), transform, &mut layer.as_mut(), run)?;
                    on.draw_pixmap(0, 0, layer.as_ref(), &PixmapPaint::default(), Transform::identity(), None);
                }
                _ => by_resvg(node, transform, on),
            },
        }
    }
    Ok(())
}

fn group(node: &Node, group: &Group, transform: Transform, on: &mut PixmapMut<'_>, run: Run<'_>) -> Result<()> {
    if !group.filters().is_empty() {
        by_resvg(node, transform, on);
        return Ok(());
    }
    let transform = transform.pre_concat(group.transform());
    if !group.should_isolate() {
        return nodes(group, transform, on, run);
    }
    let Some(place) = seen(group, transform, on) else { return Ok(()) };
    let transform = transform.post_translate(-place.x() as f32, -place.y() as f32);
    let mut layer = layer(place.width(), place.height())?;
    nodes(group, transform, &mut layer.as_mut(), run)?;
    if let Some(path) = group.clip_path() {
        clip(path, transform, &mut layer, run)?;
    }
    if let Some(mask) = group.mask() {
        self::mask(mask, transform, &mut layer, run)?;
    }
    let paint = PixmapPaint {
        opacity: group.opacity().get(),
        blend_mode: blend_mode(group.blend_mode()),
        quality: FilterQuality::Nearest,
    };
    on.draw_pixmap(place.x(), place.y(), layer.as_ref(), &paint, Transform::identity(), None);
    Ok(())
}

/// What `node` alone shows, which resvg moves to the origin by the corner of its box.
fn by_resvg(node: &Node, transform: Transform, on: &mut PixmapMut<'_>) {
    if let Some(bounds) = node.abs_layer_bounding_box() {
        resvg::render_node(node, transform.pre_translate(bounds.x(), bounds.y()), on);
    }
}

/// Where the layer of `group` is seen on the pixels below, with room for smooth edges.
fn seen(group: &Group, transform: Transform, on: &PixmapMut<'_>) -> Option<IntRect> {
    let bounds = group.layer_bounding_box().transform(transform)?;
    let side = |from: f32, to: f32, most: u32| {
        let from = (from.floor() - 2.0).clamp(0.0, most as f32) as i32;
        let to = (to.ceil() + 2.0).clamp(0.0, most as f32) as i32;
        (from, to)
    };
    let (left, right) = side(bounds.left(), bounds.right(), on.width());
    let (top, bottom) = side(bounds.top(), bounds.bottom(), on.height());
    IntRect::from_ltrb(left, top, right, bottom)
}

pub(super) fn layer(width: u32, height: u32) -> Result<Pixmap> {
    Pixmap::new(width, height).ok_or_else(|| Error::unsupported(format!("an SVG layer of {width} x {height} pixels")))
}

fn clip(path: &usvg::ClipPath, transform: Transform, on: &mut Pixmap, run: Run<'_>) -> Result<()> {
    let mut shape = layer(on.width(), on.height())?;
    clip_children(path.root(), BlendMode::SourceOver, transform.pre_concat(path.transform()), &mut shape, run)?;
    if let Some(path) = path.clip_path() {
        clip(path, transform, on, run)?;
    }
    on.apply_mask(&Mask::from_pixmap(shape.as_ref(), MaskType::Alpha));
    Ok(())
}

fn clip_children(group: &Group, mode: BlendMode, transform: Transform, on: &mut Pixmap, run: Run<'_>) -> Result<()> {
    for node in group.children() {
        run.check()?;
        match node {
            Node::Path(path) if path.is_visible() => paint::fill(path, mode, transform, &mut on.as_mut(), run)?,
            Node::Text(text) => clip_children(text.flattened(), mode, transform, on, run)?,
            Node::Group(group) => {
                let transform = transform.pre_concat(group.transform());
                match group.clip_path() {
                    // What is clipped itself is drawn apart first.
                    Some(path) => {
                        let mut apart = layer(on.width(), on.height())?;
                        clip_children(group, BlendMode::SourceOver, transform, &mut apart, run)?;
                        clip(path, transform, &mut apart, run)?;
                        let paint = PixmapPaint { blend_mode: mode, ..PixmapPaint::default() };
                        on.draw_pixmap(0, 0, apart.as_ref(), &paint, Transform::identity(), None);
                    }
                    None => clip_children(group, mode, transform, on, run)?,
                }
            }
            Node::Path(_) | Node::Image(_) => {}
        }
    }
    Ok(())
}

fn mask(mask: &usvg::Mask, transform: Transform, on: &mut Pixmap, run: Run<'_>) -> Result<()> {
    if mask.root().children().is_empty() {
        on.fill(resvg::tiny_skia::Color::TRANSPARENT);
        return Ok(());
    }
    let mut shape = layer(on.width(), on.height())?;
    nodes(mask.root(), transform, &mut shape.as_mut(), run)?;
    paint::keep_within(mask.rect(), transform, &mut shape)?;
    if let Some(mask) = mask.mask() {
        self::mask(mask, transform, on, run)?;
    }
    let kind = match mask.kind() {
        usvg::MaskType::Luminance => MaskType::Luminance,
        usvg::MaskType::Alpha => MaskType::Alpha,
    };
    on.apply_mask(&Mask::from_pixmap(shape.as_ref(), kind));
    Ok(())
}

const fn blend_mode(mode: usvg::BlendMode) -> BlendMode {
    match mode {
        usvg::BlendMode::Normal => BlendMode::SourceOver,
        usvg::BlendMode::Multiply => BlendMode::Multiply,
        usvg::BlendMode::Screen => BlendMode::Screen,
        usvg::BlendMode::Overlay => BlendMode::Overlay,
        usvg::BlendMode::Darken => BlendMode::Darken,
        usvg::BlendMode::Lighten => BlendMode::Lighten,
        usvg::BlendMode::ColorDodge => BlendMode::ColorDodge,
        usvg::BlendMode::ColorBurn => BlendMode::ColorBurn,
        usvg::BlendMode::HardLight => BlendMode::HardLight,
        usvg::BlendMode::SoftLight => BlendMode::SoftLight,
        usvg::BlendMode::Difference => BlendMode::Difference,
        usvg::BlendMode::Exclusion => BlendMode::Exclusion,
        usvg::BlendMode::Hue => BlendMode::Hue,
        usvg::BlendMode::Saturation => BlendMode::Saturation,
        usvg::BlendMode::Color => BlendMode::Color,
        usvg::BlendMode::Luminosity => BlendMode::Luminosity,
        usvg::BlendMode::PlusLighter => BlendMode::Plus,
    }
}
