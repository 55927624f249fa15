//! Clients' object storage that is made up.

use std::{collections::BTreeMap, fmt, sync::Mutex};

use async_trait::async_trait;

use super::lock;
use crate::{
    error::Violation,
    port::{Credentials, Failure, Object, Result, Storage},
    request::{Provider, Store},
};

/// An object that was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The file.
    pub bytes: Vec<u8>,
    /// Its media type.
    pub media_type: String,
    /// The destination's attributes.
    pub store: Store,
    /// Whose account it went to.
    pub credentials: Credentials,
}

/// Keeps the objects that were put, each bucket for itself; by nature as many as are put.
#[derive(Default)]
pub struct MemoryStorage {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By bucket and key.
    objects: BTreeMap<(String, String), Stored>,
    /// Failures of the next puts: whether each may pass, and what it says.
    failures: Vec<(bool, String)>,
}

impl fmt::Debug for MemoryStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStorage").field("objects", &lock(&self.state).objects.len()).finish_non_exhaustive()
    }
}

impl MemoryStorage {
    /// Empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// The object at a key.
    pub fn object(&self, bucket: &str, key: &str) -> Option<Stored> {
        lock(&self.state).objects.get(&(bucket.to_owned(), key.to_owned())).cloned()
    }

    /// Fails the next put with this; of several, the last said comes first.
    pub fn fail(&self, may_pass: bool, message: impl Into<String>) {
        lock(&self.state).failures.push((may_pass, message.into()));
    }
}

#[async_trait]
impl Storage for MemoryStorage {
    fn check(&self, _provider: Provider, _store: &Store) -> Vec<Violation> {
        Vec::new()
    }

    async fn put(&self, object: Object<'_>) -> Result<String> {
        let mut state = lock(&self.state);
        if let Some((may_pass, message)) = state.failures.pop() {
            return Err(Failure { may_pass, ..Failure::lasting(message) });
        }
        let (bucket, key) = (object.store.bucket.clone(), object.key());
        let address = format!("https://{bucket}.storage.invalid/{key}");
        let stored = Stored {
            bytes: object.bytes.to_vec(),
            media_type: object.media_type.to_owned(),
            store: object.store.clone(),
            credentials: object.credentials.clone(),
        };
        state.objects.insert((bucket, key), stored);
        Ok(address)
    }
}
