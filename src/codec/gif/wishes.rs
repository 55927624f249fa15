//! What the pixels of a frame should become, and what it costs if they do not.

use super::colour::{Point, point};
use crate::codec::sequence::Pixel;

/// No error of a pixel is worth more bits than this: so many spell it out.
pub(super) const MOST_SPARED: f32 = 11.0;

/// A pixel to be coded.
pub(super) struct Wish {
    /// The index of its colour, or of the nearest; `None` where it has to be left.
    pub(super) nearest: Option<u8>,
    pub(super) colour: Point,
    /// What the canvas shows.
    pub(super) base: Point,
    /// What it costs in bits to leave it; infinite where it may not be.
    pub(super) left: f32,
    /// What a unit of distance from its colour costs in bits.
    pub(super) weight: f32,
    /// Whether the canvas shows the very colour, and whether the table has it.
    pub(super) there: bool,
    pub(super) exact: bool,
}

impl Wish {
    /// Of a colour, where the canvas shows another, and the table has one that is `nearest`.
    pub(super) fn new(
        (colour, base): (Pixel, Pixel),
        nearest: Option<(u8, Pixel)>,
        (left, weight): (f32, f32),
    ) -> Self {
        Self {
            nearest: nearest.map(|(index, _)| index),
            colour: point(colour),
            base: point(base),
            left,
            weight,
            there: left == 0.0 && base == colour,
            exact: nearest.is_some_and(|(_, entry)| entry == colour),
        }
    }

    /// Whether the very colour is what `index` shows.
    pub(super) fn is_met(&self, index: u8, leaving: Option<u8>) -> bool {
        if leaving == Some(index) { self.there } else { self.exact && self.nearest == Some(index) }
    }
}

/// Pixels to be coded.
pub(super) struct Wishes<'a> {
    pub(super) pixels: &'a [Wish],
    /// Pixels of a row.
    pub(super) width: usize,
    pub(super) entries: &'a [Pixel],
    pub(super) transparent: Option<u8>,
    /// Whether pixels that need not be left may be.
    pub(super) leaves: bool,
    /// Whether the phrase behind each is looked at before it is taken, which takes longer.
    pub(super) thorough: bool,
}

impl Wishes<'_> {
    /// Whether a pixel may be left as it is. One whose colour has its index taken for that must be, and so must one that is
    /// there already and could only be drawn otherwise.
    #[inline(always)]
    pub(super) fn may_leave(&self, wish: &Wish) -> bool {
        let taken = wish.nearest.is_none() || wish.nearest == self.transparent || wish.there && !wish.exact;
        self.transparent.is_some() && (taken || self.leaves && wish.left <= MOST_SPARED)
    }

    /// Bits that hold every index, at least 2.
    pub(super) fn bits(&self) -> u8 {
        let most = self.entries.len().saturating_sub(1).max(self.transparent.unwrap_or(0).into());
        (usize::BITS - most.leading_zeros()).max(2) as u8
    }
}
