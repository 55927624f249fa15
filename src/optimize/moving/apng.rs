//! APNG: one palette for all frames, or truecolour with small errors, whichever is smaller at the wanted score.

mod indexed;
mod near;
mod sample;

use super::{Moving, Optimised, Scores};
use crate::{
    codec::{ApngOptions, EncodeOptions},
    control::{Run, Stage},
    error::Result,
    optimize::{Goal, Preset, palette::Remap, png, shortfall},
    picture::Frames,
};

/// Effort of what is delivered.
const EFFORT: u8 = 4;

/// Colours and drawing of `ultra`.
const ULTRA: Remap = Remap { dither: 0.6, tolerance: 0.04 };
const ULTRA_STILL: f32 = 0.04;
/// How palettes of an explicit quality are drawn.
const USUAL: Remap = Remap { dither: 0.5, tolerance: 0.01 };
const USUAL_STILL: f32 = 0.015;

pub(super) fn optimise(frames: &mut dyn Frames, task: &Moving<'_>, run: Run<'_>) -> Result<Optimised> {
    match task.goal {
        Goal::Lossless | Goal::Quality(100) => exact(frames, task, run),
        Goal::Quality(quality) => indexed::fixed(frames, task, png::colours_for(quality), (USUAL, USUAL_STILL), run),
        Goal::Smart(Preset::Ultra) => indexed::fixed(frames, task, png::ULTRA_COLOURS, (ULTRA, ULTRA_STILL), run),
        Goal::Smart(preset) => smart(frames, task, preset.target().unwrap_or(100.0), run),
    }
}

fn encoded(frames: &mut dyn Frames, task: &Moving<'_>, effort: u8, run: Run<'_>) -> Result<Vec<u8>> {
    task.codecs.encode(frames, &EncodeOptions::Apng(ApngOptions { effort }), run)
}

/// Pixel by pixel the same.
fn exact(frames: &mut dyn Frames, task: &Moving<'_>, run: Run<'_>) -> Result<Optimised> {
    run.control.stage(Stage::Encode, 0.5);
    let bytes = encoded(frames, task, EFFORT, run)?;
    Ok(Optimised { bytes, score: 100.0, warnings: Vec::new() })
}

/// The smallest of a palette, near-lossless truecolour and the exact pixels.
fn smart(frames: &mut dyn Frames, task: &Moving<'_>, target: f64, run: Run<'_>) -> Result<Optimised> {
    let indexed = indexed::search(frames, task, target, run)?;
    let near = match &indexed {
        // Few colours that suffice are never beaten by truecolour.
        Some(found) if found.colours < 192 => None,
        _ => near::search(frames, task, target, run)?,
    };
    let best = [indexed.map(|found| found.result), near].into_iter().flatten().min_by_key(|found| found.bytes.len());
    let Some(best) = best else { return exact(frames, task, run) };
    // What is drawn by a program may be smaller as it is.
    if encoded(frames, task, 0, run)?.len() * 3 > best.bytes.len() * 4 {
        return Ok(best);
    }
    let exact = exact(frames, task, run)?;
    Ok(if exact.bytes.len() <= best.bytes.len() { exact } else { best })
}

fn done(bytes: Vec<u8>, scores: Scores, target: f64) -> Optimised {
    Optimised { bytes, score: scores.mean, warnings: shortfall(scores.mean, target).into_iter().collect() }
}
