//! Quality as libjpeg counts it, guessed from quantisation tables.

use super::header::Header;

/// Luminance table of T.81, annex K, in zigzag order: what libjpeg scales.
const LUMA: [u16; 64] = [
    16, 11, 12, 14, 12, 10, 16, 14, 13, 14, 18, 17, 16, 19, 24, 40, 26, 24, 22, 22, 24, 49, 35, 37, 29, 40, 58, 51, 61,
    60, 57, 51, 56, 55, 64, 72, 92, 78, 64, 68, 87, 69, 55, 56, 80, 109, 81, 87, 95, 98, 103, 104, 103, 62, 77, 113,
    121, 112, 100, 120, 92, 101, 103, 99,
];

/// Chrominance table of T.81, annex K, in zigzag order.
const CHROMA: [u16; 64] = [
    17, 18, 18, 24, 21, 24, 47, 26, 26, 47, 99, 66, 56, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99,
];

/// The quality, 1 to 100, whose standard tables have the sum nearest to the sum of the file's. Exact for files with
/// standard tables, close for others; `None` if the luma table is missing.
pub(super) fn estimate(header: &Header<'_>) -> Option<u8> {
    let number = |index: usize| header.frame.components.get(index).map(|component| component.table);
    let found = |number: usize| header.tables[number].as_ref();
    let luma = number(0)?;
    let chroma = number(1).filter(|&chroma| chroma != luma).and_then(found);
    let tables = [Some((found(luma)?, &LUMA)), chroma.map(|chroma| (chroma, &CHROMA))];
    let distance = |quality: &u8| -> u32 {
        let apart = |(table, standard): (&[u16; 64], &[u16; 64])| {
            let largest = if table.iter().any(|&value| value > 255) { 32_767 } else { 255 };
            let sum: u32 = table.iter().map(|&value| u32::from(value)).sum();
            standard.iter().map(|&base| scaled(base, *quality, largest)).sum::<u32>().abs_diff(sum)
        };
        tables.iter().flatten().copied().map(apart).sum()
    };
    // The last of equals: 100 rather than 99 where both have a table of ones.
    (1..=100).rev().min_by_key(distance)
}

/// An entry of a standard table at `quality`, as in libjpeg's `jpeg_quality_scaling`.
fn scaled(base: u16, quality: u8, largest: u32) -> u32 {
    let quality = u32::from(quality);
    let percent = if quality < 50 { 5000 / quality } else { 200 - quality * 2 };
    ((u32::from(base) * percent + 50) / 100).clamp(1, largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::{JpegOptions, jpeg::fixture::*},
        picture::Channels,
    };

    /// The tables of libjpeg at `quality`; their order does not matter here.
    fn standard(quality: u8) -> JpegOptions {
        let table = |base: &[u16; 64]| base.map(|entry| scaled(entry, quality, 255) as u16);
        JpegOptions { luma: table(&LUMA), chroma: table(&CHROMA), ..options(1, false) }
    }

    #[test]
    fn standard_tables_give_back_their_quality() {
        for quality in [10, 50, 75, 85, 95, 100] {
            for channels in [Channels::Gray, Channels::Rgb] {
                let file = encoded(&photo(8, 8, channels), standard(quality)).unwrap();
                assert_eq!(estimate(&Header::read(&file).unwrap()), Some(quality));
            }
        }
    }

    #[test]
    fn finer_tables_never_have_a_lower_quality() {
        let found = |step| {
            let file = encoded(&photo(8, 8, Channels::Rgb), options(step, false)).unwrap();
            estimate(&Header::read(&file).unwrap()).unwrap()
        };
        let qualities: Vec<u8> = [200, 100, 50, 20, 10, 5, 2, 1].map(found).to_vec();
        assert!(qualities.is_sorted() && qualities[7] == 100, "{qualities:?}");
    }
}
