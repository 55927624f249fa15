//! The canvases of an animation, those that equal the ones before them merged with these.

use super::player::Player;
use crate::{
    codec::sequence::{Canvases, NOTHING, Pixel, Split},
    control::Run,
    error::{Error, Result},
    picture::Plays,
};

/// What draws canvases one by one.
pub(super) trait Source {
    /// Width and height in pixels.
    fn size(&self) -> (usize, usize);
    fn plays(&self) -> Plays;
    /// Begins again with an empty canvas.
    fn restart(&mut self) -> Result<()>;
    /// Draws the next canvas and gives back the hundredths of a second that it is shown; `None` after the last.
    fn draw(&mut self, run: Run<'_>) -> Result<Option<u16>>;
    /// The canvas after the last frame drawn.
    fn canvas(&self) -> &[Pixel];
    /// The index of this frame.
    fn index(&self) -> u32;
}

impl Source for Player<'_> {
    fn size(&self) -> (usize, usize) {
        self.size()
    }

    fn plays(&self) -> Plays {
        self.plays()
    }

    fn restart(&mut self) -> Result<()> {
        self.restart();
        Ok(())
    }

    fn draw(&mut self, run: Run<'_>) -> Result<Option<u16>> {
        self.draw(run)
    }

    fn canvas(&self) -> &[Pixel] {
        self.canvas()
    }

    fn index(&self) -> u32 {
        self.index()
    }
}

/// Canvases as drawn, each for as long as it stays the same.
pub(super) struct Merged<S> {
    source: S,
    /// What the source has drawn and is not gone on to yet.
    ahead: Option<u16>,
    started: bool,
    canvas: Vec<Pixel>,
    pub(super) ticks: u16,
    /// Of the first frame that shows it.
    pub(super) index: u32,
}

/// Browsers show a frame for a tenth of a second if it has fewer ticks than this.
const LEAST_TICKS: u16 = 2;

impl<S: Source> Merged<S> {
    pub(super) fn new(source: S) -> Self {
        let canvas = source.canvas().to_vec();
        Self { source, ahead: None, started: false, canvas, ticks: 0, index: 0 }
    }

    pub(super) fn plays(&self) -> Plays {
        self.source.plays()
    }

    /// The canvas behind the one gone on to.
    pub(super) fn next(&self) -> Option<&[Pixel]> {
        self.ahead.map(|_| self.source.canvas())
    }

    /// Goes through all canvases again, each with what lies there before it is drawn.
    pub(super) fn replay(
        &mut self,
        splits: &[Split],
        run: Run<'_>,
        mut each: impl FnMut(&[Pixel], &Self, &Split) -> Result<()>,
    ) -> Result<()> {
        self.restart()?;
        let width = self.size().0;
        let mut base = vec![NOTHING; self.canvas.len()];
        for split in splits {
            if !self.advance(run)? {
                return Err(Error::internal("writing frames", "there are fewer of them than before"));
            }
            each(&base, self, split)?;
            split.leave(&mut base, &self.canvas, width);
        }
        Ok(())
    }
}

impl<S: Source> Canvases for Merged<S> {
    fn size(&self) -> (usize, usize) {
        self.source.size()
    }

    fn restart(&mut self) -> Result<()> {
        self.source.restart()?;
        (self.ahead, self.started) = (None, false);
        Ok(())
    }

    fn advance(&mut self, run: Run<'_>) -> Result<bool> {
        if !std::mem::replace(&mut self.started, true) {
            self.ahead = self.source.draw(run)?;
        }
        let Some(ticks) = self.ahead else { return Ok(false) };
        self.canvas.copy_from_slice(self.source.canvas());
        (self.ticks, self.index) = (ticks, self.source.index());
        loop {
            self.ahead = self.source.draw(run)?;
            let Some(more) = self.ahead.filter(|&more| more.min(self.ticks) >= LEAST_TICKS) else { break };
            let Some(sum) = self.ticks.checked_add(more) else { break };
            if self.source.canvas() != self.canvas {
                break;
            }
            self.ticks = sum;
        }
        Ok(true)
    }

    fn canvas(&self) -> &[Pixel] {
        &self.canvas
    }
}
