//! Frames as a GIF shows them that was made of them, for as long as they were meant.

use std::num::NonZeroU32;

use crate::{
    codec::Codecs,
    control::Run,
    error::{Error, Result},
    format::Format,
    picture::{Delay, Frame, Frames, Layout, Picture, Plays},
};

/// Milliseconds for which [`Paced`] shows every frame.
const PACE_MS: u32 = 100;

/// Frames that are all shown for as long, so that those of a GIF can be told by their time.
pub(super) struct Paced<'f>(pub(super) &'f mut dyn Frames);

impl Frames for Paced<'_> {
    fn layout(&self) -> Layout {
        self.0.layout()
    }

    fn plays(&self) -> Plays {
        self.0.plays()
    }

    fn next(&mut self, run: Run<'_>) -> Result<Option<Frame<'_>>> {
        let delay = Delay { numerator: PACE_MS, denominator: NonZeroU32::MIN };
        Ok(self.0.next(run)?.map(|frame| Frame { delay, ..frame }))
    }

    fn restart(&mut self) -> Result<()> {
        self.0.restart()
    }
}

/// The pictures of a GIF of [`Paced`] frames with the delays of these frames.
pub(super) struct Repainted<'a> {
    original: &'a mut dyn Frames,
    painted: Box<dyn Frames + 'a>,
    /// What is shown, and for how many frames more.
    shown: Option<Picture>,
    left: u32,
}

impl<'a> Repainted<'a> {
    pub(super) fn new(original: &'a mut dyn Frames, gif: &'a [u8], codecs: &Codecs, run: Run<'a>) -> Result<Self> {
        let painted = codecs.frames(Format::Gif, gif, &Default::default(), run)?;
        Ok(Self { original, painted, shown: None, left: 0 })
    }
}

impl Frames for Repainted<'_> {
    fn layout(&self) -> Layout {
        self.painted.layout()
    }

    fn plays(&self) -> Plays {
        self.original.plays()
    }

    fn next(&mut self, run: Run<'_>) -> Result<Option<Frame<'_>>> {
        let Some(Frame { delay, .. }) = self.original.next(run)? else { return Ok(None) };
        if self.left == 0
            && let Some(Frame { picture, delay }) = self.painted.next(run)?
        {
            self.left = delay.numerator / delay.denominator / PACE_MS;
            self.shown = Some(picture.into_owned());
        }
        self.left = self.left.saturating_sub(1);
        let missing = || Error::internal("drawing frames again", "a GIF of them has fewer");
        let picture = self.shown.as_ref().ok_or_else(missing)?.into();
        Ok(Some(Frame { picture, delay }))
    }

    fn restart(&mut self) -> Result<()> {
        (self.shown, self.left) = (None, 0);
        self.painted.restart()?;
        self.original.restart()
    }
}
