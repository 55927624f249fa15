//! Exposure, contrast, colour: by itself and by numbers.
//!
//! In linear light, but for curves, which run over lightness. First the balance that `auto` finds; then exposure and warmth,
//! which are gains; then one gain a pixel for shadows and highlights (taken from its surroundings, so that detail in them
//! stays) and for contrast (taken from itself); then saturation, around luminance. What then lies outside of sRGB is mixed
//! with gray of its luminance until it fits, so that hues stay.

mod auto;
mod clipped;
mod curve;
mod gains;
#[cfg(test)]
mod tests;
mod white;

use auto::Balance;
use clipped::Clipped;
use gains::Gains;

use super::{
    Apply, Operation,
    bleed::{bled, seen},
    guided::{Base, Reduced},
    recolour::Decoding,
    stops::exp2,
    survey::{Survey, luma, peak},
};
use crate::{
    control::Run,
    error::Result,
    picture::{Layout, Picture, transfer},
};

/// Tone adjustments; each number is 0 for no change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tone {
    /// Balances white, exposure, black and white points first, with a little local contrast and vibrance.
    pub auto: bool,
    /// -100 to 100: a gain of linear light by 2 to the power of three hundredths of it, so that 100 are three stops.
    pub exposure: i8,
    /// -100 to 100: the slope of lightness at mid gray goes from 0.6 to 1.4; black and white stay.
    pub contrast: i8,
    /// -100 (lights are lowered) to 100 (raised), where the surroundings are light.
    pub highlights: i8,
    /// -100 (shadows are lowered) to 100 (raised), where the surroundings are dark.
    pub shadows: i8,
    /// -100 (gray) to 100 (twice as far from gray, as far as sRGB reaches), in linear light at the same luminance.
    pub saturation: i8,
    /// -100 (bluer) to 100 (yellower): as under daylight 0.8 mired a step warmer than D65, from 13,600 K to 4,280 K, at the
    /// same luminance. Gray pictures stay gray, however they are stored.
    pub warmth: i8,
}

impl Tone {
    /// Changes nothing.
    pub fn is_identity(&self) -> bool {
        *self == Self::default()
    }
}

impl Operation for Tone {
    fn name(&self) -> &'static str {
        "tone"
    }

    fn layout(&self, input: Layout) -> Result<Layout> {
        Ok(input)
    }

    /// Also whether there is colour: of an animation, the first frame is often black.
    fn judges(&self) -> bool {
        self.auto || self.warmth != 0
    }

    fn prepare(&self, first: &Picture, run: Run<'_>) -> Result<Option<Box<dyn Apply>>> {
        if self.is_identity() {
            return Ok(None);
        }
        let balance = if self.auto { Balance::of(&Survey::of(first, run)?) } else { Balance::NONE };
        let gray = self.warmth != 0 && seen(first, run)?.is_gray();
        let warmth = if gray { 0 } else { self.warmth };
        Ok(Some(Box::new(Toned::new(Self { warmth, ..*self }, balance, first.layout()))))
    }
}

/// What is smoothed away of the square root of luminance.
const TOLERANCE: f32 = 0.1;
/// Of `auto`: how much of what stands out of its surroundings is added, and of saturation to gray.
const LOCAL_CONTRAST: f32 = 0.08;
const VIBRANCE: f32 = 0.1;
/// Light that gains and saturation, which clip nothing, reach.
const CEILING: f32 = 0.985;
const FLOOR: f32 = 0.002;

/// What is done to decoded pixels first, in this order.
struct Whole {
    clipped: Option<Clipped>,
    /// By luminance.
    lowering: Option<Gains>,
    then: [f32; 3],
}

/// Tone settled: the same for all frames.
struct Toned {
    tone: Tone,
    decoding: Decoding,
    whole: Option<Whole>,
    own: Gains,
    surroundings: Gains,
}

impl Toned {
    fn new(tone: Tone, balance: Balance, layout: Layout) -> Self {
        let part = |number: i8| f64::from(number) / 100.0;
        let exposure = exp2(3.0 * part(tone.exposure));
        let then = white::daylight(80.0 * part(tone.warmth)).map(|warm| warm * exposure);
        let lowers = balance.lowers();
        let lit = |light: f64| balance.ended(balance.exposed(light));
        let seen = |channel: usize, light: f64| {
            let light = balance.balanced(channel, light);
            if lowers { light } else { lit(light) }
        };
        let clipped = Clipped::new(balance.loses(), |channel, code| seen(channel, transfer::decode(code)));
        let whole = (lowers || clipped.is_some()).then(|| Whole {
            clipped,
            lowering: lowers.then(|| Gains::new(lit)),
            then: then.map(|gain| gain as f32),
        });
        let last = if whole.is_some() { [1.0; 3] } else { then };
        Self {
            tone,
            decoding: Decoding::new(layout, |channel, light| seen(channel, light) * last[channel]),
            whole,
            own: Gains::of_lightness(|l| curve::contrast(l, part(tone.contrast))),
            surroundings: Gains::of_lightness(|l| {
                curve::shadows(curve::highlights(l, part(tone.highlights)), part(tone.shadows))
            }),
        }
    }

    fn begun(&self, pixel: [f32; 3]) -> [f32; 3] {
        let Some(Whole { clipped, lowering, then: [r, g, b] }) = &self.whole else { return pixel };
        let pixel = clipped.map_or(pixel, |clipped| clipped.restored(pixel));
        let gain = lowering.as_ref().map_or(1.0, |gains| gains.at(root(pixel)));
        [pixel[0] * gain * r, pixel[1] * gain * g, pixel[2] * gain * b]
    }

    fn surroundings(&self, picture: &Picture, run: Run<'_>) -> Result<Option<Base>> {
        if !self.tone.auto && self.tone.highlights == 0 && self.tone.shadows == 0 {
            return Ok(None);
        }
        let reduced = Reduced::of(picture, &self.decoding, |light| root(self.begun(light)), run)?;
        reduced.filtered(TOLERANCE, run).map(Some)
    }

    /// One pixel, whose luminance has the square root `own` and around it `around`.
    fn pixel(&self, pixel: [f32; 3], own: f32, around: f32) -> [f32; 3] {
        let mut gain = self.own.at(own) * self.surroundings.at(around);
        if self.tone.auto && own > 0.0 {
            let apart = 1.0 + LOCAL_CONTRAST * (own - around) / own;
            let local = (apart * apart).clamp(0.8, 1.25);
            gain *= local.min((CEILING / (peak(pixel) * gain).max(FLOOR)).max(1.0));
        }
        let pixel = pixel.map(|light| light * gain);
        inside(self.saturated(pixel))
    }

    fn saturated(&self, pixel: [f32; 3]) -> [f32; 3] {
        let mut factor = 1.0 + f32::from(self.tone.saturation) / 100.0;
        if self.tone.auto {
            factor *= 1.0 + VIBRANCE * paleness(pixel);
        }
        if factor == 1.0 {
            return pixel;
        }
        let (gray, [r, g, b]) = (luma(pixel), pixel);
        let (top, bottom) = (peak(pixel), r.min(g).min(b));
        if factor > 1.0 && top > bottom {
            let above = (CEILING - gray) / (top - gray).max(1e-6);
            let below = (gray - FLOOR) / (gray - bottom).max(1e-6);
            factor = factor.min(above).min(below).max(1.0);
        }
        pixel.map(|light| gray + (light - gray) * factor)
    }
}

/// How far vibrance reaches a colour, 0 to 1: grayish ones most, skin (between red and yellow) and sky (between blue and
/// cyan) less.
fn paleness([r, g, b]: [f32; 3]) -> f32 {
    let (top, bottom) = (r.max(g).max(b), r.min(g).min(b));
    if top <= bottom {
        return 0.0;
    }
    let saturation = (top - bottom) / top;
    let place = (g - bottom) / (top - bottom);
    let bump = 4.0 * place * (1.0 - place);
    let guarded = match (r >= g && g >= b, b >= g && g >= r) {
        (true, _) => 1.0 - 0.75 * bump,
        (_, true) => 1.0 - 0.5 * bump,
        _ => 1.0,
    };
    (1.0 - saturation) * (1.0 - saturation) * guarded
}

/// Mixed with white from where its greatest channel is 1, until it has the luminance that it had, but no further than it lies
/// beyond 1: of what is brighter yet, the hue would be lost.
fn inside(pixel: [f32; 3]) -> [f32; 3] {
    let top = peak(pixel);
    if top <= 1.0 {
        return pixel;
    }
    let pure = pixel.map(|light| light / top);
    let dark = luma(pure);
    let share = ((luma(pixel) - dark) / (1.0 - dark).max(1e-6)).min(1.0 - 1.0 / top);
    pure.map(|light| light + (1.0 - light) * share)
}

fn root(light: [f32; 3]) -> f32 {
    luma(light).min(1.0).sqrt()
}

impl Apply for Toned {
    fn apply(&self, picture: Picture, run: Run<'_>) -> Result<Picture> {
        let picture = bled(picture, run)?;
        let base = self.surroundings(&picture, run)?;
        let (mut own, mut lines, mut around) = (Vec::new(), Vec::new(), Vec::new());
        self.decoding.recoloured(picture, run, |y, row| {
            row.iter_mut().for_each(|pixel| *pixel = self.begun(*pixel));
            own.clear();
            own.extend(row.iter().map(|&pixel| root(pixel)));
            match &base {
                Some(base) => base.row(y, &own, &mut lines, &mut around),
                None => around.clone_from(&own),
            }
            for ((pixel, &own), &around) in row.iter_mut().zip(&own).zip(&around) {
                *pixel = self.pixel(*pixel, own, around);
            }
        })
    }
}
