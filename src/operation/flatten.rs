//! Laying a translucent picture on an opaque ground.

use super::{Apply, Operation};
use crate::{
    control::Run,
    error::Result,
    picture::{Channels, Layout, Picture, Samples},
};

/// Composites over a colour in sRGB, as browsers do, and drops alpha. Opaque pictures only lose their alpha.
#[derive(Debug, Clone, Copy)]
pub struct Flatten {
    /// Red, green and blue of the ground in sRGB.
    pub ground: [u8; 3],
}

/// Pixels between two questions whether to go on.
const BLOCK: usize = 1 << 19;

impl Flatten {
    fn channels(&self, from: Channels) -> Channels {
        let [r, g, b] = self.ground;
        if from.is_gray() && r == g && g == b { Channels::Gray } else { Channels::Rgb }
    }
}

impl Operation for Flatten {
    fn name(&self) -> &'static str {
        "flatten"
    }

    fn layout(&self, input: Layout) -> Result<Layout> {
        Ok(if input.channels.has_alpha() { Layout { channels: self.channels(input.channels), ..input } } else { input })
    }

    fn prepare(&self, _: &Picture, _: Run<'_>) -> Result<Option<Box<dyn Apply>>> {
        Ok(Some(Box::new(*self)))
    }
}

impl Apply for Flatten {
    fn apply(&self, picture: Picture, run: Run<'_>) -> Result<Picture> {
        if !picture.channels().has_alpha() {
            return Ok(picture);
        }
        let to = self.channels(picture.channels());
        let picture = picture.into_channels(if to == Channels::Gray { Channels::GrayAlpha } else { Channels::Rgba });
        let samples = match picture.samples() {
            Samples::Eight(samples) => Samples::Eight(over(samples, to.count(), |c| self.ground[c].into(), 255, run)?),
            Samples::Sixteen(samples) => {
                Samples::Sixteen(over(samples, to.count(), |c| u64::from(self.ground[c]) * 257, 65_535, run)?)
            }
        };
        Picture::new(picture.width(), picture.height(), to, samples)
    }
}

/// `colours` samples and alpha a pixel, over a ground; rounded to the nearest.
fn over<T: Copy + Into<u64> + TryFrom<u64>>(
    samples: &[T],
    colours: usize,
    ground: impl Fn(usize) -> u64,
    full: u64,
    run: Run<'_>,
) -> Result<Vec<T>> {
    let mut out = Vec::with_capacity(samples.len() / (colours + 1) * colours);
    for block in samples.chunks(BLOCK * (colours + 1)) {
        run.check()?;
        for pixel in block.chunks_exact(colours + 1) {
            let alpha: u64 = pixel[colours].into();
            for (index, &sample) in pixel[..colours].iter().enumerate() {
                let mixed = (sample.into() * alpha + ground(index) * (full - alpha) + full / 2) / full;
                out.push(T::try_from(mixed).unwrap_or(sample));
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, limits::Limits};

    #[test]
    fn transparent_pixels_show_the_ground_and_translucent_ones_a_mix() {
        let (limits, control) = (Limits::default(), Unattended);
        let run = Run { limits: &limits, control: &control };
        let samples = Samples::Eight(vec![10, 20, 30, 0, 10, 20, 30, 255, 0, 100, 200, 128]);
        let picture = Picture::new(3, 1, Channels::Rgba, samples).unwrap();
        let flat = Flatten { ground: [255; 3] }.apply(picture, run).unwrap();
        assert_eq!(flat.channels(), Channels::Rgb);
        assert_eq!(flat.eight(), Some(&[255, 255, 255, 10, 20, 30, 127, 177, 227][..]));
    }

    #[test]
    fn a_gray_picture_on_a_coloured_ground_becomes_rgb() {
        let flatten = Flatten { ground: [255, 0, 0] };
        let layout = Layout { width: 1, height: 1, channels: Channels::GrayAlpha, depth: crate::picture::Depth::Eight };
        assert_eq!(flatten.layout(layout).unwrap().channels, Channels::Rgb);
    }
}
