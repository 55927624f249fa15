//! The service without HTTP, for hosts that know their clients by means of their own.

use std::time::Duration;

use super::{
    Service,
    response::{Problem, fresh_id},
    submit::Uploaded,
};
use crate::{
    engine::Input,
    error::{Error, Violation},
    port::{
        self, BlobKey,
        ledger::{AccountId, JobId, Standing},
    },
    request::{Request, Way},
};

/// Why a request was not accepted: the status and the message that an answer by HTTP would have had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Refused {
    /// 402, 403 (the account is disabled, or there is none of that id), 413, 422, 500 or 503.
    pub status: u16,
    /// What went wrong.
    pub message: String,
    /// Each value of the request that is not allowed, where that is what went wrong.
    pub violations: Vec<Violation>,
    /// How long to wait before trying again, where that may help.
    pub retry_after: Option<Duration>,
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        let Problem { status, message, violations, retry_s, .. } = problem;
        Self { status, message, violations, retry_after: retry_s.map(Duration::from_secs) }
    }
}

impl Service {
    /// Accepts a request of `account`, for `source` or, without one, for what its `url` names. When this returns, the job is
    /// as durable as behind a 202. Nobody is asked for a key, and no rate is counted: that is the host's to do.
    ///
    /// # Errors
    /// What a client would be answered, with its status.
    pub async fn submit(
        &self,
        account: AccountId,
        request: &Request,
        source: Option<Input<'_>>,
    ) -> Result<JobId, Refused> {
        let inner = &self.0;
        let id = fresh_id(inner.now());
        Ok(inner.submit(id, account, request, source).await.map(|()| id)?)
    }

    /// How a job of `account` stands, with the body of its result once it is settled; `None` if it has no such job, or none any
    /// more.
    ///
    /// # Errors
    /// Those of the ledger.
    pub async fn standing(&self, account: AccountId, id: JobId) -> port::Result<Option<Standing>> {
        Ok(self.0.ports.ledger.job(account, id).await?.map(|job| job.standing))
    }
}

impl super::Inner {
    async fn submit(
        self: &std::sync::Arc<Self>,
        id: JobId,
        account: AccountId,
        request: &Request,
        source: Option<Input<'_>>,
    ) -> Result<(), Problem> {
        self.check_open()?;
        let wrong = match request.validate_for(if source.is_some() { Way::Upload } else { Way::Fetch }) {
            Err(Error::Request { violations }) => violations,
            valid => valid.map(|()| Vec::new())?,
        };
        let allowed = self.engine.limits().source_bytes;
        if source.is_some_and(|source| source.bytes.len() as u64 > allowed) {
            return Err(Problem::too_large("the file", allowed));
        }
        self.check(account, request, wrong).await?;
        let uploaded = match source {
            Some(Input { bytes, name }) => {
                let mut writer = self.ports.blobs.create(BlobKey::Source(id)).await?;
                writer.write(bytes).await?;
                writer.finish().await?;
                Some(Uploaded::new(bytes.len() as u64, name))
            }
            None => None,
        };
        self.accept(id, account, request.clone(), uploaded, self.now()).await
    }
}
