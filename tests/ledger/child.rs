//! This program, started again to work on a ledger and to be killed.

use std::{
    env,
    io::Write,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use lapidary::{
    adapter::{directory::DirectoryBlobs, sqlite::SqliteLedger},
    port::{BlobKey, Blobs, Jobs, ledger::Held},
};
use tokio::{runtime::Builder, task::JoinSet};

use crate::work::{LEASE, NOW, accept, claim, completed, id, number, open_accounts};

const FOLDER: &str = "LAPIDARY_TEST_FOLDER";
const RUN: &str = "LAPIDARY_TEST_RUN";

/// The arguments that make this program do one of the tasks below, on what lies in `folder`. Each line that it says is
/// about something it was answered.
pub fn task(name: &str, folder: &Path, run: u64) -> Command {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args([&format!("child::{name}"), "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(FOLDER, folder).env(RUN, run.to_string()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// In one write, so that a line is said whole or not at all.
fn say(line: &str) {
    std::io::stdout().lock().write_all(format!("{line}\n").as_bytes()).expect("somebody listens");
}

fn given() -> Option<(std::path::PathBuf, u64)> {
    Some((env::var_os(FOLDER)?.into(), env::var(RUN).ok()?.parse().ok()?))
}

#[test]
#[ignore = "a task for other tests"]
fn lives_without_end() {
    let Some((folder, run)) = given() else { return };
    let ledger = Arc::new(SqliteLedger::open(folder.join("ledger")).expect("a ledger"));
    // Leases of earlier runs have ended.
    let now = NOW + LEASE * u32::try_from(run).expect("few runs");
    let next = Arc::new(AtomicU64::new(run << 32));
    Builder::new_current_thread().build().expect("a runtime").block_on(async {
        let mut clients = JoinSet::new();
        for _ in 0..32 {
            let (ledger, next) = (ledger.clone(), next.clone());
            clients.spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    accept(&*ledger, number).await.expect("a job is accepted");
                    say(&format!("accepted {number}"));
                    for lease in claim(&*ledger, 1, now).await {
                        let done = ledger.settle(lease.id, lease.fence, completed(lease.id), now).await;
                        assert_eq!(done.expect("a job is settled"), Held::Yes);
                        say(&format!("settled {}", self::number(lease.id)));
                    }
                }
            });
        }
        clients.join_all().await;
    });
}

#[test]
#[ignore = "a task for other tests"]
fn one_after_the_other() {
    let Some((folder, _)) = given() else { return };
    let ledger = SqliteLedger::open(folder.join("ledger")).expect("a ledger");
    let blobs = DirectoryBlobs::open(folder.join("blobs")).expect("a directory");
    Builder::new_current_thread().build().expect("a runtime").block_on(async {
        open_accounts(&ledger).await;
        say("begun");
        for number in 1..=20 {
            let mut writer = blobs.create(BlobKey::Source(id(number))).await.expect("a blob");
            writer.write(&[7; 5_000]).await.expect("room");
            match writer.finish().await {
                Ok(()) => say(&format!("stored {number}")),
                Err(failure) => say(&format!("blob failed: {failure}")),
            }
            match accept(&ledger, number).await {
                Ok(()) => say(&format!("accepted {number}")),
                Err(failure) => say(&format!("job failed: {failure}")),
            }
        }
    });
}
