//! The alpha beside lossy colours, coded at libwebp's full effort behind the filter that serves best, where libwebp itself
//! guesses the filter and tries little: a third to four fifths of its bytes for soft edges, cut-outs and sprites.

use super::{
    container, decode,
    encode::config,
    libwebp::{Colours, Pixels, Source},
    riff::{Content, File, Image},
};
use crate::{
    codec::{WebpCoding, WebpOptions},
    control::Run,
    error::{Error, Result},
};

/// Chunks of fewer bytes are as good as nothing.
const LEAST: usize = 64;
/// Bytes in front of the image stream in a chunk of lossless pixels: the signature, and sides that `ALPH` does not repeat.
const STREAM: usize = 5;
/// Method and effort by which filters are compared, and those at last; up to so many pixels each. The first takes 0.1 s for
/// a megapixel and filter, the second a second for a megapixel.
const QUICK: (u8, u8) = (4, 100);
const SLOW: (u8, u8) = (5, 100);
const MOST_QUICK: u64 = 1 << 24;
const MOST_SLOW: u64 = 1 << 22;

/// How a sample is foretold from those before it (RFC 9649, section 2.7.1.2), by its number in the header.
const FILTERS: [fn(left: u8, above: u8, corner: u8) -> u8; 4] = [
    |_, _, _| 0,
    |left, _, _| left,
    |_, above, _| above,
    |left, above, corner| (i16::from(left) + i16::from(above) - i16::from(corner)).clamp(0, 255) as u8,
];

/// A still without metadata whose alpha takes fewer bytes, or the same.
pub(crate) fn with_better_alpha(bytes: Vec<u8>, run: Run<'_>) -> Result<Vec<u8>> {
    let mut file = File::parse(&bytes)?;
    let Content::Still(image) = file.content else { return Ok(bytes) };
    let Some(alpha) = recoded(&image, run)? else { return Ok(bytes) };
    file.content = Content::Still(Image { alpha: Some(&alpha), ..image });
    container::bare(&file, run)
}

/// The data of an `ALPH` chunk for the same alpha, if they are fewer.
fn recoded(image: &Image<'_>, run: Run<'_>) -> Result<Option<Vec<u8>>> {
    let pixels = u64::from(image.header.width) * u64::from(image.header.height);
    let Some(stored) = image.alpha.filter(|alpha| alpha.len() >= LEAST && pixels <= MOST_QUICK) else {
        return Ok(None);
    };
    let picture = decode::picture(image, run)?;
    let samples = picture.eight().filter(|_| picture.channels().has_alpha()).unwrap_or(&[]);
    let plane: Vec<u8> = samples.iter().skip(3).step_by(4).copied().collect();
    if plane.is_empty() {
        return Ok(None);
    }
    let (mut best, mut chosen) = (None, 0);
    for number in 0..FILTERS.len() {
        let coded = coded(&plane, image, number, QUICK, run)?;
        if best.as_ref().is_none_or(|best: &Vec<u8>| coded.len() < best.len()) {
            (best, chosen) = (Some(coded), number);
        }
    }
    if pixels <= MOST_SLOW {
        let slow = coded(&plane, image, chosen, SLOW, run)?;
        best = best.filter(|best| best.len() <= slow.len()).or(Some(slow));
    }
    Ok(best.filter(|best| best.len() < stored.len()))
}

fn coded(plane: &[u8], image: &Image<'_>, number: usize, effort: (u8, u8), run: Run<'_>) -> Result<Vec<u8>> {
    let (width, height) = (image.header.width, image.header.height);
    let green: Vec<u8> =
        filtered(plane, width as usize, number).into_iter().flat_map(|sample| [0, sample, 0]).collect();
    let mut source = Source::import(&green, width, height, Pixels::Rgb, Colours::Argb, run)?;
    let (method, effort) = effort;
    let coding = WebpCoding::Lossless { near_lossless: 100, exact: true, effort };
    let file = source.encode(&config(&WebpOptions { coding, method, tolerance: 0 })?, run)?;
    let stream = match File::parse(&file)?.content {
        Content::Still(coded) => coded.data.get(STREAM..),
        Content::Animation(_) => None,
    };
    let stream = stream.ok_or_else(|| Error::internal("coding alpha", "libwebp wrote no lossless still"))?;
    Ok([&[(number << 2 | 1) as u8], stream].concat())
}

/// What is left of a plane beside what was foretold. The first row is foretold from the left and the first column from above,
/// but where nothing is foretold.
fn filtered(plane: &[u8], width: usize, number: usize) -> Vec<u8> {
    if number == 0 {
        return plane.to_vec();
    }
    let at = |index: usize| {
        let (x, y) = (index % width, index / width);
        let guess = match (x, y) {
            (0, 0) => 0,
            (_, 0) => plane[index - 1],
            (0, _) => plane[index - width],
            _ => FILTERS[number](plane[index - 1], plane[index - width], plane[index - width - 1]),
        };
        plane[index].wrapping_sub(guess)
    };
    (0..plane.len()).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        control::Unattended,
        limits::Limits,
        picture::{Channels, Picture, Samples},
    };

    #[test]
    fn alpha_stays_to_the_bit_and_takes_fewer_bytes() {
        let (limits, control) = (Limits::default(), Unattended);
        let run = Run { limits: &limits, control: &control };
        let noise = |x: u32, y: u32| (x * 31 + y * 977).wrapping_mul(2_654_435_761) >> 30;
        // Smooth along rows, down columns, in both ways, and in neither.
        let planes: [&dyn Fn(u32, u32) -> u32; 4] =
            [&|x, y| x + noise(x, y), &|x, y| y + noise(x, y), &|x, y| (x + y) / 2 + noise(x, y), &|x, y| {
                u32::from((x / 9 + y / 7) % 3 == 0) * 255
            }];
        let mut sums = [0, 0];
        for plane in planes {
            let pixel = |n: u32| [90, 120, 150, plane(n % 200, n / 200).min(255) as u8];
            let samples = (0..200 * 200).flat_map(pixel).collect();
            let picture = Picture::new(200, 200, Channels::Rgba, Samples::Eight(samples)).unwrap();
            let options = WebpOptions::lossy(80.0);
            let mut source = super::super::encode::import(&picture, Colours::Yuv, run).unwrap();
            let file = source.encode(&config(&options).unwrap(), run).unwrap();
            let better = with_better_alpha(file.clone(), run).unwrap();
            let shown = |file: &[u8]| match File::parse(file).unwrap().content {
                Content::Still(image) => decode::picture(&image, run).unwrap(),
                Content::Animation(_) => panic!("it moves"),
            };
            assert_eq!(shown(&better), shown(&file));
            assert!(better.len() <= file.len(), "{} of {}", better.len(), file.len());
            sums = [sums[0] + better.len(), sums[1] + file.len()];
            assert_eq!(with_better_alpha(better.clone(), run).unwrap(), better);
        }
        assert!(sums[0] < sums[1], "{sums:?}");
    }
}
