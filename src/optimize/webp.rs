//! WebP: lossy or lossless, whichever is smaller at the wanted score.

use super::{
    Goal, Optimised, Task,
    metric::Reference,
    probe,
    sample::sample,
    search::{Aim, Trial, solve},
    shortfall,
};
use crate::{
    codec::{EncodeOptions, WebpCoding, WebpOptions},
    control::{Run, Stage},
    error::Result,
    picture::Picture,
};

/// How far above its target a result may score before it is encoded again.
const SLACK: f64 = 0.5;
/// Score that the slower method gains over the faster one at the same quality.
const METHOD_GAIN: f64 = 0.3;
/// Quality at which `ultra` scores about 50 in the median.
const ULTRA: f64 = 25.0;
/// Preprocessing before lossless coding that is tried, from the most.
const NEAR_LOSSLESS: [u8; 4] = [20, 40, 60, 80];
/// libwebp's `method` for what is delivered.
const FINAL: u8 = 6;
/// libwebp's `method` for trials.
const QUICK: u8 = 4;

pub(crate) fn optimise(task: &Task<'_>, run: Run<'_>) -> Result<Optimised> {
    match task.goal {
        Goal::Lossless => {
            let bytes = probe::encode(task, task.picture, &lossless(100, FINAL), run)?;
            Ok(Optimised { bytes, score: 100.0, warnings: Vec::new() })
        }
        Goal::Quality(quality) => probe::fixed(task, &lossy(quality.into(), QUICK), run),
        Goal::Smart(preset) => match preset.target() {
            Some(target) => Search { task, target, run }.best(),
            None => probe::fixed(task, &lossy(ULTRA, FINAL), run),
        },
    }
}

fn lossy(quality: f64, method: u8) -> EncodeOptions {
    EncodeOptions::Webp(WebpOptions { method, ..WebpOptions::lossy(quality as f32) })
}

fn lossless(near_lossless: u8, method: u8) -> EncodeOptions {
    let coding = WebpCoding::Lossless { near_lossless, exact: near_lossless == 100, effort: 75 };
    EncodeOptions::Webp(WebpOptions { coding, method })
}

struct Search<'a> {
    task: &'a Task<'a>,
    target: f64,
    run: Run<'a>,
}

impl Search<'_> {
    fn best(&self) -> Result<Optimised> {
        let reduced = sample(self.task.picture)?;
        let picture = reduced.as_ref().unwrap_or(self.task.picture);
        let reference = Reference::new(picture, self.run)?;
        let aim = Aim { target: self.target - METHOD_GAIN, slack: 1.0, step: 0.5, trials: 5, ..self.aim(self.first()) };
        let quick = solve(aim, |quality| self.trial(picture, &reference, quality, &lossy(quality, QUICK)))?;
        let exact = probe::encode(self.task, picture, &lossless(100, 0), self.run)?;
        drop(reference);
        let reference = Reference::new(self.task.picture, self.run)?;
        self.run.control.stage(Stage::Encode, 0.6);
        // The quickest lossless coding is 10 to 50 % larger than the slowest; photographs are two to ten times larger.
        let graphic = (exact.len() as f64) < quick.file.len() as f64 * 1.6;
        let near = if graphic { Some(self.near_lossless(&reference)?) } else { None };
        let aim = Aim { step: 0.1, trials: 4, ..self.aim(quick.knob) };
        let best = solve(aim, |quality| self.trial(self.task.picture, &reference, quality, &lossy(quality, FINAL)))?;
        let best = match near {
            Some(near) if near.file.len() <= best.file.len() || best.score < self.target => near,
            _ => best,
        };
        let warnings = shortfall(best.score, self.target).into_iter().collect();
        Ok(Optimised { bytes: best.file, score: best.score, warnings })
    }

    /// The smallest lossless coding whose preprocessing leaves the target's score.
    fn near_lossless(&self, reference: &Reference) -> Result<Trial> {
        // Not always smaller than without preprocessing, which spoils the repetition that some graphics live on.
        let picture = self.task.picture;
        let exact = self.trial(picture, reference, 100.0, &lossless(100, FINAL))?;
        for level in NEAR_LOSSLESS {
            if self.trial(picture, reference, level.into(), &lossless(level, QUICK))?.score >= self.target {
                let near = self.trial(picture, reference, level.into(), &lossless(level, FINAL))?;
                return Ok(if near.file.len() < exact.file.len() { near } else { exact });
            }
        }
        Ok(exact)
    }

    fn trial(&self, picture: &Picture, reference: &Reference, knob: f64, options: &EncodeOptions) -> Result<Trial> {
        probe::trial(self.task, picture, reference, knob, options, self.run)
    }

    fn aim(&self, first: f64) -> Aim {
        let slope = if self.target >= 85.0 { 0.8 } else { 0.5 };
        Aim { target: self.target, slack: SLACK, low: 0.0, high: 100.0, first, slope, step: 0.1, trials: 1 }
    }

    /// The quality that reaches the target in the median.
    fn first(&self) -> f64 {
        [(90.0, 95.0), (80.0, 82.0)]
            .iter()
            .find(|(target, _)| self.target >= *target)
            .map_or(66.0, |(_, quality)| *quality)
    }
}
