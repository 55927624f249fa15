//! The suites of the ports.

use std::{cell::RefCell, sync::Arc};

use lapidary::{adapter::sqlite::SqliteLedger, testing};
use tokio::runtime::Builder;

use crate::folder::Folder;

#[test]
fn the_ledger_in_sqlite_conforms() {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let folders = RefCell::new(Vec::new());
    let fresh = async || {
        let folder = Folder::new();
        let ledger = SqliteLedger::open(folder.join("ledger.sqlite")).expect("a ledger");
        folders.borrow_mut().push(folder);
        Arc::new(ledger)
    };
    runtime.block_on(testing::ledger(fresh));
}

#[test]
fn the_ledger_in_sqlite_does_as_the_model_foretells() {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    for seed in 0..4 {
        let folder = Folder::new();
        let ledger = SqliteLedger::open(folder.join("ledger.sqlite")).expect("a ledger");
        runtime.block_on(testing::ledger_at_random(Arc::new(ledger), seed, 1_500));
    }
}
