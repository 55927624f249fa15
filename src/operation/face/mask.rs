//! A soft ellipse over a face: cut out, and laid over.

use super::{Crop, Place};
use crate::{
    control::Run,
    error::Result,
    operation::field::checked,
    picture::{Layout, Picture, Samples},
};

/// Half axes of the ellipse that is wholly covered, in sides of the face's square.
const AXES: (f32, f32) = (0.64, 0.78);
/// How far the ellipse's middle is above that of the square: there is more hair above than chin below.
const ABOVE: f32 = 0.05;
/// The axes beyond which nothing is covered.
const REACH: f32 = 1.2;
/// Pixels around the ellipse that a crop has beside, for filters.
const RIM: f32 = 8.0;
/// Pixels of a crop, at most: larger faces are reduced by a whole factor, and what changes is enlarged.
const PIXELS: usize = 4_000_000;

/// Where a face is, in pixels.
pub(super) struct Mask {
    middle: (f32, f32),
    side: f32,
    /// Left, top, width and height of what is cut out.
    span: [usize; 4],
    /// Pixels for one of the crop, along a side.
    factor: usize,
}

impl Mask {
    /// `None` for a face outside of the picture.
    pub(super) fn new(place: &Place, layout: Layout) -> Option<Self> {
        let (width, height) = (layout.width as usize, layout.height as usize);
        let middle = ((place.middle.0 * width as f64) as f32, (place.middle.1 * height as f64) as f32);
        // A picture whose aspect was changed has faces of that aspect; the mask stays upright and covers the longer side.
        let side = (place.size.0 * width as f64).max(place.size.1 * height as f64) as f32;
        let along = |middle: f32, half: f32, length: usize| {
            let from = (middle - half - RIM).floor().clamp(0.0, length as f32) as usize;
            let to = (middle + half + RIM).ceil().clamp(0.0, length as f32) as usize;
            (from, to.saturating_sub(from))
        };
        let (left, w) = along(middle.0, AXES.0 * REACH * side, width);
        let (top, h) = along(middle.1 - ABOVE * side, AXES.1 * REACH * side, height);
        let factor = ((w * h).div_ceil(PIXELS) as f64).sqrt().ceil() as usize;
        (w > 0 && h > 0).then_some(Self { middle, side, span: [left, top, w, h], factor: factor.max(1) })
    }

    /// How much of a pixel is covered, 0 to 1.
    fn weight(&self, x: usize, y: usize) -> f32 {
        let across = (x as f32 + 0.5 - self.middle.0) / (AXES.0 * self.side);
        let down = (y as f32 + 0.5 - self.middle.1 + ABOVE * self.side) / (AXES.1 * self.side);
        let off = (across * across + down * down).sqrt();
        let share = ((REACH - off) / (REACH - 1.0)).clamp(0.0, 1.0);
        share * share * (3.0 - 2.0 * share)
    }

    /// The face and what is around it.
    pub(super) fn cut(&self, picture: &Picture, run: Run<'_>) -> Result<Crop> {
        match picture.samples() {
            Samples::Eight(samples) => self.reduced(samples, picture.layout(), 255.0, run),
            Samples::Sixteen(samples) => self.reduced(samples, picture.layout(), 65_535.0, run),
        }
    }

    fn reduced<T: Copy + Into<f32>>(&self, samples: &[T], layout: Layout, full: f32, run: Run<'_>) -> Result<Crop> {
        let [left, top, w, h] = self.span;
        let (width, height) = (w.div_ceil(self.factor), h.div_ceil(self.factor));
        let mut pixels = Vec::with_capacity(width * height);
        let mut sums = vec![[0f32; 3]; width];
        for y in 0..height {
            checked(y, run)?;
            sums.fill([0.0; 3]);
            let rows = y * self.factor..((y + 1) * self.factor).min(h);
            for row in rows.clone() {
                let from = (top + row) * layout.row_samples() + left * layout.channels.count();
                for (x, pixel) in samples[from..].chunks_exact(layout.channels.count()).take(w).enumerate() {
                    let codes = colours(pixel, layout);
                    for (sum, code) in sums[x / self.factor].iter_mut().zip(codes) {
                        *sum += code;
                    }
                }
            }
            pixels.extend(sums.iter().enumerate().map(|(x, sum)| {
                let columns = ((x + 1) * self.factor).min(w) - x * self.factor;
                sum.map(|sum| sum / (full * (columns * rows.len()) as f32))
            }));
        }
        let factor = self.factor as f32;
        let middle = ((self.middle.0 - left as f32) / factor, (self.middle.1 - top as f32) / factor);
        Ok(Crop { width, height, pixels, middle, side: self.side / factor })
    }

    /// The picture with a share of what differs between the two crops, under the mask.
    pub(super) fn laid_over(
        &self,
        picture: Picture,
        seen: &Crop,
        clear: &Crop,
        share: f32,
        run: Run<'_>,
    ) -> Result<Picture> {
        let layout = picture.layout();
        let change: Vec<[f32; 3]> =
            clear.pixels.iter().zip(&seen.pixels).map(|(a, b)| [a[0] - b[0], a[1] - b[1], a[2] - b[2]]).collect();
        let changed = Change { width: seen.width, height: seen.height, factor: self.factor, pixels: change };
        let samples = match picture.into_samples() {
            Samples::Eight(mut samples) => {
                let store = |code: f32| (code + 0.5) as u8;
                self.blended(&mut samples, layout, (255.0 * share, store), &changed, run)?;
                Samples::Eight(samples)
            }
            Samples::Sixteen(mut samples) => {
                let store = |code: f32| (code + 0.5) as u16;
                self.blended(&mut samples, layout, (65_535.0 * share, store), &changed, run)?;
                Samples::Sixteen(samples)
            }
        };
        Picture::new(layout.width, layout.height, layout.channels, samples)
    }

    fn blended<T: Copy + Into<f32>>(
        &self,
        samples: &mut [T],
        layout: Layout,
        (scale, store): (f32, impl Fn(f32) -> T),
        change: &Change,
        run: Run<'_>,
    ) -> Result<()> {
        let [left, top, w, h] = self.span;
        let count = layout.channels.count();
        for y in 0..h {
            checked(y, run)?;
            let from = (top + y) * layout.row_samples() + left * count;
            for (x, pixel) in samples[from..].chunks_exact_mut(count).take(w).enumerate() {
                let weight = self.weight(left + x, top + y);
                if weight == 0.0 {
                    continue;
                }
                let change = change.at(x, y).map(|change| change * weight * scale);
                if layout.channels.is_gray() {
                    pixel[0] = store(pixel[0].into() + change[1]);
                } else {
                    for (sample, change) in pixel.iter_mut().zip(change) {
                        *sample = store((*sample).into() + change);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Red, green and blue as stored.
fn colours<T: Copy + Into<f32>>(pixel: &[T], layout: Layout) -> [f32; 3] {
    if layout.channels.is_gray() { [pixel[0].into(); 3] } else { [pixel[0].into(), pixel[1].into(), pixel[2].into()] }
}

/// What changes, at a fraction of the size.
struct Change {
    width: usize,
    height: usize,
    factor: usize,
    pixels: Vec<[f32; 3]>,
}

impl Change {
    /// At a pixel of the full size; between four by straight lines.
    fn at(&self, x: usize, y: usize) -> [f32; 3] {
        if self.factor == 1 {
            return self.pixels[y * self.width + x];
        }
        let place = |at: usize, length: usize| {
            let at = ((at as f32 + 0.5) / self.factor as f32 - 0.5).clamp(0.0, (length - 1) as f32);
            (at as usize, (at as usize + 1).min(length - 1), at - at.floor())
        };
        let ((left, right, across), (above, below, down)) = (place(x, self.width), place(y, self.height));
        let mixed = |a: [f32; 3], b: [f32; 3], share: f32| [0, 1, 2].map(|n| a[n] + (b[n] - a[n]) * share);
        let row = |y: usize| mixed(self.pixels[y * self.width + left], self.pixels[y * self.width + right], across);
        mixed(row(above), row(below), down)
    }
}
