//! A dictionary of LZW phrases that grows as a decoder's does, as lists of what follows each.

/// Bits of the longest code.
const MOST_BITS: u32 = 12;
const MOST_CODES: u16 = 1 << MOST_BITS;

/// No code: what follows a phrase is never the first.
const NONE: u16 = 0;

/// The dictionary.
pub(super) struct Phrases {
    child: Vec<u16>,
    sibling: Vec<u16>,
    last: Vec<u8>,
    first: Vec<u8>,
    parent: Vec<u16>,
    next: u16,
    width: u32,
    bits: u8,
}

/// What a dictionary was before it grew.
pub(super) struct Before {
    /// What the new phrase follows, unless it was there already.
    parent: Option<u16>,
    next: u16,
    width: u32,
}

impl Phrases {
    pub(super) fn new() -> Self {
        let codes = || vec![NONE; MOST_CODES.into()];
        Self {
            child: codes(),
            sibling: codes(),
            last: vec![0; MOST_CODES.into()],
            first: vec![0; MOST_CODES.into()],
            parent: codes(),
            next: 0,
            width: 0,
            bits: 2,
        }
    }

    /// Begins with indices of so many bits.
    pub(super) fn start(&mut self, bits: u8) {
        self.bits = bits;
        for code in 0..1u16 << bits {
            (self.last[usize::from(code)], self.first[usize::from(code)]) = (code as u8, code as u8);
        }
        self.clear();
    }

    pub(super) fn clear(&mut self) {
        self.next = (1 << self.bits) + 2;
        self.width = u32::from(self.bits) + 1;
        self.child[..usize::from(self.next)].fill(NONE);
    }

    /// The code that clears it.
    pub(super) const fn clear_code(&self) -> u16 {
        1 << self.bits
    }

    /// Bits of the next code.
    pub(super) const fn width(&self) -> u32 {
        self.width
    }

    pub(super) const fn is_full(&self) -> bool {
        self.next == MOST_CODES
    }

    /// The first index of a phrase.
    pub(super) fn first(&self, code: u16) -> u8 {
        self.first[usize::from(code)]
    }

    /// The phrases that are one index longer than that of `code`, and that index.
    #[inline(always)]
    pub(super) fn after(&self, code: u16) -> impl Iterator<Item = (u16, u8)> {
        let known = |code: u16| Some(code).filter(|&code| code != NONE);
        let next = move |&code: &u16| known(self.sibling[usize::from(code)]);
        let all = std::iter::successors(known(self.child[usize::from(code)]), next);
        all.map(|code| (code, self.last[usize::from(code)]))
    }

    /// Whether there is the phrase of `code` and `index`.
    pub(super) fn knows(&self, code: u16, index: u8) -> bool {
        self.after(code).any(|(_, last)| last == index)
    }

    /// Does what a decoder does behind `before` and a phrase that begins with `index`.
    pub(super) fn grow(&mut self, before: u16, index: u8) -> Before {
        let was = Before { parent: self.link(before, index).then_some(before), next: self.next, width: self.width };
        self.next += 1;
        if u32::from(self.next) == 1 << self.width && self.width < MOST_BITS {
            self.width += 1;
        }
        was
    }

    /// Goes back to what was.
    pub(super) fn shrink(&mut self, was: &Before) {
        (self.next, self.width) = (was.next, was.width);
        self.unlink(was.parent);
    }

    /// Makes the next code mean `before` and `index`.
    pub(super) fn name(&mut self, before: u16, index: u8) {
        let (from, new) = (usize::from(before), usize::from(self.next));
        (self.last[new], self.first[new], self.parent[new]) = (index, self.first[from], before);
    }

    /// Makes the next code mean what it will behind `before` if it comes next itself, to be found there, which is told if that is
    /// new, for [`unlink`](Self::unlink).
    pub(super) fn foresee(&mut self, before: u16) -> Option<u16> {
        (!self.is_full() && self.link(before, self.first(before))).then_some(before)
    }

    /// Takes back what was made last, if it was new behind `parent`.
    pub(super) fn unlink(&mut self, parent: Option<u16>) {
        if let Some(parent) = parent {
            self.child[usize::from(parent)] = self.sibling[usize::from(self.next)];
        }
    }

    /// As [`name`](Self::name), to be found behind `before`, if no other code means that already; whether that is so.
    fn link(&mut self, before: u16, index: u8) -> bool {
        let new = !self.knows(before, index);
        self.name(before, index);
        self.child[usize::from(self.next)] = NONE;
        if new {
            self.sibling[usize::from(self.next)] = self.child[usize::from(before)];
            self.child[usize::from(before)] = self.next;
        }
        new
    }

    /// Appends the indices of the phrase of `code`.
    pub(super) fn spell(&self, code: u16, length: usize, indices: &mut Vec<u8>) {
        let start = indices.len();
        indices.resize(start + length, 0);
        let mut code = usize::from(code);
        for index in indices[start..].iter_mut().rev() {
            *index = self.last[code];
            code = self.parent[code].into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All phrases by their codes.
    fn spelt(phrases: &Phrases) -> Vec<(u16, Vec<u8>)> {
        let mut all: Vec<(u16, Vec<u8>)> = (0..1u16 << phrases.bits).map(|code| (code, vec![code as u8])).collect();
        let mut at = 0;
        while let Some((code, indices)) = all.get(at).cloned() {
            all.extend(phrases.after(code).map(|(longer, index)| (longer, [&indices[..], &[index]].concat())));
            at += 1;
        }
        all
    }

    #[test]
    fn a_phrase_is_found_by_its_indices_and_spelt_by_its_code() {
        let mut phrases = Phrases::new();
        phrases.start(2);
        // 0 1, 1 2, 2 0 1.
        for (before, index) in [(0, 1), (1, 2), (2, 0)] {
            phrases.grow(before, index);
        }
        phrases.grow(8, 1);
        for (code, indices) in spelt(&phrases) {
            let mut out = Vec::new();
            phrases.spell(code, indices.len(), &mut out);
            assert_eq!((out, phrases.first(code)), (indices.clone(), indices[0]), "{code}");
        }
        assert!(phrases.knows(8, 1) && !phrases.knows(8, 0) && !phrases.knows(3, 0));
        assert_eq!((spelt(&phrases).len(), phrases.width()), (8, 4));
    }

    #[test]
    fn what_is_taken_back_leaves_no_trace() {
        let mut phrases = Phrases::new();
        phrases.start(2);
        for code in 6..20u16 {
            phrases.grow(if code % 3 == 0 { code % 4 } else { code - 1 }, (code % 4) as u8);
        }
        let known = phrases.after(7).next();
        let before = (spelt(&phrases), phrases.width());
        // What is new, and what is there already.
        for (parent, index) in [(17, 0), (7, known.map_or(0, |known| known.1))] {
            let was = phrases.grow(parent, index);
            let foreseen = phrases.foresee(parent);
            assert_ne!(spelt(&phrases), before.0);
            phrases.unlink(foreseen);
            phrases.shrink(&was);
            assert_eq!((spelt(&phrases), phrases.width()), before);
        }
    }
}
