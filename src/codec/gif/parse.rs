//! Indices to LZW codes in as few bits as a search finds.
//!
//! Where the dictionary is given up is found by dynamic programming over places of a grid: from each that is reached, the
//! pixels behind it are coded with an empty dictionary for as long as that may be the cheapest way to somewhere. (A phrase
//! that reaches beyond a place may be cut there, because all its beginnings have codes.) Between two such places, a few
//! ways of choosing phrases are followed side by side, because which one serves better differs from stretch to stretch.

use super::{
    compress::{Bits, Clear, code},
    dictionary::{Cuts, Dictionary, Entry, Indices, Taste},
};
use crate::{
    control::Run,
    error::{Error, Result},
};

/// Places of the grid for each dictionary that is filled.
const PLACES: usize = 48;
/// Bits by which a way may be dearer than the best to the same place, with a dictionary that grows and with a full one.
const PATIENCE: [u32; 2] = [1000, 100];
/// Ways followed side by side.
const WAYS: usize = 5;
/// Stretches for each dictionary that is filled, behind each of which ways are compared.
const STRETCHES: usize = 256;
/// Pixels of the shortest stretch.
const SHORTEST: usize = 64;
/// One in so many bytes is too little for few cuts to be taken for many.
const LEAST_GAIN: usize = 64;
/// Bits that a new phrase in a dictionary is worth.
const WORTH: u32 = 3;

/// The code size and the codes of `indices`.
pub(super) fn parse(indices: Indices<'_>, run: Run<'_>) -> Result<Vec<u8>> {
    let (count, mut dictionary) = (indices.len(), Dictionary::new(indices, run));
    let (taste, plain) = taste(&mut dictionary, count)?;
    let filled = code(&mut dictionary, count, Clear::Full, taste)?.filled;
    let pixels = count / filled.max(1);
    let ends = match filled {
        0 => vec![0, count],
        _ => clears(&mut dictionary, count, (pixels / PLACES).max(1), taste)?,
    };
    let mut out = Bits::new(dictionary.bits());
    let mut width = u32::from(dictionary.bits()) + 1;
    for block in ends.windows(2) {
        let stretch = (pixels / STRETCHES).max(SHORTEST);
        let way = between(&mut dictionary, block[0], block[1], stretch, taste)?;
        out.push(dictionary.clear_code(), width);
        dictionary.truncate(0);
        let mut previous = None;
        for code in way.codes() {
            out.push(code, dictionary.width());
            if let Some(before) = previous.replace(code) {
                dictionary.grow(before, code);
            }
        }
        width = dictionary.width();
    }
    out.push(dictionary.clear_code() + 1, width);
    let searched = out.finish();
    Ok(if plain.len() < searched.len() { plain } else { searched })
}

/// What serves best where dictionaries are given up once they serve no longer, and the codes.
fn taste(dictionary: &mut Dictionary<'_>, count: usize) -> Result<(Taste, Vec<u8>)> {
    let mut best: Option<(Taste, Vec<u8>)> = None;
    let leaves: &[bool] = if dictionary.may_leave() { &[true, false] } else { &[true] };
    for cuts in [Cuts::Never, Cuts::Farther, Cuts::MuchFarther] {
        // Few cuts pay where many do not at all, but otherwise follow worse side by side with none.
        let less = if cuts == Cuts::MuchFarther { LEAST_GAIN } else { usize::MAX };
        for &leaves in leaves {
            let taste = Taste { leaves, cuts };
            let codes = code(dictionary, count, Clear::Worse(15), taste)?.codes;
            let better = |best: &(_, Vec<u8>)| codes.len() + codes.len() / less < best.1.len();
            if best.as_ref().is_none_or(better) {
                best = Some((taste, codes));
            }
        }
    }
    best.ok_or_else(|| Error::internal("coding pixels", "there was nothing to try"))
}

/// The cheapest places to begin with an empty dictionary, and the end.
fn clears(dictionary: &mut Dictionary<'_>, count: usize, grid: usize, taste: Taste) -> Result<Vec<usize>> {
    let cells = count.div_ceil(grid);
    let place = |cell: usize| (cell * grid).min(count);
    // The bits to each place and the one before.
    let mut best = vec![(u32::MAX, 0); cells + 1];
    best[0].0 = 0;
    for start in 0..cells {
        let (mut bits, mut at, mut previous) = (best[start].0, place(start), None);
        let mut cell = start + 1;
        dictionary.truncate(0);
        'coding: while cell <= cells {
            let phrase = dictionary.phrase(at, previous, taste)?;
            bits = bits.saturating_add(dictionary.width());
            if let Some(before) = previous.replace(phrase.code) {
                dictionary.grow(before, phrase.code);
            }
            at += phrase.length;
            while cell <= cells && place(cell) <= at {
                let total = bits.saturating_add(dictionary.width());
                let patience = PATIENCE[usize::from(dictionary.is_full())];
                if total < best[cell].0 {
                    best[cell] = (total, start);
                } else if total > best[cell].0.saturating_add(patience) {
                    break 'coding;
                }
                cell += 1;
            }
        }
    }
    let mut ends = vec![count];
    let mut cell = cells;
    while cell > 0 {
        cell = best[cell].1;
        ends.push(place(cell));
    }
    ends.reverse();
    Ok(ends)
}

/// Pixels coded from where the dictionary is empty.
#[derive(Debug, Clone, PartialEq)]
struct Way {
    at: usize,
    bits: u32,
    /// What each code but the last made while the dictionary grew.
    entries: Vec<Entry>,
    /// How many of these it knew already.
    known: u32,
    /// The codes since it is full, but for the last.
    late: Vec<u16>,
    last: Option<u16>,
}

impl Way {
    /// Goes on to `to`, if the last phrase does not reach farther, and not beyond `end`.
    fn go_on(&mut self, dictionary: &mut Dictionary<'_>, to: usize, end: usize, taste: Taste) -> Result<()> {
        dictionary.set(&self.entries);
        while self.at < to {
            let mut phrase = dictionary.phrase(self.at, self.last, taste)?;
            while self.at + phrase.length > end {
                phrase = dictionary.shorter(phrase);
            }
            self.bits += dictionary.width();
            if let Some(before) = self.last.replace(phrase.code) {
                match dictionary.grow(before, phrase.code) {
                    Some((entry, new)) => {
                        self.entries.push(entry);
                        self.known += u32::from(!new);
                    }
                    None => self.late.push(before),
                }
            }
            self.at += phrase.length;
        }
        Ok(())
    }

    fn codes(&self) -> impl Iterator<Item = u16> {
        self.entries.iter().map(|entry| entry.before).chain(self.late.iter().copied()).chain(self.last)
    }
}

/// The cheapest way found from one place to another.
fn between(dictionary: &mut Dictionary<'_>, from: usize, to: usize, stretch: usize, taste: Taste) -> Result<Way> {
    let start = Way { at: from, bits: 0, entries: Vec::new(), known: 0, late: Vec::new(), last: None };
    let (mut ways, mut target) = (vec![start], from);
    let both = [Cuts::Never, if taste.cuts == Cuts::MuchFarther { taste.cuts } else { Cuts::Farther }];
    while target < to {
        target = (target + stretch).min(to);
        let mut found: Vec<Way> = Vec::new();
        for way in &ways {
            for cuts in both {
                let mut way = way.clone();
                way.go_on(dictionary, target, to, Taste { cuts, ..taste })?;
                if !found.contains(&way) {
                    found.push(way);
                }
            }
        }
        sort(&mut found, from, target == to);
        // With a full dictionary there is nothing left to choose.
        found.truncate(if found[0].late.is_empty() { WAYS } else { 1 });
        ways = found;
    }
    Ok(ways.swap_remove(0))
}

/// The cheapest first, of which some have come farther than others.
fn sort(ways: &mut [Way], from: usize, last: bool) {
    let pixels = |way: &Way| (way.at - from) as u64;
    let bits = |way: &Way| u64::from(way.bits + if last { 0 } else { way.known * WORTH });
    let cheaper = |one: &&Way, other: &&Way| (bits(one) * pixels(other)).cmp(&(bits(other) * pixels(one)));
    let Some((rate, each)) = ways.iter().min_by(cheaper).map(|best| (bits(best), pixels(best))) else { return };
    // A way that is a pixel ahead is worth what the best pays for a pixel.
    ways.sort_by_key(|way| (bits(way) * each) as i128 - (rate * pixels(way)) as i128);
}

#[cfg(test)]
mod tests {
    use super::{
        super::{compress::compress, decompress::Decompressor},
        *,
    };
    use crate::{control::Unattended, limits::Limits};

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
    fn a_decoder_reads_what_was_coded_and_searched_codes_are_fewer() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let (mut quick, mut searched) = (0, 0);
        for (count, colours) in [(1, 1), (2, 2), (700, 1), (5_000, 3), (60_000, 200), (60_000, 256)] {
            let pixels = noise(count, colours);
            let indices = Indices { first: &pixels, second: &pixels };
            let (one, other) = (compress(indices, run).unwrap(), parse(indices, run).unwrap());
            assert!(decoded(&one, count) == pixels, "{count} of {colours}");
            assert!(decoded(&other, count) == pixels, "{count} of {colours}, searched");
            (quick, searched) = (quick + one.len(), searched + other.len());
        }
        assert!(searched < quick, "{searched} for {quick}");
    }

    #[test]
    fn each_pixel_is_one_of_its_choices() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let mut state = 1u32;
        let mut step = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let drawn: Vec<u8> = (0..40_000).map(|_| step() % 60).collect();
        let choice = |(at, &index): (usize, &u8)| if at % 5 == 0 { index } else { 63 };
        let left: Vec<u8> = drawn.iter().enumerate().map(choice).collect();
        let indices = Indices { first: &left, second: &drawn };
        for coded in [compress(indices, run).unwrap(), parse(indices, run).unwrap()] {
            let pixels = decoded(&coded, drawn.len());
            assert!(pixels.iter().zip(left.iter().zip(&drawn)).all(|(i, (one, other))| i == one || i == other));
        }
    }

    #[test]
    fn where_much_is_flat_few_cuts_serve_better_than_many_or_none() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        // Bars of colours, and dots between them in some rows.
        let index = |x: usize, y: usize| match x % 85 {
            0..80 => 1 + (x / 85 % 6) as u8,
            place if y.is_multiple_of(40) && place.is_multiple_of(2) => 7,
            _ => 0,
        };
        let pixels: Vec<u8> = (0..800 * 500).map(|at| index(at % 800, at / 800)).collect();
        let indices = Indices { first: &pixels, second: &pixels };
        let mut dictionary = Dictionary::new(indices, run);
        let [never, farther, much] = [Cuts::Never, Cuts::Farther, Cuts::MuchFarther].map(|cuts| {
            let taste = Taste { leaves: true, cuts };
            code(&mut dictionary, pixels.len(), Clear::Full, taste).unwrap().codes.len()
        });
        assert!(much * 100 < never.min(farther) * 95, "{never} {farther} {much}");
        let (taste, _) = taste(&mut dictionary, pixels.len()).unwrap();
        assert_eq!(taste, Taste { leaves: true, cuts: Cuts::MuchFarther });
    }
}
