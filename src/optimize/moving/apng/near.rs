//! Truecolour with small errors in space and time.

use super::{
    Moving, Scores, encoded,
    sample::{Draw, Drawn, sample},
};
use crate::{
    control::Run,
    error::Result,
    optimize::{
        moving::{Viewed, clip::Clip, viewed::Judge},
        png::near,
        search::{Aim, Trial, solve},
    },
    picture::{Channels, Frames, Picture, Samples},
};

/// The coarsest step that is tried.
const MOST: f64 = 32.0;
/// How often the whole may fall short of what its sample promised.
const CORRECTIONS: usize = 4;
/// Frames that are looked at in a trial.
const SHOTS: u32 = 6;

/// Draws samples that err by up to half of a step; where all of a pixel's have changed by less since it was last drawn,
/// what is shown stays.
struct Near {
    step: f64,
    /// True pixels when they were last drawn, and what is shown.
    drawn: Vec<u8>,
    shown: Vec<u8>,
}

impl Near {
    const fn new(step: f64) -> Self {
        Self { step, drawn: Vec::new(), shown: Vec::new() }
    }
}

impl Draw for Near {
    fn next(&mut self, picture: &Picture, run: Run<'_>) -> Result<Picture> {
        let still = (self.step / 4.0) as u8;
        let near = near(picture, self.step, run)?.into_channels(Channels::Rgba);
        let truth = picture.clone().into_channels(Channels::Rgba);
        let (truth, near) = (truth.eight().unwrap_or(&[]), near.eight().unwrap_or(&[]));
        if self.shown.is_empty() {
            (self.drawn, self.shown) = (truth.to_vec(), near.to_vec());
        }
        let before = self.drawn.as_chunks_mut::<4>().0.iter_mut().zip(self.shown.as_chunks_mut::<4>().0);
        for ((drawn, shown), (truth, near)) in before.zip(truth.as_chunks::<4>().0.iter().zip(near.as_chunks::<4>().0))
        {
            let close = drawn.iter().zip(truth).all(|(then, now)| then.abs_diff(*now) <= still);
            if drawn[3] != truth[3] || !close {
                (*drawn, *shown) = (*truth, *near);
            }
        }
        Picture::new(picture.width(), picture.height(), Channels::Rgba, Samples::Eight(self.shown.clone()))
    }

    fn restart(&mut self) {
        self.drawn.clear();
        self.shown.clear();
    }
}

/// What a search found: how coarse samples are, and how that looks.
pub(super) struct Found {
    step: f64,
    pub(super) scores: Scores,
}

impl Found {
    pub(super) fn encoded(
        &self,
        frames: &mut dyn Frames,
        task: &Moving<'_>,
        effort: u8,
        run: Run<'_>,
    ) -> Result<Vec<u8>> {
        let mut whole = Clip::whole(frames, task.count);
        encoded(&mut Drawn { frames: &mut whole, draw: Near::new(self.step) }, task, effort, run)
    }
}

/// The coarsest samples that reach `target`; `None` if only exact ones do.
pub(super) fn search(frames: &mut dyn Frames, task: &Moving<'_>, target: f64, run: Run<'_>) -> Result<Option<Found>> {
    let aim =
        Aim { target, slack: 0.5, low: 0.0, high: MOST - 1.0, first: MOST - 6.0, slope: 2.0, step: 1.0, trials: 6 };
    let mut clips = sample(frames, task.count);
    let count = clips.count;
    let judge = Some(Judge { target, unspared: 0.0 });
    let viewed = Viewed::new(&mut clips, count, SHOTS, judge, run)?;
    let found = solve(aim, |knob| {
        let mut drawn = Drawn { frames: &mut clips, draw: Near::new(MOST - knob.round()) };
        Frames::restart(&mut drawn)?;
        let scores = viewed.score(&mut drawn, run)?;
        Ok(Trial { knob, score: scores.overall(), file: () })
    })?;
    let mut whole = Clip::whole(frames, task.count);
    let mut step = MOST - found.knob.round();
    for _ in 0..=CORRECTIONS {
        if step <= 1.0 {
            break;
        }
        let mut drawn = Drawn { frames: &mut whole, draw: Near::new(step) };
        let scores = drawn.scores(judge, run)?;
        if scores.overall() >= target {
            return Ok(Some(Found { step, scores }));
        }
        step = (step - (step / 6.0).max(1.0)).round();
    }
    Ok(None)
}
