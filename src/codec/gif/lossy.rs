//! A sequence drawn with small errors where they spare bits.
//!
//! Every pixel may keep what the canvas shows, or take another colour of the table, where the bits that this spares are
//! worth the error. Errors are judged against the true canvas of every frame, so that none adds up; what has not changed
//! since it was drawn is left alone, so that nothing shimmers.

use std::{borrow::Cow, cmp::Reverse};

use super::{
    frame::{Coded, Counts, needed},
    merged::{Merged, Source},
    recompress::Price,
    tables::{Needs, Table, global},
    trade::{MOST_SPARED, Trader, Wish, Wishes, distance, point},
    write::{TRAILER, write_head},
};
use crate::{
    codec::sequence::{Area, Canvases, Disposal, NOTHING, Pixel, Split, split},
    control::Run,
    error::Result,
};

/// Variance of luma at which an error costs half as much as where the picture is flat.
const BUSY: f32 = 200.0;
/// How much more an error costs in a pixel that stays.
const STAYING: f32 = 4.0;

/// Writes a sequence; `loss` is the squared error, in steps of luma, that a bit is worth. `None` if some canvas cannot be
/// reached.
pub(super) fn encode<S: Source>(merged: &mut Merged<S>, loss: f32, run: Run<'_>) -> Result<Option<Vec<u8>>> {
    let (width, height) = merged.size();
    let Some(splits) = split(merged, &mut Price { width }, run)? else { return Ok(None) };
    let mut needs = Vec::with_capacity(splits.len());
    merged.replay(&splits, run, |base, merged, split| {
        needs.push(needed(base, merged.canvas(), split.area, width));
        Ok(())
    })?;
    let table = global(&needs);
    drop(needs);
    let mut out = Vec::new();
    write_head(&mut out, (width, height), &table, merged.plays());
    let mut pen = Pen::new(width, height, loss, &table);
    merged.restart()?;
    for split in &splits {
        if !merged.advance(run)? {
            break;
        }
        let (coded, area) = pen.draw(merged.canvas(), merged.next(), split, run)?;
        coded.write(&mut out, &Split { area, ..*split }, merged.ticks, splits.len() == 1);
    }
    out.push(TRAILER);
    Ok(Some(out))
}

struct Pen<'t> {
    width: usize,
    loss: f32,
    global: &'t Table,
    trader: Trader,
    /// What lies on the canvas before the frame.
    base: Vec<Pixel>,
    /// What the frame before showed, and what it should have shown.
    shown: Vec<Pixel>,
    meant: Vec<Pixel>,
    first: bool,
}

impl<'t> Pen<'t> {
    fn new(width: usize, height: usize, loss: f32, global: &'t Table) -> Self {
        let empty = || vec![NOTHING; width * height];
        let (base, shown, meant) = (empty(), empty(), empty());
        Self { width, loss, global, trader: Trader::new(), base, shown, meant, first: true }
    }

    fn draw(
        &mut self,
        wanted: &[Pixel],
        next: Option<&[Pixel]>,
        split: &Split,
        run: Run<'_>,
    ) -> Result<(Coded<'t>, Area)> {
        let weights = weights(wanted, next, self.width, self.loss);
        let left = self.left(wanted, &weights);
        let area = self.area(&left, split);
        let (table, local, transparent) = self.table(wanted, &left, area);
        let pixels = self.pixels(wanted, &left, &weights, area, &table);
        let mut wishes =
            Wishes { pixels: &pixels, width: area.width, entries: &table.entries, transparent, leaves: true };
        let mut best = self.trader.code(&wishes, run)?;
        // Where nearly all changes, what is left out disturbs more phrases than it spares.
        if transparent.is_some() {
            wishes.leaves = false;
            let drawn = self.trader.code(&wishes, run)?;
            best = if drawn.price() < best.price() { drawn } else { best };
        }
        self.show(&best.indices, &table, transparent, area);
        self.meant.copy_from_slice(wanted);
        Split { area, ..*split }.leave(&mut self.base, &self.shown, self.width);
        self.first = false;
        Ok((Coded { table, local, codes: best.codes, transparent }, area))
    }

    /// What it costs in bits to leave each pixel as it is. What was right enough before is so again.
    fn left(&self, wanted: &[Pixel], weights: &[f32]) -> Vec<f32> {
        let cost = |at: usize| {
            let (base, wanted) = (self.base[at], wanted[at]);
            let settled = base == self.shown[at] && wanted == self.meant[at];
            match base[3] == wanted[3] {
                false => f32::INFINITY,
                true if settled || base == wanted => 0.0,
                true => weights[at] * distance(point(base), point(wanted)),
            }
        };
        (0..wanted.len()).map(cost).collect()
    }

    /// The least that holds all pixels that cannot be left.
    fn area(&self, left: &[f32], split: &Split) -> Area {
        if self.first {
            return split.area;
        }
        let must = |cost: &f32| *cost > MOST_SPARED;
        let lines = left.chunks_exact(self.width).enumerate().filter_map(|(y, row)| {
            let x = row.iter().position(must)?;
            let right = row.iter().rposition(must)?;
            Some(Area { x, y, width: right + 1 - x, height: 1 })
        });
        let area = lines.reduce(Area::with).unwrap_or(Area::LEAST);
        if split.disposal == Disposal::Clear { area.with(split.area) } else { area }
    }

    /// The global table if it has what may be drawn, or one of the most frequent colours of that; and the index that
    /// leaves pixels as they are, if some may be.
    fn table(&self, wanted: &[Pixel], left: &[f32], area: Area) -> (Cow<'t, Table>, bool, Option<u8>) {
        let (mut drawn, mut leaves) = (Counts::default(), false);
        for at in places(area, self.width) {
            leaves |= left[at] <= MOST_SPARED;
            if left[at] > 0.0 && wanted[at] != NOTHING {
                drawn.add(wanted[at]);
            }
        }
        let mut counted = drawn.finish();
        let (mut needed, mut useful, mut served) = ([false; 256], [0; 256], true);
        for &(colour, count) in &counted {
            match self.global.index(colour) {
                Some(index) => (needed[usize::from(index)], useful[usize::from(index)]) = (true, count),
                None => served = false,
            }
        }
        let free = self.global.transparent(&needed, &useful);
        if served && (free.is_some() || !leaves) {
            return (Cow::Borrowed(self.global), false, free.filter(|_| leaves));
        }
        counted.sort_unstable_by_key(|&(colour, count)| (Reverse(count), colour));
        counted.truncate(256 - usize::from(leaves));
        let mut colours: Vec<Pixel> = counted.into_iter().map(|(colour, _)| colour).collect();
        colours.sort_unstable();
        let transparent = leaves.then_some(colours.len() as u8);
        let needs = Needs { colours, transparent: leaves, idle: Vec::new() };
        (Cow::Owned(Table::local(&needs, false)), true, transparent)
    }

    fn pixels(&self, wanted: &[Pixel], left: &[f32], weights: &[f32], area: Area, table: &Table) -> Vec<Wish> {
        let mut last = (NOTHING, None);
        let mut index = |colour: Pixel| {
            if colour != last.0 {
                last = (colour, table.index(colour).or_else(|| nearest(&table.entries, colour)));
            }
            last.1
        };
        let wish = |at: usize| Wish {
            nearest: if wanted[at] == NOTHING { None } else { index(wanted[at]) },
            colour: wanted[at],
            base: self.base[at],
            left: left[at],
            weight: weights[at],
        };
        places(area, self.width).map(wish).collect()
    }

    fn show(&mut self, indices: &[u8], table: &Table, transparent: Option<u8>, area: Area) {
        self.shown.copy_from_slice(&self.base);
        for (at, &index) in places(area, self.width).zip(indices) {
            if Some(index) != transparent {
                let [r, g, b, _] = table.entries[usize::from(index)];
                self.shown[at] = [r, g, b, u8::MAX];
            }
        }
    }
}

/// The places of an area's pixels on a canvas.
fn places(area: Area, width: usize) -> impl Iterator<Item = usize> {
    (area.y..area.y + area.height).flat_map(move |y| y * width + area.x..y * width + area.x + area.width)
}

fn nearest(entries: &[Pixel], wanted: Pixel) -> Option<u8> {
    let far = |entry: &Pixel| distance(point(*entry), point(wanted));
    let known = entries.iter().enumerate().filter(|(_, entry)| entry[3] != 0);
    known.min_by(|one, other| far(one.1).total_cmp(&far(other.1))).map(|(index, _)| index as u8)
}

/// What a unit of error costs in bits, pixel by pixel: less where the picture is busy, more where it stays.
fn weights(canvas: &[Pixel], next: Option<&[Pixel]>, width: usize, loss: f32) -> Vec<f32> {
    let luma: Vec<f32> = canvas.iter().map(|&pixel| point(pixel)[0]).collect();
    let height = canvas.len() / width;
    let mut out = Vec::with_capacity(canvas.len());
    for y in 0..height {
        let rows = y.saturating_sub(1)..(y + 2).min(height);
        for x in 0..width {
            let columns = x.saturating_sub(1)..(x + 2).min(width);
            let count = (rows.len() * columns.len()) as f32;
            let (mut sum, mut squares) = (0.0, 0.0);
            for row in rows.clone() {
                for value in &luma[row * width + columns.start..row * width + columns.end] {
                    sum += value;
                    squares += value * value;
                }
            }
            let variance = ((squares - sum * sum / count) / count).max(0.0);
            let at = y * width + x;
            let stays = next.is_some_and(|next| next[at] == canvas[at]);
            let weight = if stays { STAYING } else { 1.0 };
            out.push(weight / (loss * (1.0 + variance / BUSY)));
        }
    }
    out
}
