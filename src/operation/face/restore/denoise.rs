//! Noise and blocks taken out of a plane.
//!
//! Cosine transforms of overlapping blocks are shrunk and laid over one another: first every coefficient below a threshold
//! goes (G. Yu and G. Sapiro, *DCT Image Denoising: a Simple and Effective Image Denoising Algorithm*, IPOL 2011), then each is
//! scaled as Wiener's filter would from what the first round says of it. As the blocks lie at all offsets, this takes out the
//! edges of JPEG's own blocks too (A. Nosratinia, *Enhancement of JPEG-Compressed Images by Re-application of JPEG*, 2001).
//! What is coarser than a block is cleaned at half the size (N. Pierazzo, J.-M. Morel and G. Facciolo, *Multi-Scale DCT
//! Denoising*, IPOL 2017).

use super::cosine::{Block, backward, forward};
use crate::{control::Run, error::Result, operation::field::Field};

/// Standard deviation of noise by frequency, in codes.
pub(super) type Noise = Block;

/// Pixels between two blocks, where it is seen, and where it is not.
const STEPS: (usize, usize) = (3, 4);
/// Deviations of noise below which a coefficient says nothing.
const THRESHOLD: f32 = 2.7;

/// Luma without its noise, of which there is an account for the finest size, for half of it, and so on. Where JPEG has `coded`
/// it, the first guess is made as carefully as what is seen.
pub(super) fn luma(field: &Field, noise: &[Noise], coded: bool, run: Run<'_>) -> Result<Field> {
    denoised(field, noise, (if coded { STEPS.0 } else { STEPS.1 }, STEPS.0), run)
}

/// The same of chroma, more coarsely.
pub(super) fn chroma(field: &Field, noise: &[Noise], run: Run<'_>) -> Result<Field> {
    denoised(field, noise, (STEPS.1, STEPS.1), run)
}

/// In two rounds, of such steps.
fn denoised(field: &Field, noise: &[Noise], steps: (usize, usize), run: Run<'_>) -> Result<Field> {
    let Some((finest, coarser)) = noise.split_first() else { return Ok(field.clone()) };
    let fine = in_two_rounds(field, finest, steps, run)?;
    if coarser.is_empty() || fine.width.min(fine.height) < 32 {
        return Ok(fine);
    }
    let coarse = denoised(&field.halved(), coarser, (STEPS.1, STEPS.1), run)?;
    // Only what is coarse is taken from the coarse plane.
    let low = coarse.with(&fine.halved(), |a, b| a - b).doubled(fine.width, fine.height);
    Ok(fine.with(&low, |fine, low| fine + low))
}

fn in_two_rounds(field: &Field, noise: &Noise, steps: (usize, usize), run: Run<'_>) -> Result<Field> {
    let first = laid_over(field, steps.0, run, |x, y| {
        let mut block = forward(&cut(field, x, y));
        let mut kept = 0.0;
        for (values, noise) in block.iter_mut().zip(noise) {
            for (value, noise) in values.iter_mut().zip(noise) {
                let keep = if value.abs() > THRESHOLD * noise { 1.0 } else { 0.0 };
                *value *= keep;
                kept += keep;
            }
        }
        (block, 1.0 / (1.0 + kept))
    })?;
    laid_over(field, steps.1, run, |x, y| {
        let mut block = forward(&cut(field, x, y));
        let guess = forward(&cut(&first, x, y));
        let mut left = 0.0;
        for ((values, noise), guess) in block.iter_mut().zip(noise).zip(&guess) {
            for ((value, noise), guess) in values.iter_mut().zip(noise).zip(guess) {
                let signal = guess * guess;
                let share = signal / (signal + noise * noise + 1e-6);
                *value *= share;
                left += share * share;
            }
        }
        (block, 1.0 / (1.0 + left))
    })
}

/// The block that begins at `x`, `y`.
pub(super) fn cut(field: &Field, x: usize, y: usize) -> Block {
    let mut block = [[0.0; 8]; 8];
    for (row, line) in block.iter_mut().zip(field.values[y * field.width + x..].chunks(field.width)) {
        row.copy_from_slice(&line[..8]);
    }
    block
}

/// Blocks at places `step` apart, given as their frequencies with a weight, laid over one another.
fn laid_over(field: &Field, step: usize, run: Run<'_>, shrunk: impl Fn(usize, usize) -> (Block, f32)) -> Result<Field> {
    let (width, height) = (field.width, field.height);
    if width < 8 || height < 8 {
        return Ok(field.clone());
    }
    let places = |length: usize| (0..length - 8).step_by(step).chain([length - 8]);
    let (mut sums, mut weights) = (Field::new(width, height), Field::new(width, height));
    for y in places(height) {
        run.check()?;
        for x in places(width) {
            let (block, weight) = shrunk(x, y);
            for (row, values) in backward(&block).iter().enumerate() {
                let at = (y + row) * width + x;
                for (sum, value) in sums.values[at..][..8].iter_mut().zip(values) {
                    *sum += value * weight;
                }
                for sum in &mut weights.values[at..][..8] {
                    *sum += weight;
                }
            }
        }
    }
    Ok(sums.with(&weights, |sum, weight| sum / weight))
}
