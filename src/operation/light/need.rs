//! What light a picture lacks.
//!
//! Linear models over features of the distribution of light, fitted together by ridge regression on photographs that were
//! darkened by up to 4.5 stops, by a power of their codes of up to 3.5 or by both, with noise and without. They tell the two
//! apart: too few stops lower the lights too, a power leaves them.

use crate::operation::survey::{EXPOSURE_FEATURES, Survey};

const STOPS: [f64; EXPOSURE_FEATURES] = [
    0.583, 0.194, 0.214, -0.034, 0.239, -1.181, -0.469, -0.304, 0.648, -0.106, -0.046, 0.022, -0.132, 0.339, 0.052,
    0.12, -1.311, 0.245, 1.182, -1.217, -1.851, 0.232,
];
const POWER: [f64; EXPOSURE_FEATURES] = [
    -0.147, 0.495, 0.899, -0.508, -0.743, -0.101, 0.333, -0.284, -0.168, -0.104, -0.091, 0.036, 0.049, -0.306, -0.173,
    0.048, 0.244, 0.369, 0.439, -0.273, 1.314, 0.333,
];

/// What a picture lacks; all 0 for a well-lit one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need {
    /// Stops of exposure, 4 or 5 for the darkest that can be helped.
    pub stops: f64,
    /// Binary logarithm of the power that its codes are as if they had been raised to: shadows that are too dark beside a
    /// white that is there already.
    pub power: f64,
}

impl Need {
    pub(super) fn of(survey: &Survey) -> Self {
        let Some(features) = survey.exposure_features() else { return Self { stops: 0.0, power: 0.0 } };
        let judged = |model: [f64; EXPOSURE_FEATURES]| -> f64 {
            features.iter().zip(model).map(|(feature, weight)| feature * weight).sum()
        };
        let (stops, power) = (judged(STOPS), judged(POWER));
        // Regression says less than there is, the more so the less it knows: by these factors, by measurement.
        Self {
            stops: (1.15 * stops).min(5.0) * sure(stops, 0.5, 1.3),
            power: (1.35 * power).min(1.8) * sure(power, 0.37, 0.65),
        }
    }
}

/// 0 for what good photographs say too, 1 for what only dark ones do.
fn sure(number: f64, from: f64, to: f64) -> f64 {
    let share = ((number - from) / (to - from)).clamp(0.0, 1.0);
    share * share * (3.0 - 2.0 * share)
}
