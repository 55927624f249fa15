//! Files to pixels.

use std::io::Cursor;

use png::{Decoder, Limits, Transformations};

use super::{
    chunks::{Chunk, damaged},
    header::{ColourType, Header, Pass},
    parts::Parts,
};
use crate::{
    control::Run,
    error::{Error, Result},
    format::Format,
    picture::{Channels, Picture, Samples},
};

/// The palette of an indexed file with its alpha, in the file's order.
pub(super) fn palette(parts: &Parts<'_>) -> Vec<[u8; 4]> {
    let alpha = parts.transparency.unwrap_or(&[]).iter().copied().chain(std::iter::repeat(255));
    parts.palette.as_chunks::<3>().0.iter().zip(alpha).map(|(&[r, g, b], a)| [r, g, b, a]).collect()
}

/// All pixels. Depths under 8 bits become 8, palettes become RGB or RGBA, `tRNS` becomes alpha; 16 bits stay.
///
/// # Errors
/// [`Error::Input`] if a checksum is wrong, data are missing or cannot be decompressed, or a row names a filter that does
/// not exist.
pub(super) fn decode(parts: &Parts<'_>, run: Run<'_>) -> Result<Picture> {
    let header = parts.header;
    run.limits.check_canvas(header.width, header.height, 1)?;
    parts.check_data(run)?;
    let data: Vec<&[u8]> = parts.data.iter().map(Chunk::data).collect();
    image(parts, header, &data, run)
}

/// The pixels of `data`, stored as `header` says with the palette and transparency of `parts`. Size and checksums are
/// believed.
pub(super) fn image(parts: &Parts<'_>, header: Header, data: &[&[u8]], run: Run<'_>) -> Result<Picture> {
    let expansion = Expansion::of(parts);
    let count = header.width as usize * header.height as usize * expansion.channels.count();
    let samples = if header.depth == 16 {
        let mut samples = vec![0u16; count];
        read_rows(
            &parts.image(header, data),
            header,
            &mut samples,
            expansion.channels,
            |row, out| expansion.sixteen(row, out),
            run,
        )?;
        Samples::Sixteen(samples)
    } else {
        let mut samples = vec![0u8; count];
        read_rows(
            &parts.image(header, data),
            header,
            &mut samples,
            expansion.channels,
            |row, out| expansion.eight(row, out),
            run,
        )?;
        Samples::Eight(samples)
    };
    Picture::new(header.width, header.height, expansion.channels, samples)
}

/// Decompresses and unfilters row by row; `expand` turns a stored row into samples. Nothing is in `file` but what shows
/// the pixels, so that no metadata can slow the foreign decoder down or upset it.
fn read_rows<T: Copy + Default>(
    file: &[u8],
    header: Header,
    samples: &mut [T],
    channels: Channels,
    expand: impl Fn(&[u8], &mut [T]),
    run: Run<'_>,
) -> Result<()> {
    let mut decoder = Decoder::new_with_limits(Cursor::new(file), Limits { bytes: 64 << 20 });
    decoder.set_transformations(Transformations::IDENTITY);
    let failed = |error: png::DecodingError| Error::damaged(Format::Png, "has damaged or missing pixel data", error);
    let mut reader = decoder.read_info().map_err(failed)?;
    let bits = header.bits_per_pixel();
    let stride = header.width as usize * channels.count();
    let mut stored = vec![0; (header.width as usize * bits).div_ceil(8)];
    let mut scattered = vec![T::default(); if header.interlaced { stride } else { 0 }];
    for pass in Pass::all(header.width, header.height, header.interlaced) {
        let width = pass.width as usize;
        let stored = &mut stored[..(width * bits).div_ceil(8)];
        for row in 0..pass.height {
            if row % 16 == 0 {
                run.check()?;
            }
            reader.read_row(stored).map_err(failed)?.ok_or_else(|| damaged("has too few rows"))?;
            let out = &mut samples[pass.y(row) * stride..][..stride];
            if pass.is_contiguous() {
                expand(stored, out);
            } else {
                let count = channels.count();
                let scattered = &mut scattered[..width * count];
                expand(stored, scattered);
                for (x, pixel) in pass.columns().zip(scattered.chunks_exact(count)) {
                    out[x * count..][..count].copy_from_slice(pixel);
                }
            }
        }
    }
    // Reads what is left of the data, so that damage behind the last row is found too.
    reader.read_row(&mut stored).map_err(failed).map(drop)
}

/// How stored samples become those of a picture.
struct Expansion {
    header: Header,
    channels: Channels,
    palette: Vec<[u8; 4]>,
    /// The stored colour that is transparent; one value for gray, three for RGB.
    key: Option<[u16; 3]>,
}

impl Expansion {
    fn of(parts: &Parts<'_>) -> Self {
        let channels = match (parts.header.colour, parts.transparency.is_some()) {
            (ColourType::Gray, false) => Channels::Gray,
            (ColourType::Gray, true) | (ColourType::GrayAlpha, _) => Channels::GrayAlpha,
            (ColourType::Rgb | ColourType::Indexed, false) => Channels::Rgb,
            (ColourType::Rgb | ColourType::Indexed, true) | (ColourType::Rgba, _) => Channels::Rgba,
        };
        Self { header: parts.header, channels, palette: palette(parts), key: key(parts) }
    }

    fn eight(&self, row: &[u8], out: &mut [u8]) {
        match (self.header.colour, self.key) {
            (ColourType::Indexed, _) => self.indexed(row, out),
            (ColourType::Gray, key) if self.header.depth < 8 => {
                let scale = 255 / ((1u16 << self.header.depth) - 1) as u8;
                let count = self.channels.count();
                for (value, out) in unpacked(row, self.header.depth).zip(out.chunks_exact_mut(count)) {
                    out[0] = value * scale;
                    if let Some([key, ..]) = key {
                        out[1] = if u16::from(value) == key { 0 } else { 255 };
                    }
                }
            }
            (ColourType::Gray, Some([key, ..])) => {
                for (&value, out) in row.iter().zip(out.as_chunks_mut::<2>().0) {
                    *out = [value, if u16::from(value) == key { 0 } else { 255 }];
                }
            }
            (ColourType::Rgb, Some(key)) => {
                for (&[r, g, b], out) in row.as_chunks::<3>().0.iter().zip(out.as_chunks_mut::<4>().0) {
                    *out = [r, g, b, if [r, g, b].map(u16::from) == key { 0 } else { 255 }];
                }
            }
            _ => out.copy_from_slice(row),
        }
    }

    /// Beyond the palette, its last entry shows, as in Chromium.
    fn indexed(&self, row: &[u8], out: &mut [u8]) {
        let (count, last) = (self.channels.count(), self.palette.len().saturating_sub(1));
        for (index, out) in unpacked(row, self.header.depth).zip(out.chunks_exact_mut(count)) {
            out.copy_from_slice(&self.palette[usize::from(index).min(last)][..count]);
        }
    }

    fn sixteen(&self, row: &[u8], out: &mut [u16]) {
        let stored = row.as_chunks::<2>().0.iter().map(|&pair| u16::from_be_bytes(pair));
        match self.key {
            None => stored.zip(out).for_each(|(value, out)| *out = value),
            Some(key) => {
                let (colours, count) = (self.header.colour.samples(), self.channels.count());
                for (pixel, out) in row.chunks_exact(2 * colours).zip(out.chunks_exact_mut(count)) {
                    let values = pixel.as_chunks::<2>().0.iter().map(|&pair| u16::from_be_bytes(pair));
                    values.zip(&mut *out).for_each(|(value, out)| *out = value);
                    out[colours] = if out[..colours] == key[..colours] { 0 } else { u16::MAX };
                }
            }
        }
    }
}

/// The transparent colour of gray and RGB. Below 16 bits only the low byte counts.
fn key(parts: &Parts<'_>) -> Option<[u16; 3]> {
    let mask = if parts.header.depth == 16 { 0xFFFF } else { 0xFF };
    match (parts.header.colour, parts.transparency?) {
        (ColourType::Gray, &[a, b]) => Some([u16::from_be_bytes([a, b]) & mask; 3]),
        (ColourType::Rgb, &[a, b, c, d, e, f]) => Some([[a, b], [c, d], [e, f]].map(|p| u16::from_be_bytes(p) & mask)),
        _ => None,
    }
}

/// The samples of a row of 1, 2, 4 or 8 bits each, and what pads its last byte.
fn unpacked(row: &[u8], depth: u8) -> impl Iterator<Item = u8> {
    let per_byte = 8 / depth;
    let mask = (u16::MAX >> (16 - depth)) as u8;
    row.iter().flat_map(move |&byte| (1..=per_byte).map(move |i| byte >> (8 - i * depth) & mask))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::png::{
        chunks,
        fixtures::{assembled, file_of, file_with, raw_rows, reference, run, valid_headers},
    };

    fn read(file: &[u8]) -> Result<Picture> {
        decode(&Parts::of(file)?, run())
    }

    fn problem(file: &[u8]) -> String {
        let error = read(file).unwrap_err();
        assert!(matches!(error, Error::Input { .. }), "{error:?}");
        error.to_string()
    }

    #[test]
    fn every_colour_type_depth_and_interlacing_decodes_as_in_the_image_crate() {
        for header in valid_headers() {
            for transparent in [false, true] {
                let file = file_of(header, transparent);
                assert_eq!(read(&file).unwrap(), reference(&file), "{header:?} {transparent}");
            }
        }
    }

    #[test]
    fn every_cut_before_the_end_of_the_data_is_an_error() {
        let file = file_with(&[], &[]);
        let end_of_data = file.len() - 12;
        for length in 0..end_of_data {
            // Between the two data chunks nothing is cut off that a chunk could miss; the pixels are.
            assert!(read(&file[..length]).is_err(), "cut at {length}");
        }
        for length in end_of_data..=file.len() {
            assert!(read(&file[..length]).is_ok(), "cut at {length}");
        }
    }

    #[test]
    fn a_wrong_checksum_in_anything_that_shows_pixels_is_an_error_by_its_name() {
        for header in valid_headers().filter(|header| header.depth == 8 && !header.colour.has_alpha()) {
            let file = file_of(header, true);
            let kinds: &[&[u8]] = if header.colour == ColourType::Indexed {
                &[b"IHDR", b"PLTE", b"tRNS", b"IDAT"]
            } else {
                &[b"tRNS", b"IDAT"]
            };
            for kind in kinds {
                let mut broken = file.clone();
                let at = file.windows(4).position(|window| window == *kind).unwrap();
                broken[at + 4] ^= 1;
                let name = String::from_utf8_lossy(kind);
                assert!(problem(&broken).contains(&format!("wrong checksum in its {name}")));
            }
        }
    }

    #[test]
    fn too_few_rows_and_unknown_filters_are_errors() {
        let header = Header { width: 5, height: 4, colour: ColourType::Rgb, depth: 8, interlaced: false };
        let mut rows = raw_rows(header);
        assert!(read(&assembled(header, &rows, &[], &[])).is_ok());
        assert!(problem(&assembled(header, &rows[..rows.len() - 1], &[], &[])).contains("pixel data"));
        rows[16] = 7;
        assert!(problem(&assembled(header, &rows, &[], &[])).contains("pixel data"));
    }

    #[test]
    fn a_pixel_beyond_the_palette_has_its_last_colour_as_in_chromium() {
        let header = Header { width: 3, height: 1, colour: ColourType::Indexed, depth: 8, interlaced: false };
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        chunks::write(&mut file, b"IHDR", &[&header.to_bytes()]);
        chunks::write(&mut file, b"PLTE", &[&[1, 2, 3, 4, 5, 6]]);
        chunks::write(&mut file, b"IDAT", &[&crate::codec::png::fixtures::deflated(&[0, 0, 1, 2])]);
        assert_eq!(read(&file).unwrap().eight(), Some(&[1, 2, 3, 4, 5, 6, 4, 5, 6][..]));
    }

    #[test]
    fn a_size_over_the_limit_is_refused_before_anything_is_allocated() {
        let header = Header { width: 50_000, height: 50_000, colour: ColourType::Rgba, depth: 16, interlaced: false };
        let error = read(&assembled(header, &[0; 100], &[], &[])).unwrap_err();
        assert!(matches!(error, Error::Limit { wanted: 50_000, .. }));
    }

    #[test]
    fn metadata_bombs_cost_nothing() {
        let bomb = crate::codec::png::fixtures::deflated(&vec![0; 32 << 20]);
        let text = [b"Comment\0\0", &bomb[..]].concat();
        let profile = [b"icc\0\0", &bomb[..]].concat();
        let file = file_with(&[(b"iCCP", &profile), (b"zTXt", &text)], &[(b"zTXt", &text)]);
        assert_eq!(read(&file).unwrap(), read(&file_with(&[], &[])).unwrap());
    }

    #[test]
    fn damaged_ancillary_chunks_do_not_matter() {
        let file = file_with(&[(b"pHYs", &[1]), (b"gAMA", &[]), (b"sBIT", &[9; 9]), (b"bKGD", &[])], &[(b"tIME", &[])]);
        assert_eq!(read(&file).unwrap(), read(&file_with(&[], &[])).unwrap());
    }
}
