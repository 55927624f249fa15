//! Pixels and files to small files.

use super::{
    decode,
    forms::Form,
    header::Space,
    indexed::Indexed,
    parts::Parts,
    probe::space,
    search::{Pixels, smallest},
};
use crate::{
    codec::PngOptions,
    control::Run,
    error::{Error, Result},
    picture::{Channels, Frames, Picture},
};

/// The effort of lossless recompression: on real files 0.4 % below oxipng's preset of this number.
const RECOMPRESSION: u8 = 4;

/// One frame, exactly: colours under full transparency and 16 bits stay.
pub(super) fn encode(frames: &mut dyn Frames, options: &PngOptions, run: Run<'_>) -> Result<Vec<u8>> {
    let file = {
        let frame = frames.next(run)?.ok_or_else(|| Error::internal("encoding PNG", "there is no frame"))?;
        let size = (frame.picture.width(), frame.picture.height());
        smallest(&pixels(&frame.picture, None, Space::Any, run)?, size, options.interlaced, options.effort, run)?
    };
    if frames.next(run)?.is_some() {
        return Err(Error::unsupported("a PNG of more than one frame"));
    }
    Ok(file)
}

fn pixels<'a>(picture: &Picture, hint: Option<&'a [[u8; 4]]>, space: Space, run: Run<'_>) -> Result<Pixels<'a>> {
    if picture.channels() == Channels::Cmyk {
        return Err(Error::unsupported("a PNG of CMYK"));
    }
    Ok(match Indexed::of(picture, run)? {
        Some(indexed) => Pixels::Few(indexed, hint, space),
        None => Pixels::Many(Form::of(picture, space)?),
    })
}

/// A file of `width` x `height` pixels that are indices into a palette of straight RGBA with at most 256 entries, row
/// by row. The palette is reordered, equal and unused entries are dropped; where another form of the same pixels is
/// smaller (gray, truecolour) that is written.
///
/// # Errors
/// [`Error::Internal`] if a side is 0, the number of indices is not `width * height`, or one of them has no entry.
pub fn encode_indexed(
    width: u32,
    height: u32,
    palette: &[[u8; 4]],
    indices: &[u8],
    options: &PngOptions,
    run: Run<'_>,
) -> Result<Vec<u8>> {
    if width == 0 || height == 0 || u64::from(width) * u64::from(height) != indices.len() as u64 {
        let problem = format!("{width}x{height} does not hold {} indices", indices.len());
        return Err(Error::internal("encoding an indexed PNG", problem));
    }
    run.check()?;
    let indexed = Indexed::from_palette(width, palette, indices)?;
    smallest(&Pixels::Few(indexed, Some(palette), Space::Any), (width, height), options.interlaced, options.effort, run)
}

/// The same pixels in fewer bytes, in the space of their profile; the old data where no fewer are found.
pub(super) fn recompress(parts: &Parts<'_>, interlaced: bool, run: Run<'_>) -> Result<Vec<u8>> {
    let palette = decode::palette(parts);
    let hint = (!palette.is_empty()).then_some(&palette[..]);
    let pixels = pixels(&decode::decode(parts, run)?, hint, space(parts), run)?;
    let file = smallest(&pixels, (parts.header.width, parts.header.height), interlaced, RECOMPRESSION, run)?;
    let old = parts.file(false, &[], &[]);
    Ok(if old.len() <= file.len() && parts.header.interlaced == interlaced { old } else { file })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::png::{
            fixtures::{assembled, file_of, noise, reference, run, valid_headers},
            header::{ColourType, Header, Pass},
            probe::is_gray,
        },
        picture::{Depth, Samples, Still},
    };

    /// Pictures of every layout: noise, few colours, gray in disguise, one transparent colour.
    fn pictures() -> Vec<Picture> {
        let mut pictures = Vec::new();
        for channels in [Channels::Gray, Channels::GrayAlpha, Channels::Rgb, Channels::Rgba] {
            for mask in [0xFF, 0x80, 0xC0, 0x11] {
                let samples: Vec<u8> = noise(mask).map(|b| b & mask as u8).take(37 * 23 * channels.count()).collect();
                let wide = samples.iter().map(|&sample| u16::from(sample) * 251).collect();
                pictures.push(Picture::new(37, 23, channels, Samples::Sixteen(wide)).unwrap());
                pictures.push(Picture::new(37, 23, channels, Samples::Eight(samples)).unwrap());
            }
        }
        let gray: Vec<u8> = noise(1).take(30 * 20).flat_map(|v| [v, v, v, if v < 9 { 0 } else { 255 }]).collect();
        pictures.push(Picture::new(30, 20, Channels::Rgba, Samples::Eight(gray)).unwrap());
        let mut keyed: Vec<u8> = noise(2).take(4 * 40 * 30).collect();
        for (i, pixel) in keyed.chunks_exact_mut(4).enumerate() {
            if i % 3 == 0 { pixel.copy_from_slice(&[9, 8, 7, 0]) } else { (pixel[0], pixel[3]) = (pixel[0] | 16, 255) }
        }
        pictures.push(Picture::new(40, 30, Channels::Rgba, Samples::Eight(keyed)).unwrap());
        pictures
    }

    fn same(file: &[u8], picture: &Picture) {
        let (theirs, ours) = (reference(file), decode::decode(&Parts::of(file).unwrap(), run()).unwrap());
        assert_eq!(theirs, ours);
        let all = |picture: Picture| picture.into_channels(Channels::Rgba);
        assert_eq!(all(ours), all(picture.clone()));
    }

    #[test]
    fn every_picture_comes_back_exactly_at_every_effort_and_interlacing() {
        for picture in pictures() {
            for effort in [0, 1, 2, 4, 6] {
                for interlaced in [false, true] {
                    let options = PngOptions { interlaced, effort };
                    let file = encode(&mut Still::new(&picture), &options, run()).unwrap();
                    same(&file, &picture);
                    assert_eq!(Parts::of(&file).unwrap().header.interlaced, interlaced);
                }
            }
        }
    }

    #[test]
    fn encoding_twice_gives_the_same_bytes() {
        let options = PngOptions { interlaced: false, effort: 4 };
        for picture in pictures() {
            let encoded = || encode(&mut Still::new(&picture), &options, run()).unwrap();
            assert_eq!(encoded(), encoded());
        }
    }

    fn header_of(picture: &Picture) -> Header {
        let options = PngOptions { interlaced: false, effort: 2 };
        Parts::of(&encode(&mut Still::new(picture), &options, run()).unwrap()).unwrap().header
    }

    #[test]
    fn channels_and_bits_that_say_nothing_are_not_stored() {
        let checks: Vec<u8> =
            (0..64 * 64).flat_map(|i| [if (i / 8 + i / 512) % 2 == 0 { 0 } else { 255 }; 3]).collect();
        let header = header_of(&Picture::new(64, 64, Channels::Rgb, Samples::Eight(checks)).unwrap());
        assert_eq!((header.colour, header.depth), (ColourType::Gray, 1));
        let few: Vec<u8> = noise(8).take(64 * 64).flat_map(|v| [v & 1, v & 2, 200, 255]).collect();
        let header = header_of(&Picture::new(64, 64, Channels::Rgba, Samples::Eight(few)).unwrap());
        assert_eq!((header.colour, header.depth), (ColourType::Indexed, 2));
    }

    #[test]
    fn sixteen_bits_stay_sixteen() {
        let samples = noise(3).take(3 * 400).map(|v| u16::from(v) * 257).collect();
        let header = header_of(&Picture::new(20, 20, Channels::Rgb, Samples::Sixteen(samples)).unwrap());
        assert_eq!(header.depth, 16);
    }

    #[test]
    fn recompressed_files_show_the_same_in_no_more_bytes_and_depth_stays() {
        for header in valid_headers() {
            for transparent in [false, true] {
                let file = file_of(header, transparent);
                let parts = Parts::of(&file).unwrap();
                let picture = decode::decode(&parts, run()).unwrap();
                let bare = parts.file(false, &[], &[]);
                for interlaced in [false, true] {
                    let smaller = recompress(&parts, interlaced, run()).unwrap();
                    same(&smaller, &picture);
                    let new = Parts::of(&smaller).unwrap().header;
                    assert_eq!(new.interlaced, interlaced);
                    assert_eq!(new.depth == 16, picture.layout().depth == Depth::Sixteen);
                    assert!(header.interlaced != interlaced || smaller.len() <= bare.len());
                }
                let again = recompress(&Parts::of(&bare).unwrap(), header.interlaced, run()).unwrap();
                let twice = recompress(&Parts::of(&again).unwrap(), header.interlaced, run()).unwrap();
                assert!(twice.len() <= again.len());
            }
        }
    }

    /// Rows of four levels of gray, which a palette would hold in 2 bits; without filters.
    fn gray_rows(header: Header) -> Vec<u8> {
        let mut noise = noise(9);
        let mut rows = Vec::new();
        for pass in Pass::all(header.width, header.height, header.interlaced) {
            for _ in 0..pass.height {
                rows.extend([0]);
                let bytes = pass.width as usize * usize::from(header.depth) / 8;
                match header.depth {
                    8 | 16 if header.colour != ColourType::Indexed => (0..pass.width).for_each(|_| {
                        let level = [0, 3, 7, 20][usize::from(noise.next().unwrap() & 3)];
                        rows.extend([level].repeat(header.bits_per_pixel() / 8));
                    }),
                    _ => rows.extend(noise.by_ref().take(bytes)),
                }
            }
        }
        rows
    }

    #[test]
    fn pixels_stay_in_the_space_of_their_profile() {
        let profile: (&[u8; 4], &[u8]) = (b"iCCP", b"p\0\0profile");
        for header in valid_headers() {
            let header = Header { width: 64, height: 64, ..header };
            let file = assembled(header, &gray_rows(header), &[profile], &[]);
            let parts = Parts::of(&file).unwrap();
            let out = recompress(&parts, header.interlaced, run()).unwrap();
            same(&out, &decode::decode(&parts, run()).unwrap());
            assert!(out.len() < file.len());
            assert_eq!(is_gray(&Parts::of(&out).unwrap()), is_gray(&parts), "{header:?}");
        }
    }

    #[test]
    fn indices_come_back_as_their_colours() {
        let palette: Vec<[u8; 4]> = noise(6).take(4 * 40).collect::<Vec<_>>().as_chunks().0.to_vec();
        let indices: Vec<u8> = noise(7).take(50 * 40).map(|v| v % 40).collect();
        let samples = indices.iter().flat_map(|&index| palette[usize::from(index)]).collect();
        let picture = Picture::new(50, 40, Channels::Rgba, Samples::Eight(samples)).unwrap();
        for effort in 0..=6 {
            for interlaced in [false, true] {
                let options = PngOptions { interlaced, effort };
                same(&encode_indexed(50, 40, &palette, &indices, &options, run()).unwrap(), &picture);
            }
        }
    }

    #[test]
    fn equal_and_unused_entries_are_dropped_and_missing_ones_an_error() {
        let palette = [[1, 2, 3, 255], [9, 9, 9, 9], [1, 2, 3, 255], [4, 5, 6, 255]];
        let options = PngOptions { interlaced: false, effort: 0 };
        let indices: Vec<u8> = noise(1).take(400).map(|v| [0, 2, 3][usize::from(v) % 3]).collect();
        let file = encode_indexed(20, 20, &palette, &indices, &options, run()).unwrap();
        let parts = Parts::of(&file).unwrap();
        assert_eq!((parts.header.depth, parts.palette.len()), (1, 6));
        assert!(encode_indexed(1, 1, &palette, &[4], &options, run()).is_err());
        assert!(encode_indexed(2, 1, &palette, &[0], &options, run()).is_err());
        assert!(encode_indexed(0, 1, &palette, &[], &options, run()).is_err());
    }

    #[test]
    fn cmyk_is_unsupported() {
        let picture = Picture::new(1, 1, Channels::Cmyk, Samples::Eight(vec![0; 4])).unwrap();
        let options = PngOptions { interlaced: false, effort: 0 };
        let error = encode(&mut Still::new(&picture), &options, run()).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }));
    }
}
