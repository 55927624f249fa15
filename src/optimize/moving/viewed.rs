//! What a viewer sees of an animation at points of time.

use crate::{
    control::Run,
    error::{Error, Result},
    optimize::metric::Reference,
    picture::{Delay, Frame, Frames, Picture},
};

/// Time in milliseconds.
type Time = f64;

/// Frames shown for this long or less are shown for [`SLOWED`] by browsers.
const TOO_QUICK: Time = 10.0;
const SLOWED: Time = 100.0;
/// Pixels of all frames that are held for comparison, 7 bytes each.
const MOST_PIXELS: u64 = 12_000_000;

/// How long browsers show a frame.
pub(crate) fn on_screen(delay: Delay) -> Time {
    let written = Time::from(delay.numerator) / Time::from(delay.denominator.get());
    if written <= TOO_QUICK { SLOWED } else { written }
}

/// How far below the target a single frame may score.
pub(super) const LEAST_FRAME: f64 = 8.0;

/// Scores of frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scores {
    /// Their mean.
    pub mean: f64,
    /// The least.
    pub least: f64,
}

impl Scores {
    /// Of at least one frame.
    pub(super) fn of(scores: &[f64]) -> Self {
        Self {
            mean: scores.iter().sum::<f64>() / scores.len().max(1) as f64,
            least: scores.iter().copied().fold(f64::INFINITY, f64::min),
        }
    }

    /// What counts: the mean, unless a frame falls too far below it.
    pub(super) const fn overall(self) -> f64 {
        self.mean.min(self.least + LEAST_FRAME)
    }
}

/// Some frames of an animation, and when they are on screen.
#[derive(Debug)]
pub(crate) struct Viewed {
    shots: Vec<Shot>,
}

#[derive(Debug)]
struct Shot {
    middle: Time,
    reference: Reference,
}

impl Viewed {
    /// Every so many of the `count` frames, so that there are at most `most` of them; fewer of large ones.
    pub(crate) fn new(frames: &mut dyn Frames, count: u32, most: u32, run: Run<'_>) -> Result<Self> {
        let fit = (MOST_PIXELS / frames.layout().pixels().max(1)).clamp(2, u64::from(most)) as u32;
        let step = count.div_ceil(fit).max(1);
        let mut shots = Vec::new();
        let mut clock = Clock::default();
        frames.restart()?;
        let mut index = 0;
        while let Some(frame) = frames.next(run)? {
            let middle = clock.middle_of(frame.delay);
            if index % step == 0 {
                shots.push(Shot { middle, reference: Reference::new(&frame.picture, run)? });
            }
            index += 1;
        }
        Ok(Self { shots })
    }

    /// What of `result` is on screen at the same times, compared.
    pub(crate) fn score(&self, result: &mut dyn Frames, run: Run<'_>) -> Result<Scores> {
        let mut shown = Shown::new(result);
        let mut scores = Vec::with_capacity(self.shots.len());
        for shot in &self.shots {
            shown.seek(shot.middle, run)?;
            scores.push(shot.reference.score(shown.picture()?, run)?);
        }
        Ok(Scores::of(&scores))
    }
}

/// Scores of all frames of `original`, compared with what of `result` is on screen in the middle of their time. Both are
/// read once, one frame at a time.
pub(crate) fn compare(original: &mut dyn Frames, result: &mut dyn Frames, run: Run<'_>) -> Result<Vec<f64>> {
    original.restart()?;
    let mut shown = Shown::new(result);
    let (mut clock, mut scores) = (Clock::default(), Vec::new());
    // What both show for longer than a frame is compared once.
    let mut last: Option<(Picture, usize, f64)> = None;
    while let Some(Frame { picture, delay }) = original.next(run)? {
        shown.seek(clock.middle_of(delay), run)?;
        let score = match &last {
            Some((before, at, score)) if *at == shown.index && *before == *picture => *score,
            _ if *shown.picture()? == *picture => 100.0,
            _ => Reference::new(&picture, run)?.score(shown.picture()?, run)?,
        };
        scores.push(score);
        last = Some((picture.into_owned(), shown.index, score));
    }
    Ok(scores)
}

/// Adds up times on screen.
#[derive(Debug, Default)]
struct Clock {
    start: Time,
}

impl Clock {
    /// The middle of the next frame's time.
    fn middle_of(&mut self, delay: Delay) -> Time {
        let shown = on_screen(delay);
        self.start += shown;
        self.start - shown / 2.0
    }
}

/// An animation played forwards.
struct Shown<'a> {
    frames: &'a mut dyn Frames,
    end: Time,
    /// Frames gone through.
    index: usize,
    picture: Option<Picture>,
    over: bool,
}

impl<'a> Shown<'a> {
    fn new(frames: &'a mut dyn Frames) -> Self {
        Self { frames, end: 0.0, index: 0, picture: None, over: false }
    }

    /// Goes on to the frame that is on screen at `time`; the last one stays.
    fn seek(&mut self, time: Time, run: Run<'_>) -> Result<()> {
        while !self.over && (self.picture.is_none() || time >= self.end) {
            match self.frames.next(run)? {
                Some(frame) => {
                    self.end += on_screen(frame.delay);
                    self.index += 1;
                    self.picture = Some(frame.picture.into_owned());
                }
                None => self.over = true,
            }
        }
        Ok(())
    }

    fn picture(&self) -> Result<&Picture> {
        self.picture.as_ref().ok_or_else(|| Error::internal("scoring", "an encoder wrote a file without frames"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_may_fall_eight_below_the_target_and_no_more() {
        assert_eq!(Scores { mean: 80.0, least: 72.5 }.overall(), 80.0);
        assert_eq!(Scores { mean: 80.0, least: 71.0 }.overall(), 79.0);
    }
}
