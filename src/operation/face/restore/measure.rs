//! How noisy and how blurred a plane is.

use super::{
    cosine::{Block, forward},
    denoise::cut,
};
use crate::{
    control::Run,
    error::Result,
    operation::field::{Field, checked, gaussian},
};

/// Pixels between the blocks that are looked at.
const STEP: usize = 5;
/// One in so many of them is taken for flat.
const FLAT: usize = 5;

/// Below it all frequencies of a block are but rounding.
const LEAST: f32 = 0.01;

/// Standard deviation of noise by frequency, in the units of the field: of what is seen in the blocks that have least, but not
/// nothing, at low frequencies, where pictures have most (N. Ponomarenko, V. Lukin, M. Zriakhov, A. Kaarna and J. Astola, *An
/// Automatic Approach to Lossy Compression of AVIRIS Images*, IGARSS 2007). Some of it is the picture's: see [`judged`].
pub(super) fn noise(field: &Field, run: Run<'_>) -> Result<Block> {
    let mut blocks = Vec::new();
    for y in (0..field.height.saturating_sub(7)).step_by(STEP) {
        run.check()?;
        for x in (0..field.width.saturating_sub(7)).step_by(STEP) {
            let block = forward(&cut(field, x, y));
            let low = [block[0][1], block[0][2], block[1][0], block[1][1], block[2][0]];
            // What light has clipped, or nobody sees, tells nothing.
            if block.iter().flatten().skip(1).any(|value| value.abs() > LEAST) {
                blocks.push((low.iter().map(|value| value * value).sum::<f32>(), block));
            }
        }
    }
    let count = blocks.len() / FLAT;
    if count == 0 {
        return Ok([[0.0; 8]; 8]);
    }
    blocks.select_nth_unstable_by(count, |a, b| a.0.total_cmp(&b.0));
    let mut noise = [[0f32; 8]; 8];
    let mut sizes = Vec::with_capacity(count);
    for (v, row) in noise.iter_mut().enumerate() {
        for (u, deviation) in row.iter_mut().enumerate() {
            sizes.clear();
            sizes.extend(blocks[..count].iter().map(|(_, block)| block[v][u].abs()));
            // 0.6745: the median of a normal distribution.
            *deviation = *sizes.select_nth_unstable_by(count / 2, f32::total_cmp).1 / 0.6745;
        }
    }
    run.check()?;
    Ok(noise)
}

/// Noise without what a picture itself has at these frequencies. What is found there below `floor` is taken for skin, and all of
/// it from twice that on for noise.
pub(super) fn judged(mut noise: Block, floor: f32) -> Block {
    let places =
        |from: usize, to: usize| (0..64).map(|n| (n / 8, n % 8)).filter(move |(v, u)| (from..=to).contains(&(v + u)));
    let band = |noise: &Block, from: usize, to: usize| {
        let (sum, count) =
            places(from, to).fold((0.0, 0.0), |(sum, count), (v, u)| (sum + noise[v][u].powi(2), count + 1.0));
        (sum / count as f32).sqrt()
    };
    let (middle, high) = (band(&noise, 3, 4), band(&noise, 5, 7));
    let share = ((high - floor) / floor).clamp(0.0, 1.0);
    let share = share * share * (3.0 - 2.0 * share);
    // Noise has at low frequencies what it has above them; the rest is the picture's.
    for (v, u) in places(0, 2) {
        noise[v][u] = noise[v][u].min(middle);
    }
    noise.map(|row| row.map(|deviation| deviation * share))
}

/// What sharp edges of photographs have, in pixels, as measured here.
const SHARP: f32 = 1.0;
/// The share of edges that is looked at, and how many there have to be.
const STEEPEST: (usize, usize) = (8, 64);

/// Standard deviation, in pixels, of the blur that the steepest edges have beyond that of a sharp photograph: how much weaker
/// their slopes get when they are blurred once more (S. Zhuo and T. Sim, *Defocus Map Estimation from a Single Image*, Pattern
/// Recognition 44, 2011). Slopes below `floor` codes over two pixels do not count. 0 where there is too little to tell.
pub(super) fn blur(field: &Field, floor: f32, run: Run<'_>) -> Result<f32> {
    let again = field.convolved(&gaussian(1.0), run)?;
    let slope = |field: &Field, x: usize, y: usize| {
        let (above, here, below) = (field.row(y - 1), field.row(y), field.row(y + 1));
        (here[x + 1] - here[x - 1]).powi(2) + (below[x] - above[x]).powi(2)
    };
    let mut edges = Vec::new();
    for y in 1..field.height.saturating_sub(1) {
        checked(y, run)?;
        for x in 1..field.width.saturating_sub(1) {
            let steep = slope(field, x, y);
            if steep > floor * floor {
                edges.push((steep, steep / slope(&again, x, y).max(1e-3)));
            }
        }
    }
    if edges.len() < STEEPEST.1 {
        return Ok(0.0);
    }
    let count = (edges.len() / STEEPEST.0).max(STEEPEST.1).min(edges.len() - 1);
    edges.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0));
    let mut ratios: Vec<f32> = edges[..count].iter().map(|edge| edge.1).collect();
    let ratio = *ratios.select_nth_unstable_by(count / 2, f32::total_cmp).1;
    let variance = 1.0 / (ratio - 1.0).max(0.05);
    Ok((variance - SHARP * SHARP).max(0.0).sqrt())
}
