//! A sample of a large picture, for cheap trials.

use crate::{
    error::Result,
    picture::{Picture, Samples},
};

/// Pictures up to this many pixels are tried whole.
const WHOLE: u64 = 700_000;
/// Rows of a band: a multiple of what any codec here predicts or transforms together.
const BAND: usize = 64;

/// Bands spread evenly over an 8-bit picture, stacked, with about a fifth of its pixels but no fewer than fit well;
/// `None` where the whole is small enough.
pub(crate) fn sample(picture: &Picture) -> Result<Option<Picture>> {
    let Some(samples) = picture.eight() else { return Ok(None) };
    let pixels = picture.layout().pixels();
    let height = picture.height() as usize;
    let wanted = (pixels / 5).max(WHOLE / 2);
    let bands = (wanted / u64::from(picture.width())) as usize / BAND;
    if pixels <= WHOLE || bands < 2 || bands * BAND * 2 > height {
        return Ok(None);
    }
    let stride = picture.layout().row_samples();
    let mut stacked = Vec::with_capacity(bands * BAND * stride);
    for band in 0..bands {
        // The middle of each of as many equal parts, on the grid of 16 rows that lossy codecs work on.
        let top = ((2 * band + 1) * height / (2 * bands)).saturating_sub(BAND / 2) / 16 * 16;
        stacked.extend_from_slice(&samples[top * stride..(top + BAND) * stride]);
    }
    Picture::new(picture.width(), (bands * BAND) as u32, picture.channels(), Samples::Eight(stacked)).map(Some)
}
