//! GIF: small errors that spare bits, as many as the target allows.

use std::collections::BTreeMap;

use super::{
    Moving, Scores, Viewed,
    care::Care,
    clip::Clip,
    quantised::{Bilevel, Palettes, Quantised, shared},
    viewed::{LEAST_FRAME, compare},
};
use crate::{
    codec::{DecodeOptions, EncodeOptions, GifOptions, gif::Timed},
    control::{Run, Stage},
    error::{Error, Result},
    format::Format,
    optimize::{
        Goal, Optimised,
        palette::Palette,
        search::{Aim, Trial, slope_of, solve, solve_while},
        shortfall,
    },
    picture::Frames,
};

/// The coarsest loss, and the steps to an octave less of it. The knob that is solved for counts steps from there.
const COARSEST: f32 = 512.0;
const STEPS: [f32; 16] = [
    1.0,
    0.957_603_3,
    0.917_004,
    0.878_126_1,
    0.840_896_4,
    0.805_245_2,
    0.771_105_4,
    0.738_413_1,
    0.707_106_77,
    0.677_127_8,
    0.648_419_8,
    0.620_928_9,
    0.594_603_54,
    0.569_394_3,
    0.545_253_9,
    0.522_136_9,
];
const FINEST: f64 = 176.0;
/// The score gained by a step, in the median, and how many times more or less it may be.
const SLOPE: f64 = 0.46;
const STEEPER: f64 = 2.0;
/// The step that scores 80 in the median.
const FIRST: f64 = 70.0;
/// The step with which `ultra` scores about 50 in the median.
const ULTRA: f64 = 35.0;
/// How far above the target a search may end: at least so far, farther where a clip tells that it costs no more than this share
/// of the bytes, and at most so far.
const SLACK: f64 = 0.6;
const SPARED: f64 = 0.01;
const MOST_SLACK: f64 = 2.0;
/// The share of the bytes that a point above the target is worth, where it was come by.
const WORTH: f64 = 0.003;
/// How far a clip's score may lie from the middle of that.
const CLIP_SLACK: f64 = 0.75;
/// Bytes of a file that takes long to write: the search for it may end as far above the target as any, and it is not looked at
/// again.
const LARGE: usize = 2_000_000;
/// Nothing is flat where more than a byte is spent on so many pixels; bytes up to which that is not asked.
const DETAILED: u64 = 6;
const SMALL: usize = 20_000;
/// How far above the target the mean lies where single frames hold up the others, and the share of the bytes that all frames
/// with a lower knob must spare for that to be mended.
const HELD_UP: f64 = 5.0;
const MENDED: f64 = 0.08;
/// Files that are written at most with one knob for most, because frames fall short with knobs of their own.
const CORRECTIONS: u32 = 3;
/// Files that are written at most, as long as one of them comes close: behind a clip, of one or with other frames held up, and
/// without one.
const TRIALS: [u32; 3] = [2, 3, 5];
/// Pixels that the frames of a clip may have together, frames of each of its stretches, and stretches.
const CLIP: (u64, u32, u32) = (6_000_000, 8, 3);
/// Frames of each of its stretches that are looked at before, and about the bytes that a clip may come to.
const SKETCHED: u32 = 2;
const CLIP_BYTES: usize = 400_000;
/// Frames of a clip that are compared.
const COMPARED: u32 = 12;

pub(super) fn optimise(frames: &mut dyn Frames, task: &Moving<'_>, run: Run<'_>) -> Result<Optimised> {
    match (anew(&mut Timed::new(frames), task, run), task.stored) {
        // Frames that clear or restore can show what no frame drawn over the one before can.
        (Err(Error::Unsupported { .. }), Some(stored)) => {
            let bytes = task.codecs.recompress(Format::Gif, stored, false, run)?;
            Ok(Optimised { bytes, score: 100.0, warnings: Vec::new() })
        }
        (result, _) => result,
    }
}

/// A GIF of the frames, shown for as long each, that reaches `target`, as another format codes well what GIF does; `None` where
/// it cannot.
#[cfg(feature = "webp")]
pub(super) fn paced(frames: &mut dyn Frames, task: &Moving<'_>, target: f64, run: Run<'_>) -> Result<Option<Found>> {
    let frames = &mut super::repainted::Paced(frames);
    let (shared, translucent) = shared(frames, run)?;
    if translucent {
        return Ok(None);
    }
    let task = &Moving { format: Format::Gif, stored: None, ..*task };
    match (Writer { task, run, shared, translucent }).found(frames, target) {
        Ok(found) => Ok(Some(found).filter(|found| found.score >= target)),
        Err(Error::Unsupported { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn anew(frames: &mut dyn Frames, task: &Moving<'_>, run: Run<'_>) -> Result<Optimised> {
    let as_stored = task.stored.is_some();
    let (shared, translucent) = if as_stored { (None, false) } else { shared(frames, run)? };
    let writer = Writer { task, run, shared, translucent };
    // What a GIF cannot hold is told of, and kept out of the score, which no setting could mend.
    let mut bilevel;
    let frames: &mut dyn Frames = if translucent {
        bilevel = Bilevel(frames);
        &mut bilevel
    } else {
        frames
    };
    match task.goal {
        Goal::Lossless | Goal::Quality(100) => writer.finished(frames, 0.0),
        Goal::Quality(quality) => writer.finished(frames, loss(f64::from(quality) * FINEST / 100.0)),
        Goal::Smart(preset) => match preset.target_of(frames.layout()) {
            Some(target) => writer.search(frames, target),
            None => writer.finished(frames, loss(ULTRA)),
        },
    }
}

/// The loss of so many steps from the coarsest; none at the finest.
fn loss(knob: f64) -> f32 {
    let steps = knob.clamp(0.0, FINEST).round() as usize;
    if steps as f64 >= FINEST {
        return 0.0;
    }
    COARSEST * STEPS[steps % STEPS.len()] / (1u32 << (steps / STEPS.len())) as f32
}

/// What is sought.
fn aim(target: f64) -> Aim {
    let first = FIRST + (target - 80.0) / SLOPE;
    Aim { target, slack: SLACK, low: 0.0, high: FINEST, first, slope: SLOPE, step: 1.0, trials: TRIALS[2] }
}

/// How far above the target the search may end, by the last two trials of a clip.
fn slack(tried: &[Trial<usize>]) -> f64 {
    match tried {
        [.., one, other] if one.score != other.score => {
            let [bytes, less] = [one.file, other.file].map(|bytes| bytes as f64);
            let share = (bytes - less) / f64::midpoint(bytes, less) / (one.score - other.score);
            if share > 0.0 { (SPARED / share).clamp(SLACK, MOST_SLACK) } else { MOST_SLACK }
        }
        _ => SLACK,
    }
}

fn trial<T>(knob: f64, scores: Scores, file: T) -> Trial<T> {
    Trial { knob: knob.round(), score: scores.overall(), file }
}

/// A file and the mean score of its frames.
pub(super) type Found = Trial<(Vec<u8>, f64)>;

/// Bytes, and those that what is seen is worth: a higher knob may need fewer, or hardly more for much.
fn price(Trial { file: (bytes, mean), .. }: &Found) -> f64 {
    bytes.len() as f64 * (1.0 + WORTH * (100.0 - mean))
}

struct Writer<'a> {
    task: &'a Moving<'a>,
    run: Run<'a>,
    /// A palette, where frames have more colours than a table.
    shared: Option<Palette>,
    /// Frames have pixels that are neither opaque nor transparent.
    translucent: bool,
}

impl Writer<'_> {
    fn search(&self, frames: &mut dyn Frames, target: f64) -> Result<Optimised> {
        let found = self.found(frames, target)?;
        let (file, score) = found.file;
        match found.score >= target {
            true => Ok(Optimised { bytes: self.squeezed(frames, file)?, score, warnings: self.hardened() }),
            false => {
                let warnings = self.missing().into_iter().chain(shortfall(score, self.task.goal)).collect();
                Ok(Optimised { bytes: file, score, warnings })
            }
        }
    }

    /// The smallest file that reaches `target` in the mean and in every frame about so.
    fn found(&self, frames: &mut dyn Frames, target: f64) -> Result<Found> {
        let usual = aim(target);
        let aim = self.outlook(frames, usual)?.unwrap_or(usual);
        self.run.control.stage(Stage::Encode, 0.6);
        let (mut palettes, mut care) = (self.palettes(), Care::new(target - LEAST_FRAME));
        let (mut best, mut lowest): (Option<Found>, Option<Trial<f64>>) = (None, None);
        solve_while(aim, |knob| {
            let (tried, scores) = self.compared(frames, knob, &BTreeMap::new(), palettes.as_mut())?;
            care.tried(tried.knob, true, scores);
            let outcome = Trial { knob: tried.knob, score: tried.score, file: tried.file.1 };
            let reaches = tried.score >= target;
            if reaches && lowest.as_ref().is_none_or(|lowest| tried.knob < lowest.knob) {
                lowest = Some(outcome.clone());
            }
            let rank = |found: &Found| match found.score >= target {
                true => (true, -price(found)),
                false => (false, found.score),
            };
            let is_lower = best.as_ref().is_some_and(|best| tried.knob <= best.knob);
            let is_better = best.as_ref().is_none_or(|best| rank(&tried) > rank(best));
            if is_better {
                best = Some(tried);
            }
            // From some loss on more of it spares nothing, however far the score is above the target.
            let in_vain = reaches && is_lower && !is_better;
            Ok((!in_vain).then_some(outcome))
        })?;
        let best = best.ok_or_else(|| Error::internal("searching a loss", "a trial is missing"))?;
        // With colours of a palette for all frames, a frame that is drawn again needs more than a table has.
        match lowest.filter(|lowest| lowest.file > target + HELD_UP && palettes.is_none()) {
            Some(lowest) => self.relieved(frames, best, lowest.knob, care, usual),
            None => Ok(best),
        }
    }

    /// The smallest file in which the frames that hold up the others have knobs of their own, or the one found.
    fn relieved(
        &self,
        frames: &mut dyn Frames,
        mut best: Found,
        high: f64,
        mut care: Care,
        usual: Aim,
    ) -> Result<Found> {
        let target = usual.target;
        let first = care.mean_reaches(target, SLOPE).clamp(usual.low, high);
        let (uniform, scores) = self.compared(frames, first, &BTreeMap::new(), None)?;
        if uniform.file.0.len() as f64 > best.file.0.len() as f64 * (1.0 - MENDED) {
            return Ok(best);
        }
        care.tried(uniform.knob, true, scores);
        let first = care.mean_reaches(target, SLOPE);
        let aim = Aim { first, high, trials: TRIALS[1], ..usual };
        solve(aim, |knob| {
            let mut own = care.above(knob);
            let mut score = f64::NEG_INFINITY;
            for _ in 0..CORRECTIONS {
                let (tried, scores) = self.compared(frames, knob, &own, None)?;
                let (mean, enough) = (tried.file.1, tried.score >= target);
                // Where a frame falls short, all take a higher knob.
                score = if enough { mean } else { mean.min(target - 1.0) };
                if enough && price(&tried) < price(&best) {
                    best = tried;
                }
                care.tried(knob.round(), own.is_empty(), scores);
                let before = std::mem::replace(&mut own, care.above(knob));
                if mean < target || enough || own == before {
                    break;
                }
            }
            Ok(Trial { knob: knob.round(), score, file: () })
        })?;
        Ok(best)
    }

    /// All frames with `knob`, but for those that have one of their own, and their scores.
    fn compared(
        &self,
        frames: &mut dyn Frames,
        knob: f64,
        own: &BTreeMap<u32, f64>,
        palettes: Option<&mut Palettes>,
    ) -> Result<(Found, Vec<f64>)> {
        let less = own.iter().map(|(&frame, &knob)| (frame, loss(knob))).collect();
        let file = self.written(frames, GifOptions { loss: loss(knob), less }, palettes)?;
        let scores = self.scores(frames, &file)?;
        let of_all = Scores::of(&scores);
        Ok((trial(knob, of_all, (file, of_all.mean)), scores))
    }

    /// What to seek behind a search in a clip of the frames; `None` where that would be all of them, or tells nothing.
    fn outlook(&self, frames: &mut dyn Frames, aim: Aim) -> Result<Option<Aim>> {
        let (pixels, most, stretches) = CLIP;
        let fit = pixels / frames.layout().pixels().max(1) / u64::from(stretches);
        let mut length = fit.clamp(SKETCHED.into(), most.into()) as u32;
        if self.task.count <= length * stretches {
            return Ok(None);
        }
        let middle = aim.target + aim.slack / 2.0;
        let mut near = Aim { target: middle - CLIP_SLACK, slack: 2.0 * CLIP_SLACK, trials: TRIALS[1], ..aim };
        if length > SKETCHED {
            // Few frames tell where to begin, and what a trial of more will take.
            let mut sketch = self.clipped(frames, SKETCHED)?;
            let Some(Trial { knob, score, file }) = sketch.trial(aim.first)? else { return Ok(None) };
            near.first = knob + (middle - score) / aim.slope;
            length = length.min((CLIP_BYTES * SKETCHED as usize / file.max(1)).max(SKETCHED as usize) as u32);
        }
        let mut clip = self.clipped(frames, length)?;
        let mut tried: Vec<Trial<usize>> = Vec::new();
        let found = solve_while(near, |knob| {
            let trial = clip.trial(knob)?;
            tried.extend(trial.clone());
            Ok(trial)
        })?;
        let Some(found) = found else { return Ok(Some(Aim { first: near.first, ..aim })) };
        let curve: Vec<_> = tried.iter().map(|trial| (trial.knob, trial.score)).collect();
        let slope = slope_of(&curve, SLOPE, STEEPER);
        let large = found.file as u64 * u64::from(self.task.count) / u64::from(clip.frames.count) > LARGE as u64;
        let slack = if large { MOST_SLACK } else { slack(&tried) };
        let first = found.knob + (aim.target + slack / 2.0 - found.score) / slope;
        Ok(Some(Aim { first, slope, slack, trials: TRIALS[0], ..aim }))
    }

    /// The frames of a clip, `length` of each of its stretches, to be tried.
    fn clipped<'f>(&'f self, frames: &'f mut dyn Frames, length: u32) -> Result<Clipped<'f>> {
        let mut frames = Clip::spread(frames, self.task.count, length, CLIP.2);
        let count = frames.count;
        let viewed = Viewed::new(&mut frames, count, COMPARED, None, self.run)?;
        Ok(Clipped { writer: self, frames, viewed, palettes: self.palettes() })
    }

    /// For one way through the frames, or many.
    fn palettes(&self) -> Option<Palettes> {
        self.shared.clone().map(Palettes::new)
    }

    fn written(
        &self,
        frames: &mut dyn Frames,
        options: GifOptions,
        palettes: Option<&mut Palettes>,
    ) -> Result<Vec<u8>> {
        let options = EncodeOptions::Gif(options);
        match palettes {
            Some(palettes) => {
                let mut frames = Quantised::new(frames, palettes);
                frames.restart()?;
                self.task.codecs.encode(&mut frames, &options, self.run)
            }
            None => {
                frames.restart()?;
                self.task.codecs.encode(frames, &options, self.run)
            }
        }
    }

    fn decoded<'b>(&'b self, file: &'b [u8]) -> Result<Box<dyn Frames + 'b>> {
        self.task.codecs.frames(Format::Gif, file, &DecodeOptions::default(), self.run)
    }

    fn scores(&self, frames: &mut dyn Frames, file: &[u8]) -> Result<Vec<f64>> {
        compare(frames, &mut *self.decoded(file)?, self.run)
    }

    /// The whole with a loss that is not searched.
    fn finished(&self, frames: &mut dyn Frames, loss: f32) -> Result<Optimised> {
        let bytes = self.written(frames, GifOptions::new(loss), self.palettes().as_mut())?;
        let bytes = if loss > 0.0 { self.squeezed(frames, bytes)? } else { bytes };
        let exact = loss <= 0.0 && self.task.stored.is_some();
        let score = if exact { 100.0 } else { Scores::of(&self.scores(frames, &bytes)?).mean };
        let warnings = if loss <= 0.0 { self.missing() } else { self.hardened() };
        Ok(Optimised { bytes, score, warnings })
    }

    /// What to say of a file that should show the frames without loss.
    fn missing(&self) -> Vec<String> {
        let many = self.shared.as_ref().map(|_| "a GIF frame holds 256 colours, and there were more".to_owned());
        many.into_iter().chain(self.hardened()).collect()
    }

    /// What to say of every file, as no score tells of it.
    fn hardened(&self) -> Vec<String> {
        let half = self.translucent.then_some("GIF has no half transparency, and there was some");
        half.into_iter().map(str::to_owned).collect()
    }

    /// The same frames in fewer bytes, if there are some: where much is flat, phrases found without a thought of errors serve
    /// better.
    fn squeezed(&self, frames: &dyn Frames, file: Vec<u8>) -> Result<Vec<u8>> {
        let pixels = frames.layout().pixels().saturating_mul(self.task.count.into());
        let detailed = file.len() > SMALL && file.len() as u64 * DETAILED > pixels;
        if file.len() > LARGE || detailed {
            return Ok(file);
        }
        let smaller = self.task.codecs.recompress(Format::Gif, &file, false, self.run)?;
        Ok(if smaller.len() < file.len() { smaller } else { file })
    }
}

/// A clip in place of all frames.
struct Clipped<'a> {
    writer: &'a Writer<'a>,
    frames: Clip<'a>,
    viewed: Viewed,
    palettes: Option<Palettes>,
}

impl Clipped<'_> {
    /// The bytes and the score with a knob; `None` where from one stretch to the next more colours change than a table holds.
    fn trial(&mut self, knob: f64) -> Result<Option<Trial<usize>>> {
        let Self { writer, frames, viewed, palettes } = self;
        let file = match writer.written(frames, GifOptions::new(loss(knob)), palettes.as_mut()) {
            Err(Error::Unsupported { .. }) => return Ok(None),
            file => file?,
        };
        Ok(Some(trial(knob, viewed.score(&mut *writer.decoded(&file)?, writer.run)?, file.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::Codecs,
        control::Unattended,
        limits::Limits,
        optimize::Preset,
        picture::{Channels, Picture, Samples, Shown},
    };

    #[test]
    fn frames_are_searched_though_those_of_a_clip_change_more_colours_than_a_table_holds() {
        const SIDE: u32 = 60;
        let row = |y: u32| {
            (0..SIDE).flat_map(move |x| [x * 4 + y % 3, 100 + y, (x * 7 + y * 5) % 256].map(|code| code as u8))
        };
        let frame = |drawn: u32| {
            let rows = (0..SIDE).flat_map(|y| if y < drawn { row(y).collect() } else { vec![0; 3 * SIDE as usize] });
            Picture::new(SIDE, SIDE, Channels::Rgb, Samples::Eight(rows.collect())).unwrap()
        };
        let mut frames = Shown::new((1..=SIDE).map(frame).collect());
        let (codecs, run) = (Codecs::default(), Run { limits: &Limits::default(), control: &Unattended });
        let stored = codecs.encode(&mut frames, &EncodeOptions::Gif(GifOptions::new(0.0)), run).unwrap();
        let goal = Goal::Smart(Preset::Medium);
        let task = Moving { codecs: &codecs, format: Format::Gif, goal, stored: Some(&stored), count: SIDE };
        let done = optimise(&mut frames, &task, run).unwrap();
        assert!((80.0..95.0).contains(&done.score), "{}", done.score);
        assert!(done.bytes.len() * 10 < stored.len() * 9, "{} of {}", done.bytes.len(), stored.len());
    }

    #[test]
    fn a_search_may_end_farther_above_the_target_where_that_costs_few_bytes() {
        let trial = |score, file| Trial { knob: 70.0, score, file };
        assert_eq!(slack(&[trial(80.0, 1000)]), SLACK);
        assert_eq!(slack(&[trial(80.0, 1000), trial(80.0, 1010)]), SLACK);
        for (files, wide) in
            [([1020, 980], SLACK), ([1004, 996], SPARED / 0.008), ([1000, 1000], MOST_SLACK), ([996, 1004], MOST_SLACK)]
        {
            let found = slack(&[trial(90.0, 1), trial(82.0, files[0]), trial(81.0, files[1])]);
            assert!((found - wide).abs() < 1e-9, "{files:?}: {found}");
        }
    }
}
