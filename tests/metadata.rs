//! What survives of what a file carries beside its pixels.
#![cfg(all(feature = "jpeg", feature = "png", feature = "webp"))]

mod pictures;

use exif::{Exif, In, Reader, Tag};
use image::{ImageDecoder, ImageReader};
use lapidary::{Engine, Format, Input, Limits, Unattended, codec::ColourModel};
use pictures::{FORMATS, crc32, decoded, file, file_with, photo, process, reader, request, same_pixels, warnings};

const HOLDER: &str = "(c) 2024 A. Holder";
const ARTIST: &str = "A. Artist";

/// A little-endian block with orientation 6, artist, copyright, a date of exposure and a position.
fn block() -> Vec<u8> {
    const ASCII: u16 = 2;
    const SHORT: u16 = 3;
    const LONG: u16 = 4;
    let text = |text: &str| [text.as_bytes(), &[0]].concat();
    let inline = |value: u32| value.to_le_bytes().to_vec();
    // Directories and what is longer than four bytes lie where these say.
    let (exif_at, gps_at) = (400u32, 600u32);
    let primary = [
        (0x0112, SHORT, 1, inline(6)),
        (0x0132, ASCII, 20, text("2024:05:06 07:08:09")),
        (0x013B, ASCII, 10, text(ARTIST)),
        (0x8298, ASCII, 19, text(HOLDER)),
        (0x8769, LONG, 1, inline(exif_at)),
        (0x8825, LONG, 1, inline(gps_at)),
    ];
    let exposure = [(0x9003, ASCII, 20, text("2024:05:06 07:08:09"))];
    let degrees: Vec<u8> = [48u32, 1, 12, 1, 30, 1].iter().flat_map(|number| number.to_le_bytes()).collect();
    let position = [(0x0001, ASCII, 2, b"N\0\0\0".to_vec()), (0x0002, 5, 3, degrees)];
    let mut bytes = b"II*\0\x08\0\0\0".to_vec();
    for (at, fields) in [(8, &primary[..]), (exif_at as usize, &exposure), (gps_at as usize, &position)] {
        bytes.resize(at, 0);
        let mut values = Vec::new();
        let values_at = at + 2 + 12 * fields.len() + 4;
        bytes.extend((fields.len() as u16).to_le_bytes());
        for (tag, kind, count, value) in fields {
            bytes.extend([u16::to_le_bytes(*tag), kind.to_le_bytes()].concat());
            bytes.extend(u32::to_le_bytes(*count));
            if value.len() > 4 {
                bytes.extend(((values_at + values.len()) as u32).to_le_bytes());
                values.extend(value);
                values.resize(values.len().next_multiple_of(2), 0);
            } else {
                bytes.extend([&value[..], &[0; 4][value.len()..]].concat());
            }
        }
        bytes.extend([0; 4]);
        bytes.extend(values);
    }
    bytes
}

/// Sources with all of it, in every format.
fn sources() -> impl Iterator<Item = (Format, Vec<u8>)> {
    FORMATS.into_iter().map(|format| (format, file_with(&photo(48, 32), format, Some(&block()), None)))
}

fn exif_of(bytes: &[u8]) -> Option<Exif> {
    Reader::new().read_from_container(&mut reader(bytes)).ok()
}

fn text(exif: &Exif, tag: Tag) -> Option<String> {
    let field = exif.get_field(tag, In::PRIMARY)?;
    Some(field.display_value().to_string().trim_matches('"').to_owned())
}

fn orientation(exif: &Exif) -> Option<u32> {
    exif.get_field(Tag::Orientation, In::PRIMARY)?.value.get_uint(0)
}

fn asking(optimize: &str, kinds: &str) -> String {
    format!(r#"{{"optimize": {{"compression": "{optimize}"}}, "output": {{"metadata": [{kinds}]}}}}"#)
}

#[test]
fn sources_hold_what_is_looked_for() {
    for (format, source) in sources() {
        let exif = exif_of(&source).unwrap_or_else(|| panic!("{format} has no EXIF"));
        assert_eq!(text(&exif, Tag::Copyright).as_deref(), Some(HOLDER), "{format}");
        let tags = [Tag::Artist, Tag::DateTime, Tag::DateTimeOriginal, Tag::GPSLatitude];
        assert!(tags.iter().all(|tag| exif.get_field(*tag, In::PRIMARY).is_some()), "{format}");
        assert_eq!(orientation(&exif), Some(6), "{format}");
    }
}

#[test]
fn copyright_survives_by_default_and_dates_and_positions_do_not() {
    for (format, source) in sources() {
        for json in [r#"{"optimize": {"compression": "high"}}"#, r#"{"optimize": {"compression": "lossless"}}"#] {
            let exif = exif_of(&process(&source, json).bytes).unwrap_or_else(|| panic!("{format} {json}"));
            assert_eq!(text(&exif, Tag::Copyright).as_deref(), Some(HOLDER), "{format} {json}");
            assert_eq!(text(&exif, Tag::Artist).as_deref(), Some(ARTIST), "{format} {json}");
            for gone in [Tag::DateTime, Tag::DateTimeOriginal, Tag::GPSLatitude, Tag::GPSLatitudeRef] {
                assert!(exif.get_field(gone, In::PRIMARY).is_none(), "{format} {json} keeps {gone}");
            }
        }
    }
}

#[test]
fn what_is_named_survives_and_nothing_else() {
    for (format, source) in sources() {
        let kept = |kinds: &str| exif_of(&process(&source, &asking("high", kinds)).bytes);
        let has =
            |exif: &Option<Exif>, tag| exif.as_ref().is_some_and(|exif| exif.get_field(tag, In::PRIMARY).is_some());
        let tags = [Tag::Copyright, Tag::DateTimeOriginal, Tag::GPSLatitude];
        for (kinds, expected) in [
            ("", [false, false, false]),
            (r#""copyright""#, [true, false, false]),
            (r#""date""#, [false, true, false]),
            (r#""location""#, [false, false, true]),
            (r#""date", "location""#, [false, true, true]),
            (r#""all""#, [true, true, true]),
        ] {
            let exif = kept(kinds);
            assert_eq!(tags.map(|tag| has(&exif, tag)), expected, "{format} {kinds}");
        }
    }
}

#[test]
fn the_orientation_goes_with_the_pixels_that_it_was_for() {
    for (format, source) in sources() {
        for kinds in [r#""copyright""#, r#""all""#] {
            let turned = process(&source, &asking("high", kinds));
            let tag = exif_of(&turned.bytes).as_ref().and_then(orientation);
            assert!(matches!(tag, None | Some(1)), "{format} {kinds}: {tag:?}");
            assert_eq!((turned.output.width, turned.output.height), (32, 48), "{format} {kinds}");
            let untouched = process(&source, &asking("lossless", kinds));
            assert_eq!(exif_of(&untouched.bytes).as_ref().and_then(orientation), Some(6), "{format} {kinds}");
            assert_eq!((untouched.output.width, untouched.output.height), (48, 32), "{format} {kinds}");
        }
    }
}

#[test]
fn a_kept_tag_and_turned_pixels_do_not_both_turn() {
    // Lossless keeps the stored pixels with their tag even where nothing else of the metadata is wanted.
    for (format, source) in sources() {
        let outcome = process(&source, &asking("lossless", ""));
        assert!(same_pixels(&decoded(&source), &decoded(&outcome.bytes)), "{format}");
        assert_eq!(exif_of(&outcome.bytes).as_ref().and_then(orientation), Some(6), "{format}");
    }
}

fn profile_of(bytes: &[u8]) -> Option<Vec<u8>> {
    ImageReader::new(reader(bytes)).with_guessed_format().unwrap().into_decoder().unwrap().icc_profile().unwrap()
}

#[test]
fn a_profile_is_embedded_only_when_asked_for() {
    for (format, source) in sources() {
        let named = profile_of(&process(&source, &asking("high", r#""profile""#)).bytes);
        let profile = named.unwrap_or_else(|| panic!("{format} has no profile"));
        assert_eq!(&profile[36..40], b"acsp");
        assert_eq!(profile_of(&process(&source, &asking("high", r#""copyright""#)).bytes), None, "{format}");
    }
}

#[test]
fn a_gray_result_has_a_gray_profile() {
    let gray = image::DynamicImage::ImageLuma8(photo(48, 32).into_luma8());
    for format in [Format::Jpeg, Format::Png] {
        for compression in ["lossless", "high"] {
            let source = file_with(&gray, format, None, None);
            let outcome = process(&source, &asking(compression, r#""profile""#));
            let profile = profile_of(&outcome.bytes).unwrap_or_else(|| panic!("{format} {compression} has no profile"));
            // The entries of a palette have three channels, whatever they are.
            let indexed = outcome.output.colorspace == ColourModel::Indexed;
            let (space, may_be) = if indexed { (b"RGB ", format == Format::Png) } else { (b"GRAY", true) };
            assert!(&profile[16..20] == space && may_be, "{format} {compression}");
        }
    }
}

#[test]
fn lossless_keeps_the_profile_that_the_pixels_are_in() {
    let srgb =
        profile_of(&process(&file_with(&photo(48, 32), FORMATS[1], None, None), &asking("high", r#""profile""#)).bytes);
    let srgb = srgb.unwrap();
    for format in FORMATS {
        let source = file_with(&photo(48, 32), format, None, Some(&srgb));
        assert_eq!(profile_of(&process(&source, &asking("lossless", "")).bytes).as_ref(), Some(&srgb), "{format}");
        assert_eq!(profile_of(&process(&source, &asking("high", "")).bytes), None, "{format}");
        let all = asking("high", r#""all""#);
        let result = process(&source, &all).bytes;
        assert!(profile_of(&result).is_some() && result.len() <= source.len(), "{format}");
        assert_eq!(process(&result, &all).bytes, result, "{format}");
        assert_eq!(profile_of(&process(&file_with(&photo(48, 32), format, None, None), &all).bytes), None, "{format}");
    }
}

/// A PNG with more chunks behind its header.
fn png_with(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    with_chunks(file(&photo(48, 32), Format::Png), chunks)
}

fn with_chunks(mut png: Vec<u8>, chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    for (kind, data) in chunks.iter().rev() {
        let body = [&kind[..], data].concat();
        let chunk = [&(data.len() as u32).to_be_bytes()[..], &body, &crc32(&body).to_be_bytes()].concat();
        png.splice(33..33, chunk);
    }
    png
}

/// What a WebP says that its source was ignored for.
fn is_ignored(source: &[u8]) -> bool {
    let webp = process(source, r#"{"optimize": {}, "output": {"format": "webp"}}"#);
    warnings(&webp).iter().any(|warning| warning.contains("ignored"))
}

#[test]
fn coded_colours_stay_named_without_loss_and_are_said_to_be_ignored_otherwise_if_no_profile_tells_them() {
    for (codes, told) in
        [(&[9u8, 16, 0, 1], true), (&[9, 18, 0, 1], true), (&[1, 13, 0, 0], false), (&[2, 13, 0, 1], false)]
    {
        let source = png_with(&[(b"cICP", codes)]);
        let named = [b"cICP", &codes[..]].concat();
        for kinds in ["", r#""all""#] {
            let lossless = process(&source, &asking("lossless", kinds)).bytes;
            assert!(lossless.windows(8).any(|window| window == named), "{codes:?}");
        }
        assert_eq!(is_ignored(&source), !told, "{codes:?}");
    }
    assert!(!is_ignored(&png_with(&[(b"cICP", &[12, 13, 0, 1])])));
}

#[test]
fn a_profile_that_cannot_be_read_is_said_to_be_ignored() {
    assert!(is_ignored(&png_with(&[(b"iCCP", b"icc\0\0not deflate")])));
    assert!(!is_ignored(&png_with(&[])));
}

#[test]
fn a_profile_over_the_limit_is_said_to_be_ignored() {
    let mut limits = Limits::default();
    limits.metadata_bytes = 1000;
    let engine = Engine::new().with_limits(limits);
    let profile: Vec<u8> = (0..3000u32).map(|at| (at * at / 7) as u8).collect();
    for format in FORMATS {
        let source = file_with(&photo(48, 32), format, None, Some(&profile));
        for optimize in ["lossless", "high"] {
            let request = request(&asking(optimize, ""));
            let outcome = engine.process(Input { bytes: &source, name: None }, &request, &Unattended).unwrap();
            let said = warnings(&outcome).iter().filter(|warning| warning.contains("ignored")).count();
            assert_eq!(said, 1, "{format} {optimize}: {:?}", warnings(&outcome));
        }
    }
}

/// Nothing but a position.
fn position() -> Vec<u8> {
    let pointer = b"II*\0\x08\0\0\0\x01\0\x25\x88\x04\0\x01\0\0\0\x1A\0\0\0\0\0\0\0";
    let latitude = b"\x01\0\x02\0\x05\0\x03\0\0\0\x2C\0\0\0\0\0\0\0";
    let degrees = [48u32, 1, 12, 1, 30, 1].map(u32::to_le_bytes).concat();
    [&pointer[..], latitude, &degrees].concat()
}

#[test]
fn a_position_goes_even_where_what_stays_takes_more_room_without_it() {
    let legal = format!("Copyright\0{}", "All rights reserved, in any form and by any means. ".repeat(40));
    let holds = |bytes: &[u8]| bytes.windows(24).any(|window| window == &position()[44..]);
    let pixels = process(&png_with(&[]), &asking("lossless", "")).bytes;
    let noticed = process(&png_with(&[(b"tEXt", legal.as_bytes())]), &asking("lossless", r#""all""#)).bytes;
    let gamma = with_chunks(pixels, &[(b"gAMA", &55_556u32.to_be_bytes())]);
    for small in [noticed, gamma] {
        let source = with_chunks(small, &[(b"eXIf", &position())]);
        assert!(holds(&source));
        for optimize in ["lossless", "low", "medium"] {
            for kinds in ["", r#""copyright""#, r#""copyright", "date""#] {
                assert!(!holds(&process(&source, &asking(optimize, kinds)).bytes), "{optimize} {kinds}");
            }
        }
    }
}

#[test]
fn colours_told_by_a_gamma_alone_take_no_more_room_without_loss() {
    for gamma in [55_556u32, 100_000] {
        let pixels = process(&png_with(&[]), &asking("lossless", "")).bytes;
        let source = with_chunks(pixels, &[(b"gAMA", &gamma.to_be_bytes()), (b"tEXt", b"Software\0some")]);
        let result = process(&source, &asking("lossless", "")).bytes;
        assert!(result.len() < source.len(), "{} of {}", result.len(), source.len());
        let told = [b"gAMA", &gamma.to_be_bytes()[..]].concat();
        assert!(result.windows(8).any(|window| window == told), "{gamma}");
        assert!(!result.windows(4).any(|window| window == b"some"));
        assert_eq!(process(&result, &asking("lossless", "")).bytes, result, "{gamma}");
    }
}

#[test]
fn colours_told_without_a_profile_stay_in_their_chunks_without_loss() {
    let p3 = [31_270u32, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000].map(u32::to_be_bytes).concat();
    let measured: [(&[u8; 4], &[u8]); 2] = [(b"gAMA", &45_455u32.to_be_bytes()), (b"cHRM", &p3)];
    let television: [(&[u8; 4], &[u8]); 1] = [(b"cICP", &[1, 1, 0, 1])];
    let high_range: [(&[u8; 4], &[u8]); 1] = [(b"cICP", &[9, 16, 0, 1])];
    for said in [&measured[..], &television, &high_range] {
        let result = process(&png_with(said), &asking("lossless", "")).bytes;
        let holds = |bytes: &[u8]| result.windows(bytes.len()).any(|window| window == bytes);
        assert!(said.iter().all(|(kind, data)| holds(&[kind.as_slice(), data].concat())), "{said:?}");
        assert!(!holds(b"iCCP"), "{said:?}");
        assert_eq!(process(&result, &asking("lossless", "")).bytes, result, "{said:?}");
    }
}

#[test]
fn high_dynamic_range_is_brought_into_that_of_srgb_and_said_to_be() {
    for transfer in [16, 18] {
        let source = png_with(&[(b"cICP", &[9, transfer, 0, 1])]);
        let outcome = process(&source, &asking("medium", ""));
        assert_eq!(warnings(&outcome), ["the high dynamic range was brought into that of sRGB"]);
        assert!(!outcome.bytes.windows(4).any(|window| window == b"cICP" || window == b"iCCP"));
        assert!(warnings(&process(&source, &asking("lossless", ""))).is_empty());
    }
}

#[test]
fn notices_that_became_comments_stay_where_they_are_in_a_second_pass() {
    let notice = |keyword: &str| format!("{keyword}\0{HOLDER}").into_bytes();
    let source = png_with(&[
        (b"tEXt", b"Comment\0drawn by hand"),
        (b"tEXt", &notice("Copyright")),
        (b"tEXt", &notice("Author")),
    ]);
    let json = r#"{"optimize": {}, "output": {"format": "jpeg", "metadata": ["all"]}}"#;
    let jpeg = process(&source, json).bytes;
    assert_eq!(process(&jpeg, json).bytes, jpeg);
}

#[test]
fn notices_are_comments_of_a_gif_and_found_there_again() {
    let holds = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    let notice = |keyword: &str| format!("{keyword}\0{HOLDER}").into_bytes();
    let source = png_with(&[
        (b"tEXt", b"Comment\0drawn by hand"),
        (b"tEXt", b"Title\0Dots"),
        (b"tEXt", &notice("Copyright")),
        (b"tEXt", b"Author\0Jo"),
    ]);
    for (kinds, all) in [(r#""copyright""#, false), (r#""all""#, true)] {
        let json = format!(r#"{{"optimize": {{}}, "output": {{"format": "gif", "metadata": [{kinds}]}}}}"#);
        let gif = process(&source, &json).bytes;
        assert!(holds(&gif, HOLDER) && holds(&gif, "Author: Jo"), "{kinds}");
        assert_eq!(["drawn by hand", "Title: Dots"].map(|text| holds(&gif, text)), [all; 2], "{kinds}");
        assert_eq!(process(&gif, &json).bytes, gif, "{kinds}");
        let webp = process(&gif, &json.replace("gif", "webp")).bytes;
        let exif = exif_of(&webp).unwrap_or_else(|| panic!("{kinds}"));
        assert_eq!(text(&exif, Tag::Artist).as_deref(), Some("Jo"), "{kinds}");
        assert!(text(&exif, Tag::Copyright).is_some_and(|text| text.contains(HOLDER)), "{kinds}");
        assert!(!holds(&process(&gif, &asking("medium", "")).bytes, HOLDER));
    }
}

#[test]
fn everything_keeps_texts_time_and_size_of_pixels_of_a_png_and_nothing_else_does() {
    let beside: [(&[u8; 4], &[u8]); 4] = [
        (b"pHYs", &[0, 0, 11, 19, 0, 0, 11, 19, 1]),
        (b"tIME", &[7, 234, 1, 2, 3, 4, 5]),
        (b"tEXt", b"Title\0Dots"),
        (b"tEXt", b"Software\0by hand"),
    ];
    let source = png_with(&beside);
    for preset in ["lossless", "medium"] {
        let all = process(&source, &asking(preset, r#""all""#)).bytes;
        let bare = process(&source, &asking(preset, "")).bytes;
        for (kind, data) in beside {
            let chunk = [kind.as_slice(), data].concat();
            let holds = |bytes: &[u8]| bytes.windows(chunk.len()).any(|window| window == chunk);
            assert_eq!((holds(&all), holds(&bare)), (true, false), "{preset} {kind:?}");
        }
    }
}

#[test]
fn everything_keeps_plain_notices_where_they_have_no_place_of_their_own() {
    let source = png_with(&[(b"tEXt", format!("Copyright\0{HOLDER}").as_bytes())]);
    for kinds in [r#""all""#, r#""copyright""#] {
        let json = format!(r#"{{"optimize": {{}}, "output": {{"format": "webp", "metadata": [{kinds}]}}}}"#);
        let webp = process(&source, &json).bytes;
        let exif = exif_of(&webp).unwrap_or_else(|| panic!("{kinds}"));
        assert_eq!(text(&exif, Tag::Copyright).as_deref(), Some(HOLDER), "{kinds}");
        assert_eq!(process(&webp, &json).bytes, webp, "{kinds}");
    }
}
