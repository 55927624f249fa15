//! Requests from acceptance to their end.

use std::time::Duration;

use async_trait::async_trait;

use super::{AccountId, Fence, Held, JobId};
use crate::{
    clock::Timestamp,
    port::{BlobKey, Result},
};

/// A request to be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    /// Its id.
    pub id: JobId,
    /// Whose.
    pub account: AccountId,
    /// The request, sealed. Wiped when the job is settled for good.
    pub sealed: Vec<u8>,
    /// Bytes of its uploaded source, which lies at [`BlobKey::Source`]; `None` for one to fetch.
    pub source_bytes: Option<u64>,
    /// Credits to reserve, and to charge on completion.
    pub cost: u64,
    /// Who is told of the end.
    pub hook: Option<NewHook>,
}

/// Who is told of a job's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewHook {
    /// The address, sealed. Wiped when the notification is delivered, or with the job's record.
    pub sealed: Vec<u8>,
    /// Groups deliveries to one scheme, host and port.
    pub lane: u64,
    /// Time from the job's end to the first attempt.
    pub delay: Duration,
}

/// How much may wait; beyond it a quarter more, for accounts that have little of it: [`admits`](Self::admits).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Unfinished jobs.
    pub jobs: u64,
    /// Bytes of the uploaded sources of unfinished jobs.
    pub source_bytes: u64,
}

/// What waits or is worked on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// Jobs.
    pub jobs: u64,
    /// Bytes of their uploaded sources.
    pub source_bytes: u64,
}

impl Capacity {
    /// Whether a job with an uploaded source of `source_bytes` (0 for one to fetch) may come to `all` that is unfinished, of
    /// which `own` is its account's. It may where it fits; and, so that nobody who fills the queue keeps others out, where
    /// what is its account's then is no more than what is left then of a quarter more.
    pub fn admits(self, all: Unfinished, own: Unfinished, source_bytes: u64) -> bool {
        let fits = |most: u64, all: u64, own: u64, more: u64| {
            let (all, own) = (all.saturating_add(more), own.saturating_add(more));
            more == 0 || all <= most || own <= most.saturating_add(most / 4).saturating_sub(all)
        };
        fits(self.jobs, all.jobs, own.jobs, 1)
            && fits(self.source_bytes, all.source_bytes, own.source_bytes, source_bytes)
    }
}

/// A job was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    /// By this call.
    Now,
    /// By an earlier one with the same id, whose answer was lost.
    Before,
}

/// Why a job was not accepted; nothing is stored or reserved then. The first that holds of closed, without credits, full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The quota is used up or reserved.
    NoCredits {
        /// What is left of it: neither charged nor reserved.
        remaining: u64,
    },
    /// Too much waits already: the [capacity](Capacity::admits) does not admit it.
    QueueFull,
    /// There is no such account, or it is disabled.
    Closed,
}

/// A job in a worker's hands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLease {
    /// Its id.
    pub id: JobId,
    /// Whose.
    pub account: AccountId,
    /// To be shown with every further step.
    pub fence: Fence,
    /// Leases so far without those that were handed back, this one included: 1 at first.
    pub attempt: u32,
    /// How often it was handed back as [counted](Outcome::Again).
    pub failures: u32,
    /// The request, sealed.
    pub sealed: Vec<u8>,
    /// Bytes of its uploaded source.
    pub source_bytes: Option<u64>,
    /// When it was accepted.
    pub accepted: Timestamp,
}

/// How a lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// For good, with a result: the reserved credits are charged.
    Completed {
        /// The JSON body that polls are answered with.
        body: Vec<u8>,
        /// The volatile image; `None` where the result went to the client's storage.
        image: Option<Image>,
    },
    /// For good, without one: the reserved credits are given back.
    Failed {
        /// HTTP status of polls.
        status: u16,
        /// The JSON body that polls are answered with.
        body: Vec<u8>,
    },
    /// To be tried again.
    Again {
        /// Not before then.
        at: Timestamp,
        /// Whether this counts as a [failure](JobLease::failures) of the client's side; what the service itself could not
        /// do does not. No attempt is counted either way.
        counts: bool,
    },
}

/// The 128 random bits of a volatile image's address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link(pub u128);

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

/// A volatile image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Where its bytes lie.
    pub blob: BlobKey,
    /// Its address.
    pub link: Link,
    /// File name for who downloads it.
    pub name: String,
    /// Media type.
    pub media_type: String,
    /// From then on it is gone.
    pub expires: Timestamp,
}

/// Where a job stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Waiting to be leased.
    Accepted,
    /// Leased; also when the lease has run out, until the next.
    Processing,
    /// Settled for good.
    Settled {
        /// HTTP status: 200 for completed ones.
        status: u16,
        /// The JSON body.
        body: Vec<u8>,
    },
}

/// A job as its client may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobView {
    /// When it was accepted.
    pub accepted: Timestamp,
    /// Where it stands.
    pub standing: Standing,
}

/// What a sweep found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Images that have expired, to be deleted.
    pub blobs: Vec<BlobKey>,
    /// Records that were removed.
    pub records: u64,
}

/// How much there is to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Load {
    /// Jobs that are [accepted](Standing::Accepted).
    pub waiting: u64,
    /// Jobs in [processing](Standing::Processing).
    pub leased: u64,
    /// Bytes of the uploaded sources of both.
    pub source_bytes: u64,
    /// When the oldest that waits was accepted.
    pub oldest: Option<Timestamp>,
    /// Notifications that are not delivered yet and not given up.
    pub notifications: u64,
}

/// Requests from acceptance to their end:
/// accepted -> processing (leased) -> completed | failed -> image gone -> record gone.
#[async_trait]
pub trait Jobs: std::fmt::Debug + Send + Sync {
    /// Stores a job and reserves its credits, or refuses it. An id that is known changes nothing, whatever else has
    /// changed since.
    async fn accept(&self, job: NewJob, capacity: Capacity, now: Timestamp) -> Result<Result<Accepted, Refusal>>;

    /// Leases up to `max` jobs until `now + lease`: ones that wait and are due, and ones whose lease ran out. Accounts take
    /// turns, so that many jobs of one do not delay the first of another: next is the account that was leased a job the
    /// longest ago, with the first accepted of its due jobs; the jobs of `but` wait. No job is leased to two holders at a
    /// time. What an earlier call found due may stay due, whatever the clock does.
    async fn claim(&self, max: usize, but: Option<AccountId>, lease: Duration, now: Timestamp)
    -> Result<Vec<JobLease>>;

    /// Prolongs leases until `now + lease`; answers in the order of `held`.
    async fn prolong(&self, held: &[(JobId, Fence)], lease: Duration, now: Timestamp) -> Result<Vec<Held>>;

    /// Ends a lease; for good with the charge or release of its credits and, where it has a hook, the notification that
    /// becomes due after its delay, all in one step. Settled again with the same fence: [`Held::Yes`], and nothing more
    /// happens, also if the outcome is another. A lease that ran out but went to nobody else is still held.
    async fn settle(&self, job: JobId, fence: Fence, outcome: Outcome, now: Timestamp) -> Result<Held>;

    /// A job of this account; `None` if it has none of that id, or its record is gone.
    async fn job(&self, account: AccountId, job: JobId) -> Result<Option<JobView>>;

    /// The image at an address; `None` from its expiry on.
    async fn image(&self, link: Link, now: Timestamp) -> Result<Option<Image>>;

    /// Forgets up to `max` expired images, and up to `max` records settled before `settled_before` whose images are
    /// forgotten and whose notifications are delivered or given up.
    async fn sweep(&self, settled_before: Timestamp, max: usize, now: Timestamp) -> Result<Swept>;

    /// Those of `blobs` that are neither the source of an unfinished job nor an image that no sweep has forgotten nor the
    /// result under a present lease, in their order.
    async fn orphans(&self, blobs: &[BlobKey]) -> Result<Vec<BlobKey>>;

    /// How much there is to do.
    async fn load(&self) -> Result<Load>;
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn unfinished(jobs: u64, source_bytes: u64) -> Unfinished {
        Unfinished { jobs, source_bytes }
    }

    #[test]
    fn who_has_little_in_a_full_queue_may_have_up_to_what_is_left_of_a_quarter_more() {
        let capacity = Capacity { jobs: 100, source_bytes: u64::MAX };
        let admits = |all, own| capacity.admits(unfinished(all, 0), unfinished(own, 0), 0);
        assert!(admits(0, 0) && admits(99, 99));
        assert!(!admits(100, 100), "who has filled it waits");
        assert!(admits(100, 0) && admits(111, 11) && !admits(112, 12), "a newcomer comes in, and fills it no more");
        assert!(admits(112, 0) && admits(123, 0) && !admits(124, 0), "neither do several");
    }

    #[test]
    fn sources_count_by_their_bytes_and_those_to_fetch_for_nothing() {
        let capacity = Capacity { jobs: u64::MAX, source_bytes: 1000 };
        let admits = |all, own, more| capacity.admits(unfinished(0, all), unfinished(0, own), more);
        assert!(admits(600, 600, 400) && !admits(600, 600, 401));
        assert!(admits(1000, 0, 125) && !admits(1000, 0, 126));
        assert!(admits(1250, 1250, 0));
        assert!(!admits(u64::MAX, u64::MAX, u64::MAX) && !admits(0, 0, u64::MAX));
    }
}
