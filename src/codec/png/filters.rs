//! Row filters, and the ways to choose one for every row.

use super::{
    deflate::Deflater,
    heuristics::{Counts, Heuristic},
};
use crate::{control::Run, error::Result};

/// Rows as they are filtered: packed, pass after pass.
#[derive(Debug)]
pub(super) struct Lines {
    data: Vec<u8>,
    /// Bytes a row and rows of each pass.
    passes: Vec<(usize, usize)>,
    /// Bytes from a sample to the one on its left; 1 for depths under 8.
    distance: usize,
    /// Bytes of alpha at the end of every pixel if the colours of transparent ones do not matter.
    alpha: Option<usize>,
}

impl Lines {
    /// Rows from `data`, whose passes have the given bytes a row and rows.
    pub(super) fn new(data: Vec<u8>, passes: Vec<(usize, usize)>, distance: usize) -> Self {
        debug_assert_eq!(data.len(), passes.iter().map(|(bytes, rows)| bytes * rows).sum::<usize>());
        Self { data, passes, distance, alpha: None }
    }

    /// The same with any colours where pixels, which end in `alpha` bytes of it, are transparent: those that the filter of
    /// the row expects.
    pub(super) fn with_free_colours(self, alpha: usize) -> Self {
        Self { alpha: Some(alpha), ..self }
    }

    /// Rows over all passes.
    pub(super) fn count(&self) -> usize {
        self.passes.iter().map(|(_, rows)| rows).sum()
    }

    /// Bytes of the filtered rows.
    pub(super) fn filtered_bytes(&self) -> usize {
        self.data.len() + self.count()
    }

    fn longest(&self) -> usize {
        self.passes.iter().map(|&(bytes, _)| bytes).max().unwrap_or(0)
    }

    /// Every row with the one above it, which is empty for the first of a pass.
    fn pairs(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.passes.iter().flat_map(move |&(bytes, rows)| {
            let pass = &self.data[start..][..bytes * rows];
            start += bytes * rows;
            let above = std::iter::once(&[][..]).chain(pass.chunks_exact(bytes));
            pass.chunks_exact(bytes).zip(above)
        })
    }

    /// The filtered rows, each behind the number of its filter in `choice`.
    pub(super) fn filtered(&self, choice: &Choice, run: Run<'_>) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(self.filtered_bytes());
        let mut above = Above::of(self);
        for (index, (row, before)) in self.pairs().enumerate() {
            run.check()?;
            let filter = choice.filter(index);
            out.push(filter);
            let start = out.len();
            out.resize(start + row.len(), 0);
            above.filter(filter, row, before, &mut out[start..]);
            above.go_on(filter, row, before);
        }
        Ok(out)
    }

    /// For every heuristic the filters that it chooses.
    pub(super) fn choose(&self, heuristics: &[Heuristic], run: Run<'_>) -> Result<Vec<Choice>> {
        if self.alpha.is_none() {
            return self.choose_side_by_side(heuristics, run);
        }
        // What lies above a row depends on the filters that were chosen.
        let alone = |heuristic: &Heuristic| self.choose_side_by_side(std::slice::from_ref(heuristic), run);
        Ok(heuristics.iter().map(alone).collect::<Result<Vec<_>>>()?.concat())
    }

    fn choose_side_by_side(&self, heuristics: &[Heuristic], run: Run<'_>) -> Result<Vec<Choice>> {
        let mut filtered = vec![0; self.longest()];
        let mut counts = Counts::default();
        let mut choices = vec![Vec::with_capacity(self.count()); heuristics.len()];
        let mut above = Above::of(self);
        for (row, before) in self.pairs() {
            run.check()?;
            let mut best = vec![(u64::MAX, 0); heuristics.len()];
            for filter in 0..5 {
                let out = &mut filtered[..row.len()];
                above.filter(filter, row, before, out);
                for (heuristic, best) in heuristics.iter().zip(&mut best) {
                    *best = (*best).min((heuristic.cost(out, &mut counts), filter));
                }
            }
            best.iter().zip(&mut choices).for_each(|((_, filter), choice)| choice.push(*filter));
            above.go_on(best.first().map_or(0, |best| best.1), row, before);
        }
        Ok(choices.into_iter().map(Choice::Each).collect())
    }

    /// The filters with which every row, behind the `context` rows before it, compresses best.
    pub(super) fn choose_by_compressing(
        &self,
        context: usize,
        deflater: &mut Deflater,
        run: Run<'_>,
    ) -> Result<Choice> {
        let mut choice = Vec::with_capacity(self.count());
        let mut done: Vec<u8> = Vec::with_capacity(self.filtered_bytes());
        let mut best = Vec::new();
        let mut above = Above::of(self);
        for (row, before) in self.pairs() {
            run.check()?;
            let start = done.len();
            let window = start.saturating_sub(context * (row.len() + 1));
            done.resize(start + row.len() + 1, 0);
            let mut least = usize::MAX;
            for filter in 0..5 {
                done[start] = filter;
                above.filter(filter, row, before, &mut done[start + 1..]);
                let length = deflater.length(&done[window..], least);
                if length < least {
                    least = length;
                    best.clear();
                    best.extend_from_slice(&done[start..]);
                }
            }
            done[start..].copy_from_slice(&best);
            choice.push(best[0]);
            above.go_on(best[0], row, before);
        }
        Ok(Choice::Each(choice))
    }
}

/// What a decoder has above a row. It differs from the picture where colours are free.
struct Above {
    zeros: Vec<u8>,
    distance: usize,
    alpha: Option<usize>,
    /// The row before if it differs.
    row: Option<Vec<u8>>,
    next: Vec<u8>,
    filtered: Vec<u8>,
}

impl Above {
    fn of(lines: &Lines) -> Self {
        let zeros = vec![0; lines.longest()];
        Self { zeros, distance: lines.distance, alpha: lines.alpha, row: None, next: Vec::new(), filtered: Vec::new() }
    }

    /// Filters a row of the picture, which has the row `before` above it unless that is empty.
    fn filter(&mut self, filter: u8, row: &[u8], before: &[u8], out: &mut [u8]) {
        let above = match &self.row {
            _ if before.is_empty() => &self.zeros[..row.len()],
            Some(above) => above,
            None => before,
        };
        match self.alpha {
            Some(alpha) if filter > 0 && has_transparent(row, self.distance, alpha) => {
                self.next.clear();
                self.next.extend_from_slice(row);
                free(&mut self.next, above, (self.distance, alpha), filter);
                apply(filter, &self.next, above, self.distance, out);
            }
            _ => apply(filter, row, above, self.distance, out),
        }
    }

    /// Goes on to the row below one that was filtered.
    fn go_on(&mut self, filter: u8, row: &[u8], before: &[u8]) {
        let Some(alpha) = self.alpha else { return };
        if filter == 0 || !has_transparent(row, self.distance, alpha) {
            self.row = None;
            return;
        }
        let mut filtered = std::mem::take(&mut self.filtered);
        filtered.resize(row.len(), 0);
        self.filter(filter, row, before, &mut filtered);
        self.filtered = filtered;
        self.row.get_or_insert_default().clone_from(&self.next);
    }
}

fn has_transparent(row: &[u8], pixel: usize, alpha: usize) -> bool {
    row.chunks_exact(pixel).any(|pixel| is_transparent(pixel, alpha))
}

fn is_transparent(pixel: &[u8], alpha: usize) -> bool {
    pixel[pixel.len() - alpha..].iter().all(|&byte| byte == 0)
}

/// Gives the transparent pixels of a row the colours that `filter` expects.
fn free(row: &mut [u8], above: &[u8], (distance, alpha): (usize, usize), filter: u8) {
    for start in (0..row.len()).step_by(distance) {
        if !is_transparent(&row[start..start + distance], alpha) {
            continue;
        }
        for at in start..start + distance - alpha {
            let left = at.checked_sub(distance);
            let (a, b, c) = (left.map_or(0, |left| row[left]), above[at], left.map_or(0, |left| above[left]));
            row[at] = expected(filter, a, b, c);
        }
    }
}

/// What a filter subtracts from a sample, by those on its left, above it, and on the left of that.
fn expected(filter: u8, a: u8, b: u8, c: u8) -> u8 {
    match filter {
        0 => 0,
        1 => a,
        2 => b,
        3 => ((u16::from(a) + u16::from(b)) / 2) as u8,
        _ => paeth(a, b, c),
    }
}

/// Filters for all rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    /// The same for all.
    All(u8),
    /// One for each.
    Each(Vec<u8>),
}

impl Choice {
    fn filter(&self, row: usize) -> u8 {
        match self {
            Self::All(filter) => *filter,
            Self::Each(filters) => filters[row],
        }
    }
}

/// Filters one row; section 9.2 of the specification.
fn apply(filter: u8, row: &[u8], above: &[u8], distance: usize, out: &mut [u8]) {
    // The samples left of the first are 0.
    let first = distance.min(row.len());
    let (left, above_left) = (&row[..row.len() - first], &above[..row.len() - first]);
    let (head, tail) = out.split_at_mut(first);
    let (row_head, row_tail) = row.split_at(first);
    let (above_head, above_tail) = above.split_at(first);
    match filter {
        0 => {
            head.copy_from_slice(row_head);
            tail.copy_from_slice(row_tail);
        }
        1 => {
            head.copy_from_slice(row_head);
            zip3(tail, row_tail, left, |x, a| x.wrapping_sub(a));
        }
        2 => {
            zip3(head, row_head, above_head, |x, b| x.wrapping_sub(b));
            zip3(tail, row_tail, above_tail, |x, b| x.wrapping_sub(b));
        }
        3 => {
            zip3(head, row_head, above_head, |x, b| x.wrapping_sub(b / 2));
            let sources = row_tail.iter().zip(left).zip(above_tail);
            for (out, ((&x, &a), &b)) in tail.iter_mut().zip(sources) {
                *out = x.wrapping_sub(((u16::from(a) + u16::from(b)) / 2) as u8);
            }
        }
        _ => {
            zip3(head, row_head, above_head, |x, b| x.wrapping_sub(b));
            let sources = row_tail.iter().zip(left).zip(above_tail).zip(above_left);
            for (out, (((&x, &a), &b), &c)) in tail.iter_mut().zip(sources) {
                *out = x.wrapping_sub(paeth(a, b, c));
            }
        }
    }
}

fn zip3(out: &mut [u8], row: &[u8], other: &[u8], f: impl Fn(u8, u8) -> u8) {
    for (out, (&x, &y)) in out.iter_mut().zip(row.iter().zip(other)) {
        *out = f(x, y);
    }
}

/// The neighbour nearest to `a + b - c`; ties go to `a`, then `b`.
pub(crate) fn paeth(a: u8, b: u8, c: u8) -> u8 {
    let [a16, b16, c16] = [a, b, c].map(i16::from);
    let (to_a, to_b, to_c) = ((b16 - c16).abs(), (a16 - c16).abs(), (a16 + b16 - 2 * c16).abs());
    let near = if to_b <= to_c { b } else { c };
    if to_a <= to_b && to_a <= to_c { a } else { near }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::png::fixtures::{noise, run};

    fn lines() -> Lines {
        Lines::new(noise(5).take(6 * 5 + 3 * 4).collect(), vec![(6, 5), (3, 4)], 3)
    }

    #[test]
    fn the_first_row_of_a_pass_has_nothing_above_it() {
        let lines = lines();
        let up = lines.filtered(&Choice::All(2), run()).unwrap();
        assert_eq!(up.len(), lines.filtered_bytes());
        assert_eq!(&up[..7], &[&[2], &lines.data[..6]].concat()[..]);
        assert_eq!(&up[35..39], &[&[2], &lines.data[30..33]].concat()[..]);
        assert_eq!(up[8], lines.data[6].wrapping_sub(lines.data[0]));
    }

    /// What a decoder makes of filtered rows.
    fn decoded(filtered: &[u8], row: usize, distance: usize) -> Vec<u8> {
        let mut out: Vec<u8> = Vec::new();
        for line in filtered.chunks_exact(row + 1) {
            let start = out.len();
            for (at, &byte) in line[1..].iter().enumerate() {
                let above = |at: usize| start.checked_sub(row).map_or(0, |above| out[above + at]);
                let (a, c) = if at < distance { (0, 0) } else { (out[start + at - distance], above(at - distance)) };
                out.push(byte.wrapping_add(expected(line[0], a, above(at), c)));
            }
        }
        out
    }

    #[test]
    fn only_colours_of_transparent_pixels_are_free_and_they_filter_to_nothing() {
        for (pixel, alpha) in [(4, 1), (2, 1), (8, 2)] {
            let (width, height) = (16, 12);
            let mut data: Vec<u8> = noise(7).take(width * height * pixel).collect();
            for (at, pixel) in data.chunks_exact_mut(pixel).enumerate() {
                if at / 3 % 2 == 0 { pixel.fill(0) } else { pixel[pixel.len() - 1] |= 1 }
            }
            let row = width * pixel;
            let plain = Lines::new(data.clone(), vec![(row, height)], pixel);
            let free = Lines::new(data.clone(), vec![(row, height)], pixel).with_free_colours(alpha);
            let zeros = |rows: &[u8]| rows.iter().filter(|&&byte| byte == 0).count();
            let each = Choice::Each((0..height as u8).map(|row| row % 5).collect());
            for choice in [Choice::All(1), Choice::All(2), Choice::All(4), each] {
                let filtered = free.filtered(&choice, run()).unwrap();
                for (is, was) in decoded(&filtered, row, pixel).chunks_exact(pixel).zip(data.chunks_exact(pixel)) {
                    let first = if is_transparent(was, alpha) { pixel - alpha } else { 0 };
                    assert_eq!(is[first..], was[first..]);
                }
                assert!(zeros(&filtered) > zeros(&plain.filtered(&choice, run()).unwrap()));
            }
        }
    }

    #[test]
    fn every_way_to_choose_chooses_once_a_row() {
        let lines = lines();
        let all = [Heuristic::Sum, Heuristic::Entropy, Heuristic::Pairs, Heuristic::PairEntropy];
        for choice in lines.choose(&all, run()).unwrap() {
            assert!(matches!(choice, Choice::Each(filters) if filters.len() == 9));
        }
        let choice = lines.choose_by_compressing(3, &mut Deflater::new(1), run()).unwrap();
        assert!(matches!(choice, Choice::Each(filters) if filters.len() == 9));
    }

    #[test]
    fn a_gradient_is_filtered_by_its_slope() {
        let data: Vec<u8> = (0..64u8).flat_map(|y| (0..64u8).map(move |x| x.wrapping_mul(3).wrapping_add(y))).collect();
        let lines = Lines::new(data, vec![(64, 64)], 1);
        for choice in lines.choose(&[Heuristic::Sum, Heuristic::Entropy, Heuristic::Pairs], run()).unwrap() {
            let Choice::Each(filters) = choice else { panic!() };
            assert!(filters.iter().all(|&filter| filter != 0), "{filters:?}");
        }
    }

    #[test]
    fn paeth_breaks_ties_as_specified() {
        // Nearest is b, then c; a before c, b before c.
        assert_eq!(paeth(10, 20, 10), 20);
        assert_eq!(paeth(0, 255, 128), 128);
        assert_eq!(paeth(2, 5, 4), 2);
        assert_eq!(paeth(5, 2, 4), 2);
    }
}
