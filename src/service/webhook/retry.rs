//! When a delivery is tried again: arithmetic alone.

use std::time::Duration;

use crate::port::{Answer, Failure};

/// What follows an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Nothing: the notification has arrived.
    Delivered,
    /// Another attempt, so long after this one.
    Again(Duration),
    /// None: the delivery is dead until the host replays it.
    GiveUp,
}

/// Seconds between an attempt that failed and the next.
const SCHEDULE: [u64; 8] = [5, 30, 2 * 60, 10 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600];

/// The longest that a receiver's `Retry-After` puts the next attempt off. With it eight times over and a delay of a day, a
/// delivery ends within the seven days that its result is kept.
const LONGEST_WAIT: Duration = Duration::from_secs(12 * 3600);

/// What follows an attempt that ended with `answer`, after `failures` that failed before it. 2xx is delivered, and nothing
/// else. Otherwise there is another attempt, after 5 s, 30 s, 2 min, 10 min, 30 min, 2 h, 5 h and 10 h, each ±20 %, or as
/// long as the receiver's `Retry-After` asks for if that is longer, 12 h at most. 410 ends it, as does the ninth failure.
///
/// Failures that would last are tried again like others: within hours people mend names and certificates.
///
/// `random` is any number, evenly distributed, which spreads the attempts of many deliveries.
pub fn after(failures: u32, answer: &Result<Answer, Failure>, random: u64) -> Next {
    const GONE: u16 = 410;
    let answer = answer.as_ref().ok();
    match (answer.map(|answer| answer.status), SCHEDULE.get(failures as usize)) {
        (Some(200..=299), _) => Next::Delivered,
        (Some(GONE), _) | (_, None) => Next::GiveUp,
        (_, Some(seconds)) => {
            // 800 to 1,200 thousandths.
            let spread = Duration::from_millis(seconds * (800 + random % 401));
            let asked = answer.and_then(|answer| answer.retry_after).unwrap_or_default();
            Next::Again(spread.max(asked.min(LONGEST_WAIT)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, retry_after: Option<u64>) -> Result<Answer, Failure> {
        Ok(Answer { status, retry_after: retry_after.map(Duration::from_secs) })
    }

    fn silence() -> Result<Answer, Failure> {
        Err(Failure::passing("no connection"))
    }

    const fn again(millis: u64) -> Next {
        Next::Again(Duration::from_millis(millis))
    }

    #[test]
    fn each_failure_waits_as_the_schedule_says_within_a_fifth() {
        let expected = [5, 30, 120, 600, 1800, 7200, 18_000, 36_000];
        for (failures, seconds) in (0..).zip(expected) {
            assert_eq!(after(failures, &silence(), 0), again(seconds * 800));
            assert_eq!(after(failures, &silence(), 200), again(seconds * 1000));
            assert_eq!(after(failures, &silence(), 400), again(seconds * 1200));
            assert_eq!(after(failures, &silence(), 401), again(seconds * 800));
            assert!(matches!(after(failures, &silence(), u64::MAX), Next::Again(wait)
                if (seconds * 800..=seconds * 1200).contains(&u64::try_from(wait.as_millis()).unwrap())));
        }
    }

    #[test]
    fn the_ninth_failure_is_the_last() {
        assert_eq!(after(8, &silence(), 0), Next::GiveUp);
        assert_eq!(after(8, &answer(503, Some(1)), 0), Next::GiveUp);
        assert_eq!(after(u32::MAX, &silence(), 0), Next::GiveUp);
    }

    #[test]
    fn retry_after_lengthens_a_wait_and_never_shortens_it() {
        for status in [429, 503, 500, 302, 404] {
            assert_eq!(after(0, &answer(status, Some(60)), 200), again(60_000));
            assert_eq!(after(0, &answer(status, Some(1)), 200), again(5_000));
            assert_eq!(after(0, &answer(status, None), 200), again(5_000));
        }
        assert_eq!(after(0, &answer(503, Some(u64::MAX)), 0), again(12 * 3_600_000));
        assert_eq!(after(7, &answer(503, Some(u64::MAX)), 400), again(12 * 3_600_000));
    }

    #[test]
    fn refusals_are_tried_again_like_silences() {
        assert_eq!(after(0, &Err(Failure::lasting("a.com leads nowhere")), 200), again(5_000));
    }

    #[test]
    fn gone_is_gone() {
        assert_eq!(after(0, &answer(410, None), 0), Next::GiveUp);
        assert_eq!(after(0, &answer(410, Some(60)), 0), Next::GiveUp);
    }

    #[test]
    fn only_2xx_is_delivered() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(after(0, &answer(status, Some(60)), 0), Next::Delivered);
            assert_eq!(after(8, &answer(status, None), 0), Next::Delivered);
        }
        for status in [100, 101, 199, 300, 301, 302, 304, 307, 308, 400, 404, 410, 429, 500, 503, 0] {
            assert_ne!(after(0, &answer(status, None), 0), Next::Delivered, "{status}");
        }
    }

    #[test]
    fn every_delivery_ends_within_the_week_that_results_are_kept() {
        let longest: Duration = (0..)
            .map_while(|failures| match after(failures, &answer(503, Some(u64::MAX)), 400) {
                Next::Again(wait) => Some(wait),
                Next::Delivered | Next::GiveUp => None,
            })
            .sum();
        assert_eq!(longest, 8 * LONGEST_WAIT);
        assert!(longest + Duration::from_secs(86_400) < Duration::from_secs(7 * 86_400));
    }
}
