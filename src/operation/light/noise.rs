//! How strong the noise of a picture is.

use crate::operation::{recolour::Decoding, survey::peak};
use crate::{control::Run, error::Result, picture::Picture};

/// Rows looked at, about.
const ROWS: usize = 48;

/// Standard deviation of the square root of light, whose noise is alike in shadows and lights where photons are counted.
/// From the median of second differences along rows (J. Immerkaer, *Fast Noise Variance Estimation*, 1996, in one
/// dimension), so that edges do not count, and only where the picture is not black.
pub(super) fn deviation(picture: &Picture, run: Run<'_>) -> Result<f32> {
    let decoding = Decoding::new(picture.layout(), |_, light| light);
    let step = (picture.height() as usize / ROWS).max(1);
    let mut differences = Vec::new();
    decoding.rows(picture, step, run, |_, row| {
        let roots = |n: usize| peak(row[n]).sqrt();
        for n in 1..row.len().saturating_sub(1) {
            let (before, at, after) = (roots(n - 1), roots(n), roots(n + 1));
            if at > 0.01 && at < 0.95 {
                differences.push((before - 2.0 * at + after).abs());
            }
        }
    })?;
    if differences.is_empty() {
        return Ok(0.0);
    }
    let middle = differences.len() / 2;
    let (_, &mut median, _) = differences.select_nth_unstable_by(middle, f32::total_cmp);
    // 0.6745: the median of a normal distribution; 6: the squares of 1, -2 and 1.
    Ok(median / (0.6745 * 6f32.sqrt()))
}
