//! Where data repeats itself.

use std::ops::Range;

use super::symbols::{LONGEST_MATCH, distance_symbol};
use crate::{control::Run, error::Result};

/// How far back matches lie at most: one less than the format allows, so that the tree of positions fits its ring.
const FARTHEST: usize = (1 << 15) - 1;
const RING: usize = 1 << 15;
/// Two children for each place of the ring.
const CHILDREN: usize = 2 * RING;
const HASH_BITS: u32 = 15;
const NONE: u32 = u32::MAX;
/// Positions between two questions whether to go on.
const PERIOD: usize = 1 << 10;

/// A repetition: every length from that of the one before in its list up to its own is best taken from its distance.
///
/// In one word: the distance, the length above it, and above that the symbol of the distance, which every parse asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Match(u32);

impl Match {
    /// Bits below the length, and below the symbol.
    const LENGTH: u32 = 15;
    const SYMBOL: u32 = 24;

    const fn new(length: usize, distance: usize) -> Self {
        let symbol = distance_symbol(distance as u32).0;
        Self((symbol as u32) << Self::SYMBOL | (length as u32) << Self::LENGTH | distance as u32)
    }

    pub(super) const fn distance(self) -> u32 {
        self.0 & ((1 << Self::LENGTH) - 1)
    }

    pub(super) const fn length(self) -> usize {
        (self.0 >> Self::LENGTH & ((1 << (Self::SYMBOL - Self::LENGTH)) - 1)) as usize
    }

    pub(super) const fn symbol(self) -> usize {
        (self.0 >> Self::SYMBOL) as usize
    }
}

/// The repetitions of every position of a part of the data.
#[derive(Debug, Default)]
pub(super) struct Matches {
    all: Vec<Match>,
    ends: Vec<u32>,
}

impl Matches {
    /// Those at a position of the part, the shortest first.
    pub(super) fn at(&self, position: usize) -> &[Match] {
        let start = if position == 0 { 0 } else { self.ends[position - 1] };
        &self.all[start as usize..self.ends[position] as usize]
    }
}

/// Positions seen so far, in a binary tree for every hash of four bytes, ordered by what follows; the youngest is the
/// root.
pub(super) struct Finder<'a> {
    data: &'a [u8],
    depth: usize,
    /// The last position with a hash of three bytes.
    threes: Vec<u32>,
    roots: Vec<u32>,
    /// For every position of the window its smaller and its greater child.
    children: Vec<u32>,
}

impl<'a> Finder<'a> {
    /// Over `data`, looking at up to `depth` candidates for a position.
    pub(super) fn new(data: &'a [u8], depth: usize) -> Self {
        let heads = vec![NONE; 1 << HASH_BITS];
        Self { data, depth, threes: heads.clone(), roots: heads, children: vec![NONE; CHILDREN] }
    }

    /// Finds the matches of the positions of a `place`, also with what is before it. None runs over its end.
    pub(super) fn find(&mut self, place: Range<usize>, out: &mut Matches, run: Run<'_>) -> Result<()> {
        self.threes.fill(NONE);
        self.roots.fill(NONE);
        out.all.clear();
        out.ends.clear();
        for position in place.start.saturating_sub(FARTHEST)..place.end {
            if position % PERIOD == 0 {
                run.check()?;
            }
            let from = out.all.len();
            self.search(position, &mut out.all);
            if position < place.start {
                out.all.clear();
            } else {
                cut(&mut out.all, from, place.end - position);
                out.ends.push(out.all.len() as u32);
            }
        }
        Ok(())
    }

    /// Puts a position into the tree, and looks for matches on the way.
    fn search(&mut self, position: usize, out: &mut Vec<Match>) {
        let most = LONGEST_MATCH.min(self.data.len() - position);
        let here = &self.data[position..][..most];
        let Some(&[a, b, c, d]) = here.first_chunk() else { return };
        let mut best = 2;
        let three = hash(u32::from_le_bytes([a, b, c, 0]));
        let last = std::mem::replace(&mut self.threes[three], position as u32);
        if last != NONE && position - last as usize <= FARTHEST && self.data[last as usize..][..3] == here[..3] {
            best = 3;
            out.push(Match::new(3, position - last as usize));
        }
        let root = hash(u32::from_le_bytes([a, b, c, d]));
        let mut candidate = std::mem::replace(&mut self.roots[root], position as u32);
        // Of a known length, and by remainders, so that no place needs to be checked.
        let children = &mut self.children[..CHILDREN];
        // Where the greatest of the smaller positions and the least of the greater ones go, and how much those share.
        let mut open = [position % RING * 2, position % RING * 2 + 1];
        let mut shared = [0, 0];
        for _ in 0..self.depth {
            let at = candidate as usize;
            if candidate == NONE || position - at > FARTHEST {
                break;
            }
            let there = &self.data[at..][..most];
            let length = common(here, there, shared[0].min(shared[1]));
            if length > best {
                best = length;
                out.push(Match::new(length, position - at));
            }
            let place = at % RING * 2;
            let (smaller, greater) = (children[place], children[place + 1]);
            let (Some(&there), Some(&here)) = (there.get(length), here.get(length)) else {
                children[open[0] % CHILDREN] = smaller;
                children[open[1] % CHILDREN] = greater;
                return;
            };
            let side = usize::from(there > here);
            children[open[side] % CHILDREN] = candidate;
            open[side] = place + 1 - side;
            shared[side] = length;
            candidate = if side == 0 { greater } else { smaller };
        }
        open.iter().for_each(|place| children[place % CHILDREN] = NONE);
    }
}

/// Cuts matches to a length, and drops those that say nothing then.
fn cut(all: &mut Vec<Match>, from: usize, most: usize) {
    while let [.., before, last] = all[from..]
        && before.length() >= most
        && last.length() > before.length()
    {
        all.pop();
    }
    if let Some(last) = all[from..].last_mut().filter(|last| last.length() > most) {
        *last = Match::new(most, last.distance() as usize);
    }
    if most < 3 {
        all.truncate(from);
    }
}

const fn hash(bytes: u32) -> usize {
    (bytes.wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)) as usize
}

/// How many bytes two slices of one length begin with alike, of which `known` are known to be.
fn common(a: &[u8], b: &[u8], known: usize) -> usize {
    let mut at = known;
    while let (Some(x), Some(y)) = (a[at..].first_chunk::<8>(), b[at..].first_chunk::<8>()) {
        let differ = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differ != 0 {
            return at + differ.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + a[at..].iter().zip(&b[at..]).take_while(|(x, y)| x == y).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::png::fixtures::{noise, run};

    #[test]
    fn matches_are_true_and_grow() {
        let data: Vec<u8> =
            noise(3).take(4000).map(|byte| byte & 1).chain([7; 2000]).chain(noise(4).take(500)).collect();
        let mut finder = Finder::new(&data, 100);
        let mut matches = Matches::default();
        let (mut count, mut longest) = (0, 0);
        for place in [0..3000, 3000..data.len()] {
            finder.find(place.clone(), &mut matches, run()).unwrap();
            for position in place.clone() {
                let mut before = 2;
                for found in matches.at(position - place.start) {
                    let (length, distance) = (found.length(), found.distance() as usize);
                    assert!(length > before && position + length <= place.end);
                    let source = &data[position - distance..][..length];
                    assert_eq!(source, &data[position..][..length]);
                    (before, count, longest) = (length, count + 1, longest.max(length));
                }
            }
        }
        assert!(count > 5000 && longest == LONGEST_MATCH);
    }

    #[test]
    fn matches_are_as_long_as_they_may_be_however_far_the_end_is() {
        let data = [7; 1 << 17];
        let mut matches = Matches::default();
        Finder::new(&data, 8).find(0..data.len(), &mut matches, run()).unwrap();
        for position in 1..data.len() - 3 {
            let longest = matches.at(position).last().map(|found| found.length());
            assert_eq!(longest, Some(LONGEST_MATCH.min(data.len() - position)));
        }
    }
}
