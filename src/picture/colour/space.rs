//! Colours on the way from a profile's connection space to sRGB, with the white point of D50 that profiles use.

use crate::picture::transfer;

/// White of the profile connection space, X, Y and Z (ICC.1:2022, 7.2.16).
pub(super) const D50: [f64; 3] = [0.9642, 1.0, 0.8249];

/// XYZ relative to D50 to linear sRGB: the inverse of the colorants that sRGB profiles hold, in their 16 bits of fraction.
const LINEAR_OF_XYZ: [[f64; 3]; 3] = [
    [3.134_112_153_324, -1.617_392_459_552, -0.490_633_404_565],
    [-0.978_787_296_139, 1.916_279_586_427, 0.033_454_714_231],
    [0.071_983_044_386, -0.228_985_850_248, 1.405_385_131_584],
];

/// L* (0 to 100), a* and b* to XYZ relative to D50 (CIE 15:2004).
pub(super) fn xyz_of_lab([l, a, b]: [f64; 3]) -> [f64; 3] {
    let y = (l + 16.0) / 116.0;
    let cube = |f: f64| if f > 6.0 / 29.0 { f * f * f } else { (f - 4.0 / 29.0) * 108.0 / 841.0 };
    [D50[0] * cube(y + a / 500.0), D50[1] * cube(y), D50[2] * cube(y - b / 200.0)]
}

/// XYZ relative to D50 to linear sRGB, 0 to 1 inside its gamut.
pub(super) fn linear_of_xyz(xyz: [f64; 3]) -> [f64; 3] {
    LINEAR_OF_XYZ.map(|row| row[0] * xyz[0] + row[1] * xyz[1] + row[2] * xyz[2])
}

/// XYZ relative to D50 to sRGB, 0 to 1, colours outside of its gamut clipped channel by channel.
pub(super) fn srgb_of_xyz(xyz: [f64; 3]) -> [f64; 3] {
    linear_of_xyz(xyz).map(transfer::encode)
}

/// Black point compensation as in ISO 18619: scales XYZ so that a black of relative luminance `black` becomes 0 and
/// white stays.
pub(super) fn compensated(xyz: [f64; 3], black: f64) -> [f64; 3] {
    let mut out = [0.0; 3];
    for ((out, value), white) in out.iter_mut().zip(xyz).zip(D50) {
        *out = ((value - black * white) / (1.0 - black)).max(0.0);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_and_gray_stay_neutral() {
        for l in [0.0, 5.0, 53.585, 100.0] {
            let [r, g, b] = srgb_of_xyz(xyz_of_lab([l, 0.0, 0.0]));
            assert!((r - g).abs() < 4e-4 && (g - b).abs() < 4e-4, "{l}: {r} {g} {b}");
        }
        // L* of the middle code of sRGB.
        assert!((srgb_of_xyz(xyz_of_lab([53.585, 0.0, 0.0]))[1] * 255.0 - 128.0).abs() < 0.1);
    }

    #[test]
    fn compensation_moves_black_to_zero_and_leaves_white() {
        let black = xyz_of_lab([16.0, 0.0, 0.0]);
        assert!(compensated(black, black[1]).iter().all(|&v| v.abs() < 1e-12));
        assert!(compensated(D50, black[1]).iter().zip(D50).all(|(v, w)| (v - w).abs() < 1e-12));
    }
}
