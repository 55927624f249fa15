//! A file that is cut off is an error, never a picture with other pixels.
#![cfg(all(feature = "jpeg", feature = "png", feature = "webp"))]

mod pictures;

use lapidary::{Error, Format};
use pictures::{FORMATS, attempt, decoded, file, logo, photo, process, same_pixels};

/// Decoded, and passed on undecoded.
const REQUESTS: [&str; 2] = [
    r#"{"optimize": {"compression": "lossless"}, "output": {"format": "png"}}"#,
    r#"{"optimize": {"compression": "lossless"}}"#,
];
/// What may be missing at the end without a loss of pixels, in bytes: the end marker of JPEG; the last chunk of PNG, and
/// our mark before it.
const ENDS_AT_MOST: usize = 44;

/// Files of every coding, small.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> =
        FORMATS.map(|format| (format.to_string(), file(&photo(24, 20), format))).into_iter().collect();
    let source = file(&photo(24, 20), Format::Png);
    let made = [
        ("progressive JPEG", r#"{"optimize": {"quality": 60}, "output": {"format": "jpeg"}}"#),
        ("indexed interlaced PNG", r#"{"optimize": {"quality": 20}, "output": {"encoding": "progressive"}}"#),
        ("lossy WEBP", r#"{"optimize": {"quality": 60}, "output": {"format": "webp"}}"#),
    ];
    files.extend(made.map(|(name, json)| (name.to_owned(), process(&source, json).bytes)));
    let logo = file(&logo(24, 20), Format::Png);
    files.push((
        "lossy WEBP with alpha".into(),
        process(&logo, r#"{"optimize": {"quality": 60}, "output": {"format": "webp"}}"#).bytes,
    ));
    files
}

#[test]
fn a_cut_file_is_an_error_or_has_lost_nothing() {
    for (name, bytes) in files() {
        for json in REQUESTS {
            let whole = decoded(&process(&bytes, json).bytes);
            for end in (0..bytes.len()).filter(|end| *end < 64 || end % 5 == 0 || bytes.len() - end < 40) {
                let missing = bytes.len() - end;
                match attempt(&bytes[..end], json) {
                    Ok(outcome) => {
                        assert!(missing <= ENDS_AT_MOST, "{name}: opens without its last {missing} bytes, {json}");
                        let result = image::load_from_memory(&outcome.bytes);
                        let same = result.is_ok_and(|result| same_pixels(&whole, &result));
                        assert!(same, "{name} without its last {missing} bytes, {json}");
                    }
                    Err(Error::Input { problem, .. }) => assert!(!problem.is_empty()),
                    Err(other) => panic!("{name} without its last {missing} bytes: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn nothing_at_all_is_an_error() {
    assert_eq!(attempt(b"", "{}").unwrap_err().to_string(), "the image is empty");
}

#[test]
fn bytes_behind_the_end_change_no_pixel_and_do_not_survive() {
    for format in FORMATS {
        let whole = file(&photo(24, 20), format);
        let more = [&whole[..], b"behind the end"].concat();
        let result = process(&more, REQUESTS[1]).bytes;
        assert!(same_pixels(&decoded(&whole), &decoded(&result)), "{format}");
        assert!(!result.ends_with(b"behind the end"), "{format}");
    }
}
