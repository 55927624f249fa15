//! Huffman codes made for a scan, and the bits of it.

use super::{
    huffman::has_byte_ff,
    symbols::{AC, Sink},
};

/// Huffman tables that a scan can use: two for DC, two for AC.
pub(super) const TABLES: usize = 4;

/// The most bits of a difference of means.
const MOST_SIZE: usize = 11;

/// How often a scan uses each symbol, and how many bits follow them.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    symbols: [[u32; 256]; TABLES],
    bits: u64,
}

impl Tally {
    pub(super) const fn new() -> Self {
        Self { symbols: [[0; 256]; TABLES], bits: 0 }
    }

    /// The codes with which the scan takes the fewest bits; none where a table is not used.
    pub(super) fn codes(&self) -> [Option<Codes>; TABLES] {
        let used = |symbols: &[u32; 256]| symbols.iter().any(|&count| count > 0);
        std::array::from_fn(|table| used(&self.symbols[table]).then(|| Codes::new(&self.symbols[table])))
    }

    /// Codes for what was counted here that have room for every symbol, so that they do for similar scans as well.
    pub(super) fn codes_for_all(&self) -> [Codes; TABLES] {
        std::array::from_fn(|table| {
            let mut symbols = self.symbols[table];
            // Symbols of DC are sizes; decoders refuse tables with others.
            let all = if table < AC { MOST_SIZE + 1 } else { symbols.len() };
            symbols[..all].iter_mut().for_each(|count| *count = count.saturating_mul(16).max(1));
            Codes::new(&symbols)
        })
    }

    /// The bytes that the scan takes with such codes, tables included, if all were counted `times`.
    pub(super) fn bytes(&self, times: u64) -> u64 {
        let (mut bits, mut bytes) = (self.bits, 0);
        for (codes, symbols) in self.codes().iter().zip(&self.symbols) {
            let Some(codes) = codes else { continue };
            let coded = symbols.iter().zip(codes.lengths());
            bits += coded.map(|(&count, &length)| u64::from(count) * u64::from(length)).sum::<u64>();
            bytes += 4 + codes.listed().len() as u64;
        }
        bytes + (times * bits).div_ceil(8)
    }
}

impl Sink for Tally {
    #[inline]
    fn symbol(&mut self, table: usize, symbol: u8, _: u32, count: u32) {
        self.symbols[table][usize::from(symbol)] += 1;
        self.bits += u64::from(count);
    }

    #[inline]
    fn bits(&mut self, _: u32, count: u32) {
        self.bits += u64::from(count);
    }
}

/// The longest code that a file can tell.
const MOST_BITS: usize = 16;

/// A Huffman table, for writing.
#[derive(Debug)]
pub(super) struct Codes {
    codes: [u16; 256],
    /// 0 for symbols without a code.
    lengths: [u8; 256],
    /// Numbers of codes by length, from 1.
    counts: [u8; MOST_BITS],
    /// By length, then by symbol.
    symbols: Vec<u8>,
}

impl Codes {
    /// The best codes of at most 16 bits, none of them all ones, for symbols that are used so often.
    fn new(uses: &[u32; 256]) -> Self {
        // One more symbol takes the code of all ones, which T.81 forbids; being the rarest, it has one of the longest.
        let mut leaves = vec![(0, None)];
        leaves.extend((0..=255).map(|symbol| (uses[usize::from(symbol)], Some(symbol))).filter(|leaf| leaf.0 > 0));
        leaves.sort_by_key(|&(uses, symbol)| (uses, symbol));
        let mut coded = Self { codes: [0; 256], lengths: [0; 256], counts: [0; MOST_BITS], symbols: Vec::new() };
        for (&(_, symbol), length) in leaves.iter().zip(lengths(&leaves)) {
            if let Some(symbol) = symbol {
                coded.lengths[usize::from(symbol)] = length;
                coded.symbols.push(symbol);
            }
        }
        coded.symbols.sort_by_key(|&symbol| (coded.lengths[usize::from(symbol)], symbol));
        let (mut code, mut before) = (0u16, 0);
        for &symbol in &coded.symbols {
            let length = coded.lengths[usize::from(symbol)];
            code <<= length - before;
            coded.codes[usize::from(symbol)] = code;
            coded.counts[usize::from(length) - 1] += 1;
            (code, before) = (code + 1, length);
        }
        coded
    }

    /// The length of each symbol's code.
    pub(super) const fn lengths(&self) -> &[u8; 256] {
        &self.lengths
    }

    /// As in a segment: numbers of codes by length, then the symbols.
    pub(super) fn listed(&self) -> Vec<u8> {
        [&self.counts[..], &self.symbols].concat()
    }
}

/// Lengths of the best codes for leaves in the order of their weights: package-merge (Larmore and Hirschberg, 1990).
fn lengths(leaves: &[(u32, Option<u8>)]) -> Vec<u8> {
    let mut levels: Vec<Vec<bool>> = Vec::with_capacity(MOST_BITS);
    let mut below: Vec<u64> = Vec::new();
    for _ in 0..MOST_BITS {
        let mut packages = below.chunks_exact(2).map(|pair| pair[0] + pair[1]).peekable();
        let mut weights = leaves.iter().map(|leaf| u64::from(leaf.0)).peekable();
        let (mut merged, mut is_leaf) = (Vec::new(), Vec::new());
        loop {
            let leaf = match (weights.peek(), packages.peek()) {
                (Some(leaf), Some(package)) => leaf <= package,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            merged.extend(if leaf { weights.next() } else { packages.next() });
            is_leaf.push(leaf);
        }
        levels.push(is_leaf);
        below = merged;
    }
    let mut lengths = vec![0; leaves.len()];
    let mut taken = 2 * leaves.len() - 2;
    for level in levels.iter().rev() {
        let own = level[..taken].iter().filter(|&&leaf| leaf).count();
        lengths[..own].iter_mut().for_each(|length| *length += 1);
        taken = 2 * (taken - own);
    }
    lengths
}

/// Writes the coded data of a scan.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    codes: &'a [Option<Codes>; TABLES],
    out: &'a mut Vec<u8>,
    held: u64,
    count: u32,
}

impl<'a> Writer<'a> {
    pub(super) const fn new(codes: &'a [Option<Codes>; TABLES], out: &'a mut Vec<u8>) -> Self {
        Self { codes, out, held: 0, count: 0 }
    }

    /// Fills the last byte with ones.
    pub(super) fn finish(mut self) {
        self.bits(0x7F, 7);
        while self.count >= 8 {
            self.byte();
        }
    }

    fn byte(&mut self) {
        self.count -= 8;
        let byte = (self.held >> self.count) as u8;
        self.out.push(byte);
        if byte == 0xFF {
            self.out.push(0);
        }
    }

    #[inline]
    fn push(&mut self, bits: u32, count: u32) {
        self.held = self.held << count | u64::from(bits);
        self.count += count;
        if self.count >= 32 {
            let word = (self.held >> (self.count - 32)) as u32;
            if !has_byte_ff(word.into()) {
                self.out.extend(word.to_be_bytes());
                self.count -= 32;
            } else {
                (0..4).for_each(|_| self.byte());
            }
        }
    }
}

impl Sink for Writer<'_> {
    #[inline]
    fn symbol(&mut self, table: usize, symbol: u8, bits: u32, count: u32) {
        // Tables are made of the very symbols that are written, so that one is always there.
        if let Some(codes) = &self.codes[table] {
            let (code, length) = (codes.codes[usize::from(symbol)], codes.lengths[usize::from(symbol)]);
            self.push(u32::from(code) << count | bits, u32::from(length) + count);
        }
    }

    #[inline]
    fn bits(&mut self, bits: u32, count: u32) {
        self.push(bits, count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kraft(codes: &Codes) -> u32 {
        codes.symbols.iter().map(|&symbol| 1 << (16 - codes.lengths[usize::from(symbol)])).sum()
    }

    #[test]
    fn codes_are_the_best_that_leave_all_ones_alone() {
        let mut uses = [0; 256];
        for (symbol, count) in [(3, 50), (7, 20), (9, 10), (200, 5)] {
            uses[symbol] = count;
        }
        let codes = Codes::new(&uses);
        assert_eq!([3, 7, 9, 200].map(|symbol| codes.lengths[symbol]), [1, 2, 3, 4]);
        assert_eq!([3, 7, 9, 200].map(|symbol| codes.codes[symbol]), [0, 0b10, 0b110, 0b1110]);
        assert_eq!(codes.listed(), [&[1, 1, 1, 1][..], &[0; 12], &[3, 7, 9, 200]].concat());
    }

    #[test]
    fn codes_stay_within_sixteen_bits_however_uneven_the_symbols_are() {
        let (mut uses, mut pair) = ([0; 256], (1u32, 1u32));
        for count in &mut uses[..45] {
            *count = pair.0;
            pair = (pair.1, pair.0.saturating_add(pair.1));
        }
        for codes in [Codes::new(&uses), Codes::new(&[1; 256]), Codes::new(&[u32::MAX; 256])] {
            assert!(codes.lengths.iter().all(|&length| length <= 16));
            assert!(kraft(&codes) < 1 << 16);
        }
    }

    #[test]
    fn a_single_symbol_has_a_code() {
        let mut uses = [0; 256];
        uses[77] = 1;
        assert_eq!((Codes::new(&uses).lengths[77], Codes::new(&uses).codes[77]), (1, 0));
    }

    #[test]
    fn bytes_of_ones_are_stuffed_wherever_they_fall() {
        for lead in 0..32 {
            let (codes, mut out) = ([const { None }; TABLES], Vec::new());
            let mut writer = Writer::new(&codes, &mut out);
            writer.bits(0, lead);
            (0..5).for_each(|_| writer.bits(0xFFFF, 16));
            writer.finish();
            let plain: Vec<u8> = out.windows(2).filter(|pair| pair[0] == 0xFF).map(|pair| pair[1]).collect();
            assert!(!plain.is_empty() && plain.iter().all(|&next| next == 0), "{lead}: {out:?}");
            let bits: u32 = out.iter().map(|byte| byte.count_ones()).sum();
            assert_eq!(bits, 80 + (8 - (lead + 80) % 8) % 8);
        }
    }
}
