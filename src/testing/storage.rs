//! What [`Storage`] promises.

use std::{fmt, sync::Arc};

use super::{Fact, facts, hold};
use crate::{
    port::{Credentials, Object, Result, Storage},
    request::Store,
};

/// The bytes at a key, read some other way; `None` where there is no object.
pub type Kept = dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync;

/// A storage, a destination that it takes objects for, and the credentials to it.
pub struct Bucket {
    /// What is checked.
    pub storage: Arc<dyn Storage>,
    /// Where it takes objects; its path is of no matter.
    pub store: Store,
    /// Whose account that is.
    pub credentials: Credentials,
    /// What is in the destination's bucket.
    pub object: Box<Kept>,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").field("storage", &self.storage).field("store", &self.store).finish_non_exhaustive()
    }
}

const FACTS: &[Fact<Bucket>] = facts![an_object_is_at_its_key_and_its_address_tells_that, putting_again_replaces];

/// Checks what [`Storage`] promises.
///
/// # Panics
/// If it does not hold.
pub async fn storage(fresh: impl AsyncFn() -> Arc<Bucket>) {
    hold(FACTS, fresh).await;
}

async fn put(Bucket { storage, store, credentials, .. }: &Bucket, path: &str, bytes: &[u8]) -> Result<String> {
    let store = store.clone().path(path);
    assert_eq!(storage.check(credentials.provider, &store), []);
    storage.put(Object { bytes, media_type: "image/png", name: "a.png", store: &store, credentials }).await
}

async fn an_object_is_at_its_key_and_its_address_tells_that(bucket: Arc<Bucket>) -> Result<()> {
    for (path, key) in [("photos", "photos/a.png"), ("photos/b.png", "photos/b.png")] {
        let address = put(&bucket, path, path.as_bytes()).await?;
        assert!(address.starts_with("https://") && address.ends_with(key), "{address}");
        assert_eq!((bucket.object)(key).as_deref(), Some(path.as_bytes()), "{key}");
    }
    Ok(())
}

async fn putting_again_replaces(bucket: Arc<Bucket>) -> Result<()> {
    let first = put(&bucket, "photos", b"first").await?;
    assert_eq!(put(&bucket, "photos", b"second").await?, first);
    assert_eq!((bucket.object)("photos/a.png").as_deref(), Some(&b"second"[..]));
    Ok(())
}
