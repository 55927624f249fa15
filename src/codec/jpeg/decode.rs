//! Pixels, by one of two decoders.
//!
//! zune-jpeg makes full-size gray and RGB, behind a proof that the data are whole; what it cannot read is first rewritten
//! for it without loss. libjpeg makes CMYK, odd sampling and reduced sizes.

use std::cell::Cell;

use zune_core::{
    bytestream::{ZByteIoError, ZByteReaderTrait, ZSeekFrom},
    colorspace::ColorSpace,
    options::DecoderOptions,
};
use zune_jpeg::JpegDecoder;

use super::{
    entropy::{self, Verdict},
    header::{Colours, Frame, Header},
    libjpeg::{Output, Reader},
    recompress, scan,
    script::can_interleave,
};
use crate::{
    codec::DecodeOptions,
    control::Run,
    error::{Error, Result, caught},
    format::Format,
    picture::{Channels, Picture, Samples},
};

/// More scans than this are first made one, by libjpeg, which can be stopped within a scan.
const ZUNE_SCANS: usize = 100;
/// Scans times pixels above which that holds as well.
const ZUNE_WORK: u64 = 2_000_000_000;

/// The whole picture as stored.
pub(super) fn decode(bytes: &[u8], options: &DecodeOptions, run: Run<'_>) -> Result<Picture> {
    let header = Header::read(bytes)?;
    let frame = &header.frame;
    run.limits.check_canvas(frame.width, frame.height, 1)?;
    let outline = scan::outline(bytes, frame, run)?;
    let eighths = options.eighths(frame.width, frame.height);
    if eighths < 8 || !suits_zune(&header) {
        return by_libjpeg(bytes, &header, eighths, run);
    }
    let sound = !frame.arithmetic && entropy::check(bytes, frame, run)? == Verdict::Sound;
    if sound
        && is_simple(frame, outline.scans)
        && let Some(picture) = by_zune(bytes, &header, run)?
    {
        return Ok(picture);
    }
    // Through the same decoder all the same, so that a picture has the same pixels however it is coded.
    match by_zune(&recompress::sequential(bytes, &header, run)?, &header, run)? {
        Some(picture) => Ok(picture),
        None => by_libjpeg(bytes, &header, 8, run),
    }
}

/// The pixels of a sequential file that was written here.
pub(super) fn own(bytes: &[u8], run: Run<'_>) -> Result<Picture> {
    let header = Header::read(bytes)?;
    let decoded = if suits_zune(&header) { by_zune(bytes, &header, run)? } else { None };
    decoded.map_or_else(|| by_libjpeg(bytes, &header, 8, run), Ok)
}

/// Whether zune-jpeg's pixels are right: it has no CMYK, believes an Adobe segment before a JFIF header and the names `RGB`
/// before both, takes the first component to be the most finely sampled, and mixes up several that one scan cannot hold,
/// so that they stay apart in whatever is rewritten for it.
fn suits_zune(header: &Header<'_>) -> bool {
    let frame = &header.frame;
    let first = &frame.components[0];
    let count = frame.components.len();
    let rgb = header.adobe == Some(0) || frame.is_named_rgb();
    count < 4
        && (count == 1 || rgb == (header.colours() == Colours::Rgb))
        && (first.across, first.down) == frame.most_sampled()
        && (count == 1 || can_interleave(frame))
}

/// Whether zune-jpeg can decode the scans as they are: it mixes up components that come one by one in a sequential file,
/// and cannot be stopped within a scan.
fn is_simple(frame: &Frame, scans: usize) -> bool {
    let work = scans as u64 * u64::from(frame.width) * u64::from(frame.height);
    (frame.progressive || scans == 1) && scans <= ZUNE_SCANS && work <= ZUNE_WORK
}

/// `None` if the decoder refuses a file that is known to be sound.
fn by_zune(bytes: &[u8], header: &Header<'_>, run: Run<'_>) -> Result<Option<Picture>> {
    let (space, channels) = match header.colours() {
        Colours::Gray => (ColorSpace::Luma, Channels::Gray),
        _ => (ColorSpace::RGB, Channels::Rgb),
    };
    let options = DecoderOptions::default()
        .jpeg_set_out_colorspace(space)
        .jpeg_set_max_scans(ZUNE_SCANS)
        .set_strict_mode(false)
        .set_max_width(usize::MAX)
        .set_max_height(usize::MAX);
    let stopped = Cell::new(None);
    // A panic is as good as a refusal: another decoder is at hand.
    let decoded = caught(|| JpegDecoder::new_with_options(Watched::new(bytes, run, &stopped), options).decode());
    if let Some(stop) = stopped.take() {
        return Err(stop);
    }
    run.check()?;
    let (width, height) = (header.frame.width, header.frame.height);
    let whole = width as usize * height as usize * channels.count();
    match decoded {
        Ok(Ok(samples)) if samples.len() == whole => {
            Picture::new(width, height, channels, Samples::Eight(samples)).map(Some)
        }
        _ => Ok(None),
    }
}

fn by_libjpeg(bytes: &[u8], header: &Header<'_>, eighths: u32, run: Run<'_>) -> Result<Picture> {
    let colours = header.colours();
    let channels = match colours {
        Colours::Gray => Channels::Gray,
        Colours::YCbCr | Colours::Rgb => Channels::Rgb,
        Colours::Cmyk | Colours::Ycck => Channels::Cmyk,
    };
    let reader = Reader::open(bytes, memory(header), header.frame.arithmetic, run)?;
    let (width, height, mut samples) = reader.pixels(Output { colours, eighths })?;
    if channels == Channels::Cmyk {
        // 255 is no ink, as Adobe's files have it, and as browsers take those of others, too.
        samples.iter_mut().for_each(|sample| *sample = !*sample);
    }
    Picture::new(width, height, channels, Samples::Eight(samples))
        .map_err(|error| Error::damaged(Format::Jpeg, "does not decode to its size", error))
}

/// What libjpeg may allocate for a file, in bytes: all its coefficients and a few rows.
pub(super) fn memory(header: &Header<'_>) -> usize {
    let (columns, rows) = header.frame.units();
    let blocks: usize = header.frame.components.iter().map(|c| c.across * c.down).sum();
    columns * rows * blocks * 128 + (64 << 20)
}

/// Bytes for the decoder, which ask the host now and then whether to go on. Once stopped, nothing more can be read.
struct Watched<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Reading past here asks the host; never behind the end.
    ask_at: usize,
    run: Run<'a>,
    stopped: &'a Cell<Option<Error>>,
    dry: bool,
}

/// Bytes between two questions: at 1 byte in 1,000 pixels (a flat picture) about as many as decode in 2 ms.
const QUESTION: usize = 512;

impl<'a> Watched<'a> {
    fn new(bytes: &'a [u8], run: Run<'a>, stopped: &'a Cell<Option<Error>>) -> Self {
        Self { bytes, at: 0, ask_at: 0, run, stopped, dry: false }
    }

    /// Makes room to read `count` bytes; `None` at the end, or when stopped.
    #[cold]
    fn ask(&mut self, count: usize) -> Option<&'a [u8]> {
        if !self.dry
            && let Err(stop) = self.run.check()
        {
            self.stopped.set(Some(stop));
            self.dry = true;
        }
        let end = self.at.checked_add(count).filter(|&end| !self.dry && end <= self.bytes.len())?;
        self.ask_at = (end + QUESTION).min(self.bytes.len());
        self.bytes.get(self.at..end)
    }

    #[inline(always)]
    fn slice(&mut self, count: usize) -> Option<&'a [u8]> {
        match self.at.checked_add(count) {
            Some(end) if end <= self.ask_at => self.bytes.get(self.at..end),
            _ => self.ask(count),
        }
    }

    fn copy(&mut self, buffer: &mut [u8]) -> Result<(), ZByteIoError> {
        let slice = self.slice(buffer.len()).ok_or(ZByteIoError::NotEnoughBytes(0, buffer.len()))?;
        buffer.copy_from_slice(slice);
        Ok(())
    }

    fn copy_some(&mut self, buffer: &mut [u8]) -> Result<usize, ZByteIoError> {
        let count = buffer.len().min(self.bytes.len().saturating_sub(self.at));
        self.copy(&mut buffer[..count]).map(|()| count)
    }
}

impl ZByteReaderTrait for Watched<'_> {
    #[inline(always)]
    fn read_byte_no_error(&mut self) -> u8 {
        let byte = self.slice(1).map_or(0, |slice| slice[0]);
        self.at += usize::from(self.at < self.bytes.len());
        byte
    }

    #[inline(always)]
    fn read_exact_bytes(&mut self, buffer: &mut [u8]) -> Result<(), ZByteIoError> {
        self.copy(buffer)?;
        self.at += buffer.len();
        Ok(())
    }

    fn read_bytes(&mut self, buffer: &mut [u8]) -> Result<usize, ZByteIoError> {
        let count = self.copy_some(buffer)?;
        self.at += count;
        Ok(count)
    }

    fn peek_bytes(&mut self, buffer: &mut [u8]) -> Result<usize, ZByteIoError> {
        self.copy_some(buffer)
    }

    fn peek_exact_bytes(&mut self, buffer: &mut [u8]) -> Result<(), ZByteIoError> {
        self.copy(buffer)
    }

    fn z_seek(&mut self, from: ZSeekFrom) -> Result<u64, ZByteIoError> {
        let (base, offset) = match from {
            ZSeekFrom::Start(at) => (0, i64::try_from(at).unwrap_or(i64::MAX)),
            ZSeekFrom::End(offset) => (self.bytes.len(), offset),
            ZSeekFrom::Current(offset) => (self.at, offset),
        };
        let at = isize::try_from(offset).ok().and_then(|offset| base.checked_add_signed(offset));
        self.at = at.ok_or(ZByteIoError::SeekError("before the start"))?;
        Ok(self.at as u64)
    }

    #[inline(always)]
    fn is_eof(&mut self) -> Result<bool, ZByteIoError> {
        if self.dry { Err(ZByteIoError::Generic("stopped")) } else { Ok(self.at >= self.bytes.len()) }
    }

    fn z_position(&mut self) -> Result<u64, ZByteIoError> {
        Ok(self.at as u64)
    }

    fn read_remaining(&mut self, sink: &mut Vec<u8>) -> Result<usize, ZByteIoError> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        sink.extend_from_slice(rest);
        self.at += rest.len();
        Ok(rest.len())
    }
}

#[cfg(test)]
mod tests {
    use image::ImageFormat;
    use mozjpeg_rs::{Encoder, Preset};

    use super::*;
    use crate::{
        codec::{
            JpegOptions, Sampling,
            jpeg::{blocks::Blocks, fixture::*, scan::MAX_SCANS, symbols::Pass, write::in_passes},
        },
        control::{Control, Stage},
        error::Stop,
        limits::Limits,
    };

    const WHOLE: DecodeOptions = DecodeOptions { at_least: None, exactly: None };

    fn pixels(file: &[u8]) -> Vec<u8> {
        decode(file, &WHOLE, run()).unwrap().eight().unwrap().to_vec()
    }

    #[test]
    fn pixels_are_those_of_the_image_crate() {
        for sampling in [Sampling::Full, Sampling::HalfWidth, Sampling::Half] {
            for progressive in [false, true] {
                let options = JpegOptions { sampling, ..options(5, progressive) };
                let file = encoded(&photo(51, 37, Channels::Rgb), options).unwrap();
                let expected = image::load_from_memory_with_format(&file, ImageFormat::Jpeg).unwrap();
                assert!(pixels(&file) == expected.into_rgb8().into_raw(), "{sampling:?} {progressive}");
            }
        }
    }

    #[test]
    fn a_file_cut_anywhere_is_an_error_with_and_without_an_end_marker() {
        let gray = encoded(&photo(24, 24, Channels::Gray), options(3, true)).unwrap();
        let cmyk = flat(&[7, 99, 180, 255], b"CMYK", &[]);
        for file in [baseline(40, 24), progressive(40, 24), gray, cmyk] {
            let scan = offsets(&file, 0xDA)[0];
            for end in scan..file.len() - 3 {
                let ended = [&file[..end], &[0xFF, 0xD9]].concat();
                for cut in [&file[..end], &ended] {
                    assert!(decode(cut, &WHOLE, run()).is_err(), "{end} of {}", file.len());
                    let eighth = DecodeOptions { at_least: Some((1, 1)), ..WHOLE };
                    assert!(decode(cut, &eighth, run()).is_err(), "{end} of {} at 1/8", file.len());
                }
            }
        }
    }

    #[test]
    fn a_file_that_lacks_only_its_end_marker_opens() {
        for file in [baseline(40, 24), progressive(40, 24)] {
            assert!(pixels(&file[..file.len() - 2]) == pixels(&file));
        }
        assert!(decode(&ARITHMETIC[..ARITHMETIC.len() - 2], &WHOLE, run()).is_err());
    }

    #[test]
    fn what_is_left_behind_the_last_block_is_padding_or_damage() {
        for file in [baseline(40, 24), progressive(40, 24)] {
            let (start, end) = file.split_at(file.len() - 2);
            let with = |left: &[u8]| decode(&[start, left, end].concat(), &WHOLE, run());
            assert!(with(&[0; 100]).is_ok() && with(&[1, 2, 3, 4]).is_ok());
            let left: Vec<u8> = (1..40).collect();
            assert!(with(&left).unwrap_err().to_string().contains("more bits than its blocks take"));
        }
    }

    #[test]
    fn restart_markers_must_come_in_turn() {
        let picture = photo(64, 32, Channels::Rgb);
        let encoder = Encoder::new(Preset::BaselineFastest).restart_interval(1);
        let mut file = encoder.encode_rgb(picture.eight().unwrap(), 64, 32).unwrap();
        assert!(decode(&file, &WHOLE, run()).is_ok());
        let third = file.windows(2).position(|pair| pair == [0xFF, 0xD2]).unwrap();
        file[third + 1] = 0xD5;
        assert!(decode(&file, &WHOLE, run()).unwrap_err().to_string().contains("restart marker"));
    }

    #[test]
    fn reduced_sizes_hold_little_that_is_not_of_the_picture() {
        let eighths = |least, (width, height)| DecodeOptions { at_least: Some(least), ..WHOLE }.eighths(width, height);
        // 12.5 x 7.5 and 37.5 x 22.5 pixels: half of the last one is not.
        assert_eq!([(3, 3), (13, 8), (25, 16)].map(|least| eighths(least, (100, 60))), [1, 2, 4]);
        assert_eq!([(800, 600), (100, 75)].map(|least| eighths(least, (4001, 3001))), [4, 1]);
        assert_eq!(eighths((800, 600), (4032, 3024)), 2);
    }

    #[test]
    fn reduced_sizes_never_fall_below_what_was_asked() {
        let file = baseline(100, 60);
        let size = |least| {
            let layout = decode(&file, &DecodeOptions { at_least: Some(least), ..WHOLE }, run()).unwrap().layout();
            (layout.width, layout.height)
        };
        assert_eq!(size((1, 1)), (13, 8));
        assert_eq!(size((14, 8)), (25, 15));
        assert_eq!(size((38, 24)), (50, 30));
        assert_eq!(size((51, 1)), (100, 60));
        assert_eq!(size((1000, 1000)), (100, 60));
    }

    #[test]
    fn stored_cmyk_is_no_ink_at_255_whoever_wrote_it() {
        let adobe = |transform: u8| [&b"Adobe\0d\0\0\0\0"[..], &[transform]].concat();
        let first = |file: &[u8]| pixels(file)[..4].to_vec();
        assert_eq!(first(&flat(&[0, 10, 128, 255], b"CMYK", &[])), [255, 245, 127, 0]);
        assert_eq!(first(&flat(&[0, 10, 128, 255], b"CMYK", &[(0xEE, &adobe(0))])), [255, 245, 127, 0]);
        // YCCK: gray components make equal inks, stored inverted.
        assert_eq!(first(&flat(&[200, 128, 128, 30], b"CMYK", &[(0xEE, &adobe(2))])), [200, 200, 200, 225]);
    }

    #[test]
    fn three_components_are_rgb_where_marks_say_so() {
        let adobe = &b"Adobe\0d\0\0\0\0\0"[..];
        assert_eq!(pixels(&flat(&[200, 100, 50], &[1, 2, 3], &[(0xEE, adobe)]))[..3], [200, 100, 50]);
        assert_eq!(pixels(&flat(&[200, 100, 50], b"RGB", &[]))[..3], [200, 100, 50]);
        assert_ne!(pixels(&flat(&[200, 100, 50], &[1, 2, 3], &[]))[..3], [200, 100, 50]);
    }

    #[test]
    fn a_jfif_header_means_ycbcr_before_any_mark_and_an_adobe_mark_comes_before_names() {
        let jfif = (0xE0, &b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0"[..]);
        let adobe = |transform: u8| [&b"Adobe\0d\0\0\0\0"[..], &[transform]].concat();
        let usual = pixels(&flat(&[200, 100, 50], &[1, 2, 3], &[]));
        for names in [&[1, 2, 3][..], b"RGB"] {
            for marks in [vec![], vec![(0xEE, adobe(0))], vec![(0xEE, adobe(1))]] {
                let marks: Vec<_> = marks.iter().map(|(marker, mark)| (*marker, &mark[..])).collect();
                let file = flat(&[200, 100, 50], names, &[&[jfif], &marks[..]].concat());
                assert_eq!(pixels(&file), usual, "{names:?} {marks:?}");
            }
            assert_eq!(pixels(&flat(&[200, 100, 50], names, &[(0xEE, &adobe(1))])), usual, "{names:?}");
            assert_eq!(pixels(&flat(&[200, 100, 50], names, &[(0xEE, &adobe(0))]))[..3], [200, 100, 50], "{names:?}");
        }
    }

    #[test]
    fn components_in_scans_of_their_own_give_the_same_pixels() {
        let file = baseline(50, 40);
        let passes = [0, 1, 2].map(|index| Pass { components: (index, 1), band: (0, 63), bits: (0, 0) });
        let apart = in_passes(&Blocks::of_file(&file, run()).unwrap(), &passes, run()).unwrap();
        assert_eq!(offsets(&apart, 0xDA).len(), 3);
        assert!(pixels(&apart) == pixels(&file));
    }

    #[test]
    fn arithmetic_coding_decodes() {
        let picture = decode(&ARITHMETIC, &WHOLE, run()).unwrap();
        let samples = picture.eight().unwrap();
        assert_eq!((picture.width(), picture.height(), picture.channels()), (16, 8, Channels::Gray));
        for (index, &sample) in samples.iter().enumerate() {
            let (x, y) = (index % 16, index / 16);
            let drawn = ((x * 13 + y * 7) % 256) as u8;
            assert!(sample.abs_diff(drawn) < 20, "{sample} for {drawn} at {x},{y}");
        }
    }

    /// A file of these sampling factors whose components hold `values` throughout, in steps of 3 from 128.
    fn sampled(units: &[(usize, usize)], values: [i16; 3]) -> Vec<u8> {
        made((101, 75), units, |component, _, k| if k == 0 { values[component] } else { 0 })
            .write(false, run())
            .unwrap()
    }

    #[test]
    fn luma_sampled_more_coarsely_than_chroma_decodes() {
        let file = sampled(&[(1, 1), (2, 2), (2, 2)], [88, 0, 0]);
        assert!(!suits_zune(&Header::read(&file).unwrap()));
        assert!(pixels(&file).iter().all(|&sample| sample == 161));
    }

    #[test]
    fn components_too_large_for_one_scan_stay_apart() {
        for units in [[(2, 2); 3], [(4, 4), (1, 1), (1, 1)], [(4, 2), (2, 1), (2, 1)]] {
            let gray = sampled(&units, [88, 0, 0]);
            assert_eq!(offsets(&gray, 0xDA).len(), 3);
            assert!(pixels(&gray).iter().all(|&sample| sample == 161), "{units:?}");
        }
    }

    #[test]
    fn a_quantisation_step_of_zero_is_damage_wherever_it_stands() {
        let file = sampled(&[(2, 2); 3], [88, 0, 0]);
        let zeros = [&[0xFF, 0xDB, 0, 67, 1][..], &[0; 64]].concat();
        for at in [offsets(&file, 0xC0), offsets(&file, 0xC1), offsets(&file, 0xDA)[1..].to_vec()].concat() {
            let broken = [&file[..at], &zeros, &file[at..]].concat();
            let error = Blocks::of_file(&broken, run()).unwrap_err();
            assert!(matches!(error, Error::Input { .. }) && error.to_string().contains("step of 0"), "{at}: {error}");
        }
    }

    #[test]
    fn a_progressive_file_of_endless_scans_is_refused() {
        let file = progressive(16, 16);
        let scans = offsets(&file, 0xDA);
        let first = &file[scans[0]..scans[1]];
        let bomb = [&file[..scans[0]], &first.repeat(MAX_SCANS + 1)].concat();
        assert!(decode(&bomb, &WHOLE, run()).is_err());
        let mut progress = scan::Progress::new(&Header::read(&file).unwrap().frame);
        let pass = scan::Scan { members: Vec::new(), first: 1, last: 1, high: 0, low: 0 };
        assert!((0..MAX_SCANS).all(|_| progress.add(&pass).is_ok()));
        assert!(progress.add(&pass).unwrap_err().to_string().contains("more than 500 scans"));
    }

    #[test]
    fn the_header_is_held_against_the_limits_before_anything_is_allocated() {
        let mut file = progressive(16, 16);
        let frame = offsets(&file, 0xC2)[0];
        file[frame + 5..frame + 9].copy_from_slice(&[0xFF; 4]);
        let limits = Limits { side_px: u32::MAX, ..Limits::default() };
        let error = decode(&file, &WHOLE, Run { limits: &limits, ..run() }).unwrap_err();
        assert!(matches!(error, Error::Limit { wanted: 4_294_836_225, .. }));
    }

    #[test]
    fn a_large_header_on_few_bytes_is_refused_before_anything_is_allocated() {
        let mut file = flat(&[7, 99, 180, 255], b"CMYK", &[]);
        let frame = offsets(&file, 0xC0)[0];
        file[frame + 5..frame + 9].copy_from_slice(&[0x10, 0, 0x20, 0]);
        let error = decode(&file, &WHOLE, run()).unwrap_err().to_string();
        assert!(error.ends_with("bytes of coded data for 2097152 blocks"), "{error}");
    }

    /// Stops at the n-th question.
    #[derive(Debug)]
    struct Countdown(std::sync::atomic::AtomicUsize);

    impl Control for Countdown {
        fn stop(&self) -> Option<Stop> {
            let left = self.0.fetch_update(
                std::sync::atomic::Ordering::Relaxed,
                std::sync::atomic::Ordering::Relaxed,
                |left| left.checked_sub(1),
            );
            left.is_err().then_some(Stop::Deadline)
        }
        fn stage(&self, _: Stage, _: f32) {}
    }

    #[test]
    fn whenever_the_host_stops_decoding_the_error_says_so() {
        let cmyk = flat(&[7, 99, 180, 255], b"CMYK", &[]);
        for file in [&baseline(64, 64)[..], &progressive(64, 64), &ARITHMETIC, &cmyk] {
            let mut finished = false;
            for questions in 0..200 {
                let countdown = Countdown(questions.into());
                match decode(file, &WHOLE, watched_by(&countdown)) {
                    Ok(_) => finished = true,
                    Err(error) => assert!(matches!(error, Error::Stopped(Stop::Deadline)), "{questions}: {error}"),
                }
            }
            assert!(finished);
        }
    }
}
