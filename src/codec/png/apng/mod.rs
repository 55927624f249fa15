//! APNG (the extension that the third edition of PNG took in): its frames composed, and sequences written again in
//! fewer bytes.

mod coding;
mod encode;
mod frame;
mod merged;
mod pixel;
mod player;
mod repeat;
mod stored;

use std::sync::Arc;

pub(super) use player::is_ever_transparent;

use super::{container, decode, header::Space, parts::Parts, probe};
use crate::{
    codec::{Codec, Container, Decode, DecodeOptions, Encode, EncodeOptions, Info, Recompress},
    control::Run,
    error::{Error, Result},
    format::Format,
    picture::{Frames, Metadata},
};

/// The codec of animations.
pub fn codec() -> Codec {
    Codec {
        decode: Arc::new(Apng),
        container: Arc::new(Apng),
        encode: Some(Arc::new(Apng)),
        recompress: Some(Arc::new(Apng)),
    }
}

#[derive(Debug)]
struct Apng;

fn damaged(problem: impl Into<String>) -> Error {
    Error::input(Format::Apng, problem)
}

impl Decode for Apng {
    fn format(&self) -> Format {
        Format::Apng
    }

    fn probe(&self, bytes: &[u8], run: Run<'_>) -> Result<Info> {
        probe::probe(bytes, run)
    }

    /// Frames lie on a transparent canvas; all transparent pixels are alike. A default image that is not a frame is passed
    /// over.
    fn frames<'a>(&self, bytes: &'a [u8], _: &DecodeOptions, run: Run<'a>) -> Result<Box<dyn Frames + 'a>> {
        player::composed(bytes, run)
    }
}

impl Container for Apng {
    fn format(&self) -> Format {
        Format::Apng
    }

    fn metadata(&self, bytes: &[u8], run: Run<'_>) -> Result<Metadata> {
        container::metadata(bytes, run)
    }

    fn with_metadata(&self, bytes: &[u8], metadata: &Metadata, run: Run<'_>) -> Result<Vec<u8>> {
        container::with_metadata(bytes, metadata, run)
    }
}

impl Encode for Apng {
    fn format(&self) -> Format {
        Format::Apng
    }

    fn animations(&self) -> bool {
        true
    }

    fn encode(&self, frames: &mut dyn Frames, options: &EncodeOptions, run: Run<'_>) -> Result<Vec<u8>> {
        let EncodeOptions::Apng(options) = options else {
            return Err(options.refused_by(Format::Apng));
        };
        encode::encode(frames, options.effort, &[], Space::Any, run)
    }
}

impl Recompress for Apng {
    fn format(&self) -> Format {
        Format::Apng
    }

    fn animations(&self) -> bool {
        true
    }

    /// Never interlaced. Canvases that equal the ones before them are merged with these.
    fn recompress(&self, bytes: &[u8], _: bool, run: Run<'_>) -> Result<Vec<u8>> {
        let parts = Parts::of(bytes)?;
        let (hint, space) = (decode::palette(&parts), probe::space(&parts));
        encode::encode(&mut *player::composed(bytes, run)?, encode::RECOMPRESSION, &hint, space, run)
    }
}
