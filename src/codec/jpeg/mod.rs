//! JPEG: baseline, progressive and arithmetic-coded, of 8 bits a sample; gray, RGB and CMYK.
//!
//! Files are checked before they are decoded: what is cut off or damaged is an error, never gray pixels. A file that
//! lacks nothing but its end marker opens.

mod blocks;
mod codes;
mod container;
mod decode;
mod density;
mod encode;
mod entropy;
#[cfg(test)]
mod fixture;
mod header;
mod huffman;
#[allow(unsafe_code, reason = "libjpeg is C")]
mod libjpeg;
mod metadata;
mod probe;
mod quality;
mod recompress;
mod scan;
mod script;
mod segments;
mod several;
mod spectrum;
mod symbols;
mod trellis;
mod write;

pub(crate) use self::{
    blocks::{Blocks, zigzag},
    several::left_out,
    spectrum::{Rounding, Spectrum},
};

use std::sync::Arc;

use super::{Codec, Container, Decode, DecodeOptions, Encode, EncodeOptions, Info, Recompress};
use crate::{
    control::Run,
    error::Result,
    format::Format,
    picture::{Frames, Metadata, Still},
};

/// The codec of this build.
pub fn codec() -> Codec {
    let jpeg = Arc::new(Jpeg);
    Codec { decode: jpeg.clone(), container: jpeg.clone(), encode: Some(jpeg.clone()), recompress: Some(jpeg) }
}

#[derive(Debug)]
struct Jpeg;

impl Decode for Jpeg {
    fn format(&self) -> Format {
        Format::Jpeg
    }

    fn probe(&self, bytes: &[u8], _: Run<'_>) -> Result<Info> {
        probe::probe(bytes)
    }

    fn frames<'a>(&self, bytes: &'a [u8], options: &DecodeOptions, run: Run<'a>) -> Result<Box<dyn Frames + 'a>> {
        Ok(Box::new(Still::new(decode::decode(bytes, options, run)?)))
    }
}

impl Encode for Jpeg {
    fn format(&self) -> Format {
        Format::Jpeg
    }

    fn animations(&self) -> bool {
        false
    }

    fn encode(&self, frames: &mut dyn Frames, options: &EncodeOptions, run: Run<'_>) -> Result<Vec<u8>> {
        encode::encode(frames, options, run)
    }
}

impl Recompress for Jpeg {
    fn format(&self) -> Format {
        Format::Jpeg
    }

    fn animations(&self) -> bool {
        false
    }

    fn recompress(&self, bytes: &[u8], interlaced: bool, run: Run<'_>) -> Result<Vec<u8>> {
        recompress::recompress(bytes, interlaced, run)
    }
}

impl Container for Jpeg {
    fn format(&self) -> Format {
        Format::Jpeg
    }

    fn metadata(&self, bytes: &[u8], run: Run<'_>) -> Result<Metadata> {
        container::metadata(bytes, run)
    }

    fn with_metadata(&self, bytes: &[u8], metadata: &Metadata, run: Run<'_>) -> Result<Vec<u8>> {
        container::with_metadata(bytes, metadata, run)
    }
}
