//! The file that a trained network is kept in.
//!
//! Everything is little-endian. A head of 12 bytes: `LPDY`, a version byte (2), then one byte each for `unshuffle`, `scale`
//! and how often the blocks are gone through again, and two bytes each for `width` and `blocks`. Then the convolutions in the
//! order in which they are applied, the first from 3 * unshuffle² channels to `width`, 2 * `blocks` from `width` to `width`, and
//! the last to 3 * scale². Of each, the weights by row, column, input and output, then the bias by output, in blocks one for each
//! time. Where there are several, a block's second convolution is followed by shares, for each time by output, by which its
//! weights are multiplied. All are 16-bit floats of IEEE 754, stored as a zlib stream (RFC 1950): the lower bytes of all, then
//! the higher ones, in which signs and exponents repeat. Nothing follows.

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
    /// How often the blocks are gone through.
    pub passes: usize,
}

impl Head {
    /// Numbers of a file.
    fn numbers(&self) -> usize {
        let Self { unshuffle, scale, width, blocks, passes } = *self;
        let by_pass = if passes > 1 { 3 * passes } else { 2 };
        let outputs = 3 * scale * scale;
        (27 * unshuffle * unshuffle + 1) * width + blocks * (18 * width + by_pass) * width + (9 * width + 1) * outputs
    }

    /// Convolutions, as often as they are applied.
    pub(super) fn layers(&self) -> usize {
        2 * self.blocks * self.passes + 2
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

/// Reads a file whole. Layers are in the order in which they are applied, those of blocks once for each pass.
pub(super) fn read(bytes: &[u8]) -> Result<(Head, Vec<Layer>)> {
    let (head, packed) = read_head(bytes)?;
    let mut values = unpacked(packed, head.numbers())?;
    let mut take = |count: usize| values.by_ref().take(count).collect::<Vec<f32>>();
    let Head { unshuffle, scale, width, blocks, passes } = head;
    let first = Layer { weights: take(27 * unshuffle * unshuffle * width), bias: take(width) };
    let blocks: Vec<_> = (0..blocks).map(|_| block(&mut take, width, passes)).collect();
    let outputs = 3 * scale * scale;
    let last = Layer { weights: take(9 * width * outputs), bias: take(outputs) };
    let inner = (0..passes).flat_map(|pass| blocks.iter().flat_map(move |block| block[pass].clone()));
    Ok((head, std::iter::once(first).chain(inner).chain([last]).collect()))
}

/// The two convolutions of a block, for each pass.
fn block(take: &mut impl FnMut(usize) -> Vec<f32>, width: usize, passes: usize) -> Vec<[Layer; 2]> {
    let mut take_layer = || (take(9 * width * width), take(passes * width));
    let ((first, first_bias), (second, second_bias)) = (take_layer(), take_layer());
    let shares = if passes > 1 { take(passes * width) } else { vec![1.0; width] };
    let passes = first_bias.chunks_exact(width).zip(second_bias.chunks_exact(width)).zip(shares.chunks_exact(width));
    let both = passes.map(|((first_bias, second_bias), shares)| {
        let second = second.iter().zip(shares.iter().cycle()).map(|(weight, share)| weight * share);
        [
            Layer { weights: first.clone(), bias: first_bias.to_vec() },
            Layer { weights: second.collect(), bias: second_bias.to_vec() },
        ]
    });
    both.collect()
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
    let [b'L', b'P', b'D', b'Y', 2, unshuffle, scale, again, width_low, width_high, blocks_low, blocks_high] = *head
    else {
        return Err(unreadable(format!("begins with {head:?}")));
    };
    let (unshuffle, scale, passes) = (usize::from(unshuffle), usize::from(scale), usize::from(again) + 1);
    let width = usize::from(u16::from_le_bytes([width_low, width_high]));
    let blocks = usize::from(u16::from_le_bytes([blocks_low, blocks_high]));
    let sound = (1..=4).contains(&unshuffle)
        && (1..=8).contains(&scale)
        && scale.is_multiple_of(unshuffle)
        && (1..=256).contains(&width)
        && width.is_multiple_of(BLOCK)
        && passes <= 8
        && blocks * passes <= 64;
    if !sound {
        return Err(unreadable(format!(
            "goes {passes} times through {blocks} blocks of {width} channels, {unshuffle} to {scale}"
        )));
    }
    Ok((Head { unshuffle, scale, width, blocks, passes }, rest))
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

/// A file with 16-bit floats, as many as belong there.
#[cfg(test)]
pub(super) fn file(head: Head, values: impl Iterator<Item = u16>) -> Vec<u8> {
    let values: Vec<[u8; 2]> = values.take(head.numbers()).map(u16::to_le_bytes).collect();
    packed(head, &[0, 1].map(|byte| values.iter().map(|value| value[byte]).collect::<Vec<_>>()).concat())
}

#[cfg(test)]
fn packed(head: Head, bytes: &[u8]) -> Vec<u8> {
    let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::fastest());
    let mut stream = vec![0; compressor.zlib_compress_bound(bytes.len())];
    let length = compressor.zlib_compress(bytes, &mut stream).unwrap();
    let [unshuffle, scale, again, width, blocks] =
        [head.unshuffle, head.scale, head.passes - 1, head.width, head.blocks].map(|value| value as u8);
    let head = [b'L', b'P', b'D', b'Y', 2, unshuffle, scale, again, width, 0, blocks, 0];
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

    const SMALL: Head = Head { unshuffle: 1, scale: 1, width: 16, blocks: 1, passes: 1 };

    #[test]
    fn numbers_are_read_in_the_order_in_which_they_were_written() {
        let file = file(SMALL, (0..).map(|n: u16| n % 1000));
        let (_, layers) = read(&file).unwrap();
        assert_eq!(layers.iter().map(|layer| layer.bias.len()).collect::<Vec<_>>(), [16, 16, 16, 3]);
        let read: Vec<f32> = layers.iter().flat_map(|layer| layer.weights.iter().chain(&layer.bias)).copied().collect();
        let written: Vec<f32> = (0..read.len()).map(|n| single((n % 1000) as u16)).collect();
        assert_eq!(read, written);
    }

    #[test]
    fn each_pass_has_biases_and_shares_of_its_own() {
        // Each run of numbers is all the same: 1, 2, 3 or 4.
        let head = Head { passes: 2, ..SMALL };
        let [one, two, three, four] = [0x3C00, 0x4000, 0x4200, 0x4400];
        let (weights, channels) = (9 * 16 * 16, 16);
        let runs = [(28 * channels, one), (weights, two), (channels, one), (channels, four), (weights, three)];
        let rest = [(channels, two), (channels, three), (channels, one), (channels, two), (usize::MAX, four)];
        let values = runs.into_iter().chain(rest).flat_map(|(count, value)| std::iter::repeat_n(value, count));
        let (head, layers) = read(&file(head, values)).unwrap();
        assert_eq!((layers.len(), head.layers()), (6, 6));
        let plain = |layer: &Layer| (layer.weights[0], layer.bias[0]);
        let found: Vec<_> = layers.iter().map(plain).collect();
        assert_eq!(found, [(1.0, 1.0), (2.0, 1.0), (3.0, 2.0), (2.0, 4.0), (6.0, 3.0), (4.0, 4.0)]);
        for layer in &layers {
            assert!(layer.weights.iter().all(|weight| *weight == layer.weights[0]));
            assert!(layer.bias.iter().all(|bias| *bias == layer.bias[0]));
        }
    }

    #[test]
    fn a_file_that_is_cut_or_has_a_rest_or_an_unknown_head_is_refused() {
        let head = Head { scale: 2, blocks: 0, ..SMALL };
        let file = file(head, std::iter::repeat(0));
        assert_eq!(read(&file).unwrap().0, head);
        assert!(read(&file[..file.len() - 1]).is_err());
        assert!(read(&[&file[..], &[0]].concat()).is_err());
        for (at, value) in [(0, b'X'), (4, 1), (5, 0), (5, 3), (6, 9), (7, 8), (8, 0), (8, 17), (11, 1)] {
            let mut other = file.clone();
            other[at] = value;
            assert!(read(&other).is_err(), "byte {at} is {value}");
        }
        assert!(read(&file[..11]).is_err());
        assert!(read(&packed(head, &[0; 2])).is_err(), "a stream of one number");
    }
}
