//! Requests from acceptance to their end.

use std::{cmp::Reverse, time::Duration};

use async_trait::async_trait;

use super::{Leases, MemoryLedger, State, outbox::Hook};
use crate::{
    clock::Timestamp,
    port::{
        BlobKey, Jobs, Result,
        ledger::{
            Accepted, AccountId, Capacity, Fence, Held, Image, JobId, JobLease, JobView, Link, Load, NewJob, Outcome,
            Refusal, Standing, Swept, Unfinished,
        },
    },
};

pub(super) struct Job {
    /// Counts acceptances.
    pub(super) number: u64,
    pub(super) account: AccountId,
    sealed: Vec<u8>,
    source_bytes: Option<u64>,
    cost: u64,
    /// End of the month that its cost belongs to.
    month: Timestamp,
    accepted: Timestamp,
    due: Timestamp,
    leases: Leases,
    attempts: u32,
    failures: u32,
    pub(super) end: Option<End>,
    pub(super) hook: Option<Hook>,
}

/// How a job was settled.
pub(super) struct End {
    at: Timestamp,
    status: u16,
    pub(super) body: Vec<u8>,
    image: Option<Image>,
}

impl Job {
    fn lease(&mut self, id: JobId, lease: Duration, now: Timestamp) -> JobLease {
        self.attempts += 1;
        JobLease {
            id,
            account: self.account,
            fence: self.leases.give(lease, now),
            attempt: self.attempts,
            failures: self.failures,
            sealed: self.sealed.clone(),
            source_bytes: self.source_bytes,
            accepted: self.accepted,
        }
    }

    fn is_due(&self, now: Timestamp) -> bool {
        self.end.is_none() && self.leases.free(self.due, now)
    }

    fn standing(&self) -> Standing {
        match &self.end {
            Some(End { status, body, .. }) => Standing::Settled { status: *status, body: body.clone() },
            None if self.leases.held.is_some() => Standing::Processing,
            None => Standing::Accepted,
        }
    }

    fn image(&self) -> Option<&Image> {
        self.end.as_ref()?.image.as_ref()
    }
}

impl State {
    fn refusal(&mut self, job: &NewJob, capacity: Capacity, now: Timestamp) -> Result<Timestamp, Refusal> {
        let account = self.accounts.get_mut(&job.account).filter(|account| !account.disabled);
        let account = account.ok_or(Refusal::Closed)?;
        account.turn_month(now);
        let remaining = account.remaining();
        if job.cost > remaining {
            return Err(Refusal::NoCredits { remaining });
        }
        let (mut all, mut own) = (Unfinished::default(), Unfinished::default());
        for unfinished in self.jobs.values().filter(|job| job.end.is_none()) {
            let sums = [Some(&mut all), (unfinished.account == job.account).then_some(&mut own)];
            for sum in sums.into_iter().flatten() {
                sum.jobs += 1;
                sum.source_bytes = sum.source_bytes.saturating_add(unfinished.source_bytes.unwrap_or_default());
            }
        }
        if !capacity.admits(all, own, job.source_bytes.unwrap_or_default()) {
            return Err(Refusal::QueueFull);
        }
        account.reserved += job.cost;
        Ok(account.month)
    }

    fn claim(&mut self, but: Option<AccountId>, lease: Duration, now: Timestamp) -> Option<JobLease> {
        let due = self.jobs.iter().filter(|(_, job)| job.is_due(now) && Some(job.account) != but);
        let next = due.min_by_key(|(_, job)| (self.accounts.get(&job.account).map(|row| row.turn), job.number));
        let id = *next?.0;
        let job = self.jobs.get_mut(&id)?;
        self.turns += 1;
        self.accounts.get_mut(&job.account)?.turn = self.turns;
        Some(job.lease(id, lease, now))
    }
}

#[async_trait]
impl Jobs for MemoryLedger {
    async fn accept(&self, job: NewJob, capacity: Capacity, now: Timestamp) -> Result<Result<Accepted, Refusal>> {
        let mut state = self.state();
        if state.jobs.contains_key(&job.id) {
            return Ok(Ok(Accepted::Before));
        }
        let month = match state.refusal(&job, capacity, now) {
            Ok(month) => month,
            Err(refusal) => return Ok(Err(refusal)),
        };
        state.accepted += 1;
        let row = Job {
            number: state.accepted,
            account: job.account,
            sealed: job.sealed,
            source_bytes: job.source_bytes,
            cost: job.cost,
            month,
            accepted: now,
            due: Timestamp::default(),
            leases: Leases::default(),
            attempts: 0,
            failures: 0,
            end: None,
            hook: job.hook.map(Hook::new),
        };
        state.jobs.insert(job.id, row);
        Ok(Ok(Accepted::Now))
    }

    async fn claim(
        &self,
        max: usize,
        but: Option<AccountId>,
        lease: Duration,
        now: Timestamp,
    ) -> Result<Vec<JobLease>> {
        let mut state = self.state();
        Ok(std::iter::from_fn(|| state.claim(but, lease, now)).take(max).collect())
    }

    async fn prolong(&self, held: &[(JobId, Fence)], lease: Duration, now: Timestamp) -> Result<Vec<Held>> {
        let mut state = self.state();
        let mut prolong = |(id, fence): &(JobId, Fence)| {
            let leases = &mut state.jobs.get_mut(id)?.leases;
            let held = leases.held.as_mut().filter(|_| leases.given == fence.0)?;
            (held.since, held.until) = (now, now + lease);
            Some(Held::Yes)
        };
        Ok(held.iter().map(|lease| prolong(lease).unwrap_or(Held::Lost)).collect())
    }

    async fn settle(&self, id: JobId, fence: Fence, outcome: Outcome, now: Timestamp) -> Result<Held> {
        let state = &mut *self.state();
        let Some(job) = state.jobs.get_mut(&id) else { return Ok(Held::Lost) };
        match job.leases.is_held(fence) {
            None => return Ok(Held::Lost),
            Some(false) => return Ok(Held::Yes),
            Some(true) => job.leases.held = None,
        }
        let (status, body, image) = match outcome {
            Outcome::Completed { body, image } => (200, body, image),
            Outcome::Failed { status, body } => (status, body, None),
            Outcome::Again { at, counts } => {
                job.due = at;
                job.attempts -= 1;
                job.failures += u32::from(counts);
                return Ok(Held::Yes);
            }
        };
        if let Some(account) = state.accounts.get_mut(&job.account) {
            account.turn_month(now);
            account.settle(job.month, job.cost, status == 200);
        }
        job.sealed = Vec::new();
        job.end = Some(End { at: now, status, body, image });
        if let Some(hook) = &mut job.hook {
            hook.begin(now);
        }
        Ok(Held::Yes)
    }

    async fn job(&self, account: AccountId, job: JobId) -> Result<Option<JobView>> {
        let state = self.state();
        let job = state.jobs.get(&job).filter(|job| job.account == account);
        Ok(job.map(|job| JobView { accepted: job.accepted, standing: job.standing() }))
    }

    async fn image(&self, link: Link, now: Timestamp) -> Result<Option<Image>> {
        let state = self.state();
        let mut images = state.jobs.values().filter_map(Job::image);
        Ok(images.find(|image| image.link == link && image.expires > now).cloned())
    }

    async fn sweep(&self, settled_before: Timestamp, max: usize, now: Timestamp) -> Result<Swept> {
        let mut state = self.state();
        let ends = state.jobs.values_mut().filter_map(|job| job.end.as_mut());
        let expired = ends.filter(|end| end.image.as_ref().is_some_and(|image| image.expires <= now));
        let blobs = expired.take(max).filter_map(|end| end.image.take()).map(|image| image.blob).collect();
        let done = |job: &Job| {
            job.end.as_ref().is_some_and(|end| end.at < settled_before && end.image.is_none())
                && job.hook.as_ref().is_none_or(Hook::is_over)
        };
        let old: Vec<JobId> = state.jobs.iter().filter(|(_, job)| done(job)).map(|(id, _)| *id).take(max).collect();
        for id in &old {
            state.jobs.remove(id);
        }
        state.windows.retain(|_, window| window.ends > now);
        Ok(Swept { blobs, records: old.len() as u64 })
    }

    async fn orphans(&self, blobs: &[BlobKey]) -> Result<Vec<BlobKey>> {
        let state = self.state();
        let needed = |key: BlobKey| {
            let Some(job) = state.jobs.get(&key.job()) else { return false };
            match key {
                BlobKey::Source(_) => job.end.is_none(),
                BlobKey::Result(_, fence) => {
                    job.leases.is_held(fence) == Some(true) || job.image().is_some_and(|image| image.blob == key)
                }
            }
        };
        Ok(blobs.iter().copied().filter(|key| !needed(*key)).collect())
    }

    async fn load(&self) -> Result<Load> {
        let state = self.state();
        let mut load = Load::default();
        let mut oldest = None;
        for job in state.jobs.values() {
            load.notifications += u64::from(job.end.is_some() && job.hook.as_ref().is_some_and(|hook| !hook.is_over()));
            if job.end.is_some() {
                continue;
            }
            load.source_bytes = load.source_bytes.saturating_add(job.source_bytes.unwrap_or_default());
            if job.leases.held.is_some() {
                load.leased += 1;
            } else {
                load.waiting += 1;
                oldest = oldest.max(Some(Reverse(job.accepted)));
            }
        }
        load.oldest = oldest.map(|Reverse(accepted)| accepted);
        Ok(load)
    }
}
