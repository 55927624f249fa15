//! A picture: a layout and exactly the samples it calls for.

use std::fmt;

use super::layout::{Channels, Depth, Layout};
use crate::error::{Error, Result};

/// Samples row by row from the top left, pixel by pixel, without padding.
#[derive(Clone, PartialEq, Eq)]
pub enum Samples {
    /// 8 bits each.
    Eight(Vec<u8>),
    /// 16 bits each.
    Sixteen(Vec<u16>),
}

impl fmt::Debug for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Eight(samples) => write!(f, "Eight({} samples)", samples.len()),
            Self::Sixteen(samples) => write!(f, "Sixteen({} samples)", samples.len()),
        }
    }
}

/// Pixels with their layout. The number of samples always fits the layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    layout: Layout,
    samples: Samples,
}

impl Picture {
    /// A picture of `width` x `height` pixels, both at least 1, from samples in the order of `channels`.
    ///
    /// # Errors
    /// [`Error::Internal`] if a side is 0 or the number of samples is not `width * height * channels.count()`.
    pub fn new(width: u32, height: u32, channels: Channels, samples: Samples) -> Result<Self> {
        let (depth, length) = match &samples {
            Samples::Eight(samples) => (Depth::Eight, samples.len()),
            Samples::Sixteen(samples) => (Depth::Sixteen, samples.len()),
        };
        let layout = Layout { width, height, channels, depth };
        if width == 0 || height == 0 || layout.samples() != length {
            return Err(Error::internal(
                "making a picture",
                format!("{width}x{height} of {channels:?} does not hold {length} samples"),
            ));
        }
        Ok(Self { layout, samples })
    }

    /// Size and sample format.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.layout.width
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.layout.height
    }

    /// The meaning of a pixel's samples.
    pub fn channels(&self) -> Channels {
        self.layout.channels
    }

    /// The samples.
    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    /// The samples alone.
    pub fn into_samples(self) -> Samples {
        self.samples
    }

    /// The samples if they have 8 bits.
    pub fn eight(&self) -> Option<&[u8]> {
        match &self.samples {
            Samples::Eight(samples) => Some(samples),
            Samples::Sixteen(_) => None,
        }
    }

    /// With 8-bit samples; 16-bit ones are rounded to the nearest.
    #[must_use]
    pub fn into_eight(self) -> Self {
        let samples = match self.samples {
            Samples::Eight(samples) => samples,
            Samples::Sixteen(samples) => {
                samples.into_iter().map(|s| ((u32::from(s) * 255 + 32_767) / 65_535) as u8).collect()
            }
        };
        Self { layout: Layout { depth: Depth::Eight, ..self.layout }, samples: Samples::Eight(samples) }
    }

    /// The samples with 16 bits; full scale stays full scale.
    pub(crate) fn into_sixteen(self) -> Vec<u16> {
        match self.samples {
            Samples::Eight(samples) => samples.into_iter().map(|s| u16::from(s) * 257).collect(),
            Samples::Sixteen(samples) => samples,
        }
    }

    /// Whether every pixel is wholly opaque.
    pub fn is_opaque(&self) -> bool {
        fn opaque<T: PartialEq + Copy>(samples: &[T], count: usize, full: T) -> bool {
            samples.iter().skip(count - 1).step_by(count).all(|&alpha| alpha == full)
        }
        let count = self.layout.channels.count();
        !self.layout.channels.has_alpha()
            || match &self.samples {
                Samples::Eight(samples) => opaque(samples, count, u8::MAX),
                Samples::Sixteen(samples) => opaque(samples, count, u16::MAX),
            }
    }

    /// Whether some pixel is neither opaque nor transparent.
    #[cfg(any(feature = "gif", all(feature = "png", feature = "webp")))]
    pub(crate) fn is_translucent(&self) -> bool {
        fn part<T: PartialEq + Copy>(samples: &[T], count: usize, ends: [T; 2]) -> bool {
            samples.iter().skip(count - 1).step_by(count).any(|alpha| !ends.contains(alpha))
        }
        let count = self.layout.channels.count();
        self.layout.channels.has_alpha()
            && match &self.samples {
                Samples::Eight(samples) => part(samples, count, [0, u8::MAX]),
                Samples::Sixteen(samples) => part(samples, count, [0, u16::MAX]),
            }
    }

    /// With other channels of the same depth. Gray becomes equal red, green and blue; alpha that is not there becomes
    /// opaque; alpha or colour that the target has no place for is dropped (colour to gray takes the green sample, so
    /// only pictures known to be gray should be asked). CMYK stays as it is.
    #[must_use]
    pub fn into_channels(self, channels: Channels) -> Self {
        if self.layout.channels == channels || self.layout.channels == Channels::Cmyk || channels == Channels::Cmyk {
            return self;
        }
        let from = self.layout.channels;
        let samples = match &self.samples {
            Samples::Eight(samples) => Samples::Eight(rechannel(samples, from, channels, u8::MAX)),
            Samples::Sixteen(samples) => Samples::Sixteen(rechannel(samples, from, channels, u16::MAX)),
        };
        Self { layout: Layout { channels, ..self.layout }, samples }
    }

    /// Without channels that say nothing: alpha that is opaque everywhere, colour that is gray everywhere.
    #[must_use]
    pub fn into_reduced(self) -> Self {
        let gray = self.is_gray();
        let channels = match (gray, self.is_opaque()) {
            (true, true) => Channels::Gray,
            (true, false) => Channels::GrayAlpha,
            (false, true) => Channels::Rgb,
            (false, false) => Channels::Rgba,
        };
        self.into_channels(channels)
    }

    /// Whether red, green and blue are equal in every pixel.
    pub fn is_gray(&self) -> bool {
        fn gray<T: PartialEq>(samples: &[T], count: usize) -> bool {
            samples.chunks_exact(count).all(|p| p[0] == p[1] && p[1] == p[2])
        }
        match (self.layout.channels, &self.samples) {
            (Channels::Gray | Channels::GrayAlpha, _) => true,
            (Channels::Cmyk, _) => false,
            (channels, Samples::Eight(samples)) => gray(samples, channels.count()),
            (channels, Samples::Sixteen(samples)) => gray(samples, channels.count()),
        }
    }
}

fn rechannel<T: Copy>(samples: &[T], from: Channels, to: Channels, full: T) -> Vec<T> {
    let mut out = Vec::with_capacity(samples.len() / from.count() * to.count());
    for p in samples.chunks_exact(from.count()) {
        let (r, g, b) = if from.is_gray() { (p[0], p[0], p[0]) } else { (p[0], p[1], p[2]) };
        if to.is_gray() {
            out.push(g);
        } else {
            out.extend([r, g, b]);
        }
        if to.has_alpha() {
            out.push(if from.has_alpha() { p[from.count() - 1] } else { full });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_do_not_fit_the_size_are_refused() {
        assert!(Picture::new(2, 2, Channels::Rgb, Samples::Eight(vec![0; 12])).is_ok());
        assert!(Picture::new(2, 2, Channels::Rgb, Samples::Eight(vec![0; 11])).is_err());
        assert!(Picture::new(0, 2, Channels::Rgb, Samples::Eight(vec![])).is_err());
    }

    #[test]
    fn sixteen_bits_round_to_the_nearest_eight() {
        let picture = Picture::new(4, 1, Channels::Gray, Samples::Sixteen(vec![0, 128, 129, 65_535])).unwrap();
        assert_eq!(picture.into_eight().eight(), Some(&[0, 0, 1, 255][..]));
    }

    #[test]
    fn an_opaque_gray_picture_stored_as_rgba_reduces_to_gray_and_back() {
        let rgba = Picture::new(2, 1, Channels::Rgba, Samples::Eight(vec![7, 7, 7, 255, 9, 9, 9, 255])).unwrap();
        let gray = rgba.clone().into_reduced();
        assert_eq!((gray.channels(), gray.eight()), (Channels::Gray, Some(&[7, 9][..])));
        assert_eq!(gray.into_channels(Channels::Rgba), rgba);
    }
}
