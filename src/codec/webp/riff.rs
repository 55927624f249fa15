//! The chunks of a WebP file: the one parser behind probe, decoder and container.
//!
//! After the container specification of WebP (RFC 9649, section 2). Nothing is copied: all is slices of the file.

use std::num::NonZeroU32;

use super::{
    bitstream::{self, Header},
    container::Stored,
};
use crate::{
    codec::sequence::Area,
    control::Run,
    error::{Error, Result},
    format::Format,
    picture::Plays,
};

/// Four characters that name a chunk.
pub(super) type FourCc = [u8; 4];

/// Bytes of a chunk's name and length.
pub(super) const CHUNK_HEADER: usize = 8;
/// Bytes before the first chunk: `RIFF`, the length, `WEBP`.
pub(super) const FILE_HEADER: usize = 12;
/// Bytes before the first chunk of a frame.
const FRAME_HEADER: usize = 16;

/// What the flags of a `VP8X` chunk say is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Flags(pub(super) u8);

impl Flags {
    pub(super) const ANIMATION: u8 = 0x02;
    pub(super) const XMP: u8 = 0x04;
    pub(super) const EXIF: u8 = 0x08;
    pub(super) const ALPHA: u8 = 0x10;
    pub(super) const ICC: u8 = 0x20;

    pub(super) const fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

/// One chunk, without its padding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk<'a> {
    pub(super) id: FourCc,
    pub(super) data: &'a [u8],
    /// Where its header begins in the bytes that were walked.
    at: usize,
}

/// Walks chunks; less than a chunk header at the end is ignored, as every viewer does.
#[derive(Debug, Clone)]
pub(super) struct Chunks<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Result<Chunk<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at;
        let (header, rest) = self.bytes.get(at..)?.split_first_chunk::<CHUNK_HEADER>()?;
        let [a, b, c, d, length @ ..] = *header;
        let (id, length) = ([a, b, c, d], u32::from_le_bytes(length) as usize);
        let Some(data) = rest.get(..length) else {
            self.at = self.bytes.len();
            let (name, left) = (id.escape_ascii(), rest.len());
            return Some(Err(damaged(format!("has a chunk {name} of {length} bytes where {left} are left"))));
        };
        self.at = at + CHUNK_HEADER + length + length % 2;
        Some(Ok(Chunk { id, data, at }))
    }
}

/// One coded image: a still, or the part of a frame that changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Image<'a> {
    /// What the header of the bitstream says; its alpha takes the `ALPH` chunk into account.
    pub(super) header: Header,
    /// The data of the `ALPH` chunk.
    pub(super) alpha: Option<&'a [u8]>,
    /// The data of the `VP8 ` or `VP8L` chunk.
    pub(super) data: &'a [u8],
    /// The chunks from alpha to image as they stand in the file: what libwebp decodes.
    pub(super) coded: &'a [u8],
}

impl Image<'_> {
    /// The name of the chunk with the pixels.
    pub(super) const fn id(&self) -> FourCc {
        if self.header.lossless { *b"VP8L" } else { *b"VP8 " }
    }
}

/// One frame of an animation.
#[derive(Debug, Clone, Copy)]
pub(super) struct FrameChunk<'a> {
    /// Place, size, duration and flags, as stored.
    pub(super) header: &'a [u8],
    pub(super) image: Image<'a>,
}

impl<'a> FrameChunk<'a> {
    /// What to write to have it again.
    pub(super) fn stored(&self) -> Stored<'a> {
        Stored {
            area: self.area(),
            milliseconds: self.milliseconds(),
            blends: self.blends(),
            clears: self.clears(),
            alpha: self.image.header.alpha,
            image: self.image.coded,
        }
    }

    /// Where it is drawn, on the canvas.
    pub(super) fn area(&self) -> Area {
        let [x, y, width, height] = [0, 3, 6, 9].map(|at| self.field(at) as usize);
        Area { x: 2 * x, y: 2 * y, width: width + 1, height: height + 1 }
    }

    /// How long it is shown.
    pub(super) fn milliseconds(&self) -> u32 {
        self.field(12)
    }

    /// Whether it is drawn over what lies there, instead of in its place.
    pub(super) fn blends(&self) -> bool {
        self.header.get(15).is_some_and(|flags| flags & Self::IN_PLACE == 0)
    }

    /// Whether its place becomes transparent when its time is over.
    pub(super) fn clears(&self) -> bool {
        self.header.get(15).is_some_and(|flags| flags & Self::CLEARS != 0)
    }

    /// What the header says of a frame that is drawn and left so.
    pub(super) const fn flags(blends: bool, clears: bool) -> u8 {
        (if blends { 0 } else { Self::IN_PLACE }) | (if clears { Self::CLEARS } else { 0 })
    }

    const IN_PLACE: u8 = 2;
    const CLEARS: u8 = 1;

    fn field(&self, at: usize) -> u32 {
        self.header.get(at..at + 3).map_or(0, |field| le24([field[0], field[1], field[2]]))
    }
}

/// What a file shows.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content<'a> {
    Still(Image<'a>),
    /// The data of the `ANIM` chunk; the frames are walked by [`File::frames`].
    Animation(&'a [u8]),
}

/// A file whose chunks all lie within it and whose image headers agree with the canvas.
#[derive(Debug, Clone)]
pub(super) struct File<'a> {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Empty for the simple layout.
    pub(super) flags: Flags,
    pub(super) content: Content<'a>,
    body: &'a [u8],
}

impl<'a> File<'a> {
    /// Reads headers and walks chunks.
    ///
    /// # Errors
    /// [`Error::Input`] naming what is cut off or does not fit, with the numbers.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self> {
        let body = riff_body(bytes)?;
        let first = chunks(body).next().transpose()?.ok_or_else(|| damaged("has no chunks"))?;
        match &first.id {
            b"VP8 " | b"VP8L" => {
                let image = find_image(body)?;
                let Header { width, height, .. } = image.header;
                Ok(Self { width, height, flags: Flags::default(), content: Content::Still(image), body })
            }
            b"VP8X" => Self::parse_extended(first.data, body),
            id => Err(damaged(format!("begins with a chunk {}", id.escape_ascii()))),
        }
    }

    fn parse_extended(header: &'a [u8], body: &'a [u8]) -> Result<Self> {
        let &[flags, _, _, _, w0, w1, w2, h0, h1, h2] = header else {
            return Err(damaged(format!("has a VP8X chunk of {} bytes instead of 10", header.len())));
        };
        let flags = Flags(flags);
        let (width, height) = (1 + le24([w0, w1, w2]), 1 + le24([h0, h1, h2]));
        let content = if flags.has(Flags::ANIMATION) {
            Content::Animation(animation_control(body)?)
        } else {
            let image = find_image(body)?;
            let Header { width: w, height: h, .. } = image.header;
            if (w, h) != (width, height) {
                return Err(damaged(format!("has {w}x{h} pixels on a canvas of {width}x{height}")));
            }
            Content::Still(image)
        };
        // What comes behind the image must lie within the file, too.
        chunks(body).try_for_each(|chunk| chunk.map(drop))?;
        Ok(Self { width, height, flags, content, body })
    }

    /// All chunks in their order.
    pub(super) fn chunks(&self) -> Chunks<'a> {
        chunks(self.body)
    }

    /// The data of the first chunk `id`, if the flags announce it: like viewers, which otherwise do not look for it.
    pub(super) fn announced(&self, flag: u8, id: FourCc) -> Option<&'a [u8]> {
        if !self.flags.has(flag) {
            return None;
        }
        self.chunks().flatten().find(|chunk| chunk.id == id).map(|chunk| chunk.data)
    }

    /// The frames of an animation, each checked against the canvas.
    pub(super) fn frames(&self) -> impl Iterator<Item = Result<FrameChunk<'a>>> {
        let mut chunks = self.chunks();
        (0..).map_while(move |index| self.next_frame(&mut chunks, index))
    }

    /// The next frame among `chunks`, which is the `index`th of the file, counted from 0.
    pub(super) fn next_frame(&self, chunks: &mut Chunks<'a>, index: usize) -> Option<Result<FrameChunk<'a>>> {
        let chunk = chunks.find(|chunk| chunk.as_ref().map_or(true, |chunk| chunk.id == *b"ANMF"))?;
        Some(chunk.and_then(|chunk| parse_frame(index, chunk.data, (self.width, self.height))))
    }

    /// How often an animation is shown.
    pub(super) fn plays(&self) -> Plays {
        match self.content {
            Content::Animation(&[_, _, _, _, low, high]) => {
                NonZeroU32::new(u16::from_le_bytes([low, high]).into()).map_or(Plays::Forever, Plays::Times)
            }
            _ => Plays::ONCE,
        }
    }

    /// Goes through all frames, asking now and then whether to go on.
    pub(super) fn for_each_frame(&self, run: Run<'_>, mut visit: impl FnMut(FrameChunk<'a>)) -> Result<()> {
        /// Frames between two questions; one takes well below a microsecond.
        const STRIDE: usize = 4096;
        for (index, frame) in self.frames().enumerate() {
            if index.is_multiple_of(STRIDE) {
                run.check()?;
            }
            visit(frame?);
        }
        Ok(())
    }
}

/// An [`Error::Input`] of this format.
pub(super) fn damaged(problem: impl Into<String>) -> Error {
    Error::input(Format::Webp, problem)
}

/// What follows `WEBP`, up to the end that the header names.
fn riff_body(bytes: &[u8]) -> Result<&[u8]> {
    let Some((&[b'R', b'I', b'F', b'F', l0, l1, l2, l3, b'W', b'E', b'B', b'P'], _)) =
        bytes.split_first_chunk::<FILE_HEADER>()
    else {
        return Err(damaged("has no RIFF header"));
    };
    let end = u64::from(u32::from_le_bytes([l0, l1, l2, l3])) + 8;
    let length = bytes.len() as u64;
    // A last chunk of odd length often lacks its padding.
    if end > length + 1 || (end > length && length.is_multiple_of(2)) {
        return Err(damaged(format!("is cut off after {length} of {end} bytes")));
    }
    let end = end.min(length) as usize;
    bytes.get(FILE_HEADER..end).ok_or_else(|| damaged(format!("claims to be {end} bytes long")))
}

const fn chunks(bytes: &[u8]) -> Chunks<'_> {
    Chunks { bytes, at: 0 }
}

/// The first image in `bytes` and the alpha before it.
fn find_image(bytes: &[u8]) -> Result<Image<'_>> {
    let mut alpha: Option<Chunk<'_>> = None;
    for chunk in chunks(bytes) {
        let chunk = chunk?;
        match &chunk.id {
            b"ALPH" => alpha = Some(chunk),
            b"VP8 " => {
                let start = alpha.map_or(chunk.at, |alpha| alpha.at);
                let mut header = bitstream::lossy_header(chunk.data)?;
                header.alpha = alpha.is_some();
                return Ok(image(bytes, header, alpha, chunk, start));
            }
            b"VP8L" => return Ok(image(bytes, bitstream::lossless_header(chunk.data)?, None, chunk, chunk.at)),
            _ => {}
        }
    }
    Err(damaged("has no image data"))
}

fn image<'a>(bytes: &'a [u8], header: Header, alpha: Option<Chunk<'a>>, chunk: Chunk<'a>, start: usize) -> Image<'a> {
    let end = chunk.at + CHUNK_HEADER + chunk.data.len();
    Image { header, alpha: alpha.map(|alpha| alpha.data), data: chunk.data, coded: &bytes[start..end] }
}

fn animation_control(body: &[u8]) -> Result<&[u8]> {
    for chunk in chunks(body) {
        let Chunk { id, data, .. } = chunk?;
        match &id {
            b"ANIM" if data.len() >= 6 => return Ok(&data[..6]),
            b"ANIM" => return Err(damaged(format!("has an ANIM chunk of {} bytes instead of 6", data.len()))),
            b"ANMF" => break,
            _ => {}
        }
    }
    Err(damaged("has no ANIM chunk before its frames"))
}

fn parse_frame(index: usize, data: &[u8], canvas: (u32, u32)) -> Result<FrameChunk<'_>> {
    let of_frame = |problem: String| damaged(format!("has a frame {} {problem}", index + 1));
    let Some((header, rest)) = data.split_at_checked(FRAME_HEADER) else {
        return Err(of_frame(format!("of {} bytes", data.len())));
    };
    let field = |at: usize| le24([header[at], header[at + 1], header[at + 2]]);
    let (x, y, width, height) = (2 * field(0), 2 * field(3), 1 + field(6), 1 + field(9));
    if x + width > canvas.0 || y + height > canvas.1 {
        let (right, bottom) = (x + width, y + height);
        return Err(of_frame(format!("that reaches to {right}x{bottom} on a canvas of {}x{}", canvas.0, canvas.1)));
    }
    let image = find_image(rest)?;
    let Header { width: w, height: h, .. } = image.header;
    if (w, h) != (width, height) {
        return Err(of_frame(format!("of {width}x{height} pixels with an image of {w}x{h}")));
    }
    Ok(FrameChunk { header, image })
}

const fn le24([a, b, c]: [u8; 3]) -> u32 {
    u32::from_le_bytes([a, b, c, 0])
}
