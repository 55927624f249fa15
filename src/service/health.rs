//! How the service fares.

use serde::Serialize;

use super::{Inner, Response, Service, response::fresh_id};
use crate::port::{self, ledger::Load};

/// How the service fares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Health {
    /// Whether the service is up: the ledger can be read, no loop of the service has just ended in a panic of a port, and the
    /// service is not shutting down. It says nothing of whether [`start`](Service::start) was called. Nothing is written to find
    /// out: where a disk is full, requests are refused one by one.
    pub ready: bool,
    /// Jobs that wait.
    pub waiting: u64,
    /// Jobs that are being worked on.
    pub processing: u64,
    /// Bytes of the uploaded sources of both.
    pub source_bytes: u64,
    /// How long the oldest job that waits has waited, in seconds.
    pub oldest_s: f64,
    /// Notifications that are not delivered yet.
    pub notifications: u64,
}

impl Service {
    /// How the service fares, now.
    pub async fn health(&self) -> Health {
        match self.0.measure().await {
            Ok(load) => Health { ready: self.0.is_open() && self.0.fallen.is_empty(), ..self.0.health(load) },
            Err(failure) => {
                tracing::error!(error = &failure as &dyn std::error::Error, "the ledger cannot be read");
                self.0.health(Load::default())
            }
        }
    }

    /// [`health`](Self::health) as an answer: 200, or an error of 503 where no requests are taken; either way with its fields.
    pub async fn health_answer(&self) -> Response {
        let health = self.health().await;
        Response::health(&health, fresh_id(self.0.now())).with_rate(self.0.gate.full())
    }
}

impl Inner {
    fn health(&self, load: Load) -> Health {
        Health {
            ready: false,
            waiting: load.waiting,
            processing: load.leased,
            source_bytes: load.source_bytes,
            oldest_s: load.oldest.map_or(0.0, |oldest| self.now().since(oldest).as_secs_f64()),
            notifications: load.notifications,
        }
    }

    /// Asks the ledger for its load, and shows it to the metrics.
    pub(super) async fn measure(&self) -> port::Result<Load> {
        let load = self.ports.ledger.load().await?;
        let health = self.health(load);
        metrics::gauge!("lapidary_jobs", "state" => "waiting").set(load.waiting as f64);
        metrics::gauge!("lapidary_jobs", "state" => "processing").set(load.leased as f64);
        metrics::gauge!("lapidary_oldest_seconds").set(health.oldest_s);
        metrics::gauge!("lapidary_source_bytes").set(load.source_bytes as f64);
        metrics::gauge!("lapidary_notifications").set(load.notifications as f64);
        Ok(load)
    }
}
