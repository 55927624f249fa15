//! How long frames are shown: a GIF counts hundredths of a second.

use crate::{
    control::Run,
    error::Result,
    picture::{Delay, Frame, Frames, Layout, Plays},
};

/// Milliseconds of a hundredth of a second.
const MS_OF_A_TICK: f64 = 10.0;
/// Hundredths of a second that were given too many and are taken back. What quick frames need beyond that is not taken from
/// the long ones behind them.
const MOST_TAKEN_BACK: f64 = 0.5;

/// Rounds times so that their sum is right, unless frames follow each other so quickly that none can be shorter.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// Hundredths of a second that were meant and not given.
    owed: f64,
}

impl Clock {
    /// What browsers slow down takes one, whatever was meant, and has no part in the sum; no other takes fewer than two.
    pub(super) fn ticks(&mut self, delay: Delay) -> u64 {
        let wanted = f64::from(delay.numerator) / f64::from(delay.denominator.get()) / MS_OF_A_TICK;
        if wanted <= 1.0 {
            return u64::from(wanted > 0.0);
        }
        let meant = self.owed + wanted;
        let ticks = meant.round().max(2.0);
        self.owed = (meant - ticks).max(-MOST_TAKEN_BACK);
        ticks as u64
    }
}

/// Frames with the delays that a GIF has of them, so that what is on screen at a time is the same in both.
pub(crate) struct Timed<'f> {
    frames: &'f mut dyn Frames,
    clock: Clock,
}

impl<'f> Timed<'f> {
    pub(crate) fn new(frames: &'f mut dyn Frames) -> Self {
        Self { frames, clock: Clock::default() }
    }
}

impl Frames for Timed<'_> {
    fn layout(&self) -> Layout {
        self.frames.layout()
    }

    fn plays(&self) -> Plays {
        self.frames.plays()
    }

    fn next(&mut self, run: Run<'_>) -> Result<Option<Frame<'_>>> {
        let Some(frame) = self.frames.next(run)? else { return Ok(None) };
        let milliseconds = self.clock.ticks(frame.delay).saturating_mul(MS_OF_A_TICK as u64);
        let delay = Delay { numerator: milliseconds.try_into().unwrap_or(u32::MAX), ..Delay::NONE };
        Ok(Some(Frame { delay, ..frame }))
    }

    fn restart(&mut self) -> Result<()> {
        self.clock = Clock::default();
        self.frames.restart()
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::{
        control::Unattended,
        limits::Limits,
        picture::{Channels, Picture, Samples, Shown},
    };

    fn ticks(delays: impl IntoIterator<Item = Delay>) -> Vec<u64> {
        let mut clock = Clock::default();
        delays.into_iter().map(|delay| clock.ticks(delay)).collect()
    }

    fn ms(milliseconds: u32) -> Delay {
        Delay { numerator: milliseconds, ..Delay::NONE }
    }

    fn nth_of_a_second(nth: u32) -> Delay {
        Delay { numerator: 1000, denominator: NonZeroU32::new(nth).unwrap() }
    }

    #[test]
    fn delays_round_so_that_their_sum_is_right_and_none_is_slowed_down() {
        assert_eq!(ticks([nth_of_a_second(30); 6]), [3, 4, 3, 3, 4, 3]);
        assert_eq!(ticks([15, 15, 15, 0, 10, 4].map(ms)), [2, 2, 2, 0, 1, 1]);
    }

    #[test]
    fn a_pause_is_not_cut_short_by_quick_frames_before_it() {
        let then = |quick: Delay, pause| ticks([vec![quick; 59], vec![pause]].concat());
        assert_eq!(then(nth_of_a_second(60), ms(2000)), [vec![2; 59], vec![200]].concat());
        assert_eq!(then(ms(5), ms(500)), [vec![1; 59], vec![50]].concat());
    }

    #[test]
    fn frames_timed_are_as_a_gif_has_them() {
        let picture = Picture::new(1, 1, Channels::Gray, Samples::Eight(vec![0])).unwrap();
        let mut shown = Shown::new(vec![picture; 4]);
        let mut timed = Timed::new(&mut shown);
        for _ in 0..2 {
            // Shown for a fifteenth of a second each.
            let mut delays = Vec::new();
            while let Some(frame) = timed.next(Run { limits: &Limits::default(), control: &Unattended }).unwrap() {
                delays.push(frame.delay);
            }
            assert_eq!(delays, [70, 60, 70, 70].map(ms));
            timed.restart().unwrap();
        }
    }
}
