//! The cheapest way through the data.

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
    /// For every position what it costs to come there, and the last step.
    ways: Vec<(u32, Item)>,
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
        self.ways.resize(data.len() + 1, (u32::MAX, Item::default()));
        self.ways[0].0 = 0;
        let mut before = None;
        for (at, &byte) in data.iter().enumerate() {
            if at % PERIOD == 0 {
                run.check()?;
            }
            let here = self.ways[at].0;
            let literal = here + costs.literals[usize::from(byte)];
            if literal < self.ways[at + 1].0 {
                self.ways[at + 1] = (literal, Item::literal(byte));
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
                    let (way, cost) = (&mut self.ways[at + length], base + costs.lengths[length]);
                    if cost < way.0 {
                        *way = (cost, Item { length: length as u16, value });
                    }
                    length = end - span;
                }
                let lengths = length as u16..=end as u16;
                let steps = self.ways[at + length..=at + end].iter_mut().zip(&costs.lengths[length..=end]);
                for ((way, cost), length) in steps.zip(lengths) {
                    if base + cost < way.0 {
                        *way = (base + cost, Item { length, value });
                    }
                }
                length = end + 1;
            }
        }
        let mut items = Vec::new();
        let mut at = data.len();
        while at > 0 {
            let item = self.ways[at].1;
            items.push(item);
            at -= usize::from(item.length);
        }
        items.reverse();
        Ok(items)
    }
}
