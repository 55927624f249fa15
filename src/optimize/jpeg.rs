//! JPEG: one quality knob, two chroma subsamplings.
//!
//! Probes are cheap: encodings without trellis quantisation, of a sample of a large picture. What they find is encoded
//! whole with trellis, checked, and corrected if the check says so.

use super::{
    Goal, Optimised, Task,
    metric::{Reference, bands},
    probe,
    search::{Aim, Trial, solve},
    shortfall,
};
use crate::{
    codec::{EncodeOptions, JpegOptions, Sampling},
    control::{Run, Stage},
    error::Result,
    format::Format,
    picture::Picture,
};

/// How far above its target a result may score before it is encoded again.
const SLACK: f64 = 1.0;
/// How much better bands score than the whole, in the median of photographs.
const BANDS_BIAS: f64 = 0.2;
/// Whole encodings with trellis that a search may cost.
const WHOLE_ENCODINGS: u32 = 3;
/// Quality at which `ultra` scores about 50 in the median of photographs.
const ULTRA: f64 = 37.0;

pub(crate) fn optimise(task: &Task<'_>, run: Run<'_>) -> Result<Optimised> {
    match task.goal {
        Goal::Lossless => fixed(task, 100.0, Sampling::Full, run).map(|mut done| {
            done.warnings.push("JPEG has no lossless encoding of changed pixels: quality 100 was used".into());
            done
        }),
        Goal::Quality(quality) => {
            // As cjpeg of mozjpeg: chroma keeps its size where quality is said to matter.
            let sampling = if quality < 90 { Sampling::Half } else { Sampling::Full };
            fixed(task, quality.into(), sampling, run)
        }
        Goal::Smart(preset) => match preset.target() {
            Some(target) => Search { task, target, run }.best(),
            None => fixed(task, ULTRA, Sampling::Half, run),
        },
    }
}

fn fixed(task: &Task<'_>, quality: f64, sampling: Sampling, run: Run<'_>) -> Result<Optimised> {
    probe::fixed(task, &options(task.interlaced, quality, sampling, true), run)
}

struct Search<'a> {
    task: &'a Task<'a>,
    target: f64,
    run: Run<'a>,
}

impl Search<'_> {
    fn best(&self) -> Result<Optimised> {
        let (sampling, first) = match bands(self.task.picture) {
            Some(bands) => self.on_bands(&bands)?,
            None => {
                let reference = Reference::new(self.task.picture, self.run)?;
                let (sampling, found) = self.sampling(self.task.picture, &reference)?;
                (sampling, self.onward(&found, self.usual().trellis))
            }
        };
        self.run.control.stage(Stage::Encode, 0.6);
        self.whole(sampling, first)
    }

    /// Chroma subsampling and the quality to begin with, found on bands of the picture.
    fn on_bands(&self, bands: &Picture) -> Result<(Sampling, f64)> {
        let reference = Reference::of_bands(bands, self.run)?;
        let (sampling, found) = self.sampling(bands, &reference)?;
        let aim = Aim { slack: 2.0, trials: 2, ..self.aim(self.onward(&found, self.usual().trellis)) };
        let found = solve(aim, |quality| self.trial(bands, &reference, quality, sampling, true))?;
        Ok((sampling, self.onward(&found, BANDS_BIAS)))
    }

    /// The quality for the middle of the slack, from a trial whose score is `bias` above that of the next.
    fn onward(&self, found: &Trial, bias: f64) -> f64 {
        found.knob + (self.target + SLACK / 2.0 + bias - found.score) / self.usual().slope
    }

    /// Chroma subsampling, and a trial without trellis.
    fn sampling(&self, picture: &Picture, reference: &Reference) -> Result<(Sampling, Trial)> {
        let usual = self.usual();
        let probe = |sampling| self.trial(picture, reference, usual.quality, sampling, false);
        let half = probe(Sampling::Half)?;
        if picture.channels().is_gray() {
            return Ok((Sampling::Half, half));
        }
        let full = probe(Sampling::Full)?;
        let worth = (full.score - half.score) * usual.growth;
        let smaller = (full.file.len() as f64).ln() - worth < (half.file.len() as f64).ln();
        Ok(if smaller { (Sampling::Full, full) } else { (Sampling::Half, half) })
    }

    /// Encodes the whole picture with trellis, and again until the score fits; then its coefficients as small as can be.
    fn whole(&self, sampling: Sampling, found: f64) -> Result<Optimised> {
        let reference = Reference::new(self.task.picture, self.run)?;
        let aim = Aim { trials: WHOLE_ENCODINGS, ..self.aim(found) };
        let best = solve(aim, |quality| self.trial(self.task.picture, &reference, quality, sampling, true))?;
        drop(reference);
        let bytes = self.task.codecs.recompress(Format::Jpeg, &best.file, self.task.interlaced, self.run)?;
        let warnings = shortfall(best.score, self.target).into_iter().collect();
        Ok(Optimised { bytes, score: best.score, warnings })
    }

    /// Sequential encodings: they are written and read in a third of the time of progressive ones.
    fn trial(
        &self,
        picture: &Picture,
        reference: &Reference,
        knob: f64,
        sampling: Sampling,
        trellis: bool,
    ) -> Result<Trial> {
        let options = options(false, knob, sampling, trellis);
        probe::trial(self.task, picture, reference, knob, &options, self.run)
    }

    fn aim(&self, first: f64) -> Aim {
        Aim {
            target: self.target,
            slack: SLACK,
            low: 1.0,
            high: 100.0,
            first,
            slope: self.usual().slope,
            step: 0.1,
            trials: 1,
        }
    }

    fn usual(&self) -> &'static Usual {
        USUAL.iter().find(|usual| self.target >= usual.target).unwrap_or(&USUAL[USUAL.len() - 1])
    }
}

/// What is usual of photographs near a target: medians, only to begin a search well.
struct Usual {
    target: f64,
    /// Quality that reaches the target without trellis.
    quality: f64,
    /// Score gained per step of quality.
    slope: f64,
    /// Growth of the logarithm of bytes per point of score.
    growth: f64,
    /// Score lost to trellis at the same quality.
    trellis: f64,
}

const USUAL: [Usual; 3] = [
    Usual { target: 90.0, quality: 93.0, slope: 0.9, growth: 0.09, trellis: 0.5 },
    Usual { target: 80.0, quality: 82.0, slope: 0.9, growth: 0.055, trellis: 1.7 },
    Usual { target: 70.0, quality: 70.0, slope: 0.5, growth: 0.04, trellis: 1.5 },
];

/// Nicolas Robidoux' luma and chroma table, as in ImageMagick and mozjpeg's third.
const ROBIDOUX: [u16; 64] = [
    16, 16, 16, 18, 25, 37, 56, 85, //
    16, 17, 20, 27, 34, 40, 53, 75, //
    16, 20, 24, 31, 43, 62, 91, 135, //
    18, 27, 31, 40, 53, 74, 106, 156, //
    25, 34, 43, 53, 69, 94, 131, 189, //
    37, 40, 62, 74, 94, 124, 169, 238, //
    56, 53, 91, 106, 131, 169, 226, 311, //
    85, 75, 135, 156, 189, 238, 311, 418,
];

fn options(progressive: bool, quality: f64, sampling: Sampling, trellis: bool) -> EncodeOptions {
    let scale = if quality < 50.0 { 50.0 / quality } else { 2.0 - quality / 50.0 };
    // The finer the table, the flatter: what is left to save at high fidelity lies in low frequencies, and the mean of a
    // block is worth more than its share. Found by trials at equal score on photographs: 4 % fewer bytes at 70 and 80, 10 %
    // at 90 than with the table as it is.
    let power = (0.45 + 0.55 * scale).min(1.0);
    let mean = (0.75 - 0.4 * scale).max(0.5);
    EncodeOptions::Jpeg(JpegOptions {
        luma: table(scale, power, mean),
        chroma: table(0.9 * scale, (0.5 + 0.2 * scale).min(1.0), mean),
        sampling,
        progressive,
        trellis,
    })
}

/// Robidoux' table with its rise over 16 raised to `power`, times `scale`, the mean's entry times `mean` besides.
fn table(scale: f64, power: f64, mean: f64) -> [u16; 64] {
    let entry = |(at, &base): (usize, &u16)| {
        let rise = power_of(f64::from(base) / 16.0, power);
        let share = if at == 0 { mean } else { 1.0 };
        (16.0 * rise * scale * share).round().clamp(1.0, 255.0) as u16
    };
    let mut table = [0; 64];
    for (at, entry) in ROBIDOUX.iter().enumerate().map(|(at, base)| (at, entry((at, base)))) {
        table[at] = entry;
    }
    table
}

/// `base^power` for a power of 0 to 1 in steps of 1/64, from square roots, which every machine rounds alike.
fn power_of(base: f64, power: f64) -> f64 {
    let steps = (power * 64.0).round() as u32;
    let (mut root, mut result) = (base, if steps >= 64 { base } else { 1.0 });
    for bit in (0..6).rev() {
        root = root.sqrt();
        if steps < 64 && steps >> bit & 1 == 1 {
            result *= root;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_come_from_square_roots() {
        for (base, power, expected) in
            [(16.0, 0.5, 4.0), (2.0, 0.25, 1.189_207_115), (26.0, 1.0, 26.0), (3.0, 0.0, 1.0)]
        {
            assert!((power_of(base, power) - expected).abs() < 1e-9, "{base}^{power}");
        }
    }

    #[test]
    fn tables_stay_within_baseline_and_fall_with_quality() {
        let low = table(50.0, 1.0, 0.5);
        assert!(low.iter().all(|entry| *entry == 255));
        assert!(table(0.0, 0.45, 0.75).iter().all(|entry| *entry == 1));
        let (coarse, fine) = (table(0.6, 0.78, 0.51), table(0.3, 0.6, 0.63));
        assert!(coarse.iter().zip(&fine).all(|(coarse, fine)| coarse >= fine));
    }
}
