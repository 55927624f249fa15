//! Sizes, light and the upright position.
#![cfg(all(feature = "jpeg", feature = "png", feature = "webp"))]

mod pictures;

use image::{DynamicImage, RgbImage, metadata::Orientation};
use lapidary::{Format, request::Gravity};
use pictures::{FORMATS, attempt, decoded, file, file_with, graphic, photo, process, score};

/// The size of what a 90 x 60 PNG becomes.
fn size(resize: &str) -> (u32, u32) {
    let source = file(&photo(90, 60), Format::Png);
    let json = format!(r#"{{"optimize": {{"quality": 30}}, "resize": {resize}}}"#);
    let outcome = process(&source, &json);
    let picture = decoded(&outcome.bytes);
    assert_eq!((picture.width(), picture.height()), (outcome.output.width, outcome.output.height));
    (picture.width(), picture.height())
}

#[test]
fn auto_keeps_the_aspect_inside_the_box() {
    assert_eq!(size(r#"{"width": 45}"#), (45, 30));
    assert_eq!(size(r#"{"height": 20}"#), (30, 20));
    assert_eq!(size(r#"{"width": 40, "height": 40}"#), (40, 27));
    assert_eq!(size(r#"{"width": 180, "height": 90, "mode": "auto"}"#), (135, 90));
}

#[test]
fn fit_fill_and_pad_have_the_very_size_of_the_box() {
    for mode in ["fit", "fill", "pad"] {
        assert_eq!(size(&format!(r#"{{"width": 33, "height": 51, "mode": "{mode}"}}"#)), (33, 51), "{mode}");
        assert_eq!(size(&format!(r#"{{"width": 130, "height": 140, "mode": "{mode}"}}"#)), (130, 140), "{mode}");
        let source = file(&photo(9, 6), Format::Png);
        let error = attempt(&source, &format!(r#"{{"resize": {{"width": 5, "height": 5, "mode": "{mode}"}}}}"#));
        assert!(error.is_ok(), "{mode}");
    }
}

#[test]
fn without_upscale_nothing_is_enlarged() {
    assert_eq!(size(r#"{"width": 180, "upscale": false}"#), (90, 60));
    assert_eq!(size(r#"{"width": 200, "height": 30, "mode": "fill", "upscale": false}"#), (90, 30));
    assert_eq!(size(r#"{"width": 120, "height": 30, "mode": "fit", "upscale": false}"#), (90, 30));
    assert_eq!(size(r#"{"width": 120, "height": 100, "mode": "pad", "upscale": false}"#), (120, 100));
    assert_eq!(size(r#"{"width": 45, "upscale": false}"#), (45, 30));
}

#[test]
fn a_source_that_has_the_size_already_is_only_optimised() {
    let source = file(&graphic(90, 60), Format::Png);
    let plain = process(&source, "{}").bytes;
    assert_eq!(process(&source, r#"{"resize": {"width": 90}}"#).bytes, plain);
    assert_eq!(process(&source, r#"{"resize": {"width": 500, "upscale": false}}"#).bytes, plain);
}

#[test]
fn a_checkerboard_becomes_the_gray_of_half_the_light() {
    let board = RgbImage::from_fn(128, 128, |x, y| image::Rgb([if (x + y) % 2 == 0 { 255 } else { 0 }; 3]));
    for format in [Format::Png, Format::Webp] {
        let source = file(&board.clone().into(), format);
        let json = r#"{"optimize": {"compression": "lossless"}, "resize": {"width": 32}}"#;
        let small = decoded(&process(&source, json).bytes).to_rgb8();
        for (x, y, pixel) in small.enumerate_pixels() {
            assert!(pixel.0.iter().all(|sample| (186..=190).contains(sample)), "{format} {x},{y}: {pixel:?}");
        }
    }
}

/// A picture whose left half is red and whose right half is blue, 80 x 40, resized as asked to PNG without loss.
fn halves(resize: &str) -> DynamicImage {
    let halves = RgbImage::from_fn(80, 40, |x, _| image::Rgb(if x < 40 { [220, 0, 0] } else { [0, 0, 220] }));
    let json = format!(r#"{{"optimize": {{"compression": "lossless"}}, "resize": {resize}}}"#);
    decoded(&process(&file(&halves.into(), Format::Png), &json).bytes)
}

#[test]
fn gravity_says_what_is_cropped() {
    for (gravity, left, right) in
        [("left", [220, 0, 0], [220, 0, 0]), ("right", [0, 0, 220], [0, 0, 220]), ("center", [220, 0, 0], [0, 0, 220])]
    {
        let cropped =
            halves(&format!(r#"{{"width": 40, "height": 40, "mode": "fit", "gravity": "{gravity}"}}"#)).to_rgb8();
        assert_eq!((cropped.get_pixel(1, 20).0, cropped.get_pixel(38, 20).0), (left, right), "{gravity}");
    }
    let smart = halves(r#"{"width": 30, "height": 40, "mode": "fit", "gravity": "smart"}"#);
    assert_eq!((smart.width(), smart.height()), (30, 40));
}

#[test]
fn every_fixed_gravity_keeps_its_corner_side_or_middle() {
    // What is left of the width where a column is kept, and of the height where a row is.
    let sought = |gravity: &str| {
        let along = |start: &str, end: &str| match (gravity.contains(start), gravity.contains(end)) {
            (true, _) => 0,
            (_, true) => 2,
            _ => 1,
        };
        (along("left", "right"), along("top", "bottom"))
    };
    // Three by three fields, of which red tells the column and green the row.
    let fields = RgbImage::from_fn(90, 90, |x, y| image::Rgb([(x / 30 * 100) as u8, (y / 30 * 100) as u8, 0]));
    let source = file(&fields.into(), Format::Png);
    for gravity in Gravity::ALL.iter().filter(|one| !["smart", "face", "faces"].contains(&one.as_str())) {
        let (column, row) = sought(gravity.as_str());
        for (width, height, at) in [(30, 90, 0), (90, 30, 1)] {
            let json = format!(
                r#"{{"optimize": {{"compression": "lossless"}},
                "resize": {{"width": {width}, "height": {height}, "mode": "fit", "gravity": "{gravity}"}}}}"#
            );
            let field = decoded(&process(&source, &json).bytes).to_rgb8().get_pixel(width / 2, height / 2).0;
            let kept = [column, row][at];
            assert_eq!(field[at], kept * 100, "{gravity} {width} x {height}");
        }
    }
}

#[test]
fn padding_is_transparent_unless_a_background_is_named() {
    let padded = halves(r#"{"width": 80, "height": 80, "mode": "pad"}"#).to_rgba8();
    assert_eq!((padded.get_pixel(40, 2).0[3], padded.get_pixel(10, 40).0), (0, [220, 0, 0, 255]));
    let green = halves(r##"{"width": 80, "height": 80, "mode": "pad", "background": "#00ff00"}"##).to_rgba8();
    assert_eq!(green.get_pixel(40, 2).0, [0, 255, 0, 255]);
    let source = file(&photo(80, 40), Format::Jpeg);
    let json = r#"{"resize": {"width": 80, "height": 80, "mode": "pad"}}"#;
    let white = decoded(&process(&source, json).bytes).to_rgb8();
    assert!(white.get_pixel(40, 2).0.iter().all(|&sample| sample > 245));
}

#[test]
fn a_translucent_background_is_laid_on_white_once_where_there_is_no_alpha() {
    let source = file(&photo(80, 40), Format::Png);
    let json = r##"{"resize": {"width": 80, "height": 80, "mode": "pad", "background": "#ff000080"},
        "output": {"format": "jpeg"}}"##;
    let padding = decoded(&process(&source, json).bytes).to_rgb8().get_pixel(40, 2).0;
    assert!(padding.iter().zip([255u8, 127, 127]).all(|(found, right)| found.abs_diff(right) < 6), "{padding:?}");
}

/// EXIF that says nothing but the orientation.
fn oriented(value: u8) -> Vec<u8> {
    [&b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"[..], &[value], &[0; 6]].concat()
}

#[test]
fn every_orientation_comes_out_upright() {
    for format in FORMATS {
        for value in 1..=8 {
            let source = file_with(&photo(96, 64), format, Some(&oriented(value)), None);
            let mut expected = decoded(&source);
            expected.apply_orientation(Orientation::from_exif(value).unwrap());
            let outcome = process(&source, r#"{"optimize": {"compression": "low"}, "output": {"format": "png"}}"#);
            let upright = decoded(&outcome.bytes);
            assert_eq!((outcome.input.width, outcome.input.height), (96, 64));
            assert_eq!((upright.width(), upright.height()), (expected.width(), expected.height()), "{value}");
            let measured = score(&expected, &upright);
            assert!(measured > 89.0, "{format}, orientation {value}: {measured}");
        }
    }
}

#[test]
fn a_box_is_meant_for_the_upright_picture() {
    let source = file_with(&photo(96, 64), Format::Jpeg, Some(&oriented(6)), None);
    let outcome = process(&source, r#"{"resize": {"width": 32}}"#);
    assert_eq!((outcome.output.width, outcome.output.height), (32, 48));
}

#[test]
fn a_large_reduction_of_a_jpeg_has_the_planned_size_and_looks() {
    let source = file(&photo(403, 301), Format::Jpeg);
    let json = r#"{"optimize": {"compression": "lossless"}, "resize": {"width": 37}, "output": {"format": "png"}}"#;
    let small = decoded(&process(&source, json).bytes);
    assert_eq!((small.width(), small.height()), (37, 28));
    let expected = decoded(&source).resize_exact(37, 28, image::imageops::FilterType::Lanczos3);
    let (a, b) = (small.to_rgb8(), expected.to_rgb8());
    let far = a.iter().zip(b.iter()).map(|(a, b)| a.abs_diff(*b)).max();
    assert!(far < Some(24), "{far:?}");
}
