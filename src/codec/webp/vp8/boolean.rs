//! The arithmetic coder of binary decisions (RFC 6386, section 7).

/// The probability of even odds, in 256ths.
pub(super) const EVEN: u8 = 128;

/// Reads decisions. Behind the end of its data it reads zeros.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    data: &'a [u8],
    /// What was read and not yet decided, less than `range << bits`.
    value: u64,
    /// Bits of `value` below the 8 that are compared next; negative when more must be read.
    bits: i32,
    range: u32,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(data: &'a [u8]) -> Self {
        Self { data, value: 0, bits: -8, range: 255 }
    }

    /// A decision that is no with a probability of `chance` in 256.
    #[inline]
    pub(super) fn bit(&mut self, chance: u8) -> bool {
        if self.bits < 0 {
            self.load();
        }
        let split = 1 + (((self.range - 1) * u32::from(chance)) >> 8);
        let threshold = u64::from(split) << self.bits;
        let bit = self.value >= threshold;
        if bit {
            self.range -= split;
            self.value -= threshold;
        } else {
            self.range = split;
        }
        let shift = self.range.leading_zeros() - 24;
        self.range <<= shift;
        self.bits -= shift as i32;
        bit
    }

    fn load(&mut self) {
        let word = if let Some((word, rest)) = self.data.split_first_chunk::<4>() {
            self.data = rest;
            *word
        } else {
            let rest = std::mem::take(&mut self.data);
            std::array::from_fn(|at| rest.get(at).copied().unwrap_or(0))
        };
        self.value = self.value << 32 | u64::from(u32::from_be_bytes(word));
        self.bits += 32;
    }

    /// A flag of even odds.
    pub(super) fn flag(&mut self) -> bool {
        self.bit(EVEN)
    }

    /// A number of `bits` bits, at most 8, the highest first.
    pub(super) fn number(&mut self, bits: u32) -> u8 {
        (0..bits).fold(0, |number, _| number << 1 | u8::from(self.flag()))
    }

    /// A number of at most 7 bits and its sign, if a flag says there is one.
    pub(super) fn optional(&mut self, bits: u32) -> Option<i8> {
        self.flag().then(|| {
            let number = self.number(bits) as i8;
            if self.flag() { -number } else { number }
        })
    }
}

/// Writes decisions.
#[derive(Debug)]
pub(super) struct Writer {
    data: Vec<u8>,
    /// What is not yet in `data`: `bits + 16` bits and a carry.
    value: u32,
    bits: i32,
    range: u32,
}

impl Default for Writer {
    fn default() -> Self {
        Self { data: Vec::new(), value: 0, bits: -8, range: 255 }
    }
}

impl Writer {
    /// Writes what [`Reader::bit`] reads.
    #[inline]
    pub(super) fn bit(&mut self, bit: bool, chance: u8) {
        let split = 1 + (((self.range - 1) * u32::from(chance)) >> 8);
        if bit {
            self.value += split;
            self.range -= split;
        } else {
            self.range = split;
        }
        let shift = self.range.leading_zeros() - 24;
        self.range <<= shift;
        self.value <<= shift;
        self.bits += shift as i32;
        if self.bits > 0 {
            self.flush();
        }
    }

    /// Moves the highest 8 bits to the data.
    fn flush(&mut self) {
        let rest = 8 + self.bits;
        let high = self.value >> rest;
        self.value -= high << rest;
        self.bits -= 8;
        if high & 0x100 != 0 {
            for byte in self.data.iter_mut().rev() {
                *byte = byte.wrapping_add(1);
                if *byte != 0 {
                    break;
                }
            }
        }
        self.data.push(high as u8);
    }

    pub(super) fn flag(&mut self, bit: bool) {
        self.bit(bit, EVEN);
    }

    /// Writes what [`Reader::number`] reads.
    pub(super) fn number(&mut self, number: u8, bits: u32) {
        for at in (0..bits).rev() {
            self.flag(number >> at & 1 == 1);
        }
    }

    /// Writes what [`Reader::optional`] reads.
    pub(super) fn optional(&mut self, number: Option<i8>, bits: u32) {
        self.flag(number.is_some());
        if let Some(number) = number {
            self.number(number.unsigned_abs(), bits);
            self.flag(number < 0);
        }
    }

    /// All that was written, and as many zeros as libwebp's reader may ask for ahead of what it decodes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        for _ in 0..9 - self.bits {
            self.flag(false);
        }
        self.bits = 0;
        self.flush();
        self.data
    }
}

/// What decisions cost in 256ths of a bit.
#[inline]
pub(super) fn cost(bit: bool, chance: u8) -> u32 {
    let chance = usize::from(chance);
    u32::from(COSTS[if bit { 256 - chance } else { chance }])
}

/// The cost of an outcome by its probability in 256ths.
static COSTS: [u16; 257] = costs();

/// `-256 log2(chance / 256)`, bit by bit through squares, which every machine computes alike.
const fn costs() -> [u16; 257] {
    let mut costs = [8 * 256; 257];
    let mut chance = 1;
    while chance <= 256 {
        // In 2^-30, from 1 to 2.
        let whole = (chance as u64).ilog2();
        let mut mantissa = (chance as u64) << (30 - whole);
        let (mut logarithm, mut digit) = ((whole as u16) << 9, 256);
        while digit > 0 {
            mantissa = (mantissa * mantissa) >> 30;
            if mantissa >> 31 == 1 {
                mantissa >>= 1;
                logarithm += digit;
            }
            digit >>= 1;
        }
        // One digit more than is kept, to round.
        costs[chance] = 8 * 256 - logarithm.div_ceil(2);
        chance += 1;
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_come_back_whatever_their_odds() {
        let mut state = 7u32;
        let mut decisions = Vec::new();
        for _ in 0..20_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let chance = (state >> 24).max(1) as u8;
            // Mostly the likely outcome, so that long runs of 0xFF arise and carries with them.
            decisions.push(((state >> 8 & 0xFF) as u8 > chance, chance));
        }
        let mut writer = Writer::default();
        decisions.iter().for_each(|&(bit, chance)| writer.bit(bit, chance));
        let data = writer.finish();
        let mut reader = Reader::new(&data);
        assert!(decisions.iter().all(|&(bit, chance)| reader.bit(chance) == bit));
        let bits = decisions.iter().map(|&(bit, chance)| u64::from(cost(bit, chance))).sum::<u64>() / 256;
        assert!((data.len() as u64 * 8).abs_diff(bits) < bits / 500, "{} bytes, {bits} bits foretold", data.len());
    }

    #[test]
    fn numbers_and_signs_come_back() {
        let numbers = [None, Some(0), Some(-1), Some(127), Some(-127)];
        let mut writer = Writer::default();
        numbers.iter().for_each(|&number| writer.optional(number, 7));
        writer.number(0xA5, 8);
        let data = writer.finish();
        let mut reader = Reader::new(&data);
        assert!(numbers.iter().all(|&number| reader.optional(7) == number));
        assert_eq!(reader.number(8), 0xA5);
        // Behind the end there are zeros.
        assert_eq!((0..100).filter(|_| reader.flag()).count(), 0);
    }

    #[test]
    fn costs_are_logarithms() {
        for chance in [1, 2, 3, 77, 128, 200, 255u8] {
            let bits = -(f64::from(chance) / 256.0).log2();
            assert!((f64::from(cost(false, chance)) / 256.0 - bits).abs() < 0.004, "{chance}");
        }
        assert_eq!((cost(true, EVEN), COSTS[256]), (256, 0));
    }
}
