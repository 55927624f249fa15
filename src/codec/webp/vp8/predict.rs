//! Prediction from what was decoded before (RFC 6386, section 12).

use super::modes::{Mode, SubMode};

/// Above the picture.
const ABOVE: u8 = 127;
/// To the left of the picture.
const LEFT: u8 = 129;
/// Samples to the right of a row that the last subblocks look at.
const BEYOND: usize = 4;

/// A row of macroblocks of one plane as far as it is decoded, the samples above it, and one to the left of each row.
#[derive(Debug)]
pub(super) struct Strip {
    samples: Vec<u8>,
    stride: usize,
    /// Samples on a side of a macroblock.
    size: usize,
    is_first: bool,
}

impl Strip {
    /// The first row of a picture of `across` macroblocks a row, each of `size` x `size` samples.
    pub(super) fn new(across: usize, size: usize) -> Self {
        let stride = 1 + across * size + BEYOND;
        let mut samples = vec![LEFT; stride * (size + 1)];
        samples[..stride].fill(ABOVE);
        Self { samples, stride, size, is_first: true }
    }

    /// Begins the next row.
    pub(super) fn next_row(&mut self) {
        self.samples.copy_within(self.size * self.stride.., 0);
        // As libwebp: beyond the right end the last sample above goes on.
        let last = self.stride - BEYOND;
        let sample = self.samples[last - 1];
        self.samples[last..self.stride].fill(sample);
        self.is_first = false;
    }

    /// Where a sample lies; the row above is row 0, the column to the left is column 0.
    const fn at(&self, column: usize, row: usize) -> usize {
        row * self.stride + column
    }

    /// Predicts the 4x4 samples at (`column`, `row`) of the macroblock in column `x`.
    pub(super) fn whole(&self, x: usize, mode: Mode, column: usize, row: usize) -> [u8; 16] {
        let from = self.at(1 + x * self.size, 0);
        let above = &self.samples[from + column..][..4];
        let left = |y: usize| self.samples[self.at(x * self.size, 1 + row + y)];
        let mut predicted = [0; 16];
        let rows = predicted.as_chunks_mut::<4>().0.iter_mut();
        match mode {
            Mode::Mean => predicted = [self.mean(x); 16],
            Mode::Vertical => rows.for_each(|row| row.copy_from_slice(above)),
            Mode::Horizontal => rows.enumerate().for_each(|(y, row)| row.fill(left(y))),
            Mode::TrueMotion => {
                let corner = self.samples[from - 1];
                rows.enumerate().for_each(|(y, row)| true_motion(row, above, left(y), corner));
            }
        }
        predicted
    }

    /// The mean of the samples around the macroblock in column `x`, of those that lie in the picture.
    fn mean(&self, x: usize) -> u8 {
        let (size, from) = (self.size, self.at(1 + x * self.size, 0));
        let sum_above: u32 = self.samples[from..from + size].iter().copied().map(u32::from).sum();
        let sum_left: u32 = (1..=size).map(|row| u32::from(self.samples[self.at(x * size, row)])).sum();
        let size = size as u32;
        let mean = match (self.is_first, x == 0) {
            (true, true) => 128,
            (true, false) => (sum_left + size / 2) / size,
            (false, true) => (sum_above + size / 2) / size,
            (false, false) => (sum_above + sum_left + size) / (2 * size),
        };
        mean as u8
    }

    /// Predicts a subblock of the macroblock in column `x`.
    pub(super) fn subblock(&self, x: usize, block: usize, mode: SubMode) -> [u8; 16] {
        let (column, row) = (x * 16 + block % 4 * 4, block / 4 * 4);
        let above = self.at(column, row);
        // All of the last column look at the macroblock above to the right, since that to the right comes later.
        let beyond = self.at(column + 5, if block % 4 == 3 { 0 } else { row });
        let mut around = [0; 13];
        for (at, sample) in around[..4].iter_mut().enumerate() {
            *sample = self.samples[self.at(column, row + 4 - at)];
        }
        around[4..9].copy_from_slice(&self.samples[above..above + 5]);
        around[9..].copy_from_slice(&self.samples[beyond..beyond + 4]);
        subblock(&around, mode)
    }

    /// Stores the 4x4 samples at (`column`, `row`) of the macroblock in column `x`.
    pub(super) fn store(&mut self, x: usize, column: usize, row: usize, block: &[u8; 16]) {
        for (y, samples) in block.as_chunks::<4>().0.iter().enumerate() {
            let at = self.at(1 + x * self.size + column, 1 + row + y);
            self.samples[at..at + 4].copy_from_slice(samples);
        }
    }

    /// The rows of the strip, as long as the macroblocks are wide.
    #[cfg(test)]
    pub(super) fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.samples.chunks_exact(self.stride).skip(1).map(|row| &row[1..self.stride - BEYOND])
    }
}

fn true_motion(row: &mut [u8], above: &[u8], left: u8, corner: u8) {
    let step = i16::from(left) - i16::from(corner);
    for (sample, &above) in row.iter_mut().zip(above) {
        *sample = (i16::from(above) + step).clamp(0, 255) as u8;
    }
}

/// Predicts 4x4 samples from those around: to the left from the bottom up, the corner, above, and above to the right.
fn subblock(around: &[u8; 13], mode: SubMode) -> [u8; 16] {
    let at = |at: usize| u32::from(around[at]);
    let two = |a: usize| ((at(a) + at(a + 1) + 1) >> 1) as u8;
    // Three in a row around the one named.
    let three = |a: usize| ((at(a - 1) + 2 * at(a) + at(a + 1) + 2) >> 2) as u8;
    let each = |sample: &dyn Fn(usize, usize) -> u8| std::array::from_fn(|at| sample(at % 4, at / 4));
    match mode {
        SubMode::Mean => {
            let sum: u32 = around[..4].iter().chain(&around[5..9]).copied().map(u32::from).sum();
            [((sum + 4) >> 3) as u8; 16]
        }
        SubMode::TrueMotion => {
            let mut samples = [0; 16];
            for (y, row) in samples.chunks_exact_mut(4).enumerate() {
                true_motion(row, &around[5..9], around[3 - y], around[4]);
            }
            samples
        }
        SubMode::Vertical => each(&|x, _| three(5 + x)),
        SubMode::Horizontal => {
            let last = ((at(1) + 3 * at(0) + 2) >> 2) as u8;
            each(&|_, y| if y < 3 { three(3 - y) } else { last })
        }
        SubMode::DownRight => each(&|x, y| three(4 + x - y)),
        SubMode::DownLeft => {
            let last = ((at(11) + 3 * at(12) + 2) >> 2) as u8;
            each(&|x, y| if x + y < 6 { three(6 + x + y) } else { last })
        }
        SubMode::VerticalRight => each(&|x, y| match (x, y) {
            (_, 0) => two(4 + x),
            (_, 1) => three(4 + x),
            (0, _) => three(5 - y),
            (_, 2) => two(3 + x),
            _ => three(3 + x),
        }),
        SubMode::VerticalLeft => each(&|x, y| match (x, y) {
            (3, 2) => three(10),
            (3, 3) => three(11),
            (_, 0 | 2) => two(5 + x + y / 2),
            _ => three(6 + x + y / 2),
        }),
        SubMode::HorizontalDown => each(&|x, y| match 2 * y as i32 - x as i32 {
            even if even >= 0 && even % 2 == 0 => two((3 - even / 2) as usize),
            odd if odd >= -1 => three((4 - (odd + 1) / 2) as usize),
            further => three((3 - further) as usize),
        }),
        SubMode::HorizontalUp => each(&|x, y| match x + 2 * y {
            along if along > 5 => around[0],
            5 => ((at(1) + 3 * at(0) + 2) >> 2) as u8,
            along if along % 2 == 0 => two(2 - along / 2),
            along => three(2 - along / 2),
        }),
    }
}
