//! A picture in overlapping tiles, on several cores.

use std::sync::{Mutex, PoisonError};

use super::{Model, Raster, Shape};
use crate::{
    control::{Run, Stage},
    error::{Error, Result},
};

/// Where results go: their left and top in the output, and the pixels.
pub(in super::super) type Sink<'a> = dyn FnMut(u32, u32, &Raster) + Send + 'a;

/// Takes a picture of `size` through `model`, tile by tile of `shape` in any order, each with as much around it as the model
/// looks at. `source` gives the pixel at a place inside the picture. The output is that of the whole picture in one tile, to
/// rounding.
pub(in super::super) fn through(
    model: &dyn Model,
    shape: Shape,
    size: (u32, u32),
    source: &(dyn Fn(u32, u32) -> [f32; 3] + Sync),
    sink: &mut Sink<'_>,
    run: Run<'_>,
) -> Result<()> {
    let tiles = tiles(size, shape);
    let sink = Mutex::new((sink, 0u32));
    run.side_by_side(&tiles, || {
        |tile: &Tile| {
            let result = tile.run(model, source, run)?;
            let mut sink = sink.lock().unwrap_or_else(PoisonError::into_inner);
            (sink.0)(tile.left * tile.scale, tile.top * tile.scale, &result);
            sink.1 += 1;
            run.control.stage(Stage::Operations, 0.25 + 0.25 * sink.1 as f32 / tiles.len() as f32);
            Ok(())
        }
    })?;
    Ok(())
}

/// A part of the output, in pixels of the input, and what is seen of the picture for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tile {
    left: u32,
    top: u32,
    width: u32,
    height: u32,
    /// Of what is seen, whose sides are multiples that may reach beyond the picture.
    seen_left: u32,
    seen_top: u32,
    seen_width: u32,
    seen_height: u32,
    picture: (u32, u32),
    scale: u32,
}

fn tiles(picture: (u32, u32), shape: Shape) -> Vec<Tile> {
    let multiple = shape.multiple.max(1);
    let margin = shape.margin.next_multiple_of(multiple);
    let side = shape.tile.max(1).next_multiple_of(multiple);
    let along = |start: u32, whole: u32| {
        let length = side.min(whole - start);
        let seen_start = start.saturating_sub(margin);
        let seen_end = (start + length).next_multiple_of(multiple).saturating_add(margin);
        (length, seen_start, seen_end.min(whole.next_multiple_of(multiple)) - seen_start)
    };
    let mut tiles = Vec::new();
    for top in (0..picture.1).step_by(side as usize) {
        let (height, seen_top, seen_height) = along(top, picture.1);
        for left in (0..picture.0).step_by(side as usize) {
            let (width, seen_left, seen_width) = along(left, picture.0);
            let scale = shape.scale;
            tiles.push(Tile { left, top, width, height, seen_left, seen_top, seen_width, seen_height, picture, scale });
        }
    }
    tiles
}

impl Tile {
    fn run(&self, model: &dyn Model, source: &(dyn Fn(u32, u32) -> [f32; 3] + Sync), run: Run<'_>) -> Result<Raster> {
        let mut samples = Vec::with_capacity(self.seen_width as usize * self.seen_height as usize * 3);
        for y in self.seen_top..self.seen_top + self.seen_height {
            for x in self.seen_left..self.seen_left + self.seen_width {
                // What has to be there to make up a multiple repeats the edge.
                samples.extend(source(x.min(self.picture.0 - 1), y.min(self.picture.1 - 1)));
            }
        }
        let (left, top) = (self.left - self.seen_left, self.top - self.seen_top);
        let beyond = |length: u32, seen: u32, before: u32| seen.saturating_sub(before + length);
        let (right, bottom) = (beyond(self.width, self.seen_width, left), beyond(self.height, self.seen_height, top));
        let raster = Raster::new(self.seen_width, self.seen_height, samples)?;
        let whole = model.run(raster.with_margins([left, top, right, bottom]), run)?;
        let expected = (self.seen_width * self.scale, self.seen_height * self.scale);
        if (whole.width(), whole.height()) != expected {
            let (width, height) = (whole.width(), whole.height());
            let problem = format!("{width}x{height} pixels came out where {expected:?} were expected");
            return Err(Error::internal("running a network", problem));
        }
        if !whole.samples().iter().all(|sample| sample.is_finite()) {
            return Err(Error::internal("running a network", "what came out holds what is no number"));
        }
        self.cut(&whole)
    }

    /// Without margins.
    fn cut(&self, whole: &Raster) -> Result<Raster> {
        let (width, height) = (self.width * self.scale, self.height * self.scale);
        let (left, top) = ((self.left - self.seen_left) * self.scale, (self.top - self.seen_top) * self.scale);
        let rows = (top..top + height).map(|y| &whole.row(y as usize)[left as usize..(left + width) as usize]);
        Raster::new(width, height, rows.flat_map(<[_]>::as_flattened).copied().collect())
    }
}
