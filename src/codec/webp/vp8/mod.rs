//! Key frames of VP8 (RFC 6386), the lossy coding of WebP, without a detour over pixels: read, made coarser, written.
//!
//! Pixels are libwebp's business, in both directions. Here a frame is its macroblocks' modes and quantised coefficients, as
//! a JPEG is its blocks.

mod boolean;
mod header;
mod modes;
mod odds;
mod predict;
mod recode;
mod tables;
#[cfg(test)]
mod tests;
mod tokens;
mod transform;
mod trellis;

use self::{
    boolean::{Reader, Writer},
    header::{Header, SEGMENTS},
    modes::{Chances, Macroblock, Surroundings},
    odds::{Costs, Counts},
    tokens::{Contexts, Residual, Residuals, blocks, read_block, write_block},
};
use super::{bitstream::first_partition, riff::damaged};
use crate::{control::Run, error::Result};

/// Bytes before the first partition.
const TAG: usize = 10;
/// The first partition's length has 19 bits.
const MOST_OF_FIRST: usize = (1 << 19) - 1;

/// A key frame.
#[derive(Debug)]
pub(super) struct KeyFrame {
    /// Version, size and scale, as stored.
    tag: [u8; TAG],
    header: Header,
    /// Macroblocks in a row and in a column.
    across: usize,
    down: usize,
    macroblocks: Vec<Macroblock>,
    residuals: Residuals,
}

impl KeyFrame {
    /// Reads the data of a `VP8 ` chunk whose header was checked. What is missing at the end of a partition reads as zeros,
    /// so that damage must be looked for elsewhere.
    pub(super) fn parse(data: &[u8], run: Run<'_>) -> Result<Self> {
        let Some((&tag, rest)) = data.split_first_chunk::<TAG>() else { return Err(damaged("has no VP8 header")) };
        let side = |at: usize| usize::from(u16::from_le_bytes([tag[at], tag[at + 1]]) & 0x3FFF);
        let (across, down) = (side(6).div_ceil(16), side(8).div_ceil(16));
        let first = first_partition(&[tag[0], tag[1], tag[2]]);
        let (first, rest) =
            rest.split_at_checked(first).ok_or_else(|| damaged("has a VP8 partition beyond its end"))?;
        let mut reader = Reader::new(first);
        let (header, map) = Header::read(&mut reader);
        let tokens = odds::read(&mut reader);
        let coded = reader.flag().then(|| reader.number(8));
        let chances = Chances { segments: header.has_map().then_some(map), coded };
        let mut partitions = partitions(rest, header.partitions)?;
        let mut around = Surroundings::new(across);
        let mut contexts = Contexts::new(across);
        let mut macroblocks = Vec::with_capacity(across * down);
        let mut residuals = Residuals::default();
        let count = partitions.len();
        for y in 0..down {
            run.check()?;
            around.next_row();
            contexts.next_row();
            for x in 0..across {
                let (macroblock, coded) = Macroblock::read(&mut reader, chances, &mut around, x);
                let mut residual = Residual::EMPTY;
                if coded {
                    for (block, kind) in blocks(&macroblock.luma) {
                        let context = contexts.of(x, block);
                        let levels = &mut residual.levels[block];
                        residual.ends[block] = read_block(&mut partitions[y % count], &tokens, levels, kind, context);
                        contexts.set(x, block, residual.ends[block] > 0);
                    }
                } else {
                    contexts.skip(x, &macroblock.luma);
                }
                macroblocks.push(macroblock);
                residuals.push(&residual);
            }
        }
        Ok(Self { tag, header, across, down, macroblocks, residuals })
    }

    /// The same picture with coefficients for which a bit is worth an error of `worth` squared quantiser steps; 0 keeps all.
    pub(super) fn coarser(&self, worth: f32, run: Run<'_>) -> Result<Self> {
        // What tokens cost is known when they are chosen: first as in the old frame, then as in a first attempt.
        let attempt = self.recoded(&Costs::new(&self.counts(run)?.fitting()), worth, run)?;
        self.recoded(&Costs::new(&attempt.counts(run)?.fitting()), worth, run)
    }

    fn recoded(&self, costs: &Costs, worth: f32, run: Run<'_>) -> Result<Self> {
        let residuals = recode::residuals(self, costs, worth, run)?;
        Ok(Self { residuals, header: self.header.clone(), macroblocks: self.macroblocks.clone(), ..*self })
    }

    /// Goes through all macroblocks.
    fn each(&self, run: Run<'_>, mut visit: impl FnMut(usize, usize, &Macroblock, &Residual)) -> Result<()> {
        for (at, (macroblock, residual)) in self.macroblocks.iter().zip(self.residuals.iter()).enumerate() {
            if at.is_multiple_of(self.across) {
                run.check()?;
            }
            visit(at % self.across, at / self.across, macroblock, &residual);
        }
        Ok(())
    }

    /// Goes through all blocks of macroblocks that are not skipped, with their contexts.
    fn each_block(
        &self,
        run: Run<'_>,
        mut visit: impl FnMut(&tokens::Levels, usize, tokens::Kind, usize),
    ) -> Result<()> {
        let mut contexts = Contexts::new(self.across);
        self.each(run, |x, _, macroblock, residual| {
            if x == 0 {
                contexts.next_row();
            }
            if residual.is_empty() {
                contexts.skip(x, &macroblock.luma);
                return;
            }
            for (block, kind) in blocks(&macroblock.luma) {
                let end = usize::from(residual.ends[block]);
                visit(&residual.levels[block], end, kind, contexts.of(x, block));
                contexts.set(x, block, end > 0);
            }
        })
    }

    fn counts(&self, run: Run<'_>) -> Result<Counts> {
        let mut counts = Counts::default();
        self.each_block(run, |levels, end, kind, context| counts.add(levels, end, kind, context))?;
        Ok(counts)
    }

    /// The data of a `VP8 ` chunk, if it has room for all modes.
    pub(super) fn write(&self, run: Run<'_>) -> Result<Option<Vec<u8>>> {
        run.check()?;
        let tokens = self.counts(run)?.fitting();
        let mut second = Writer::default();
        let write = |levels: &tokens::Levels, end: usize, kind: tokens::Kind, context: usize| {
            write_block(&mut second, &tokens, levels, end, kind, context);
        };
        self.each_block(run, write)?;
        let first = self.modes(&tokens, run)?;
        if first.len() > MOST_OF_FIRST {
            return Ok(None);
        }
        let mut tag = self.tag;
        let bits = u32::from(tag[0] & 0x1F) | (first.len() as u32) << 5;
        tag[..3].copy_from_slice(&bits.to_le_bytes()[..3]);
        Ok(Some([&tag[..], &first, &second.finish()].concat()))
    }

    /// The first partition.
    fn modes(&self, tokens: &tokens::Chances, run: Run<'_>) -> Result<Vec<u8>> {
        let (mut segments, mut coded) = ([0; SEGMENTS], [0; 2]);
        self.each(run, |_, _, macroblock, residual| {
            segments[usize::from(macroblock.segment)] += 1;
            coded[usize::from(!residual.is_empty())] += 1;
        })?;
        let chances = Chances::fitting(self.header.has_map().then_some(segments), coded[1], coded[0]);
        let mut writer = Writer::default();
        self.header.write(&mut writer, chances.segments.unwrap_or([u8::MAX; 3]));
        odds::write(&mut writer, tokens);
        writer.flag(chances.coded.is_some());
        if let Some(chance) = chances.coded {
            writer.number(chance, 8);
        }
        let mut around = Surroundings::new(self.across);
        self.each(run, |x, _, macroblock, residual| {
            if x == 0 {
                around.next_row();
            }
            macroblock.write(&mut writer, !residual.is_empty(), chances, &mut around, x);
        })?;
        Ok(writer.finish())
    }
}

/// The token partitions behind the table of their lengths; the last reaches to the end.
fn partitions(data: &[u8], logarithm: u8) -> Result<Vec<Reader<'_>>> {
    let count = 1 << logarithm;
    let Some((lengths, mut rest)) = data.split_at_checked(3 * (count - 1)) else {
        return Err(damaged("has no room for its VP8 partitions"));
    };
    let mut readers = Vec::with_capacity(count);
    for length in lengths.chunks_exact(3) {
        let length = u32::from_le_bytes([length[0], length[1], length[2], 0]) as usize;
        let (partition, behind) = rest.split_at(length.min(rest.len()));
        readers.push(Reader::new(partition));
        rest = behind;
    }
    readers.push(Reader::new(rest));
    Ok(readers)
}
