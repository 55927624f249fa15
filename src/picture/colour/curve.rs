//! The tone curves of profiles (ICC.1:2022, 10.6 and 10.18).

use moxcms::ToneReprCurve;

use crate::picture::power::power;

/// Device value to linear light, both 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Curve {
    Identity,
    Gamma(f64),
    Sampled(Vec<f64>),
    /// (a x + b)^g + e from d upwards, c x + f below.
    Parametric {
        g: f64,
        a: f64,
        b: f64,
        c: f64,
        d: f64,
        e: f64,
        f: f64,
    },
}

impl Curve {
    /// `None` if the parameters make no curve.
    pub(super) fn new(curve: &ToneReprCurve) -> Option<Self> {
        match curve {
            ToneReprCurve::Lut(samples) => Some(match samples.as_slice() {
                [] => Self::Identity,
                // u8Fixed8Number.
                [gamma] => Self::Gamma(f64::from(*gamma) / 256.0),
                samples => Self::Sampled(samples.iter().map(|&sample| f64::from(sample) / 65_535.0).collect()),
            }),
            ToneReprCurve::Parametric(parameters) => {
                let p: Vec<f64> = parameters.iter().map(|&p| f64::from(p)).collect();
                p.iter().all(|p| p.is_finite()).then_some(())?;
                let full = |g, a, b, c, d, e, f| Some(Self::Parametric { g, a, b, c, d, e, f });
                match p[..] {
                    [g] => Some(Self::Gamma(g)),
                    [g, a, b] if a != 0.0 => full(g, a, b, 0.0, -b / a, 0.0, 0.0),
                    [g, a, b, c] if a != 0.0 => full(g, a, b, 0.0, -b / a, c, c),
                    [g, a, b, c, d] => full(g, a, b, c, d, 0.0, 0.0),
                    [g, a, b, c, d, e, f] => full(g, a, b, c, d, e, f),
                    _ => None,
                }
            }
        }
    }

    pub(super) fn at(&self, x: f64) -> f64 {
        let y = match self {
            Self::Identity => x,
            Self::Gamma(gamma) => raised(x, *gamma),
            Self::Sampled(samples) => interpolated(samples, x),
            Self::Parametric { g, a, b, c, d, e, f } => {
                if x >= *d {
                    raised(a * x + b, *g) + e
                } else {
                    c * x + f
                }
            }
        };
        if y.is_nan() { 0.0 } else { y.clamp(0.0, 1.0) }
    }
}

/// `base`, or 0 where that is negative, to the power of `exponent`.
fn raised(base: f64, exponent: f64) -> f64 {
    match base > 0.0 {
        true => power(base, exponent),
        false if exponent > 0.0 => 0.0,
        false if exponent < 0.0 => f64::INFINITY,
        false => 1.0,
    }
}

/// Straight lines between samples evenly spread over 0 to 1; there must be one at least.
fn interpolated(samples: &[f64], x: f64) -> f64 {
    let scaled = x.clamp(0.0, 1.0) * (samples.len() - 1) as f64;
    let low = (scaled as usize).min(samples.len().saturating_sub(2));
    let high = (low + 1).min(samples.len() - 1);
    samples[low] + (samples[high] - samples[low]) * (scaled - low as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parametric_curve_of_srgb_is_that_of_srgb() {
        let srgb = ToneReprCurve::Parametric(vec![2.4, 1.0 / 1.055, 0.055 / 1.055, 1.0 / 12.92, 0.04045]);
        let curve = Curve::new(&srgb).unwrap();
        for step in 0..=100 {
            let x = f64::from(step) / 100.0;
            assert!((curve.at(x) - crate::picture::transfer::decode(x)).abs() < 1e-6, "{x}");
        }
    }

    #[test]
    fn nothing_stays_nothing_by_any_gamma() {
        let ends = [0.1, 1.0, 2.2, 255.0].map(|gamma| (Curve::Gamma(gamma).at(0.0), Curve::Gamma(gamma).at(1.0)));
        assert_eq!(ends, [(0.0, 1.0); 4]);
    }

    #[test]
    fn one_entry_is_a_gamma_none_is_the_identity_more_are_samples() {
        assert_eq!(Curve::new(&ToneReprCurve::Lut(vec![512])), Some(Curve::Gamma(2.0)));
        assert_eq!(Curve::new(&ToneReprCurve::Lut(vec![])), Some(Curve::Identity));
        assert_eq!(Curve::new(&ToneReprCurve::Lut(vec![0, 65_535])).unwrap().at(0.3), 0.3);
        assert_eq!(Curve::Sampled(vec![0.0, 1.0, 0.5]).at(0.75), 0.75);
    }

    #[test]
    fn broken_parameters_make_no_curve_and_wild_ones_stay_in_range() {
        assert_eq!(Curve::new(&ToneReprCurve::Parametric(vec![])), None);
        assert_eq!(Curve::new(&ToneReprCurve::Parametric(vec![2.0, 0.0, 1.0])), None);
        assert_eq!(Curve::new(&ToneReprCurve::Parametric(vec![f32::NAN])), None);
        let wild = Curve::new(&ToneReprCurve::Parametric(vec![-3.0, -9.0, 2.0, 1e30, 0.5, -1e30, 7.0])).unwrap();
        assert!((0..=10).all(|x| (0.0..=1.0).contains(&wild.at(f64::from(x) / 10.0))));
    }
}
