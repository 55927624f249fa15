//! The coefficients that the source stores, coarser: for sources that are hardly better than the target.
//!
//! A picture that was quantised once loses twice when it is quantised by other tables. By its own tables it loses nothing
//! but what is worth little: trellis quantisation with a light weight on errors drops what costs most bits for least
//! fidelity.

use super::{BANDS_BIAS, SLACK, tables::power_of};
use crate::{
    codec::jpeg::{Blocks, Rounding, Spectrum},
    control::Run,
    error::Result,
    optimize::{
        metric::{BAND_ROWS, Places, Reference, Sample},
        search::{Aim, Trial, solve},
    },
    picture::Layout,
};

/// Score gained when errors count twice as much, in the median of pictures.
const SLOPE: f64 = 9.0;
/// Knobs as far apart as this tell a picture's own slope, which is this at the least.
const APART: f64 = 0.2;
const FLATTEST: f64 = 1.0;
/// The binary logarithm of the weight of errors to begin with.
const FIRST: f64 = -2.0;

/// The smallest such file that reaches the target, or the one that comes nearest. `sample` is
/// for cheap trials, if the picture has one.
pub(super) fn search(
    stored: &[u8],
    reference: &Reference,
    sample: Option<&Sample>,
    target: f64,
    run: Run<'_>,
) -> Result<Trial<Blocks>> {
    let blocks = Blocks::of_file(stored, run)?;
    let trial = |spectrum: &Spectrum, reference: &Reference, knob: f64| {
        let fidelity = (2f64.powi(knob.floor() as i32) * power_of(2.0, knob - knob.floor())) as f32;
        let coarser = spectrum.quantised(blocks.tables(), Rounding::Trellis { fidelity }, run)?;
        Ok(Trial { knob, score: reference.score(&coarser.pixels(run)?, run)?, file: coarser })
    };
    let aim = Aim { target, slack: SLACK, low: -8.0, high: 8.0, first: FIRST, slope: SLOPE, step: 0.02, trials: 5 };
    let part = sample.and_then(|Sample { picture, reference }| {
        let (width, height) = blocks.sides();
        let places = Places::of(Layout { width, height, ..picture.layout() })?;
        Some((blocks.bands(&places.corners, (places.width, BAND_ROWS))?, reference))
    });
    let aim = match part {
        Some((part, reference)) => {
            let spectrum = Spectrum::of_blocks(&part);
            let mut seen = Vec::new();
            let found = solve(aim, |knob| {
                let tried = trial(&spectrum, reference, knob)?;
                seen.push((tried.knob, tried.score));
                Ok(tried)
            })?;
            let left = target + SLACK / 2.0 + BANDS_BIAS - found.score;
            let slope = slope(&seen);
            Aim { first: found.knob + left / slope, trials: 3, slope, ..aim }
        }
        None => aim,
    };
    let spectrum = Spectrum::of_blocks(&blocks);
    solve(aim, |knob| trial(&spectrum, reference, knob))
}

/// The slope between the first and the last of the trials, knobs and scores, if they lie apart.
fn slope(seen: &[(f64, f64)]) -> f64 {
    match seen {
        [(from, before), .., (to, after)] if (to - from).abs() > APART => {
            ((after - before) / (to - from)).max(FLATTEST)
        }
        _ => SLOPE,
    }
}
