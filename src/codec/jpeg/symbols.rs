//! Scans as Huffman symbols and bits (T.81, F.1.2 and G.1.2), for whoever counts or writes them.

use super::blocks::{Block, Blocks, Plane};
use crate::{control::Run, error::Result};

/// One scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pass {
    /// Index of the first component, and how many from there on.
    pub(super) components: (u8, u8),
    /// First and last coefficient in zigzag order; all 64 in a sequential file.
    pub(super) band: (u8, u8),
    /// Bit position sent before (0 in a first pass) and now.
    pub(super) bits: (u8, u8),
}

impl Pass {
    pub(super) fn members(&self) -> std::ops::Range<usize> {
        let (start, count) = self.components;
        usize::from(start)..usize::from(start + count)
    }
}

/// Where the symbols of a scan go.
pub(super) trait Sink {
    /// A symbol of the Huffman table `table` (DC 0 and 1, AC 2 and 3), and `count` bits behind it.
    fn symbol(&mut self, table: usize, symbol: u8, bits: u32, count: u32);
    /// Bits without a symbol.
    fn bits(&mut self, bits: u32, count: u32);
}

/// Index of the first Huffman table for AC coefficients.
pub(super) const AC: usize = 2;
/// Sixteen zeros.
const ZEROS: u8 = 0xF0;
/// The longest run of blocks that end at once.
const MOST_ENDS: u32 = 0x7FFF;
/// As many correction bits as decoders have to expect with one run of ends, less those of a block.
const MOST_CORRECTIONS: usize = 1000 - 63;

/// Tells all symbols of a scan to `sink`; of rows of blocks (or MCUs) only those that are `taken`.
pub(super) fn tell(
    blocks: &Blocks,
    pass: &Pass,
    sink: &mut impl Sink,
    taken: impl Fn(usize) -> bool,
    run: Run<'_>,
) -> Result<()> {
    if pass.components.1 > 1 {
        return interleaved(blocks, pass, sink, taken, run);
    }
    let component = pass.members().start;
    let (plane, class) = (&blocks.planes[component], blocks.class(component));
    let mut coder = Coder::new(pass, class);
    for row in (0..plane.rows()).filter(|row| taken(*row)) {
        run.check()?;
        for at in row * plane.across..(row + 1) * plane.across {
            coder.block(&plane.blocks[at], plane.nonzero[at], sink);
        }
    }
    coder.end_blocks(sink);
    Ok(())
}

/// MCUs of several components. Blocks beyond the picture repeat the mean of the block before them.
fn interleaved(
    blocks: &Blocks,
    pass: &Pass,
    sink: &mut impl Sink,
    taken: impl Fn(usize) -> bool,
    run: Run<'_>,
) -> Result<()> {
    struct Member<'a> {
        plane: &'a Plane,
        unit: (usize, usize),
        coder: Coder,
    }
    let frame = &blocks.frame;
    let (columns, rows) = frame.units();
    let member = |index: usize| {
        let component = &frame.components[index];
        let coder = Coder::new(pass, blocks.class(index));
        Member { plane: &blocks.planes[index], unit: (component.across, component.down), coder }
    };
    let mut members: Vec<_> = pass.members().map(member).collect();
    for row in (0..rows).filter(|row| taken(*row)) {
        run.check()?;
        for column in 0..columns {
            for Member { plane, unit, coder } in &mut members {
                for y in row * unit.1..(row + 1) * unit.1 {
                    for x in column * unit.0..(column + 1) * unit.0 {
                        if x < plane.across && y < plane.rows() {
                            let at = y * plane.across + x;
                            coder.block(&plane.blocks[at], plane.nonzero[at], sink);
                        } else {
                            coder.beyond(sink);
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// One component on its way through a scan.
struct Coder {
    first: usize,
    last: usize,
    low: u32,
    refines: bool,
    sequential: bool,
    dc: usize,
    ac: usize,
    /// The DC coefficient before.
    before: i32,
    /// Blocks that have ended and are not told yet.
    ends: u32,
    /// Correction bits that belong to them.
    corrections: Vec<u8>,
    /// Correction bits of the block at hand.
    fresh: Vec<u8>,
}

impl Coder {
    fn new(pass: &Pass, class: usize) -> Self {
        let ((first, last), (high, low)) = (pass.band, pass.bits);
        Self {
            first: first.into(),
            last: last.into(),
            low: low.into(),
            refines: high > 0,
            sequential: (first, last) == (0, 63),
            dc: class,
            ac: AC + class,
            before: 0,
            ends: 0,
            corrections: Vec::new(),
            fresh: Vec::new(),
        }
    }

    #[inline]
    fn block(&mut self, block: &Block, nonzero: u64, sink: &mut impl Sink) {
        if self.first == 0 {
            self.mean(block[0], sink);
            if self.sequential {
                self.rest(block, nonzero & !1, sink);
            }
        } else {
            let band = u64::MAX >> (63 - self.last) & u64::MAX << self.first;
            if self.refines { self.refine(block, nonzero & band, sink) } else { self.band(block, nonzero & band, sink) }
        }
    }

    fn beyond(&self, sink: &mut impl Sink) {
        if self.refines {
            sink.bits((self.before >> self.low & 1) as u32, 1);
        } else {
            sink.symbol(self.dc, 0, 0, 0);
        }
        if self.sequential {
            sink.symbol(self.ac, 0, 0, 0);
        }
    }

    fn mean(&mut self, value: i16, sink: &mut impl Sink) {
        if self.refines {
            self.before = value.into();
            sink.bits((i32::from(value) >> self.low & 1) as u32, 1);
            return;
        }
        let value = i32::from(value) >> self.low;
        let change = value - self.before;
        self.before = value;
        let (size, bits) = magnitude(change);
        sink.symbol(self.dc, size as u8, bits, size);
    }

    /// All but the mean, in a sequential file.
    #[inline]
    fn rest(&self, block: &Block, mut nonzero: u64, sink: &mut impl Sink) {
        let mut next = 1;
        while nonzero != 0 {
            let at = nonzero.trailing_zeros();
            nonzero &= nonzero - 1;
            self.value(at - next, i32::from(block[at as usize & 63]), sink);
            next = at + 1;
        }
        if next < 64 {
            sink.symbol(self.ac, 0, 0, 0);
        }
    }

    #[inline]
    fn value(&self, mut zeros: u32, value: i32, sink: &mut impl Sink) {
        while zeros > 15 {
            sink.symbol(self.ac, ZEROS, 0, 0);
            zeros -= 16;
        }
        let (size, bits) = magnitude(value);
        sink.symbol(self.ac, (zeros << 4 | size) as u8, bits, size);
    }

    /// The first pass over a band.
    #[inline]
    fn band(&mut self, block: &Block, mut nonzero: u64, sink: &mut impl Sink) {
        let mut next = self.first as u32;
        while nonzero != 0 {
            let at = nonzero.trailing_zeros();
            nonzero &= nonzero - 1;
            let value = i32::from(block[at as usize & 63]);
            // Towards zero, unlike the mean.
            let value = value.signum() * (value.abs() >> self.low);
            if value != 0 {
                self.end_blocks(sink);
                self.value(at - next, value, sink);
                next = at + 1;
            }
        }
        if next as usize <= self.last {
            self.ends += 1;
            if self.ends == MOST_ENDS {
                self.end_blocks(sink);
            }
        }
    }

    /// A later pass over a band: a bit for each coefficient that is known, and those that are new.
    fn refine(&mut self, block: &Block, nonzero: u64, sink: &mut impl Sink) {
        let mut known = 0u64;
        let mut new = 0u64;
        let mut left = nonzero;
        while left != 0 {
            let at = left.trailing_zeros();
            left &= left - 1;
            match u32::from(block[at as usize & 63].unsigned_abs()) >> self.low {
                0 => {}
                1 => new |= 1 << at,
                _ => known |= 1 << at,
            }
        }
        let (mut next, mut zeros) = (self.first as u32, 0);
        let mut left = known | new;
        while left != 0 {
            let at = left.trailing_zeros();
            zeros += at - next;
            next = at + 1;
            // Zeros behind the last new coefficient belong to the end of the block.
            while zeros > 15 && new >> at != 0 {
                self.end_blocks(sink);
                sink.symbol(self.ac, ZEROS, 0, 0);
                zeros -= 16;
                self.correct(sink);
            }
            let value = block[at as usize & 63];
            if known >> at & 1 == 1 {
                self.fresh.push((u32::from(value.unsigned_abs()) >> self.low & 1) as u8);
            } else {
                self.end_blocks(sink);
                sink.symbol(self.ac, (zeros << 4 | 1) as u8, u32::from(value > 0), 1);
                self.correct(sink);
                zeros = 0;
            }
            left &= left - 1;
        }
        zeros += self.last as u32 + 1 - next;
        if zeros > 0 || !self.fresh.is_empty() {
            self.ends += 1;
            self.corrections.append(&mut self.fresh);
            if self.ends == MOST_ENDS || self.corrections.len() > MOST_CORRECTIONS {
                self.end_blocks(sink);
            }
        }
    }

    fn correct(&mut self, sink: &mut impl Sink) {
        self.fresh.drain(..).for_each(|bit| sink.bits(bit.into(), 1));
    }

    /// Tells the run of blocks that have ended, if there is one.
    #[inline]
    fn end_blocks(&mut self, sink: &mut impl Sink) {
        if self.ends > 0 {
            let size = self.ends.ilog2();
            sink.symbol(self.ac, (size << 4) as u8, self.ends & !(1 << size), size);
            self.ends = 0;
            self.corrections.drain(..).for_each(|bit| sink.bits(bit.into(), 1));
        }
    }
}

/// The size of a value in bits, and the bits.
#[inline]
fn magnitude(value: i32) -> (u32, u32) {
    let size = 32 - value.unsigned_abs().leading_zeros();
    let bits = (value + (value >> 31)) as u32;
    (size, bits & !(u32::MAX << size))
}
