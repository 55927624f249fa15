//! Deflate (RFC 1951) in few bytes: the cheapest of all matches, found again and again with what the symbols then cost,
//! in blocks that end where this saves bits (after Zopfli and libdeflate).

mod huffman;
mod matches;
mod parse;
mod split;
mod symbols;

use std::ops::Range;

use self::{
    huffman::codes,
    matches::{Finder, Matches},
    parse::Parser,
    symbols::{Code, Costs, Counts, DISTANCES, END, Item, SYMBOLS, distance_symbol, fixed, length_symbol},
};
use super::{bits::BitWriter, deflate::pieces};
use crate::{control::Run, error::Result};

/// Bytes that are split into blocks at once, and on one core.
const SEGMENT: usize = 1 << 19;
/// Segments whose blocks are held until they are written.
const HELD: usize = 16;
/// A stored block holds no more.
const STORED: usize = 65_535;

/// What may be spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Effort {
    /// Candidates for a match at a position.
    pub(super) depth: usize,
    /// Lengths of a match that are tried, at the longer end.
    pub(super) span: usize,
    /// Ways through a block, each with the costs of the one before.
    pub(super) ways: usize,
    /// Times that the data is split anew.
    pub(super) splits: usize,
}

/// Appends a deflate stream of `data` to `out`.
pub(super) fn deflate(data: &[u8], effort: Effort, out: &mut BitWriter, run: Run<'_>) -> Result<()> {
    for segments in pieces(data.len(), SEGMENT).chunks(HELD) {
        let all = run.side_by_side(segments, || {
            let mut finder = Finder::new(data, effort.depth);
            let mut segment = Segment { matches: Matches::default(), parser: Parser::new(effort.span), effort, run };
            move |place: &Range<usize>| {
                finder.find(place.clone(), &mut segment.matches, run)?;
                segment.blocks(&data[place.clone()])
            }
        })?;
        for (place, blocks) in segments.iter().zip(all) {
            let last = blocks.len() - 1;
            for (at, block) in blocks.iter().enumerate() {
                block.write(&data[place.clone()], at == last && place.end == data.len(), out);
            }
        }
    }
    Ok(())
}

/// A part of the data, and what is known of it.
struct Segment<'a> {
    matches: Matches,
    parser: Parser,
    effort: Effort,
    run: Run<'a>,
}

/// Items to be written with one code.
#[derive(Debug, Clone)]
struct Block {
    start: usize,
    end: usize,
    items: Vec<Item>,
    code: Code,
    bits: u64,
}

impl Segment<'_> {
    fn blocks(&mut self, data: &[u8]) -> Result<Vec<Block>> {
        let mut items = self.parser.parse(data, &self.matches, 0, &Costs::of(&guess(data)), self.run)?;
        items = self.parser.parse(data, &self.matches, 0, &Costs::of(&Counts::of(&items)), self.run)?;
        let mut best: Option<Vec<Block>> = None;
        for _ in 0..self.effort.splits {
            let mut blocks = Vec::new();
            let (mut from, mut start) = (0, 0);
            for end in split::split(&items, self.run)? {
                let items = &items[from..end];
                let length: usize = items.iter().map(|item| usize::from(item.length)).sum();
                blocks.push(self.block(data, start, start + length, items)?);
                (from, start) = (end, start + length);
            }
            let bits = |blocks: &[Block]| blocks.iter().map(|block| block.bits).sum::<u64>();
            if best.as_ref().is_some_and(|best| bits(best) <= bits(&blocks)) {
                break;
            }
            items = blocks.iter().flat_map(|block| block.items.iter().copied()).collect();
            best = Some(blocks);
        }
        Ok(best.unwrap_or_default())
    }

    /// The best items for a block that are found from `items`. Counts go the same way for long, so each way is asked for those
    /// that lie as far behind its own as these behind the ones before.
    fn block(&mut self, data: &[u8], start: usize, end: usize, items: &[Item]) -> Result<Block> {
        let counted = |items: &[Item]| {
            let mut counts = Counts::of(items);
            counts.symbols[END] = 1;
            let (code, bits) = Code::best(&counts, false);
            (counts, code, bits)
        };
        let (mut counts, code, bits) = counted(items);
        let mut expected = counts.clone();
        let mut best = Block { start, end, items: items.to_vec(), code, bits };
        let mut worse = 0;
        for _ in 0..self.effort.ways {
            let items = self.parser.parse(&data[start..end], &self.matches, start, &Costs::of(&expected), self.run)?;
            let (now, code, bits) = counted(&items);
            if now == counts {
                break;
            }
            expected = now.beyond(&counts);
            counts = now;
            if bits < best.bits {
                best = Block { items, code, bits, ..best };
                worse = 0;
            } else {
                worse += 1;
                if worse == 2 {
                    break;
                }
            }
        }
        Ok(best)
    }
}

/// What symbols may be worth before any are known: literals as the data has them, all else alike.
fn guess(data: &[u8]) -> Counts {
    let mut counts = Counts::NONE;
    data.iter().for_each(|&byte| counts.symbols[usize::from(byte)] += 2);
    let rest = (data.len() as u32 / 16).max(1);
    counts.symbols[257..286].fill(rest);
    counts.distances[..30].fill(1);
    counts
}

impl Block {
    fn write(&self, data: &[u8], is_last: bool, out: &mut BitWriter) {
        let stored = (self.end - self.start) as u64 * 8;
        let pieces = (self.end - self.start).div_ceil(STORED).max(1) as u64;
        if stored + pieces * 40 < self.bits {
            return store(&data[self.start..self.end], is_last, out);
        }
        out.put(is_last.into(), 1);
        let (mut symbols, mut distances) = fixed();
        match &self.code {
            Code::Fixed => out.put(1, 2),
            Code::Own { symbols: own, distances: of_distances, header } => {
                out.put(2, 2);
                header.write(|bits, count| out.put(bits, count));
                (symbols, distances) = ([0; SYMBOLS], [0; DISTANCES]);
                symbols[..own.len()].copy_from_slice(own);
                distances[..of_distances.len()].copy_from_slice(of_distances);
            }
        }
        let (codes, codes_of_distances) = (codes(&symbols), codes(&distances));
        for item in &self.items {
            let (symbol, distance) = item.symbols();
            out.put(codes[symbol].into(), symbols[symbol].into());
            if let Some(distance) = distance {
                let (_, extra, least) = length_symbol(item.length.into());
                out.put(u64::from(item.length) - least as u64, extra);
                out.put(codes_of_distances[distance].into(), distances[distance].into());
                let (_, extra, least) = distance_symbol(item.value.into());
                out.put(u64::from(item.value) - u64::from(least), extra);
            }
        }
        out.put(codes[END].into(), symbols[END].into());
    }
}

fn store(data: &[u8], is_last: bool, out: &mut BitWriter) {
    let mut pieces = data.chunks(STORED).peekable();
    while let Some(piece) = pieces.next() {
        out.store(piece, is_last && pieces.peek().is_none());
    }
}
