//! WebP: lossy or lossless, whichever is smaller at the wanted score; or the source's own coefficients, coarser.

pub(super) mod again;

use super::{
    Goal, Optimised, Task,
    metric::{Reference, Sample, bands, times},
    probe,
    search::{Aim, Trial, slope_of, solve},
    shortfall,
};
#[cfg(feature = "png")]
use super::{palette::Histogram, png, worth_having_exactly};
use crate::{
    codec::{
        EncodeOptions, WebpCoding, WebpOptions,
        webp::{lossless_effort, with_better_alpha, with_most_effort},
    },
    control::{Run, Stage},
    error::Result,
    picture::Picture,
};

/// How far above its target a result may score before it is encoded again.
const SLACK: f64 = 0.5;
/// How much better bands score than the whole, in the median of photographs.
const BANDS_BIAS: f64 = 0.2;
/// Share of bytes that a point of score costs, in the median of photographs.
pub(super) const GROWTH: f64 = 0.04;
/// How far above the quality that was foretold the target is sought first: scores of drawings leap, and a search that
/// gives up on them should not end at 100.
const FAR: f64 = 10.0;
/// How much steeper or flatter than usual the slope of a score is taken to be.
const STEEPER: f64 = 3.0;
/// A file of more than this share of the source's bytes calls for another way.
const HARDLY_SMALLER: f64 = 0.65;
/// How many times the bytes that were foretold are as good as these where pictures are large.
const NEARLY: f64 = 1.15;
/// Quality at which `ultra` scores about 50 in the median.
pub(super) const ULTRA: f64 = 16.0;
/// Preprocessing before lossless coding, from the most to none; libwebp knows no steps between these.
const NEAR_LOSSLESS: [u8; 6] = [0, 20, 40, 60, 80, 100];
/// The place of none there.
const EXACT: usize = NEAR_LOSSLESS.len() - 1;
/// Method and effort of quick lossless coding.
const QUICK: (u8, u8) = (1, 25);
/// Pixels from which each trial of the whole takes a second or more: there are fewer then, and less is asked of them.
const LARGE: u64 = 8 << 20;
/// Pixels from which on lossy coding is by a method that takes half of the time, for some 3 % more bytes, and lossless coding
/// without preprocessing, which takes three times as long and saves a tenth where it can be had.
const VERY_LARGE: u64 = 24 << 20;
const FAST: u8 = 4;
/// Up to how many times the bytes of lossy coding quick lossless coding takes of pictures that are tried in few colours.
const INDEXED: f64 = 6.5;
/// The least share of the bytes of quick lossless coding that preprocessing and slow coding have left of drawings.
const LEAST_LEFT: f64 = 0.5;
/// The same for slow coding alone.
const LEAST_LEFT_SLOW: f64 = 0.8;

pub(crate) fn optimise(task: &Task<'_>, run: Run<'_>) -> Result<Optimised> {
    match task.goal {
        Goal::Lossless => {
            Ok(Optimised { bytes: exact(task, task.picture, usize::MAX, run)?, score: 100.0, warnings: Vec::new() })
        }
        Goal::Quality(quality) => fixed(task, quality.into(), run),
        Goal::Smart(preset) => match preset.target_of(task.picture.layout()) {
            Some(target) => Search { task, target, run }.best(),
            None => fixed(task, ULTRA, run),
        },
    }
}

/// Whether the pixels take so few bytes without loss that lossy coding in so many `bytes` may not be the smallest.
pub(super) fn is_plain(task: &Task<'_>, bytes: usize, run: Run<'_>) -> Result<bool> {
    let bands = bands(task.picture);
    let part = bands.as_ref().unwrap_or(task.picture);
    let exact = probe::encode(task, part, &lossless(100, QUICK), run)?.len() as f64;
    Ok(exact * times(task.picture, part) <= INDEXED * bytes as f64)
}

/// Lossy at this very quality.
fn fixed(task: &Task<'_>, quality: f64, run: Run<'_>) -> Result<Optimised> {
    let done = probe::fixed(task, &lossy(task, quality, true), run)?;
    Ok(Optimised { bytes: with_better_alpha(done.bytes, run)?, ..done })
}

fn lossy(task: &Task<'_>, quality: f64, sharp: bool) -> EncodeOptions {
    let mut options = WebpOptions::lossy(quality as f32);
    if is_very_large(task) {
        options.method = FAST;
    }
    if let WebpCoding::Lossy { sharp_yuv, .. } = &mut options.coding {
        *sharp_yuv = sharp;
    }
    EncodeOptions::Webp(options)
}

/// Method and effort of the lossless coding that is delivered: 50 to 100 % of the bytes of the quick one, in the mean
/// 90 %, for five times its time, unless the picture is large.
fn slow(task: &Task<'_>) -> (u8, u8) {
    lossless_effort(task.picture.layout().pixels())
}

fn is_very_large(task: &Task<'_>) -> bool {
    task.picture.layout().pixels() >= VERY_LARGE
}

/// The place in [`NEAR_LOSSLESS`] of the most preprocessing that is tried.
fn least_exact(task: &Task<'_>) -> usize {
    if is_very_large(task) { EXACT } else { 0 }
}

/// All that is in `picture`, with the effort that may give less than `enough`.
fn exact(task: &Task<'_>, picture: &Picture, enough: usize, run: Run<'_>) -> Result<Vec<u8>> {
    let code = |effort| probe::encode(task, picture, &lossless(100, effort), run);
    with_most_effort(picture.layout().pixels(), enough, code)
}

fn lossless(near_lossless: u8, (method, effort): (u8, u8)) -> EncodeOptions {
    let coding = WebpCoding::Lossless { near_lossless, exact: near_lossless == 100, effort };
    EncodeOptions::Webp(WebpOptions { coding, method, tolerance: 0 })
}

struct Search<'a> {
    task: &'a Task<'a>,
    target: f64,
    run: Run<'a>,
}

/// What a quick look at both codings says.
struct Outlook {
    /// The quality to begin with, and the score gained per unit of it around there.
    quality: f64,
    slope: f64,
    /// Whether sharp conversion to YUV is worth its bytes. It is unless chroma was halved before.
    sharp: bool,
    /// The place in [`NEAR_LOSSLESS`] to begin at, if lossless coding may win.
    near: Option<usize>,
    /// Whether lossy coding may win.
    lossy: bool,
    /// About how many bytes the whole will take.
    bytes: f64,
    /// Bytes of quick lossless coding for each of lossy coding.
    exact: f64,
}

impl Search<'_> {
    fn best(&self) -> Result<Optimised> {
        let picture = self.task.picture;
        let reference = Reference::new(picture, self.run)?;
        let sample = Sample::of(picture, self.run)?;
        let outlook = match &sample {
            Some(sample) => {
                let outlook = self.outlook(&sample.picture, &sample.reference, BANDS_BIAS)?;
                Outlook { bytes: outlook.bytes * times(picture, &sample.picture), ..outlook }
            }
            None => self.outlook(picture, &reference, 0.0)?,
        };
        self.run.control.stage(Stage::Encode, 0.6);
        let enough = if is_large(self.task) { NEARLY * outlook.bytes } else { outlook.bytes };
        let best = match self.again(outlook.bytes, &reference)? {
            Some(again) if (again.file.len() as f64) < enough => again,
            Some(again) => smaller(again, self.anew(&outlook, &reference)?, self.target),
            None => {
                let anew = self.anew(&outlook, &reference)?;
                // The first look may have been too hopeful.
                match self.again(anew.file.len() as f64, &reference)? {
                    Some(again) => smaller(anew, again, self.target),
                    None => anew,
                }
            }
        };
        #[cfg(feature = "png")]
        let best = match self.indexed(&outlook, &reference, sample.as_ref(), best.file.len())? {
            Some(indexed) if best.score < 100.0 || worth_having_exactly(indexed.file.len()) < best.file.len() => {
                smaller(best, indexed, self.target)
            }
            _ => best,
        };
        let warnings = shortfall(best.score, self.task.goal).into_iter().collect();
        Ok(Optimised { bytes: best.file, score: best.score, warnings })
    }

    /// The source's own coefficients, where other ways leave `bytes` or about as many and these reach the target.
    fn again(&self, bytes: f64, reference: &Reference) -> Result<Option<Trial>> {
        let Some(stored) = self.task.stored else { return Ok(None) };
        if bytes < HARDLY_SMALLER * stored.len() as f64 {
            return Ok(None);
        }
        let again = again::search(self.task, reference, self.target, self.run)?;
        let again = again.filter(|again| again.score >= self.target);
        again.map(|again| Ok(Trial { file: with_better_alpha(again.file, self.run)?, ..again })).transpose()
    }

    /// The picture in the coding of the outlook.
    fn anew(&self, outlook: &Outlook, reference: &Reference) -> Result<Trial> {
        let near = outlook.near.map(|from| self.near_lossless(from, slow(self.task), reference)).transpose()?;
        match near {
            Some(near) if !outlook.lossy => Ok(near),
            Some(near) => Ok(smaller(near, self.lossy(outlook, reference)?, self.target)),
            None => {
                let lossy = self.lossy(outlook, reference)?;
                if lossy.score >= self.target {
                    return Ok(lossy);
                }
                // Rare, and large in any coding: saturated detail, whose chroma lossy coding halves.
                self.near_lossless(least_exact(self.task), QUICK, reference)
            }
        }
    }

    /// Without loss, but in few colours, as a PNG would have them, where that may be smaller than `enough`: lossy coding smears drawings.
    #[cfg(feature = "png")]
    fn indexed(
        &self,
        outlook: &Outlook,
        reference: &Reference,
        sample: Option<&Sample>,
        enough: usize,
    ) -> Result<Option<Trial>> {
        if outlook.exact > INDEXED {
            return Ok(None);
        }
        let histogram = Histogram::new(self.task.picture, self.run)?;
        let found = png::few_colours(self.task, &histogram, reference, sample, self.target, self.run)?;
        let Some(found) = found else { return Ok(None) };
        let file = exact(self.task, &found.drawn.picture, enough, self.run)?;
        Ok(Some(Trial { knob: 100.0, score: found.score, file }))
    }

    /// The lowest quality that reaches the target, sought near that of the outlook and only then above.
    fn lossy(&self, outlook: &Outlook, reference: &Reference) -> Result<Trial> {
        let trial =
            |quality| self.trial(self.task.picture, reference, quality, &lossy(self.task, quality, outlook.sharp));
        let aim = self.aim(outlook.quality.clamp(0.0, 100.0));
        let trials = trials(self.task, 6);
        let high = (aim.first + FAR).min(aim.high);
        let found = solve(Aim { trials, high, slope: outlook.slope, ..aim }, trial)?;
        let found = match found.score >= self.target || found.knob >= aim.high {
            true => found,
            false => solve(Aim { trials: 4, low: found.knob, first: found.knob + FAR, ..aim }, trial)?,
        };
        Ok(Trial { file: with_better_alpha(found.file, self.run)?, ..found })
    }

    /// Looks at both codings of `picture`, whose scores are `bias` above those of the whole.
    fn outlook(&self, picture: &Picture, reference: &Reference, bias: f64) -> Result<Outlook> {
        let trial = |knob, options| self.trial(picture, reference, knob, &options);
        let aim = Aim {
            target: self.target + bias,
            slack: 1.0,
            step: 0.5,
            trials: 5,
            ..self.aim(first_quality(self.target))
        };
        let mut seen = Vec::new();
        let found = solve(aim, |quality| {
            let tried = trial(quality, lossy(self.task, quality, true))?;
            seen.push((quality, tried.score));
            Ok(tried)
        })?;
        let slope = slope_of(&seen, aim.slope, STEEPER);
        let reached = found.score >= aim.target;
        let plain = trial(found.knob, lossy(self.task, found.knob, false))?;
        let worth = (found.score - plain.score) * GROWTH;
        let sharp = found.file.len() as f64 * (1.0 - worth) < plain.file.len() as f64;
        let found = if sharp { found } else { plain };
        let quality = found.knob + (aim.target + slack(self.task) / 2.0 - found.score) / slope;
        let bytes = found.file.len() as f64;
        let exact = trial(100.0, lossless(100, QUICK))?;
        let outlook =
            Outlook { quality, slope, sharp, near: None, lossy: true, bytes, exact: exact.file.len() as f64 / bytes };
        if reached && exact.file.len() as f64 * LEAST_LEFT > bytes {
            return Ok(outlook);
        }
        let from = least_exact(self.task);
        let (at, near) = first_near(exact, aim.target, from, |level| trial(level.into(), lossless(level, QUICK)))?;
        let near = near.file.len() as f64;
        let may_win = !reached || near * LEAST_LEFT_SLOW <= bytes;
        let lossy = reached && near > bytes * LEAST_LEFT_SLOW;
        let bytes = if lossy { bytes } else { near };
        Ok(Outlook { near: may_win.then_some(at), lossy, bytes, ..outlook })
    }

    /// The lossless coding with the most preprocessing that leaves the target's score.
    fn near_lossless(&self, from: usize, coding: (u8, u8), reference: &Reference) -> Result<Trial> {
        let trial = |level: u8| self.trial(self.task.picture, reference, level.into(), &lossless(level, coding));
        for &level in &NEAR_LOSSLESS[from..] {
            let near = trial(level)?;
            if near.score >= self.target {
                return Ok(near);
            }
        }
        trial(100)
    }

    fn trial(&self, picture: &Picture, reference: &Reference, knob: f64, options: &EncodeOptions) -> Result<Trial> {
        probe::trial(self.task, picture, reference, knob, options, self.run)
    }

    fn aim(&self, first: f64) -> Aim {
        let slope = if self.target >= 85.0 { 0.8 } else { 0.5 };
        Aim { target: self.target, slack: slack(self.task), low: 0.0, high: 100.0, first, slope, step: 0.1, trials: 1 }
    }
}

fn is_large(task: &Task<'_>) -> bool {
    task.picture.layout().pixels() >= LARGE
}

/// How many trials of the whole there may be, of the `usual` ones.
fn trials(task: &Task<'_>, usual: u32) -> u32 {
    if is_large(task) { usual.min(3) } else { usual }
}

fn slack(task: &Task<'_>) -> f64 {
    if is_large(task) { 2.0 * SLACK } else { SLACK }
}

/// The quality that reaches a target in the median.
pub(super) fn first_quality(target: f64) -> f64 {
    [(90.0, 95.0), (80.0, 82.0)].iter().find(|(from, _)| target >= *from).map_or(66.0, |(_, quality)| *quality)
}

/// The first unless the second reaches the target with fewer bytes.
fn smaller(first: Trial, second: Trial, target: f64) -> Trial {
    if second.score >= target && second.file.len() < first.file.len() { second } else { first }
}

/// The place in [`NEAR_LOSSLESS`], not before `from`, of the most preprocessing that reaches the target, and what it gave; that of none where
/// preprocessing spoils the repetition that some graphics live on.
fn first_near(exact: Trial, target: f64, from: usize, trial: impl Fn(u8) -> Result<Trial>) -> Result<(usize, Trial)> {
    for (at, &level) in NEAR_LOSSLESS[..EXACT].iter().enumerate().skip(from) {
        let near = trial(level)?;
        if near.score >= target {
            return Ok(if near.file.len() < exact.file.len() { (at, near) } else { (EXACT, exact) });
        }
    }
    Ok((EXACT, exact))
}
