//! Ceilings on what one request may ask for, all checked on numbers read from headers.

use crate::error::{Error, Result};

/// What a host allows a request to use. The defaults are those of the reference service.
///
/// ```
/// let mut limits = lapidary::Limits::default();
/// limits.source_bytes = 64 << 20;
/// limits.threads = 2;
/// let engine = lapidary::Engine::new().with_limits(limits);
/// # assert_eq!(engine.limits().source_bytes, 64 << 20);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a source; 32 MiB.
    pub source_bytes: u64,
    /// Pixels on a side, of sources and results; 16,383.
    pub side_px: u32,
    /// Pixels of one source frame; 50,000,000.
    pub frame_pixels: u64,
    /// Pixels over all frames of an animation; 200,000,000.
    pub animation_pixels: u64,
    /// Frames of an animation; 1,000.
    pub frames: u64,
    /// Pixels of a result; 100,000,000.
    pub result_pixels: u64,
    /// Bytes of embedded metadata (profiles, EXIF, XMP) after decompression; 4 MiB.
    pub metadata_bytes: u64,
    /// Bytes of an SVG as UTF-8 text, inflated and with its entities resolved; 32 MiB.
    pub svg_text_bytes: u64,
    /// Elements, comments and instructions of an SVG; 250,000.
    pub svg_elements: u64,
    /// Attributes of all elements of an SVG; 1,000,000.
    pub svg_attributes: u64,
    /// Bytes of one attribute of an SVG that is no link; 8 MiB.
    pub svg_attribute_bytes: u64,
    /// Bytes that an SVG comes to when all that refers to other elements is replaced by them and arcs by curves, with 256
    /// for each element; 64 MiB.
    pub svg_expanded_bytes: u64,
    /// Elements of an SVG within one another, references followed; 256.
    pub svg_depth: u64,
    /// Steps to draw an SVG, as estimated before it is drawn; one takes about a nanosecond. 6,000,000,000.
    pub svg_steps: u64,
    /// Multiplications of trained networks for one request, over all frames, as the textbook has them; 20,000,000,000,000, of
    /// which two cores with AVX2 get through some 150,000,000,000 a second. Enlarging and noise removal that would take more are
    /// refused; light and faces are then done without networks, with a warning. What a host's
    /// [`Restore`](crate::operation::Restore) does is not counted.
    pub network_products: u64,
    /// Threads that trained networks, each with memory of its own for a tile, the compression of large PNGs and the comparison of
    /// what is not opaque may work on for one request, that of the caller included; 8, and never more than the machine has cores.
    /// The result is the same on any number.
    pub threads: usize,
    /// Pixels of layers and tiles of an SVG that are held at a time while it is drawn, of 4 bytes each; 120,000,000.
    pub svg_layer_pixels: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            source_bytes: 32 << 20,
            side_px: 16_383,
            frame_pixels: 50_000_000,
            animation_pixels: 200_000_000,
            frames: 1_000,
            result_pixels: 100_000_000,
            metadata_bytes: 4 << 20,
            svg_text_bytes: 32 << 20,
            svg_elements: 250_000,
            svg_attributes: 1_000_000,
            svg_attribute_bytes: 8 << 20,
            svg_expanded_bytes: 64 << 20,
            svg_depth: 256,
            svg_steps: 6_000_000_000,
            network_products: 20_000_000_000_000,
            threads: 8,
            svg_layer_pixels: 120_000_000,
        }
    }
}

impl Limits {
    /// The limits under which a result of these limits can be read back, which may have more frames than its source.
    #[must_use]
    pub(crate) fn for_results(&self) -> Self {
        let frame_pixels = self.frame_pixels.max(self.result_pixels);
        Self { frame_pixels, frames: u64::MAX, animation_pixels: u64::MAX, ..self.clone() }
    }

    /// Checks the length of a source, in bytes.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) where it is exceeded.
    pub fn check_source(&self, bytes: usize) -> Result<()> {
        within("source bytes", bytes as u64, self.source_bytes)
    }

    /// Checks a source's canvas of `width` x `height` pixels shown in `frames` frames.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) where it is exceeded.
    pub fn check_canvas(&self, width: u32, height: u32, frames: u32) -> Result<()> {
        let pixels = u64::from(width) * u64::from(height);
        sides(["source width in pixels", "source height in pixels"], (width, height), self.side_px)?;
        within("source pixels", pixels, self.frame_pixels)?;
        within("source frames", frames.into(), self.frames)?;
        self.check_animation(pixels.saturating_mul(frames.into()))
    }

    /// Checks the pixels of all frames of a source.
    pub(crate) fn check_animation(&self, pixels: u64) -> Result<()> {
        within("source pixels over all frames", pixels, self.animation_pixels)
    }

    /// Checks a result's canvas of `width` x `height` pixels.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) where it is exceeded.
    pub fn check_result(&self, width: u32, height: u32) -> Result<()> {
        self.check_canvas_of(["result width in pixels", "result height in pixels", "result pixels"], width, height)
    }

    /// Checks a picture of `width` x `height` that is drawn for a result to be cut of it.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) where it is exceeded.
    pub fn check_drawn(&self, width: u32, height: u32) -> Result<()> {
        self.check_canvas_of(["drawn width in pixels", "drawn height in pixels", "drawn pixels"], width, height)
    }

    fn check_canvas_of(&self, [across, down, all]: [&'static str; 3], width: u32, height: u32) -> Result<()> {
        sides([across, down], (width, height), self.side_px)?;
        within(all, u64::from(width) * u64::from(height), self.result_pixels)
    }

    /// Checks a result of `frames` frames of so many pixels.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) where it is exceeded.
    pub fn check_result_frames(&self, pixels: u64, frames: u32) -> Result<()> {
        within("result pixels over all frames", pixels.saturating_mul(frames.into()), self.animation_pixels)
    }

    /// Checks the multiplications that trained networks would do for a request.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) where it is exceeded.
    pub fn check_network(&self, products: u64) -> Result<()> {
        within("multiplications in networks", products, self.network_products)
    }

    /// Checks the size of a piece of metadata, in bytes after decompression.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) where it is exceeded.
    pub fn check_metadata(&self, bytes: usize) -> Result<()> {
        within("metadata bytes", bytes as u64, self.metadata_bytes)
    }
}

/// Refuses a width or a height above `most`, each by its name: a host's ceiling, or a format's.
pub(crate) fn sides([across, down]: [&'static str; 2], (width, height): (u32, u32), most: u32) -> Result<()> {
    within(across, width.into(), most.into())?;
    within(down, height.into(), most.into())
}

/// Refuses `wanted` above `allowed`, by the name of the limit.
pub(crate) fn within(limit: &'static str, wanted: u64, allowed: u64) -> Result<()> {
    if wanted <= allowed { Ok(()) } else { Err(Error::Limit { limit, wanted, allowed }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canvas_at_the_limit_passes_and_one_pixel_more_is_refused_with_both_numbers() {
        let limits = Limits { frame_pixels: 100, ..Limits::default() };
        assert!(limits.check_canvas(10, 10, 1).is_ok());
        let error = limits.check_canvas(101, 1, 1).unwrap_err();
        assert_eq!(error.to_string(), "source pixels is 101, the limit is 100");
    }

    #[test]
    fn frames_times_pixels_cannot_overflow() {
        let limits = Limits { side_px: u32::MAX, frame_pixels: u64::MAX, frames: u64::MAX, ..Limits::default() };
        assert!(matches!(limits.check_canvas(u32::MAX, u32::MAX, u32::MAX), Err(Error::Limit { .. })));
    }
}
