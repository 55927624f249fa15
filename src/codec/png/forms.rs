//! The ways to store the same pixels: colour types, depths, palettes.

use super::{
    chunks,
    filters::Lines,
    header::{ColourType, Header, Pass, Space},
};
use crate::{
    error::{Error, Result},
    format::PNG_SIGNATURE,
    picture::{Channels, Picture, Samples},
};

/// Pixels in one colour type and depth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) colour: ColourType,
    pub(super) depth: u8,
    palette: Vec<[u8; 4]>,
    key: Option<[u16; 3]>,
    /// A byte a sample up to 8 bits, two (the higher first) for 16.
    samples: Vec<u8>,
}

impl Form {
    /// Samples of `colour` and `depth`, one byte each up to 8 bits; `palette` is empty unless they are indices.
    pub(super) fn new(
        colour: ColourType,
        depth: u8,
        palette: Vec<[u8; 4]>,
        key: Option<[u16; 3]>,
        samples: Vec<u8>,
    ) -> Self {
        Self { colour, depth, palette, key, samples }
    }

    /// A picture of more than 256 colours or 16 bits, without channels that say nothing as far as `space` allows.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for CMYK.
    pub(super) fn of(picture: &Picture, space: Space) -> Result<Self> {
        if picture.channels() == Channels::Cmyk {
            return Err(Error::unsupported("a PNG of CMYK"));
        }
        let (gray, opaque) = (space != Space::Rgb && picture.is_gray(), picture.is_opaque());
        let key = if opaque { None } else { key_of(picture) };
        let (colour, channels) = match (gray, opaque || key.is_some()) {
            (true, true) => (ColourType::Gray, Channels::Gray),
            (true, false) => (ColourType::GrayAlpha, Channels::GrayAlpha),
            (false, true) => (ColourType::Rgb, Channels::Rgb),
            (false, false) => (ColourType::Rgba, Channels::Rgba),
        };
        let (depth, samples) = match picture.samples() {
            Samples::Eight(samples) => (8, kept(samples, picture.channels(), channels, |&sample| [sample])),
            Samples::Sixteen(samples) => {
                (16, kept(samples, picture.channels(), channels, |sample: &u16| sample.to_be_bytes()))
            }
        };
        Ok(Self { colour, depth, palette: Vec::new(), key, samples })
    }

    /// The same at 8 bits a sample where there are fewer: packed pixels sometimes compress worse.
    pub(super) fn unpacked(mut self) -> Self {
        if self.depth < 8 && self.colour == ColourType::Gray {
            let scale = 255 / ((1u16 << self.depth) - 1) as u8;
            self.samples.iter_mut().for_each(|sample| *sample *= scale);
            self.key = self.key.map(|key| key.map(|value| value * u16::from(scale)));
        }
        Self { depth: self.depth.max(8), ..self }
    }

    /// Bytes of a pixel, at least 1.
    pub(super) fn bytes_per_pixel(&self) -> usize {
        (self.colour.samples() * usize::from(self.depth)).div_ceil(8)
    }

    pub(super) fn header(&self, size: (u32, u32), interlaced: bool) -> Header {
        Header { width: size.0, height: size.1, colour: self.colour, depth: self.depth, interlaced }
    }

    /// The rows as they are filtered.
    pub(super) fn lines(&self, size: (u32, u32), interlaced: bool) -> Lines {
        let header = self.header(size, interlaced);
        let bits = header.bits_per_pixel();
        let pixel = bits.div_ceil(8);
        let stride = size.0 as usize * pixel;
        let mut data = Vec::new();
        let mut passes = Vec::new();
        let mut scattered = Vec::new();
        for pass in Pass::all(size.0, size.1, interlaced) {
            passes.push(((pass.width as usize * bits).div_ceil(8), pass.height as usize));
            for y in 0..pass.height {
                let row = &self.samples[pass.y(y) * stride..][..stride];
                let row = if pass.is_contiguous() {
                    row
                } else {
                    scattered.clear();
                    pass.columns().for_each(|x| scattered.extend_from_slice(&row[x * pixel..][..pixel]));
                    &scattered
                };
                if self.depth < 8 { pack(row, self.depth, &mut data) } else { data.extend_from_slice(row) }
            }
        }
        Lines::new(data, passes, pixel)
    }

    /// Bytes of the palette and transparency chunks.
    pub(super) fn side_bytes(&self) -> usize {
        let mut out = Vec::new();
        self.write_side(&mut out);
        out.len()
    }

    /// Writes them.
    pub(super) fn write_side(&self, out: &mut Vec<u8>) {
        if self.colour == ColourType::Indexed {
            let colours: Vec<u8> = self.palette.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect();
            chunks::write(out, b"PLTE", &[&colours]);
            let translucent = self.palette.iter().rposition(|colour| colour[3] != 255).map_or(0, |last| last + 1);
            let alpha: Vec<u8> = self.palette[..translucent].iter().map(|colour| colour[3]).collect();
            if !alpha.is_empty() {
                chunks::write(out, b"tRNS", &[&alpha]);
            }
        } else if let Some(key) = self.key {
            let values = if self.colour == ColourType::Gray { &key[..1] } else { &key[..] };
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
            chunks::write(out, b"tRNS", &[&bytes]);
        }
    }

    /// A whole file around compressed rows.
    pub(super) fn file(&self, size: (u32, u32), interlaced: bool, zlib: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(zlib.len() + 1200);
        out.extend_from_slice(PNG_SIGNATURE);
        chunks::write(&mut out, b"IHDR", &[&self.header(size, interlaced).to_bytes()]);
        self.write_side(&mut out);
        chunks::write(&mut out, b"IDAT", &[zlib]);
        chunks::write(&mut out, b"IEND", &[]);
        out
    }
}

/// The bytes of the samples that `to` keeps of `from`; colour that is kept as gray is the red sample.
fn kept<T, const N: usize>(samples: &[T], from: Channels, to: Channels, bytes: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
    let count = from.count();
    let colours = if to.is_gray() { 1 } else { 3 };
    let mut out = Vec::with_capacity(samples.len() / count * to.count() * N);
    for pixel in samples.chunks_exact(count) {
        pixel[..colours].iter().for_each(|sample| out.extend_from_slice(&bytes(sample)));
        if to.has_alpha() {
            out.extend_from_slice(&bytes(&pixel[count - 1]));
        }
    }
    out
}

/// The colour of all transparent pixels, if every other pixel is opaque and of another colour.
fn key_of(picture: &Picture) -> Option<[u16; 3]> {
    fn find<T: Copy + PartialEq + Into<u16>>(samples: &[T], count: usize, full: T) -> Option<[u16; 3]> {
        let transparent = samples.chunks_exact(count).find(|pixel| pixel[count - 1] != full)?;
        let colour = &transparent[..count - 1];
        let holds = samples.chunks_exact(count).all(|pixel| {
            let alpha = pixel[count - 1];
            if alpha == full {
                pixel[..count - 1] != *colour
            } else {
                alpha.into() == 0 && pixel[..count - 1] == *colour
            }
        });
        let at = |i: usize| colour[i.min(count - 2)].into();
        holds.then(|| [at(0), at(1), at(2)])
    }
    let count = picture.channels().count();
    match picture.samples() {
        _ if !picture.channels().has_alpha() => None,
        Samples::Eight(samples) => find(samples, count, u8::MAX),
        Samples::Sixteen(samples) => find(samples, count, u16::MAX),
    }
}

/// Samples of `depth` bits, the first in the highest.
fn pack(row: &[u8], depth: u8, out: &mut Vec<u8>) {
    let per_byte = usize::from(8 / depth);
    out.extend(
        row.chunks(per_byte).map(|samples| {
            samples.iter().zip(1..).fold(0, |byte, (&sample, place)| byte | sample << (8 - place * depth))
        }),
    );
}
