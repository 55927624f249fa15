//! What a picture's light is like, told from a grid of its pixels.

use super::stops::log2;
use crate::{
    control::Run,
    error::Result,
    picture::{Picture, Samples, transfer},
};

/// Pixels looked at, about.
const PIXELS: f64 = 12_288.0;
/// Of 64, about the golden section.
const GOLDEN: usize = 39;
/// Alpha of a pixel that is wholly there, but for what rounding took.
const WHOLE: f32 = 0.95;
/// Part of a side that is its rim; luma from which, and codes between the channels up to which, a backdrop is light.
const RIM: u32 = 24;
const LIGHT: f32 = 0.65;
const NEUTRAL: f32 = 0.2;
/// Luminance of linear sRGB (IEC 61966-2-1), and what weighs its codes.
pub(super) const LUMA: [f32; 3] = [0.2126, 0.7152, 0.0722];

/// Codes of visible pixels on a grid, red, green and blue of 0 to 1.
#[derive(Debug, Clone)]
pub(super) struct Survey {
    pub codes: Vec<[f32; 3]>,
    /// Pixels of the grid that are not, of which less than half is there.
    pub hidden: usize,
    /// Those of `codes` that are not wholly there.
    pub translucent: usize,
    /// Share of the rim all around that is light and hardly coloured, or hidden.
    pub backdrop: f64,
}

impl Survey {
    pub(super) fn of(picture: &Picture, run: Run<'_>) -> Result<Self> {
        let layout = picture.layout();
        let step = (layout.pixels() as f64 / PIXELS).sqrt().ceil().max(1.0) as usize;
        let count = layout.channels.count();
        let (mut codes, mut hidden, mut translucent) = (Vec::new(), 0, 0);
        let (mut rim, mut light) = (0usize, 0usize);
        let outer = |at: usize, side: u32| at.min(side as usize - 1 - at) < side.div_ceil(RIM) as usize;
        let first = (step / 2).min(layout.height as usize - 1);
        for y in (first..layout.height as usize).step_by(step) {
            run.check()?;
            // Each row begins elsewhere, or fine texture would be met in one phase all over.
            for x in (0..layout.width as usize).skip(y / step * GOLDEN % 64 * step / 64).step_by(step) {
                let at = y * layout.row_samples() + x * count;
                let code = |c: usize| match picture.samples() {
                    Samples::Eight(samples) => f32::from(samples[at + c]) / 255.0,
                    Samples::Sixteen(samples) => f32::from(samples[at + c]) / 65_535.0,
                };
                let alpha = if layout.channels.has_alpha() { code(count - 1) } else { 1.0 };
                let rgb = if layout.channels.is_gray() { [code(0); 3] } else { [code(0), code(1), code(2)] };
                if outer(x, layout.width) || outer(y, layout.height) {
                    let neutral = peak(rgb) - rgb.into_iter().fold(1.0, f32::min) <= NEUTRAL;
                    rim += 1;
                    light += usize::from(alpha < 0.5 || luma(rgb) >= LIGHT && neutral);
                }
                if alpha < 0.5 {
                    hidden += 1;
                    continue;
                }
                translucent += usize::from(alpha < WHOLE);
                codes.push(rgb);
            }
        }
        Ok(Self { codes, hidden, translucent, backdrop: light as f64 / rim.max(1) as f64 })
    }

    /// Every pixel changed.
    pub(super) fn map(&self, change: impl Fn([f32; 3]) -> [f32; 3]) -> Self {
        Self { codes: self.codes.iter().map(|&code| change(code)).collect(), ..*self }
    }

    /// One number a pixel, sorted.
    pub(super) fn sorted(&self, number: impl Fn([f32; 3]) -> f32) -> Sorted {
        let mut numbers: Vec<f32> = self.codes.iter().map(|&code| number(code)).collect();
        numbers.sort_unstable_by(f32::total_cmp);
        Sorted(numbers)
    }

    /// How surely the distribution of light tells that some is lacking, 0 to 1: nothing where all is of about one tone, such as a
    /// wall or a piece of sky, which may be meant to be as it is.
    pub(super) fn telling(&self) -> f64 {
        let (mean, deviation) = self.spread();
        ramp(deviation / mean.max(1e-3), 0.1, 0.25)
    }

    /// Mean and standard deviation of luma; 0 of nothing.
    pub(super) fn spread(&self) -> (f64, f64) {
        let count = self.codes.len().max(1) as f64;
        let codes = || self.codes.iter().map(|&code| f64::from(luma(code)));
        let mean = codes().sum::<f64>() / count;
        (mean, (codes().map(|code| (code - mean) * (code - mean)).sum::<f64>() / count).sqrt())
    }

    /// Features of the distribution of light that exposure is judged by; `None` of nothing.
    pub(super) fn exposure_features(&self) -> Option<[f64; EXPOSURE_FEATURES]> {
        let luma = self.sorted(luma);
        let peak = self.sorted(peak);
        let count = luma.0.len() as f64;
        if luma.0.is_empty() {
            return None;
        }
        let mean = luma.mean();
        let square = luma.0.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>() / count;
        let clipped = peak.0.iter().filter(|&&v| v >= 254.0 / 255.0).count() as f64 / count;
        let light: f64 = self.codes.iter().flatten().map(|&v| f64::from(linear(v))).sum::<f64>() / (3.0 * count);
        let quantiles = [0.05, 0.25, 0.5, 0.75, 0.95].map(|share| luma.at(share));
        let peaks = [0.5, 0.95, 0.995].map(|share| peak.at(share));
        let mut features = [1.0; EXPOSURE_FEATURES];
        for (n, &v) in quantiles.iter().chain(&peaks).enumerate() {
            features[1 + n] = v;
            features[9 + n] = log2(transfer::decode(v) + 0.003);
        }
        features[17..].copy_from_slice(&[
            mean,
            clipped.sqrt(),
            clipped,
            (square - mean * mean).max(0.0).sqrt(),
            log2(light + 0.003),
        ]);
        Some(features)
    }
}

/// How many numbers [`Survey::exposure_features`] are.
pub(super) const EXPOSURE_FEATURES: usize = 22;

/// Numbers in ascending order.
pub(super) struct Sorted(Vec<f32>);

impl Sorted {
    /// The number that a share of 0 to 1 of all are below; 0 of nothing.
    pub(super) fn at(&self, share: f64) -> f64 {
        let index = (share * self.0.len() as f64) as usize;
        self.0.get(index.min(self.0.len().saturating_sub(1))).map_or(0.0, |&v| f64::from(v))
    }

    /// 0 of nothing.
    pub(super) fn mean(&self) -> f64 {
        self.0.iter().map(|&v| f64::from(v)).sum::<f64>() / self.0.len().max(1) as f64
    }
}

/// From 0 to 1 on the way between two values.
pub(super) fn ramp(value: f64, from: f64, to: f64) -> f64 {
    ((value - from) / (to - from)).clamp(0.0, 1.0)
}

pub(super) fn luma([r, g, b]: [f32; 3]) -> f32 {
    LUMA[0] * r + LUMA[1] * g + LUMA[2] * b
}

pub(super) fn peak([r, g, b]: [f32; 3]) -> f32 {
    r.max(g).max(b)
}

/// Code of 0 to 1 to linear light, by the table of 8-bit codes with straight lines between them.
pub(super) fn linear(code: f32) -> f32 {
    let table = transfer::linear_of_eight();
    let at = code.clamp(0.0, 1.0) * 255.0;
    let index = (at as usize).min(254);
    let (low, high) = (f32::from(table[index]), f32::from(table[index + 1]));
    (low + (high - low) * (at - index as f32)) / 65_535.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        control::Unattended,
        limits::Limits,
        picture::{Channels, Samples},
    };

    #[test]
    fn pictures_of_every_shape_have_pixels_that_are_looked_at() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        for (width, height) in [(1, 1), (16_383, 1), (1, 16_383), (13_000, 2), (2, 50_000)] {
            let samples = Samples::Eight(vec![9; (width * height) as usize]);
            let strip = Picture::new(width, height, Channels::Gray, samples).unwrap();
            let seen = Survey::of(&strip, run).unwrap().codes.len();
            assert!(seen > 0 && seen <= 2 * PIXELS as usize, "{width}x{height}: {seen}");
        }
    }
}
