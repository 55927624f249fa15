//! Bits in the order of deflate: the lowest of a byte first.

/// A stream in the making.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that make no byte yet, and how many.
    waiting: u64,
    count: u32,
}

impl BitWriter {
    /// A stream behind the bytes of a header.
    pub(super) fn behind(header: &[u8]) -> Self {
        Self { bytes: header.to_vec(), ..Self::default() }
    }

    /// Appends the lowest `count` bits, at most 32, above which there are none.
    pub(super) fn put(&mut self, bits: u64, count: u32) {
        self.waiting |= bits << self.count;
        self.count += count;
        while self.count >= 8 {
            self.bytes.push(self.waiting as u8);
            self.waiting >>= 8;
            self.count -= 8;
        }
    }

    /// A stored block of at most 65,535 bytes.
    pub(super) fn store(&mut self, data: &[u8], is_last: bool) {
        self.put(is_last.into(), 3);
        self.align();
        let length = data.len() as u16;
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(&(!length).to_le_bytes());
        self.bytes.extend_from_slice(data);
    }

    fn align(&mut self) {
        self.put(0, self.count.wrapping_neg() % 8);
    }

    /// The stream, filled up to whole bytes.
    pub(super) fn finished(mut self) -> Vec<u8> {
        self.align();
        self.bytes
    }
}
