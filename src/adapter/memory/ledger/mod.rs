//! A ledger in memory.

mod accounts;
mod jobs;
mod outbox;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use accounts::{AccountRow, Window};
use jobs::Job;

use crate::{
    adapter::memory::lock,
    clock::Timestamp,
    port::ledger::{AccountId, Fence, JobId, KeyMac, SKEW},
};

/// A ledger in memory. Claims and sweeps look through all jobs: right for thousands of them. Jobs are bounded by the
/// capacity that they are accepted with and removed by sweeps; accounts, keys and connectors are as many as the host
/// makes.
#[derive(Default)]
pub struct MemoryLedger {
    state: Mutex<State>,
}

impl fmt::Debug for MemoryLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLedger").finish_non_exhaustive()
    }
}

impl MemoryLedger {
    /// Empty.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

#[derive(Default)]
struct State {
    jobs: BTreeMap<JobId, Job>,
    accounts: BTreeMap<AccountId, AccountRow>,
    keys: BTreeMap<KeyMac, (AccountId, Timestamp)>,
    windows: BTreeMap<KeyMac, Window>,
    /// Jobs ever accepted.
    accepted: u64,
    /// Leases ever given.
    turns: u64,
}

/// The leases of a job or of a delivery.
#[derive(Default)]
struct Leases {
    /// How many there were.
    given: u64,
    /// The last, until its holder ends it.
    held: Option<Lease>,
}

struct Lease {
    since: Timestamp,
    until: Timestamp,
}

impl Leases {
    fn give(&mut self, lease: Duration, now: Timestamp) -> Fence {
        self.given += 1;
        self.held = Some(Lease { since: now, until: now + lease });
        Fence(self.given)
    }

    /// Whether the last lease is this one and not ended yet: `None` if it is another.
    fn is_held(&self, fence: Fence) -> Option<bool> {
        (self.given == fence.0).then_some(self.held.is_some())
    }

    /// Whether it may be leased, given the moment from which it may be while nobody holds it.
    fn free(&self, due: Timestamp, now: Timestamp) -> bool {
        self.held.as_ref().map_or(due <= now, |lease| lease.until <= now || lease.since > now + SKEW)
    }
}
