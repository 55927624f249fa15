//! What a viewer sees of an animation at points of time.

use crate::{
    control::Run,
    error::{Error, Result},
    optimize::{metric::Reference, overlooked::Overlooked},
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
    /// What the metric says in the mean.
    pub mean: f64,
    /// The most that what the metric overlooks takes from the score of a frame.
    #[cfg_attr(not(feature = "png"), allow(dead_code, reason = "for APNG"))]
    pub overlooked: f64,
    /// The mean without what they take, and the least of a frame.
    judged: f64,
    least: f64,
}

impl Scores {
    /// Of at least one frame.
    pub(super) fn of(scores: &[f64]) -> Self {
        Self::judged(scores.iter().map(|&metric| Score { metric, judged: metric }))
    }

    /// Of at least one frame.
    pub(super) fn judged(scores: impl ExactSizeIterator<Item = Score>) -> Self {
        let count = scores.len().max(1) as f64;
        let none = Self { mean: 0.0, overlooked: 0.0, judged: 0.0, least: f64::INFINITY };
        scores.fold(none, |all, Score { metric, judged }| Self {
            mean: all.mean + metric / count,
            overlooked: all.overlooked.max(metric - judged),
            judged: all.judged + judged / count,
            least: all.least.min(judged),
        })
    }

    /// What counts: the mean, unless a frame falls too far below it.
    pub(super) const fn overall(self) -> f64 {
        self.judged.min(self.least + LEAST_FRAME)
    }
}

/// What the metric says, and what is left of it by what it overlooks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Score {
    metric: f64,
    judged: f64,
}

/// How what the metric overlooks is judged, if it is: few colours and coarse steps do it, but no lossy coding.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "png"), allow(dead_code, reason = "for APNG"))]
pub(super) struct Judge {
    /// What the frames are to score.
    pub target: f64,
    /// What it costs that nothing spares.
    pub unspared: f64,
}

/// A frame, to compare others with.
pub(super) struct Look {
    reference: Reference,
    overlooked: Option<Overlooked>,
}

impl Look {
    pub(super) fn of(picture: &Picture, judge: Option<Judge>, run: Run<'_>) -> Result<Self> {
        let overlooked = judge.map(|judge| Overlooked::of(picture, judge.target, run)).transpose()?;
        Ok(Self { reference: Reference::new(picture, run)?, overlooked })
    }

    pub(super) fn score(&self, drawn: &Picture, judge: Option<Judge>, run: Run<'_>) -> Result<Score> {
        let metric = self.reference.score(drawn, run)?;
        let overlooked = self.overlooked.as_ref().map_or(Ok(0.0), |overlooked| overlooked.cost(drawn, run))?;
        let spared = overlooked - judge.map_or(0.0, |judge| judge.unspared);
        Ok(Score { metric, judged: metric - spared.max(0.0) })
    }
}

/// Some frames of an animation, and when they are on screen.
pub(crate) struct Viewed {
    shots: Vec<(Time, Look)>,
    pub(super) judge: Option<Judge>,
}

impl Viewed {
    /// Every so many of the `count` frames, so that there are at most `most` of them; fewer of large ones.
    pub(super) fn new(
        frames: &mut dyn Frames,
        count: u32,
        most: u32,
        judge: Option<Judge>,
        run: Run<'_>,
    ) -> Result<Self> {
        let fit = (MOST_PIXELS / frames.layout().pixels().max(1)).clamp(2, u64::from(most)) as u32;
        let step = count.div_ceil(fit).max(1);
        let mut shots = Vec::new();
        let mut clock = Clock::default();
        frames.restart()?;
        let mut index = 0;
        while let Some(frame) = frames.next(run)? {
            let middle = clock.middle_of(frame.delay);
            if index % step == 0 {
                shots.push((middle, Look::of(&frame.picture, judge, run)?));
            }
            index += 1;
        }
        Ok(Self { shots, judge })
    }

    /// What of `result` is on screen at the same times, compared.
    pub(crate) fn score(&self, result: &mut dyn Frames, run: Run<'_>) -> Result<Scores> {
        let mut shown = Shown::new(result);
        let mut scores = Vec::with_capacity(self.shots.len());
        for (middle, look) in &self.shots {
            shown.seek(*middle, run)?;
            scores.push(look.score(shown.picture()?, self.judge, run)?);
        }
        Ok(Scores::judged(scores.into_iter()))
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
    use crate::{
        control::Unattended,
        limits::Limits,
        picture::{Channels, Samples},
    };

    #[test]
    fn a_frame_may_fall_eight_below_the_target_and_no_more() {
        assert_eq!(Scores::of(&[87.5, 72.5]).overall(), 80.0);
        assert_eq!(Scores::of(&[89.0, 71.0]).overall(), 79.0);
    }

    #[test]
    fn contours_count_where_they_are_judged_but_for_what_nothing_spares() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let picture = |code: fn(u32) -> u32| {
            let samples = (0..64 * 64).map(|at| code(at / 64) as u8).collect();
            Picture::new(64, 64, Channels::Gray, Samples::Eight(samples)).unwrap()
        };
        let (shadow, stepped) = (picture(|y| 60 + y), picture(|y| 60 + y / 16 * 16 + 8));
        let score = |judge| Look::of(&shadow, judge, run).unwrap().score(&stepped, judge, run).unwrap();
        let judge = |unspared| Some(Judge { target: 80.0, unspared });
        let (unjudged, judged) = (score(None), score(judge(0.0)));
        assert_eq!(unjudged.judged, unjudged.metric);
        assert!(judged.metric == unjudged.metric && judged.judged < judged.metric - 5.0, "{judged:?}");
        assert!((score(judge(3.0)).judged - judged.judged - 3.0).abs() < 1e-9);
        let scores = Scores::judged([unjudged, judged].into_iter());
        assert_eq!(scores.overlooked, judged.metric - judged.judged);
        assert!((scores.mean - judged.metric).abs() < 1e-9 && scores.overall() < judged.metric);
    }
}
