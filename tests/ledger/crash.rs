//! Killed at any moment, a ledger keeps what it answered.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader},
};

use lapidary::{
    adapter::sqlite::SqliteLedger,
    port::{
        Accounts, Jobs,
        ledger::{Held, Standing},
    },
};
use rusqlite::Connection;
use tokio::runtime::Builder;

use crate::{
    child,
    folder::Folder,
    work::{ACCOUNTS, LEASE, NOW, account, claim, complete, id, open_accounts},
};

const KILLS: u64 = 20;

/// What a killed process had been answered.
#[derive(Default)]
struct Answered {
    accepted: BTreeSet<u64>,
    settled: BTreeSet<u64>,
}

impl Answered {
    fn hear(&mut self, line: &str) {
        match line.split_once(' ').map(|(what, number)| (what, number.parse())) {
            Some(("accepted", Ok(number))) => assert!(self.accepted.insert(number), "{number} was accepted twice"),
            Some(("settled", Ok(number))) => assert!(self.settled.insert(number), "{number} was settled twice"),
            _ => {}
        }
    }
}

fn kill_one(folder: &Folder, run: u64, answered: &mut Answered) {
    let mut child = child::task("lives_without_end", folder.path(), run).spawn().expect("a child");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    // Moments that differ from run to run: in the midst of opening, and up to hundreds of answers later.
    for _ in 0..(run * 37) % 700 {
        answered.hear(&lines.next().expect("it lives until it is killed").expect("a line"));
    }
    child.kill().expect("it is killed");
    lines.for_each(|line| answered.hear(&line.expect("a line")));
    assert!(!child.wait().expect("it ends").success());
}

fn count(database: &Connection, what: &str) -> u64 {
    let count: i64 = database.query_row(&format!("SELECT {what}"), [], |row| row.get(0)).expect("a number");
    count.try_into().expect("a count")
}

#[test]
fn nothing_that_was_answered_is_lost_by_killing() {
    let folder = Folder::new();
    let path = folder.join("ledger");
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(open_accounts(&SqliteLedger::open(&path).expect("a ledger")));
    let mut answered = Answered::default();
    for run in 0..KILLS {
        kill_one(&folder, run, &mut answered);
    }
    assert!(answered.accepted.len() > 1_000 && answered.settled.len() > 1_000, "little was done");

    let ledger = SqliteLedger::open(&path).expect("it opens after the last kill");
    runtime.block_on(async {
        for number in &answered.accepted {
            let view = ledger.job(account(*number), id(*number)).await.expect("an answer");
            let standing = view.unwrap_or_else(|| panic!("the accepted {number} is lost")).standing;
            let settled = matches!(standing, Standing::Settled { status: 200, .. });
            assert!(settled || !answered.settled.contains(number), "the settled {number} is {standing:?}");
        }
        // Whatever is left can be done, once.
        let later = NOW + LEASE * 1_000;
        for lease in claim(&ledger, 100_000, later).await {
            assert_eq!(complete(&ledger, lease.id, lease.fence).await, Held::Yes);
        }
        let load = ledger.load().await.expect("an answer");
        assert_eq!((load.waiting, load.leased, load.source_bytes), (0, 0, 0));
        let (mut used, mut reserved) = (0, 0);
        for number in 0..ACCOUNTS {
            let credits = ledger.account(account(number), NOW).await.expect("an answer").expect("an account").credits;
            (used, reserved) = (used + credits.used, reserved + credits.reserved);
        }
        let database = Connection::open(&path).expect("the database");
        assert_eq!(reserved, 0);
        assert_eq!(used, count(&database, "count(*) FROM job"), "each is charged once");
        assert_eq!(used, count(&database, "count(*) FROM hook WHERE state = 1"), "each is told of once");
        assert_eq!(used, load.notifications);
        let whole: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("an answer");
        assert_eq!(whole, "ok");
        assert_eq!(count(&database, "count(*) FROM pragma_foreign_key_check"), 0);
    });
}
