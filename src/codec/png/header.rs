//! `IHDR`: size, colour type and depth.

use super::chunks::damaged;
use crate::error::Result;

/// The five colour types, numbered as in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum ColourType {
    Gray = 0,
    Rgb = 2,
    Indexed = 3,
    GrayAlpha = 4,
    Rgba = 6,
}

impl ColourType {
    /// Samples a pixel.
    pub(super) const fn samples(self) -> usize {
        match self {
            Self::Gray | Self::Indexed => 1,
            Self::GrayAlpha => 2,
            Self::Rgb => 3,
            Self::Rgba => 4,
        }
    }

    /// Whether alpha is stored beside every colour.
    pub(super) const fn has_alpha(self) -> bool {
        matches!(self, Self::GrayAlpha | Self::Rgba)
    }
}

/// The colour types that pixels may be stored in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    /// All that hold them.
    Any,
    /// Those of luminance: a profile of a gray space stays with the pixels.
    Gray,
    /// Those of colours, with or without a palette: a profile of an RGB space stays with the pixels.
    Rgb,
}

/// A valid `IHDR`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Pixels, 1 to 2^31-1.
    pub(super) width: u32,
    /// Pixels, 1 to 2^31-1.
    pub(super) height: u32,
    /// How pixels are stored.
    pub(super) colour: ColourType,
    /// Bits a sample: 1, 2, 4, 8 or 16, as far as the colour type allows.
    pub(super) depth: u8,
    /// Adam7.
    pub(super) interlaced: bool,
}

impl Header {
    /// Reads the data of an `IHDR` chunk.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) that names the value which cannot be.
    pub(super) fn parse(data: &[u8]) -> Result<Self> {
        let &[w0, w1, w2, w3, h0, h1, h2, h3, depth, colour, compression, filter, interlace] = data else {
            return Err(damaged(format!("has an IHDR chunk of {} bytes instead of 13", data.len())));
        };
        let (width, height) = (u32::from_be_bytes([w0, w1, w2, w3]), u32::from_be_bytes([h0, h1, h2, h3]));
        let valid_side = 1..=i32::MAX as u32;
        if !valid_side.contains(&width) || !valid_side.contains(&height) {
            return Err(damaged(format!("says that its size is {width}x{height}")));
        }
        for (what, value, highest) in
            [("compression method", compression, 0), ("filter method", filter, 0), ("interlace method", interlace, 1)]
        {
            if value > highest {
                return Err(damaged(format!("names the {what} {value}, which does not exist")));
            }
        }
        let colour = match (colour, depth) {
            (0, 1 | 2 | 4 | 8 | 16) => ColourType::Gray,
            (2, 8 | 16) => ColourType::Rgb,
            (3, 1 | 2 | 4 | 8) => ColourType::Indexed,
            (4, 8 | 16) => ColourType::GrayAlpha,
            (6, 8 | 16) => ColourType::Rgba,
            _ => {
                return Err(damaged(format!("names the colour type {colour} with {depth} bits, which does not exist")));
            }
        };
        Ok(Self { width, height, colour, depth, interlaced: interlace == 1 })
    }

    /// The data of an `IHDR` chunk.
    pub(super) fn to_bytes(self) -> [u8; 13] {
        let mut data = [0; 13];
        data[..4].copy_from_slice(&self.width.to_be_bytes());
        data[4..8].copy_from_slice(&self.height.to_be_bytes());
        data[8] = self.depth;
        data[9] = self.colour as u8;
        data[12] = self.interlaced.into();
        data
    }

    /// Stored bits a pixel.
    pub(super) fn bits_per_pixel(&self) -> usize {
        self.colour.samples() * usize::from(self.depth)
    }
}

/// One pass over the picture: every `step`-th pixel from `first`, across and down.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pass {
    first: (u32, u32),
    step: (u32, u32),
    /// Pixels in a row of the pass; never 0.
    pub(super) width: u32,
    /// Rows in the pass; never 0.
    pub(super) height: u32,
}

impl Pass {
    /// The passes of a picture that hold any pixel: one, or up to seven where it is interlaced.
    pub(super) fn all(width: u32, height: u32, interlaced: bool) -> impl Iterator<Item = Self> {
        const WHOLE: &[[u32; 4]] = &[[0, 0, 1, 1]];
        const ADAM7: &[[u32; 4]] =
            &[[0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4], [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2]];
        let passes = if interlaced { ADAM7 } else { WHOLE };
        passes
            .iter()
            .map(move |&[x, y, dx, dy]| Self {
                first: (x, y),
                step: (dx, dy),
                width: width.saturating_sub(x).div_ceil(dx),
                height: height.saturating_sub(y).div_ceil(dy),
            })
            .filter(|pass| pass.width > 0 && pass.height > 0)
    }

    /// The row of the picture that `row` of the pass is.
    pub(super) fn y(&self, row: u32) -> usize {
        (self.first.1 + row * self.step.1) as usize
    }

    /// The columns of the picture that the pixels of a row are.
    pub(super) fn columns(&self) -> impl Iterator<Item = usize> + use<> {
        let (first, step) = (self.first.0 as usize, self.step.0 as usize);
        (0..self.width as usize).map(move |i| first + i * step)
    }

    /// Whether a row of the pass is a whole row of the picture.
    pub(super) fn is_contiguous(&self) -> bool {
        self.step.0 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_fifteen_combinations_of_colour_type_and_depth_are_valid() {
        let base = Header { width: 3, height: 2, colour: ColourType::Gray, depth: 8, interlaced: true };
        let mut valid = 0;
        for colour in 0..=255 {
            for depth in 0..=255 {
                let mut data = base.to_bytes();
                (data[8], data[9]) = (depth, colour);
                if let Ok(header) = Header::parse(&data) {
                    assert_eq!(header.to_bytes(), data);
                    valid += 1;
                }
            }
        }
        assert_eq!(valid, 15);
    }

    #[test]
    fn values_that_cannot_be_are_named() {
        let good = Header { width: 3, height: 2, colour: ColourType::Gray, depth: 8, interlaced: false }.to_bytes();
        let broken = |at: usize, value: u8| {
            let mut data = good;
            data[at] = value;
            Header::parse(&data).unwrap_err().to_string()
        };
        assert!(broken(3, 0).contains("0x2"));
        assert!(broken(4, 0x80).contains("3x2147483650"));
        assert!(broken(8, 3).contains("colour type 0 with 3 bits"));
        assert!(broken(10, 1).contains("compression method 1"));
        assert!(broken(11, 64).contains("filter method 64"));
        assert!(broken(12, 9).contains("interlace method 9"));
        assert!(Header::parse(&good[..12]).unwrap_err().to_string().contains("12 bytes"));
    }

    #[test]
    fn the_passes_visit_every_pixel_once() {
        for (width, height) in [(1, 1), (1, 9), (9, 1), (2, 3), (8, 8), (13, 11)] {
            for interlaced in [false, true] {
                let mut seen = vec![0; (width * height) as usize];
                for pass in Pass::all(width, height, interlaced) {
                    for row in 0..pass.height {
                        pass.columns().for_each(|x| seen[pass.y(row) * width as usize + x] += 1);
                    }
                }
                assert!(seen.iter().all(|&times| times == 1), "{width}x{height}");
            }
        }
    }
}
