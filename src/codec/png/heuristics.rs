//! Cheap ways to tell how well a filtered row will compress.

/// Guesses at how well a filtered row will compress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heuristic {
    /// Sum of absolute values, the one of libpng.
    Sum,
    /// Entropy of bytes (LodePNG).
    Entropy,
    /// Count of different pairs of neighbours (pngwolf).
    Pairs,
    /// Entropy of pairs of neighbours (oxipng).
    PairEntropy,
}

/// Counters of pairs, all zero between uses.
#[derive(Debug)]
pub(super) struct Counts {
    of: Vec<u32>,
    touched: Vec<u16>,
}

impl Default for Counts {
    fn default() -> Self {
        Self { of: vec![0; 1 << 16], touched: Vec::new() }
    }
}

impl Heuristic {
    /// Lower is better.
    pub(super) fn cost(self, row: &[u8], counts: &mut Counts) -> u64 {
        match self {
            Self::Sum => row.iter().map(|&byte| u64::from((byte as i8).unsigned_abs())).sum(),
            Self::Entropy => {
                // Four tables, so that equal neighbours do not wait for each other.
                let mut tables = [[0u32; 256]; 4];
                for quad in row.chunks(4) {
                    quad.iter().zip(&mut tables).for_each(|(&byte, table)| table[usize::from(byte)] += 1);
                }
                let order: u64 = (0..256).map(|i| n_log_n(tables.iter().map(|table| table[i]).sum())).sum();
                n_log_n(row.len() as u32) - order
            }
            Self::Pairs => {
                counts.count(row);
                let different = counts.touched.len() as u64;
                counts.clear();
                different
            }
            Self::PairEntropy => {
                counts.count(row);
                let order: u64 = counts.touched.iter().map(|&pair| n_log_n(counts.of[usize::from(pair)])).sum();
                counts.clear();
                n_log_n(row.len() as u32) - order
            }
        }
    }
}

impl Counts {
    fn count(&mut self, row: &[u8]) {
        for pair in row.windows(2) {
            let pair = u16::from_be_bytes([pair[0], pair[1]]);
            let count = &mut self.of[usize::from(pair)];
            if *count == 0 {
                self.touched.push(pair);
            }
            *count += 1;
        }
    }

    fn clear(&mut self) {
        self.touched.iter().for_each(|&pair| self.of[usize::from(pair)] = 0);
        self.touched.clear();
    }
}

/// n log2 n, linear between powers of two; integer, so that it is the same everywhere.
fn n_log_n(n: u32) -> u64 {
    let Some(log) = n.checked_ilog2() else { return 0 };
    u64::from(n) * u64::from(log) + 2 * u64::from(n - (1 << log))
}
