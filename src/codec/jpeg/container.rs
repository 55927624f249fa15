//! Metadata out of a file and into it, without touching a coefficient.

use super::{
    density,
    header::{Header, adobe_transform, damaged, is_jfif},
    metadata::{self, EXIF, ICC, PHOTOSHOP, XMP},
    segments::{MAX_PAYLOAD, Segment, Segments, marker, write_segment},
};
use crate::{
    control::Run,
    error::Result,
    picture::{Metadata, photoshop},
};

/// Bytes of a profile that fit one segment behind its name, number and count.
const ICC_CHUNK: usize = MAX_PAYLOAD - ICC.len() - 2;

/// All metadata of the file.
pub(super) fn metadata(bytes: &[u8], run: Run<'_>) -> Result<Metadata> {
    let header = Header::read(bytes)?;
    Ok(metadata::read(&header.extras, run.limits))
}

/// The file with exactly `metadata`. A block too long for its segment is left out; a profile is split.
pub(super) fn with_metadata(bytes: &[u8], metadata: &Metadata, run: Run<'_>) -> Result<Vec<u8>> {
    let header = Header::read(bytes)?;
    let mut out = Vec::with_capacity(bytes.len());
    out.extend([0xFF, marker::SOI]);
    if let Some(mut jfif) = header.extras.iter().find_map(plain_jfif) {
        density::write(&mut jfif, metadata);
        write_segment(&mut out, marker::APP0, &[&jfif]);
    }
    write_blocks(&mut out, metadata);
    if let Some(adobe) = header.extras.iter().rfind(|extra| adobe_transform(extra).is_some()) {
        write_segment(&mut out, marker::APP14, &[&adobe.payload[..12]]);
    }
    write_comments(&mut out, metadata);
    let mut segments = Segments::new(bytes)?;
    for segment in segments.by_ref() {
        let segment = segment?;
        run.check()?;
        if shows_pixels(&segment) {
            write_segment(&mut out, segment.marker, &[segment.payload]);
            out.extend_from_slice(segment.entropy);
        }
    }
    if !segments.closed() && header.frame.arithmetic {
        // Nothing else would tell that such a file was cut.
        return Err(damaged("has no end marker"));
    }
    out.extend([0xFF, marker::EOI]);
    Ok(out)
}

/// Whether a segment is needed to decode: tables, frame and scan headers.
fn shows_pixels(segment: &Segment<'_>) -> bool {
    use marker::{DAC, DHT, DNL, DQT, DRI, SOS};
    segment.is_frame() || matches!(segment.marker, DHT | DAC | SOS | DQT | DNL | DRI)
}

/// A JFIF header's version and density, without its thumbnail.
pub(super) fn plain_jfif(segment: &Segment<'_>) -> Option<[u8; 14]> {
    let mut plain = [0; 14];
    plain[..12].copy_from_slice(segment.payload.get(..12).filter(|_| is_jfif(segment))?);
    Some(plain)
}

fn write_blocks(out: &mut Vec<u8>, metadata: &Metadata) {
    for (name, block) in [(EXIF, &metadata.exif), (XMP, &metadata.xmp)] {
        if let Some(block) = block.as_deref().filter(|block| name.len() + block.len() <= MAX_PAYLOAD) {
            write_segment(out, marker::APP1, &[name, block]);
        }
    }
    let profile = metadata.icc.as_deref().unwrap_or(&[]);
    if let Ok(count) = u8::try_from(profile.len().div_ceil(ICC_CHUNK)) {
        for (number, chunk) in (1..=count).zip(profile.chunks(ICC_CHUNK)) {
            write_segment(out, marker::APP2, &[ICC, &[number, count], chunk]);
        }
    }
    if let Some(resources) = metadata.iptc.as_deref().map(photoshop::resources)
        && PHOTOSHOP.len() + resources.len() <= MAX_PAYLOAD
    {
        write_segment(out, marker::APP13, &[PHOTOSHOP, &resources]);
    }
}

/// Plain texts as comments `keyword: text`, since the format has no better place for them, and comments. In this order, since
/// the texts are comments when they are read again, and what is last, a mark, has to stay so.
fn write_comments(out: &mut Vec<u8>, metadata: &Metadata) {
    let texts = metadata.texts.iter().map(|(keyword, text)| format!("{keyword}: {text}"));
    for comment in texts.chain(metadata.comments.iter().cloned()) {
        if comment.len() <= MAX_PAYLOAD {
            write_segment(out, marker::COM, &[comment.as_bytes()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::{DecodeOptions, jpeg::decode::decode, jpeg::fixture::*},
        limits::Limits,
        picture::Picture,
    };

    fn full() -> Metadata {
        Metadata {
            icc: Some((0..150_000u32).map(|n| (n / 7) as u8).collect()),
            colours: None,
            exif: Some(b"II*\0\x08\0\0\0\0\0\0\0\0\0".to_vec()),
            xmp: Some(b"<x:xmpmeta/>".to_vec()),
            iptc: Some(b"\x1C\x02\x74\0\x03me!".to_vec()),
            texts: Vec::new(),
            chunks: Vec::new(),
            comments: vec!["one".into(), "zwei \u{e4}".into()],
        }
    }

    fn pixels(file: &[u8]) -> Picture {
        decode(file, &DecodeOptions::default(), run()).unwrap()
    }

    #[test]
    fn what_is_written_is_read_again_and_pixels_stay() {
        for file in [baseline(40, 30), progressive(40, 30)] {
            let labelled = with_metadata(&file, &full(), run()).unwrap();
            assert!(metadata(&labelled, run()).unwrap() == full());
            assert_eq!(pixels(&labelled), pixels(&file));
            assert_eq!(offsets(&labelled, 0xE2).len(), 3);
            assert!(with_metadata(&labelled, &full(), run()).unwrap() == labelled);
            assert!(with_metadata(&labelled, &Metadata::default(), run()).unwrap() == file);
        }
    }

    #[test]
    fn everything_that_does_not_show_pixels_goes() {
        let file = baseline(16, 16);
        let mut loaded = with_segment(&file, 0xE5, &[b"other"]);
        loaded = with_segment(&loaded, 0xE2, &[b"MPF\0", b"index"]);
        loaded = with_segment(&loaded, 0xFE, &[b"comment"]);
        loaded.extend_from_slice(&file);
        assert!(with_metadata(&loaded, &Metadata::default(), run()).unwrap() == file);
    }

    #[test]
    fn a_jfif_header_keeps_its_density_and_loses_its_thumbnail() {
        let jfif = b"JFIF\0\x01\x02\x01\0\x48\0\x48\x01\x01abc";
        let out = with_metadata(&flat(&[9], b"A", &[(0xE0, jfif)]), &Metadata::default(), run()).unwrap();
        assert_eq!(&out[2..20], b"\xFF\xE0\0\x10JFIF\0\x01\x02\x01\0\x48\0\x48\0\0");
    }

    #[test]
    fn adobe_marks_stay_since_they_tell_colours() {
        let file = flat(&[200, 10, 30], &[1, 2, 3], &[(0xEE, b"Adobe\0d\0\0\0\0\0")]);
        let out = with_metadata(&file, &full(), run()).unwrap();
        assert_eq!(pixels(&out), pixels(&file));
        assert_eq!(offsets(&out, 0xEE).len(), 1);
    }

    #[test]
    fn a_profile_is_joined_in_the_order_of_its_numbers() {
        let chunk = |number: u8, count: u8, data: &[u8]| {
            let payload = [ICC, &[number, count], data].concat();
            move |file: &[u8]| with_segment(file, 0xE2, &[&payload])
        };
        let icc = |file: &[u8]| metadata(file, run()).unwrap().icc;
        let (first, second) = (chunk(1, 2, b"ab"), chunk(2, 2, b"cd"));
        let file = baseline(8, 8);
        assert_eq!(icc(&first(&second(&file))).unwrap(), b"abcd");
        assert_eq!(icc(&second(&first(&file))).unwrap(), b"abcd");
        assert_eq!(icc(&first(&file)), None);
        assert_eq!(icc(&first(&first(&file))), None);
        assert_eq!(icc(&chunk(0, 2, b"ab")(&first(&file))), None);
    }

    #[test]
    fn blocks_over_the_limit_are_left_out() {
        let limits = Limits { metadata_bytes: 100_000, ..Limits::default() };
        let labelled = with_metadata(&baseline(8, 8), &full(), run()).unwrap();
        let read = metadata(&labelled, Run { limits: &limits, ..run() }).unwrap();
        assert_eq!((read.icc, read.exif), (None, full().exif));
    }

    #[test]
    fn all_comments_share_the_limit() {
        let limits = Limits { metadata_bytes: 2100, ..Limits::default() };
        let given = Metadata { comments: ["a", "b", "c"].map(|text| text.repeat(1000)).into(), ..Metadata::default() };
        let labelled = with_metadata(&baseline(8, 8), &given, run()).unwrap();
        let read = metadata(&labelled, Run { limits: &limits, ..run() }).unwrap();
        assert_eq!(read.comments, given.comments[..2]);
    }

    #[test]
    fn the_orientation_stays_of_a_block_over_the_limit() {
        let limits = Limits { metadata_bytes: 1000, ..Limits::default() };
        let turned = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
        let given = Metadata { exif: Some([turned, &[0; 1000][..]].concat()), ..Metadata::default() };
        let labelled = with_metadata(&baseline(8, 8), &given, run()).unwrap();
        let read = metadata(&labelled, Run { limits: &limits, ..run() }).unwrap();
        assert_eq!(read.orientation(), given.orientation());
        assert!(read.exif.is_some_and(|exif| exif.len() < 100));
    }

    #[test]
    fn blocks_too_long_for_a_segment_are_left_out() {
        let long = vec![b'x'; MAX_PAYLOAD];
        let given = Metadata { exif: Some(long.clone()), iptc: Some(long), ..full() };
        let read = metadata(&with_metadata(&baseline(8, 8), &given, run()).unwrap(), run()).unwrap();
        assert!(read == Metadata { exif: None, iptc: None, ..full() });
    }

    #[test]
    fn texts_become_comments() {
        let given = Metadata { texts: vec![("Copyright".into(), "2020 me".into())], ..Metadata::default() };
        let read = metadata(&with_metadata(&baseline(8, 8), &given, run()).unwrap(), run()).unwrap();
        assert_eq!(read.comments, ["Copyright: 2020 me"]);
    }

    #[test]
    fn an_arithmetic_file_without_its_end_is_an_error() {
        assert!(with_metadata(&ARITHMETIC, &full(), run()).is_ok());
        assert!(with_metadata(&ARITHMETIC[..ARITHMETIC.len() - 2], &full(), run()).is_err());
    }
}
