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

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{clock::SystemClock, port::Ports};

/// All ports in memory, with room for 1 GiB of blobs.
pub fn ports() -> Ports {
    Ports {
        ledger: Arc::new(MemoryLedger::new()),
        blobs: Arc::new(MemoryBlobs::new(1 << 30, Arc::new(SystemClock::new()))),
        fetcher: Arc::new(MemoryFetcher::new()),
        storage: Arc::new(MemoryStorage::new()),
        notifier: Arc::new(MemoryNotifier::new()),
    }
}

/// What a panicking holder left behind is taken as it is: no step leaves its state half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
