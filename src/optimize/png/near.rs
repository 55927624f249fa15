//! Truecolour with small errors where they save most: a closed-loop quantisation of what PNG's filter leaves over, as
//! near-lossless JPEG-LS does it (ITU-T T.87, 3.3), by rate and distortion, as video is (G. Sullivan and T. Wiegand,
//! *Rate-distortion optimization for video compression*, 1998).

use super::{Optimised, Task, leftovers::Leftovers, options};
use crate::{
    codec::{EncodeOptions, png::paeth},
    control::{Run, Stage},
    error::Result,
    optimize::{
        metric::{Reference, Sample, times},
        probe,
    },
    picture::{Picture, Samples},
};

/// How far samples are apart that can follow on the same neighbours: where it is smooth, and where it is busy, a multiple of
/// that, so that all leftovers are of one lattice. Kept as places in [`SMOOTH`], [`TIMES`] and [`BITS`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) struct Steps {
    smooth: usize,
    times: usize,
    bits: usize,
}

/// Steps where it is smooth: odd, as an even one errs as much as the next odd one, and none by which bands would be seen.
const SMOOTH: [i32; 5] = [9, 7, 5, 3, 1];
/// How many times as far they are apart where it is busy; beyond these, edges get rough.
const TIMES: [i32; 4] = [1, 2, 3, 4];
/// How many bits weigh as much as the square of a step: about what finer steps would pay for less error, and less, for what
/// lies between.
const BITS: [u64; 2] = [10, 25];

impl Steps {
    const COARSEST: Self = Self { smooth: 0, times: TIMES.len() - 1, bits: 0 };

    const fn smooth(self) -> i32 {
        SMOOTH[self.smooth]
    }

    /// What is exact where it is smooth errs by a little at least where it is busy.
    pub(in super::super) const fn busy(self) -> i32 {
        let smooth = self.smooth();
        if smooth == 1 { 1 + TIMES[self.times] } else { smooth * TIMES[self.times] }
    }

    /// Those that err by less where it is busy, or else where it is smooth, and nowhere by more.
    pub(in super::super) const fn finer(self) -> Option<Self> {
        match self {
            Self { times: 1.., .. } => Some(Self { times: self.times - 1, ..self }),
            Self { smooth, times: 0, .. } if smooth + 1 < SMOOTH.len() => Some(Self { smooth: smooth + 1, ..self }),
            _ => None,
        }
    }

    const fn coarser(self) -> Option<Self> {
        if self.times + 1 < TIMES.len() { Some(Self { times: self.times + 1, ..self }) } else { None }
    }
}

/// What steps gave: a score, about how many bits, and what they made.
pub(in super::super) struct Tried<T> {
    pub(in super::super) score: f64,
    pub(in super::super) bits: u64,
    pub(in super::super) made: T,
}

/// The cheapest steps that reach `target`, if any but exact ones do: which of smooth and busy areas may err by how much more
/// differs from picture to picture. Along the line between those that reach it and those that do not; `trial` is told how
/// many bits are too many, and need not score what takes them.
pub(in super::super) fn cheapest_steps<T>(
    target: f64,
    mut trial: impl FnMut(Steps, u64) -> Result<Option<Tried<T>>>,
) -> Result<Option<(Steps, Tried<T>)>> {
    let mut best: Option<(Steps, Tried<T>)> = None;
    for bits in 0..BITS.len() {
        let mut at = Some(Steps { smooth: 0, times: 0, bits });
        while let Some(steps) = at {
            let enough = best.as_ref().map_or(u64::MAX, |best| best.1.bits);
            let tried = trial(steps, enough)?;
            if tried.as_ref().is_some_and(|tried| tried.score < target) {
                at = (steps.smooth + 1 < SMOOTH.len()).then_some(Steps { smooth: steps.smooth + 1, ..steps });
                continue;
            }
            at = steps.coarser();
            if let Some(tried) = tried.filter(|tried| tried.bits < enough) {
                best = Some((steps, tried));
            }
        }
    }
    Ok(best)
}

/// How far above the target the whole picture must be for coarser steps than its bands need to be tried.
const SPARE: f64 = 0.5;

/// The smallest file whose samples err a little and that reaches `target`, and what it shows; `None` if only exact pixels do, or
/// if it takes more than `enough` bytes at no effort.
pub(super) fn search(
    task: &Task<'_>,
    reference: &Reference,
    sample: Option<&Sample>,
    target: f64,
    enough: f64,
    run: Run<'_>,
) -> Result<Option<(Optimised, Picture)>> {
    let cheapest = |picture: &Picture, reference: &Reference| {
        cheapest_steps(target, |steps, enough| {
            let (made, bits) = near(picture, steps, run)?;
            (bits < enough).then(|| Ok(Tried { score: reference.score(&made, run)?, bits, made })).transpose()
        })
    };
    let encoded = |near: &Picture, effort| probe::encode(task, near, &EncodeOptions::Png(options(task, effort)), run);
    if enough.is_finite() {
        let part = sample.map_or(task.picture, |sample| &sample.picture);
        let coarsest = encoded(&near(part, Steps::COARSEST, run)?.0, 0)?.len() as f64;
        if coarsest * times(task.picture, part) > enough {
            return Ok(None);
        }
    }
    let found = match sample {
        Some(Sample { picture, reference: of_bands }) => match cheapest(picture, of_bands)? {
            Some((steps, _)) => whole(task.picture, reference, steps, target, run)?,
            None => None,
        },
        None => cheapest(task.picture, reference)?.map(|(_, tried)| (tried.made, tried.score)),
    };
    let Some((near, score)) = found else { return Ok(None) };
    run.control.stage(Stage::Encode, 0.7);
    if enough.is_finite() && encoded(&near, 0)?.len() as f64 > enough {
        return Ok(None);
    }
    let bytes = encoded(&near, super::EFFORT)?;
    Ok(Some((Optimised { bytes, score, warnings: Vec::new() }, near)))
}

/// The picture by `steps` or those next to them, as it takes to reach `target`, and its score.
fn whole(
    picture: &Picture,
    reference: &Reference,
    steps: Steps,
    target: f64,
    run: Run<'_>,
) -> Result<Option<(Picture, f64)>> {
    let scored = |steps| -> Result<(Picture, f64)> {
        let near = near(picture, steps, run)?.0;
        let score = reference.score(&near, run)?;
        Ok((near, score))
    };
    let mut best = scored(steps)?;
    let mut at = Some(steps);
    if best.1 >= target + SPARE
        && let Some(coarser) = steps.coarser()
    {
        let tried = scored(coarser)?;
        best = if tried.1 >= target { tried } else { best };
    }
    while best.1 < target {
        at = at.and_then(Steps::finer);
        let Some(finer) = at else { return Ok(None) };
        best = scored(finer)?;
    }
    Ok(Some(best))
}

/// The picture with errors of up to half of a step a sample, and three quarters where it is busy: where it is smooth, what saves
/// bits would be seen as streaks. Every sample is what its Paeth prediction from the changed neighbours says, plus a multiple of
/// the step: of all filters Paeth errs least on photographs, and one filter for all rows keeps the leftovers few. Of translucent
/// colours as little is seen as alpha says, so that they may err by as much more, in powers of two, as more kinds of steps leave
/// more kinds of leftovers. Alpha stays exact. Also about how many bits that takes.
pub(in super::super) fn near(picture: &Picture, steps: Steps, run: Run<'_>) -> Result<(Picture, u64)> {
    let count = picture.channels().count();
    let colours = count - usize::from(picture.channels().has_alpha());
    let stride = picture.layout().row_samples();
    let source = picture.eight().unwrap_or(&[]);
    let mut out = source.to_vec();
    let (mut leftovers, mut bits) = (Leftovers::new(), 0);
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
            let sample = |inside: bool, offset: usize| if inside { out[at - offset] } else { 0 };
            let left = sample(x >= count, count);
            let above = sample(y > 0, stride);
            let corner = sample(x >= count && y > 0, stride + count);
            let predicted = i32::from(paeth(left, above, corner));
            let wanted = i32::from(row[x]);
            let busy = busy(source, at, x, y, count, stride);
            let step = if busy { steps.busy() } else { steps.smooth() };
            let step = step << (255 / u32::from(alpha.max(1))).ilog2();
            let exact = wanted - predicted;
            let leftover = match alpha {
                0 => 0,
                _ if busy => cheapest(exact, predicted, step, BITS[steps.bits], &leftovers),
                _ => nearest(exact, predicted, step),
            };
            bits += leftovers.price(leftover);
            leftovers.push(leftover);
            out[at] = (predicted + leftover) as u8;
        }
    }
    let near = Picture::new(picture.width(), picture.height(), picture.channels(), Samples::Eight(out))?;
    Ok((near, bits / 256))
}

/// Whether a sample differs from those around it by more than a gradient does.
fn busy(source: &[u8], at: usize, x: usize, y: usize, count: usize, stride: usize) -> bool {
    const GRADIENT: u8 = 4;
    let differs = |inside: bool, offset: usize| inside && source[at - offset].abs_diff(source[at]) > GRADIENT;
    differs(x >= count, count) || differs(y > 0, stride)
}

/// The multiple of `step` that comes nearest to the `exact` leftover without taking what is `predicted` out of 0..=255, of two
/// the smaller.
const fn nearest(exact: i32, predicted: i32, step: i32) -> i32 {
    let nearest = (exact.abs() + (step - 1) / 2) / step * step * exact.signum();
    if predicted + nearest < 0 || predicted + nearest > 255 { nearest - step * exact.signum() } else { nearest }
}

/// That, one step less or none: what is worth its bits.
fn cheapest(exact: i32, predicted: i32, step: i32, bits: u64, leftovers: &Leftovers) -> i32 {
    let nearest = nearest(exact, predicted, step);
    if nearest == 0 {
        return 0;
    }
    let error = |leftover: i32| u64::from((exact - leftover).unsigned_abs());
    let wide = u64::from(step.unsigned_abs());
    let cost = |leftover: i32| bits * 256 * error(leftover).pow(2) + wide.pow(2) * leftovers.price(leftover);
    let less = [nearest - step * nearest.signum(), 0].into_iter().filter(|leftover| error(*leftover) * 4 <= 3 * wide);
    less.fold(nearest, |best, leftover| if cost(leftover) < cost(best) { leftover } else { best })
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
            let near = near(&picture, Steps { smooth: 2, times: 1, bits: 0 }, run).unwrap().0;
            let errors =
                near.eight().unwrap().iter().zip(&samples).enumerate().map(|(at, (a, b))| (at % 4, a.abs_diff(*b)));
            assert!(errors.clone().all(|(channel, error)| channel < 3 || error == 0));
            errors.map(|(_, error)| error).max().unwrap()
        };
        for (alpha, step) in [(255, 10), (128, 10), (100, 20), (32, 40)] {
            let most = u32::from(error(alpha));
            assert!(most * 2 > step && most * 4 <= step * 3, "{most} at alpha {alpha}");
        }
    }

    #[test]
    fn the_cheapest_steps_that_reach_the_target_are_found_without_trying_all() {
        let mut trials = 0;
        let mut search = |target: f64| {
            trials = 0;
            let found = cheapest_steps(target, |steps, enough| {
                trials += 1;
                let (smooth, busy, bits) = (steps.smooth(), steps.busy(), BITS[steps.bits]);
                let score = 100.0 - f64::from(2 * smooth * smooth + busy) - 20.0 / bits as f64;
                let price = (10_000 / (smooth + 10) + 10_000 / busy) as u64 + bits;
                Ok((price < enough).then_some(Tried { score, bits: price, made: () }))
            });
            let found = found.unwrap().map(|(steps, _)| (steps.smooth(), steps.busy(), BITS[steps.bits]));
            (found, trials)
        };
        assert_eq!(search(61.9).0, Some((3, 12, 10)));
        assert_eq!(search(99.0).0, None);
        assert!(search(61.9).1 < SMOOTH.len() * TIMES.len());
    }

    #[test]
    fn finer_steps_end_where_little_errs() {
        let mut steps = Steps { smooth: 0, times: 3, bits: 0 };
        while let Some(finer) = steps.finer() {
            assert!(finer.smooth() <= steps.smooth() && finer.busy() <= steps.busy());
            steps = finer;
        }
        assert_eq!((steps.smooth(), steps.busy()), (1, 2));
    }
}
