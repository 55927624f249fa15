//! What a profile says about its colours. `moxcms` reads the file; the arithmetic is our own, since the paths that a
//! library picks by processor (with and without fused multiplication) differ in the last bit of a sample.

use std::panic::catch_unwind;

use moxcms::{ColorProfile, DataColorSpace, LutWarehouse, ProfileClass, ProfileVersion};

use super::{
    curve::Curve,
    grid::Grid,
    lut::Lut,
    space::{D50, compensated, linear_of_xyz, srgb_of_xyz, xyz_of_lab},
};
use crate::picture::transfer;

/// Nodes along an axis of sampled conversions.
const RGB_NODES: usize = 33;
const CMYK_NODES: usize = 17;
/// How far the white of a profile may be from D50, in X, Y and Z, before it counts as damaged.
const WHITE_TOLERANCE: f64 = 0.05;

/// Luminance of the black that perceptual tables of version 4 are made for (ICC.1:2022, 6.3.4.3).
const PERCEPTUAL_BLACK: f64 = 0.003_473_1;

/// A way to sRGB.
#[derive(Debug)]
pub(super) enum Model {
    /// A curve to relative luminance, or to lightness.
    Gray { curve: Curve, lightness: bool },
    /// A curve a channel and a matrix to linear sRGB, row by row.
    Shaper { curves: Box<[Curve; 3]>, matrix: [[f64; 3]; 3] },
    /// RGB sampled on a grid.
    Rgb(Grid<3>),
    /// CMYK sampled on a grid.
    Cmyk(Grid<4>),
    /// CMYK that nothing is known about: each ink takes its share of the light, as browsers show it, so that a picture
    /// looks on its page as it did.
    Inks,
}

impl Model {
    /// `None` if the profile is damaged, or for none of these spaces.
    pub(super) fn of_profile(icc: &[u8]) -> Option<Self> {
        // Hostile profiles are the foreign parser's daily bread, and yet it has assertions.
        let profile = catch_unwind(|| ColorProfile::new_from_slice(icc).ok()).ok()??;
        let describes_colours = matches!(
            profile.profile_class,
            ProfileClass::InputDevice
                | ProfileClass::DisplayDevice
                | ProfileClass::OutputDevice
                | ProfileClass::ColorSpace
        );
        if !describes_colours || !matches!(profile.pcs, DataColorSpace::Xyz | DataColorSpace::Lab) {
            return None;
        }
        let tables = [&profile.lut_a_to_b_perceptual, &profile.lut_a_to_b_colorimetric, &profile.lut_a_to_b_saturation];
        let lab = profile.pcs == DataColorSpace::Lab;
        match profile.color_space {
            DataColorSpace::Gray => Some(Self::Gray { curve: Curve::new(profile.gray_trc.as_ref()?)?, lightness: lab }),
            DataColorSpace::Rgb => match tables.into_iter().flatten().next() {
                Some(table) => {
                    let raised = profile.version() >= ProfileVersion::V4_0 && profile.lut_a_to_b_perceptual.is_some();
                    sampled_rgb(table, lab, if raised { PERCEPTUAL_BLACK } else { 0.0 })
                }
                None => shaper(&profile),
            },
            DataColorSpace::Cmyk => {
                let [perceptual, colorimetric, saturation] = tables;
                let table = colorimetric.as_ref().or(perceptual.as_ref()).or(saturation.as_ref())?;
                sampled_cmyk(table, lab)
            }
            _ => None,
        }
    }

    /// Whether every colour comes out within one step of 8 bits of what went in.
    pub(super) fn is_srgb(&self) -> bool {
        const STEPS: i32 = 8;
        let near = |a: f64, b: f64| (a - b).abs() <= 1.0 / 255.0;
        let axis = || (0..=STEPS).map(|step| f64::from(step) / f64::from(STEPS));
        match self {
            Self::Cmyk(_) | Self::Inks => false,
            Self::Gray { .. } => (0..=255).map(|code| f64::from(code) / 255.0).all(|v| near(self.srgb([v; 3])[1], v)),
            Self::Shaper { .. } | Self::Rgb(_) => axis().all(|r| {
                axis().all(|g| axis().all(|b| self.srgb([r, g, b]).iter().zip([r, g, b]).all(|(&a, b)| near(a, b))))
            }),
        }
    }

    /// Gray or RGB to sRGB, all 0 to 1. CMYK has no such thing.
    pub(super) fn srgb(&self, device: [f64; 3]) -> [f64; 3] {
        match self {
            Self::Gray { curve, lightness: false } => [transfer::encode(curve.at(device[0])); 3],
            Self::Gray { curve, lightness: true } => {
                let luminance = xyz_of_lab([curve.at(device[0]) * 100.0, 0.0, 0.0])[1];
                [transfer::encode(luminance); 3]
            }
            Self::Shaper { curves, matrix } => {
                let [r, g, b] = std::array::from_fn(|i| curves[i].at(device[i]));
                matrix.map(|row| transfer::encode(row[0] * r + row[1] * g + row[2] * b))
            }
            Self::Rgb(grid) => {
                grid.at(device.map(|value| (value * 65_535.0 + 0.5) as u16)).map(|value| f64::from(value) / 65_535.0)
            }
            Self::Cmyk(_) | Self::Inks => device,
        }
    }
}

fn shaper(profile: &ColorProfile) -> Option<Model> {
    let (r, g, b) = (profile.red_colorant, profile.green_colorant, profile.blue_colorant);
    let columns = [[r.x, r.y, r.z], [g.x, g.y, g.z], [b.x, b.y, b.z]];
    let white: [f64; 3] = std::array::from_fn(|i| columns.iter().map(|column| column[i]).sum());
    // Also false for what is not a number.
    white.iter().zip(D50).all(|(found, right)| (found - right).abs() <= WHITE_TOLERANCE).then_some(())?;
    let columns = columns.map(linear_of_xyz);
    let matrix = std::array::from_fn(|row| {
        let row = columns.map(|column| column[row]);
        let sum: f64 = row.iter().sum();
        // Rounding inside profiles must not tint grays.
        if (sum - 1.0).abs() < 0.002 { row.map(|value| value / sum) } else { row }
    });
    let curve = |curve: &Option<_>| Curve::new(curve.as_ref()?);
    let curves = Box::new([curve(&profile.red_trc)?, curve(&profile.green_trc)?, curve(&profile.blue_trc)?]);
    Some(Model::Shaper { curves, matrix })
}

/// As the table says, but that its black becomes ours where it is no lighter than `raised`: no screen would be black with it.
fn sampled_rgb(table: &LutWarehouse, lab: bool, raised: f64) -> Option<Model> {
    let lut = Lut::<3>::new(table)?;
    let xyz = |device| xyz(lut.at(device), lab, lut.legacy_lab);
    let black = xyz([0.0; 3])[1].clamp(0.0, raised);
    let shown = |xyz| if black > 0.0 { compensated(xyz, black) } else { xyz };
    Some(Model::Rgb(Grid::new(RGB_NODES, |device| srgb_of_xyz(shown(xyz(device))))))
}

/// Relative colorimetric, with black point compensation: ink is no black hole, and without it shadows look washed out.
fn sampled_cmyk(table: &LutWarehouse, lab: bool) -> Option<Model> {
    let lut = Lut::<4>::new(table)?;
    let xyz = |inks| xyz(lut.at(inks), lab, lut.legacy_lab);
    // The darker of all inks and black alone; never lighter than L* = 50.
    let black = xyz([1.0; 4])[1].min(xyz([0.0, 0.0, 0.0, 1.0])[1]).clamp(0.0, 0.184);
    Some(Model::Cmyk(Grid::new(CMYK_NODES, |inks| srgb_of_xyz(compensated(xyz(inks), black)))))
}

/// The connection space as encoded in tables, 0 to 1, to XYZ (ICC.1:2022, 6.3.4 and 10.10).
fn xyz(pcs: [f64; 3], lab: bool, legacy: bool) -> [f64; 3] {
    match (lab, legacy) {
        (false, _) => pcs.map(|value| value * (1.0 + 32_767.0 / 32_768.0)),
        (true, false) => xyz_of_lab([pcs[0] * 100.0, pcs[1] * 255.0 - 128.0, pcs[2] * 255.0 - 128.0]),
        (true, true) => {
            let [l, a, b] = pcs.map(|value| value * 65_535.0 / 256.0);
            xyz_of_lab([l * 100.0 / 255.0, a - 128.0, b - 128.0])
        }
    }
}

#[cfg(test)]
mod tests {
    use moxcms::{LutDataType, LutStore, LutType, Matrix3d};

    use super::*;

    /// A table to L*a*b* whose grays reach from the black of perceptual tables, L* of 3.137, to white.
    fn table() -> LutWarehouse {
        let line = || LutStore::Store16([0, 65_535].repeat(3));
        let lightness = |code: f64| (code / 100.0 * 65_280.0) as u16;
        let gray = |device: usize| [[lightness(3.137), lightness(100.0)][usize::from(device == 7)], 0x8000, 0x8000];
        LutWarehouse::Lut(LutDataType {
            num_input_channels: 3,
            num_output_channels: 3,
            num_clut_grid_points: 2,
            matrix: Matrix3d::IDENTITY,
            num_input_table_entries: 2,
            num_output_table_entries: 2,
            input_table: line(),
            clut_table: LutStore::Store16((0..8).flat_map(gray).collect()),
            output_table: line(),
            lut_type: LutType::Lut16,
        })
    }

    #[test]
    fn the_raised_black_of_perceptual_tables_becomes_black_and_white_stays() {
        let codes = |raised: f64| {
            let model = sampled_rgb(&table(), true, raised).unwrap();
            [0.0, 1.0].map(|device| (model.srgb([device; 3])[1] * 255.0).round())
        };
        assert_eq!(codes(PERCEPTUAL_BLACK), [0.0, 255.0]);
        // L* of 3.137 is a code of 11: what a table of another intent calls black is.
        assert_eq!(codes(0.0), [11.0, 255.0]);
    }
}
