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
        png::{Steps, Tried, cheapest_steps, near},
    },
    picture::{Channels, Frames, Picture, Samples},
};

/// How many steps are tried with the whole, which may fall short of what its sample promised.
const CORRECTIONS: usize = 5;
/// Frames that are looked at in a trial.
const SHOTS: u32 = 6;

/// Draws samples that err by less than a step; where all of a pixel's have changed by less since it was last drawn,
/// what is shown stays.
struct Near {
    steps: Steps,
    /// About how many bits all took.
    bits: u64,
    /// True pixels when they were last drawn, and what is shown.
    drawn: Vec<u8>,
    shown: Vec<u8>,
}

impl Near {
    const fn new(steps: Steps) -> Self {
        Self { steps, bits: 0, drawn: Vec::new(), shown: Vec::new() }
    }
}

impl Draw for Near {
    fn next(&mut self, picture: &Picture, run: Run<'_>) -> Result<Picture> {
        let still = (self.steps.busy() / 4) as u8;
        let (near, bits) = near(picture, self.steps, run)?;
        self.bits += bits;
        let near = near.into_channels(Channels::Rgba);
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
    steps: Steps,
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
        encoded(&mut Drawn { frames: &mut whole, draw: Near::new(self.steps) }, task, effort, run)
    }
}

/// The cheapest steps that reach `target`; `None` if only exact samples do.
pub(super) fn search(frames: &mut dyn Frames, task: &Moving<'_>, target: f64, run: Run<'_>) -> Result<Option<Found>> {
    let mut clips = sample(frames, task.count);
    let count = clips.count;
    let judge = Some(Judge { target, unspared: 0.0 });
    let viewed = Viewed::new(&mut clips, count, SHOTS, judge, run)?;
    let found = cheapest_steps(target, |steps, _| {
        let mut drawn = Drawn { frames: &mut clips, draw: Near::new(steps) };
        Frames::restart(&mut drawn)?;
        let score = viewed.score(&mut drawn, run)?.overall();
        Ok(Some(Tried { score, bits: drawn.draw.bits, made: () }))
    })?;
    let mut whole = Clip::whole(frames, task.count);
    let mut at = found.map(|(steps, _)| steps);
    for _ in 0..CORRECTIONS {
        let Some(steps) = at else { break };
        let mut drawn = Drawn { frames: &mut whole, draw: Near::new(steps) };
        let scores = drawn.scores(judge, run)?;
        if scores.overall() >= target {
            return Ok(Some(Found { steps, scores }));
        }
        at = steps.finer();
    }
    Ok(None)
}
