//! Faces of pictures that were resized after they were stored: what was blocks, or pixels between which others were put in, has
//! periods of its own, which no face has and any filter brings out as a lattice of lines.
//!
//! Resampling leaves periodic traces (A. C. Popescu and H. Farid, *Exposing Digital Forgeries by Detecting Traces of Resampling*,
//! IEEE TSP 2005); they are looked for in what a filter has changed.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use crate::operation::{field::Field, stops::sine};

/// Cycles a pixel that are looked at, and into how many steps they are divided.
const FREQUENCIES: (f64, f64) = (1.0 / 12.0, 0.5);
const STEPS: u32 = 400;
/// Pixels over which a profile is smoothed, for what is slower to go.
const SMOOTH: usize = 9;
/// Shares of what is left that have one frequency across and down: up to the first it is chance, from the second on a lattice.
/// Faces without have 0.037 at most, pictures resized by 0.4 to 1.5 have 0.075 to 0.21. Over few pixels chance has more, about so
/// many times what white noise has of any frequency, which is one by their number.
const LATTICE: (f64, f64) = (0.04, 0.075);
const CHANCE: f64 = 8.0;

/// How surely the change from `before` to `after`, 0 to 1, is such a lattice. That of blocks where JPEG left them is none.
pub(super) fn share(before: &Field, after: &Field) -> f32 {
    let changed = before.with(after, |before, after| (after - before).abs());
    let mut columns = vec![0.0; changed.width];
    let mut rows = Vec::with_capacity(changed.height);
    for row in changed.rows() {
        columns.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
        rows.push(row.iter().map(|&value| f64::from(value)).sum());
    }
    let profiles = [Profile::of(&columns), Profile::of(&rows)];
    let shared = |step: u32| {
        let (low, high) = FREQUENCIES;
        let frequency = low + (high - low) * f64::from(step) / f64::from(STEPS);
        let [across, down] = profiles.each_ref().map(|profile| profile.power(frequency));
        across.min(down)
    };
    let most = (0..=STEPS).map(shared).fold(0.0, f64::max);
    let few = (CHANCE / changed.width.min(changed.height) as f64 / LATTICE.0).max(1.0);
    ((most / few - LATTICE.0) / (LATTICE.1 - LATTICE.0)).clamp(0.0, 1.0) as f32
}

/// How strong a change is along one direction, without what is slow, and within a window.
struct Profile {
    values: Vec<f64>,
    /// What a sine of all its power has.
    whole: f64,
}

impl Profile {
    fn of(sums: &[f64]) -> Self {
        let count = sums.len();
        let around = |at: usize| {
            let near = at.saturating_sub(SMOOTH / 2)..(at + SMOOTH / 2 + 1).min(count);
            sums[near.clone()].iter().sum::<f64>() / near.len() as f64
        };
        let fast: Vec<f64> = (0..count).map(|at| sums[at] - around(at)).collect();
        let window = |at: usize| 0.5 - 0.5 * turn(TAU * (at as f64 + 0.5) / count as f64).0;
        let power = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>();
        let whole = power(&mut fast.iter().copied()) * power(&mut (0..count).map(window));
        Self { values: fast.iter().enumerate().map(|(at, value)| value * window(at)).collect(), whole }
    }

    /// The share of its power at a frequency, in cycles a pixel; 0 at those of blocks of eight.
    fn power(&self, frequency: f64) -> f64 {
        let eighths = frequency * 8.0;
        let blocks = (eighths - eighths.round()).abs() / 8.0 < 2.0 / self.values.len() as f64 + 0.002;
        if blocks || self.whole <= 0.0 {
            return 0.0;
        }
        let step = turn(TAU * frequency);
        let ((mut cosine, mut sine), mut sums) = ((1.0, 0.0), (0.0, 0.0));
        for value in &self.values {
            sums = (sums.0 + value * cosine, sums.1 + value * sine);
            (cosine, sine) = (cosine * step.0 - sine * step.1, cosine * step.1 + sine * step.0);
        }
        (sums.0 * sums.0 + sums.1 * sums.1) / self.whole
    }
}

/// Cosine and sine of an angle of 0 to two pi.
fn turn(angle: f64) -> (f64, f64) {
    let (half, mirrored) = if angle > PI { (TAU - angle, -1.0) } else { (angle, 1.0) };
    let cosine = if half > FRAC_PI_2 { -sine(half - FRAC_PI_2) } else { sine(FRAC_PI_2 - half) };
    (cosine, mirrored * sine(half.min(PI - half)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: usize = 160;

    /// The share of a change from nothing.
    fn of(change: impl Fn(usize, usize) -> f32) -> f32 {
        let mut after = Field::new(SIDE, SIDE);
        after.values.iter_mut().enumerate().for_each(|(at, value)| *value = change(at % SIDE, at / SIDE));
        share(&Field::new(SIDE, SIDE), &after)
    }

    /// Of any sign, and stronger on lines that are `period` apart.
    fn lines(period: f32) -> impl Fn(usize, usize) -> f32 {
        let on = move |at: usize| if (at as f32 % period) < 1.0 { 4.0 } else { 1.0 };
        move |x, y| {
            let noise = ((x * 7919 + y * 104_729) % 997) as f32 / 498.5 - 1.0;
            noise * (on(x) + on(y))
        }
    }

    #[test]
    fn lines_of_a_period_across_and_down_are_a_lattice_but_for_blocks() {
        assert_eq!([3.17, 5.45].map(|period| of(lines(period))), [1.0; 2]);
        assert_eq!(of(lines(8.0)), 0.0);
        let both = lines(5.45);
        assert_eq!(of(|x, _| both(x, x * x % SIDE)), 0.0, "in one direction");
    }

    #[test]
    fn noise_edges_and_nothing_are_none() {
        assert_eq!(of(|x, y| ((x * 7919 + y * 104_729) % 997) as f32), 0.0);
        assert_eq!(of(|x, y| if x.abs_diff(70) < 2 || y.abs_diff(40) < 3 { 9.0 } else { 0.0 }), 0.0);
        assert_eq!(of(|_, _| 0.0), 0.0);
        for seed in 0..40 {
            let mut after = Field::new(48, 40);
            let random = |at: usize| ((at + 1) * (seed * 2 + 0x9E37_79B9)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 44;
            after.values.iter_mut().enumerate().for_each(|(at, value)| *value = random(at) as f32);
            assert_eq!(share(&Field::new(48, 40), &after), 0.0, "{seed}");
        }
        assert_eq!(share(&Field::new(1, 1), &Field::new(1, 1)), 0.0);
    }

    #[test]
    fn turns_are_cosines_and_sines() {
        for n in 0..=64 {
            let angle = TAU * f64::from(n) / 64.0;
            let (cosine, sine) = turn(angle);
            assert!((cosine - angle.cos()).abs() < 1e-12 && (sine - angle.sin()).abs() < 1e-12, "{n}");
        }
    }
}
