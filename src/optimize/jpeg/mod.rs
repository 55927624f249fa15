//! JPEG: one quality knob, two chroma subsamplings, tables of three shapes; or the source's own coefficients, coarser.
//!
//! A picture is transformed once and quantised often. What a quality scores is first tried on bands of a large picture;
//! then the whole is quantised with trellis, checked, and corrected if the check says so.

mod again;
mod tables;

use self::tables::{Shape, tables};
use super::{
    Goal, Optimised, Task,
    metric::{Reference, Sample, times},
    search::{Aim, Trial, solve},
    shortfall,
};
use crate::{
    codec::{
        Sampling,
        jpeg::{Blocks, Rounding, Spectrum},
    },
    control::{Run, Stage},
    error::Result,
    picture::Picture,
};

/// How far above its target a result may score before it is encoded again.
const SLACK: f64 = 1.0;
/// How much better bands score than the whole, in the median of photographs.
const BANDS_BIAS: f64 = 0.2;
/// Whole encodings that a search may cost.
const WHOLE_ENCODINGS: u32 = 3;
/// Quality at which `ultra` scores about 50 in the median of photographs.
const ULTRA: f64 = 27.0;
/// Quality above which chroma of half the size is held against chroma of full size.
const FINE: f64 = 97.0;
/// A file of more than this share of the source's bytes calls for another way.
const HARDLY_SMALLER: f64 = 0.65;
/// Share of the bytes that trellis quantisation leaves at the same quality.
const TRELLIS_SAVES: f64 = 0.88;
/// Coarser chroma of full size is tried where chroma of full size takes less than this share of what halved takes.
const COARSER_SAVES: f64 = 1.18;

pub(crate) fn optimise(task: &Task<'_>, run: Run<'_>) -> Result<Optimised> {
    match task.goal {
        Goal::Lossless => fixed(task, 100.0, Way::usual(Sampling::Full), run).map(|mut done| {
            done.warnings.push("JPEG has no lossless encoding of changed pixels: quality 100 was used".into());
            done
        }),
        Goal::Quality(quality) => {
            // As cjpeg of mozjpeg: chroma keeps its size where quality is said to matter.
            let sampling = if quality < 90 { Sampling::Half } else { Sampling::Full };
            fixed(task, quality.into(), Way::usual(sampling), run)
        }
        Goal::Smart(preset) => match preset.target_of(task.picture.layout()) {
            Some(target) => Search { task, target, run }.best(),
            None => fixed(task, ULTRA, Way::usual(Sampling::Half), run),
        },
    }
}

fn fixed(task: &Task<'_>, quality: f64, way: Way, run: Run<'_>) -> Result<Optimised> {
    let candidate = Candidate::new(task.picture, way, quality, run)?;
    let reference = Reference::new(task.picture, run)?;
    let made = candidate.trial(&reference, quality, Rounding::BALANCED, run)?;
    Ok(Optimised { bytes: made.file.write(task.interlaced, run)?, score: made.score, warnings: Vec::new() })
}

/// How a picture is coded, beside its quality.
#[derive(Debug, Clone, Copy)]
struct Way {
    sampling: Sampling,
    shape: Shape,
}

impl Way {
    fn usual(sampling: Sampling) -> Self {
        Self { sampling, shape: Shape::USUAL }
    }
}

/// A picture to be coded in one way, transformed with its chroma subsampling.
struct Candidate<'a> {
    picture: &'a Picture,
    way: Way,
    spectrum: Spectrum,
}

impl<'a> Candidate<'a> {
    /// To be encoded near `quality`.
    fn new(picture: &'a Picture, way: Way, quality: f64, run: Run<'_>) -> Result<Self> {
        let mean = tables(quality, way.shape, picture.channels())[0][0];
        Ok(Self { picture, way, spectrum: Spectrum::of_picture(picture, way.sampling, mean, run)? })
    }

    fn trial(&self, reference: &Reference, quality: f64, rounding: Rounding, run: Run<'_>) -> Result<Trial<Blocks>> {
        let tables = tables(quality, self.way.shape, self.picture.channels());
        let blocks = self.spectrum.quantised(&tables, rounding, run)?;
        Ok(Trial { knob: quality, score: reference.score(&blocks.pixels(run)?, run)?, file: blocks })
    }
}

/// A trial without trellis, and its bytes.
struct Probe {
    bytes: f64,
    trial: Trial<Blocks>,
}

struct Search<'a> {
    task: &'a Task<'a>,
    target: f64,
    run: Run<'a>,
}

impl Search<'_> {
    fn best(&self) -> Result<Optimised> {
        let reference = Reference::new(self.task.picture, self.run)?;
        let found = self.found(&reference)?;
        drop(reference);
        let bytes = found.file.write(self.task.interlaced, self.run)?;
        let warnings = shortfall(found.score, self.task.goal).into_iter().collect();
        Ok(Optimised { bytes, score: found.score, warnings })
    }

    fn found(&self, reference: &Reference) -> Result<Trial<Blocks>> {
        let picture = self.task.picture;
        let sample = Sample::of(picture, self.run)?;
        let sample = sample.as_ref();
        let (way, first, bytes) = match sample {
            Some(sample) => self.first_on_bands(sample)?,
            None => self.first(reference)?,
        };
        self.run.control.stage(Stage::Encode, 0.6);
        let again = match self.again(bytes, reference, sample)? {
            Some((again, smaller)) if smaller < bytes => return Ok(again),
            other => other,
        };
        let mut made = self.made(way, first, reference)?;
        let mut size = self.size(&made)?;
        if made.knob > FINE && way.sampling == Sampling::Half && !picture.channels().is_gray() {
            // Fine chroma that both lost where they were compared: halved, it takes many bytes or cannot be had at all.
            let full = self.made(Way { sampling: Sampling::Full, ..way }, self.usual().quality, reference)?;
            let smaller = self.size(&full)?;
            if smaller < size || full.score > made.score && made.score < self.target {
                (made, size) = (full, smaller);
            }
        }
        // The first look may have been too hopeful.
        let again = if again.is_none() { self.again(size, reference, sample)? } else { again };
        Ok(match again {
            Some((again, smaller)) if smaller < size => again,
            _ => made,
        })
    }

    /// The whole picture coded so, sought from the quality `first` on.
    fn made(&self, way: Way, first: f64, reference: &Reference) -> Result<Trial<Blocks>> {
        let whole = Candidate::new(self.task.picture, way, first, self.run)?;
        let aim = Aim { trials: WHOLE_ENCODINGS, ..self.aim(first) };
        solve(aim, |quality| whole.trial(reference, quality, Rounding::BALANCED, self.run))
    }

    /// The bytes of a trial; without end where it misses the target.
    fn size(&self, trial: &Trial<Blocks>) -> Result<f64> {
        Ok(if trial.score < self.target { f64::INFINITY } else { trial.file.size(self.run)? as f64 })
    }

    /// The source's own coefficients, and their bytes, where other ways leave `bytes` or about as many and these reach the
    /// target.
    fn again(
        &self,
        bytes: f64,
        reference: &Reference,
        sample: Option<&Sample>,
    ) -> Result<Option<(Trial<Blocks>, f64)>> {
        let Some(stored) = self.task.stored else { return Ok(None) };
        if bytes < HARDLY_SMALLER * stored.len() as f64 {
            return Ok(None);
        }
        let again = again::search(stored, reference, sample, self.target, self.run)?;
        let size = again.file.size(self.run)? as f64;
        Ok((again.score >= self.target).then_some((again, size)))
    }

    /// How to code the picture, the quality to begin with, and about how many bytes it will take; from bands.
    fn first_on_bands(&self, Sample { picture, reference }: &Sample) -> Result<(Way, f64, f64)> {
        let (part, plain) = self.best_way(picture, reference)?;
        let aim = Aim { slack: 2.0, trials: 2, ..self.aim(self.onward(&plain.trial, self.usual().trellis)) };
        let found = solve(aim, |quality| part.trial(reference, quality, Rounding::BALANCED, self.run))?;
        let left = self.target + BANDS_BIAS - found.score;
        let bytes = found.file.size(self.run)? as f64 * times(self.task.picture, picture) * self.grown(left);
        Ok((part.way, self.onward(&found, BANDS_BIAS), bytes))
    }

    /// The same from the whole picture.
    fn first(&self, reference: &Reference) -> Result<(Way, f64, f64)> {
        let (mut whole, probe) = self.best_way(self.task.picture, reference)?;
        // Not on bands: photographs, which most large pictures are, hardly ever gain by it.
        let plain = self.reshaped(&mut whole, probe, Shape::flatter, reference)?;
        let left = self.target + self.usual().trellis - plain.trial.score;
        let bytes = plain.bytes * TRELLIS_SAVES * self.grown(left);
        Ok((whole.way, self.onward(&plain.trial, self.usual().trellis), bytes))
    }

    /// `picture` with the best chroma subsampling and tables for that.
    fn best_way<'p>(&self, picture: &'p Picture, reference: &Reference) -> Result<(Candidate<'p>, Probe)> {
        let candidate = |sampling| Candidate::new(picture, Way::usual(sampling), self.usual().quality, self.run);
        let half = candidate(Sampling::Half)?;
        let halved = self.probe(&half, reference)?;
        if picture.channels().is_gray() {
            return Ok((half, halved));
        }
        let mut full = candidate(Sampling::Full)?;
        let mut fine = self.probe(&full, reference)?;
        if self.cost(&fine) < COARSER_SAVES * self.cost(&halved) {
            fine = self.reshaped(&mut full, fine, Shape::coarser, reference)?;
        }
        Ok(if self.cost(&fine) < self.cost(&halved) { (full, fine) } else { (half, halved) })
    }

    fn probe(&self, candidate: &Candidate<'_>, reference: &Reference) -> Result<Probe> {
        let trial = candidate.trial(reference, self.usual().quality, Rounding::Nearest, self.run)?;
        Ok(Probe { bytes: trial.file.size(self.run)? as f64, trial })
    }

    /// About how many bytes a probe comes to at the target.
    fn cost(&self, probe: &Probe) -> f64 {
        probe.bytes * self.grown(self.target - probe.trial.score)
    }

    /// `candidate` with tables of another shape, unless `probe`, of those it has, comes out smaller.
    fn reshaped(
        &self,
        candidate: &mut Candidate<'_>,
        probe: Probe,
        shape: impl Fn(Shape) -> Shape,
        reference: &Reference,
    ) -> Result<Probe> {
        let had = candidate.way.shape;
        candidate.way.shape = shape(had);
        let other = self.probe(candidate, reference)?;
        if self.cost(&other) < self.cost(&probe) {
            return Ok(other);
        }
        candidate.way.shape = had;
        Ok(probe)
    }

    /// The factor by which bytes grow along with the score, about `exp(growth * points)`.
    fn grown(&self, points: f64) -> f64 {
        (1.0 + self.usual().growth * points / 16.0).max(0.5).powi(16)
    }

    /// The quality for the middle of the slack, from a trial whose score is `bias` above that of the next.
    fn onward(&self, found: &Trial<Blocks>, bias: f64) -> f64 {
        found.knob + (self.target + SLACK / 2.0 + bias - found.score) / self.usual().slope
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
