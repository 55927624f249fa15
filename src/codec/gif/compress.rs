//! Indices to LZW codes, in fewer bits than by the book.
//!
//! Two freedoms make the codes fewer. A pixel may leave a choice of indices (its colour, or transparent where the canvas
//! shows it already), and the longest phrase over all choices is taken: the dictionary is a tree, and all its paths that
//! fit are followed at once. And a dictionary that is full may stay as long as it serves, or be given up early.

use crate::{control::Run, error::Result};

/// Bits of the longest code.
const MOST_BITS: u32 = 12;
const MOST_CODES: u16 = 1 << MOST_BITS;
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

/// When to give up a full dictionary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Policy {
    /// At once.
    Full,
    /// When codes of late stand for fewer pixels than this share of what those of the whole dictionary did, in
    /// sixteenths.
    Worse(u64),
    /// Never.
    Never,
}

/// The code size and the codes of `indices`, by whichever policy gives the fewest bytes.
pub(super) fn compress(indices: Indices<'_>, policies: &[Policy], run: Run<'_>) -> Result<Vec<u8>> {
    let mut coder = Coder::new(indices.bits());
    let mut best: Option<Vec<u8>> = None;
    for &policy in policies {
        let codes = coder.code(indices, policy, run)?;
        if best.as_ref().is_none_or(|best| codes.len() < best.len()) {
            best = Some(codes);
        }
        if !coder.overflowed {
            break;
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
            let (code, length) = self.step(indices, at, previous);
            out.push(code, self.width);
            if let Some(before) = previous {
                self.grow(before, code);
            }
            previous = Some(code);
            at += length;
            if self.next == MOST_CODES && at < indices.len() {
                self.overflowed = true;
                if watch.is_over(policy, length as u64) {
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

    /// The next phrase. The code that is being made, which stands for the last phrase and the first index of this one, may
    /// be this one.
    fn step(&mut self, indices: Indices<'_>, at: usize, previous: Option<u16>) -> (u16, usize) {
        let Some(before) = previous.filter(|_| self.next < MOST_CODES) else { return self.longest(indices, at) };
        let index = self.first[usize::from(before)];
        let possible = index == indices.first[at] || index == indices.second[at];
        if !possible || self.child(before, index) != 0 {
            return self.longest(indices, at);
        }
        self.insert(before, index);
        let found = self.longest(indices, at);
        self.remove_last();
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

    fn is_over(&mut self, policy: Policy, pixels: u64) -> bool {
        self.late_codes += 1;
        self.late_pixels += pixels;
        match policy {
            Policy::Full => true,
            Policy::Never => false,
            Policy::Worse(_) if self.late_codes < Self::LATE => false,
            Policy::Worse(sixteenths) => {
                let over = self.late_pixels * self.codes * 16 < self.pixels * self.late_codes * sixteenths;
                (self.late_codes, self.late_pixels) = (0, 0);
                over
            }
        }
    }
}

/// Codes, least significant bit first.
#[derive(Debug, Default)]
struct Bits {
    bytes: Vec<u8>,
    held: u32,
    count: u32,
}

impl Bits {
    fn push(&mut self, code: u16, width: u32) {
        self.held |= u32::from(code) << self.count;
        self.count += width;
        while self.count >= 8 {
            self.bytes.push(self.held as u8);
            self.held >>= 8;
            self.count -= 8;
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.held as u8);
        }
        self.bytes
    }
}
