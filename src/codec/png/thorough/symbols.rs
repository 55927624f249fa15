//! What a block consists of, and what its symbols cost.

use super::huffman::{Header, LONGEST, lengths};

/// Fractions of a bit in which costs are counted.
pub(super) const BIT: u32 = 64;
/// The longest match.
pub(super) const LONGEST_MATCH: usize = 258;
/// Symbols of literals, the end and lengths, and of distances.
pub(super) const SYMBOLS: usize = 288;
pub(super) const DISTANCES: usize = 32;
/// The symbol that ends a block.
pub(super) const END: usize = 256;

/// A literal, whose length is 1, or a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Item {
    pub(super) length: u16,
    /// The byte, or how far back the match lies.
    pub(super) value: u16,
}

impl Item {
    /// The symbol, and for a match that of its distance.
    pub(super) const fn symbols(self) -> (usize, Option<usize>) {
        match self.length {
            1 => (self.value as usize, None),
            length => (length_symbol(length as usize).0, Some(distance_symbol(self.value as u32).0)),
        }
    }
}

/// Symbol of a length, its extra bits, and the least length of the symbol.
pub(super) const fn length_symbol(length: usize) -> (usize, u32, usize) {
    if length == LONGEST_MATCH {
        return (285, 0, length);
    }
    let at = length - 3;
    if at < 8 {
        return (257 + at, 0, length);
    }
    let extra = at.ilog2() - 2;
    (257 + (extra as usize) * 4 + (at >> extra), extra, ((at >> extra) << extra) + 3)
}

/// Symbol of a distance, its extra bits, and the least distance of the symbol.
pub(super) const fn distance_symbol(distance: u32) -> (usize, u32, u32) {
    let at = distance - 1;
    if at < 4 {
        return (at as usize, 0, distance);
    }
    let extra = at.ilog2() - 1;
    ((extra * 2 + (at >> extra)) as usize, extra, ((at >> extra) << extra) + 1)
}

/// How often every symbol occurs in a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) symbols: [u32; SYMBOLS],
    pub(super) distances: [u32; DISTANCES],
}

impl Counts {
    pub(super) const NONE: Self = Self { symbols: [0; SYMBOLS], distances: [0; DISTANCES] };

    pub(super) fn of(items: &[Item]) -> Self {
        let mut counts = Self::NONE;
        items.iter().for_each(|item| counts.add(*item));
        counts
    }

    pub(super) fn add(&mut self, item: Item) {
        let (symbol, distance) = item.symbols();
        self.symbols[symbol] += 1;
        if let Some(distance) = distance {
            self.distances[distance] += 1;
        }
    }

    /// Those of `self` that are not in `before`.
    pub(super) fn less(&self, before: &Self) -> Self {
        let mut out = self.clone();
        out.symbols.iter_mut().zip(&before.symbols).for_each(|(count, before)| *count -= before);
        out.distances.iter_mut().zip(&before.distances).for_each(|(count, before)| *count -= before);
        out
    }

    /// Those as far from `self` as it is from those `before`.
    pub(super) fn beyond(&self, before: &Self) -> Self {
        let mut out = self.clone();
        let go_on = |count: &mut u32, before: &u32| *count = (2 * *count).saturating_sub(*before);
        out.symbols.iter_mut().zip(&before.symbols).for_each(|(count, before)| go_on(count, before));
        out.distances.iter_mut().zip(&before.distances).for_each(|(count, before)| go_on(count, before));
        out
    }

    /// Bits behind the symbols.
    fn extra_bits(&self) -> u64 {
        let lengths = self.symbols[265..285].iter().zip(0u64..).map(|(&count, at)| u64::from(count) * (at / 4 + 1));
        let distances = self.distances[4..30].iter().zip(0u64..).map(|(&count, at)| u64::from(count) * (at / 2 + 1));
        lengths.sum::<u64>() + distances.sum::<u64>()
    }
}

/// How a block is written.
#[derive(Debug, Clone)]
pub(super) enum Code {
    Fixed,
    Own { symbols: Vec<u8>, distances: Vec<u8>, header: Header },
}

/// Lengths of the fixed code.
pub(super) fn fixed() -> ([u8; SYMBOLS], [u8; DISTANCES]) {
    let mut symbols = [8; SYMBOLS];
    symbols[144..256].fill(9);
    symbols[256..280].fill(7);
    (symbols, [5; DISTANCES])
}

fn bits_of(counts: &Counts, symbols: &[u8], distances: &[u8]) -> u64 {
    let of = |counts: &[u32], lengths: &[u8]| -> u64 {
        counts.iter().zip(lengths).map(|(&count, &length)| u64::from(count) * u64::from(length)).sum()
    };
    of(&counts.symbols, symbols) + of(&counts.distances, distances)
}

impl Code {
    /// The code with the fewest bits for a block of these items, whose end is counted in, and how many those are. In
    /// haste the header is only estimated from above.
    pub(super) fn best(counts: &Counts, haste: bool) -> (Self, u64) {
        let extra = counts.extra_bits() + 3;
        let (symbols, distances) = fixed();
        let mut best = (Self::Fixed, bits_of(counts, &symbols, &distances) + extra);
        let mut consider = |modelled: &Counts| {
            let (symbols, distances) =
                (lengths(&modelled.symbols[..286], LONGEST), lengths(&modelled.distances[..30], LONGEST));
            let header =
                if haste { Header::with(&symbols, &distances, 7) } else { Header::shortest(&symbols, &distances) };
            let bits = header.bits + bits_of(counts, &symbols, &distances) + extra;
            if bits < best.1 {
                best = (Self::Own { symbols, distances, header }, bits);
            }
        };
        consider(counts);
        if !haste {
            let mut smooth = counts.clone();
            smoothed(&mut smooth.symbols[..286]);
            smoothed(&mut smooth.distances[..30]);
            consider(&smooth);
        }
        best
    }
}

/// Evens out counts that are nearly alike, so that the lengths of their codes make runs (after Zopfli's
/// `OptimizeHuffmanForRle`).
fn smoothed(counts: &mut [u32]) {
    let end = counts.iter().rposition(|&count| count > 0).map_or(0, |at| at + 1);
    let counts = &mut counts[..end];
    let mut good = vec![false; end];
    let mut at = 0;
    for same in counts.chunk_by(|a, b| a == b) {
        if (same[0] == 0 && same.len() >= 5) || (same[0] != 0 && same.len() >= 7) {
            good[at..at + same.len()].fill(true);
        }
        at += same.len();
    }
    let (mut start, mut sum, mut limit) = (0, 0u64, u64::from(counts.first().copied().unwrap_or(0)));
    for at in 0..=end {
        let differs = at == end || good[at] || u64::from(counts[at]).abs_diff(limit) >= 4;
        if differs {
            let length = at - start;
            if length >= 4 || (length >= 3 && sum == 0) {
                let mean = ((sum + length as u64 / 2) / length as u64).max(1);
                counts[start..at].fill(if sum == 0 { 0 } else { mean as u32 });
            }
            (start, sum) = (at, 0);
            limit = match counts.get(at..at + 4) {
                Some(four) => (four.iter().map(|&count| u64::from(count)).sum::<u64>() + 2) / 4,
                None => counts.get(at).map_or(0, |&count| count.into()),
            };
        }
        if at < end {
            sum += u64::from(counts[at]);
            if at + 1 - start >= 4 {
                let length = (at + 1 - start) as u64;
                limit = (sum + length / 2) / length;
            }
        }
    }
}

/// What items cost, in fractions of a bit.
#[derive(Debug, Clone)]
pub(super) struct Costs {
    pub(super) literals: [u32; 256],
    pub(super) lengths: [u32; LONGEST_MATCH + 1],
    pub(super) distances: [u32; DISTANCES],
}

impl Costs {
    /// By the entropy of what was counted.
    pub(super) fn of(counts: &Counts) -> Self {
        let (symbols, distances) = (entropy(&counts.symbols), entropy(&counts.distances));
        let mut costs = Self { literals: [0; 256], lengths: [0; LONGEST_MATCH + 1], distances: [0; DISTANCES] };
        costs.literals.copy_from_slice(&symbols[..256]);
        for (length, cost) in costs.lengths.iter_mut().enumerate().skip(3) {
            let (symbol, extra, _) = length_symbol(length);
            *cost = symbols[symbol] + extra * BIT;
        }
        for (symbol, cost) in costs.distances.iter_mut().enumerate() {
            *cost = distances[symbol] + (symbol as u32 / 2).saturating_sub(1) * BIT;
        }
        costs
    }
}

fn entropy<const N: usize>(counts: &[u32; N]) -> [u32; N] {
    let all = log2(counts.iter().sum());
    counts.map(|count| if count == 0 { all } else { all - log2(count) }.max(1))
}

/// log2 in fractions of a bit, by squaring; 0 for 0.
fn log2(n: u32) -> u32 {
    let Some(whole) = n.checked_ilog2() else { return 0 };
    let mut x = u64::from(n) << (31 - whole);
    let mut log = whole;
    for _ in 0..BIT.ilog2() {
        x = (x * x) >> 31;
        let bit = x >> 32;
        log = log << 1 | bit as u32;
        x >>= bit;
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_distances_have_the_symbols_of_the_specification() {
        let lengths = [
            (3, 257, 0),
            (10, 264, 0),
            (11, 265, 1),
            (12, 265, 1),
            (13, 266, 1),
            (131, 281, 5),
            (257, 284, 5),
            (258, 285, 0),
        ];
        for (length, symbol, extra) in lengths {
            let found = length_symbol(length);
            assert_eq!((found.0, found.1), (symbol, extra));
        }
        let distances =
            [(1, 0, 0), (4, 3, 0), (5, 4, 1), (6, 4, 1), (7, 5, 1), (9, 6, 2), (24_577, 29, 13), (32_768, 29, 13)];
        for (distance, symbol, extra) in distances {
            let found = distance_symbol(distance);
            assert_eq!((found.0, found.1), (symbol, extra));
        }
    }

    #[test]
    fn logarithms_are_near() {
        for n in [1u32, 2, 3, 5, 100, 65_537, u32::MAX] {
            let wanted = f64::from(n).log2() * f64::from(BIT);
            assert!((f64::from(log2(n)) - wanted).abs() <= 1.0, "{n}");
        }
    }

    #[test]
    fn counts_that_are_nearly_alike_become_alike() {
        let mut counts = [9, 10, 11, 10, 9, 0, 0, 0, 0, 0, 0, 400, 3];
        smoothed(&mut counts);
        assert_eq!(counts, [10, 10, 10, 10, 10, 0, 0, 0, 0, 0, 0, 400, 3]);
    }
}
