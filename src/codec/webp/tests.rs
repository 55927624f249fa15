//! Properties of the whole codec, on files that it made itself and on damage done to them.

use std::{
    io::Cursor,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicU32, Ordering},
};

use image::ImageDecoder;

use crate::{
    codec::{Codec, DecodeOptions, EncodeOptions, Info, WebpCoding, WebpOptions, webp},
    control::{Control, Run, Stage, Unattended},
    error::{Error, Result, Stop},
    limits::Limits,
    picture::{Channels, Metadata, Picture, Samples, Shown, Still},
};

fn codec() -> Codec {
    webp::codec()
}

/// Calls `work` with the default limits and nobody who stops it.
fn run<T>(work: impl FnOnce(Run<'_>) -> T) -> T {
    work(Run { limits: &Limits::default(), control: &Unattended })
}

/// A smooth picture with some texture; alpha, if any, runs from none to full.
fn picture(width: u32, height: u32, channels: Channels) -> Picture {
    let mut samples = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let texture = (x * 7 + y * 13) % 11;
            let colour = [3 * x + texture, 2 * y + 90, 200 + 255 * x].map(|sample| sample as u8);
            samples.extend_from_slice(if channels.is_gray() { &colour[..1] } else { &colour });
            if channels.has_alpha() {
                samples.push((x * 255 / width.max(2)) as u8);
            }
        }
    }
    Picture::new(width, height, channels, Samples::Eight(samples)).unwrap()
}

/// The next number of the generator of "Numerical Recipes", without its weak low bits.
fn random(state: &mut u32) -> u32 {
    *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    *state >> 8
}

fn lossy(quality: f32) -> WebpOptions {
    WebpOptions { method: 4, ..WebpOptions::lossy(quality) }
}

fn lossless() -> WebpOptions {
    WebpOptions { method: 1, ..WebpOptions::lossless() }
}

fn try_encode(picture: &Picture, options: &WebpOptions) -> Result<Vec<u8>> {
    let options = EncodeOptions::Webp(options.clone());
    run(|run| codec().encode.unwrap().encode(&mut Still::new(picture), &options, run))
}

fn encode(picture: &Picture, options: &WebpOptions) -> Vec<u8> {
    try_encode(picture, options).unwrap()
}

fn try_decode(bytes: &[u8]) -> Result<Picture> {
    run(|run| {
        let mut frames = codec().decode.frames(bytes, &DecodeOptions::default(), run)?;
        Ok(frames.next(run)?.expect("a still has one frame").picture.into_owned())
    })
}

fn decode(bytes: &[u8]) -> Picture {
    try_decode(bytes).unwrap()
}

fn probe(bytes: &[u8]) -> Result<Info> {
    run(|run| codec().decode.probe(bytes, run))
}

fn recompress(bytes: &[u8]) -> Vec<u8> {
    run(|run| codec().recompress.unwrap().recompress(bytes, false, run)).unwrap()
}

fn metadata(bytes: &[u8]) -> Metadata {
    run(|run| codec().container.metadata(bytes, run)).unwrap()
}

fn with_metadata(bytes: &[u8], metadata: &Metadata) -> Vec<u8> {
    run(|run| codec().container.with_metadata(bytes, metadata, run)).unwrap()
}

/// What image-webp, which shares no code with libwebp, makes of a file.
fn decoded_elsewhere(bytes: &[u8]) -> Vec<u8> {
    let decoder = image::codecs::webp::WebPDecoder::new(Cursor::new(bytes)).unwrap();
    let mut samples = vec![0; decoder.total_bytes() as usize];
    decoder.read_image(&mut samples).unwrap();
    samples
}

fn chunk(id: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let padding = &[0][..data.len() % 2];
    [id, &(data.len() as u32).to_le_bytes()[..], data, padding].concat()
}

fn riff(chunks: &[Vec<u8>]) -> Vec<u8> {
    let body = chunks.concat();
    [b"RIFF", &(body.len() as u32 + 4).to_le_bytes()[..], b"WEBP", &body].concat()
}

fn vp8x(flags: u8, width: u32, height: u32) -> Vec<u8> {
    let (w, h) = ((width - 1).to_le_bytes(), (height - 1).to_le_bytes());
    chunk(b"VP8X", &[&[flags, 0, 0, 0], &w[..3], &h[..3]].concat())
}

/// The chunks of a simple file.
fn image_chunk(simple: &[u8]) -> Vec<u8> {
    simple[12..].to_vec()
}

fn frame(x: u32, y: u32, width: u32, height: u32, image: &[u8]) -> Vec<u8> {
    let fields = [x / 2, y / 2, width - 1, height - 1, 40].map(u32::to_le_bytes);
    let header: Vec<u8> = fields.iter().flat_map(|field| &field[..3]).copied().chain([0]).collect();
    chunk(b"ANMF", &[&header, image].concat())
}

/// Two frames on 16x16, the second lossless and on the lower right quarter.
fn animation(second: &[u8]) -> Vec<u8> {
    let first = image_chunk(&encode(&picture(16, 16, Channels::Rgb), &lossy(75.0)));
    let frames = [frame(0, 0, 16, 16, &first), frame(8, 8, 8, 8, second)];
    riff(&[vp8x(0x02, 16, 16), chunk(b"ANIM", &[0; 6]), frames.concat(), chunk(b"XYZW", b"unknown")])
}

/// One file of each kind.
fn kinds() -> [Vec<u8>; 4] {
    [
        encode(&picture(21, 13, Channels::Rgb), &lossy(80.0)),
        encode(&picture(21, 13, Channels::Rgba), &lossy(80.0)),
        encode(&picture(21, 13, Channels::Rgb), &lossless()),
        encode(&picture(21, 13, Channels::Rgba), &lossless()),
    ]
}

fn all_metadata() -> Metadata {
    Metadata {
        icc: Some(vec![7; 131]),
        exif: Some(b"II*\0\x08\0\0\0\0\0\0\0\0\0".to_vec()),
        xmp: Some(b"<x:xmpmeta/>".to_vec()),
        comments: vec!["first".into(), "second".into()],
        ..Metadata::default()
    }
}

#[test]
fn lossless_coding_keeps_every_sample_also_under_full_transparency() {
    for channels in [Channels::Rgb, Channels::Rgba] {
        let picture = picture(37, 23, channels);
        assert!(decode(&encode(&picture, &lossless())) == picture);
    }
}

#[test]
fn an_independent_decoder_sees_the_same_pixels() {
    for (width, height) in [(1, 1), (2, 1), (1, 3), (16, 16), (17, 33), (63, 40)] {
        for channels in [Channels::Rgb, Channels::Rgba] {
            for options in [lossy(0.0), lossy(55.0), lossy(100.0), lossless()] {
                let file = encode(&picture(width, height, channels), &options);
                let ours = decode(&file);
                let ours = ours.eight().unwrap();
                assert!(ours == decoded_elsewhere(&file), "{width}x{height} {channels:?} {options:?}");
            }
        }
    }
}

#[test]
fn gray_becomes_rgb_and_alpha_that_says_nothing_is_left_out() {
    let gray = picture(9, 5, Channels::Gray);
    assert_eq!(decode(&encode(&gray, &lossless())), gray.clone().into_channels(Channels::Rgb));
    let translucent = picture(9, 5, Channels::GrayAlpha);
    assert_eq!(decode(&encode(&translucent, &lossless())), translucent.into_channels(Channels::Rgba));
    for options in [lossless(), lossy(80.0)] {
        let opaque = encode(&gray.clone().into_channels(Channels::Rgba), &options);
        assert_eq!(opaque, encode(&gray.clone().into_channels(Channels::Rgb), &options));
    }
}

#[test]
fn samples_of_sixteen_bits_are_rounded_in_animations() {
    let frame = |code| Picture::new(1, 1, Channels::Rgb, Samples::Sixteen(vec![code, 0, 65_535])).unwrap();
    let options = EncodeOptions::Webp(lossless());
    let mut frames = Shown::new(vec![frame(257), frame(30_000)]);
    let file = run(|run| codec().encode.unwrap().encode(&mut frames, &options, run)).unwrap();
    run(|run| {
        let mut shown = codec().decode.frames(&file, &DecodeOptions::default(), run).unwrap();
        for code in [1, 117] {
            assert_eq!(shown.next(run).unwrap().unwrap().picture.eight().unwrap()[..3], [code, 0, 255]);
        }
    });
}

#[test]
fn what_the_format_cannot_hold_is_refused_by_name() {
    let sixteen = Picture::new(1, 1, Channels::Gray, Samples::Sixteen(vec![1])).unwrap();
    assert_eq!(try_encode(&sixteen, &lossless()).unwrap_err().to_string(), "16-bit WebP is not supported");
    let cmyk = Picture::new(1, 1, Channels::Cmyk, Samples::Eight(vec![0; 4])).unwrap();
    assert_eq!(try_encode(&cmyk, &lossless()).unwrap_err().to_string(), "CMYK WebP is not supported");
    let wide = Picture::new(16_384, 1, Channels::Gray, Samples::Eight(vec![0; 16_384])).unwrap();
    let error = try_encode(&wide, &lossless()).unwrap_err();
    assert_eq!(error.to_string(), "WebP width in pixels is 16384, the limit is 16383");
    for quality in [-1.0, 100.5, f32::NAN] {
        assert!(matches!(try_encode(&picture(1, 1, Channels::Rgb), &lossy(quality)), Err(Error::Unsupported { .. })));
    }
    let method = WebpOptions { method: 7, ..lossless() };
    assert!(matches!(try_encode(&picture(1, 1, Channels::Rgb), &method), Err(Error::Unsupported { .. })));
}

#[test]
fn the_same_picture_gives_the_same_bytes() {
    for options in [lossy(70.0), WebpOptions::lossy(70.0), lossless()] {
        let picture = picture(40, 30, Channels::Rgba);
        assert_eq!(encode(&picture, &options), encode(&picture, &options));
    }
}

#[test]
fn probing_tells_what_decoding_will_give() {
    for (file, lossless) in kinds().into_iter().zip([false, false, true, true]) {
        let (info, picture) = (probe(&file).unwrap(), decode(&file));
        assert_eq!((info.width, info.height, info.frames), (21, 13, 1));
        assert_eq!(info.channels(), picture.channels());
        assert_eq!(info.lossless, Some(lossless));
        assert_eq!(info.sampling.as_deref(), (!lossless).then_some("4:2:0"));
        assert_eq!(info.bits_per_pixel, if info.alpha { 32 } else { 24 });
        assert!(!info.icc);
        assert!(probe(&with_metadata(&file, &all_metadata())).unwrap().icc);
    }
}

#[test]
fn an_animation_is_probed_by_its_frames() {
    let corner = picture(8, 8, Channels::Rgb);
    let mixed = animation(&image_chunk(&encode(&corner, &lossless())));
    let info = probe(&mixed).unwrap();
    assert_eq!((info.width, info.height, info.frames, info.alpha), (16, 16, 2, false));
    assert_eq!((info.lossless, info.sampling), (None, None));
    let lossy = probe(&animation(&image_chunk(&encode(&corner, &lossy(50.0))))).unwrap();
    assert_eq!((lossy.lossless, lossy.sampling.as_deref()), (Some(false), Some("4:2:0")));
    assert_eq!(decode(&mixed).channels(), Channels::Rgb);
}

/// Whether an animation of these images, all of the canvas's size, may be translucent.
fn is_translucent(frames: &[(u8, Channels)]) -> bool {
    let frames = frames.iter().flat_map(|&(flags, channels)| {
        let mut frame = frame(0, 0, 8, 8, &image_chunk(&encode(&picture(8, 8, channels), &lossless())));
        frame[23] = flags;
        frame
    });
    let file = riff(&[vp8x(0x12, 8, 8), chunk(b"ANIM", &[0; 6]), frames.collect()]);
    let alpha = probe(&file).unwrap().alpha;
    assert_eq!(alpha, decode(&file).channels().has_alpha());
    alpha
}

#[test]
fn what_blends_with_opaque_pixels_is_opaque() {
    const IN_PLACE: u8 = 2;
    const CLEARS: u8 = 1;
    use Channels::{Rgb, Rgba};
    assert!(!is_translucent(&[(0, Rgb), (0, Rgba), (IN_PLACE, Rgb)]));
    assert!(is_translucent(&[(0, Rgba), (0, Rgb)]));
    assert!(is_translucent(&[(0, Rgb), (IN_PLACE, Rgba)]));
    assert!(is_translucent(&[(CLEARS, Rgb), (0, Rgba)]));
    assert!(!is_translucent(&[(0, Rgb), (CLEARS, Rgb)]));
}

#[test]
fn all_frames_of_an_animation_are_decoded_again_after_a_restart() {
    let file = animation(&image_chunk(&encode(&picture(8, 8, Channels::Rgba), &lossless())));
    run(|run| {
        let mut frames = codec().decode.frames(&file, &DecodeOptions::default(), run).unwrap();
        let mut all = || -> Vec<(u32, Picture)> {
            let mut all = Vec::new();
            while let Some(frame) = frames.next(run).unwrap() {
                all.push((frame.delay.numerator, frame.picture.into_owned()));
            }
            frames.restart().unwrap();
            all
        };
        let once = all();
        assert_eq!(once.iter().map(|frame| frame.0).collect::<Vec<_>>(), [40, 40]);
        assert!(once[0].1 != once[1].1);
        assert!(all() == once);
    });
}

#[test]
fn frames_that_do_not_fit_are_errors() {
    let image = image_chunk(&encode(&picture(8, 8, Channels::Rgb), &lossless()));
    let file = |frames: Vec<u8>| riff(&[vp8x(0x02, 16, 16), chunk(b"ANIM", &[0; 6]), frames]);
    let cases = [
        (frame(10, 8, 8, 8, &image), "has a frame 1 that reaches to 18x16 on a canvas of 16x16"),
        (frame(0, 0, 9, 8, &image), "has a frame 1 of 9x8 pixels with an image of 8x8"),
        (frame(0, 0, 8, 8, b""), "has no image data"),
        (chunk(b"ANMF", b"short"), "has a frame 1 of 5 bytes"),
        (Vec::new(), "has no frames"),
    ];
    for (frames, problem) in cases {
        assert_eq!(probe(&file(frames)).unwrap_err().to_string(), format!("the WEBP image {problem}"));
    }
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    for whole in kinds() {
        for length in 0..whole.len() - 1 {
            let error = try_decode(&whole[..length]).unwrap_err();
            assert!(matches!(error, Error::Input { .. }), "{length} of {}: {error}", whole.len());
        }
        let cut = probe(&whole[..40]).unwrap_err();
        assert_eq!(cut.to_string(), format!("the WEBP image is cut off after 40 of {} bytes", whole.len()));
    }
}

#[test]
fn image_data_that_ends_early_inside_a_sound_container_is_an_error() {
    for whole in [&kinds()[0], &kinds()[2]] {
        let data = &whole[20..];
        for length in [data.len() / 4, data.len() / 2, data.len() * 3 / 4] {
            let id: [u8; 4] = whole[12..16].try_into().unwrap();
            let error = try_decode(&riff(&[chunk(&id, &data[..length])])).unwrap_err();
            assert!(matches!(error, Error::Input { .. }), "{length}: {error}");
        }
    }
}

#[test]
fn chunk_lengths_beyond_the_file_are_errors_with_the_numbers() {
    let mut file = kinds()[2].clone();
    file[16..20].copy_from_slice(&0xFFFF_FFF0_u32.to_le_bytes());
    let left = file.len() - 20;
    let problem = format!("the WEBP image has a chunk VP8L of 4294967280 bytes where {left} are left");
    assert_eq!(probe(&file).unwrap_err().to_string(), problem);
}

#[test]
fn a_canvas_of_another_size_than_its_image_is_an_error() {
    let image = image_chunk(&kinds()[2]);
    let error = probe(&riff(&[vp8x(0, 22, 13), image])).unwrap_err();
    assert_eq!(error.to_string(), "the WEBP image has 21x13 pixels on a canvas of 22x13");
}

#[test]
fn a_canvas_over_the_limit_is_refused_before_it_is_allocated() {
    let bits: u32 = 16_382 | 16_382 << 14;
    let file = riff(&[chunk(b"VP8L", &[&[0x2F], &bits.to_le_bytes()[..], &[0; 9]].concat())]);
    let error = try_decode(&file).unwrap_err();
    assert!(matches!(error, Error::Limit { limit: "source pixels", wanted: 268_402_689, .. }), "{error}");
}

#[test]
fn damaged_bytes_never_panic() {
    let files: Vec<Vec<u8>> = kinds()
        .into_iter()
        .map(|file| with_metadata(&file, &all_metadata()))
        .chain([animation(&image_chunk(&encode(&picture(8, 8, Channels::Rgb), &lossless())))])
        .collect();
    let mut state = 1;
    let mut random = |below: usize| random(&mut state) as usize % below;
    for file in &files {
        for _ in 0..300 {
            let mut file = file.clone();
            for _ in 0..=random(3) {
                let at = random(file.len());
                file[at] = random(256) as u8;
            }
            if let Ok(picture) = try_decode(&file) {
                assert_eq!(picture.width(), probe(&file).unwrap().width);
            }
            let _ = run(|run| codec().container.with_metadata(&file, &Metadata::default(), run));
        }
    }
}

/// Ends the work at the `after`th question, in one of two ways.
#[derive(Debug)]
struct Impatient {
    after: u32,
    asked: AtomicU32,
    panics: bool,
}

impl Impatient {
    fn new(after: u32, panics: bool) -> Self {
        Self { after, asked: AtomicU32::new(0), panics }
    }
}

impl Control for Impatient {
    fn stop(&self) -> Option<Stop> {
        let over = self.asked.fetch_add(1, Ordering::Relaxed) + 1 >= self.after;
        assert!(!(over && self.panics), "enough");
        over.then_some(Stop::Cancelled)
    }
    fn stage(&self, _: Stage, _: f32) {}
}

#[test]
fn coding_ends_when_the_host_wants_it_to() {
    let limits = Limits::default();
    let picture = picture(1200, 900, Channels::Rgb);
    for options in [lossy(60.0), lossless()] {
        let encode = |control: &Impatient| {
            let options = EncodeOptions::Webp(options.clone());
            codec().encode.unwrap().encode(&mut Still::new(&picture), &options, Run { limits: &limits, control })
        };
        let error = encode(&Impatient::new(4, false)).unwrap_err();
        assert!(matches!(error, Error::Stopped(Stop::Cancelled)), "{error}");
        let panicking = Impatient::new(4, true);
        assert!(catch_unwind(AssertUnwindSafe(|| encode(&panicking))).is_err());

        let unattended = Impatient::new(u32::MAX, false);
        let file = encode(&unattended).unwrap();
        assert!(unattended.asked.load(Ordering::Relaxed) > 20);
        // 1.08 MP are more than two strides.
        let control = Impatient::new(3, false);
        let stopped =
            codec().decode.frames(&file, &DecodeOptions::default(), Run { limits: &limits, control: &control });
        assert!(matches!(stopped.err(), Some(Error::Stopped(Stop::Cancelled))));
    }
}

#[test]
fn metadata_comes_back_exactly_and_leaves_the_pixels_alone() {
    let wanted = all_metadata();
    for file in kinds() {
        let dressed = with_metadata(&file, &wanted);
        assert_eq!(metadata(&dressed), wanted);
        assert_eq!(decode(&dressed), decode(&file));
        assert_eq!(decoded_elsewhere(&dressed), decoded_elsewhere(&file));
        assert_eq!(with_metadata(&dressed, &wanted), dressed);
        assert_eq!(with_metadata(&dressed, &Metadata::default()), file);
    }
}

#[test]
fn a_mark_costs_a_chunk_header_and_its_text_and_keeps_the_simple_layout() {
    let mark = Metadata { comments: vec!["lapidary:m1".into()], ..Metadata::default() };
    for file in kinds() {
        let marked = with_metadata(&file, &mark);
        assert_eq!(marked.len(), file.len() + 8 + 12);
        assert_eq!(marked[8..file.len()], file[8..]);
        assert_eq!(metadata(&marked), mark);
        assert_eq!(decode(&marked), decode(&file));
        assert_eq!(decoded_elsewhere(&marked), decoded_elsewhere(&file));
    }
}

#[test]
fn unknown_chunks_and_bytes_behind_the_end_are_dropped() {
    let plain = kinds()[2].clone();
    let unknown = chunk(b"XYZW", b"odd");
    let cluttered = riff(&[vp8x(0, 21, 13), unknown.clone(), image_chunk(&plain), unknown]);
    let cluttered = [&cluttered[..], b"trailing"].concat();
    assert_eq!(decode(&cluttered), decode(&plain));
    assert_eq!(with_metadata(&cluttered, &Metadata::default()), plain);
}

#[test]
fn a_last_chunk_without_its_padding_is_read_and_mended() {
    let data = &kinds()[2][20..];
    let odd = if data.len() % 2 == 1 { data } else { &[data, &[0]].concat() };
    let whole = riff(&[chunk(b"VP8L", odd)]);
    let bare = &whole[..whole.len() - 1];
    assert_eq!(decode(bare), decode(&whole));
    assert_eq!(with_metadata(bare, &Metadata::default()), whole);
}

#[test]
fn exif_is_read_with_and_without_the_prefix_of_jpeg() {
    let tiff = all_metadata().exif.unwrap();
    let file = |exif: &[u8]| riff(&[vp8x(0x08, 21, 13), image_chunk(&kinds()[0]), chunk(b"EXIF", exif)]);
    assert_eq!(metadata(&file(&tiff)).exif.as_ref(), Some(&tiff));
    assert_eq!(metadata(&file(&[b"Exif\0\0", &tiff[..]].concat())).exif.as_ref(), Some(&tiff));
    assert_eq!(metadata(&file(b"nonsense")).exif, None);
    let turned = file(b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0");
    assert_eq!(probe(&turned).unwrap().orientation, metadata(&turned).orientation());
    let large = file(&[&b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"[..], &[0; 99]].concat());
    let limits = Limits { metadata_bytes: 99, ..Default::default() };
    let small = Run { limits: &limits, control: &Unattended };
    let read = codec().container.metadata(&large, small).unwrap();
    assert_eq!(
        (read.orientation(), read.exif.map(|exif| exif.len() < 99)),
        (metadata(&turned).orientation(), Some(true))
    );
}

#[test]
fn blocks_that_the_flags_do_not_announce_or_the_limit_does_not_allow_are_left_out() {
    let file = |flags| riff(&[vp8x(flags, 21, 13), chunk(b"ICCP", &[1; 9]), image_chunk(&kinds()[0])]);
    assert_eq!(metadata(&file(0)).icc, None);
    assert!(!probe(&file(0)).unwrap().icc);
    assert_eq!(metadata(&file(0x20)).icc, Some(vec![1; 9]));
    let limits = Limits { metadata_bytes: 8, ..Default::default() };
    let small = Run { limits: &limits, control: &Unattended };
    assert_eq!(codec().container.metadata(&file(0x20), small).unwrap().icc, None);
}

#[test]
fn an_animation_keeps_its_frames_under_new_metadata() {
    let file = animation(&image_chunk(&encode(&picture(8, 8, Channels::Rgba), &lossless())));
    let bare = with_metadata(&file, &Metadata::default());
    assert_eq!(bare.len(), file.len() - 16);
    let dressed = with_metadata(&bare, &all_metadata());
    assert_eq!(metadata(&dressed), all_metadata());
    assert_eq!(Info { icc: false, ..probe(&dressed).unwrap() }, probe(&bare).unwrap());
    assert_eq!(with_metadata(&dressed, &Metadata::default()), bare);
    assert!(recompress(&dressed).len() <= bare.len());
    let frames = |bytes| image::codecs::webp::WebPDecoder::new(Cursor::new(bytes)).unwrap();
    assert!(frames(dressed).has_animation());
}

#[test]
fn recompression_keeps_pixels_and_drops_all_else() {
    for file in kinds() {
        let dressed = with_metadata(&file, &all_metadata());
        let small = recompress(&dressed);
        assert_eq!(decode(&small), decode(&file));
        assert!(small.len() <= file.len());
        assert_eq!(metadata(&small), Metadata::default());
        assert_eq!(recompress(&small), small);
    }
}

#[test]
fn a_lossy_file_of_a_flat_picture_becomes_lossless_and_smaller() {
    let mut samples = vec![200; 64 * 64 * 3];
    samples[64 * 96..].fill(20);
    let flat = Picture::new(64, 64, Channels::Rgb, Samples::Eight(samples)).unwrap();
    let file = encode(&flat, &lossy(90.0));
    let small = recompress(&file);
    assert_eq!(probe(&small).unwrap().lossless, Some(true));
    assert!(small.len() < file.len());
    assert_eq!(decode(&small), decode(&file));
}

#[test]
fn damaged_lossy_data_is_not_passed_on_by_recompression() {
    let file = &kinds()[0];
    let cut = riff(&[chunk(b"VP8 ", &file[20..20 + (file.len() - 20) / 2])]);
    let result = run(|run| codec().recompress.unwrap().recompress(&cut, false, run));
    assert!(matches!(result, Err(Error::Input { .. })));
}

#[test]
fn sharp_yuv_and_near_lossless_are_heeded() {
    let picture = picture(80, 70, Channels::Rgb);
    let coded = |coding| encode(&picture, &WebpOptions { coding, method: 4, tolerance: 0 });
    let sharp = |sharp_yuv| match WebpOptions::lossy(80.0).coding {
        WebpCoding::Lossy { quality, noise_shaping, filter_strength, filter_sharpness, alpha_quality, .. } => {
            coded(WebpCoding::Lossy {
                quality,
                sharp_yuv,
                noise_shaping,
                filter_strength,
                filter_sharpness,
                alpha_quality,
            })
        }
        WebpCoding::Lossless { .. } => unreachable!("asked for lossy"),
    };
    assert!(sharp(true) != sharp(false));

    let mut state = 1;
    let noise = (0..80 * 70 * 3).map(|_| random(&mut state) as u8).collect();
    let noise = Picture::new(80, 70, Channels::Rgb, Samples::Eight(noise)).unwrap();
    let near = WebpCoding::Lossless { near_lossless: 20, exact: true, effort: 75 };
    assert!(decode(&encode(&noise, &WebpOptions { coding: near, method: 4, tolerance: 0 })) != noise);
}

#[test]
fn lossy_files_of_every_small_size_are_coded_anew_with_the_same_pixels() {
    let run = Run { limits: &Limits::default(), control: &Unattended };
    for side in 1..=36 {
        for (width, height) in [(side, side), (side, 16), (16, side)] {
            for quality in [0.0, 30.0, 75.0, 100.0] {
                let file = encode(&picture(width, height, Channels::Rgb), &lossy(quality));
                let anew = super::LossyFile::parse(&file, run).unwrap().unwrap().same(run).unwrap().unwrap();
                assert!(decode(&anew) == decode(&file), "{width}x{height} at {quality}");
            }
        }
    }
}
