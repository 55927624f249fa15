//! What an effort buys.

use super::heuristics::Heuristic::{self, Entropy, PairEntropy, Pairs, Sum};

/// Level of the second comparison: it ranks nearly as level 12 does, in a quarter of its time.
pub(super) const SECOND_LEVEL: i32 = 10;

/// Filtered bytes that are compressed at most for the second comparison, over all candidates, at 70 ns each.
pub(super) const SECOND_WORK: usize = 16 << 20;

/// Bytes of rows from which on fewer filters are tried.
const VERY_MANY: usize = 64 << 20;

/// The trials of one effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    /// How many orders of a palette are tried.
    pub(super) orders: usize,
    /// Level at which all candidates are compared.
    pub(super) first: i32,
    /// How many of the best are compared again; 0 for none.
    pub(super) second: usize,
    /// Level of the result; see [`last_level`](Self::last_level).
    level: i32,
    /// Filtered bytes that may be compressed at the final level; the best candidate is, whatever they are.
    pub(super) work: usize,
    /// Fixed filters.
    pub(super) fixed: &'static [u8],
    /// Filters by row.
    pub(super) heuristics: &'static [Heuristic],
    /// Rows of context and level of the filters found by compressing.
    pub(super) brute: Option<(usize, i32)>,
}

const ALL: &[Heuristic] = &[Sum, Entropy, Pairs, PairEntropy];

impl Plan {
    /// For an effort of 0 to 6.
    pub(super) const fn of(effort: u8, indexed: bool) -> Self {
        let probe = Self {
            orders: 1,
            first: 5,
            second: 0,
            level: if indexed { 7 } else { 5 },
            work: 0,
            fixed: &[0],
            heuristics: if indexed { &[] } else { &[Sum] },
            brute: None,
        };
        let fast = Self { orders: 2, level: 10, heuristics: &[Entropy], ..probe };
        let default = Self { orders: 3, first: 7, second: 3, level: 11, fixed: &[0, 1], ..fast };
        let more =
            Self { orders: 4, second: 4, level: 12, fixed: &[0, 1, 2], heuristics: &[Entropy, PairEntropy], ..default };
        let max = Self { work: 4 << 20, brute: Some((4, 1)), ..more };
        let slow = Self {
            first: 8,
            second: 6,
            work: 16 << 20,
            brute: Some((8, 1)),
            fixed: &[0, 1, 2, 3, 4],
            heuristics: ALL,
            ..max
        };
        match effort {
            0 => probe,
            1 => fast,
            2 => default,
            3 => more,
            4 => max,
            5 => slow,
            _ => Self { second: 12, work: usize::MAX, brute: Some((8, 5)), ..slow },
        }
    }

    /// The same for so many bytes of rows: of very many, each filter more takes a second or two.
    pub(super) fn for_rows(self, bytes: usize) -> Self {
        if bytes < VERY_MANY {
            return self;
        }
        let (fixed, heuristics) = (self.fixed.len().min(1), self.heuristics.len().min(1));
        Self {
            second: self.second.min(2),
            fixed: &self.fixed[..fixed],
            heuristics: &self.heuristics[..heuristics],
            ..self
        }
    }

    /// Level of the result for a picture that the first comparison made `bytes` large. For a megabyte of these level 12 takes
    /// about 8 s, 11 and 10 take 2 to 4 and 9 one; 11 and 12 save photographs 1 % each, 10 saves 5 to 8 %.
    pub(super) fn last_level(&self, bytes: usize) -> i32 {
        match bytes >> 20 {
            0..2 => self.level,
            2..6 => self.level.min(11),
            6..12 => self.level.min(10),
            _ => self.level.min(9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_effort_never_tries_less() {
        for indexed in [false, true] {
            for effort in 0..6 {
                let (less, more) = (Plan::of(effort, indexed), Plan::of(effort + 1, indexed));
                assert!(less.orders <= more.orders && less.second <= more.second && less.work <= more.work);
                assert!(less.level <= more.level && less.fixed.len() <= more.fixed.len());
            }
        }
        assert_eq!(Plan::of(200, false), Plan::of(6, false));
    }

    #[test]
    fn very_many_rows_are_filtered_in_two_ways_and_by_compressing() {
        for effort in 0..=6 {
            let plan = Plan::of(effort, false);
            assert_eq!(plan.for_rows(VERY_MANY - 1), plan);
            let fewer = plan.for_rows(VERY_MANY);
            assert_eq!((fewer.fixed, fewer.heuristics), (&plan.fixed[..1], &plan.heuristics[..1]));
            assert!(fewer.second <= 2 && fewer.brute == plan.brute && fewer.level == plan.level);
        }
    }

    #[test]
    fn large_photographs_are_compressed_at_lower_levels() {
        let levels = [1 << 20, 5 << 20, 9 << 20, 40 << 20].map(|bytes| Plan::of(4, false).last_level(bytes));
        assert_eq!(levels, [12, 11, 10, 9]);
        assert_eq!(Plan::of(0, false).last_level(40 << 20), 5);
    }
}
