//! Comments and XMP of a GIF read and replaced.

use super::{
    Gif,
    blocks::{Block, Table, Walk, blocks, plays},
    write::{APPLICATION, COMMENT, EXTENSION, TRAILER, write_blocks, write_plays, write_stored},
};
use crate::{
    codec::Container,
    control::Run,
    error::Result,
    format::Format,
    picture::{Metadata, comment_of, notice_in, text_of},
};

const XMP: &[u8] = b"XMP DataXMP";
/// What ends the packet, which is not in blocks: every byte leads, taken as a length, to the end.
const XMP_TRAILER: usize = 257;

impl Container for Gif {
    fn format(&self) -> Format {
        Format::Gif
    }

    /// Comments, those of author and copyright as plain texts, and XMP. A profile has no meaning to viewers and is not read.
    fn metadata(&self, bytes: &[u8], run: Run<'_>) -> Result<Metadata> {
        let (_, mut walk) = Walk::start(bytes)?;
        let (mut metadata, mut total) = (Metadata::default(), 0);
        while let Some(block) = walk.next(run)? {
            match block {
                Block::Comment(data) => {
                    total += data.len();
                    if run.limits.check_metadata(total).is_ok() {
                        let comment = text_of(blocks(data).flatten().copied().collect());
                        match notice_in(&comment) {
                            Some(notice) => metadata.texts.push(notice),
                            None => metadata.comments.push(comment),
                        }
                    }
                }
                Block::Application(XMP, data) => metadata.xmp = packet(data, run).map(<[u8]>::to_vec),
                _ => {}
            }
        }
        Ok(metadata)
    }

    /// EXIF, IPTC and profiles have no place in a GIF and are left out, but for what they say of author and copyright: that and
    /// plain texts become comments, unless XMP says it.
    fn with_metadata(&self, bytes: &[u8], metadata: &Metadata, run: Run<'_>) -> Result<Vec<u8>> {
        let xmp = metadata.xmp.as_deref().and_then(writable);
        let metadata = &Metadata { xmp: xmp.map(<[u8]>::to_vec), ..metadata.clone() };
        let (screen, mut walk) = Walk::start(bytes)?;
        let table = screen.table.map_or(0, Table::bytes);
        let mut out = Vec::with_capacity(bytes.len());
        out.extend_from_slice(&bytes[..13 + table]);
        out[4] = b'9';
        let mut rest = walk.clone();
        let mut whole = 0;
        while let Some(frame) = rest.next_frame(run)?.filter(|_| whole < 2) {
            whole += usize::from(frame.code_bits.is_some());
        }
        let still = whole == 1;
        let (mut repeated, mut frames) = (Vec::new(), Vec::new());
        while let Some(block) = walk.next(run)? {
            match block {
                Block::Application(name, data) => {
                    if let Some(plays) = plays(name, data) {
                        repeated.clear();
                        write_plays(&mut repeated, plays);
                    }
                }
                // One that is cut off before its data draws nothing, and would swallow what comes behind it.
                Block::Frame(frame) if frame.code_bits.is_some() => {
                    write_stored(&mut frames, &frame, still);
                }
                Block::Frame(_) | Block::Comment(_) | Block::Other => {}
            }
        }
        out.extend(repeated);
        out.extend(frames);
        if let Some(xmp) = xmp {
            out.extend([EXTENSION, APPLICATION, 11]);
            out.extend_from_slice(XMP);
            out.extend_from_slice(xmp);
            out.push(1);
            out.extend((0..=255).rev());
            out.push(0);
        }
        // In this order, since texts may be comments when they are read again, and what is last, a mark, has to stay so.
        let texts = metadata.texts_with_notices();
        for comment in texts.iter().map(comment_of).chain(metadata.comments.iter().cloned()) {
            out.extend([EXTENSION, COMMENT]);
            write_blocks(&mut out, comment.as_bytes().chunks(255));
        }
        out.push(TRAILER);
        Ok(out)
    }
}

/// A packet without what other formats may have behind it; `None` with a zero in it, which would end the extension.
fn writable(xmp: &[u8]) -> Option<&[u8]> {
    let end = xmp.iter().rposition(|&octet| octet != 0)? + 1;
    Some(&xmp[..end]).filter(|xmp| !xmp.contains(&0))
}

/// The packet of an XMP extension, if it is whole and within the limit.
fn packet<'a>(data: &'a [u8], run: Run<'_>) -> Option<&'a [u8]> {
    let packet = data.get(..data.len().checked_sub(XMP_TRAILER)?)?;
    (data[packet.len()..].starts_with(&[1, 255, 254]) && run.limits.check_metadata(packet.len()).is_ok())
        .then_some(packet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::{Encode, EncodeOptions, GifOptions},
        control::Unattended,
        limits::Limits,
        picture::{Channels, Picture, Samples, Still},
    };

    #[test]
    fn a_packet_with_zeros_ends_no_extension_early() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let picture = Picture::new(2, 1, Channels::Gray, Samples::Eight(vec![9, 80])).unwrap();
        let file = Gif.encode(&mut Still::new(&picture), &EncodeOptions::Gif(GifOptions::new(0.0)), run).unwrap();
        let read_back = |xmp: &[u8]| {
            let metadata = Metadata { xmp: Some(xmp.to_vec()), comments: vec!["a mark".into()], ..Metadata::default() };
            let labelled = Gif.with_metadata(&file, &metadata, run).unwrap();
            let found = Gif.metadata(&labelled, run).unwrap();
            assert_eq!(found.comments, ["a mark"]);
            found.xmp
        };
        assert_eq!(read_back(b"<x/>").as_deref(), Some(&b"<x/>"[..]));
        assert_eq!(read_back(b"<x/>\0\0").as_deref(), Some(&b"<x/>"[..]));
        for none in [&b"<x>\0\x2C\0</x>"[..], b"\0\0", b""] {
            assert_eq!(read_back(none), None);
        }
    }
}
