//! Coefficients to a file.

use super::{
    blocks::Blocks,
    codes::{Codes, TABLES, Tally, Writer},
    script,
    segments::{marker, write_segment},
    symbols::{AC, Pass, tell},
};
use crate::{control::Run, error::Result};

/// Sequential processes have a frame header of their own for what baseline decoders need not know.
const SOF1: u8 = 0xC1;
const SOF2: u8 = 0xC2;
/// Of so many rows one is counted where a file need not be small.
const COUNTED_ROWS: usize = 4;

/// In the smallest progression found, or in sequential scans (one, unless the components cannot be interleaved).
pub(super) fn write(blocks: &Blocks, progressive: bool, run: Run<'_>) -> Result<Vec<u8>> {
    let script = if progressive { script::smallest(blocks, run)? } else { script::sequential(&blocks.frame) };
    in_passes(blocks, &script, run)
}

/// In sequential scans, some 1 % larger than need be, in half the time.
pub(super) fn quickly(blocks: &Blocks, run: Run<'_>) -> Result<Vec<u8>> {
    let script = script::sequential(&blocks.frame);
    let mut tally = Tally::new();
    for pass in &script {
        tell(blocks, pass, &mut tally, |row| row.is_multiple_of(COUNTED_ROWS), run)?;
    }
    let codes = tally.codes_for_all().map(Some);
    let mut out = head(blocks, &script);
    write_codes(&mut out, &codes);
    script.iter().try_for_each(|pass| write_scan(&mut out, blocks, pass, &codes, run))?;
    Ok(ended(out))
}

/// In these scans: sequential ones, which have all 64 coefficients, or progressive ones.
pub(super) fn in_passes(blocks: &Blocks, script: &[Pass], run: Run<'_>) -> Result<Vec<u8>> {
    let mut out = head(blocks, script);
    for pass in script {
        let mut tally = Tally::new();
        tell(blocks, pass, &mut tally, |_| true, run)?;
        let codes = tally.codes();
        write_codes(&mut out, &codes);
        write_scan(&mut out, blocks, pass, &codes, run)?;
    }
    Ok(ended(out))
}

/// All before the first scan and its codes.
fn head(blocks: &Blocks, script: &[Pass]) -> Vec<u8> {
    let mut out = vec![0xFF, marker::SOI];
    out.extend_from_slice(&blocks.marks);
    write_tables(&mut out, &blocks.tables);
    write_frame(&mut out, blocks, script.iter().all(|pass| pass.band == (0, 63)));
    out
}

fn ended(mut out: Vec<u8>) -> Vec<u8> {
    out.extend([0xFF, marker::EOI]);
    out
}

fn write_tables(out: &mut Vec<u8>, tables: &[[u16; 64]]) {
    for (number, table) in (0u8..).zip(tables) {
        if table.iter().all(|&entry| entry < 256) {
            write_segment(out, marker::DQT, &[&[number], &table.map(|entry| entry as u8)]);
        } else {
            let wide: Vec<u8> = table.iter().flat_map(|entry| entry.to_be_bytes()).collect();
            write_segment(out, marker::DQT, &[&[0x10 | number], &wide]);
        }
    }
}

fn write_frame(out: &mut Vec<u8>, blocks: &Blocks, sequential: bool) {
    let frame = &blocks.frame;
    let baseline = blocks.tables.iter().flatten().all(|&entry| entry < 256);
    let process = match (sequential, baseline) {
        (true, true) => marker::SOF0,
        (true, false) => SOF1,
        (false, _) => SOF2,
    };
    let [height, width] = [frame.height, frame.width].map(|side| (side as u16).to_be_bytes());
    let listed = frame.components.iter().flat_map(|c| [c.id, (c.across << 4 | c.down) as u8, c.table as u8]);
    let listed: Vec<u8> = listed.collect();
    write_segment(out, process, &[&[8], &height, &width, &[frame.components.len() as u8], &listed]);
}

fn write_codes(out: &mut Vec<u8>, codes: &[Option<Codes>; TABLES]) {
    for (table, codes) in codes.iter().enumerate() {
        if let Some(codes) = codes {
            let (class, number) = (table / AC, table % AC);
            write_segment(out, marker::DHT, &[&[(class << 4 | number) as u8], &codes.listed()]);
        }
    }
}

fn write_scan(
    out: &mut Vec<u8>,
    blocks: &Blocks,
    pass: &Pass,
    codes: &[Option<Codes>; TABLES],
    run: Run<'_>,
) -> Result<()> {
    let ((first, last), (high, low)) = (pass.band, pass.bits);
    let member = |index: usize| [blocks.frame.components[index].id, (blocks.class(index) * 0x11) as u8];
    let members: Vec<u8> = pass.members().flat_map(member).collect();
    write_segment(out, marker::SOS, &[&[pass.components.1], &members, &[first, last, high << 4 | low]]);
    let mut writer = Writer::new(codes, out);
    tell(blocks, pass, &mut writer, |_| true, run)?;
    writer.finish();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::jpeg::fixture::{made, run},
        picture::Channels,
    };

    /// Few coefficients, most of them small, some large.
    fn sparse(component: usize, block: usize, k: usize) -> i16 {
        let mix = (component * 7919 + block * 64 + k).wrapping_mul(0x9E37_79B9) >> 7 & 0xFFFF;
        match mix % 97 {
            0..=11 if k < 40 => ((mix >> 8) % 7) as i16 - 3,
            12 => 1023 - ((mix >> 8) % 2047) as i16,
            _ if k == 0 => ((mix >> 8) % 400) as i16 - 200,
            _ => 0,
        }
    }

    fn read(file: &[u8]) -> Blocks {
        Blocks::of_file(file, run()).unwrap()
    }

    #[test]
    fn coefficients_survive_every_kind_of_scan_whatever_the_sampling() {
        let samplings: [&[(usize, usize)]; 6] = [
            &[(1, 1)],
            &[(2, 2)],
            &[(1, 1), (1, 1), (1, 1)],
            &[(2, 1), (1, 1), (1, 1)],
            &[(2, 2), (1, 1), (1, 1)],
            &[(1, 2), (1, 1), (1, 1)],
        ];
        for units in samplings {
            for size in [(1, 1), (17, 9), (100, 75)] {
                let blocks = made(size, units, sparse);
                let sequential = in_passes(&blocks, &script::sequential(&blocks.frame), run()).unwrap();
                let progressive = write(&blocks, true, run()).unwrap();
                for file in [sequential, quickly(&blocks, run()).unwrap(), progressive] {
                    assert!(read(&file).planes == blocks.planes, "{units:?} {size:?}");
                }
            }
        }
    }

    #[test]
    fn low_bits_and_bands_survive_in_any_order() {
        let blocks = made((90, 60), &[(1, 1)], sparse);
        let pass = |band, bits| Pass { components: (0, 1), band, bits };
        for low in 1..=5 {
            for split in [1, 5, 62] {
                let mut script =
                    vec![pass((0, 0), (0, low)), pass((1, split), (0, low)), pass((split + 1, 63), (0, low))];
                for bit in (0..low).rev() {
                    script.extend([(0, 0), (1, 63)].map(|band| pass(band, (bit + 1, bit))));
                }
                assert!(read(&in_passes(&blocks, &script, run()).unwrap()).planes == blocks.planes, "{low} {split}");
            }
        }
    }

    #[test]
    fn runs_of_ended_blocks_may_be_longer_than_a_symbol_can_say() {
        let blocks = made((1600, 1700), &[(1, 1)], |_, block, k| i16::from(block == 41_000 && k == 5));
        assert!(blocks.planes[0].blocks.len() > 0x7FFF + 1000);
        assert!(read(&write(&blocks, true, run()).unwrap()).planes == blocks.planes);
    }

    #[test]
    fn correction_bits_do_not_pile_up_beyond_what_decoders_expect() {
        let blocks = made((400, 400), &[(1, 1)], |_, block, k| if k < 30 { 4 + (block * k % 3) as i16 } else { 0 });
        let pass = |band, bits| Pass { components: (0, 1), band, bits };
        let script = [pass((0, 0), (0, 0)), pass((1, 63), (0, 2)), pass((1, 63), (2, 1)), pass((1, 63), (1, 0))];
        assert!(read(&in_passes(&blocks, &script, run()).unwrap()).planes == blocks.planes);
    }

    #[test]
    fn coarse_tables_are_written_wide_and_a_baseline_file_says_so() {
        let blocks = made((20, 20), &[(1, 1), (1, 1), (1, 1)], sparse);
        let file = write(&blocks, false, run()).unwrap();
        assert!(file.windows(2).any(|pair| pair == [0xFF, SOF1]));
        assert_eq!(read(&file).tables, blocks.tables);
    }

    #[test]
    fn independent_decoders_agree_on_the_pixels_of_all_forms() {
        let mut blocks = made((61, 43), &[(2, 2), (1, 1), (1, 1)], |c, b, k| sparse(c, b, k) / 8);
        blocks.tables = vec![[3; 64], [4; 64]];
        let decoded = |file: &[u8]| image::load_from_memory(file).unwrap().into_rgb8().into_raw();
        let pixels = blocks.pixels(run()).unwrap();
        assert_eq!(pixels.channels(), Channels::Rgb);
        for progressive in [false, true] {
            assert!(decoded(&write(&blocks, progressive, run()).unwrap()) == pixels.eight().unwrap());
        }
    }

    #[test]
    fn the_search_never_loses_to_one_scan_a_component() {
        for seed in 0..4 {
            let blocks = made((120, 80), &[(2, 2), (1, 1), (1, 1)], |c, b, k| sparse(c, b + 1000 * seed, k));
            let plain = [0, 1, 2].map(|c| Pass { components: (c, 1), band: (1, 63), bits: (0, 0) });
            let script = [&[Pass { components: (0, 3), band: (0, 0), bits: (0, 0) }], &plain[..]].concat();
            let plain = in_passes(&blocks, &script, run()).unwrap();
            assert!(write(&blocks, true, run()).unwrap().len() <= plain.len());
        }
    }
}
