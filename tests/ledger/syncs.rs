//! What is on disk, and when: as the system's calls show it.

use std::{
    collections::BTreeMap,
    fs,
    process::{Command, Stdio},
};

use lapidary::{adapter::sqlite::SqliteLedger, port::Jobs};
use tokio::runtime::Builder;

use crate::{
    child,
    folder::Folder,
    work::{account, id},
};

/// The calls of a child that does one thing after the other, in the order in which they ended, and what it said. `None`
/// where there is no `strace`.
fn traced(folder: &Folder, options: &[&str]) -> Option<(Vec<String>, String)> {
    let there = Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !there {
        eprintln!("skipped: strace is not installed");
        return None;
    }
    let (task, log) = (child::task("one_after_the_other", folder.path(), 0), folder.join("trace"));
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-s", "64", "-o"]).arg(&log);
    command.args(["-e", "trace=write,pwrite64,fsync,fdatasync,rename"]).args(options);
    command.arg(task.get_program()).args(task.get_args());
    command.envs(task.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().expect("strace runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if !said.contains("begun") {
        eprintln!("skipped: strace may not trace: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some((in_order(&fs::read_to_string(log).expect("its log")), said))
}

/// Puts calls together that others interrupted.
fn in_order(log: &str) -> Vec<String> {
    let mut begun: BTreeMap<&str, &str> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in log.lines() {
        let Some((process, call)) = line.split_once(' ') else { continue };
        if let Some(begin) = call.trim().strip_suffix("<unfinished ...>") {
            begun.insert(process, begin);
        } else if let Some((_, end)) = call.split_once(" resumed>") {
            calls.push(format!("{}{end}", begun.remove(process).unwrap_or_default()));
        } else {
            calls.push(call.trim().to_owned());
        }
    }
    calls
}

/// Whether the calls hold these in this order, each as its parts.
fn hold(calls: &[String], expected: &[&[&str]]) -> bool {
    let mut calls = calls.iter();
    expected.iter().all(|parts| calls.any(|call| parts.iter().all(|part| call.contains(part))))
}

#[test]
fn the_log_is_synced_before_a_job_is_accepted_and_a_blob_before_it_is_stored() {
    let folder = Folder::new();
    let Some((calls, _)) = traced(&folder, &[]) else { return };
    let mut since = 0;
    let (mut accepted, mut stored) = (0, 0);
    for (at, call) in calls.iter().enumerate().filter(|(_, call)| call.starts_with("write(1<")) {
        let before = &calls[since..at];
        if call.contains("accepted") {
            accepted += 1;
            let last = before.iter().rposition(|call| call.starts_with("pwrite64") && call.contains("ledger-wal"));
            let after = &before[last.expect("the job is written to the log")..];
            assert!(hold(after, &[&["sync(", "ledger-wal", "= 0"]]), "{before:#?}");
        }
        if call.contains("stored") {
            stored += 1;
            let order: [&[&str]; 4] = [
                &["write(", "/blobs/new/"],
                &["sync(", "/blobs/new/", "= 0"],
                &["rename(", "/blobs/new/", "= 0"],
                &["sync(", "/blobs/", "= 0"],
            ];
            assert!(hold(before, &order), "{before:#?}");
        }
        since = at;
    }
    assert_eq!((accepted, stored), (20, 20));
}

#[test]
fn a_sync_that_fails_is_never_answered_as_done() {
    let folder = Folder::new();
    let inject = ["-e", "inject=fsync,fdatasync:error=EIO:when=14+3"];
    let Some((_, said)) = traced(&folder, &inject) else { return };
    let failed = said.lines().filter(|line| line.contains("failed: the service's storage")).count();
    assert!(failed > 4, "{said}");
    let ledger = SqliteLedger::open(folder.join("ledger")).expect("a ledger");
    let stored = |number: u64| {
        let path = folder.join("blobs").join(format!("00/in-{}", id(number)));
        fs::metadata(path).is_ok_and(|file| file.len() == 5_000)
    };
    Builder::new_current_thread().build().expect("a runtime").block_on(async {
        for number in 1..=20 {
            let job = ledger.job(account(number), id(number)).await.expect("an answer");
            assert!(job.is_some() || !said.contains(&format!("accepted {number}\n")), "{number} is lost");
            assert!(stored(number) || !said.contains(&format!("stored {number}\n")), "the blob of {number} is lost");
        }
    });
}
