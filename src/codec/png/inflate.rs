//! Decompression of metadata, within bounds.

use libdeflater::{DecompressionError, Decompressor};

/// How often the space for results may be spent on attempts in vain.
const ATTEMPTS: usize = 4;

/// Hands out decompressed blocks until a file has had its share of memory and time.
pub(super) struct Inflater {
    /// Bytes that may still be handed out.
    space: usize,
    /// Bytes that may still be produced, also in vain.
    work: usize,
}

impl Inflater {
    /// At most `space` bytes over all blocks.
    pub(super) fn new(space: u64) -> Self {
        let space = usize::try_from(space).unwrap_or(usize::MAX);
        Self { space, work: space.saturating_mul(ATTEMPTS) }
    }

    /// A zlib stream decompressed; `None` if it is damaged or too large.
    pub(super) fn inflate(&mut self, zlib: &[u8]) -> Option<Vec<u8>> {
        // Deflate yields at most 1032 bytes for one.
        let most = self.space.min(zlib.len().saturating_mul(1032));
        let mut size = zlib.len().saturating_mul(4).clamp(256, most.max(256)).min(self.space);
        loop {
            self.work = self.work.checked_sub(size)?;
            let mut block = vec![0; size];
            match Decompressor::new().zlib_decompress(zlib, &mut block) {
                Ok(length) => {
                    block.truncate(length);
                    self.space -= length;
                    return Some(block);
                }
                Err(DecompressionError::InsufficientSpace) if size < most => size = size.saturating_mul(4).min(most),
                Err(_) => return None,
            }
        }
    }

    /// A block that is not compressed; `None` if it is too large.
    pub(super) fn copy(&mut self, block: &[u8]) -> Option<Vec<u8>> {
        self.space = self.space.checked_sub(block.len())?;
        Some(block.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::png::fixtures::deflated;

    #[test]
    fn blocks_up_to_the_limit_come_out_and_one_byte_more_does_not() {
        let zlib = deflated(&vec![7; 100_000]);
        assert_eq!(Inflater::new(100_000).inflate(&zlib).map(|block| block.len()), Some(100_000));
        assert!(Inflater::new(99_999).inflate(&zlib).is_none());
    }

    #[test]
    fn all_blocks_share_the_limit() {
        let zlib = deflated(&[7; 600]);
        let mut inflater = Inflater::new(1000);
        assert!(inflater.inflate(&zlib).is_some());
        assert!(inflater.inflate(&zlib).is_none());
        assert!(inflater.copy(&[0; 400]).is_some());
        assert!(inflater.copy(&[0; 1]).is_none());
    }

    #[test]
    fn bombs_soon_exhaust_the_work() {
        let bomb = deflated(&vec![0; 1 << 20]);
        let mut inflater = Inflater::new(1000);
        assert!((0..1000).all(|_| inflater.inflate(&bomb).is_none()));
        assert!(inflater.work < 1000);
    }

    #[test]
    fn damaged_streams_are_nothing() {
        let mut zlib = deflated(&[7; 600]);
        zlib.truncate(zlib.len() - 1);
        assert!(Inflater::new(1000).inflate(&zlib).is_none());
        assert!(Inflater::new(1000).inflate(&[]).is_none());
        assert!(Inflater::new(0).inflate(&deflated(&[1])).is_none());
    }
}
