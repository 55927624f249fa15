//! Animated WebP: what is seen, and for how long, stays or looks the same.
#![cfg(all(feature = "gif", feature = "jpeg", feature = "png", feature = "webp"))]

mod pictures;

use std::io::Cursor;

use image::{
    AnimationDecoder, Delay, DynamicImage, Frame, RgbImage, Rgba, RgbaImage,
    codecs::{
        gif::{GifDecoder, GifEncoder},
        webp::WebPDecoder,
    },
    imageops,
};
use lapidary::{
    Error, Format, Limits, Run, Unattended,
    codec::{Codecs, DecodeOptions},
    picture::Channels,
};
use pictures::{assert_stopped, attempt, colour_noise, file, photo, process, score, screenshot};

const LOSSLESS: &str = r#"{"optimize": {"compression": "lossless"}}"#;
const MEDIUM: &str = r#"{"optimize": {"compression": "medium"}}"#;

fn chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let padding = &[0][..data.len() % 2];
    [&name[..], &(data.len() as u32).to_le_bytes(), data, padding].concat()
}

/// An animation as it is stored: one frame after the other, each with its place, delay, blending and disposal.
struct Webp {
    body: Vec<u8>,
}

impl Webp {
    fn new(width: u32, height: u32, plays: u16) -> Self {
        let (w, h) = ((width - 1).to_le_bytes(), (height - 1).to_le_bytes());
        let header = chunk(b"VP8X", &[&[0x12, 0, 0, 0], &w[..3], &h[..3]].concat());
        let control = chunk(b"ANIM", &[&[9, 99, 199, 255][..], &plays.to_le_bytes()].concat());
        Self { body: [&b"WEBP"[..], &header, &control].concat() }
    }

    fn frame(self, at: (u32, u32), (delay, in_place, clears): (u32, bool, bool), picture: &DynamicImage) -> Self {
        self.coded(
            at,
            (delay, in_place, clears),
            (picture.width(), picture.height()),
            &file(picture, Format::Webp)[12..],
        )
    }

    fn coded(
        mut self,
        (x, y): (u32, u32),
        (delay, in_place, clears): (u32, bool, bool),
        (width, height): (u32, u32),
        image: &[u8],
    ) -> Self {
        let fields = [x / 2, y / 2, width - 1, height - 1, delay].map(u32::to_le_bytes);
        let flags = u8::from(in_place) << 1 | u8::from(clears);
        let header: Vec<u8> = fields.iter().flat_map(|field| &field[..3]).copied().chain([flags]).collect();
        self.body.extend(chunk(b"ANMF", &[&header, image].concat()));
        self
    }

    fn end(self) -> Vec<u8> {
        [&b"RIFF"[..], &(self.body.len() as u32).to_le_bytes(), &self.body].concat()
    }
}

/// A disc whose edge is translucent.
fn disc(side: u32, colour: [u8; 3]) -> DynamicImage {
    let pixel = |x: u32, y: u32| {
        let middle = (side - 1) as f32 / 2.0;
        let distance = (x as f32 - middle).hypot(y as f32 - middle);
        let alpha = (middle - distance).clamp(0.0, 1.0) * 255.0;
        let [r, g, b] = colour;
        Rgba([r, g, b, alpha as u8])
    };
    RgbaImage::from_fn(side, side, pixel).into()
}

/// Blending, frames in place, places that are cleared, frames that change nothing, and delays that browsers slow down.
fn everything() -> Vec<u8> {
    let whole = (0, 0);
    Webp::new(64, 48, 3)
        .frame(whole, (70, true, false), &screenshot(64, 48))
        .frame((6, 4), (40, false, false), &disc(17, [200, 30, 30]))
        .frame((6, 4), (50, true, false), &disc(17, [30, 30, 200]))
        .frame(whole, (60, false, true), &disc(1, [0, 0, 0]))
        .frame((20, 10), (60, false, true), &disc(20, [30, 200, 30]))
        .frame((40, 20), (5, false, false), &disc(20, [30, 200, 30]))
        .frame((40, 20), (5, true, false), &disc(20, [30, 200, 30]))
        .frame((10, 20), (90, true, false), &photo(30, 20))
        .frame((12, 22), (30, true, false), &photo(30, 20).crop_imm(2, 2, 9, 9))
        .end()
}

/// A disc that runs over a photograph, whose every frame is stored whole.
fn running(frames: u32) -> Vec<u8> {
    (0..frames).fold(Webp::new(120, 80, 0), |webp, at| webp.frame((0, 0), (40, true, false), &scene(at))).end()
}

fn scene(at: u32) -> DynamicImage {
    let mut scene = photo(120, 80).into_rgba8();
    imageops::overlay(&mut scene, &disc(15, [250, 250, 90]), i64::from(3 * at), 30);
    DynamicImage::from(scene).into_rgb8().into()
}

/// What is shown, and for how many milliseconds; equal canvases in a row are one, if browsers show both for as long as they
/// say.
fn shown(bytes: &[u8]) -> Vec<(u32, RgbaImage)> {
    let limits = Limits::default();
    let run = Run { limits: &limits, control: &Unattended };
    let codecs = Codecs::default();
    let mut frames = codecs.frames(Format::Webp, bytes, &DecodeOptions::default(), run).unwrap();
    let mut shown = Vec::new();
    while let Some(frame) = frames.next(run).unwrap() {
        let picture = frame.picture.into_owned().into_channels(Channels::Rgba);
        let canvas = RgbaImage::from_raw(picture.width(), picture.height(), picture.eight().unwrap().to_vec()).unwrap();
        shown.push((frame.delay.numerator, canvas));
    }
    merged(shown)
}

/// The same by another decoder, whose blending makes opaque samples one less than they are.
fn shown_elsewhere(bytes: &[u8]) -> Vec<(u32, RgbaImage)> {
    let mut decoder = WebPDecoder::new(Cursor::new(bytes)).unwrap();
    decoder.set_background_color(Rgba([0; 4])).unwrap();
    timed(decoder.into_frames().collect_frames().unwrap())
}

fn timed(frames: Vec<Frame>) -> Vec<(u32, RgbaImage)> {
    frames.into_iter().map(|frame| (frame.delay().numer_denom_ms().0, frame.into_buffer())).collect()
}

fn merged(frames: Vec<(u32, RgbaImage)>) -> Vec<(u32, RgbaImage)> {
    let mut shown: Vec<(u32, RgbaImage)> = Vec::new();
    for (milliseconds, mut canvas) in frames {
        canvas.pixels_mut().filter(|pixel| pixel[3] == 0).for_each(|pixel| pixel.0 = [0; 4]);
        match shown.last_mut() {
            Some((time, last)) if *last == canvas && milliseconds.min(*time) > 10 => *time += milliseconds,
            _ => shown.push((milliseconds, canvas)),
        }
    }
    shown
}

/// The data of the chunk that says how often an animation is shown.
fn plays(bytes: &[u8]) -> u16 {
    let at = bytes.windows(4).position(|window| window == b"ANIM").unwrap();
    u16::from_le_bytes([bytes[at + 12], bytes[at + 13]])
}

#[test]
fn everything_that_is_seen_stays_for_as_long_and_the_file_is_smaller() {
    for (source, times) in [(everything(), 3), (running(8), 0)] {
        for json in [LOSSLESS, "{}"] {
            let done = process(&source, json);
            assert!(shown(&done.bytes) == shown(&source));
            assert_eq!(plays(&done.bytes), times);
            assert!(done.bytes.len() < source.len(), "{} of {}", done.bytes.len(), source.len());
            assert_eq!((done.output.format, done.output.score), (Format::Webp, Some(100.0)));
        }
    }
}

#[test]
fn another_decoder_shows_the_same_for_as_long() {
    let source = running(8);
    let (before, after) = (shown(&source), shown_elsewhere(&process(&source, LOSSLESS).bytes));
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before.0, after.0);
        assert!(before.1.as_raw().iter().zip(after.1.as_raw()).all(|(a, b)| a.abs_diff(*b) <= 2));
    }
}

#[test]
fn only_what_changes_is_written_again() {
    for json in [LOSSLESS, MEDIUM] {
        let [two, twenty] = [2, 20].map(|frames| process(&running(frames), json).bytes.len());
        assert!(twenty < two + 20 * two / 10, "{json}: {two} for two frames, {twenty} for twenty");
    }
}

#[test]
fn frames_that_change_nothing_are_merged_unless_browsers_slow_them_down() {
    let file = |delay| {
        let webp = Webp::new(120, 80, 0).frame((0, 0), (delay, true, false), &scene(0));
        webp.frame((0, 0), (delay, true, false), &scene(0)).frame((0, 0), (delay, true, false), &scene(1)).end()
    };
    let frames = |bytes: &[u8]| bytes.windows(4).filter(|window| window == b"ANMF").count();
    for json in [LOSSLESS, MEDIUM] {
        assert_eq!(frames(&process(&file(11), json).bytes), 2);
        assert_eq!(frames(&process(&file(10), json).bytes), 3);
    }
}

#[test]
fn lossy_animations_reach_their_target_and_no_frame_falls_far_below() {
    let source = running(6);
    let before = shown(&source);
    for (preset, target) in [("low", 90.0), ("medium", 80.0), ("high", 70.0)] {
        let done = process(&source, &format!(r#"{{"optimize": {{"compression": "{preset}"}}}}"#));
        let after = shown(&done.bytes);
        assert_eq!(after.len(), before.len());
        let scores: Vec<f64> =
            before.iter().zip(&after).map(|(a, b)| score(&a.1.clone().into(), &b.1.clone().into())).collect();
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        assert!(mean >= target - 0.1 && scores.iter().all(|score| *score >= target - 8.1), "{preset}: {scores:?}");
        assert!(before.iter().zip(&after).all(|(a, b)| a.0 == b.0));
        // Decoders interpolate the chroma of the source differently.
        let told = done.output.score.unwrap();
        assert!((told - mean).abs() < 0.5, "{preset}: {told}, not {mean}");
    }
}

#[test]
fn what_is_hardly_larger_without_loss_has_none() {
    // Lines of letters, one more at a time.
    let page = screenshot(160, 120).into_rgb8();
    let typed = |lines: u32| {
        let line = |x, y| if y < 16 + 12 * lines { page[(x, y)] } else { image::Rgb([255; 3]) };
        DynamicImage::from(RgbImage::from_fn(160, 120, line))
    };
    let empty = Webp::new(160, 120, 0);
    let source = (0..8).fold(empty, |webp, at| webp.frame((0, 0), (90, true, false), &typed(at))).end();
    let exact = process(&source, LOSSLESS).bytes.len();
    for preset in ["low", "medium", "high"] {
        let done = process(&source, &format!(r#"{{"optimize": {{"compression": "{preset}"}}}}"#));
        let (bytes, score) = (done.bytes.len(), done.output.score.unwrap());
        assert!(score == 100.0 || bytes * 108 < exact * 100, "{preset}: {bytes} for {exact} without loss");
    }
}

#[test]
fn strong_colours_in_small_shapes_are_coded_without_loss_but_with_small_errors() {
    let noise = colour_noise(160, 90).to_rgb8();
    let page = |at: u32| {
        // Bricks of strong colours, each pixel in one of sixteen shades.
        let drawn = |x: u32, y: u32| {
            let (brick, pixel) = (noise[((x + at * 5) / 3, y / 3)].0, noise[(x + at * 5, y)].0);
            Rgba(
                [0, 1, 2, 3].map(|channel| brick.get(channel).map_or(255, |code| code / 128 * 200 + pixel[0] / 16 * 3)),
            )
        };
        DynamicImage::from(RgbaImage::from_fn(100, 60, drawn))
    };
    let times = [33, 47, 100, 33, 52];
    let source = [0, 1, 2, 2, 3]
        .iter()
        .zip(times)
        .fold(Webp::new(100, 60, 3), |webp, (&at, time)| webp.frame((0, 0), (time, false, false), &page(at)));
    let source = source.end();
    let (exact, done) = (process(&source, LOSSLESS), process(&source, MEDIUM));
    assert!(done.bytes.len() * 2 < exact.bytes.len(), "{} of {}", done.bytes.len(), exact.bytes.len());
    assert!(done.output.score.is_some_and(|score| (80.0..100.0).contains(&score)), "{:?}", done.output.score);
    let times: Vec<u32> = shown(&done.bytes).iter().map(|(time, _)| *time).collect();
    assert_eq!(times, [33, 47, 133, 52]);
}

#[test]
fn still_places_do_not_change_at_all_in_lossy_animations() {
    let after = shown(&process(&running(6), r#"{"optimize": {"quality": 60}}"#).bytes);
    assert_eq!(after.len(), 6);
    for frame in &after[1..] {
        // The disc and the blocks that it lies in are above.
        let below = |canvas: &RgbaImage| imageops::crop_imm(canvas, 0, 56, 120, 24).to_image();
        assert!(below(&frame.1) == below(&after[0].1));
    }
}

#[test]
fn doing_it_again_changes_nothing() {
    for source in [everything(), running(4)] {
        for json in [LOSSLESS, MEDIUM, "{}", r#"{"optimize": {"quality": 50}}"#] {
            let once = process(&source, json).bytes;
            assert!(process(&once, json).bytes == once, "{json}");
        }
    }
}

#[test]
fn animated_gif_becomes_animated_webp_with_every_frame_as_it_is() {
    let mut gif = Vec::new();
    let mut encoder = GifEncoder::new(&mut gif);
    for at in 0..5 {
        let frame = imageops::resize(&scene(4 * at), 60, 40, imageops::FilterType::Nearest);
        encoder.encode_frame(Frame::from_parts(frame, 0, 0, Delay::from_numer_denom_ms(70, 1))).unwrap();
    }
    drop(encoder);
    let json = r#"{"optimize": {"compression": "lossless"}, "output": {"format": "webp"}}"#;
    let done = process(&gif, json);
    let frames = GifDecoder::new(Cursor::new(&gif)).unwrap().into_frames().collect_frames().unwrap();
    assert!(shown(&done.bytes) == merged(timed(frames)));
    assert_eq!((done.output.format, plays(&done.bytes)), (Format::Webp, 1));
}

#[test]
fn every_frame_is_resized() {
    let done = process(&running(5), r#"{"resize": {"width": 60}, "optimize": {"compression": "high"}}"#);
    let after = shown(&done.bytes);
    assert_eq!(after.len(), 5);
    for (at, (milliseconds, canvas)) in after.into_iter().enumerate() {
        assert_eq!((milliseconds, canvas.dimensions()), (40, (60, 40)));
        let small = imageops::resize(&scene(at as u32), 60, 40, imageops::FilterType::Lanczos3);
        assert!(score(&small.into(), &canvas.into()) > 40.0, "frame {at}");
    }
}

#[test]
fn damaged_frames_are_errors_in_every_mode() {
    let broken = [&b"VP8L"[..], &40u32.to_le_bytes(), &[0x2F, 7, 192, 1, 0], &[0xA5; 35]].concat();
    let source = Webp::new(8, 8, 0)
        .frame((0, 0), (40, true, false), &photo(8, 8))
        .coded((0, 0), (40, true, false), (8, 8), &broken)
        .end();
    for json in [LOSSLESS, MEDIUM, r#"{"optimize": {"quality": 50}}"#, r#"{"output": {"format": "webp"}}"#] {
        let error = attempt(&source, json).unwrap_err();
        assert!(matches!(error, Error::Input { format: Some(Format::Webp), .. }), "{json}: {error}");
    }
}

#[test]
fn many_frames_are_refused_by_their_number() {
    let image = &file(&photo(2, 2), Format::Webp)[12..];
    let frames = (0..1001).fold(Webp::new(2, 2, 0), |webp, _| webp.coded((0, 0), (20, true, false), (2, 2), image));
    let text = attempt(&frames.end(), LOSSLESS).unwrap_err().to_string();
    assert_eq!(text, "source frames is 1001, the limit is 1000");
}

#[test]
fn a_long_animation_can_be_stopped_at_every_frame() {
    let source = running(12);
    for json in [LOSSLESS, MEDIUM] {
        for questions in [1, 20, 60, 150] {
            assert_stopped(&source, json, questions);
        }
    }
}

#[test]
fn drawings_of_many_shades_come_in_few() {
    // A spinner: spokes with soft edges, each fainter than the one before it.
    let spinner = |frame: u32, opaque: bool| {
        DynamicImage::from(RgbaImage::from_fn(64, 64, move |x, y| {
            let (x, y) = (f64::from(x) - 31.5, f64::from(y) - 31.5);
            let (away, turn) = (x.hypot(y), (y.atan2(x) / std::f64::consts::TAU + 1.0) * 12.0 + f64::from(frame));
            let edge =
                ((0.3 - (turn.fract() - 0.5).abs()) * away * 0.5).min(28.0 - away).min(away - 12.0).clamp(0.0, 1.0);
            let alpha = edge * (20.0 + (turn.floor() % 12.0) * 21.3);
            match opaque {
                true => Rgba([40, 90, 200, 255].map(|code| 255 - ((255 - code) as f64 * alpha / 255.0) as u8)),
                false => Rgba([40, 90, 200, alpha as u8]),
            }
        }))
    };
    for opaque in [false, true] {
        let empty = Webp::new(64, 64, 0);
        let webp = (0..12).fold(empty, |webp, at| webp.frame((0, 0), (80, true, true), &spinner(at, opaque)));
        let source = webp.end();
        let (exact, few) = (process(&source, LOSSLESS), process(&source, MEDIUM));
        let sizes = (few.bytes.len(), exact.bytes.len());
        assert!(sizes.0 * 3 < sizes.1 * 2, "opaque {opaque}: {sizes:?}");
        assert!(few.output.score.unwrap() >= 80.0, "{:?}", few.output);
    }
}
