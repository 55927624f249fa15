//! From what a client sends to a durable job.

use std::sync::Arc;

use super::{Inner, job::Stored, response::Problem, seal::place};
use crate::{
    clock::Timestamp,
    error::{Error, Violation},
    port::{
        BlobKey, Failure,
        ledger::{AccountId, JobId, NewHook, NewJob, Refusal},
    },
    request::{Destination, Provider, Request},
};

/// A source that is there: the length and the name of an upload.
#[derive(Debug, Clone)]
pub(super) struct Uploaded {
    pub(super) bytes: u64,
    pub(super) name: Option<String>,
}

impl Uploaded {
    pub(super) fn new(bytes: u64, name: Option<&str>) -> Self {
        let name = name.filter(|name| !name.is_empty()).map(|name| name.chars().take(255).collect());
        Self { bytes, name }
    }
}

impl Inner {
    /// Accepts a [checked](Self::check_doors) request whose source, if it was uploaded, is durable already. When this returns
    /// the job is, too. The source of a refused one is deleted; where the ledger did not answer it stays, for the job may
    /// be there.
    pub(super) async fn accept(
        self: &Arc<Self>,
        id: JobId,
        account: AccountId,
        request: Request,
        source: Option<Uploaded>,
        now: Timestamp,
    ) -> Result<(), Problem> {
        let hook = request.webhook.as_ref().map(|webhook| NewHook {
            sealed: self.keyring.seal(webhook.url.expose().as_bytes(), &place(account, &format!("{id}/webhook"))),
            lane: self.keyring.lane(&webhook.url.origin().unwrap_or_default()),
            delay: std::time::Duration::from_secs(webhook.delay.into()),
        });
        let cost = (self.settings.price)(&request);
        let source_bytes = source.as_ref().map(|source| source.bytes);
        let stored = Stored { name: source.and_then(|source| source.name), request };
        let sealed = self.keyring.seal(&stored.to_bytes(), &place(account, &id.to_string()));
        let job = NewJob { id, account, sealed, source_bytes, cost, hook };
        let Err(refusal) = self.ports.ledger.accept(job, self.settings.capacity, now).await? else {
            self.work.notify_one();
            return Ok(());
        };
        if source_bytes.is_some() {
            self.delete_blob(BlobKey::Source(id)).await;
        }
        Err(match refusal {
            Refusal::NoCredits { remaining } => Problem::no_credits(remaining),
            Refusal::QueueFull => Problem::busy("the queue is full"),
            Refusal::Closed => Problem::disabled(),
        })
    }

    /// Refuses what the ports would refuse whatever happens, all of it at once.
    pub(super) async fn check_doors(&self, account: AccountId, request: &Request) -> Result<(), Problem> {
        let mut violations = Vec::new();
        let refusal = |path: &str, value: Option<String>, checked: Result<(), Failure>| {
            checked.err().map(|failure| Violation { path: path.into(), value, allowed: failure.message })
        };
        if let Some(url) = &request.url {
            violations.extend(refusal("url", Some(format!("\"{url}\"")), self.ports.fetcher.check(url)));
        }
        if let Some(store) = &request.store {
            match self.provider(account, &store.destination).await? {
                Some(provider) => {
                    let refused = self.ports.storage.check(provider, store).into_iter().map(|refused| Violation {
                        path: if refused.path.is_empty() { "store".into() } else { format!("store.{}", refused.path) },
                        value: store.shown(&refused.path),
                        ..refused
                    });
                    violations.extend(refused);
                }
                None => violations.push(Violation {
                    path: "store.id".into(),
                    value: store.shown("id"),
                    allowed: "must be the id of a connector of the account".into(),
                }),
            }
        }
        if let Some(webhook) = &request.webhook {
            let value = Some(format!("\"{}\"", webhook.url));
            violations.extend(refusal("webhook.url", value, self.ports.notifier.check(&webhook.url)));
        }
        if violations.is_empty() { Ok(()) } else { Err(Error::Request { violations }.into()) }
    }

    /// The vendor of a destination; `None` for a connector that the account does not have.
    async fn provider(&self, account: AccountId, destination: &Destination) -> Result<Option<Provider>, Problem> {
        match destination {
            Destination::Inline { provider, .. } => Ok(Some(*provider)),
            Destination::Connector { id } => {
                Ok(self.connector(account, id).await?.map(|credentials| credentials.provider))
            }
        }
    }
}
