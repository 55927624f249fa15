//! What ports promise, as facts that can be checked: for the tests of adapters. And a clock to set.
//!
//! Each suite takes a way to make a fresh adapter, checks every fact on one of its own, and panics with the names of those
//! that do not hold and what was seen. They run on a tokio runtime.

mod blobs;
mod clock;
mod fetcher;
mod ledger;
mod notifier;
mod storage;

use std::{pin::Pin, sync::Arc};

pub use blobs::blobs;
pub use clock::ManualClock;
pub use fetcher::{Site, fetcher};
pub use ledger::{ledger, ledger_at_random};
pub use notifier::{Heard, Receivers, notifier};
pub use storage::{Bucket, Kept, storage};

use crate::port::Result;

/// Something that a port promises.
struct Fact<P: ?Sized> {
    name: &'static str,
    check: fn(Arc<P>) -> Check,
}

type Check = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// A list of facts by the names of the functions that check them.
macro_rules! facts {
    ($($check:ident),* $(,)?) => {
        &[$(crate::testing::Fact { name: stringify!($check), check: |port| Box::pin($check(port)) }),*]
    };
}
use facts;

/// Checks each fact on a port of its own, and panics with all that do not hold.
async fn hold<P: ?Sized + Send + Sync + 'static>(facts: &[Fact<P>], fresh: impl AsyncFn() -> Arc<P>) {
    let mut broken = Vec::new();
    for Fact { name, check } in facts {
        let name = name.replace('_', " ");
        // As a task of its own, so that a panic ends this fact alone.
        match tokio::spawn(check(fresh().await)).await {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => broken.push(format!("{name}: {failure} ({:?})", failure.source)),
            Err(ended) => broken.push(format!("{name}: {}", said(ended))),
        }
    }
    assert!(broken.is_empty(), "{} of {} facts do not hold:\n{}", broken.len(), facts.len(), broken.join("\n"));
}

/// What a task panicked with.
fn said(ended: tokio::task::JoinError) -> String {
    let text = ended.to_string();
    let Ok(panic) = ended.try_into_panic() else { return text };
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast::<&str>().map_or(text, |text| (*text).to_owned()),
    }
}
