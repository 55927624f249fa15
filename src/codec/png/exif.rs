//! Setting the orientation inside an EXIF block: enough of TIFF to find that one tag.

use std::ops::Range;

/// Without the `Exif\0\0` that JPEG puts in front; `None` if no TIFF header follows.
pub(super) fn tiff(block: &[u8]) -> Option<&[u8]> {
    let tiff = block.strip_prefix(b"Exif\0\0").unwrap_or(block);
    (tiff.starts_with(b"II*\0") || tiff.starts_with(b"MM\0*")).then_some(tiff)
}

/// Sets the orientation to upright, in place.
pub(super) fn turn_upright(tiff: &mut [u8]) {
    if let Some((at, _)) = find(tiff) {
        let upright = if tiff[0] == b'I' { [1, 0] } else { [0, 1] };
        tiff[at].copy_from_slice(&upright);
    }
}

/// Where the value of tag 0x0112 is in the first directory, and the value.
fn find(tiff: &[u8]) -> Option<(Range<usize>, u16)> {
    const ORIENTATION: u16 = 0x0112;
    const SHORT: u16 = 3;
    let little = tiff.first() == Some(&b'I');
    let short = |at: usize| {
        let pair = *tiff.get(at..)?.first_chunk()?;
        Some(if little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) })
    };
    let offset = *tiff.get(4..)?.first_chunk()?;
    let directory = if little { u32::from_le_bytes(offset) } else { u32::from_be_bytes(offset) } as usize;
    let entries = usize::from(short(directory)?);
    let entry = (0..entries).map(|i| directory + 2 + 12 * i).find(|&at| short(at) == Some(ORIENTATION))?;
    (short(entry + 2) == Some(SHORT)).then_some(())?;
    Some((entry + 8..entry + 10, short(entry + 8)?))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::picture::{Orientation, orientation_of_exif};

    /// A TIFF block of nothing but an orientation.
    pub(crate) fn block(little: bool, value: u8) -> Vec<u8> {
        if little {
            [&b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0"[..], &[value, 0, 0, 0], &[0; 4]].concat()
        } else {
            [&b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01"[..], &[0, value, 0, 0], &[0; 4]].concat()
        }
    }

    #[test]
    fn the_orientation_is_found_in_both_byte_orders_with_and_without_the_prefix() {
        for little in [false, true] {
            assert_eq!(orientation_of_exif(&block(little, 6)), Orientation::Rotate90);
            assert_eq!(orientation_of_exif(&[b"Exif\0\0".to_vec(), block(little, 3)].concat()), Orientation::Rotate180);
        }
    }

    #[test]
    fn damaged_blocks_are_upright() {
        let whole = block(true, 6);
        for length in 0..20 {
            assert_eq!(orientation_of_exif(&whole[..length.min(18)]), Orientation::Upright);
        }
        assert_eq!(orientation_of_exif(b"II*\0\xFF\xFF\xFF\xFF"), Orientation::Upright);
    }

    #[test]
    fn turning_upright_changes_nothing_else() {
        for little in [false, true] {
            let mut tiff = block(little, 8);
            turn_upright(&mut tiff);
            assert_eq!(tiff, block(little, 1));
        }
    }
}
