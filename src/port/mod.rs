//! What the service needs of the world, as traits for hosts and adapters to implement, and the plain data they exchange.
//!
//! | port | the world | adapters of this crate |
//! |---|---|---|
//! | [`Ledger`] | the one durable state: jobs, deliveries of notifications, accounts, rates | `memory`, `sqlite` |
//! | [`Blobs`] | bytes of sources and volatile results | `memory`, `directory`, `s3` |
//! | [`Fetcher`] | images at addresses | `memory`, `http`, `Closed` |
//! | [`Storage`] | clients' own object storage | `memory`, `s3`, `Closed` |
//! | [`Notifier`] | clients' webhooks | `memory`, `http`, `Closed` |
//!
//! Every trait is object safe, holds no runtime, and takes the time as an argument; implementations bear
//! [`async_trait`](macro@async_trait). What each promises is written at its methods and checked by its suite in `testing`,
//! which adapters run.

mod blobs;
mod fetch;
pub mod ledger;
mod notify;
mod storage;

use std::{error::Error, fmt, sync::Arc};

pub use async_trait::async_trait;
pub use blobs::{BlobKey, BlobReader, BlobWriter, Blobs, Face, OpenBlob, collect};
pub use fetch::{Fetch, Fetched, Fetcher};
pub use ledger::{Accounts, Jobs, Ledger, Outbox};
pub use notify::{Answer, Notification, Notifier};
pub use storage::{Credentials, Object, Storage};
pub use uuid::Uuid;

/// All of them: what a service is made of.
#[derive(Debug, Clone)]
pub struct Ports {
    /// The one durable state.
    pub ledger: Arc<dyn Ledger>,
    /// Sources and volatile results.
    pub blobs: Arc<dyn Blobs>,
    /// Images at addresses.
    pub fetcher: Arc<dyn Fetcher>,
    /// Clients' own storage.
    pub storage: Arc<dyn Storage>,
    /// Clients' webhooks.
    pub notifier: Arc<dyn Notifier>,
}

/// Shorthand of the ports.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why a port did not do its work.
#[derive(Debug)]
pub struct Failure {
    /// For the client, as a whole sentence without its full stop. Names neither a secret nor anything that only somebody
    /// behind the service's doors could know.
    pub message: String,
    /// Whether the same call may succeed later: the other side was busy or out of reach.
    pub may_pass: bool,
    /// For the host's log, never shown to a client; without secrets, too.
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

impl Failure {
    /// What would fail again.
    pub fn lasting(message: impl Into<String>) -> Self {
        Self { message: message.into(), may_pass: false, source: None }
    }

    /// What may succeed later.
    pub fn passing(message: impl Into<String>) -> Self {
        Self { message: message.into(), may_pass: true, source: None }
    }

    /// With its cause.
    #[must_use]
    pub fn because(self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { source: Some(source.into()), ..self }
    }

    /// With the message as what is said of `subject`: `bucket photos:`, `webhook.url`.
    #[must_use]
    pub fn about(self, subject: impl fmt::Display) -> Self {
        Self { message: format!("{subject} {}", self.message), ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| source.as_ref() as _)
    }
}
