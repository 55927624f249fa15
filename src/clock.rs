//! Time, as the service and its ports take it: as an argument, from one clock that tests can set.

use std::{
    fmt,
    ops::{Add, Sub},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// A moment: milliseconds since 1970-01-01 00:00 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The moment `millis` after 1970-01-01 00:00 UTC.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970-01-01 00:00 UTC.
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// Whole seconds since 1970-01-01 00:00 UTC.
    pub const fn seconds(self) -> u64 {
        self.0 / 1000
    }

    /// How long after `earlier` this is; zero if it is not.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// The year, month and day, from 1, in UTC.
    pub(crate) const fn date(self) -> (u64, u64, u64) {
        date(self.0 / DAY)
    }

    /// The first moment of a day in UTC; `None` if there is no such month, or the year is before 1970.
    #[cfg(feature = "s3")]
    pub(crate) fn from_date(year: u64, month: u64, day: u64) -> Option<Self> {
        let known = (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
        known.then(|| Self((days_before(year, month) + day - 1) * DAY))
    }

    /// The first moment of the next calendar month, in UTC: when monthly quotas begin anew.
    #[must_use]
    pub fn next_month(self) -> Self {
        let (year, month, _) = self.date();
        let (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
        Self(days_before(year, month) * DAY)
    }
}

const DAY: u64 = 24 * 60 * 60 * 1000;

/// The proleptic Gregorian year, month and day, from 1, of the day that lies `days` after 1970-01-01.
const fn date(days: u64) -> (u64, u64, u64) {
    // Years counted from March end with the leap day; 400 of them have 146,097 days. After Howard Hinnant,
    // "chrono-Compatible Low-Level Date Algorithms".
    let days = days + 719_468;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let year = days / 146_097 * 400 + year_of_era;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    if from_march < 10 { (year, from_march + 3, day) } else { (year + 1, from_march - 9, day) }
}

/// Days from 1970-01-01 to the first of a month.
fn days_before(year: u64, month: u64) -> u64 {
    let (year, from_march) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * from_march + 2) / 5;
    let year_of_era = year % 400;
    year / 400 * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// What lies before 1970 is taken for its beginning.
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        Self::default() + time.duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, later: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(later.as_millis()).unwrap_or(u64::MAX)))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;

    fn sub(self, earlier: Duration) -> Self {
        Self(self.0.saturating_sub(u64::try_from(earlier.as_millis()).unwrap_or(u64::MAX)))
    }
}

/// What time it is.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The present moment. May jump, as the clocks of machines do; who keeps moments must bear it.
    fn now(&self) -> Timestamp;
}

/// The machine's time of day. It jumps where that is set, or the machine slept, so that signatures keep the time that
/// others have, and the processes that share a ledger agree.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock(());

impl SystemClock {
    /// Of this machine.
    pub const fn new() -> Self {
        Self(())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_ends_where_the_calendar_says() {
        for (now, next) in [
            (0, 2_678_400),                 // 1970-01-01 -> 1970-02-01
            (951_782_399, 951_868_800),     // 2000-02-28 23:59:59 -> 2000-03-01, over a leap day
            (951_782_400, 951_868_800),     // 2000-02-29
            (1_798_761_599, 1_798_761_600), // 2026-12-31 23:59:59 -> 2027-01-01
            (1_798_761_600, 1_801_440_000), // 2027-01-01 00:00:00 -> 2027-02-01
            (4_107_542_399, 4_107_542_400), // 2100-02-28 23:59:59 -> 2100-03-01, no leap year
        ] {
            assert_eq!(Timestamp::from_millis(now * 1000).next_month().seconds(), next, "{now}");
        }
    }

    #[test]
    fn a_day_has_its_date() {
        for (seconds, date) in [
            (0, (1970, 1, 1)),
            (951_782_400, (2000, 2, 29)),
            (951_868_800, (2000, 3, 1)),
            (1_369_353_600, (2013, 5, 24)),
            (1_798_761_599, (2026, 12, 31)),
            (4_107_542_399, (2100, 2, 28)),
            (4_107_542_400, (2100, 3, 1)),
        ] {
            assert_eq!(Timestamp::from_millis(seconds * 1000).date(), date, "{seconds}");
        }
    }

    #[test]
    fn the_system_clock_has_no_time_but_the_machines() {
        assert_eq!(size_of::<SystemClock>(), 0, "what it read before would be wrong when the machine's clock is set");
        let machine = || Timestamp::default() + SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let (before, now, after) = (machine(), SystemClock::new().now(), machine());
        assert!(before <= now && now <= after);
    }

    #[test]
    fn moments_do_not_overflow() {
        let last = Timestamp::from_millis(u64::MAX);
        assert_eq!(last + Duration::MAX, last);
        assert_eq!(Timestamp::default() - Duration::from_secs(1), Timestamp::default());
        assert_eq!(Timestamp::default().since(last), Duration::ZERO);
    }
}
