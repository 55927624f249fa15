//! The cheapest way through the data.

use std::ops::RangeInclusive;

use super::{
    matches::Matches,
    symbols::{Costs, Item, LONGEST_MATCH, distance_symbol},
};
use crate::{control::Run, error::Result};

/// Positions between two questions whether to go on.
const PERIOD: usize = 1 << 12;

/// The memory of [`parse`](Self::parse).
#[derive(Debug)]
pub(super) struct Parser {
    /// Within a repetition that began before so many of the longest lengths are looked at, and the least.
    span: usize,
    /// For every position what it costs to come there.
    costs: Vec<u32>,
    /// And the last step, its length above its value.
    steps: Vec<u32>,
}

impl Parser {
    pub(super) const fn new(span: usize) -> Self {
        Self { span, costs: Vec::new(), steps: Vec::new() }
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
        self.costs.clear();
        self.costs.resize(data.len() + 1, u32::MAX);
        self.costs[0] = 0;
        self.steps.resize(data.len() + 1, 0);
        let mut before = None;
        for (at, &byte) in data.iter().enumerate() {
            if at % PERIOD == 0 {
                run.check()?;
            }
            let here = self.costs[at];
            let literal = here + costs.literals[usize::from(byte)];
            if literal < self.costs[at + 1] {
                (self.costs[at + 1], self.steps[at + 1]) = (literal, 1 << 16 | u32::from(byte));
            }
            let most = data.len() - at;
            let found = matches.at(offset + at);
            // Within a long repetition all lengths were tried from its beginning.
            let longest = found.last().map(|last| last.distance);
            let span = if longest == before { self.span } else { LONGEST_MATCH };
            before = longest;
            let mut length = 3;
            for found in found {
                let value = found.distance;
                let base = here + costs.distances[distance_symbol(value.into()).0];
                let end = usize::from(found.length).min(most);
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
            let step = self.steps[at];
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
        value: u16,
    ) {
        let (start, end) = lengths.into_inner();
        let known = self.costs[at + start..=at + end].iter_mut().zip(&mut self.steps[at + start..=at + end]);
        let mut step = (start as u32) << 16 | u32::from(value);
        for ((known, last), cost) in known.zip(&costs[start..=end]) {
            let cost = base + cost;
            *last = if cost < *known { step } else { *last };
            *known = cost.min(*known);
            step += 1 << 16;
        }
    }
}
