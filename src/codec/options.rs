//! What can be asked of decoders and encoders.

use std::collections::BTreeMap;

use crate::{error::Error, format::Format};

/// What can be asked of a decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DecodeOptions {
    /// Lets a backend decode at a reduced size, as long as no side falls below this width and height in stored pixels.
    pub at_least: Option<(u32, u32)>,
    /// Width and height at which a format without pixels of its own is drawn, whole; `None` is its own size. Of no
    /// meaning to formats of pixels.
    pub exactly: Option<(u32, u32)>,
}

impl DecodeOptions {
    /// The least of 1 to 4 and 8 eighths of `width` x `height` that keeps both sides at or above what is wanted: what JPEG is
    /// decoded at. The last pixel of a side that is no whole number of them is only partly of the picture: no more of it is not
    /// than a quarter of a wanted pixel, by which the picture is stretched.
    pub(crate) fn eighths(&self, width: u32, height: u32) -> u32 {
        let keeps_side = |side: u32, least: u32, eighths: u32| {
            let whole = (side * eighths).div_ceil(8);
            let beyond = whole * 8 - side * eighths;
            whole >= least && beyond * least <= 2 * whole
        };
        let keeps = |least: (u32, u32), &eighths: &u32| {
            keeps_side(width, least.0, eighths) && keeps_side(height, least.1, eighths)
        };
        self.at_least.and_then(|least| [1, 2, 3, 4].into_iter().find(|eighths| keeps(least, eighths))).unwrap_or(8)
    }
}

/// What can be asked of an encoder, by format.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "one lives at a time, for as long as an encoding")]
pub enum EncodeOptions {
    /// For GIF.
    Gif(GifOptions),
    /// For APNG.
    Apng(ApngOptions),
    /// For JPEG.
    Jpeg(JpegOptions),
    /// For PNG.
    Png(PngOptions),
    /// For WebP.
    Webp(WebpOptions),
}

impl EncodeOptions {
    /// The format that these options are for.
    pub const fn format(&self) -> Format {
        match self {
            Self::Gif(_) => Format::Gif,
            Self::Apng(_) => Format::Apng,
            Self::Jpeg(_) => Format::Jpeg,
            Self::Png(_) => Format::Png,
            Self::Webp(_) => Format::Webp,
        }
    }

    /// What an encoder of another `format` says.
    pub(super) fn refused_by(&self, format: Format) -> Error {
        Error::unsupported(format!("writing {format} with options for {}", self.format()))
    }
}

/// APNG settings. Colour type, depth and palette are found by the encoder, as is what each frame changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApngOptions {
    /// 0 for probes inside a search, 6 for the most, as of [`PngOptions`]; less is made of it the more there is to write.
    pub effort: u8,
}

/// Chroma subsampling of a JPEG.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Sampling {
    /// 4:4:4, chroma at full size.
    Full,
    /// 4:2:2, chroma at half the width.
    HalfWidth,
    /// 4:2:0, chroma at half the width and height.
    #[default]
    Half,
}

/// JPEG settings. Gray pictures are written with one component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JpegOptions {
    /// Quantisation table of luma, row by row, each 1..=255.
    pub luma: [u16; 64],
    /// Quantisation table of chroma, row by row, each 1..=255.
    pub chroma: [u16; 64],
    /// Chroma subsampling; gray has none.
    pub sampling: Sampling,
    /// Progressive instead of baseline.
    pub progressive: bool,
    /// Trellis quantisation: fewer bytes at the same score, for twice the time of quantisation.
    pub trellis: bool,
}

/// GIF settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GifOptions {
    /// Error that a bit is worth, as a squared distance in steps of 8-bit luma where the picture is flat; 0 is exact, 2000
    /// coarse.
    pub loss: f32,
    /// Less loss for some frames, by their indices, because the same errors are seen more in these. 0 is as little as there can be
    /// among lossy frames, not exact; more than `loss` counts for nothing.
    pub less: BTreeMap<u32, f32>,
}

impl GifOptions {
    /// With the same loss for all frames.
    pub fn new(loss: f32) -> Self {
        Self { loss, ..Self::default() }
    }

    /// The loss of one frame.
    pub(crate) fn of(&self, frame: u32) -> f32 {
        self.less.get(&frame).map_or(self.loss, |loss| loss.min(self.loss))
    }
}

/// PNG settings. Palette pictures are found by the encoder: at most 256 colours are written as indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PngOptions {
    /// Adam7 interlacing.
    pub interlaced: bool,
    /// 0 for probes inside a search, 6 for the most; the trade of oxipng's presets.
    pub effort: u8,
}

/// WebP settings.
#[derive(Debug, Clone, PartialEq)]
pub struct WebpOptions {
    /// Lossy or lossless, with what belongs to each.
    pub coding: WebpCoding,
    /// 0 (fast) to 6 (small): libwebp's `method`; 6 is 5 for lossy coding with alpha, which would take minutes.
    pub method: u8,
    /// The mean square error, in steps of 8 bits, up to which blocks of an animation stay as they are on screen instead of
    /// being drawn again; 0 to be exact. Errors do not add up over frames.
    pub tolerance: u16,
}

/// The two codings of WebP.
#[derive(Debug, Clone, PartialEq)]
pub enum WebpCoding {
    /// VP8, with alpha coded losslessly beside it.
    Lossy {
        /// 0.0 to 100.0.
        quality: f32,
        /// Slower, sharper conversion to YUV 4:2:0.
        sharp_yuv: bool,
        /// Strength of spatial noise shaping, 0 to 100.
        noise_shaping: u8,
        /// Strength of the deblocking filter, 0 to 100.
        filter_strength: u8,
        /// How much detail the deblocking filter spares, 0 to 7.
        filter_sharpness: u8,
        /// Quality of alpha, 0 to 100; 100 is lossless.
        alpha_quality: u8,
    },
    /// VP8L.
    Lossless {
        /// 100 keeps every pixel, 0 preprocesses most.
        near_lossless: u8,
        /// Keep colours under full transparency.
        exact: bool,
        /// 0 (fast) to 100 (small), on top of the method.
        effort: u8,
    },
}

impl WebpOptions {
    /// Lossy with the settings that give the fewest bytes at equal SSIMULACRA2: against libwebp's defaults at method 6 some
    /// 4 % less for photos and 10 % less for graphics, for a fifth more time. `quality` is 0.0 to 100.0; alpha is exact.
    /// Blocks of animations stay as long as they differ by about as much as the coding spoils anyway.
    pub const fn lossy(quality: f32) -> Self {
        let coding = WebpCoding::Lossy {
            quality,
            sharp_yuv: true,
            noise_shaping: 50,
            filter_strength: 60,
            filter_sharpness: 7,
            alpha_quality: 100,
        };
        let coarseness = (100.0 - quality) / 10.0;
        Self { coding, method: 6, tolerance: (1.0 + coarseness * 2.0 + coarseness * coarseness / 2.0) as u16 }
    }

    /// Lossless, every pixel kept, also under full transparency. Takes 0.5 to 2.2 s for each megapixel.
    pub const fn lossless() -> Self {
        Self { coding: WebpCoding::Lossless { near_lossless: 100, exact: true, effort: 75 }, method: 6, tolerance: 0 }
    }
}
