//! What optimising promises: the target's score, no larger file, the same bytes when done again.
#![cfg(all(feature = "jpeg", feature = "png", feature = "webp"))]

mod pictures;

use lapidary::{
    Engine, Format, Input, Limits, Outcome, Request, Run, Unattended,
    codec::{Codecs, ColourModel},
    picture::Metadata,
    request::Compression,
};
use pictures::{
    FORMATS, colour_noise, decoded, file, file_of_quality, gradient, graphic, kinds, logo, photo, process, same_pixels,
    score, screenshot, warnings,
};
use sha1::{Digest, Sha1};

const TARGETS: [(&str, f64); 3] = [("low", 90.0), ("medium", 80.0), ("high", 70.0)];
/// How far the independent judge, which decodes with other decoders, may differ from the reported score.
const TOLERANCE: f64 = 0.5;

fn preset(name: &str) -> String {
    format!(r#"{{"optimize": {{"compression": "{name}"}}}}"#)
}

fn to(format: Format, optimize: &str) -> String {
    format!(r#"{{"optimize": {optimize}, "output": {{"format": "{}"}}}}"#, format.name().to_lowercase())
}

/// Holds a result to its target and to what it says of itself.
fn hold(outcome: &Outcome, source: &[u8], target: f64, what: &str) {
    let measured = score(&decoded(source), &decoded(&outcome.bytes));
    let reported = outcome.output.score.unwrap();
    assert!((measured - reported).abs() <= TOLERANCE, "{what}: reported {reported}, measured {measured:.2}");
    let of_looks: Vec<_> = warnings(outcome).iter().filter(|warning| !warning.contains("takes more bytes")).collect();
    match &of_looks[..] {
        [] => assert!(measured >= target - TOLERANCE, "{what}: {measured:.2} without a warning"),
        [warning] => assert!(reported < target && warning.contains("below"), "{what}: {reported}, {warning}"),
        more => panic!("{what}: {more:?}"),
    }
}

#[test]
fn every_preset_reaches_its_target_or_says_why_not_and_never_grows() {
    for (kind, picture) in kinds(200, 136) {
        for format in FORMATS {
            let source = file(&picture, format);
            for (name, target) in TARGETS {
                let outcome = process(&source, &preset(name));
                let what = format!("{kind} {format} {name}");
                hold(&outcome, &source, target, &what);
                assert!(outcome.bytes.len() <= source.len(), "{what}: {} > {}", outcome.bytes.len(), source.len());
            }
        }
    }
}

/// A strip that a page repeats as a ground, or an icon: the metric has too few scales there to tell bands from a gradient.
#[test]
fn a_gradient_of_a_few_pixels_keeps_its_steps() {
    for (width, height) in [(8, 12), (1, 40), (24, 24), (16, 64), (100, 2)] {
        let steps = |x: u32, y: u32| (if height > 2 { y * 255 / height } else { x * 255 / width }) as u8;
        let strip = image::DynamicImage::ImageRgb8(image::RgbImage::from_fn(width, height, |x, y| {
            let step = steps(x, y);
            image::Rgb([105 + step / 2, 120 + step / 2, 182 + step / 4])
        }));
        for format in FORMATS {
            let source = file(&strip, format);
            for name in ["low", "medium"] {
                let (before, after) =
                    (decoded(&source).to_rgb8(), decoded(&process(&source, &preset(name)).bytes).to_rgb8());
                let most = before.iter().zip(after.iter()).map(|(a, b)| a.abs_diff(*b)).max();
                assert!(most <= Some(6), "{width}x{height} {format} {name}: {most:?}");
            }
        }
    }
}

#[test]
fn a_photograph_as_png_or_webp_is_less_than_half_at_high() {
    let picture = photo(200, 136);
    for format in [Format::Png, Format::Webp] {
        let source = file(&picture, format);
        let bytes = process(&source, &preset("high")).bytes;
        assert!(bytes.len() * 2 < source.len(), "{format}: {} of {}", bytes.len(), source.len());
    }
}

#[test]
fn a_jpeg_that_was_coarse_already_gets_smaller_by_its_own_tables() {
    let coffee = decoded(include_bytes!("../examples/pictures/coffee.jpg")).crop_imm(100, 100, 320, 240);
    let coarse = file_of_quality(&coffee, 60);
    let lossless = process(&coarse, &preset("lossless")).bytes;
    let outcome = process(&coarse, &preset("medium"));
    hold(&outcome, &coarse, 80.0, "a coarse JPEG");
    assert!(outcome.output.score.unwrap() < 90.0);
    assert!(outcome.bytes.len() < lossless.len(), "{} of {}", outcome.bytes.len(), lossless.len());
    // The tables stay; another quality would have brought others.
    let tables = |bytes: &[u8]| {
        let starts = (0..bytes.len() - 69).filter(|&at| bytes[at..at + 2] == [0xFF, 0xDB]);
        starts.map(|at| bytes[at + 5..at + 69].to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(tables(&outcome.bytes), tables(&coarse));
}

#[test]
fn fine_chroma_keeps_its_size_in_a_jpeg_where_half_of_it_misses_the_target() {
    let picture = colour_noise(200, 136);
    for (source, optimize) in
        [(file(&picture, Format::Png), r#"{"compression": "medium"}"#), (file_of_quality(&picture, 95), "{}")]
    {
        let outcome = process(&source, &to(Format::Jpeg, optimize));
        hold(&outcome, &source, 80.0, "colour noise");
        assert!(warnings(&outcome).is_empty(), "{:?}", warnings(&outcome));
    }
}

#[test]
fn a_lossy_png_is_no_larger_than_the_exact_one() {
    let ramp = image::RgbImage::from_fn(128, 96, |x, y| image::Rgb([2 * x as u8, 2 * y as u8, (x + y) as u8])).into();
    for format in [Format::Png, Format::Webp] {
        let source = file(&ramp, format);
        let exact = process(&source, &to(Format::Png, r#"{"compression": "lossless"}"#)).bytes;
        for (name, target) in TARGETS {
            let outcome = process(&source, &to(Format::Png, &format!(r#"{{"compression": "{name}"}}"#)));
            hold(&outcome, &source, target, name);
            let (bytes, exact) = (outcome.bytes.len(), exact.len());
            assert!(bytes <= exact, "{format} {name}: {bytes} for {exact} without loss");
        }
    }
}

#[test]
fn a_format_that_takes_more_bytes_for_the_same_pixels_is_told_of() {
    let source = file(&photo(96, 64), Format::Jpeg);
    let outcome = process(&source, &to(Format::Png, r#"{"compression": "lossless"}"#));
    let told = format!("PNG takes more bytes than JPEG for it: {} in place of {}", outcome.bytes.len(), source.len());
    assert_eq!(warnings(&outcome), [told]);
    let larger = r#"{"optimize": {"compression": "lossless"}, "resize": {"width": 192}, "output": {"format": "png"}}"#;
    assert_eq!(warnings(&process(&source, larger)), [""; 0]);
}

#[test]
fn ultra_is_no_larger_than_high() {
    for (kind, picture) in kinds(200, 136) {
        for format in FORMATS {
            let source = file(&picture, format);
            let [high, ultra] = ["high", "ultra"].map(|name| process(&source, &preset(name)).bytes.len());
            // Their marks differ by a digit at most.
            assert!(ultra <= high + 1, "{kind} {format}: {ultra}, {high} at high");
        }
    }
    // Flat tiles, which lossy coding smears at a great price.
    let tile = |x: u32, y: u32| {
        image::Rgba([(x / 20 * 90) as u8, (y / 10 * 60) as u8, ((x / 20 + y / 10) % 2 * 200) as u8, 255])
    };
    let source = file(&image::DynamicImage::ImageRgba8(image::RgbaImage::from_fn(60, 40, tile)), Format::Png);
    let [high, ultra] = ["high", "ultra"]
        .map(|name| process(&source, &to(Format::Webp, &format!(r#"{{"compression": "{name}"}}"#))).bytes.len());
    assert!(ultra <= high + 1, "tiles: {ultra}, {high} at high");
}

#[test]
fn a_quality_of_png_never_takes_more_than_none_of_the_pixels_lost() {
    let ramps = |x: u32, y: u32| image::LumaA([x as u8, (4 * y) as u8]);
    let source = file(&image::DynamicImage::ImageLumaA8(image::GrayAlphaImage::from_fn(256, 64, ramps)), Format::Png);
    let bytes = |optimize: &str| process(&source, &to(Format::Png, optimize)).bytes.len();
    let exact = bytes(r#"{"compression": "lossless"}"#);
    for quality in [5, 60, 95] {
        let bytes = bytes(&format!(r#"{{"quality": {quality}}}"#));
        // A mark names what was asked for.
        assert!(bytes <= exact + 8, "{quality}: {bytes}, {exact} without loss");
    }
}

#[test]
fn fewer_colours_of_an_explicit_quality_take_no_more_bytes_where_they_would_be_dithered() {
    let gradient = |x: u32, y: u32| image::Rgb([(x + y) as u8 / 2, (90 + x / 4) as u8, (200 - y / 2) as u8]);
    let source = file(&image::DynamicImage::ImageRgb8(image::RgbImage::from_fn(256, 256, gradient)), Format::Png);
    let bytes = |quality: u8| process(&source, &to(Format::Png, &format!(r#"{{"quality": {quality}}}"#))).bytes.len();
    let sizes = [5, 25, 45, 65, 85].map(bytes);
    assert!(sizes.is_sorted_by(|lower, higher| *lower <= higher + higher / 10), "{sizes:?}");
}

#[test]
fn the_gradient_of_a_small_button_shows_no_bands() {
    let button =
        image::RgbImage::from_fn(200, 40, |_, y| image::Rgb([80 - y as u8, 150 - 2 * y as u8, 240 - 2 * y as u8]));
    let rows = |picture: &image::DynamicImage| -> Vec<i32> {
        let rgb = picture.to_rgb8();
        (0..40).map(|y| (0..200).map(|x| i32::from(rgb.get_pixel(x, y)[1])).sum::<i32>() / 200).collect()
    };
    let button = image::DynamicImage::from(button);
    for (name, _) in TARGETS {
        let drawn = decoded(&process(&file(&button, Format::Png), &preset(name)).bytes);
        let wrong = rows(&button).into_iter().zip(rows(&drawn)).filter(|(meant, drawn)| (meant - drawn).abs() > 5);
        assert!(wrong.count() <= 4, "{name}: {:?}", rows(&drawn));
    }
}

/// Large pictures are searched by bands of their rows: here by 208 to 335 and 752 to 879.
#[test]
fn detail_that_no_band_of_a_large_picture_has_keeps_its_fidelity() {
    let mut picture = graphic(960, 1100).into_rgb8();
    image::imageops::replace(&mut picture, &colour_noise(960, 300).into_rgb8(), 0, 400);
    let source = file(&picture.into(), Format::Png);
    for format in FORMATS {
        let outcome = process(&source, &to(format, r#"{"compression": "medium"}"#));
        hold(&outcome, &source, 80.0, format.name());
        assert_eq!(warnings(&outcome), [""; 0], "{format}");
    }
}

#[test]
fn a_drawing_in_strong_colours_is_hardly_larger_as_webp_than_as_png() {
    let random = |x: u32, y: u32| {
        let mixed = (x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA77)).wrapping_mul(0xC2B2_AE3D);
        (mixed ^ mixed >> 15).wrapping_mul(0x2C1B_3C6D) >> 16
    };
    // Bricks, each pixel in one of four shades.
    let drawn = |x: u32, y: u32| {
        let (brick, shade) = (random(x / 4, y / 4), random(x + 999, y) % 4 * 3);
        image::Rgb([0, 1, 2].map(|channel| ((brick >> channel & 1) * 200 + shade) as u8))
    };
    let source = file(&image::RgbImage::from_fn(150, 110, drawn).into(), Format::Png);
    let [png, webp] =
        [Format::Png, Format::Webp].map(|format| process(&source, &to(format, r#"{"compression": "medium"}"#)));
    assert!(webp.bytes.len() * 10 <= png.bytes.len() * 11, "{} and {}", webp.bytes.len(), png.bytes.len());
    assert!(webp.output.score >= Some(80.0), "{:?}", webp.output.score);
}

#[test]
fn a_webp_that_was_coarse_already_gets_smaller_by_its_own_quantisers() {
    for (name, target) in TARGETS {
        // Of what is as coarse as the rest, `low` would spare too little to be worth its errors.
        let quality = if name == "low" { r#"{"quality": 85}"# } else { r#"{"quality": 60}"# };
        let source = process(&file(&photo(300, 200), Format::Png), &to(Format::Webp, quality)).bytes;
        let outcome = process(&source, &preset(name));
        hold(&outcome, &source, target, name);
        assert!(outcome.bytes.len() < source.len(), "{name}: {} of {}", outcome.bytes.len(), source.len());
        let score = outcome.output.score.unwrap();
        assert!(score < target + 3.0, "{name}: {score}");
        assert_eq!(process(&outcome.bytes, &preset(name)).bytes, outcome.bytes);
    }
}

/// Turned before it is coded, it could not be coded by what the source stores.
#[test]
fn a_coarse_webp_that_its_viewer_turns_is_still_turned_by_its_viewer() {
    let coarse = process(&file(&photo(300, 200), Format::Png), &to(Format::Webp, r#"{"quality": 60}"#)).bytes;
    let exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0".to_vec();
    let (limits, metadata) = (Limits::default(), Metadata { exif: Some(exif), ..Metadata::default() });
    let run = Run { limits: &limits, control: &Unattended };
    let source = Codecs::default().with_metadata(Format::Webp, &coarse, &metadata, run).unwrap();
    let outcome = process(&source, &preset("medium"));
    assert!(outcome.bytes.len() < coarse.len(), "{} of {}", outcome.bytes.len(), coarse.len());
    assert!((80.0..83.0).contains(&outcome.output.score.unwrap()), "{:?}", outcome.output.score);
    assert_eq!((outcome.output.width, outcome.output.height), (300, 200));
    assert_eq!(process(&outcome.bytes, &preset("medium")).bytes, outcome.bytes);
}

#[test]
fn conversions_reach_the_target_in_every_format() {
    for (kind, picture) in [("photo", photo(200, 136)), ("screenshot", screenshot(200, 136))] {
        for from in FORMATS {
            let source = file(&picture, from);
            for into in FORMATS {
                let outcome = process(&source, &to(into, r#"{"compression": "medium"}"#));
                assert_eq!(lapidary::sniff(&outcome.bytes), Some(into));
                assert_eq!((outcome.input.format, outcome.output.format), (from, into));
                hold(&outcome, &source, 80.0, &format!("{kind} {from} to {into}"));
            }
        }
    }
}

#[test]
fn alpha_reaches_the_target_over_black_and_over_white() {
    for from in [Format::Png, Format::Webp] {
        let source = file(&logo(160, 120), from);
        for into in [Format::Png, Format::Webp] {
            for (name, target) in TARGETS {
                let outcome = process(&source, &to(into, &format!(r#"{{"compression": "{name}"}}"#)));
                assert!(decoded(&outcome.bytes).color().has_alpha());
                hold(&outcome, &source, target, &format!("{from} to {into} {name}"));
            }
        }
    }
}

#[test]
fn alpha_goes_over_white_where_the_format_has_none() {
    let source = file(&logo(160, 120), Format::Png);
    let result = decoded(&process(&source, &to(Format::Jpeg, r#"{"compression": "low"}"#)).bytes);
    assert!(score(&pictures::over(&decoded(&source), 255), &result) > 85.0);
    assert!(result.to_rgb8().get_pixel(0, 0).0.iter().all(|&sample| sample > 250));
}

#[test]
fn ultra_is_smaller_than_high_and_still_a_picture() {
    for format in FORMATS {
        let source = file(&photo(200, 136), format);
        let (high, ultra) = (process(&source, &preset("high")), process(&source, &preset("ultra")));
        assert!(ultra.bytes.len() < high.bytes.len(), "{format}");
        let measured = score(&decoded(&source), &decoded(&ultra.bytes));
        assert!(measured > 20.0, "{format}: {measured}");
    }
}

#[test]
fn lossless_keeps_every_pixel_and_never_grows() {
    for (kind, picture) in kinds(120, 80) {
        for format in FORMATS {
            let source = file(&picture, format);
            let outcome = process(&source, &preset("lossless"));
            assert!(same_pixels(&decoded(&source), &decoded(&outcome.bytes)), "{kind} {format}");
            assert!(outcome.bytes.len() <= source.len(), "{kind} {format}");
            assert_eq!(outcome.output.score, Some(100.0));
        }
    }
}

#[test]
fn a_jpeg_without_its_end_marker_does_not_grow_by_it() {
    let whole = process(&file(&photo(64, 48), Format::Jpeg), &preset("lossless")).bytes;
    let open = &whole[..whole.len() - 2];
    for name in ["lossless", "low"] {
        let outcome = process(open, &preset(name));
        assert!(outcome.bytes.len() <= open.len(), "{name}: {} of {}", outcome.bytes.len(), open.len());
        assert_eq!(process(&outcome.bytes, &preset(name)).bytes, outcome.bytes);
    }
}

#[test]
fn lossless_keeps_colours_under_full_transparency_and_sixteen_bits() {
    let hidden = image::RgbaImage::from_fn(40, 30, |x, y| image::Rgba([x as u8 * 6, y as u8 * 8, 77, 0]));
    for format in [Format::Png, Format::Webp] {
        let source = file(&hidden.clone().into(), format);
        let result = process(&source, &preset("lossless")).bytes;
        assert!(same_pixels(&decoded(&source), &decoded(&result)), "{format}");
    }
    let deep = image::ImageBuffer::from_fn(40, 30, |x, y| image::Rgb([x as u16 * 1637, y as u16 * 2111, 12_345]));
    let source = file(&image::DynamicImage::ImageRgb16(deep), Format::Png);
    let outcome = process(&source, &preset("lossless"));
    assert!(same_pixels(&decoded(&source), &decoded(&outcome.bytes)));
    assert_eq!(outcome.output.depth, 48);
}

#[test]
fn webp_without_optimize_keeps_its_pixels() {
    for picture in [photo(120, 80), logo(120, 80)] {
        let lossless = file(&picture, Format::Webp);
        let lossy = process(&lossless, &to(Format::Webp, r#"{"quality": 80}"#)).bytes;
        for source in [lossless, lossy] {
            let outcome = process(&source, "{}");
            assert!(same_pixels(&decoded(&source), &decoded(&outcome.bytes)));
            assert!(outcome.bytes.len() <= source.len());
        }
    }
}

#[test]
fn without_a_word_jpeg_and_png_are_optimised_as_medium() {
    for format in [Format::Jpeg, Format::Png] {
        let source = file(&photo(120, 80), format);
        assert_eq!(process(&source, "{}").bytes, process(&source, &preset("medium")).bytes, "{format}");
    }
}

#[test]
fn explicit_qualities_work_and_do_not_lose_by_more() {
    let picture = photo(160, 120);
    let source = file(&picture, Format::Png);
    for format in FORMATS {
        let scores = [1, 50, 100].map(|quality| {
            let outcome = process(&source, &to(format, &format!(r#"{{"quality": {quality}}}"#)));
            let measured = score(&picture, &decoded(&outcome.bytes));
            let reported = outcome.output.score.unwrap();
            assert!((measured - reported).abs() <= TOLERANCE, "{format} {quality}: {reported}, measured {measured:.2}");
            measured
        });
        assert!(scores[0] < scores[1] && scores[1] < scores[2], "{format}: {scores:?}");
        assert!(scores[2] > 85.0, "{format}: {scores:?}");
        let own = file(&picture, format);
        for quality in [1, 50, 100] {
            let outcome = process(&own, &format!(r#"{{"optimize": {{"quality": {quality}}}}}"#));
            assert!(outcome.bytes.len() <= own.len(), "{format} {quality}");
        }
    }
}

#[test]
fn a_quality_wins_over_a_preset() {
    let source = file(&photo(80, 60), Format::Jpeg);
    let both = process(&source, r#"{"optimize": {"quality": 30, "compression": "lossless"}}"#);
    assert_eq!(both.bytes, process(&source, r#"{"optimize": {"quality": 30}}"#).bytes);
}

/// Every way to ask for a fidelity.
fn fidelities() -> impl Iterator<Item = String> {
    let presets = ["lossless", "low", "medium", "high", "ultra"].map(|name| format!(r#"{{"compression": "{name}"}}"#));
    presets.into_iter().chain([1, 50, 100].map(|quality| format!(r#"{{"quality": {quality}}}"#)))
}

#[test]
fn the_second_pass_of_the_same_request_gives_the_same_bytes() {
    for (kind, picture) in [("photo", photo(96, 64)), ("logo", logo(96, 64)), ("gradient", gradient(96, 64))] {
        for format in FORMATS {
            let source = file(&picture, format);
            for optimize in fidelities() {
                let json = format!(r#"{{"optimize": {optimize}}}"#);
                let first = process(&source, &json).bytes;
                let second = process(&first, &json).bytes;
                assert!(second == first, "{kind} {format} {json}: {} then {}", first.len(), second.len());
            }
        }
    }
}

#[test]
fn conversions_resizes_and_encodings_done_again_give_the_same_bytes() {
    let requests = [
        r#"{}"#,
        r#"{"output": {"format": "webp"}}"#,
        r#"{"output": {"format": "jpeg", "encoding": "baseline"}}"#,
        r#"{"output": {"format": "png", "encoding": "progressive"}}"#,
        r#"{"optimize": {"compression": "lossless"}, "output": {"format": "webp"}}"#,
        r#"{"optimize": {"compression": "lossless"}, "output": {"format": "png"}}"#,
        r#"{"optimize": {"compression": "lossless"}, "output": {"format": "jpeg"}}"#,
        r#"{"optimize": {"compression": "high"}, "resize": {"width": 61}}"#,
        r#"{"optimize": {}, "resize": {"width": 50, "height": 50, "mode": "pad"}, "output": {"format": "png"}}"#,
        r#"{"optimize": {}, "output": {"metadata": ["all"]}}"#,
        r#"{"optimize": {}, "output": {"metadata": ["profile"]}}"#,
        r#"{"optimize": {"quality": 70}, "output": {"metadata": ["all", "profile"]}}"#,
    ];
    for format in FORMATS {
        let source = file(&photo(96, 64), format);
        for json in requests {
            let first = process(&source, json).bytes;
            let second = process(&first, json).bytes;
            assert!(second == first, "{format} {json}: {} then {}", first.len(), second.len());
        }
    }
}

#[test]
fn the_mark_of_another_request_does_not_hide_the_own_one() {
    for format in FORMATS {
        let asking =
            |name: &str| format!(r#"{{"optimize": {{"compression": "{name}"}}, "output": {{"metadata": ["all"]}}}}"#);
        let lossless = process(&file(&photo(96, 64), format), &asking("lossless")).bytes;
        let first = process(&lossless, &asking("high")).bytes;
        let marks = |name: &[u8]| first.windows(name.len()).filter(|window| *window == name).count();
        assert_eq!((marks(b"lossless~"), marks(b"high~")), (0, 1), "{format}");
        assert!(process(&first, &asking("high")).bytes == first, "{format}");
    }
}

#[test]
fn a_result_is_not_skipped_for_another_request() {
    let source = file(&photo(120, 80), Format::Png);
    let low = process(&source, &preset("low")).bytes;
    assert!(process(&low, &preset("high")).bytes.len() < low.len());
}

#[test]
fn results_are_described_as_they_are() {
    let source = file(&graphic(120, 80), Format::Png);
    let input = Input { bytes: &source, name: Some("some/where/logo.final.PNG") };
    let outcome = Engine::new().process(input, &Request::new().compression(Compression::Medium), &Unattended).unwrap();
    let hex = |bytes: &[u8]| Sha1::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    for (description, bytes) in [(&outcome.input, &source), (&outcome.output, &outcome.bytes)] {
        assert_eq!((description.width, description.height, description.frames), (120, 80, 1));
        assert_eq!((description.bytes, &description.sha1), (bytes.len() as u64, &hex(bytes)));
        assert_eq!((description.format, description.name.as_str()), (Format::Png, "logo.final.PNG"));
    }
    assert_eq!((outcome.input.score, &outcome.input.warnings), (None, &None));
    assert_eq!((outcome.input.colorspace, outcome.input.depth, outcome.input.sampling), (ColourModel::Rgb, 24, None));
    assert_eq!(outcome.output.colorspace, ColourModel::Indexed);
    let jpeg = process(&source, &to(Format::Jpeg, "{}"));
    assert_eq!((jpeg.input.name.as_str(), jpeg.output.name.as_str()), ("image.png", "image.jpg"));
    assert!(jpeg.output.interlaced == Some(true) && jpeg.output.quality.is_some() && jpeg.output.sampling.is_some());
}

/// A gray JPEG of 19x13 pixels, turned by its tag, with a mark's worth of bytes to spare.
const TURNED: &str = "ffd8ffe000104a46494600010100000100010000ffe1002e45786966000049492a0008000000020012010300010000000600 \
     000098820200040000006d65210000000000fffe000f6d010000000000000030303030ffdb0043000c0c0c0c0c0c0c0c0c0c \
     0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c \
     0c0c0c0cffc0000b08000d001301011100ffc400160001010100000000000000000000000000040506ffc400281000030100 \
     00040309010000000000000001020304000512241431d51113212232519094d606ffda0008010100003f001e4e5fe5da8fd0 \
     3fcc7166be1f96e6f13a37a05eb49a23432e66ad18fd13a6ee4393375840f42af742526e543300a72aced466a35d435170d8 \
     4f4ca5305d8b109297fa549cd013f2ce68a88bec54555000a993665f87667f1cb3d23843c74ed707df679491e86292cd5cee \
     11c8e95b5306cc4ba1d555475bc9403d000000000000000000000000000000000000ffd9";

#[test]
fn a_turned_jpeg_whose_errors_spare_next_to_nothing_comes_back_as_it_is() {
    let digits: Vec<u8> = TURNED.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let source: Vec<u8> = digits.chunks(2).map(byte).collect();
    let request = r#"{"optimize":{"compression":"high"},"output":{"encoding":"baseline"}}"#;
    let once = process(&source, request);
    assert_eq!(once.output.score, Some(100.0));
    assert_eq!(process(&once.bytes, request).bytes, once.bytes);
}
