//! What goes from one convolution to the next.

use super::{BLOCK, Line, ZERO};

/// Pixels that are computed together are squares of so many across.
pub(in super::super) const TILE: usize = 4;

/// Channels by pixel, in whole blocks. One zero pixel is above and left of the picture; right and below are as many as make up
/// whole tiles, and one more.
#[derive(Debug, Clone)]
pub(in super::super) struct Map {
    pub width: usize,
    pub height: usize,
    /// Blocks of channels of a pixel.
    pub blocks: usize,
    pub(super) lines: Vec<Line>,
}

/// Pixels of a map: `right` and `bottom` are not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Part {
    pub left: usize,
    pub top: usize,
    pub right: usize,
    pub bottom: usize,
}

impl Map {
    /// Of nothing but zeros.
    pub(in super::super) fn new(width: usize, height: usize, channels: usize) -> Self {
        let mut map = Self { width, height, blocks: channels.div_ceil(BLOCK), lines: Vec::new() };
        map.lines = vec![ZERO; (height.next_multiple_of(TILE) + 2) * map.pitch()];
        map
    }

    /// Lines from one row to the next.
    pub(super) fn pitch(&self) -> usize {
        (self.width.next_multiple_of(TILE) + 2) * self.blocks
    }

    /// The pixels of a row: each [`blocks`](Self::blocks) lines.
    pub(in super::super) fn row(&self, y: usize) -> &[Line] {
        &self.lines[(y + 1) * self.pitch() + self.blocks..][..self.width * self.blocks]
    }

    pub(in super::super) fn row_mut(&mut self, y: usize) -> &mut [Line] {
        let start = (y + 1) * self.pitch() + self.blocks;
        &mut self.lines[start..][..self.width * self.blocks]
    }
}
