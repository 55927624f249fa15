//! Token probabilities that fit a picture (RFC 6386, sections 13.4 and 13.5), and what tokens cost by them.

use super::{
    boolean::{Reader, Writer, cost},
    modes::chance,
    tables::{DECISIONS, DEFAULT_TOKENS, TOKEN_PROBABILITIES, TOKEN_UPDATES},
    tokens::{Chances, Kind, Levels, Odds, row, spell, spell_block},
};

/// Reads the changes to the default probabilities.
pub(super) fn read(reader: &mut Reader<'_>) -> Box<Chances> {
    let mut chances = Box::new(DEFAULT_TOKENS);
    for (chance, &update) in chances.iter_mut().zip(&TOKEN_UPDATES) {
        if reader.bit(update) {
            *chance = reader.number(8);
        }
    }
    chances
}

/// Writes what [`read`] reads.
pub(super) fn write(writer: &mut Writer, chances: &Chances) {
    for ((&chance, &default), &update) in chances.iter().zip(&DEFAULT_TOKENS).zip(&TOKEN_UPDATES) {
        writer.bit(chance != default, update);
        if chance != default {
            writer.number(chance, 8);
        }
    }
}

/// How often decisions were no and yes.
#[derive(Debug, Clone)]
pub(super) struct Counts(Box<[[u32; 2]; TOKEN_PROBABILITIES]>);

impl Default for Counts {
    fn default() -> Self {
        Self(Box::new([[0; 2]; TOKEN_PROBABILITIES]))
    }
}

impl Counts {
    pub(super) fn add(&mut self, levels: &Levels, end: usize, kind: Kind, context: usize) {
        spell_block(levels, end, kind, context, |bit, row, odds| {
            if let Odds::Decision(at) = odds {
                self.0[row + at][usize::from(bit)] += 1;
            }
        });
    }

    /// The probabilities that cost least, those that it costs to tell included.
    pub(super) fn fitting(&self) -> Box<Chances> {
        let mut chances = Box::new(DEFAULT_TOKENS);
        for ((place, &[no, yes]), &update) in chances.iter_mut().zip(&*self.0).zip(&TOKEN_UPDATES) {
            let price = |chance| {
                u64::from(no) * u64::from(cost(false, chance)) + u64::from(yes) * u64::from(cost(true, chance))
            };
            let fitting = chance(no, yes);
            let told = price(fitting) + u64::from(cost(true, update)) + 8 * 256;
            if told < price(*place) + u64::from(cost(false, update)) {
                *place = fitting;
            }
        }
        chances
    }
}

/// Levels up to this one have their costs in a table; above it only the extra bits differ.
const TABLED: usize = 67;

/// What tokens cost, in 256ths of a bit.
#[derive(Debug)]
pub(super) struct Costs {
    /// Of a level with its sign, by row of probabilities.
    levels: Vec<[u16; TABLED + 1]>,
    /// Of the end of a block, and of its going on.
    ends: Vec<[u16; 2]>,
}

impl Costs {
    pub(super) fn new(chances: &Chances) -> Self {
        let (rows, _) = chances.as_chunks::<DECISIONS>();
        let levels = rows.iter().map(|row| std::array::from_fn(|level| level_cost(level as u32, row) as u16)).collect();
        let ends = rows.iter().map(|row| [cost(false, row[0]) as u16, cost(true, row[0]) as u16]).collect();
        Self { levels, ends }
    }

    /// The costs of a coefficient.
    #[inline]
    pub(super) fn at(&self, kind: Kind, position: usize, context: usize) -> Coefficient<'_> {
        let row = row(kind, position, context) / DECISIONS;
        Coefficient { levels: &self.levels[row], ends: self.ends[row] }
    }
}

/// What one coefficient may cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coefficient<'a> {
    levels: &'a [u16; TABLED + 1],
    /// Of the end, and of going on.
    ends: [u16; 2],
}

impl Coefficient<'_> {
    /// Of a magnitude and its sign.
    #[inline]
    pub(super) fn level(&self, level: u32) -> f32 {
        let tabled = self.levels[(level as usize).min(TABLED)];
        // The odds of the extra bits of the largest levels: all but even for low bits, and high bits are rare.
        let beyond = if level as usize > TABLED { (level.ilog2() - 6) * 512 } else { 0 };
        f32::from(tabled) + beyond as f32
    }

    pub(super) fn end(&self) -> f32 {
        self.ends[0].into()
    }

    pub(super) fn more(&self) -> f32 {
        self.ends[1].into()
    }
}

fn level_cost(level: u32, row: &[u8; DECISIONS]) -> u32 {
    let mut total = if level > 0 { 256 } else { 0 };
    spell(level, |bit, odds| {
        total += match odds {
            Odds::Decision(at) => cost(bit, row[at]),
            Odds::Fixed(chance) => cost(bit, chance),
        };
    });
    total
}
