//! Compression at one level.

use libdeflater::{CompressionLvl, Compressor};

/// A compressor with the memory that it needs again and again.
pub(super) struct Deflater {
    compressor: Compressor,
    buffer: Vec<u8>,
}

impl Deflater {
    /// `level` as of libdeflate: 1 (fast) to 12 (small).
    pub(super) fn new(level: i32) -> Self {
        let level = CompressionLvl::new(level.clamp(1, 12)).unwrap_or_default();
        Self { compressor: Compressor::new(level), buffer: Vec::new() }
    }

    /// The compressed bytes of `data`, or `most` if they are no fewer.
    pub(super) fn length(&mut self, data: &[u8], most: usize) -> usize {
        let space = self.compressor.zlib_compress_bound(data.len()).min(most);
        if self.buffer.len() < space {
            self.buffer.resize(space, 0);
        }
        self.compressor.zlib_compress(data, &mut self.buffer[..space]).unwrap_or(most).min(most)
    }

    /// A zlib stream of `data`; `None` if it is not shorter than `most`.
    pub(super) fn zlib(&mut self, data: &[u8], most: usize) -> Option<Vec<u8>> {
        let length = self.length(data, most);
        (length < most).then(|| self.buffer[..length].to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::png::fixtures::noise;

    #[test]
    fn the_length_is_that_of_the_stream_or_the_bound() {
        let data: Vec<u8> = noise(1).take(5000).map(|byte| byte & 15).collect();
        let mut deflater = Deflater::new(6);
        let whole = deflater.zlib(&data, usize::MAX).unwrap();
        assert_eq!(deflater.length(&data, usize::MAX), whole.len());
        assert_eq!(deflater.length(&data, whole.len() / 2), whole.len() / 2);
        assert_eq!(deflater.zlib(&data, whole.len()), None);
        assert_eq!(deflater.zlib(&data, whole.len() + 1), Some(whole));
    }
}
