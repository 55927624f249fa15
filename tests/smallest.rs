//! The format `smallest`: of all that can hold the picture.
#![cfg(all(feature = "gif", feature = "jpeg", feature = "png", feature = "webp"))]

mod pictures;

use image::{
    ImageEncoder, RgbaImage,
    codecs::{gif::GifEncoder, png::PngEncoder},
};
use lapidary::{Error, Format};
use pictures::{attempt, decoded, file, gradient, graphic, logo, photo, process, screenshot};

/// `rest` in `format`.
fn asked(format: &str, rest: &str) -> String {
    format!(r#"{{"output": {{"format": "{format}"}}{rest}}}"#)
}

#[test]
fn it_is_the_smallest_of_those_that_reach_the_goal() {
    for picture in [photo(160, 120), graphic(160, 120), gradient(160, 120), screenshot(160, 120)] {
        let source = file(&picture, Format::Png);
        for rest in [r#", "optimize": {}"#, "", r#", "optimize": {"compression": "high"}, "resize": {"width": 90}"#] {
            let settled = if rest.is_empty() { r#", "optimize": {}"# } else { rest };
            let smallest = process(&source, &asked("smallest", rest));
            let each = ["jpeg", "png", "webp"].map(|format| process(&source, &asked(format, settled)));
            let target = if rest.contains("high") { 70.0 } else { 80.0 };
            let reach = |outcome: &&lapidary::Outcome| outcome.output.score.unwrap() >= target;
            let least = each.iter().filter(reach).min_by_key(|outcome| outcome.bytes.len()).unwrap();
            assert_eq!(smallest.output.format, least.output.format, "{rest}");
            assert_eq!(smallest.bytes.len(), least.bytes.len(), "{rest}");
        }
    }
}

#[test]
fn again_it_is_the_same_file_also_by_a_request_for_that_format() {
    for source in [file(&photo(120, 90), Format::Png), file(&graphic(120, 90), Format::Jpeg)] {
        for rest in ["", r#", "optimize": {"compression": "low"}"#, r#", "optimize": {"compression": "lossless"}"#] {
            let first = process(&source, &asked("smallest", rest));
            let again = process(&first.bytes, &asked("smallest", rest));
            assert!(first.bytes == again.bytes, "{} {rest}", first.output.format);
            assert!(first.bytes == process(&first.bytes, &asked("auto", rest)).bytes, "auto {rest}");
        }
    }
}

#[test]
fn what_an_earlier_request_for_one_format_made_is_put_to_the_choice() {
    let png = process(&file(&photo(120, 90), Format::Png), r#"{"optimize": {"compression": "lossless"}}"#).bytes;
    let smallest = process(&png, &asked("smallest", r#", "optimize": {"compression": "lossless"}"#));
    assert_eq!(smallest.output.format, Format::Webp);
    assert!(smallest.bytes.len() < png.len());
    assert_eq!(decoded(&smallest.bytes).to_rgb8(), photo(120, 90).to_rgb8());
}

#[test]
fn transparency_stays() {
    let source = file(&logo(96, 96), Format::Png);
    let padded = file(&photo(90, 60), Format::Png);
    for (source, rest) in [(source, ""), (padded, r#", "resize": {"width": 90, "height": 90, "mode": "pad"}"#)] {
        let outcome = process(&source, &asked("smallest", rest));
        assert_eq!(decoded(&outcome.bytes).to_rgba8().get_pixel(45, 2).0[3], 0, "{}", outcome.output.format);
    }
}

#[test]
fn sixteen_bits_stay_where_nothing_may_be_lost() {
    let samples: Vec<u8> = (0..32 * 32u16).flat_map(|at| (at * 61).to_be_bytes()).collect();
    let mut source = Vec::new();
    PngEncoder::new(&mut source).write_image(&samples, 32, 32, image::ExtendedColorType::L16).unwrap();
    let outcome = process(&source, &asked("smallest", r#", "optimize": {"compression": "lossless"}"#));
    assert_eq!((outcome.output.format, outcome.output.depth), (Format::Png, 16));
}

#[test]
fn a_photograph_in_jpeg_whose_coefficients_stay_remains_one() {
    let source = file(&photo(96, 64), Format::Jpeg);
    let outcome = process(&source, &asked("smallest", r#", "optimize": {"compression": "lossless"}"#));
    assert_eq!(outcome.output.format, Format::Jpeg);
}

#[test]
fn an_animation_keeps_its_frames_and_delays() {
    let mut source = Vec::new();
    let mut encoder = GifEncoder::new(&mut source);
    for at in 0..4u32 {
        let frame = RgbaImage::from_fn(40, 30, |x, y| {
            image::Rgba([if x / 5 == at { 250 } else { 20 }, (y * 8) as u8, 90, 255])
        });
        encoder.encode_frame(image::Frame::from_parts(frame, 0, 0, image::Delay::from_numer_denom_ms(120, 1))).unwrap();
    }
    drop(encoder);
    let gif = process(&source, &asked("gif", ""));
    let smallest = process(&source, &asked("smallest", ""));
    assert_eq!(smallest.output.frames, 4);
    assert!(smallest.bytes.len() <= gif.bytes.len(), "{}", smallest.output.format);
}

#[cfg(feature = "svg")]
#[test]
fn an_svg_stays_one_but_where_pixels_are_worked_on() {
    let svg = br##"<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60"><path fill="#28c" d="M5 5h40v40z"/></svg>"##;
    assert_eq!(process(svg, &asked("smallest", "")).output.format, Format::Svg);
    let toned = process(svg, &asked("smallest", r#", "tone": {"exposure": 20}"#));
    assert!([Format::Png, Format::Webp].contains(&toned.output.format), "{}", toned.output.format);
}

#[test]
fn a_damaged_source_is_refused_as_such() {
    let mut source = file(&photo(60, 40), Format::Png);
    source.truncate(source.len() / 2);
    assert!(matches!(attempt(&source, &asked("smallest", "")), Err(Error::Input { .. })));
}
