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

/// The coarsest step that is tried, and where it is smooth.
const MOST: f64 = 64.0;
const MOST_SMOOTH: i32 = 10;

/// The smallest file whose samples err a little and that reaches `target`; `None` if only exact pixels do, or if it takes more
/// than `enough` bytes at no effort.
pub(super) fn search(
    task: &Task<'_>,
    reference: &Reference,
    target: f64,
    enough: f64,
    run: Run<'_>,
) -> Result<Option<Optimised>> {
    let aim =
        Aim { target, slack: 0.5, low: 0.0, high: MOST - 1.0, first: MOST - 6.0, slope: 2.0, step: 1.0, trials: 6 };
    let trial = |picture: &Picture, reference: &Reference, knob: f64| {
        let near = near(picture, MOST - knob.round(), run)?;
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
    if MOST - found.knob.round() <= 1.0 || found.score < target {
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

/// The picture with errors of up to half of `step` a sample, a third of it where it is smooth and never more than 5. Every
/// sample is what its Paeth prediction from the changed neighbours says, plus a multiple of the step: of all filters Paeth errs
/// least on photographs, and one filter for all rows keeps the leftovers few. Of translucent colours as little is seen as alpha
/// says, so that they may err by as much more, in powers of two, as more kinds of steps leave more kinds of leftovers. Alpha stays
/// exact.
pub(in super::super) fn near(picture: &Picture, step: f64, run: Run<'_>) -> Result<Picture> {
    let coarse = (step as i32).max(1);
    let fine = (coarse / 3).clamp(1, MOST_SMOOTH);
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
            let step = if busy(source, at, x, y, count, stride) { coarse } else { fine };
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

/// The prediction plus the multiple of `step` that comes nearest to `wanted` without leaving 0..=255.
fn quantised(wanted: i32, predicted: i32, step: i32) -> u8 {
    let left_over = wanted - predicted;
    let steps = (left_over.abs() + step / 2) / step * left_over.signum();
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
            let near = near(&picture, 8.0, run).unwrap();
            let errors =
                near.eight().unwrap().iter().zip(&samples).enumerate().map(|(at, (a, b))| (at % 4, a.abs_diff(*b)));
            assert!(errors.clone().all(|(channel, error)| channel < 3 || error == 0));
            errors.map(|(_, error)| error).max().unwrap()
        };
        assert_eq!([255, 128, 100, 32].map(error), [4, 4, 8, 16]);
    }
}
