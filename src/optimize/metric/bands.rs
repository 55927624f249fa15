//! A part of a large picture from which the score of the whole can be told.

use super::Reference;
use crate::{
    control::Run,
    error::Result,
    picture::{Layout, Picture, Samples, spread},
};

/// Rows of a band. A multiple of 16, so that the blocks and macroblocks of every codec lie as in the whole picture; less
/// than 128 leaves too few rows between the seams at the coarse scales.
pub(crate) const BAND_ROWS: usize = 128;
/// One row of so many is taken.
const SHARE: usize = 4;
/// Bands begin at multiples of this.
const ALIGNMENT: usize = 16;
/// Pictures with fewer pixels than this are quick enough as they are.
const LEAST_PIXELS: u64 = 1 << 20;
/// Pixels of all bands at most.
const MOST_PIXELS: usize = 4 << 20;

/// A quarter of a large picture: bands of 128 rows, evenly spread from top to bottom and stacked; `None` if the picture
/// is below a megapixel or too low for two bands. Of very large pictures bands are cut to the same width, from all over
/// theirs, so that they come to about 4 megapixels. To be encoded in place of the whole while a quality is searched, and
/// compared by [`Reference::of_bands`](super::Reference::of_bands).
///
/// Over 22 photographs of 1.2 to 4.3 megapixels as JPEG 4:2:0 (qualities 30, 50, 75, 92) the score of the bands was
/// above that of the whole by 0.2, 0.2, 0.4, 1.0 in the mean with a deviation of 1.1, 0.8, 1.0, 1.5; the most was 7, for
/// a picture with a caption. Once the difference is known at quality 75, scores at 65 and 85 are foretold with a
/// deviation of 0.4.
pub fn bands(picture: &Picture) -> Option<Picture> {
    let places = Places::of(picture.layout())?;
    let samples = match picture.samples() {
        Samples::Eight(samples) => Samples::Eight(stack(samples, picture.layout(), &places)),
        Samples::Sixteen(samples) => Samples::Sixteen(stack(samples, picture.layout(), &places)),
    };
    let rows = places.corners.len() * BAND_ROWS;
    Picture::new(places.width as u32, rows as u32, picture.channels(), samples).ok()
}

/// The [`bands`] of a picture, and what takes their place is compared with.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) picture: Picture,
    pub(crate) reference: Reference,
}

impl Sample {
    pub(crate) fn of(whole: &Picture, run: Run<'_>) -> Result<Option<Self>> {
        let sample = |picture| Ok(Self { reference: Reference::of_bands(&picture, run)?, picture });
        bands(whole).map(sample).transpose()
    }
}

/// How many times as many pixels a picture has as a part of it.
pub(crate) fn times(whole: &Picture, part: &Picture) -> f64 {
    whole.layout().pixels() as f64 / part.layout().pixels() as f64
}

/// Where the [`bands`] of a picture lie.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Places {
    /// Pixels across each.
    pub(crate) width: usize,
    /// Their first columns and rows.
    pub(crate) corners: Vec<(usize, usize)>,
}

impl Places {
    pub(crate) fn of(layout: Layout) -> Option<Self> {
        let (across, height) = (layout.width as usize, layout.height as usize);
        let count = (height + SHARE * BAND_ROWS / 2) / (SHARE * BAND_ROWS);
        if layout.pixels() < LEAST_PIXELS || count < 2 {
            return None;
        }
        let width = across.min(aligned(MOST_PIXELS / (count * BAND_ROWS)));
        let corner = |index: usize| (aligned(spread(index, across - width)), row(index, count, height));
        let corners = (0..count).map(corner).collect();
        Some(Self { width, corners })
    }
}

/// The first row of a band: that which centres it in its part of the picture.
fn row(index: usize, count: usize, height: usize) -> usize {
    let middle = height * (2 * index + 1) / (2 * count);
    aligned(middle - BAND_ROWS / 2)
}

const fn aligned(at: usize) -> usize {
    at / ALIGNMENT * ALIGNMENT
}

fn stack<T: Copy>(samples: &[T], layout: Layout, places: &Places) -> Vec<T> {
    let (row, count) = (layout.row_samples(), layout.channels.count());
    let rows = places.corners.iter().flat_map(|&(x, y)| (y..y + BAND_ROWS).map(move |y| y * row + x * count));
    rows.flat_map(|start| &samples[start..start + places.width * count]).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{Channels, Depth};

    fn rows(width: u32, height: u32) -> Picture {
        let samples = (0..height).flat_map(|y| (0..width).map(move |_| y as u16)).collect();
        Picture::new(width, height, Channels::Gray, Samples::Sixteen(samples)).unwrap()
    }

    #[test]
    fn bands_are_a_quarter_of_the_rows_from_all_over_the_picture() {
        let stacked = bands(&rows(800, 2048)).unwrap();
        assert_eq!((stacked.width(), stacked.height()), (800, 512));
        let Samples::Sixteen(samples) = stacked.samples() else { panic!("the depth changed") };
        let starts: Vec<u16> = samples.iter().step_by(800 * BAND_ROWS).copied().collect();
        assert_eq!(starts, [192, 704, 1216, 1728]);
        assert_eq!(samples[800 * BAND_ROWS - 1], 192 + 127);
    }

    #[test]
    fn small_and_low_pictures_have_no_bands() {
        assert_eq!(bands(&rows(800, 1300)), None);
        assert_eq!(bands(&rows(3000, 700)), None);
    }

    #[test]
    fn every_band_lies_inside_the_picture_and_on_a_multiple_of_sixteen() {
        for height in 768..3000 {
            let count = (height + 256) / 512;
            for index in 0..count {
                let start = row(index, count, height);
                assert!(start.is_multiple_of(16) && start + BAND_ROWS <= height);
            }
        }
    }

    #[test]
    fn bands_of_very_large_pictures_are_cut_to_what_is_seen_of_all_columns() {
        for (width, height) in [(8688, 5792), (16_383, 3051), (3051, 16_383), (6000, 4000), (4096, 4096)] {
            let layout = Layout { width, height, channels: Channels::Rgb, depth: Depth::Eight };
            let Places { width: across, corners } = Places::of(layout).unwrap();
            let pixels = across * corners.len() * BAND_ROWS;
            assert!((3 << 20..=MOST_PIXELS).contains(&pixels), "{pixels} of {width}x{height}");
            let fits = |&(x, _): &(usize, usize)| x.is_multiple_of(16) && x + across <= width as usize;
            assert!(corners.iter().all(fits));
            let seen = |column: usize| corners.iter().any(|&(x, _)| (x..x + across).contains(&column));
            let missed = (0..width as usize).filter(|&column| !seen(column)).count();
            assert!(missed * 10 <= width as usize, "{missed} of {width}");
        }
        let layout = Layout { width: 4096, height: 4095, channels: Channels::Gray, depth: Depth::Eight };
        let places = Places::of(layout).unwrap();
        assert!(places.width == 4096 && places.corners.iter().all(|&(x, _)| x == 0));
    }

    #[test]
    fn a_cut_band_has_the_pixels_of_its_place() {
        let samples = (0..10_000 * 2000u32).map(|at| (at % 10_000 / 40) as u8).collect();
        let picture = Picture::new(10_000, 2000, Channels::Gray, Samples::Eight(samples)).unwrap();
        let Places { width, corners } = Places::of(picture.layout()).unwrap();
        let stacked = bands(&picture).unwrap();
        assert_eq!((stacked.width() as usize, stacked.height() as usize), (width, corners.len() * BAND_ROWS));
        let firsts = stacked.eight().unwrap().iter().step_by(width * BAND_ROWS);
        assert!(firsts.eq(&corners.iter().map(|&(x, _)| (x / 40) as u8).collect::<Vec<_>>()));
        assert!((times(&picture, &stacked) - 20e6 / (width * corners.len() * BAND_ROWS) as f64).abs() < 1e-9);
    }
}
