//! Bytes of sources on their way in and of volatile results on their way out.

use std::{fmt, time::Duration};

use async_trait::async_trait;

use super::{
    Result,
    ledger::{Fence, JobId},
};
use crate::clock::Timestamp;

/// Names a blob. Made of numbers alone, so that no text from outside becomes part of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlobKey {
    /// The uploaded source of a job.
    Source(JobId),
    /// The result that was made of a job under a lease. Each lease has its own, so that a worker which lost its lease
    /// cannot write over what its successor delivers.
    Result(JobId, Fence),
}

impl BlobKey {
    /// The job that it belongs to.
    pub const fn job(self) -> JobId {
        match self {
            Self::Source(job) | Self::Result(job, _) => job,
        }
    }

    /// Reads what `Display` wrote; `None` for every other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_at_checked(3)?;
        let key = match kind {
            "in-" => Self::Source(rest.parse().ok()?),
            "out" => {
                let (job, fence) = rest.strip_prefix('-')?.rsplit_once('.')?;
                Self::Result(job.parse().ok()?, Fence(fence.parse().ok()?))
            }
            _ => return None,
        };
        (key.to_string() == text).then_some(key)
    }
}

impl fmt::Display for BlobKey {
    /// `in-<job>` or `out-<job>.<fence>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(job) => write!(f, "in-{job}"),
            Self::Result(job, Fence(fence)) => write!(f, "out-{job}.{fence}"),
        }
    }
}

/// How a blob looks to whoever reads it at its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Face<'a> {
    /// Value of `Content-Type`.
    pub media_type: &'a str,
    /// Value of `Content-Encoding`, which the bytes have already.
    pub encoding: Option<&'a str>,
    /// Value of `Content-Disposition`.
    pub disposition: &'a str,
}

/// Keeps blobs until they are deleted.
#[async_trait]
pub trait Blobs: fmt::Debug + Send + Sync {
    /// Begins a blob, which nobody sees before [`BlobWriter::finish`]. One of the same key is replaced then.
    async fn create(&self, key: BlobKey) -> Result<Box<dyn BlobWriter>>;

    /// Opens a finished blob; `None` if there is none of that key. What was opened can be read to its end, also when the
    /// blob is deleted meanwhile.
    async fn open(&self, key: BlobKey) -> Result<Option<OpenBlob>>;

    /// An address at which whoever has it reads a finished blob from the store itself, with the headers of `face`, from `now`
    /// on for `life`. `None` where the store has no addresses, or none for that long: the service hands the bytes on then.
    ///
    /// # Errors
    /// Where there should be one and cannot.
    fn address(&self, key: BlobKey, face: Face<'_>, now: Timestamp, life: Duration) -> Result<Option<String>>;

    /// Deletes a blob; one that is not there is no failure. Durable on return, or done again by whoever sweeps.
    async fn delete(&self, key: BlobKey) -> Result<()>;

    /// Up to `max` finished blobs that were finished before `before`, in no order. Calls go round, so that enough of them
    /// list all, however many there are. What writers left behind unfinished
    /// before then (their process died) is removed by this call.
    async fn older_than(&self, before: Timestamp, max: usize) -> Result<Vec<BlobKey>>;
}

/// A blob in the making. Dropped unfinished, it leaves nothing behind (unless the process dies with it).
#[async_trait]
pub trait BlobWriter: fmt::Debug + Send {
    /// Appends.
    async fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Makes the blob visible, whole, and durable against loss of power before it returns.
    async fn finish(self: Box<Self>) -> Result<()>;
}

/// A blob being read.
#[derive(Debug)]
pub struct OpenBlob {
    /// Its length in bytes.
    pub len: u64,
    /// What is left to read.
    pub reader: Box<dyn BlobReader>,
}

/// Reads a blob in pieces.
#[async_trait]
pub trait BlobReader: fmt::Debug + Send {
    /// The next piece, of at most 256 KiB; `None` at the end.
    async fn next(&mut self) -> Result<Option<Vec<u8>>>;
}

/// Reads a blob to its end.
///
/// # Errors
/// Those of its reader.
pub async fn collect(mut blob: OpenBlob) -> Result<Vec<u8>> {
    let mut whole = Vec::with_capacity(usize::try_from(blob.len).unwrap_or_default());
    while let Some(piece) = blob.reader.next().await? {
        whole.extend_from_slice(&piece);
    }
    Ok(whole)
}
