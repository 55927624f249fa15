//! The same picture with coarser coefficients.
//!
//! A picture that was quantised once loses twice when it is quantised by other steps around other predictions. By its own it
//! loses only what is worth little. Each macroblock keeps its modes; what it predicts from is the new picture, so that errors
//! do not add up; and what is coded is what is left to the old picture, before the deblocking filter in both.

use super::{
    KeyFrame,
    header::{SEGMENTS, SegmentSteps, Steps},
    modes::{Luma, Macroblock},
    odds::Costs,
    predict::Strip,
    tables::ZIGZAG,
    tokens::{CHROMA, Contexts, Kind, Levels, Residual, Residuals, SECOND},
    transform::{self, Block, Exact},
    trellis::{Weights, quantised},
};
use crate::{control::Run, error::Result};

/// The levels of `frame` that cost least by `costs` where a bit is worth `worth` squared quantiser steps of luma.
pub(super) fn residuals(frame: &KeyFrame, costs: &Costs, worth: f32, run: Run<'_>) -> Result<Residuals> {
    let mut recoder = Recoder {
        old: Strips::new(frame.across),
        new: Strips::new(frame.across),
        contexts: Contexts::new(frame.across),
        costs,
        steps: frame.header.steps(),
        worth,
    };
    let mut residuals = Residuals::default();
    let mut macroblocks = frame.macroblocks.iter().zip(frame.residuals.iter());
    for row in 0..frame.down {
        run.check()?;
        if row > 0 {
            recoder.next_row();
        }
        for (x, (macroblock, residual)) in macroblocks.by_ref().take(frame.across).enumerate() {
            residuals.push(&recoder.macroblock(x, macroblock, &residual));
        }
    }
    Ok(residuals)
}

/// The samples of Y, U and V before the deblocking filter, in whole macroblocks.
#[cfg(test)]
pub(super) fn planes(frame: &KeyFrame) -> [Vec<u8>; 3] {
    let (mut strips, steps) = (Strips::new(frame.across), frame.header.steps());
    let mut planes = [const { Vec::new() }; 3];
    let mut macroblocks = frame.macroblocks.iter().zip(frame.residuals.iter());
    for _ in 0..frame.down {
        for (x, (macroblock, residual)) in macroblocks.by_ref().take(frame.across).enumerate() {
            strips.decode(x, macroblock, &residual, &steps[usize::from(macroblock.segment)]);
        }
        for (plane, strip) in planes.iter_mut().zip(&strips.0) {
            strip.rows().for_each(|row| plane.extend_from_slice(row));
        }
        strips.next_row();
    }
    planes
}

/// The old picture and the new one, a row of macroblocks at a time.
struct Recoder<'a> {
    old: Strips,
    new: Strips,
    contexts: Contexts,
    costs: &'a Costs,
    steps: [SegmentSteps; SEGMENTS],
    /// What a bit is worth in squared quantiser steps.
    worth: f32,
}

impl Recoder<'_> {
    fn next_row(&mut self) {
        self.old.next_row();
        self.new.next_row();
        self.contexts.next_row();
    }

    /// Codes the macroblock in column `x` anew.
    fn macroblock(&mut self, x: usize, macroblock: &Macroblock, residual: &Residual) -> Residual {
        let steps = self.steps[usize::from(macroblock.segment)];
        let known = self.old.decode(x, macroblock, residual, &steps);
        let mut coding = Coding { x, macroblock, known: &known, steps, new: Residual::EMPTY };
        match macroblock.luma {
            Luma::Whole(_) => self.means_apart(&mut coding),
            Luma::Subblocks(_) => (0..CHROMA).for_each(|block| self.block(&mut coding, block)),
        }
        (CHROMA..SECOND).for_each(|block| self.block(&mut coding, block));
        if coding.new.is_empty() {
            self.contexts.skip(x, &macroblock.luma);
        }
        coding.new
    }

    /// Codes a block whose mean is its own.
    fn block(&mut self, coding: &mut Coding<'_>, block: usize) {
        let (kind, step) =
            if block < CHROMA { (Kind::Luma, coding.steps.luma) } else { (Kind::Chroma, coding.steps.chroma) };
        let predicted = self.new.predict(coding.x, block, coding.macroblock);
        let wanted = coding.known.wanted(block, &predicted);
        self.quantise(coding, block, kind, step, &wanted);
        self.new.store(coding.x, block, &predicted, &dequantised(&coding.new.levels[block], step));
    }

    /// Codes luma whose means are in a block of their own.
    fn means_apart(&mut self, coding: &mut Coding<'_>) {
        let predicted: [_; CHROMA] = std::array::from_fn(|block| self.new.predict(coding.x, block, coding.macroblock));
        let wanted: [_; CHROMA] = std::array::from_fn(|block| coding.known.wanted(block, &predicted[block]));
        let changes = std::array::from_fn(|block| wanted[block][0] - coding.known.coefficients[block][0] as f32);
        let second = sum(&coding.known.second, &transform::forward_second(changes));
        self.quantise(coding, SECOND, Kind::Second, coding.steps.second, &second);
        let means = transform::inverse_second(&dequantised(&coding.new.levels[SECOND], coding.steps.second));
        for (block, mean) in means.into_iter().enumerate() {
            self.quantise(coding, block, Kind::Detail, coding.steps.luma, &wanted[block]);
            let mut coefficients = dequantised(&coding.new.levels[block], coding.steps.luma);
            coefficients[0] = mean;
            self.new.store(coding.x, block, &predicted[block], &coefficients);
        }
    }

    fn quantise(&mut self, coding: &mut Coding<'_>, block: usize, kind: Kind, step: Steps, wanted: &Exact) {
        let unit = (coding.steps.luma.ac * coding.steps.luma.ac) as f32;
        let weights = Weights { error: share(kind) / unit, bit: self.worth / 256.0 };
        let context = self.contexts.of(coding.x, block);
        (coding.new.levels[block], coding.new.ends[block]) =
            quantised(wanted, step, weights, self.costs, kind, context);
        self.contexts.set(coding.x, block, coding.new.ends[block] > 0);
    }
}

/// What a squared error counts by its kind: found by trials at equal SSIMULACRA2. An error of a second-order coefficient is
/// spread over four times as many samples, so that it would count a quarter if all samples counted the same.
const fn share(kind: Kind) -> f32 {
    match kind {
        Kind::Detail | Kind::Luma | Kind::Second => 1.0,
        Kind::Chroma => 8.0,
    }
}

/// A macroblock on its way.
struct Coding<'a> {
    x: usize,
    macroblock: &'a Macroblock,
    known: &'a Known,
    steps: SegmentSteps,
    new: Residual,
}

/// What the old picture has in a macroblock: of each block what was predicted and coded, and the means apart.
struct Known {
    predicted: [[u8; 16]; SECOND],
    coefficients: [Block; SECOND],
    second: Block,
}

impl Known {
    /// The coefficients that lead from another prediction of a block to the old picture.
    fn wanted(&self, block: usize, predicted: &[u8; 16]) -> Exact {
        let old = &self.predicted[block];
        if old == predicted {
            return self.coefficients[block].map(|coefficient| coefficient as f32);
        }
        let changes = std::array::from_fn(|at| i32::from(old[at]) - i32::from(predicted[at]));
        sum(&self.coefficients[block], &transform::forward(&changes))
    }
}

fn sum(coefficients: &Block, changes: &Exact) -> Exact {
    std::array::from_fn(|at| coefficients[at] as f32 + changes[at])
}

/// Y, U and V of a row of macroblocks.
struct Strips([Strip; 3]);

impl Strips {
    fn new(across: usize) -> Self {
        Self([16, 8, 8].map(|size| Strip::new(across, size)))
    }

    fn next_row(&mut self) {
        self.0.iter_mut().for_each(Strip::next_row);
    }

    fn decode(&mut self, x: usize, macroblock: &Macroblock, residual: &Residual, steps: &SegmentSteps) -> Known {
        let mut coefficients: [_; SECOND] = std::array::from_fn(|block| {
            dequantised(&residual.levels[block], if block < CHROMA { steps.luma } else { steps.chroma })
        });
        let second = dequantised(&residual.levels[SECOND], steps.second);
        if let Luma::Whole(_) = macroblock.luma {
            for (coefficients, mean) in coefficients.iter_mut().zip(transform::inverse_second(&second)) {
                coefficients[0] = mean;
            }
        }
        let predicted = std::array::from_fn(|block| {
            let predicted = self.predict(x, block, macroblock);
            self.store(x, block, &predicted, &coefficients[block]);
            predicted
        });
        Known { predicted, coefficients, second }
    }

    fn predict(&self, x: usize, block: usize, macroblock: &Macroblock) -> [u8; 16] {
        let (plane, column, row) = place(block);
        match macroblock.luma {
            Luma::Subblocks(modes) if plane == 0 => self.0[0].subblock(x, block, modes[block]),
            Luma::Whole(mode) if plane == 0 => self.0[0].whole(x, mode, column, row),
            _ => self.0[plane].whole(x, macroblock.chroma, column, row),
        }
    }

    /// Adds the differences that `coefficients` stand for to what was predicted.
    fn store(&mut self, x: usize, block: usize, predicted: &[u8; 16], coefficients: &Block) {
        let mut samples = *predicted;
        if *coefficients != [0; 16] {
            for (sample, difference) in samples.iter_mut().zip(transform::inverse(coefficients)) {
                *sample = (i32::from(*sample) + difference).clamp(0, 255) as u8;
            }
        }
        let (plane, column, row) = place(block);
        self.0[plane].store(x, column, row, &samples);
    }
}

/// The plane of a block, and where in its macroblock it lies.
const fn place(block: usize) -> (usize, usize, usize) {
    if block < CHROMA {
        (0, block % 4 * 4, block / 4 * 4)
    } else {
        (1 + (block - CHROMA) / 4, block % 2 * 4, block / 2 % 2 * 4)
    }
}

/// Levels to coefficients in rows, within the 16 bits that decoders have for them.
fn dequantised(levels: &Levels, steps: Steps) -> Block {
    let mut coefficients = [0; 16];
    for (at, &level) in levels.iter().enumerate().filter(|(_, level)| **level != 0) {
        let step = if at == 0 { steps.dc } else { steps.ac };
        coefficients[ZIGZAG[at]] = i32::from((i32::from(level) * step) as i16);
    }
    coefficients
}
