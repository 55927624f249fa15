//! How a host watches and ends running work.

use std::{
    fmt,
    num::NonZeroUsize,
    panic,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Instant,
};

use crate::{
    error::{Result, Stop},
    limits::Limits,
};

/// Asked by running work whether to go on: at least every 50 ms, but while libwebp codes, and while a document is parsed or one
/// of its fills, strokes or filters is drawn. From whichever threads work.
pub trait Control: fmt::Debug + Send + Sync {
    /// `Some` ends the work with [`Error::Stopped`](crate::Error::Stopped).
    fn stop(&self) -> Option<Stop>;
    /// Called when a stage begins, and as parts of a long one are done; `done` is the share of the whole work behind it, 0 to 1,
    /// never decreasing. The work waits for it.
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

impl<T: Control + ?Sized> Control for Arc<T> {
    fn stop(&self) -> Option<Stop> {
        (**self).stop()
    }
    fn stage(&self, stage: Stage, done: f32) {
        (**self).stage(stage, done);
    }
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

/// Passes on how far the work is, but never back: parts of the work that repeat or run side by side each tell their own
/// share.
#[derive(Debug)]
pub(crate) struct Rising<'a> {
    host: &'a dyn Control,
    last: Mutex<(Stage, f32)>,
}

impl<'a> Rising<'a> {
    pub(crate) fn new(host: &'a dyn Control) -> Self {
        Self { host, last: Mutex::new((Stage::Plan, 0.0)) }
    }
}

impl Control for Rising<'_> {
    fn stop(&self) -> Option<Stop> {
        self.host.stop()
    }

    fn stage(&self, stage: Stage, done: f32) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if stage >= last.0 {
            *last = (stage, last.1.max(done));
            self.host.stage(stage, last.1);
        }
    }
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
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub fn check(&self) -> Result<()> {
        self.control.stop().map_or(Ok(()), |stop| Err(stop.into()))
    }

    /// Does all `work` in any order, on as many threads as there are cores and the limits allow, each with a hand that `hand`
    /// makes, and gives what came of it in the order of the work. An error ends it.
    pub(crate) fn side_by_side<T: Sync, R: Send, H: FnMut(&T) -> Result<R>>(
        self,
        work: &[T],
        hand: impl Fn() -> H + Sync,
    ) -> Result<Vec<R>> {
        let next = AtomicUsize::new(0);
        let share = || -> Result<Vec<(usize, R)>> {
            let (mut hand, mut done) = (hand(), Vec::new());
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(piece) = work.get(at) else { return Ok(done) };
                self.check()?;
                done.push((at, hand(piece).inspect_err(|_| next.store(work.len(), Ordering::Relaxed))?));
            }
        };
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let others = cores.min(self.limits.threads).min(work.len()).saturating_sub(1);
        thread::scope(|scope| {
            // Where the system gives no more threads, there are fewer at work.
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, share).ok();
            let others: Vec<_> = (0..others).map_while(spawn).collect();
            let own = share();
            let others = others.into_iter().map(|other| other.join().unwrap_or_else(|why| panic::resume_unwind(why)));
            let shares = std::iter::once(own).chain(others).collect::<Result<Vec<_>>>()?;
            let mut done: Vec<_> = shares.into_iter().flatten().collect();
            done.sort_unstable_by_key(|(at, _)| *at);
            Ok(done.into_iter().map(|(_, result)| result).collect())
        })
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
    fn how_far_the_work_is_never_falls() {
        #[derive(Debug, Default)]
        struct Notes(Mutex<Vec<(Stage, f32)>>);
        impl Control for Notes {
            fn stop(&self) -> Option<Stop> {
                None
            }
            fn stage(&self, stage: Stage, done: f32) {
                self.0.lock().unwrap().push((stage, done));
            }
        }
        let notes = Notes::default();
        let rising = Rising::new(&notes);
        let told = [(Stage::Operations, 0.5), (Stage::Optimise, 0.3), (Stage::Operations, 0.6), (Stage::Encode, 0.7)];
        told.into_iter().for_each(|(stage, done)| rising.stage(stage, done));
        let heard = [(Stage::Operations, 0.5), (Stage::Optimise, 0.5), (Stage::Encode, 0.7)];
        assert_eq!(*notes.0.lock().unwrap(), heard);
    }

    #[test]
    fn what_comes_of_work_side_by_side_is_in_its_order_and_an_error_ends_it() {
        let mut limits = Limits::default();
        let run = Run { limits: &limits, control: &Unattended };
        let work: Vec<usize> = (0..1000).collect();
        let doubled = run.side_by_side(&work, || |piece: &usize| Ok(2 * piece)).unwrap();
        assert_eq!(doubled, work.iter().map(|piece| 2 * piece).collect::<Vec<_>>());
        limits.threads = 1;
        let run = Run { limits: &limits, control: &Unattended };
        let begun = AtomicUsize::new(0);
        let third_fails = |_: &usize| match begun.fetch_add(1, Ordering::Relaxed) {
            2 => Err(Stop::Cancelled.into()),
            _ => Ok(()),
        };
        assert!(run.side_by_side(&work, || third_fails).is_err());
        assert_eq!(begun.into_inner(), 3);
    }

    #[test]
    fn a_deadline_in_the_past_stops_at_once() {
        assert_eq!(Watch::until(Some(Instant::now())).stop(), Some(Stop::Deadline));
    }
}
