//! What [`Storage`] promises.

use std::sync::Arc;

use super::{Fact, facts, hold};
use crate::{
    port::{Credentials, Object, Result, Storage},
    request::Store,
};

/// A storage, a destination that it takes objects for, and the credentials to it.
#[derive(Debug)]
pub struct Bucket {
    /// What is checked.
    pub storage: Box<dyn Storage>,
    /// Where it takes objects; its path is of no matter.
    pub store: Store,
    /// Whose account that is.
    pub credentials: Credentials,
}

const FACTS: &[Fact<Bucket>] = facts![an_object_gets_an_address_of_its_key, putting_again_gives_the_same_address];

/// Checks what [`Storage`] promises.
///
/// # Panics
/// If it does not hold.
pub async fn storage(fresh: impl AsyncFn() -> Arc<Bucket>) {
    hold(FACTS, fresh).await;
}

async fn put(Bucket { storage, store, credentials }: &Bucket, path: &str) -> Result<String> {
    let store = store.clone().path(path);
    assert_eq!(storage.check(credentials.provider, &store), []);
    storage.put(Object { bytes: b"bytes", media_type: "image/png", name: "a.png", store: &store, credentials }).await
}

async fn an_object_gets_an_address_of_its_key(bucket: Arc<Bucket>) -> Result<()> {
    for (path, key) in [("photos", "photos/a.png"), ("photos/b.png", "photos/b.png")] {
        let address = put(&bucket, path).await?;
        assert!(address.starts_with("https://") && address.ends_with(key), "{address}");
    }
    Ok(())
}

async fn putting_again_gives_the_same_address(bucket: Arc<Bucket>) -> Result<()> {
    assert_eq!(put(&bucket, "photos").await?, put(&bucket, "photos").await?);
    Ok(())
}
