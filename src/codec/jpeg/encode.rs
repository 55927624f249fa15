//! Pixels to a file.

use super::{
    blocks::zigzag,
    spectrum::{Rounding, Spectrum},
    write::write,
};
use crate::{
    codec::{EncodeOptions, JpegOptions},
    control::Run,
    error::{Error, Result},
    format::Format,
    picture::{Frames, Picture},
};

/// A whole file from the one frame of `frames`.
pub(super) fn encode(frames: &mut dyn Frames, options: &EncodeOptions, run: Run<'_>) -> Result<Vec<u8>> {
    let EncodeOptions::Jpeg(options) = options else {
        return Err(options.refused_by(Format::Jpeg));
    };
    let Some(frame) = frames.next(run)? else { return Err(Error::unsupported("JPEG without a frame")) };
    let file = encode_picture(&frame.picture, options, run)?;
    if frames.next(run)?.is_some() {
        return Err(Error::unsupported("JPEG of more than one frame"));
    }
    Ok(file)
}

fn encode_picture(picture: &Picture, options: &JpegOptions, run: Run<'_>) -> Result<Vec<u8>> {
    let tables = [options.luma, options.chroma];
    if tables.iter().flatten().any(|entry| !(1..=255).contains(entry)) {
        return Err(Error::unsupported("JPEG with quantisation outside of 1 to 255"));
    }
    let (rounding, mean) = match options.trellis {
        true => (Rounding::BALANCED, options.luma[0]),
        false => (Rounding::Nearest, 0),
    };
    let tables = if picture.channels().is_gray() { &tables[..1] } else { &tables };
    let tables: Vec<_> = tables.iter().map(zigzag).collect();
    let spectrum = Spectrum::of_picture(picture, options.sampling, mean, run)?;
    write(&spectrum.quantised(&tables, rounding, run)?, options.progressive, run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::{
            DecodeOptions, Sampling,
            jpeg::{
                decode::decode,
                fixture::{encoded, options, photo, run, watched_by},
                header::Header,
                libjpeg::{Output, Reader},
            },
        },
        control::Watch,
        error::Stop,
        picture::{Channels, Samples, Still},
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
