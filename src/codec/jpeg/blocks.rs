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
    pub(crate) const fn sides(&self) -> (u32, u32) {
        (self.frame.width, self.frame.height)
    }

    /// Quantisation tables in zigzag order, that of luma first.
    pub(crate) fn tables(&self) -> &[[u16; 64]] {
        &self.tables
    }

    /// The blocks of these bands alone, stacked, of which the first columns and rows are given, and how many pixels each has
    /// across and down; `None` where bands cut through MCUs or leave the picture.
    pub(crate) fn bands(&self, corners: &[(usize, usize)], (width, rows): (usize, usize)) -> Option<Self> {
        let (wide, high) = self.frame.most_sampled();
        let (wide, high) = (8 * wide, 8 * high);
        let (across, down) = (self.frame.width as usize, self.frame.height as usize);
        let fits = |&(x, y): &(usize, usize)| {
            let whole = x.is_multiple_of(wide) && y.is_multiple_of(high);
            whole && (width.is_multiple_of(wide) || x + width == across) && x + width <= across && y + rows <= down
        };
        if !rows.is_multiple_of(high) || !corners.iter().all(fits) {
            return None;
        }
        let mut part = self.clone_without_planes();
        (part.frame.width, part.frame.height) = (width as u32, (corners.len() * rows) as u32);
        for (plane, component) in self.planes.iter().zip(&self.frame.components) {
            let mut banded = Plane::with_room(&part.frame, component);
            for &(x, y) in corners {
                for row in y / high * component.down..(y + rows) / high * component.down {
                    let from = row * plane.across + x / wide * component.across;
                    banded.blocks.extend_from_slice(&plane.blocks[from..from + banded.across]);
                    banded.nonzero.extend_from_slice(&plane.nonzero[from..from + banded.across]);
                }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::jpeg::fixture::{baseline, run};

    #[test]
    fn bands_show_what_the_whole_picture_shows_in_their_places() {
        let blocks = Blocks::of_file(&baseline(150, 90), run()).unwrap();
        let whole = blocks.pixels(run()).unwrap();
        for (corners, (width, rows)) in [([(48, 0), (16, 48)], (64, 32)), ([(0, 16), (0, 32)], (150, 16))] {
            let part = blocks.bands(&corners, (width, rows)).unwrap().pixels(run()).unwrap();
            assert_eq!((part.width() as usize, part.height() as usize), (width, 2 * rows));
            let at = |picture: &Picture, x: usize, y: usize| {
                let sample = (y * picture.width() as usize + x) * picture.channels().count();
                picture.eight().unwrap()[sample..][..picture.channels().count()].to_vec()
            };
            for (band, (left, top)) in corners.into_iter().enumerate() {
                // Chroma of what is next to a cut is that of both sides.
                for (x, y) in (2..rows - 2).flat_map(|y| (2..width - 2).map(move |x| (x, y))) {
                    assert_eq!(at(&part, x, band * rows + y), at(&whole, left + x, top + y), "{band}: {x}, {y}");
                }
            }
        }
        for (corner, size) in [((8, 0), (64, 32)), ((0, 0), (60, 32)), ((96, 0), (64, 32)), ((0, 64), (64, 32))] {
            assert!(blocks.bands(&[corner], size).is_none(), "{corner:?} {size:?}");
        }
    }
}
