//! The cheapest way through the data.

use std::ops::RangeInclusive;

use super::{
    matches::Matches,
    symbols::{Costs, Item, LONGEST_MATCH},
};
use crate::{control::Run, error::Result};

/// Positions between two questions whether to go on.
const PERIOD: usize = 1 << 12;

/// The memory of [`parse`](Self::parse).
#[derive(Debug)]
pub(super) struct Parser {
    /// Within a repetition that began before so many of the longest lengths are looked at, and the least.
    span: usize,
    /// For every position what it costs to come there, above the last step, its length above its value.
    ways: Vec<u64>,
}

impl Parser {
    pub(super) const fn new(span: usize) -> Self {
        Self { span, ways: Vec::new() }
    }

    /// The items of least cost for `data`, which lies `offset` behind the first position of `matches`.
    pub(super) fn parse(
        &mut self,
        data: &[u8],
        matches: &Matches,
        offset: usize,
        costs: &Costs,
        run: Run<'_>,
    ) -> Result<Vec<Item>> {
        self.ways.clear();
        self.ways.resize(data.len() + 1, u64::MAX);
        self.ways[0] = 0;
        let mut before = None;
        for (at, &byte) in data.iter().enumerate() {
            if at % PERIOD == 0 {
                run.check()?;
            }
            let here = (self.ways[at] >> 32) as u32;
            let literal = here + costs.literals[usize::from(byte)];
            let next = &mut self.ways[at + 1];
            *next = (*next).min(u64::from(literal) << 32 | 1 << 16 | u64::from(byte));
            let most = data.len() - at;
            let found = matches.at(offset + at);
            // Within a long repetition all lengths were tried from its beginning.
            let longest = found.last().map(|last| last.distance());
            let span = if longest == before { self.span } else { LONGEST_MATCH };
            before = longest;
            let mut length = 3;
            for found in found {
                let value = found.distance();
                let base = here + costs.distances[found.symbol()];
                let end = found.length().min(most);
                if length > end {
                    continue;
                }
                if end - length > span {
                    self.step(at, length..=length, base, &costs.lengths, value);
                    length = end - span;
                }
                self.step(at, length..=end, base, &costs.lengths, value);
                length = end + 1;
            }
        }
        let mut items = Vec::new();
        let mut at = data.len();
        while at > 0 {
            let step = self.ways[at] as u32;
            let item = Item { length: (step >> 16) as u16, value: step as u16 };
            items.push(item);
            at -= usize::from(item.length);
        }
        items.reverse();
        Ok(items)
    }

    /// Takes the steps of all `lengths` from `at` that cost less than those known: `base` and their own.
    #[inline(always)]
    fn step(
        &mut self,
        at: usize,
        lengths: RangeInclusive<usize>,
        base: u32,
        costs: &[u32; LONGEST_MATCH + 1],
        value: u32,
    ) {
        let (start, end) = lengths.into_inner();
        let known = &mut self.ways[at + start..=at + end];
        let mut step = u64::from(base) << 32 | (start as u64) << 16 | u64::from(value);
        for (known, cost) in known.iter_mut().zip(&costs[start..=end]) {
            *known = (step + (u64::from(*cost) << 32)).min(*known);
            step += 1 << 16;
        }
    }
}
