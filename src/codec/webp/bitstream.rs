//! The first bytes of the two bitstreams: VP8 (RFC 6386, section 9.1) and VP8L (RFC 9649, section 3.4).

use super::riff::damaged;
use crate::error::Result;

/// What a bitstream says of itself before its first pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// In pixels, 1 to 16,384.
    pub(super) width: u32,
    /// In pixels, 1 to 16,384.
    pub(super) height: u32,
    /// Whether any pixel may be translucent.
    pub(super) alpha: bool,
    /// VP8L rather than VP8.
    pub(super) lossless: bool,
}

/// Reads the frame header of a VP8 key frame, whose alpha lies outside of it.
pub(super) fn lossy_header(data: &[u8]) -> Result<Header> {
    let Some((&[t0, t1, t2, s0, s1, s2, w0, w1, h0, h1], _)) = data.split_first_chunk::<10>() else {
        return Err(damaged(format!("has {} bytes of VP8 data where 10 are needed", data.len())));
    };
    let tag = u32::from_le_bytes([t0, t1, t2, 0]);
    let (key_frame, version, shown) = (tag & 1 == 0, tag >> 1 & 7, tag >> 4 & 1 == 1);
    let first_partition = first_partition(&[t0, t1, t2]);
    if !key_frame || !shown || version > 3 || [s0, s1, s2] != [0x9D, 0x01, 0x2A] {
        return Err(damaged("has VP8 data that begins with no key frame"));
    }
    if first_partition >= data.len() {
        let length = data.len();
        return Err(damaged(format!("has {length} bytes of VP8 data, {first_partition} of them in its first part")));
    }
    // The two bits above each side ask a viewer to enlarge; nothing heeds them.
    let side = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3FFF);
    let (width, height) = (side(w0, w1), side(h0, h1));
    if width == 0 || height == 0 {
        return Err(damaged(format!("is {width}x{height} pixels")));
    }
    Ok(Header { width, height, alpha: false, lossless: false })
}

/// Bytes of the first partition, as the tag of a VP8 frame says.
pub(super) const fn first_partition(&[low, middle, high]: &[u8; 3]) -> usize {
    u32::from_le_bytes([low, middle, high, 0]) as usize >> 5
}

/// Reads the header of VP8L data.
pub(super) fn lossless_header(data: &[u8]) -> Result<Header> {
    let Some((&[signature, b0, b1, b2, b3], _)) = data.split_first_chunk::<5>() else {
        return Err(damaged(format!("has {} bytes of VP8L data where 5 are needed", data.len())));
    };
    let bits = u32::from_le_bytes([b0, b1, b2, b3]);
    let version = bits >> 29;
    if signature != 0x2F || version != 0 {
        return Err(damaged(format!("has VP8L data of signature {signature:#04x} and version {version}")));
    }
    let (width, height) = (1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF));
    Ok(Header { width, height, alpha: bits >> 28 & 1 == 1, lossless: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vp8(tag: u32, width: u16, height: u16) -> Vec<u8> {
        let (w, h) = (width.to_le_bytes(), height.to_le_bytes());
        [&tag.to_le_bytes()[..3], &[0x9D, 0x01, 0x2A], &w, &h, &[0; 8]].concat()
    }

    /// Shown, version 0, three bytes in the first partition.
    const KEY_FRAME: u32 = 3 << 5 | 1 << 4;

    #[test]
    fn the_scale_bits_of_vp8_do_not_count_as_size() {
        let header = lossy_header(&vp8(KEY_FRAME, 0x4000 | 16_383, 0xC000 | 2)).unwrap();
        assert_eq!((header.width, header.height), (16_383, 2));
    }

    #[test]
    fn vp8_data_that_cannot_be_a_still_is_refused() {
        for (tag, width) in [(KEY_FRAME | 1, 1), (KEY_FRAME & !(1 << 4), 1), (KEY_FRAME | 4 << 1, 1), (KEY_FRAME, 0)] {
            assert!(lossy_header(&vp8(tag, width, 1)).is_err(), "{tag:#x} {width}");
        }
        let error = lossy_header(&vp8(18 << 5 | 1 << 4, 1, 1)).unwrap_err();
        assert_eq!(error.to_string(), "the WEBP image has 18 bytes of VP8 data, 18 of them in its first part");
    }

    #[test]
    fn vp8l_sides_are_stored_less_one_and_alpha_is_a_bit() {
        let bits = |alpha: u32, version: u32| 16_383 | 1 << 14 | alpha << 28 | version << 29;
        let data = |bits: u32| [&[0x2F], &bits.to_le_bytes()[..]].concat();
        let header = lossless_header(&data(bits(1, 0))).unwrap();
        assert_eq!(header, Header { width: 16_384, height: 2, alpha: true, lossless: true });
        assert!(!lossless_header(&data(bits(0, 0))).unwrap().alpha);
        assert!(lossless_header(&data(bits(0, 1))).is_err());
        assert!(lossless_header(&data(bits(0, 0))[..4]).is_err());
    }
}
