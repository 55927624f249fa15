//! Paths filled and stroked, after resvg.

use resvg::{
    tiny_skia::{
        self, BlendMode, FilterQuality, GradientStop, LinearGradient, Mask, Paint, PathBuilder, Pixmap, PixmapMut,
        RadialGradient, Shader, SpreadMode, Transform,
    },
    usvg::{self, BaseGradient, NonZeroRect, Opacity, PaintOrder, Path, Pattern},
};

use super::render;
use crate::{
    control::Run,
    error::{Error, Result},
};

/// Fills and strokes `path` in its order.
pub(super) fn path(path: &Path, transform: Transform, on: &mut PixmapMut<'_>, run: Run<'_>) -> Result<()> {
    if !path.is_visible() {
        return Ok(());
    }
    if path.paint_order() == PaintOrder::FillAndStroke {
        fill(path, BlendMode::SourceOver, transform, on, run)?;
        stroke(path, transform, on, run)
    } else {
        stroke(path, transform, on, run)?;
        fill(path, BlendMode::SourceOver, transform, on, run)
    }
}

/// Fills `path`; lines across or down have nothing to fill.
pub(super) fn fill(
    path: &Path,
    mode: BlendMode,
    transform: Transform,
    on: &mut PixmapMut<'_>,
    run: Run<'_>,
) -> Result<()> {
    let bounds = path.data().bounds();
    let Some(fill) = path.fill().filter(|_| bounds.width() > 0.0 && bounds.height() > 0.0) else { return Ok(()) };
    let rule = match fill.rule() {
        usvg::FillRule::NonZero => tiny_skia::FillRule::Winding,
        usvg::FillRule::EvenOdd => tiny_skia::FillRule::EvenOdd,
    };
    let Some(ink) = Ink::new(fill.paint(), fill.opacity(), transform, run)? else { return Ok(()) };
    if let Some(mut paint) = ink.paint(path) {
        paint.blend_mode = mode;
        on.fill_path(path.data(), &paint, rule, transform, None);
    }
    Ok(())
}

fn stroke(path: &Path, transform: Transform, on: &mut PixmapMut<'_>, run: Run<'_>) -> Result<()> {
    let Some(stroke) = path.stroke() else { return Ok(()) };
    let Some(ink) = Ink::new(stroke.paint(), stroke.opacity(), transform, run)? else { return Ok(()) };
    if let Some(paint) = ink.paint(path) {
        on.stroke_path(path.data(), &paint, &stroke.to_tiny_skia(), transform, None);
    }
    Ok(())
}

/// Clears what is outside of `area`.
pub(super) fn keep_within(area: NonZeroRect, transform: Transform, of: &mut Pixmap) -> Result<()> {
    let mut mask = Mask::new(of.width(), of.height()).ok_or_else(|| Error::unsupported("a mask of that size"))?;
    let area = PathBuilder::from_rect(area.to_rect());
    mask.fill_path(&area, tiny_skia::FillRule::Winding, true, transform);
    of.apply_mask(&mask);
    Ok(())
}

/// What a path is painted with.
enum Ink<'a> {
    Plain(usvg::Color, Opacity),
    Linear(&'a usvg::LinearGradient, Opacity),
    Radial(&'a usvg::RadialGradient, Opacity),
    Tiles(Pixmap, Transform, Opacity),
}

impl<'a> Ink<'a> {
    /// `None` for a pattern without a size.
    fn new(paint: &'a usvg::Paint, opacity: Opacity, transform: Transform, run: Run<'_>) -> Result<Option<Self>> {
        Ok(Some(match paint {
            usvg::Paint::Color(colour) => Self::Plain(*colour, opacity),
            usvg::Paint::LinearGradient(gradient) => Self::Linear(gradient, opacity),
            usvg::Paint::RadialGradient(gradient) => Self::Radial(gradient, opacity),
            usvg::Paint::Pattern(pattern) => {
                let Some((tile, place)) = tile(pattern, transform, run)? else { return Ok(None) };
                Self::Tiles(tile, place, opacity)
            }
        }))
    }

    fn paint(&self, path: &Path) -> Option<Paint<'_>> {
        let mut paint = Paint { anti_alias: path.rendering_mode().use_shape_antialiasing(), ..Paint::default() };
        match self {
            Self::Plain(c, opacity) => paint.set_color_rgba8(c.red, c.green, c.blue, opacity.to_u8()),
            Self::Linear(gradient, opacity) => paint.shader = linear(gradient, *opacity)?,
            Self::Radial(gradient, opacity) => paint.shader = radial(gradient, *opacity)?,
            Self::Tiles(tile, place, opacity) => {
                let opacity = opacity.get();
                let (spread, quality) = (SpreadMode::Repeat, FilterQuality::Bicubic);
                paint.shader = tiny_skia::Pattern::new(tile.as_ref(), spread, quality, opacity, *place);
            }
        }
        Some(paint)
    }
}

fn linear(gradient: &usvg::LinearGradient, opacity: Opacity) -> Option<Shader<'static>> {
    let (from, to) = ((gradient.x1(), gradient.y1()), (gradient.x2(), gradient.y2()));
    LinearGradient::new(from.into(), to.into(), stops(gradient, opacity), spread(gradient), gradient.transform())
}

fn radial(gradient: &usvg::RadialGradient, opacity: Opacity) -> Option<Shader<'static>> {
    let (focus, centre) = ((gradient.fx(), gradient.fy()), (gradient.cx(), gradient.cy()));
    let (inner, outer) = (gradient.fr().get(), gradient.r().get());
    let stops = stops(gradient, opacity);
    RadialGradient::new(focus.into(), inner, centre.into(), outer, stops, spread(gradient), gradient.transform())
}

fn spread(gradient: &BaseGradient) -> SpreadMode {
    match gradient.spread_method() {
        usvg::SpreadMethod::Pad => SpreadMode::Pad,
        usvg::SpreadMethod::Reflect => SpreadMode::Reflect,
        usvg::SpreadMethod::Repeat => SpreadMode::Repeat,
    }
}

fn stops(gradient: &BaseGradient, opacity: Opacity) -> Vec<GradientStop> {
    let stop = |stop: &usvg::Stop| {
        let (colour, alpha) = (stop.color(), stop.opacity() * opacity);
        let colour = tiny_skia::Color::from_rgba8(colour.red, colour.green, colour.blue, alpha.to_u8());
        GradientStop::new(stop.offset().get(), colour)
    };
    gradient.stops().iter().map(stop).collect()
}

/// One tile of a pattern at the scale it is seen at, and where it lies.
fn tile(pattern: &Pattern, transform: Transform, run: Run<'_>) -> Result<Option<(Pixmap, Transform)>> {
    let (sx, sy) = transform.pre_concat(pattern.transform()).get_scale();
    let rect = pattern.rect();
    let (width, height) = ((rect.width() * sx).round() as u32, (rect.height() * sy).round() as u32);
    if width == 0 || height == 0 {
        return Ok(None);
    }
    let mut tile = render::layer(width, height)?;
    render::nodes(pattern.root(), Transform::from_scale(sx, sy), &mut tile.as_mut(), run)?;
    let place = pattern.transform().pre_translate(rect.x(), rect.y()).pre_scale(1.0 / sx, 1.0 / sy);
    Ok(Some((tile, place)))
}
