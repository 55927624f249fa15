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

/// The side of a quarter of a block.
const HALF: usize = BLOCK / 2;
/// Samples of a plain quarter differ by no more.
const PLAIN: u8 = 24;
/// By how much a sample may be off where no more differ: what fades, appears or is marked in another shade would be gone before
/// any score tells.
const FLAT: u8 = 4;
/// A sample that is off by more, and by half of what the samples of its block differ, is seen.
const SEEN: u8 = 12;
/// The same of a quarter beside detail, which hides a little; else all that moves would be drawn twice.
const FAR: u8 = 32;

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

/// Whether a block, given as rows of what is shown and what is wanted, is plain and visibly not what it should be, or a quarter
/// of it is and far off: a bar or a line may have no whole block to itself.
fn is_off<'p>(rows: impl Iterator<Item = (&'p [Pixel], &'p [Pixel])>) -> bool {
    let mut quarters = Quarters::default();
    for (y, (shown, wanted)) in rows.enumerate() {
        (0..).zip(shown.iter().zip(wanted)).for_each(|(x, (shown, wanted))| quarters.add((x, y), shown, wanted));
    }
    let is_seen = |(range, most): (Range, u8), least| range.low[3] == u8::MAX && most > least + range.width() / 2;
    quarters.plain().any(|quarter| is_seen(quarter, FAR)) || quarters.whole().is_some_and(|whole| is_seen(whole, SEEN))
}

/// The quarters of a block: what they range over, and how far they are off at most.
#[derive(Debug, Default)]
pub(super) struct Quarters([(Range, u8); 4]);

impl Quarters {
    /// Adds a pixel at a place of the block.
    pub(super) fn add(&mut self, (x, y): (usize, usize), shown: &Pixel, wanted: &Pixel) {
        let (range, most) = &mut self.0[y / HALF * 2 + x / HALF];
        range.add(wanted);
        *most = shown.iter().zip(wanted).fold(*most, |most, (shown, wanted)| most.max(shown.abs_diff(*wanted)));
    }

    /// Those that are plain.
    pub(super) fn plain(&self) -> impl Iterator<Item = (Range, u8)> {
        self.0.into_iter().filter(|(range, _)| range.is_plain())
    }

    /// All together, if they are plain.
    fn whole(&self) -> Option<(Range, u8)> {
        let whole = self.0.into_iter().reduce(|one, other| (one.0.with(other.0), one.1.max(other.1)));
        whole.filter(|(range, _)| range.is_plain())
    }
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
    fn add(&mut self, pixel: &Pixel) {
        for (at, &sample) in pixel.iter().enumerate() {
            (self.low[at], self.high[at]) = (self.low[at].min(sample), self.high[at].max(sample));
        }
    }

    fn with(self, other: Self) -> Self {
        let low = std::array::from_fn(|at| self.low[at].min(other.low[at]));
        Self { low, high: std::array::from_fn(|at| self.high[at].max(other.high[at])) }
    }

    /// Not of nothing, as there may be at the edge of the canvas.
    fn is_plain(&self) -> bool {
        self.low <= self.high && self.width() <= PLAIN
    }

    /// By how much a sample may stay off and is not seen.
    pub(super) fn hides(&self) -> u8 {
        self.width().clamp(FLAT, SEEN)
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
        shown.canvas = gray(100 - FAR);
        let mut base = gray(100);
        assert!(!shown.rebase(&mut base, &wanted));
        assert_eq!(base, wanted, "the first has detail, the second was there");
    }

    #[test]
    fn a_plain_quarter_beside_detail_that_is_far_off_is_drawn_once_more() {
        let mut wanted = gray(100);
        wanted[0] = [101 + PLAIN, 100, 100, u8::MAX];
        let mut shown = Shown::new(WIDTH, BLOCK);
        shown.canvas = gray(100);
        shown.canvas[HALF] = [101 + FAR, 100, 100, u8::MAX];
        let mut base = gray(0);
        assert!(shown.rebase(&mut base, &wanted));
        assert_eq!(base[..BLOCK], shown.canvas[..BLOCK]);
    }
}
