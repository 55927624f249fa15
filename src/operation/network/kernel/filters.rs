//! The weights of a convolution as kernels take them.

use super::{BLOCK, Line, ZERO, winograd::PLACES};

/// Filters of 3 x 3 as what their tiles are multiplied by, and a bias.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct Filters {
    /// Blocks of inputs.
    pub(super) inputs: usize,
    /// By block of outputs, place in the tile, and input: weights of the block's outputs. Inputs and outputs that are not there
    /// are zero.
    pub(super) lines: Vec<Line>,
    /// By block of outputs.
    pub(super) bias: Vec<Line>,
}

/// What three weights in a row become.
const SPREAD: [[f64; 3]; 6] = [
    [1.0 / 4.0, 0.0, 0.0],
    [-1.0 / 6.0, -1.0 / 6.0, -1.0 / 6.0],
    [-1.0 / 6.0, 1.0 / 6.0, -1.0 / 6.0],
    [1.0 / 24.0, 1.0 / 12.0, 1.0 / 6.0],
    [1.0 / 24.0, -1.0 / 12.0, 1.0 / 6.0],
    [0.0, 0.0, 1.0],
];

impl Filters {
    /// Of `weights` by row, column, input and output, and a bias an output.
    pub(in super::super) fn new(weights: &[f32], bias: &[f32]) -> Self {
        let outputs = bias.len();
        let inputs = weights.len() / (9 * outputs);
        let (blocks, padded) = (outputs.div_ceil(BLOCK), inputs.next_multiple_of(BLOCK));
        let mut lines = vec![ZERO; blocks * PLACES * padded];
        for (block, input) in (0..blocks).flat_map(|block| (0..inputs).map(move |input| (block, input))) {
            let taps: [_; 9] = std::array::from_fn(|tap| {
                let there = &weights[(tap * inputs + input) * outputs..][..outputs];
                std::array::from_fn(|n| f64::from(there.get(block * BLOCK + n).copied().unwrap_or(0.0)))
            });
            let rows = [0, 3, 6].map(|row| SPREAD.map(|by| combined(by, [taps[row], taps[row + 1], taps[row + 2]])));
            for place in 0..PLACES {
                let values = combined(SPREAD[place / 6], rows.map(|row| row[place % 6]));
                lines[(block * PLACES + place) * padded + input] = values.map(|value| value as f32);
            }
        }
        let mut by_block = vec![ZERO; blocks];
        bias.iter().enumerate().for_each(|(output, &value)| by_block[output / BLOCK][output % BLOCK] = value);
        Self { inputs: padded / BLOCK, lines, bias: by_block }
    }

    /// Channels that come out, in whole blocks.
    pub(in super::super) fn outputs(&self) -> usize {
        self.bias.len() * BLOCK
    }
}

/// A sum of three blocks of weights, so much of each.
fn combined(by: [f64; 3], of: [[f64; BLOCK]; 3]) -> [f64; BLOCK] {
    std::array::from_fn(|n| by[0] * of[0][n] + by[1] * of[1][n] + by[2] * of[2][n])
}
