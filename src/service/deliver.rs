//! Notifications on their way to clients' webhooks.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{sync::Semaphore, task::JoinSet, time::sleep};
use tracing::Instrument;

use super::{
    Inner,
    admin::webhook_place,
    seal::{place, random},
    webhook::{Next, SigningSecret, after, sign},
    worker::{free_hands, tell_of_panics, until_closed},
};
use crate::{
    clock::Timestamp,
    port::{
        Failure, Notification,
        ledger::{AccountId, HookLease, HookOutcome},
    },
    request::{Secret, Url},
};

/// A notification is over within 10 s; this leaves room for settling it.
const LEASE: Duration = Duration::from_secs(30);

/// Receivers that do not answer, and until when they are left alone: after three silences in a row for half a minute, and
/// after one more behind each rest for twice as long as before, up to half an hour. Meanwhile their deliveries wait without
/// holding a hand.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<BTreeMap<Receiver, Silence>>);

/// An account and an address of its without the query, hashed: at a host that many share, one address says nothing of another.
type Receiver = (AccountId, u64);

#[derive(Debug, Clone, Copy)]
struct Silence {
    times: u32,
    rest: Duration,
    until: Timestamp,
}

impl Silence {
    /// Whether the receiver is left alone now. An end that is further away than the rest is long is of a clock that was set back.
    fn rests(&self, now: Timestamp) -> bool {
        self.times >= Breaker::TIMES && self.until > now && self.until <= now + self.rest
    }
}

impl Breaker {
    const TIMES: u32 = 3;
    const REST: Duration = Duration::from_secs(30);
    const LONGEST_REST: Duration = Duration::from_secs(30 * 60);
    /// Receivers remembered at most.
    const RECEIVERS: usize = 10_000;

    /// Until when one is left alone.
    fn rests(&self, receiver: Receiver, now: Timestamp) -> Option<Timestamp> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&receiver).filter(|silence| silence.rests(now)).map(|silence| silence.until)
    }

    fn answered(&self, receiver: Receiver) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&receiver);
    }

    fn silent(&self, receiver: Receiver, now: Timestamp) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= Self::RECEIVERS {
            all.retain(|_, silence| silence.until > now);
        }
        if all.len() < Self::RECEIVERS || all.contains_key(&receiver) {
            let silence = all.entry(receiver).or_insert(Silence { times: 0, rest: Self::REST, until: now });
            // What was under way when a rest began says nothing new.
            if silence.times >= Self::TIMES && !silence.rests(now) {
                silence.rest = (2 * silence.rest).min(Self::LONGEST_REST);
            }
            silence.times = silence.times.saturating_add(1);
            silence.until = now + silence.rest;
        }
    }
}

impl Inner {
    /// Delivers what is due.
    pub(super) async fn notifications(self: Arc<Self>) {
        let hands = Arc::new(Semaphore::new(self.settings.notifications));
        let mut work = JoinSet::new();
        loop {
            let taken = self.fallen.turn("notifications", self.take_hooks(&hands, &mut work)).await.unwrap_or(0);
            tell_of_panics(&mut work);
            let next = async {
                if taken == 0 {
                    tokio::select! { () = self.told.notified() => {}, () = sleep(self.settings.poll) => {} }
                }
            };
            if !until_closed(&self.phase, next).await {
                break;
            }
        }
        // Each is over within seconds.
        while work.join_next().await.is_some() {}
    }

    /// Begins as many deliveries as there are free hands, waiting for the first; answers how many.
    async fn take_hooks(self: &Arc<Self>, hands: &Arc<Semaphore>, work: &mut JoinSet<()>) -> usize {
        let free = free_hands(hands).await;
        let per_lane = self.settings.notifications_per_host;
        let leases = self.ports.ledger.claim_hooks(free.len(), per_lane, LEASE, self.now()).await;
        let leases = leases.unwrap_or_else(|failure| {
            tracing::error!(error = &failure as &dyn std::error::Error, "no notifications could be leased");
            Vec::new()
        });
        let taken = leases.len();
        for (lease, hand) in leases.into_iter().zip(free) {
            let span = tracing::info_span!("notification", id = %lease.job, failures = lease.failures);
            let inner = Arc::clone(self);
            let delivery = async move {
                inner.deliver(lease).await;
                drop(hand);
            };
            work.spawn(delivery.instrument(span));
        }
        taken
    }

    async fn deliver(&self, lease: HookLease) {
        let (outcome, note) = match self.prepare(&lease).await {
            Ok((url, headers)) => {
                let address = url.expose().split(['?', '#']).next().unwrap_or_default();
                let receiver = (lease.account, self.keyring.lane(address));
                match self.breaker.rests(receiver, self.now()) {
                    None => self.attempt(&lease, receiver, &url, &headers).await,
                    Some(until) if self.now().since(accepted(&lease)) < self.settings.record_life => {
                        (HookOutcome::HandedBack { at: until }, String::new())
                    }
                    // What waits keeps its record, which would never go.
                    Some(_) => (HookOutcome::Failed { again: None }, "not sent: the receiver was silent".to_owned()),
                }
            }
            Err(failure) => {
                tracing::error!(error = &failure as &dyn std::error::Error, "a notification could not be signed");
                let waits = failure.may_pass
                    && self.now().since(accepted(&lease)) < self.settings.record_life.saturating_mul(2);
                let outcome = match waits {
                    true => HookOutcome::HandedBack { at: self.now() + self.settings.lease },
                    false => HookOutcome::Failed { again: None },
                };
                (outcome, "not sent: it could not be signed".to_owned())
            }
        };
        match outcome {
            HookOutcome::HandedBack { .. } => tracing::debug!(note, "not sent now"),
            _ => tracing::info!(note, delivered = outcome == HookOutcome::Delivered, "notified"),
        }
        let settled = self.ports.ledger.settle_hook(lease.job, lease.fence, outcome, &note, self.now()).await;
        if let Err(failure) = settled {
            // The lease runs out, and the notification is sent once more with the same id.
            tracing::error!(error = &failure as &dyn std::error::Error, "a notification could not be settled");
        }
    }

    async fn attempt(
        &self,
        lease: &HookLease,
        receiver: Receiver,
        url: &Url,
        headers: &[(&'static str, String)],
    ) -> (HookOutcome, String) {
        let answer = self.ports.notifier.notify(Notification { url, body: &lease.body, headers }).await;
        let note = match &answer {
            Ok(answer) => answer.status.to_string(),
            Err(failure) => failure.message.clone(),
        };
        match &answer {
            Ok(_) => self.breaker.answered(receiver),
            Err(_) => self.breaker.silent(receiver, self.now()),
        }
        let outcome = match after(lease.failures, &answer, u64::from_be_bytes(random())) {
            Next::Delivered => HookOutcome::Delivered,
            Next::Again(wait) => HookOutcome::Failed { again: Some(self.now() + wait) },
            Next::GiveUp => HookOutcome::Failed { again: None },
        };
        let kind = match &outcome {
            HookOutcome::Delivered => "delivered",
            HookOutcome::Failed { again: None } => "dead",
            _ => "failed",
        };
        metrics::counter!("lapidary_notifications_total", "outcome" => kind).increment(1);
        (outcome, note)
    }

    /// Opens the address and signs the body.
    async fn prepare(&self, lease: &HookLease) -> Result<(Url, Vec<(&'static str, String)>), Failure> {
        let at = place(lease.account, &format!("{}/webhook", lease.job));
        let url = Url::from(self.open_text(&lease.sealed, &at)?);
        let now = self.now();
        let secrets = self.signing_secrets(lease.account, now).await?;
        Ok((url, sign(&secrets, &lease.job.to_string(), now, &lease.body)))
    }

    /// The secrets that sign now, the present one first.
    async fn signing_secrets(&self, account: AccountId, now: Timestamp) -> Result<Vec<SigningSecret>, Failure> {
        let sealed = self.ports.ledger.secrets(account).await?;
        let sealed = sealed.ok_or_else(|| Failure::lasting("the account is gone"))?;
        let previous = sealed.previous.filter(|(_, until)| *until > now).map(|(sealed, _)| sealed);
        let open = |sealed: &[u8]| {
            let text = self.open_text(sealed, &webhook_place(account))?;
            SigningSecret::parse(text.expose())
                .map_err(|error| Failure::lasting("a webhook secret is broken").because(error))
        };
        let mut secrets = vec![open(&sealed.current)?];
        match previous.map(|sealed| open(&sealed)).transpose() {
            Ok(previous) => secrets.extend(previous),
            // Its receiver has the present one, too, or will soon.
            Err(failure) => tracing::warn!(error = &failure as &dyn std::error::Error, "signed by one secret of two"),
        }
        Ok(secrets)
    }

    fn open_text(&self, sealed: &[u8], place: &str) -> Result<Secret, Failure> {
        let opened = self.keyring.open(sealed, place);
        // Another ring may have its key.
        let opened = opened.map_err(|error| Failure::passing("a sealed value does not open").because(error))?;
        let text = std::str::from_utf8(&opened);
        text.map(Secret::from).map_err(|_| Failure::lasting("a sealed value is no text"))
    }
}

/// When the job came, as its id tells.
fn accepted(lease: &HookLease) -> Timestamp {
    let (seconds, nanos) = lease.job.0.get_timestamp().map_or((0, 0), |time| time.to_unix());
    Timestamp::from_millis(seconds * 1000 + u64::from(nanos / 1_000_000))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
    const SECOND: Duration = Duration::from_secs(1);

    const fn at(lane: u64) -> Receiver {
        (AccountId(Uuid::from_u128(1)), lane)
    }

    fn silent(times: usize) -> Breaker {
        let breaker = Breaker::default();
        (0..times).for_each(|_| breaker.silent(at(7), NOW));
        breaker
    }

    #[test]
    fn the_third_silence_in_a_row_gives_a_receiver_half_a_minute_of_rest() {
        assert_eq!(silent(2).rests(at(7), NOW), None);
        let breaker = silent(3);
        assert_eq!(breaker.rests(at(7), NOW), Some(NOW + 30 * SECOND));
        let anothers = (AccountId(Uuid::from_u128(2)), 7);
        assert_eq!(breaker.rests(anothers, NOW), None, "whose address at the same host may answer");
        assert_eq!((breaker.rests(at(8), NOW), breaker.rests(at(7), NOW + 30 * SECOND)), (None, None));
    }

    #[test]
    fn after_its_rest_one_more_silence_doubles_it_and_one_answer_forgives_all() {
        let (breaker, mut later) = (silent(3), NOW + 30 * SECOND);
        for rest_s in [60, 120, 240, 480, 960, 1800, 1800] {
            breaker.silent(at(7), later);
            breaker.silent(at(7), later);
            assert_eq!(breaker.rests(at(7), later), Some(later + rest_s * SECOND), "two at a time count as one");
            later = later + rest_s * SECOND;
        }
        breaker.answered(at(7));
        (0..2).for_each(|_| breaker.silent(at(7), later));
        assert_eq!(breaker.rests(at(7), later), None);
        breaker.silent(at(7), later);
        assert_eq!(breaker.rests(at(7), later), Some(later + 30 * SECOND));
    }

    #[test]
    fn no_rest_is_longer_where_the_clock_is_set_back() {
        assert_eq!(silent(3).rests(at(7), NOW - 3600 * SECOND), None);
    }

    #[test]
    fn receivers_that_are_remembered_are_bounded_and_counted_on() {
        let breaker = silent(2);
        (0..Breaker::RECEIVERS as u64 + 10).for_each(|lane| breaker.silent(at(1000 + lane), NOW));
        breaker.silent(at(7), NOW);
        assert!(breaker.rests(at(7), NOW).is_some());
        assert_eq!(breaker.0.lock().unwrap().len(), Breaker::RECEIVERS);
        breaker.silent(at(8), NOW + 31 * SECOND);
        assert_eq!(breaker.0.lock().unwrap().len(), 1);
    }
}
