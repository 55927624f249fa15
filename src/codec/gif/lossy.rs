//! A sequence drawn with small errors where they spare bits.
//!
//! Every pixel may keep what the canvas shows, or take another colour of the table, where the bits that this spares are
//! worth the error. Errors are judged against the true canvas of every frame, so that none adds up; what has not changed
//! since it was drawn is left alone, so that nothing shimmers.

use std::{borrow::Cow, cmp::Reverse, ops::Range};

use super::{
    colour::{Point, distance, error, point},
    frame::{Coded, Counts, finalists},
    masking::weights,
    merged::{Merged, Source},
    recompress::Draft,
    tables::{Needs, Table},
    trade::Trader,
    wishes::{MOST_SPARED, Wish, Wishes},
    write::{TRAILER, write_head},
};
use crate::{
    codec::{
        GifOptions,
        known::Known,
        plain::{REACH, areas},
        sequence::{Area, Canvases, Disposal, NOTHING, Pixel, Split},
    },
    control::Run,
    error::Result,
};

/// The squared error, in steps of luma, that nothing is left with in a plain area: what fades there, appears or is marked in
/// another shade would be gone before any score tells.
const SEEN: f32 = 9.0;
/// What no frame bears less than: a bit must be worth something.
const LEAST_LOSS: f32 = 1.0 / 64.0;
/// How much dearer a frame may be if nothing is left that need not be, for that to be tried with the next one as well; and how
/// many frames pass otherwise until it is.
const WORSE: f32 = 1.02;
const REST: u32 = 8;
/// How much more an error of a table costs, which no other pixel makes up for.
const POORER: f32 = 30.0;

/// Writes a sequence; `None` if some canvas cannot be reached.
pub(super) fn encode<S: Source>(merged: &mut Merged<S>, options: &GifOptions, run: Run<'_>) -> Result<Option<Vec<u8>>> {
    let (width, height) = merged.size();
    let Some(Draft { splits, table, .. }) = Draft::of(merged, run)? else { return Ok(None) };
    let mut out = Vec::new();
    write_head(&mut out, (width, height), &table, merged.plays());
    let mut pen = Pen::new(width, height, &table);
    merged.restart()?;
    for split in &splits {
        if !merged.advance(run)? {
            break;
        }
        pen.take(options.of(merged.index).max(LEAST_LOSS));
        let (coded, area) = pen.draw(merged.canvas(), merged.next(), split, run)?;
        coded.write(&mut out, &Split { area, ..*split }, merged.ticks, splits.len() == 1);
    }
    out.push(TRAILER);
    Ok(Some(out))
}

/// What the pixels of an area cost in bits.
struct Costs {
    area: Area,
    /// If they are left as they are.
    left: Vec<f32>,
    /// For a unit of error.
    weights: Vec<f32>,
}

impl Costs {
    /// Those of a part of the area, row by row behind the places of the row on a canvas so `wide`.
    fn within(
        &self,
        part: Area,
        wide: usize,
        run: Run<'_>,
    ) -> impl Iterator<Item = Result<(Range<usize>, &[f32], &[f32])>> {
        let Area { x, y, width, .. } = self.area;
        let inner = Area { x: part.x - x, y: part.y - y, ..part };
        let costs = inner.rows(&self.left, width).zip(inner.rows(&self.weights, width));
        rows(part, wide, run).zip(costs).map(|(row, (left, weights))| Ok((row?, left, weights)))
    }
}

struct Pen<'t> {
    width: usize,
    /// The squared error, in steps of luma, that a bit is worth.
    loss: f32,
    /// Whether it is less than that of the frame before, by which what was right enough there may not be here.
    stricter: bool,
    /// In the global table.
    nearest: Nearest<'t>,
    trader: Trader,
    /// What lies on the canvas before the frame.
    base: Vec<Pixel>,
    /// What the frame before showed, whether that is what lies there, and what it should have shown.
    shown: Vec<Pixel>,
    stays: bool,
    meant: Vec<Pixel>,
    first: bool,
    /// Of the frames before.
    bytes: usize,
    /// Frames until everything is tried again.
    resting: u32,
}

impl<'t> Pen<'t> {
    fn new(width: usize, height: usize, global: &'t Table) -> Self {
        let empty = || vec![NOTHING; width * height];
        let (base, shown, meant) = (empty(), empty(), empty());
        let (nearest, trader) = (Nearest::new(global, width * height), Trader::new());
        let (loss, stricter, stays, first, bytes, resting) = (f32::INFINITY, false, true, true, 0, 0);
        Self { width, loss, stricter, nearest, trader, base, shown, stays, meant, first, bytes, resting }
    }

    fn take(&mut self, loss: f32) {
        (self.stricter, self.loss) = (loss < self.loss, loss);
    }

    fn draw(
        &mut self,
        wanted: &[Pixel],
        next: Option<&[Pixel]>,
        split: &Split,
        run: Run<'_>,
    ) -> Result<(Coded<'t>, Area)> {
        let touched = self.touched(wanted, split, run)?;
        let weights = weights((wanted, next), self.width, touched, self.loss, run)?;
        let costs = Costs { left: self.left(wanted, touched, &weights, run)?, weights, area: touched };
        let area = if self.first { split.area } else { self.area(&costs, split) };
        let (table, local, transparent) = self.table(wanted, &costs, area, run)?;
        let pixels = self.pixels(wanted, &costs, area, (&table, local), run)?;
        drop(costs);
        let (width, entries, thorough) = (area.width, &table.entries, finalists(self.bytes, pixels.len()) > 1);
        let mut wishes = Wishes { pixels: &pixels, width, entries, transparent, leaves: true, thorough };
        let mut best = self.trader.code(&wishes, run)?;
        // Where nearly all changes, what is left out disturbs more phrases than it spares.
        self.resting = self.resting.saturating_sub(1);
        if transparent.is_some() && self.resting == 0 && thorough {
            wishes.leaves = false;
            let drawn = self.trader.code(&wishes, run)?;
            self.resting = if drawn.price() > best.price() * WORSE { REST } else { 0 };
            best = if drawn.price() < best.price() { drawn } else { best };
        }
        self.show(&best.indices, &table, transparent, area, run)?;
        self.meant.copy_from_slice(wanted);
        Split { area, ..*split }.leave(&mut self.base, &self.shown, self.width);
        self.stays = split.disposal == Disposal::Keep;
        self.first = false;
        self.bytes += best.codes.len();
        Ok((Coded { table, local, codes: best.codes, transparent }, area))
    }

    /// The least that holds all pixels that it costs something to leave, and what has to be drawn or cleared.
    fn touched(&self, wanted: &[Pixel], split: &Split, run: Run<'_>) -> Result<Area> {
        let costs = |at: usize| wanted[at] != self.base[at] && !self.is_settled(at, wanted[at]);
        let mut stopped = Ok(());
        let go_on = |_: &usize| {
            stopped = run.check();
            stopped.is_ok()
        };
        let rows = (0..wanted.len()).step_by(self.width).take_while(go_on);
        let least = Area::least(rows, self.width, |start, x| costs(start + x)).unwrap_or(Area::LEAST);
        stopped?;
        Ok(if self.first || split.disposal == Disposal::Clear { least.with(split.area) } else { least })
    }

    /// Whether a pixel was right enough before.
    fn is_settled(&self, at: usize, wanted: Pixel) -> bool {
        !self.stricter && self.base[at] == self.shown[at] && wanted == self.meant[at] && self.base[at][3] == wanted[3]
    }

    /// What it costs in bits to leave each pixel of `area` as it is. What was right enough before is so again.
    fn left(&self, wanted: &[Pixel], area: Area, weights: &[f32], run: Run<'_>) -> Result<Vec<f32>> {
        // Those around it that say which of its pixels are plain.
        let around = area.grown(REACH, (self.width, wanted.len() / self.width));
        let seen: Vec<Pixel> = around.rows(wanted, self.width).flatten().copied().collect();
        let plain = areas(&seen, around.width, run)?;
        let plain = Area { x: area.x - around.x, y: area.y - around.y, ..area }.rows(&plain, around.width);
        let cost = |((at, weight), &plain): ((usize, &f32), &bool)| match (self.base[at], wanted[at]) {
            (base, wanted) if base[3] != wanted[3] => f32::INFINITY,
            (base, wanted) if base == wanted || self.is_settled(at, wanted) => 0.0,
            (base, wanted) => match error(point(base), point(wanted)) {
                far if plain && far > SEEN => f32::INFINITY,
                far => weight * far,
            },
        };
        let mut left = Vec::with_capacity(weights.len());
        for ((row, weights), plain) in rows(area, self.width, run).zip(weights.chunks_exact(area.width)).zip(plain) {
            left.extend(row?.zip(weights).zip(plain).map(cost));
        }
        Ok(left)
    }

    /// The least that holds all pixels that cannot be left.
    fn area(&self, costs: &Costs, split: &Split) -> Area {
        let Area { x, y, width, .. } = costs.area;
        let rows = costs.left.chunks_exact(width);
        let area = match Area::least(rows, width, |row, x| row[x] > MOST_SPARED) {
            Some(least) => Area { x: x + least.x, y: y + least.y, ..least },
            None => Area { width: 1, height: 1, ..costs.area },
        };
        if split.disposal == Disposal::Clear { area.with(split.area) } else { area }
    }

    /// The global table if errors of its nearest colours cost less than a table of the frame's own, or one of the most frequent
    /// colours of what may be drawn; and the index that leaves pixels as they are, if some may be.
    fn table(
        &mut self,
        wanted: &[Pixel],
        costs: &Costs,
        area: Area,
        run: Run<'_>,
    ) -> Result<(Cow<'t, Table>, bool, Option<u8>)> {
        let (mut drawn, mut leaves, mut lost) = (Counts::default(), false, 0.0);
        let (global, nearest) = (self.nearest.table, &mut self.nearest);
        for row in costs.within(area, self.width, run) {
            let (row, left, weights) = row?;
            for (&wanted, (&left, weight)) in wanted[row].iter().zip(left.iter().zip(weights)) {
                leaves |= left <= MOST_SPARED;
                if left > 0.0 && wanted != NOTHING {
                    drawn.add(wanted);
                    lost += nearest.of(wanted).map_or(left, |near| left.min(weight * near.error));
                }
            }
        }
        let mut counted = drawn.finish();
        let (mut needed, mut useful) = ([false; 256], [0; 256]);
        for &(colour, count) in &counted {
            if let Some(Near { index, .. }) = nearest.of(colour) {
                needed[usize::from(index)] = true;
                useful[usize::from(index)] += count;
            }
        }
        let free = global.transparent(&needed, &useful);
        let own = Table::bytes_of((counted.len() + usize::from(leaves)).min(256)) * 8;
        if lost * POORER <= own as f32 && (free.is_some() || !leaves) {
            return Ok((Cow::Borrowed(global), false, free.filter(|_| leaves)));
        }
        counted.sort_unstable_by_key(|&(colour, count)| (Reverse(count), colour));
        counted.truncate(256);
        if leaves && counted.len() == 256 {
            counted.remove(spare(&counted));
        }
        let mut colours: Vec<Pixel> = counted.into_iter().map(|(colour, _)| colour).collect();
        colours.sort_unstable();
        let transparent = leaves.then_some(colours.len() as u8);
        let needs = Needs { colours, transparent: leaves, idle: Vec::new() };
        Ok((Cow::Owned(Table::local(&needs, false)), true, transparent))
    }

    fn pixels(
        &mut self,
        wanted: &[Pixel],
        costs: &Costs,
        area: Area,
        (table, local): (&Table, bool),
        run: Run<'_>,
    ) -> Result<Vec<Wish>> {
        let mut own = Nearest::new(table, area.width * area.height);
        let mut nearest = |colour| if local { own.of(colour) } else { self.nearest.of(colour) };
        let mut wish = |(at, (&left, &weight)): (usize, (&f32, &f32))| {
            let near = if wanted[at] == NOTHING { None } else { nearest(wanted[at]) };
            let near = near.map(|Near { index, .. }| (index, table.entries[usize::from(index)]));
            Wish::new((wanted[at], self.base[at]), near, (left, weight))
        };
        let mut pixels = Vec::with_capacity(area.width * area.height);
        for row in costs.within(area, self.width, run) {
            let (row, left, weights) = row?;
            pixels.extend(row.zip(left.iter().zip(weights)).map(&mut wish));
        }
        Ok(pixels)
    }

    fn show(&mut self, indices: &[u8], table: &Table, transparent: Option<u8>, area: Area, run: Run<'_>) -> Result<()> {
        if !self.stays {
            self.shown.copy_from_slice(&self.base);
        }
        for (row, indices) in rows(area, self.width, run).zip(indices.chunks_exact(area.width)) {
            for (shown, &index) in self.shown[row?].iter_mut().zip(indices) {
                if Some(index) != transparent {
                    let [r, g, b, _] = table.entries[usize::from(index)];
                    *shown = [r, g, b, u8::MAX];
                }
            }
        }
        Ok(())
    }
}

/// The places of an area's rows on a canvas, as long as nobody wants the work to end.
fn rows(area: Area, width: usize, run: Run<'_>) -> impl Iterator<Item = Result<Range<usize>>> {
    let place = move |y| y * width + area.x..y * width + area.x + area.width;
    (area.y..area.y + area.height).map(move |y| run.check().map(|()| place(y)))
}

/// The entries of a table for colours that it may lack.
struct Nearest<'t> {
    table: &'t Table,
    known: Known<Option<Near>>,
}

/// An entry, and how far from a colour it is; infinite where it would mislead.
#[derive(Debug, Clone, Copy)]
struct Near {
    index: u8,
    error: f32,
}

impl<'t> Nearest<'t> {
    fn new(table: &'t Table, pixels: usize) -> Self {
        Self { table, known: Known::new(None, pixels) }
    }

    /// A colour or the nearest; `None` in a table without colours.
    fn of(&mut self, colour: Pixel) -> Option<Near> {
        self.known.of(colour, || {
            let there = self.table.index(colour).map(|index| Near { index, error: 0.0 });
            there.or_else(|| closest(&self.table.entries, colour))
        })
    }
}

/// Which colour others make up for with the least error, all its pixels together; of those alike the rarest.
fn spare(counted: &[(Pixel, u32)]) -> usize {
    let points: Vec<Point> = counted.iter().map(|&(colour, _)| point(colour)).collect();
    let harm = |at: usize| {
        let others = points.iter().enumerate().filter(|(other, _)| *other != at);
        let far = others.map(|(_, &other)| error(other, points[at])).fold(f32::INFINITY, f32::min);
        far * counted[at].1 as f32
    };
    let harms = (0..counted.len()).rev().map(|at| (harm(at), at));
    harms.min_by(|one, other| one.0.total_cmp(&other.0)).map_or(0, |(_, at)| at)
}

fn closest(entries: &[Pixel], wanted: Pixel) -> Option<Near> {
    let to = point(wanted);
    let far = |&(_, &entry): &(usize, &Pixel)| distance(point(entry), to);
    let known = entries.iter().enumerate().filter(|(_, entry)| entry[3] != 0);
    let (index, &entry) = known.min_by(|one, other| far(one).total_cmp(&far(other)))?;
    Some(Near { index: index as u8, error: error(point(entry), to) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colour_given_up_is_the_one_that_another_stands_for_best() {
        let gray = |gray: u8, pixels: u32| ([gray, gray, gray, u8::MAX], pixels);
        let mut counted = vec![gray(0, 900), gray(101, 400), gray(100, 300), gray(30, 10)];
        assert_eq!(spare(&counted), 2, "ten pixels are off by 30");
        counted.push(([u8::MAX, 0, 0, u8::MAX], 1));
        assert_eq!(spare(&counted), 2, "red is like no gray");
        counted.push(gray(150, 1));
        counted.push(gray(151, 1));
        assert_eq!(spare(&counted), 6, "one pixel is off by 1");
    }
}
