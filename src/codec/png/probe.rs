//! Headers to [`Info`].

use super::{
    apng::is_ever_transparent,
    colour_chunks::{Colours, colours, synthesised},
    header::{ColourType, Space},
    parts::Parts,
};
use crate::{
    codec::{ColourModel, Info},
    control::Run,
    error::Result,
    format::Format,
    picture::{Orientation, orientation_of_exif},
};

/// What the chunks before and behind the pixels say. Nothing is decompressed.
pub(super) fn probe(bytes: &[u8], run: Run<'_>) -> Result<Info> {
    run.check()?;
    let parts = Parts::of(bytes)?;
    let frames = parts.frames()?;
    let header = parts.header;
    Ok(Info {
        format: if frames.is_some() { Format::Apng } else { Format::Png },
        width: header.width,
        height: header.height,
        frames: frames.unwrap_or(1),
        colour: match header.colour {
            ColourType::Gray | ColourType::GrayAlpha => ColourModel::Gray,
            ColourType::Rgb | ColourType::Rgba => ColourModel::Rgb,
            ColourType::Indexed => ColourModel::Indexed,
        },
        alpha: if frames.is_some() { is_ever_transparent(&parts) } else { parts.has_alpha() },
        bits_per_pixel: header.bits_per_pixel() as u16,
        sampling: None,
        interlaced: Some(header.interlaced),
        quality: None,
        lossless: Some(true),
        orientation: orientation(&parts),
        icc: has_profile(&parts),
    })
}

fn orientation(parts: &Parts<'_>) -> Orientation {
    let block = parts.beside.iter().find(|chunk| &chunk.kind() == b"eXIf" && chunk.intact());
    block.map_or(Orientation::Upright, |chunk| orientation_of_exif(chunk.data()))
}

/// Where the pixels may go without leaving the space of their profile, which is a matter of the colour type (section
/// 11.3.2.3 of the specification's third edition).
pub(super) fn space(parts: &Parts<'_>) -> Space {
    match (has_profile(parts), is_gray(parts)) {
        (false, _) => Space::Any,
        (true, true) => Space::Gray,
        (true, false) => Space::Rgb,
    }
}

fn has_profile(parts: &Parts<'_>) -> bool {
    let colours = colours(parts);
    matches!(colours, Colours::Embedded(_)) || synthesised(&colours, is_gray(parts)).is_some()
}

/// Whether the pixels have luminance alone.
pub(super) fn is_gray(parts: &Parts<'_>) -> bool {
    matches!(parts.header.colour, ColourType::Gray | ColourType::GrayAlpha)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::png::fixtures::{block, file_of, file_with, run, valid_headers},
        error::Error,
        picture::Channels,
    };

    #[test]
    fn every_colour_type_and_depth_is_told() {
        for header in valid_headers() {
            let info = probe(&file_of(header, false), run()).unwrap();
            assert_eq!((info.width, info.height), (header.width, header.height));
            assert_eq!(info.bits_per_pixel as usize, header.bits_per_pixel());
            assert_eq!(info.interlaced, Some(header.interlaced));
            assert_eq!(info.alpha, header.colour.has_alpha());
            assert_eq!((info.format, info.frames, info.lossless), (Format::Png, 1, Some(true)));
            let translucent = probe(&file_of(header, true), run()).unwrap();
            assert!(translucent.alpha && translucent.channels().has_alpha());
        }
    }

    #[test]
    fn indexed_pictures_decode_to_rgb() {
        let header = valid_headers().find(|header| header.colour == ColourType::Indexed).unwrap();
        let info = probe(&file_of(header, false), run()).unwrap();
        assert_eq!((info.colour, info.channels()), (ColourModel::Indexed, Channels::Rgb));
    }

    #[test]
    fn the_orientation_is_found_before_and_behind_the_pixels() {
        let block = block(true, 6);
        let (before, behind) = (file_with(&[(b"eXIf", &block)], &[]), file_with(&[], &[(b"eXIf", &block)]));
        assert_eq!(probe(&before, run()).unwrap().orientation, Orientation::Rotate90);
        assert_eq!(probe(&behind, run()).unwrap().orientation, Orientation::Rotate90);
    }

    #[test]
    fn profiles_are_told_without_being_read() {
        assert!(!probe(&file_with(&[], &[]), run()).unwrap().icc);
        assert!(probe(&file_with(&[(b"iCCP", b"p\0\0not deflate")], &[]), run()).unwrap().icc);
        assert!(probe(&file_with(&[(b"gAMA", &100_000u32.to_be_bytes())], &[]), run()).unwrap().icc);
    }

    #[test]
    fn animations_are_told_with_their_frames() {
        let info = probe(&file_with(&[(b"acTL", &[0, 0, 0, 7, 0, 0, 0, 0])], &[]), run()).unwrap();
        assert_eq!((info.format, info.frames), (Format::Apng, 7));
        let none = probe(&file_with(&[(b"acTL", &[0; 8])], &[]), run()).unwrap();
        assert_eq!((none.format, none.frames), (Format::Png, 1));
    }

    #[test]
    fn unknown_critical_chunks_are_unsupported_by_name() {
        let error = probe(&file_with(&[(b"CgBX", &[])], &[]), run()).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains("CgBX"));
    }
}
