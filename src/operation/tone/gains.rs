//! Curves of light as tables of gains.

use crate::picture::transfer;

/// Steps of the tables, over the square root of light.
const STEPS: usize = 1024;

/// Gains of light that a curve stands for.
pub(super) struct Gains(Vec<f32>);

impl Gains {
    /// Of a curve over light.
    pub(super) fn new(curve: impl Fn(f64) -> f64) -> Self {
        let gain = |step: usize| {
            let root = step.max(1) as f64 / STEPS as f64;
            (curve(root * root) / (root * root)) as f32
        };
        Self((0..=STEPS).map(gain).collect())
    }

    /// Of a curve over lightness.
    pub(super) fn of_lightness(curve: impl Fn(f64) -> f64) -> Self {
        Self::new(|light| curve(transfer::root(light, 3)).powi(3))
    }

    /// By the square root of light.
    pub(super) fn at(&self, root: f32) -> f32 {
        let place = root.clamp(0.0, 1.0) * STEPS as f32;
        let index = (place as usize).min(STEPS - 1);
        self.0[index] + (self.0[index + 1] - self.0[index]) * (place - index as f32)
    }
}
