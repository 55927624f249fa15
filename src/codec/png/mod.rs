//! PNG: still pictures, and APNG: animations.

mod apng;
mod bits;
mod chunks;
mod colour_chunks;
mod container;
mod decode;
mod deflate;
mod encode;
mod filters;
#[cfg(test)]
mod fixtures;
mod forms;
mod header;
mod heuristics;
mod high_range;
mod indexed;
mod inflate;
mod palette_order;
mod parts;
mod plan;
mod probe;
mod search;
mod splice;
mod text;
mod thorough;

use std::sync::Arc;

pub use apng::codec as codec_apng;
pub use encode::encode_indexed;
pub(crate) use filters::paeth;

use self::parts::Parts;
use super::{Codec, Container, Decode, DecodeOptions, Encode, EncodeOptions, Info, Recompress};
use crate::{
    control::Run,
    error::{Error, Result},
    format::Format,
    picture::{Frames, Metadata, Still},
};

/// The codec of stills. Its probe reads animations too and tells them as [`Format::Apng`].
pub fn codec() -> Codec {
    Codec {
        decode: Arc::new(Png),
        container: Arc::new(Png),
        encode: Some(Arc::new(Png)),
        recompress: Some(Arc::new(Png)),
    }
}

#[derive(Debug)]
struct Png;

/// An animation may not pass for its first frame.
fn still(bytes: &[u8]) -> Result<Parts<'_>> {
    let parts = Parts::of(bytes)?;
    if parts.frames()?.is_some() { Err(Error::unsupported("APNG")) } else { Ok(parts) }
}

impl Decode for Png {
    fn format(&self) -> Format {
        Format::Png
    }

    fn probe(&self, bytes: &[u8], run: Run<'_>) -> Result<Info> {
        probe::probe(bytes, run)
    }

    fn frames<'a>(&self, bytes: &'a [u8], _: &DecodeOptions, run: Run<'a>) -> Result<Box<dyn Frames + 'a>> {
        let parts = still(bytes)?;
        Ok(Box::new(Still::new(decode::decode(&parts, run)?)))
    }
}

impl Container for Png {
    fn format(&self) -> Format {
        Format::Png
    }

    fn metadata(&self, bytes: &[u8], run: Run<'_>) -> Result<Metadata> {
        container::metadata(bytes, run)
    }

    fn with_metadata(&self, bytes: &[u8], metadata: &Metadata, run: Run<'_>) -> Result<Vec<u8>> {
        container::with_metadata(bytes, metadata, run)
    }
}

impl Encode for Png {
    fn format(&self) -> Format {
        Format::Png
    }

    fn animations(&self) -> bool {
        false
    }

    fn encode(&self, frames: &mut dyn Frames, options: &EncodeOptions, run: Run<'_>) -> Result<Vec<u8>> {
        let EncodeOptions::Png(options) = options else {
            return Err(options.refused_by(Format::Png));
        };
        encode::encode(frames, options, run)
    }
}

impl Recompress for Png {
    fn format(&self) -> Format {
        Format::Png
    }

    fn animations(&self) -> bool {
        false
    }

    fn recompress(&self, bytes: &[u8], interlaced: bool, run: Run<'_>) -> Result<Vec<u8>> {
        encode::recompress(&still(bytes)?, interlaced, run)
    }
}
