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
    codec::sequence::{Area, NOTHING, Pixel, Split},
    control::Run,
    error::Result,
};

/// How many of the codings that were searched are tried thoroughly.
const FINALISTS: usize = 2;
/// In hundredths of the smallest, up to how many bytes a coding is.
const CLOSE: usize = 101;

/// What a frame draws that is not there already.
pub(super) fn needed(base: &[Pixel], wanted: &[Pixel], area: Area, width: usize) -> Needs {
    let (mut changed, mut idle) = (Counts::default(), Counts::default());
    let mut transparent = false;
    for (base, wanted) in area.rows(base, width).zip(area.rows(wanted, width)) {
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
    Needs { colours: colours(changed.finish()), transparent, idle: colours(idle) }
}

/// Colours counted.
#[derive(Default)]
pub(super) struct Counts {
    runs: Vec<(Pixel, u32)>,
    /// Runs that need not be merged again.
    merged: usize,
}

impl Counts {
    /// Runs kept before they are merged.
    const MOST: usize = 1 << 16;

    pub(super) fn add(&mut self, colour: Pixel) {
        match self.runs.last_mut() {
            Some((last, count)) if *last == colour => *count += 1,
            _ => {
                if self.runs.len() >= self.merged * 2 + Self::MOST {
                    self.merge();
                }
                self.runs.push((colour, 1));
            }
        }
    }

    fn merge(&mut self) {
        self.runs.sort_unstable();
        self.runs.dedup_by(|one, before| {
            let same = one.0 == before.0;
            before.1 += if same { one.1 } else { 0 };
            same
        });
        self.merged = self.runs.len();
    }

    /// All colours in rising order with their counts.
    pub(super) fn finish(mut self) -> Vec<(Pixel, u32)> {
        self.merge();
        self.runs
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
    fn bytes(&self, table: &Table) -> usize {
        self.codes.len() + if self.local { table.bytes() } else { 0 }
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

impl Frame<'_> {
    /// The smallest of the codings with the global table and local ones.
    pub(super) fn best<'t>(&self, needs: &Needs, global: &'t Table, run: Run<'_>) -> Result<Option<Coded<'t>>> {
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
        let mut tried = Vec::new();
        for (at, (table, local)) in tables.iter().enumerate() {
            for unchanged in [Unchanged::Either, Unchanged::Transparent, Unchanged::Drawn] {
                if let Some(coded) = self.coded(table, *local, unchanged, compress, run)? {
                    tried.push((coded.bytes(table), at, unchanged));
                }
            }
        }
        tried.sort_by_key(|tried| tried.0);
        let mut best: Option<(usize, Coded<'t>)> = None;
        let worth = |bytes: usize| bytes * 100 <= tried[0].0 * CLOSE;
        for &(_, at, unchanged) in tried.iter().take(FINALISTS).filter(|tried| worth(tried.0)) {
            let (table, local) = &tables[at];
            let Some(coded) = self.coded(table, *local, unchanged, parse, run)? else { continue };
            let bytes = coded.bytes(table);
            if best.as_ref().is_none_or(|best| bytes < best.0) {
                best = Some((bytes, Coded { table: table.clone(), ..coded }));
            }
        }
        Ok(best.map(|best| best.1))
    }

    pub(super) fn coded<'t>(
        &self,
        table: &Table,
        local: bool,
        unchanged: Unchanged,
        code: impl Fn(Indices<'_>, Run<'_>) -> Result<Vec<u8>>,
        run: Run<'_>,
    ) -> Result<Option<Coded<'t>>> {
        let transparent = self.transparent(table);
        let Some((first, second)) = self.indices(table, transparent, unchanged) else { return Ok(None) };
        let codes = code(Indices { first: &first, second: &second }, run)?;
        let transparent = transparent.filter(|index| first.contains(index) || second.contains(index));
        Ok(Some(Coded { table: Default::default(), local, codes, transparent }))
    }

    fn pixels(&self) -> impl Iterator<Item = (Pixel, Pixel)> {
        let rows = self.area.rows(self.base, self.width).zip(self.area.rows(self.wanted, self.width));
        rows.flat_map(|(base, wanted)| base.iter().copied().zip(wanted.iter().copied()))
    }

    pub(super) fn transparent(&self, table: &Table) -> Option<u8> {
        let (mut needed, mut useful) = ([false; 256], [0; 256]);
        let mut looked_up = LookedUp::new(table);
        for (base, wanted) in self.pixels() {
            let Some(index) = looked_up.index(wanted) else { continue };
            match base == wanted {
                true => useful[usize::from(index)] += 1,
                false => needed[usize::from(index)] = true,
            }
        }
        table.transparent(&needed, &useful)
    }

    /// What each pixel may be; `None` if the table lacks something.
    fn indices(&self, table: &Table, transparent: Option<u8>, unchanged: Unchanged) -> Option<(Vec<u8>, Vec<u8>)> {
        let count = self.area.width * self.area.height;
        let (mut first, mut second) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut looked_up = LookedUp::new(table);
        for (base, wanted) in self.pixels() {
            let drawn = looked_up.index(wanted);
            let (one, other) = match (base == wanted, unchanged) {
                (false, _) => (drawn?, None),
                (true, Unchanged::Either) => (transparent.or(drawn)?, drawn.filter(|_| drawn != transparent)),
                (true, Unchanged::Transparent) => (transparent.or(drawn)?, None),
                (true, Unchanged::Drawn) => (drawn.filter(|_| drawn != transparent).or(transparent)?, None),
            };
            first.push(one);
            second.push(other.unwrap_or(one));
        }
        Some((first, second))
    }
}

/// Indices of colours, of which one mostly follows itself.
struct LookedUp<'a> {
    table: &'a Table,
    last: Pixel,
    index: Option<u8>,
}

impl<'a> LookedUp<'a> {
    const fn new(table: &'a Table) -> Self {
        Self { table, last: NOTHING, index: None }
    }

    fn index(&mut self, colour: Pixel) -> Option<u8> {
        if colour != self.last {
            (self.last, self.index) = (colour, self.table.index(colour));
        }
        self.index
    }
}
