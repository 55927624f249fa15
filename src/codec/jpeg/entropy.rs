//! Proof that Huffman-coded data are complete and well formed, down to the last block, without decoding a pixel.
//!
//! The pixel decoder fills what is missing with gray and says nothing, so every file is checked here before it decodes.
//! The check reads the codes alone (T.81, F.2 and G.2) and costs about as much as decoding a baseline file.

use super::{
    header::{Frame, damaged},
    huffman::{Bits, Fault, Table},
    scan::{Progress, Scan},
    segments::{Segments, marker},
};
use crate::{control::Run, error::Result};

/// What the check found, where it did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All blocks are there.
    Sound,
    /// A scan uses a table that the file does not define, as motion JPEG does; not checked.
    TablesMissing,
}

/// Reads all codes of all scans.
///
/// # Errors
/// [`Error::Input`](crate::Error::Input) naming the scan and row of blocks where data end early or make no sense.
pub(super) fn check(bytes: &[u8], frame: &Frame, run: Run<'_>) -> Result<Verdict> {
    let mut progress = Progress::new(frame);
    let mut planes: Vec<Plane> = frame.components.iter().map(|c| Plane::new(frame, c)).collect();
    let (mut dc, mut ac) = ([const { None }; 4], [const { None }; 4]);
    let mut restart_interval = 0;
    for segment in Segments::new(bytes)? {
        let segment = segment?;
        match (segment.marker, segment.payload) {
            (marker::DHT, payload) => read_tables(payload, &mut dc, &mut ac)?,
            (marker::DRI, [high, low]) => restart_interval = usize::from(u16::from_be_bytes([*high, *low])),
            (marker::DRI, _) => return Err(damaged("has a restart interval of a wrong length")),
            (marker::SOS, payload) => {
                let scan = Scan::read(payload, frame)?;
                progress.add(&scan)?;
                let Some(members) = tables_of(&scan, &dc, &ac) else { return Ok(Verdict::TablesMissing) };
                let walk = Walk { scan: &scan, members, restart_interval, number: progress.scans() };
                walk.all(frame, &mut planes, segment.entropy, run)?;
            }
            _ => {}
        }
    }
    progress.finish()?;
    Ok(Verdict::Sound)
}

/// The blocks of one component.
#[derive(Debug)]
struct Plane {
    /// Blocks an MCU of an interleaved scan, across and down.
    unit: (usize, usize),
    /// Blocks that hold pixels, across and down: all that a scan of this component alone has.
    blocks: (usize, usize),
    /// Blocks in a row of an interleaved scan.
    stride: usize,
    /// Progressive only: for every block a bit a coefficient, set once it is not zero.
    nonzero: Vec<u64>,
}

impl Plane {
    fn new(frame: &Frame, component: &super::header::Component) -> Self {
        let (columns, rows) = frame.units();
        let stride = columns * component.across;
        let kept = if frame.progressive { stride * rows * component.down } else { 0 };
        Self {
            unit: (component.across, component.down),
            blocks: frame.blocks(component),
            stride,
            nonzero: vec![0; kept],
        }
    }
}

type Tables = [Option<Table>; 4];

fn read_tables(mut payload: &[u8], dc: &mut Tables, ac: &mut Tables) -> Result<()> {
    let broken = || damaged("has a broken Huffman table");
    while let Some((&head, rest)) = payload.split_first() {
        let counts = rest.first_chunk::<16>().ok_or_else(broken)?;
        let total = counts.iter().map(|&count| usize::from(count)).sum::<usize>();
        let symbols = rest.get(16..16 + total).ok_or_else(broken)?;
        let class = match head >> 4 {
            0 => &mut *dc,
            1 => &mut *ac,
            _ => return Err(broken()),
        };
        let slot = class.get_mut(usize::from(head & 15)).ok_or_else(broken)?;
        *slot = Some(Table::new(counts, symbols).ok_or_else(broken)?);
        payload = &rest[16 + total..];
    }
    Ok(())
}

/// A component's part in a scan, with the tables it needs.
struct Coded<'t> {
    component: usize,
    dc: Option<&'t Table>,
    ac: Option<&'t Table>,
}

/// `None` if a table that the scan needs is not there.
fn tables_of<'t>(scan: &Scan, dc: &'t Tables, ac: &'t Tables) -> Option<Vec<Coded<'t>>> {
    let needs_dc = scan.first == 0 && scan.high == 0;
    let needs_ac = scan.last > 0;
    let members = scan.members.iter().map(|member| {
        let coded = Coded {
            component: member.component,
            dc: dc.get(member.dc).and_then(Option::as_ref),
            ac: ac.get(member.ac).and_then(Option::as_ref),
        };
        ((!needs_dc || coded.dc.is_some()) && (!needs_ac || coded.ac.is_some())).then_some(coded)
    });
    members.collect()
}

/// The walk over the blocks of one scan.
struct Walk<'s> {
    scan: &'s Scan,
    members: Vec<Coded<'s>>,
    /// MCUs between restart markers, 0 for none.
    restart_interval: usize,
    /// Counted from 1.
    number: usize,
}

impl Walk<'_> {
    fn all(&self, frame: &Frame, planes: &mut [Plane], entropy: &[u8], run: Run<'_>) -> Result<()> {
        let alone = self.members.len() == 1;
        let (columns, rows) = if alone { planes[self.members[0].component].blocks } else { frame.units() };
        let mut state = State { bits: Bits::new(entropy), skipped: 0, unit: 0 };
        for row in 0..rows {
            // The longest row there can be takes a few milliseconds.
            run.check()?;
            for column in 0..columns {
                self.mcu(&mut state, planes, (column, row), alone).map_err(|fault| {
                    let (number, problem) = (self.number, fault.problem());
                    damaged(format!("{problem} in row {row} of {rows} of scan {number}"))
                })?;
            }
        }
        state.bits.end().map_err(|fault| damaged(format!("{} in scan {}", fault.problem(), self.number)))
    }

    #[inline]
    fn mcu(
        &self,
        state: &mut State<'_>,
        planes: &mut [Plane],
        (column, row): (usize, usize),
        alone: bool,
    ) -> Result<(), Fault> {
        if self.restart_interval > 0 && state.unit > 0 && state.unit.is_multiple_of(self.restart_interval) {
            state.bits.restart((state.unit / self.restart_interval - 1) as u8 & 7)?;
            state.skipped = 0;
        }
        state.unit += 1;
        for member in &self.members {
            let plane = &mut planes[member.component];
            let (across, down) = if alone { (1, 1) } else { plane.unit };
            for y in row * down..(row + 1) * down {
                for x in column * across..(column + 1) * across {
                    self.block(state, member, plane, y * plane.stride + x)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn block(&self, state: &mut State<'_>, member: &Coded<'_>, plane: &mut Plane, index: usize) -> Result<(), Fault> {
        if self.scan.first == 0 {
            match member.dc {
                Some(table) if self.scan.high == 0 => dc_first(&mut state.bits, table)?,
                _ => state.bits.take(1).map(drop)?,
            }
        }
        match (member.ac, plane.nonzero.get_mut(index)) {
            (Some(table), None) => ac_sequential(&mut state.bits, table),
            (Some(table), Some(nonzero)) if self.scan.last > 0 => {
                if self.scan.high == 0 {
                    state.ac_first(table, nonzero, self.scan)
                } else {
                    state.ac_refine(table, nonzero, self.scan)
                }
            }
            _ => Ok(()),
        }
    }
}

#[inline]
fn dc_first(bits: &mut Bits<'_>, table: &Table) -> Result<(), Fault> {
    match table.decode(bits)? {
        size @ 0..=15 => bits.pass(size),
        _ => Err(Fault::Value),
    }
}

#[inline]
fn ac_sequential(bits: &mut Bits<'_>, table: &Table) -> Result<(), Fault> {
    let mut at = 1;
    while at < 64 {
        let symbol = table.decode(bits)?;
        let (run, size) = (symbol >> 4, symbol & 15);
        if size == 0 && run != 15 {
            return Ok(());
        }
        at += usize::from(run) + 1;
        bits.pass(size)?;
    }
    if at == 64 { Ok(()) } else { Err(Fault::Value) }
}

/// Where a walk stands.
struct State<'a> {
    bits: Bits<'a>,
    /// Blocks to come that an end-of-band run has told all of.
    skipped: u32,
    /// MCUs begun.
    unit: usize,
}

impl State<'_> {
    /// The first pass over a band (G.1.2.2).
    #[inline]
    fn ac_first(&mut self, table: &Table, nonzero: &mut u64, scan: &Scan) -> Result<(), Fault> {
        if self.skipped > 0 {
            self.skipped -= 1;
            return Ok(());
        }
        let mut at = scan.first;
        while at <= scan.last {
            let symbol = table.decode(&mut self.bits)?;
            let (run, size) = (symbol >> 4, symbol & 15);
            if size == 0 && run != 15 {
                self.skipped = (1 << run) - 1 + self.bits.take(run)?;
                return Ok(());
            }
            at += usize::from(run);
            if size != 0 {
                self.bits.pass(size)?;
                if at > scan.last {
                    return Err(Fault::Value);
                }
                *nonzero |= 1 << at;
            }
            at += 1;
        }
        if at == scan.last + 1 { Ok(()) } else { Err(Fault::Value) }
    }

    /// A later pass over a band, which corrects what is not zero and adds what becomes so (G.1.2.3).
    fn ac_refine(&mut self, table: &Table, nonzero: &mut u64, scan: &Scan) -> Result<(), Fault> {
        let mut at = scan.first;
        let before = *nonzero;
        while self.skipped == 0 && at <= scan.last {
            let symbol = table.decode(&mut self.bits)?;
            let (mut run, size) = (symbol >> 4, symbol & 15);
            if size > 1 {
                return Err(Fault::Value);
            }
            if size == 0 && run != 15 {
                self.skipped = (1 << run) + self.bits.take(run)?;
                break;
            }
            // The sign of the new coefficient stands before the corrections it jumps over.
            self.bits.pass(size)?;
            while at <= scan.last {
                if before >> at & 1 == 1 {
                    self.bits.take(1)?;
                } else if run == 0 {
                    break;
                } else {
                    run -= 1;
                }
                at += 1;
            }
            if size == 1 {
                if at > scan.last {
                    return Err(Fault::Value);
                }
                *nonzero |= 1 << at;
            }
            at += 1;
        }
        if self.skipped > 0 {
            for place in at..=scan.last {
                if before >> place & 1 == 1 {
                    self.bits.take(1)?;
                }
            }
            self.skipped -= 1;
        }
        Ok(())
    }
}
