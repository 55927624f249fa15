//! SVG behind the traits of codecs: pictures drawn, nothing written.

use std::sync::Arc;

use super::{Fonts, draw::Drawing, notices::notices, probe, read};
use crate::{
    codec::{Codec, Container, Decode, DecodeOptions, Info},
    control::Run,
    error::Result,
    format::Format,
    picture::{Channels, Depth, Frame, Frames, Layout, Metadata, Plays, Still},
};

/// The codec of this build, which draws text with `fonts`.
pub fn codec(fonts: Fonts) -> Codec {
    let svg = Arc::new(Svg { fonts });
    Codec { decode: Arc::clone(&svg) as _, container: svg, encode: None, recompress: None }
}

/// The format behind its traits.
#[derive(Debug)]
struct Svg {
    fonts: Fonts,
}

impl Decode for Svg {
    fn format(&self) -> Format {
        Format::Svg
    }

    fn probe(&self, bytes: &[u8], run: Run<'_>) -> Result<Info> {
        probe(bytes, run)
    }

    /// The document drawn at the size asked for, or else at its own, over transparency.
    fn frames<'a>(&self, bytes: &'a [u8], options: &DecodeOptions, run: Run<'a>) -> Result<Box<dyn Frames + 'a>> {
        let info = probe(bytes, run)?;
        let (width, height) = options.exactly.unwrap_or((info.width, info.height));
        run.limits.check_result(width, height)?;
        let drawing = Drawing::new(&read::text(bytes, run)?, &self.fonts, run)?;
        Ok(Box::new(Drawn { drawing, width, height, still: None }))
    }
}

impl Container for Svg {
    fn format(&self) -> Format {
        Format::Svg
    }

    /// Author and rights alone: what else a document says of itself is part of it.
    fn metadata(&self, bytes: &[u8], run: Run<'_>) -> Result<Metadata> {
        Ok(Metadata { texts: notices(&read::text(bytes, run)?), ..Metadata::default() })
    }

    /// The document as it is: whoever writes it anew writes these.
    fn with_metadata(&self, bytes: &[u8], _: &Metadata, _: Run<'_>) -> Result<Vec<u8>> {
        Ok(bytes.to_vec())
    }
}

/// A document that is drawn when its only frame is pulled.
#[derive(Debug)]
struct Drawn {
    drawing: Drawing,
    width: u32,
    height: u32,
    still: Option<Still<'static>>,
}

impl Frames for Drawn {
    fn layout(&self) -> Layout {
        Layout { width: self.width, height: self.height, channels: Channels::Rgba, depth: Depth::Eight }
    }

    fn plays(&self) -> Plays {
        Plays::ONCE
    }

    fn next(&mut self, run: Run<'_>) -> Result<Option<Frame<'_>>> {
        if self.still.is_none() {
            self.still = Some(Still::new(self.drawing.draw(self.width, self.height, run)?));
        }
        match &mut self.still {
            Some(still) => still.next(run),
            None => Ok(None),
        }
    }

    fn restart(&mut self) -> Result<()> {
        self.still.as_mut().map_or(Ok(()), Frames::restart)
    }
}
