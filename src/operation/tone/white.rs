//! The colour of daylight.

/// Mired (millions over kelvin) of D65, the white of sRGB.
const WHITE: f64 = 153.75;
/// Linear sRGB of XYZ (IEC 61966-2-1).
const LINEAR_OF_XYZ: [[f64; 3]; 3] =
    [[3.240_97, -1.537_383, -0.498_611], [-0.969_244, 1.875_968, 0.041_555], [0.055_63, -0.203_977, 1.056_972]];

/// Red, green and blue of daylight that is `shift` mired warmer than D65, relative to it, at the same luminance: 1 each for
/// 0. Chromaticities on the locus of CIE illuminants D (CIE 15:2004, 3.1), 4,000 to 25,000 K; beyond, as at the end.
pub(super) fn daylight(shift: f64) -> [f64; 3] {
    let (light, white) = (linear(WHITE + shift), linear(WHITE));
    std::array::from_fn(|channel| light[channel] / white[channel])
}

fn linear(mired: f64) -> [f64; 3] {
    // Thousands over kelvin.
    let t = mired.clamp(40.0, 250.0) / 1000.0;
    let x = if t >= 1.0 / 7.0 {
        ((-4.6070 * t + 2.9678) * t + 0.099_11) * t + 0.244_063
    } else {
        ((-2.0064 * t + 1.9018) * t + 0.247_48) * t + 0.237_040
    };
    let y = (-3.0 * x + 2.870) * x - 0.275;
    let xyz = [x / y, 1.0, (1.0 - x - y) / y];
    LINEAR_OF_XYZ.map(|row| row[0] * xyz[0] + row[1] * xyz[1] + row[2] * xyz[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_shift_is_no_change_and_warmer_light_has_more_red_and_less_blue() {
        assert_eq!(daylight(0.0), [1.0; 3]);
        let shifts: Vec<[f64; 3]> = (-11..=9).map(|n| daylight(f64::from(n) * 10.0)).collect();
        assert!(shifts.windows(2).all(|pair| pair[0][0] < pair[1][0] && pair[0][2] > pair[1][2]));
        assert!(shifts.iter().flatten().all(|&gain| gain > 0.2 && gain < 3.0));
    }

    #[test]
    fn luminance_stays() {
        for shift in [-80.0, -30.0, 40.0, 80.0] {
            let [r, g, b] = daylight(shift);
            assert!((0.2126 * r + 0.7152 * g + 0.0722 * b - 1.0).abs() < 0.002, "{shift}");
        }
    }
}
