//! What a viewer sees of frames coded with loss: fringes of what moved away, which are to go with the next frame.

use super::{patch::Coded, player::over, sequence::BLOCK};
use crate::{
    codec::{
        sequence::{Area, NOTHING, Pixel},
        webp::libwebp,
    },
    control::Run,
    error::Result,
};

/// Samples of a plain block differ by no more.
const PLAIN: u8 = 24;
/// A sample that is off by more, and by half of what the samples of its block differ, is seen.
pub(super) const SEEN: u8 = 12;

/// The canvas as a reader of the file composes it.
pub(super) struct Shown {
    canvas: Vec<Pixel>,
    /// What was wanted of the last frame.
    meant: Vec<Pixel>,
    width: usize,
    /// Blocks that are off and are to be drawn once more; row by row.
    off: Vec<bool>,
}

impl Shown {
    pub(super) fn new(width: usize, height: usize) -> Self {
        let blocks = width.div_ceil(BLOCK) * height.div_ceil(BLOCK);
        let empty = || vec![NOTHING; width * height];
        Self { canvas: empty(), meant: empty(), width, off: vec![false; blocks] }
    }

    /// Draws a frame as readers do.
    pub(super) fn draw(&mut self, area: Area, coded: &Coded, run: Run<'_>) -> Result<()> {
        let samples = libwebp::decode(&coded.image, area.width as u32, area.height as u32, true, run)?;
        let (drawn, _) = samples.as_chunks::<4>();
        for (y, row) in (area.y..).zip(drawn.chunks_exact(area.width)) {
            let at = y * self.width + area.x;
            for (pixel, &drawn) in self.canvas[at..at + area.width].iter_mut().zip(row) {
                *pixel = if coded.blends { over(drawn, *pixel) } else { drawn };
            }
        }
        Ok(())
    }

    /// Makes `base` what the next frame is compared with: what was `wanted`, but for plain blocks drawn just now that came out
    /// visibly different, as they do beside what moves. Each is drawn once more, when what moved is gone; not again and again
    /// if it stays beside them and they stay as they are. Returns whether there are any.
    pub(super) fn rebase(&mut self, base: &mut [Pixel], wanted: &[Pixel]) -> bool {
        let (width, height) = (self.width, wanted.len() / self.width);
        let mut blocks = self.off.iter_mut();
        for y in (0..height).step_by(BLOCK) {
            for (x, off) in (0..width).step_by(BLOCK).zip(&mut blocks) {
                let end = width.min(x + BLOCK);
                let rows = (y..height.min(y + BLOCK)).map(|y| y * width + x..y * width + end);
                let differs = |canvas: &[Pixel]| rows.clone().any(|row| canvas[row.clone()] != wanted[row]);
                let again = std::mem::take(off) && !differs(&self.meant);
                *off = differs(base)
                    && !again
                    && is_off(rows.clone().map(|row| (&self.canvas[row.clone()], &wanted[row])));
                let kept = if *off { &self.canvas } else { wanted };
                rows.for_each(|row| base[row.clone()].copy_from_slice(&kept[row]));
            }
        }
        self.meant.copy_from_slice(wanted);
        self.off.contains(&true)
    }
}

/// Whether a block, given as rows of what is shown and what is wanted, is plain and visibly not what it should be.
fn is_off<'p>(rows: impl Iterator<Item = (&'p [Pixel], &'p [Pixel])>) -> bool {
    let (mut range, mut most) = (Range::default(), 0);
    for (shown, wanted) in rows.flat_map(|(shown, wanted)| shown.iter().zip(wanted)) {
        range.add(wanted);
        most = shown.iter().zip(wanted).fold(most, |most, (shown, wanted)| most.max(shown.abs_diff(*wanted)));
    }
    range.low[3] == u8::MAX && range.is_plain() && most > SEEN + range.width() / 2
}

/// What the samples of a block range over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    low: Pixel,
    high: Pixel,
}

impl Default for Range {
    fn default() -> Self {
        Self { low: [u8::MAX; 4], high: [u8::MIN; 4] }
    }
}

impl Range {
    pub(super) fn add(&mut self, pixel: &Pixel) {
        for (at, &sample) in pixel.iter().enumerate() {
            (self.low[at], self.high[at]) = (self.low[at].min(sample), self.high[at].max(sample));
        }
    }

    pub(super) fn is_plain(&self) -> bool {
        self.width() <= PLAIN
    }

    /// Of the channel that ranges most.
    fn width(&self) -> u8 {
        self.low.iter().zip(self.high).fold(0, |most, (low, high)| most.max(high - low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two blocks beside each other.
    const WIDTH: usize = 2 * BLOCK;

    fn gray(value: u8) -> Vec<Pixel> {
        vec![[value, value, value, u8::MAX]; WIDTH * BLOCK]
    }

    #[test]
    fn a_plain_block_that_is_off_is_drawn_once_more() {
        let wanted = gray(100);
        let mut shown = Shown::new(WIDTH, BLOCK);
        shown.canvas = gray(100);
        shown.canvas[3] = [100, 100, 101 + SEEN, u8::MAX];
        let mut base = gray(0);
        assert!(shown.rebase(&mut base, &wanted));
        assert_eq!(base, shown.canvas);
        assert!(!shown.rebase(&mut base, &wanted));
        assert_eq!(base, wanted, "it was drawn once more");
    }

    #[test]
    fn a_block_that_is_to_be_another_may_be_drawn_once_more_again() {
        let mut shown = Shown::new(WIDTH, BLOCK);
        let mut base = gray(0);
        shown.canvas = gray(150);
        for value in [100, 101, 102] {
            assert!(shown.rebase(&mut base, &gray(value)), "{value}");
        }
        assert!(!shown.rebase(&mut base, &gray(102)));
    }

    #[test]
    fn blocks_that_were_not_drawn_or_have_detail_stay() {
        let mut wanted = gray(100);
        wanted[0] = [101 + PLAIN, 100, 100, u8::MAX];
        let mut shown = Shown::new(WIDTH, BLOCK);
        let mut base = gray(100);
        assert!(!shown.rebase(&mut base, &wanted));
        assert_eq!(base, wanted, "the first has detail, the second was there");
    }
}
