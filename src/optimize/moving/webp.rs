//! Animated WebP: frames lossy or lossless, whichever is smaller, or with less preprocessing before lossless coding; or
//! the source's own coefficients, coarser.

use super::{LEAST_FRAME, Moving, Scores, Viewed, compare};
use crate::{
    codec::{DecodeOptions, EncodeOptions, WebpCoding, WebpOptions, webp::LossyAnimation},
    control::{Run, Stage},
    error::Result,
    optimize::{
        Goal, Optimised,
        search::{Aim, Trial, solve},
        shortfall,
        webp::{LEAST_LEFT, LEAST_LEFT_SLOW, NEAR_LOSSLESS, QUICK, SLOW, ULTRA, again, first_quality},
    },
    picture::{Frame, Frames, Layout, Plays},
};

/// How far above its target a result may score before it is encoded again.
const SLACK: f64 = 0.7;
/// Pixels of all frames that are encoded while searching, and the least number of these frames.
const SAMPLE: (u64, u32) = (6_000_000, 4);
/// Frames that are compared while the source's own coefficients are searched.
const SHOTS: u32 = 12;
/// A sample of so many times the bytes of another way is not worth encoding whole.
const HOPELESS: f64 = 1.3;

pub(super) fn optimise(frames: &mut dyn Frames, task: &Moving<'_>, run: Run<'_>) -> Result<Optimised> {
    let fixed = |frames: &mut dyn Frames, quality: f64| {
        let bytes = encode(frames, task, &lossy(quality), run)?;
        let score = compared(frames, task, &bytes, run)?.mean;
        Ok(Optimised { bytes, score, warnings: Vec::new() })
    };
    match task.goal {
        Goal::Lossless => {
            let bytes = encode(frames, task, &WebpOptions::lossless(), run)?;
            Ok(Optimised { bytes, score: 100.0, warnings: Vec::new() })
        }
        Goal::Quality(quality) => fixed(frames, quality.into()),
        Goal::Smart(preset) => match preset.target() {
            Some(target) => Search { task, target, run }.best(frames),
            None => fixed(frames, ULTRA),
        },
    }
}

fn lossy(quality: f64) -> WebpOptions {
    WebpOptions::lossy(quality as f32)
}

fn near_lossless(level: u8, (method, effort): (u8, u8)) -> WebpOptions {
    WebpOptions { coding: WebpCoding::Lossless { near_lossless: level, exact: true, effort }, method }
}

fn encode(frames: &mut dyn Frames, task: &Moving<'_>, options: &WebpOptions, run: Run<'_>) -> Result<Vec<u8>> {
    run.check()?;
    frames.restart()?;
    task.codecs.encode(frames, &EncodeOptions::Webp(options.clone()), run)
}

fn compared(frames: &mut dyn Frames, task: &Moving<'_>, bytes: &[u8], run: Run<'_>) -> Result<Scores> {
    compare(frames, &mut *task.codecs.frames(task.format, bytes, &DecodeOptions::default(), run)?, run)
}

/// What counts: the mean, unless a frame falls too far below it.
fn overall(scores: Scores) -> f64 {
    scores.mean.min(scores.least + LEAST_FRAME)
}

struct Search<'a> {
    task: &'a Moving<'a>,
    target: f64,
    run: Run<'a>,
}

/// How to code the frames anew.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    /// From this quality on.
    Lossy(f64),
    /// From this place in [`NEAR_LOSSLESS`] on.
    Near(usize),
}

impl Search<'_> {
    fn best(&self, frames: &mut dyn Frames) -> Result<Optimised> {
        let again = self.again(frames)?;
        self.run.control.stage(Stage::Optimise, 0.45);
        let (way, bytes) = self.outlook(frames)?;
        self.run.control.stage(Stage::Encode, 0.6);
        let best = match again {
            Some(again) if bytes > HOPELESS * again.file.len() as f64 => again,
            Some(again) => smaller(again, self.anew(frames, way)?, self.target),
            None => self.anew(frames, way)?,
        };
        let warnings = shortfall(best.score, self.target).into_iter().collect();
        Ok(Optimised { bytes: best.file, score: best.score, warnings })
    }

    /// The source's own coefficients, coarser; `None` where it has none.
    fn again(&self, frames: &mut dyn Frames) -> Result<Option<Trial>> {
        let Some(stored) = self.task.stored else { return Ok(None) };
        let Some(source) = LossyAnimation::parse(stored, self.run)? else { return Ok(None) };
        let viewed = Viewed::new(frames, self.task.count, SHOTS, self.run)?;
        let trial = |knob| {
            let file = source.coarser(again::worth(knob), self.run)?;
            let scores = viewed.score(&mut *self.decoded(&file)?, self.run)?;
            Ok(Trial { knob, score: overall(scores), file })
        };
        let sampled = solve(again::aim(self.target, SLACK), trial)?;
        let first = sampled.knob;
        let whole = |knob: f64| {
            let file =
                if knob == first { sampled.file.clone() } else { source.coarser(again::worth(knob), self.run)? };
            self.tried(frames, knob, file)
        };
        let found = solve(Aim { first, trials: 3, ..again::aim(self.target, SLACK) }, whole)?;
        Ok(Some(found).filter(|found| found.score >= self.target))
    }

    /// Looks at the ways to code a sample of frames; the better one, and about how many bytes it will take for all.
    fn outlook(&self, frames: &mut dyn Frames) -> Result<(Way, f64)> {
        let step = self.step(frames.layout());
        let mut sample = Sample { frames, step };
        let count = self.task.count.div_ceil(step);
        let viewed = Viewed::new(&mut sample, count, count, self.run)?;
        let mut trial = |knob: f64, options: &WebpOptions| {
            let file = encode(&mut sample, self.task, options, self.run)?;
            let scores = viewed.score(&mut *self.decoded(&file)?, self.run)?;
            Ok(Trial { knob, score: overall(scores), file })
        };
        let aim = Aim { slack: 1.0, step: 0.5, trials: 4, ..self.aim(first_quality(self.target)) };
        let lossy = solve(aim, |quality| trial(quality, &lossy(quality)))?;
        let all = |bytes: usize| bytes as f64 * f64::from(self.task.count) / f64::from(count);
        let reached = lossy.score >= self.target;
        let quality = lossy.knob + (self.target + SLACK / 2.0 - lossy.score) / aim.slope;
        let exact = trial(100.0, &near_lossless(100, QUICK))?;
        if reached && exact.file.len() as f64 * LEAST_LEFT > lossy.file.len() as f64 {
            return Ok((Way::Lossy(quality), all(lossy.file.len())));
        }
        let last = NEAR_LOSSLESS.len() - 1;
        let (mut at, mut near) = (last, exact);
        for (level, knob) in NEAR_LOSSLESS[..last].iter().enumerate() {
            let tried = trial((*knob).into(), &near_lossless(*knob, QUICK))?;
            if tried.score >= self.target {
                if tried.file.len() < near.file.len() {
                    (at, near) = (level, tried);
                }
                break;
            }
        }
        let near = near.file.len() as f64 * LEAST_LEFT_SLOW;
        match reached && lossy.file.len() as f64 <= near {
            true => Ok((Way::Lossy(quality), all(lossy.file.len()))),
            false => Ok((Way::Near(at), all(near as usize))),
        }
    }

    fn anew(&self, frames: &mut dyn Frames, way: Way) -> Result<Trial> {
        match way {
            Way::Lossy(quality) => solve(Aim { trials: 3, ..self.aim(quality) }, |quality| {
                let file = encode(frames, self.task, &lossy(quality), self.run)?;
                self.tried(frames, quality, file)
            }),
            Way::Near(from) => {
                for &level in &NEAR_LOSSLESS[from..] {
                    let file = encode(frames, self.task, &near_lossless(level, SLOW), self.run)?;
                    let near = self.tried(frames, level.into(), file)?;
                    if near.score >= self.target {
                        return Ok(near);
                    }
                }
                let file = encode(frames, self.task, &WebpOptions::lossless(), self.run)?;
                Ok(Trial { knob: 100.0, score: 100.0, file })
            }
        }
    }

    /// Compares all frames.
    fn tried(&self, frames: &mut dyn Frames, knob: f64, file: Vec<u8>) -> Result<Trial> {
        let scores = compare(frames, &mut *self.decoded(&file)?, self.run)?;
        Ok(Trial { knob, score: overall(scores), file })
    }

    fn decoded<'f>(&'f self, file: &'f [u8]) -> Result<Box<dyn Frames + 'f>> {
        self.task.codecs.frames(self.task.format, file, &DecodeOptions::default(), self.run)
    }

    fn aim(&self, first: f64) -> Aim {
        let slope = if self.target >= 85.0 { 0.8 } else { 0.5 };
        Aim { target: self.target, slack: SLACK, low: 0.0, high: 100.0, first, slope, step: 0.1, trials: 1 }
    }

    /// Every so many frames make the sample.
    fn step(&self, layout: Layout) -> u32 {
        let (pixels, least) = SAMPLE;
        let fit = (pixels / layout.pixels().max(1)).clamp(least.into(), u32::MAX.into()) as u32;
        self.task.count.div_ceil(fit).max(1)
    }
}

/// The first unless the second reaches the target with fewer bytes.
fn smaller(first: Trial, second: Trial, target: f64) -> Trial {
    if second.score >= target && second.file.len() < first.file.len() { second } else { first }
}

/// Every so many frames.
struct Sample<'a> {
    frames: &'a mut dyn Frames,
    step: u32,
}

impl Frames for Sample<'_> {
    fn layout(&self) -> Layout {
        self.frames.layout()
    }

    fn plays(&self) -> Plays {
        self.frames.plays()
    }

    fn next(&mut self, run: Run<'_>) -> Result<Option<Frame<'_>>> {
        let Some(Frame { picture, delay }) = self.frames.next(run)? else { return Ok(None) };
        let picture = picture.into_owned();
        for _ in 1..self.step {
            if self.frames.next(run)?.is_none() {
                break;
            }
        }
        Ok(Some(Frame { picture: picture.into(), delay }))
    }

    fn restart(&mut self) -> Result<()> {
        self.frames.restart()
    }
}
