//! Indices to LZW codes, in fewer bits than by the book.
//!
//! Two freedoms make the codes fewer. A pixel may leave a choice of indices (its colour, or transparent where the canvas
//! shows it already), and the longest phrase over all choices is taken: the dictionary is a tree, and all its paths that
//! fit are followed at once. And a dictionary that is full may stay as long as it serves, or be given up early.

use crate::{control::Run, error::Result};

/// Bits of the longest code.
const MOST_BITS: u32 = 12;
const MOST_CODES: u16 = 1 << MOST_BITS;
/// Pixels that a phrase may be cut by.
const MOST_CUT: usize = 8;
/// Paths followed at once.
const MOST_PATHS: usize = 128;
/// Phrases between two questions whether to go on; one takes some microseconds at most.
const STRIDE: u32 = 1 << 12;

/// Pixels to be coded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Indices<'a> {
    /// The index of each pixel.
    pub(super) first: &'a [u8],
    /// Another index that does as well; the same where there is none.
    pub(super) second: &'a [u8],
}

impl Indices<'_> {
    const fn len(&self) -> usize {
        self.first.len()
    }

    /// Bits that hold every index, at least 2.
    fn bits(&self) -> u8 {
        let most = self.first.iter().chain(self.second).copied().max().unwrap_or(0);
        (8 - most.leading_zeros() as u8).max(2)
    }
}

/// How to code.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Policy {
    pub(super) clear: Clear,
    /// By how many pixels two phrases must reach farther for the first to be cut short while the dictionary grows, which
    /// costs an entry; `None` never cuts them.
    pub(super) cut: Option<usize>,
}

/// When to give up a full dictionary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Clear {
    /// At once.
    Full,
    /// When codes of late stand for fewer pixels than this share of what those of the growing dictionary did, in
    /// sixteenths.
    Worse(u64),
    /// Never.
    Never,
}

/// The code size and the codes of `indices`, by whichever policy gives the fewest bytes.
pub(super) fn compress(indices: Indices<'_>, policies: &[Policy], run: Run<'_>) -> Result<Vec<u8>> {
    let mut coder = Coder::new(indices.bits());
    let mut best: Option<Vec<u8>> = None;
    // Policies that differ in what is done with a full dictionary are the same if it never is.
    let mut done = Vec::new();
    for &policy in policies {
        if done.contains(&policy.cut) {
            continue;
        }
        let codes = coder.code(indices, policy, run)?;
        if !coder.overflowed {
            done.push(policy.cut);
        }
        if best.as_ref().is_none_or(|best| codes.len() < best.len()) {
            best = Some(codes);
        }
    }
    Ok(best.unwrap_or_default())
}

/// A dictionary that grows as a decoder's does.
struct Coder {
    bits: u8,
    /// The code for a code and one more index; 0 for none.
    children: Vec<u16>,
    /// What is not 0 in `children`.
    filled: Vec<u32>,
    first: Vec<u8>,
    parent: Vec<u16>,
    next: u16,
    width: u32,
    paths: Vec<u16>,
    further: Vec<u16>,
    /// It was full before all was coded.
    overflowed: bool,
}

impl Coder {
    fn new(bits: u8) -> Self {
        let first = (0..MOST_CODES).map(|code| code as u8).collect();
        Self {
            bits,
            children: vec![0; usize::from(MOST_CODES) << bits],
            filled: Vec::new(),
            first,
            parent: vec![0; MOST_CODES.into()],
            next: 0,
            width: 0,
            paths: Vec::new(),
            further: Vec::new(),
            overflowed: false,
        }
    }

    fn clear(&mut self) {
        for at in self.filled.drain(..) {
            self.children[at as usize] = 0;
        }
        self.next = (1 << self.bits) + 2;
        self.width = u32::from(self.bits) + 1;
    }

    fn child(&self, code: u16, index: u8) -> u16 {
        self.children[usize::from(code) << self.bits | usize::from(index)]
    }

    /// Makes the next code mean `code` and `index`, unless one does already.
    fn insert(&mut self, code: u16, index: u8) {
        let at = usize::from(code) << self.bits | usize::from(index);
        if self.children[at] == 0 {
            self.children[at] = self.next;
            self.filled.push(at as u32);
        }
        self.first[usize::from(self.next)] = self.first[usize::from(code)];
        self.parent[usize::from(self.next)] = code;
    }

    fn remove_last(&mut self) {
        if let Some(at) = self.filled.pop() {
            self.children[at as usize] = 0;
        }
    }

    /// The code of the longest phrase at `at`, and its length.
    fn longest(&mut self, indices: Indices<'_>, at: usize) -> (u16, usize) {
        let (first, second) = (&indices.first[at..], &indices.second[at..]);
        self.paths.clear();
        self.paths.push(first[0].into());
        if second[0] != first[0] {
            self.paths.push(second[0].into());
        }
        let mut length = 1;
        for (&one, &other) in first[1..].iter().zip(&second[1..]) {
            self.further.clear();
            for &code in &self.paths {
                let row = usize::from(code) << self.bits;
                let found = self.children[row | usize::from(one)];
                if found != 0 {
                    self.further.push(found);
                }
                if other != one {
                    let found = self.children[row | usize::from(other)];
                    if found != 0 {
                        self.further.push(found);
                    }
                }
            }
            if self.further.is_empty() {
                break;
            }
            self.further.truncate(MOST_PATHS);
            std::mem::swap(&mut self.paths, &mut self.further);
            length += 1;
        }
        (self.paths[0], length)
    }

    fn code(&mut self, indices: Indices<'_>, policy: Policy, run: Run<'_>) -> Result<Vec<u8>> {
        let mut out = Bits::default();
        let clear = 1u16 << self.bits;
        self.clear();
        self.overflowed = false;
        out.push(clear, self.width);
        let (mut at, mut count, mut previous) = (0, 0u32, None::<u16>);
        let mut watch = Watch::default();
        while at < indices.len() {
            count = count.wrapping_add(1);
            if count.is_multiple_of(STRIDE) {
                run.check()?;
            }
            let (code, length) = self.step(indices, at, previous, policy.cut);
            out.push(code, self.width);
            if let Some(before) = previous {
                self.grow(before, code);
            }
            previous = Some(code);
            at += length;
            if self.next == MOST_CODES && at < indices.len() {
                self.overflowed = true;
                if watch.is_over(policy.clear, length as u64) {
                    out.push(clear, self.width);
                    self.clear();
                    previous = None;
                    watch = Watch::default();
                }
            } else {
                watch.seen(length as u64);
            }
        }
        out.push(clear + 1, self.width);
        let codes = out.finish();
        let mut bytes = Vec::with_capacity(1 + codes.len());
        bytes.push(self.bits);
        bytes.extend(codes);
        Ok(bytes)
    }

    /// The phrase at `at`, the longest or a shorter one, behind which the next one ends the farthest; a shorter one only
    /// if that is farther by more than `margin` pixels.
    fn farthest(&mut self, indices: Indices<'_>, at: usize, margin: usize) -> (u16, usize) {
        let longest = self.longest(indices, at);
        let (mut code, length) = longest;
        if at + length == indices.len() {
            return longest;
        }
        let (mut best, mut reach) = (longest, length + self.longest(indices, at + length).1 + margin);
        for shorter in (1..length).rev().take(MOST_CUT) {
            code = self.parent[usize::from(code)];
            let reached = shorter + self.longest(indices, at + shorter).1;
            if reached > reach {
                (best, reach) = ((code, shorter), reached);
            }
        }
        best
    }

    /// The next phrase. The code that is being made, which stands for the last phrase and the first index of this one, may
    /// be this one.
    fn step(&mut self, indices: Indices<'_>, at: usize, previous: Option<u16>, cut: Option<usize>) -> (u16, usize) {
        let growing = previous.filter(|_| self.next < MOST_CODES);
        let cut = if growing.is_some() { cut } else { Some(0) };
        let index = growing.map(|before| (before, self.first[usize::from(before)]));
        let possible = |&(before, index): &(u16, u8)| {
            (index == indices.first[at] || index == indices.second[at]) && self.child(before, index) == 0
        };
        let tentative = index.filter(possible);
        if let Some((before, index)) = tentative {
            self.insert(before, index);
        }
        let found = match cut {
            Some(margin) => self.farthest(indices, at, margin),
            None => self.longest(indices, at),
        };
        if tentative.is_some() {
            self.remove_last();
        }
        found
    }

    /// Does what a decoder does with `code` behind `before`.
    fn grow(&mut self, before: u16, code: u16) {
        if self.next == MOST_CODES {
            return;
        }
        let index = self.first[usize::from(code)];
        self.insert(before, index);
        self.next += 1;
        if u32::from(self.next) == 1 << self.width && self.width < MOST_BITS {
            self.width += 1;
        }
    }
}

/// Looks whether a full dictionary still serves.
#[derive(Debug, Default)]
pub(super) struct Watch {
    codes: u64,
    pixels: u64,
    /// The same, of late.
    late_codes: u64,
    late_pixels: u64,
}

impl Watch {
    /// Codes looked at together.
    const LATE: u64 = 256;

    pub(super) fn seen(&mut self, pixels: u64) {
        self.codes += 1;
        self.pixels += pixels;
    }

    pub(super) fn is_over(&mut self, clear: Clear, pixels: u64) -> bool {
        self.late_codes += 1;
        self.late_pixels += pixels;
        match clear {
            Clear::Full => true,
            Clear::Never => false,
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

#[cfg(test)]
mod tests {
    use super::{super::decompress::Decompressor, *};
    use crate::{control::Unattended, limits::Limits};

    const POLICIES: [Policy; 5] = [
        Policy { clear: Clear::Full, cut: None },
        Policy { clear: Clear::Worse(14), cut: Some(0) },
        Policy { clear: Clear::Worse(16), cut: Some(2) },
        Policy { clear: Clear::Never, cut: None },
        Policy { clear: Clear::Never, cut: Some(1) },
    ];

    /// Noise of `colours` values with stretches of one value.
    fn noise(count: usize, colours: u32) -> Vec<u8> {
        let mut state = 1u32;
        let mut step = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 8
        };
        let mut out = Vec::new();
        while out.len() < count {
            let index = (step() % colours) as u8;
            let stretch = if step() % 8 == 0 { 1 + step() % 300 } else { 1 };
            out.extend((0..stretch).map(|_| index));
        }
        out.truncate(count);
        out
    }

    fn decoded(codes: &[u8], count: usize) -> Vec<u8> {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let blocks: Vec<u8> =
            codes[1..].chunks(255).flat_map(|block| [&[block.len() as u8][..], block].concat()).collect();
        let mut indices = vec![0; count];
        Decompressor::new().run(codes[0], &blocks, &mut indices, run).unwrap();
        indices
    }

    #[test]
    fn every_policy_codes_what_a_decoder_reads() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        for (count, colours) in [(1, 1), (2, 2), (700, 1), (5_000, 3), (60_000, 200), (60_000, 256)] {
            let indices = noise(count, colours);
            for policy in POLICIES {
                let coded = compress(Indices { first: &indices, second: &indices }, &[policy], run).unwrap();
                assert!(decoded(&coded, count) == indices, "{count} of {colours}, {policy:?}");
            }
        }
    }

    #[test]
    fn each_pixel_is_one_of_its_choices() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let mut state = 1u32;
        let mut step = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let first: Vec<u8> = (0..40_000).map(|_| step() % 60).collect();
        let choice = |(at, &index): (usize, &u8)| if at % 5 == 0 { index } else { 63 };
        let second: Vec<u8> = first.iter().enumerate().map(choice).collect();
        for policy in POLICIES {
            let coded = compress(Indices { first: &first, second: &second }, &[policy], run).unwrap();
            let indices = decoded(&coded, first.len());
            let allowed = indices.iter().zip(first.iter().zip(&second)).all(|(i, (one, other))| i == one || i == other);
            assert!(allowed, "{policy:?}");
        }
    }
}
