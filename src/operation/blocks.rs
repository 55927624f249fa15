//! What JPEG leaves in a plane: edges of blocks, and means of blocks that come in steps.

use super::field::{Field, checked};
use crate::{control::Run, error::Result};

/// Steps that are looked for, in units of the mean's coefficient: eighths of a code.
const STEPS: std::ops::RangeInclusive<u32> = 2..=128;
/// How well means fit their step at the least: 0 by chance, 1 if all do.
const FITS: f32 = 0.4;
/// A larger step that fits nearly as well, as this share of the best, is the true one, of which the others are parts.
const NEARLY: f32 = 0.7;
/// Where more than this share of the blocks has one mean, it says nothing of a step.
const ALIKE: f32 = 0.4;
/// Fewer blocks tell nothing.
const FEW: usize = 64;
/// So many blocks tell all: of more, whole rows are left out.
const ENOUGH: usize = 30_000;

/// The step in which JPEG has quantised the means of blocks, in eighths of a code: 16 at quality 50 by the tables of ITU-T T.81;
/// 0 where they come in none, as without JPEG or where the picture has been cropped or resized since.
pub(super) fn step_of_means(field: &Field, run: Run<'_>) -> Result<u32> {
    let mut means = Vec::new();
    let every = (field.height / 8 * (field.width / 8)).div_ceil(ENOUGH).max(1);
    for top in (0..field.height / 8).step_by(every).map(|row| row * 8) {
        run.check()?;
        let rows: [&[f32]; 8] = std::array::from_fn(|row| field.row(top + row));
        for left in (0..field.width / 8).map(|column| column * 8) {
            let values = || rows.iter().flat_map(|row| &row[left..left + 8]).copied();
            let (low, high) = (values().fold(f32::MAX, f32::min), values().fold(0.0, f32::max));
            // Flat blocks are of whole codes whatever they went through, and cut ones have lost their mean.
            if low > 0.0 && high < 255.0 && high - low > 2.0 {
                means.push(values().sum::<f32>() / 8.0 - 1024.0);
            }
        }
    }
    if means.len() < FEW {
        return Ok(0);
    }
    let share = |sum: f32| sum / means.len() as f32;
    let mut fits = Vec::new();
    for step in STEPS {
        run.check()?;
        let off = |mean: &f32| {
            let steps = mean / step as f32;
            (steps - steps.round()).abs()
        };
        fits.push((step, 1.0 - 4.0 * share(means.iter().map(off).sum())));
    }
    let best = fits.iter().map(|(_, fit)| *fit).fold(FITS, f32::max);
    let Some(mut at) = fits.iter().rposition(|(_, fit)| *fit >= FITS.max(NEARLY * best)) else { return Ok(0) };
    while at > 0 && fits[at - 1].1 > fits[at].1 {
        at -= 1;
    }
    let step = fits[at].0;
    let mut places: Vec<i32> = means.iter().map(|mean| (mean / step as f32).round() as i32).collect();
    places.sort_unstable();
    let most = places.chunk_by(|a, b| a == b).map(<[i32]>::len).max().unwrap_or(0);
    Ok(if share(most as f32) > ALIKE { 0 } else { step })
}

/// How much more neighbours differ at every eighth column and row than at the others, in codes; 0 without blocks.
pub(super) fn blocks(field: &Field, run: Run<'_>) -> Result<f32> {
    let (mut down, mut across) = (Steps::default(), Steps::default());
    for y in 1..field.height.saturating_sub(2) {
        checked(y, run)?;
        let [a, b, c, d] = [y - 1, y, y + 1, y + 2].map(|y| field.row(y));
        let sum: f32 = (0..field.width).map(|x| step(a[x], b[x], c[x], d[x])).sum();
        down.add(y, sum / field.width as f32);
        for (x, four) in b.windows(4).enumerate() {
            across.add(x + 1, step(four[0], four[1], four[2], four[3]));
        }
    }
    Ok(down.excess().min(across.excess()))
}

/// How far the step between the middle ones stands out from those beside it; more than an edge of a block has is none.
fn step(a: f32, b: f32, c: f32, d: f32) -> f32 {
    (3.0 * (c - b) - (d - a)).abs().min(24.0) / 3.0
}

/// Steps by their place in eight.
#[derive(Default)]
struct Steps {
    sums: [f64; 8],
    counts: [f64; 8],
}

impl Steps {
    fn add(&mut self, place: usize, step: f32) {
        self.sums[place % 8] += f64::from(step);
        self.counts[place % 8] += 1.0;
    }

    fn excess(&self) -> f32 {
        let mut means = [0.0; 8];
        for (mean, (sum, count)) in means.iter_mut().zip(self.sums.iter().zip(self.counts)) {
            *mean = sum / f64::max(count, 1.0);
        }
        let top = means.iter().copied().fold(0.0, f64::max);
        (top - (means.iter().sum::<f64>() - top) / 7.0) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Unattended};

    /// Blocks of texture whose means are `mean` of their number, in eighths of a code from the middle.
    fn textured(mean: impl Fn(u32) -> f32) -> Field {
        let mut field = Field::new(128, 128);
        for (i, value) in field.values.iter_mut().enumerate() {
            let (x, y) = (i % 128, i / 128);
            let block = (y / 8 * 16 + x / 8) as u32;
            *value = 128.0 + mean(block) / 8.0 + if (x + y) % 2 == 0 { 4.0 } else { -4.0 };
        }
        field
    }

    fn step(mean: impl Fn(u32) -> f32) -> u32 {
        let limits = Limits::default();
        step_of_means(&textured(mean), Run { limits: &limits, control: &Unattended }).unwrap()
    }

    fn any(block: u32) -> f32 {
        (block.wrapping_mul(2_654_435_761) >> 16) as f32 / 65_536.0 * 1600.0 - 800.0
    }

    #[test]
    fn means_in_steps_tell_their_step() {
        for wanted in [2, 6, 20, 80, 121] {
            let found = step(|block| (any(block) / wanted as f32).round() * wanted as f32);
            assert_eq!(found, wanted);
        }
    }

    #[test]
    fn any_means_tell_nothing_and_nor_do_equal_ones() {
        assert_eq!(step(any), 0);
        assert_eq!(step(|block| if block % 2 == 0 { 240.0 } else { any(block) }), 0);
    }
}
