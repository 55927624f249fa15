//! The narrow end of the funnel: perceptrons over sums of gradients, which also say where in its window a face is.
//!
//! The features are those of J. Li and Y. Zhang, *Learning SURF Cascade for Fast and Accurate Object Detection* (CVPR 2013):
//! a patch of a window in 2 x 2 cells, and of each cell eight sums of gradients.

use super::{WINDOW, Window};
use crate::operation::stops::exp2;

/// Values of a feature.
pub(super) const CELL_VALUES: usize = 4 * SUMS;
/// Sums of a cell.
const SUMS: usize = 8;
/// Patches in a window.
pub(super) const PATCHES: usize = patches().1;
/// Places of patches are so far apart.
const STEP: usize = 16;
/// The least side of a patch.
const LEAST: usize = 16;
/// Widths and heights of patches, as ratios.
const ASPECTS: [(usize, usize); 5] = [(1, 1), (1, 2), (2, 1), (2, 3), (3, 2)];

/// Left, top, width and height.
type Patch = [usize; 4];

/// All patches of a window in the order of their numbers: by aspect, height, top and left.
const fn patches() -> ([Patch; 128], usize) {
    let (mut all, mut count, mut aspect) = ([[0; 4]; 128], 0, 0);
    while aspect < ASPECTS.len() {
        let (across, down) = ASPECTS[aspect];
        let mut height = LEAST;
        while height <= WINDOW {
            let width = height / down * across;
            let even = height.is_multiple_of(down) && height.is_multiple_of(2) && width.is_multiple_of(2);
            if even && width >= LEAST && width <= WINDOW {
                let mut y = 0;
                while y + height <= WINDOW {
                    let mut x = 0;
                    while x + width <= WINDOW {
                        all[count] = [x, y, width, height];
                        (count, x) = (count + 1, x + STEP);
                    }
                    y += STEP;
                }
            }
            height += 1;
        }
        aspect += 1;
    }
    (all, count)
}

const ALL: [Patch; 128] = patches().0;

/// A layer; rectified linear, but the last, which is logistic.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) inputs: usize,
    /// `inputs` for each output.
    pub(super) weights: Vec<f32>,
    pub(super) biases: Vec<f32>,
}

/// What a perceptron says of a window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verdict {
    /// 0 to 1; the likeness to a face.
    pub(super) score: f32,
    /// How far the face is to the right, further down, and larger, in widths of the window; -1 to 1.
    pub(super) shift: [f32; 3],
}

#[derive(Debug)]
pub(super) struct Perceptron {
    /// Numbers of patches.
    pub(super) features: Vec<usize>,
    /// The score above which there is a face.
    pub(super) threshold: f32,
    pub(super) layers: Vec<Layer>,
}

impl Perceptron {
    /// `None` for what is no face.
    pub(super) fn judge(&self, gradients: &Gradients) -> Option<Verdict> {
        let mut values: Vec<f32> = self.features.iter().flat_map(|&number| gradients.feature(ALL[number])).collect();
        let last = self.layers.len() - 1;
        for (index, layer) in self.layers.iter().enumerate() {
            let rows = layer.weights.chunks_exact(layer.inputs).zip(&layer.biases);
            let sums = rows.map(|(weights, bias)| product(&values, weights) + bias);
            values = if index < last { sums.map(|sum| sum.max(0.0)).collect() } else { sums.map(logistic).collect() };
        }
        let &[score, x, y, size] = &values[..] else { return None };
        let shift = [x, y, size].map(|value| 2.0 * value - 1.0);
        (score > self.threshold).then_some(Verdict { score, shift })
    }
}

fn logistic(x: f32) -> f32 {
    (1.0 / (1.0 + exp2(-f64::from(x) * std::f64::consts::LOG2_E))) as f32
}

/// In eight sums side by side, which compilers turn into vectors.
fn product(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    let rest = a.len() / 8 * 8;
    let tail: f32 = a[rest..].iter().zip(&b[rest..]).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + tail
}

/// Sums of gradients over all rectangles of a window that begin at its left top corner.
pub(super) struct Gradients(Vec<[i32; SUMS]>);

const STRIDE: usize = WINDOW + 1;

impl Gradients {
    pub(super) fn of(window: &Window) -> Self {
        let mut sums = vec![[0; SUMS]; STRIDE * STRIDE];
        let line = |y: usize| &window[y * WINDOW..][..WINDOW];
        for y in 0..WINDOW {
            // From the pixel before to the one after, which at the border are one apart and not two.
            let (above, here, below) = (line(y.saturating_sub(1)), line(y), line((y + 1).min(WINDOW - 1)));
            let down = if y == 0 || y == WINDOW - 1 { 2 } else { 1 };
            let mut row = [0; SUMS];
            let (done, rest) = sums.split_at_mut((y + 1) * STRIDE);
            let upper = &done[y * STRIDE + 1..][..WINDOW];
            for (x, (upper, sum)) in upper.iter().zip(&mut rest[1..=WINDOW]).enumerate() {
                let (before, after) = (x.saturating_sub(1), (x + 1).min(WINDOW - 1));
                let across = if x == 0 || x == WINDOW - 1 { 2 } else { 1 };
                let dx = (i32::from(here[after]) - i32::from(here[before])) * across;
                let dy = (i32::from(below[x]) - i32::from(above[x])) * down;
                // Slopes across by whether it gets darker downwards; slopes down by whether it gets darker to the right.
                let (right, left) = (!(dx >> 31), dx >> 31);
                let (falls, rises) = (!(dy >> 31), dy >> 31);
                let (x, y) = (dx.abs(), dy.abs());
                let values = [dx & falls, x & falls, dx & rises, x & rises, dy & right, y & right, dy & left, y & left];
                for slot in 0..SUMS {
                    row[slot] += values[slot];
                    sum[slot] = upper[slot] + row[slot];
                }
            }
        }
        Self(sums)
    }

    /// The values of a patch, scaled to a length of 1.
    fn feature(&self, [left, top, width, height]: Patch) -> [f32; CELL_VALUES] {
        let (w, h) = (width / 2, height / 2);
        let corner = |x: usize, y: usize| &self.0[y * STRIDE + x];
        let values: [i32; CELL_VALUES] = std::array::from_fn(|n| {
            let (cell, slot) = (n / SUMS, n % SUMS);
            let (x, y) = (left + cell % 2 * w, top + cell / 2 * h);
            corner(x + w, y + h)[slot] + corner(x, y)[slot] - corner(x + w, y)[slot] - corner(x, y + h)[slot]
        });
        let length = values.iter().map(|&value| i64::from(value) * i64::from(value)).sum::<i64>();
        let norm = (length as f64).sqrt() as f32;
        values.map(|value| if length == 0 { 0.0 } else { value as f32 / norm })
    }
}
