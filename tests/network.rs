//! Super-resolution and noise removal through the engine, by the networks of this build.
#![cfg(all(
    feature = "denoise",
    feature = "gif",
    feature = "jpeg",
    feature = "png",
    feature = "upscale",
    feature = "webp"
))]

mod pictures;

use std::sync::Arc;

use image::{DynamicImage, GrayImage, Luma, Rgb, RgbImage, imageops::FilterType};
use lapidary::{
    Engine, Error, Format, Input, Limits, Result, Run, Unattended,
    operation::{Model, Models, Raster, Shape},
};
use pictures::{FORMATS, decoded, file, logo, photo, process, request, warnings};

const LOSSLESS: &str = r#""optimize": {"compression": "lossless"}"#;

/// The result as PNG, without loss.
fn lossless(source: &[u8], rest: &str) -> DynamicImage {
    decoded(&process(source, &format!(r#"{{{LOSSLESS}, "output": {{"format": "png"}}, {rest}}}"#)).bytes)
}

/// A part of the photograph that is shipped, halved, so that nothing of its JPEG is left.
fn coffee() -> RgbImage {
    let whole = image::load_from_memory(include_bytes!("../examples/pictures/coffee.jpg")).unwrap();
    whole.resize_exact(300, 200, FilterType::Lanczos3).crop_imm(60, 30, 192, 128).to_rgb8()
}

/// White noise of about this standard deviation, the same everywhere.
fn noisy(picture: &RgbImage, sigma: f32) -> RgbImage {
    let mut state = 1u32;
    let mut uniform = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0
    };
    let mut noisy = picture.clone();
    // The sum of twelve has a variance of one.
    noisy.iter_mut().for_each(|sample| {
        let normal = (0..12).map(|_| uniform()).sum::<f32>() - 6.0;
        *sample = (f32::from(*sample) + sigma * normal).round().clamp(0.0, 255.0) as u8;
    });
    noisy
}

/// Decibels between two pictures, but for a border.
fn psnr(a: &RgbImage, b: &RgbImage) -> f64 {
    assert_eq!(a.dimensions(), b.dimensions());
    let inner = |x: u32, y: u32| x >= 4 && y >= 4 && x < a.width() - 4 && y < a.height() - 4;
    let (mut sum, mut count) = (0.0, 0.0);
    for (x, y, pixel) in a.enumerate_pixels().filter(|(x, y, _)| inner(*x, *y)) {
        for (a, b) in pixel.0.iter().zip(b.get_pixel(x, y).0) {
            sum += (f64::from(*a) - f64::from(b)).powi(2);
            count += 1.0;
        }
    }
    10.0 * (255.0f64.powi(2) * count / sum).log10()
}

#[test]
fn an_enlarged_photograph_is_nearer_to_its_original_than_by_any_filter() {
    let original = coffee();
    let small = DynamicImage::from(original.clone()).resize_exact(96, 64, FilterType::CatmullRom);
    let source = file(&small, Format::Png);
    let by_network = psnr(&lossless(&source, r#""upscale": {"factor": 2, "model": "clean"}"#).to_rgb8(), &original);
    for filter in [FilterType::Triangle, FilterType::CatmullRom, FilterType::Lanczos3] {
        let by_filter = psnr(&small.resize_exact(192, 128, filter).to_rgb8(), &original);
        assert!(by_network > by_filter + 1.0, "{by_network:.2} dB against {by_filter:.2} by {filter:?}");
    }
}

#[test]
fn noise_goes_and_the_picture_stays() {
    let original = coffee();
    for (sigma, gain) in [(15.0, 5.0), (25.0, 6.5), (50.0, 8.5)] {
        let noisy = noisy(&original, sigma);
        let source = file(&noisy.clone().into(), Format::Png);
        let result = lossless(&source, r#""denoise": true"#).to_rgb8();
        let (before, after) = (psnr(&noisy, &original), psnr(&result, &original));
        assert!(after > before + gain, "sigma {sigma}: {before:.2} to {after:.2} dB");
    }
    let clean = file(&original.clone().into(), Format::Png);
    let kept = psnr(&lossless(&clean, r#""denoise": true"#).to_rgb8(), &original);
    assert!(kept > 36.0, "a clean picture comes back with {kept:.2} dB");
}

#[test]
fn blocks_of_jpeg_go_in_colour_and_in_grey() {
    let original = coffee();
    for grey in [false, true] {
        let picture: DynamicImage = original.clone().into();
        let picture = if grey { picture.grayscale() } else { picture };
        let source = pictures::file_of_quality(&picture, 10);
        let before = psnr(&decoded(&source).to_rgb8(), &picture.to_rgb8());
        let after = psnr(&lossless(&source, r#""denoise": true"#).to_rgb8(), &picture.to_rgb8());
        assert!(after > before + 0.4, "grey {grey}: {before:.2} to {after:.2} dB");
    }
}

#[test]
fn rings_around_what_is_drawn_go_as_far_as_its_jpeg_was_coarse() {
    // Rings with smooth edges on white.
    let ink = |x: u32, y: u32| {
        let far = (f64::from(x % 48) - 24.0).hypot(f64::from(y % 43) - 21.0);
        (2.5 - (far - 14.0).abs()).clamp(0.0, 1.0)
    };
    let drawing = RgbImage::from_fn(192, 128, |x, y| {
        Rgb([30.0, 60.0, 120.0].map(|colour: f64| (255.0 + (colour - 255.0) * ink(x, y)).round() as u8))
    });
    for (quality, least) in [(40, 2.0), (60, 2.0), (80, 1.0), (99, -0.3)] {
        let source = pictures::file_of_quality(&drawing.clone().into(), quality);
        let before = psnr(&decoded(&source).to_rgb8(), &drawing);
        let after = psnr(&lossless(&source, r#""denoise": true"#).to_rgb8(), &drawing);
        assert!(after > before + least, "quality {quality}: {before:.2} to {after:.2} dB");
    }
}

#[test]
fn every_format_is_enlarged_by_every_factor() {
    for format in FORMATS {
        let source = file(&photo(22, 14), format);
        for factor in 1..=8u32 {
            let outcome = process(&source, &format!(r#"{{"upscale": {{"factor": {factor}}}}}"#));
            assert_eq!((outcome.output.width, outcome.output.height), (22 * factor, 14 * factor), "{format}");
            assert_eq!(outcome.output.format, outcome.input.format);
        }
    }
}

#[test]
fn strength_zero_and_factor_one_are_only_an_optimisation() {
    for format in FORMATS {
        let source = file(&photo(60, 40), format);
        let nothing = r#"{"denoise": {"strength": 0}, "upscale": {"factor": 1}}"#;
        assert_eq!(process(&source, nothing).bytes, process(&source, "{}").bytes, "{format}");
    }
}

#[test]
fn noise_goes_first_and_sizes_are_those_of_the_enlarged_picture() {
    let source = file(&noisy(&coffee(), 20.0).into(), Format::Png);
    let then = |picture: &DynamicImage, rest: &str| lossless(&file(picture, Format::Png), rest);
    let clean = lossless(&source, r#""denoise": true"#);
    let large = then(&clean, r#""upscale": {"factor": 2}"#);
    let sized = then(&large, r#""resize": {"width": 250}"#);
    let all = lossless(&source, r#""resize": {"width": 250}, "upscale": {"factor": 2}, "denoise": true"#);
    assert_eq!(all, sized);
    assert_eq!(lossless(&source, r#""upscale": {"factor": 2}, "resize": {"width": 384}"#).width(), 384);
}

#[test]
fn grey_stays_grey_and_alpha_stays_where_it_is_flat() {
    let gray = GrayImage::from_fn(40, 30, |x, y| Luma([(x * 5 + y * 2) as u8]));
    for rest in [r#""upscale": {"factor": 2}"#, r#""denoise": {"strength": 100}"#] {
        let after = lossless(&file(&gray.clone().into(), Format::Png), rest).to_rgb8();
        assert!(after.pixels().all(|pixel| pixel[0] == pixel[1] && pixel[1] == pixel[2]), "{rest}");
        let source = logo(48, 48);
        let times = if rest.contains("upscale") { 2 } else { 1 };
        let after = lossless(&file(&source, Format::Png), rest).to_rgba8();
        assert_eq!(after.width(), 48 * times);
        assert_eq!(after.get_pixel(0, 0)[3], 0, "{rest}");
        assert_eq!(after.get_pixel(24 * times, 8 * times)[3], 255, "{rest}");
    }
}

#[test]
fn a_flat_picture_stays_flat() {
    for colour in [[0, 0, 0], [255, 255, 255], [200, 30, 90], [128, 128, 128]] {
        let source = file(&RgbImage::from_pixel(40, 30, Rgb(colour)).into(), Format::Png);
        for rest in [r#""upscale": {"factor": 2}"#, r#""denoise": true"#] {
            let after = lossless(&source, rest).to_rgb8();
            assert!(after.pixels().all(|pixel| pixel.0 == colour), "{colour:?} after {rest}");
        }
    }
}

#[test]
fn an_animation_is_enlarged_frame_by_frame() {
    let mut source = Vec::new();
    let mut encoder = image::codecs::gif::GifEncoder::new(&mut source);
    for at in 0..3u32 {
        let frame =
            image::RgbaImage::from_fn(24, 18, |x, y| image::Rgba([(x * 9 + at * 30) as u8, (y * 12) as u8, 80, 255]));
        encoder.encode_frame(image::Frame::new(frame)).unwrap();
    }
    drop(encoder);
    let outcome = process(&source, r#"{"upscale": {"factor": 2}}"#);
    assert_eq!((outcome.output.frames, outcome.output.width, outcome.output.height), (3, 48, 36));
}

#[test]
fn work_and_sizes_beyond_the_limits_are_refused_by_their_numbers() {
    let source = file(&photo(60, 40), Format::Png);
    let refused = |json: &str, limits: Limits| {
        let engine = Engine::new().with_limits(limits);
        let error = engine.process(Input { bytes: &source, name: None }, &request(json), &Unattended).unwrap_err();
        assert!(matches!(error, Error::Limit { .. }), "{error}");
        error.to_string()
    };
    let mut few = Limits::default();
    few.network_products = 2_000_000;
    for json in [r#"{"denoise": true}"#, r#"{"upscale": {"factor": 2}}"#] {
        let text = refused(json, few.clone());
        assert!(text.starts_with("multiplications in networks is") && text.ends_with("the limit is 2000000"), "{text}");
    }
    // Light is worth having without.
    let engine = Engine::new().with_limits(few.clone());
    let dark = file(&photo(60, 40).brighten(-90), Format::Png);
    for (engine, said) in [(engine, true), (Engine::new(), false)] {
        let lit =
            engine.process(Input { bytes: &dark, name: None }, &request(r#"{"light": true}"#), &Unattended).unwrap();
        assert_eq!(warnings(&lit).iter().any(|warning| warning.contains("simpler means")), said, "{lit:?}");
    }
    // An SVG counts as large as it is drawn.
    let svg = br#"<svg xmlns="http://www.w3.org/2000/svg" width="8" height="6"><circle cx="4" cy="3" r="2"/></svg>"#;
    let drawn = |width: u32| {
        let json = format!(r#"{{"denoise": true, "resize": {{"width": {width}}}, "output": {{"format": "png"}}}}"#);
        let engine = Engine::new().with_limits(few.clone());
        engine
            .process(Input { bytes: svg, name: None }, &request(&json), &Unattended)
            .map(|outcome| outcome.output.width)
    };
    if cfg!(feature = "svg") {
        assert!(matches!(drawn(3), Ok(3)));
        assert!(matches!(drawn(80), Err(Error::Limit { .. })));
    }
    let mut small = Limits::default();
    small.result_pixels = 9_599;
    assert_eq!(refused(r#"{"upscale": {"factor": 2}}"#, small), "result pixels is 9600, the limit is 9599");
}

#[test]
fn without_a_network_both_are_refused_by_their_names() {
    let source = file(&photo(20, 16), Format::Png);
    let engine = Engine::new().with_models(Models::none());
    for (json, name) in [(r#"{"denoise": true}"#, "denoise"), (r#"{"upscale": {"factor": 2}}"#, "upscale")] {
        let error = engine.process(Input { bytes: &source, name: None }, &request(json), &Unattended).unwrap_err();
        assert_eq!(error.to_string(), format!("{name} is not supported"));
    }
}

/// Enlarges, and fills with one value.
#[derive(Debug)]
struct Filling {
    scale: u32,
    value: f32,
}

impl Model for Filling {
    fn shape(&self) -> Shape {
        Shape { scale: self.scale, margin: 1, multiple: 1, tile: 64, work: 1 }
    }
    fn run(&self, tile: Raster, _: Run<'_>) -> Result<Raster> {
        let (width, height) = (tile.width() * self.scale, tile.height() * self.scale);
        Raster::new(width, height, vec![self.value; (width * height * 3) as usize])
    }
}

#[test]
fn a_model_that_does_not_fit_its_task_is_a_failure_that_says_so() {
    let source = file(&photo(20, 16), Format::Png);
    let refused = |json: &str, scale: u32, value: f32| {
        let model: Arc<dyn Model> = Arc::new(Filling { scale, value });
        let mut models = Models::none();
        (models.upscale_photo, models.denoise) = (vec![Arc::clone(&model)], Some(model));
        let engine = Engine::new().with_models(models);
        match engine.process(Input { bytes: &source, name: None }, &request(json), &Unattended) {
            Err(Error::Internal { doing, source: Some(source) }) => format!("{doing}: {source}"),
            done => panic!("{json} {scale} {value}: {done:?}"),
        }
    };
    let (twice, clean) = (r#"{"upscale": {"factor": 2}}"#, r#"{"denoise": {"strength": 100}}"#);
    assert_eq!(refused(twice, 1, 0.5), "planning upscale: no model enlarges");
    assert_eq!(refused(clean, 2, 0.5), "planning denoise: the model is one that enlarges by 2");
    assert_eq!(refused(twice, 2, f32::NAN), "running a network: what came out holds what is no number");
}
