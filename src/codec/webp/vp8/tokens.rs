//! Quantised coefficients as tokens (RFC 6386, section 13).

use super::{
    boolean::{EVEN, Reader, Writer},
    modes::Luma,
    tables::{BAND, BANDS, CONTEXTS, DECISIONS, TOKEN_PROBABILITIES},
};

/// Blocks of a macroblock: 16 of luma, 4 of each chroma, one of the means of luma.
pub(super) const BLOCKS: usize = 25;
/// The block of the means of luma.
pub(super) const SECOND: usize = 24;
/// The block that U begins with.
pub(super) const CHROMA: usize = 16;
/// The largest level that a token can tell.
pub(super) const MOST_LEVEL: i32 = 2047;

/// What a block's coefficients are, and with it their odds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Luma whose means are in a block of their own.
    Detail,
    /// The means of luma.
    Second,
    Chroma,
    /// Luma with its means.
    Luma,
}

impl Kind {
    /// The first coefficient that is coded.
    pub(super) const fn first(self) -> usize {
        if matches!(self, Self::Detail) { 1 } else { 0 }
    }
}

/// Levels of one block in the order of their coding.
pub(super) type Levels = [i16; 16];

/// The levels of a macroblock; behind the end of a block there are zeros, and an end of 0 means that there are none.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Residual {
    pub(super) ends: [u8; BLOCKS],
    pub(super) levels: [Levels; BLOCKS],
}

impl Residual {
    pub(super) const EMPTY: Self = Self { ends: [0; BLOCKS], levels: [[0; 16]; BLOCKS] };

    pub(super) fn is_empty(&self) -> bool {
        self.ends == [0; BLOCKS]
    }
}

/// The levels of a whole picture, without the zeros behind them.
#[derive(Debug, Clone, Default)]
pub(super) struct Residuals {
    ends: Vec<[u8; BLOCKS]>,
    levels: Vec<i16>,
}

impl Residuals {
    pub(super) fn push(&mut self, residual: &Residual) {
        self.ends.push(residual.ends);
        for (levels, &end) in residual.levels.iter().zip(&residual.ends) {
            self.levels.extend_from_slice(&levels[..end.into()]);
        }
    }

    /// One macroblock after the other.
    pub(super) fn iter(&self) -> impl Iterator<Item = Residual> + '_ {
        let mut rest = &self.levels[..];
        self.ends.iter().map(move |&ends| {
            let mut residual = Residual { ends, ..Residual::EMPTY };
            for (levels, &end) in residual.levels.iter_mut().zip(&ends) {
                let (block, behind) = rest.split_at(end.into());
                levels[..block.len()].copy_from_slice(block);
                rest = behind;
            }
            residual
        })
    }
}

/// Which blocks around have coefficients: above each macroblock, and to the left. Four luma, two of each chroma, means.
#[derive(Debug)]
pub(super) struct Contexts {
    above: Vec<[u8; 9]>,
    left: [u8; 9],
}

impl Contexts {
    /// Those of a picture of `across` macroblocks a row.
    pub(super) fn new(across: usize) -> Self {
        Self { above: vec![[0; 9]; across], left: [0; 9] }
    }

    /// Begins a row of macroblocks.
    pub(super) fn next_row(&mut self) {
        self.left = [0; 9];
    }

    /// The two neighbours of a block.
    fn places(&mut self, x: usize, block: usize) -> (&mut u8, &mut u8) {
        let (column, row) = match block {
            0..CHROMA => (block % 4, block / 4),
            CHROMA..SECOND => {
                let plane = 4 + (block - CHROMA) / 4 * 2;
                (plane + block % 2, plane + block / 2 % 2)
            }
            _ => (8, 8),
        };
        (&mut self.above[x][column], &mut self.left[row])
    }

    /// How many of a block's two neighbours have coefficients.
    pub(super) fn of(&mut self, x: usize, block: usize) -> usize {
        let (above, left) = self.places(x, block);
        usize::from(*above + *left)
    }

    pub(super) fn set(&mut self, x: usize, block: usize, coded: bool) {
        let (above, left) = self.places(x, block);
        (*above, *left) = (coded.into(), coded.into());
    }

    /// Notes a macroblock without coefficients; means keep their context where luma has none of its own.
    pub(super) fn skip(&mut self, x: usize, luma: &Luma) {
        let kept = matches!(luma, Luma::Subblocks(_)).then(|| (self.above[x][8], self.left[8]));
        (self.above[x], self.left) = ([0; 9], [0; 9]);
        if let Some(kept) = kept {
            (self.above[x][8], self.left[8]) = kept;
        }
    }
}

/// The blocks of a macroblock and their kinds in the order of their coding.
pub(super) fn blocks(luma: &Luma) -> impl Iterator<Item = (usize, Kind)> + use<> {
    let whole = matches!(luma, Luma::Whole(_));
    let kind = if whole { Kind::Detail } else { Kind::Luma };
    let second = whole.then_some((SECOND, Kind::Second));
    second.into_iter().chain((0..SECOND).map(move |block| (block, if block < CHROMA { kind } else { Kind::Chroma })))
}

/// All token probabilities, in the order of the format.
pub(super) type Chances = [u8; TOKEN_PROBABILITIES];

/// Where the probabilities of a coefficient begin.
pub(super) const fn row(kind: Kind, position: usize, context: usize) -> usize {
    ((kind as usize * BANDS + BAND[position]) * CONTEXTS + context) * DECISIONS
}

/// What the odds of a decision are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Odds {
    /// The n-th probability of the coefficient.
    Decision(usize),
    /// The same everywhere.
    Fixed(u8),
}

/// The extra bits of large levels: their probabilities, by the smallest level they are for.
const EXTRA: [(u32, &[u8]); 6] = [
    (5, &[159]),
    (7, &[165, 145]),
    (11, &[173, 148, 140]),
    (19, &[176, 155, 140, 135]),
    (35, &[180, 157, 141, 134, 130]),
    (67, &[254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129]),
];

/// Spells a level, without its sign, in decisions.
#[inline]
pub(super) fn spell(level: u32, mut say: impl FnMut(bool, Odds)) {
    let mut decide = |at, bit| {
        say(bit, Odds::Decision(at));
        bit
    };
    if !decide(1, level > 0) || !decide(2, level > 1) {
        return;
    }
    if !decide(3, level > 4) {
        if decide(4, level > 2) {
            decide(5, level > 3);
        }
        return;
    }
    let extra = if !decide(6, level > 10) {
        usize::from(decide(7, level > 6))
    } else if !decide(8, level > 34) {
        2 + usize::from(decide(9, level > 18))
    } else {
        4 + usize::from(decide(10, level > 66))
    };
    let (least, chances) = EXTRA[extra];
    for (at, &chance) in chances.iter().enumerate() {
        let bit = (level - least) >> (chances.len() - 1 - at) & 1 == 1;
        say(bit, Odds::Fixed(chance));
    }
}

/// Spells a block in decisions with the place of their odds.
pub(super) fn spell_block(
    levels: &Levels,
    end: usize,
    kind: Kind,
    context: usize,
    mut say: impl FnMut(bool, usize, Odds),
) {
    let (mut context, mut behind_zero) = (context, false);
    for (at, &level) in levels.iter().enumerate().take(end).skip(kind.first()) {
        let row = row(kind, at, context);
        if !behind_zero {
            say(true, row, Odds::Decision(0));
        }
        let magnitude = u32::from(level.unsigned_abs());
        spell(magnitude, |bit, odds| say(bit, row, odds));
        if level != 0 {
            say(level < 0, row, Odds::Fixed(EVEN));
        }
        context = magnitude.min(2) as usize;
        behind_zero = level == 0;
    }
    let end = end.max(kind.first());
    if end < 16 && !behind_zero {
        say(false, row(kind, end, context), Odds::Decision(0));
    }
}

/// Writes a block.
pub(super) fn write_block(
    writer: &mut Writer,
    chances: &Chances,
    levels: &Levels,
    end: usize,
    kind: Kind,
    context: usize,
) {
    spell_block(levels, end, kind, context, |bit, row, odds| match odds {
        Odds::Decision(at) => writer.bit(bit, chances[row + at]),
        Odds::Fixed(chance) => writer.bit(bit, chance),
    });
}

/// Reads a block and gives where it ends.
pub(super) fn read_block(
    reader: &mut Reader<'_>,
    chances: &Chances,
    levels: &mut Levels,
    kind: Kind,
    context: usize,
) -> u8 {
    let (mut context, mut behind_zero, mut end) = (context, false, 0);
    for (at, place) in levels.iter_mut().enumerate().skip(kind.first()) {
        let row = row(kind, at, context);
        let chances = &chances[row..row + DECISIONS];
        if !behind_zero && !reader.bit(chances[0]) {
            break;
        }
        let magnitude = read_level(reader, chances);
        behind_zero = magnitude == 0;
        if !behind_zero {
            *place = if reader.flag() { -magnitude } else { magnitude };
            end = at as u8 + 1;
        }
        context = magnitude.min(2) as usize;
    }
    end
}

/// Reads what [`spell`] spells.
fn read_level(reader: &mut Reader<'_>, chances: &[u8]) -> i16 {
    let mut decide = |at: usize| reader.bit(chances[at]);
    if !decide(1) {
        return 0;
    }
    if !decide(2) {
        return 1;
    }
    if !decide(3) {
        return if decide(4) { 3 + i16::from(decide(5)) } else { 2 };
    }
    let extra = if !decide(6) {
        usize::from(decide(7))
    } else if !decide(8) {
        2 + usize::from(decide(9))
    } else {
        4 + usize::from(decide(10))
    };
    let (least, chances) = EXTRA[extra];
    least as i16 + chances.iter().fold(0, |number, &chance| number << 1 | i16::from(reader.bit(chance)))
}
