//! APNG: one palette for all frames, or truecolour with small errors, whichever is smaller at the wanted score.

mod indexed;
mod near;
mod sample;

use super::{Moving, Optimised, Scores};
use crate::{
    codec::{ApngOptions, EncodeOptions},
    control::{Run, Stage},
    error::{Error, Result},
    optimize::{Goal, Preset, palette::Remap, png},
    picture::Frames,
};

/// Effort of what is delivered.
const EFFORT: u8 = 4;
/// In hundredths of the fewest bytes with the least effort, up to how many a way is tried with more.
const CLOSE: usize = 115;
/// What that effort leaves of a file.
const GAIN: (usize, usize) = (4, 5);

/// Colours and drawing of `ultra`.
const ULTRA: Remap = Remap { dither: 0.6, tolerance: 0.04 };
const ULTRA_STILL: f32 = 0.04;
/// How palettes of an explicit quality are drawn.
const USUAL: Remap = Remap { dither: 0.5, tolerance: 0.01 };
const USUAL_STILL: f32 = 0.015;

/// The file, and about how many bytes it would take without loss where that was tried.
pub(super) fn optimise(frames: &mut dyn Frames, task: &Moving<'_>, run: Run<'_>) -> Result<(Optimised, Option<u64>)> {
    let done = match task.goal {
        Goal::Lossless | Goal::Quality(100) => exact(frames, task, run),
        Goal::Quality(quality) => indexed::fixed(frames, task, png::colours_for(quality), (USUAL, USUAL_STILL), run),
        Goal::Smart(Preset::Ultra) => indexed::fixed(frames, task, png::ULTRA_COLOURS, (ULTRA, ULTRA_STILL), run),
        Goal::Smart(preset) => {
            let target = preset.target_of(frames.layout()).unwrap_or(100.0);
            return smart(frames, task, target, run);
        }
    };
    Ok((done?, None))
}

fn encoded(frames: &mut dyn Frames, task: &Moving<'_>, effort: u8, run: Run<'_>) -> Result<Vec<u8>> {
    task.codecs.encode(frames, &EncodeOptions::Apng(ApngOptions { effort }), run)
}

/// What `with` makes of the frames in the colours of one palette for all of them, which reaches `target`, and how that scores;
/// `None` where no palette does.
#[cfg(feature = "webp")]
pub(super) fn in_few_colours<T>(
    frames: &mut dyn Frames,
    task: &Moving<'_>,
    target: f64,
    run: Run<'_>,
    with: impl FnOnce(&mut dyn Frames) -> Result<T>,
) -> Result<Option<(T, Scores)>> {
    let Some(found) = indexed::search(frames, task, target, run)? else { return Ok(None) };
    Ok(Some((found.shown(frames, task.count, with)?, found.scores)))
}

/// Pixel by pixel the same.
fn exact(frames: &mut dyn Frames, task: &Moving<'_>, run: Run<'_>) -> Result<Optimised> {
    run.control.stage(Stage::Encode, 0.5);
    let bytes = encoded(frames, task, EFFORT, run)?;
    Ok(Optimised { bytes, score: 100.0, warnings: Vec::new() })
}

/// A way to reach the target.
enum Way {
    Indexed(indexed::Found),
    Near(near::Found),
    /// What is drawn by a program may be smaller as it is.
    Exact,
}

impl Way {
    fn encoded(&self, frames: &mut dyn Frames, task: &Moving<'_>, effort: u8, run: Run<'_>) -> Result<Vec<u8>> {
        match self {
            Self::Indexed(found) => found.encoded(frames, task, effort, run),
            Self::Near(found) => found.encoded(frames, task, effort, run),
            Self::Exact => encoded(frames, task, effort, run),
        }
    }

    const fn score(&self) -> f64 {
        match self {
            Self::Indexed(found) => found.scores.mean,
            Self::Near(found) => found.scores.mean,
            Self::Exact => 100.0,
        }
    }
}

/// The smallest of a palette, near-lossless truecolour and the exact pixels: priced with the least effort, and those that
/// come close written with that of what is delivered.
fn smart(frames: &mut dyn Frames, task: &Moving<'_>, target: f64, run: Run<'_>) -> Result<(Optimised, Option<u64>)> {
    let indexed = indexed::search(frames, task, target, run)?;
    let near = match &indexed {
        // Few colours that suffice are never beaten by truecolour.
        Some(found) if found.repeats() && found.colours() < 192 => None,
        _ => near::search(frames, task, target, run)?,
    };
    run.control.stage(Stage::Encode, 0.6);
    let exact = encoded(frames, task, 0, run)?.len();
    let mut ways = vec![(exact, Way::Exact)];
    for way in indexed.map(Way::Indexed).into_iter().chain(near.map(Way::Near)) {
        ways.push((way.encoded(frames, task, 0, run)?.len(), way));
    }
    let least = ways.iter().map(|way| way.0).min().unwrap_or(0);
    let mut best: Option<Optimised> = None;
    for (_, way) in ways.iter().filter(|way| way.0 * 100 <= least * CLOSE) {
        let bytes = way.encoded(frames, task, EFFORT, run)?;
        if best.as_ref().is_none_or(|best| bytes.len() < best.bytes.len()) {
            best = Some(Optimised { bytes, score: way.score(), warnings: Vec::new() });
        }
    }
    let best = best.ok_or_else(|| Error::internal("optimising APNG", "there was no way"))?;
    Ok((best, task.stored.map(|_| (exact * GAIN.0 / GAIN.1) as u64)))
}
