//! Files for tests, made in code.

use libdeflater::{CompressionLvl, Compressor};

use super::{
    chunks,
    header::{ColourType, Header, Pass},
};
use crate::{
    control::{Run, Unattended},
    format::PNG_SIGNATURE,
    limits::Limits,
    picture::{Channels, Picture, Samples},
};

/// A run with the default limits that nobody stops.
pub(super) fn run() -> Run<'static> {
    static LIMITS: std::sync::LazyLock<Limits> = std::sync::LazyLock::new(Limits::default);
    Run { limits: &LIMITS, control: &Unattended }
}

/// A zlib stream of `bytes`.
pub(super) fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::default());
    let mut out = vec![0; compressor.zlib_compress_bound(bytes.len())];
    let length = compressor.zlib_compress(bytes, &mut out).unwrap();
    out.truncate(length);
    out
}

/// Numbers that look random, the same on every run.
pub(super) fn noise(seed: u32) -> impl Iterator<Item = u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 11) as u8
    })
}

/// All fifteen colour types and depths, interlaced and not, at a size that leaves ragged edges.
pub(super) fn valid_headers() -> impl Iterator<Item = Header> {
    use ColourType::{Gray, GrayAlpha, Indexed, Rgb, Rgba};
    let types: [(ColourType, &[u8]); 5] =
        [(Gray, &[1, 2, 4, 8, 16]), (Rgb, &[8, 16]), (Indexed, &[1, 2, 4, 8]), (GrayAlpha, &[8, 16]), (Rgba, &[8, 16])];
    types.into_iter().flat_map(|(colour, depths)| {
        depths.iter().flat_map(move |&depth| {
            [false, true].map(|interlaced| Header { width: 13, height: 11, colour, depth, interlaced })
        })
    })
}

/// Filtered rows of noise for `header`, every filter among them.
pub(super) fn raw_rows(header: Header) -> Vec<u8> {
    let mut noise = noise(u32::from(header.depth) * 7 + header.colour as u32);
    let mut rows = Vec::new();
    for pass in Pass::all(header.width, header.height, header.interlaced) {
        for row in 0..pass.height {
            // Without a filter a palette index stays within its palette.
            rows.push(if header.colour == ColourType::Indexed { 0 } else { (row % 5) as u8 });
            rows.extend(noise.by_ref().take((pass.width as usize * header.bits_per_pixel()).div_ceil(8)));
        }
    }
    rows
}

/// A file from its header and filtered rows, with chunks before and behind the pixels. Indexed files have a palette
/// of all the entries that their depth can name.
pub(super) fn assembled(
    header: Header,
    rows: &[u8],
    before: &[(&[u8; 4], &[u8])],
    behind: &[(&[u8; 4], &[u8])],
) -> Vec<u8> {
    let mut file = PNG_SIGNATURE.to_vec();
    chunks::write(&mut file, b"IHDR", &[&header.to_bytes()]);
    if header.colour == ColourType::Indexed {
        let palette: Vec<u8> = noise(3).take(3 << header.depth).collect();
        chunks::write(&mut file, b"PLTE", &[&palette]);
    }
    before.iter().for_each(|(kind, data)| chunks::write(&mut file, kind, &[data]));
    let data = deflated(rows);
    let (first, second) = data.split_at(data.len() / 2);
    chunks::write(&mut file, b"IDAT", &[first]);
    chunks::write(&mut file, b"IDAT", &[second]);
    behind.iter().for_each(|(kind, data)| chunks::write(&mut file, kind, &[data]));
    chunks::write(&mut file, b"IEND", &[]);
    file
}

/// A file of noise; `transparent` adds a `tRNS` chunk where the colour type may have one.
pub(super) fn file_of(header: Header, transparent: bool) -> Vec<u8> {
    let rows = raw_rows(header);
    let key: &[u8] = match header.colour {
        ColourType::Gray => &[0, 1],
        ColourType::Rgb => &[0, 1, 0, 2, 0, 3],
        _ => &[0, 128],
    };
    let keys: &[(&[u8; 4], &[u8])] = &[(b"tRNS", key)];
    let wanted = transparent && !header.colour.has_alpha();
    assembled(header, &rows, if wanted { keys } else { &[] }, &[])
}

/// A small RGB file with chunks before and behind the pixels.
pub(super) fn file_with(before: &[(&[u8; 4], &[u8])], behind: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let header = Header { width: 5, height: 4, colour: ColourType::Rgb, depth: 8, interlaced: false };
    assembled(header, &raw_rows(header), before, behind)
}

/// A TIFF block of nothing but an orientation.
pub(super) fn block(little: bool, value: u8) -> Vec<u8> {
    if little {
        [&b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0"[..], &[value, 0, 0, 0], &[0; 4]].concat()
    } else {
        [&b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01"[..], &[0, value, 0, 0], &[0; 4]].concat()
    }
}

/// What the `image` crate decodes.
pub(super) fn reference(file: &[u8]) -> Picture {
    use image::DynamicImage as D;
    let decoded = image::load_from_memory_with_format(file, image::ImageFormat::Png).unwrap();
    let (width, height) = (decoded.width(), decoded.height());
    let (channels, samples) = match decoded {
        D::ImageLuma8(p) => (Channels::Gray, Samples::Eight(p.into_raw())),
        D::ImageLumaA8(p) => (Channels::GrayAlpha, Samples::Eight(p.into_raw())),
        D::ImageRgb8(p) => (Channels::Rgb, Samples::Eight(p.into_raw())),
        D::ImageRgba8(p) => (Channels::Rgba, Samples::Eight(p.into_raw())),
        D::ImageLuma16(p) => (Channels::Gray, Samples::Sixteen(p.into_raw())),
        D::ImageLumaA16(p) => (Channels::GrayAlpha, Samples::Sixteen(p.into_raw())),
        D::ImageRgb16(p) => (Channels::Rgb, Samples::Sixteen(p.into_raw())),
        D::ImageRgba16(p) => (Channels::Rgba, Samples::Sixteen(p.into_raw())),
        other => panic!("no PNG decodes to {:?}", other.color()),
    };
    Picture::new(width, height, channels, samples).unwrap()
}
