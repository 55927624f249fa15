//! What a host decides about its service.

use std::{fmt, sync::Arc, time::Duration};

use tokio::sync::Semaphore;

use crate::{port::ledger::Capacity, request::Request};

/// What a completed request costs, in credits. Asked once, when a request is accepted.
pub type Price = Arc<dyn Fn(&Request) -> u64 + Send + Sync>;

/// The shortest and the longest time that a loop pauses, or that a lease lasts. A ledger counts in milliseconds.
const TIMES: (Duration, Duration) = (Duration::from_millis(3), Duration::from_secs(365 * 24 * 60 * 60));

/// What a host decides. The defaults are those of the reference service.
///
/// ```
/// # use std::{sync::Arc, time::Duration};
/// let mut settings = lapidary::service::Settings::new("https://images.example.com");
/// settings.workers = 2;
/// settings.image_life = Duration::from_secs(24 * 60 * 60);
/// settings.price = Arc::new(|request| if request.upscale.is_some() { 5 } else { 1 });
/// ```
///
/// A number of things at a time, or of attempts, is 1 at least: 0 is taken for 1. `usize::MAX` is no limit. [`lease`],
/// [`poll`] and [`sweep`] are taken for 3 ms where they are shorter, and for a year where they are longer.
///
/// [`lease`]: Self::lease
/// [`poll`]: Self::poll
/// [`sweep`]: Self::sweep
#[derive(Clone)]
#[non_exhaustive]
pub struct Settings {
    /// Where clients reach the service, without a slash at the end: `https://images.example.com`. Volatile images are
    /// delivered at `<public_url>/volatile/<link>/<name>`.
    pub public_url: String,
    /// Pictures worked on at a time; one for each core of the machine.
    pub workers: usize,
    /// Jobs in hand at a time, those that fetch or store included; `None` for four for each worker. Each may hold a source
    /// of [`Limits::source_bytes`](crate::Limits::source_bytes) in memory. Of four and more, no account has more than three
    /// quarters, so that one whose sources hang keeps no others waiting.
    pub in_hand: Option<usize>,
    /// How much may wait: 10,000 requests, and 10 GiB of uploaded sources; a quarter more for accounts that have little of
    /// it, so that one which fills the queue keeps no others out.
    pub capacity: Capacity,
    /// Uploads received at a time, JSON bodies of more than 16 KiB among them; 256. Of four and more, no account has more
    /// than three quarters.
    pub uploads: usize,
    /// Time for an upload to come in; 5 min. A JSON body has 30 s, and no more than this.
    pub receiving: Duration,
    /// Bytes of a JSON body or part; 1 MiB.
    pub json_bytes: u64,
    /// Time for the engine's work on one picture; 60 s.
    pub processing: Duration,
    /// The same where a trained network may work, for `upscale`, `denoise`, `light` and `face`; 300 s.
    pub network_processing: Duration,
    /// Requests that a key may make in [`rate_window`](Self::rate_window); 100,000.
    pub rate_limit: u64,
    /// Length of a rate window; 15 min.
    pub rate_window: Duration,
    /// How long a volatile image lives; 1 h.
    pub image_life: Duration,
    /// How long the record of a settled request is kept; 7 days.
    pub record_life: Duration,
    /// How often a job may be in the hands of a process that dies, and how often it is begun while its client's storage fails
    /// in passing, before it is given up; 5.
    pub attempts: u32,
    /// How often a source is fetched, at most as often as that, whose host fails in passing; 3, with 2 and 8 s between them.
    pub fetch_attempts: u32,
    /// Length of a lease, prolonged each third of it; 30 s. A job whose worker died is taken up after that time.
    pub lease: Duration,
    /// How often waiting work is looked for when nothing rings; 250 ms.
    pub poll: Duration,
    /// How often expired things are removed; 30 s.
    pub sweep: Duration,
    /// Notifications on their way at a time; 256, so that many receivers may hang before others wait.
    pub notifications: usize,
    /// Of these, to one scheme, host and port, which accounts share evenly; 4.
    pub notifications_per_host: usize,
    /// What a completed request costs; 1 credit.
    pub price: Price,
}

impl Settings {
    /// The defaults, for a service that clients reach at `public_url`.
    pub fn new(public_url: impl Into<String>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let url: String = public_url.into();
        Self {
            public_url: url.trim_end_matches('/').to_owned(),
            workers: cores,
            in_hand: None,
            capacity: Capacity { jobs: 10_000, source_bytes: 10 << 30 },
            uploads: 256,
            receiving: Duration::from_secs(5 * 60),
            json_bytes: 1 << 20,
            processing: Duration::from_secs(60),
            network_processing: Duration::from_secs(300),
            rate_limit: 100_000,
            rate_window: Duration::from_secs(15 * 60),
            image_life: Duration::from_secs(60 * 60),
            record_life: Duration::from_secs(7 * 24 * 60 * 60),
            attempts: 5,
            fetch_attempts: 3,
            lease: Duration::from_secs(30),
            poll: Duration::from_millis(250),
            sweep: Duration::from_secs(30),
            notifications: 256,
            notifications_per_host: 4,
            price: Arc::new(|_| 1),
        }
    }

    /// The same where every number is one that a service can work with.
    #[must_use]
    pub(super) fn bounded(mut self) -> Self {
        let at_a_time =
            [&mut self.workers, &mut self.uploads, &mut self.notifications, &mut self.notifications_per_host];
        for number in at_a_time.into_iter().chain(&mut self.in_hand) {
            *number = (*number).clamp(1, Semaphore::MAX_PERMITS);
        }
        self.attempts = self.attempts.max(1);
        self.fetch_attempts = self.fetch_attempts.clamp(1, self.attempts);
        for time in [&mut self.lease, &mut self.poll, &mut self.sweep] {
            *time = (*time).clamp(TIMES.0, TIMES.1);
        }
        self
    }

    /// Jobs in hand at a time.
    pub(super) fn hands(&self) -> usize {
        self.in_hand.unwrap_or(self.workers.saturating_mul(4)).min(Semaphore::MAX_PERMITS)
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("public_url", &self.public_url)
            .field("workers", &self.workers)
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_in_hand_are_four_for_each_worker_unless_it_is_said() {
        for (workers, in_hand, hands) in [(2, None, 8), (0, None, 4), (2, Some(3), 3), (2, Some(0), 1)] {
            let settings = Settings { workers, in_hand, ..Settings::new("https://images.test") };
            assert_eq!(settings.bounded().hands(), hands);
        }
    }
}
