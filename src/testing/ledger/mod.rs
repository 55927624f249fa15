//! What [`Ledger`] promises.

mod accounts;
mod jobs;
mod leases;
mod model;
mod outbox;
mod random;

use std::{sync::Arc, time::Duration};

use uuid::Uuid;

pub use random::ledger_at_random;

use super::{Fact, facts, hold};
use crate::{
    clock::Timestamp,
    port::{
        Ledger, Result,
        ledger::{
            Accepted, AccountId, Capacity, Credits, Fence, Held, JobId, JobLease, KeyMac, NewAccount, NewHook, NewJob,
            Outcome, Refusal, SealedSecrets,
        },
    },
};

/// Checks what [`Ledger`] promises: jobs, outbox and accounts.
///
/// # Panics
/// If it does not hold.
pub async fn ledger<L: Ledger + 'static>(fresh: impl AsyncFn() -> Arc<L>) {
    let any = async || {
        let any: Arc<dyn Ledger> = fresh().await;
        any
    };
    for facts in [jobs::FACTS, leases::FACTS, outbox::FACTS, accounts::FACTS] {
        hold(facts, any).await;
    }
}

/// 2026-11-14 12:00 UTC.
const NOW: Timestamp = Timestamp::from_millis(1_794_657_600_000);

const LEASE: Duration = Duration::from_secs(30);

/// More than any fact needs.
const ROOM: Capacity = Capacity { jobs: 1_000, source_bytes: 1 << 30 };

fn account_id(number: u64) -> AccountId {
    AccountId(Uuid::from_u128(u128::from(number) << 64 | 0xacc))
}

fn job_id(number: u64) -> JobId {
    JobId(Uuid::from_u128(u128::from(number) << 64 | 0x10b))
}

fn key(number: u8) -> KeyMac {
    KeyMac([number; 32])
}

fn new_account(number: u64, credits: u64) -> NewAccount {
    NewAccount {
        id: account_id(number),
        name: format!("account {number:03}"),
        plan: "pro".to_owned(),
        credits,
        secrets: SealedSecrets { current: vec![7; 40], previous: None },
    }
}

/// A job that costs one credit, without a source or a hook.
fn new_job(account: u64, number: u64) -> NewJob {
    NewJob {
        id: job_id(number),
        account: account_id(account),
        sealed: format!("request {number}").into_bytes(),
        source_bytes: None,
        cost: 1,
        hook: None,
    }
}

/// The same, with a hook that is due at once.
fn hooked_job(account: u64, number: u64) -> NewJob {
    let hook = NewHook { sealed: format!("address {number}").into_bytes(), lane: 1, delay: Duration::ZERO };
    NewJob { hook: Some(hook), ..new_job(account, number) }
}

fn completed() -> Outcome {
    Outcome::Completed { body: b"{\"done\":true}".to_vec(), image: None }
}

fn failed() -> Outcome {
    Outcome::Failed { status: 422, body: b"{\"done\":false}".to_vec() }
}

/// Makes the first accounts, with 100 credits each.
async fn open(ledger: &dyn Ledger, accounts: u64) -> Result<()> {
    for number in 1..=accounts {
        assert!(ledger.create_account(new_account(number, 100), NOW).await?);
    }
    Ok(())
}

async fn accept(ledger: &dyn Ledger, job: NewJob) -> Result<Result<Accepted, Refusal>> {
    ledger.accept(job, ROOM, NOW).await
}

/// Accepts jobs of one account.
async fn accept_all(ledger: &dyn Ledger, account: u64, numbers: impl IntoIterator<Item = u64>) -> Result<()> {
    for number in numbers {
        assert_eq!(accept(ledger, new_job(account, number)).await?, Ok(Accepted::Now));
    }
    Ok(())
}

/// Leases the one job that can be.
async fn lease(ledger: &dyn Ledger, now: Timestamp) -> Result<JobLease> {
    let mut leases = ledger.claim(1, None, LEASE, now).await?;
    Ok(leases.pop().expect("a job can be leased"))
}

/// Ids of all the jobs that can be leased.
async fn lease_all(ledger: &dyn Ledger, now: Timestamp) -> Result<Vec<JobId>> {
    Ok(ledger.claim(1_000, None, LEASE, now).await?.into_iter().map(|lease| lease.id).collect())
}

/// Accepts a job, leases it and settles it.
async fn settled(ledger: &dyn Ledger, job: NewJob, outcome: Outcome) -> Result<Fence> {
    let id = job.id;
    assert_eq!(accept(ledger, job).await?, Ok(Accepted::Now));
    let lease = lease(ledger, NOW).await?;
    assert_eq!(lease.id, id);
    assert_eq!(ledger.settle(id, lease.fence, outcome, NOW).await?, Held::Yes);
    Ok(lease.fence)
}

async fn credits(ledger: &dyn Ledger, account: u64, now: Timestamp) -> Result<Credits> {
    Ok(ledger.account(account_id(account), now).await?.expect("the account exists").credits)
}

/// Used and reserved.
async fn spent(ledger: &dyn Ledger, account: u64) -> Result<(u64, u64)> {
    let credits = credits(ledger, account, NOW).await?;
    Ok((credits.used, credits.reserved))
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
