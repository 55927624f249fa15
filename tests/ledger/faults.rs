//! Files that are damaged, foreign, in use or out of reach.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::{FileExt, PermissionsExt},
    path::Path,
};

use lapidary::{
    adapter::{directory::DirectoryBlobs, sqlite::SqliteLedger},
    port::{
        BlobKey, Blobs, Failure, Jobs,
        ledger::{Accepted, NewJob, Standing},
    },
};
use rusqlite::Connection;
use tokio::runtime::{Builder, Runtime};

use crate::{
    folder::Folder,
    work::{NOW, ROOM, accept, account, claim, complete, id, job, open_accounts},
};

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}

/// A ledger with 200 jobs, of which half are settled.
async fn fill(path: &Path) {
    let ledger = SqliteLedger::open(path).expect("a ledger");
    open_accounts(&ledger).await;
    for number in 0..200 {
        accept(&ledger, number).await.expect("a job is accepted");
    }
    for lease in claim(&ledger, 100, NOW).await {
        complete(&ledger, lease.id, lease.fence).await;
    }
}

fn refusal(path: &Path) -> Failure {
    SqliteLedger::open(path).expect_err("it is refused")
}

#[test]
fn two_programs_share_a_ledger() {
    let folder = Folder::new();
    let path = folder.join("ledger");
    let open = || SqliteLedger::open(&path).expect("a ledger");
    let (first, second) = std::thread::scope(|scope| {
        let [first, second] = [scope.spawn(open), scope.spawn(open)];
        (first.join().expect("it opens"), second.join().expect("it opens"))
    });
    runtime().block_on(async {
        open_accounts(&first).await;
        for number in 0..50 {
            let (one, other) = tokio::join!(accept(&first, 2 * number), accept(&second, 2 * number + 1));
            one.and(other).expect("both are accepted");
        }
        let (one, other) = tokio::join!(claim(&first, 60, NOW), claim(&second, 60, NOW));
        let mut leased: Vec<_> = one.iter().chain(&other).map(|lease| lease.id).collect();
        leased.sort_unstable();
        leased.dedup();
        assert_eq!((leased.len(), one.len() + other.len()), (100, 100), "none is leased to both");
        complete(&second, one[0].id, one[0].fence).await;
        assert_eq!(first.load().await.expect("an answer"), second.load().await.expect("an answer"));
    });
}

#[test]
fn a_ledger_of_a_newer_program_is_refused() {
    let folder = Folder::new();
    let path = folder.join("ledger");
    drop(SqliteLedger::open(&path).expect("a ledger"));
    Connection::open(&path).and_then(|file| file.pragma_update(None, "user_version", 99)).expect("it is changed");
    let failure = refusal(&path);
    assert!(!failure.may_pass);
    assert!(failure.message.contains("schema 99"), "{failure}");
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    let folder = Folder::new();
    let path = folder.join("other");
    Connection::open(&path).and_then(|file| file.execute_batch("CREATE TABLE job (id)")).expect("a database");
    assert_eq!(refusal(&path).message, "the file is the database of another program");
    let other = Connection::open(&path).expect("a database");
    let tables: i64 = other.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).expect("a count");
    let journal: String = other.pragma_query_value(None, "journal_mode", |row| row.get(0)).expect("its mode");
    assert_eq!((tables, journal.as_str()), (1, "delete"));

    fs::write(folder.join("text"), "text ".repeat(2_000)).expect("a file");
    assert_eq!(refusal(&folder.join("text")).message, "the file is no database");
}

#[test]
fn a_damaged_page_is_said_and_nothing_is_taken_for_done() {
    let folder = Folder::new();
    let path = folder.join("ledger");
    let runtime = runtime();
    runtime.block_on(fill(&path));
    let database = Connection::open(&path).expect("the database");
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'job'";
    let page: u64 = database.query_row(root, [], |row| row.get::<_, i64>(0)).expect("a page") as u64;
    drop(database);
    let file = OpenOptions::new().write(true).open(&path).expect("the file");
    file.write_all_at(&[0xaa; 4096], (page - 1) * 4096).expect("it is damaged");

    let ledger = SqliteLedger::open(&path).expect("the damage is elsewhere");
    runtime.block_on(async {
        let damaged = |failure: Failure| {
            assert_eq!((failure.may_pass, failure.message.as_str()), (false, "the service's records are damaged"));
        };
        damaged(ledger.job(account(0), id(0)).await.expect_err("it cannot be read"));
        damaged(accept(&ledger, 1_000).await.expect_err("it cannot be stored"));
        damaged(ledger.claim(1, None, std::time::Duration::ZERO, NOW).await.expect_err("none can be leased"));
    });
}

#[test]
fn a_damaged_first_page_is_said_when_it_is_opened() {
    let folder = Folder::new();
    let path = folder.join("ledger");
    runtime().block_on(fill(&path));
    let file = OpenOptions::new().write(true).open(&path).expect("the file");
    file.write_all_at(&[0xaa; 2000], 100).expect("it is damaged");
    assert_eq!(refusal(&path).message, "the service's records are damaged");
    file.write_all_at(&[0xaa; 100], 0).expect("it is damaged");
    assert_eq!(refusal(&path).message, "the file is no database");
}

#[test]
fn a_folder_that_cannot_be_written_is_said() {
    // Not even root can write there.
    let failures = [refusal(Path::new("/sys/ledger")), DirectoryBlobs::open("/sys/blobs").expect_err("it is refused")];
    for failure in failures {
        let cause = failure.source.as_ref().map(ToString::to_string).unwrap_or_default();
        assert!(failure.message.contains("cannot be"), "{failure}");
        assert!(!cause.is_empty(), "{failure}");
    }
}

#[test]
fn files_are_their_owners_alone() {
    let folder = Folder::new();
    runtime().block_on(async {
        fill(&folder.join("ledger")).await;
        let blobs = DirectoryBlobs::open(folder.join("blobs")).expect("a directory");
        blobs.create(BlobKey::Source(id(1))).await.expect("a blob").finish().await.expect("it is stored");
    });
    let open = SqliteLedger::open(folder.join("ledger")).expect("a ledger");
    runtime().block_on(accept(&open, 999)).expect("it is accepted");
    let mut folders = vec![folder.path().to_owned()];
    let mut files = 0;
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let entry = entry.expect("an entry");
            let metadata = entry.metadata().expect("its kind");
            let allowed = if metadata.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(metadata.permissions().mode() & 0o777, allowed, "{}", entry.path().display());
            if metadata.is_dir() {
                folders.push(entry.path());
            } else {
                files += 1;
            }
        }
    }
    assert_eq!(files, 4, "the ledger, its log, its index and a blob");
}

#[test]
fn a_secret_is_wiped_with_its_last_use() {
    let folder = Folder::new();
    let path = folder.join("ledger");
    // So long that pages of it become free.
    let sealed = "wipe me".repeat(3_000).into_bytes();
    let is_there = || {
        let bytes = fs::read(&path).expect("the file");
        bytes.windows(50).any(|some| some == &sealed[..50] || some == &sealed[1..51] || some == &sealed[2..52])
    };
    runtime().block_on(async {
        let ledger = SqliteLedger::open(&path).expect("a ledger");
        open_accounts(&ledger).await;
        let job = NewJob { sealed: sealed.clone(), ..job(7) };
        assert_eq!(ledger.accept(job, ROOM, NOW).await.expect("an answer"), Ok(Accepted::Now));
        drop(ledger);
        assert!(is_there());
        let ledger = SqliteLedger::open(&path).expect("a ledger");
        let lease = claim(&ledger, 1, NOW).await.remove(0);
        complete(&ledger, lease.id, lease.fence).await;
        let view = ledger.job(account(7), id(7)).await.expect("an answer").expect("the job");
        assert!(matches!(view.standing, Standing::Settled { status: 200, .. }));
    });
    assert!(!is_there());
}
