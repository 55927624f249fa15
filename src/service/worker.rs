//! Jobs and notifications leased, worked on and settled, for as long as the service runs.

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    task::Poll,
    time::Duration,
};

use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore, watch},
    task::{JoinError, JoinSet},
    time::{MissedTickBehavior, interval, timeout},
};
use tracing::Instrument;

use super::{Inner, Service, shares::Shares};
use crate::{
    error::{caught, panic_message},
    port::{
        BlobKey,
        ledger::{Fence, Held, JobId, JobLease, Outcome},
    },
};

/// How far the service has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Requests are accepted and done.
    Open,
    /// What is in hand is finished, nothing new is taken.
    Closing,
    /// What is in hand is handed back.
    Closed,
}

/// The work of a service on this process. Dropped, it ends at once, and what was in hand is taken up when its lease has
/// run out.
#[derive(Debug)]
#[must_use = "dropped, the work ends"]
pub struct Running {
    inner: Arc<Inner>,
    tasks: JoinSet<()>,
}

/// The leases in hand, each with the bell that rings when it is lost.
#[derive(Debug, Default)]
pub(super) struct InHand(Mutex<BTreeMap<(JobId, Fence), Arc<Notify>>>);

impl InHand {
    fn take(&self, lease: (JobId, Fence)) -> Hand<'_> {
        let lost = Arc::<Notify>::default();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(lease, Arc::clone(&lost));
        Hand { all: self, lease, lost }
    }

    fn leases(&self) -> Vec<(JobId, Fence)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
    }

    fn lost(&self, lease: (JobId, Fence)) {
        if let Some(bell) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&lease) {
            bell.notify_one();
        }
    }
}

/// A lease in hand until this is dropped, also by a panic: nobody prolongs it then.
struct Hand<'a> {
    all: &'a InHand,
    lease: (JobId, Fence),
    lost: Arc<Notify>,
}

impl Drop for Hand<'_> {
    fn drop(&mut self) {
        self.all.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.lease);
    }
}

/// Clears away what has ended; a panic of one of the host's ports goes to the log, and the lease to another.
pub(super) fn tell_of_panics(work: &mut JoinSet<()>) {
    while let Some(ended) = work.try_join_next() {
        if let Err(Ok(panic)) = ended.map_err(JoinError::try_into_panic) {
            tracing::error!(panic = panic_message(&*panic), "work panicked, and is leased again");
        }
    }
}

/// The loops whose last turn ended in a panic of one of the host's ports.
#[derive(Debug, Default)]
pub(super) struct Fallen(Mutex<BTreeSet<&'static str>>);

impl Fallen {
    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Does one turn of a loop; `None` if it panics, after which the loop goes on.
    pub(super) async fn turn<T>(&self, name: &'static str, turn: impl Future<Output = T>) -> Option<T> {
        let mut turn = pin!(turn);
        let done = std::future::poll_fn(|context| {
            // A turn that panicked is not polled again, and what it shared is behind locks.
            match caught(|| turn.as_mut().poll(context)) {
                Ok(poll) => poll.map(Some),
                Err(panic) => {
                    tracing::error!(name, panic, "a loop panicked, and begins again");
                    Poll::Ready(None)
                }
            }
        });
        let done = done.await;
        let mut fallen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if done.is_some() {
            fallen.remove(name);
        } else {
            fallen.insert(name);
        }
        done
    }
}

impl Service {
    /// Begins to work on what is accepted, here and by other processes that share the ledger. Needs a tokio runtime with
    /// timers.
    pub fn start(&self) -> Running {
        let mut tasks = JoinSet::new();
        tasks.spawn(Arc::clone(&self.0).jobs());
        tasks.spawn(Arc::clone(&self.0).heartbeats());
        tasks.spawn(Arc::clone(&self.0).notifications());
        tasks.spawn(Arc::clone(&self.0).sweeps());
        Running { inner: Arc::clone(&self.0), tasks }
    }
}

impl Running {
    /// Takes nothing new, lets what is in hand finish within `grace`, and hands back the rest, so that others need not
    /// wait for its leases. Requests that come in are answered 503 from now on.
    pub async fn shut_down(mut self, grace: Duration) {
        let mut phase = self.inner.phase.subscribe();
        self.inner.phase.send_replace(Phase::Closing);
        let done = phase.wait_for(|phase| *phase == Phase::Closed);
        // The loop over jobs says itself when nothing is in hand any more.
        let _ = timeout(grace, done).await;
        self.inner.phase.send_replace(Phase::Closed);
        while self.tasks.join_next().await.is_some() {}
    }
}

impl Inner {
    pub(super) fn is_open(&self) -> bool {
        *self.phase.borrow() == Phase::Open
    }

    /// Leases jobs while there are hands for them.
    async fn jobs(self: Arc<Self>) {
        let hands = Arc::new(Semaphore::new(self.settings.hands()));
        let mut phase = self.phase.subscribe();
        let (mut work, holders) = (JoinSet::new(), Shares::default());
        while self.is_open() {
            let taken = self.fallen.turn("jobs", self.take_jobs(&hands, &holders, &mut work)).await.unwrap_or(0);
            tell_of_panics(&mut work);
            if taken == 0 {
                tokio::select! {
                    () = self.work.notified() => {}
                    () = tokio::time::sleep(self.settings.poll) => {}
                    _ = phase.wait_for(|phase| *phase != Phase::Open) => {}
                }
            }
        }
        while work.join_next().await.is_some() {}
        self.phase.send_replace(Phase::Closed);
    }

    /// Begins as many jobs as there are free hands, waiting for the first; answers how many.
    async fn take_jobs(self: &Arc<Self>, hands: &Arc<Semaphore>, holders: &Shares, work: &mut JoinSet<()>) -> usize {
        let free = free_hands(hands).await;
        if !self.is_open() {
            return 0;
        }
        let most = Shares::most(self.settings.hands());
        let (max, but) = match holders.busiest() {
            Some((held, busiest)) if held >= most => (free.len(), Some(busiest)),
            busiest => (free.len().min(most - busiest.map_or(0, |(held, _)| held)), None),
        };
        let leases = self.ports.ledger.claim(max, but, self.settings.lease, self.now()).await;
        let leases = leases.unwrap_or_else(|failure| {
            tracing::error!(error = &failure as &dyn std::error::Error, "no jobs could be leased");
            Vec::new()
        });
        let taken = leases.len();
        for ((lease, turn), hand) in self.one_suspect(leases).await.into_iter().zip(free) {
            let span = tracing::info_span!("job", id = %lease.id, account = %lease.account, attempt = lease.attempt);
            let (inner, share) = (Arc::clone(self), holders.take(lease.account, usize::MAX));
            let job = async move {
                inner.one_job(lease).await;
                drop((turn, hand, share));
                // Its account may have been left out for it.
                inner.work.notify_one();
            };
            work.spawn(job.instrument(span));
        }
        taken
    }

    /// Of the jobs that were in hand when a process died, lets one at a time through, since it may have died of any of
    /// them. The others are handed back before work begins, so that the next death is none of theirs.
    async fn one_suspect(&self, leases: Vec<JobLease>) -> Vec<(JobLease, Option<OwnedSemaphorePermit>)> {
        let mut begun = Vec::new();
        for lease in leases {
            let turn = (lease.attempt > 1).then(|| Arc::clone(&self.suspects).try_acquire_owned()).transpose();
            if let Ok(turn) = turn {
                begun.push((lease, turn));
                continue;
            }
            let outcome = Outcome::Again { at: self.now() + 4 * self.settings.poll, counts: false };
            if let Err(failure) = self.ports.ledger.settle(lease.id, lease.fence, outcome, self.now()).await {
                // The lease runs out.
                tracing::error!(error = &failure as &dyn std::error::Error, "a job could not be handed back");
            }
        }
        begun
    }

    async fn one_job(&self, lease: JobLease) {
        let hand = self.in_hand.take((lease.id, lease.fence));
        let begun = self.now();
        metrics::histogram!("lapidary_wait_seconds").record(begun.since(lease.accepted).as_secs_f64());
        let mut phase = self.phase.subscribe();
        let outcome = tokio::select! {
            outcome = self.work_on(&lease) => outcome,
            () = hand.lost.notified() => return tracing::warn!("the lease was lost, its work is discarded"),
            _ = phase.wait_for(|phase| *phase == Phase::Closed) => Outcome::Again { at: begun, counts: false },
        };
        let settled = !matches!(outcome, Outcome::Again { .. });
        let held = self.settle(&lease, outcome).await;
        drop(hand);
        if held == Held::Yes && settled {
            tracing::info!(ms = self.now().since(begun).as_millis() as u64, "settled");
            if lease.source_bytes.is_some() {
                self.delete_blob(BlobKey::Source(lease.id)).await;
            }
            self.told.notify_one();
        }
    }

    /// Settles a job, again and again while the ledger does not answer: the work is done, and the lease is prolonged
    /// meanwhile.
    async fn settle(&self, lease: &JobLease, outcome: Outcome) -> Held {
        loop {
            match self.ports.ledger.settle(lease.id, lease.fence, outcome.clone(), self.now()).await {
                Ok(Held::Yes) => return Held::Yes,
                Ok(Held::Lost) => {
                    tracing::warn!("the lease was lost, its work is discarded");
                    self.delete_blob(BlobKey::Result(lease.id, lease.fence)).await;
                    return Held::Lost;
                }
                Err(failure) => {
                    tracing::error!(error = &failure as &dyn std::error::Error, "a job could not be settled");
                    if !failure.may_pass || *self.phase.borrow() == Phase::Closed {
                        return Held::Lost;
                    }
                    tokio::time::sleep(self.settings.poll).await;
                }
            }
        }
    }

    /// Prolongs the leases in hand, and ends the work of those that were lost.
    async fn heartbeats(self: Arc<Self>) {
        let mut ticks = interval(self.settings.lease / 3);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while until_closed(&self.phase, ticks.tick()).await {
            self.fallen.turn("heartbeats", self.prolong()).await;
        }
    }

    async fn prolong(&self) {
        let held = self.in_hand.leases();
        if held.is_empty() {
            return;
        }
        match self.ports.ledger.prolong(&held, self.settings.lease, self.now()).await {
            Ok(answers) => {
                let lost = held.iter().zip(answers).filter(|(_, answer)| *answer == Held::Lost);
                lost.for_each(|(lease, _)| self.in_hand.lost(*lease));
            }
            Err(failure) => tracing::error!(error = &failure as &dyn std::error::Error, "leases not prolonged"),
        }
    }

    /// Removes what has expired, and what was left behind by processes that died.
    async fn sweeps(self: Arc<Self>) {
        const MAX: usize = 20_000;
        let mut ticks = interval(self.settings.sweep);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while until_closed(&self.phase, ticks.tick()).await {
            if let Some(Err(failure)) = self.fallen.turn("sweeps", self.sweep(MAX)).await {
                tracing::error!(error = &failure as &dyn std::error::Error, "not swept");
            }
        }
    }

    pub(super) async fn sweep(&self, max: usize) -> crate::port::Result<()> {
        let now = self.now();
        let swept = self.ports.ledger.sweep(now - self.settings.record_life, max, now).await?;
        for blob in swept.blobs {
            self.delete_blob(blob).await;
        }
        // Younger ones may be on their way to the ledger.
        let life = self.settings.image_life.max(self.settings.receiving);
        let left = self.ports.blobs.older_than(now - life, max).await?;
        for blob in self.ports.ledger.orphans(&left).await? {
            self.delete_blob(blob).await;
        }
        self.measure().await.map(drop)
    }

    pub(super) async fn delete_blob(&self, blob: BlobKey) {
        if let Err(failure) = self.ports.blobs.delete(blob).await {
            tracing::warn!(error = &failure as &dyn std::error::Error, %blob, "left for a sweep");
        }
    }
}

/// The hands that are free, waiting for the first; as many as one claim may ask for.
pub(super) async fn free_hands(hands: &Arc<Semaphore>) -> Vec<OwnedSemaphorePermit> {
    const AT_ONCE: usize = 256;
    // The semaphore is never closed.
    let first = Arc::clone(hands).acquire_owned().await.ok();
    let more = std::iter::from_fn(|| Arc::clone(hands).try_acquire_owned().ok());
    first.into_iter().chain(more).take(AT_ONCE).collect()
}

/// Waits for `next`; `false` if the service closes before.
pub(super) async fn until_closed<T>(phase: &watch::Sender<Phase>, next: impl Future<Output = T>) -> bool {
    let mut phase = phase.subscribe();
    tokio::select! {
        _ = phase.wait_for(|phase| *phase == Phase::Closed) => false,
        _ = next => true,
    }
}
