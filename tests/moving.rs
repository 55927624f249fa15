//! Animations: what is seen, and for how long, stays.
#![cfg(all(feature = "gif", feature = "jpeg", feature = "png", feature = "webp"))]

mod pictures;

use std::{
    io::Cursor,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use image::{
    AnimationDecoder, RgbaImage,
    codecs::{gif::GifDecoder, png::PngDecoder, webp::WebPDecoder},
};
use lapidary::{
    Engine, Error, Format, Input, Limits, Result, Run, Unattended,
    codec::{Codec, Codecs, Recompress, gif},
};
use pictures::{assert_stopped, attempt, process, request};

const LOSSLESS: &str = r#"{"optimize": {"compression": "lossless"}}"#;

/// A GIF as it is stored: one frame after the other, each with its place, disposal, delay and transparent index.
struct Gif {
    bytes: Vec<u8>,
    /// Of an index.
    bits: u8,
}

impl Gif {
    /// A screen with eight colours: black, red, green, blue, yellow, white, gray, cyan.
    fn new(width: u16, height: u16) -> Self {
        let colours = [0, 0xFF_0000, 0x00_FF00, 0x00_00FF, 0xFF_FF00, 0xFF_FFFF, 0x80_8080, 0x00_FFFF];
        Self::of(width, height, 3, colours.into_iter())
    }

    /// A screen with colours for indices of so many bits.
    fn of(width: u16, height: u16, bits: u8, colours: impl Iterator<Item = u32>) -> Self {
        let size = [&b"GIF89a"[..], &width.to_le_bytes(), &height.to_le_bytes(), &[0x80 | (bits - 1), 0, 0]].concat();
        let bytes =
            size.into_iter().chain(colours.flat_map(|colour| colour.to_be_bytes().into_iter().skip(1))).collect();
        Self { bytes, bits }
    }

    fn repeating(mut self, times: u16) -> Self {
        let [low, high] = times.to_le_bytes();
        self.bytes.extend(b"\x21\xFF\x0BNETSCAPE2.0\x03\x01");
        self.bytes.extend([low, high, 0]);
        self
    }

    fn frame(
        mut self,
        [x, y, width, height]: [u16; 4],
        (disposal, delay, transparent): (u8, u16, Option<u8>),
        index: impl Fn(u16, u16) -> u8,
    ) -> Self {
        let [low, high] = delay.to_le_bytes();
        let flags = disposal << 2 | u8::from(transparent.is_some());
        self.bytes.extend([0x21, 0xF9, 4, flags, low, high, transparent.unwrap_or(0), 0, 0x2C]);
        self.bytes.extend([x, y, width, height].into_iter().flat_map(u16::to_le_bytes));
        self.bytes.extend([0, self.bits]);
        let indices = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| index(x, y));
        let codes = codes(indices, self.bits);
        for block in codes.chunks(255) {
            self.bytes.push(block.len() as u8);
            self.bytes.extend(block);
        }
        self.bytes.push(0);
        self
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0x3B);
        self.bytes
    }
}

/// Indices as codes of a bit more, without a dictionary: it is cleared before it grows.
fn codes(indices: impl Iterator<Item = u8>, bits: u8) -> Vec<u8> {
    let clear = 1u16 << bits;
    let mut codes = Vec::new();
    for (at, index) in indices.enumerate() {
        if at % (usize::from(clear) - 2) == 0 {
            codes.push(clear);
        }
        codes.push(index.into());
    }
    codes.push(clear + 1);
    let (mut bytes, mut held, mut count) = (Vec::new(), 0u32, 0);
    for code in codes {
        held |= u32::from(code) << count;
        count += bits + 1;
        while count >= 8 {
            bytes.push(held as u8);
            (held, count) = (held >> 8, count - 8);
        }
    }
    bytes.push(held as u8);
    bytes
}

/// Every disposal, transparency, frames that change nothing, and a frame beyond the canvas.
fn everything() -> Vec<u8> {
    Gif::new(40, 30)
        .repeating(2)
        .frame([0, 0, 40, 30], (1, 7, None), |x, y| ((x / 5 + y / 5) % 4) as u8)
        .frame([5, 5, 10, 10], (3, 3, Some(0)), |x, y| if (x + y) % 3 == 0 { 0 } else { 4 })
        .frame([20, 5, 12, 12], (2, 5, None), |x, _| (x % 8) as u8)
        .frame([2, 2, 6, 6], (0, 5, None), |_, _| 5)
        .frame([2, 2, 6, 6], (0, 9, None), |_, _| 5)
        .frame([30, 20, 20, 20], (1, 4, Some(1)), |x, y| ((x * y) % 8) as u8)
        .frame([0, 0, 40, 30], (2, 0, Some(6)), |x, y| if x > y { 6 } else { 7 })
        .frame([10, 10, 4, 4], (1, 1, None), |_, _| 3)
        .end()
}

/// A dot that runs over a still picture.
fn dot(frames: u16) -> Vec<u8> {
    (0..frames)
        .fold(Gif::new(60, 40).repeating(0), |gif, at| {
            gif.frame([0, 0, 60, 40], (1, 5, None), move |x, y| {
                if (x, y) == (at % 60, at / 60 + 9) { 5 } else { ((x * x + y * 3) / 7 % 4) as u8 }
            })
        })
        .end()
}

/// What another decoder shows, and for how many milliseconds; equal canvases in a row are one, if browsers show both for as
/// long as they say.
fn shown(bytes: &[u8]) -> Vec<(u32, RgbaImage)> {
    let frames = GifDecoder::new(Cursor::new(bytes)).unwrap().into_frames().collect_frames().unwrap();
    let mut shown: Vec<(u32, RgbaImage)> = Vec::new();
    for frame in frames {
        let (numerator, denominator) = frame.delay().numer_denom_ms();
        let milliseconds = numerator / denominator;
        let mut canvas = frame.into_buffer();
        canvas.pixels_mut().filter(|pixel| pixel[3] == 0).for_each(|pixel| pixel.0 = [0; 4]);
        match shown.last_mut() {
            Some((time, last)) if *last == canvas && milliseconds.min(*time) >= 20 => *time += milliseconds,
            _ => shown.push((milliseconds, canvas)),
        }
    }
    shown
}

#[test]
fn everything_that_is_seen_stays_for_as_long_and_the_file_is_smaller() {
    for source in [everything(), dot(20)] {
        let done = process(&source, LOSSLESS);
        assert!(shown(&done.bytes) == shown(&source));
        assert!(done.bytes.len() < source.len(), "{} of {}", done.bytes.len(), source.len());
        assert_eq!((done.output.format, done.output.score), (Format::Gif, Some(100.0)));
    }
}

#[test]
fn a_frame_of_no_size_shows_the_canvas_for_its_time() {
    let file = |size: u16| {
        Gif::new(9, 9)
            .frame([0, 0, 9, 9], (1, 5, None), |x, _| (x % 5) as u8)
            .frame([3, 3, 2, 2], (3, 5, None), |_, _| 6)
            .frame([4, 4, size, size], (1, 7, Some(5)), |_, _| 5)
            .end()
    };
    assert!(shown(&process(&file(0), LOSSLESS).bytes) == shown(&file(1)));
}

#[test]
fn only_what_changes_is_written_again() {
    let (one, twenty) = (process(&dot(1), LOSSLESS).bytes.len(), process(&dot(20), LOSSLESS).bytes.len());
    assert!(twenty < one + 20 * 40, "{one} for one frame, {twenty} for twenty");
}

#[test]
fn a_first_frame_of_all_colours_that_leaves_some_of_the_screen_bare_is_shown_as_it_is() {
    let all = |x: u16, y: u16| (x + y * 16) as u8;
    let source = Gif::of(40, 40, 8, (0..256).map(|index| index * 0x01_0305))
        .frame([0, 0, 16, 16], (2, 7, None), all)
        .frame([20, 20, 16, 16], (1, 7, None), |x, y| all(y, x))
        .end();
    for json in [LOSSLESS, "{}", r#"{"optimize": {"compression": "low"}}"#, r#"{"optimize": {"quality": 100}}"#] {
        let outcome = process(&source, json);
        assert!(shown(&outcome.bytes) == shown(&source) && outcome.bytes.len() <= source.len(), "{json}");
    }
    assert_eq!(process(&source, r#"{"resize": {"width": 30}}"#).output.frames, 2);
}

#[test]
fn what_the_first_frame_does_not_cover_is_stored_as_transparent() {
    let source = Gif::new(20, 20).frame([1, 1, 18, 18], (1, 0, None), |_, _| 3).end();
    let done = process(&source, LOSSLESS).bytes;
    assert!(shown(&done) == shown(&source));
    let place = [[0u8; 4], [20, 0, 20, 0]].concat();
    assert!(done.windows(9).any(|window| window[0] == 0x2C && window[1..] == place));
}

#[test]
fn what_a_first_frame_uncovers_again_is_transparent_in_other_formats() {
    let source = Gif::new(20, 20)
        .frame([0, 0, 20, 20], (3, 5, None), |_, _| 3)
        .frame([4, 4, 6, 6], (1, 5, None), |_, _| 5)
        .end();
    let done = process(&source, r#"{"output": {"format": "png"}, "optimize": {"compression": "lossless"}}"#);
    let decoder = PngDecoder::new(Cursor::new(&done.bytes)).unwrap();
    let frames = decoder.apng().unwrap().into_frames().collect_frames().unwrap();
    let alphas: Vec<_> = frames.iter().map(|frame| [0, 5].map(|at| frame.buffer().get_pixel(at, at)[3])).collect();
    assert_eq!(alphas, [[255, 255], [0, 255]]);
}

#[test]
fn what_has_no_colour_is_black_and_the_first_frame_is_shown_whole_as_in_browsers() {
    let colours = [0xFF_0000, 0x00_FF00, 0x00_00FF, 0xFF_FFFF];
    let few = Gif { bits: 3, ..Gif::of(4, 1, 2, colours.into_iter()) };
    let source =
        few.frame([0, 0, 8, 2], (1, 5, None), |x, _| x as u8).frame([7, 1, 9, 9], (1, 5, None), |_, _| 3).end();
    let result = process(&source, LOSSLESS);
    let first = &shown(&result.bytes)[0].1;
    assert_eq!(first.dimensions(), (8, 2));
    let row: Vec<[u8; 4]> = (0..8).map(|x| first.get_pixel(x, 1).0).collect();
    let [red, green, blue, white, black] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255; 3], [0; 3]];
    assert_eq!(row, [red, green, blue, white, black, black, black, black].map(|[r, g, b]| [r, g, b, 255]));
    assert_eq!(shown(&result.bytes)[1].1.get_pixel(7, 1).0, [255; 4]);
}

#[test]
fn the_number_of_plays_stays() {
    let block = |times: u16| [&b"NETSCAPE2.0\x03\x01"[..], &times.to_le_bytes()].concat();
    for times in [0, 1, 2, 65_535] {
        let frame = |gif: Gif, index| gif.frame([0, 0, 9, 9], (1, 5, None), move |_, _| index);
        let source = frame(frame(Gif::new(9, 9).repeating(times), 1), 2).end();
        let done = process(&source, LOSSLESS).bytes;
        assert!(done.windows(15).any(|window| window == block(times)), "{times}");
        let once = frame(frame(Gif::new(9, 9), 1), 2).end();
        assert!(!process(&once, LOSSLESS).bytes.windows(8).any(|window| window == b"NETSCAPE"));
    }
}

#[test]
fn doing_it_again_changes_nothing() {
    for source in [everything(), dot(7), dot(1)] {
        let once = process(&source, LOSSLESS).bytes;
        assert!(process(&once, LOSSLESS).bytes == once);
    }
}

#[test]
fn a_file_without_its_end_is_whole_and_one_without_pixels_is_an_error() {
    let source = dot(3);
    let whole = process(&source, LOSSLESS).bytes;
    assert!(shown(&process(&source[..source.len() - 1], LOSSLESS).bytes) == shown(&whole));
    let cut = attempt(&source[..source.len() - 400], LOSSLESS).unwrap_err();
    assert!(matches!(cut, Error::Input { .. }), "{cut}");
}

#[test]
fn a_still_is_converted_to_other_formats() {
    let json = r#"{"optimize": {"compression": "lossless"}, "output": {"format": "png"}}"#;
    let source = dot(1);
    let png = image::load_from_memory(&process(&source, json).bytes).unwrap().into_rgba8();
    assert!(png == shown(&source)[0].1);
}

/// Noise that changes a little from frame to frame, in eight colours.
fn noise(frames: u16) -> Vec<u8> {
    (0..frames)
        .fold(Gif::new(60, 40).repeating(3), |gif, at| {
            gif.frame([0, 0, 60, 40], (1, 5 + at, None), move |x, y| {
                let mixed = (x * 31 + y * 17 + at * (x % 7)).wrapping_mul(2_654_435_761u32 as u16);
                if y < 12 { (x / 9 % 8) as u8 } else { (mixed >> 13) as u8 }
            })
        })
        .end()
}

fn times(bytes: &[u8]) -> Vec<u32> {
    shown(bytes).into_iter().map(|(time, _)| time).collect()
}

#[test]
fn smart_lossy_reaches_its_score_for_fewer_bytes_and_keeps_times_and_plays() {
    // Reduced, so that there are colours between the eight.
    let reduced = r#"{"optimize": {"compression": "lossless"}, "resize": {"width": 54, "height": 36}}"#;
    let source = process(&noise(6), reduced).bytes;
    let exact = process(&source, LOSSLESS).bytes;
    let done = process(&source, "{}");
    assert!(done.bytes.len() < exact.len(), "{} of {}", done.bytes.len(), exact.len());
    assert!(done.output.score.is_some_and(|score| (80.0..100.0).contains(&score)), "{:?}", done.output.score);
    assert_eq!(times(&done.bytes), times(&source));
    assert!(done.bytes.windows(15).any(|window| window == b"NETSCAPE2.0\x03\x01\x03\0"));
    assert!(process(&done.bytes, "{}").bytes == done.bytes);
}

#[test]
fn a_faint_picture_among_others_does_not_make_these_finer() {
    let photo = pictures::photo(160, 96).to_luma8();
    let page = |at: u16| {
        let photo = &photo;
        move |x: u16, y: u16| photo[(u32::from(x + at * 7), y.into())][0]
    };
    let faint =
        |x: u16, y: u16| if (x / 8 + y / 8).is_multiple_of(2) { 252 - ((x * 7 + y * 3) % 5) as u8 } else { 255 };
    let screen = || Gif::of(96, 96, 8, (0..256).map(|gray| 0x01_0101 * gray));
    let shown = (1, 10, None);
    let pages = (0..9).fold(screen(), |gif, at| gif.frame([0, 0, 96, 96], shown, page(at)));
    let both =
        (0..9).fold(screen().frame([0, 0, 96, 96], shown, faint), |gif, at| gif.frame([0, 0, 96, 96], shown, page(at)));
    let (pages, both) = (process(&pages.end(), "{}"), process(&both.end(), "{}"));
    assert!(both.output.score < Some(82.0), "{:?}", both.output.score);
    assert!(both.bytes.len() * 100 < pages.bytes.len() * 108, "{} and {}", both.bytes.len(), pages.bytes.len());
}

/// The gray of every time of `step` milliseconds that frames of one gray each show, as another decoder sees them.
fn grays<'a>(frames: impl AnimationDecoder<'a>, step: u32) -> Vec<u8> {
    let of_frame = |frame: image::ImageResult<image::Frame>| {
        let frame = frame.unwrap();
        let (numerator, denominator) = frame.delay().numer_denom_ms();
        vec![frame.buffer()[(20, 20)][0]; (numerator / denominator / step) as usize]
    };
    frames.into_frames().flat_map(of_frame).collect()
}

#[test]
fn what_fades_in_a_plain_area_fades_in_every_format_at_every_preset() {
    let screen = Gif::of(40, 40, 5, (0..32).map(|index| 0x01_0101 * (100 + index)));
    let fade = (0..20).fold(screen, |gif, at| gif.frame([0, 0, 40, 40], (1, 8, None), move |_, _| at)).end();
    for preset in ["low", "medium", "high", "ultra"] {
        for format in [Format::Gif, Format::Apng, Format::Webp] {
            let name = if format == Format::Apng { "png" } else { format.extension() };
            let json = format!(r#"{{"optimize": {{"compression": "{preset}"}}, "output": {{"format": "{name}"}}}}"#);
            let bytes = process(&fade, &json).bytes;
            let file = Cursor::new(&bytes);
            let grays = match format {
                Format::Gif => grays(GifDecoder::new(file).unwrap(), 80),
                Format::Apng => grays(PngDecoder::new(file).unwrap().apng().unwrap(), 80),
                _ => grays(WebPDecoder::new(file).unwrap(), 80),
            };
            let wrong = grays.iter().zip(100u8..).map(|(shown, meant)| shown.abs_diff(meant)).max();
            assert!(grays.len() == 20 && wrong <= Some(6), "{preset} {format}: {grays:?}");
        }
    }
}

#[test]
fn what_stays_in_the_source_stays_in_a_lossy_result() {
    let done = shown(&process(&dot(12), r#"{"optimize": {"compression": "high"}}"#).bytes);
    assert_eq!(done.len(), 12);
    let still = |canvas: &RgbaImage| canvas.enumerate_pixels().filter(|p| p.1 != 9).map(|p| p.2.0).collect::<Vec<_>>();
    assert!(done.iter().all(|(_, canvas)| still(canvas) == still(&done[0].1)));
}

#[test]
fn every_frame_is_resized_alike_and_drawn_with_colours_of_its_own() {
    let done = process(&noise(4), r#"{"resize": {"width": 30, "height": 20}}"#);
    let frames = shown(&done.bytes);
    assert_eq!(times(&done.bytes), [50, 60, 70, 80]);
    assert!(frames.iter().all(|(_, canvas)| canvas.dimensions() == (30, 20)));
    assert!(done.output.score.is_some_and(|score| score > 30.0), "{:?}", done.output.score);
}

#[test]
fn a_picture_becomes_a_gif_and_an_animation_a_picture() {
    let photo = pictures::file(&pictures::photo(40, 30), Format::Png);
    let gif = process(&photo, r#"{"output": {"format": "gif"}}"#);
    assert_eq!((gif.output.format, gif.output.frames), (Format::Gif, 1));
    assert!(gif.output.score.is_some_and(|score| score > 60.0), "{:?}", gif.output.score);
    let jpeg = process(&dot(3), r#"{"output": {"format": "jpeg"}}"#);
    let warnings = jpeg.output.warnings.unwrap();
    assert!(warnings.contains(&"JPEG holds one frame: the first of 3".to_owned()), "{warnings:?}");
}

#[test]
fn what_a_gif_cannot_hold_does_not_keep_it_from_being_small() {
    // A disc with a soft edge, as after a resize, on nothing.
    let soft = |frame: u32| {
        RgbaImage::from_fn(48, 48, move |x, y| {
            let away = f64::from((x as i32 - 18 - frame as i32).pow(2) + (y as i32 - 24).pow(2)).sqrt();
            let grain = (x * 37 + y * 57 + x * y * 11) % 23;
            image::Rgba([
                200 - grain as u8,
                90 + (grain * 2) as u8,
                60,
                (255.0 - (away - 12.0) * 40.0).clamp(0.0, 255.0) as u8,
            ])
        })
    };
    let mut source = Vec::new();
    let mut encoder = image::codecs::gif::GifEncoder::new(&mut source);
    let hard = |frame: u32| {
        let mut picture = soft(frame);
        picture.pixels_mut().for_each(|pixel| pixel[3] = if pixel[3] < 128 { 0 } else { 255 });
        image::Frame::from_parts(picture, 0, 0, image::Delay::from_numer_denom_ms(100, 1))
    };
    encoder.encode_frames((0..6).map(hard)).unwrap();
    drop(encoder);
    let made = |preset: &str| {
        let json = format!("{{\"optimize\":{{\"compression\":\"{preset}\"}},\"resize\":{{\"width\":40}}}}");
        process(&source, &json)
    };
    let (lossless, medium) = (made("lossless"), made("medium"));
    assert!(medium.bytes.len() * 4 < lossless.bytes.len() * 3, "{} {}", medium.bytes.len(), lossless.bytes.len());
    assert!(medium.output.score.unwrap() >= 80.0, "{:?}", medium.output);
    assert_eq!(medium.output.warnings.unwrap(), ["GIF has no half transparency, and there was some"]);
}

#[test]
fn large_screens_and_many_frames_are_refused_by_their_numbers() {
    let screen = Gif::new(65_535, 65_535).frame([0, 0, 1, 1], (0, 0, None), |_, _| 1).end();
    let text = attempt(&screen, LOSSLESS).unwrap_err().to_string();
    assert_eq!(text, "source width in pixels is 65535, the limit is 16383");
    let frames =
        (0..30_000).fold(Gif::new(2, 2), |gif, at| gif.frame([0, 0, 2, 2], (1, 2, None), move |_, _| (at % 8) as u8));
    let text = attempt(&frames.end(), LOSSLESS).unwrap_err().to_string();
    assert_eq!(text, "source frames is 30000, the limit is 1000");
}

#[test]
fn a_long_animation_can_be_stopped_at_every_frame() {
    let source = dot(50);
    for questions in [1, 20, 60, 150] {
        assert_stopped(&source, LOSSLESS, questions);
    }
}

/// Speckles, different ones in every frame.
fn speckles() -> Vec<u8> {
    (0..3)
        .fold(Gif::new(160, 120).repeating(0), |gif, at| {
            gif.frame([0, 0, 160, 120], (1, 5, None), move |x, y| {
                let mixed = (u32::from(y) * 160 + u32::from(x) + at * 19_200).wrapping_mul(0x9E37_79B9);
                ((mixed ^ mixed >> 15).wrapping_mul(0x85EB_CA6B) >> 29) as u8
            })
        })
        .end()
}

#[test]
fn recompression_comes_to_about_what_its_outlook_says() {
    let (codecs, limits) = (Codecs::default(), Limits::default());
    let run = Run { limits: &limits, control: &Unattended };
    let outlook = codecs.outlook(Format::Gif, &speckles(), u64::MAX, run).unwrap().unwrap();
    let found = codecs.recompress(Format::Gif, &speckles(), false, run).unwrap().len() as u64;
    assert!((outlook * 9 / 10..=outlook * 11 / 10).contains(&found), "{found} for {outlook}");
    assert!(outlook - outlook / 16 <= found, "{found} for {outlook}");
    // Once it is more than is asked for, it need not be known how much more.
    let more = codecs.outlook(Format::Gif, &speckles(), outlook / 2, run).unwrap().unwrap();
    assert!(outlook / 2 < more && more < outlook, "{more} of {outlook}");
}

/// A recompression that says what it would come to and counts how often it is done.
#[derive(Debug, Clone)]
struct Counted {
    outlook: Option<u64>,
    done: Arc<AtomicU32>,
}

impl Recompress for Counted {
    fn format(&self) -> Format {
        Format::Gif
    }

    fn animations(&self) -> bool {
        true
    }

    fn recompress(&self, bytes: &[u8], _: bool, _: Run<'_>) -> Result<Vec<u8>> {
        self.done.fetch_add(1, Ordering::Relaxed);
        Ok(bytes.to_vec())
    }

    fn outlook(&self, _: &[u8], _: u64, _: Run<'_>) -> Result<Option<u64>> {
        Ok(self.outlook)
    }
}

#[test]
fn what_is_far_smaller_with_loss_is_not_tried_without() {
    let source = speckles();
    // What a search leaves of noise is not, the source is where it may come to less.
    for (outlook, expected) in [(Some(u64::MAX / 9), 0), (Some(1), 1), (None, 1)] {
        let counted = Counted { outlook, done: Arc::default() };
        let mut codecs = Codecs::default();
        codecs.register(Codec { recompress: Some(Arc::new(counted.clone())), ..gif::codec() });
        let engine = Engine::new().with_codecs(codecs);
        let done = engine
            .process(
                Input { bytes: &source, name: None },
                &request(r#"{"optimize": {"compression": "low"}}"#),
                &Unattended,
            )
            .unwrap();
        assert!(done.bytes.len() < source.len() && done.bytes.len() * 2 > source.len(), "{}", done.bytes.len());
        assert_eq!(counted.done.load(Ordering::Relaxed), expected, "{outlook:?}");
    }
}
