//! How a host watches and ends running work.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use crate::{
    error::{Result, Stop},
    limits::Limits,
};

/// Asked by running work, at least every 50 ms, whether to go on. Two libraries take longer between questions: libdeflate
/// up to 0.3 s, at worst 0.8 s, where a large PNG is finished, and libwebp up to 0.3 s in the lossless coding of ten
/// megapixels.
pub trait Control: fmt::Debug + Send + Sync {
    /// `Some` ends the work with [`Error::Stopped`](crate::Error::Stopped).
    fn stop(&self) -> Option<Stop>;
    /// Called when a stage begins; `done` is the share of the whole work behind it, 0 to 1, never decreasing.
    fn stage(&self, stage: Stage, done: f32);
}

/// The stages of the way of an image, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Reading headers and planning.
    Plan,
    /// Source bytes to pixels.
    Decode,
    /// Pixels to pixels.
    Operations,
    /// Searching for the best encoding.
    Optimise,
    /// The last encoding and its check.
    Encode,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plan => "plan",
            Self::Decode => "decode",
            Self::Operations => "operations",
            Self::Optimise => "optimise",
            Self::Encode => "encode",
        })
    }
}

/// Lets everything run to its end and listens to nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unattended;

impl Control for Unattended {
    fn stop(&self) -> Option<Stop> {
        None
    }
    fn stage(&self, _: Stage, _: f32) {}
}

/// Ends work at a deadline, or when any clone of its [`Watch::cancel`] is called.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    deadline: Option<Instant>,
    cancelled: Arc<AtomicBool>,
}

impl Watch {
    /// Work must end by `deadline`; `None` sets no time.
    pub fn until(deadline: Option<Instant>) -> Self {
        Self { deadline, cancelled: Arc::default() }
    }

    /// Ends the work that this watch and its clones were given to.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Control for Watch {
    fn stop(&self) -> Option<Stop> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Some(Stop::Cancelled);
        }
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline).then_some(Stop::Deadline)
    }
    fn stage(&self, _: Stage, _: f32) {}
}

/// Handed to everything that touches pixels: the ceilings, and whom to ask whether to go on.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// Ceilings on sources and results.
    pub limits: &'a Limits,
    /// Deadline, cancellation, progress.
    pub control: &'a dyn Control,
}

impl Run<'_> {
    /// Fails if the host wants the work to end. To be called at least every 50 ms of work.
    pub fn check(&self) -> Result<()> {
        self.control.stop().map_or(Ok(()), |stop| Err(stop.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_stops_all_its_clones_when_cancelled() {
        let watch = Watch::default();
        let clone = watch.clone();
        assert_eq!(clone.stop(), None);
        watch.cancel();
        assert_eq!(clone.stop(), Some(Stop::Cancelled));
    }

    #[test]
    fn a_deadline_in_the_past_stops_at_once() {
        assert_eq!(Watch::until(Some(Instant::now())).stop(), Some(Stop::Deadline));
    }
}
