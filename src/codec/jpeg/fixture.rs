//! Pictures and files for the tests of this codec, all made here.

use std::sync::LazyLock;

use super::{
    blocks::{Block, Blocks, Plane},
    encode,
    header::{Component, Frame},
    segments::{Segments, marker, write_segment},
};
use crate::{
    codec::{EncodeOptions, JpegOptions, Sampling},
    control::{Control, Run, Unattended},
    error::Result,
    limits::Limits,
    picture::{Channels, Picture, Samples, Still},
};

static LIMITS: LazyLock<Limits> = LazyLock::new(Limits::default);

/// Within the default limits, listening to nobody.
pub(super) fn run() -> Run<'static> {
    watched_by(&Unattended)
}

/// Within the default limits.
pub(super) fn watched_by(control: &dyn Control) -> Run<'_> {
    Run { limits: &LIMITS, control }
}

/// Smooth colours with some grain.
pub(super) fn photo(width: u32, height: u32, channels: Channels) -> Picture {
    let mut state = 1u32;
    let mut samples = Vec::new();
    for y in 0..height {
        for x in 0..width {
            for channel in 0..channels.count() as u32 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                samples.push(((x * (channel + 1) * 3 + y * 5) % 200 + (state >> 28)) as u8);
            }
        }
    }
    Picture::new(width, height, channels, Samples::Eight(samples)).unwrap()
}

/// Quantisation by `step` throughout, 4:2:0, without trellis.
pub(super) fn options(step: u16, progressive: bool) -> JpegOptions {
    JpegOptions { luma: [step; 64], chroma: [step; 64], sampling: Sampling::Half, progressive, trellis: false }
}

pub(super) fn encoded(picture: &Picture, options: JpegOptions) -> Result<Vec<u8>> {
    encode::encode(&mut Still::new(picture), &EncodeOptions::Jpeg(options), run())
}

/// A baseline file of a [`photo`].
pub(super) fn baseline(width: u32, height: u32) -> Vec<u8> {
    encoded(&photo(width, height, Channels::Rgb), options(4, false)).unwrap()
}

/// A progressive file of a [`photo`].
pub(super) fn progressive(width: u32, height: u32) -> Vec<u8> {
    encoded(&photo(width, height, Channels::Rgb), options(4, true)).unwrap()
}

/// `file` with a segment right behind SOI.
pub(super) fn with_segment(file: &[u8], marker: u8, payload: &[&[u8]]) -> Vec<u8> {
    let mut out = file[..2].to_vec();
    write_segment(&mut out, marker, payload);
    out.extend_from_slice(&file[2..]);
    out
}

/// Offsets of the first bytes of all markers of this kind outside of coded data.
pub(super) fn offsets(file: &[u8], marker: u8) -> Vec<usize> {
    let segments = Segments::new(file).unwrap().map(Result::unwrap);
    let start = |payload: &[u8]| payload.as_ptr() as usize - file.as_ptr() as usize - 4;
    segments.filter(|segment| segment.marker == marker).map(|segment| start(segment.payload)).collect()
}

/// A file of 8x8 pixels whose components hold `values` throughout, named by `ids`, with `extras` in front.
pub(super) fn flat(values: &[u8], ids: &[u8], extras: &[(u8, &[u8])]) -> Vec<u8> {
    let mut out = vec![0xFF, marker::SOI];
    extras.iter().for_each(|&(marker, payload)| write_segment(&mut out, marker, &[payload]));
    write_segment(&mut out, marker::DQT, &[&[0], &[8; 64]]);
    let components: Vec<u8> = ids.iter().flat_map(|&id| [id, 0x11, 0]).collect();
    write_segment(&mut out, marker::SOF0, &[&[8, 0, 8, 0, 8, ids.len() as u8], &components]);
    // DC sizes 0 to 8 have codes of four bits, the end of a block has one of one bit.
    let mut counts = [0; 16];
    counts[3] = 9;
    write_segment(&mut out, marker::DHT, &[&[0], &counts, &[0, 1, 2, 3, 4, 5, 6, 7, 8]]);
    write_segment(&mut out, marker::DHT, &[&[0x10, 1], &[0; 15], &[0]]);
    let members: Vec<u8> = ids.iter().flat_map(|&id| [id, 0]).collect();
    write_segment(&mut out, marker::SOS, &[&[ids.len() as u8], &members, &[0, 63, 0]]);
    out.extend(flat_data(values));
    out.extend([0xFF, marker::EOI]);
    out
}

fn flat_data(values: &[u8]) -> Vec<u8> {
    let mut bits = String::new();
    for &value in values {
        let level = i32::from(value) - 128;
        let size = 32 - level.unsigned_abs().leading_zeros() as usize;
        let coded = if level < 0 { level - 1 + (1 << size) } else { level };
        bits += &format!("{size:04b}");
        if size > 0 {
            bits += &format!("{coded:0size$b}");
        }
        bits.push('0');
    }
    bits += &"1".repeat(bits.len().next_multiple_of(8) - bits.len());
    let bytes = (0..bits.len()).step_by(8).map(|at| u8::from_str_radix(&bits[at..at + 8], 2).unwrap());
    bytes.flat_map(|byte| if byte == 0xFF { vec![0xFF, 0] } else { vec![byte] }).collect()
}

/// Blocks whose coefficients are `value` of their place: component, block, coefficient.
pub(super) fn made(size: (u32, u32), units: &[(usize, usize)], value: impl Fn(usize, usize, usize) -> i16) -> Blocks {
    let component = |(index, &(across, down)): (usize, &(usize, usize))| Component {
        id: index as u8 + 1,
        across,
        down,
        table: index.min(1),
    };
    let components: Vec<_> = units.iter().enumerate().map(component).collect();
    let tables = vec![[3; 64], [300; 64]][..components.len().min(2)].to_vec();
    let frame = Frame { width: size.0, height: size.1, components, progressive: false, arithmetic: false };
    let plane = |(index, component)| {
        let mut plane = Plane::with_room(&frame, component);
        let (across, down) = frame.blocks(component);
        for at in 0..across * down {
            let block: Block = std::array::from_fn(|k| value(index, at, k));
            plane.push(block);
        }
        plane
    };
    let planes = frame.components.iter().enumerate().map(plane).collect();
    Blocks { frame, tables, planes, marks: Vec::new() }
}

/// An arithmetic-coded gray file of 16x8 pixels, by libjpeg-turbo's cjpeg.
pub(super) const ARITHMETIC: [u8; 119] = [
    0xff, 0xd8, 0xff, 0xdb, 0x00, 0x43, 0x00, 0x08, 0x06, 0x06, 0x07, 0x06, 0x05, 0x08, 0x07, 0x07, 0x07, 0x09, 0x09,
    0x08, 0x0a, 0x0c, 0x14, 0x0d, 0x0c, 0x0b, 0x0b, 0x0c, 0x19, 0x12, 0x13, 0x0f, 0x14, 0x1d, 0x1a, 0x1f, 0x1e, 0x1d,
    0x1a, 0x1c, 0x1c, 0x20, 0x24, 0x2e, 0x27, 0x20, 0x22, 0x2c, 0x23, 0x1c, 0x1c, 0x28, 0x37, 0x29, 0x2c, 0x30, 0x31,
    0x34, 0x34, 0x34, 0x1f, 0x27, 0x39, 0x3d, 0x38, 0x32, 0x3c, 0x2e, 0x33, 0x34, 0x32, 0xff, 0xc9, 0x00, 0x0b, 0x08,
    0x00, 0x08, 0x00, 0x10, 0x01, 0x01, 0x11, 0x00, 0xff, 0xcc, 0x00, 0x06, 0x00, 0x10, 0x10, 0x05, 0xff, 0xda, 0x00,
    0x08, 0x01, 0x01, 0x00, 0x00, 0x3f, 0x00, 0xff, 0x00, 0x95, 0xf0, 0x01, 0xa9, 0x08, 0x03, 0x5a, 0x38, 0x37, 0xa5,
    0xdb, 0xcb, 0x40, 0xff, 0xd9,
];
