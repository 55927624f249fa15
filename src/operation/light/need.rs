//! How many stops of light a picture lacks.

use crate::operation::{
    stops::log2,
    survey::{EXPOSURE_FEATURES, Sorted, Survey},
};

/// A linear model of the exposure of photographs, fitted by ridge regression on 230 of them darkened by up to 4.5 stops, with
/// noise and without.
const WEIGHTS: [f64; EXPOSURE_FEATURES] = [
    -0.234, -0.853, -0.267, 0.073, 0.295, -0.23, 0.376, -0.816, 1.596, 0.143, 0.035, -0.004, -0.013, 0.003, -0.058,
    -0.093, 0.966, -0.177, -1.099, 1.26, 1.107, -0.112,
];

/// 0 for a well-lit picture, 4 or 5 for the darkest that can be helped.
pub(super) fn stops(survey: &Survey) -> f64 {
    let Some(features) = survey.exposure_features() else { return 0.0 };
    let lacking: f64 = -features.iter().zip(WEIGHTS).map(|(feature, weight)| feature * weight).sum::<f64>();
    let share = ((lacking - 0.5) / 0.8).clamp(0.0, 1.0);
    lacking.clamp(0.0, 5.0) * share * share * (3.0 - 2.0 * share)
}

/// Codes that the middle of a picture has at least, where nothing is to be opened.
const MIDDLE: f64 = 0.4;
/// How much of a dark picture's mood stays: the power of what its middle lacks.
const MOOD: f64 = 0.2;

/// How far shadows are to be opened in a picture that has its white already, 0 (not at all) to below 1: what the power that
/// codes are raised to lacks to 1.
pub(super) fn opening(codes: &Sorted) -> f64 {
    let middle = (0.5 * (codes.at(0.5) + codes.mean())).max(0.01);
    if middle >= MIDDLE {
        return 0.0;
    }
    let wanted = log2(MIDDLE) + log2(middle / MIDDLE) * MOOD;
    1.0 - wanted / log2(middle)
}
