//! How blocky a plane is.

use super::field::{Field, checked};
use crate::{control::Run, error::Result};

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
