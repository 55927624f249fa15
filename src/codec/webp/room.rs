//! Room for the modes of a large lossy picture.
//!
//! The modes of all macroblocks lie in the first partition, whose length has 19 bits (RFC 6386, section 9.1). Where they do not
//! fit, libwebp codes the picture anew with half as many bits for the modes of a macroblock, and again: a photograph of 50
//! megapixels takes up to three times as long, and as a half may be far too few, 5 % more bytes. Here parts of the picture
//! tell beforehand how many bits fit.

use std::ffi::c_int;

use super::{
    bitstream::first_partition,
    libwebp::{Config, Source, Watcher},
};
use crate::{error::Result, picture::spread};

/// Smaller pictures have room for whatever modes.
const LEAST_PIXELS: u64 = 16 << 20;
/// Bytes that libwebp takes to fit.
const ROOM: f64 = (512 - 2) as f64 * 1024.0;
/// Where the frame tag of a simple lossy file begins.
const TAG: usize = 20;
/// Parts that foretell, and their columns and rows: from so many places they come within a few percent, and as they have
/// more edges than the whole, rather above it. In one picture, as libwebp spreads quality over what it sees.
const PARTS: u32 = 96;
const SIDE: u32 = 128;
/// Values of `partition_limit`: for 256 bits of a macroblock, which is no limit, for 56, 52, 47, 41, 36, 31 and 16.
const LIMITS: [c_int; 8] = [0, 53, 55, 57, 60, 62, 65, 75];

/// `config` with the most bits for modes that fit.
pub(super) fn for_modes(source: &Source, mut config: Config, watcher: &Watcher) -> Result<Config> {
    let (width, height) = source.size();
    let pixels = u64::from(width) * u64::from(height);
    if config.lossless != 0 || pixels < LEAST_PIXELS {
        return Ok(config);
    }
    let size = (width.min(SIDE), height.min(SIDE));
    let corners: Vec<_> = (0..PARTS).map(|number| corner(number, (width - size.0, height - size.1))).collect();
    let mut parts = source.stacked(&corners, size)?;
    let times = pixels as f64 / f64::from(PARTS * size.0 * size.1);
    config.partition_limit = mildest(|limit| {
        let coded = parts.coded(&Config { partition_limit: limit, ..config }, watcher)?;
        let bytes = coded.get(TAG..).and_then(|tag| tag.first_chunk()).map_or(0, first_partition);
        Ok(bytes as f64 * times <= ROOM)
    })?;
    Ok(config)
}

/// Column and row of a part, up to the last: all of either lie evenly, and on macroblocks.
fn corner(number: u32, (right, bottom): (u32, u32)) -> (u32, u32) {
    let left = spread(number as usize, right as usize) as u32;
    (left / 16 * 16, bottom * number / (PARTS - 1) / 16 * 16)
}

/// The first of [`LIMITS`] that fits; mostly there need not be any.
fn mildest(mut fits: impl FnMut(c_int) -> Result<bool>) -> Result<c_int> {
    if fits(LIMITS[0])? {
        return Ok(LIMITS[0]);
    }
    let (mut low, mut high) = (1, LIMITS.len() - 1);
    while low < high {
        let middle = usize::midpoint(low, high);
        (low, high) = if fits(LIMITS[middle])? { (low, middle) } else { (middle + 1, high) };
    }
    Ok(LIMITS[low])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::{
            WebpOptions,
            webp::{encode, libwebp::Colours},
        },
        control::{Run, Unattended},
        limits::Limits,
        picture::{Channels, Picture, Samples},
    };

    #[test]
    fn the_mildest_limit_that_fits_is_found_in_four_trials() {
        for most in LIMITS {
            let mut trials = 0;
            let found = mildest(|limit| {
                trials += 1;
                Ok(limit >= most)
            });
            assert_eq!(found.unwrap(), most);
            assert!(trials <= 4);
        }
        assert_eq!(mildest(|_| Ok(false)).unwrap(), LIMITS[LIMITS.len() - 1]);
    }

    #[test]
    fn parts_lie_inside_the_picture_from_its_first_row_to_its_last() {
        let corners: Vec<_> = (0..PARTS).map(|number| corner(number, (8000, 5008))).collect();
        assert!(corners.iter().all(|&(x, y)| x <= 8000 && x % 16 == 0 && y % 16 == 0));
        assert_eq!((corners[0].1, corners[PARTS as usize - 1].1), (0, 5008));
        let mut columns: Vec<_> = corners.iter().map(|corner| corner.0).collect();
        columns.sort_unstable();
        assert!(columns.windows(2).all(|pair| pair[1] - pair[0] < 250), "{columns:?}");
    }

    /// Noise, whose macroblocks take many modes.
    #[test]
    fn only_large_pictures_are_limited_and_only_to_what_fits() {
        let limits = Limits::default();
        let run = Run { limits: &limits, control: &Unattended };
        let (watcher, _reports) = std::sync::mpsc::channel();
        let config = encode::config(&WebpOptions { method: 2, ..WebpOptions::lossy(90.0) }).unwrap();
        let limited = |width: u32, height: u32, noise: u32| {
            let sample = |at: u32| (at.wrapping_mul(0x9E37_79B9) >> 8).wrapping_mul(0x85EB_CA6B) >> 24;
            let samples = (0..width * height * 3).map(|at| (sample(at) % noise + 90) as u8).collect();
            let picture = Picture::new(width, height, Channels::Rgb, Samples::Eight(samples)).unwrap();
            let source = encode::import(&picture, Colours::Yuv, run).unwrap();
            for_modes(&source, config, &watcher).unwrap().partition_limit
        };
        assert_eq!(limited(512, 512, 60), 0);
        assert_eq!(limited(8192, 2048, 1), 0);
        assert!(limited(16_000, 2048, 60) > 0);
    }
}
