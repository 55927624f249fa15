//! Images at addresses that are made up.

use std::{collections::BTreeMap, fmt, sync::Mutex};

use async_trait::async_trait;

use super::lock;
use crate::{
    port::{Failure, Fetch, Fetched, Fetcher, Result},
    request::Url,
};

/// What an address answers with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Served {
    /// A body; its name is the address's last segment.
    Body(Vec<u8>),
    /// No connection comes about.
    Down,
    /// An HTTP status other than 200.
    Status(u16),
    /// Refused before anything is asked.
    Refused,
}

/// Images at addresses that are made up; every other answers 404. Holds what the host serves, no more.
#[derive(Default)]
pub struct MemoryFetcher {
    served: Mutex<BTreeMap<String, Served>>,
}

impl fmt::Debug for MemoryFetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryFetcher").field("served", &lock(&self.served).len()).finish()
    }
}

impl MemoryFetcher {
    /// Serves nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on `url` answers with `served`.
    pub fn serve(&self, url: &Url, served: Served) {
        lock(&self.served).insert(url.expose().to_owned(), served);
    }

    fn at(&self, url: &Url) -> Served {
        lock(&self.served).get(url.expose()).cloned().unwrap_or(Served::Status(404))
    }
}

#[async_trait]
impl Fetcher for MemoryFetcher {
    fn check(&self, url: &Url) -> Result<()> {
        match self.at(url) {
            Served::Refused => Err(Failure::lasting("must be an address to fetch from")),
            _ => Ok(()),
        }
    }

    async fn fetch(&self, fetch: Fetch<'_>) -> Result<Fetched> {
        self.check(fetch.url)?;
        let shown = fetch.url.redacted();
        match self.at(fetch.url) {
            Served::Body(bytes) if bytes.len() as u64 > fetch.max_bytes => {
                Err(Failure::lasting(format!("{shown} has more than {} bytes", fetch.max_bytes)))
            }
            Served::Body(bytes) => Ok(Fetched { bytes, name: name(fetch.url) }),
            Served::Down | Served::Refused => Err(Failure::passing(format!("no connection to {shown}"))),
            Served::Status(status) => {
                let may_pass = status >= 500 || [408, 425, 429].contains(&status);
                Err(Failure { may_pass, ..Failure::lasting(format!("{shown} answered with status {status}")) })
            }
        }
    }
}

/// The last segment of the path.
fn name(url: &Url) -> Option<String> {
    let (_, rest) = url.expose().split_once("://")?;
    let (path, _) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    let (_, last) = path.rsplit_once('/')?;
    (!last.is_empty()).then(|| last.to_owned())
}
