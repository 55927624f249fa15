//! The metadata chunks of a WebP file: profile, EXIF, XMP and comments of our own.
//!
//! The format has no place for comments. They are kept one in each chunk `LPDY` behind the image, which every reader
//! skips as unknown, also in the simple layout, where nothing announces it: 8 bytes and the text, padded to an even number.

use super::{
    Webp,
    riff::{CHUNK_HEADER, Content, FILE_HEADER, File, Flags, FourCc, FrameChunk, Image},
};
use crate::{
    codec::{Container, sequence::Area},
    control::Run,
    error::{Error, Result},
    format::Format,
    picture::{Metadata, Plays, orientation_alone, with_tiff_header},
};

/// Holds one comment as UTF-8.
const COMMENT: FourCc = *b"LPDY";

impl Container for Webp {
    fn format(&self) -> Format {
        Format::Webp
    }

    fn metadata(&self, bytes: &[u8], run: Run<'_>) -> Result<Metadata> {
        Ok(metadata(&File::parse(bytes)?, run))
    }

    /// IPTC and plain texts have no place in a WebP file: what they say of author and copyright goes into EXIF unless
    /// that or XMP has it, all else is left out. So are empty blocks.
    fn with_metadata(&self, bytes: &[u8], metadata: &Metadata, run: Run<'_>) -> Result<Vec<u8>> {
        write(&File::parse(bytes)?, metadata, run)
    }
}

/// All metadata of `file`.
pub(super) fn metadata(file: &File<'_>, run: Run<'_>) -> Metadata {
    Metadata {
        icc: block(file, Flags::ICC, *b"ICCP", run).map(<[u8]>::to_vec),
        xmp: block(file, Flags::XMP, *b"XMP ", run).map(<[u8]>::to_vec),
        comments: comments(file, run),
        ..exif(file, run)
    }
}

/// The EXIF block of `file` alone; of one beyond the limit the orientation.
pub(super) fn exif(file: &File<'_>, run: Run<'_>) -> Metadata {
    let fits = |tiff: &[u8]| run.limits.check_metadata(tiff.len()).is_ok();
    let whole = file.announced(Flags::EXIF, *b"EXIF").and_then(with_tiff_header);
    let exif = whole.and_then(|tiff| if fits(tiff) { Some(tiff.to_vec()) } else { orientation_alone(tiff) });
    Metadata { exif, ..Metadata::default() }
}

fn block<'a>(file: &File<'a>, flag: u8, id: FourCc, run: Run<'_>) -> Option<&'a [u8]> {
    file.announced(flag, id).filter(|data| !data.is_empty() && run.limits.check_metadata(data.len()).is_ok())
}

/// The comments, as many of the first ones as the limit on metadata holds.
fn comments(file: &File<'_>, run: Run<'_>) -> Vec<String> {
    let mut total = 0;
    file.chunks()
        .flatten()
        .filter(|chunk| chunk.id == COMMENT)
        .take_while(|chunk| {
            total += CHUNK_HEADER + chunk.data.len();
            run.limits.check_metadata(total).is_ok()
        })
        .filter_map(|chunk| std::str::from_utf8(chunk.data).ok().map(Into::into))
        .collect()
}

/// `file` with exactly `metadata`, in the simple layout if that can hold it.
pub(super) fn write(file: &File<'_>, metadata: &Metadata, run: Run<'_>) -> Result<Vec<u8>> {
    let exif = metadata.exif_with_notices();
    let present =
        |block: &Option<Vec<u8>>, flag| block.as_ref().map_or(0, |data| if data.is_empty() { 0 } else { flag });
    let mut flags =
        present(&metadata.icc, Flags::ICC) | present(&exif, Flags::EXIF) | present(&metadata.xmp, Flags::XMP);
    let mut extended = flags != 0;
    match file.content {
        Content::Still(image) => {
            flags |= if image.header.alpha { Flags::ALPHA } else { 0 };
            extended |= image.alpha.is_some();
        }
        Content::Animation(_) => {
            flags |= Flags::ANIMATION | (file.flags.0 & Flags::ALPHA);
            extended = true;
        }
    }
    let mut out = Writer::default();
    if extended {
        let (w, h) = ((file.width - 1).to_le_bytes(), (file.height - 1).to_le_bytes());
        out.chunk(*b"VP8X", &[&[flags, 0, 0, 0], &w[..3], &h[..3]].concat());
    }
    out.block(*b"ICCP", &metadata.icc);
    match file.content {
        Content::Still(image) => out.image(&image),
        Content::Animation(control) => {
            out.chunk(*b"ANIM", control);
            file.for_each_frame(run, |frame| {
                out.nested(*b"ANMF", |out| {
                    out.0.extend_from_slice(frame.header);
                    out.image(&frame.image);
                });
            })?;
        }
    }
    out.block(*b"EXIF", &exif);
    out.block(*b"XMP ", &metadata.xmp);
    for comment in &metadata.comments {
        out.chunk(COMMENT, comment.as_bytes());
    }
    out.finish()
}

/// A simple file of the image alone.
pub(super) fn bare(file: &File<'_>, run: Run<'_>) -> Result<Vec<u8>> {
    write(file, &Metadata::default(), run)
}

/// The chunks of a lossy image and its alpha.
pub(super) fn lossy_chunks(alpha: Option<&[u8]>, data: &[u8]) -> Vec<u8> {
    let mut out = Writer(Vec::with_capacity(data.len() + CHUNK_HEADER));
    if let Some(alpha) = alpha {
        out.chunk(*b"ALPH", alpha);
    }
    out.chunk(*b"VP8 ", data);
    out.0
}

/// A frame to be stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stored<'a> {
    /// Begins at even pixels.
    pub(super) area: Area,
    /// 24 bits.
    pub(super) milliseconds: u32,
    /// Drawn over what lies there, instead of in its place.
    pub(super) blends: bool,
    /// Becomes transparent when its time is over.
    pub(super) clears: bool,
    /// Whether any pixel of the image may be translucent.
    pub(super) alpha: bool,
    /// The chunks of its image.
    pub(super) image: &'a [u8],
}

/// An animation without metadata, frame by frame.
pub(super) struct AnimationWriter(Writer);

impl AnimationWriter {
    /// Where the flags lie.
    const FLAGS: usize = FILE_HEADER + CHUNK_HEADER;

    pub(super) fn new(width: u32, height: u32, plays: Plays) -> Self {
        let mut out = Writer::default();
        let (w, h) = ((width - 1).to_le_bytes(), (height - 1).to_le_bytes());
        out.chunk(*b"VP8X", &[&[Flags::ANIMATION, 0, 0, 0], &w[..3], &h[..3]].concat());
        let times = match plays {
            Plays::Forever => 0,
            Plays::Times(times) => times.get().min(u16::MAX.into()) as u16,
        };
        out.chunk(*b"ANIM", &[&[0; 4][..], &times.to_le_bytes()].concat());
        Self(out)
    }

    /// As large as a file and shown as often. Where it says that canvases may be translucent, which frames do not tell that only
    /// leave something uncovered, this one says so too.
    pub(super) fn like(file: &File<'_>) -> Self {
        let mut out = Self::new(file.width, file.height, file.plays());
        out.0.0[Self::FLAGS] |= file.flags.0 & Flags::ALPHA;
        out
    }

    pub(super) fn frame(&mut self, frame: &Stored<'_>) {
        let Area { x, y, width, height } = frame.area;
        let fields = [x / 2, y / 2, width - 1, height - 1, frame.milliseconds as usize];
        let flags = FrameChunk::flags(frame.blends, frame.clears);
        self.0.nested(*b"ANMF", |out| {
            out.0.extend(fields.iter().flat_map(|field| field.to_le_bytes().into_iter().take(3)));
            out.0.push(flags);
            out.0.extend_from_slice(frame.image);
            if frame.image.len() % 2 == 1 {
                out.0.push(0);
            }
        });
        if frame.alpha {
            self.0.0[Self::FLAGS] |= Flags::ALPHA;
        }
    }

    pub(super) fn finish(self) -> Result<Vec<u8>> {
        self.0.finish()
    }
}

/// The chunks of a file, behind its header.
struct Writer(Vec<u8>);

impl Default for Writer {
    fn default() -> Self {
        Self(b"RIFF\0\0\0\0WEBP".to_vec())
    }
}

impl Writer {
    /// Lengths are settled by [`finish`](Self::finish): where one did not fit, the whole file does not either.
    fn chunk(&mut self, id: FourCc, data: &[u8]) {
        self.nested(id, |out| out.0.extend_from_slice(data));
    }

    /// A chunk whose data `fill` appends.
    fn nested(&mut self, id: FourCc, fill: impl FnOnce(&mut Self)) {
        self.0.extend_from_slice(&id);
        self.0.extend_from_slice(&[0; 4]);
        let start = self.0.len();
        fill(self);
        let length = self.0.len() - start;
        self.0[start - 4..start].copy_from_slice(&(length as u32).to_le_bytes());
        if length % 2 == 1 {
            self.0.push(0);
        }
    }

    fn block(&mut self, id: FourCc, block: &Option<Vec<u8>>) {
        if let Some(data) = block.as_deref().filter(|data| !data.is_empty()) {
            self.chunk(id, data);
        }
    }

    fn image(&mut self, image: &Image<'_>) {
        if let Some(alpha) = image.alpha {
            self.chunk(*b"ALPH", alpha);
        }
        self.chunk(image.id(), image.data);
    }

    /// Fills in the length of the whole.
    fn finish(mut self) -> Result<Vec<u8>> {
        /// The specification's ceiling on the length in the header.
        const MOST: u64 = (1 << 32) - 10;
        let length = (self.0.len() - 8) as u64;
        if length > MOST {
            return Err(Error::Limit { limit: "WebP file bytes", wanted: length, allowed: MOST });
        }
        self.0[4..8].copy_from_slice(&(length as u32).to_le_bytes());
        Ok(self.0)
    }
}
