//! What models see.

use std::fmt;

use crate::error::{Error, Result};

/// Pixels of red, green and blue as they are coded in sRGB, 0 to 1, row by row from the top left.
#[derive(Clone, PartialEq)]
pub struct Raster {
    width: u32,
    height: u32,
    samples: Vec<f32>,
    /// Pixels at the left, top, right and bottom that are there to be looked at: of what becomes of them nothing is used.
    margins: [u32; 4],
}

impl fmt::Debug for Raster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Raster({} x {})", self.width, self.height)
    }
}

impl Raster {
    /// Of `width` x `height` pixels, both at least 1.
    ///
    /// # Errors
    /// [`Error::Internal`] if a side is 0 or there are not three samples a pixel.
    pub fn new(width: u32, height: u32, samples: Vec<f32>) -> Result<Self> {
        if width == 0 || height == 0 || samples.len() as u64 != u64::from(width) * u64::from(height) * 3 {
            let problem = format!("{width}x{height} pixels do not hold {} samples", samples.len());
            return Err(Error::internal("making a raster", problem));
        }
        Ok(Self { width, height, samples, margins: [0; 4] })
    }

    pub(super) fn with_margins(self, margins: [u32; 4]) -> Self {
        Self { margins, ..self }
    }

    pub(super) fn margins(&self) -> [u32; 4] {
        self.margins
    }

    /// By half a turn, margins and all.
    pub(super) fn turned(mut self) -> Self {
        self.samples.as_chunks_mut::<3>().0.reverse();
        self.margins.rotate_left(2);
        self
    }

    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// The samples, three a pixel.
    pub fn samples(&self) -> &[f32] {
        &self.samples
    }

    /// The samples alone.
    pub fn into_samples(self) -> Vec<f32> {
        self.samples
    }

    /// The pixels of a row.
    pub(super) fn row(&self, y: usize) -> &[[f32; 3]] {
        let width = self.width as usize;
        &self.samples.as_chunks().0[y * width..][..width]
    }

    /// All rows, from the top.
    pub fn rows(&self) -> impl Iterator<Item = &[[f32; 3]]> {
        (0..self.height as usize).map(|y| self.row(y))
    }
}
