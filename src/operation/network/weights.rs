//! The file that a trained network is kept in.
//!
//! Everything is little-endian. A head of 12 bytes: `LPDY`, a version byte (2), then one byte each for `unshuffle`, `scale`
//! and a zero, and two bytes each for `width` and `blocks`. Then the convolutions in the order in which they are applied, the
//! first from 3 * unshuffle² channels to `width`, 2 * `blocks` from `width` to `width`, and the last to 3 * scale². Of each,
//! the weights by row, column, input and output, then the bias by output, as 16-bit floats of IEEE 754. They are stored as a
//! zlib stream (RFC 1950): the lower bytes of all, then the higher ones, in which signs and exponents repeat. Nothing follows.

use libdeflater::{Decompressor, adler32};

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

impl Head {
    /// Convolutions.
    pub(super) fn layers(&self) -> usize {
        2 * self.blocks + 2
    }
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
    let (head, packed) = read_head(bytes)?;
    let inner = std::iter::repeat_n((head.width, head.width), 2 * head.blocks);
    let first = (3 * head.unshuffle * head.unshuffle, head.width);
    let last = (head.width, 3 * head.scale * head.scale);
    let shapes: Vec<(usize, usize)> = std::iter::once(first).chain(inner).chain([last]).collect();
    let mut values = unpacked(packed, shapes.iter().map(|&(inputs, outputs)| (9 * inputs + 1) * outputs).sum())?;
    let layers = shapes.iter().map(|&(inputs, outputs)| Layer {
        weights: values.by_ref().take(9 * inputs * outputs).collect(),
        bias: values.by_ref().take(outputs).collect(),
    });
    Ok((head, layers.collect()))
}

/// As many numbers, of all that follows the head.
fn unpacked(packed: &[u8], count: usize) -> Result<impl Iterator<Item = f32>> {
    let mut bytes = vec![0; 2 * count];
    let found = Decompressor::new().zlib_decompress(packed, &mut bytes);
    let found = found.map_err(|why| unreadable(format!("has no {count} numbers after its head: {why}")))?;
    if found != bytes.len() {
        return Err(unreadable(format!("ends after {} of {count} numbers", found / 2)));
    }
    if !packed.ends_with(&adler32(&bytes).to_be_bytes()) {
        return Err(unreadable("goes on after its numbers".to_owned()));
    }
    Ok((0..count).map(move |at| single(u16::from_le_bytes([bytes[at], bytes[count + at]]))))
}

/// The head, and what follows it.
pub(super) fn read_head(bytes: &[u8]) -> Result<(Head, &[u8])> {
    let Some((head, rest)) = bytes.split_first_chunk::<12>() else {
        return Err(unreadable(format!("has {} bytes, fewer than its head", bytes.len())));
    };
    let [b'L', b'P', b'D', b'Y', 2, unshuffle, scale, 0, width_low, width_high, blocks_low, blocks_high] = *head else {
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

/// A file of `unshuffle`, `scale`, `width` and `blocks` with 16-bit floats, as many as belong there.
#[cfg(test)]
pub(super) fn file(head: [u8; 4], values: impl Iterator<Item = u16>) -> Vec<u8> {
    let [u, s, w, blocks] = head.map(usize::from);
    let count = (9 * 3 * u * u + 1) * w + 2 * blocks * (9 * w + 1) * w + (9 * w + 1) * 3 * s * s;
    let values: Vec<[u8; 2]> = values.take(count).map(u16::to_le_bytes).collect();
    packed(head, &[0, 1].map(|byte| values.iter().map(|value| value[byte]).collect::<Vec<_>>()).concat())
}

#[cfg(test)]
fn packed([unshuffle, scale, width, blocks]: [u8; 4], bytes: &[u8]) -> Vec<u8> {
    let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::fastest());
    let mut stream = vec![0; compressor.zlib_compress_bound(bytes.len())];
    let length = compressor.zlib_compress(bytes, &mut stream).unwrap();
    let head = [b'L', b'P', b'D', b'Y', 2, unshuffle, scale, 0, width, 0, blocks, 0];
    [&head, &stream[..length]].concat()
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
    fn numbers_are_read_in_the_order_in_which_they_were_written() {
        let file = file([1, 1, 16, 1], (0..).map(|n: u16| n % 1000));
        let (_, layers) = read(&file).unwrap();
        assert_eq!(layers.iter().map(|layer| layer.bias.len()).collect::<Vec<_>>(), [16, 16, 16, 3]);
        let read: Vec<f32> = layers.iter().flat_map(|layer| layer.weights.iter().chain(&layer.bias)).copied().collect();
        let written: Vec<f32> = (0..read.len()).map(|n| single((n % 1000) as u16)).collect();
        assert_eq!(read, written);
    }

    #[test]
    fn a_file_that_is_cut_or_has_a_rest_or_an_unknown_head_is_refused() {
        let file = file([1, 2, 16, 0], std::iter::repeat(0));
        assert_eq!(read(&file).unwrap().0, Head { unshuffle: 1, scale: 2, width: 16, blocks: 0 });
        assert!(read(&file[..file.len() - 1]).is_err());
        assert!(read(&[&file[..], &[0]].concat()).is_err());
        for (at, value) in [(0, b'X'), (4, 1), (5, 0), (5, 3), (6, 9), (7, 1), (8, 0), (8, 17), (11, 1)] {
            let mut other = file.clone();
            other[at] = value;
            assert!(read(&other).is_err(), "byte {at} is {value}");
        }
        assert!(read(&file[..11]).is_err());
        assert!(read(&packed([1, 2, 16, 0], &[0; 2])).is_err(), "a stream of one number");
    }
}
