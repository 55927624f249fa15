//! Pictures made in code, the files they come in, and how alike two of them look to a judge that is not ours.
#![allow(dead_code, reason = "each suite uses its part")]

use std::{
    io::Cursor,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
};

use fast_ssim2::{PixelDescriptor, PixelSlice, compute_ssimulacra2};
use image::{
    DynamicImage, ExtendedColorType, ImageEncoder, Rgb, RgbImage, Rgba, RgbaImage,
    codecs::{jpeg::JpegEncoder, png::PngEncoder, webp::WebPEncoder},
};
use lapidary::{Control, Engine, Error, Format, Input, Outcome, Request, Result, Stage, Stop, Unattended};

/// The formats that are read and written.
pub const FORMATS: [Format; 3] = [Format::Jpeg, Format::Png, Format::Webp];

/// Quality of the JPEG sources.
const JPEG_QUALITY: u8 = 92;

/// A photograph: shapes of several sizes under soft light, with the noise of a sensor.
pub fn photo(width: u32, height: u32) -> DynamicImage {
    let pixel = |x, y| {
        let light = 90.0 * noise(x, y, 90, 1) + 80.0 * noise(x, y, 31, 2) + 40.0 * noise(x, y, 11, 3);
        let tints = [noise(x, y, 120, 4), noise(x, y, 100, 5), noise(x, y, 110, 6)];
        let grain = (hash(x, y, 7) % 9) as f32 - 4.0;
        Rgb(tints.map(|tint| (light + 50.0 * tint + grain).clamp(0.0, 255.0) as u8))
    };
    RgbImage::from_fn(width, height, pixel).into()
}

/// A sky whose every pixel has a hue of its own, at the luma that it had.
pub fn colour_noise(width: u32, height: u32) -> DynamicImage {
    let mut picture = gradient(width, height).into_rgb8();
    for (x, y, pixel) in picture.enumerate_pixels_mut() {
        let [blue, red] = [8, 9].map(|seed| (0..4).map(|n| (hash(x, y, 4 * seed + n) % 21) as f32 - 10.0).sum::<f32>());
        let shifts = [1.402 * red, -0.344 * blue - 0.714 * red, 1.772 * blue];
        for (sample, shift) in pixel.0.iter_mut().zip(shifts) {
            *sample = (f32::from(*sample) + shift).clamp(0.0, 255.0) as u8;
        }
    }
    picture.into()
}

/// A drawing with hard edges in six colours.
pub fn graphic(width: u32, height: u32) -> DynamicImage {
    const COLOURS: [[u8; 3]; 5] = [[24, 48, 160], [230, 60, 30], [250, 200, 0], [0, 140, 90], [30, 30, 30]];
    let pixel = |x: u32, y: u32| {
        let (column, row) = (x / 40, y / 40);
        let (dx, dy) = ((x % 40).abs_diff(20), (y % 40).abs_diff(20));
        let radius = 8 + hash(column, row, 1) % 10;
        let inside = dx * dx + dy * dy < radius * radius;
        Rgb(if inside { COLOURS[hash(column, row, 2) as usize % COLOURS.len()] } else { [245, 245, 240] })
    };
    RgbImage::from_fn(width, height, pixel).into()
}

/// A ring with soft edges on nothing.
pub fn logo(width: u32, height: u32) -> DynamicImage {
    let (cx, cy, radius) = (width as f32 / 2.0, height as f32 / 2.0, width.min(height) as f32 * 0.35);
    let pixel = |x: u32, y: u32| {
        let distance = (x as f32 + 0.5 - cx).hypot(y as f32 + 0.5 - cy);
        let alpha = (radius * 0.3 - (distance - radius).abs() + 0.5).clamp(0.0, 1.0);
        let shade = (180 * x / width) as u8;
        Rgba([200 - shade, 40 + shade / 2, 60 + shade, (alpha * 255.0) as u8])
    };
    RgbaImage::from_fn(width, height, pixel).into()
}

/// A sky: nothing but slow change.
pub fn gradient(width: u32, height: u32) -> DynamicImage {
    let pixel = |x: u32, y: u32| {
        Rgb([
            (40 + 120 * x / width) as u8,
            (90 + 100 * y / height) as u8,
            (220 - 60 * (x + y) / (width + height)) as u8,
        ])
    };
    RgbImage::from_fn(width, height, pixel).into()
}

/// A screenshot: lines of glyphs of 5 x 7 pixels under a bar.
pub fn screenshot(width: u32, height: u32) -> DynamicImage {
    let pixel = |x: u32, y: u32| {
        if y < 16 {
            return Rgb([52, 73, 94]);
        }
        let (column, row, dx, dy) = (x / 7, y / 12, x % 7, y % 12);
        let glyph = hash(column % 31, row, 3);
        let written = !glyph.is_multiple_of(6) && column > 1 && dx < 5 && dy < 7;
        let ink = written && hash(dx + 5 * (glyph % 26), dy, 4) % 5 < 2;
        Rgb(if ink { [33, 33, 33] } else { [255, 255, 255] })
    };
    RgbImage::from_fn(width, height, pixel).into()
}

/// One of each kind, with its name.
pub fn kinds(width: u32, height: u32) -> [(&'static str, DynamicImage); 5] {
    [
        ("photo", photo(width, height)),
        ("graphic", graphic(width, height)),
        ("logo", logo(width, height)),
        ("gradient", gradient(width, height)),
        ("screenshot", screenshot(width, height)),
    ]
}

/// Mixes a place and a seed into a number that looks random.
fn hash(x: u32, y: u32, seed: u32) -> u32 {
    let mut mixed = x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA77) ^ seed.wrapping_mul(0xC2B2_AE3D);
    for _ in 0..2 {
        mixed = (mixed ^ mixed >> 15).wrapping_mul(0x2C1B_3C6D);
    }
    mixed ^ mixed >> 13
}

/// Smooth noise of 0 to 1 with features of `cell` pixels.
fn noise(x: u32, y: u32, cell: u32, seed: u32) -> f32 {
    let corner = |dx, dy| (hash(x / cell + dx, y / cell + dy, seed) & 0xFFFF) as f32 / 65_535.0;
    let smooth = |at: u32| {
        let share = (at % cell) as f32 / cell as f32;
        share * share * (3.0 - 2.0 * share)
    };
    let (sx, sy) = (smooth(x), smooth(y));
    let mix = |a: f32, b: f32, share: f32| a + (b - a) * share;
    mix(mix(corner(0, 0), corner(1, 0), sx), mix(corner(0, 1), corner(1, 1), sx), sy)
}

/// The picture as a file without metadata: JPEG of quality 92 (over white), PNG, or lossless WebP.
pub fn file(picture: &DynamicImage, format: Format) -> Vec<u8> {
    file_with(picture, format, None, None)
}

/// A JPEG file of this quality.
pub fn file_of_quality(picture: &DynamicImage, quality: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    written(JpegEncoder::new_with_quality(&mut bytes, quality), picture, None, None);
    bytes
}

/// [`file`] with an EXIF block and a profile.
pub fn file_with(picture: &DynamicImage, format: Format, exif: Option<&[u8]>, icc: Option<&[u8]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    match format {
        Format::Jpeg => {
            let picture = if picture.color().has_alpha() { over(picture, 255) } else { picture.clone() };
            written(JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY), &picture, exif, icc);
        }
        Format::Png => written(PngEncoder::new(&mut bytes), picture, exif, icc),
        Format::Webp => written(WebPEncoder::new_lossless(&mut bytes), picture, exif, icc),
        other => panic!("{other} is not made here"),
    }
    bytes
}

fn written(mut encoder: impl ImageEncoder, picture: &DynamicImage, exif: Option<&[u8]>, icc: Option<&[u8]>) {
    if let Some(exif) = exif {
        encoder.set_exif_metadata(exif.to_vec()).unwrap();
    }
    if let Some(icc) = icc {
        encoder.set_icc_profile(icc.to_vec()).unwrap();
    }
    let colour = ExtendedColorType::from(picture.color());
    encoder.write_image(picture.as_bytes(), picture.width(), picture.height(), colour).unwrap();
}

/// Reads a file with a decoder that is not ours.
pub fn decoded(bytes: &[u8]) -> DynamicImage {
    image::load_from_memory(bytes).unwrap()
}

/// The picture over a gray ground.
pub fn over(picture: &DynamicImage, ground: u8) -> DynamicImage {
    let rgba = picture.to_rgba8();
    let pixel = |x, y| {
        let [r, g, b, a] = rgba.get_pixel(x, y).0;
        let blend =
            |c: u8| ((u32::from(c) * u32::from(a) + u32::from(ground) * (255 - u32::from(a)) + 127) / 255) as u8;
        Rgb([r, g, b].map(blend))
    };
    RgbImage::from_fn(rgba.width(), rgba.height(), pixel).into()
}

/// SSIMULACRA2 of `result` against `reference`; the lower of black and white grounds.
pub fn score(reference: &DynamicImage, result: &DynamicImage) -> f64 {
    let on = |ground| {
        let (a, b) = (over(reference, ground).into_rgb8(), over(result, ground).into_rgb8());
        assert_eq!(a.dimensions(), b.dimensions());
        let (width, height) = a.dimensions();
        let slice =
            |image| PixelSlice::new(image, width, height, width as usize * 3, PixelDescriptor::RGB8_SRGB).unwrap();
        compute_ssimulacra2(&slice(a.as_raw()), &slice(b.as_raw())).unwrap()
    };
    on(0).min(on(255))
}

/// Whether two pictures have the same pixels, those under full transparency included.
pub fn same_pixels(a: &DynamicImage, b: &DynamicImage) -> bool {
    a.to_rgba16() == b.to_rgba16()
}

/// A request from its JSON.
pub fn request(json: &str) -> Request {
    Request::from_json(json.as_bytes()).unwrap()
}

/// Does what `json` asks with a nameless file under the default limits.
pub fn attempt(bytes: &[u8], json: &str) -> Result<Outcome> {
    Engine::new().process(Input { bytes, name: None }, &request(json), &Unattended)
}

/// [`attempt`], which must succeed.
pub fn process(bytes: &[u8], json: &str) -> Outcome {
    attempt(bytes, json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// Notes whether decoding began.
#[derive(Debug, Default)]
pub struct Decoding(AtomicBool);

impl Decoding {
    pub fn began(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Control for Decoding {
    fn stop(&self) -> Option<Stop> {
        None
    }
    fn stage(&self, stage: Stage, _: f32) {
        self.0.fetch_or(stage >= Stage::Decode, Ordering::Relaxed);
    }
}

/// Says stop behind so many questions.
#[derive(Debug)]
struct Countdown(AtomicU32);

impl Control for Countdown {
    fn stop(&self) -> Option<Stop> {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(1), Ordering::Relaxed);
        (left == 0).then_some(Stop::Cancelled)
    }
    fn stage(&self, _: Stage, _: f32) {}
}

/// That the work ends where the host says so behind so many questions.
pub fn assert_stopped(bytes: &[u8], json: &str, questions: u32) {
    let control = Countdown(questions.into());
    let error = Engine::new().process(Input { bytes, name: None }, &request(json), &control).err();
    assert!(matches!(error, Some(Error::Stopped(Stop::Cancelled))), "{json} {questions}: {error:?}");
}

/// What a result says that did not go as one might expect.
pub fn warnings(outcome: &Outcome) -> &[String] {
    outcome.output.warnings.as_deref().unwrap_or_default()
}

/// A file that is opened for reading.
pub fn reader(bytes: &[u8]) -> Cursor<&[u8]> {
    Cursor::new(bytes)
}

/// The checksum of PNG chunks, over their type and data.
pub fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}
