//! A ledger as simple as can be, which foretells what a true one answers.
//!
//! Sums are added up from the jobs each time, so that nothing here can drift. Where a promise leaves a choice (whose turn
//! it is among accounts that were never served; what was found due before the clock jumped back), every choice is
//! allowed.

use std::collections::BTreeMap;

use super::*;
use crate::port::{
    BlobKey,
    ledger::{
        Credits, Delivery, DeliveryState, HookLease, HookOutcome, Image, JobView, Load, RateGrant, SKEW, Standing,
    },
};

#[derive(Default)]
pub(super) struct Model {
    /// In the order of acceptance.
    pub(super) jobs: Vec<Job>,
    pub(super) accounts: BTreeMap<AccountId, Account>,
    windows: BTreeMap<KeyMac, (Timestamp, Timestamp, u64)>,
    turns: u64,
}

pub(super) struct Account {
    pub(super) disabled: bool,
    pub(super) total: u64,
    turn: u64,
}

pub(super) struct Job {
    pub(super) new: NewJob,
    accepted: Timestamp,
    due: Timestamp,
    attempts: u32,
    failures: u32,
    pub(super) lease: Lease,
    pub(super) end: Option<End>,
    pub(super) delivery: Option<Post>,
}

#[derive(Clone)]
pub(super) struct End {
    at: Timestamp,
    status: u16,
    body: Vec<u8>,
    pub(super) image: Option<Image>,
    charged: bool,
}

/// A settled job's notification.
pub(super) struct Post {
    state: DeliveryState,
    pub(super) lease: Lease,
    failures: u32,
    attempts: Vec<(Timestamp, String)>,
    due_is_unclear: bool,
}

/// The last lease of a job or a notification.
#[derive(Default)]
pub(super) struct Lease {
    pub(super) fence: u64,
    /// Since when and until when, while its holder has not ended it.
    held: Option<(Timestamp, Timestamp)>,
    /// A claim found that it could be leased, and did not.
    found_free: bool,
}

impl Lease {
    fn give(&mut self, fence: Fence, now: Timestamp) {
        assert!(fence.0 > self.fence, "{fence:?} after {}", self.fence);
        *self = Self { fence: fence.0, held: Some((now, now + LEASE)), found_free: false };
    }

    /// Whether a step under `fence` is to be done: `Err` says what is answered if not.
    fn end(&mut self, fence: Fence) -> Result<(), Held> {
        match self.held {
            _ if self.fence != fence.0 => Err(Held::Lost),
            None => Err(Held::Yes),
            Some(_) => {
                (self.held, self.found_free) = (None, false);
                Ok(())
            }
        }
    }

    /// Whether it is free for certain; `due` counts where nobody holds it.
    fn free(&self, due: Timestamp, now: Timestamp) -> bool {
        self.held.map_or(due <= now, |(since, until)| until <= now || since > now + SKEW)
    }

    /// Whether it runs for certain.
    fn runs(&self, now: Timestamp) -> bool {
        self.held.is_some() && !self.free(now, now)
    }
}

impl Job {
    fn is_due(&self, now: Timestamp) -> bool {
        self.end.is_none() && self.lease.free(self.due, now)
    }

    fn source_bytes(&self) -> u64 {
        self.new.source_bytes.unwrap_or_default()
    }

    fn is_over(&self) -> bool {
        self.delivery.as_ref().is_none_or(|post| !matches!(post.state, DeliveryState::Pending { .. }))
    }

    /// A notification that may be due, and when.
    fn post(&self) -> Option<(&Post, Timestamp)> {
        let post = self.delivery.as_ref()?;
        let DeliveryState::Pending { due } = post.state else { return None };
        Some((post, due))
    }

    fn post_is_due(&self, now: Timestamp) -> Option<Timestamp> {
        self.post().filter(|(post, due)| post.lease.free(*due, now)).map(|(_, due)| due)
    }

    fn lane(&self) -> Option<u64> {
        self.new.hook.as_ref().map(|hook| hook.lane)
    }
}

impl Model {
    pub(super) fn open(&mut self, account: AccountId, total: u64) {
        self.accounts.insert(account, Account { disabled: false, total, turn: 0 });
    }

    pub(super) fn job(&mut self, id: JobId) -> Option<&mut Job> {
        self.jobs.iter_mut().find(|job| job.new.id == id)
    }

    fn unfinished(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter().filter(|job| job.end.is_none())
    }

    /// The invariant: what is reserved is the sum of the costs of unfinished jobs, and what is used that of charged ones,
    /// of this month.
    pub(super) fn credits(&self, account: AccountId, charged: u64, now: Timestamp) -> Credits {
        let month = now.next_month();
        let mine = |job: &&Job| job.new.account == account && job.accepted.next_month() == month;
        let reserved = self.unfinished().filter(mine).map(|job| job.new.cost).sum();
        let done = |job: &&Job| job.end.as_ref().is_some_and(|end| end.charged);
        let used = self.jobs.iter().filter(mine).filter(done).map(|job| job.new.cost).sum::<u64>() + charged;
        Credits { total: self.accounts[&account].total, used, reserved, reset: month }
    }

    /// `credits` are those of the account before.
    pub(super) fn accept(
        &mut self,
        new: NewJob,
        capacity: Capacity,
        credits: Credits,
        now: Timestamp,
    ) -> Result<Accepted, Refusal> {
        if self.job(new.id).is_some() {
            return Ok(Accepted::Before);
        }
        if self.accounts.get(&new.account).is_none_or(|account| account.disabled) {
            return Err(Refusal::Closed);
        }
        let remaining = credits.total.saturating_sub(credits.used + credits.reserved);
        if new.cost > remaining {
            return Err(Refusal::NoCredits { remaining });
        }
        let own = |job: &&Job| job.new.account == new.account;
        let sizes = [
            (capacity.jobs, self.unfinished().count() as u64, self.unfinished().filter(own).count() as u64, 1),
            (
                capacity.source_bytes,
                self.unfinished().map(Job::source_bytes).sum(),
                self.unfinished().filter(own).map(Job::source_bytes).sum(),
                new.source_bytes.unwrap_or_default(),
            ),
        ];
        for (most, all, own, more) in sizes {
            let left = (most + most / 4).saturating_sub(all + more);
            if more > 0 && all + more > most && own + more > left {
                return Err(Refusal::QueueFull);
            }
        }
        let due = Timestamp::default();
        let lease = Lease::default();
        self.jobs.push(Job { new, accepted: now, due, attempts: 0, failures: 0, lease, end: None, delivery: None });
        Ok(Accepted::Now)
    }

    /// Checks that these leases may be given, and gives them.
    pub(super) fn claim(&mut self, leases: &[JobLease], max: usize, but: Option<AccountId>, now: Timestamp) {
        for job in self.jobs.iter_mut().filter(|job| job.is_due(now)) {
            job.lease.found_free = true;
        }
        for lease in leases {
            let (at, job) =
                self.jobs.iter().enumerate().find(|(_, job)| job.new.id == lease.id).expect("the job is known");
            assert!(job.end.is_none() && (job.is_due(now) || job.lease.found_free), "{} is not free", lease.id);
            let turn = self.accounts[&job.new.account].turn;
            assert_ne!(Some(lease.account), but);
            let is_next = |(_, job): &(usize, &Job)| job.is_due(now) && Some(job.new.account) != but;
            let due = || self.jobs.iter().enumerate().filter(is_next);
            let earlier = due().find(|(other, job)| *other < at && job.new.account == lease.account);
            assert!(earlier.is_none(), "{} was accepted earlier than {}", earlier.expect("it is").1.new.id, lease.id);
            let before = due().find(|(_, job)| self.accounts[&job.new.account].turn < turn);
            assert!(before.is_none(), "it is the turn of {}", before.expect("it is").1.new.account);
            let job = &mut self.jobs[at];
            job.attempts += 1;
            job.lease.give(lease.fence, now);
            let foretold = JobLease {
                id: lease.id,
                account: job.new.account,
                fence: lease.fence,
                attempt: job.attempts,
                failures: job.failures,
                sealed: job.new.sealed.clone(),
                source_bytes: job.new.source_bytes,
                accepted: job.accepted,
            };
            assert_eq!(*lease, foretold);
            self.turns += 1;
            self.accounts.get_mut(&lease.account).expect("the account is known").turn = self.turns;
        }
        assert!(leases.len() <= max);
        let left = self.jobs.iter().find(|job| job.is_due(now) && Some(job.new.account) != but);
        assert!(leases.len() == max || left.is_none(), "{} was left", left.expect("it is").new.id);
    }

    pub(super) fn prolong(&mut self, id: JobId, fence: Fence, now: Timestamp) -> Held {
        let Some(job) = self.job(id) else { return Held::Lost };
        if job.lease.fence != fence.0 || job.lease.held.is_none() {
            return Held::Lost;
        }
        (job.lease.held, job.lease.found_free) = (Some((now, now + LEASE)), false);
        Held::Yes
    }

    pub(super) fn settle(&mut self, id: JobId, fence: Fence, outcome: Outcome, now: Timestamp) -> Held {
        let Some(job) = self.job(id) else { return Held::Lost };
        if let Err(held) = job.lease.end(fence) {
            return held;
        }
        let (status, body, image) = match outcome {
            Outcome::Completed { body, image } => (200, body, image),
            Outcome::Failed { status, body } => (status, body, None),
            Outcome::Again { at, counts } => {
                job.due = at;
                job.attempts -= 1;
                job.failures += u32::from(counts);
                return Held::Yes;
            }
        };
        let charged = status == 200 && job.accepted.next_month() == now.next_month();
        job.end = Some(End { at: now, status, body, image, charged });
        job.delivery = job.new.hook.as_ref().map(|hook| Post {
            state: DeliveryState::Pending { due: now + hook.delay },
            lease: Lease::default(),
            failures: 0,
            attempts: Vec::new(),
            due_is_unclear: false,
        });
        Held::Yes
    }

    pub(super) fn view(&self, account: AccountId, id: JobId) -> Option<JobView> {
        let job = self.jobs.iter().find(|job| job.new.id == id && job.new.account == account)?;
        let standing = match &job.end {
            Some(end) => Standing::Settled { status: end.status, body: end.body.clone() },
            None if job.lease.held.is_some() => Standing::Processing,
            None => Standing::Accepted,
        };
        Some(JobView { accepted: job.accepted, standing })
    }

    pub(super) fn load(&self) -> Load {
        let waiting = || self.unfinished().filter(|job| job.lease.held.is_none());
        Load {
            waiting: waiting().count() as u64,
            leased: self.unfinished().filter(|job| job.lease.held.is_some()).count() as u64,
            source_bytes: self.unfinished().map(Job::source_bytes).sum(),
            oldest: waiting().map(|job| job.accepted).min(),
            notifications: self.jobs.iter().filter(|job| !job.is_over()).count() as u64,
        }
    }

    /// Forgets all expired images, and removes all records settled before `before`; answers what was charged for these.
    pub(super) fn sweep(&mut self, before: Timestamp, now: Timestamp) -> (Vec<BlobKey>, Vec<Job>) {
        let ends = self.jobs.iter_mut().filter_map(|job| job.end.as_mut());
        let expired = ends.filter(|end| end.image.as_ref().is_some_and(|image| image.expires <= now));
        let blobs = expired.filter_map(|end| end.image.take()).map(|image| image.blob).collect();
        let old = |job: &Job| job.end.as_ref().is_some_and(|end| end.at < before && end.image.is_none());
        let (gone, kept) = self.jobs.drain(..).partition(|job| old(job) && job.is_over());
        self.jobs = kept;
        self.windows.retain(|_, (_, ends, _)| *ends > now);
        (blobs, gone)
    }

    pub(super) fn is_orphan(&self, key: BlobKey) -> bool {
        let Some(job) = self.jobs.iter().find(|job| job.new.id == key.job()) else { return true };
        let image = job.end.as_ref().and_then(|end| end.image.as_ref());
        match key {
            BlobKey::Source(_) => job.end.is_some(),
            BlobKey::Result(_, fence) => {
                let may_be_written = job.lease.held.is_some() && job.lease.fence == fence.0;
                !may_be_written && image.is_none_or(|image| image.blob != key)
            }
        }
    }

    pub(super) fn take_rate(
        &mut self,
        key: KeyMac,
        want: u64,
        limit: u64,
        window: Duration,
        now: Timestamp,
    ) -> RateGrant {
        self.windows.retain(|other, (began, ends, _)| *other != key || *ends > now && *began <= now + SKEW);
        let (_, resets, used) = self.windows.entry(key).or_insert((now, now + window, 0));
        let granted = want.min(limit.saturating_sub(*used));
        *used += granted;
        RateGrant { granted, used: *used, resets: *resets }
    }
}

/// Notifications.
impl Model {
    /// Checks that these leases may be given, and gives them.
    pub(super) fn claim_hooks(&mut self, leases: &[HookLease], max: usize, per_lane: usize, now: Timestamp) {
        for job in self.jobs.iter_mut().filter(|job| job.post_is_due(now).is_some()) {
            let ahead = job.post_is_due(now) > Some(now);
            let post = job.delivery.as_mut().expect("it is due");
            post.due_is_unclear |= ahead;
            post.lease.found_free = true;
        }
        for lease in leases {
            let busy = self.running(lease.lane, None, now, |lease| !lease.found_free);
            assert!(busy < per_lane, "lane {} has {busy} already", lease.lane);
            self.check_turn(lease, per_lane, now);
            let job = self.job(lease.job).expect("the job is known");
            let (account, hook) = (job.new.account, job.new.hook.clone().expect("it has a hook"));
            let free = job.post_is_due(now).is_some();
            let post = job.delivery.as_mut().expect("the job is settled");
            assert!(free || post.lease.found_free, "the hook of {} is not free", lease.job);
            post.lease.give(lease.fence, now);
            let foretold = HookLease {
                job: lease.job,
                account,
                fence: lease.fence,
                failures: post.failures,
                sealed: hook.sealed,
                lane: hook.lane,
                body: job.end.clone().expect("the job is settled").body,
            };
            assert_eq!(*lease, foretold);
        }
        assert!(leases.len() <= max);
        assert!(leases.len() == max || self.waiting_posts(per_lane, now).next().is_none(), "hooks were left");
    }

    /// Checks that no lane, account or notification has its turn before those of the lease.
    fn check_turn(&self, lease: &HookLease, per_lane: usize, now: Timestamp) {
        let waiting = || self.waiting_posts(per_lane, now);
        let is_unclear = |job: &Job| {
            let found_free = |post: &Post| post.lease.found_free && job.post_is_due(now).is_none();
            job.post().is_some_and(|(post, _)| post.due_is_unclear || found_free(post))
        };
        let in_lane = |job: &Job| job.lane() == Some(lease.lane);
        let earliest = |of: &dyn Fn(&Job) -> bool| waiting().filter(|(job, _)| of(job)).map(|(_, due)| due).min();
        let lane_is_first = earliest(&in_lane) == earliest(&|_| true);
        let unclear = self.jobs.iter().any(|job| in_lane(job) && is_unclear(job));
        assert!(lane_is_first || unclear, "lane {} is not first", lease.lane);
        let own = self.running(lease.lane, Some(lease.account), now, |lease| !lease.found_free);
        for (other, _) in waiting().filter(|(job, _)| in_lane(job)) {
            let account = other.new.account;
            let running = self.running(lease.lane, Some(account), now, |_| true);
            assert!(own <= running, "{} has {own} leases, and {account} {running}", lease.account);
        }
        let earliest = earliest(&|job| in_lane(job) && job.new.account == lease.account);
        let leased = self.jobs.iter().find(|job| job.new.id == lease.job).expect("the job is known");
        let is_first = leased.post_is_due(now).zip(earliest).is_none_or(|(due, earliest)| due <= earliest);
        assert!(is_first || is_unclear(leased), "{} is not first", lease.job);
    }

    /// Leases of a lane, or of an account there, that run, of those that are counted.
    fn running(&self, lane: u64, of: Option<AccountId>, now: Timestamp, counts: impl Fn(&Lease) -> bool) -> usize {
        let mine = |job: &&Job| job.lane() == Some(lane) && of.is_none_or(|account| job.new.account == account);
        let posts = self.jobs.iter().filter(mine).filter_map(Job::post);
        posts.filter(|(post, _)| post.lease.runs(now) && counts(&post.lease)).count()
    }

    /// Notifications that could certainly be leased, and since when they are due.
    fn waiting_posts(&self, per_lane: usize, now: Timestamp) -> impl Iterator<Item = (&Job, Timestamp)> {
        let free = move |job: &&Job| job.lane().is_some_and(|lane| self.running(lane, None, now, |_| true) < per_lane);
        let due = move |job| Job::post_is_due(job, now).filter(|due| *due <= now).map(|due| (job, due));
        self.jobs.iter().filter(free).filter_map(due)
    }

    pub(super) fn settle_hook(
        &mut self,
        id: JobId,
        fence: Fence,
        outcome: &HookOutcome,
        note: &str,
        now: Timestamp,
    ) -> Held {
        let Some(post) = self.job(id).and_then(|job| job.delivery.as_mut()) else { return Held::Lost };
        if let Err(held) = post.lease.end(fence) {
            return held;
        }
        let (state, failures) = match outcome {
            HookOutcome::Delivered => (DeliveryState::Delivered, 0),
            HookOutcome::Failed { again: Some(due) } => (DeliveryState::Pending { due: *due }, 1),
            HookOutcome::Failed { again: None } => (DeliveryState::Dead, 1),
            HookOutcome::HandedBack { at } => (DeliveryState::Pending { due: *at }, 0),
        };
        (post.state, post.due_is_unclear) = (state, false);
        post.failures += failures;
        if !matches!(outcome, HookOutcome::HandedBack { .. }) {
            post.attempts.push((now, note.to_owned()));
            post.attempts.drain(..post.attempts.len().saturating_sub(20));
        }
        Held::Yes
    }

    pub(super) fn replay(&mut self, account: AccountId, id: JobId, now: Timestamp) -> bool {
        let Some(job) = self.job(id).filter(|job| job.new.account == account) else { return false };
        let Some(post) = &mut job.delivery else { return false };
        if post.state == DeliveryState::Dead {
            (post.state, post.failures) = (DeliveryState::Pending { due: now }, 0);
        }
        post.state != DeliveryState::Delivered
    }

    /// `None` while one was found free that is due in what is the future since the clock jumped back: it may be due now.
    pub(super) fn deliveries(&self, account: AccountId, max: usize) -> Option<Vec<Delivery>> {
        if self.jobs.iter().filter_map(|job| job.delivery.as_ref()).any(|post| post.due_is_unclear) {
            return None;
        }
        let mine = self.jobs.iter().rev().filter(|job| job.new.account == account);
        let view = |job: &Job| {
            let post = job.delivery.as_ref()?;
            Some(Delivery { job: job.new.id, state: post.state, attempts: post.attempts.clone() })
        };
        Some(mine.filter_map(view).take(max).collect())
    }
}
