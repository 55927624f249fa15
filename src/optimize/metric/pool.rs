//! The maps of the metric and their norms.
//!
//! Sums run over the same lanes in the same order, whatever the machine's vectors hold.

use super::{
    blur::{LANES, Lanes, lanes},
    weights::{MAPS, Norms, Pooled},
};

/// Keeps the dissimilarity finite where both pictures are flat.
const C2: f32 = 0.0009;

/// Blurred samples: the means of reference and candidate, their squares, their product.
pub(super) type Blurred = [Lanes; 5];

/// Dissimilarity of structure: `1 - (1 - (m1 - m2)^2) (2 cov + C2) / (var1 + var2 + C2)`, at least 0.
#[inline(always)]
fn structure([m1, m2, s11, s22, s12]: &Blurred) -> Lanes {
    lanes!(i => {
        let (m1, m2) = (m1[i], m2[i]);
        let shift = m1 - m2;
        let numerator = (1.0 - shift * shift) * (2.0 * (s12[i] - m1 * m2) + C2);
        let denominator = (s11[i] - m1 * m1) + (s22[i] - m2 * m2) + C2;
        positive(1.0 - numerator / denominator)
    })
}

/// Change of the distance from the local mean, relative to the reference's plus 1: positive where the candidate `q` has
/// more detail than the reference `p` (artefacts), negative where it has less.
#[inline(always)]
fn edges(p: &Lanes, q: &Lanes, [m1, m2, ..]: &Blurred) -> Lanes {
    lanes!(i => {
        let (before, after) = ((p[i] - m1[i]).abs(), (q[i] - m2[i]).abs());
        (after - before) / (1.0 + before)
    })
}

/// The larger of `v` and 0.
#[inline(always)]
fn positive(v: f32) -> f32 {
    if v > 0.0 { v } else { 0.0 }
}

/// Sums of values and of their fourth powers, for a few values at a time.
#[derive(Debug, Clone, Copy, Default)]
struct Few {
    first: Lanes,
    fourth: Lanes,
}

impl Few {
    #[inline(always)]
    fn add(&mut self, values: &Lanes) {
        for lane in 0..LANES {
            let value = values[lane];
            let square = value * value;
            self.first[lane] += value;
            self.fourth[lane] += square * square;
        }
    }
}

/// Sums of many values and of their fourth powers.
#[derive(Debug, Clone, Copy, Default)]
struct Many {
    first: [f64; LANES],
    fourth: [f64; LANES],
}

/// Sums of all maps.
#[derive(Debug, Default)]
pub(super) struct Pool {
    few: [Few; MAPS],
    many: [Many; MAPS],
}

impl Pool {
    /// Adds the `wanted` maps of a few samples of the reference `p` and the candidate `q`.
    #[inline(always)]
    pub(super) fn add(&mut self, wanted: [bool; MAPS], p: &Lanes, q: &Lanes, blurred: &Blurred) {
        let few = &mut self.few;
        if wanted[0] {
            few[0].add(&structure(blurred));
        }
        if wanted[1] || wanted[2] {
            let map = edges(p, q, blurred);
            few[1].add(&lanes!(lane => positive(map[lane])));
            few[2].add(&lanes!(lane => positive(-map[lane])));
        }
    }

    /// To be called after some tens of additions, lest sums lose digits.
    #[inline(always)]
    pub(super) fn settle(&mut self) {
        for (few, many) in self.few.iter_mut().zip(&mut self.many) {
            for lane in 0..LANES {
                many.first[lane] += f64::from(few.first[lane]);
                many.fourth[lane] += f64::from(few.fourth[lane]);
            }
            *few = Few::default();
        }
    }

    /// The norms over `pixels` values.
    pub(super) fn norms(&self, pixels: usize) -> Pooled {
        let mean = |lanes: [f64; LANES]| lanes.iter().sum::<f64>() / pixels as f64;
        self.many.map(|many| Norms { mean: mean(many.first), fourth: mean(many.fourth).sqrt().sqrt() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_are_the_mean_and_the_fourth_root_of_the_mean_fourth_power() {
        let mut pool = Pool::default();
        for _ in 0..5 {
            pool.few[1].add(&lanes!(lane => positive([0.5, -3.0][lane % 2])));
            pool.settle();
        }
        let norms = pool.norms(5 * LANES / 2)[1];
        assert_eq!(norms.mean, 0.5);
        assert!((norms.fourth - 0.5).abs() < 1e-12);
    }

    #[test]
    fn equal_blurs_differ_by_nothing_and_opposite_ones_by_two() {
        let (mean, square) = ([0.5; LANES], [0.75; LANES]);
        assert_eq!(structure(&[mean, mean, square, square, square]), [0.0; LANES]);
        let opposite = structure(&[mean, mean, square, square, [-0.25; LANES]])[0];
        assert!((opposite - 2.0).abs() < 0.01, "{opposite}");
    }

    #[test]
    fn more_detail_is_positive_and_less_is_negative() {
        let (flat, mut sharp) = ([0.5; LANES], [0.5; LANES]);
        sharp[7] = 0.75;
        let blurred = [[0.5; LANES]; 5];
        let gain = edges(&flat, &sharp, &blurred);
        assert_eq!((gain[6], gain[7]), (0.0, 0.25));
        let loss = edges(&sharp, &flat, &blurred);
        assert_eq!((loss[6], loss[7]), (0.0, -0.2));
    }
}
