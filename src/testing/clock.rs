//! A clock to set.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crate::clock::{Clock, Timestamp};

/// A clock that stands still until it is set.
#[derive(Debug)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// Stands at `now`.
    pub fn new(now: Timestamp) -> Self {
        Self(AtomicU64::new(now.millis()))
    }

    /// Stands at `now` from now on, be it earlier or later.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.millis(), Ordering::SeqCst);
    }

    /// Goes on by `time`.
    pub fn advance(&self, time: Duration) {
        self.set(self.now() + time);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}
