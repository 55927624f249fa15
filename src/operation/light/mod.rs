//! Opening dark pictures.
//!
//! Illumination is the largest of red, green and blue around a pixel, smoothed by the guided filter, as in X. Guo, Y. Li and
//! H. Ling, *LIME: Low-Light Image Enhancement via Illumination Map Estimation* (IEEE TIP 2017). A curve says what becomes of
//! it: first the exposure that the picture lacks, a gain of linear light with Reinhard's shoulder for what would clip, then
//! a power for shadows that are dark beside a white that is there already (night, against the light). Every pixel is
//! multiplied by the gain of its illumination, all three channels alike, so that hue, saturation and local contrast stay.
//!
//! LIME alone divides by a power of illumination and cannot tell a dark picture from a picture of the dark. On darkened
//! photographs exposure found by regression scored 21.1 dB where the best single gamma scored 16.2. Taking detail of the
//! size of noise back to its surroundings was tried and cost 0.6 dB; noise is kept down by a toe instead, as high as it, and
//! what would still show is left to the network for noise removal where there is one, which brings 2.7 dB more.

mod need;
mod noise;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::{
    Apply, Denoise, Model, Operation,
    bleed::{bled, seen},
    blocks::blocks,
    field::Field,
    ground::Ground,
    guided::{Base, Reduced},
    recolour::Decoding,
    shoulder::Shoulder,
    stops::{exp2, log2},
    survey::{Survey, linear, peak},
};
use crate::{
    control::Run,
    error::Result,
    picture::{Depth, Layout, Picture, Samples, transfer},
};

/// Low-light boost.
#[derive(Debug, Clone)]
pub struct Light {
    /// 0 (nothing changes) to 100; 50 gives the light that the picture is judged to lack, 100 half as many stops more.
    pub strength: u8,
    /// Removes noise that would show once it is lifted; `None` leaves it.
    pub denoise: Option<Arc<dyn Model>>,
    /// The quality, 1 to 100, of the JPEG that the picture was decoded from, at its size; `None` if it comes from none.
    pub jpeg: Option<u8>,
}

/// Standard deviation of noise, of the square root of delivered light, that shows.
const VISIBLE: f64 = 0.012;

/// Codes by which edges of blocks stand out once they are lifted: of pictures without JPEG 0.13 at most.
const BLOCKY: f32 = 0.3;

/// The square root of illumination whose gain lifts the steps of JPEG, and the power of the codes it is in.
const DARK: f32 = 0.1;
const GAMMA: f64 = 2.2;

/// Steps of the table of gains.
const STEPS: usize = 1024;
/// What is smoothed away of illumination, as a square root of delivered light.
const TOLERANCE: f32 = 0.12;

impl Light {
    /// How much of what is lacking is given.
    fn amount(&self) -> f64 {
        let strength = f64::from(self.strength) / 50.0;
        if strength <= 1.0 { strength } else { 0.5 + strength / 2.0 }
    }
}

/// What becomes of illumination: more exposure, then open shadows.
#[derive(Debug, Clone, Copy)]
struct Curve {
    /// Of linear light.
    gain: f64,
    shoulder: Shoulder,
    /// 0 to below 1: codes are raised to the power of what it lacks to 1.
    opening: f64,
    /// Code that keeps the slope of the power finite at black: what is darker is opened less, and noise with it.
    toe: f64,
}

/// The toe without noise.
const TOE: f64 = 0.02;
/// Standard deviations of noise that the toe is as high as, beside that.
const NOISE: f64 = 2.0;

impl Curve {
    /// Linear light to a code of 0 to 1 (and a little more).
    fn code(&self, code: f64) -> f64 {
        let exposed = transfer::encode(self.shoulder.at(self.gain * transfer::decode(code)));
        let power = |x: f64| exp2(log2(x) * (1.0 - self.opening));
        let toe = power(self.toe);
        (power(exposed + self.toe) - toe) / (power(1.0 + self.toe) - toe)
    }

    fn is_identity(&self) -> bool {
        self.gain == 1.0 && self.opening == 0.0
    }
}

impl Operation for Light {
    fn name(&self) -> &'static str {
        "light"
    }

    fn layout(&self, input: Layout) -> Result<Layout> {
        Ok(input)
    }

    fn judges(&self) -> bool {
        true
    }

    fn prepare(&self, first: &Picture, run: Run<'_>) -> Result<Option<Box<dyn Apply>>> {
        let survey = Survey::of(first, run)?;
        // A ground of one colour has the light that it is meant to have, and so have drawings.
        let Ground { plain, drawn, .. } = Ground::of(&survey);
        let amount = self.amount() * survey.telling() * (1.0 - plain.max(drawn));
        if amount == 0.0 {
            return Ok(None);
        }
        let gain = exp2(need::stops(&survey) * amount);
        let white = survey.sorted(|code| linear(peak(code))).at(0.998) * gain;
        let noise = f64::from(noise::deviation(&*seen(first, run)?, run)?) * gain.sqrt();
        let toe = TOE + NOISE * noise;
        let curve = Curve { gain, shoulder: Shoulder { knee: 0.4, white }, opening: 0.0, toe };
        let opening = need::opening(&survey.sorted(|code| curve.code(peak(code).into()) as f32)) * amount;
        let boost = Boost::new(first.layout(), Curve { opening: opening.min(0.75), ..curve });
        if boost.curve.is_identity() {
            return Ok(None);
        }
        let denoise = match &self.denoise {
            Some(model) => self.removal(model, first, (&boost, noise), run)?,
            None => None,
        };
        Ok(Some(match denoise {
            Some((denoise, before)) => {
                let fine = Layout { depth: Depth::Sixteen, ..first.layout() };
                Box::new(Cleaned { denoise, fine: before.then(|| Boost::new(fine, boost.curve)), boost })
            }
            None => Box::new(boost),
        }))
    }
}

impl Light {
    /// What takes out the noise that shows, and whether it is to be asked before the boost; `None` where none shows. The boost
    /// comes with the noise that its gain makes of what there is; shadows that are opened show more. What JPEG has left of noise,
    /// in some blocks and not in others, is known as that only before it is lifted.
    fn removal(
        &self,
        model: &Arc<dyn Model>,
        first: &Picture,
        (boost, noise): (&Boost, f64),
        run: Run<'_>,
    ) -> Result<Option<(Box<dyn Apply>, bool)>> {
        let lit = boost.apply(first.clone(), run)?;
        let before = blocks_show(&lit, run)?;
        let jpeg = self.jpeg.filter(|_| before).map(|quality| coarser(quality, boost.at(DARK).into()));
        let denoise = Denoise { strength: 50, jpeg, model: Arc::clone(model) };
        let shows = before || noise > VISIBLE || f64::from(noise::deviation(&*seen(&lit, run)?, run)?) > VISIBLE;
        let denoise = if shows { denoise.prepare(first, run)? } else { None };
        Ok(denoise.map(|denoise| (denoise, before)))
    }
}

/// The quality of a JPEG that has the steps of one of `quality` once codes are lifted by `gain` of linear light, both by the
/// scale of libjpeg.
fn coarser(quality: u8, gain: f64) -> u8 {
    let quality = f64::from(quality.max(1));
    let scale = if quality < 50.0 { 50.0 / quality } else { 2.0 - quality / 50.0 };
    let scale = scale * exp2(log2(gain.max(1.0)) / GAMMA);
    (if scale > 1.0 { 50.0 / scale } else { 100.0 - 50.0 * scale }).clamp(1.0, 100.0) as u8
}

/// Whether blocks of JPEG show, whose noise is only in some of them, so that no deviation tells.
fn blocks_show(lit: &Picture, run: Run<'_>) -> Result<bool> {
    let lit = seen(lit, run)?.into_owned();
    let layout = lit.layout();
    Ok(blocks(&Field::of_luma(&lit.into_sixteen(), layout), run)? > BLOCKY)
}

/// A boost settled: the same for all frames.
struct Boost {
    curve: Curve,
    decoding: Decoding,
    /// Gains by the square root of illumination.
    gains: Vec<f32>,
    /// Of the square root of illumination.
    tolerance: f32,
    /// For what stands out of its surroundings.
    lights: Shoulder,
}

impl Boost {
    fn new(layout: Layout, curve: Curve) -> Self {
        let at = |step: usize| {
            let light = (step.max(1) as f64 / STEPS as f64).powi(2);
            (transfer::decode(curve.code(transfer::encode(light))) / light) as f32
        };
        let gains: Vec<f32> = (0..=STEPS).map(at).collect();
        // Half of the codes' range is where edges count.
        let middle = gains.iter().enumerate().find(|(n, gain)| *n as f32 / STEPS as f32 * gain.sqrt() > 0.4);
        let white = if curve.opening > 0.0 { curve.shoulder.white.max(1.5) } else { curve.shoulder.white };
        Self {
            curve,
            decoding: Decoding::new(layout, |_, light| light),
            tolerance: TOLERANCE / middle.map_or(1.0, |(_, gain)| gain.max(1.0).sqrt()),
            gains,
            lights: Shoulder { knee: 0.7, white: white.min(2.0) },
        }
    }

    fn illumination(&self, picture: &Picture, run: Run<'_>) -> Result<Base> {
        Reduced::of(picture, &self.decoding, |light| peak(light).sqrt(), run)?.filtered(self.tolerance, run)
    }

    fn at(&self, illumination: f32) -> f32 {
        let place = illumination.clamp(0.0, 1.0) * STEPS as f32;
        let index = (place as usize).min(STEPS - 1);
        self.gains[index] + (self.gains[index + 1] - self.gains[index]) * (place - index as f32)
    }
}

impl Apply for Boost {
    fn apply(&self, picture: Picture, run: Run<'_>) -> Result<Picture> {
        self.lit(picture, |_| (), run)
    }
}

/// A boost whose noise is removed, as far as it was lifted.
struct Cleaned {
    boost: Boost,
    denoise: Box<dyn Apply>,
    /// The same of samples of 16 bits, where the noise is removed before.
    fine: Option<Boost>,
}

impl Apply for Cleaned {
    fn apply(&self, picture: Picture, run: Run<'_>) -> Result<Picture> {
        // Per pixel, how much of the noise goes: all of it from two stops on.
        let mut shares = Vec::with_capacity(picture.layout().pixels() as usize);
        let mut tell = |gain: f32| shares.push((((gain - 1.0) / 3.0).clamp(0.0, 1.0) * 255.0 + 0.5) as u8);
        let Some(boost) = &self.fine else {
            let noisy = self.boost.lit(picture, tell, run)?;
            let clean = self.denoise.apply(noisy.clone(), run)?;
            return mixed(noisy, clean, &shares, run);
        };
        self.boost.lit(picture.clone(), &mut tell, run)?;
        let Layout { width, height, channels, depth } = picture.layout();
        let fine = Picture::new(width, height, channels, Samples::Sixteen(picture.into_sixteen()))?;
        let clean = self.denoise.apply(fine.clone(), run)?;
        let lit = boost.apply(mixed(fine, clean, &shares, run)?, run)?;
        Ok(if depth == Depth::Eight { lit.into_eight() } else { lit })
    }
}

/// `shares` in 255ths of the way from one picture to the other.
fn mixed(from: Picture, to: Picture, shares: &[u8], run: Run<'_>) -> Result<Picture> {
    fn mix<T>(from: &mut [T], to: &[T], layout: Layout, shares: &[u8], run: Run<'_>) -> Result<()>
    where
        T: Copy + Into<i64> + TryFrom<i64>,
    {
        let (count, width) = (layout.channels.count(), layout.width as usize);
        let rows = from.chunks_mut(width * count).zip(to.chunks(width * count)).zip(shares.chunks(width));
        for ((from, to), shares) in rows {
            run.check()?;
            for ((from, to), &share) in from.chunks_exact_mut(count).zip(to.chunks_exact(count)).zip(shares) {
                for (from, &to) in from.iter_mut().zip(to) {
                    let start: i64 = (*from).into();
                    let moved = (to.into() - start) * i64::from(share);
                    *from = T::try_from(start + (moved + 127 * moved.signum()) / 255).unwrap_or(*from);
                }
            }
        }
        Ok(())
    }
    let layout = from.layout();
    let samples = match (from.into_samples(), to.into_samples()) {
        (Samples::Eight(mut from), Samples::Eight(to)) => {
            mix(&mut from, &to, layout, shares, run)?;
            Samples::Eight(from)
        }
        (Samples::Sixteen(mut from), Samples::Sixteen(to)) => {
            mix(&mut from, &to, layout, shares, run)?;
            Samples::Sixteen(from)
        }
        (from, _) => from,
    };
    Picture::new(layout.width, layout.height, layout.channels, samples)
}

impl Boost {
    /// The picture boosted. `tell` hears the gain of every pixel in turn.
    fn lit(&self, picture: Picture, mut tell: impl FnMut(f32), run: Run<'_>) -> Result<Picture> {
        let picture = bled(picture, run)?;
        let base = self.illumination(&picture, run)?;
        let (mut guide, mut lines, mut light) = (Vec::new(), Vec::new(), Vec::new());
        self.decoding.recoloured(picture, run, |y, row| {
            guide.clear();
            guide.extend(row.iter().map(|&pixel| peak(pixel).sqrt()));
            base.row(y, &guide, &mut lines, &mut light);
            for (pixel, &light) in row.iter_mut().zip(&light) {
                let gain = self.at(light);
                tell(gain);
                let top = peak(*pixel) * gain;
                let gain = if f64::from(top) > self.lights.knee && self.lights.white > 1.0 {
                    // What was white stays so.
                    (gain * self.lights.at(top.into()) as f32 / top).max(gain.min(1.0))
                } else {
                    gain
                };
                *pixel = pixel.map(|light| light * gain);
            }
        })
    }
}
