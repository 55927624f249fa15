//! Some frames of an animation, for searching, and frames drawn anew.

use crate::{
    control::Run,
    error::Result,
    optimize::{
        moving::{
            Scores,
            clip::Clip,
            viewed::{Judge, Look, Score},
        },
        palette::{Palette, Remap, Sequence},
    },
    picture::{Channels, Depth, Frame, Frames, Layout, Picture, Plays},
};

/// Pixels that are drawn in a trial, over all frames.
const MOST_PIXELS: u64 = 3_000_000;
/// Frames that follow each other in a clip, at least.
const RUN: u32 = 4;

/// Draws pictures that follow each other.
pub(super) trait Draw: Send {
    /// What the next picture, of 8 bits, looks like.
    fn next(&mut self, picture: &Picture, run: Run<'_>) -> Result<Picture>;
    /// Forgets what was drawn.
    fn restart(&mut self);
}

impl Draw for Sequence<'_> {
    fn next(&mut self, picture: &Picture, run: Run<'_>) -> Result<Picture> {
        self.next(picture, run)
    }

    fn restart(&mut self) {
        self.restart();
    }
}

/// A sample of an animation: clips spread over it.
pub(super) fn sample(frames: &mut dyn Frames, count: u32) -> Clip<'_> {
    let fit = (MOST_PIXELS / frames.layout().pixels().max(1)).max(2).min(count.into()) as u32;
    let taken = if fit >= count { count } else { fit.min(RUN) };
    let clips = (fit / taken.max(1)).max(1);
    Clip::periodic(frames, count, taken, (count / clips).max(taken).max(1))
}

/// Frames as drawn.
pub(super) struct Drawn<'a, 'f, D> {
    pub(super) frames: &'a mut Clip<'f>,
    pub(super) draw: D,
}

impl<D: Draw> Frames for Drawn<'_, '_, D> {
    fn layout(&self) -> Layout {
        Layout { channels: Channels::Rgba, depth: Depth::Eight, ..self.frames.layout() }
    }

    fn plays(&self) -> Plays {
        self.frames.plays()
    }

    fn next(&mut self, run: Run<'_>) -> Result<Option<Frame<'_>>> {
        let Some(Frame { picture, delay }) = self.frames.next(run)? else { return Ok(None) };
        let drawn = self.draw.next(&picture, run)?.into_channels(Channels::Rgba);
        Ok(Some(Frame { picture: drawn.into(), delay }))
    }

    fn restart(&mut self) -> Result<()> {
        self.draw.restart();
        self.frames.restart()
    }
}

impl<D: Draw> Drawn<'_, '_, D> {
    /// Every frame beside what is drawn of it.
    pub(super) fn scores(&mut self, judge: Option<Judge>, run: Run<'_>) -> Result<Scores> {
        Frames::restart(self)?;
        let mut scores = Vec::new();
        let mut last: Option<(Picture, Picture, Score)> = None;
        while let Some(Frame { picture, .. }) = self.frames.next(run)? {
            let drawn = self.draw.next(&picture, run)?;
            let score = match &last {
                Some((before, shown, score)) if *before == *picture && *shown == drawn => *score,
                _ => Look::of(&picture, judge, run)?.score(&drawn, judge, run)?,
            };
            scores.push(score);
            last = Some((picture.into_owned(), drawn, score));
        }
        Ok(Scores::judged(scores.into_iter()))
    }
}

/// Draws with one palette.
pub(super) fn drawn<'a, 'f>(
    frames: &'a mut Clip<'f>,
    palette: &'a Palette,
    (how, still): (Remap, f32),
) -> Drawn<'a, 'f, Sequence<'a>> {
    let Layout { width, height, .. } = frames.layout();
    Drawn { frames, draw: Sequence::new(palette, how, still, (width, height)) }
}
