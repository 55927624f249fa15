//! The loop that every instruction set shares.

#![allow(
    unsafe_code,
    reason = "loads without bounds checks, which cost half the speed; the sizes are checked once a row"
)]

use super::BLOCK;

/// One row of a convolution.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Job<'a> {
    /// The rows above, at and below, each of `width + 2` pixels, the first and last beside the row.
    pub rows: [&'a [f32]; 3],
    /// Floats from one input pixel to the next.
    pub stride: usize,
    /// Channels that are read of an input pixel.
    pub inputs: usize,
    /// By block of outputs, row, column, input, output in the block.
    pub weights: &'a [f32],
    /// An output each, padded to whole blocks.
    pub bias: &'a [f32],
    /// Pixels of the row.
    pub width: usize,
    /// What is done with the sums.
    pub finish: Finish,
}

/// What becomes of the sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Finish {
    /// They replace what was in the output.
    Store,
    /// Likewise, but none is below zero.
    Relu,
    /// They are added to what was in the output.
    Add,
}

impl Job<'_> {
    /// Floats of an output pixel.
    pub(super) fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// That all loads and stores are within their slices.
    pub(super) fn check(&self, out: &[f32]) {
        assert!(self.width > 0 && self.inputs > 0 && self.inputs <= self.stride);
        let read = (self.width + 1) * self.stride + self.inputs;
        assert!(self.rows.iter().all(|row| row.len() >= read), "rows of {read} floats are read");
        assert!(self.bias.len().is_multiple_of(BLOCK));
        assert_eq!(self.weights.len(), 9 * self.inputs * self.bias.len());
        assert!(out.len() >= self.width * self.bias.len());
    }
}

/// A register.
pub(super) trait Vector: Copy {
    /// Floats in it.
    const LANES: usize;

    /// # Safety
    /// The instructions are there, and so are `LANES` floats at `from`.
    unsafe fn load(from: *const f32) -> Self;
    /// # Safety
    /// The instructions are there.
    unsafe fn splat(value: f32) -> Self;
    /// `self + a * b`.
    /// # Safety
    /// The instructions are there.
    unsafe fn plus_product(self, a: Self, b: Self) -> Self;
    /// # Safety
    /// The instructions are there.
    unsafe fn plus(self, other: Self) -> Self;
    /// # Safety
    /// The instructions are there.
    unsafe fn at_least_zero(self) -> Self;
    /// # Safety
    /// The instructions are there, and so are `LANES` floats at `to`.
    unsafe fn store(self, to: *mut f32);
}

/// The whole row, `P` pixels at a time in blocks of outputs of `N` registers, then one by one.
///
/// # Safety
/// `job.check(out)` passed, and the instructions of `V` are there.
#[inline(always)]
pub(super) unsafe fn row<V: Vector, const N: usize, const P: usize>(job: &Job<'_>, out: &mut [f32]) {
    const { assert!(V::LANES * N == BLOCK) };
    for block in 0..job.outputs() / BLOCK {
        let mut x = 0;
        while x + P <= job.width {
            // SAFETY: as promised by the caller; `x + P` pixels are there.
            unsafe { pixels::<V, N, P>(job, out, block, x) };
            x += P;
        }
        while x < job.width {
            // SAFETY: as above, with one pixel.
            unsafe { pixels::<V, N, 1>(job, out, block, x) };
            x += 1;
        }
    }
}

/// # Safety
/// As for [`row`], and `x + P <= job.width`.
#[inline(always)]
unsafe fn pixels<V: Vector, const N: usize, const P: usize>(job: &Job<'_>, out: &mut [f32], block: usize, x: usize) {
    // SAFETY: weights hold 9 * inputs * BLOCK floats a block, each row (width + 1) * stride + inputs, the bias and an output
    // pixel one float an output: `Job::check`.
    unsafe {
        let bias = job.bias.as_ptr().add(block * BLOCK);
        let start: [V; N] = std::array::from_fn(|n| V::load(bias.add(n * V::LANES)));
        let mut sums = [start; P];
        let mut weights = job.weights.as_ptr().add(block * 9 * job.inputs * BLOCK);
        for row in job.rows {
            for column in 0..3 {
                let pixel = row.as_ptr().add((x + column) * job.stride);
                for input in 0..job.inputs {
                    let w: [V; N] = std::array::from_fn(|n| V::load(weights.add(n * V::LANES)));
                    for (p, sums) in sums.iter_mut().enumerate() {
                        let value = V::splat(*pixel.add(p * job.stride + input));
                        for (sum, w) in sums.iter_mut().zip(w) {
                            *sum = sum.plus_product(value, w);
                        }
                    }
                    weights = weights.add(BLOCK);
                }
            }
        }
        for (p, sums) in sums.into_iter().enumerate() {
            let to = out.as_mut_ptr().add((x + p) * job.outputs() + block * BLOCK);
            for (n, sum) in sums.into_iter().enumerate() {
                let to = to.add(n * V::LANES);
                match job.finish {
                    Finish::Store => sum,
                    Finish::Relu => sum.at_least_zero(),
                    Finish::Add => sum.plus(V::load(to)),
                }
                .store(to);
            }
        }
    }
}
