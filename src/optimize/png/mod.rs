//! PNG: palette or truecolour, whichever is smaller at the wanted score.

mod indexed;
mod leftovers;
mod near;

pub(super) use indexed::ULTRA_COLOURS;
#[cfg(feature = "webp")]
pub(super) use indexed::search as few_colours;
pub(super) use near::{Steps, Tried, cheapest_steps, near};

use super::{
    Goal, Optimised, Preset, Task,
    metric::{Reference, Sample, bands, times},
    palette::Histogram,
    probe, worth_having_exactly,
};
use crate::{
    codec::{ColourModel, EncodeOptions, PngOptions, least, most},
    control::{Run, Stage},
    error::Result,
    picture::Picture,
};

/// Effort of what is delivered.
const EFFORT: u8 = 4;
/// The score that `ultra` does not fall below as long as there are more colours: below, as in few colours of soft alpha, nobody
/// would know the picture again.
const LEAST_ULTRA: f64 = 20.0;
/// How many times the bytes of the best lossy file truecolour may take at no effort to be tried with all of it.
const MAY_WIN: f64 = 1.5;
/// Gradients gain more than that by effort: of large pictures, for which no more is asked if this does not suffice.
const MAY_GAIN: f64 = 2.0;
/// Pixels from which on what is exact is looked at before it is coded: of fewer, neither takes long.
const LOOKED_AT: u64 = 1 << 20;
/// The effort by which they are judged where it may, how many times the bytes at it, and by how much that may differ
/// between pictures that are much alike.
const LOOK: u8 = 1;
const LOOK_MAY_GAIN: f64 = 1.3;
const MAY_DIFFER: f64 = 1.1;

/// The file, and the fewest bytes that its pixels may take without loss, where that is known.
pub(crate) fn optimise(task: &Task<'_>, run: Run<'_>) -> Result<(Optimised, Option<u64>)> {
    match task.goal {
        Goal::Lossless | Goal::Quality(100) => Ok((exact(task, run)?, None)),
        Goal::Quality(quality) => {
            exact_where_small(task, indexed::cheapest(task, colours_for(quality), indexed::USUAL, run)?, None, run)
        }
        Goal::Smart(Preset::Ultra) => {
            Ok((indexed::fixed(task, ULTRA_COLOURS, indexed::ULTRA, LEAST_ULTRA, run)?, None))
        }
        Goal::Smart(preset) => smart(task, preset.target_of(task.picture.layout()).unwrap_or(100.0), run),
    }
}

/// Colours for an explicit quality of 1 to 99: 4 to 256, so that equal steps of quality are equal factors.
pub(super) fn colours_for(quality: u8) -> usize {
    const EIGHTHS_OF_AN_OCTAVE: [usize; 8] = [256, 279, 304, 332, 362, 395, 431, 470];
    let eighths = (usize::from(quality) * 48).div_ceil(99);
    (EIGHTHS_OF_AN_OCTAVE[eighths % 8] << (eighths / 8)) >> 6
}

fn options(task: &Task<'_>, effort: u8) -> PngOptions {
    PngOptions { interlaced: task.interlaced, effort }
}

/// Pixel by pixel the same.
fn exact(task: &Task<'_>, run: Run<'_>) -> Result<Optimised> {
    run.control.stage(Stage::Encode, 0.5);
    let bytes = probe::encode(task, task.picture, &EncodeOptions::Png(options(task, EFFORT)), run)?;
    Ok(Optimised { bytes, score: 100.0, warnings: Vec::new() })
}

/// The smallest of a palette, near-lossless truecolour and the exact pixels, and the least that these may take.
fn smart(task: &Task<'_>, target: f64, run: Run<'_>) -> Result<(Optimised, Option<u64>)> {
    let histogram = Histogram::new(task.picture, run)?;
    let reference = Reference::new(task.picture, run)?;
    let sample = Sample::of(task.picture, run)?;
    let indexed = indexed::search(task, &histogram, &reference, sample.as_ref(), target, run)?;
    // Few colours that suffice are never beaten by truecolour.
    let few = indexed.as_ref().is_some_and(|drawn| drawn.most < 192);
    let indexed = indexed.map(|drawn| drawn.finished(task, run)).transpose()?;
    let enough = indexed.as_ref().map_or(f64::INFINITY, |found| found.bytes.len() as f64 * MAY_WIN);
    let near = if few { None } else { near::search(task, &reference, sample.as_ref(), target, enough, run)? };
    let near = near.map(|(found, drawn)| (found, Some(drawn)));
    let found = [indexed.map(|found| (found, None)), near].into_iter().flatten();
    match found.min_by_key(|(found, _)| found.bytes.len()) {
        Some((best, drawn)) => exact_where_small(task, best, drawn.as_ref(), run),
        None => Ok((exact(task, run)?, None)),
    }
}

/// `best`, or the exact pixels where these hardly take more, and the least that they may take. What is `drawn` by it in truecolour
/// tells what effort makes of these.
fn exact_where_small(
    task: &Task<'_>,
    best: Optimised,
    drawn: Option<&Picture>,
    run: Run<'_>,
) -> Result<(Optimised, Option<u64>)> {
    let enough = worth_having_exactly(best.bytes.len());
    let most = most(enough as u64);
    let outlook = outlook(task, most, drawn.map(|drawn| (drawn, best.bytes.len())), run)?;
    if outlook > most {
        return Ok((best, is_looked_at(task).then_some(least(outlook))));
    }
    // What filters leave nothing of, such as ramps and tiles, takes more bytes with errors than without.
    let exact = exact(task, run)?;
    let bytes = exact.bytes.len() as u64;
    // A palette may be in a better order where it is stored.
    let has_palette = task.codecs.probe(task.format, &exact.bytes, run)?.colour == ColourModel::Indexed;
    let fewest = if has_palette { least(bytes) } else { bytes };
    Ok((if bytes <= enough as u64 { exact } else { best }, Some(fewest)))
}

fn is_looked_at(task: &Task<'_>) -> bool {
    task.picture.layout().pixels() >= LOOKED_AT
}

/// The least that the exact pixels are thought to come to, by little effort and from bands of a picture that has them; a large
/// one is looked at more closely where that may be `enough`, beside one much like it, of which all effort makes so many bytes.
fn outlook(task: &Task<'_>, enough: u64, alike: Option<(&Picture, usize)>, run: Run<'_>) -> Result<u64> {
    let coded = |picture: &Picture, effort| -> Result<f64> {
        let bands = bands(picture);
        let part = bands.as_ref().unwrap_or(picture);
        let bytes = probe::encode(task, part, &EncodeOptions::Png(options(task, effort)), run)?.len();
        Ok(bytes as f64 * times(picture, part))
    };
    if !is_looked_at(task) {
        return Ok((coded(task.picture, 0)? / MAY_WIN) as u64);
    }
    let least_of_all = coded(task.picture, 0)? / MAY_GAIN;
    if least_of_all > enough as f64 {
        return Ok(least_of_all as u64);
    }
    let exact = coded(task.picture, LOOK)?;
    let gain = match alike {
        Some((picture, bytes)) => MAY_DIFFER * coded(picture, LOOK)? / bytes as f64,
        None => LOOK_MAY_GAIN,
    };
    Ok((exact / gain) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quality_maps_to_4_to_256_colours_and_never_falls() {
        assert_eq!((colours_for(1), colours_for(99)), (4, 256));
        assert!((1..99).all(|quality| colours_for(quality) <= colours_for(quality + 1)));
    }
}
