//! Files made to do harm come back as errors, soon.
#![cfg(all(feature = "jpeg", feature = "png", feature = "webp"))]

mod pictures;

use lapidary::{Engine, Error, Format, Input};
use pictures::{Decoding, FORMATS, attempt, crc32, file, file_with, logo, photo, process, request};

const REQUESTS: [&str; 3] = [
    r#"{"optimize": {"compression": "lossless"}, "output": {"metadata": ["all"]}}"#,
    r#"{"optimize": {"quality": 40}, "output": {"metadata": ["copyright", "date", "location"]}}"#,
    r#"{"optimize": {"quality": 40}, "resize": {"width": 9}, "output": {"format": "webp", "metadata": ["profile"]}}"#,
];

/// Marsaglia's xorshift of 64 bits.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % bound
    }
}

/// Runs the requests on what may be no picture at all. Results must open again; failures must be the file's fault.
fn survive(bytes: &[u8], what: &str) {
    for json in REQUESTS {
        match attempt(bytes, json) {
            Ok(outcome) => assert!(attempt(&outcome.bytes, json).is_ok(), "{what}, {json}: the result does not open"),
            Err(error @ (Error::Internal { .. } | Error::Stopped(_) | Error::Request { .. })) => {
                panic!("{what}, {json}: {error:?}")
            }
            Err(_) => {}
        }
    }
}

/// Small files of every coding, with EXIF where it is read.
fn files() -> Vec<(String, Vec<u8>)> {
    let exif = b"II*\0\x08\0\0\0\x02\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\x98\x82\x02\0\x04\0\0\0me!\0\0\0\0\0";
    let mut files = Vec::new();
    for format in FORMATS {
        files.push((format.to_string(), file_with(&photo(16, 12), format, Some(exif), None)));
        let json =
            format!(r#"{{"optimize": {{"quality": 50}}, "output": {{"format": "{}"}}}}"#, format.name().to_lowercase());
        files.push((format!("our {format}"), process(&file(&logo(16, 12), Format::Png), &json).bytes));
    }
    files
}

#[test]
fn flipped_bits_neither_panic_nor_hang() {
    let mut random = Random(0x5EED_0001);
    for (name, bytes) in files() {
        for round in 0..150 {
            let mut damaged = bytes.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(damaged.len());
                damaged[at] ^= 1 << random.below(8);
            }
            survive(&damaged, &format!("{name}, round {round}"));
        }
    }
}

#[test]
fn overwritten_moved_and_removed_pieces_neither_panic_nor_hang() {
    let mut random = Random(0x5EED_0002);
    for (name, bytes) in files() {
        for round in 0..80 {
            let mut damaged = bytes.clone();
            let at = random.below(damaged.len());
            let end = (at + 1 + random.below(8)).min(damaged.len());
            match random.below(4) {
                0 => damaged[at..end].fill(0xFF),
                1 => damaged[at..end].fill(0),
                2 => drop(damaged.drain(at..end)),
                _ => {
                    let piece = damaged[at..end].to_vec();
                    let to = random.below(damaged.len());
                    damaged.splice(to..to, piece);
                }
            }
            survive(&damaged, &format!("{name}, round {round}"));
        }
    }
}

#[test]
fn headers_that_claim_huge_sides_are_refused_before_anything_is_decoded() {
    let patch = |format, at: usize, claim: &[u8]| {
        let mut bytes = file(&photo(16, 12), format);
        bytes[at..at + claim.len()].copy_from_slice(claim);
        bytes
    };
    let jpeg = file(&photo(16, 12), Format::Jpeg);
    let frame = jpeg.windows(2).position(|marker| marker == [0xFF, 0xC0]).unwrap();
    let mut png = patch(Format::Png, 16, &[0, 0, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF]);
    let crc = crc32(&png[12..29]).to_be_bytes();
    png[29..33].copy_from_slice(&crc);
    let cases = [
        ("JPEG", patch(Format::Jpeg, frame + 5, &[0xFF; 4]), "65535"),
        ("PNG", png, "65535"),
        // The most that VP8L can say.
        ("WEBP", patch(Format::Webp, 21, &[0xFF, 0xFF, 0xFF, 0x0F]), "16384"),
    ];
    for (name, bytes, side) in cases {
        let decoding = Decoding::default();
        let error = Engine::new().process(Input { bytes: &bytes, name: None }, &request("{}"), &decoding).unwrap_err();
        assert!(!decoding.began(), "{name}");
        assert!(matches!(error, Error::Limit { .. }) && error.to_string().contains(side), "{name}: {error}");
    }
}

#[test]
fn small_files_that_claim_what_the_limits_allow_are_errors_and_not_pictures() {
    let mut png = file(&photo(16, 12), Format::Png);
    png[16..24].copy_from_slice(&[0, 0, 0x1B, 0x58, 0, 0, 0x1B, 0x58]);
    let crc = crc32(&png[12..29]).to_be_bytes();
    png[29..33].copy_from_slice(&crc);
    assert!(matches!(attempt(&png, "{}").unwrap_err(), Error::Input { .. }));
    let mut jpeg = file(&photo(16, 12), Format::Jpeg);
    let frame = jpeg.windows(2).position(|marker| marker == [0xFF, 0xC0]).unwrap();
    jpeg[frame + 5..frame + 9].copy_from_slice(&[0x1B, 0x58, 0x1B, 0x58]);
    assert!(matches!(attempt(&jpeg, "{}").unwrap_err(), Error::Input { .. }));
}

/// A gray baseline JPEG of 32 blocks in which every value of every block is 2,047: more than is allowed in any place but
/// the first, where each block adds as much to the one before.
fn values_out_of_range() -> Vec<u8> {
    let segment = |code: u8, payload: &[u8]| [&[0xFF, code, 0, payload.len() as u8 + 2], payload].concat();
    // One code word, 0: a value of eleven bits follows.
    let table = |place: u8| segment(0xC4, &[&[place, 1], &[0; 15][..], &[11]].concat());
    // Two values: a 0 and eleven bits of 1 each.
    let pair = [0x7F, 0xF7, 0xFF, 0];
    let parts = [
        vec![0xFF, 0xD8],
        segment(0xDB, &[&[0], &[1; 64][..]].concat()),
        segment(0xC0, &[8, 0, 8, 1, 0, 1, 1, 0x11, 0]),
        table(0),
        table(0x10),
        segment(0xDA, &[1, 1, 0, 0, 63, 0]),
        pair.repeat(32 * 32),
        vec![0xFF, 0xD9],
    ];
    parts.concat()
}

#[test]
fn a_jpeg_of_values_out_of_range_is_no_failure_of_ours() {
    survive(&values_out_of_range(), "a JPEG of values out of range");
}

#[test]
fn a_jpeg_that_changes_its_quantisation_table_between_scans_is_no_failure_of_ours() {
    let mut jpeg = process(&file(&photo(16, 12), Format::Jpeg), r#"{"optimize": {"quality": 90}}"#).bytes;
    let scans: Vec<_> = (0..jpeg.len() - 1).filter(|&at| jpeg[at..at + 2] == [0xFF, 0xDA]).collect();
    assert!(scans.len() > 1);
    let table = [&[0xFF, 0xDB, 0, 67, 0], &[9; 64][..]].concat();
    jpeg.splice(scans[1]..scans[1], table);
    survive(&jpeg, "a JPEG with another table in its second scan");
}
