//! One deflate stream from several (RFC 1951).
//!
//! Every piece of the data is compressed together with the window before it. Of the stream that this gives, the symbols
//! for the window are left out and all that follow are copied, bit by bit; they may point back into the window, since the
//! decoder has it there too. Where a match runs out of the window into the piece, its end is stored.

use super::bits::BitWriter;

/// Bytes back from which a match may be taken.
pub(super) const WINDOW: usize = 1 << 15;

/// Lengths of code lengths come in this order.
const CODE_LENGTHS: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/// The least length, and extra bits, of the symbols from 257 on.
const LENGTHS: [(usize, u32); 29] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
    (258, 0),
];
/// The symbol that ends a block.
const END: u16 = 256;

/// A deflate stream in the making.
#[derive(Debug, Default)]
pub(super) struct Splicer {
    out: BitWriter,
}

impl Splicer {
    /// A stream behind the bytes of a header.
    pub(super) fn behind(header: &[u8]) -> Self {
        Self { out: BitWriter::behind(header) }
    }

    /// Appends what `stream`, which is valid and holds `data`, says of all but the first `window` bytes. `None` if it
    /// is not valid after all.
    pub(super) fn append(&mut self, stream: &[u8], data: &[u8], window: usize, is_last: bool) -> Option<()> {
        let mut bits = Bits { bytes: stream, at: 0 };
        let mut position = 0;
        loop {
            let ends = bits.take(1) == 1;
            let kind = bits.take(2);
            let ends_all = u64::from(ends && is_last);
            if kind == 0 {
                bits.at = bits.at.next_multiple_of(8);
                let length = bits.take(16) as usize;
                bits.at += 16 + 8 * length;
                let start = position.max(window);
                position += length;
                if position > start || ends_all == 1 {
                    self.out.store(data.get(start.min(position)..position)?, ends_all == 1);
                }
            } else {
                let tables = bits.at;
                let codes = if kind == 1 { Codes::fixed() } else { Codes::read(&mut bits)? };
                let symbols = bits.at;
                let start = position;
                position = codes.skip(&mut bits, position, window)?;
                let first = bits.at;
                if position >= window {
                    if start < window && position > window {
                        self.out.store(data.get(window..position)?, false);
                    }
                    let after = codes.skip(&mut bits, position, usize::MAX)?;
                    // What is nothing but the end of a block is worth none.
                    if after > position || ends_all == 1 {
                        self.out.put(ends_all | u64::from(kind) << 1, 3);
                        self.copy(stream, tables, symbols);
                        self.copy(stream, first, bits.at);
                    }
                    position = after;
                }
            }
            if ends {
                return (position == data.len() && bits.at <= 8 * stream.len()).then_some(());
            }
        }
    }

    /// The stream, filled up to whole bytes.
    pub(super) fn finished(self) -> Vec<u8> {
        self.out.finished()
    }

    fn copy(&mut self, stream: &[u8], from: usize, to: usize) {
        let mut bits = Bits { bytes: stream, at: from };
        while bits.at < to {
            let count = (to - bits.at).min(32) as u32;
            let taken = bits.take(count);
            self.out.put(taken.into(), count);
        }
    }
}

/// Reads bits, the lowest of a byte first; zeros behind the end.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    /// The next `count` bits, at most 32.
    fn take(&mut self, count: u32) -> u32 {
        let bits = self.peek() & ((1u64 << count) - 1);
        self.at += count as usize;
        bits as u32
    }

    /// At least 57 bits.
    fn peek(&self) -> u64 {
        let from = &self.bytes[self.bytes.len().min(self.at / 8)..];
        let word = from.first_chunk().copied().unwrap_or_else(|| {
            let mut word = [0; 8];
            word[..from.len()].copy_from_slice(from);
            word
        });
        u64::from_le_bytes(word) >> (self.at % 8)
    }
}

/// The codes of a block.
struct Codes {
    symbols: Code,
    distances: Code,
}

impl Codes {
    fn fixed() -> Self {
        let lengths: Vec<u8> = (0..288)
            .map(|symbol| match symbol {
                0..144 | 280..288 => 8,
                144..256 => 9,
                _ => 7,
            })
            .collect();
        Self { symbols: Code::new(&lengths), distances: Code::new(&[5; 30]) }
    }

    fn read(bits: &mut Bits<'_>) -> Option<Self> {
        let symbols = bits.take(5) as usize + 257;
        let distances = bits.take(5) as usize + 1;
        let mut of_lengths = [0; 19];
        let count = bits.take(4) as usize + 4;
        CODE_LENGTHS[..count].iter().for_each(|&at| of_lengths[at] = bits.take(3) as u8);
        let code = Code::new(&of_lengths);
        let mut lengths: Vec<u8> = Vec::with_capacity(symbols + distances);
        while lengths.len() < symbols + distances {
            let (length, times) = match code.next(bits)? {
                16 => (*lengths.last()?, 3 + bits.take(2)),
                17 => (0, 3 + bits.take(3)),
                18 => (0, 11 + bits.take(7)),
                length => (length as u8, 1),
            };
            lengths.resize(lengths.len() + times as usize, length);
        }
        let (symbols, distances) = lengths.split_at(symbols);
        Some(Self { symbols: Code::new(symbols), distances: Code::new(distances) })
    }

    /// Reads symbols until the data is at `until` or beyond, or the block ends; where it is then.
    fn skip(&self, bits: &mut Bits<'_>, mut position: usize, until: usize) -> Option<usize> {
        while position < until {
            let symbol = self.symbols.next(bits)?;
            if symbol < END {
                position += 1;
            } else if symbol == END {
                break;
            } else {
                let &(length, extra) = LENGTHS.get(usize::from(symbol - END) - 1)?;
                position += length + bits.take(extra) as usize;
                let distance = u32::from(self.distances.next(bits)?);
                bits.take((distance / 2).saturating_sub(1));
            }
        }
        Some(position)
    }
}

/// A canonical Huffman code: for all that the next bits can be, the symbol and its length; 0 for none.
struct Code {
    table: Vec<(u16, u8)>,
}

impl Code {
    /// From the length of every symbol, at most 15.
    fn new(lengths: &[u8]) -> Self {
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut table = vec![(0, 0); 1 << longest];
        let mut code = 0usize;
        for length in 1..=longest {
            for (symbol, _) in lengths.iter().enumerate().filter(|(_, other)| **other == length) {
                let low = code.reverse_bits() >> (usize::BITS - u32::from(length));
                table.iter_mut().skip(low).step_by(1 << length).for_each(|entry| *entry = (symbol as u16, length));
                code += 1;
            }
            code <<= 1;
        }
        Self { table }
    }

    fn next(&self, bits: &mut Bits<'_>) -> Option<u16> {
        let (symbol, length) = self.table[bits.peek() as usize & (self.table.len() - 1)];
        bits.at += usize::from(length);
        (length > 0 && bits.at <= 8 * bits.bytes.len()).then_some(symbol)
    }
}
