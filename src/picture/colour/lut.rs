//! The look-up tables of profiles, from device to connection space (ICC.1:2022, 10.10 to 10.12).

use moxcms::{LutDataType, LutMultidimensionalType, LutStore, LutType, LutWarehouse, ToneReprCurve};

use super::curve::Curve;

/// A device of `N` channels to the three of the connection space, all 0 to 1 as encoded there.
#[derive(Debug)]
pub(super) struct Lut<const N: usize> {
    input: Vec<Curve>,
    cube: Option<Cube<N>>,
    middle: Vec<Curve>,
    matrix: Option<([[f64; 3]; 3], [f64; 3])>,
    output: Vec<Curve>,
    /// L*a*b* in the encoding of version 2, whose white is 0xFF00.
    pub(super) legacy_lab: bool,
}

impl<const N: usize> Lut<N> {
    /// `None` if the table is not for `N` channels, or does not hold what its header promises.
    pub(super) fn new(table: &LutWarehouse) -> Option<Self> {
        match table {
            LutWarehouse::Lut(table) => Self::single(table),
            LutWarehouse::Multidimensional(table) => Self::staged(table),
        }
    }

    /// `lut8Type` and `lut16Type`; their matrix is for XYZ input alone.
    fn single(table: &LutDataType) -> Option<Self> {
        let channels = (usize::from(table.num_input_channels), usize::from(table.num_output_channels));
        let curves = |store: &LutStore, entries: u16, count: usize| -> Option<Vec<Curve>> {
            let (values, entries) = (values(store), usize::from(entries));
            (entries >= 2 && values.len() >= entries * count)
                .then(|| values.chunks_exact(entries).take(count).map(|curve| Curve::Sampled(curve.to_vec())).collect())
        };
        (channels == (N, 3)).then_some(())?;
        Some(Self {
            input: curves(&table.input_table, table.num_input_table_entries, N)?,
            cube: Some(Cube::new(&table.clut_table, [usize::from(table.num_clut_grid_points); N])?),
            middle: Vec::new(),
            matrix: None,
            output: curves(&table.output_table, table.num_output_table_entries, 3)?,
            legacy_lab: table.lut_type == LutType::Lut16,
        })
    }

    /// `lutAToBType`: A curves, table, M curves, matrix, B curves, of which only the last are always there.
    fn staged(table: &LutMultidimensionalType) -> Option<Self> {
        let curves = |curves: &[ToneReprCurve]| curves.iter().map(Curve::new).collect::<Option<Vec<Curve>>>();
        let channels = (usize::from(table.num_input_channels), usize::from(table.num_output_channels));
        let cube = match &table.clut {
            Some(store) => Some(Cube::new(store, std::array::from_fn(|axis| usize::from(table.grid_points[axis])))?),
            None => None,
        };
        let (input, middle) = (curves(&table.a_curves)?, curves(&table.m_curves)?);
        let fits = channels == (N, 3)
            && (cube.is_some() || N == 3)
            && (input.is_empty() || input.len() == N)
            && (middle.is_empty() || middle.len() == 3)
            && table.b_curves.len() == 3;
        fits.then_some(())?;
        let matrix = (!middle.is_empty()).then_some((table.matrix.v, table.bias.v));
        Some(Self { input, cube, middle, matrix, output: curves(&table.b_curves)?, legacy_lab: false })
    }

    pub(super) fn at(&self, device: [f64; N]) -> [f64; 3] {
        let mut point = device;
        for (value, curve) in point.iter_mut().zip(&self.input) {
            *value = curve.at(*value);
        }
        let mut pcs = match &self.cube {
            Some(cube) => cube.at(point),
            // Only for `N` = 3, as checked above.
            None => std::array::from_fn(|i| point.get(i).copied().unwrap_or(0.0)),
        };
        apply(&self.middle, &mut pcs);
        if let Some((matrix, bias)) = &self.matrix {
            let v = pcs;
            pcs = std::array::from_fn(|i| matrix[i][0] * v[0] + matrix[i][1] * v[1] + matrix[i][2] * v[2] + bias[i]);
        }
        apply(&self.output, &mut pcs);
        pcs
    }
}

fn apply(curves: &[Curve], values: &mut [f64; 3]) {
    for (value, curve) in values.iter_mut().zip(curves) {
        *value = curve.at(*value);
    }
}

/// Triples on a grid whose last axis runs fastest.
#[derive(Debug)]
struct Cube<const N: usize> {
    sides: [usize; N],
    nodes: Vec<f64>,
}

impl<const N: usize> Cube<N> {
    fn new(store: &LutStore, sides: [usize; N]) -> Option<Self> {
        let length = sides.iter().try_fold(3usize, |length, &side| length.checked_mul(side))?;
        let nodes = values(store);
        (sides.iter().all(|&side| side >= 2) && nodes.len() >= length).then_some(Self { sides, nodes })
    }

    /// Linear along each axis.
    fn at(&self, point: [f64; N]) -> [f64; 3] {
        let mut corner = [(0usize, 0usize, 0.0); N];
        let mut stride = 3;
        for axis in (0..N).rev() {
            let scaled = point[axis].clamp(0.0, 1.0) * (self.sides[axis] - 1) as f64;
            let cell = (scaled as usize).min(self.sides[axis] - 2);
            corner[axis] = (cell * stride, stride, scaled - cell as f64);
            stride *= self.sides[axis];
        }
        let mut sum = [0.0; 3];
        for bits in 0..1usize << N {
            let (mut at, mut weight) = (0, 1.0);
            for (axis, &(base, stride, fraction)) in corner.iter().enumerate() {
                let upper = bits >> axis & 1 == 1;
                at += base + if upper { stride } else { 0 };
                weight *= if upper { fraction } else { 1.0 - fraction };
            }
            if weight != 0.0 {
                sum = std::array::from_fn(|i| sum[i] + weight * self.nodes[at + i]);
            }
        }
        sum
    }
}

fn values(store: &LutStore) -> Vec<f64> {
    match store {
        LutStore::Store8(values) => values.iter().map(|&value| f64::from(value) / 255.0).collect(),
        LutStore::Store16(values) => values.iter().map(|&value| f64::from(value) / 65_535.0).collect(),
    }
}

#[cfg(test)]
mod tests {
    use moxcms::Matrix3d;

    use super::*;

    fn table(grid: u8, clut: Vec<u16>) -> LutWarehouse {
        let line = || LutStore::Store16([0, 65_535].repeat(3));
        LutWarehouse::Lut(LutDataType {
            num_input_channels: 3,
            num_output_channels: 3,
            num_clut_grid_points: grid,
            matrix: Matrix3d::IDENTITY,
            num_input_table_entries: 2,
            num_output_table_entries: 2,
            input_table: line(),
            clut_table: LutStore::Store16(clut),
            output_table: line(),
            lut_type: LutType::Lut16,
        })
    }

    #[test]
    fn a_table_that_swaps_its_channels_does_so_between_the_nodes_too() {
        let clut = (0..8u16).flat_map(|i| [(i & 1) * 65_535, (i >> 1 & 1) * 65_535, (i >> 2) * 65_535]).collect();
        let lut = Lut::<3>::new(&table(2, clut)).unwrap();
        let found = lut.at([0.25, 0.5, 0.75]);
        assert!(found.iter().zip([0.75, 0.5, 0.25]).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        assert!(lut.legacy_lab);
    }

    #[test]
    fn a_table_shorter_than_promised_or_for_other_channels_is_refused() {
        assert!(Lut::<3>::new(&table(3, vec![0; 24])).is_none());
        assert!(Lut::<4>::new(&table(2, vec![0; 48])).is_none());
        assert!(Lut::<3>::new(&table(1, vec![0; 24])).is_none());
    }
}
