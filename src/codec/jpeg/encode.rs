//! Pixels to a file, by mozjpeg-rs.

use std::io;

use mozjpeg_rs::{Encoder, Preset, Subsampling, TrellisConfig};

use super::recompress;
use crate::{
    codec::{EncodeOptions, JpegOptions, Sampling},
    control::Run,
    error::{Error, Result},
    picture::{Channels, Frames, Picture},
};

/// The longest side that a frame header can tell.
const MAX_SIDE_PX: u32 = 65_535;

/// A whole file from the one frame of `frames`.
pub(super) fn encode(frames: &mut dyn Frames, options: &EncodeOptions, run: Run<'_>) -> Result<Vec<u8>> {
    let EncodeOptions::Jpeg(options) = options else {
        return Err(Error::unsupported(format!("JPEG with options of {}", options.format())));
    };
    let Some(frame) = frames.next(run)? else { return Err(Error::unsupported("JPEG without a frame")) };
    let file = encode_picture(&frame.picture, options, run)?;
    if frames.next(run)?.is_some() {
        return Err(Error::unsupported("JPEG of more than one frame"));
    }
    Ok(file)
}

fn encode_picture(picture: &Picture, options: &JpegOptions, run: Run<'_>) -> Result<Vec<u8>> {
    let (width, height, channels) = (picture.width(), picture.height(), picture.channels());
    let samples = picture.eight().ok_or_else(|| Error::unsupported("JPEG of 16-bit samples"))?;
    if !matches!(channels, Channels::Gray | Channels::Rgb) {
        return Err(Error::unsupported(format!("JPEG from {channels:?} pixels")));
    }
    if width.max(height) > MAX_SIDE_PX {
        return Err(Error::unsupported(format!("JPEG of {width}x{height} pixels")));
    }
    let encoder = configured(options)?;
    let mut out = Watched { bytes: Vec::new(), run, stopped: None };
    run.check()?;
    let encoded = if channels == Channels::Gray {
        encoder.encode_gray_to_writer(samples, width, height, &mut out)
    } else {
        encoder.encode_rgb_to_writer(samples, width, height, &mut out)
    };
    match (out.stopped, encoded) {
        (Some(stop), _) => Err(stop),
        (None, Ok(())) if options.trellis && options.progressive => rescanned(out.bytes, run),
        (None, Ok(())) => run.check().map(|()| out.bytes),
        (None, Err(error)) => Err(Error::internal("encoding JPEG", error)),
    }
}

/// With the smallest scans: another 1 to 2 % for about the time of the trellis.
fn rescanned(file: Vec<u8>, run: Run<'_>) -> Result<Vec<u8>> {
    let smaller = recompress::recompress(&file, true, run)?;
    Ok(if smaller.len() < file.len() { smaller } else { file })
}

fn configured(options: &JpegOptions) -> Result<Encoder> {
    if options.luma.iter().chain(&options.chroma).any(|entry| !(1..=255).contains(entry)) {
        return Err(Error::unsupported("JPEG with quantisation outside of 1 to 255"));
    }
    let preset = if options.progressive { Preset::ProgressiveBalanced } else { Preset::BaselineBalanced };
    let trellis = if options.trellis { TrellisConfig::default() } else { TrellisConfig::disabled() };
    let encoder = Encoder::new(preset)
        // At quality 50 tables are used as they are given.
        .quality(50)
        .custom_luma_qtable(options.luma)
        .custom_chroma_qtable(options.chroma)
        .force_baseline(true)
        .subsampling(match options.sampling {
            Sampling::Full => Subsampling::S444,
            Sampling::HalfWidth => Subsampling::S422,
            Sampling::Half => Subsampling::S420,
        })
        .trellis(trellis)
        .overshoot_deringing(options.trellis);
    Ok(encoder)
}

/// Takes the encoder's bytes, and asks the host with each piece whether to go on. The encoder writes only once all
/// coefficients are quantised; up to there (with trellis about 80 ms a megapixel) it cannot be stopped.
struct Watched<'a> {
    bytes: Vec<u8>,
    run: Run<'a>,
    stopped: Option<Error>,
}

impl io::Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(stop) = self.run.check() {
            self.stopped = Some(stop);
            return Err(io::Error::other("stopped"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use mozjpeg_rs::simd::SimdOps;

    use super::*;
    use crate::{
        codec::{
            DecodeOptions,
            jpeg::{
                decode::decode,
                fixture::{encoded, options, photo, run, watched_by},
                header::Header,
                libjpeg::{Output, Reader},
            },
        },
        control::Watch,
        error::Stop,
        picture::{Samples, Still},
    };

    const SAMPLINGS: [Sampling; 3] = [Sampling::Full, Sampling::HalfWidth, Sampling::Half];

    fn mean_difference(a: &[u8], b: &[u8]) -> f64 {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).map(|(a, b)| f64::from(a.abs_diff(*b))).sum::<f64>() / a.len() as f64
    }

    #[test]
    fn odd_sizes_survive_in_both_decoders_whatever_the_sampling() {
        for (width, height) in [(1, 1), (7, 5), (17, 33), (64, 16)] {
            // Gray in three channels, so that subsampled chroma loses nothing.
            let picture = photo(width, height, Channels::Gray).into_channels(Channels::Rgb);
            for sampling in SAMPLINGS {
                for (progressive, trellis) in [(false, false), (false, true), (true, false), (true, true)] {
                    let options = JpegOptions { sampling, trellis, ..options(2, progressive) };
                    let file = encoded(&picture, options).unwrap();
                    let decoded = decode(&file, &DecodeOptions::default(), run()).unwrap();
                    let output = Output { colours: Header::read(&file).unwrap().colours(), eighths: 8 };
                    let other = Reader::open(&file, 1 << 26, false, run()).unwrap().pixels(output).unwrap();
                    assert_eq!((other.0, other.1), (width, height));
                    for samples in [decoded.eight().unwrap(), &other.2] {
                        let off = mean_difference(samples, picture.eight().unwrap());
                        assert!(off < 2.0, "{width}x{height} {sampling:?} {progressive} {trellis}: {off}");
                    }
                }
            }
        }
    }

    #[test]
    fn gray_is_one_component_and_tables_are_written_as_given() {
        let ramp: [u16; 64] = std::array::from_fn(|index| index as u16 * 4 + 1);
        let options = JpegOptions { luma: ramp, chroma: [255; 64], ..options(1, true) };
        let gray = encoded(&photo(20, 20, Channels::Gray), options.clone()).unwrap();
        assert_eq!(Header::read(&gray).unwrap().frame.components.len(), 1);
        let colour = encoded(&photo(20, 20, Channels::Rgb), options).unwrap();
        let tables = Header::read(&colour).unwrap().tables;
        // The first entries of the zigzag: right, down and left, down, up and right.
        assert_eq!(tables[0].unwrap()[..6], [ramp[0], ramp[1], ramp[8], ramp[16], ramp[9], ramp[2]]);
        assert_eq!(tables[1].unwrap(), [255; 64]);
    }

    #[test]
    fn bytes_do_not_depend_on_the_processor() {
        let picture = photo(75, 61, Channels::Rgb);
        for trellis in [false, true] {
            let encoder = configured(&JpegOptions { trellis, ..options(9, true) }).unwrap();
            let [scalar, detected] = [SimdOps::scalar(), SimdOps::detect()]
                .map(|simd| encoder.clone().simd_ops(simd).encode_rgb(picture.eight().unwrap(), 75, 61).unwrap());
            assert!(scalar == detected, "trellis {trellis}");
        }
    }

    #[test]
    fn what_the_format_cannot_hold_is_refused_by_name() {
        let refused = |picture: &Picture| encoded(picture, options(3, true)).unwrap_err().to_string();
        let rgba = photo(2, 2, Channels::Rgb).into_channels(Channels::Rgba);
        assert_eq!(refused(&rgba), "JPEG from Rgba pixels is not supported");
        let deep = Picture::new(1, 1, Channels::Gray, Samples::Sixteen(vec![7])).unwrap();
        assert_eq!(refused(&deep), "JPEG of 16-bit samples is not supported");
        assert!(encoded(&photo(2, 2, Channels::Rgb), options(256, true)).is_err());
        assert!(encoded(&photo(2, 2, Channels::Rgb), options(0, true)).is_err());
    }

    #[test]
    fn a_stopped_encoder_says_so() {
        let watch = Watch::default();
        watch.cancel();
        let picture = photo(32, 32, Channels::Rgb);
        let options = EncodeOptions::Jpeg(options(3, true));
        let error = encode(&mut Still::new(&picture), &options, watched_by(&watch)).unwrap_err();
        assert!(matches!(error, Error::Stopped(Stop::Cancelled)));
    }
}
