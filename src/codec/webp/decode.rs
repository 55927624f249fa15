//! WebP stills to pixels.

use super::{
    Webp, libwebp, probe,
    riff::{Content, File},
};
use crate::{
    codec::{Decode, DecodeOptions, Info},
    control::Run,
    error::{Error, Result},
    format::Format,
    picture::{Channels, Frames, Picture, Samples, Still},
};

impl Decode for Webp {
    fn format(&self) -> Format {
        Format::Webp
    }

    fn probe(&self, bytes: &[u8], run: Run<'_>) -> Result<Info> {
        probe::probe(bytes, run)
    }

    /// A still as RGB, or RGBA if any pixel may be translucent, always at full size.
    fn frames<'a>(&self, bytes: &'a [u8], _: &DecodeOptions, run: Run<'a>) -> Result<Box<dyn Frames + 'a>> {
        Ok(Box::new(Still::new(picture(&File::parse(bytes)?, run)?)))
    }
}

/// The pixels of a still.
pub(super) fn picture(file: &File<'_>, run: Run<'_>) -> Result<Picture> {
    let Content::Still(image) = file.content else { return Err(animated()) };
    run.limits.check_canvas(file.width, file.height, 1)?;
    let alpha = image.header.alpha;
    let samples = libwebp::decode(image.coded, file.width, file.height, alpha, run)?;
    let channels = if alpha { Channels::Rgba } else { Channels::Rgb };
    Picture::new(file.width, file.height, channels, Samples::Eight(samples))
}

pub(super) fn animated() -> Error {
    Error::unsupported("animated WebP")
}
