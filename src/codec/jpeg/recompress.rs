//! The same coefficients in fewer bytes.

use super::{
    blocks::{Blocks, Plane},
    container::plain_jfif,
    decode::memory,
    entropy,
    header::{Header, adobe_transform, damaged},
    libjpeg::Reader,
    scan,
    segments::{marker, write_segment},
    write::write,
};
use crate::{control::Run, error::Result};

/// The file anew: Huffman-coded with tables of its own, in the smallest progression found or in sequential scans, with
/// no metadata but what tells colours and density.
pub(super) fn recompress(bytes: &[u8], interlaced: bool, run: Run<'_>) -> Result<Vec<u8>> {
    write(&blocks(bytes, run)?, interlaced, run)
}

/// The coefficients of a file, once it is known to be whole.
pub(super) fn blocks(bytes: &[u8], run: Run<'_>) -> Result<Blocks> {
    let header = Header::read(bytes)?;
    let frame = &header.frame;
    run.limits.check_canvas(frame.width, frame.height, 1)?;
    scan::outline(bytes, frame, run)?;
    if !frame.arithmetic {
        entropy::check(bytes, frame, run)?;
    }
    unchecked(bytes, &header, run)
}

/// The file Huffman-coded in sequential scans: one, unless its components cannot be interleaved.
pub(super) fn sequential(bytes: &[u8], header: &Header<'_>, run: Run<'_>) -> Result<Vec<u8>> {
    write(&unchecked(bytes, header, run)?, false, run)
}

fn unchecked(bytes: &[u8], header: &Header<'_>, run: Run<'_>) -> Result<Blocks> {
    let (tables, planes) =
        Reader::open(bytes, memory(header), header.frame.arithmetic, run)?.coefficients(&header.frame)?;
    if !planes.iter().all(Plane::is_storable) {
        return Err(damaged("has a value out of range"));
    }
    let mut frame = header.frame.clone();
    // Each component names a table of its own; equal ones are written once.
    let mut distinct: Vec<[u16; 64]> = Vec::new();
    for (component, table) in frame.components.iter_mut().zip(tables) {
        component.table = distinct.iter().position(|known| *known == table).unwrap_or(distinct.len());
        if component.table == distinct.len() {
            distinct.push(table);
        }
    }
    Ok(Blocks { frame, tables: distinct, planes, marks: marks(header) })
}

/// The segments that tell how components make colours, as the source had them.
fn marks(header: &Header<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(jfif) = header.extras.iter().find_map(plain_jfif) {
        write_segment(&mut out, marker::APP0, &[&jfif]);
    }
    // YCbCr is what three components mean without an Adobe segment, unless their names say RGB; all else needs it.
    let needed = match header.frame.components.len() {
        1 => false,
        3 => header.adobe != Some(1) || header.frame.is_named_rgb(),
        _ => true,
    };
    if let Some(adobe) = header.extras.iter().rfind(|extra| adobe_transform(extra).is_some() && needed) {
        write_segment(&mut out, marker::APP14, &[&adobe.payload[..12]]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::{DecodeOptions, jpeg::decode::decode, jpeg::fixture::*},
        control::Watch,
        error::{Error, Stop},
        picture::{Channels, Metadata, Picture},
    };

    fn pixels(file: &[u8]) -> Picture {
        decode(file, &DecodeOptions::default(), run()).unwrap()
    }

    /// The coefficients of a file, as the only file that can be made of them.
    fn canonical(file: &[u8]) -> Vec<u8> {
        recompress(file, false, run()).unwrap()
    }

    #[test]
    fn coefficients_stay_and_the_file_shrinks() {
        let gray = encoded(&photo(90, 70, Channels::Gray), options(3, false)).unwrap();
        for file in [baseline(90, 70), progressive(90, 70), gray] {
            let smaller = recompress(&file, true, run()).unwrap();
            assert!(smaller.len() < file.len(), "{} of {}", smaller.len(), file.len());
            assert!(Header::read(&smaller).unwrap().frame.progressive);
            assert!(!Header::read(&canonical(&file)).unwrap().frame.progressive);
            assert!(canonical(&smaller) == canonical(&file));
            assert_eq!(pixels(&smaller), pixels(&file));
            assert!(recompress(&smaller, true, run()).unwrap() == smaller);
        }
    }

    #[test]
    fn metadata_go_and_colour_marks_stay() {
        let adobe = (0xEE, &b"Adobe\0d\0\0\0\0\0"[..]);
        for (values, ids) in [(&[200u8, 10, 30][..], &[1u8, 2, 3][..]), (&[200, 10, 30, 50], b"CMYK")] {
            let file = flat(values, ids, &[(0xFE, b"comment"), (0xE1, b"Exif\0\0II"), adobe]);
            for interlaced in [false, true] {
                let out = recompress(&file, interlaced, run()).unwrap();
                assert_eq!(crate::codec::jpeg::container::metadata(&out, run()).unwrap(), Metadata::default());
                assert_eq!(pixels(&out), pixels(&file));
                assert_eq!(offsets(&out, 0xEE).len(), 1);
            }
        }
    }

    #[test]
    fn cmyk_without_an_adobe_mark_gets_none() {
        let file = flat(&[200, 10, 30, 50], b"CMYK", &[]);
        let out = recompress(&file, true, run()).unwrap();
        assert_eq!((offsets(&out, 0xEE).len(), pixels(&out)), (0, pixels(&file)));
    }

    #[test]
    fn an_adobe_mark_that_says_the_usual_is_dropped() {
        let file = flat(&[200, 10, 30], &[1, 2, 3], &[(0xEE, b"Adobe\0d\0\0\0\0\x01")]);
        let out = recompress(&file, true, run()).unwrap();
        assert_eq!((offsets(&out, 0xEE).len(), pixels(&out)), (0, pixels(&file)));
        let named = flat(&[200, 10, 30], b"RGB", &[(0xEE, b"Adobe\0d\0\0\0\0\x01")]);
        let out = recompress(&named, true, run()).unwrap();
        assert_eq!((offsets(&out, 0xEE).len(), pixels(&out)), (1, pixels(&file)));
    }

    #[test]
    fn arithmetic_coding_becomes_huffman_coding() {
        let out = recompress(&ARITHMETIC, true, run()).unwrap();
        assert!(!Header::read(&out).unwrap().frame.arithmetic);
        assert_eq!(pixels(&out), pixels(&ARITHMETIC));
    }

    #[test]
    fn a_file_cut_in_its_scans_is_an_error() {
        for file in [baseline(40, 40), progressive(40, 40)] {
            let scan = offsets(&file, 0xDA)[0];
            assert!((scan..file.len() - 3).all(|end| recompress(&file[..end], true, run()).is_err()));
        }
    }

    #[test]
    fn stopping_is_heard_inside_the_library() {
        let (file, watch) = (baseline(40, 40), Watch::default());
        let header = Header::read(&file).unwrap();
        watch.cancel();
        let stopped = unchecked(&file, &header, watched_by(&watch)).map(drop).unwrap_err();
        assert!(matches!(stopped, Error::Stopped(Stop::Cancelled)));
    }
}
