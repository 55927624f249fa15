//! A picture at all its scales, row by row, so that no scale is ever in memory whole.

use super::{
    channel::{BATCH, stride},
    ground::{Grounded, LEAST_SIDE},
    vectors::{self, Work},
    weights::{CHANNELS, MAPS, SCALES, wanted},
    xyb,
};
use crate::{control::Run, error::Result};

/// Sizes of the scales of a picture of `width` x `height` pixels, both at least 8. The last may be smaller than that.
pub(super) fn sizes(width: usize, height: usize) -> Vec<(usize, usize)> {
    let mut sizes = vec![(width, height)];
    while let Some(&(width, height)) = sizes.last()
        && sizes.len() < SCALES
        && width.min(height) >= LEAST_SIDE
    {
        sizes.push((width.div_ceil(2), height.div_ceil(2)));
    }
    sizes
}

/// Which maps of which channels count at each scale, of `scales` in all; scales after the last that counts are left out.
pub(super) fn needs(scales: usize) -> Vec<[[bool; MAPS]; CHANNELS]> {
    let mut needs: Vec<[_; CHANNELS]> =
        (0..scales).map(|scale| std::array::from_fn(|channel| wanted(channel, scale, scales))).collect();
    while needs.last().is_some_and(|scale| scale.iter().flatten().all(|wanted| !wanted)) {
        needs.pop();
    }
    needs
}

/// Takes the rows of a pyramid.
pub(super) trait Rows {
    /// The next rows of `scale` as X, Y, B: at most [`BATCH`], less only at the end, each [`stride`] samples long and 0
    /// behind the picture. X and B are empty where only Y counts. To be `#[inline(always)]`.
    fn rows(&mut self, scale: usize, xyb: [&[f32]; CHANNELS]);
}

/// Walks a picture from top to bottom and halves it as it goes.
#[derive(Debug)]
pub(super) struct Pyramid {
    stages: Vec<Stage>,
}

impl Pyramid {
    /// For pictures of `width` x `height` pixels, both at least 8.
    pub(super) fn new(width: usize, height: usize) -> Self {
        let sizes = sizes(width, height);
        let stages = needs(sizes.len()).into_iter().zip(&sizes).map(|(needs, &(width, height))| {
            let coloured = [0, 2].iter().any(|&channel| needs[channel] != [false; MAPS]);
            Stage::new(width, height, coloured)
        });
        Self { stages: stages.collect() }
    }

    /// Gives all rows of all scales to `rows`.
    pub(super) fn walk(&mut self, picture: Grounded<'_>, rows: &mut impl Rows, run: Run<'_>) -> Result<()> {
        let (_, height) = picture.size();
        for y in 0..height {
            picture.linear_row(y, self.stages[0].next_row());
            if self.stages[0].is_due() {
                run.check()?;
                vectors::dispatch(Advance { stages: &mut self.stages, rows });
            }
        }
        Ok(())
    }
}

/// Hands on what the scales have gathered, from the finest on, until one has not gathered enough.
struct Advance<'a, R> {
    stages: &'a mut [Stage],
    rows: &'a mut R,
}

impl<R: Rows> Work for Advance<'_, R> {
    #[inline(always)]
    fn run(self) {
        for scale in 0..self.stages.len() {
            let (above, below) = self.stages.split_at_mut(scale + 1);
            let stage = &mut above[scale];
            if !stage.is_due() {
                return;
            }
            self.rows.rows(scale, stage.convert());
            if let Some(next) = below.first_mut() {
                stage.halve_into(next);
            }
            stage.clear();
        }
    }
}

/// One scale: a few rows of linear light.
#[derive(Debug)]
struct Stage {
    width: usize,
    height: usize,
    /// Rows handed on.
    done: usize,
    /// Rows gathered, at most [`BATCH`].
    filled: usize,
    linear: [Vec<f32>; CHANNELS],
    coloured: bool,
    xyb: [Vec<f32>; CHANNELS],
}

impl Stage {
    fn new(width: usize, height: usize, coloured: bool) -> Self {
        let samples = |wanted: bool| if wanted { stride(width) * BATCH } else { 0 };
        Self {
            width,
            height,
            done: 0,
            filled: 0,
            linear: [(); CHANNELS].map(|()| vec![0.0; width * BATCH]),
            coloured,
            xyb: [coloured, true, coloured].map(|wanted| vec![0.0; samples(wanted)]),
        }
    }

    /// Room for one more row.
    #[inline(always)]
    fn next_row(&mut self) -> [&mut [f32]; CHANNELS] {
        let at = self.filled * self.width;
        self.filled += 1;
        self.linear.each_mut().map(|plane| &mut plane[at..at + self.width])
    }

    fn is_due(&self) -> bool {
        self.filled == BATCH || self.done + self.filled == self.height
    }

    fn clear(&mut self) {
        self.done += self.filled;
        self.filled = 0;
    }

    /// The rows gathered, in XYB.
    #[inline(always)]
    fn convert(&mut self) -> [&[f32]; CHANNELS] {
        let stride = stride(self.width);
        for row in 0..self.filled {
            let linear = self.linear.each_ref().map(|plane| &plane[row * self.width..][..self.width]);
            let place = row * stride..row * stride + self.width;
            if self.coloured {
                xyb::colours(linear, self.xyb.each_mut().map(|plane| &mut plane[place.clone()]));
            } else {
                xyb::brightness(linear, &mut self.xyb[1][place]);
            }
        }
        let samples = self.filled * stride;
        self.xyb.each_ref().map(|plane| &plane[..samples.min(plane.len())])
    }

    #[inline(always)]
    fn halve_into(&self, next: &mut Self) {
        for upper in (0..self.filled).step_by(2) {
            let lower = (upper + 1).min(self.filled - 1);
            for (plane, out) in self.linear.iter().zip(next.next_row()) {
                let row = |index: usize| &plane[index * self.width..][..self.width];
                halve(row(upper), row(lower), out);
            }
        }
    }
}

/// Means of 2 x 2 samples; an odd row's last sample counts twice.
#[inline(always)]
fn halve(upper: &[f32], lower: &[f32], out: &mut [f32]) {
    let ((upper, last_upper), (lower, last_lower)) = (upper.as_chunks::<2>(), lower.as_chunks::<2>());
    for ((out, [a, b]), [c, d]) in out.iter_mut().zip(upper).zip(lower) {
        *out = (((a + b) + c) + d) * 0.25;
    }
    if let ([a], [c], [.., out]) = (last_upper, last_lower, out) {
        *out = (((a + a) + c) + c) * 0.25;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_at_six_or_below_eight_pixels() {
        assert_eq!(sizes(8, 300), [(8, 300), (4, 150)]);
        assert_eq!(sizes(9, 9), [(9, 9), (5, 5)]);
        assert_eq!(sizes(113, 400).len(), 6);
        assert_eq!(sizes(112, 400).len(), 5);
    }

    #[test]
    fn the_sixth_scale_is_never_computed() {
        assert_eq!(needs(6).len(), 5);
    }

    #[test]
    fn odd_rows_repeat_their_last_sample_when_halved() {
        let mut out = [0.0; 2];
        halve(&[1.0, 2.0, 8.0], &[3.0, 6.0, 4.0], &mut out);
        assert_eq!(out, [3.0, 6.0]);
    }
}
