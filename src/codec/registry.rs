//! The codecs that a build or a host brings, and the guarded way to them.

use std::{collections::BTreeMap, sync::Arc};

use super::{Container, Decode, DecodeOptions, Encode, EncodeOptions, Info, Recompress, gif, svg};
use crate::{
    control::Run,
    error::{Error, Result, guarded},
    format::Format,
    picture::{Frame, Frames, Layout, Metadata, Plays},
};

/// All that is known of one format. What is `None` is answered with [`Error::Unsupported`].
#[derive(Debug, Clone)]
pub struct Codec {
    /// Reads pixels.
    pub decode: Arc<dyn Decode>,
    /// Reads and replaces metadata.
    pub container: Arc<dyn Container>,
    /// Writes pixels.
    pub encode: Option<Arc<dyn Encode>>,
    /// Makes files smaller without touching pixels.
    pub recompress: Option<Arc<dyn Recompress>>,
}

/// One [`Codec`] a format.
#[derive(Debug, Clone)]
pub struct Codecs {
    by_format: BTreeMap<Format, Codec>,
}

impl Default for Codecs {
    /// The codecs whose features are on.
    fn default() -> Self {
        #[allow(unused_mut, reason = "without codec features nothing is registered")]
        let mut codecs = Self::empty();
        #[cfg(feature = "gif")]
        codecs.register(gif::codec());
        #[cfg(feature = "jpeg")]
        codecs.register(super::jpeg::codec());
        #[cfg(feature = "png")]
        {
            codecs.register(super::png::codec());
            codecs.register(super::png::codec_apng());
        }
        #[cfg(feature = "webp")]
        codecs.register(super::webp::codec());
        #[cfg(feature = "svg")]
        codecs.register(svg::codec(svg::Fonts::new()));
        codecs
    }
}

impl Codecs {
    /// None at all, to be filled by [`register`](Self::register).
    pub const fn empty() -> Self {
        Self { by_format: BTreeMap::new() }
    }

    /// Adds a codec, in place of any other of its format.
    pub fn register(&mut self, codec: Codec) {
        self.by_format.insert(codec.decode.format(), codec);
    }

    /// Whether `format` can be written from pixels.
    pub fn encodes(&self, format: Format) -> bool {
        self.by_format.get(&format).is_some_and(|codec| codec.encode.is_some())
    }

    /// Whether that holds for animations, too.
    pub fn encodes_animations(&self, format: Format) -> bool {
        let encode = self.by_format.get(&format).and_then(|codec| codec.encode.as_ref());
        encode.is_some_and(|encode| encode.animations())
    }

    /// Whether files of `format` can be made smaller without touching a pixel.
    pub fn recompresses(&self, format: Format) -> bool {
        self.by_format.get(&format).is_some_and(|codec| codec.recompress.is_some())
    }

    /// Whether that holds for its animations, too.
    pub fn recompresses_animations(&self, format: Format) -> bool {
        let recompress = self.by_format.get(&format).and_then(|codec| codec.recompress.as_ref());
        recompress.is_some_and(|recompress| recompress.animations())
    }

    /// [`Decode::probe`], with the canvas it names checked against the limits, but for SVG, which is drawn at any size.
    /// Answers for formats without a codec, too, whose headers are known.
    ///
    /// # Errors
    /// Those of the codec, [`Error::Unsupported`] where there is none, [`Error::Limit`] for a canvas that is too large, and
    /// [`Error::Internal`] for a panic, as of all that follow.
    pub fn probe(&self, format: Format, bytes: &[u8], run: Run<'_>) -> Result<Info> {
        let info = guarded("reading a header", || match (self.find(format), format) {
            (Ok(codec), _) => codec.decode.probe(bytes, run),
            (Err(_), Format::Gif) => gif::probe(bytes, run),
            (Err(_), Format::Svg) => svg::probe(bytes, run),
            (Err(error), _) => Err(error),
        })?;
        if format != Format::Svg {
            run.limits.check_canvas(info.width, info.height, info.frames)?;
        }
        Ok(info)
    }

    /// [`Decode::frames`], behind a probe.
    ///
    /// # Errors
    /// As of [`probe`](Self::probe).
    pub fn frames<'a>(
        &self,
        format: Format,
        bytes: &'a [u8],
        options: &DecodeOptions,
        run: Run<'a>,
    ) -> Result<Box<dyn Frames + 'a>> {
        self.probe(format, bytes, run)?;
        let decode = &self.find(format)?.decode;
        let frames = guarded("decoding", || decode.frames(bytes, options, run))?;
        Ok(Box::new(Guarded(frames)))
    }

    /// [`Encode::encode`] for the format that the options are for.
    ///
    /// # Errors
    /// Those of the codec and of the frames, [`Error::Unsupported`] for a format that is not written, [`Error::Limit`] for a
    /// result that is too large.
    pub fn encode(&self, frames: &mut dyn Frames, options: &EncodeOptions, run: Run<'_>) -> Result<Vec<u8>> {
        let format = options.format();
        let layout = frames.layout();
        run.limits.check_result(layout.width, layout.height)?;
        let encode = self.find(format)?.encode.as_ref().ok_or_else(|| writing(format))?;
        guarded("encoding", || encode.encode(frames, options, run))
    }

    /// [`Recompress::recompress`], behind a probe.
    ///
    /// # Errors
    /// As of [`probe`](Self::probe); [`Error::Unsupported`] for a format that is not recompressed.
    pub fn recompress(&self, format: Format, bytes: &[u8], interlaced: bool, run: Run<'_>) -> Result<Vec<u8>> {
        let recompress = self.recompressing(format, bytes, run)?;
        guarded("recompressing", || recompress.recompress(bytes, interlaced, run))
    }

    /// [`Recompress::outlook`], behind a probe.
    ///
    /// # Errors
    /// As of [`recompress`](Self::recompress).
    pub fn outlook(&self, format: Format, bytes: &[u8], most: u64, run: Run<'_>) -> Result<Option<u64>> {
        let recompress = self.recompressing(format, bytes, run)?;
        guarded("estimating", || recompress.outlook(bytes, most, run))
    }

    /// [`Container::metadata`].
    ///
    /// # Errors
    /// Those of the codec; [`Error::Unsupported`] where there is none.
    pub fn metadata(&self, format: Format, bytes: &[u8], run: Run<'_>) -> Result<Metadata> {
        let container = &self.find(format)?.container;
        guarded("reading metadata", || container.metadata(bytes, run))
    }

    /// [`Container::with_metadata`].
    ///
    /// # Errors
    /// As of [`metadata`](Self::metadata).
    pub fn with_metadata(&self, format: Format, bytes: &[u8], metadata: &Metadata, run: Run<'_>) -> Result<Vec<u8>> {
        let container = &self.find(format)?.container;
        guarded("writing metadata", || container.with_metadata(bytes, metadata, run))
    }

    fn recompressing(&self, format: Format, bytes: &[u8], run: Run<'_>) -> Result<&dyn Recompress> {
        self.probe(format, bytes, run)?;
        self.find(format)?.recompress.as_deref().ok_or_else(|| writing(format))
    }

    fn find(&self, format: Format) -> Result<&Codec> {
        self.by_format.get(&format).ok_or_else(|| Error::unsupported(format!("the format {format}")))
    }
}

fn writing(format: Format) -> Error {
    Error::unsupported(format!("writing {format}"))
}

struct Guarded<'a>(Box<dyn Frames + 'a>);

impl Frames for Guarded<'_> {
    fn layout(&self) -> Layout {
        self.0.layout()
    }

    fn plays(&self) -> Plays {
        self.0.plays()
    }

    fn next(&mut self, run: Run<'_>) -> Result<Option<Frame<'_>>> {
        guarded("decoding", || self.0.next(run))
    }

    fn restart(&mut self) -> Result<()> {
        guarded("decoding", || self.0.restart())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, limits::Limits};

    #[test]
    fn formats_without_a_codec_are_probed_but_not_decoded() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let gif = b"GIF89a\x05\0\x03\0\0\0\0\x2C\0\0\0\0\x05\0\x03\0\0\x02\0";
        for (format, bytes) in [(Format::Gif, &gif[..]), (Format::Svg, b"<svg width='5' height='3'/>")] {
            let codecs = Codecs::empty();
            let info = codecs.probe(format, bytes, run).unwrap();
            assert_eq!((info.format, info.width, info.height), (format, 5, 3));
            let error = codecs.frames(format, bytes, &DecodeOptions::default(), run).err().unwrap();
            assert_eq!(error.to_string(), format!("the format {format} is not supported"));
        }
        assert!(matches!(Codecs::empty().probe(Format::Avif, b"", run), Err(Error::Unsupported { .. })));
    }
}
