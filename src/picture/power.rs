//! Powers without the machine's mathematical library, whose last digits differ between systems.

/// `base` to the power of `exponent`, for `base` a positive normal number; results beyond the range of normal numbers are
/// near its ends. Accurate to about 1e-14, and the same bits on every machine.
pub(crate) fn power(base: f64, exponent: f64) -> f64 {
    exp2(exponent * log2(base))
}

/// Splits off the binary exponent, then `ln m = 2 artanh((m - 1) / (m + 1))` as a series.
fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits(bits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let (mut sum, mut term) = (0.0, 23.0);
    while term > 0.0 {
        sum = sum * square + 1.0 / term;
        term -= 2.0;
    }
    exponent as f64 + 2.0 * ratio * sum * std::f64::consts::LOG2_E
}

/// Splits off the nearest integer, then the series of the exponential function.
fn exp2(x: f64) -> f64 {
    let x = x.clamp(-1022.0, 1023.0);
    let whole = (x + if x < 0.0 { -0.5 } else { 0.5 }) as i64;
    let rest = (x - whole as f64) * std::f64::consts::LN_2;
    let (mut sum, mut term) = (1.0, 18.0);
    while term > 0.0 {
        sum = 1.0 + sum * rest / term;
        term -= 1.0;
    }
    sum * f64::from_bits(((1023 + whole) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_agree_with_the_library_to_twelve_digits() {
        let mut base = 1e-12;
        while base < 1e6 {
            for exponent in [0.627_633_646_783_138_7, 2.4, -0.333] {
                let expected = f64::powf(base, exponent);
                assert!((power(base, exponent) / expected - 1.0).abs() < 1e-12, "{base} to {exponent}");
            }
            base *= 1.37;
        }
    }

    #[test]
    fn what_no_number_holds_ends_at_the_ends() {
        assert!(power(0.5, 1e30) < 1e-300 && power(0.5, -1e30) > 1e300);
        assert!(power(f64::MAX, 3.0) > 1e300 && power(f64::MIN_POSITIVE, 3.0) < 1e-300);
    }

    #[test]
    fn one_to_any_power_is_exactly_one() {
        assert_eq!(power(1.0, 2.4), 1.0);
    }
}
