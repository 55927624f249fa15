//! The shape of a picture, without its pixels.

use crate::error::{Error, Result};

/// What the samples of one pixel mean, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Channels {
    /// Luminance.
    Gray,
    /// Luminance and straight (not premultiplied) alpha.
    GrayAlpha,
    /// Red, green, blue.
    Rgb,
    /// Red, green, blue and straight alpha.
    Rgba,
    /// Cyan, magenta, yellow and key; 0 is no ink. Only decoders make it; colour conversion turns it into RGB.
    Cmyk,
}

impl Channels {
    /// Samples a pixel.
    pub const fn count(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::GrayAlpha => 2,
            Self::Rgb => 3,
            Self::Rgba | Self::Cmyk => 4,
        }
    }

    /// Whether the last sample is alpha.
    pub const fn has_alpha(self) -> bool {
        matches!(self, Self::GrayAlpha | Self::Rgba)
    }

    /// Whether there is but one colour sample.
    pub const fn is_gray(self) -> bool {
        matches!(self, Self::Gray | Self::GrayAlpha)
    }
}

/// Bits of a sample in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Depth {
    /// 0..=255.
    Eight,
    /// 0..=65535, native byte order.
    Sixteen,
}

impl Depth {
    /// Bytes a sample.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Eight => 1,
            Self::Sixteen => 2,
        }
    }
}

/// Size and sample format of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Pixels from left to right, at least 1.
    pub width: u32,
    /// Pixels from top to bottom, at least 1.
    pub height: u32,
    /// Samples of a pixel.
    pub channels: Channels,
    /// Bits of a sample.
    pub depth: Depth,
}

impl Layout {
    /// Pixels.
    pub fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// Samples in one row.
    pub fn row_samples(&self) -> usize {
        self.width as usize * self.channels.count()
    }

    /// Samples in the picture.
    pub fn samples(&self) -> usize {
        self.row_samples() * self.height as usize
    }

    /// The same with another size.
    #[must_use]
    pub fn sized(self, width: u32, height: u32) -> Self {
        Self { width, height, ..self }
    }

    /// The same, so many times as wide and high.
    ///
    /// # Errors
    /// [`Error::Limit`] if a side does not fit 32 bits.
    pub(crate) fn enlarged(self, factor: u32) -> Result<Self> {
        let side = |limit, side: u32| {
            let wanted = u64::from(side) * u64::from(factor);
            u32::try_from(wanted).map_err(|_| Error::Limit { limit, wanted, allowed: u32::MAX.into() })
        };
        Ok(self.sized(side("result width in pixels", self.width)?, side("result height in pixels", self.height)?))
    }
}

/// Where of 0 to `last` the part of this number lies, where parts are to come from all over a picture: such as follow each other
/// lie far apart, and all of them evenly, however many there are. By multiples of the golden ratio.
pub(crate) const fn spread(number: usize, last: usize) -> usize {
    /// The ratio's fraction, of 2^32.
    const GOLDEN: u32 = 0x9E37_79B9;
    (((number as u32).wrapping_mul(GOLDEN) as u64 * last as u64) >> u32::BITS) as usize
}

/// How stored pixels must be turned to stand upright, numbered as in EXIF (tag 0x0112).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Orientation {
    /// As stored.
    #[default]
    Upright = 1,
    /// Mirrored left to right.
    MirrorHorizontal = 2,
    /// Turned by half a turn.
    Rotate180 = 3,
    /// Mirrored top to bottom.
    MirrorVertical = 4,
    /// Mirrored along the main diagonal.
    Transpose = 5,
    /// To be turned a quarter clockwise.
    Rotate90 = 6,
    /// Mirrored along the other diagonal.
    Transverse = 7,
    /// To be turned a quarter counter-clockwise.
    Rotate270 = 8,
}

impl Orientation {
    /// From the EXIF value; anything outside 1..=8 counts as upright, as in browsers.
    pub const fn from_exif(value: u32) -> Self {
        match value {
            2 => Self::MirrorHorizontal,
            3 => Self::Rotate180,
            4 => Self::MirrorVertical,
            5 => Self::Transpose,
            6 => Self::Rotate90,
            7 => Self::Transverse,
            8 => Self::Rotate270,
            _ => Self::Upright,
        }
    }

    /// Whether width and height change places.
    pub const fn swaps_sides(self) -> bool {
        self as u8 >= 5
    }

    /// The size of a stored `width` x `height` once upright.
    pub const fn upright_size(self, width: u32, height: u32) -> (u32, u32) {
        if self.swaps_sides() { (height, width) } else { (width, height) }
    }
}
