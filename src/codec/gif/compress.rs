//! Indices to LZW codes by the longest phrases, quickly.

use super::dictionary::{Cuts, Dictionary, Indices, Taste};
use crate::{control::Run, error::Result};

/// When to give up a full dictionary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Clear {
    /// At once.
    Full,
    /// When codes of late stand for fewer pixels than this share of what those of the growing dictionary did, in
    /// sixteenths.
    Worse(u64),
}

/// The code size and the codes of `indices`, whichever policy gives the fewest bytes.
pub(super) fn compress(indices: Indices<'_>, run: Run<'_>) -> Result<Vec<u8>> {
    let mut dictionary = Dictionary::new(indices, run);
    let taste = Taste { leaves: true, cuts: Cuts::Never };
    let full = code(&mut dictionary, indices.len(), Clear::Full, taste)?;
    // The policies are the same if the dictionary never is full.
    if full.filled == 0 {
        return Ok(full.codes);
    }
    let worse = code(&mut dictionary, indices.len(), Clear::Worse(14), taste)?;
    Ok(if worse.codes.len() < full.codes.len() { worse.codes } else { full.codes })
}

/// Pixels coded.
pub(super) struct Codes {
    /// The code size and the codes.
    pub(super) codes: Vec<u8>,
    /// How often the dictionary was full with pixels left.
    pub(super) filled: usize,
}

/// Codes all pixels.
pub(super) fn code(dictionary: &mut Dictionary<'_>, count: usize, policy: Clear, taste: Taste) -> Result<Codes> {
    dictionary.truncate(0);
    let mut out = Bits::new(dictionary.bits());
    out.push(dictionary.clear_code(), dictionary.width());
    let (mut at, mut previous, mut filled) = (0, None, 0);
    let mut watch = Watch::default();
    while at < count {
        let phrase = dictionary.phrase(at, previous, taste)?;
        out.push(phrase.code, dictionary.width());
        let was_full = dictionary.is_full();
        if let Some(before) = previous.replace(phrase.code) {
            dictionary.grow(before, phrase.code);
        }
        at += phrase.length;
        if dictionary.is_full() && at < count {
            filled += usize::from(!was_full);
            if watch.is_over(policy, phrase.length as u64) {
                out.push(dictionary.clear_code(), dictionary.width());
                dictionary.truncate(0);
                (previous, watch) = (None, Watch::default());
            }
        } else {
            watch.seen(phrase.length as u64);
        }
    }
    out.push(dictionary.clear_code() + 1, dictionary.width());
    Ok(Codes { codes: out.finish(), filled })
}

/// Looks whether a full dictionary still serves.
#[derive(Debug, Default)]
struct Watch {
    codes: u64,
    pixels: u64,
    /// The same, of late.
    late_codes: u64,
    late_pixels: u64,
}

impl Watch {
    /// Codes looked at together.
    const LATE: u64 = 256;

    fn seen(&mut self, pixels: u64) {
        self.codes += 1;
        self.pixels += pixels;
    }

    fn is_over(&mut self, clear: Clear, pixels: u64) -> bool {
        self.late_codes += 1;
        self.late_pixels += pixels;
        match clear {
            Clear::Full => true,
            Clear::Worse(_) if self.late_codes < Self::LATE => false,
            Clear::Worse(sixteenths) => {
                let over = self.late_pixels * self.codes * 16 < self.pixels * self.late_codes * sixteenths;
                (self.late_codes, self.late_pixels) = (0, 0);
                over
            }
        }
    }
}

/// Codes, least significant bit first.
#[derive(Debug, Default)]
pub(super) struct Bits {
    bytes: Vec<u8>,
    held: u32,
    count: u32,
}

impl Bits {
    /// Codes behind their size.
    pub(super) fn new(size: u8) -> Self {
        Self { bytes: vec![size], ..Self::default() }
    }

    pub(super) fn push(&mut self, code: u16, width: u32) {
        self.held |= u32::from(code) << self.count;
        self.count += width;
        while self.count >= 8 {
            self.bytes.push(self.held as u8);
            self.held >>= 8;
            self.count -= 8;
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.held as u8);
        }
        self.bytes
    }
}
