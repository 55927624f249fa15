//! Crisper edges.

use super::{Apply, Operation, bleed::bled};
use crate::{
    control::Run,
    error::Result,
    picture::{Layout, Picture, Samples},
};

/// Unsharp masking of luma over 5 x 5 pixels that makes no halos: what is added is cut to the range of the 3 x 3
/// neighbours, beyond which edges would overshoot, and differences as small as noise are left. All channels get the same,
/// so that colours do not fringe. Codes of sRGB, in integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sharpen {
    /// 0 (nothing changes) to 100: how many fiftieths of the difference to the blurred luma are added.
    pub strength: u8,
}

/// Differences from the blurred luma up to this count as noise, as a share of full scale, in 1/1024.
const NOISE: i32 = 6;
/// How far beyond its neighbours a pixel may go, in the same unit.
const OVERSHOOT: i32 = 8;

impl Operation for Sharpen {
    fn name(&self) -> &'static str {
        "sharpen"
    }

    fn layout(&self, input: Layout) -> Result<Layout> {
        Ok(input)
    }

    fn prepare(&self, _: &Picture, _: Run<'_>) -> Result<Option<Box<dyn Apply>>> {
        Ok(Some(Box::new(*self)))
    }
}

impl Apply for Sharpen {
    fn apply(&self, picture: Picture, run: Run<'_>) -> Result<Picture> {
        if self.strength == 0 {
            return Ok(picture);
        }
        let layout = picture.layout();
        let samples = match bled(picture, run)?.into_samples() {
            Samples::Eight(samples) => Samples::Eight(self.sharpened(samples, layout, 255, run)?),
            Samples::Sixteen(samples) => Samples::Sixteen(self.sharpened(samples, layout, 65_535, run)?),
        };
        Picture::new(layout.width, layout.height, layout.channels, samples)
    }
}

impl Sharpen {
    fn sharpened<T>(&self, mut samples: Vec<T>, layout: Layout, full: i32, run: Run<'_>) -> Result<Vec<T>>
    where
        T: Copy + Into<i32> + TryFrom<i32>,
    {
        let (width, height) = (layout.width as usize, layout.height as usize);
        let colours = if layout.channels.is_gray() { 1 } else { 3 };
        let mut rows = Rows::new(width, full);
        for y in 0..2.min(height) {
            rows.push(&samples[y * layout.row_samples()..], layout);
        }
        for y in 0..height {
            run.check()?;
            if y + 2 < height {
                rows.push(&samples[(y + 2) * layout.row_samples()..], layout);
            }
            rows.sharpen(y, height, self.strength.into());
            let row = samples[y * layout.row_samples()..].chunks_exact_mut(layout.channels.count());
            for (pixel, &added) in row.zip(&rows.added) {
                for sample in &mut pixel[..colours] {
                    *sample = T::try_from(((*sample).into() + added).clamp(0, full)).unwrap_or(*sample);
                }
            }
        }
        Ok(samples)
    }
}

/// The rows of luma around one, before anything was added to them.
struct Rows {
    full: i32,
    /// The last five, the `n`th at `n % 5`.
    luma: [Vec<i32>; 5],
    pushed: usize,
    /// The binomial sum of five rows, of weight 16.
    down: Vec<i32>,
    added: Vec<i32>,
}

impl Rows {
    fn new(width: usize, full: i32) -> Self {
        Self { full, luma: Default::default(), pushed: 0, down: vec![0; width], added: vec![0; width] }
    }

    fn push<T: Copy + Into<i32>>(&mut self, samples: &[T], layout: Layout) {
        let row = &mut self.luma[self.pushed % 5];
        self.pushed += 1;
        let pixels = samples.chunks_exact(layout.channels.count()).take(layout.width as usize);
        row.clear();
        if layout.channels.is_gray() {
            row.extend(pixels.map(|p| p[0].into()));
        } else {
            // BT.709, of 1024.
            row.extend(pixels.map(|p| (218 * p[0].into() + 732 * p[1].into() + 74 * p[2].into() + 512) >> 10));
        }
    }

    fn row(&self, y: isize, height: usize) -> &[i32] {
        &self.luma[y.clamp(0, height as isize - 1) as usize % 5]
    }

    /// Settles what is added to row `y`.
    fn sharpen(&mut self, y: usize, height: usize, strength: i32) {
        let (at, width) = (y as isize, self.down.len());
        let rows: [&[i32]; 5] = std::array::from_fn(|n| self.row(at + n as isize - 2, height));
        let down: Vec<i32> =
            (0..width).map(|x| rows[0][x] + 4 * rows[1][x] + 6 * rows[2][x] + 4 * rows[3][x] + rows[4][x]).collect();
        let low: Vec<i32> = (0..width).map(|x| rows[1][x].min(rows[2][x]).min(rows[3][x])).collect();
        let high: Vec<i32> = (0..width).map(|x| rows[1][x].max(rows[2][x]).max(rows[3][x])).collect();
        let (noise, over) = (self.full * NOISE / 1024, self.full * OVERSHOOT / 1024);
        let added = (0..width).map(|x| {
            let side = |step: isize| x.saturating_add_signed(step).min(width - 1);
            let blurred = down[side(-2)] + 4 * down[side(-1)] + 6 * down[x] + 4 * down[side(1)] + down[side(2)];
            let value = rows[2][x];
            let apart = value - ((blurred + 128) >> 8);
            let apart = apart - apart.clamp(-noise, noise);
            let least = low[side(-1)].min(low[x]).min(low[side(1)]) - over;
            let most = high[side(-1)].max(high[x]).max(high[side(1)]) + over;
            // Rounded to zero, so that no strength takes back what a lower one has added.
            (value + (i64::from(apart) * i64::from(strength) / 50) as i32).clamp(least, most) - value
        });
        self.added = added.collect();
        self.down = down;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, limits::Limits, picture::Channels};

    fn sharpened(picture: &Picture, strength: u8) -> Picture {
        let (limits, control) = (Limits::default(), Unattended);
        Sharpen { strength }.apply(picture.clone(), Run { limits: &limits, control: &control }).unwrap()
    }

    /// A soft edge, upright, between 60 and 200.
    fn edge() -> Picture {
        let row = [60u8, 60, 60, 60, 70, 100, 160, 190, 200, 200, 200, 200];
        Picture::new(12, 9, Channels::Gray, Samples::Eight(row.repeat(9))).unwrap()
    }

    #[test]
    fn zero_changes_nothing_and_more_makes_edges_steeper() {
        let edge = edge();
        assert_eq!(sharpened(&edge, 0), edge);
        let steps = [0, 20, 40, 60, 80, 100].map(|strength| {
            let picture = sharpened(&edge, strength);
            let row = &picture.eight().unwrap()[48..60];
            i32::from(row[6]) - i32::from(row[5])
        });
        assert!(steps.windows(2).all(|pair| pair[0] <= pair[1]) && steps[0] + 20 < steps[5], "{steps:?}");
    }

    #[test]
    fn edges_get_no_halo() {
        let sharp = sharpened(&edge(), 100);
        assert!(sharp.eight().unwrap().iter().all(|sample| (58..=202).contains(sample)), "{sharp:?}");
    }

    #[test]
    fn noise_of_a_code_is_left() {
        let samples = (0..64).map(|n: u8| 100 + n % 2).collect();
        let flat = Picture::new(8, 8, Channels::Gray, Samples::Eight(samples)).unwrap();
        assert_eq!(sharpened(&flat, 100), flat);
    }

    #[test]
    fn colours_do_not_fringe_and_alpha_stays() {
        let samples = edge().eight().unwrap().iter().flat_map(|&v| [v, v, v, 255 - v]).collect();
        let rgba = Picture::new(12, 9, Channels::Rgba, Samples::Eight(samples)).unwrap();
        let sharp = sharpened(&rgba, 80);
        assert_ne!(sharp, rgba);
        for (before, after) in rgba.eight().unwrap().chunks(4).zip(sharp.eight().unwrap().chunks(4)) {
            assert_eq!((after[0], after[1], after[3]), (after[1], after[2], before[3]));
        }
    }

    #[test]
    fn one_pixel_and_sixteen_bits_are_fine() {
        let one = Picture::new(1, 1, Channels::Gray, Samples::Sixteen(vec![9])).unwrap();
        assert_eq!(sharpened(&one, 100), one);
        let wide = edge().eight().unwrap().iter().map(|&v| u16::from(v) * 257).collect();
        let wide = Picture::new(12, 9, Channels::Gray, Samples::Sixteen(wide)).unwrap();
        let (sharp, eight) = (sharpened(&wide, 70).into_eight(), sharpened(&edge(), 70));
        for (a, b) in sharp.eight().unwrap().iter().zip(eight.eight().unwrap()) {
            assert!(a.abs_diff(*b) <= 2);
        }
    }

    #[test]
    fn what_is_hidden_does_not_reach_the_rim() {
        let cut = |hidden: u8| {
            let edge = edge();
            let samples = edge.eight().unwrap().iter().enumerate();
            let samples = samples.flat_map(|(n, &v)| if n % 12 < 4 { [hidden, 0] } else { [v, 255] }).collect();
            sharpened(&Picture::new(12, 9, Channels::GrayAlpha, Samples::Eight(samples)).unwrap(), 100)
        };
        assert_eq!(cut(0), cut(255));
    }
}
