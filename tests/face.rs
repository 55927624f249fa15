//! Faces through the engine.
#![cfg(all(feature = "face", feature = "jpeg", feature = "png", feature = "webp"))]

mod pictures;

use image::{DynamicImage, Rgb, RgbImage, imageops};
use lapidary::{Error, FaceBox, Format};
use pictures::{attempt, decoded, file, file_with, photo, process, reader};

const LOSSLESS: &str = r#""optimize": {"compression": "lossless"}"#;

/// Eileen Collins, 320 x 320; see `pictures/README.md`.
fn astronaut() -> RgbImage {
    image::load_from_memory(include_bytes!("pictures/astronaut.jpg")).unwrap().to_rgb8()
}

/// The square from her brows to her chin: left, top, side.
const FACE: (f64, f64, f64) = (113.0, 70.0, 97.0);

/// Little but her head, 160 x 160.
fn small() -> RgbImage {
    imageops::crop_imm(&astronaut(), 80, 30, 160, 160).to_image()
}

/// What both cover as a share of what either covers.
fn overlap(found: FaceBox, (left, top, side): (f64, f64, f64)) -> f64 {
    let along = |from: u32, length: u32, other: f64| {
        (f64::from(from + length).min(other + side) - f64::from(from).max(other)).max(0.0)
    };
    let both = along(found.left, found.width, left) * along(found.top, found.height, top);
    both / (f64::from(found.width) * f64::from(found.height) + side * side - both)
}

fn png(picture: &RgbImage) -> Vec<u8> {
    file(&picture.clone().into(), Format::Png)
}

/// The faces of a source, by a request for a small crop of it.
fn faces(source: &[u8]) -> Vec<FaceBox> {
    let crop = r#""resize": {"width": 8, "height": 9, "mode": "fit", "gravity": "faces"}"#;
    process(source, &format!("{{{LOSSLESS}, {crop}, \"output\": {{\"format\": \"png\"}}}}")).input.faces.unwrap()
}

fn lossless(source: &[u8], rest: &str) -> DynamicImage {
    decoded(&process(source, &format!("{{{LOSSLESS}, {rest}}}")).bytes)
}

/// Turned by an angle given by cosine and sine, on a gray ground.
fn turned(picture: &RgbImage, cos: f32, sin: f32) -> RgbImage {
    let (width, height) = picture.dimensions();
    RgbImage::from_fn(width, height, |x, y| {
        let (dx, dy) = (x as f32 - width as f32 / 2.0, y as f32 - height as f32 / 2.0);
        let (x, y) = (dx * cos - dy * sin + width as f32 / 2.0, dx * sin + dy * cos + height as f32 / 2.0);
        let inside = x >= 0.0 && y >= 0.0 && x < width as f32 && y < height as f32;
        if inside { *picture.get_pixel(x as u32, y as u32) } else { Rgb([128; 3]) }
    })
}

#[test]
fn strips_as_long_as_may_be_are_looked_through_within_bounds() {
    // Turned, the longest would lie on a canvas of 400 megapixels.
    for (width, height) in [(16_383, 1), (16_383, 24), (60, 6_000)] {
        let strip =
            RgbImage::from_fn(width, height, |x, y| Rgb([(x * 7 + y * 13) as u8, (x * 3) as u8, (y * 5) as u8]));
        assert!(faces(&png(&strip)).is_empty(), "{width}x{height}");
    }
    // Upright, a face in a banner is found as ever.
    let mut banner = RgbImage::from_pixel(4000, 320, Rgb([90, 100, 110]));
    imageops::replace(&mut banner, &astronaut(), 2000, 0);
    let found = faces(&png(&banner));
    assert!(found.len() == 1 && overlap(found[0], (FACE.0 + 2000.0, FACE.1, FACE.2)) > 0.5, "{found:?}");
}

#[test]
fn a_face_is_found_in_all_sizes_and_lights_and_up_to_thirty_degrees_aslant() {
    let upright = astronaut();
    let found = faces(&png(&upright));
    assert!(found.len() == 1 && overlap(found[0], FACE) > 0.6, "{found:?}");
    for (name, share) in [("half", 0.5), ("double", 2.0)] {
        let side = (320.0 * share) as u32;
        let sized = imageops::resize(&upright, side, side, imageops::FilterType::Triangle);
        let found = faces(&png(&sized));
        let face = (FACE.0 * share, FACE.1 * share, FACE.2 * share);
        assert!(found.len() == 1 && overlap(found[0], face) > 0.6, "{name}: {found:?}");
    }
    let mut dark = upright.clone();
    dark.pixels_mut().for_each(|pixel| pixel.0 = pixel.0.map(|sample| sample / 4));
    assert_eq!(faces(&png(&dark)).len(), 1);
    for (cos, sin) in [(0.966, 0.259), (0.966, -0.259), (0.866, 0.5), (0.866, -0.5)] {
        let found = faces(&png(&turned(&upright, cos, sin)));
        let (x, y) = (FACE.0 + FACE.2 / 2.0 - 160.0, FACE.1 + FACE.2 / 2.0 - 160.0);
        let (cos, sin) = (f64::from(cos), f64::from(sin));
        let (x, y) = (x * cos + y * sin + 160.0 - FACE.2 / 2.0, y * cos - x * sin + 160.0 - FACE.2 / 2.0);
        assert!(found.len() == 1 && overlap(found[0], (x, y, FACE.2)) > 0.4, "{sin}: {found:?}");
    }
}

#[test]
fn where_there_is_no_face_none_is_found_nothing_changes_and_a_warning_says_so() {
    let source = file(&photo(240, 180), Format::Png);
    let outcome = process(&source, &format!(r#"{{{LOSSLESS}, "face": true}}"#));
    assert_eq!(outcome.input.faces, Some(Vec::new()));
    assert_eq!(outcome.bytes, process(&source, &format!("{{{LOSSLESS}}}")).bytes);
    let warnings = outcome.output.warnings.unwrap();
    assert!(warnings.iter().any(|warning| warning.starts_with("no face was found")), "{warnings:?}");
}

#[test]
fn zero_is_only_an_optimisation_and_looks_for_nothing() {
    let source = png(&small());
    let (zero, plain) = (process(&source, r#"{"face": {"strength": 0}}"#), process(&source, "{}"));
    assert_eq!(zero.bytes, plain.bytes);
    assert_eq!((zero.input.faces, zero.output.warnings), (None, plain.output.warnings));
}

#[test]
fn a_noisy_face_gets_clearer_and_what_is_far_from_it_stays() {
    let clean = astronaut();
    let mut noisy = clean.clone();
    for (n, sample) in noisy.iter_mut().enumerate() {
        let hash = (n as u32).wrapping_mul(0x9E37_79B1);
        let spread = |hash: u32| (hash ^ (hash >> 15)).wrapping_mul(0x85EB_CA77) >> 26;
        let noise = spread(hash) + spread(hash ^ 0x5555) + spread(hash ^ 0x1234_5678);
        *sample = (i32::from(*sample) + noise as i32 / 2 - 47).clamp(0, 255) as u8;
    }
    let source = png(&noisy);
    let clear = lossless(&source, r#""face": true"#).to_rgb8();
    let error = |picture: &RgbImage| {
        let cut = |from: &RgbImage| imageops::crop_imm(from, 113, 70, 97, 97).to_image().into_raw();
        cut(picture).iter().zip(cut(&clean)).map(|(a, b)| (f64::from(*a) - f64::from(b)).powi(2)).sum::<f64>()
    };
    assert!(error(&clear) < 0.5 * error(&noisy), "{} {}", error(&noisy), error(&clear));
    let far = |x: u32, y: u32| (f64::from(x) - 161.0).hypot(f64::from(y) - 118.0) > 1.2 * FACE.2;
    assert!(clear.enumerate_pixels().all(|(x, y, pixel)| !far(x, y) || pixel == noisy.get_pixel(x, y)));
    assert_eq!(lossless(&source, r#""face": {"target": "largest"}"#).to_rgb8(), clear);
}

#[cfg(feature = "gif")]
#[test]
fn in_an_animation_every_frame_is_cleared_where_the_first_has_its_face() {
    use image::{
        AnimationDecoder, Delay, Frame,
        codecs::{
            gif::{GifDecoder, GifEncoder},
            webp::WebPDecoder,
        },
    };
    let mut source = Vec::new();
    let mut encoder = GifEncoder::new(&mut source);
    for light in [0, 20] {
        let mut dark = small();
        dark.pixels_mut().for_each(|pixel| pixel.0 = pixel.0.map(|sample| sample / 3 + light));
        let delay = Delay::from_numer_denom_ms(80, 1);
        encoder.encode_frame(Frame::from_parts(DynamicImage::from(dark).to_rgba8(), 0, 0, delay)).unwrap();
    }
    drop(encoder);
    let json = format!(r#"{{{LOSSLESS}, "face": true, "output": {{"format": "webp"}}}}"#);
    let outcome = process(&source, &json);
    assert_eq!(outcome.input.faces.unwrap().len(), 1);
    let frames = |frames: image::Frames<'_>| -> Vec<RgbImage> {
        frames.map(|frame| DynamicImage::from(frame.unwrap().into_buffer()).to_rgb8()).collect()
    };
    let before = frames(GifDecoder::new(reader(&source)).unwrap().into_frames());
    let after = frames(WebPDecoder::new(reader(&outcome.bytes)).unwrap().into_frames());
    assert_eq!((before.len(), after.len()), (2, 2));
    for (before, after) in before.iter().zip(&after) {
        let light = |picture: &RgbImage| -> u64 {
            imageops::crop_imm(picture, 60, 60, 40, 40).to_image().iter().map(|&sample| u64::from(sample)).sum()
        };
        assert!(light(after) * 20 > light(before) * 21, "{} {}", light(before), light(after));
        assert_eq!(before.get_pixel(0, 0), after.get_pixel(0, 0));
    }
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    let source = png(&astronaut());
    let json = r#"{"face": true, "resize": {"width": 90, "height": 160, "mode": "fit", "gravity": "faces"}}"#;
    assert_eq!(process(&source, json).bytes, process(&source, json).bytes);
}

/// The astronaut at one end of a long picture of noise.
fn panorama(left: i64) -> RgbImage {
    let mut wide = photo(1200, 320).to_rgb8();
    imageops::replace(&mut wide, &astronaut(), left, 0);
    wide
}

#[test]
fn gravity_crops_around_the_face_and_smart_does_not_lose_it() {
    for left in [0i64, 440] {
        let source = png(&panorama(left));
        for gravity in ["face", "faces", "smart"] {
            let json = format!(
                r#"{{{LOSSLESS}, "resize": {{"width": 200, "height": 320, "mode": "fit", "gravity": "{gravity}"}}}}"#
            );
            let outcome = process(&source, &json);
            assert_eq!(outcome.input.faces.unwrap().len(), 1, "{left} {gravity}");
            let found = faces(&outcome.bytes);
            assert!(found.len() == 1 && found[0].left > 0 && found[0].left + found[0].width < 200, "{left} {gravity}");
            if gravity != "smart" && left == 440 {
                let middle = found[0].left + found[0].width / 2;
                assert!(middle.abs_diff(100) < 12, "{gravity}: {middle}");
            }
        }
    }
}

#[test]
fn without_a_face_gravity_is_smart_and_a_warning_says_so() {
    let source = file(&photo(200, 100), Format::Png);
    let crop = |gravity: &str| {
        process(
            &source,
            &format!(
                r#"{{{LOSSLESS}, "resize": {{"width": 60, "height": 100, "mode": "fit", "gravity": "{gravity}"}}}}"#
            ),
        )
    };
    let (face, smart) = (crop("face"), crop("smart"));
    assert_eq!(decoded(&face.bytes), decoded(&smart.bytes));
    assert!(face.output.warnings.unwrap()[0].contains("smart"));
    assert_eq!(smart.output.warnings.unwrap(), Vec::<String>::new());
}

#[test]
fn faces_are_not_looked_for_where_nothing_depends_on_them() {
    let source = png(&small());
    for resize in [
        r#"{"width": 100, "gravity": "face"}"#,
        r#"{"width": 100, "height": 100, "mode": "fit", "gravity": "face"}"#,
        r#"{"width": 100, "height": 50, "mode": "fit"}"#,
    ] {
        assert_eq!(process(&source, &format!(r#"{{"resize": {resize}}}"#)).input.faces, None, "{resize}");
    }
}

#[test]
fn boxes_are_those_of_the_input_whatever_size_it_is_decoded_at() {
    // Decoded at half the size.
    let wide = imageops::resize(&panorama(700), 3900, 1040, imageops::FilterType::Triangle);
    let found = faces(&file(&wide.into(), Format::Jpeg));
    let face = (3.25 * (700.0 + FACE.0), 3.25 * FACE.1, 3.25 * FACE.2);
    assert!(found.len() == 1 && overlap(found[0], face) > 0.6, "{found:?}");
}

#[test]
fn faces_come_after_light_and_tone_and_before_resizing() {
    let mut dark = small();
    dark.pixels_mut().for_each(|pixel| pixel.0 = pixel.0.map(|sample| sample / 3));
    let source = png(&dark);
    let then = |first: &DynamicImage, rest: &str| lossless(&file(first, Format::Png), rest);
    let toned = then(&lossless(&source, r#""light": true"#), r#""tone": {"contrast": 20}"#);
    let small = then(&then(&toned, r#""face": true"#), r#""resize": {"width": 80}"#);
    let all = r#""resize": {"width": 80}, "face": true, "tone": {"contrast": 20}, "light": true"#;
    assert_eq!(lossless(&source, all), small);
}

#[test]
fn a_source_that_is_stored_on_its_side_has_upright_boxes() {
    // TIFF of one tag: orientation 6, to be turned a quarter clockwise.
    let exif = *b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    let stored = imageops::rotate270(&astronaut());
    let found = faces(&file_with(&stored.into(), Format::Jpeg, Some(&exif), None));
    assert!(found.len() == 1 && overlap(found[0], FACE) > 0.6, "{found:?}");
}

#[cfg(feature = "svg")]
#[test]
fn an_svg_that_stays_one_has_no_faces() {
    let svg = br#"<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="9" height="9"/></svg>"#;
    for json in [r#"{"face": true}"#, r#"{"resize": {"width": 9, "height": 9, "mode": "fit", "gravity": "face"}}"#] {
        let error = attempt(svg, json).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{json}: {error}");
    }
}

/// Boxes drawn by eye: a line for each, a file name and left, top and side of the square from brows to chin; a name
/// alone for a picture without faces. Run with a folder of those pictures:
/// `LAPIDARY_FACES=folder cargo test --release --test face -- --ignored --nocapture`.
#[test]
#[ignore = "needs a folder of labelled pictures"]
fn nine_of_ten_faces_are_found_and_nine_of_ten_that_are_found_are_faces() {
    let folder = std::env::var("LAPIDARY_FACES").unwrap();
    let (mut labelled, mut found, mut right) = (0, 0, 0);
    let lines: Vec<Vec<&str>> =
        include_str!("../benches/quality/faces.tsv").lines().map(|line| line.split('\t').collect()).collect();
    let mut names: Vec<&str> = lines.iter().map(|line| line[0]).collect();
    names.dedup();
    for name in names {
        let mut boxes = faces(&std::fs::read(std::path::Path::new(&folder).join(name)).unwrap());
        found += boxes.len();
        for line in lines.iter().filter(|line| line[0] == name && line.len() == 4) {
            let [left, top, side] = [1, 2, 3].map(|n| line[n].parse::<f64>().unwrap());
            labelled += 1;
            match boxes.iter().position(|face| overlap(*face, (left, top, side)) > 0.4) {
                Some(at) => {
                    boxes.swap_remove(at);
                    right += 1;
                }
                None => println!("{name}: the face at {left}, {top} is not found"),
            }
        }
        boxes.iter().for_each(|face| println!("{name}: {face:?} is none"));
    }
    println!("{labelled} faces, {found} found, {right} of them right");
    assert!(right * 10 >= labelled * 9 && right * 10 >= found * 9);
}
