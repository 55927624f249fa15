//! LZW codes to indices.

use super::{blocks::blocks, damaged};
use crate::{control::Run, error::Result};

/// Bits of the longest code.
const MOST_BITS: u32 = 12;
const MOST_CODES: usize = 1 << MOST_BITS;
/// Codes between two questions whether to go on; one takes some nanoseconds.
const STRIDE: u32 = 1 << 18;

/// Phrases of so many indices and more are copied as a whole.
const LONG: usize = 16;

/// Where a phrase was put out, and how many indices it has.
#[derive(Debug, Clone, Copy, Default)]
struct Phrase {
    start: usize,
    length: usize,
}

/// A dictionary, to be used again from frame to frame.
#[derive(Debug)]
pub(super) struct Decompressor {
    /// Of every code but the first, which stand for themselves. What a code is made of was put out in a row: the phrase
    /// before, and an index of the one behind.
    phrases: Vec<Phrase>,
}

impl Decompressor {
    pub(super) fn new() -> Self {
        Self { phrases: vec![Phrase::default(); MOST_CODES] }
    }

    /// Fills `indices` from `data`, blocks of codes that begin with `bits` for an index. What comes behind is not read.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if the data end too early or hold a code that has no meaning yet.
    pub(super) fn run(&mut self, bits: u8, data: &[u8], indices: &mut [u8], run: Run<'_>) -> Result<()> {
        if !(1..=8).contains(&bits) {
            return Err(damaged(format!("has a code size of {bits}, not 1 to 8")));
        }
        let clear = 1u16 << bits;
        let mut codes = Codes { bytes: blocks(data).flatten(), held: 0, count: 0 };
        let (mut width, mut next, mut previous) = (u32::from(bits) + 1, clear + 2, None::<Phrase>);
        let (mut done, mut read) = (0, 0u32);
        let total = indices.len();
        while done < total {
            read = read.wrapping_add(1);
            if read.is_multiple_of(STRIDE) {
                run.check()?;
            }
            let Some(code) = codes.next(width).filter(|&code| code != clear + 1) else {
                return Err(damaged(format!("has {done} of the {total} pixels of a frame")));
            };
            if code == clear {
                (width, next, previous) = (u32::from(bits) + 1, clear + 2, None);
                continue;
            }
            let Some(before) = previous else {
                if code > clear {
                    return Err(damaged(format!("begins with the code {code}")));
                }
                indices[done] = code as u8;
                (done, previous) = (done + 1, Some(Phrase { start: done, length: 1 }));
                // With a code size of 1 there is no room for a code more.
                width = width.max(u32::from(next).ilog2() + 1);
                continue;
            };
            if code > next || code == next && usize::from(next) >= MOST_CODES {
                return Err(damaged(format!("has the code {code} where {next} is the next")));
            }
            if usize::from(next) < MOST_CODES {
                self.phrases[usize::from(next)] = Phrase { length: before.length + 1, ..before };
                next += 1;
                if u32::from(next) == 1 << width && width < MOST_BITS {
                    width += 1;
                }
            }
            let phrase = if code < clear { None } else { Some(self.phrases[usize::from(code)]) };
            let length = phrase.map_or(1, |phrase| phrase.length).min(total - done);
            match phrase {
                None => indices[done] = code as u8,
                Some(Phrase { start, .. }) => repeat(indices, start, done, length),
            }
            previous = Some(Phrase { start: done, length });
            done += length;
        }
        Ok(())
    }
}

/// Puts out at `done` so many indices as were from `start` on, the last of which may be the first put out.
fn repeat(indices: &mut [u8], start: usize, done: usize, length: usize) {
    let there = if length < LONG { 0 } else { length - 1 };
    indices.copy_within(start..start + there, done);
    (there..length).for_each(|at| indices[done + at] = indices[start + at]);
}

/// Codes, least significant bit first.
struct Codes<I> {
    bytes: I,
    held: u32,
    count: u32,
}

impl<'a, I: Iterator<Item = &'a u8>> Codes<I> {
    fn next(&mut self, width: u32) -> Option<u16> {
        while self.count < width {
            self.held |= u32::from(*self.bytes.next()?) << self.count;
            self.count += 8;
        }
        let code = self.held & ((1 << width) - 1);
        self.held >>= width;
        self.count -= width;
        Some(code as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, limits::Limits};

    #[test]
    fn with_a_code_size_of_one_codes_have_three_bits_from_the_second_on() {
        // Codes 2 (clear), 0, 1, 4 and 5, as browsers read them.
        let mut indices = [9; 6];
        let run = Run { limits: &Limits::default(), control: &Unattended };
        Decompressor::new().run(1, &[2, 0x12, 0x76, 0], &mut indices, run).unwrap();
        assert_eq!(indices, [0, 1, 0, 1, 1, 0]);
    }
}
