//! Planes of numbers, and what blurs them.

use crate::{control::Run, error::Result, picture::Layout};

/// Numbers row by row; codes of 0 to 255, or what comes of them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) values: Vec<f32>,
}

impl Field {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self { width, height, values: vec![0.0; width * height] }
    }

    /// Of samples of 16 bits: their luma in codes of 8 bits, by the weights of JPEG.
    pub(super) fn of_luma(samples: &[u16], layout: Layout) -> Self {
        let mut luma = Self::new(layout.width as usize, layout.height as usize);
        for (luma, pixel) in luma.values.iter_mut().zip(samples.chunks_exact(layout.channels.count())) {
            let code = |channel: usize| f32::from(pixel[channel]) / 257.0;
            let gray = layout.channels.is_gray();
            *luma = if gray { code(0) } else { 0.299 * code(0) + 0.587 * code(1) + 0.114 * code(2) };
        }
        luma
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &[f32]> {
        self.values.chunks_exact(self.width)
    }

    pub(super) fn row(&self, y: usize) -> &[f32] {
        &self.values[y * self.width..][..self.width]
    }

    /// The same place of this and another field of its size, combined.
    pub(super) fn with(&self, other: &Self, combine: impl Fn(f32, f32) -> f32) -> Self {
        let values = self.values.iter().zip(&other.values).map(|(&a, &b)| combine(a, b)).collect();
        Self { values, ..*self }
    }

    /// Convolved with a symmetric kernel, given from its middle, in both directions; the border goes on beyond it.
    pub(super) fn convolved(&self, kernel: &[f32], run: Run<'_>) -> Result<Self> {
        let (width, reach) = (self.width, kernel.len() - 1);
        let mut across = Self::new(width, self.height);
        let mut line = Vec::with_capacity(width + 2 * reach);
        for (y, (row, out)) in self.rows().zip(across.values.chunks_exact_mut(width)).enumerate() {
            checked(y, run)?;
            line.clear();
            line.extend(std::iter::repeat_n(row[0], reach));
            line.extend_from_slice(row);
            line.extend(std::iter::repeat_n(row[width - 1], reach));
            for (value, middle) in out.iter_mut().zip(&line[reach..]) {
                *value = middle * kernel[0];
            }
            for (step, weight) in kernel.iter().enumerate().skip(1) {
                let pairs = line[reach - step..].iter().zip(&line[reach + step..]);
                for (value, (before, after)) in out.iter_mut().zip(pairs) {
                    *value += (before + after) * weight;
                }
            }
        }
        let mut down = Self::new(width, self.height);
        for (y, out) in down.values.chunks_exact_mut(width).enumerate() {
            checked(y, run)?;
            for (value, middle) in out.iter_mut().zip(across.row(y)) {
                *value = middle * kernel[0];
            }
            for (step, weight) in kernel.iter().enumerate().skip(1) {
                let (above, below) = (across.row(y.saturating_sub(step)), across.row((y + step).min(self.height - 1)));
                for (value, (above, below)) in out.iter_mut().zip(above.iter().zip(below)) {
                    *value += (above + below) * weight;
                }
            }
        }
        Ok(down)
    }

    /// Half the size: means over four.
    pub(super) fn halved(&self) -> Self {
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let mut half = Self::new(width, height);
        for (y, out) in half.values.chunks_exact_mut(width).enumerate() {
            let (upper, lower) = (self.row(2 * y), self.row((2 * y + 1).min(self.height - 1)));
            for (x, value) in out.iter_mut().enumerate() {
                let (left, right) = (2 * x, (2 * x + 1).min(self.width - 1));
                *value = (upper[left] + upper[right] + lower[left] + lower[right]) / 4.0;
            }
        }
        half
    }

    /// The value at a place of a field of twice the size, by straight lines.
    pub(super) fn doubled(&self, width: usize, height: usize) -> Self {
        let mut double = Self::new(width, height);
        let place = |at: usize, length: usize| {
            let from = ((at as f32 - 0.5) / 2.0).clamp(0.0, (length - 1) as f32);
            (from as usize, (from as usize + 1).min(length - 1), from - from.floor())
        };
        let columns: Vec<_> = (0..width).map(|x| place(x, self.width)).collect();
        for (y, out) in double.values.chunks_exact_mut(width).enumerate() {
            let (above, below, down) = place(y, self.height);
            let (upper, lower) = (self.row(above), self.row(below));
            for (value, &(left, right, across)) in out.iter_mut().zip(&columns) {
                let upper = upper[left] + (upper[right] - upper[left]) * across;
                let lower = lower[left] + (lower[right] - lower[left]) * across;
                *value = upper + (lower - upper) * down;
            }
        }
        double
    }
}

pub(super) fn checked(y: usize, run: Run<'_>) -> Result<()> {
    if y.is_multiple_of(32) { run.check() } else { Ok(()) }
}

/// 0 up to the first, 1 from the second on.
pub(super) fn slope(value: f32, (from, to): (f32, f32)) -> f32 {
    ((value - from) / (to - from)).clamp(0.0, 1.0)
}

/// A normal distribution from its middle to three deviations off, whose two sides sum up to 1.
pub(super) fn gaussian(deviation: f32) -> Vec<f32> {
    let reach = (3.0 * deviation).ceil().max(1.0) as usize;
    let spread = f64::from(deviation) * f64::from(deviation);
    // e^x = 2^(x log2 e)
    let at = |step: usize| {
        crate::operation::stops::exp2(-((step * step) as f64) / (2.0 * spread) * std::f64::consts::LOG2_E)
    };
    let sum: f64 = at(0) + 2.0 * (1..=reach).map(at).sum::<f64>();
    (0..=reach).map(|step| (at(step) / sum) as f32).collect()
}
