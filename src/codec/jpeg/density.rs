//! How large a pixel is printed: the density of a JFIF header, and the chunk `pHYs` of a PNG, in which metadata hold it.

use super::{container::plain_jfif, segments::Segment};
use crate::picture::Metadata;

/// The chunk's name, and what it has behind two numbers of pixels in a metre.
const CHUNK: [u8; 4] = *b"pHYs";
const METRES: u8 = 1;
/// Units of a header, and how many pixels in a metre one in each of them is.
const UNITS: [(u8, f64); 2] = [(1, 1.0 / 0.0254), (2, 100.0)];
/// Where a header has its unit, and two numbers of two bytes.
const UNIT: usize = 7;

/// The chunk for the header among `extras`, if that has a unit.
pub(super) fn read(extras: &[Segment<'_>]) -> Option<([u8; 4], Vec<u8>)> {
    let jfif = extras.iter().find_map(plain_jfif)?;
    let &(_, in_metre) = UNITS.iter().find(|(unit, _)| *unit == jfif[UNIT])?;
    let number = |at: usize| (f64::from(u16::from_be_bytes([jfif[at], jfif[at + 1]])) * in_metre).round() as u32;
    let [x, y] = [number(UNIT + 1), number(UNIT + 3)];
    (x > 0 && y > 0).then(|| (CHUNK, [&x.to_be_bytes()[..], &y.to_be_bytes(), &[METRES]].concat()))
}

/// Puts what `metadata` say into a header; in pixels to the centimetre where they are no whole number to the inch.
pub(super) fn write(jfif: &mut [u8; 14], metadata: &Metadata) {
    let Some((_, chunk)) = metadata.chunks.iter().find(|(kind, _)| *kind == CHUNK) else { return };
    let Ok([x @ .., x3, y0, y1, y2, y3, METRES]) = <[u8; 9]>::try_from(&chunk[..]) else { return };
    let in_metre = [u32::from_be_bytes([x[0], x[1], x[2], x3]), u32::from_be_bytes([y0, y1, y2, y3])].map(f64::from);
    let told = UNITS.iter().find_map(|&(unit, of)| {
        let numbers = in_metre.map(|number| (number / of).round());
        let is_near = in_metre.iter().zip(numbers).all(|(meant, told)| (meant - told * of).abs() < 1.0);
        let fits = numbers.iter().all(|number| (1.0..=f64::from(u16::MAX)).contains(number));
        (is_near && fits).then_some((unit, numbers.map(|number| number as u16)))
    });
    if let Some((unit, [x, y])) = told {
        jfif[UNIT] = unit;
        jfif[UNIT + 1..UNIT + 3].copy_from_slice(&x.to_be_bytes());
        jfif[UNIT + 3..UNIT + 5].copy_from_slice(&y.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [u8; 14] = *b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0";

    fn with(chunk: &[u8]) -> [u8; 14] {
        let mut jfif = NONE;
        write(&mut jfif, &Metadata { chunks: vec![(CHUNK, chunk.to_vec())], ..Metadata::default() });
        jfif
    }

    #[test]
    fn inches_and_centimetres_come_back_as_they_were() {
        for unit in [1, 2] {
            for density in [1_u16, 72, 96, 150, 300, 600, 1200] {
                let [high, low] = density.to_be_bytes();
                let mut jfif = NONE;
                jfif[UNIT..UNIT + 5].copy_from_slice(&[unit, high, low, high, low]);
                let segment = Segment { marker: 0xE0, payload: &jfif, entropy: &[] };
                let (_, chunk) = read(&[segment]).unwrap();
                let back = with(&chunk);
                let told = f64::from(u16::from_be_bytes([back[8], back[9]])) * if back[UNIT] == 1 { 1.0 } else { 2.54 };
                let meant = f64::from(density) * if unit == 1 { 1.0 } else { 2.54 };
                assert!((told - meant).abs() < 0.02, "{meant} {told}");
            }
        }
    }

    #[test]
    fn what_has_no_unit_or_does_not_fit_says_nothing() {
        assert!(read(&[Segment { marker: 0xE0, payload: &NONE, entropy: &[] }]).is_none());
        for chunk in [&[0; 9][..], &[0, 0, 1, 0, 0, 0, 1, 0, 0], &[255, 255, 255, 255, 255, 255, 255, 255, 1], &[1; 8]]
        {
            assert_eq!(with(chunk), NONE);
        }
    }
}
