//! The search for one knob: the lowest setting that reaches a score.

use crate::error::{Error, Result};

/// One setting and what it gave.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Trial<T = Vec<u8>> {
    /// The setting.
    pub knob: f64,
    /// Its score.
    pub score: f64,
    /// The file that it makes, or what makes it.
    pub file: T,
}

/// What is sought, and how hard.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Aim {
    /// The score to reach.
    pub target: f64,
    /// How far above the target the search may end.
    pub slack: f64,
    /// Lowest setting.
    pub low: f64,
    /// Highest setting.
    pub high: f64,
    /// Where to begin.
    pub first: f64,
    /// Score gained per unit of the knob near the first, to make the second trial.
    pub slope: f64,
    /// Settings closer than this are the same.
    pub step: f64,
    /// Most trials, as long as one of them came close above the target; two more where none did.
    pub trials: u32,
}

/// Trials that a search may cost beyond its count to come close to the target.
const OVERTIME: u32 = 2;
/// How many times the slack a score may lie above the target to be close.
const CLOSE: f64 = 4.0;
/// How much steeper or flatter than usual a curve is taken to be.
const STEEPER: f64 = 4.0;

/// Finds a setting whose score lies in `target..=target + slack`, or the lowest tried that reaches the target, or the
/// highest tried where none does. `trial` must be roughly monotone: higher knobs score higher and cost more.
///
/// Regula falsi on the score with the bracket kept. As long as one end is missing, the line through the last two trials
/// stands in for it, and at first the known slope.
pub(crate) fn solve<T>(aim: Aim, mut trial: impl FnMut(f64) -> Result<Trial<T>>) -> Result<Trial<T>> {
    let found = solve_while(aim, |knob| trial(knob).map(Some))?;
    found.ok_or_else(|| Error::internal("searching a setting", "a trial is missing"))
}

/// The same, but `None` as soon as a trial is: then nothing worth having is to be found.
pub(crate) fn solve_while<T>(
    aim: Aim,
    mut trial: impl FnMut(f64) -> Result<Option<Trial<T>>>,
) -> Result<Option<Trial<T>>> {
    let middle = aim.target + aim.slack / 2.0;
    let (mut below, mut above): (Option<Trial<T>>, Option<Trial<T>>) = (None, None);
    let mut knob = aim.first.clamp(aim.low, aim.high);
    let mut was_below = None;
    for done in 1..=aim.trials + OVERTIME {
        let Some(tried) = trial(knob)? else { return Ok(None) };
        // Where the curve bends, the line keeps landing on one side; then the bracket is halved instead.
        let is_below = tried.score < aim.target;
        let again = was_below.replace(is_below) == Some(is_below);
        let slope = match below.as_ref().or(above.as_ref()) {
            Some(last) => {
                let seen = (tried.score - last.score) / (tried.knob - last.knob);
                seen.clamp(aim.slope / STEEPER, aim.slope * STEEPER)
            }
            None => aim.slope,
        };
        // Behind time, the target should be reached by the next trial, if by a wider margin.
        let late = (done + 1).saturating_sub(aim.trials);
        let aimed = middle + f64::from(late) * aim.slack;
        let straight = tried.knob + (aimed - tried.score) / slope;
        if tried.score < aim.target {
            below = Some(tried);
        } else if tried.score <= aim.target + aim.slack {
            return Ok(Some(tried));
        } else {
            above = Some(tried);
        }
        let close = above.as_ref().is_some_and(|above| above.score < aim.target + CLOSE * aim.slack);
        if close && done >= aim.trials {
            break;
        }
        let wanted = match (&below, &above) {
            (Some(below), Some(above)) if again => f64::midpoint(below.knob, above.knob),
            (Some(below), Some(above)) => between(below, above, aimed),
            _ => straight,
        };
        let low = below.as_ref().map_or(aim.low, |below| below.knob + aim.step);
        let high = above.as_ref().map_or(aim.high, |above| above.knob - aim.step);
        if low > high {
            break;
        }
        knob = wanted.clamp(low, high);
    }
    match (above, below) {
        (Some(above), _) => Ok(Some(above)),
        (None, Some(below)) if below.knob >= aim.high => Ok(Some(below)),
        _ => trial(aim.high),
    }
}

/// The score gained per unit of the knob between the last two of the settings `tried` and their scores, no more than `steeper` times
/// more or less than what is `usual`.
#[cfg(any(feature = "gif", feature = "webp"))]
pub(crate) fn slope_of(tried: &[(f64, f64)], usual: f64, steeper: f64) -> f64 {
    let seen = match *tried {
        [.., one, other] if one.0 != other.0 => (other.1 - one.1) / (other.0 - one.0),
        _ => usual,
    };
    seen.clamp(usual / steeper, usual * steeper)
}

/// Where the line between two trials crosses the score `aimed` at, kept off the ends so that the bracket shrinks.
fn between<T>(below: &Trial<T>, above: &Trial<T>, aimed: f64) -> f64 {
    let share = ((aimed - below.score) / (above.score - below.score)).clamp(0.1, 0.9);
    below.knob + (above.knob - below.knob) * share
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aim(target: f64) -> Aim {
        Aim { target, slack: 0.5, low: 1.0, high: 100.0, first: 80.0, slope: 0.5, step: 0.25, trials: 12 }
    }

    /// A curve like that of JPEG quality.
    fn curve(knob: f64) -> Result<Trial<()>> {
        Ok(Trial { knob, score: 100.0 - 4000.0 / (knob + 20.0), file: () })
    }

    #[test]
    fn every_reachable_target_is_met_within_the_slack_in_few_trials() {
        for target in [10.0, 30.0, 50.0, 58.0, 66.0] {
            let mut trials = 0;
            let found = solve(aim(target), |knob| {
                trials += 1;
                curve(knob)
            })
            .unwrap();
            assert!((target..=target + 0.6).contains(&found.score), "{target}: {found:?}");
            assert!(trials <= 9, "{target}: {trials} trials");
        }
    }

    #[cfg(any(feature = "gif", feature = "webp"))]
    #[test]
    fn slopes_are_those_of_the_last_trials_but_no_more_than_so_much_from_the_usual() {
        for (tried, slope) in [
            (&[][..], 0.5),
            (&[(70.0, 60.0)], 0.5),
            (&[(70.0, 60.0), (70.0, 61.0)], 0.5),
            (&[(60.0, 99.0), (70.0, 60.0), (74.0, 64.0)], 1.0),
            (&[(70.0, 60.0), (74.0, 100.0)], 2.0),
            (&[(70.0, 60.0), (74.0, 50.0)], 0.125),
        ] {
            assert_eq!(slope_of(tried, 0.5, 4.0), slope, "{tried:?}");
        }
    }

    #[test]
    fn an_unreachable_target_ends_at_the_highest_setting() {
        assert_eq!(solve(aim(95.0), curve).unwrap().knob, 100.0);
    }

    #[test]
    fn a_target_below_the_lowest_setting_ends_at_the_lowest() {
        assert_eq!(solve(aim(-500.0), curve).unwrap().knob, 1.0);
    }

    #[test]
    fn a_jump_in_the_curve_ends_on_its_upper_side() {
        let jump = |knob: f64| Ok(Trial { knob, score: if knob < 42.3 { 20.0 } else { 90.0 }, file: () });
        let found = solve(aim(60.0), jump).unwrap();
        assert!(found.score == 90.0 && found.knob < 43.5, "{found:?}");
    }
}
