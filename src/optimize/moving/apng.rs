//! APNG: one palette for all frames, or truecolour with small errors, whichever is smaller at the wanted score.

mod indexed;
mod near;
mod sample;

use self::sample::sample;
use super::{Moving, Optimised, Scores};
use crate::{
    codec::{ApngOptions, EncodeOptions, least},
    control::{Run, Stage},
    error::{Error, Result},
    optimize::{Goal, Preset, palette::Remap, png},
    picture::Frames,
};

/// Effort of what is delivered.
const EFFORT: u8 = 4;
/// In hundredths of the fewest bytes with the least effort, up to how many a way is tried with more; and of a sample, with all frames.
const CLOSE: usize = 115;
const SAMPLED: usize = 150;
/// What that effort leaves of a file.
const GAIN: (u64, u64) = (4, 5);

/// Colours and drawing of `ultra`.
const ULTRA: Remap = Remap { dither: 0.6, tolerance: 0.04 };
const ULTRA_STILL: f32 = 0.04;
/// How palettes of an explicit quality are drawn.
const USUAL: Remap = Remap { dither: 0.5, tolerance: 0.01 };
const USUAL_STILL: f32 = 0.015;

/// The file, and the fewest bytes that it may take without loss where that was tried.
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

/// The smallest of a palette, near-lossless truecolour and the exact pixels: priced with the least effort, by a sample first, and
/// those that come close written with that of what is delivered.
fn smart(frames: &mut dyn Frames, task: &Moving<'_>, target: f64, run: Run<'_>) -> Result<(Optimised, Option<u64>)> {
    let indexed = indexed::search(frames, task, target, run)?;
    let near = match &indexed {
        // Few colours that suffice are never beaten by truecolour.
        Some(found) if found.repeats() && found.colours() < 192 => None,
        _ => near::search(frames, task, target, run)?,
    };
    run.control.stage(Stage::Encode, 0.6);
    let mut ways = vec![Way::Exact];
    ways.extend(indexed.map(Way::Indexed));
    ways.extend(near.map(Way::Near));
    let mut some = sample(frames, task.count);
    let count = some.count;
    let close = if count < task.count { SAMPLED } else { CLOSE };
    let (exact, mut ways) = cheapest(ways, &mut some, &Moving { count, ..*task }, close, run)?;
    if count < task.count && ways.len() > 1 {
        ways = cheapest(ways, frames, task, CLOSE, run)?.1;
    }
    let mut best: Option<Optimised> = None;
    for way in ways {
        let bytes = way.encoded(frames, task, EFFORT, run)?;
        if best.as_ref().is_none_or(|best| bytes.len() < best.bytes.len()) {
            best = Some(Optimised { bytes, score: way.score(), warnings: Vec::new() });
        }
    }
    let best = best.ok_or_else(|| Error::internal("optimising APNG", "there was no way"))?;
    let exact = exact as u64 * u64::from(task.count) / u64::from(count);
    Ok((best, task.stored.map(|_| least(exact * GAIN.0 / GAIN.1))))
}

/// The bytes of the first of `ways` with the least effort, and those ways that come `close` to the fewest, in hundredths of these.
fn cheapest(
    mut ways: Vec<Way>,
    frames: &mut dyn Frames,
    task: &Moving<'_>,
    close: usize,
    run: Run<'_>,
) -> Result<(usize, Vec<Way>)> {
    let mut bytes = Vec::new();
    for way in &ways {
        bytes.push(way.encoded(frames, task, 0, run)?.len());
    }
    let least = bytes.iter().copied().min().unwrap_or(0);
    let mut all = bytes.iter();
    ways.retain(|_| all.next().is_some_and(|bytes| bytes * 100 <= least * close));
    Ok((bytes.first().copied().unwrap_or(0), ways))
}
