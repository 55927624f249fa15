//! Super-resolution.

use std::{collections::BTreeSet, sync::Arc};

use super::{Apply, Fit, Gravity, Model, Operation, Resize, network};
use crate::{
    control::Run,
    error::Result,
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
    /// The networks of all steps, the first of which is one of `first`.
    fn steps<'a>(&'a self, first: &'a [Arc<dyn Model>]) -> impl Iterator<Item = &'a dyn Model> {
        let wanted = self.factor.min(FAR);
        let mut reached = 1u32;
        std::iter::from_fn(move || {
            let models = if reached == 1 { first } else { &self.then };
            let model = (reached < wanted).then(|| fitting(models, wanted.div_ceil(reached)))??;
            reached = reached.saturating_mul(model.shape().scale);
            Some(model)
        })
    }

    /// Multiplications for an opaque picture of `pixels`, at most; another, whose alpha goes through the networks too, takes
    /// twice as many.
    pub fn work(&self, pixels: u64) -> u64 {
        let sum = |first| {
            let mut pixels = pixels;
            self.steps(first).fold(0u64, |sum, model| {
                let shape = model.shape();
                let sum = sum.saturating_add(pixels.saturating_mul(shape.work));
                pixels = pixels.saturating_mul(u64::from(shape.scale).pow(2));
                sum
            })
        };
        sum(&self.first).max(sum(&self.then))
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
    /// [`Error::Limit`](crate::Error::Limit) if a side does not fit 32 bits.
    fn layout(&self, input: Layout) -> Result<Layout> {
        input.enlarged(self.factor)
    }

    /// Of drawings and photographs.
    fn judges(&self) -> bool {
        true
    }

    fn prepare(&self, first: &Picture, run: Run<'_>) -> Result<Option<Box<dyn Apply>>> {
        let mut prepared = self.clone();
        if is_drawn(first, run)? {
            prepared.first.clone_from(&self.then);
        }
        Ok(Some(Box::new(prepared)))
    }
}

impl Apply for Upscale {
    fn apply(&self, picture: Picture, run: Run<'_>) -> Result<Picture> {
        let wanted = self.layout(picture.layout())?;
        let mut picture = picture;
        for model in self.steps(&self.first) {
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

fn is_drawn(picture: &Picture, run: Run<'_>) -> Result<bool> {
    fn few<T: Ord>(samples: &[T], row: usize, count: usize, run: Run<'_>) -> Result<bool> {
        let (mut colours, mut last) = (BTreeSet::new(), None);
        for row in samples.chunks_exact(row) {
            run.check()?;
            for pixel in row.chunks_exact(count) {
                if last.replace(pixel) != Some(pixel) && colours.insert(pixel) && colours.len() > DRAWN_COLOURS {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
    // Every grey picture of 8 bits has so few.
    if picture.is_gray() {
        return Ok(false);
    }
    let (count, row) = (picture.channels().count(), picture.layout().row_samples());
    match picture.samples() {
        Samples::Eight(samples) => few(samples, row, count, run),
        Samples::Sixteen(samples) => few(samples, row, count, run),
    }
}

#[cfg(test)]
mod tests;
