//! Light and tone through the engine.
#![cfg(all(feature = "jpeg", feature = "png", feature = "webp"))]

mod pictures;

use image::{DynamicImage, GrayAlphaImage, ImageBuffer, Luma, LumaA, Rgb, RgbImage};
use lapidary::Format;
use pictures::{FORMATS, decoded, file, photo, process};

const LOSSLESS: &str = r#""optimize": {"compression": "lossless"}"#;

fn lossless(source: &[u8], rest: &str) -> DynamicImage {
    decoded(&process(source, &format!("{{{LOSSLESS}, {rest}}}")).bytes)
}

fn dark(width: u32, height: u32) -> DynamicImage {
    let mut picture = photo(width, height).to_rgb8();
    picture.pixels_mut().for_each(|pixel| pixel.0 = pixel.0.map(|sample| sample / 5));
    picture.into()
}

fn mean(picture: &DynamicImage) -> f64 {
    let samples = picture.to_rgb8().into_raw();
    samples.iter().map(|&v| f64::from(v)).sum::<f64>() / samples.len() as f64
}

#[test]
fn nothing_asked_for_is_only_an_optimisation() {
    let zero = r#""light": {"strength": 0}, "tone": {"exposure": 0, "sharpness": 0}"#;
    for format in FORMATS {
        let source = file(&photo(60, 40), format);
        assert_eq!(process(&source, &format!("{{{zero}}}")).bytes, process(&source, "{}").bytes, "{format}");
    }
}

#[test]
fn dark_pictures_get_light_in_every_format() {
    for format in FORMATS {
        let source = file(&dark(90, 60), format);
        let after = decoded(&process(&source, r#"{"optimize": {"quality": 90}, "light": true}"#).bytes);
        assert!(mean(&after) > 1.8 * mean(&decoded(&source)), "{format}");
    }
}

#[test]
fn numbers_of_tone_change_pixels_and_the_same_request_gives_the_same_bytes() {
    let source = file(&photo(90, 60), Format::Png);
    let plain = lossless(&source, r#""light": {"strength": 0}"#);
    let tones = ["exposure", "contrast", "highlights", "shadows", "saturation", "warmth", "sharpness"];
    for name in tones {
        let json = format!(r#"{{{LOSSLESS}, "tone": {{"{name}": 60}}}}"#);
        let done = process(&source, &json).bytes;
        assert_ne!(decoded(&done), plain, "{name}");
        assert_eq!(process(&source, &json).bytes, done, "{name}");
    }
}

#[test]
fn light_comes_before_tone_and_sharpness_after_resizing() {
    let source = file(&dark(90, 60), Format::Png);
    let light = lossless(&source, r#""light": {"strength": 60}"#);
    let then = |first: &DynamicImage, rest: &str| lossless(&file(first, Format::Png), rest);
    let tone = r#""tone": {"exposure": 15, "contrast": 20}"#;
    assert_eq!(lossless(&source, &format!(r#"{tone}, "light": {{"strength": 60}}"#)), then(&light, tone));

    let toned = then(&light, tone);
    let small = then(&toned, r#""resize": {"width": 45}"#);
    let sharp = then(&small, r#""tone": {"sharpness": 80}"#);
    let all = r#""tone": {"sharpness": 80, "exposure": 15, "contrast": 20}, "resize": {"width": 45}, "light": {"strength": 60}"#;
    assert_ne!(small, sharp);
    assert_eq!(lossless(&source, all), sharp);
}

#[test]
fn gray_with_alpha_stays_so_and_sixteen_bits_stay_sixteen() {
    let gray = GrayAlphaImage::from_fn(64, 48, |x, y| LumaA([(x / 2) as u8, (y * 5) as u8]));
    let after = lossless(&file(&gray.clone().into(), Format::Png), r#""light": true, "tone": {"contrast": 10}"#);
    let after = after.to_rgba8();
    assert!(after.pixels().all(|p| p[0] == p[1] && p[1] == p[2]));
    assert!(after.pixels().zip(gray.pixels()).all(|(after, before)| after[3] == before[1]));

    let wide = ImageBuffer::<Luma<u16>, _>::from_fn(64, 48, |x, y| Luma([(x * 700 + y * 13) as u16]));
    let source = file(&wide.into(), Format::Png);
    assert!(matches!(lossless(&source, r#""tone": {"exposure": -10}"#), DynamicImage::ImageLuma16(_)));
}

#[test]
fn a_well_lit_picture_keeps_its_pixels_under_light() {
    let lit = RgbImage::from_fn(90, 60, |x, y| Rgb([(x * 2 + 60) as u8, (y * 3 + 60) as u8, 140 + (x + y) as u8 / 2]));
    let source = file(&lit.clone().into(), Format::Png);
    assert_eq!(lossless(&source, r#""light": true"#).to_rgb8(), lit);
    // Nothing is encoded again that would not be without.
    for format in FORMATS {
        let source = file(&lit.clone().into(), format);
        assert_eq!(process(&source, r#"{"light": true}"#).bytes, process(&source, "{}").bytes, "{format}");
    }
}
