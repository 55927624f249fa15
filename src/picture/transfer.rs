//! The transfer curve of sRGB (IEC 61966-2-1) as tables between stored samples and 16-bit linear light.
//!
//! Every value comes from additions, multiplications, divisions and square roots in a fixed order, which IEEE 754 rounds
//! alike everywhere, so the tables are the same on every machine.

use std::sync::LazyLock;

const FULL: f64 = 65_535.0;

/// 8-bit sRGB to linear light, 0..=65535.
pub(crate) fn linear_of_eight() -> &'static [u16; 256] {
    static TABLE: LazyLock<[u16; 256]> =
        LazyLock::new(|| std::array::from_fn(|code| nearest(decode(code as f64 / 255.0))));
    &TABLE
}

/// 16-bit sRGB to linear light, 65,536 entries. Near black 13 neighbours share an entry.
pub(crate) fn linear_of_sixteen() -> &'static [u16] {
    static TABLE: LazyLock<Vec<u16>> =
        LazyLock::new(|| (0..=u16::MAX).map(|code| nearest(decode(f64::from(code) / FULL))).collect());
    &TABLE
}

/// Linear light to the nearest 8-bit sRGB, 65,536 entries.
pub(crate) fn eight_of_linear() -> &'static [u8] {
    static TABLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let mut table = Vec::with_capacity(1 << 16);
        for code in 0..255u8 {
            // Halfway to the next code, in linear light.
            let border = decode((f64::from(code) + 0.5) / 255.0) * FULL;
            table.resize(border as usize + 1, code);
        }
        table.resize(1 << 16, u8::MAX);
        table
    });
    &TABLE
}

/// Linear light to 16-bit sRGB, 65,536 entries.
pub(crate) fn sixteen_of_linear() -> &'static [u16] {
    static TABLE: LazyLock<Vec<u16>> =
        LazyLock::new(|| (0..=u16::MAX).map(|linear| nearest(encode(f64::from(linear) / FULL))).collect());
    &TABLE
}

/// sRGB to linear light, both 0 to 1.
pub(crate) fn decode(code: f64) -> f64 {
    if code <= 0.040_45 {
        return code / 12.92;
    }
    // x^2.4 = x^2 * (x^(1/5))^2
    let x = (code + 0.055) / 1.055;
    let fifth = root(x, 5);
    x * x * fifth * fifth
}

/// Linear light to sRGB, both 0 to 1; what lies outside is clipped.
pub(crate) fn encode(linear: f64) -> f64 {
    let linear = linear.clamp(0.0, 1.0);
    if linear <= 0.003_130_8 {
        return linear * 12.92;
    }
    // x^(1/2.4) = (x^(1/12))^5
    let twelfth = root(linear.sqrt().sqrt(), 3);
    let square = twelfth * twelfth;
    square * square * twelfth * 1.055 - 0.055
}

/// The `degree`th root of a positive normal number by Newton's method.
pub(crate) fn root(x: f64, degree: u32) -> f64 {
    const ONE: u64 = 1023 << 52;
    if x < f64::MIN_POSITIVE {
        return 0.0;
    }
    let n = f64::from(degree);
    // Dividing the bits divides the exponent: within 7 % of the root, and five steps square the error away.
    let guess = f64::from_bits(x.to_bits() / u64::from(degree) + ONE / u64::from(degree) * u64::from(degree - 1));
    (0..6).fold(guess, |t, _| {
        let power = (1..degree).fold(1.0, |power, _| power * t);
        ((n - 1.0) * t + x / power) / n
    })
}

fn nearest(value: f64) -> u16 {
    (value * FULL + 0.5) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_survives_the_way_to_linear_light_and_back() {
        for code in 0..=255u8 {
            assert_eq!(eight_of_linear()[usize::from(linear_of_eight()[usize::from(code)])], code);
        }
        // The linear part near black is coarser than 16-bit codes; above it is finer.
        for code in (20_000..=65_535u16).step_by(7) {
            let back = sixteen_of_linear()[usize::from(linear_of_sixteen()[usize::from(code)])];
            assert!(back.abs_diff(code) <= 1, "{code} came back as {back}");
        }
    }

    #[test]
    fn the_curve_agrees_with_the_power_function() {
        for step in 0..=1000 {
            let x = f64::from(step) / 1000.0;
            let expected = if x <= 0.04045 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) };
            assert!((decode(x) - expected).abs() < 1e-14, "{x}");
            assert!((encode(expected) - x).abs() < 1e-7, "{x}");
        }
    }

    #[test]
    fn linear_light_rounds_to_the_nearest_code() {
        for (linear, &code) in eight_of_linear().iter().enumerate() {
            let exact = encode(linear as f64 / FULL) * 255.0;
            assert!((exact - f64::from(code)).abs() <= 0.500_1, "{linear}: {exact} became {code}");
        }
    }
}
