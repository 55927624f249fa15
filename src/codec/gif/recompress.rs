//! A GIF again in fewer bytes, with every canvas as it was, for as long as it was.

use std::borrow::Cow;

use super::{
    Gif,
    blocks::Control,
    compress::{Clear, Indices, Policy, compress},
    player::Player,
    tables::{Needs, Table, global},
    write::{FRAME, TRAILER, write_blocks, write_control, write_plays},
};
use crate::{
    codec::{
        Recompress,
        sequence::{Area, Canvases, Cost, NOTHING, Pixel, Split, split},
    },
    control::Run,
    error::Result,
    format::Format,
};

/// How to code while searching.
const QUICK: &[Policy] = &[Policy { clear: Clear::Full, cut: None }, Policy { clear: Clear::Worse(14), cut: None }];
/// How many of the codings that were searched are tried thoroughly.
const FINALISTS: usize = 2;
/// How to code what is kept.
const THOROUGH: &[Policy] = &[
    Policy { clear: Clear::Full, cut: None },
    Policy { clear: Clear::Worse(14), cut: None },
    Policy { clear: Clear::Worse(16), cut: None },
    Policy { clear: Clear::Never, cut: None },
    Policy { clear: Clear::Worse(15), cut: Some(0) },
    Policy { clear: Clear::Worse(15), cut: Some(1) },
    Policy { clear: Clear::Worse(15), cut: Some(3) },
];

impl Recompress for Gif {
    fn format(&self) -> Format {
        Format::Gif
    }

    fn animations(&self) -> bool {
        true
    }

    /// Never interlaced. Canvases that equal the ones before them are merged with these.
    fn recompress(&self, bytes: &[u8], _: bool, run: Run<'_>) -> Result<Vec<u8>> {
        let mut merged = Merged::new(Player::new(bytes, run)?);
        match encode(&mut merged, run)? {
            Some(bytes) => Ok(bytes),
            None => crate::codec::Container::with_metadata(self, bytes, &crate::picture::Metadata::default(), run),
        }
    }
}

/// Writes a sequence; `None` if a frame would need more colours than a table has.
fn encode(merged: &mut Merged<'_>, run: Run<'_>) -> Result<Option<Vec<u8>>> {
    let width = merged.size().0;
    let Some(splits) = split(merged, &mut Price { width }, run)? else { return Ok(None) };
    let mut needs = Vec::with_capacity(splits.len());
    merged.replay(&splits, run, |base, merged, split| {
        needs.push(needed(base, merged.canvas(), split.area, width));
        Ok(())
    })?;
    let table = global(&needs);
    let mut out = Vec::new();
    write_head(&mut out, merged, &table);
    let (mut at, mut possible) = (0, true);
    merged.replay(&splits, run, |base, merged, split| {
        let frame = Frame { base, wanted: merged.canvas(), area: split.area, width };
        let best = frame.best(&needs[at], &table, run)?;
        at += 1;
        match best {
            Some(best) => best.write(&mut out, split, merged.ticks, splits.len() == 1),
            None => possible = false,
        }
        Ok(())
    })?;
    out.push(TRAILER);
    Ok(possible.then_some(out))
}

fn write_head(out: &mut Vec<u8>, merged: &Merged<'_>, table: &Table) {
    let (width, height) = merged.size();
    out.extend(b"GIF89a");
    out.extend((width as u16).to_le_bytes());
    out.extend((height as u16).to_le_bytes());
    let bits = table.bits() - 1;
    let flags = if table.entries.is_empty() { 0 } else { 0x80 | bits };
    out.extend([flags | bits << 4, 0, 0]);
    if !table.entries.is_empty() {
        table.write(out);
    }
    write_plays(out, merged.player.plays());
}

/// What a frame draws that is not there already.
fn needed(base: &[Pixel], wanted: &[Pixel], area: Area, width: usize) -> Needs {
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
struct Counts {
    runs: Vec<(Pixel, u32)>,
    /// Runs that need not be merged again.
    merged: usize,
}

impl Counts {
    /// Runs kept before they are merged.
    const MOST: usize = 1 << 16;

    fn add(&mut self, colour: Pixel) {
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
    fn finish(mut self) -> Vec<(Pixel, u32)> {
        self.merge();
        self.runs
    }
}

/// One frame to be coded.
struct Frame<'a> {
    base: &'a [Pixel],
    wanted: &'a [Pixel],
    area: Area,
    width: usize,
}

/// One frame coded.
struct Coded<'a> {
    /// Its own table, or the global one.
    table: Cow<'a, Table>,
    local: bool,
    codes: Vec<u8>,
    transparent: Option<u8>,
}

impl Coded<'_> {
    fn bytes(&self, table: &Table) -> usize {
        self.codes.len() + if self.local { table.bytes() } else { 0 }
    }

    fn write(&self, out: &mut Vec<u8>, split: &Split, ticks: u16, still: bool) {
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
enum Unchanged {
    Either,
    Transparent,
    Drawn,
}

impl Frame<'_> {
    /// The smallest of the codings with the global table and local ones.
    fn best<'t>(&self, needs: &Needs, global: &'t Table, run: Run<'_>) -> Result<Option<Coded<'t>>> {
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
                if let Some(coded) = self.coded(table, *local, unchanged, QUICK, run)? {
                    tried.push((coded.bytes(table), at, unchanged));
                }
            }
        }
        tried.sort_by_key(|tried| tried.0);
        let mut best: Option<(usize, Coded<'t>)> = None;
        for (_, at, unchanged) in tried.into_iter().take(FINALISTS) {
            let (table, local) = &tables[at];
            let Some(coded) = self.coded(table, *local, unchanged, THOROUGH, run)? else { continue };
            let bytes = coded.bytes(table);
            if best.as_ref().is_none_or(|best| bytes < best.0) {
                best = Some((bytes, Coded { table: table.clone(), ..coded }));
            }
        }
        Ok(best.map(|best| best.1))
    }

    fn coded<'t>(
        &self,
        table: &Table,
        local: bool,
        unchanged: Unchanged,
        policies: &[Policy],
        run: Run<'_>,
    ) -> Result<Option<Coded<'t>>> {
        let transparent = self.transparent(table);
        let Some((first, second)) = self.indices(table, transparent, unchanged) else { return Ok(None) };
        let codes = compress(Indices { first: &first, second: &second }, policies, run)?;
        let transparent = transparent.filter(|index| first.contains(index) || second.contains(index));
        Ok(Some(Coded { table: Default::default(), local, codes, transparent }))
    }

    fn pixels(&self) -> impl Iterator<Item = (Pixel, Pixel)> {
        let rows = self.area.rows(self.base, self.width).zip(self.area.rows(self.wanted, self.width));
        rows.flat_map(|(base, wanted)| base.iter().copied().zip(wanted.iter().copied()))
    }

    fn transparent(&self, table: &Table) -> Option<u8> {
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

/// The bytes of a frame with a table of its own, which is not counted.
struct Price {
    width: usize,
}

impl Cost for Price {
    const RESTORES: bool = true;
    const ERASES: bool = false;

    fn cost(&mut self, base: &[Pixel], wanted: &[Pixel], area: Area, run: Run<'_>) -> Result<Option<u64>> {
        let needs = needed(base, wanted, area, self.width);
        if needs.colours.len() > 256 {
            return Ok(None);
        }
        let frame = Frame { base, wanted, area, width: self.width };
        let coded = frame.coded(&Table::local(&needs, false), false, Unchanged::Either, QUICK, run)?;
        Ok(coded.map(|coded| coded.codes.len() as u64))
    }
}

/// Canvases as drawn, those that equal the ones before them merged with these.
struct Merged<'a> {
    player: Player<'a>,
    /// What the player has drawn and is not gone on to yet.
    ahead: Option<u16>,
    started: bool,
    canvas: Vec<Pixel>,
    ticks: u16,
}

/// Browsers show a frame for a tenth of a second if it has fewer ticks than this.
const LEAST_TICKS: u16 = 2;

impl<'a> Merged<'a> {
    fn new(player: Player<'a>) -> Self {
        let canvas = player.canvas().to_vec();
        Self { player, ahead: None, started: false, canvas, ticks: 0 }
    }

    /// Goes through all canvases again, each with what lies there before it is drawn.
    fn replay(
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
                break;
            }
            each(&base, self, split)?;
            split.leave(&mut base, &self.canvas, width);
        }
        Ok(())
    }
}

impl Canvases for Merged<'_> {
    fn size(&self) -> (usize, usize) {
        self.player.size()
    }

    fn restart(&mut self) -> Result<()> {
        self.player.restart();
        (self.ahead, self.started) = (None, false);
        Ok(())
    }

    fn advance(&mut self, run: Run<'_>) -> Result<bool> {
        if !std::mem::replace(&mut self.started, true) {
            self.ahead = self.player.draw(run)?;
        }
        let Some(ticks) = self.ahead else { return Ok(false) };
        self.canvas.copy_from_slice(self.player.canvas());
        self.ticks = ticks;
        loop {
            self.ahead = self.player.draw(run)?;
            let Some(more) = self.ahead.filter(|&more| more.min(self.ticks) >= LEAST_TICKS) else { break };
            let Some(sum) = self.ticks.checked_add(more) else { break };
            if self.player.canvas() != self.canvas {
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
