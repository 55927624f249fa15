//! Compression at one level, in pieces that are short enough to be stopped between.

use std::ops::Range;

use libdeflater::{CompressionLvl, Compressor, adler32};

use super::{
    bits::BitWriter,
    splice::{Splicer, WINDOW},
    thorough::{self, Effort},
};
use crate::{
    control::Run,
    error::{Error, Result},
};

/// First bytes of a zlib stream of the highest level (RFC 1950).
const HEADER: [u8; 2] = [0x78, 0xDA];

/// Bytes that are compressed for an estimate at most.
const ESTIMATED: usize = 1 << 25;
/// Bytes of a piece at levels below 10: 2 to 15 ms, 50 ms at worst.
const QUICK_PIECE: usize = 1 << 19;
/// The same at level 10.
const SLOW_PIECE: usize = 1 << 18;
/// From this level on streams are our own: libdeflate would take 100 to 800 ms for a piece, in which it cannot be stopped,
/// and in shorter ones it makes screenshots 10 % larger, since it learns the costs of symbols as it goes.
const THOROUGH: i32 = 11;
/// Bytes up to which all is tried, up to which much is, and from which on little is.
const FEW: usize = 1 << 16;
const MANY: usize = 1 << 20;
const HUGE: usize = 1 << 26;

/// A compressor with the memory that it needs again and again.
pub(super) struct Deflater {
    compressor: Compressor,
    level: i32,
    buffer: Vec<u8>,
}

impl Deflater {
    /// `level` as of libdeflate: 1 (fast) to 12 (small).
    pub(super) fn new(level: i32) -> Self {
        let level = level.clamp(1, 12);
        let compressor = Compressor::new(CompressionLvl::new(level).unwrap_or_default());
        Self { compressor, level, buffer: Vec::new() }
    }

    /// Bytes between two questions whether to go on.
    fn piece(&self) -> usize {
        if self.level < 10 { QUICK_PIECE } else { SLOW_PIECE }
    }

    /// The compressed bytes of `data`, or `most` if they are no fewer. In one piece, so `data` should be short.
    pub(super) fn length(&mut self, data: &[u8], most: usize) -> usize {
        self.deflate(data, most).map_or(most, <[u8]>::len)
    }

    /// About how many compressed bytes `data` has: its pieces do not know of each other, and of very many only some are looked at.
    pub(super) fn estimate(&mut self, data: &[u8], run: Run<'_>) -> Result<usize> {
        let pieces: Vec<&[u8]> = data.chunks(self.piece()).step_by(data.len().div_ceil(ESTIMATED).max(1)).collect();
        let lengths = self.side_by_side(&pieces, |deflater, piece| deflater.length(piece, usize::MAX), run)?;
        let (sum, seen): (usize, usize) = (lengths.iter().sum(), pieces.iter().map(|piece| piece.len()).sum());
        Ok(if seen == data.len() { sum } else { (sum as f64 * (data.len() as f64 / seen as f64)) as usize })
    }

    /// A zlib stream of `data`.
    pub(super) fn zlib(&mut self, data: &[u8], run: Run<'_>) -> Result<Vec<u8>> {
        let mut zlib = match self.level {
            THOROUGH.. => {
                let mut out = BitWriter::behind(&HEADER);
                thorough::deflate(data, effort(self.level, data.len()), &mut out, run)?;
                out.finished()
            }
            _ => self.spliced(data, self.piece(), run)?,
        };
        zlib.extend_from_slice(&adler32(data).to_be_bytes());
        Ok(zlib)
    }

    /// Header and stream, of pieces that are compressed side by side.
    fn spliced(&mut self, data: &[u8], piece: usize, run: Run<'_>) -> Result<Vec<u8>> {
        let pieces = pieces(data.len(), piece);
        // The place, and the window before it.
        let known = |piece: &Range<usize>| piece.start.saturating_sub(WINDOW)..piece.end;
        let stream = |deflater: &mut Self, piece: &_| {
            deflater.deflate(&data[known(piece)], usize::MAX).unwrap_or_default().to_vec()
        };
        let streams = self.side_by_side(&pieces, stream, run)?;
        let mut splicer = Splicer::behind(&HEADER);
        for (piece, stream) in pieces.iter().zip(&streams) {
            let window = piece.start - known(piece).start;
            let spliced = splicer.append(stream, &data[known(piece)], window, piece.end == data.len());
            spliced.ok_or_else(|| Error::internal("compressing", "a stream cannot be read back"))?;
        }
        Ok(splicer.finished())
    }

    /// What `compress` makes of every piece, on several cores if there are several pieces.
    fn side_by_side<T: Sync, R: Send>(
        &mut self,
        pieces: &[T],
        compress: impl Fn(&mut Self, &T) -> R + Sync,
        run: Run<'_>,
    ) -> Result<Vec<R>> {
        if let [only] = pieces {
            run.check()?;
            return Ok(vec![compress(self, only)]);
        }
        let (level, compress) = (self.level, &compress);
        run.side_by_side(pieces, || {
            let mut deflater = Self::new(level);
            move |piece: &T| Ok(compress(&mut deflater, piece))
        })
    }

    /// A deflate stream of `data`; `None` if it is not shorter than `most`.
    fn deflate(&mut self, data: &[u8], most: usize) -> Option<&[u8]> {
        let space = self.compressor.deflate_compress_bound(data.len()).min(most);
        if self.buffer.len() < space {
            self.buffer.resize(space, 0);
        }
        let length = self.compressor.deflate_compress(data, &mut self.buffer[..space]).ok()?;
        (length < most).then(|| &self.buffer[..length])
    }
}

/// Pieces of so many bytes; a little that would be left over is no piece of its own.
pub(super) fn pieces(length: usize, piece: usize) -> Vec<Range<usize>> {
    let count = length.saturating_sub(piece / 4) / piece + 1;
    let end = |at: usize| if at + 1 == count { length } else { (at + 1) * piece };
    (0..count).map(|at| at * piece..end(at)).collect()
}

/// What a stream of so many bytes may cost: 2 µs a byte for few of them, 0.25 to 0.8 for more, 0.15 to 0.4 at level 11, of
/// which the last quarter saves 1 %.
const fn effort(level: i32, bytes: usize) -> Effort {
    match (level, bytes) {
        (12.., ..=FEW) => Effort { depth: 300, span: 258, ways: 4, splits: 2 },
        (12.., ..=MANY) => Effort { depth: 300, span: 8, ways: 3, splits: 1 },
        (_, HUGE..) => Effort { depth: 30, span: 4, ways: 0, splits: 1 },
        (12.., _) => Effort { depth: 150, span: 4, ways: 4, splits: 1 },
        _ => Effort { depth: 60, span: 4, ways: 1, splits: 1 },
    }
}

#[cfg(test)]
mod tests {
    use libdeflater::Decompressor;

    use super::*;
    use crate::codec::png::fixtures::{noise, run};

    #[test]
    fn the_length_is_that_of_the_stream_or_the_bound() {
        let data: Vec<u8> = noise(1).take(5000).map(|byte| byte & 15).collect();
        let mut deflater = Deflater::new(6);
        let whole = deflater.length(&data, usize::MAX);
        assert_eq!(deflater.zlib(&data, run()).unwrap().len(), whole + 6);
        assert_eq!(deflater.estimate(&data, run()).unwrap(), whole);
        assert_eq!(deflater.length(&data, whole / 2), whole / 2);
        assert_eq!(deflater.length(&data, whole), whole);
    }

    /// Noise, few values, long repetitions, one value, and what changes from one to another.
    fn data() -> Vec<Vec<u8>> {
        const LENGTH: usize = 200_077;
        let noisy: Vec<u8> = noise(1).take(LENGTH).collect();
        let few: Vec<u8> = noise(2).take(LENGTH).map(|byte| byte & 3).collect();
        let repeated: Vec<u8> = noisy[..1021].iter().copied().cycle().take(LENGTH).collect();
        let flat = vec![7; LENGTH];
        let mixed = [&noisy[..50_000], &flat[..50_001], &few[..50_002], &repeated[..50_003]].concat();
        vec![Vec::new(), vec![1], noisy, few, repeated, flat, mixed]
    }

    #[test]
    fn our_own_streams_are_whole_and_hardly_longer_than_those_of_the_library() {
        for data in data() {
            for level in [11, 12] {
                for data in [3000, 70_000].map(|most| &data[..data.len().min(most)]) {
                    let mut deflater = Deflater::new(level);
                    let zlib = deflater.zlib(data, run()).unwrap();
                    let mut out = vec![0; data.len()];
                    assert_eq!(Decompressor::new().zlib_decompress(&zlib, &mut out), Ok(data.len()));
                    assert_eq!(out, data);
                    let theirs = deflater.length(data, usize::MAX);
                    assert!(zlib.len() <= theirs + theirs / 100 + 8, "{level}: {} for {theirs}", zlib.len());
                }
            }
        }
    }

    #[test]
    fn pieces_make_one_stream_that_is_hardly_longer() {
        for data in data() {
            for (level, piece) in [(1, 30_000), (6, 70_001), (10, 40_000), (11, 100_001), (12, 30_000)] {
                let mut deflater = Deflater::new(level);
                let stream = deflater.spliced(&data, piece, run()).unwrap();
                let mut out = vec![0; data.len()];
                assert_eq!(Decompressor::new().deflate_decompress(&stream[2..], &mut out), Ok(data.len()));
                assert_eq!(out, data);
                let whole = deflater.length(&data, usize::MAX);
                let most = whole + whole / 50 + 500 * data.len().div_ceil(piece);
                assert!(stream.len() <= most + 2, "{level}: {} for {whole}", stream.len());
            }
        }
    }
}
