//! A colour conversion sampled on a grid, and the integer interpolation between its nodes.

/// Nodes of an `N`-dimensional grid over samples of 16 bits, each with red, green and blue of 16 bits. The last
/// dimension runs fastest.
#[derive(Debug, Clone)]
pub(super) struct Grid<const N: usize> {
    side: usize,
    nodes: Vec<[u16; 3]>,
}

impl<const N: usize> Grid<N> {
    /// Samples `colour`, whose arguments and results run from 0 to 1, on `side` nodes a dimension, at least 2.
    pub(super) fn new(side: usize, mut colour: impl FnMut([f64; N]) -> [f64; 3]) -> Self {
        let nodes = (0..side.pow(N as u32)).map(|index| {
            let mut rest = index;
            let mut point = [0.0; N];
            for at in point.iter_mut().rev() {
                *at = (rest % side) as f64 / (side - 1) as f64;
                rest /= side;
            }
            colour(point).map(|value| (value * 65_535.0 + 0.5) as u16)
        });
        Self { side, nodes: nodes.collect() }
    }

    /// Interpolates within the simplex that the point lies in (Kasson, Nin, Plouffe and Hafner 1995; Sakamoto's
    /// tetrahedra for `N` = 3): the axes are walked in the order of their fractions, so that `N + 1` nodes are read and
    /// the neutral axis is interpolated along itself.
    pub(super) fn at(&self, point: [u16; N]) -> [u16; 3] {
        let mut base = 0;
        let mut steps = [(0u32, 0usize); N];
        let mut stride = self.nodes.len();
        for (step, sample) in steps.iter_mut().zip(point) {
            stride /= self.side;
            let scaled = u32::from(sample) * (self.side - 1) as u32;
            base += (scaled / 65_535) as usize * stride;
            *step = (scaled % 65_535, stride);
        }
        // Insertion sort, largest fraction first; nothing beats it for three or four.
        for i in 1..N {
            let mut j = i;
            while j > 0 && steps[j - 1].0 < steps[j].0 {
                steps.swap(j - 1, j);
                j -= 1;
            }
        }
        let mut sum = weighted(self.nodes[base], 65_535 - steps[0].0);
        for i in 0..N {
            let next = if i + 1 < N { steps[i + 1].0 } else { 0 };
            if steps[i].0 == 0 {
                break;
            }
            base += steps[i].1;
            let share = weighted(self.nodes[base], steps[i].0 - next);
            sum = [sum[0] + share[0], sum[1] + share[1], sum[2] + share[2]];
        }
        sum.map(|sum| ((sum + 32_767) / 65_535) as u16)
    }
}

/// Weights sum up to 65,535, so that sums of these stay below 2^32.
fn weighted(node: [u16; 3], weight: u32) -> [u32; 3] {
    node.map(|value| u32::from(value) * weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_function_is_reproduced_between_the_nodes() {
        let grid = Grid::<3>::new(5, |[r, g, b]| [r, g, (r + g + 2.0 * b) / 4.0]);
        for point in [[0, 0, 0], [65_535; 3], [1, 40_000, 65_534], [16_384, 16_383, 5], [9, 9, 60_000]] {
            let [r, g, b] = point.map(u32::from);
            let expected = [r, g, (r + g + 2 * b) / 4];
            let found = grid.at(point);
            assert!(found.iter().zip(expected).all(|(&f, e)| u32::from(f).abs_diff(e) <= 1), "{point:?}: {found:?}");
        }
    }

    #[test]
    fn nodes_are_returned_exactly_in_four_dimensions() {
        let grid = Grid::<4>::new(2, |[c, m, y, k]| [c, (m + y) / 2.0, k]);
        assert_eq!(grid.at([65_535, 65_535, 0, 65_535]), [65_535, 32_768, 65_535]);
        assert_eq!(grid.at([0; 4]), [0; 3]);
    }
}
