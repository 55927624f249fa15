//! Curves over lightness, the cube root of light as in Oklab (B. Ottosson, 2020), 0 to 1, both of which they keep.
//!
//! Polynomials, each monotone in lightness for every setting and, at every lightness, in its setting; `amount` is -1 to 1.

/// Lightness of mid gray, 18 % of white.
const MIDDLE: f64 = 0.5646;

/// `l + 1.6 a l (1 - l) (l - m)`: the slope in the middle `m` goes from 0.6 to 1.4.
pub(super) fn contrast(l: f64, amount: f64) -> f64 {
    l + 1.6 * amount * l * (1.0 - l) * (l - MIDDLE)
}

/// `l + k a l^2 (1 - l)^4`: most at a third, and next to black, where there is only noise, hardly; `k` is 10.5 where it lifts and
/// 4.5 where it lowers.
pub(super) fn shadows(l: f64, amount: f64) -> f64 {
    let span = if amount > 0.0 { 10.5 } else { 4.5 };
    l + span * amount * l.powi(2) * (1.0 - l).powi(4)
}

/// `l + k a (1 - l) l^5`: most at five sixths, so that mid tones hardly move; `k` is 0.9 where it lifts and 1.6 where it lowers.
pub(super) fn highlights(l: f64, amount: f64) -> f64 {
    let span = if amount > 0.0 { 0.9 } else { 1.6 };
    l + span * amount * (1.0 - l) * l.powi(5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_rise_keep_their_ends_and_do_nothing_at_zero() {
        for curve in [contrast, shadows, highlights] {
            for amount in [-1.0, -0.5, 0.0, 0.5, 1.0] {
                let line: Vec<f64> = (0..=1000).map(|n| curve(f64::from(n) / 1000.0, amount)).collect();
                assert!(line.windows(2).all(|pair| pair[0] < pair[1]), "{amount}");
                assert!(line[0].abs() < 1e-12 && (line[1000] - 1.0).abs() < 1e-12);
            }
            assert!((0..=100).all(|n| (curve(f64::from(n) / 100.0, 0.0) - f64::from(n) / 100.0).abs() < 1e-12));
        }
    }

    #[test]
    fn noise_next_to_black_is_not_lifted() {
        let lifted = |code: u8| {
            let light = crate::picture::transfer::decode(f64::from(code) / 255.0);
            crate::picture::transfer::encode(shadows(light.cbrt(), 1.0).powi(3)) * 255.0
        };
        assert!(lifted(1) < 5.0 && lifted(2) < 9.0, "{} {}", lifted(1), lifted(2));
        assert!(lifted(30) > 60.0, "{}", lifted(30));
    }

    #[test]
    fn each_number_moves_its_part_one_way() {
        for n in 1..100 {
            let l = f64::from(n) / 100.0;
            let amounts: Vec<f64> = (-10..=10).map(|a| f64::from(a) / 10.0).collect();
            for curve in [shadows, highlights] {
                let line: Vec<f64> = amounts.iter().map(|&amount| curve(l, amount)).collect();
                assert!(line.windows(2).all(|pair| pair[0] < pair[1]), "{l}");
            }
            let spread = |amount| (contrast(l, amount) - MIDDLE).abs();
            let side = if (l - MIDDLE).abs() < 1e-6 { 0.0 } else { 1.0 };
            assert!(amounts.windows(2).all(|pair| spread(pair[0]) <= spread(pair[1]) + 1e-12 || side == 0.0), "{l}");
        }
    }
}
