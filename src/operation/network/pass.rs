//! A picture through a model once.

use super::{Model, Raster, tiles::through};
use crate::{
    control::Run,
    error::Result,
    operation::bleed::seen,
    picture::{Layout, Picture, Samples},
};

/// Weights of red, green and blue in luma, as in ITU-R BT.601.
const LUMA: [f32; 3] = [0.299, 0.587, 0.114];

/// The picture through `model`, in 16 bits and with the same channels. Grey pictures stay grey, whatever the model makes of
/// them. Alpha that is enlarged goes through the model as a grey picture of its own, and stays as it is where it is the same all
/// around; other alpha stays.
pub(in super::super) fn pass(model: &dyn Model, picture: &Picture, run: Run<'_>) -> Result<Picture> {
    let shape = model.shape();
    let scale = shape.scale;
    let layout = picture.layout();
    let Layout { width, height, .. } = layout.enlarged(scale)?;
    let size = (layout.width, layout.height);
    let channels = layout.channels;
    let mut samples = vec![0u16; width as usize * height as usize * channels.count()];
    let opaque = picture.is_opaque();
    let shown = seen(picture, run)?;
    let seen = Seen { picture: &shown, gray: channels.is_gray() };
    let gray = picture.is_gray();
    let mut colours = |left: u32, top: u32, tile: &Raster| {
        for (y, row) in (top..).zip(tile.rows()) {
            let at = (y as usize * width as usize + left as usize) * channels.count();
            for (to, pixel) in samples[at..].chunks_exact_mut(channels.count()).zip(row) {
                let luma = LUMA.iter().zip(pixel).map(|(weight, value)| weight * value).sum();
                match (channels.is_gray(), gray) {
                    (true, _) => to[0] = code(luma),
                    (false, true) => to[..3].fill(code(luma)),
                    (false, false) => (0..3).for_each(|colour| to[colour] = code(pixel[colour])),
                }
            }
        }
    };
    through(model, shape, size, &|x, y| seen.colour(x, y), &mut colours, run)?;
    if opaque && channels.has_alpha() {
        samples.iter_mut().skip(channels.count() - 1).step_by(channels.count()).for_each(|alpha| *alpha = u16::MAX);
    }
    if !opaque && scale == 1 {
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        for (pixel, (x, y)) in samples.chunks_exact_mut(channels.count()).zip(places) {
            pixel[channels.count() - 1] = code(seen.alpha(x, y));
        }
    } else if !opaque {
        let mut alphas = |left: u32, top: u32, tile: &Raster| {
            for (y, row) in (top..).zip(tile.rows()) {
                let at = (y as usize * width as usize + left as usize) * channels.count();
                for ((x, to), pixel) in (left..).zip(samples[at..].chunks_exact_mut(channels.count())).zip(row) {
                    let flat = seen.flat_alpha(x / scale, y / scale);
                    to[channels.count() - 1] = flat.unwrap_or_else(|| code(pixel[1]));
                }
            }
        };
        through(model, shape, size, &|x, y| [seen.alpha(x, y); 3], &mut alphas, run)?;
    }
    Picture::new(width, height, channels, Samples::Sixteen(samples))
}

/// A picture as models see it.
struct Seen<'a> {
    picture: &'a Picture,
    gray: bool,
}

impl Seen<'_> {
    /// Sample `channel` of a pixel, 0 to 1.
    fn sample(&self, x: u32, y: u32, channel: usize) -> f32 {
        let layout = self.picture.layout();
        let at = (y as usize * layout.width as usize + x as usize) * layout.channels.count() + channel;
        match self.picture.samples() {
            Samples::Eight(samples) => f32::from(samples[at]) / 255.0,
            Samples::Sixteen(samples) => f32::from(samples[at]) / 65_535.0,
        }
    }

    fn colour(&self, x: u32, y: u32) -> [f32; 3] {
        match self.gray {
            true => [self.sample(x, y, 0); 3],
            false => std::array::from_fn(|channel| self.sample(x, y, channel)),
        }
    }

    fn alpha(&self, x: u32, y: u32) -> f32 {
        self.sample(x, y, self.picture.channels().count() - 1)
    }

    /// The alpha of a pixel that has the same all around: wholly transparent must not become nearly so.
    fn flat_alpha(&self, x: u32, y: u32) -> Option<u16> {
        let here = self.alpha(x, y);
        let across = x.saturating_sub(1)..(x + 2).min(self.picture.width());
        let mut around =
            (y.saturating_sub(1)..(y + 2).min(self.picture.height())).flat_map(|y| across.clone().map(move |x| (x, y)));
        around.all(|(x, y)| self.alpha(x, y) == here).then(|| code(here))
    }
}

/// 0 to 1 as a 16-bit code.
fn code(value: f32) -> u16 {
    (value * 65_535.0 + 0.5) as u16
}
