//! Every port in memory: for tests and demonstrations. Nothing outlives its value.

mod blobs;
mod fetcher;
mod ledger;
mod notifier;
mod storage;

pub use blobs::MemoryBlobs;
pub use fetcher::{MemoryFetcher, Served};
pub use ledger::MemoryLedger;
pub use notifier::{MemoryNotifier, Received};
pub use storage::{MemoryStorage, Stored};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a panicking holder left behind is taken as it is: no step leaves its state half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
