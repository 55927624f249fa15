//! Random steps, each foretold by a model.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{
    model::{Job, Model},
    *,
};
use crate::{
    port::{
        BlobKey, Failure,
        ledger::{HookOutcome, Image, Link},
    },
    testing::said,
};

/// Does `steps` random steps on an empty ledger, with a clock that stands, goes, turns months and jumps back an hour, and
/// checks every answer against a model. The same seed does the same.
///
/// # Panics
/// If an answer is not allowed: with the number of the step.
pub async fn ledger_at_random(ledger: Arc<dyn Ledger>, seed: u64, steps: usize) {
    let step = Arc::new(AtomicUsize::new(0));
    let count = step.clone();
    let run = tokio::spawn(async move {
        let mut walk = Walk::begin(ledger, seed).await?;
        for at in 1..=steps {
            count.store(at, Ordering::Relaxed);
            walk.step().await?;
        }
        Ok::<(), Failure>(())
    });
    let at = |why: &str| format!("seed {seed}, step {}: {why}", step.load(Ordering::Relaxed));
    match run.await {
        Ok(Ok(())) => {}
        Ok(Err(failure)) => panic!("{}", at(&format!("{failure} ({:?})", failure.source))),
        Err(ended) => panic!("{}", at(&said(ended))),
    }
}

const ACCOUNTS: u64 = 4;

/// Few, so that the queue is full at times.
const CAPACITY: Capacity = Capacity { jobs: 25, source_bytes: 2_000 };

struct Walk {
    ledger: Arc<dyn Ledger>,
    model: Model,
    random: Random,
    now: Timestamp,
    /// What was charged for records that are gone, by account and month.
    charged: BTreeMap<(AccountId, Timestamp), u64>,
    accepted: u64,
}

/// SplitMix64, after Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators".
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

impl Walk {
    async fn begin(ledger: Arc<dyn Ledger>, seed: u64) -> Result<Self> {
        let mut model = Model::default();
        for number in 1..=ACCOUNTS {
            assert!(ledger.create_account(new_account(number, 60), NOW).await?);
            model.open(account_id(number), 60);
        }
        Ok(Self { ledger, model, random: Random(seed), now: NOW, charged: BTreeMap::new(), accepted: 0 })
    }

    async fn step(&mut self) -> Result<()> {
        self.pass_time();
        match self.random.below(20) {
            0..5 => self.accept().await?,
            5..8 => self.claim().await?,
            8..12 => self.settle().await?,
            12 => self.prolong().await?,
            13..15 => self.claim_hooks().await?,
            15..17 => self.settle_hook().await?,
            17 => self.replay().await?,
            18 => self.manage().await?,
            _ => self.sweep().await?,
        }
        self.look().await
    }

    fn pass_time(&mut self) {
        self.now = match self.random.below(100) {
            0..50 => self.now,
            50..90 => self.now + Duration::from_millis(self.random.below(5_000)),
            90..97 => self.now + seconds(self.random.below(90)),
            97 => self.now + seconds(self.random.below(5 * 86_400)),
            _ => {
                // Over the turn of a month the choices would be too many to foretell.
                let back = self.now - seconds(3600);
                if back.next_month() == self.now.next_month() { back } else { self.now }
            }
        };
    }

    fn credits(&self, account: AccountId) -> Credits {
        let charged = self.charged.get(&(account, self.now.next_month())).copied().unwrap_or_default();
        self.model.credits(account, charged, self.now)
    }

    /// A job of which much happened lately.
    fn some_job(&mut self) -> Option<&Job> {
        let len = self.model.jobs.len() as u64;
        let at = len.checked_sub(1)? - self.random.below(len).min(self.random.below(len));
        self.model.jobs.get(at as usize)
    }

    /// An id and a fence, mostly the last one.
    fn some_lease(&mut self, fence: impl Fn(&Job) -> u64) -> Option<(JobId, Fence)> {
        let stale = self.random.below(8).saturating_sub(6);
        let job = self.some_job()?;
        Some((job.new.id, Fence(fence(job).saturating_sub(stale).max(1))))
    }

    async fn accept(&mut self) -> Result<()> {
        let again = self.random.one_in(8);
        let known = self.some_job().map(|job| job.new.clone()).filter(|_| again);
        let job = known.unwrap_or_else(|| {
            self.accepted += 1;
            let random = &mut self.random;
            let mut job = hooked_job(1 + random.below(ACCOUNTS), self.accepted);
            job.cost = random.below(12);
            job.source_bytes = random.one_in(2).then(|| random.below(300));
            job.hook = job.hook.filter(|_| !random.one_in(3)).map(|hook| NewHook {
                lane: random.below(3),
                delay: seconds(random.below(60)),
                ..hook
            });
            job
        });
        let credits = self.credits(job.account);
        let foretold = self.model.accept(job.clone(), CAPACITY, credits, self.now);
        assert_eq!(self.ledger.accept(job, CAPACITY, self.now).await?, foretold);
        Ok(())
    }

    async fn claim(&mut self) -> Result<()> {
        let max = self.random.below(6) as usize;
        let but = self.random.one_in(4).then(|| account_id(1 + self.random.below(ACCOUNTS)));
        let leases = self.ledger.claim(max, but, LEASE, self.now).await?;
        self.model.claim(&leases, max, but, self.now);
        Ok(())
    }

    async fn prolong(&mut self) -> Result<()> {
        let held: Vec<_> = (0..3).filter_map(|_| self.some_lease(|job| job.lease.fence)).collect();
        let answers = self.ledger.prolong(&held, LEASE, self.now).await?;
        let foretold: Vec<Held> = held.into_iter().map(|(id, fence)| self.model.prolong(id, fence, self.now)).collect();
        assert_eq!(answers, foretold);
        Ok(())
    }

    async fn settle(&mut self) -> Result<()> {
        let Some((id, fence)) = self.some_lease(|job| job.lease.fence) else { return Ok(()) };
        let image = Image {
            blob: BlobKey::Result(id, fence),
            link: Link(id.0.as_u128() ^ u128::from(fence.0) << 1),
            name: "a.webp".to_owned(),
            media_type: "image/webp".to_owned(),
            expires: self.now + seconds(600),
        };
        let body = format!("{{\"fence\":{}}}", fence.0).into_bytes();
        let outcome = match self.random.below(6) {
            0 => Outcome::Completed { body, image: None },
            1 | 2 => Outcome::Completed { body, image: Some(image) },
            3 => Outcome::Failed { status: 422, body },
            _ => Outcome::Again { at: self.now + seconds(self.random.below(40)), counts: self.random.one_in(2) },
        };
        let held = self.ledger.settle(id, fence, outcome.clone(), self.now).await?;
        assert_eq!(held, self.model.settle(id, fence, outcome, self.now), "{id} {fence:?}");
        Ok(())
    }

    async fn claim_hooks(&mut self) -> Result<()> {
        let (max, per_lane) = (self.random.below(5) as usize, 1 + self.random.below(3) as usize);
        let leases = self.ledger.claim_hooks(max, per_lane, LEASE, self.now).await?;
        self.model.claim_hooks(&leases, max, per_lane, self.now);
        Ok(())
    }

    async fn settle_hook(&mut self) -> Result<()> {
        let fence = |job: &Job| job.delivery.as_ref().map_or(0, |post| post.lease.fence);
        let Some((id, fence)) = self.some_lease(fence) else { return Ok(()) };
        let later = self.now + seconds(self.random.below(100));
        let outcome = match self.random.below(5) {
            0 => HookOutcome::Delivered,
            1 => HookOutcome::Failed { again: None },
            2 | 3 => HookOutcome::Failed { again: Some(later) },
            _ => HookOutcome::HandedBack { at: later },
        };
        let note = format!("{outcome:?}");
        let foretold = self.model.settle_hook(id, fence, &outcome, &note, self.now);
        assert_eq!(self.ledger.settle_hook(id, fence, outcome, &note, self.now).await?, foretold);
        Ok(())
    }

    async fn replay(&mut self) -> Result<()> {
        let account = account_id(1 + self.random.below(ACCOUNTS));
        let Some(id) = self.some_job().map(|job| job.new.id) else { return Ok(()) };
        let foretold = self.model.replay(account, id, self.now);
        assert_eq!(self.ledger.replay(account, id, self.now).await?, foretold);
        Ok(())
    }

    async fn manage(&mut self) -> Result<()> {
        let id = account_id(1 + self.random.below(ACCOUNTS));
        let account = self.model.accounts.get_mut(&id).expect("the account is known");
        match self.random.below(4) {
            0 => {
                account.disabled = self.random.one_in(3);
                assert!(self.ledger.set_disabled(id, account.disabled).await?);
            }
            1 => {
                account.total = 20 + self.random.below(100);
                assert!(self.ledger.set_plan(id, "pro", account.total, self.now).await?);
            }
            _ => {
                let (key, want) = (key(self.random.below(2) as u8), self.random.below(40));
                let foretold = self.model.take_rate(key, want, 100, seconds(30), self.now);
                assert_eq!(self.ledger.take_rate(key, want, 100, seconds(30), self.now).await?, foretold);
            }
        }
        Ok(())
    }

    async fn sweep(&mut self) -> Result<()> {
        let before = self.now - seconds(self.random.below(3_000));
        let mut swept = self.ledger.sweep(before, 1_000, self.now).await?;
        let mut all = self.model.jobs.iter().map(|job| BlobKey::Source(job.new.id)).collect::<Vec<_>>();
        all.extend(self.model.jobs.iter().map(|job| BlobKey::Result(job.new.id, Fence(job.lease.fence))));
        let months = self.accounts_months();
        let (mut blobs, gone) = self.model.sweep(before, self.now);
        blobs.sort_unstable();
        swept.blobs.sort_unstable();
        assert_eq!((swept.blobs, swept.records), (blobs, gone.len() as u64));
        self.keep_charges(months);
        let orphans: Vec<BlobKey> = all.iter().copied().filter(|key| self.model.is_orphan(*key)).collect();
        assert_eq!(self.ledger.orphans(&all).await?, orphans);
        Ok(())
    }

    /// What each account was charged this month.
    fn accounts_months(&self) -> Vec<(AccountId, u64)> {
        self.model.accounts.keys().map(|account| (*account, self.credits(*account).used)).collect()
    }

    /// Charges outlive the records that they were made for.
    fn keep_charges(&mut self, before: Vec<(AccountId, u64)>) {
        for (account, used) in before {
            let lost = used - self.credits(account).used;
            *self.charged.entry((account, self.now.next_month())).or_default() += lost;
        }
    }

    /// Compares what can be seen.
    async fn look(&mut self) -> Result<()> {
        assert_eq!(self.ledger.load().await?, self.model.load());
        let account = account_id(1 + self.random.below(ACCOUNTS));
        let seen = self.ledger.account(account, self.now).await?.expect("the account exists");
        assert_eq!(seen.credits, self.credits(account), "{account}");
        let Some((id, image)) =
            self.some_job().map(|job| (job.new.id, job.end.as_ref().and_then(|end| end.image.clone())))
        else {
            return Ok(());
        };
        assert_eq!(self.ledger.job(account, id).await?, self.model.view(account, id), "{id}");
        if let Some(foretold) = self.model.deliveries(account, 5) {
            assert_eq!(self.ledger.deliveries(account, 5).await?, foretold);
        }
        if let Some(image) = image {
            let there = self.now < image.expires;
            assert_eq!(self.ledger.image(image.link, self.now).await?, there.then_some(image));
        }
        Ok(())
    }
}
