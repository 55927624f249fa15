//! Finer coding for the few frames of an animation that hold up all others.
//!
//! A frame whose errors are seen more than those of the rest, as that of a faint picture between pages of text, needs a high
//! knob. With one of its own, the others may be coded as coarsely as the target for the mean allows.

use std::collections::BTreeMap;

use super::Scores;

/// Points above the least score at which the knob of a frame aims, because it is read between two trials.
const MARGIN: f64 = 1.5;
/// The gentlest slope of the mean that is believed.
const GENTLEST: f64 = 0.15;

/// Scores of all frames with one knob for all.
#[derive(Debug)]
struct Uniform {
    knob: f64,
    scores: Vec<f64>,
}

/// What the frames of an animation scored in trials.
#[derive(Debug)]
pub(super) struct Care {
    /// What a single frame must score.
    least: f64,
    /// The coarsest first.
    trials: Vec<Uniform>,
    /// Frames that fell short with knobs of their own.
    short: Vec<u32>,
}

impl Care {
    pub(super) const fn new(least: f64) -> Self {
        Self { least, trials: Vec::new(), short: Vec::new() }
    }

    /// Takes in a trial with one knob for all frames, or with some of their own.
    pub(super) fn tried(&mut self, knob: f64, uniform: bool, scores: Vec<f64>) {
        if uniform {
            let at = self.trials.partition_point(|trial| trial.knob < knob);
            self.trials.insert(at, Uniform { knob, scores });
        } else {
            let short = (0..).zip(scores).filter(|&(_, score)| score < self.least);
            self.short.extend(short.map(|(frame, _)| frame));
        }
    }

    /// About where the mean is `target` once no frame scores less than it must, by the two coarsest trials.
    pub(super) fn mean_reaches(&self, target: f64, slope: f64) -> f64 {
        let mean = |trial: &Uniform| {
            let raised: Vec<f64> = trial.scores.iter().map(|score| score.max(self.least + MARGIN)).collect();
            Scores::of(&raised).mean
        };
        let Some(low) = self.trials.first() else { return 0.0 };
        let seen = self.trials.get(1).map(|next| (mean(next) - mean(low)) / (next.knob - low.knob));
        low.knob - (mean(low) - target) / seen.unwrap_or(slope).max(GENTLEST)
    }

    /// The knobs of frames that need a higher one than `knob`.
    pub(super) fn above(&self, knob: f64) -> BTreeMap<u32, f64> {
        let frames = self.trials.last().map_or(0..0, |trial| 0..trial.scores.len() as u32);
        let own = frames.filter_map(|frame| Some((frame, self.needed(frame)?)));
        own.filter(|&(_, own)| own > knob).collect()
    }

    /// The knob from which on a frame scored enough; the highest tried for one that fell short nevertheless.
    fn needed(&self, frame: u32) -> Option<f64> {
        let highest = self.trials.last()?.knob;
        let score = |trial: &Uniform| trial.scores[frame as usize];
        let at = self.trials.iter().rposition(|trial| score(trial) < self.least)?;
        match self.trials.get(at + 1) {
            Some(enough) if !self.short.contains(&frame) => {
                let low = &self.trials[at];
                let share = (self.least + MARGIN - score(low)) / (score(enough) - score(low));
                Some(low.knob + (enough.knob - low.knob) * share.min(1.0))
            }
            _ => Some(highest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three frames at four knobs, of which the second needs more than the others.
    fn care() -> Care {
        let mut care = Care::new(70.0);
        for (knob, scores) in [(60.0, [85.0, 71.0, 90.0]), (20.0, [76.0, 30.0, 80.0]), (40.0, [80.0, 61.0, 85.0])] {
            care.tried(knob, true, scores.to_vec());
        }
        care
    }

    #[test]
    fn a_frame_has_a_knob_of_its_own_where_it_needs_a_higher_one() {
        let mut care = care();
        assert_eq!(care.above(20.0), BTreeMap::from([(1, 60.0)]));
        assert_eq!(care.above(60.0), BTreeMap::new());
        // Between the two trials around what it must score.
        care.tried(50.0, true, vec![82.0, 69.0, 87.0]);
        care.tried(56.0, true, vec![84.0, 75.0, 88.0]);
        assert_eq!(care.above(20.0), BTreeMap::from([(1, 52.5)]));
    }

    #[test]
    fn a_frame_that_falls_short_with_its_own_knob_gets_the_highest_tried() {
        let mut care = care();
        care.tried(80.0, true, vec![90.0, 79.0, 95.0]);
        care.tried(20.0, false, vec![76.0, 69.0, 80.0]);
        assert_eq!(care.above(20.0), BTreeMap::from([(1, 80.0)]));
    }

    #[test]
    fn the_mean_is_foreseen_without_what_single_frames_lack() {
        // 78.5 and 75.8 in the mean once the second frame scores 71.5.
        let knob = care().mean_reaches(75.0, 0.5);
        assert!((14.0..15.0).contains(&knob), "{knob}");
    }
}
