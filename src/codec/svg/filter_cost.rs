//! The work of filters.

use resvg::{
    tiny_skia::Transform,
    usvg::filter::{Filter, Kind},
};

use super::cost::{Cost, Surface, sides};
use crate::{error::Result, limits::within};

/// Steps for a pixel of a simple primitive, its input copied and converted, and of a blur.
const SIMPLE: f64 = 30.0;
const BLUR: f64 = 60.0;
const LIGHTING: f64 = 100.0;
/// Steps for a pixel and an octave of turbulence, for a value of a convolution, and for a neighbour of a morphology.
const OCTAVE: f64 = 150.0;
const CONVOLVED: f64 = 8.0;
const NEIGHBOUR: f64 = 2.0;
/// The standard deviation of a blur in pixels, which resvg counts in 32 bits; nothing is left of a picture long before.
const DEVIATION: u64 = 1_000_000;

/// Adds what `filter` costs on `layer`.
pub(super) fn add(cost: &mut Cost<'_>, filter: &Filter, transform: Transform, layer: Surface) -> Result<()> {
    let region = filter.rect().transform(transform).map_or((0.0f64, 0.0f64), |r| (r.width().into(), r.height().into()));
    let region = Surface { width: region.0.min(layer.width) + 1.0, height: region.1.min(layer.height) + 1.0, ..layer };
    // The results of all primitives are held to the end, beside the copies that one works on.
    let held = region.pixels() * (filter.primitives().len() + 2) as f64;
    cost.holding(held, 0.0, |cost| {
        for primitive in filter.primitives() {
            within("standard deviation of an SVG blur", deviation(primitive.kind(), transform) as u64, DEVIATION)?;
            cost.add(region.pixels() * steps(primitive.kind(), transform, region))?;
            if let Kind::Image(image) = primitive.kind() {
                let (x, y) = sides(transform);
                cost.nodes(image.root(), Transform::from_scale(x as f32, y as f32), region)?;
            }
        }
        Ok(())
    })
}

/// Of a blur along the axis where it is longer, in pixels.
fn deviation(kind: &Kind, transform: Transform) -> f64 {
    let (along, down) = match kind {
        Kind::GaussianBlur(blur) => (blur.std_dev_x(), blur.std_dev_y()),
        Kind::DropShadow(shadow) => (shadow.std_dev_x(), shadow.std_dev_y()),
        _ => return 0.0,
    };
    let (x, y) = sides(transform);
    (f64::from(along.get()) * x).max(f64::from(down.get()) * y)
}

/// For one pixel.
fn steps(kind: &Kind, transform: Transform, region: Surface) -> f64 {
    let (x, y) = sides(transform);
    match kind {
        Kind::GaussianBlur(_) | Kind::DropShadow(_) => SIMPLE + BLUR,
        Kind::Turbulence(turbulence) => SIMPLE + OCTAVE * f64::from(turbulence.num_octaves()),
        Kind::Morphology(morphology) => {
            let across = (f64::from(morphology.radius_x().get()) * x * 2.0 + 2.0).min(region.width);
            let down = (f64::from(morphology.radius_y().get()) * y * 2.0 + 2.0).min(region.height);
            SIMPLE + NEIGHBOUR * across * down
        }
        Kind::ConvolveMatrix(convolve) => SIMPLE + CONVOLVED * convolve.matrix().data().len() as f64,
        Kind::DiffuseLighting(_) | Kind::SpecularLighting(_) => SIMPLE + LIGHTING,
        Kind::Merge(merge) => SIMPLE * (merge.inputs().len() + 1) as f64,
        Kind::Blend(_) | Kind::Composite(_) | Kind::DisplacementMap(_) => SIMPLE * 2.0,
        _ => SIMPLE,
    }
}
