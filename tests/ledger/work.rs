//! What the tests of the ledger ask for.

use std::time::Duration;

use lapidary::{
    Timestamp,
    port::{
        Accounts, Jobs,
        ledger::{
            Accepted, AccountId, Capacity, Fence, Held, JobId, JobLease, NewAccount, NewHook, NewJob, Outcome,
            SealedSecrets,
        },
    },
};
use uuid::Uuid;

/// 2026-11-14 12:00 UTC.
pub const NOW: Timestamp = Timestamp::from_millis(1_794_657_600_000);
pub const LEASE: Duration = Duration::from_secs(30);
pub const ACCOUNTS: u64 = 8;
pub const ROOM: Capacity = Capacity { jobs: u64::MAX, source_bytes: u64::MAX };

pub fn account(number: u64) -> AccountId {
    AccountId(Uuid::from_u128(1 + u128::from(number % ACCOUNTS)))
}

pub fn id(number: u64) -> JobId {
    JobId(Uuid::from_u128(u128::from(number) << 64))
}

pub fn number(job: JobId) -> u64 {
    (job.0.as_u128() >> 64) as u64
}

pub async fn open_accounts(ledger: &impl Accounts) {
    for number in 0..ACCOUNTS {
        let account = NewAccount {
            id: account(number),
            name: number.to_string(),
            plan: "pro".to_owned(),
            credits: 1 << 40,
            secrets: SealedSecrets { current: vec![7; 40], previous: None },
        };
        assert!(ledger.create_account(account, NOW).await.expect("an account"));
    }
}

/// A request of the size that they have, which costs one credit.
pub fn job(number: u64) -> NewJob {
    NewJob {
        id: id(number),
        account: account(number),
        sealed: format!("sealed {number:0340}").into_bytes(),
        source_bytes: Some(20_000),
        cost: 1,
        hook: Some(NewHook { sealed: vec![9; 100], lane: number % 50, delay: Duration::ZERO }),
    }
}

pub async fn accept(ledger: &impl Jobs, number: u64) -> lapidary::port::Result<()> {
    let accepted = ledger.accept(job(number), ROOM, NOW).await?;
    assert!(matches!(accepted, Ok(Accepted::Now)), "{accepted:?}");
    Ok(())
}

pub fn completed(job: JobId) -> Outcome {
    Outcome::Completed { body: format!("{:0700}", number(job)).into_bytes(), image: None }
}

pub async fn complete(ledger: &impl Jobs, job: JobId, fence: Fence) -> Held {
    ledger.settle(job, fence, completed(job), NOW).await.expect("the job is settled")
}

pub async fn claim(ledger: &impl Jobs, max: usize, now: Timestamp) -> Vec<JobLease> {
    ledger.claim(max, None, LEASE, now).await.expect("jobs are leased")
}
