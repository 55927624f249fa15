//! Truecolour with small errors where they save most: a closed-loop quantisation of what PNG's filter leaves over, as
//! near-lossless JPEG-LS does it (ITU-T T.87, 3.3).

use super::{Optimised, Task, options};
use crate::{
    codec::EncodeOptions,
    control::{Run, Stage},
    error::Result,
    optimize::{
        metric::{Reference, bands},
        probe,
        search::{Aim, Trial, solve},
    },
    picture::{Picture, Samples},
};

/// How far samples are apart that can follow on the same neighbours: where it is smooth, and where it is busy, a multiple of
/// that, so that all leftovers are of one lattice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) struct Steps {
    smooth: i32,
    pub(in super::super) busy: i32,
}

/// Those that are tried, the coarsest first; the last are exact. Smooth ones are odd, as an even one errs as much as the next odd
/// one, and end where bands would be seen.
pub(in super::super) const STEPS: [Steps; 15] = {
    const fn steps(smooth: i32, busy: i32) -> Steps {
        Steps { smooth, busy }
    }
    [
        steps(9, 63),
        steps(9, 45),
        steps(9, 36),
        steps(9, 27),
        steps(9, 18),
        steps(9, 9),
        steps(7, 14),
        steps(7, 7),
        steps(5, 10),
        steps(5, 5),
        steps(3, 6),
        steps(3, 3),
        steps(1, 4),
        steps(1, 2),
        EXACT,
    ]
};
pub(in super::super) const EXACT: Steps = Steps { smooth: 1, busy: 1 };

/// The search for the coarsest of [`STEPS`], whose index is the knob.
pub(in super::super) const fn aim(target: f64) -> Aim {
    let high = (STEPS.len() - 1) as f64;
    Aim { target, slack: 0.5, low: 0.0, high, first: 7.0, slope: 3.0, step: 1.0, trials: 6 }
}

/// The smallest file whose samples err a little and that reaches `target`; `None` if only exact pixels do, or if it takes more
/// than `enough` bytes at no effort.
pub(super) fn search(
    task: &Task<'_>,
    reference: &Reference,
    target: f64,
    enough: f64,
    run: Run<'_>,
) -> Result<Option<Optimised>> {
    let aim = aim(target);
    let trial = |picture: &Picture, reference: &Reference, knob: f64| {
        let knob = knob.round();
        let near = near(picture, STEPS[knob as usize], run)?;
        Ok(Trial { knob, score: reference.score(&near, run)?, file: near })
    };
    let first = match bands(task.picture) {
        Some(bands) => {
            let reference = Reference::of_bands(&bands, run)?;
            solve(aim, |knob| trial(&bands, &reference, knob))?.knob
        }
        None => aim.first,
    };
    let found = solve(Aim { first, ..aim }, |knob| trial(task.picture, reference, knob))?;
    if STEPS[found.knob as usize] == EXACT || found.score < target {
        return Ok(None);
    }
    run.control.stage(Stage::Encode, 0.7);
    let encoded = |effort| probe::encode(task, &found.file, &EncodeOptions::Png(options(task, effort)), run);
    if enough.is_finite() && encoded(0)?.len() as f64 > enough {
        return Ok(None);
    }
    let bytes = encoded(super::EFFORT)?;
    Ok(Some(Optimised { bytes, score: found.score, warnings: Vec::new() }))
}

/// The picture with errors of up to half of a step a sample. Every sample is what its Paeth prediction from the changed
/// neighbours says, plus a multiple of the step: of all filters Paeth errs least on photographs, and one filter for all rows keeps
/// the leftovers few. Of translucent colours as little is seen as alpha says, so that they may err by as much more, in powers of
/// two, as more kinds of steps leave more kinds of leftovers. Alpha stays exact.
pub(in super::super) fn near(picture: &Picture, steps: Steps, run: Run<'_>) -> Result<Picture> {
    let count = picture.channels().count();
    let colours = count - usize::from(picture.channels().has_alpha());
    let stride = picture.layout().row_samples();
    let source = picture.eight().unwrap_or(&[]);
    let mut out = source.to_vec();
    for (y, row) in source.chunks_exact(stride).enumerate() {
        if y % 32 == 0 {
            run.check()?;
        }
        for x in 0..stride {
            let (channel, at) = (x % count, y * stride + x);
            let alpha = if colours == count { u8::MAX } else { row[x - channel + colours] };
            if channel == colours {
                continue;
            }
            let sample = |inside: bool, offset: usize| if inside { i32::from(out[at - offset]) } else { 0 };
            let left = sample(x >= count, count);
            let above = sample(y > 0, stride);
            let corner = sample(x >= count && y > 0, stride + count);
            let predicted = paeth(left, above, corner);
            let wanted = i32::from(row[x]);
            let step = if busy(source, at, x, y, count, stride) { steps.busy } else { steps.smooth };
            out[at] = match alpha {
                0 => predicted as u8,
                alpha => quantised(wanted, predicted, step << (255 / u32::from(alpha)).ilog2()),
            };
        }
    }
    Picture::new(picture.width(), picture.height(), picture.channels(), Samples::Eight(out))
}

/// Whether a sample differs from those around it by more than a gradient does.
fn busy(source: &[u8], at: usize, x: usize, y: usize, count: usize, stride: usize) -> bool {
    const GRADIENT: u8 = 6;
    let differs = |inside: bool, offset: usize| inside && source[at - offset].abs_diff(source[at]) > GRADIENT;
    differs(x >= count, count) || differs(y > 0, stride)
}

/// The prediction plus the multiple of `step` that comes nearest to `wanted` without leaving 0..=255, of two the nearer to it, as
/// small leftovers take fewer bits.
fn quantised(wanted: i32, predicted: i32, step: i32) -> u8 {
    let left_over = wanted - predicted;
    let steps = (left_over.abs() + (step - 1) / 2) / step * left_over.signum();
    let value = predicted + steps * step;
    let inside = if (0..=255).contains(&value) { value } else { value - left_over.signum() * step };
    inside.clamp(0, 255) as u8
}

/// PNG's fifth filter (ISO/IEC 15948, 9.4).
fn paeth(left: i32, above: i32, corner: i32) -> i32 {
    let estimate = left + above - corner;
    let (dl, da, dc) = ((estimate - left).abs(), (estimate - above).abs(), (estimate - corner).abs());
    if dl <= da && dl <= dc {
        left
    } else if da <= dc {
        above
    } else {
        corner
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, limits::Limits, picture::Channels};

    #[test]
    fn colours_err_by_more_the_less_is_seen_of_them_and_alpha_not_at_all() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let noise = |alpha: u8| {
            (0..4096u32)
                .flat_map(move |at| [40, 80, 120].map(|c| c + (at * at * 7 % 61) as u8).into_iter().chain([alpha]))
        };
        let error = |alpha: u8| {
            let samples: Vec<u8> = noise(alpha).collect();
            let picture = Picture::new(64, 64, Channels::Rgba, Samples::Eight(samples.clone())).unwrap();
            let near = near(&picture, Steps { smooth: 5, busy: 10 }, run).unwrap();
            let errors =
                near.eight().unwrap().iter().zip(&samples).enumerate().map(|(at, (a, b))| (at % 4, a.abs_diff(*b)));
            assert!(errors.clone().all(|(channel, error)| channel < 3 || error == 0));
            errors.map(|(_, error)| error).max().unwrap()
        };
        assert_eq!([255, 128, 100, 32].map(error), [5, 5, 10, 20]);
    }
}
