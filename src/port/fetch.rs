//! Images at addresses.

use std::{collections::BTreeMap, fmt};

use async_trait::async_trait;

use super::Result;
use crate::request::{Secret, Url};

/// What to get.
#[derive(Debug, Clone, Copy)]
pub struct Fetch<'a> {
    /// Where; user and password, if it has them, are sent as Basic credentials.
    pub url: &'a Url,
    /// Headers to add, for the first host alone.
    pub headers: &'a BTreeMap<String, Secret>,
    /// Bytes of a body at most.
    pub max_bytes: u64,
}

/// What came.
#[derive(Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The body.
    pub bytes: Vec<u8>,
    /// A file name, from the last segment of the final address's path; `None` where it has none.
    pub name: Option<String>,
}

impl fmt::Debug for Fetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetched").field("bytes", &self.bytes.len()).field("name", &self.name).finish()
    }
}

/// Gets images from the web.
#[async_trait]
pub trait Fetcher: fmt::Debug + Send + Sync {
    /// Refuses what is refused whatever the network says: schemes, ports, private addresses written as such. Looks
    /// nothing up.
    ///
    /// # Errors
    /// A lasting failure that says what the address must be: words that begin with "must".
    fn check(&self, url: &Url) -> Result<()>;

    /// Gets a body of status 200. May be dropped at any time.
    ///
    /// # Errors
    /// Passing where the other side may yet answer (no connection, time-outs, 5xx, 408, 425, 429); lasting otherwise,
    /// and where the body is longer than [`Fetch::max_bytes`], of which no more is read.
    async fn fetch(&self, fetch: Fetch<'_>) -> Result<Fetched>;
}
