//! One job under its lease, from the source to what its client will read.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{
    Inner,
    admin::connector_place,
    compute::Ended,
    response::{self, Problem},
    seal::place,
    volatile::{direct_disposition, fresh_link, path},
};
use crate::{
    engine,
    port::{
        BlobKey, Credentials, Face, Failure, Fetch, Fetched, Object, collect,
        ledger::{AccountId, Image, JobLease, Outcome},
    },
    request::{Destination, Provider, Request, Secret, Store},
};

/// What is kept of a request until it is settled, sealed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Stored {
    /// The file name of an upload.
    pub(super) name: Option<String>,
    pub(super) request: Request,
}

impl Stored {
    pub(super) fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        // Texts and numbers always serialise.
        Zeroizing::new(serde_json::to_vec(self).unwrap_or_default())
    }
}

/// What is kept of a connector, sealed.
#[derive(Serialize, Deserialize)]
struct StoredCredentials {
    provider: String,
    key: Secret,
    secret: Secret,
}

pub(super) fn credentials_to_bytes(credentials: &Credentials) -> Zeroizing<Vec<u8>> {
    let Credentials { provider, key, secret } = credentials.clone();
    let stored = StoredCredentials { provider: provider.as_str().to_owned(), key, secret };
    Zeroizing::new(serde_json::to_vec(&stored).unwrap_or_default())
}

/// Why a job did not complete under this lease.
enum Trouble {
    /// For good.
    Failed(Problem),
    /// The other side may yet answer, to one of so many attempts.
    Passing { problem: Problem, attempts: u32 },
    /// The service itself may yet do what it could not do now.
    Own,
    /// The work was ended from outside.
    Cancelled,
}

impl From<Problem> for Trouble {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem)
    }
}

/// The service's own state did not answer.
fn own(failure: Failure) -> Trouble {
    let may_pass = failure.may_pass;
    let problem = Problem::from(failure);
    if may_pass { Trouble::Own } else { Trouble::Failed(problem) }
}

/// The client's side did not do its part; the failure's message is for it to read.
fn theirs(failure: Failure, attempts: u32) -> Trouble {
    let problem = Problem::new(422, failure.message);
    if failure.may_pass { Trouble::Passing { problem, attempts } } else { Trouble::Failed(problem) }
}

impl Inner {
    /// Does a job and says how its lease ends.
    pub(super) async fn work_on(&self, lease: &JobLease) -> Outcome {
        if lease.attempt > self.settings.attempts {
            tracing::error!(attempts = lease.attempt - 1, "given up: no attempt came to an end");
            let ended = format!("the service has stopped {} times while this was in hand", lease.attempt - 1);
            return failed(lease, &Problem::new(500, ended));
        }
        let failures = lease.failures.saturating_add(1);
        match self.result_of(lease).await {
            Ok(outcome) => outcome,
            Err(Trouble::Cancelled) => Outcome::Again { at: self.now(), counts: false },
            Err(Trouble::Passing { problem, attempts }) if failures < attempts => {
                tracing::info!(failures, status = problem.status, "to be tried again");
                Outcome::Again { at: self.now() + backoff(failures), counts: true }
            }
            // A full disk is no fault of the request, which waits until its host has mended it, unless nobody would keep its
            // record any longer.
            Err(Trouble::Own) if self.now().since(lease.accepted) < self.settings.record_life => {
                Outcome::Again { at: self.now() + self.settings.lease, counts: false }
            }
            Err(Trouble::Own) => failed(lease, &Problem::internal()),
            Err(Trouble::Passing { problem, .. } | Trouble::Failed(problem)) => failed(lease, &problem),
        }
    }

    async fn result_of(&self, lease: &JobLease) -> Result<Outcome, Trouble> {
        let opened = self.keyring.open(&lease.sealed, &place(lease.account, &lease.id.to_string())).map_err(|_| {
            // Another ring may have its key: nothing is given up that somebody can still put right.
            tracing::error!("the stored request does not open with the keys of this service");
            Trouble::Own
        })?;
        let Ok(Stored { name, request }) = serde_json::from_slice::<Stored>(&opened) else {
            tracing::error!("the stored request cannot be read");
            return Err(Trouble::Failed(Problem::internal()));
        };
        let source = self.source(lease, name, &request).await?;
        metrics::counter!("lapidary_bytes_total", "way" => "in").increment(source.bytes.len() as u64);
        let made = self.compute.run(source.bytes, source.name, request.clone()).await.map_err(|ended| match ended {
            Ended::Failed(problem) => Trouble::Failed(problem),
            Ended::Cancelled => Trouble::Cancelled,
        })?;
        metrics::counter!("lapidary_bytes_total", "way" => "out").increment(made.bytes.len() as u64);
        match &request.store {
            Some(store) => self.stored(lease, store, &made).await,
            None => self.kept(lease, &made).await,
        }
    }

    async fn source(&self, lease: &JobLease, name: Option<String>, request: &Request) -> Result<Fetched, Trouble> {
        if lease.source_bytes.is_some() {
            let blob = self.ports.blobs.open(BlobKey::Source(lease.id)).await.map_err(own)?;
            let Some(blob) = blob else {
                tracing::error!("the uploaded source is gone");
                return Err(Trouble::Failed(Problem::internal()));
            };
            return Ok(Fetched { bytes: collect(blob).await.map_err(own)?, name });
        }
        let url = request.url.as_ref().ok_or_else(Problem::internal)?;
        let fetch = Fetch { url, headers: &request.headers, max_bytes: self.engine.limits().source_bytes };
        let attempts = self.settings.fetch_attempts;
        self.ports.fetcher.fetch(fetch).await.map_err(|failure| theirs(failure, attempts))
    }

    /// Puts the result into the client's own storage.
    async fn stored(&self, lease: &JobLease, store: &Store, made: &engine::Outcome) -> Result<Outcome, Trouble> {
        let credentials = self.credentials(lease.account, &store.destination).await?;
        let object = Object {
            bytes: &made.bytes,
            media_type: made.format.media_type(),
            name: &made.output.name,
            store,
            credentials: &credentials,
        };
        let attempts = self.settings.attempts;
        let url = self.ports.storage.put(object).await.map_err(|failure| theirs(failure, attempts))?;
        let body = response::completed(lease.id, &made.input, &made.output, &url);
        Ok(Outcome::Completed { body, image: None })
    }

    /// Keeps the result for as long as a volatile image lives.
    async fn kept(&self, lease: &JobLease, made: &engine::Outcome) -> Result<Outcome, Trouble> {
        let key = BlobKey::Result(lease.id, lease.fence);
        let mut writer = self.ports.blobs.create(key).await.map_err(own)?;
        writer.write(&made.bytes).await.map_err(own)?;
        writer.finish().await.map_err(own)?;
        let (link, now, life) = (fresh_link(), self.now(), self.settings.image_life);
        let media_type = made.format.media_type();
        let disposition = direct_disposition(&made.output.name, media_type);
        let face = Face { media_type, encoding: made.encoding, disposition: &disposition };
        let direct = self.ports.blobs.address(key, face, now, life);
        let through_us = || format!("{}/volatile/{}", self.settings.public_url, path(link, &made.output.name));
        let url = direct.map_err(own)?.unwrap_or_else(through_us);
        let image = Image {
            blob: key,
            link,
            name: made.output.name.clone(),
            media_type: media_type.to_owned(),
            expires: now + life,
        };
        let body = response::completed(lease.id, &made.input, &made.output, &url);
        Ok(Outcome::Completed { body, image: Some(image) })
    }

    async fn credentials(&self, account: AccountId, destination: &Destination) -> Result<Credentials, Trouble> {
        match destination {
            Destination::Inline { provider, key, secret } => {
                Ok(Credentials { provider: *provider, key: key.clone(), secret: secret.clone() })
            }
            Destination::Connector { id } => {
                let gone = || Problem::new(422, "store.id must be the id of a connector of the account");
                Ok(self.connector(account, id).await.map_err(own)?.ok_or_else(gone)?)
            }
        }
    }

    /// A connector of the account, opened.
    pub(super) async fn connector(&self, account: AccountId, id: &str) -> Result<Option<Credentials>, Failure> {
        let Some(sealed) = self.ports.ledger.connector(account, id).await? else { return Ok(None) };
        let unopened =
            |error| Failure::passing("a connector does not open with the keys of this service").because(error);
        let opened = self.keyring.open(&sealed, &connector_place(account, id)).map_err(unopened)?;
        let stored = serde_json::from_slice::<StoredCredentials>(&opened).ok();
        let known = stored.and_then(|StoredCredentials { provider, key, secret }| {
            let provider = Provider::ALL.iter().find(|known| known.as_str() == provider)?;
            Some(Credentials { provider: *provider, key, secret })
        });
        known.map(Some).ok_or_else(|| Failure::lasting("a connector cannot be read"))
    }
}

fn failed(lease: &JobLease, problem: &Problem) -> Outcome {
    metrics::counter!("lapidary_failures_total", "status" => problem.status.to_string()).increment(1);
    Outcome::Failed { status: problem.status, body: problem.body(lease.id) }
}

/// Time to wait after so many failures: 2 s, 8 s, 32 s, and 128 s from then on.
const fn backoff(failures: u32) -> Duration {
    Duration::from_secs(1 << (2 * if failures > 4 { 4 } else { failures }) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_spaced_fourfold() {
        assert_eq!([1, 2, 3, 4, 9].map(|failures| backoff(failures).as_secs()), [2, 8, 32, 128, 128]);
    }
}
