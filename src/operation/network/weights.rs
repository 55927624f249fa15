//! The file that a trained network is kept in.
//!
//! Everything is little-endian. A head of 12 bytes: `LPDY`, a version byte (1), then one byte each for `unshuffle`, `scale`
//! and a zero, and two bytes each for `width` and `blocks`. Then the convolutions in the order in which they are applied, the
//! first from 3 * unshuffle² channels to `width`, 2 * `blocks` from `width` to `width`, and the last to 3 * scale². Of each,
//! the weights by row, column, input and output, then the bias by output, as 16-bit floats of IEEE 754. Nothing follows.

use super::kernel::BLOCK;
use crate::error::{Error, Result};

/// What the head says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// Sides of the blocks of pixels that become channels.
    pub unshuffle: usize,
    /// Pixels across that come out of one such block.
    pub scale: usize,
    /// Channels between the first and last convolution.
    pub width: usize,
    /// Residual blocks.
    pub blocks: usize,
}

/// A convolution of 3 x 3.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layer {
    /// By row, column, input and output.
    pub weights: Vec<f32>,
    /// By output.
    pub bias: Vec<f32>,
}

/// Reads a file whole.
pub(super) fn read(bytes: &[u8]) -> Result<(Head, Vec<Layer>)> {
    let (head, mut rest) = read_head(bytes)?;
    let inner = std::iter::repeat_n((head.width, head.width), 2 * head.blocks);
    let first = (3 * head.unshuffle * head.unshuffle, head.width);
    let last = (head.width, 3 * head.scale * head.scale);
    let mut layers = Vec::with_capacity(2 * head.blocks + 2);
    for (inputs, outputs) in std::iter::once(first).chain(inner).chain([last]) {
        let (layer, after) = read_layer(rest, inputs, outputs)?;
        layers.push(layer);
        rest = after;
    }
    if !rest.is_empty() {
        return Err(unreadable(format!("has {} bytes too many", rest.len())));
    }
    Ok((head, layers))
}

fn read_head(bytes: &[u8]) -> Result<(Head, &[u8])> {
    let Some((head, rest)) = bytes.split_first_chunk::<12>() else {
        return Err(unreadable(format!("has {} bytes, fewer than its head", bytes.len())));
    };
    let [b'L', b'P', b'D', b'Y', 1, unshuffle, scale, 0, width_low, width_high, blocks_low, blocks_high] = *head else {
        return Err(unreadable(format!("begins with {head:?}")));
    };
    let (unshuffle, scale) = (usize::from(unshuffle), usize::from(scale));
    let width = usize::from(u16::from_le_bytes([width_low, width_high]));
    let blocks = usize::from(u16::from_le_bytes([blocks_low, blocks_high]));
    let sound = (1..=4).contains(&unshuffle)
        && (1..=8).contains(&scale)
        && scale.is_multiple_of(unshuffle)
        && (1..=256).contains(&width)
        && width.is_multiple_of(BLOCK)
        && blocks <= 64;
    if !sound {
        return Err(unreadable(format!("is of {blocks} blocks of {width} channels, {unshuffle} to {scale}")));
    }
    Ok((Head { unshuffle, scale, width, blocks }, rest))
}

fn read_layer(bytes: &[u8], inputs: usize, outputs: usize) -> Result<(Layer, &[u8])> {
    let count = (9 * inputs + 1) * outputs;
    let Some((values, rest)) = bytes.split_at_checked(2 * count) else {
        return Err(unreadable(format!("ends {} bytes early", 2 * count - bytes.len())));
    };
    let values: Vec<f32> = values.as_chunks().0.iter().map(|bytes| single(u16::from_le_bytes(*bytes))).collect();
    let (weights, bias) = values.split_at(9 * inputs * outputs);
    Ok((Layer { weights: weights.to_vec(), bias: bias.to_vec() }, rest))
}

/// A 16-bit float of IEEE 754 as a 32-bit one, exactly.
fn single(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let rest = u32::from(half & 0x7FFF);
    let magnitude = match rest {
        // A subnormal: so many times 2^-24.
        0..0x400 => (rest as f32 / 16_777_216.0).to_bits(),
        0x400..0x7C00 => (rest << 13) + (112 << 23),
        // Infinity and what is no number.
        _ => (rest << 13) | 0x7F80_0000,
    };
    f32::from_bits(sign | magnitude)
}

fn unreadable(problem: String) -> Error {
    Error::internal("reading a network", format!("the file {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_read_exactly() {
        let known = [
            (0x0000, 0.0),
            (0x3C00, 1.0),
            (0xC000, -2.0),
            (0x7BFF, 65_504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
        ];
        for (half, value) in known {
            assert_eq!(single(half), value, "{half:#06x}");
        }
        assert!(single(0x7C00).is_infinite() && single(0x7E00).is_nan());
    }

    #[test]
    fn a_file_that_is_cut_or_has_a_rest_or_an_unknown_head_is_refused() {
        let mut file = b"LPDY\x01\x01\x02\x00\x10\x00\x00\x00".to_vec();
        file.resize(12 + 2 * ((9 * 3 + 1) * 16 + (9 * 16 + 1) * 12), 0);
        assert_eq!(read(&file).unwrap().0, Head { unshuffle: 1, scale: 2, width: 16, blocks: 0 });
        assert!(read(&file[..file.len() - 1]).is_err());
        assert!(read(&[&file[..], &[0]].concat()).is_err());
        for (at, value) in [(0, b'X'), (4, 2), (5, 0), (5, 3), (6, 9), (7, 1), (8, 0), (8, 17), (11, 1)] {
            let mut other = file.clone();
            other[at] = value;
            assert!(read(&other).is_err(), "byte {at} is {value}");
        }
        assert!(read(&file[..11]).is_err());
    }
}
