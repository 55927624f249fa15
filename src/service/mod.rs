//! The whole logic of an image service, for hosts that put their own HTTP in front.
//!
//! ```text
//! answer ─> gate ─> submit ─> ledger ─> worker ─> engine ─> storage or blobs ─> ledger ─> notifier
//!  (HTTP    key,    checks,   durable   lease,    pixels    result               settled   webhook
//!  as data) rate    source    before    heartbeat                                + charged
//!                             the 202
//! ```
//!
//! A [`Service`] is made of [`Ports`], an [`Engine`], a [`Keyring`] and [`Settings`]. [`Service::answer`] takes the facts of
//! an HTTP request and gives the answer; [`Service::start`] works on what was accepted; [`Service::admin`] makes
//! accounts, keys and connectors. Nothing that was accepted is lost: whatever ends a process, its jobs are taken up when
//! their leases have run out. A picture may be worked on twice then; it is charged and told of once.
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//!
//! use futures_util::stream;
//! use lapidary::{
//!     Engine,
//!     adapter::{Closed, memory},
//!     port::Ports,
//!     service::{AdminError, Call, Keyring, Service, Settings},
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), AdminError> {
//! // Nothing outlives the process here; `sqlite`, `directory`, `http` and `s3` are for those who mean it.
//! let ports = Ports { storage: Arc::new(Closed), ..memory::ports() };
//! let keyring = Keyring::new([1; 32], [2; 32]); // 64 random bytes that the host keeps
//! let service = Service::new(ports, Engine::new(), keyring, Settings::new("https://images.example.com"));
//! let running = service.start();
//!
//! let opened = service.admin().open_account("somebody", "gold", 1_000).await?;
//! let key = service.admin().new_key(opened.account).await?;
//!
//! // Of every request that comes in, its head as data and its body as a stream of bytes.
//! let authorization = format!("Bearer {}", key.expose());
//! let call = Call {
//!     method: "GET",
//!     path: "/1.0/account",
//!     secure: true,
//!     authorization: Some(&authorization),
//!     ..Call::default()
//! };
//! let answer = service.answer(call, Box::pin(stream::empty())).await;
//! assert_eq!(answer.status, 200);
//!
//! running.shut_down(Duration::from_secs(25)).await;
//! # Ok(())
//! # }
//! ```
//!
//! Metrics go through the `metrics` facade; gauges are set with every sweep and by [`Service::health`].
//!
//! | metric | kind | of |
//! |---|---|---|
//! | `lapidary_requests_total` | counter | answers, by `endpoint` and `status` |
//! | `lapidary_failures_total` | counter | jobs that failed, by `status` |
//! | `lapidary_bytes_total` | counter | bytes of sources and results, `way` being `in` or `out` |
//! | `lapidary_wait_seconds` | histogram | from acceptance to the beginning of the work |
//! | `lapidary_stage_seconds` | histogram | the work itself, by `stage` |
//! | `lapidary_notifications_total` | counter | attempts to notify, by `outcome` |
//! | `lapidary_jobs` | gauge | jobs, `state` being `waiting` or `processing` |
//! | `lapidary_oldest_seconds` | gauge | age of the oldest that waits |
//! | `lapidary_source_bytes` | gauge | bytes of uploaded sources that are kept |
//! | `lapidary_notifications` | gauge | notifications that wait |

mod admin;
mod compute;
mod deliver;
mod direct;
mod disposition;
mod door;
mod gate;
mod health;
mod job;
mod openapi;
mod response;
mod seal;
mod settings;
mod shares;
mod submit;
mod upload;
mod volatile;
pub mod webhook;
mod worker;

use std::{fmt, sync::Arc};

use tokio::sync::{Notify, Semaphore, watch};

pub use admin::{Admin, AdminError, Opened};
pub use bytes::Bytes;
pub use direct::Refused;
pub use door::{Call, Incoming};
pub use futures_core::Stream;
pub use health::Health;
pub use openapi::openapi;
pub use response::{Body, Response};
pub use seal::Keyring;
pub use settings::{Price, Settings};
pub use volatile::Volatile;
pub use worker::Running;

use crate::{
    clock::{Clock, SystemClock, Timestamp},
    engine::Engine,
    port::Ports,
};

/// An image service. Clones are the same service.
#[derive(Clone)]
pub struct Service(Arc<Inner>);

struct Inner {
    ports: Ports,
    engine: Arc<Engine>,
    keyring: Keyring,
    settings: Settings,
    clock: Arc<dyn Clock>,
    gate: gate::Gate,
    compute: compute::Compute,
    in_hand: worker::InHand,
    fallen: worker::Fallen,
    /// The turn of a job that a process may have died of.
    suspects: Arc<Semaphore>,
    breaker: deliver::Breaker,
    uploads: Semaphore,
    /// Whose they are.
    uploading: shares::Shares,
    /// Rings when a job was accepted.
    work: Notify,
    /// Rings when a job was settled.
    told: Notify,
    phase: watch::Sender<worker::Phase>,
}

impl Service {
    /// A service on the machine's clock.
    pub fn new(ports: Ports, engine: Engine, keyring: Keyring, settings: Settings) -> Self {
        Self::with_clock(ports, engine, keyring, settings, Arc::new(SystemClock::new()))
    }

    /// A service on another clock.
    pub fn with_clock(
        ports: Ports,
        engine: Engine,
        keyring: Keyring,
        settings: Settings,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let (engine, settings) = (Arc::new(engine), settings.bounded());
        Self(Arc::new(Inner {
            gate: gate::Gate::new(settings.rate_limit, settings.rate_window),
            compute: compute::Compute::new(Arc::clone(&engine), &settings),
            in_hand: worker::InHand::default(),
            fallen: worker::Fallen::default(),
            suspects: Arc::new(Semaphore::new(1)),
            breaker: deliver::Breaker::default(),
            uploads: Semaphore::new(settings.uploads),
            uploading: shares::Shares::default(),
            work: Notify::new(),
            told: Notify::new(),
            phase: watch::Sender::new(worker::Phase::Open),
            ports,
            engine,
            keyring,
            settings,
            clock,
        }))
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Service").field(&self.0).finish()
    }
}

impl Inner {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").field("ports", &self.ports).field("settings", &self.settings).finish_non_exhaustive()
    }
}
