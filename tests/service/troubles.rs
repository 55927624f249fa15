//! The service's own state does not answer for a while.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use lapidary::{
    Timestamp,
    adapter::memory::{MemoryBlobs, MemoryLedger, Served},
    port::{
        Accounts, BlobKey, Blobs, Credentials, Failure, Jobs, Outbox, Ports, Result,
        ledger::{
            Accepted, Account, AccountId, Capacity, ConnectorView, Delivery, Fence, Held, HookLease, HookOutcome,
            Image, JobId, JobLease, JobView, KeyHolder, KeyMac, KeyView, Link, Load, NewAccount, NewJob, Outcome,
            RateGrant, Refusal, SealedSecrets, Swept,
        },
    },
    request::Provider,
    service::Keyring,
};

use crate::{
    fixture::{DATA, FILE, Host, finish, picture},
    life::Silent,
};

/// What a ledger does in the place of answering.
#[derive(Debug, Clone, Copy)]
enum How {
    Fails,
    Panics,
    /// It does what it was asked for, and answers an hour later.
    IsLate,
}

/// Fails in one method so many times.
#[derive(Debug)]
struct Failing {
    ledger: Arc<MemoryLedger>,
    method: &'static str,
    times: AtomicUsize,
    how: How,
}

impl Failing {
    fn in_method(method: &'static str, times: usize, how: How, host: &Host) -> Arc<Self> {
        Arc::new(Self { ledger: host.ledger.clone(), method, times: AtomicUsize::new(times), how })
    }
}

macro_rules! handed_on {
    ($port:ident { $($name:ident($($argument:ident: $kind:ty),*) -> $answer:ty;)* }) => {
        #[async_trait]
        impl $port for Failing {
            $(async fn $name(&self, $($argument: $kind),*) -> $answer {
                let one_less = |left: usize| left.checked_sub(1);
                let fails = stringify!($name) == self.method
                    && self.times.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok();
                match self.how {
                    How::Fails if fails => return Err(Failure::passing("the ledger is busy")),
                    How::Panics if fails => panic!("{} panics", self.method),
                    _ => {}
                }
                let answer = self.ledger.$name($($argument),*).await;
                if fails {
                    tokio::time::sleep(Duration::from_secs(3600)).await;
                }
                answer
            })*
        }
    };
}

handed_on!(Jobs {
    accept(job: NewJob, capacity: Capacity, now: Timestamp) -> Result<Result<Accepted, Refusal>>;
    claim(max: usize, but: Option<AccountId>, lease: Duration, now: Timestamp) -> Result<Vec<JobLease>>;
    prolong(held: &[(JobId, Fence)], lease: Duration, now: Timestamp) -> Result<Vec<Held>>;
    settle(job: JobId, fence: Fence, outcome: Outcome, now: Timestamp) -> Result<Held>;
    job(account: AccountId, job: JobId) -> Result<Option<JobView>>;
    image(link: Link, now: Timestamp) -> Result<Option<Image>>;
    sweep(settled_before: Timestamp, max: usize, now: Timestamp) -> Result<Swept>;
    orphans(blobs: &[BlobKey]) -> Result<Vec<BlobKey>>;
    load() -> Result<Load>;
});

handed_on!(Outbox {
    claim_hooks(max: usize, per_lane: usize, lease: Duration, now: Timestamp) -> Result<Vec<HookLease>>;
    settle_hook(job: JobId, fence: Fence, outcome: HookOutcome, note: &str, now: Timestamp) -> Result<Held>;
    deliveries(account: AccountId, max: usize) -> Result<Vec<Delivery>>;
    replay(account: AccountId, job: JobId, now: Timestamp) -> Result<bool>;
});

handed_on!(Accounts {
    create_account(account: NewAccount, now: Timestamp) -> Result<bool>;
    account(account: AccountId, now: Timestamp) -> Result<Option<Account>>;
    account_named(name: &str, now: Timestamp) -> Result<Option<Account>>;
    accounts(after: &str, max: usize, now: Timestamp) -> Result<Vec<Account>>;
    set_disabled(account: AccountId, disabled: bool) -> Result<bool>;
    set_plan(account: AccountId, plan: &str, credits: u64, now: Timestamp) -> Result<bool>;
    set_secrets(account: AccountId, before: &[u8], secrets: SealedSecrets) -> Result<bool>;
    secrets(account: AccountId) -> Result<Option<SealedSecrets>>;
    add_key(account: AccountId, key: KeyMac, now: Timestamp) -> Result<bool>;
    remove_key(key: KeyMac) -> Result<bool>;
    keys(account: AccountId) -> Result<Vec<KeyView>>;
    key_holder(key: KeyMac) -> Result<Option<KeyHolder>>;
    put_connector(
        account: AccountId, id: &str, before: Option<&[u8]>, sealed: &[u8], now: Timestamp
    ) -> Result<bool>;
    connector(account: AccountId, id: &str) -> Result<Option<Vec<u8>>>;
    connectors(account: AccountId) -> Result<Vec<ConnectorView>>;
    remove_connector(account: AccountId, id: &str) -> Result<bool>;
    take_rate(key: KeyMac, want: u64, limit: u64, window: Duration, now: Timestamp) -> Result<RateGrant>;
});

/// Long enough for what is to be tried again to be tried.
async fn a_while(host: &Host) {
    host.clock.advance(Duration::from_secs(130));
    tokio::time::sleep(Duration::from_secs(1)).await;
}

fn keyring() -> Keyring {
    Keyring::new([1; 32], [2; 32])
}

#[tokio::test(start_paused = true)]
async fn a_job_outlasts_a_ledger_that_does_not_find_its_connector() {
    let host = Host::new().await;
    let credentials = Credentials { provider: Provider::Aws, key: "AK".into(), secret: "secret".into() };
    host.service.admin().put_connector(host.account, "mine", &credentials).await.unwrap();
    let data = br#"{"store":{"id":"mine","bucket":"bucket","region":"eu-west-1"}}"#;
    let id = host.upload(&[(FILE, &picture()), (DATA, data)]).await.id();
    let failing = Failing::in_method("connector", 1, How::Fails, &host);
    let host = host.again(|ports| ports.ledger = failing, keyring());
    let running = host.service.start();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(host.result(&id).await.status, 202);
    a_while(&host).await;
    host.settle().await;
    assert_eq!(host.result(&id).await.status, 200);
    finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn an_upload_that_came_in_time_is_accepted_however_late_the_ledger_is() {
    let host = Host::new().await;
    let late = Failing::in_method("accept", 1, How::IsLate, &host);
    let host = host.again(|ports| ports.ledger = late, keyring());
    assert_eq!(host.upload_picture().await.status, 202);
}

/// A service with room for one small image, and a source to fetch.
async fn small() -> Host {
    let host = Host::new().await;
    host.fetcher.serve(&"https://example.com/a.png".into(), Served::Body(picture()));
    let blobs = Arc::new(MemoryBlobs::new(1000, host.clock.clone()));
    let port = blobs.clone();
    Host { blobs, ..host.again(|ports| ports.blobs = port, keyring()) }
}

/// Takes all of its room.
async fn fill(host: &Host) -> BlobKey {
    let filler = BlobKey::Source("01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap());
    let mut writer = host.blobs.create(filler).await.unwrap();
    writer.write(&[0; 1000]).await.unwrap();
    writer.finish().await.unwrap();
    filler
}

#[tokio::test(start_paused = true)]
async fn a_job_waits_for_room_for_its_result_and_no_attempt_is_counted() {
    let host = small().await;
    let filler = fill(&host).await;
    let id = host.fetch(r#"{"url":"https://example.com/a.png"}"#).await.id();
    let running = host.service.start();
    for _ in 0..10 {
        assert_eq!(host.result(&id).await.status, 202);
        a_while(&host).await;
    }
    host.blobs.delete(filler).await.unwrap();
    a_while(&host).await;
    host.settle().await;
    assert_eq!(host.result(&id).await.status, 200);
    finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_job_that_waits_as_long_as_records_are_kept_fails_by_the_services_fault() {
    let host = small().await;
    let id = host.fetch(r#"{"url":"https://example.com/a.png"}"#).await.id();
    host.clock.advance(Duration::from_secs(7 * 86_400));
    fill(&host).await;
    let running = host.service.start();
    host.settle().await;
    assert_eq!(host.result(&id).await.status, 500);
    finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_loop_whose_ledger_panics_goes_on_and_the_service_is_not_ready_until_then() {
    for (method, pause) in [("claim", 1), ("claim_hooks", 1), ("prolong", 11), ("sweep", 31), ("load", 31)] {
        let host = Host::new().await;
        assert_eq!(host.fetch(r#"{"url":"https://example.com/a.png"}"#).await.status, 202);
        let panicking = Failing::in_method(method, 1, How::Panics, &host);
        let change = |ports: &mut Ports| (ports.ledger, ports.fetcher) = (panicking.clone(), Arc::new(Silent));
        let host = host.again(change, keyring());
        let running = host.service.start();
        while panicking.times.load(Ordering::SeqCst) > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(!host.service.health().await.ready, "{method}");
        tokio::time::sleep(Duration::from_secs(pause)).await;
        let health = host.service.health().await;
        assert_eq!((health.ready, health.processing), (true, 1), "{method}");
        drop(running);
    }
}
