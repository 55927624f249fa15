//! A dictionary of LZW phrases that grows as a decoder's does, and can go back.
//!
//! A pixel may leave a choice of indices (its colour, or transparent where the canvas shows it already). The dictionary is a
//! tree, and all its paths that fit are followed at once.

use std::cmp::Reverse;

use crate::{control::Run, error::Result};

/// Bits of the longest code.
const MOST_BITS: u32 = 12;
const MOST_CODES: usize = 1 << MOST_BITS;
/// Pixels that a phrase may be cut by.
const MOST_CUT: usize = 8;
/// One in so many of the pixels reached is too little for a cut to be worth it.
const LEAST_SHARE: usize = 5;
/// Pixels of a short phrase.
const SHORT: usize = 3;
/// Paths followed at once.
const MOST_PATHS: usize = 128;
/// Steps of paths between two questions whether to go on; one takes some nanoseconds.
const STRIDE: usize = 1 << 18;

/// Pixels to be coded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Indices<'a> {
    /// The index of each pixel.
    pub(super) first: &'a [u8],
    /// Another index that does as well; the same where there is none.
    pub(super) second: &'a [u8],
}

impl Indices<'_> {
    pub(super) const fn len(&self) -> usize {
        self.first.len()
    }

    /// Bits that hold every index, at least 2.
    fn bits(&self) -> u8 {
        let most = self.first.iter().chain(self.second).copied().max().unwrap_or(0);
        (8 - most.leading_zeros() as u8).max(2)
    }

    /// The index that leaves pixels as they are.
    fn leaving(&self) -> Option<u8> {
        self.first.iter().zip(self.second).find(|(one, other)| one != other).map(|(&one, _)| one)
    }
}

/// Which phrases are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taste {
    /// Of phrases as long as each other, the one with the fewest changes between drawn and left pixels is taken: others
    /// like it will come. Of these, the one that leaves the most; otherwise the one made last, which was made of the most.
    pub(super) leaves: bool,
    pub(super) cuts: Cuts,
}

/// Whether a phrase is cut short while the dictionary grows if the next one then reaches farther. That spares codes, but the
/// phrase that the decoder makes of it is known already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cuts {
    Never,
    /// By whatever it is.
    Farther,
    /// By a fifth: where much is flat, a pixel is worth too little.
    MuchFarther,
}

/// What a code made: the phrase of the code before and one more index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) before: u16,
    pub(super) index: u8,
}

/// A phrase by its code.
#[derive(Debug, Clone, Copy)]
pub(super) struct Phrase {
    pub(super) code: u16,
    pub(super) length: usize,
}

/// What follows a code: most have no child or one, for which this, unlike all children, stays in the fastest cache.
#[derive(Debug, Clone, Copy, Default)]
struct Children {
    /// The one made first, and its index.
    first: u16,
    index: u8,
    count: u16,
}

impl Children {
    /// So many that all have to be looked at.
    const MANY: Self = Self { first: 0, index: 0, count: u16::MAX };
}

/// The dictionary.
pub(super) struct Dictionary<'a> {
    indices: Indices<'a>,
    run: Run<'a>,
    bits: u8,
    leaving: Option<u8>,
    nodes: Vec<Children>,
    /// The code for a code and one more index; 0 for none.
    children: Vec<u16>,
    /// What was made, and whether it was new.
    entries: Vec<(Entry, bool)>,
    first: Vec<u8>,
    last: Vec<u8>,
    parent: Vec<u16>,
    /// Changes between drawn and left pixels, and pixels left.
    changes: Vec<u16>,
    left: Vec<u16>,
    paths: Vec<u16>,
    further: Vec<u16>,
    work: usize,
}

impl<'a> Dictionary<'a> {
    pub(super) fn new(indices: Indices<'a>, run: Run<'a>) -> Self {
        let bits = indices.bits();
        let leaving = indices.leaving();
        let roots: Vec<u8> = (0..MOST_CODES).map(|code| code as u8).collect();
        let left = (0..MOST_CODES).map(|code| u16::from(leaving.map(usize::from) == Some(code))).collect();
        Self {
            indices,
            run,
            bits,
            leaving,
            nodes: vec![Children::default(); MOST_CODES],
            children: vec![0; MOST_CODES << bits],
            entries: Vec::new(),
            first: roots.clone(),
            last: roots,
            parent: vec![0; MOST_CODES],
            changes: vec![0; MOST_CODES],
            left,
            paths: Vec::new(),
            further: Vec::new(),
            work: 0,
        }
    }

    /// Whether some pixels have a choice.
    pub(super) const fn may_leave(&self) -> bool {
        self.leaving.is_some()
    }

    /// Bits of an index.
    pub(super) const fn bits(&self) -> u8 {
        self.bits
    }

    /// The code that clears it.
    pub(super) const fn clear_code(&self) -> u16 {
        1 << self.bits
    }

    const fn next(&self) -> usize {
        (1 << self.bits) + 2 + self.entries.len()
    }

    /// Bits of the next code.
    pub(super) fn width(&self) -> u32 {
        (usize::BITS - self.next().leading_zeros()).min(MOST_BITS)
    }

    pub(super) const fn is_full(&self) -> bool {
        self.next() == MOST_CODES
    }

    /// Goes back to so many entries.
    pub(super) fn truncate(&mut self, count: usize) {
        for (entry, new) in self.entries.drain(count.min(self.entries.len())..) {
            if new {
                self.nodes[usize::from(entry.before)].count -= 1;
                self.children[usize::from(entry.before) << self.bits | usize::from(entry.index)] = 0;
            }
        }
    }

    /// Goes to `entries` from whatever there is.
    pub(super) fn set(&mut self, entries: &[Entry]) {
        let same = self.entries.iter().zip(entries).take_while(|(one, other)| one.0 == **other).count();
        self.truncate(same);
        for &entry in &entries[same..] {
            self.push(entry);
        }
    }

    /// 0 if there is none.
    #[inline(always)]
    fn child(&self, code: u16, index: u8) -> u16 {
        self.children[usize::from(code) << self.bits | usize::from(index)]
    }

    /// Makes the next code mean `entry`, unless one does already; whether none did.
    fn push(&mut self, entry: Entry) -> bool {
        let Entry { before, index } = entry;
        let (code, from) = (self.next(), usize::from(before));
        let new = self.child(entry.before, entry.index) == 0;
        if new {
            let node = &mut self.nodes[from];
            if node.count == 0 {
                (node.first, node.index) = (code as u16, index);
            }
            node.count += 1;
            self.children[from << self.bits | usize::from(index)] = code as u16;
        }
        let (left, was_left) = (self.leaving == Some(index), self.leaving == Some(self.last[from]));
        (self.first[code], self.last[code], self.parent[code]) = (self.first[from], index, before);
        self.changes[code] = self.changes[from] + u16::from(left != was_left);
        self.left[code] = self.left[from] + u16::from(left);
        self.entries.push((entry, new));
        new
    }

    /// Does what a decoder does with `code` behind `before`: what was made, and whether it is new.
    pub(super) fn grow(&mut self, before: u16, code: u16) -> Option<(Entry, bool)> {
        let entry = Entry { before, index: self.first[usize::from(code)] };
        (!self.is_full()).then(|| (entry, self.push(entry)))
    }

    /// The phrase without its last pixel.
    pub(super) fn shorter(&self, phrase: Phrase) -> Phrase {
        Phrase { code: self.parent[usize::from(phrase.code)], length: phrase.length - 1 }
    }

    /// The next phrase at `at`. The code that is being made, which stands for the last phrase and the first index of this
    /// one, may be this one.
    pub(super) fn phrase(&mut self, at: usize, previous: Option<u16>, taste: Taste) -> Result<Phrase> {
        let growing = previous.filter(|_| !self.is_full());
        let entry = growing.map(|before| Entry { before, index: self.first[usize::from(before)] });
        let fits = |index| index == self.indices.first[at] || index == self.indices.second[at];
        let tentative = entry.filter(|&entry| fits(entry.index) && self.child(entry.before, entry.index) == 0);
        let count = self.entries.len();
        if let Some(entry) = tentative {
            self.push(entry);
        }
        let found = match taste.cuts {
            Cuts::Never if growing.is_some() => self.longest(at, taste.leaves),
            Cuts::MuchFarther if growing.is_some() => self.farthest(at, taste.leaves, LEAST_SHARE),
            _ => self.farthest(at, taste.leaves, usize::MAX),
        };
        if tentative.is_some() {
            self.truncate(count);
        }
        if self.work >= STRIDE {
            self.work = 0;
            self.run.check()?;
        }
        Ok(found)
    }

    /// The longest phrase at `at`.
    fn longest(&mut self, at: usize, leaves: bool) -> Phrase {
        let (first, second) = (&self.indices.first[at..], &self.indices.second[at..]);
        let mut phrase = Phrase { code: first[0].into(), length: 1 };
        self.paths.clear();
        if second[0] != first[0] {
            self.paths.push(first[0].into());
            self.paths.push(second[0].into());
        }
        loop {
            // Mostly one path is all there is.
            if self.paths.is_empty() {
                let begun = phrase.length;
                let ends = self.go_alone(&mut phrase, (first, second));
                self.work += phrase.length - begun;
                if ends {
                    return phrase;
                }
            }
            if self.follow(&mut phrase, (first, second)) {
                let rank = |code: &&u16| {
                    let at = usize::from(**code);
                    (Reverse(self.changes[at]), if leaves { self.left[at] } else { 0 }, **code)
                };
                phrase.code = self.paths.iter().max_by_key(rank).copied().unwrap_or_default();
                return phrase;
            }
        }
    }

    /// Goes on with all paths; whether there are no more in the end, and otherwise `phrase` is the only one.
    fn follow(&mut self, phrase: &mut Phrase, (first, second): (&[u8], &[u8])) -> bool {
        for (&one, &other) in first[phrase.length..].iter().zip(&second[phrase.length..]) {
            self.further.clear();
            for &code in &self.paths {
                let found = self.child(code, one);
                if found != 0 {
                    self.further.push(found);
                }
                if other != one {
                    let found = self.child(code, other);
                    if found != 0 {
                        self.further.push(found);
                    }
                }
            }
            self.work += self.paths.len();
            if self.further.is_empty() {
                return true;
            }
            self.further.truncate(MOST_PATHS);
            std::mem::swap(&mut self.paths, &mut self.further);
            phrase.length += 1;
            if let [code] = self.paths[..]
                && phrase.length > SHORT
            {
                phrase.code = code;
                self.paths.clear();
                return false;
            }
        }
        true
    }

    /// Goes on with `phrase` while one code follows; whether none does in the end, and otherwise the two are the paths.
    fn go_alone(&mut self, phrase: &mut Phrase, (first, second): (&[u8], &[u8])) -> bool {
        let Phrase { mut code, mut length } = *phrase;
        for (&one, &other) in first[length..].iter().zip(&second[length..]) {
            // Those of few pixels mostly have many children, the others one or none.
            let Children { first, index, count } =
                if length > SHORT { self.nodes[usize::from(code)] } else { Children::MANY };
            if count > 1 {
                let found = self.child(code, one);
                let beside = if other == one { 0 } else { self.child(code, other) };
                if found != 0 && beside != 0 {
                    *phrase = Phrase { code, length: length + 1 };
                    self.paths.push(found);
                    self.paths.push(beside);
                    return false;
                }
                if found | beside == 0 {
                    break;
                }
                code = found | beside;
            } else if count == 1 && (index == one || index == other) {
                code = first;
            } else {
                break;
            }
            length += 1;
        }
        *phrase = Phrase { code, length };
        true
    }

    /// The phrase at `at`, the longest or a shorter one, behind which the next one ends the farthest, by more than one in so
    /// many `parts`.
    fn farthest(&mut self, at: usize, leaves: bool, parts: usize) -> Phrase {
        let mut best = self.longest(at, leaves);
        if at + best.length == self.indices.len() {
            return best;
        }
        let mut reach = best.length + self.longest(at + best.length, leaves).length;
        let mut cut = best;
        for _ in 0..MOST_CUT.min(best.length - 1) {
            cut = self.shorter(cut);
            let reached = cut.length + self.longest(at + cut.length, leaves).length;
            if reached > reach + reach / parts {
                (best, reach) = (cut, reached);
            }
        }
        best
    }
}
