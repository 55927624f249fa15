//! Balancing a picture by itself: white, exposure, and the two ends of the scale.
//!
//! White is judged by the colour of bright lights, exposure by linear models over features of the distribution of lights,
//! fitted by ridge regression on photographs that were darkened, lightened, tinted and flattened at random. What either says
//! within the spread of good photographs is ignored.
//!
//! Light that is lacking is given to each channel, with a shoulder, so that lights fade to white as on film. Too much light is
//! taken from all channels of a pixel alike, by its luminance: where one has been clipped the others are too strong beside it
//! already, and curves channel by channel would turn skies orange.

use super::{clipped::Clipped, white::daylight};
use crate::{
    operation::{
        ground::{CLIPPED, Ground},
        shoulder::Shoulder,
        stops::{exp2, log2},
        survey::{EXPOSURE_FEATURES, Survey, linear, luma, peak, ramp},
    },
    picture::transfer,
};

/// Shares of pixels that may come to an end of the scale.
const LIGHTEST: f64 = 0.9975;
const DARKEST: f64 = 0.001;

/// How far the ends of the scale are moved, in codes of 0 to 1, but for a tenth of it.
const MOST_LACKING: f64 = 0.3;

/// Share of a clipped channel below which all others are for it to be clipped by its own colour.
const OWN: f64 = 0.7;

/// What is done to light, in this order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Balance {
    /// Gains of linear light against the cast, and the lightest of each channel then.
    white: [f64; 3],
    lightest: [f64; 3],
    /// Of linear light, for exposure.
    gain: f64,
    shoulder: Shoulder,
    /// Codes that become 0 and 1.
    ends: [f64; 2],
}

impl Balance {
    /// Changes nothing.
    pub(super) const NONE: Self = Self {
        white: [1.0; 3],
        lightest: [1.0; 3],
        gain: 1.0,
        shoulder: Shoulder { knee: 0.5, white: 1.0 },
        ends: [0.0, 1.0],
    };

    /// What `survey` calls for. Each step is judged on what the ones before it make of the picture. A white ground has no
    /// cast, and what is drawn on it may be pale; another plain ground has the light that it is meant to have; what is filled,
    /// lets its ground through or stands before a light backdrop is not too light, and what is filled uses as much of the scale
    /// as it is meant to.
    pub(super) fn of(survey: &Survey) -> Self {
        if survey.codes.is_empty() {
            return Self::NONE;
        }
        let Ground { white: ground, plain, filled, .. } = Ground::of(survey);
        let sheer = ramp(survey.translucent as f64 / survey.codes.len() as f64, 0.1, 0.2);
        let backdrop = ramp(survey.backdrop, 0.8, 0.95);
        let lit = 1.0 - ground.max(plain);
        let white = daylight(cast(survey) * lit).map(|gain| 1.0 / gain);
        let lightest = [0, 1, 2].map(|n| white[n] * survey.sorted(|codes| linear(codes[n])).at(LIGHTEST));
        let tinted = Self { white, lightest, ..Self::NONE };
        let stops = exposure(&tinted.seen(survey));
        let share = match stops > 0.0 {
            true => lit * (1.0 - filled.max(sheer).max(backdrop)),
            false => (1.0 - plain) * survey.telling(),
        };
        let gain = exp2(-stops * share);
        let clipped = tinted.clipped();
        let lights = survey.sorted(|codes| peak(tinted.untinted(codes, clipped).map(|light| light as f32)));
        let top = lights.at(LIGHTEST) * gain.max(1.0);
        // A little below 1, which counts as clipped, unless it is the ground, or white that is to stay.
        let room = if gain < 1.0 { 1.0 } else { 0.99 + 0.01 * ground };
        let exposed = Self { gain, shoulder: Shoulder { knee: 0.5, white: top / room }, ..tinted };
        let [black, white] = ends(&exposed.seen(survey));
        let drawn = plain.max(filled);
        Self { ends: [black * (1.0 - drawn), white + (1.0 - white) * drawn], ..exposed }
    }

    /// Whether there is too much light, so that `exposed` is for luminance; else it is for each channel.
    pub(super) fn lowers(&self) -> bool {
        self.gain < 1.0
    }

    /// Without the cast, but for what is [`Clipped`].
    pub(super) fn balanced(&self, channel: usize, light: f64) -> f64 {
        Shoulder { knee: 0.75, white: self.lightest[channel] }.at(light * self.white[channel])
    }

    /// Whether clipped light of a channel is to be restored: whether another gains more.
    pub(super) fn loses(&self) -> [bool; 3] {
        let most = self.white.into_iter().fold(0.0, f64::max);
        self.white.map(|gain| gain < most)
    }

    /// With more or less light. White stays where it is, for a white ground not to turn gray.
    pub(super) fn exposed(&self, light: f64) -> f64 {
        if !self.lowers() {
            return self.shoulder.at(light * self.gain);
        }
        let light = self.shoulder.at(light).min(1.0);
        self.gain * light / (1.0 - (1.0 - self.gain) * light * light)
    }

    /// With the ends of the scale used: of channels, or of luminance as `exposed`.
    pub(super) fn ended(&self, light: f64) -> f64 {
        if self.ends == Self::NONE.ends {
            return light;
        }
        let [black, white] = self.ends;
        transfer::decode(((transfer::encode(light) - black) / (white - black)).clamp(0.0, 1.0))
    }

    /// The picture so far, without its ends.
    fn seen(&self, survey: &Survey) -> Survey {
        let clipped = self.clipped();
        survey.map(|codes| {
            let mut untinted = self.untinted(codes, clipped);
            // Clipped by its own colour and not by the cast, a channel counts as clipped still.
            for channel in 0..3 {
                let others = untinted[(channel + 1) % 3].max(untinted[(channel + 2) % 3]);
                if codes[channel] >= CLIPPED && others < OWN * untinted[channel] {
                    untinted[channel] = untinted[channel].max(1.0);
                }
            }
            let exposed = if self.lowers() {
                let luma = f64::from(luma(untinted.map(|light| light as f32)));
                untinted.map(|light| light * self.exposed(luma) / luma.max(1e-9))
            } else {
                untinted.map(|light| self.exposed(light))
            };
            exposed.map(|light| {
                f32::from(transfer::sixteen_of_linear()[(light.clamp(0.0, 1.0) * 65_535.0 + 0.5) as usize]) / 65_535.0
            })
        })
    }

    fn clipped(&self) -> Option<Clipped> {
        Clipped::new(self.loses(), |channel, code| self.balanced(channel, transfer::decode(code)))
    }

    /// Linear light of codes, without the cast.
    fn untinted(&self, codes: [f32; 3], clipped: Option<Clipped>) -> [f64; 3] {
        let light = [0, 1, 2].map(|channel| self.balanced(channel, linear(codes[channel]).into()) as f32);
        clipped.map_or(light, |clipped| clipped.restored(light)).map(f64::from)
    }
}

/// Codes to become black and white. What is nearly there is left. Where more is lacking than may be given, both ends come
/// nearer in proportion, for what is flat to get contrast and keep its light.
fn ends(survey: &Survey) -> [f64; 2] {
    let black = (survey.sorted(|[r, g, b]| r.min(g).min(b)).at(DARKEST) - 0.02).max(0.0);
    let white = (0.98 - survey.sorted(peak).at(LIGHTEST)).max(0.0);
    let given = 0.9 * (MOST_LACKING / black.max(white)).min(1.0);
    [black * given, 1.0 - white * given]
}

/// What is left of a number beyond a threshold.
fn beyond(value: f64, threshold: f64) -> f64 {
    value - value.clamp(-threshold, threshold)
}

/// Of pictures with too little light, and with too much.
const UNDER: [f64; EXPOSURE_FEATURES] = [
    -0.197, -1.446, -0.89, 0.198, 0.304, 0.461, 0.198, 0.075, 1.041, 0.244, 0.087, -0.056, -0.031, 0.005, -0.024,
    -0.298, 0.835, -0.455, 1.622, 0.11, 1.034, -0.169,
];
const OVER: [f64; EXPOSURE_FEATURES] = [
    0.051, -1.016, -0.607, 0.61, -0.156, 0.324, -0.657, -0.374, 1.564, 0.169, 0.079, -0.084, 0.033, 0.089, 0.105,
    0.057, -0.33, -0.478, 2.236, -0.301, 0.622, -0.254,
];

/// Stops of light too many.
fn exposure(survey: &Survey) -> f64 {
    let Some(features) = survey.exposure_features() else { return 0.0 };
    let judged = |model: [f64; EXPOSURE_FEATURES]| -> f64 {
        features.iter().zip(model).map(|(feature, weight)| feature * weight).sum()
    };
    let (under, over) = (judged(UNDER), judged(OVER));
    if under < 0.0 {
        return (beyond(under, 0.35) * 1.3).max(-2.5);
    }
    // A white ground is no fault: shadows have to be too light as well.
    let pale = ((features[2] - 0.3) / 0.13).clamp(0.0, 1.0);
    (beyond(over, 0.4) * 4.5).clamp(0.0, 1.9) * pale
}

/// Lights too dark to tell their colour, and clipped ones, which have another than they should.
const TELLING: std::ops::Range<f32> = 0.015..0.97;
/// Mired of an octave along daylight: about 90 on the locus of CIE illuminants D; a little more did best. Across it, to green and
/// magenta, the same is counted.
const OCTAVE: f64 = 100.0;
/// How much warmer than D65, in mired, the lights of good photographs are at most.
const WARM: f64 = 30.0;
/// Between which mired most of a picture is too warm, or too cool, for that to come of light: it is a sunset, or water. And how far
/// off the locus lights are then.
const OWN_WARM: (f64, f64) = (130.0, 200.0);
const OWN_COOL: (f64, f64) = (250.0, 380.0);
const OFF: (f64, f64) = (60.0, 110.0);
/// The least light whose colour is looked at by channel.
const FAINT: f64 = 1e-3;

/// Mired that the light is too warm: by the colour of the 16th powers' mean, which is nearly that of the brightest
/// (G. D. Finlayson and E. Trezzi, *Shades of Gray and Colour Constancy*, CIC 2004; they took the 6th, and higher ones did better
/// on finished photographs, with a cast and without). What most of the picture's own colour may be is left.
fn cast(survey: &Survey) -> f64 {
    let telling = || survey.codes.iter().map(|code| code.map(linear)).filter(|light| TELLING.contains(&peak(*light)));
    let mut sums = [0f64; 3];
    for light in telling() {
        for (sum, light) in sums.iter_mut().zip(light) {
            *sum += f64::from(light).powi(16);
        }
    }
    if sums.contains(&0.0) {
        return 0.0;
    }
    let [mired, off] = along_daylight(sums.map(|sum| log2(sum) / 16.0));
    let mut all: Vec<f64> =
        telling().map(|light| along_daylight(light.map(|light| log2(f64::from(light).max(FAINT))))[0]).collect();
    let middle = all.len() / 2;
    let most = *all.select_nth_unstable_by(middle, f64::total_cmp).1;
    let own = if mired > 0.0 { ramp(most, OWN_WARM.0, OWN_WARM.1) } else { ramp(-most, OWN_COOL.0, OWN_COOL.1) };
    let light = (1.0 - own) * (1.0 - ramp(off.abs(), OFF.0, OFF.1));
    light * (mired - mired.clamp(0.0, WARM)).clamp(-60.0, 75.0)
}

/// How warm a light is, of which there are logarithms, in mired from that of D65; and how far to magenta from the locus.
fn along_daylight([r, g, b]: [f64; 3]) -> [f64; 2] {
    [OCTAVE * (0.53 * (r - g) - 0.85 * (b - g)), OCTAVE * (0.85 * (r - g) + 0.53 * (b - g))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_clipped_white_under_a_cast_is_of_one_light_in_all_channels_without_it() {
        for shift in [-60.0, -20.0, 20.0, 75.0] {
            let white = daylight(shift).map(|gain| 1.0 / gain);
            // Of a picture whose channels are all dark but for one lamp.
            let balance = Balance { white, lightest: white.map(|gain| 0.3 * gain), ..Balance::NONE };
            let [r, g, b] = balance.untinted([1.0; 3], balance.clipped());
            assert!(r == g && g == b && r >= 1.0, "{shift}: {r} {g} {b}");
        }
        assert_eq!(Balance::NONE.loses(), [false; 3]);
    }
}
