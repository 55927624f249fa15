//! What few colours do to a picture and the metric overlooks.

use super::{contour::Contours, tint::Tints};
use crate::{control::Run, error::Result, picture::Picture};

/// The share of a picture from which on what is in it counts in full.
const MUCH: f64 = 0.05;

/// The root of the mean square of what comes to `sum` in some of `all` places: less of it where they are few, neither [`MUCH`] of
/// all nor `many`.
pub(super) fn seen(sum: f64, places: f64, all: usize, many: f64) -> f64 {
    let share = (places / (MUCH * all as f64).min(many)).min(1.0);
    (sum / places).sqrt() * share
}

/// What may come of a picture.
pub(super) struct Overlooked {
    contours: Contours,
    tints: Tints,
}

impl Overlooked {
    /// Of a picture of 8 bits that is to score `target`.
    pub(super) fn of(picture: &Picture, target: f64, run: Run<'_>) -> Result<Self> {
        Ok(Self { contours: Contours::of(picture, target, run)?, tints: Tints::of(picture, target, run)? })
    }

    /// What it takes from the score of `drawn`, of the same size.
    pub(super) fn cost(&self, drawn: &Picture, run: Run<'_>) -> Result<f64> {
        Ok(self.contours.cost(drawn, run)?.max(self.tints.cost(drawn, run)?))
    }
}
