//! The colour tables of a sequence: a global one for as many frames as it can serve, local ones for the others.

use crate::codec::sequence::{NOTHING, Pixel};

/// Entries of the largest table.
const MOST: usize = 256;

/// What a frame has to draw.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Needs {
    /// The colours it cannot do without, in rising order.
    pub(super) colours: Vec<Pixel>,
    /// Whether some pixel may or must let the canvas through.
    pub(super) transparent: bool,
    /// Colours of pixels that are there already, the most frequent first. To draw them again may be cheaper than to leave
    /// them out.
    pub(super) idle: Vec<Pixel>,
}

impl Needs {
    /// Entries of a table for it alone.
    fn entries(&self) -> usize {
        MOST.min(self.colours.len() + usize::from(self.transparent))
    }
}

/// A colour table as it is built. The transparent index differs from frame to frame: any that the frame does not need for
/// a colour.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Table {
    pub(super) entries: Vec<Pixel>,
    /// Colours in rising order with their indices.
    sorted: Vec<(Pixel, u8)>,
}

impl Table {
    /// Of distinct colours, with at least so many entries.
    pub(super) fn new(colours: Vec<Pixel>, least: usize) -> Self {
        let mut sorted: Vec<_> = colours.iter().enumerate().map(|(index, &colour)| (colour, index as u8)).collect();
        sorted.sort_unstable();
        let mut entries = colours;
        entries.resize(entries.len().max(least), NOTHING);
        Self { entries, sorted }
    }

    /// For one frame alone, with as many idle colours as make it no longer, or with as many as there is room for.
    pub(super) fn local(needs: &Needs, full: bool) -> Self {
        let entries = needs.entries();
        let length = if full { MOST } else { entries.next_power_of_two() };
        let idle = needs.idle.iter().filter(|colour| needs.colours.binary_search(colour).is_err());
        let colours: Vec<Pixel> = needs.colours.iter().chain(idle.take(length - entries)).copied().collect();
        let least = colours.len() + (entries - needs.colours.len());
        Self::new(colours, least)
    }

    /// The index of a colour.
    pub(super) fn index(&self, colour: Pixel) -> Option<u8> {
        let at = self.sorted.binary_search_by_key(&colour, |entry| entry.0).ok()?;
        Some(self.sorted[at].1)
    }

    /// An index that is not `needed`: of those that make indices no longer, the one that `useful` counts least for, an
    /// entry without a colour at best. `None` if all are needed.
    pub(super) fn transparent(&self, needed: &[bool; MOST], useful: &[u32; MOST]) -> Option<u8> {
        let most = needed.iter().rposition(|&needed| needed).unwrap_or(0);
        let short = (most + 1).next_power_of_two().max(4).min(1 << self.bits());
        let least_useful = |range: std::ops::Range<usize>| {
            range.filter(|&index| !needed[index]).min_by_key(|&index| (useful[index], index < self.sorted.len(), index))
        };
        least_useful(0..short).or_else(|| least_useful(short..1 << self.bits())).map(|index| index as u8)
    }

    /// Bits of an index, 1 to 8.
    pub(super) fn bits(&self) -> u8 {
        Self::bits_of(self.entries.len())
    }

    /// Bytes in a file.
    pub(super) fn bytes(&self) -> usize {
        Self::bytes_of(self.entries.len())
    }

    /// Those of a table of so many entries.
    pub(super) fn bytes_of(entries: usize) -> usize {
        3 << Self::bits_of(entries)
    }

    fn bits_of(entries: usize) -> u8 {
        (entries.max(2) - 1).ilog2() as u8 + 1
    }

    pub(super) fn serves(&self, needs: &Needs) -> bool {
        needs.colours.iter().all(|&colour| self.index(colour).is_some())
    }

    /// Writes its entries, filled up to a power of two.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let end = out.len() + self.bytes();
        out.extend(self.entries.iter().flat_map(|&[r, g, b, _]| [r, g, b]));
        out.resize(end, 0);
    }
}

/// The table that spares the most local ones. Frames are taken in one after the other, whichever spares the most bytes
/// for each entry that it adds, as long as there is room. Colours of frames that need few come first, so that their
/// indices are short.
pub(super) fn global(frames: &[Needs]) -> Table {
    let mut sets: Vec<&[Pixel]> = frames.iter().map(|frame| frame.colours.as_slice()).collect();
    sets.sort_unstable_by_key(|set| (set.len(), *set));
    let mut union: Vec<Pixel> = sets.concat();
    union.sort_unstable();
    union.dedup();
    let chosen = if union.len() <= MOST { union } else { greedy(&sets) };
    let mut colours = Vec::with_capacity(chosen.len());
    let mut taken = vec![false; chosen.len()];
    for set in sets {
        let places: Option<Vec<usize>> = set.iter().map(|colour| chosen.binary_search(colour).ok()).collect();
        for place in places.into_iter().flatten() {
            if !std::mem::replace(&mut taken[place], true) {
                colours.push(chosen[place]);
            }
        }
    }
    let serves = |frame: &&Needs| frame.colours.iter().all(|colour| chosen.binary_search(colour).is_ok());
    let least = frames.iter().filter(serves).map(Needs::entries).max().unwrap_or(0);
    Table::new(colours, least)
}

/// Colours in rising order, at most 256, that serve many of `sets`.
fn greedy(sets: &[&[Pixel]]) -> Vec<Pixel> {
    let mut distinct: Vec<(&[Pixel], usize)> = Vec::new();
    for set in sets {
        match distinct.last_mut() {
            Some((last, count)) if last == set => *count += 1,
            _ => distinct.push((set, 1)),
        }
    }
    let mut chosen: Vec<Pixel> = Vec::new();
    while chosen.len() < MOST {
        let worth = |&(set, count): &(&[Pixel], usize)| {
            let added = set.iter().filter(|colour| chosen.binary_search(colour).is_err()).count();
            let spared = count * (3 << (set.len().max(1).ilog2() + 1));
            (added > 0 && chosen.len() + added <= MOST).then(|| spared * MOST / added)
        };
        let best = distinct.iter().enumerate().filter_map(|(at, set)| Some((worth(set)?, at))).max();
        let Some((_, at)) = best else { break };
        chosen.extend(distinct[at].0);
        chosen.sort_unstable();
        chosen.dedup();
    }
    chosen
}
