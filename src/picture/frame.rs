//! Composed frames, pulled one by one so that a long animation is never in memory whole.

use std::{borrow::Cow, num::NonZeroU32};

use super::{layout::Layout, pixels::Picture};
use crate::{control::Run, error::Result};

/// How long a frame is shown: exactly `numerator / denominator` milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delay {
    /// Milliseconds times the denominator.
    pub numerator: u32,
    /// 1 for whole milliseconds.
    pub denominator: NonZeroU32,
}

impl Delay {
    /// For stills: no time at all.
    pub const NONE: Self = Self { numerator: 0, denominator: NonZeroU32::MIN };
}

/// How often an animation is shown from its first frame to its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Plays {
    /// Again and again.
    Forever,
    /// So many times, the first one counted.
    Times(NonZeroU32),
}

impl Plays {
    /// Once; what stills do.
    pub const ONCE: Self = Self::Times(NonZeroU32::MIN);
}

/// A whole canvas and the time it is shown for.
#[derive(Debug, Clone)]
pub struct Frame<'a> {
    /// The composed canvas.
    pub picture: Cow<'a, Picture>,
    /// Time on screen.
    pub delay: Delay,
}

/// A source of composed frames of one layout; a still is a source of one.
pub trait Frames: Send {
    /// The layout of every frame.
    fn layout(&self) -> Layout;
    /// How often they are shown.
    fn plays(&self) -> Plays;
    /// The next frame, or `None` after the last.
    ///
    /// # Errors
    /// Those of whoever decodes, or works on what was decoded.
    fn next(&mut self, run: Run<'_>) -> Result<Option<Frame<'_>>>;
    /// Begins again with the first frame.
    ///
    /// # Errors
    /// Where the source cannot be read a second time.
    fn restart(&mut self) -> Result<()>;
}

/// One picture as a source of frames.
#[derive(Debug, Clone)]
pub struct Still<'a> {
    picture: Cow<'a, Picture>,
    given: bool,
}

impl<'a> Still<'a> {
    /// Shows `picture`, borrowed or owned.
    pub fn new(picture: impl Into<Cow<'a, Picture>>) -> Self {
        Self { picture: picture.into(), given: false }
    }
}

impl Frames for Still<'_> {
    fn layout(&self) -> Layout {
        self.picture.layout()
    }

    fn plays(&self) -> Plays {
        Plays::ONCE
    }

    fn next(&mut self, _: Run<'_>) -> Result<Option<Frame<'_>>> {
        let fresh = !std::mem::replace(&mut self.given, true);
        Ok(fresh.then(|| Frame { picture: Cow::Borrowed(self.picture.as_ref()), delay: Delay::NONE }))
    }

    fn restart(&mut self) -> Result<()> {
        self.given = false;
        Ok(())
    }
}

/// Pictures in memory as a source of frames, each shown for a fifteenth of a second, seven times over.
#[cfg(test)]
pub(crate) struct Shown {
    pub(crate) pictures: Vec<Picture>,
    next: usize,
}

#[cfg(test)]
impl Shown {
    pub(crate) fn new(pictures: Vec<Picture>) -> Self {
        Self { pictures, next: 0 }
    }
}

#[cfg(test)]
impl Frames for Shown {
    fn layout(&self) -> Layout {
        self.pictures[0].layout()
    }

    fn plays(&self) -> Plays {
        Plays::Times(NonZeroU32::new(7).unwrap())
    }

    fn next(&mut self, _: Run<'_>) -> Result<Option<Frame<'_>>> {
        self.next += 1;
        let delay = Delay { numerator: 4000, denominator: NonZeroU32::new(60).unwrap() };
        Ok(self.pictures.get(self.next - 1).map(|picture| Frame { picture: Cow::Borrowed(picture), delay }))
    }

    fn restart(&mut self) -> Result<()> {
        self.next = 0;
        Ok(())
    }
}

impl From<Picture> for Cow<'_, Picture> {
    fn from(picture: Picture) -> Self {
        Cow::Owned(picture)
    }
}

impl<'a> From<&'a Picture> for Cow<'a, Picture> {
    fn from(picture: &'a Picture) -> Self {
        Cow::Borrowed(picture)
    }
}
