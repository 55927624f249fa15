//! What probing a file tells.

use serde::{Deserialize, Serialize};

use crate::{
    format::Format,
    picture::{Channels, Depth, Orientation},
};

/// What a file says of itself in its headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// The format.
    pub format: Format,
    /// Width in pixels as stored, before orientation.
    pub width: u32,
    /// Height in pixels as stored, before orientation.
    pub height: u32,
    /// Frames; 1 for a still.
    pub frames: u32,
    /// How colours are stored.
    pub colour: ColourModel,
    /// Whether any pixel may be translucent.
    pub alpha: bool,
    /// Stored bits a pixel, over all channels.
    pub bits_per_pixel: u16,
    /// Chroma subsampling in J:a:b notation; `None` where the format or the file has no such thing.
    pub sampling: Option<String>,
    /// Progressive JPEG, interlaced PNG; `None` where the format has no such thing.
    pub interlaced: Option<bool>,
    /// Estimated JPEG quality, 1 to 100, on the scale of libjpeg.
    pub quality: Option<u8>,
    /// Whether decoding gives back exactly what was encoded; `None` where only the encoder could tell.
    pub lossless: Option<bool>,
    /// How the stored pixels must be turned.
    pub orientation: Orientation,
    /// Whether an ICC profile is embedded.
    pub icc: bool,
}

/// How a file stores colours. Serialises as its [name](Self::name).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ColourModel {
    /// Luminance alone.
    Gray,
    /// RGB, or YCbCr made from it.
    Rgb,
    /// Indices into a palette of RGB.
    Indexed,
    /// CMYK, or YCCK made from it.
    Cmyk,
}

impl ColourModel {
    /// The name used in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gray => "GRAY",
            Self::Rgb => "RGB",
            Self::Indexed => "INDEXED",
            Self::Cmyk => "CMYK",
        }
    }
}

impl Info {
    /// The size once upright, in pixels.
    pub const fn upright_size(&self) -> (u32, u32) {
        self.orientation.upright_size(self.width, self.height)
    }

    /// The channels of the decoded frames.
    pub const fn channels(&self) -> Channels {
        match (self.colour, self.alpha) {
            (ColourModel::Gray, false) => Channels::Gray,
            (ColourModel::Gray, true) => Channels::GrayAlpha,
            (ColourModel::Cmyk, _) => Channels::Cmyk,
            (_, false) => Channels::Rgb,
            (_, true) => Channels::Rgba,
        }
    }

    /// The bits of their samples.
    pub const fn depth(&self) -> Depth {
        if self.bits_per_pixel as usize > 8 * self.channels().count() { Depth::Sixteen } else { Depth::Eight }
    }
}
