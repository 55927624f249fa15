//! Huffman codes of limited length, and how a block says them.

/// Bits of the longest code of a symbol.
pub(super) const LONGEST: u32 = 15;
/// The same of the codes of code lengths.
const LONGEST_OF_LENGTHS: u32 = 7;
/// Lengths of code lengths come in this order.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Lengths of the best code in which none is longer than `limit`, for symbols that occur so often; 0 for those that do
/// not. At least two symbols get a code, as some decoders ask for.
///
/// Huffman's code if that will do, else package-merge (Larmore and Hirschberg, "A fast algorithm for optimal length-limited Huffman codes", 1990): of every
/// level of packages only which are single symbols is kept.
pub(super) fn lengths(counts: &[u32], limit: u32) -> Vec<u8> {
    let mut lengths = vec![0; counts.len()];
    let mut used: Vec<(u32, usize)> = counts.iter().copied().zip(0..).filter(|(count, _)| *count > 0).collect();
    if used.len() <= 2 {
        used.iter().for_each(|&(_, symbol)| lengths[symbol] = 1);
        let more = (0..counts.len()).filter(|&symbol| counts[symbol] == 0).take(2 - used.len());
        more.for_each(|symbol| lengths[symbol] = 1);
        return lengths;
    }
    used.sort_unstable();
    let weights: Vec<u64> = used.iter().map(|&(count, _)| u64::from(count)).collect();
    let depths = depths(&weights);
    let depths = if depths[0] <= limit { depths } else { limited(&weights, limit) };
    used.iter().zip(depths).for_each(|(&(_, symbol), depth)| lengths[symbol] = depth as u8);
    lengths
}

/// Depths of the leaves of Huffman's tree for weights in rising order.
fn depths(weights: &[u64]) -> Vec<u32> {
    let count = weights.len();
    let mut nodes: Vec<u64> = Vec::with_capacity(count - 1);
    let mut parents = vec![0; 2 * count - 2];
    let (mut leaf, mut node) = (0, 0);
    for inner in 0..count - 1 {
        let mut sum = 0;
        for _ in 0..2 {
            let from_leaves = leaf < count && (node >= nodes.len() || weights[leaf] <= nodes[node]);
            let (weight, at) = if from_leaves { (weights[leaf], leaf) } else { (nodes[node], count + node) };
            if from_leaves {
                leaf += 1
            } else {
                node += 1
            }
            sum += weight;
            parents[at] = inner;
        }
        nodes.push(sum);
    }
    let mut of_nodes = vec![0; count - 1];
    for inner in (0..count - 2).rev() {
        of_nodes[inner] = of_nodes[parents[count + inner]] + 1;
    }
    (0..count).map(|leaf| of_nodes[parents[leaf]] + 1).collect()
}

/// The same of the best tree that is no deeper than `limit`.
fn limited(leaves: &[u64], limit: u32) -> Vec<u32> {
    let mut weights = leaves.to_vec();
    let mut levels = vec![vec![true; leaves.len()]];
    for _ in 1..limit {
        let packages: Vec<u64> = weights.as_chunks::<2>().0.iter().map(|[a, b]| a + b).collect();
        let mut merged: Vec<(u64, bool)> = leaves.iter().map(|&leaf| (leaf, true)).collect();
        merged.extend(packages.iter().map(|&package| (package, false)));
        merged.sort_by_key(|&(weight, is_leaf)| (weight, !is_leaf));
        weights = merged.iter().map(|(weight, _)| *weight).collect();
        levels.push(merged.iter().map(|(_, is_leaf)| *is_leaf).collect());
    }
    let mut depths = vec![0; leaves.len()];
    let mut taken = 2 * leaves.len() - 2;
    for level in levels.iter().rev() {
        let count = level[..taken].iter().filter(|&&is_leaf| is_leaf).count();
        depths[..count].iter_mut().for_each(|depth| *depth += 1);
        taken = 2 * (taken - count);
    }
    depths
}

/// The canonical code of these lengths, its first bit lowest.
pub(super) fn codes(lengths: &[u8]) -> Vec<u16> {
    let mut codes = vec![0; lengths.len()];
    let mut code = 0u16;
    for length in 1..=LONGEST as u8 {
        code <<= 1;
        for (symbol, _) in lengths.iter().enumerate().filter(|(_, other)| **other == length) {
            codes[symbol] = code.reverse_bits() >> (u16::BITS - u32::from(length));
            code += 1;
        }
    }
    codes
}

/// How a block says the lengths of its codes.
#[derive(Debug, Clone)]
pub(super) struct Header {
    symbols: usize,
    distances: usize,
    /// Symbols of runs of lengths, and the bits that follow each.
    runs: Vec<(u8, u8)>,
    lengths: Vec<u8>,
    kept: usize,
    /// Bits of all.
    pub(super) bits: u64,
}

impl Header {
    /// The shortest for codes of 288 symbols and 32 distances, by which of the kinds of runs are used.
    pub(super) fn shortest(symbols: &[u8], distances: &[u8]) -> Self {
        let mut best = Self::with(symbols, distances, 7);
        for kinds in 0..7 {
            let other = Self::with(symbols, distances, kinds);
            if other.bits < best.bits {
                best = other;
            }
        }
        best
    }

    /// With runs of the kinds 16, 17 and 18 whose bit of `kinds` is set.
    pub(super) fn with(symbols: &[u8], distances: &[u8], kinds: u8) -> Self {
        let used =
            |lengths: &[u8], least: usize| lengths.iter().rposition(|&l| l > 0).map_or(least, |at| at + 1).max(least);
        let (symbol_count, distance_count) = (used(symbols, 257), used(distances, 1));
        let all: Vec<u8> = symbols[..symbol_count].iter().chain(&distances[..distance_count]).copied().collect();
        let runs = runs(&all, kinds);
        let mut counts = [0; 19];
        runs.iter().for_each(|&(run, _)| counts[usize::from(run)] += 1);
        let lengths = lengths(&counts, LONGEST_OF_LENGTHS);
        let kept = ORDER.iter().rposition(|&at| lengths[at] > 0).map_or(4, |at| at + 1).max(4);
        let of_runs: u64 =
            counts.iter().zip(&lengths).zip(0..).map(|((&n, &l), at)| u64::from(n) * (u64::from(l) + extra(at))).sum();
        let bits = 14 + 3 * kept as u64 + of_runs;
        Self { symbols: symbol_count, distances: distance_count, runs, lengths, kept, bits }
    }

    /// Bits and how many of them, one after the other.
    pub(super) fn write(&self, mut put: impl FnMut(u64, u32)) {
        put(self.symbols as u64 - 257, 5);
        put(self.distances as u64 - 1, 5);
        put(self.kept as u64 - 4, 4);
        ORDER[..self.kept].iter().for_each(|&at| put(self.lengths[at].into(), 3));
        let codes = codes(&self.lengths);
        for &(run, more) in &self.runs {
            put(codes[usize::from(run)].into(), self.lengths[usize::from(run)].into());
            put(more.into(), extra(run) as u32);
        }
    }
}

/// Bits behind a symbol of a run.
const fn extra(run: u8) -> u64 {
    match run {
        16 => 2,
        17 => 3,
        18 => 7,
        _ => 0,
    }
}

fn runs(lengths: &[u8], kinds: u8) -> Vec<(u8, u8)> {
    let mut out = Vec::new();
    for same in lengths.chunk_by(|a, b| a == b) {
        let (length, mut left) = (same[0], same.len());
        if length == 0 {
            while left >= 11 && kinds & 4 > 0 {
                let taken = left.min(138);
                out.push((18, (taken - 11) as u8));
                left -= taken;
            }
            while left >= 3 && kinds & 2 > 0 {
                let taken = left.min(10);
                out.push((17, (taken - 3) as u8));
                left -= taken;
            }
        } else if left >= 4 && kinds & 1 > 0 {
            out.push((length, 0));
            left -= 1;
            while left >= 3 {
                // Two runs instead of one and two lengths by themselves.
                let taken = if left == 7 || left == 8 { left - 3 - (left - 7) } else { left.min(6) };
                out.push((16, (taken - 3) as u8));
                left -= taken;
            }
        }
        out.extend(std::iter::repeat_n((length, 0), left));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_complete_within_the_limit_and_short_for_what_is_frequent() {
        let rabbits: Vec<u32> = (0..40)
            .scan((1, 1), |(a, b), _| {
                (*a, *b) = (*b, *a + *b);
                Some(*a)
            })
            .collect();
        for (counts, limit) in [(&rabbits[..], 15), (&rabbits[..19], 7), (&[5, 0, 3, 1][..], 15), (&[1, 1, 1][..], 7)] {
            let lengths = lengths(counts, limit);
            let kraft: u32 = lengths.iter().filter(|&&l| l > 0).map(|&l| 1 << (limit - u32::from(l))).sum();
            assert_eq!(kraft, 1 << limit);
            for (a, &count) in lengths.iter().zip(counts) {
                assert!(counts.iter().zip(&lengths).all(|(&other, b)| count == 0 || other <= count || *b <= *a));
            }
        }
        assert_eq!(lengths(&[4, 1, 1, 2], 15), [1, 3, 3, 2]);
    }

    #[test]
    fn two_symbols_have_codes_even_if_fewer_occur() {
        assert_eq!(lengths(&[0, 0, 7], 15), [1, 0, 1]);
        assert_eq!(lengths(&[0; 4], 15), [1, 1, 0, 0]);
    }

    #[test]
    fn runs_say_every_length() {
        for kinds in 0..8 {
            for length in [0, 5] {
                for count in 1..300 {
                    let mut lengths = vec![length; count];
                    lengths.push(9);
                    let mut said: Vec<u8> = Vec::new();
                    for (run, more) in runs(&lengths, kinds) {
                        match run {
                            16 => said.extend(vec![said[said.len() - 1]; usize::from(more) + 3]),
                            17 => said.extend(vec![0; usize::from(more) + 3]),
                            18 => said.extend(vec![0; usize::from(more) + 11]),
                            _ => said.push(run),
                        }
                    }
                    assert_eq!(said, lengths);
                }
            }
        }
    }
}
