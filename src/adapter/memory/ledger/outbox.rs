//! Notifications that are to be delivered.

use std::{cmp::Reverse, collections::BTreeMap, time::Duration};

use async_trait::async_trait;

use super::{
    Leases, MemoryLedger, State,
    jobs::{End, Job},
};
use crate::{
    clock::Timestamp,
    port::{
        Outbox, Result,
        ledger::{AccountId, Delivery, DeliveryState, Fence, Held, HookLease, HookOutcome, JobId, NewHook},
    },
};

/// Attempts of a delivery that are kept.
const ATTEMPTS: usize = 20;

pub(super) struct Hook {
    sealed: Vec<u8>,
    lane: u64,
    delay: Duration,
    state: DeliveryState,
    leases: Leases,
    /// Number of the last lease.
    turn: u64,
    failures: u32,
    attempts: Vec<(Timestamp, String)>,
}

impl Hook {
    pub(super) fn new(hook: NewHook) -> Self {
        Self {
            sealed: hook.sealed,
            lane: hook.lane,
            delay: hook.delay,
            state: DeliveryState::Pending { due: Timestamp::from_millis(u64::MAX) },
            leases: Leases::default(),
            turn: 0,
            failures: 0,
            attempts: Vec::new(),
        }
    }

    /// Its job is settled.
    pub(super) fn begin(&mut self, now: Timestamp) {
        self.state = DeliveryState::Pending { due: now + self.delay };
    }

    pub(super) fn is_over(&self) -> bool {
        !matches!(self.state, DeliveryState::Pending { .. })
    }

    /// Since when it may be leased.
    fn due(&self, now: Timestamp) -> Option<Timestamp> {
        let DeliveryState::Pending { due } = self.state else { return None };
        self.leases.free(due, now).then_some(due)
    }

    fn settle(&mut self, outcome: HookOutcome, note: &str, now: Timestamp) {
        self.leases.held = None;
        self.state = match outcome {
            HookOutcome::Delivered => {
                self.sealed = Vec::new();
                DeliveryState::Delivered
            }
            HookOutcome::Failed { again: Some(due) } => DeliveryState::Pending { due },
            HookOutcome::Failed { again: None } => DeliveryState::Dead,
            HookOutcome::HandedBack { at } => {
                self.state = DeliveryState::Pending { due: at };
                return;
            }
        };
        self.failures += u32::from(outcome != HookOutcome::Delivered);
        self.attempts.push((now, note.to_owned()));
        self.attempts.drain(..self.attempts.len().saturating_sub(ATTEMPTS));
    }
}

/// A settled job's delivery.
fn delivery(job: &Job) -> Option<(&Hook, &End)> {
    Some((job.hook.as_ref()?, job.end.as_ref()?))
}

impl State {
    fn claim_hook(&mut self, per_lane: usize, lease: Duration, now: Timestamp) -> Option<HookLease> {
        let hooks = || self.jobs.iter().filter_map(|(id, job)| delivery(job).map(|(hook, _)| (*id, job.account, hook)));
        let mut lanes = BTreeMap::<u64, usize>::new();
        let mut senders = BTreeMap::<(u64, AccountId), (usize, u64)>::new();
        for (_, account, hook) in hooks() {
            let (running, turn) = senders.entry((hook.lane, account)).or_default();
            *turn = hook.turn.max(*turn);
            if hook.leases.held.is_some() && hook.due(now).is_none() {
                *running += 1;
                *lanes.entry(hook.lane).or_default() += 1;
            }
        }
        let free = hooks().filter_map(|(_, _, hook)| Some((hook.due(now)?, hook.lane)));
        let has_room = |lane: &u64| lanes.get(lane).is_none_or(|running| *running < per_lane);
        let (_, lane) = free.filter(|(_, lane)| has_room(lane)).min()?;
        let in_lane = hooks().filter(|(_, _, hook)| hook.lane == lane);
        let waiting = in_lane.filter_map(|(id, account, hook)| Some((senders[&(lane, account)], hook.due(now)?, id)));
        let (.., id) = waiting.min()?;
        self.turns += 1;
        let job = self.jobs.get_mut(&id)?;
        let (account, body) = (job.account, job.end.as_ref()?.body.clone());
        let hook = job.hook.as_mut()?;
        hook.turn = self.turns;
        Some(HookLease {
            job: id,
            account,
            fence: hook.leases.give(lease, now),
            failures: hook.failures,
            sealed: hook.sealed.clone(),
            lane: hook.lane,
            body,
        })
    }

    fn hook(&mut self, job: JobId) -> Option<&mut Hook> {
        self.jobs.get_mut(&job)?.hook.as_mut()
    }
}

#[async_trait]
impl Outbox for MemoryLedger {
    async fn claim_hooks(
        &self,
        max: usize,
        per_lane: usize,
        lease: Duration,
        now: Timestamp,
    ) -> Result<Vec<HookLease>> {
        let mut state = self.state();
        Ok(std::iter::from_fn(|| state.claim_hook(per_lane, lease, now)).take(max).collect())
    }

    async fn settle_hook(
        &self,
        job: JobId,
        fence: Fence,
        outcome: HookOutcome,
        note: &str,
        now: Timestamp,
    ) -> Result<Held> {
        let mut state = self.state();
        let Some(hook) = state.hook(job) else { return Ok(Held::Lost) };
        Ok(match hook.leases.is_held(fence) {
            None => Held::Lost,
            Some(false) => Held::Yes,
            Some(true) => {
                hook.settle(outcome, note, now);
                Held::Yes
            }
        })
    }

    async fn deliveries(&self, account: AccountId, max: usize) -> Result<Vec<Delivery>> {
        let state = self.state();
        let mine = state.jobs.iter().filter(|(_, job)| job.account == account);
        let mut found: Vec<_> =
            mine.filter_map(|(id, job)| Some((Reverse(job.number), id, delivery(job)?.0))).collect();
        found.sort_by_key(|(newest, ..)| *newest);
        let view = |(_, id, hook): (_, &JobId, &Hook)| Delivery {
            job: *id,
            state: hook.state,
            attempts: hook.attempts.clone(),
        };
        Ok(found.into_iter().take(max).map(view).collect())
    }

    async fn replay(&self, account: AccountId, job: JobId, now: Timestamp) -> Result<bool> {
        let mut state = self.state();
        let Some(job) = state.jobs.get_mut(&job).filter(|job| job.account == account && job.end.is_some()) else {
            return Ok(false);
        };
        let Some(hook) = &mut job.hook else { return Ok(false) };
        if hook.state == DeliveryState::Dead {
            hook.state = DeliveryState::Pending { due: now };
            hook.failures = 0;
        }
        Ok(hook.state != DeliveryState::Delivered)
    }
}
