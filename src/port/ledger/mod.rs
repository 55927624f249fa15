//! The one durable state.
//!
//! Every method is one atomic step, durable (against loss of power, where the adapter is) when it returns, and
//! repeatable: called again after its answer was lost, it changes nothing more and answers alike. Where a lost answer
//! held something, that comes back another way: leases run out, images that a sweep forgot are [orphans](Jobs::orphans),
//! a rate window ends. What removes something answers whether it was there.
//!
//! Methods take the time; within one ledger it may stand still, come out of order by up to [`SKEW`], and jump. After a jump
//! backwards by more than that, leases end and rate windows begin anew, since no living holder can have them from the
//! future; months never turn back.
//!
//! Numbers and milliseconds are kept up to 2^63-1; what is beyond is kept as that.
//!
//! Texts and bytes named `sealed` are ciphertext; a ledger never sees a secret.

mod accounts;
mod id;
mod jobs;
mod outbox;

use std::time::Duration;

pub use accounts::{
    Account, Accounts, ConnectorView, Credits, KeyHolder, KeyMac, KeyView, NewAccount, RateGrant, SealedSecrets,
};
pub use id::{AccountId, JobId, NoId};
pub use jobs::{
    Accepted, Capacity, Image, JobLease, JobView, Jobs, Link, Load, NewHook, NewJob, Outcome, Refusal, Standing, Swept,
    Unfinished,
};
pub use outbox::{Delivery, DeliveryState, HookLease, HookOutcome, Outbox};

/// How much later than `now` a lease or a rate window may have begun and still be believed: callers read the clock before
/// they wait for the ledger, and the clocks of several hosts differ.
pub const SKEW: Duration = Duration::from_secs(60);

/// Jobs, outbox and accounts in one place, since some steps span them.
pub trait Ledger: Jobs + Outbox + Accounts {}

impl<T: Jobs + Outbox + Accounts> Ledger for T {}

/// Counts the leases of a job or a delivery. Whoever holds an older one than the last has lost it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(pub u64);

/// Whether a lease was still held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// The step was done.
    Yes,
    /// It was not: the lease ran out and went to another, or the job is settled otherwise.
    Lost,
}
