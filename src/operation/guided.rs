//! The guided filter on one plane that guides itself: smooth where the picture is flat, sharp where it has edges.
//!
//! K. He, J. Sun and X. Tang, *Guided Image Filtering* (ECCV 2010), computed on a reduced plane and brought back by the
//! full one as in K. He and J. Sun, *Fast Guided Filter* (arXiv:1505.00996). It keeps edges much higher than `tolerance`
//! without the gradient reversals of a bilateral filter, so that gains taken from it make no halos.

use crate::{control::Run, error::Result};

/// The longer side of the reduced plane is at most this.
const SIDE: usize = 512;
/// Windows reach so far to either side, as a share of the longer side.
const REACH: usize = 32;

/// A plane being reduced: row by row from the top, each `width` long.
pub(super) struct Reduced {
    factor: usize,
    full: (usize, usize),
    size: (usize, usize),
    sums: Vec<f32>,
}

/// Lines `a * guide + b`, one for each place of the reduced plane.
pub(super) struct Base {
    factor: usize,
    size: (usize, usize),
    lines: Vec<[f32; 2]>,
    columns: Vec<(u32, u32, f32)>,
}

impl Reduced {
    pub(super) fn new(width: usize, height: usize) -> Self {
        let factor = width.max(height).div_ceil(SIDE).max(1);
        let size = (width.div_ceil(factor), height.div_ceil(factor));
        Self { factor, full: (width, height), size, sums: vec![0.0; size.0 * size.1] }
    }

    pub(super) fn add(&mut self, y: usize, row: impl Iterator<Item = f32>) {
        let sums = &mut self.sums[y / self.factor * self.size.0..];
        let mut row = row;
        for sum in sums.iter_mut().take(self.size.0) {
            *sum += row.by_ref().take(self.factor).sum::<f32>();
        }
    }

    /// Settles the lines. Edges much lower than `tolerance`, in units of the plane, are smoothed away.
    pub(super) fn filtered(self, tolerance: f32, run: Run<'_>) -> Result<Base> {
        let (width, height) = self.size;
        let mut plane = self.sums;
        for (y, row) in plane.chunks_exact_mut(width).enumerate() {
            let rows = self.factor.min(self.full.1 - y * self.factor);
            for (x, value) in row.iter_mut().enumerate() {
                *value /= (rows * self.factor.min(self.full.0 - x * self.factor)) as f32;
            }
        }
        let reach = (width.max(height) / REACH).max(1);
        let moments: Vec<[f32; 2]> = plane.iter().map(|&v| [v, v * v]).collect();
        let mut lines = averaged(moments, self.size, reach, run)?;
        for line in &mut lines {
            let [mean, square] = *line;
            let variance = (square - mean * mean).max(0.0);
            let slope = variance / (variance + tolerance * tolerance);
            *line = [slope, mean * (1.0 - slope)];
        }
        let lines = averaged(lines, self.size, reach, run)?;
        let columns = (0..self.full.0).map(|x| between(x, self.factor, width)).collect();
        Ok(Base { factor: self.factor, size: self.size, lines, columns })
    }
}

impl Base {
    /// The filtered plane along row `y`, from that row of the full plane.
    pub(super) fn row(&self, y: usize, guide: &[f32], lines: &mut Vec<[f32; 2]>, out: &mut Vec<f32>) {
        let width = self.size.0;
        let (above, below, share) = between(y, self.factor, self.size.1);
        let upper = &self.lines[above as usize * width..][..width];
        let lower = &self.lines[below as usize * width..][..width];
        lines.clear();
        lines.extend(upper.iter().zip(lower).map(|(u, l)| mixed(*u, *l, share)));
        out.clear();
        out.extend(guide.iter().zip(&self.columns).map(|(&guide, &(left, right, share))| {
            let [slope, offset] = mixed(lines[left as usize], lines[right as usize], share);
            slope * guide + offset
        }));
    }
}

fn mixed(a: [f32; 2], b: [f32; 2], share: f32) -> [f32; 2] {
    [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share]
}

/// The two reduced places that a full one lies between, and how near it is to the second.
fn between(at: usize, factor: usize, length: usize) -> (u32, u32, f32) {
    let place = ((at as f32 + 0.5) / factor as f32 - 0.5).clamp(0.0, (length - 1) as f32);
    let first = place as usize;
    (first as u32, (first + 1).min(length - 1) as u32, place - first as f32)
}

/// Means over windows of `2 * reach + 1` a side, cut off at the border.
fn averaged(
    mut plane: Vec<[f32; 2]>,
    (width, height): (usize, usize),
    reach: usize,
    run: Run<'_>,
) -> Result<Vec<[f32; 2]>> {
    run.check()?;
    let mut line = Vec::with_capacity(width.max(height));
    for row in plane.chunks_exact_mut(width) {
        line.clear();
        line.extend_from_slice(row);
        sliding(&line, reach, |x, mean| row[x] = mean);
    }
    run.check()?;
    // Down, all columns at once, so that memory is walked in its order.
    let mut sums = vec![[0f64; 2]; width];
    let mut out = vec![[0f32; 2]; plane.len()];
    let row = |y: usize| &plane[y * width..(y + 1) * width];
    for y in 0..reach.min(height) {
        add(&mut sums, row(y), 1.0);
    }
    for y in 0..height {
        if y + reach < height {
            add(&mut sums, row(y + reach), 1.0);
        }
        if y > reach {
            add(&mut sums, row(y - reach - 1), -1.0);
        }
        let count = ((y + reach).min(height - 1) - y.saturating_sub(reach) + 1) as f64;
        for (out, sum) in out[y * width..].iter_mut().zip(&sums) {
            *out = sum.map(|sum| (sum / count) as f32);
        }
    }
    Ok(out)
}

fn add(sums: &mut [[f64; 2]], row: &[[f32; 2]], sign: f64) {
    for (sum, value) in sums.iter_mut().zip(row) {
        sum[0] += sign * f64::from(value[0]);
        sum[1] += sign * f64::from(value[1]);
    }
}

fn sliding(line: &[[f32; 2]], reach: usize, mut give: impl FnMut(usize, [f32; 2])) {
    let mut sum = [[0f64; 2]];
    for value in line.iter().take(reach) {
        add(&mut sum, &[*value], 1.0);
    }
    for x in 0..line.len() {
        if let Some(value) = line.get(x + reach) {
            add(&mut sum, &[*value], 1.0);
        }
        if x > reach {
            add(&mut sum, &[line[x - reach - 1]], -1.0);
        }
        let count = ((x + reach).min(line.len() - 1) - x.saturating_sub(reach) + 1) as f64;
        give(x, sum[0].map(|sum| (sum / count) as f32));
    }
}
