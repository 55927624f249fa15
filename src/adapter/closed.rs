//! Ports to the world that stay shut, for hosts that want nothing fetched, stored elsewhere or told.

use async_trait::async_trait;

use crate::{
    error::Violation,
    port::{Answer, Failure, Fetch, Fetched, Fetcher, Notification, Notifier, Object, Result, Storage},
    request::{Provider, Store, Url},
};

const FETCHER: &str = "must not be given, since images are uploaded here and not fetched";
const STORAGE: &str = "must not be given, since results are stored nowhere else here";
const NOTIFIER: &str = "must not be given, since nobody is notified from here";

/// A fetcher, a storage or a notifier that refuses every request that would need it, with 422 and before it is accepted:
/// `Ports { storage: Arc::new(Closed), .. }`. Uploads are taken and results polled for all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

#[async_trait]
impl Fetcher for Closed {
    fn check(&self, _: &Url) -> Result<()> {
        Err(Failure::lasting(FETCHER))
    }

    async fn fetch(&self, _: Fetch<'_>) -> Result<Fetched> {
        Err(Failure::lasting(format!("url {FETCHER}")))
    }
}

#[async_trait]
impl Storage for Closed {
    fn check(&self, _: Provider, _: &Store) -> Vec<Violation> {
        vec![Violation { path: String::new(), value: None, allowed: STORAGE.into() }]
    }

    async fn put(&self, _: Object<'_>) -> Result<String> {
        Err(Failure::lasting(format!("store {STORAGE}")))
    }
}

#[async_trait]
impl Notifier for Closed {
    fn check(&self, _: &Url) -> Result<()> {
        Err(Failure::lasting(NOTIFIER))
    }

    async fn notify(&self, _: Notification<'_>) -> Result<Answer> {
        Err(Failure::lasting(format!("webhook.url {NOTIFIER}")))
    }
}
