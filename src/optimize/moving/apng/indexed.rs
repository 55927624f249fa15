//! One palette of at most 256 colours for all frames.

use std::sync::Arc;

use super::{
    EFFORT, Moving, Optimised, Scores, encoded,
    sample::{drawn, sample},
};
use crate::{
    control::{Run, Stage},
    error::Result,
    optimize::{
        moving::{Viewed, clip::Clip, viewed::Judge},
        palette::{Changes, Histogram, Missed, Palette, Palettes, Remap, faithful},
        search::{Aim, Trial, solve},
    },
    picture::{Frame, Frames},
};

/// Palette sizes that are tried.
const SIZES: [usize; 12] = [4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];
/// Shares of diffused error that are tried: none for flat graphics, some for gradients.
const DITHERS: [f32; 2] = [0.0, 0.6];
/// The greatest tolerance worth trying, as a distance in Oklab.
const MOST_TOLERANCE: f64 = 0.12;
/// The change that is none, as a share of the tolerance, and where there is no tolerance.
const STILL: (f32, f32) = (0.25, 0.004);
/// Frames that are looked at in a trial.
const SHOTS: u32 = 6;
/// How often the whole may fall short of what its sample promised.
const CORRECTIONS: usize = 5;
/// The corrections after which other colours are taken, where the sample promises that they have so much to spare.
const PATIENCE: usize = 2;

/// What a search found: a palette, how it is drawn with, and how that looks.
pub(super) struct Found {
    palette: Arc<Palette>,
    how: Remap,
    pub(super) scores: Scores,
}

impl Found {
    pub(super) fn colours(&self) -> usize {
        self.palette.colours.len()
    }

    /// Whether it spares bytes by repetition, which truecolour does in its own way.
    pub(super) fn repeats(&self) -> bool {
        self.how.tolerance > 0.0
    }

    pub(super) fn encoded(
        &self,
        frames: &mut dyn Frames,
        task: &Moving<'_>,
        effort: u8,
        run: Run<'_>,
    ) -> Result<Vec<u8>> {
        self.shown(frames, task.count, |frames| encoded(frames, task, effort, run))
    }

    /// What `with` makes of all `count` frames as they are drawn.
    pub(super) fn shown<T>(
        &self,
        frames: &mut dyn Frames,
        count: u32,
        with: impl FnOnce(&mut dyn Frames) -> Result<T>,
    ) -> Result<T> {
        let mut whole = Clip::whole(frames, count);
        with(&mut drawn(&mut whole, &self.palette, (self.how, still(self.how))))
    }
}

/// Settings, and what they gave of the sample.
struct Choice {
    size: usize,
    how: Remap,
    score: f64,
    bytes: usize,
}

fn still(how: Remap) -> f32 {
    STILL.1 + STILL.0 * how.tolerance
}

/// The colours of what changes from frame to frame.
fn histogram(frames: &mut Clip<'_>, run: Run<'_>) -> Result<Histogram> {
    let mut changes = Changes::default();
    frames.restart()?;
    while let Some(Frame { picture, .. }) = frames.next(run)? {
        changes.add(&picture, run)?;
    }
    changes.finish(run)
}

/// A palette of `colours`, with no search.
pub(super) fn fixed(
    frames: &mut dyn Frames,
    task: &Moving<'_>,
    colours: usize,
    how: (Remap, f32),
    run: Run<'_>,
) -> Result<Optimised> {
    let mut whole = Clip::whole(frames, task.count);
    let palette = faithful(&histogram(&mut whole, run)?, colours, Missed::MOST, run)?;
    let mut drawn = drawn(&mut whole, &palette, how);
    run.control.stage(Stage::Encode, 0.6);
    let score = drawn.scores(None, run)?.mean;
    Ok(Optimised { bytes: encoded(&mut drawn, task, EFFORT, run)?, score, warnings: Vec::new() })
}

/// The palette of at most 256 colours that reaches `target` in the fewest bytes, if there is one.
pub(super) fn search(frames: &mut dyn Frames, task: &Moving<'_>, target: f64, run: Run<'_>) -> Result<Option<Found>> {
    let histogram = histogram(&mut Clip::whole(frames, task.count), run)?;
    let mut palettes = Palettes::new(&histogram, Missed::at(target));
    let (choices, judge) = choose(frames, &mut palettes, task, target, run)?;
    run.control.stage(Stage::Encode, 0.6);
    finish(frames, &mut palettes, task, choices, judge, run)
}

fn choose(
    frames: &mut dyn Frames,
    palettes: &mut Palettes<'_>,
    task: &Moving<'_>,
    target: f64,
    run: Run<'_>,
) -> Result<(Vec<Choice>, Judge)> {
    let mut clips = sample(frames, task.count);
    let count = clips.count;
    let mut judge = Judge { target, unspared: 0.0 };
    let viewed = Viewed::new(&mut clips, count, SHOTS, Some(judge), run)?;
    let mut trials = Trials { clips, viewed, palettes, task, target, run };
    judge.unspared = trials.unspared()?;
    trials.viewed.judge = Some(judge);
    Ok((trials.best()?, judge))
}

/// Draws all frames as the first of `choices` says, or where the sample promised too much, with less tolerance, then as the
/// next that has this to spare, then with more colours.
fn finish(
    frames: &mut dyn Frames,
    palettes: &mut Palettes<'_>,
    task: &Moving<'_>,
    choices: Vec<Choice>,
    mut judge: Judge,
    run: Run<'_>,
) -> Result<Option<Found>> {
    let target = judge.target;
    let mut whole = Clip::whole(frames, task.count);
    let mut choices = choices.into_iter();
    let Some(mut choice) = choices.next() else { return Ok(None) };
    let mut short = None;
    for correction in 0..=CORRECTIONS + 1 {
        let palette = palettes.of(choice.size, run)?;
        let mut drawn = drawn(&mut whole, &palette, (choice.how, still(choice.how)));
        let scores = drawn.scores(Some(judge), run)?;
        if scores.overall() >= target {
            return Ok(Some(Found { palette, how: choice.how, scores }));
        }
        let short = *short.get_or_insert(choice.score - scores.overall());
        if correction == CORRECTIONS {
            // What has no more colours than that is exact, and nothing spares what has more.
            judge.unspared = f64::INFINITY;
            (choice.size, choice.how.tolerance) = (SIZES[SIZES.len() - 1], 0.0);
        } else if correction == PATIENCE
            && let Some(next) = choices.find(|next| next.score >= target + short)
        {
            choice = next;
        } else if choice.how.tolerance > 0.002 {
            choice.how.tolerance *= if scores.mean + 1.0 > target { 0.8 } else { 0.5 };
        } else if let Some(&larger) = SIZES.iter().find(|&&size| size > choice.size) {
            choice.size = larger;
        } else {
            break;
        }
    }
    Ok(None)
}

struct Trials<'a, 'h> {
    clips: Clip<'a>,
    viewed: Viewed,
    palettes: &'a mut Palettes<'h>,
    task: &'a Moving<'a>,
    target: f64,
    run: Run<'a>,
}

impl Trials<'_, '_> {
    /// For each way of dithering the smallest palette that will do, and a larger one whose surplus of fidelity is spent on
    /// repetition; those of the fewest bytes first.
    fn best(&mut self) -> Result<Vec<Choice>> {
        let mut choices = Vec::new();
        for dither in DITHERS {
            let Some(least) = self.least_size(dither)? else { continue };
            let mut sizes = [least, least + 1, least + 3].map(|at| SIZES[at.min(SIZES.len() - 1)]).to_vec();
            sizes.dedup();
            for size in sizes {
                choices.extend(self.most_tolerance(size, dither)?);
            }
        }
        choices.sort_by_key(|choice| choice.bytes);
        Ok(choices)
    }

    /// What the metric overlooks costs in all colours that a table has: no reason to do without one.
    fn unspared(&mut self) -> Result<f64> {
        let palette = self.palettes.of(SIZES[SIZES.len() - 1], self.run)?;
        let mut least = f64::INFINITY;
        for dither in DITHERS {
            let scores = self.scores(&palette, Remap { dither, tolerance: 0.0 })?;
            least = least.min(if scores.mean < self.target { f64::INFINITY } else { scores.overlooked });
        }
        Ok(if least.is_finite() { least } else { 0.0 })
    }

    fn scores(&mut self, palette: &Palette, how: Remap) -> Result<Scores> {
        let mut drawn = drawn(&mut self.clips, palette, (how, still(how)));
        Frames::restart(&mut drawn)?;
        self.viewed.score(&mut drawn, self.run)
    }

    /// A frame that is too bad counts as if all were.
    fn score(&mut self, palette: &Palette, how: Remap) -> Result<f64> {
        Ok(self.scores(palette, how)?.overall())
    }

    /// Index into [`SIZES`] of the smallest palette that reaches the target without repetition.
    fn least_size(&mut self, dither: f32) -> Result<Option<usize>> {
        let (mut low, mut high) = (0, SIZES.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let palette = self.palettes.of(SIZES[middle], self.run)?;
            let reached = self.score(&palette, Remap { dither, tolerance: 0.0 })? >= self.target;
            (low, high) = if reached { (low, middle) } else { (middle + 1, high) };
        }
        Ok((low < SIZES.len()).then_some(low))
    }

    /// The greatest tolerance at which the target is still reached. The knob that is solved for is `MOST_TOLERANCE` less
    /// the tolerance, which rises with the score.
    fn most_tolerance(&mut self, size: usize, dither: f32) -> Result<Option<Choice>> {
        let aim = Aim {
            target: self.target,
            slack: 0.7,
            low: 0.0,
            high: MOST_TOLERANCE,
            first: MOST_TOLERANCE * 0.9,
            slope: 400.0,
            step: MOST_TOLERANCE / 256.0,
            trials: 4,
        };
        let palette = self.palettes.of(size, self.run)?;
        let how = |knob: f64| Remap { dither, tolerance: (MOST_TOLERANCE - knob) as f32 };
        let found = solve(aim, |knob| Ok(Trial { knob, score: self.score(&palette, how(knob))?, file: () }))?;
        if found.score < self.target {
            return Ok(None);
        }
        let how = how(found.knob);
        let mut drawn = drawn(&mut self.clips, &palette, (how, still(how)));
        let bytes = encoded(&mut drawn, self.task, 0, self.run)?.len();
        Ok(Some(Choice { size, how, score: found.score, bytes }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::Codecs,
        control::Unattended,
        format::Format,
        limits::Limits,
        optimize::{Goal, Preset},
        picture::{Channels, Picture, Samples, Shown},
    };

    /// What comes of `choices` for four frames of 200 colours, at a target of 90.
    fn finished(choices: Vec<Choice>) -> Option<Found> {
        const SIDE: u32 = 48;
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let frame = |at: u32| {
            let colour = |place: u32| (place * 97 + at * 31) % 200;
            let samples = (0..SIDE * SIDE).map(colour).flat_map(|c| [c as u8, (c * 7) as u8, (c * 13) as u8]).collect();
            Picture::new(SIDE, SIDE, Channels::Rgb, Samples::Eight(samples)).unwrap()
        };
        let mut frames = Shown::new((0..4).map(frame).collect());
        let histogram = histogram(&mut Clip::whole(&mut frames, 4), run).unwrap();
        let goal = Goal::Smart(Preset::Low);
        let task = Moving { codecs: &Codecs::default(), format: Format::Apng, goal, stored: None, count: 4 };
        let mut palettes = Palettes::new(&histogram, Missed::at(90.0));
        finish(&mut frames, &mut palettes, &task, choices, Judge { target: 90.0, unspared: 0.0 }, run).unwrap()
    }

    /// One that falls far short.
    const FOUR: Choice =
        Choice { size: 4, how: Remap { dither: 0.0, tolerance: MOST_TOLERANCE as f32 }, score: 90.0, bytes: 0 };

    #[test]
    fn what_a_sample_promised_far_too_much_of_is_reached_where_256_colours_are_exact() {
        assert!(finished(vec![FOUR]).is_some_and(|found| found.scores.overall() >= 90.0));
    }

    #[test]
    fn where_the_fewest_bytes_fall_short_the_next_that_spares_as_much_is_taken() {
        let exact =
            |size: usize, score: f64| Choice { size, how: Remap { dither: 0.0, tolerance: 0.0 }, score, bytes: 1 };
        let found = finished(vec![FOUR, exact(64, 91.0), exact(192, 500.0)]).unwrap();
        assert!(found.colours() == 192 && found.scores.overall() >= 90.0, "{}", found.colours());
    }
}
