//! The coefficients that the source stores, coarser: for sources that are hardly better than the target.
//!
//! A picture that was quantised once loses twice when it is quantised by other steps around other predictions, and what
//! libwebp makes of it may well be larger.

use std::cell::Cell;

use super::{slack, trials};
use crate::{
    codec::webp::LossyFile,
    control::Run,
    error::{Error, Result},
    optimize::{
        Task,
        metric::Reference,
        probe,
        search::{Aim, Trial, solve},
    },
};

/// Score gained when a bit may cost half as much, in the median of pictures.
const SLOPE: f64 = 6.0;
/// Where every coefficient is kept, and where next to none is.
const KNOBS: (f64, f64) = (0.0, 14.0);

/// The smallest such file that reaches the target, or the one that comes nearest; `None` where the source is not lossy, or
/// the format has no room for its modes when they are written anew.
pub(super) fn search(task: &Task<'_>, reference: &Reference, target: f64, run: Run<'_>) -> Result<Option<Trial>> {
    let Some(stored) = task.stored else { return Ok(None) };
    let Some(source) = LossyFile::parse(stored, run)? else { return Ok(None) };
    let no_room = Cell::new(false);
    let trial = |knob: f64| {
        let Some(file) = source.coarser(worth(knob), run)? else {
            no_room.set(true);
            return Err(Error::unsupported("a WebP with that much detail"));
        };
        Ok(Trial { knob, score: probe::score(task, reference, &file, run)?, file })
    };
    let aim = aim(target, slack(task));
    match solve(Aim { trials: trials(task, aim.trials), ..aim }, trial) {
        Err(_) if no_room.get() => Ok(None),
        found => found.map(Some),
    }
}

/// How to seek the knob that reaches `target`.
pub(in crate::optimize) fn aim(target: f64, slack: f64) -> Aim {
    let first = 7.0 + (target - 80.0) / 10.0;
    Aim { target, slack, low: KNOBS.0, high: KNOBS.1, first, slope: SLOPE, step: 0.02, trials: 5 }
}

/// What a bit is worth in squared quantiser steps: half as much for each unit of the knob, and in a straight line between.
pub(in crate::optimize) fn worth(knob: f64) -> f32 {
    let whole = knob.floor();
    (0.5f64.powi(whole as i32) * (1.0 - (knob - whole) / 2.0)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_is_worth_half_with_each_unit_and_never_more_in_between() {
        assert_eq!((worth(0.0), worth(1.0), worth(7.0)), (1.0, 0.5, 1.0 / 128.0));
        let worths: Vec<_> = (0..140).map(|knob| worth(f64::from(knob) / 10.0)).collect();
        assert!(worths.windows(2).all(|pair| pair[0] > pair[1]));
    }
}
