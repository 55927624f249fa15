//! Quantised coefficients: what a file holds once its entropy coding is undone.

use super::{
    codes::Tally,
    decode,
    header::{Component, Frame},
    recompress, script,
    symbols::tell,
    write,
};
use crate::{control::Run, error::Result, picture::Picture};

/// Where in a block, row by row, the coefficients in zigzag order lie (T.81, figure A.6).
const ZIGZAG: [u8; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21,
    28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54,
    47, 55, 62, 63,
];

/// 64 numbers in zigzag order from row by row.
pub(crate) fn zigzag<T: Copy>(rows: &[T; 64]) -> [T; 64] {
    ZIGZAG.map(|at| rows[usize::from(at)])
}

/// The coefficients of one block, in zigzag order.
pub(super) type Block = [i16; 64];

/// The blocks of one component that hold pixels, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plane {
    /// Blocks in a row.
    pub(super) across: usize,
    pub(super) blocks: Vec<Block>,
    /// A bit for each coefficient of each block, set where it is not zero.
    pub(super) nonzero: Vec<u64>,
}

impl Plane {
    /// An empty plane with room for `component`.
    pub(super) fn with_room(frame: &Frame, component: &Component) -> Self {
        let (across, down) = frame.blocks(component);
        let count = across * down;
        Self { across, blocks: Vec::with_capacity(count), nonzero: Vec::with_capacity(count) }
    }

    pub(super) fn push(&mut self, block: Block) {
        let bit = |(at, &value): (usize, &i16)| u64::from(value != 0) << at;
        self.nonzero.push(block.iter().enumerate().map(bit).fold(0, |all, bit| all | bit));
        self.blocks.push(block);
    }

    /// Whether all values are such that a file of 8 bits a sample may hold them: libjpeg reads larger ones from some.
    pub(super) fn is_storable(&self) -> bool {
        let largest = |block: &Block| block[1..].iter().map(|value| value.unsigned_abs()).max();
        self.blocks.iter().all(|block| (-1024..1024).contains(&block[0]) && largest(block) < Some(1024))
    }

    /// Rows of blocks.
    pub(super) const fn rows(&self) -> usize {
        self.blocks.len() / self.across
    }
}

/// The coefficients of a picture, and what a file has to say of them besides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blocks {
    /// Size and sampling; `table` of each component is an index into `tables`.
    pub(super) frame: Frame,
    /// Quantisation tables in zigzag order, 1 to 4.
    pub(super) tables: Vec<[u16; 64]>,
    /// One for each component of the frame.
    pub(super) planes: Vec<Plane>,
    /// Segments that tell colours and density, complete with their markers.
    pub(super) marks: Vec<u8>,
}

impl Blocks {
    /// Of a file, once it is known to be whole.
    pub(crate) fn of_file(bytes: &[u8], run: Run<'_>) -> Result<Self> {
        recompress::blocks(bytes, run)
    }

    /// Of the picture, in pixels.
    pub(crate) const fn height(&self) -> u32 {
        self.frame.height
    }

    /// Quantisation tables in zigzag order, that of luma first.
    pub(crate) fn tables(&self) -> &[[u16; 64]] {
        &self.tables
    }

    /// The blocks of these bands of pixel rows alone, stacked; `None` where bands cut through MCUs or leave the picture.
    pub(crate) fn bands(&self, starts: &[usize], rows: usize) -> Option<Self> {
        let unit = 8 * self.frame.most_sampled().1;
        let fits = |&start: &usize| start.is_multiple_of(unit) && start + rows <= self.frame.height as usize;
        if !rows.is_multiple_of(unit) || !starts.iter().all(fits) {
            return None;
        }
        let mut part = self.clone_without_planes();
        part.frame.height = (starts.len() * rows) as u32;
        for (plane, component) in self.planes.iter().zip(&self.frame.components) {
            let blocks = |row: usize| row / unit * component.down * plane.across;
            let mut banded = Plane { across: plane.across, blocks: Vec::new(), nonzero: Vec::new() };
            for &start in starts {
                let range = blocks(start)..blocks(start + rows);
                banded.blocks.extend_from_slice(&plane.blocks[range.clone()]);
                banded.nonzero.extend_from_slice(&plane.nonzero[range]);
            }
            part.planes.push(banded);
        }
        Some(part)
    }

    fn clone_without_planes(&self) -> Self {
        let (frame, tables, marks) = (self.frame.clone(), self.tables.clone(), self.marks.clone());
        Self { frame, tables, planes: Vec::new(), marks }
    }

    /// A file, progressive or sequential.
    pub(crate) fn write(&self, progressive: bool, run: Run<'_>) -> Result<Vec<u8>> {
        write::write(self, progressive, run)
    }

    /// The bytes of a sequential file, headers aside.
    pub(crate) fn size(&self, run: Run<'_>) -> Result<u64> {
        let mut tally = Tally::new();
        for pass in script::sequential(&self.frame) {
            tell(self, &pass, &mut tally, |_| true, run)?;
        }
        Ok(tally.bytes(1))
    }

    /// What a decoder makes of the file.
    pub(crate) fn pixels(&self, run: Run<'_>) -> Result<Picture> {
        decode::own(&write::quickly(self, run)?, run)
    }

    /// Which of two sets of Huffman tables suits a component: one for what is quantised as the first, one for the rest.
    pub(super) fn class(&self, component: usize) -> usize {
        let components = &self.frame.components;
        usize::from(components[component].table != components[0].table)
    }
}
