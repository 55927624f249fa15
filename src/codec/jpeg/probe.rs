//! What the headers of a file tell.

use super::{
    header::{Colours, Component, Frame, Header},
    metadata, quality,
};
use crate::{
    codec::{ColourModel, Info},
    error::Result,
    format::Format,
};

/// Reads up to the first scan.
pub(super) fn probe(bytes: &[u8]) -> Result<Info> {
    let header = Header::read(bytes)?;
    let frame = &header.frame;
    Ok(Info {
        format: Format::Jpeg,
        width: frame.width,
        height: frame.height,
        frames: 1,
        colour: match header.colours() {
            Colours::Gray => ColourModel::Gray,
            Colours::YCbCr | Colours::Rgb => ColourModel::Rgb,
            Colours::Cmyk | Colours::Ycck => ColourModel::Cmyk,
        },
        alpha: false,
        bits_per_pixel: 8 * frame.components.len() as u16,
        sampling: sampling(frame),
        interlaced: Some(frame.progressive),
        quality: quality::estimate(&header),
        lossless: Some(false),
        orientation: metadata::orientation(&header.extras),
        icc: metadata::has_icc(&header.extras),
    })
}

/// Chroma subsampling in J:a:b notation, or the factors of all components where that cannot tell; `None` for gray.
fn sampling(frame: &Frame) -> Option<String> {
    let [first, second, third, rest @ ..] = &frame.components[..] else { return None };
    let factors = |c: &Component| (c.across, c.down);
    let regular = factors(second) == factors(third) && rest.iter().all(|key| factors(key) == factors(first));
    let ratio = |more: usize, less: usize| more.is_multiple_of(less).then(|| more / less);
    let name = match (ratio(first.across, second.across), ratio(first.down, second.down)) {
        (Some(1), Some(1)) => "4:4:4",
        (Some(2), Some(1)) => "4:2:2",
        (Some(2), Some(2)) => "4:2:0",
        (Some(1), Some(2)) => "4:4:0",
        (Some(4), Some(1)) => "4:1:1",
        (Some(4), Some(2)) => "4:1:0",
        _ => "",
    };
    if regular && !name.is_empty() {
        return Some(name.into());
    }
    let all = frame.components.iter().map(|c| format!("{}x{}", c.across, c.down));
    Some(all.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::{JpegOptions, Sampling, jpeg::fixture::*},
        picture::Channels,
    };

    /// A baseline file with byte `at` of its frame header's payload replaced.
    fn with_frame_byte(at: usize, byte: u8) -> Vec<u8> {
        let mut file = baseline(16, 16);
        let start = offsets(&file, 0xC0)[0];
        file[start + 4 + at] = byte;
        file
    }

    #[test]
    fn headers_tell_size_coding_and_colour() {
        let info = probe(&progressive(33, 17)).unwrap();
        assert_eq!((info.width, info.height, info.bits_per_pixel), (33, 17, 24));
        assert_eq!((info.colour, info.interlaced, info.lossless), (ColourModel::Rgb, Some(true), Some(false)));
        let gray = encoded(&photo(9, 9, Channels::Gray), options(4, false)).unwrap();
        let info = probe(&gray).unwrap();
        assert_eq!((info.colour, info.interlaced, info.sampling), (ColourModel::Gray, Some(false), None));
        assert_eq!(probe(&flat(&[1, 2, 3, 4], b"CMYK", &[])).unwrap().colour, ColourModel::Cmyk);
    }

    #[test]
    fn sampling_is_named_in_the_usual_notation() {
        for (sampling, name) in [(Sampling::Full, "4:4:4"), (Sampling::HalfWidth, "4:2:2"), (Sampling::Half, "4:2:0")] {
            let options = JpegOptions { sampling, ..options(4, false) };
            let file = encoded(&photo(16, 16, Channels::Rgb), options).unwrap();
            assert_eq!(probe(&file).unwrap().sampling.as_deref(), Some(name));
        }
        let odd = with_frame_byte(7, 0x13);
        assert_eq!(probe(&odd).unwrap().sampling.as_deref(), Some("1x3,1x1,1x1"));
        assert_eq!(probe(&with_frame_byte(7, 0x12)).unwrap().sampling.as_deref(), Some("4:4:0"));
        assert_eq!(probe(&with_frame_byte(7, 0x41)).unwrap().sampling.as_deref(), Some("4:1:1"));
    }

    #[test]
    fn codings_that_are_not_done_are_refused_by_name() {
        let refused = |file: &[u8]| probe(file).unwrap_err().to_string();
        assert_eq!(refused(&with_frame_byte(0, 12)), "12-bit JPEG is not supported");
        let mut file = baseline(16, 16);
        let frame = offsets(&file, 0xC0)[0];
        for (marker, name) in [(0xC3, "lossless"), (0xCB, "lossless"), (0xC5, "hierarchical"), (0xCF, "hierarchical")] {
            file[frame + 1] = marker;
            assert_eq!(refused(&file), format!("{name} JPEG is not supported"));
        }
        assert_eq!(refused(&flat(&[1, 2], b"AB", &[])), "JPEG of 2 components is not supported");
    }

    #[test]
    fn a_frame_without_height_or_width_is_damaged() {
        for (at, size) in [(2, "16x0"), (4, "0x16")] {
            let error = probe(&with_frame_byte(at, 0)).unwrap_err().to_string();
            assert_eq!(error, format!("the JPEG image has no size in its header: {size} pixels"));
        }
    }

    #[test]
    fn headers_cut_anywhere_are_an_error() {
        let file = baseline(16, 16);
        let scan = offsets(&file, 0xDA)[0];
        assert!((0..scan).all(|end| probe(&file[..end]).is_err()));
    }

    #[test]
    fn orientation_is_read_in_both_byte_orders() {
        let little = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\x08\0\0\0";
        let big = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\x08";
        for exif in [&little[..], big] {
            let file = with_segment(&baseline(8, 8), 0xE1, &[b"Exif\0\0", exif]);
            // The chain of directories loops back to the first.
            assert_eq!(probe(&file).unwrap().orientation, crate::picture::Orientation::Rotate90);
            for end in 0..exif.len() {
                let file = with_segment(&baseline(8, 8), 0xE1, &[b"Exif\0\0", &exif[..end]]);
                assert!(probe(&file).is_ok());
            }
        }
    }
}
