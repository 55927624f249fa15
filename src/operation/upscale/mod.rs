//! Super-resolution.

use std::sync::Arc;

use super::{Apply, Fit, Gravity, Model, Operation, Resize, network};
use crate::{
    control::Run,
    error::{Error, Result},
    operation::Anchor,
    picture::{Depth, Layout, Picture, Samples},
};

/// Enlarges by networks, by the one for the factor or by several, but no further than four times; what is left to the factor
/// is Lanczos3. What overshoots the factor is brought back in the same way.
#[derive(Debug, Clone)]
pub struct Upscale {
    /// How many times wider and higher, at least 1.
    pub factor: u32,
    /// One of these makes the first step, of pictures as they come.
    pub first: Vec<Arc<dyn Model>>,
    /// These make the steps that follow, of what a network has cleaned; and all of them where the picture is drawn, since
    /// what is trained on photographs takes clean edges for artefacts.
    pub then: Vec<Arc<dyn Model>>,
}

/// Networks are not asked to invent more than this.
const FAR: u32 = 4;
/// A picture of no more colours than a palette holds is drawn.
const DRAWN_COLOURS: usize = 256;

impl Upscale {
    /// The networks of all steps.
    fn steps(&self) -> impl Iterator<Item = &dyn Model> {
        let wanted = self.factor.min(FAR);
        let mut reached = 1u32;
        std::iter::from_fn(move || {
            let models = if reached == 1 { &self.first } else { &self.then };
            let model = (reached < wanted).then(|| fitting(models, wanted.div_ceil(reached)))??;
            reached = reached.saturating_mul(model.shape().scale);
            Some(model)
        })
    }

    /// Multiplications for a picture of `pixels`.
    pub fn work(&self, pixels: u64) -> u64 {
        let mut pixels = pixels;
        self.steps().fold(0u64, |sum, model| {
            let shape = model.shape();
            let sum = sum.saturating_add(pixels.saturating_mul(shape.work));
            pixels = pixels.saturating_mul(u64::from(shape.scale).pow(2));
            sum
        })
    }
}

/// The network that enlarges by `times`, or by the least above that, or as far as one does.
fn fitting(models: &[Arc<dyn Model>], times: u32) -> Option<&dyn Model> {
    let scale = |model: &&Arc<dyn Model>| model.shape().scale;
    let enlarging = || models.iter().filter(|model| scale(model) > 1);
    let far_enough = enlarging().filter(|model| scale(model) >= times).min_by_key(scale);
    far_enough.or_else(|| enlarging().max_by_key(scale)).map(|model| &**model)
}

impl Operation for Upscale {
    fn name(&self) -> &'static str {
        "upscale"
    }

    /// # Errors
    /// [`Error::Limit`] if a side does not fit 32 bits.
    fn layout(&self, input: Layout) -> Result<Layout> {
        let side = |side: u32| {
            side.checked_mul(self.factor).ok_or(Error::Limit {
                limit: "result width in pixels",
                wanted: u64::from(side) * u64::from(self.factor),
                allowed: u32::MAX.into(),
            })
        };
        Ok(input.sized(side(input.width)?, side(input.height)?))
    }

    fn prepare(&self, first: &Picture, _: Run<'_>) -> Result<Option<Box<dyn Apply>>> {
        let mut prepared = self.clone();
        if is_drawn(first) {
            prepared.first.clone_from(&self.then);
        }
        Ok(Some(Box::new(prepared)))
    }
}

impl Apply for Upscale {
    fn apply(&self, picture: Picture, run: Run<'_>) -> Result<Picture> {
        let wanted = self.layout(picture.layout())?;
        let mut picture = picture;
        for model in self.steps() {
            picture = network::pass(model, &picture, run)?;
        }
        if (picture.width(), picture.height()) != (wanted.width, wanted.height) {
            let exactly = Resize {
                width: Some(wanted.width),
                height: Some(wanted.height),
                fit: Fit::Stretch,
                gravity: Gravity::Fixed(Anchor::Middle, Anchor::Middle),
                enlarge: true,
                background: [0; 4],
            };
            if let Some(step) = exactly.prepare(&picture, run)? {
                picture = step.apply(picture, run)?;
            }
        }
        Ok(if wanted.depth == Depth::Eight { picture.into_eight() } else { picture })
    }
}

fn is_drawn(picture: &Picture) -> bool {
    fn few<T: Ord + Clone>(samples: &[T], count: usize) -> bool {
        let mut colours = std::collections::BTreeSet::new();
        samples.chunks_exact(count).all(|pixel| {
            if !colours.contains(pixel) {
                colours.insert(pixel.to_vec());
            }
            colours.len() <= DRAWN_COLOURS
        })
    }
    // Every grey picture of 8 bits has so few.
    let count = picture.channels().count();
    !picture.is_gray()
        && match picture.samples() {
            Samples::Eight(samples) => few(samples, count),
            Samples::Sixteen(samples) => few(samples, count),
        }
}

#[cfg(test)]
mod tests;
