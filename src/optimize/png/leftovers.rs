//! What leftovers of PNG's filter cost: as often as they came before, so many bits they take.

/// Counts of leftovers, by which of the three before were none: as runs of those take next to nothing, one more is cheap.
pub(super) struct Leftovers {
    counts: [[u32; 256]; 8],
    totals: [u32; 8],
    /// One bit for each of the three before, of those that were some.
    before: usize,
}

/// Counts are halved when they come to this, so that what a picture's other parts have is forgotten.
const MEMORY: u32 = 100_000;

impl Leftovers {
    /// Small ones are likelier at first.
    pub(super) fn new() -> Self {
        let first = std::array::from_fn(|leftover: usize| 1 + (64 >> (leftover.min(256 - leftover) / 4).min(6)));
        Self { counts: [first; 8], totals: [first.iter().sum(); 8], before: 0 }
    }

    /// What `leftover` takes here, in 256ths of a bit.
    pub(super) const fn price(&self, leftover: i32) -> u64 {
        log2(self.totals[self.before]) - log2(self.counts[self.before][(leftover & 255) as usize])
    }

    /// Counts what comes.
    pub(super) fn push(&mut self, leftover: i32) {
        let (counts, total) = (&mut self.counts[self.before], &mut self.totals[self.before]);
        counts[(leftover & 255) as usize] += 1;
        *total += 1;
        if *total >= MEMORY {
            counts.iter_mut().for_each(|count| *count = count.div_ceil(2));
            *total = counts.iter().sum();
        }
        self.before = (self.before << 1 | usize::from(leftover != 0)) & 7;
    }
}

/// The binary logarithm in 256ths, straight between powers of two: the same on every machine.
const fn log2(number: u32) -> u64 {
    let whole = number.ilog2();
    let rest = ((number as u64) << 8 >> whole) - 256;
    (whole as u64) * 256 + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_often_costs_less() {
        let mut leftovers = Leftovers::new();
        let first = leftovers.price(9);
        (0..300_000).for_each(|_| leftovers.push(9));
        assert!(leftovers.price(9) < 16 && first > 1024, "{} after {first}", leftovers.price(9));
        assert!(leftovers.price(0) > 10 * 256);
        assert_eq!(leftovers.price(-1), leftovers.price(255));
    }
}
