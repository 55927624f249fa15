//! What a host decides about its service.

use std::{fmt, sync::Arc, time::Duration};

use crate::{port::ledger::Capacity, request::Request};

/// What a completed request costs, in credits. Asked once, when a request is accepted.
pub type Price = Arc<dyn Fn(&Request) -> u64 + Send + Sync>;

/// What a host decides. The defaults are those of the reference service.
#[derive(Clone)]
#[non_exhaustive]
pub struct Settings {
    /// Where clients reach the service, without a slash at the end: `https://images.example.com`. Volatile images are
    /// delivered at `<public_url>/volatile/<link>/<name>`.
    pub public_url: String,
    /// Pictures worked on at a time; one for each core of the machine.
    pub workers: usize,
    /// Jobs in hand at a time, those that fetch or store included; four for each worker. Each may hold a source of
    /// [`Limits::source_bytes`](crate::Limits::source_bytes) in memory.
    pub in_hand: usize,
    /// How much may wait: 10,000 requests, and 10 GiB of uploaded sources.
    pub capacity: Capacity,
    /// Uploads received at a time; 256.
    pub uploads: usize,
    /// Time for a body to come in; 5 min.
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
    /// How often a job may be in the hands of a process that dies, and how often it is begun while its client's side fails
    /// in passing, before it is given up; 5.
    pub attempts: u32,
    /// Length of a lease, prolonged each third of it; 30 s. A job whose worker died is taken up after that time.
    pub lease: Duration,
    /// How often waiting work is looked for when nothing rings; 250 ms.
    pub poll: Duration,
    /// How often expired things are removed; 30 s.
    pub sweep: Duration,
    /// Notifications on their way at a time; 256, so that many receivers may hang before others wait.
    pub notifications: usize,
    /// Of these, to one scheme, host and port; 4.
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
            in_hand: 4 * cores,
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
            lease: Duration::from_secs(30),
            poll: Duration::from_millis(250),
            sweep: Duration::from_secs(30),
            notifications: 256,
            notifications_per_host: 4,
            price: Arc::new(|_| 1),
        }
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
