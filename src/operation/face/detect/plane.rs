//! Gray planes of eight bits, which faces are looked for in.

use super::WINDOW;
use crate::{
    control::Run,
    error::Result,
    operation::field::checked,
    picture::{Picture, Samples},
};

/// Pixels of a window, row by row.
pub(super) type Window = [u8; WINDOW * WINDOW];

/// Luma, 0 to 255.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plane {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) samples: Vec<u8>,
}

impl Plane {
    /// Luma (BT.709, of the codes) over middle gray, each pixel the mean of `factor` x `factor` of the picture.
    pub(super) fn of(picture: &Picture, factor: usize, run: Run<'_>) -> Result<Self> {
        let layout = picture.layout();
        let size = |side: u32| (side as usize).div_ceil(factor);
        let (width, height) = (size(layout.width), size(layout.height));
        let count = layout.channels.count();
        let (gray, alpha) = (layout.channels.is_gray(), layout.channels.has_alpha());
        let luma = |pixel: &dyn Fn(usize) -> u32| {
            let luma = if gray { pixel(0) } else { (218 * pixel(0) + 732 * pixel(1) + 74 * pixel(2) + 512) >> 10 };
            let opacity = if alpha { pixel(count - 1) } else { 255 };
            (luma * opacity + 128 * (255 - opacity) + 127) / 255
        };
        let mut samples = Vec::with_capacity(width * height);
        let mut sums = vec![0u32; width];
        let rows = layout.row_samples();
        for top in (0..layout.height as usize).step_by(factor) {
            run.check()?;
            sums.fill(0);
            let bottom = (top + factor).min(layout.height as usize);
            for y in top..bottom {
                for x in 0..layout.width as usize {
                    let at = y * rows + x * count;
                    sums[x / factor] += match picture.samples() {
                        Samples::Eight(samples) => luma(&|channel| u32::from(samples[at + channel])),
                        Samples::Sixteen(samples) => luma(&|channel| u32::from(samples[at + channel] >> 8)),
                    };
                }
            }
            let wide = |x: usize| ((x + 1) * factor).min(layout.width as usize) - x * factor;
            samples.extend(sums.iter().enumerate().map(|(x, sum)| {
                let pixels = (wide(x) * (bottom - top)) as u32;
                ((sum + pixels / 2) / pixels) as u8
            }));
        }
        Ok(Self { width, height, samples })
    }

    /// The sample at a place, between four pixels; the border goes on beyond it.
    fn at(&self, x: f32, y: f32) -> f32 {
        let (x, y) = (x.clamp(0.0, (self.width - 1) as f32), y.clamp(0.0, (self.height - 1) as f32));
        let (left, top) = (x as usize, y as usize);
        let (right, bottom) = ((left + 1).min(self.width - 1), (top + 1).min(self.height - 1));
        let (across, down) = (x - left as f32, y - top as f32);
        let sample = |x: usize, y: usize| f32::from(self.samples[y * self.width + x]);
        let row = |y: usize| mixed(sample(left, y), sample(right, y), across);
        mixed(row(top), row(bottom), down)
    }

    /// What is inside a square, at the size of a window.
    pub(super) fn window(&self, left: f32, top: f32, side: f32) -> Window {
        if side == WINDOW as f32 && left >= 0.0 && left.fract() == 0.0 && top >= 0.0 && top.fract() == 0.0 {
            return self.cut(left as usize, top as usize);
        }
        let step = side / WINDOW as f32;
        let places = |from: f32, length: usize| -> [(usize, usize, f32); WINDOW] {
            std::array::from_fn(|n| {
                let at = (from + (n as f32 + 0.5) * step - 0.5).clamp(0.0, (length - 1) as f32);
                (at as usize, (at as usize + 1).min(length - 1), at - at.floor())
            })
        };
        let (columns, rows) = (places(left, self.width), places(top, self.height));
        let mut window = [0; WINDOW * WINDOW];
        for (row, (upper, lower, down)) in window.chunks_exact_mut(WINDOW).zip(rows) {
            let line = |y: usize| &self.samples[y * self.width..][..self.width];
            let (upper, lower) = (line(upper), line(lower));
            for (value, (left, right, across)) in row.iter_mut().zip(columns) {
                let between = |row: &[u8]| mixed(f32::from(row[left]), f32::from(row[right]), across);
                *value = (mixed(between(upper), between(lower), down) + 0.5) as u8;
            }
        }
        window
    }

    /// The window that begins at `x`, `y`.
    fn cut(&self, x: usize, y: usize) -> Window {
        let mut window = [0; WINDOW * WINDOW];
        for (row, line) in window.chunks_exact_mut(WINDOW).zip(self.samples[y * self.width + x..].chunks(self.width)) {
            row.copy_from_slice(&line[..WINDOW]);
        }
        window
    }

    /// This plane at another size. Smaller ones are means over the pixels that each stands for.
    pub(super) fn sized(&self, width: usize, height: usize, run: Run<'_>) -> Result<Self> {
        if (width, height) == (self.width, self.height) {
            return Ok(self.clone());
        }
        let columns = spans(self.width, width);
        let mut across = Vec::with_capacity(width * self.height);
        for (y, row) in self.samples.chunks_exact(self.width).enumerate() {
            checked(y, run)?;
            across.extend(columns.iter().map(|span| {
                let parts = row[span.from..].iter().zip(&span.weights);
                parts.map(|(&value, weight)| f32::from(value) * weight).sum::<f32>()
            }));
        }
        let mut samples = Vec::with_capacity(width * height);
        let mut line = vec![0f32; width];
        for (y, span) in spans(self.height, height).iter().enumerate() {
            checked(y, run)?;
            line.fill(0.5);
            for (row, weight) in across.chunks_exact(width).skip(span.from).zip(&span.weights) {
                for (sum, value) in line.iter_mut().zip(row) {
                    *sum += value * weight;
                }
            }
            samples.extend(line.iter().map(|&value| value as u8));
        }
        Ok(Self { width, height, samples })
    }

    /// This plane with `rim` pixels around it, which go on with its last ones.
    pub(super) fn rimmed(&self, rim: usize) -> Self {
        let (width, height) = (self.width + 2 * rim, self.height + 2 * rim);
        let mut samples = Vec::with_capacity(width * height);
        for y in 0..height {
            let row = &self.samples[y.saturating_sub(rim).min(self.height - 1) * self.width..][..self.width];
            samples.extend(std::iter::repeat_n(row[0], rim));
            samples.extend_from_slice(row);
            samples.extend(std::iter::repeat_n(row[self.width - 1], rim));
        }
        Self { width, height, samples }
    }

    /// This plane turned around its middle, on a canvas that holds all of it. `turn` is the cosine and sine.
    pub(super) fn turned(&self, turn: (f32, f32), run: Run<'_>) -> Result<Self> {
        let (cos, sin) = turn;
        let (w, h) = (self.width as f32, self.height as f32);
        let (width, height) = canvas(w, h, turn);
        let (width, height) = (width as usize, height as usize);
        let mut samples = Vec::with_capacity(width * height);
        for y in 0..height {
            if y % 16 == 0 {
                run.check()?;
            }
            let dy = y as f32 + 0.5 - height as f32 / 2.0;
            samples.extend((0..width).map(|x| {
                let dx = x as f32 + 0.5 - width as f32 / 2.0;
                let (x, y) = (dx * cos - dy * sin + w / 2.0, dx * sin + dy * cos + h / 2.0);
                (self.at(x - 0.5, y - 0.5) + 0.5) as u8
            }));
        }
        Ok(Self { width, height, samples })
    }

    /// The standard deviation of the window at `x`, `y`.
    pub(super) fn deviation(&self, x: usize, y: usize) -> f32 {
        let (mut sum, mut squares) = (0u32, 0u32);
        for row in self.samples[y * self.width + x..].chunks(self.width).take(WINDOW) {
            for &value in &row[..WINDOW] {
                sum += u32::from(value);
                squares += u32::from(value) * u32::from(value);
            }
        }
        let count = (WINDOW * WINDOW) as f32;
        let mean = sum as f32 / count;
        (squares as f32 / count - mean * mean).max(0.0).sqrt()
    }
}

/// The width and height of a canvas that holds all of a plane that is turned.
pub(super) fn canvas(width: f32, height: f32, (cos, sin): (f32, f32)) -> (f32, f32) {
    (width * cos + height * sin.abs(), width * sin.abs() + height * cos)
}

fn mixed(a: f32, b: f32, share: f32) -> f32 {
    a + (b - a) * share
}

/// The pixels of a line that one of a resized line is made of: those from the first on, as many as there are weights.
struct Span {
    from: usize,
    weights: Vec<f32>,
}

/// A line of `source` pixels made `target` long: means where it gets shorter, straight lines between pixels where longer.
fn spans(source: usize, target: usize) -> Vec<Span> {
    let step = source as f32 / target as f32;
    let span = |n: usize| {
        let middle = (n as f32 + 0.5) * step;
        // Triangles as wide as a pixel of the result, at least as one of the source.
        let reach = step.max(1.0);
        let from = (middle - reach).max(0.0) as usize;
        let to = ((middle + reach) as usize + 1).min(source);
        let weight = |at: usize| (1.0 - (at as f32 + 0.5 - middle).abs() / reach).max(0.0);
        let weights: Vec<f32> = (from..to).map(weight).collect();
        let sum: f32 = weights.iter().sum();
        Span { from, weights: weights.into_iter().map(|weight| weight / sum).collect() }
    };
    (0..target).map(span).collect()
}
