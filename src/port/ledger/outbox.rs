//! Notifications that are to be delivered.

use std::{fmt, time::Duration};

use async_trait::async_trait;

use super::{AccountId, Fence, Held, JobId};
use crate::{clock::Timestamp, port::Result};

/// A delivery in a notifier's hands.
#[derive(Clone, PartialEq, Eq)]
pub struct HookLease {
    /// The job that ended.
    pub job: JobId,
    /// Whose.
    pub account: AccountId,
    /// To be shown with every further step.
    pub fence: Fence,
    /// Attempts that are behind it: 0 at first, and again after a replay.
    pub failures: u32,
    /// The address, sealed.
    pub sealed: Vec<u8>,
    /// Groups deliveries to one scheme, host and port.
    pub lane: u64,
    /// The JSON body.
    pub body: Vec<u8>,
}

impl fmt::Debug for HookLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { job, fence, failures, lane, .. } = self;
        write!(f, "HookLease {{ job: {job}, fence: {fence:?}, failures: {failures}, lane: {lane} }}")
    }
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookOutcome {
    /// The receiver took it. The address is wiped.
    Delivered,
    /// It did not.
    Failed {
        /// When to try again; `None` gives up.
        again: Option<Timestamp>,
    },
    /// No attempt was made.
    HandedBack {
        /// Not before then.
        at: Timestamp,
    },
}

/// Where a delivery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// Attempts are still to be made.
    Pending {
        /// The next, or the one that is being made.
        due: Timestamp,
    },
    /// The receiver took it.
    Delivered,
    /// Given up.
    Dead,
}

/// A delivery as the host may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The job that ended.
    pub job: JobId,
    /// Where it stands.
    pub state: DeliveryState,
    /// Each attempt's moment and what came of it: `200`, `no answer within 10 s`.
    pub attempts: Vec<(Timestamp, String)>,
}

/// Notifications that are to be delivered, one for each settled job with a hook.
#[async_trait]
pub trait Outbox: fmt::Debug + Send + Sync {
    /// Leases up to `max` deliveries until `now + lease`: ones that are due and ones whose lease ran out; never more than
    /// `per_lane` of one lane at a time, earlier leases that still run included, so that a slow receiver does not hold up
    /// the others. Next is the lane with the longest due, and of it the account that has the fewest leases there which
    /// still run, so that many deliveries of one do not delay the first of another; of several, the one that was leased one
    /// there the longest ago (who has had nothing to deliver there may count as new); of this account's, the longest due.
    async fn claim_hooks(&self, max: usize, per_lane: usize, lease: Duration, now: Timestamp)
    -> Result<Vec<HookLease>>;

    /// Ends a delivery's lease, as [`Jobs::settle`](super::Jobs::settle) does a job's. `note` goes to its attempts, of which the last 20 are kept, except with
    /// [`HookOutcome::HandedBack`].
    async fn settle_hook(
        &self,
        job: JobId,
        fence: Fence,
        outcome: HookOutcome,
        note: &str,
        now: Timestamp,
    ) -> Result<Held>;

    /// The latest deliveries of an account, the one of its last accepted job first, up to `max`.
    async fn deliveries(&self, account: AccountId, max: usize) -> Result<Vec<Delivery>>;

    /// Makes a dead delivery due again, its failures forgotten; one that is still pending stays as it is. `false` if there
    /// is neither.
    async fn replay(&self, account: AccountId, job: JobId, now: Timestamp) -> Result<bool>;
}
