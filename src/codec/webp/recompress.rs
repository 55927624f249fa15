//! Smaller WebP files with the same pixels.

use super::{
    Webp,
    alpha::with_better_alpha,
    animation, container, decode,
    encode::{config, import},
    libwebp::{Colours, Config},
    lossy::LossyFile,
    riff::{Content, File},
};
use crate::{
    codec::{Recompress, WebpCoding, WebpOptions},
    control::Run,
    error::Result,
    format::Format,
    picture::{Picture, Samples},
};

/// How many times the bytes of a lossy image its quick lossless coding may take to be worth the slow one, which takes
/// off a third at most.
const WORTH_TRYING: (usize, usize) = (3, 2);

/// Pixels that are coded at once to find out.
const PART_PIXELS: usize = 1 << 20;

/// Method and effort of quick lossless coding: 0.1 to 0.25 s for each megapixel.
const QUICK: (u8, u8) = (1, 25);

/// What is tried, by the most pixels that it is tried on, so that none of it takes more than some 15 s, of 50 megapixels 30, and
/// most of it one. Method 6 takes 0.5 to 2.2 s for each megapixel at effort 75 and 2 to 40 s at effort 100, which saves up to
/// another 15 % (5 % in the mean); method 5 at effort 100 takes 0.2 to 4 s and finds half of that. Method 2 at effort 50 takes
/// 0.3 to 0.6 s, for 1 to 4 % more bytes than method 6.
const LADDER: [(u64, &[(u8, u8)]); 4] =
    [(1 << 20, &[(6, 75), (5, 100)]), (1 << 23, &[(6, 75)]), (1 << 24, &[(3, 75)]), (u64::MAX, &[(2, 50)])];

/// Every transform with every cache: of small pictures in few bytes, drawings and gradients, which it takes off a tenth of, and of
/// gradients up to a half, in 1 to 3 s. Photographs take it longest and win least.
const ALL: (u8, u8) = (6, 100);
const ALL_PIXELS: u64 = 1 << 20;
const ALL_BITS_A_PIXEL: u64 = 2;

/// What more effort leaves of a file at the least, but for some gradients.
const LEAST_LEFT: f64 = 0.8;

impl Recompress for Webp {
    fn format(&self) -> Format {
        Format::Webp
    }

    fn animations(&self) -> bool {
        true
    }

    /// Lossless images are coded anew, with the more effort the smaller they are. Lossy ones keep their coefficients and every
    /// value of alpha, but for the few that lossless coding of the decoded pixels makes smaller. Frames of animations
    /// alike, where they change something. Never larger than the image data it was given.
    fn recompress(&self, bytes: &[u8], _: bool, run: Run<'_>) -> Result<Vec<u8>> {
        let file = File::parse(bytes)?;
        let stripped = container::bare(&file, run)?;
        let Content::Still(image) = file.content else { return animation::recompress(file, bytes, stripped, run) };
        // Also for images that stay as they are, since damage must be found.
        let picture = decode::picture(&image, run)?;
        let mut best = stripped;
        if let Some(same) = LossyFile::parse(bytes, run)?.map(|lossy| lossy.same(run)).transpose()?.flatten()
            && same.len() < best.len()
            && let Content::Still(again) = File::parse(&same)?.content
            && decode::same_pixels(&image, &again, run)?
        {
            best = same;
        }
        let best = with_better_alpha(best, run)?;
        if !image.header.lossless && !may_be_lossless(&picture, best.len(), run)? {
            return Ok(best);
        }
        let mut source = import(&picture, Colours::Argb, run)?;
        let pixels = picture.layout().pixels();
        let coded = with_most_effort(pixels, best.len(), |effort| source.encode(&lossless(effort)?, run))?;
        Ok(if coded.len() < best.len() { coded } else { best })
    }

    /// What keeps its coefficients hardly shrinks.
    fn outlook(&self, bytes: &[u8], most: u64, run: Run<'_>) -> Result<Option<u64>> {
        let file = File::parse(bytes)?;
        let stripped = container::bare(&file, run)?.len() as u64;
        match file.content {
            Content::Still(image) if !image.header.lossless && image.alpha.is_none() => {
                let keeps = stripped <= most || !may_be_lossless(&decode::picture(&image, run)?, most as usize, run)?;
                Ok(keeps.then_some(stripped))
            }
            _ => Ok(None),
        }
    }
}

/// Whether quick lossless coding, a part of the picture after the other, comes near the `length` of a lossy image.
fn may_be_lossless(picture: &Picture, length: usize, run: Run<'_>) -> Result<bool> {
    let (times, of) = WORTH_TRYING;
    let mut left = length * times / of;
    let stride = picture.layout().row_samples();
    let rows = (PART_PIXELS / picture.width() as usize).max(1);
    for samples in picture.eight().unwrap_or(&[]).chunks(rows * stride) {
        let (height, samples) = ((samples.len() / stride) as u32, Samples::Eight(samples.to_vec()));
        let part = Picture::new(picture.width(), height, picture.channels(), samples)?;
        let coded = import(&part, Colours::Argb, run)?.encode(&lossless(QUICK)?, run)?;
        let Some(rest) = left.checked_sub(coded.len()) else { return Ok(false) };
        left = rest;
    }
    Ok(true)
}

/// Methods and efforts for a picture of `pixels`.
fn trials(pixels: u64) -> &'static [(u8, u8)] {
    LADDER[LADDER.partition_point(|&(most, _)| most < pixels)].1
}

/// The smallest that `code` gives by any method and effort that is worth its time for so many pixels; of the first alone, where it
/// is clear that no other gives less than `enough`.
pub(crate) fn with_most_effort(
    pixels: u64,
    enough: usize,
    mut code: impl FnMut((u8, u8)) -> Result<Vec<u8>>,
) -> Result<Vec<u8>> {
    let mut best = code(lossless_effort(pixels))?;
    if best.len() as f64 * LEAST_LEFT > enough as f64 {
        return Ok(best);
    }
    for effort in trials(pixels)[1..].iter().copied().chain([ALL]) {
        if effort == ALL && (pixels > ALL_PIXELS || best.len() as u64 * 8 > pixels * ALL_BITS_A_PIXEL) {
            break;
        }
        let coded = code(effort)?;
        if coded.len() < best.len() {
            best = coded;
        }
    }
    Ok(best)
}

/// Method and effort of lossless coding that takes no more than some seconds for so many pixels.
pub(crate) fn lossless_effort(pixels: u64) -> (u8, u8) {
    trials(pixels)[0]
}

/// Lossless coding that keeps the colours under full transparency.
fn lossless((method, effort): (u8, u8)) -> Result<Config> {
    let coding = WebpCoding::Lossless { near_lossless: 100, exact: true, effort };
    config(&WebpOptions { coding, method, tolerance: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::{Encode, EncodeOptions},
        control::Unattended,
        limits::Limits,
        picture::{Channels, Still},
    };

    #[test]
    fn lossy_files_are_told_to_keep_their_bytes_unless_they_are_flat() {
        let limits = Limits::default();
        let run = Run { limits: &limits, control: &Unattended };
        let file = |options: WebpOptions, detail: u32| {
            let sample = |at: u32| 80 + (at / 96 + (at.wrapping_mul(0x9E37_79B9) >> 20) % detail) as u8;
            let samples = Samples::Eight((0..96 * 96 * 3).map(|at| sample(at / 3)).collect());
            let picture = Picture::new(96, 96, Channels::Rgb, samples).unwrap();
            Webp.encode(&mut Still::new(&picture), &EncodeOptions::Webp(options), run).unwrap()
        };
        let outlook = |file: &[u8], most: usize| Webp.outlook(file, most as u64, run).unwrap();
        let detailed = file(WebpOptions::lossy(60.0), 40);
        let length = detailed.len();
        assert_eq!([length, length / 2].map(|most| outlook(&detailed, most)), [Some(length as u64); 2]);
        let flat = file(WebpOptions::lossy(95.0), 1);
        assert_eq!(outlook(&flat, flat.len() - 1), None);
        assert_eq!(outlook(&file(WebpOptions::lossless(), 40), length), None);
    }

    #[test]
    fn the_effort_falls_with_the_size() {
        let counts = [1, 1 << 20, (1 << 20) + 1, 1 << 22, 1 << 25].map(|pixels| trials(pixels).len());
        assert_eq!(counts, [2, 2, 1, 1, 1]);
        assert_eq!(trials((1 << 24) + 1), [(2, 50)]);
    }
}
