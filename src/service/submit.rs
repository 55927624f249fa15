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
    request::{Destination, Provider, Request, Store, Url, Webhook},
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
    /// Accepts a [checked](Self::check) request whose source, if it was uploaded, is durable already. When this returns
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
            Refusal::Closed => match self.ports.ledger.account(account, now).await? {
                Some(_) => Problem::disabled(),
                None => Problem::new(403, format!("there is no account {account}")),
            },
        })
    }

    /// Refuses a request for all that is wrong with it at once: what was found so far, and what the ports would refuse of the
    /// rest whatever happens.
    pub(super) async fn check(
        &self,
        account: AccountId,
        request: &Request,
        mut violations: Vec<Violation>,
    ) -> Result<(), Problem> {
        let wrong: Vec<String> = violations.iter().map(|violation| violation.path.clone()).collect();
        let is_right = |path: &str| {
            let below =
                |wrong: &String| wrong.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
            !wrong.iter().any(below)
        };
        let refusal = |path: &str, url: &Url, checked: Result<(), Failure>| {
            let failure = checked.err()?;
            Some(Violation { path: path.into(), value: Some(url.shown()), allowed: failure.message })
        };
        if let Some(url) = request.url.as_ref().filter(|_| is_right("url")) {
            violations.extend(refusal("url", url, self.ports.fetcher.check(url)));
        }
        let is_destined =
            is_right("store.provider") && is_right("store.id") && !wrong.iter().any(|wrong| wrong == "store");
        if let Some(store) = request.store.as_ref().filter(|_| is_destined) {
            let refused = self.refused_of(account, store).await?;
            violations.extend(refused.into_iter().filter(|refused| is_right(&refused.path)));
        }
        if let Some(Webhook { url, .. }) = request.webhook.as_ref().filter(|_| is_right("webhook.url")) {
            violations.extend(refusal("webhook.url", url, self.ports.notifier.check(url)));
        }
        for (path, refusal) in self.engine.refusals(request) {
            if matches!(refusal, Error::Internal { .. }) {
                return Err(refusal.into());
            }
            if is_right(path) {
                let allowed = format!("must be another: {refusal}");
                violations.push(Violation { path: path.into(), value: request.shown(path), allowed });
            }
        }
        if violations.is_empty() { Ok(()) } else { Err(Error::Request { violations }.into()) }
    }

    /// What is refused of a destination, with what may be shown of it.
    async fn refused_of(&self, account: AccountId, store: &Store) -> Result<Vec<Violation>, Problem> {
        let Some(provider) = self.provider(account, &store.destination).await? else {
            return Ok(vec![Violation {
                path: "store.id".into(),
                value: store.shown("id"),
                allowed: "must be the id of a connector of the account".into(),
            }]);
        };
        let refused = self.ports.storage.check(provider, store).into_iter().map(|refused| Violation {
            path: if refused.path.is_empty() { "store".into() } else { format!("store.{}", refused.path) },
            value: store.shown(&refused.path),
            ..refused
        });
        Ok(refused.collect())
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
