//! Codecs: files to pixels and back, one file or folder a format.
//!
//! Backends implement the small traits here; [`Codecs`] holds one of each a format and is how the rest of the crate
//! reaches them. Every call through it is behind a check of the header against the [limits](crate::Limits), and a panic
//! below it comes back as [`Error::Internal`](crate::Error::Internal), or as [`Error::Input`](crate::Error::Input) where what
//! draws an SVG panics on the numbers of a document.

mod info;
#[cfg(any(feature = "gif", feature = "png"))]
pub(crate) mod known;
mod options;
#[cfg(any(feature = "gif", feature = "png"))]
pub(crate) mod plain;
mod registry;
pub(crate) mod sequence;

pub mod gif;
#[cfg(feature = "jpeg")]
pub mod jpeg;
#[cfg(feature = "png")]
pub mod png;
pub mod svg;
#[cfg(feature = "webp")]
pub mod webp;

use std::fmt::Debug;

pub use info::{ColourModel, Info};
pub use options::{
    ApngOptions, DecodeOptions, EncodeOptions, GifOptions, JpegOptions, PngOptions, Sampling, WebpCoding, WebpOptions,
};
pub use registry::{Codec, Codecs};

use crate::{
    control::Run,
    error::Result,
    format::Format,
    picture::{Frames, Metadata},
};

/// Reads a format.
pub trait Decode: Debug + Send + Sync {
    /// What it reads.
    fn format(&self) -> Format;

    /// Reads headers only; never allocates in proportion to the number of pixels.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if the headers are damaged, [`Error::Unsupported`](crate::Error::Unsupported)
    /// for variants that cannot be decoded, by their name.
    fn probe(&self, bytes: &[u8], run: Run<'_>) -> Result<Info>;

    /// Frames as stored: not oriented, not colour converted. A still is a source of one. Truncated or damaged data is an
    /// error, at the latest when the frame it is in is pulled, never gray pixels.
    ///
    /// # Errors
    /// As of [`probe`](Self::probe).
    fn frames<'a>(&self, bytes: &'a [u8], options: &DecodeOptions, run: Run<'a>) -> Result<Box<dyn Frames + 'a>>;
}

/// Writes a format.
pub trait Encode: Debug + Send + Sync {
    /// What it writes.
    fn format(&self) -> Format;

    /// Whether it takes more than one frame.
    fn animations(&self) -> bool;

    /// A whole file without metadata. Deterministic: the same frames and options give the same bytes on every machine.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) for frames or options that the format cannot hold.
    fn encode(&self, frames: &mut dyn Frames, options: &EncodeOptions, run: Run<'_>) -> Result<Vec<u8>>;
}

/// Makes a file smaller without touching a decoded value.
pub trait Recompress: Debug + Send + Sync {
    /// What it reads and writes.
    fn format(&self) -> Format;

    /// Whether it takes animations.
    fn animations(&self) -> bool;

    /// The same picture, losslessly, in a new file without metadata; it may turn out larger than the old one.
    /// `interlaced` asks for progressive JPEG or interlaced PNG. JPEG: coefficients are identical. PNG and WebP: pixels
    /// of stills are identical, also those under full transparency, and depth stays. Animations: what is seen is identical at
    /// every time, delays and the number of plays stay. GIF and APNG are never interlaced.
    ///
    /// # Errors
    /// As of decoding; truncated or damaged data is an error.
    fn recompress(&self, bytes: &[u8], interlaced: bool, run: Run<'_>) -> Result<Vec<u8>>;

    /// About how many bytes that would take, within a sixteenth, found in a fraction of its time, or any number above `most`
    /// where it would take more than that; `None`, as by default, where only doing it tells. Where a lossy result is smaller by
    /// more, it is not done.
    ///
    /// # Errors
    /// As above.
    fn outlook(&self, bytes: &[u8], most: u64, run: Run<'_>) -> Result<Option<u64>> {
        let _ = (bytes, most, run);
        Ok(None)
    }
}

/// The least that recompression comes to behind an [`outlook`](Recompress::outlook).
pub(crate) const fn least(outlook: u64) -> u64 {
    outlook - outlook / 16
}

/// The most that an [`outlook`](Recompress::outlook) is where recompression may come to so many bytes.
pub(crate) const fn most(bytes: u64) -> u64 {
    bytes + bytes / 15 + 1
}

/// Reads and replaces what a file carries beside its pixels, without touching the pixels.
pub trait Container: Debug + Send + Sync {
    /// What it reads and writes.
    fn format(&self) -> Format;

    /// All metadata of the file; blocks that are damaged, or larger than the limit, are left out.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if what it is in is damaged, [`Error::Limit`](crate::Error::Limit) for more than
    /// [`metadata_bytes`](crate::Limits::metadata_bytes).
    fn metadata(&self, bytes: &[u8], run: Run<'_>) -> Result<Metadata>;

    /// The file with exactly `metadata`: everything else that is not needed to show the pixels is removed, including
    /// bytes behind the end of the image. Idempotent.
    ///
    /// # Errors
    /// As of [`metadata`](Self::metadata); [`Error::Unsupported`](crate::Error::Unsupported) for what the format has no room
    /// for.
    fn with_metadata(&self, bytes: &[u8], metadata: &Metadata, run: Run<'_>) -> Result<Vec<u8>>;
}
