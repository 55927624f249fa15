//! Where a block should end and another begin.

use super::symbols::{Code, Counts, END, Item};
use crate::{control::Run, error::Result};

/// Items between two kept counts.
const STEP: usize = 256;
/// Blocks of fewer items are not split.
const LEAST: usize = 16;
/// Places that are tried in a round.
const PLACES: usize = 9;

/// Counts up to every so many items.
struct Sums<'a> {
    items: &'a [Item],
    sums: Vec<Counts>,
}

impl<'a> Sums<'a> {
    fn of(items: &'a [Item]) -> Self {
        let mut sums = Vec::with_capacity(items.len() / STEP + 1);
        let mut counts = Counts::NONE;
        for (at, &item) in items.iter().enumerate() {
            if at % STEP == 0 {
                sums.push(counts.clone());
            }
            counts.add(item);
        }
        Self { items, sums }
    }

    fn up_to(&self, end: usize) -> Counts {
        let Some(at) = self.sums.len().checked_sub(1).map(|last| last.min(end / STEP)) else { return Counts::NONE };
        let mut counts = self.sums[at].clone();
        self.items[at * STEP..end].iter().for_each(|item| counts.add(*item));
        counts
    }

    /// About how many bits a block of these items takes.
    fn bits(&self, start: usize, end: usize) -> u64 {
        let mut counts = self.up_to(end).less(&self.up_to(start));
        counts.symbols[END] = 1;
        Code::best(&counts, true).1
    }
}

/// Ends of the blocks into which `items` are best split, the last included (after Zopfli: the best of some places, then
/// of places around that, until they are one).
pub(super) fn split(items: &[Item], run: Run<'_>) -> Result<Vec<usize>> {
    let sums = Sums::of(items);
    let mut ends = Vec::new();
    let mut waiting = vec![(0, items.len(), sums.bits(0, items.len()))];
    while let Some((start, end, bits)) = waiting.pop() {
        match place(&sums, start, end, run)? {
            Some((at, left, right)) if left + right < bits => {
                waiting.push((at, end, right));
                waiting.push((start, at, left));
            }
            _ => ends.push(end),
        }
    }
    Ok(ends)
}

/// The best place for a split that is found, and the bits on both sides.
fn place(sums: &Sums<'_>, start: usize, end: usize, run: Run<'_>) -> Result<Option<(usize, u64, u64)>> {
    if end - start < LEAST {
        return Ok(None);
    }
    let (mut low, mut high) = (start + 1, end - 1);
    let mut best: Option<(usize, u64, u64)> = None;
    loop {
        run.check()?;
        let width = (high - low).div_ceil(PLACES + 1).max(1);
        let places: Vec<usize> = (1..=PLACES).map(|at| low + at * width).filter(|at| *at < high).collect();
        let mut better = false;
        for &at in &places {
            let (left, right) = (sums.bits(start, at), sums.bits(at, end));
            if best.is_none_or(|(_, l, r)| left + right < l + r) {
                (best, better) = (Some((at, left, right)), true);
            }
        }
        let Some((at, ..)) = best else { return Ok(None) };
        if !better || width == 1 {
            return Ok(best);
        }
        (low, high) = (at.saturating_sub(width).max(start + 1), (at + width).min(end - 1));
    }
}
