//! What the fuzz targets share: small limits, and what no input may bring about.

use std::{panic, sync::Once};

use lapidary::{
    Error, Format, Limits, Result, Run, Unattended,
    codec::{Codecs, DecodeOptions},
};

/// Crates that are called where a panic of theirs is caught, and counts as damage to the file.
const CAUGHT: [&str; 6] = ["/resvg-", "/usvg-", "/tiny-skia-", "/svgtypes-", "/simplecss-", "/zune-jpeg-"];

/// Lets panics of [`CAUGHT`] be, where libFuzzer would end the run for any.
fn spare_caught() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let fatal = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            let caught = |file: &str| CAUGHT.iter().any(|name| file.contains(name));
            if !panic.location().is_some_and(|place| caught(place.file())) {
                fatal(panic);
            }
        }));
    });
}

/// Limits under which nothing takes long.
pub fn limits() -> Limits {
    spare_caught();
    let mut limits = Limits::default();
    (limits.side_px, limits.frame_pixels, limits.result_pixels) = (512, 1 << 14, 1 << 14);
    (limits.animation_pixels, limits.frames, limits.metadata_bytes) = (1 << 16, 16, 1 << 16);
    (limits.svg_text_bytes, limits.svg_expanded_bytes) = (1 << 16, 1 << 20);
    (limits.svg_steps, limits.svg_layer_pixels) = (50_000_000, 1 << 20);
    limits
}

/// Gives the result back unless it is a defect: bad input must be told from our own failures.
pub fn no_defect<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error @ (Error::Internal { .. } | Error::Stopped(_))) => panic!("{error:?}"),
        Err(_) => None,
    }
}

/// Reads everything there is in a file of `format`: headers, metadata, pixels, and the file without its metadata.
pub fn read(format: Format, bytes: &[u8]) {
    let limits = limits();
    let run = Run { limits: &limits, control: &Unattended };
    let codecs = Codecs::default();
    let metadata = no_defect(codecs.metadata(format, bytes, run)).unwrap_or_default();
    let Some(info) = no_defect(codecs.probe(format, bytes, run)) else { return };
    let third = Some((info.width.div_ceil(3), info.height.div_ceil(3)));
    for options in [DecodeOptions::default(), DecodeOptions { at_least: third, exactly: third }] {
        let Some(mut frames) = no_defect(codecs.frames(format, bytes, &options, run)) else { continue };
        let layout = frames.layout();
        while let Some(frame) = no_defect(frames.next(run)).flatten() {
            assert_eq!(frame.picture.layout(), layout);
        }
    }
    if let Some(written) = no_defect(codecs.with_metadata(format, bytes, &metadata, run)) {
        let again = no_defect(codecs.with_metadata(format, &written, &metadata, run));
        assert!(again.as_ref() == Some(&written), "replacing metadata is not idempotent");
    }
}

/// A PNG with the right checksum behind every chunk, so that a change to a chunk gets further than to its checksum.
pub fn mended(png: &[u8]) -> Vec<u8> {
    let mut png = png.to_vec();
    let mut at = 8;
    while let Some(length) = png.get(at..at + 4).and_then(|length| length.try_into().ok()).map(u32::from_be_bytes) {
        let checksum = at + 8 + length as usize;
        let Some(body) = png.get(at + 4..checksum) else { break };
        let right = crc(body).to_be_bytes();
        let Some(wrong) = png.get_mut(checksum..checksum + 4) else { break };
        wrong.copy_from_slice(&right);
        at = checksum + 4;
    }
    png
}

/// The checksum of a PNG's chunks, bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    let shift = |crc: u32, _| (crc >> 1) ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), shift))
}
