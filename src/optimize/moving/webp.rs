//! Animated WebP: frames lossy or lossless, whichever is smaller; or none lossy, but in few colours or with the errors of a GIF; or the
//! source's own coefficients, coarser.

#[cfg(feature = "gif")]
use super::repainted::Repainted;
use super::{Moving, Scores, Viewed, clip::Clip, compare};
use crate::{
    codec::{DecodeOptions, EncodeOptions, WebpCoding, WebpOptions, webp::LossyAnimation},
    control::{Run, Stage},
    error::{Error, Result},
    optimize::{
        Goal, Optimised,
        search::{Aim, Trial, slope_of, solve, solve_while},
        shortfall,
        webp::{GROWTH, ULTRA, again, first_quality},
    },
    picture::Frames,
};

/// How far above its target a result may score before it is encoded again.
const SLACK: f64 = 0.7;
/// Pixels of all frames that are encoded while searching, and the least number of these frames.
const SAMPLE: (u64, u32) = (3_000_000, 4);
/// How hard the encoder tries with a sample.
const SAMPLE_METHOD: u8 = 4;
/// Frames that are compared before all are.
const SHOTS: u32 = 12;
/// Corrections once all frames were compared.
const CORRECTIONS: u32 = 3;
/// Of how many times the bytes of a lossy file one without loss takes its place: what was drawn by a program loses thin lines and
/// smears its letters for next to nothing.
const EXACT: f64 = 1.08;
/// How a sample is coded without loss, and of how many times the bytes that come of it the rest is hopeless.
const GLANCE: (u8, u8, f64) = (1, 25, 1.4);
/// Of how many times the bytes of a lossy sample one without loss may be so that errors as of a GIF can make it smaller, or few
/// colours; and one with either, so that all frames are worth it.
const TRADED: f64 = 1.6;
const FEW: f64 = 4.5;
const WORTH: f64 = 1.1;
/// Of how many times the bytes of a sample by another way one with such errors leaves nothing to seek there.
const SURE: f64 = 0.9;
/// Bytes of a file, or pixels of all frames, that take long to write: what may not serve is tried with less first.
const LARGE: usize = 1_000_000;
const LONG: u64 = 16_000_000;
/// Trials of all frames, of long animations and of others.
const TRIALS: (u32, u32) = (3, 5);
/// [`SLACK`] of long animations.
const LONG_SLACK: f64 = 1.5;
/// How many times more or less than usual the score may change with a knob.
const STEEPER: f64 = 4.0;
/// A sample of so many times the bytes of another way is not worth encoding whole, nor trying in other styles.
const HOPELESS: f64 = 1.12;
/// The same for all frames, whose score is known.
const TOO_MUCH: f64 = 1.04;

pub(super) fn optimise(frames: &mut dyn Frames, task: &Moving<'_>, run: Run<'_>) -> Result<Optimised> {
    let fixed = |frames: &mut dyn Frames, quality: f64| {
        let bytes = encode(frames, task, &Style::USUAL.options(quality), run)?;
        let score = compared(frames, task, &bytes, run)?.mean;
        Ok(Optimised { bytes, score, warnings: Vec::new() })
    };
    match task.goal {
        Goal::Lossless => {
            let bytes = encode(frames, task, &WebpOptions::lossless(), run)?;
            Ok(Optimised { bytes, score: 100.0, warnings: Vec::new() })
        }
        Goal::Quality(quality) => fixed(frames, quality.into()),
        Goal::Smart(preset) => match preset.target_of(frames.layout()) {
            Some(target) => Search { task, target, run }.best(frames),
            None => fixed(frames, ULTRA),
        },
    }
}

/// What is sought beside the quality.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Style {
    /// Sharp conversion to YUV. It is worth its bytes unless chroma was halved before.
    sharp: bool,
    /// Tolerance as a multiple of the usual one of the quality.
    stillness: u16,
}

impl Style {
    const USUAL: Self = Self { sharp: true, stillness: 1 };
    /// Steps to other styles, each tried on top of the best before it.
    const STEPS: [fn(Self) -> Self; 4] = [
        |style| Self { sharp: false, ..style },
        |style| Self { stillness: 0, ..style },
        |style| Self { stillness: style.stillness * 3, ..style },
        |style| Self { stillness: style.stillness * 3, ..style },
    ];

    fn options(self, quality: f64) -> WebpOptions {
        let mut options = WebpOptions::lossy(quality as f32);
        if let WebpCoding::Lossy { sharp_yuv, .. } = &mut options.coding {
            *sharp_yuv = self.sharp;
        }
        options.tolerance = options.tolerance.saturating_mul(self.stillness);
        options
    }
}

/// How a sample is coded without loss.
fn glance() -> WebpOptions {
    let (method, effort, _) = GLANCE;
    let coding = WebpCoding::Lossless { near_lossless: 100, exact: true, effort };
    WebpOptions { coding, method, tolerance: 0 }
}

fn encode(frames: &mut dyn Frames, task: &Moving<'_>, options: &WebpOptions, run: Run<'_>) -> Result<Vec<u8>> {
    run.check()?;
    frames.restart()?;
    task.codecs.encode(frames, &EncodeOptions::Webp(options.clone()), run)
}

fn compared(frames: &mut dyn Frames, task: &Moving<'_>, bytes: &[u8], run: Run<'_>) -> Result<Scores> {
    let mut decoded = task.codecs.frames(task.format, bytes, &DecodeOptions::default(), run)?;
    Ok(Scores::of(&compare(frames, &mut *decoded, run)?))
}

/// An animation that was compared.
struct File {
    bytes: Vec<u8>,
    /// Mean score of its frames.
    mean: f64,
}

fn tried(knob: f64, scores: Scores, bytes: Vec<u8>) -> Trial<File> {
    Trial { knob, score: scores.overall(), file: File { bytes, mean: scores.mean } }
}

struct Search<'a> {
    task: &'a Moving<'a>,
    target: f64,
    run: Run<'a>,
}

/// What a look at a sample of frames says.
struct Outlook {
    style: Style,
    /// The quality to begin with.
    quality: f64,
    /// About how many bytes all frames will take, and without loss.
    bytes: f64,
    exact: f64,
}

/// What lossy frames, and others without loss, have to be smaller than.
#[derive(Debug, Clone, Copy)]
struct Rival {
    bytes: f64,
    /// The same as an [`Outlook`] has it.
    foretold: f64,
}

impl Rival {
    const NONE: Self = Self { bytes: f64::INFINITY, foretold: f64::INFINITY };

    /// The less of both.
    fn or(self, other: Self) -> Self {
        Self { bytes: self.bytes.min(other.bytes), foretold: self.foretold.min(other.foretold) }
    }
}

/// A way to code frames without loss, but for errors made before.
type Way = fn(&Search<'_>, &mut dyn Frames, &WebpOptions) -> Result<Option<Trial<File>>>;

/// Those for what a program has drawn, and of how many times the bytes of a lossy sample one without loss may be.
const DRAWN: &[(f64, Way)] = &[
    #[cfg(feature = "gif")]
    (TRADED, |search, frames, lossless| search.traded(frames, lossless)),
    #[cfg(feature = "png")]
    (FEW, |search, frames, lossless| search.few(frames, lossless)),
];

impl Search<'_> {
    fn best(&self, frames: &mut dyn Frames) -> Result<Optimised> {
        let viewed = Viewed::new(frames, self.task.count, SHOTS, None, self.run)?;
        let again = self.again(frames, &viewed)?;
        self.run.control.stage(Stage::Optimise, 0.45);
        let most = again.as_ref().map_or(f64::INFINITY, |again| again.file.bytes.len() as f64 * HOPELESS);
        let outlook = self.outlook(frames, most)?;
        self.run.control.stage(Stage::Encode, 0.6);
        let (mut ways, mut rival) = (Vec::from_iter(again), Rival::NONE);
        for (most, way) in DRAWN {
            if outlook.exact <= most * outlook.bytes
                && let Some((found, foretold)) = self.drawn(frames, &outlook, rival, *way)?
            {
                rival = rival.or(Rival { bytes: found.file.bytes.len() as f64, foretold });
                ways.push(found);
            }
        }
        let serves = outlook.bytes <= most && rival.foretold > SURE * outlook.bytes;
        ways.extend(serves.then(|| self.anew(frames, &viewed, &outlook, rival)).transpose()?.flatten());
        let best = ways.into_iter().reduce(|best, other| smaller(best, other, self.target));
        let best = best.ok_or_else(|| Error::internal("searching an animation", "there was nothing to try"))?;
        let warnings = shortfall(best.score, self.task.goal).into_iter().collect();
        Ok(Optimised { bytes: best.file.bytes, score: best.file.mean, warnings })
    }

    /// The source's own coefficients, coarser; `None` where it has none.
    fn again(&self, frames: &mut dyn Frames, viewed: &Viewed) -> Result<Option<Trial<File>>> {
        let Some(stored) = self.task.stored else { return Ok(None) };
        let Some(source) = LossyAnimation::parse(stored, self.run)? else { return Ok(None) };
        let (slack, trials) = self.patience(frames);
        let aim = Aim { trials, ..again::aim(self.target, slack) };
        let file = |_: &mut dyn Frames, knob| source.coarser(again::worth(knob), self.run);
        match self.solved(frames, viewed, (aim, f64::INFINITY), None, file) {
            Ok(found) => Ok(found.filter(|found| found.score >= self.target)),
            // The source itself was decoded before.
            Err(Error::Input { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Some frames, for searching.
    fn sample<'f>(&self, frames: &'f mut dyn Frames) -> Clip<'f> {
        let (pixels, least) = SAMPLE;
        let fit = (pixels / frames.layout().pixels().max(1)).clamp(least.into(), u32::MAX.into()) as u32;
        let (length, one_of) = ((fit / 4).clamp(2, 8), self.task.count.div_ceil(fit).max(1));
        Clip::periodic(frames, self.task.count, length, length * one_of)
    }

    /// About the bytes of all frames where `count` of them take so many.
    fn of_all(&self, bytes: usize, count: u32) -> f64 {
        bytes as f64 * f64::from(self.task.count) / f64::from(count)
    }

    /// Looks for the style and quality of a sample of frames; in vain where all of them would take more than `most` bytes.
    fn outlook(&self, frames: &mut dyn Frames, most: f64) -> Result<Outlook> {
        let mut sample = self.sample(frames);
        let count = sample.count;
        let viewed = Viewed::new(&mut sample, count, count, None, self.run)?;
        let mut trial = |style: Style, knob: f64| {
            let options = WebpOptions { method: SAMPLE_METHOD, ..style.options(knob) };
            self.seen(&viewed, knob, encode(&mut sample, self.task, &options, self.run)?)
        };
        let aim = Aim { slack: 1.0, step: 0.5, trials: 4, ..self.aim(first_quality(self.target)) };
        let mut style = Style::USUAL;
        let mut best = solve(aim, |quality| trial(style, quality))?;
        let mut known = vec![style];
        for step in Style::STEPS {
            let other = step(style);
            if known.contains(&other) || self.of_all(best.file.bytes.len(), count) > most {
                continue;
            }
            known.push(other);
            // At the same quality first, then at the same score.
            let glance = trial(other, best.knob)?;
            let missing = (best.score - glance.score).max(0.0);
            if glance.file.bytes.len() as f64 * (1.0 + missing * GROWTH) < best.file.bytes.len() as f64 {
                let first = best.knob + missing / aim.slope;
                let found = solve(Aim { first, trials: 3, ..aim }, |quality| trial(other, quality))?;
                if found.score >= self.target.min(best.score) && found.file.bytes.len() < best.file.bytes.len() {
                    (style, best) = (other, found);
                }
            }
        }
        let exact = encode(&mut sample, self.task, &glance(), self.run)?.len();
        let quality = best.knob + (self.target + SLACK / 2.0 - best.score) / aim.slope;
        let bytes = self.of_all(best.file.bytes.len(), count);
        Ok(Outlook { style, quality, bytes, exact: self.of_all(exact, count) })
    }

    /// The lowest quality that reaches the target, or no loss if none does or that takes hardly more; `None` where neither is
    /// likely to be smaller than the `rival`.
    fn anew(
        &self,
        frames: &mut dyn Frames,
        viewed: &Viewed,
        outlook: &Outlook,
        rival: Rival,
    ) -> Result<Option<Trial<File>>> {
        let (slack, trials) = self.patience(frames);
        let aim = Aim { slack, trials, ..self.aim(outlook.quality.clamp(0.0, 100.0)) };
        let lossless = |frames: &mut dyn Frames| encode(frames, self.task, &WebpOptions::lossless(), self.run);
        let file = |frames: &mut dyn Frames, knob| encode(frames, self.task, &outlook.style.options(knob), self.run);
        let exact = |bytes| Trial { knob: aim.high, score: 100.0, file: File { bytes, mean: 100.0 } };
        // Lossy coding halves the chroma of saturated detail.
        let most = |bytes: f64| bytes * EXACT;
        let hopeless = |bytes: f64| outlook.exact > most(bytes) * GLANCE.2;
        let may_be_exact = rival.foretold > SURE * outlook.exact;
        let (mut whole, mut first) = (None, None);
        if may_be_exact && outlook.exact > LARGE as f64 && !hopeless(outlook.bytes) {
            let bytes = lossless(frames)?;
            let tried = self.seen(viewed, aim.first, file(frames, aim.first)?)?;
            if bytes.len() > LARGE && bytes.len() as f64 <= most(self.expected(&tried)) {
                return Ok(Some(exact(bytes)));
            }
            (whole, first) = (Some(bytes), Some(tried));
        }
        let found = self.solved(frames, viewed, (aim, rival.bytes), first, file)?;
        let found = found.filter(|found| found.score >= self.target);
        let bytes = match whole {
            Some(bytes) => bytes,
            None if !may_be_exact => return Ok(found),
            None if found.as_ref().is_some_and(|found| hopeless(found.file.bytes.len() as f64)) => return Ok(found),
            None => lossless(frames)?,
        };
        let found = found.filter(|found| bytes.len() as f64 > most(found.file.bytes.len() as f64));
        Ok(Some(found.unwrap_or_else(|| exact(bytes))))
    }

    /// About the bytes with which a file would score what is sought.
    fn expected(&self, tried: &Trial<File>) -> f64 {
        tried.file.bytes.len() as f64 * (1.0 + (self.target - tried.score) * GROWTH)
    }

    /// What one of [`DRAWN`] comes to, and by a sample of frames that are many or large; `None` where it does not
    /// reach the target, or is not likely to be smaller than others.
    fn drawn(
        &self,
        frames: &mut dyn Frames,
        outlook: &Outlook,
        rival: Rival,
        way: Way,
    ) -> Result<Option<(Trial<File>, f64)>> {
        let mut foretold = None;
        if outlook.bytes > LARGE as f64 || self.is_long(frames) {
            let mut sample = self.sample(frames);
            let task = &Moving { count: sample.count, ..*self.task };
            let Some(found) = way(&Search { task, ..*self }, &mut sample, &glance())? else { return Ok(None) };
            let bytes = self.of_all(found.file.bytes.len(), task.count);
            if bytes > WORTH * outlook.bytes.min(rival.foretold) {
                return Ok(None);
            }
            foretold = Some(bytes);
        }
        let found = way(self, frames, &WebpOptions::lossless())?;
        Ok(found.map(|found| {
            let bytes = found.file.bytes.len() as f64;
            (found, foretold.unwrap_or(bytes))
        }))
    }

    /// Without loss, but with the errors of a GIF that reaches the target, where that may be smaller: what few colours draw is
    /// smeared by lossy coding, while phrases that repeat are as good for lossless coding as they are for GIF.
    #[cfg(feature = "gif")]
    fn traded(&self, frames: &mut dyn Frames, lossless: &WebpOptions) -> Result<Option<Trial<File>>> {
        let Some(found) = super::gif::paced(frames, self.task, self.target, self.run)? else { return Ok(None) };
        let (gif, mean) = found.file;
        let mut frames = Repainted::new(frames, &gif, self.task.codecs, self.run)?;
        let bytes = encode(&mut frames, self.task, lossless, self.run)?;
        Ok(Some(Trial { knob: found.knob, score: found.score, file: File { bytes, mean } }))
    }

    /// Without loss, but in the colours of one palette, as an APNG has them: what a program has drawn has few, and what is half
    /// transparent can be in no GIF.
    #[cfg(feature = "png")]
    fn few(&self, frames: &mut dyn Frames, lossless: &WebpOptions) -> Result<Option<Trial<File>>> {
        let file = |frames: &mut dyn Frames| encode(frames, self.task, lossless, self.run);
        let few = super::apng::in_few_colours(frames, self.task, self.target, self.run, file)?;
        Ok(few.map(|(bytes, scores)| tried(self.target, scores, bytes)))
    }

    /// Compares some frames.
    fn seen(&self, viewed: &Viewed, knob: f64, bytes: Vec<u8>) -> Result<Trial<File>> {
        let scores = viewed.score(&mut *self.decoded(&bytes)?, self.run)?;
        Ok(tried(knob, scores, bytes))
    }

    /// Seeks the knob with which `file` reaches the target, `first` tried already: by some frames, then by all, as long as these
    /// miss it. `None` as soon as it would take more than `most` bytes.
    fn solved(
        &self,
        frames: &mut dyn Frames,
        viewed: &Viewed,
        (aim, most): (Aim, f64),
        mut first: Option<Trial<File>>,
        file: impl Fn(&mut dyn Frames, f64) -> Result<Vec<u8>>,
    ) -> Result<Option<Trial<File>>> {
        let mut known: Vec<(f64, f64)> = Vec::new();
        let found = solve_while(aim, |knob| {
            let tried = match first.take() {
                Some(tried) => tried,
                None => self.seen(viewed, knob, file(frames, knob)?)?,
            };
            known.push((tried.knob, tried.score));
            Ok(Some(tried).filter(|tried| self.expected(tried) <= TOO_MUCH * most))
        })?;
        let Some(found) = found else { return Ok(None) };
        let slope = slope_of(&known, aim.slope, STEEPER).max(aim.slope);
        let mut found = self.compared(frames, found.knob, found.file.bytes)?;
        for _ in 0..CORRECTIONS {
            if found.score >= self.target || found.knob >= aim.high {
                break;
            }
            let knob = (found.knob + (self.target + SLACK / 2.0 - found.score) / slope).min(aim.high);
            let bytes = file(frames, knob)?;
            found = self.compared(frames, knob, bytes)?;
        }
        Ok(Some(found))
    }

    fn compared(&self, frames: &mut dyn Frames, knob: f64, bytes: Vec<u8>) -> Result<Trial<File>> {
        let scores = compared(frames, self.task, &bytes, self.run)?;
        Ok(tried(knob, scores, bytes))
    }

    fn decoded<'f>(&'f self, file: &'f [u8]) -> Result<Box<dyn Frames + 'f>> {
        self.task.codecs.frames(self.task.format, file, &DecodeOptions::default(), self.run)
    }

    fn is_long(&self, frames: &dyn Frames) -> bool {
        frames.layout().pixels() * u64::from(self.task.count) > LONG
    }

    /// How far above the target a search may end, and its trials.
    fn patience(&self, frames: &dyn Frames) -> (f64, u32) {
        if self.is_long(frames) { (LONG_SLACK, TRIALS.0) } else { (SLACK, TRIALS.1) }
    }

    fn aim(&self, first: f64) -> Aim {
        let slope = if self.target >= 85.0 { 0.8 } else { 0.5 };
        Aim { target: self.target, slack: SLACK, low: 0.0, high: 100.0, first, slope, step: 0.1, trials: 1 }
    }
}

/// The first unless the second reaches the target with fewer bytes.
fn smaller(first: Trial<File>, second: Trial<File>, target: f64) -> Trial<File> {
    if second.score >= target && second.file.bytes.len() < first.file.bytes.len() { second } else { first }
}
