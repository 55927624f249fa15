//! Powers of two, their logarithms, and sines by basic arithmetic alone, so that they are the same on every machine.

use std::f64::consts::LN_2;

/// 2 to the power of `x`, which is clamped to -1000..=1000; exact to about 1e-15 of the result.
pub(super) fn exp2(x: f64) -> f64 {
    let x = x.clamp(-1000.0, 1000.0);
    let whole = x.floor();
    let part = (x - whole) * LN_2;
    let (sum, _) = (1..=18).fold((1.0, 1.0), |(sum, term), n| {
        let term = term * part / f64::from(n);
        (sum + term, term)
    });
    sum * f64::from_bits(((whole as i64 + 1023) as u64) << 52)
}

/// The binary logarithm of a positive normal number, exact to about 1e-15.
pub(super) fn log2(x: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    let bits = x.max(f64::MIN_POSITIVE).to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits(bits & FRACTION | 1023 << 52);
    if mantissa > std::f64::consts::SQRT_2 {
        (mantissa, exponent) = (mantissa / 2.0, exponent + 1);
    }
    // ln m = 2 artanh((m - 1) / (m + 1)), whose argument is at most 0.172.
    let z = (mantissa - 1.0) / (mantissa + 1.0);
    let series = (0..11).rev().fold(0.0, |sum, n| sum * z * z + 1.0 / f64::from(2 * n + 1));
    exponent as f64 + 2.0 * z * series / LN_2
}

/// The sine of an angle of 0 to pi / 2 by Taylor's series, exact to 1e-14.
pub(super) fn sine(angle: f64) -> f64 {
    let square = angle * angle;
    let (mut sum, mut term) = (angle, angle);
    for step in 1..=9 {
        let n = f64::from(2 * step);
        term *= -square / (n * (n + 1.0));
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_agree_with_the_platform() {
        for step in -400..=400 {
            let x = f64::from(step) / 37.0;
            assert!((exp2(x) / x.exp2() - 1.0).abs() < 1e-13, "{x}");
            assert!((log2(x.exp2()) - x).abs() < 1e-13, "{x}");
        }
        assert_eq!((exp2(0.0), exp2(3.0), log2(1.0), log2(0.125)), (1.0, 8.0, 0.0, -3.0));
    }
}
