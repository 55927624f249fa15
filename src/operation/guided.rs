//! The guided filter on one plane that guides itself: smooth where the picture is flat, sharp where it has edges.
//!
//! K. He, J. Sun and X. Tang, *Guided Image Filtering* (ECCV 2010), computed on a reduced plane and brought back by the
//! full one as in K. He and J. Sun, *Fast Guided Filter* (arXiv:1505.00996). It keeps edges much higher than `tolerance`
//! without the gradient reversals of a bilateral filter, so that gains taken from it make no halos.

use super::recolour::Decoding;
use crate::{
    control::Run,
    error::Result,
    picture::{Picture, Samples},
};

/// The longer side of the reduced plane is at most this.
const SIDE: usize = 512;
/// Windows reach so far to either side, as a share of the longer side.
const REACH: usize = 32;

/// A plane being reduced: of each place the sum over its pixels that are seen, and how many these are.
pub(super) struct Reduced {
    factor: usize,
    full: (usize, usize),
    size: (usize, usize),
    sums: Vec<[f32; 2]>,
}

/// Lines `a * guide + b`, one for each place of the reduced plane.
pub(super) struct Base {
    factor: usize,
    size: (usize, usize),
    lines: Vec<[f32; 2]>,
    columns: Vec<(u32, u32, f32)>,
}

impl Reduced {
    /// Of `value` of the pixels in linear light; what is wholly transparent does not count, so that edges of cut-outs are
    /// like their middle.
    pub(super) fn of(
        picture: &Picture,
        decoding: &Decoding,
        value: impl Fn([f32; 3]) -> f32,
        run: Run<'_>,
    ) -> Result<Self> {
        let layout = picture.layout();
        let mut reduced = Self::new(layout.width as usize, layout.height as usize);
        let (row, count) = (layout.row_samples(), layout.channels.count());
        let alpha = |x: usize, y: usize| y * row + (x + 1) * count - 1;
        decoding.rows(picture, 1, run, |y, row| {
            let values = row.iter().map(|&light| value(light));
            match (layout.channels.has_alpha(), picture.samples()) {
                (false, _) => reduced.add(y, values, |_| true),
                (true, Samples::Eight(samples)) => reduced.add(y, values, |x| samples[alpha(x, y)] > 0),
                (true, Samples::Sixteen(samples)) => reduced.add(y, values, |x| samples[alpha(x, y)] > 0),
            }
        })?;
        Ok(reduced)
    }

    fn new(width: usize, height: usize) -> Self {
        let factor = width.max(height).div_ceil(SIDE).max(1);
        let size = (width.div_ceil(factor), height.div_ceil(factor));
        Self { factor, full: (width, height), size, sums: vec![[0.0; 2]; size.0 * size.1] }
    }

    /// Row `y`, from the top down.
    fn add(&mut self, y: usize, row: impl Iterator<Item = f32>, seen: impl Fn(usize) -> bool) {
        let sums = &mut self.sums[y / self.factor * self.size.0..];
        let mut row = row.enumerate();
        for [sum, count] in sums.iter_mut().take(self.size.0) {
            let (mut some, mut many) = (0.0, 0.0);
            for (_, value) in row.by_ref().take(self.factor).filter(|(x, _)| seen(*x)) {
                some += value;
                many += 1.0;
            }
            *sum += some;
            *count += many;
        }
    }

    /// Settles the lines. Edges much lower than `tolerance`, in units of the plane, are smoothed away.
    pub(super) fn filtered(self, tolerance: f32, run: Run<'_>) -> Result<Base> {
        let (width, height) = self.size;
        let reach = (width.max(height) / REACH).max(1);
        // Each with the share of its pixels that are seen, which weighs it.
        let mut moments = Vec::with_capacity(self.sums.len());
        for (y, row) in self.sums.chunks_exact(width).enumerate() {
            let rows = self.factor.min(self.full.1 - y * self.factor);
            moments.extend(row.iter().enumerate().map(|(x, &[sum, count])| {
                let weight = count / (rows * self.factor.min(self.full.0 - x * self.factor)) as f32;
                let value = if count > 0.0 { sum / count } else { 0.0 };
                [value * weight, value * value * weight, weight]
            }));
        }
        let mut lines = averaged(moments, self.size, reach, run)?;
        for line in &mut lines {
            let [mean, square] = weighed(*line);
            let variance = (square - mean * mean).max(0.0);
            let slope = variance / (variance + tolerance * tolerance);
            let counts = if line[2] > 0.0 { 1.0 } else { 0.0 };
            *line = [slope * counts, mean * (1.0 - slope) * counts, counts];
        }
        let lines = averaged(lines, self.size, reach, run)?.into_iter().map(weighed).collect();
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

/// The means of what has a weight.
fn weighed([a, b, weight]: [f32; 3]) -> [f32; 2] {
    if weight > 0.0 { [a / weight, b / weight] } else { [0.0; 2] }
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
    mut plane: Vec<[f32; 3]>,
    (width, height): (usize, usize),
    reach: usize,
    run: Run<'_>,
) -> Result<Vec<[f32; 3]>> {
    run.check()?;
    let mut line = Vec::with_capacity(width.max(height));
    for row in plane.chunks_exact_mut(width) {
        line.clear();
        line.extend_from_slice(row);
        sliding(&line, reach, |x, mean| row[x] = mean);
    }
    run.check()?;
    // Down, all columns at once, so that memory is walked in its order.
    let mut sums = vec![[0f64; 3]; width];
    let mut out = vec![[0f32; 3]; plane.len()];
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

fn add(sums: &mut [[f64; 3]], row: &[[f32; 3]], sign: f64) {
    for (sum, value) in sums.iter_mut().zip(row) {
        for (sum, value) in sum.iter_mut().zip(value) {
            *sum += sign * f64::from(*value);
        }
    }
}

fn sliding(line: &[[f32; 3]], reach: usize, mut give: impl FnMut(usize, [f32; 3])) {
    let mut sum = [[0f64; 3]];
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
