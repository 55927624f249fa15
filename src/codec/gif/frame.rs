//! One frame coded: what it draws, with which table, and the codes.

use std::borrow::Cow;

use super::{
    blocks::Control,
    compress::compress,
    dictionary::Indices,
    parse::parse,
    tables::{Needs, Table},
    write::{FRAME, write_blocks, write_control},
};
use crate::{
    codec::{
        known::Known,
        sequence::{Area, NOTHING, Pixel, Split},
    },
    control::Run,
    error::Result,
};

/// How many of the codings that came out quickly are tried thoroughly.
const FINALISTS: usize = 2;
/// Bytes of quick codings up to which the frames of a sequence are coded so, and up to which with the first of these codings
/// alone; the frames behind them are coded quickly.
const THOROUGH: usize = 1_500_000;
pub(super) const LESS_THOROUGH: usize = 3_000_000;
/// Pixels of the largest frame that is coded thoroughly.
const LARGEST: usize = 1 << 24;
/// In hundredths of the smallest, up to how many bytes a coding is.
const CLOSE: usize = 101;

/// Bytes of a frame but for its table and its codes.
pub(super) const FRAME_BYTES: usize = 20;
/// The share of quick codings that thorough ones mostly are smaller by.
const TAKEN_OFF: u64 = 32;

/// About what a quick coding comes to when it is done thoroughly.
pub(super) const fn thorough(quick: u64) -> u64 {
    quick - quick / TAKEN_OFF
}

/// What a frame draws that is not there already.
pub(super) fn needed(base: &[Pixel], wanted: &[Pixel], area: Area, width: usize, run: Run<'_>) -> Result<Needs> {
    let (mut changed, mut idle) = (Counts::default(), Counts::default());
    let mut transparent = false;
    for (base, wanted) in area.rows(base, width).zip(area.rows(wanted, width)) {
        run.check()?;
        for (&base, &wanted) in base.iter().zip(wanted) {
            if base != wanted {
                changed.add(wanted);
            } else {
                transparent = true;
                if wanted != NOTHING {
                    idle.add(wanted);
                }
            }
        }
    }
    let mut idle = idle.finish();
    idle.sort_unstable_by_key(|&(colour, count)| (std::cmp::Reverse(count), colour));
    let colours = |counts: Vec<(Pixel, u32)>| counts.into_iter().map(|(colour, _)| colour).collect();
    Ok(Needs { colours: colours(changed.finish()), transparent, idle: colours(idle) })
}

/// Colours counted.
#[derive(Default)]
pub(super) struct Counts {
    /// A colour above how often it comes: numbers are sorted faster than pairs.
    runs: Vec<u64>,
    /// Runs that need not be merged again.
    merged: usize,
}

impl Counts {
    /// Runs kept before they are merged.
    const MOST: usize = 1 << 16;

    pub(super) fn add(&mut self, colour: Pixel) {
        let number = u32::from_be_bytes(colour);
        match self.runs.last_mut() {
            Some(last) if (*last >> 32) as u32 == number => *last += 1,
            _ => {
                if self.runs.len() >= self.merged * 2 + Self::MOST {
                    self.merge();
                }
                self.runs.push(u64::from(number) << 32 | 1);
            }
        }
    }

    fn merge(&mut self) {
        self.runs.sort_unstable();
        self.runs.dedup_by(|one, before| {
            let same = *one >> 32 == *before >> 32;
            *before += if same { *one & u64::from(u32::MAX) } else { 0 };
            same
        });
        self.merged = self.runs.len();
    }

    /// All colours in rising order with their counts.
    pub(super) fn finish(mut self) -> Vec<(Pixel, u32)> {
        self.merge();
        self.runs.into_iter().map(|run| (((run >> 32) as u32).to_be_bytes(), run as u32)).collect()
    }
}

/// One frame to be coded.
pub(super) struct Frame<'a> {
    pub(super) base: &'a [Pixel],
    pub(super) wanted: &'a [Pixel],
    pub(super) area: Area,
    pub(super) width: usize,
}

/// One frame coded.
pub(super) struct Coded<'a> {
    /// Its own table, or the global one.
    pub(super) table: Cow<'a, Table>,
    pub(super) local: bool,
    pub(super) codes: Vec<u8>,
    pub(super) transparent: Option<u8>,
}

impl Coded<'_> {
    /// Those of its codes and its own table.
    pub(super) fn bytes(&self) -> usize {
        self.codes.len() + if self.local { self.table.bytes() } else { 0 }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>, split: &Split, ticks: u16, still: bool) {
        write_control(out, Control { disposal: split.disposal, transparent: self.transparent, ticks }, still);
        out.push(FRAME);
        for side in [split.area.x, split.area.y, split.area.width, split.area.height] {
            out.extend((side as u16).to_le_bytes());
        }
        out.push(if self.local { 0x80 | (self.table.bits() - 1) } else { 0 });
        if self.local {
            self.table.write(out);
        }
        out.push(self.codes[0]);
        write_blocks(out, self.codes[1..].chunks(255));
    }
}

/// What pixels may do that are on the canvas already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unchanged {
    Either,
    Transparent,
    Drawn,
}

/// How many codings of a frame are tried thoroughly, so that large files take no longer than can be waited for: `bytes` came
/// out quickly for it and those before it.
pub(super) const fn finalists(bytes: usize, pixels: usize) -> usize {
    if pixels > LARGEST {
        0
    } else if bytes <= THOROUGH {
        FINALISTS
    } else if bytes <= LESS_THOROUGH {
        1
    } else {
        0
    }
}

/// A table that has what a frame needs.
struct Offer<'t> {
    table: Cow<'t, Table>,
    local: bool,
    transparent: Option<u8>,
    /// The index of each pixel's colour; the transparent one where the table lacks it.
    drawn: Vec<u8>,
    /// Whether pixels that are there already may be drawn or left.
    chooses: bool,
}

/// A frame coded quickly: its bytes, the offer's index, and how.
type Tried = (usize, usize, Unchanged);

impl Frame<'_> {
    /// The smallest of the codings with the global table and local ones; `before` counts the bytes that came out quickly for
    /// the frames before, and for this.
    pub(super) fn best<'t>(
        &self,
        needs: &Needs,
        global: &'t Table,
        before: &mut usize,
        run: Run<'_>,
    ) -> Result<Option<Coded<'t>>> {
        let ways = [Unchanged::Either, Unchanged::Transparent, Unchanged::Drawn];
        let (offers, tried) = self.tried(needs, global, &ways, run)?;
        let Some(&(least, at, unchanged)) = tried.first() else { return Ok(None) };
        *before += least;
        let finalists = finalists(*before, self.area.width * self.area.height);
        if finalists == 0 {
            return self.coded(&offers[at], unchanged, compress, run).map(Some);
        }
        let mut best: Option<(usize, Coded<'t>)> = None;
        let worth = |bytes: usize| bytes * 100 <= least * CLOSE;
        for &(_, at, unchanged) in tried.iter().take(finalists).filter(|tried| worth(tried.0)) {
            let coded = self.coded(&offers[at], unchanged, parse, run)?;
            let bytes = coded.bytes();
            if best.as_ref().is_none_or(|best| bytes < best.0) {
                best = Some((bytes, coded));
            }
        }
        Ok(best.map(|best| best.1))
    }

    /// About the bytes of the smallest coding, by those that mostly are.
    pub(super) fn quick(&self, needs: &Needs, global: &Table, run: Run<'_>) -> Result<Option<usize>> {
        let (_, tried) = self.tried(needs, global, &[Unchanged::Either], run)?;
        Ok(tried.first().map(|tried| tried.0))
    }

    /// The codings of all offers in these `ways` that come out quickly, the smallest first.
    fn tried<'t>(
        &self,
        needs: &Needs,
        global: &'t Table,
        ways: &[Unchanged],
        run: Run<'_>,
    ) -> Result<(Vec<Offer<'t>>, Vec<Tried>)> {
        let offers = self.offers(needs, global, run)?;
        let mut tried = Vec::new();
        for (at, offer) in offers.iter().enumerate() {
            for &unchanged in &ways[..if offer.chooses { ways.len() } else { 1 }] {
                tried.push((self.coded(offer, unchanged, compress, run)?.bytes(), at, unchanged));
            }
        }
        tried.sort_by_key(|tried| tried.0);
        Ok((offers, tried))
    }

    fn offers<'t>(&self, needs: &Needs, global: &'t Table, run: Run<'_>) -> Result<Vec<Offer<'t>>> {
        let mut tables = Vec::new();
        if global.serves(needs) {
            tables.push((Cow::Borrowed(global), false));
        }
        if needs.colours.len() <= 256 {
            let (tight, full) = (Table::local(needs, false), Table::local(needs, true));
            let shorter = tables.is_empty() || tight.bits() + 1 < global.bits();
            if tables.is_empty() && full.bits() > tight.bits() {
                tables.push((Cow::Owned(full), true));
            }
            if shorter {
                tables.push((Cow::Owned(tight), true));
            }
        }
        tables.into_iter().filter_map(|(table, local)| self.offer(table, local, run).transpose()).collect()
    }

    /// `None` if the table lacks what has to be drawn, or what may not be left.
    fn offer<'t>(&self, table: Cow<'t, Table>, local: bool, run: Run<'_>) -> Result<Option<Offer<'t>>> {
        let count = self.area.width * self.area.height;
        let (mut needed, mut useful) = ([false; 256], [0; 256]);
        let mut known = Known::new(None, count);
        let mut index = |colour| known.of(colour, || table.index(colour));
        for row in self.rows() {
            run.check()?;
            for (base, wanted) in row {
                match index(wanted).map(usize::from) {
                    Some(index) if base == wanted => useful[index] += 1,
                    Some(index) => needed[index] = true,
                    None if base == wanted => {}
                    None => return Ok(None),
                }
            }
        }
        let transparent = table.transparent(&needed, &useful);
        let mut drawn = Vec::with_capacity(count);
        for row in self.rows() {
            run.check()?;
            for (_, wanted) in row {
                let Some(index) = index(wanted).or(transparent) else { return Ok(None) };
                drawn.push(index);
            }
        }
        let chooses = transparent.is_some() && useful.iter().any(|&count| count > 0);
        Ok(Some(Offer { table, local, transparent, drawn, chooses }))
    }

    /// The codes of it with the least table for it alone.
    pub(super) fn alone(&self, needs: &Needs, run: Run<'_>) -> Result<Option<Vec<u8>>> {
        let offer = self.offer(Cow::Owned(Table::local(needs, false)), true, run)?;
        offer.map(|offer| Ok(self.coded(&offer, Unchanged::Either, compress, run)?.codes)).transpose()
    }

    fn coded<'t>(
        &self,
        offer: &Offer<'t>,
        unchanged: Unchanged,
        code: impl Fn(Indices<'_>, Run<'_>) -> Result<Vec<u8>>,
        run: Run<'_>,
    ) -> Result<Coded<'t>> {
        let (first, second) = self.indices(offer, unchanged, run)?;
        let codes = code(Indices { first: &first, second: &second }, run)?;
        let transparent = offer.transparent.filter(|index| first.contains(index) || second.contains(index));
        Ok(Coded { table: offer.table.clone(), local: offer.local, codes, transparent })
    }

    /// What lies there and what is wanted, row by row.
    fn rows(&self) -> impl Iterator<Item = impl Iterator<Item = (Pixel, Pixel)>> {
        let rows = self.area.rows(self.base, self.width).zip(self.area.rows(self.wanted, self.width));
        rows.map(|(base, wanted)| base.iter().copied().zip(wanted.iter().copied()))
    }

    /// What each pixel may be.
    fn indices(&self, offer: &Offer<'_>, unchanged: Unchanged, run: Run<'_>) -> Result<(Vec<u8>, Vec<u8>)> {
        let may_be = |drawn: u8, changed: bool| match (unchanged, offer.transparent) {
            (Unchanged::Either, Some(transparent)) if !changed => (transparent, drawn),
            (Unchanged::Transparent, Some(transparent)) if !changed => (transparent, transparent),
            _ => (drawn, drawn),
        };
        let (mut first, mut second) = (Vec::with_capacity(offer.drawn.len()), Vec::with_capacity(offer.drawn.len()));
        for (row, drawn) in self.rows().zip(offer.drawn.chunks_exact(self.area.width)) {
            run.check()?;
            for ((base, wanted), &drawn) in row.zip(drawn) {
                let (one, other) = may_be(drawn, base != wanted);
                first.push(one);
                second.push(other);
            }
        }
        Ok((first, second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{codec::gif::tables::global, control::Unattended, limits::Limits};

    #[test]
    fn the_more_bytes_came_before_a_frame_the_less_thoroughly_it_is_coded() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let mut state = 1u32;
        let mut pixel = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            [(state >> 30) as u8, (state >> 28 & 3) as u8, 0, u8::MAX]
        };
        let (base, wanted) = (vec![NOTHING; 200 * 200], (0..200 * 200).map(|_| pixel()).collect::<Vec<_>>());
        let area = Area { width: 200, height: 200, ..Area::LEAST };
        let needs = needed(&base, &wanted, area, 200, run).unwrap();
        let (table, frame) =
            (global(std::slice::from_ref(&needs)), Frame { base: &base, wanted: &wanted, area, width: 200 });
        let coded = |mut before| {
            let best = frame.best(&needs, &table, &mut before, run).unwrap().unwrap();
            (best.codes.len(), before)
        };
        let (thorough, quick) = (coded(0), coded(LESS_THOROUGH));
        assert!(thorough.0 < quick.0 && quick.0 == thorough.1, "{thorough:?}, {quick:?}");
        assert_eq!(coded(THOROUGH - thorough.1).0, thorough.0);
        assert_eq!([LARGEST, LARGEST + 1].map(|pixels| finalists(0, pixels)), [FINALISTS, 0]);
    }
}
