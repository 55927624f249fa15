//! Animated PNG: what is seen, and for how long, stays; or looks the same.
#![cfg(all(feature = "gif", feature = "jpeg", feature = "png", feature = "webp"))]

mod pictures;

use std::{
    io::Cursor,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use image::{AnimationDecoder, ImageFormat, RgbaImage, codecs::png::PngDecoder};
use lapidary::{
    Engine, Error, Format, Input, Result, Run, Unattended,
    codec::{Codec, Codecs, Encode, EncodeOptions, Recompress, png::codec_apng},
    picture::Frames,
};
use pictures::{assert_stopped, attempt, crc32, photo, process, request};

const LOSSLESS: &str = r#"{"optimize": {"compression": "lossless"}}"#;
const MEDIUM: &str = r#"{"optimize": {"compression": "medium"}}"#;

const KEEP: u8 = 0;
const CLEAR: u8 = 1;
const RESTORE: u8 = 2;
const SOURCE: u8 = 0;
const OVER: u8 = 1;

type Pixel = [u8; 4];

/// An APNG as it is stored: one frame after the other, each with its place, time, disposal and blend operation.
struct Apng {
    bytes: Vec<u8>,
    sequence: u32,
}

fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let body = [&kind[..], data].concat();
    [&(data.len() as u32).to_be_bytes()[..], &body, &crc32(&body).to_be_bytes()].concat()
}

/// The compressed rows of a picture of 8 bits RGBA.
fn rows(width: u32, height: u32, pixel: impl Fn(u32, u32) -> Pixel) -> Vec<u8> {
    let mut png = Cursor::new(Vec::new());
    RgbaImage::from_fn(width, height, |x, y| pixel(x, y).into()).write_to(&mut png, ImageFormat::Png).unwrap();
    data(&png.into_inner(), b"IDAT").concat()
}

/// The data of all chunks of a kind.
fn data(file: &[u8], kind: &[u8; 4]) -> Vec<Vec<u8>> {
    let (mut at, mut found) = (8, Vec::new());
    while at < file.len() {
        let length = u32::from_be_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        if file[at + 4..at + 8] == kind[..] {
            found.push(file[at + 8..at + 8 + length].to_vec());
        }
        at += length + 12;
    }
    found
}

impl Apng {
    fn new(width: u32, height: u32, frames: u32, plays: u32) -> Self {
        let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
        let header = chunk(b"IHDR", &[&size[..], &[8, 6, 0, 0, 0]].concat());
        let control = chunk(b"acTL", &[frames.to_be_bytes(), plays.to_be_bytes()].concat());
        Self { bytes: [&b"\x89PNG\r\n\x1a\n"[..], &header, &control].concat(), sequence: 0 }
    }

    /// A default image that is no frame.
    fn hidden(mut self, width: u32, height: u32) -> Self {
        self.bytes.extend(chunk(b"IDAT", &rows(width, height, |_, _| [9, 9, 9, 255])));
        self
    }

    fn frame(
        mut self,
        [x, y, width, height]: [u32; 4],
        (numerator, denominator): (u16, u16),
        (disposal, blend): (u8, u8),
        pixel: impl Fn(u32, u32) -> Pixel,
    ) -> Self {
        let mut control = self.sequence.to_be_bytes().to_vec();
        control.extend([width, height, x, y].into_iter().flat_map(u32::to_be_bytes));
        control.extend([numerator, denominator].into_iter().flat_map(u16::to_be_bytes));
        control.extend([disposal, blend]);
        self.bytes.extend(chunk(b"fcTL", &control));
        self.sequence += 1;
        let rows = rows(width, height, pixel);
        if data(&self.bytes, b"IDAT").is_empty() {
            self.bytes.extend(chunk(b"IDAT", &rows));
        } else {
            self.bytes.extend(chunk(b"fdAT", &[&self.sequence.to_be_bytes()[..], &rows].concat()));
            self.sequence += 1;
        }
        self
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.extend(chunk(b"IEND", &[]));
        self.bytes
    }
}

/// Every disposal and blend operation, partial transparency, frames that change nothing, odd times.
fn everything() -> Vec<u8> {
    Apng::new(40, 30, 9, 3)
        .frame([0, 0, 40, 30], (7, 0), (KEEP, SOURCE), |x, y| [(x / 5 * 30) as u8, (y / 5 * 40) as u8, 90, 255])
        .frame(
            [5, 5, 10, 10],
            (1, 24),
            (RESTORE, OVER),
            |x, y| if (x + y) % 3 == 0 { [1; 4] } else { [250, 0, 0, 255] },
        )
        .frame([20, 5, 12, 12], (1, 3), (CLEAR, SOURCE), |x, _| [7, 200, 30, (x * 20) as u8])
        .frame([2, 2, 6, 6], (1, 7), (KEEP, OVER), |_, _| [255; 4])
        .frame([2, 2, 6, 6], (2, 7), (KEEP, OVER), |_, _| [255; 4])
        .frame([0, 0, 40, 30], (1, 100), (RESTORE, SOURCE), |x, y| if x > y { [0; 4] } else { [3, 3, 250, 255] })
        .frame([30, 20, 10, 10], (4, 100), (CLEAR, OVER), |x, y| [(x * 25) as u8, (y * 25) as u8, 0, 255])
        .frame([10, 10, 4, 4], (65_535, 65_535), (KEEP, SOURCE), |_, _| [0; 4])
        .frame([0, 0, 40, 30], (0, 100), (KEEP, OVER), |x, y| [x as u8, y as u8, 0, if x % 2 == 0 { 255 } else { 0 }])
        .end()
}

/// A dot that runs over a still picture of many colours.
fn dot(frames: u32, seconds: (u16, u16)) -> Vec<u8> {
    (0..frames)
        .fold(Apng::new(90, 60, frames, 0), |apng, at| {
            apng.frame([0, 0, 90, 60], seconds, (KEEP, SOURCE), move |x, y| {
                let near = x.abs_diff(10 + at * 3) < 4 && y.abs_diff(20) < 4;
                if near { [255, 220, 0, 255] } else { [(x * 2 + y) as u8, (y * 4) as u8, (200 - x) as u8, 255] }
            })
        })
        .end()
}

/// What another decoder shows, and for how many milliseconds as a fraction; equal canvases in a row are one, if browsers
/// show both for as long as they say.
fn shown(bytes: &[u8]) -> Vec<(f64, RgbaImage)> {
    let frames = PngDecoder::new(Cursor::new(bytes)).unwrap().apng().unwrap().into_frames().collect_frames().unwrap();
    let mut shown: Vec<(f64, RgbaImage)> = Vec::new();
    for (frame, control) in frames.into_iter().zip(data(bytes, b"fcTL")) {
        let [numerator, denominator] = [20, 22].map(|at| u16::from_be_bytes([control[at], control[at + 1]]));
        let time = f64::from(numerator) * 1000.0 / f64::from(if denominator == 0 { 100 } else { denominator });
        let mut canvas = frame.into_buffer();
        canvas.pixels_mut().filter(|pixel| pixel[3] == 0).for_each(|pixel| pixel.0 = [0; 4]);
        match shown.last_mut() {
            Some((before, last)) if *last == canvas && time.min(*before) > 10.0 => *before += time,
            _ => shown.push((time, canvas)),
        }
    }
    shown
}

fn assert_same(ours: &[u8], theirs: &[u8]) {
    let (ours, theirs) = (shown(ours), shown(theirs));
    assert_eq!(ours.len(), theirs.len());
    for (at, ((time, canvas), (wanted_time, wanted))) in ours.iter().zip(&theirs).enumerate() {
        assert!((time - wanted_time).abs() < 1e-6, "frame {at}: {time} instead of {wanted_time} ms");
        assert!(canvas == wanted, "frame {at}");
    }
}

#[test]
fn everything_that_is_seen_stays_for_as_long_and_the_file_is_smaller() {
    for source in [everything(), dot(12, (1, 20))] {
        for json in [LOSSLESS, "{}"] {
            let done = process(&source, json);
            assert_same(&done.bytes, &source);
            assert!(done.bytes.len() < source.len(), "{} of {}", done.bytes.len(), source.len());
            assert_eq!((done.output.format, done.output.score), (Format::Apng, Some(100.0)));
            let plays = |bytes: &[u8]| data(bytes, b"acTL")[0][4..].to_vec();
            assert_eq!(plays(&done.bytes), plays(&source));
        }
    }
}

#[test]
fn only_what_changes_is_written_again() {
    let (one, twelve) =
        (process(&dot(1, (1, 20)), LOSSLESS).bytes.len(), process(&dot(12, (1, 20)), LOSSLESS).bytes.len());
    assert!(twelve < one + 11 * 400, "{one} for one frame, {twelve} for twelve");
}

#[test]
fn a_default_image_that_is_no_frame_is_never_seen() {
    let part = |apng: Apng| apng.frame([3, 4, 8, 8], (1, 10), (KEEP, SOURCE), |x, _| [x as u8, 9, 9, 255]).end();
    let source = part(Apng::new(20, 20, 1, 1).hidden(20, 20));
    let done = process(&source, LOSSLESS).bytes;
    let canvas = image::load_from_memory(&done).unwrap().into_rgba8();
    for (x, y, pixel) in canvas.enumerate_pixels() {
        let inside = (3..11).contains(&x) && (4..12).contains(&y);
        assert_eq!(pixel.0, if inside { [x as u8 - 3, 9, 9, 255] } else { [0; 4] }, "{x},{y}");
    }
}

#[test]
fn doing_it_again_changes_nothing() {
    for source in [everything(), dot(5, (1, 20)), dot(1, (1, 20))] {
        for json in [LOSSLESS, MEDIUM] {
            let once = process(&source, json).bytes;
            assert!(process(&once, json).bytes == once, "{json}");
        }
    }
}

#[test]
fn damage_is_named() {
    let source = dot(3, (1, 20));
    let frame = |area, pixel: Pixel| {
        let first = Apng::new(9, 9, 2, 0).frame([0, 0, 9, 9], (1, 9), (KEEP, SOURCE), |_, _| [1, 2, 3, 255]);
        first.frame(area, (1, 9), (KEEP, SOURCE), move |_, _| pixel).end()
    };
    let swapped = {
        let mut bytes = source.clone();
        let at = bytes.windows(4).rposition(|kind| kind == b"fcTL").unwrap();
        bytes[at + 7] += 1;
        let sum = crc32(&bytes[at..at + 30]).to_be_bytes();
        bytes[at + 30..at + 34].copy_from_slice(&sum);
        bytes
    };
    let cases = [
        (frame([5, 5, 5, 4], [0; 4]), "a frame of 5x4 at 5,5 on a canvas of 9x9"),
        (swapped, "an fcTL chunk numbered 4 where 3 is due"),
        (Apng::new(9, 9, 2, 0).hidden(9, 9).end(), "has 0 frames instead of 2"),
        (source[..source.len() - 600].to_vec(), "frames instead of 3"),
    ];
    for (bytes, problem) in cases {
        let error = attempt(&bytes, LOSSLESS).unwrap_err();
        assert!(matches!(error, Error::Input { .. }) && error.to_string().contains(problem), "{problem}: {error}");
    }
}

#[test]
fn a_preset_is_reached_in_fewer_bytes_and_still_areas_stay_still() {
    let ground = photo(90, 60).into_rgba8();
    let frame = |apng: Apng, at: u32| {
        apng.frame([0, 0, 90, 60], (1, 20), (KEEP, SOURCE), |x, y| {
            let near = x.abs_diff(10 + at * 3) < 4 && y.abs_diff(20) < 4;
            if near { [255, 220, 0, 255] } else { ground[(x, y)].0 }
        })
    };
    let source = (0..8).fold(Apng::new(90, 60, 8, 0), frame).end();
    let (exact, done) = (process(&source, LOSSLESS), process(&source, MEDIUM));
    assert!(done.bytes.len() < exact.bytes.len(), "{} of {}", done.bytes.len(), exact.bytes.len());
    assert!(done.output.score.unwrap() >= 80.0);
    let frames = shown(&done.bytes);
    assert_eq!(frames.len(), 8);
    let corner = |frame: &RgbaImage| image::imageops::crop_imm(frame, 0, 40, 90, 20).to_image();
    assert!(frames.iter().all(|(_, frame)| corner(frame) == corner(&frames[0].1)));
}

/// Writes APNG and counts how often it does so thoroughly, and how often it recompresses.
#[derive(Debug, Clone, Default)]
struct Counted {
    thorough: Arc<AtomicU32>,
    recompressed: Arc<AtomicU32>,
}

impl Encode for Counted {
    fn format(&self) -> Format {
        Format::Apng
    }

    fn animations(&self) -> bool {
        true
    }

    fn encode(&self, frames: &mut dyn Frames, options: &EncodeOptions, run: Run<'_>) -> Result<Vec<u8>> {
        let thorough = matches!(options, EncodeOptions::Apng(options) if options.effort > 0);
        self.thorough.fetch_add(thorough.into(), Ordering::Relaxed);
        codec_apng().encode.unwrap().encode(frames, options, run)
    }
}

impl Recompress for Counted {
    fn format(&self) -> Format {
        Format::Apng
    }

    fn animations(&self) -> bool {
        true
    }

    fn recompress(&self, bytes: &[u8], interlaced: bool, run: Run<'_>) -> Result<Vec<u8>> {
        self.recompressed.fetch_add(1, Ordering::Relaxed);
        codec_apng().recompress.unwrap().recompress(bytes, interlaced, run)
    }
}

#[test]
fn only_ways_that_may_win_are_taken_thoroughly() {
    let ground = photo(90, 60).into_rgba8();
    let of_a_camera =
        |apng: Apng, at: u32| apng.frame([0, 0, 90, 60], (1, 20), (KEEP, SOURCE), |x, y| ground[((x + at) % 90, y)].0);
    let of_a_camera = (0..4).fold(Apng::new(90, 60, 4, 0), of_a_camera).end();
    // Of the source without loss, nothing; of a drawing, that alone.
    for (source, recompressed) in [(of_a_camera, 0), (dot(4, (1, 20)), 1)] {
        let counted = Counted::default();
        let mut codecs = Codecs::default();
        let (encode, recompress) = (Arc::new(counted.clone()), Arc::new(counted.clone()));
        codecs.register(Codec { encode: Some(encode), recompress: Some(recompress), ..codec_apng() });
        let input = Input { bytes: &source, name: None };
        Engine::new().with_codecs(codecs).process(input, &request(MEDIUM), &Unattended).unwrap();
        let counts = [&counted.thorough, &counted.recompressed].map(|count| count.load(Ordering::Relaxed));
        assert_eq!(counts, [1, recompressed]);
    }
}

#[test]
fn an_animated_gif_becomes_an_apng() {
    let frames = [[255, 0, 0, 255], [0, 0, 255, 255]].map(|colour| {
        let delay = image::Delay::from_numer_denom_ms(70, 1);
        image::Frame::from_parts(RgbaImage::from_pixel(12, 10, colour.into()), 0, 0, delay)
    });
    let mut gif = Vec::new();
    image::codecs::gif::GifEncoder::new(&mut gif).encode_frames(frames.clone()).unwrap();
    let json = r#"{"optimize": {"compression": "lossless"}, "output": {"format": "png"}}"#;
    let done = process(&gif, json);
    assert_eq!(done.output.format, Format::Apng);
    let shown = shown(&done.bytes);
    assert!(shown.iter().map(|shown| &shown.1).eq(frames.iter().map(image::Frame::buffer)));
    assert!(shown.iter().all(|shown| shown.0 == 70.0));
}

#[test]
fn sixty_frames_a_second_become_a_gif_in_which_the_same_is_on_screen() {
    let json = r#"{"optimize": {"compression": "medium"}, "output": {"format": "gif"}}"#;
    let [sixty, fifty] = [60, 50].map(|of_a_second| process(&dot(24, (1, of_a_second)), json));
    assert_eq!(sixty.output.frames, 24);
    assert!(sixty.bytes == fifty.bytes, "{} {}", sixty.bytes.len(), fifty.bytes.len());
}

#[test]
fn a_long_animation_can_be_stopped_anywhere() {
    let source = dot(20, (1, 20));
    for json in [LOSSLESS, MEDIUM] {
        for questions in [1, 20, 100, 500] {
            assert_stopped(&source, json, questions);
        }
    }
}
