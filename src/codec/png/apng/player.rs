//! Frames drawn one over the other, as a viewer does.

use super::{
    super::{decode::image, header::Header, parts::Parts, probe},
    pixel::{Colour, picture, pixels},
    stored::{Stored, frames},
};
use crate::{
    codec::sequence::{Area, Disposal},
    control::Run,
    error::Result,
    picture::{Channels, Depth, Frame, Frames, Layout, Plays},
};

/// Composes a file's frames one by one. `C` has the depth of the file.
#[derive(Debug)]
pub(super) struct Player<'a, C> {
    parts: Parts<'a>,
    frames: Vec<Stored<'a>>,
    channels: Channels,
    canvas: Vec<C>,
    next: usize,
    /// What is to be done before the next frame.
    undo: Option<Undo<C>>,
}

#[derive(Debug)]
enum Undo<C> {
    Clear(Area),
    Restore(Area, Vec<C>),
}

/// The frames of a file in its own depth.
pub(super) fn composed<'a>(bytes: &'a [u8], run: Run<'a>) -> Result<Box<dyn Frames + 'a>> {
    let parts = Parts::of(bytes)?;
    Ok(match parts.header.depth {
        16 => Box::new(Player::<[u16; 4]>::new(parts, run)?),
        _ => Box::new(Player::<[u8; 4]>::new(parts, run)?),
    })
}

impl<'a, C: Colour> Player<'a, C> {
    fn new(parts: Parts<'a>, run: Run<'_>) -> Result<Self> {
        let frames = frames(&parts)?;
        let (width, height) = (parts.header.width, parts.header.height);
        run.limits.check_canvas(width, height, frames.len() as u32)?;
        parts.check_data(run)?;
        let channels = match (probe::is_gray(&parts), may_be_transparent(&parts, &frames)) {
            (true, false) => Channels::Gray,
            (true, true) => Channels::GrayAlpha,
            (false, false) => Channels::Rgb,
            (false, true) => Channels::Rgba,
        };
        let canvas = vec![C::default(); width as usize * height as usize];
        Ok(Self { parts, frames, channels, canvas, next: 0, undo: None })
    }

    fn draw(&mut self, run: Run<'_>) -> Result<()> {
        let width = self.parts.header.width as usize;
        match self.undo.take() {
            Some(Undo::Clear(area)) => area.clear(&mut self.canvas, width),
            Some(Undo::Restore(area, before)) => {
                for (row, before) in rows(&mut self.canvas, area, width).zip(before.chunks_exact(area.width)) {
                    row.copy_from_slice(before);
                }
            }
            None => {}
        }
        let Stored { control, data } = &self.frames[self.next];
        let area = control.area;
        self.undo = match control.disposal {
            Disposal::Keep => None,
            Disposal::Restore if self.next > 0 => {
                Some(Undo::Restore(area, area.rows(&self.canvas, width).flatten().copied().collect()))
            }
            _ => Some(Undo::Clear(area)),
        };
        let header = Header { width: area.width as u32, height: area.height as u32, ..self.parts.header };
        let drawn: Vec<C> = pixels(&image(&self.parts, header, data, run)?)?;
        run.check()?;
        for (row, drawn) in rows(&mut self.canvas, area, width).zip(drawn.chunks_exact(area.width)) {
            if control.over {
                row.iter_mut().zip(drawn).for_each(|(below, above)| *below = above.over(*below));
            } else {
                row.copy_from_slice(drawn);
            }
        }
        self.next += 1;
        Ok(())
    }
}

/// Whether a canvas may be transparent anywhere: as pixels are stored, as frames are cleared, and beside a first frame
/// that does not cover it.
pub(in super::super) fn is_ever_transparent(parts: &Parts<'_>) -> bool {
    parts.has_alpha() || frames(parts).is_ok_and(|frames| may_be_transparent(parts, &frames))
}

fn may_be_transparent(parts: &Parts<'_>, frames: &[Stored<'_>]) -> bool {
    let covers = |area: Area| (area.width, area.height) == (parts.header.width as usize, parts.header.height as usize);
    let first = frames.first().map(|first| first.control);
    parts.has_alpha()
        || frames.iter().any(|frame| frame.control.disposal == Disposal::Clear)
        || first.is_some_and(|first| first.disposal == Disposal::Restore || !covers(first.area))
}

fn rows<C>(canvas: &mut [C], area: Area, width: usize) -> impl Iterator<Item = &mut [C]> {
    let rows = canvas.chunks_exact_mut(width).skip(area.y).take(area.height);
    rows.map(move |row| &mut row[area.x..area.x + area.width])
}

impl<C: Colour> Frames for Player<'_, C> {
    fn layout(&self) -> Layout {
        let depth = if C::SIXTEEN { Depth::Sixteen } else { Depth::Eight };
        Layout { width: self.parts.header.width, height: self.parts.header.height, channels: self.channels, depth }
    }

    fn plays(&self) -> Plays {
        std::num::NonZeroU32::new(self.parts.plays()).map_or(Plays::Forever, Plays::Times)
    }

    fn next(&mut self, run: Run<'_>) -> Result<Option<Frame<'_>>> {
        run.check()?;
        if self.next == self.frames.len() {
            return Ok(None);
        }
        self.draw(run)?;
        let delay = self.frames[self.next - 1].control.delay();
        Ok(Some(Frame { picture: picture(&self.canvas, self.layout())?.into(), delay }))
    }

    fn restart(&mut self) -> Result<()> {
        self.canvas.fill(C::default());
        (self.next, self.undo) = (0, None);
        Ok(())
    }
}
