//! Removing noise and JPEG artefacts.

mod level;
mod regular;

use std::sync::{Arc, OnceLock};

use level::Shares;
use regular::Removable;

use super::{Apply, Model, Operation, bleed::bled, network};
use crate::{
    control::Run,
    error::Result,
    picture::{Depth, Layout, Picture, Samples},
};

/// Noise and JPEG artefacts are removed by a network that was trained to tell by itself how much of them there is in every
/// place. How much noise there is, by brightness and channel, is measured in the plainest parts of one frame, and so are the
/// blocks of JPEG, beside its quality where that is known: what is only the grain of a good picture stays, and so does what is
/// drawn, and fine regular patterns such as halftone. Alpha stays.
#[derive(Debug, Clone)]
pub struct Denoise {
    /// 0 (nothing changes) to 100. Up to 50 it is how many fiftieths of what the network takes for noise are removed; above,
    /// what it removes from the result of that again is removed too, by as many fiftieths as are above 50.
    pub strength: u8,
    /// The quality, 1 to 100, of the JPEG that the picture was decoded from, at its size; `None` if it comes from none.
    pub jpeg: Option<u8>,
    /// Of scale 1.
    pub model: Arc<dyn Model>,
}

impl Denoise {
    /// Multiplications for a picture of `pixels`.
    pub fn work(&self, pixels: u64) -> u64 {
        let passes = if self.strength > 50 { 2 } else { 1 };
        pixels.saturating_mul(self.model.shape().work).saturating_mul(passes)
    }
}

/// With the noise of the frame that it is prepared on, which is the first that it sees: the same for all.
#[derive(Debug)]
struct Prepared {
    denoise: Denoise,
    shares: OnceLock<Shares>,
}

impl Operation for Denoise {
    fn name(&self) -> &'static str {
        "denoise"
    }

    fn layout(&self, input: Layout) -> Result<Layout> {
        Ok(input)
    }

    fn judges(&self) -> bool {
        true
    }

    fn prepare(&self, _: &Picture, _: Run<'_>) -> Result<Option<Box<dyn Apply>>> {
        let prepared = || Box::new(Prepared { denoise: self.clone(), shares: OnceLock::new() }) as _;
        Ok((self.strength > 0).then(prepared))
    }
}

impl Apply for Prepared {
    fn apply(&self, picture: Picture, run: Run<'_>) -> Result<Picture> {
        let strength = self.denoise.strength;
        let depth = picture.layout().depth;
        let mut picture = self.once(bled(picture, run)?, strength.min(50), run)?;
        if strength > 50 {
            picture = self.once(picture, strength - 50, run)?;
        }
        Ok(if depth == Depth::Eight { picture.into_eight() } else { picture })
    }
}

impl Prepared {
    /// `fiftieths` of what the network takes for noise, as far as there is noise, are removed. In 16 bits.
    fn once(&self, picture: Picture, fiftieths: u8, run: Run<'_>) -> Result<Picture> {
        let layout = picture.layout();
        let mut cleaned = network::pass(&*self.denoise.model, &picture, run)?.into_sixteen();
        let noisy = picture.into_sixteen();
        let shares = match self.shares.get() {
            Some(shares) => shares,
            None => {
                let shares = Shares::of(&noisy, &cleaned, layout, self.denoise.jpeg, run)?;
                self.shares.get_or_init(|| shares)
            }
        };
        let (colours, bright) = if layout.channels.is_gray() { (1, 0) } else { (3, 1) };
        let count = layout.channels.count();
        let row = layout.width as usize * count;
        let removable = Removable::of(&noisy, &cleaned, layout, run)?;
        for (y, (clean, noisy)) in cleaned.chunks_exact_mut(row).zip(noisy.chunks_exact(row)).enumerate() {
            run.check()?;
            let pixels = clean.chunks_exact_mut(count).zip(noisy.chunks_exact(count));
            for ((clean, noisy), removable) in pixels.zip(removable.row(y)) {
                let (brightness, most) = (clean[bright], removable * f32::from(fiftieths) / 50.0);
                for (channel, (clean, &noisy)) in clean.iter_mut().zip(noisy).take(colours).enumerate() {
                    let share = shares.at(brightness, channel) * most;
                    let removed = (f32::from(noisy) - f32::from(*clean)) * share;
                    *clean = (f32::from(noisy) - removed + 0.5) as u16;
                }
            }
        }
        Picture::new(layout.width, layout.height, layout.channels, Samples::Sixteen(cleaned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Limits, Unattended,
        operation::{Raster, Shape},
        picture::Channels,
    };

    /// Takes a fifth of full scale away.
    #[derive(Debug)]
    struct Darkens;

    impl Model for Darkens {
        fn shape(&self) -> Shape {
            Shape { scale: 1, margin: 0, multiple: 2, tile: 4, work: 3 }
        }

        fn run(&self, tile: Raster, _: Run<'_>) -> Result<Raster> {
            Raster::new(tile.width(), tile.height(), tile.samples().iter().map(|sample| sample - 0.2).collect())
        }
    }

    fn applied(strength: u8, picture: Picture) -> Picture {
        let limits = Limits::default();
        let run = Run { limits: &limits, control: &Unattended };
        let denoise = Denoise { strength, jpeg: None, model: Arc::new(Darkens) };
        match denoise.prepare(&picture, run).unwrap() {
            Some(step) => step.apply(picture, run).unwrap(),
            None => picture,
        }
    }

    fn picture(channels: Channels) -> Picture {
        let samples = (0..7 * 5).flat_map(|at| {
            [[200, 180, 160 + at, 150 + at].to_vec(), vec![200 - at, 150 + at]][usize::from(channels.is_gray())].clone()
        });
        Picture::new(7, 5, channels, Samples::Eight(samples.collect())).unwrap()
    }

    #[test]
    fn strength_zero_changes_nothing_and_fifty_removes_what_the_network_says() {
        let source = picture(Channels::Rgba);
        assert_eq!(applied(0, source.clone()), source);
        let colours = |strength| applied(strength, source.clone()).eight().unwrap()[..3].to_vec();
        assert_eq!(colours(25), [175, 155, 135]);
        assert_eq!(colours(50), [149, 129, 109]);
        assert_eq!(colours(100), [98, 78, 58]);
    }

    #[test]
    fn more_strength_is_never_less_removal() {
        let first = |strength| applied(strength, picture(Channels::Rgba)).eight().unwrap()[0];
        let steps: Vec<_> = (0..=100).map(first).collect();
        assert!(steps.is_sorted_by(|a, b| a >= b), "{steps:?}");
    }

    #[test]
    fn alpha_stays_and_so_do_channels_and_depth() {
        for channels in [Channels::Rgba, Channels::GrayAlpha] {
            let source = picture(channels);
            let result = applied(50, source.clone());
            assert_eq!(result.layout(), source.layout());
            let alpha = |picture: &Picture| -> Vec<u8> {
                picture.eight().unwrap().iter().skip(channels.count() - 1).step_by(channels.count()).copied().collect()
            };
            assert_eq!(alpha(&result), alpha(&source));
        }
    }
}
