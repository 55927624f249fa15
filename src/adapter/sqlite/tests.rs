//! What transactions do when something fails.

use std::{
    env, fs,
    path::PathBuf,
    process,
    sync::{
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    time::Duration,
};

use tokio::{runtime::Builder, task::JoinSet};
use uuid::Uuid;

use super::*;
use crate::{
    clock::Timestamp,
    port::{
        Accounts, Jobs, Outbox,
        ledger::{Accepted, AccountId, Capacity, Held, HookOutcome, JobId, NewAccount, NewJob, Outcome, SealedSecrets},
    },
};

const NOW: Timestamp = Timestamp::from_millis(1_794_657_600_000);
const ROOM: Capacity = Capacity { jobs: u64::MAX, source_bytes: u64::MAX };
const LEASE: Duration = Duration::from_secs(30);
const ACCOUNT: AccountId = AccountId(Uuid::from_u128(1));

/// A ledger with one account, in a folder that is removed with it.
struct Fixture {
    ledger: Option<std::sync::Arc<SqliteLedger>>,
    folder: PathBuf,
}

impl Fixture {
    async fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("lapidary-sqlite-{}-{number}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let ledger = SqliteLedger::open(folder.join("ledger")).unwrap();
        let secrets = SealedSecrets { current: Vec::new(), previous: None };
        let (name, plan) = ("a".to_owned(), "pro".to_owned());
        let account = NewAccount { id: ACCOUNT, name, plan, credits: 1_000_000, secrets };
        assert!(ledger.create_account(account, NOW).await.unwrap());
        Self { ledger: Some(ledger.into()), folder }
    }

    fn ledger(&self) -> std::sync::Arc<SqliteLedger> {
        self.ledger.clone().unwrap()
    }

    /// Holds the writer, so that all that is asked meanwhile becomes its next transaction.
    async fn hold(&self) -> mpsc::Sender<()> {
        let (release, held) = mpsc::channel();
        let (begun, begins) = tokio::sync::oneshot::channel();
        let ledger = self.ledger();
        tokio::spawn(async move {
            let hold = move |_: &Connection| {
                begun.send(()).unwrap();
                held.recv().unwrap();
                Ok(())
            };
            ledger.writer.run(hold).await
        });
        begins.await.unwrap();
        release
    }

    async fn is_there(&self, number: u128) -> bool {
        self.ledger().job(ACCOUNT, JobId(Uuid::from_u128(number))).await.unwrap().is_some()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.ledger = None;
        drop(fs::remove_dir_all(&self.folder));
    }
}

fn job(number: u128, sealed: usize) -> NewJob {
    let id = JobId(Uuid::from_u128(number));
    NewJob { id, account: ACCOUNT, sealed: vec![1; sealed], source_bytes: None, cost: 1, hook: None }
}

fn run_test<F: Future<Output = ()>>(test: F) {
    Builder::new_current_thread().build().unwrap().block_on(test);
}

/// Lets the tasks that were spawned ask for what they want.
async fn let_others_ask() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[test]
fn all_steps_that_wait_are_done_in_one_transaction() {
    run_test(async {
        let fixture = Fixture::new().await;
        let release = fixture.hold().await;
        let mut clients = JoinSet::new();
        for number in 1..=32 {
            let ledger = fixture.ledger();
            clients.spawn(async move { ledger.accept(job(number, 10), ROOM, NOW).await.unwrap() });
        }
        let_others_ask().await;
        let ledger = fixture.ledger();
        let path = fixture.folder.join("ledger");
        let last = tokio::spawn(async move {
            let count = "SELECT count(*) FROM job";
            let look = move |connection: &Connection| {
                let done: i64 = connection.query_row(count, [], |row| row.get(0))?;
                let committed: i64 = Connection::open(&path)?.query_row(count, [], |row| row.get(0))?;
                Ok((done, committed))
            };
            ledger.writer.run(look).await
        });
        let_others_ask().await;
        release.send(()).unwrap();
        assert_eq!(last.await.unwrap().unwrap(), (32, 0));
        assert_eq!(clients.join_all().await, [Ok(Accepted::Now); 32]);
    });
}

#[test]
fn a_step_that_fails_harms_no_other_of_its_transaction() {
    run_test(async {
        let fixture = Fixture::new().await;
        let release = fixture.hold().await;
        let (first, second, ledger) = (fixture.ledger(), fixture.ledger(), fixture.ledger());
        let first = tokio::spawn(async move { first.accept(job(1, 10), ROOM, NOW).await });
        let_others_ask().await;
        let fails = tokio::spawn(async move {
            let half = |connection: &Connection| {
                connection.execute("DELETE FROM job", [])?;
                connection.execute("INSERT INTO job (id) VALUES (NULL)", [])
            };
            ledger.writer.run(half).await
        });
        let_others_ask().await;
        let second = tokio::spawn(async move { second.accept(job(2, 10), ROOM, NOW).await });
        let_others_ask().await;
        release.send(()).unwrap();
        assert_eq!(first.await.unwrap().unwrap(), Ok(Accepted::Now));
        assert!(!fails.await.unwrap().unwrap_err().may_pass);
        assert_eq!(second.await.unwrap().unwrap(), Ok(Accepted::Now));
        assert!(fixture.is_there(1).await && fixture.is_there(2).await);
    });
}

#[test]
fn a_commit_that_fails_fails_every_step_of_it() {
    run_test(async {
        let fixture = Fixture::new().await;
        let release = fixture.hold().await;
        let (accepting, ledger) = (fixture.ledger(), fixture.ledger());
        let accepted = tokio::spawn(async move { accepting.accept(job(1, 10), ROOM, NOW).await });
        let poison = tokio::spawn(async move {
            let poison = |connection: &Connection| {
                connection.pragma_update(None, "defer_foreign_keys", true)?;
                connection.execute("INSERT INTO api_key VALUES (x'01', x'02', 0)", [])
            };
            ledger.writer.run(poison).await
        });
        let_others_ask().await;
        release.send(()).unwrap();
        assert!(accepted.await.unwrap().is_err());
        assert!(poison.await.unwrap().is_err());
        assert!(!fixture.is_there(1).await);
        assert_eq!(fixture.ledger().accept(job(1, 10), ROOM, NOW).await.unwrap(), Ok(Accepted::Now));
    });
}

#[test]
fn a_full_disk_is_said_and_loses_nothing() {
    run_test(async {
        let fixture = Fixture::new().await;
        let ledger = fixture.ledger();
        let limit = |pages: u32| {
            move |connection: &Connection| {
                connection.pragma_update_and_check(None, "max_page_count", pages, |row| row.get::<_, u32>(0))
            }
        };
        ledger.writer.run(limit(100)).await.unwrap();
        let mut accepted = 0;
        let failure = loop {
            match ledger.accept(job(accepted + 1, 5_000), ROOM, NOW).await {
                Ok(answer) => assert_eq!(answer, Ok(Accepted::Now)),
                Err(failure) => break failure,
            }
            accepted += 1;
        };
        assert!(failure.may_pass);
        assert_eq!(failure.message, "the service's storage is full");
        assert!(accepted > 10, "{accepted}");
        for number in 1..=accepted {
            assert!(fixture.is_there(number).await, "{number}");
        }
        assert!(!fixture.is_there(accepted + 1).await);
        assert_eq!(ledger.load().await.unwrap().waiting, accepted as u64);
        ledger.writer.run(limit(10_000)).await.unwrap();
        assert_eq!(ledger.accept(job(accepted + 1, 5_000), ROOM, NOW).await.unwrap(), Ok(Accepted::Now));
    });
}

#[test]
fn a_file_that_cannot_be_written_is_said() {
    run_test(async {
        let fixture = Fixture::new().await;
        let ledger = fixture.ledger();
        ledger.writer.run(|connection| connection.pragma_update(None, "query_only", true)).await.unwrap();
        let failure = ledger.accept(job(1, 10), ROOM, NOW).await.unwrap_err();
        assert!(failure.may_pass);
        assert_eq!(failure.message, "the service's storage cannot be written");
        assert!(!fixture.is_there(1).await, "what is there can still be read");
    });
}

#[test]
fn a_ledger_of_the_first_schema_opens_with_its_jobs_counted_and_its_hooks_due() {
    run_test(async {
        let mut fixture = Fixture::new().await;
        fixture.ledger = None;
        let path = fixture.folder.join("old");
        let old = Connection::open(&path).unwrap();
        old.execute_batch(include_str!("schema/1.sql")).unwrap();
        old.pragma_update(None, "application_id", 0x6c70_646c).unwrap();
        old.pragma_update(None, "user_version", 1).unwrap();
        let (account, id) = (ACCOUNT.0.as_bytes(), Uuid::from_u128(7));
        let opened = "INSERT INTO account (id, name, plan, total, month, secret) VALUES (?1, 'a', 'pro', 9, 0, x'')";
        old.execute(opened, [account]).unwrap();
        let accepted = "INSERT INTO job (id, account, accepted, cost, month, source_bytes, sealed, fence, attempts)
            VALUES (?1, ?2, 5, 1, 0, 500, x'01', 3, 1)";
        let told = Uuid::from_u128(8);
        for id in [id, told] {
            old.execute(accepted, [id.as_bytes(), account]).unwrap();
        }
        old.execute("UPDATE job SET state = 3, settled = 5, body = x'03' WHERE id = ?1", [told.as_bytes()]).unwrap();
        let hook = "INSERT INTO hook (job, account, lane, delay, sealed) VALUES (2, ?1, 7, 0, x'02')";
        old.execute(hook, [account]).unwrap();
        old.execute("UPDATE hook SET state = 1, due = 5", []).unwrap();
        drop(old);
        for _ in 0..2 {
            let ledger = SqliteLedger::open(&path).unwrap();
            let [lease] = ledger.claim(9, None, LEASE, NOW).await.unwrap().try_into().unwrap();
            assert_eq!((lease.id, lease.attempt, lease.failures), (JobId(id), 2, 0));
            let again = Outcome::Again { at: NOW, counts: false };
            assert_eq!(ledger.settle(lease.id, lease.fence, again, NOW).await.unwrap(), Held::Yes);
            let [hook] = ledger.claim_hooks(9, 9, LEASE, NOW).await.unwrap().try_into().unwrap();
            assert_eq!((hook.job, hook.lane), (JobId(told), 7));
            let later = HookOutcome::HandedBack { at: NOW };
            assert_eq!(ledger.settle_hook(hook.job, hook.fence, later, "", NOW).await.unwrap(), Held::Yes);
            let count = |connection: &Connection| {
                let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
                connection.query_row("SELECT jobs, source_bytes FROM account", [], row)
            };
            assert_eq!(ledger.writer.run(count).await.unwrap(), (1, 500));
        }
    });
}

#[test]
fn no_statement_that_runs_often_goes_through_a_table() {
    run_test(async {
        let fixture = Fixture::new().await;
        let ledger = fixture.ledger();
        let plans = ledger.writer.run(|connection| {
            let mut plans = Vec::new();
            for statement in [jobs::OFTEN, outbox::OFTEN].concat() {
                let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}"))?;
                let nulls = vec![rusqlite::types::Null; explain.parameter_count()];
                let steps = explain.query_map(rusqlite::params_from_iter(nulls), |row| row.get::<_, String>(3))?;
                plans.push((statement, steps.collect::<rusqlite::Result<Vec<_>>>()?));
            }
            Ok(plans)
        });
        let plans = plans.await.unwrap();
        assert!(plans.len() > 10);
        for (statement, steps) in plans {
            let whole = |step: &&String| step.starts_with("SCAN") && !step.contains("tally") && !step.contains("USING");
            assert_eq!(steps.iter().find(whole), None, "{statement}: {steps:?}");
            assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE")), "{statement}: {steps:?}");
        }
    });
}
