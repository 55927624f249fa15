//! Frames drawn one over the other, as a viewer does.

use super::{
    blocks::{Block, Place, Screen, Stored, Walk, plays},
    canvas, damaged,
    decompress::Decompressor,
};
use crate::{
    codec::sequence::{Area, Disposal, NOTHING, Pixel},
    control::Run,
    error::Result,
    picture::Plays,
};

/// Composes a file's frames one by one.
#[derive(Debug)]
pub(super) struct Player<'a> {
    start: Walk<'a>,
    walk: Walk<'a>,
    screen: Screen<'a>,
    width: usize,
    height: usize,
    canvas: Vec<Pixel>,
    /// What is to be done before the next frame.
    disposal: Option<Undo>,
    count: u32,
    decompressor: Decompressor,
    indices: Vec<u8>,
    plays: Plays,
}

#[derive(Debug)]
enum Undo {
    Clear(Area),
    Restore(Area, Vec<Pixel>),
}

impl<'a> Player<'a> {
    pub(super) fn new(file: &'a [u8], run: Run<'_>) -> Result<Self> {
        let (screen, start) = Walk::start(file)?;
        let first = start.clone().next_frame(run)?.ok_or_else(|| damaged("has no frames"))?;
        let (width, height) = canvas(screen, first.place);
        run.limits.check_canvas(width, height, 1)?;
        let (width, height) = (width as usize, height as usize);
        Ok(Self {
            walk: start.clone(),
            plays: times(start.clone(), run)?,
            start,
            screen,
            width,
            height,
            canvas: vec![NOTHING; width * height],
            disposal: None,
            count: 0,
            decompressor: Decompressor::new(),
            indices: Vec::new(),
        })
    }

    /// Width and height of the canvas in pixels.
    pub(super) const fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    pub(super) const fn plays(&self) -> Plays {
        self.plays
    }

    /// The canvas after the last frame drawn.
    pub(super) fn canvas(&self) -> &[Pixel] {
        &self.canvas
    }

    /// The index of this frame.
    pub(super) const fn index(&self) -> u32 {
        self.count.saturating_sub(1)
    }

    /// Begins again with an empty canvas.
    pub(super) fn restart(&mut self) {
        self.walk = self.start.clone();
        self.canvas.fill(NOTHING);
        (self.disposal, self.count) = (None, 0);
    }

    /// Draws the next frame and gives back the hundredths of a second that it is shown; `None` after the last.
    pub(super) fn draw(&mut self, run: Run<'_>) -> Result<Option<u16>> {
        run.check()?;
        let Some(frame) = self.walk.next_frame(run)? else { return Ok(None) };
        self.count += 1;
        match self.disposal.take() {
            Some(Undo::Clear(area)) => area.clear(&mut self.canvas, self.width),
            Some(Undo::Restore(area, before)) => {
                let rows = area.rows_mut(&mut self.canvas, self.width);
                rows.zip(before.chunks_exact(area.width)).for_each(|(row, before)| row.copy_from_slice(before));
            }
            None => {}
        }
        let area = self.area(frame.place);
        self.disposal = match frame.control.disposal {
            _ if area.width == 0 || area.height == 0 => None,
            Disposal::Keep => None,
            Disposal::Clear => Some(Undo::Clear(area)),
            Disposal::Restore => {
                let before = area.rows(&self.canvas, self.width).flatten().copied().collect();
                Some(Undo::Restore(area, before))
            }
        };
        self.paint(&frame, area, run)?;
        Ok(Some(frame.control.ticks))
    }

    fn paint(&mut self, frame: &Stored<'_>, area: Area, run: Run<'_>) -> Result<()> {
        let Place { width, height, .. } = frame.place;
        // What no canvas shows need not be decompressed, nor rows below it.
        if area.width == 0 || area.height == 0 {
            return Ok(());
        }
        let rows = if frame.interlaced { height as usize } else { area.height };
        run.limits.check_canvas(width, rows as u32, 1)?;
        let count = self.count;
        let bits = frame.code_bits.ok_or_else(|| damaged(format!("is cut off in its frame {count}")))?;
        let mut indices = std::mem::take(&mut self.indices);
        indices.resize(width as usize * rows, 0);
        self.decompressor.run(bits, frame.data, &mut indices, run)?;
        let colours = palette(frame, self.screen);
        let stored = indices.chunks_exact(width as usize);
        let order = Rows::new(frame.interlaced, height as usize);
        for (y, row) in order.zip(stored) {
            run.check()?;
            if y < area.height {
                let at = (area.y + y) * self.width + area.x;
                for (pixel, &index) in self.canvas[at..at + area.width].iter_mut().zip(row) {
                    let colour = colours[usize::from(index)];
                    if colour[3] != 0 {
                        *pixel = colour;
                    }
                }
            }
        }
        self.indices = indices;
        Ok(())
    }

    fn area(&self, place: Place) -> Area {
        let (x, y) = ((place.x as usize).min(self.width), (place.y as usize).min(self.height));
        let width = (place.width as usize).min(self.width - x);
        Area { x, y, width, height: (place.height as usize).min(self.height - y) }
    }
}

/// How often the file says that it is shown: once unless it says otherwise.
fn times(mut walk: Walk<'_>, run: Run<'_>) -> Result<Plays> {
    let mut times = Plays::ONCE;
    while let Some(block) = walk.next(run)? {
        if let Block::Application(name, data) = block {
            times = plays(name, data).unwrap_or(times);
        }
    }
    Ok(times)
}

/// The colours of all indices; what the table lacks is black, as in browsers, and what is meant to be is transparent.
fn palette(frame: &Stored<'_>, screen: Screen<'_>) -> [Pixel; 256] {
    let mut colours = [[0, 0, 0, 255]; 256];
    let table = frame.table.or(screen.table);
    for (colour, [r, g, b]) in colours.iter_mut().zip(table.into_iter().flat_map(|table| table.colours())) {
        *colour = [r, g, b, 255];
    }
    if let Some(index) = frame.control.transparent {
        colours[usize::from(index)] = NOTHING;
    }
    colours
}

/// The rows of a frame in the order in which they are stored.
struct Rows {
    pass: usize,
    y: usize,
    height: usize,
}

impl Rows {
    /// First row and distance of each pass of an interlaced frame.
    const PASSES: [(usize, usize); 4] = [(0, 8), (4, 8), (2, 4), (1, 2)];

    const fn new(interlaced: bool, height: usize) -> Self {
        Self { pass: if interlaced { 0 } else { Self::PASSES.len() }, y: 0, height }
    }
}

impl Iterator for Rows {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.y >= self.height {
            self.pass += 1;
            self.y = Self::PASSES.get(self.pass)?.0;
        }
        let y = self.y;
        self.y += Self::PASSES.get(self.pass).map_or(1, |pass| pass.1);
        Some(y)
    }
}
