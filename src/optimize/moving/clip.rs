//! A few stretches of an animation, to be encoded in place of the whole while settings are searched.

use crate::{
    control::Run,
    error::Result,
    picture::{Frame, Frames, Layout, Plays},
};

/// Pixels that all frames together may have.
const MOST_PIXELS: u64 = 6_000_000;
/// Frames of one stretch.
const STRETCH: u32 = 8;
/// Stretches.
const STRETCHES: u32 = 3;

/// Stretches of consecutive frames, spread evenly over the `count` frames of a source; all of a short one.
pub(crate) struct Clip<'a> {
    frames: &'a mut dyn Frames,
    count: u32,
    stretch: u32,
    at: u32,
}

impl<'a> Clip<'a> {
    pub(crate) fn new(frames: &'a mut dyn Frames, count: u32) -> Self {
        let fit = MOST_PIXELS / frames.layout().pixels().max(1) / u64::from(STRETCHES);
        Self { frames, count, stretch: fit.clamp(2, STRETCH.into()) as u32, at: 0 }
    }

    /// How many frames there are.
    pub(crate) fn count(&self) -> u32 {
        self.count.min(self.stretch * STRETCHES)
    }

    /// Whether the frame `at` of the source belongs to it.
    fn has(&self, at: u32) -> bool {
        let whole = self.count <= self.stretch * STRETCHES;
        let spare = u64::from(self.count.saturating_sub(self.stretch));
        let within = |index: u32| {
            let start = (spare * u64::from(index) / u64::from(STRETCHES - 1)) as u32;
            (start..start + self.stretch).contains(&at)
        };
        whole || (0..STRETCHES).any(within)
    }
}

impl Frames for Clip<'_> {
    fn layout(&self) -> Layout {
        self.frames.layout()
    }

    fn plays(&self) -> Plays {
        self.frames.plays()
    }

    fn next(&mut self, run: Run<'_>) -> Result<Option<Frame<'_>>> {
        while !self.has(self.at) && self.at < self.count {
            if self.frames.next(run)?.is_none() {
                return Ok(None);
            }
            self.at += 1;
        }
        self.at += 1;
        self.frames.next(run)
    }

    fn restart(&mut self) -> Result<()> {
        self.at = 0;
        self.frames.restart()
    }
}
