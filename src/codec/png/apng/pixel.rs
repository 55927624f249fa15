//! Pixels of 8 and of 16 bits a sample.

use std::fmt::Debug;

use crate::{
    error::{Error, Result},
    picture::{Channels, Layout, Picture, Samples},
};

/// Red, green, blue and straight alpha; all transparent ones are the default.
pub(super) trait Colour: Copy + Eq + Default + Debug + Send + Sync {
    /// 16 bits a sample instead of 8.
    const SIXTEEN: bool;

    /// From samples that are widened to 16 bits, or narrowed to 8, exactly; `None` if that cannot be.
    fn of(samples: [u16; 4]) -> Option<Self>;
    /// Its samples at 8 bits where it has so many, and at 16 otherwise.
    fn samples(self) -> [u16; 4];
    /// Blended over another, with the rounding of the extension's reference: down, first colours, then alpha.
    fn over(self, below: Self) -> Self;
    /// Whether nothing shows through.
    fn is_opaque(self) -> bool;
}

impl Colour for [u8; 4] {
    const SIXTEEN: bool = false;

    fn of(samples: [u16; 4]) -> Option<Self> {
        samples.iter().all(|sample| sample % 257 == 0).then(|| samples.map(|sample| (sample / 257) as u8))
    }

    fn samples(self) -> [u16; 4] {
        self.map(u16::from)
    }

    fn over(self, below: Self) -> Self {
        match (self[3], below[3]) {
            (255, _) | (_, 0) => self,
            (0, _) => below,
            _ => blended(self.map(u64::from), below.map(u64::from), 255).map(|sample| sample as u8),
        }
    }

    fn is_opaque(self) -> bool {
        self[3] == u8::MAX
    }
}

impl Colour for [u16; 4] {
    const SIXTEEN: bool = true;

    fn of(samples: [u16; 4]) -> Option<Self> {
        Some(samples)
    }

    fn samples(self) -> [u16; 4] {
        self
    }

    fn over(self, below: Self) -> Self {
        match (self[3], below[3]) {
            (u16::MAX, _) | (_, 0) => self,
            (0, _) => below,
            _ => blended(self.map(u64::from), below.map(u64::from), 65_535).map(|sample| sample as u16),
        }
    }

    fn is_opaque(self) -> bool {
        self[3] == u16::MAX
    }
}

/// Of two colours that are not wholly transparent.
fn blended(above: [u64; 4], below: [u64; 4], full: u64) -> [u64; 4] {
    let (of_above, of_below) = (above[3] * full, (full - above[3]) * below[3]);
    let both = of_above + of_below;
    let mix = |at: usize| (above[at] * of_above + below[at] * of_below) / both;
    [mix(0), mix(1), mix(2), both / full]
}

/// The pixels of a picture.
///
/// # Errors
/// [`Error::Internal`] if they cannot be narrowed exactly.
pub(super) fn pixels<C: Colour>(picture: &Picture) -> Result<Vec<C>> {
    let read = match picture.samples() {
        Samples::Eight(samples) => colours(samples, picture.channels(), |sample| u16::from(sample) * 257),
        Samples::Sixteen(samples) => colours(samples, picture.channels(), |sample| sample),
    };
    read.ok_or_else(|| Error::internal("reading frames", "16 bits where there should be 8"))
}

/// Whether all samples keep their value in 8 bits.
pub(super) fn is_eight(picture: &Picture) -> bool {
    match picture.samples() {
        Samples::Eight(_) => true,
        Samples::Sixteen(samples) => samples.iter().all(|sample| sample % 257 == 0),
    }
}

fn colours<T: Copy, C: Colour>(samples: &[T], channels: Channels, wide: impl Fn(T) -> u16) -> Option<Vec<C>> {
    let count = channels.count();
    let mut out = Vec::with_capacity(samples.len() / count);
    for pixel in samples.chunks_exact(count) {
        let at = |place: usize| wide(pixel[if channels.is_gray() { 0 } else { place }]);
        let alpha = if channels.has_alpha() { wide(pixel[count - 1]) } else { u16::MAX };
        out.push(if alpha == 0 { C::default() } else { C::of([at(0), at(1), at(2), alpha])? });
    }
    Some(out)
}

/// A canvas as a picture of `layout`.
pub(super) fn picture<C: Colour>(canvas: &[C], layout: Layout) -> Result<Picture> {
    let mut samples = Vec::with_capacity(layout.samples());
    let colours = if layout.channels.is_gray() { 1 } else { 3 };
    for pixel in canvas {
        let pixel = pixel.samples();
        samples.extend_from_slice(&pixel[..colours]);
        if layout.channels.has_alpha() {
            samples.push(pixel[3]);
        }
    }
    let samples = match C::SIXTEEN {
        true => Samples::Sixteen(samples),
        false => Samples::Eight(samples.into_iter().map(|sample| sample as u8).collect()),
    };
    Picture::new(layout.width, layout.height, layout.channels, samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_blended_as_by_the_reference_of_the_extension() {
        assert_eq!([200, 100, 0, 128].over([0, 100, 201, 255u8]), [100, 100, 100, 255]);
        assert_eq!([10, 20, 30, 64].over([50, 60, 70, 128u8]), [33, 43, 53, 159]);
        assert_eq!([9, 9, 9, 1].over([0; 4]), [9, 9, 9, 1u8]);
        assert_eq!([0; 4].over([1, 2, 3, 4u8]), [1, 2, 3, 4]);
        assert_eq!([60_000, 0, 0, 32_768].over([0, 0, 0, 65_535u16]), [30_000, 0, 0, 65_535]);
    }

    #[test]
    fn only_samples_that_repeat_their_byte_are_narrowed() {
        assert_eq!(<[u8; 4]>::of([0, 257, 65_535, 514]), Some([0, 1, 255, 2]));
        assert_eq!(<[u8; 4]>::of([0, 256, 65_535, 514]), None);
    }
}
