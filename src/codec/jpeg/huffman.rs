//! Huffman tables and the bits of a scan (ITU-T T.81, annexes C and F.2.2).

/// What can be wrong with coded data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// A marker, or the end of the file, came before the last block.
    Short,
    /// No code begins with the bits at hand.
    Code,
    /// A value that the coding does not allow: a run past the end of a block, a coefficient too large.
    Value,
    /// A restart marker is missing or out of turn.
    Restart,
    /// Bits are left behind the last block: what was read before is not what was written.
    Left,
}

impl Fault {
    /// As the end of a sentence about an image.
    pub(super) const fn problem(self) -> &'static str {
        match self {
            Self::Short => "is cut off",
            Self::Code => "has a bit sequence that is no code",
            Self::Value => "has a value out of range",
            Self::Restart => "has lost a restart marker",
            Self::Left => "has more bits than its blocks take",
        }
    }
}

/// Bytes that some encoders leave behind the last block, other than one byte again and again.
const PADDING: usize = 8;
/// Codes no longer than this are found with one look.
const FAST_BITS: u32 = 9;

/// A table that turns bits into symbols.
#[derive(Debug, Clone)]
pub(super) struct Table {
    /// By the next [`FAST_BITS`] bits: length of the code in the high byte, 0 if it is longer, and its symbol.
    fast: [u16; 1 << FAST_BITS],
    /// By length: the first code, the number of codes, the index of the first symbol.
    ranges: [(u32, u32, usize); 17],
    symbols: Vec<u8>,
}

impl Table {
    /// From the numbers of codes of 1 to 16 bits, and the symbols in the order of the codes. `None` if there are more
    /// codes than bits can tell apart.
    pub(super) fn new(counts: &[u8; 16], symbols: &[u8]) -> Option<Self> {
        let mut table = Self { fast: [0; 1 << FAST_BITS], ranges: [(0, 0, 0); 17], symbols: symbols.to_vec() };
        let (mut code, mut index) = (0u32, 0usize);
        for (length, &count) in (1u32..).zip(counts) {
            let count = u32::from(count);
            if code + count > 1 << length {
                return None;
            }
            table.ranges[length as usize] = (code, count, index);
            for _ in 0..count {
                table.fill(code, length, *symbols.get(index)?);
                (code, index) = (code + 1, index + 1);
            }
            code <<= 1;
        }
        Some(table)
    }

    fn fill(&mut self, code: u32, length: u32, symbol: u8) {
        if let Some(spare) = FAST_BITS.checked_sub(length) {
            let start = (code << spare) as usize;
            self.fast[start..start + (1 << spare)].fill((length << 8) as u16 | u16::from(symbol));
        }
    }

    #[inline]
    pub(super) fn decode(&self, bits: &mut Bits<'_>) -> Result<u8, Fault> {
        bits.refill();
        let next = bits.peek_16();
        let entry = self.fast[(next >> (16 - FAST_BITS)) as usize];
        if entry >= 0x100 {
            bits.skip(u32::from(entry >> 8))?;
            return Ok(entry as u8);
        }
        self.decode_long(bits, next)
    }

    fn decode_long(&self, bits: &mut Bits<'_>, next: u32) -> Result<u8, Fault> {
        for length in FAST_BITS + 1..=16 {
            let (first, count, index) = self.ranges[length as usize];
            let place = (next >> (16 - length)).wrapping_sub(first);
            if place < count {
                bits.skip(length)?;
                return self.symbols.get(index + place as usize).copied().ok_or(Fault::Code);
            }
        }
        Err(if bits.count < 16 { Fault::Short } else { Fault::Code })
    }
}

/// Bits of a scan's coded data, without its stuffing, up to the next marker.
#[derive(Debug)]
pub(super) struct Bits<'a> {
    data: &'a [u8],
    at: usize,
    /// The next bits, from the top.
    held: u64,
    /// How many of them are there.
    count: u32,
}

impl<'a> Bits<'a> {
    pub(super) const fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0, held: 0, count: 0 }
    }

    /// Holds at least 32 bits afterwards, unless a marker or the end is nearer: enough for a code and its value.
    #[inline]
    fn refill(&mut self) {
        if self.count > 31 {
            return;
        }
        if let Some(word) = self.data.get(self.at..self.at + 8).and_then(|word| word.first_chunk::<8>()) {
            let word = u64::from_be_bytes(*word);
            if !has_byte_ff(word) {
                // Bits of a byte that is only partly held are or-ed in again, unchanged, by the next refill.
                self.held |= word >> self.count;
                self.at += ((63 - self.count) >> 3) as usize;
                self.count |= 56;
                return;
            }
        }
        self.refill_by_bytes();
    }

    #[cold]
    fn refill_by_bytes(&mut self) {
        // What a fast refill left behind the bits that count would not match a stuffed byte.
        self.held &= !(u64::MAX >> self.count);
        while self.count <= 56 {
            let Some(&byte) = self.data.get(self.at) else { return };
            if byte == 0xFF {
                if self.data.get(self.at + 1) != Some(&0) {
                    return;
                }
                self.at += 1;
            }
            self.at += 1;
            self.held |= u64::from(byte) << (56 - self.count);
            self.count += 8;
        }
    }

    const fn peek_16(&self) -> u32 {
        (self.held >> 48) as u32
    }

    #[inline]
    fn skip(&mut self, bits: u32) -> Result<(), Fault> {
        self.count = self.count.checked_sub(bits).ok_or(Fault::Short)?;
        self.held <<= bits;
        Ok(())
    }

    /// Drops the value of `bits` bits, at most 16, behind a code.
    #[inline]
    pub(super) fn pass(&mut self, bits: u8) -> Result<(), Fault> {
        self.skip(bits.into())
    }

    /// The next `bits` bits, at most 16.
    #[inline]
    pub(super) fn take(&mut self, bits: u8) -> Result<u32, Fault> {
        self.refill();
        let value = (self.held >> 1 >> (63 - u32::from(bits))) as u32;
        self.skip(bits.into())?;
        Ok(value)
    }

    /// Nothing but padding may be left up to the end of a scan, or to a restart marker.
    pub(super) fn end(&self) -> Result<(), Fault> {
        let left = &self.data[self.at..];
        let marker = left.windows(2).position(|pair| pair[0] == 0xFF && pair[1] != 0).unwrap_or(left.len());
        let padding = left[..marker].iter().all(|byte| left[0] == *byte);
        if padding || marker + (self.count / 8) as usize <= PADDING { Ok(()) } else { Err(Fault::Left) }
    }

    /// Goes behind the next restart marker, which must be number `expected` (0 to 7).
    pub(super) fn restart(&mut self, expected: u8) -> Result<(), Fault> {
        self.end()?;
        (self.held, self.count) = (0, 0);
        while let Some(found) = self.data[self.at..].iter().position(|&byte| byte == 0xFF) {
            self.at += found + 1;
            match self.data.get(self.at) {
                Some(&second) if second == 0xD0 | expected => {
                    self.at += 1;
                    return Ok(());
                }
                Some(0 | 0xFF) => {}
                Some(_) => return Err(Fault::Restart),
                None => break,
            }
        }
        Err(Fault::Short)
    }
}

pub(super) const fn has_byte_ff(word: u64) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let inverted = !word;
    inverted.wrapping_sub(ONES) & !inverted & (ONES << 7) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes 0, 10, 110 for the symbols 5, 6, 7.
    fn table() -> Table {
        let mut counts = [0; 16];
        counts[..3].fill(1);
        Table::new(&counts, &[5, 6, 7]).unwrap()
    }

    #[test]
    fn codes_become_symbols_until_the_bits_run_out() {
        // 0 10 110 10 | 110 and ones that are the beginning of no code.
        let data = [0b0101_1010, 0b1101_1111, 0xFF, 0];
        let (table, mut bits) = (table(), Bits::new(&data));
        let symbols: Vec<u8> = std::iter::from_fn(|| table.decode(&mut bits).ok()).collect();
        assert_eq!((symbols, table.decode(&mut bits)), (vec![5, 6, 7, 6, 7], Err(Fault::Short)));
    }

    #[test]
    fn bits_that_are_no_code_are_told_from_an_early_end() {
        assert_eq!(table().decode(&mut Bits::new(&[0xFE, 0xFE])), Err(Fault::Code));
        assert_eq!(table().decode(&mut Bits::new(&[0xFE])), Err(Fault::Short));
    }

    #[test]
    fn long_codes_are_found() {
        let mut counts = [1; 16];
        counts[15] = 2;
        let symbols: Vec<u8> = (0..17).collect();
        let table = Table::new(&counts, &symbols).unwrap();
        assert_eq!(table.decode(&mut Bits::new(&[0b1111_1111, 0, 0b1110_0000])), Ok(11));
    }

    #[test]
    fn more_codes_than_bits_is_no_table() {
        let mut counts = [0; 16];
        counts[0] = 3;
        assert!(Table::new(&counts, &[1, 2, 3]).is_none());
    }

    #[test]
    fn fast_and_slow_refills_give_the_same_bits() {
        let data: Vec<u8> =
            (0..200u32).flat_map(|n| if n % 23 == 0 { vec![0xFF, 0] } else { vec![((n * 7) & 0x7F) as u8] }).collect();
        let plain: Vec<u8> = (0..200u32).map(|n| if n % 23 == 0 { 0xFF } else { ((n * 7) & 0x7F) as u8 }).collect();
        let mut bits = Bits::new(&data);
        let mut read = Vec::new();
        for width in [3u8, 13, 1, 16, 7].into_iter().cycle().take(195) {
            let value = bits.take(width).unwrap();
            read.extend((0..width).rev().map(|bit| value >> bit & 1));
        }
        let expected = plain.iter().flat_map(|byte| (0..8).rev().map(move |bit| u32::from(byte >> bit & 1)));
        assert!(read.iter().copied().eq(expected.take(read.len())));
    }

    #[test]
    fn a_restart_marker_out_of_turn_is_a_fault() {
        assert_eq!(Bits::new(&[1, 0xFF, 0, 0xFF, 0xD3, 5]).restart(3), Ok(()));
        assert_eq!(Bits::new(&[1, 0xFF, 0xD4]).restart(3), Err(Fault::Restart));
        assert_eq!(Bits::new(&[1, 2]).restart(3), Err(Fault::Short));
    }
}
