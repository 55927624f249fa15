//! How fast: `cargo test --release --features sqlite,testing --test ledger -- --ignored --nocapture how_fast`.

use std::{
    fs::File,
    hint::black_box,
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use lapidary::{
    adapter::{directory::DirectoryBlobs, sqlite::SqliteLedger},
    port::{
        Accounts, BlobKey, Blobs, Jobs,
        ledger::{Held, KeyMac},
    },
};
use tokio::{runtime::Builder, task::JoinSet};

use crate::{
    folder::Folder,
    work::{NOW, accept, account, claim, complete, id, open_accounts},
};

const CLIENTS: u64 = 32;

fn report(what: &str, times: u64, since: Instant) {
    println!("{what:<60} {:>9.0} /s", times as f64 / since.elapsed().as_secs_f64());
}

/// Lets 32 clients do a step for numbers from `first` on, `times` in all.
async fn with_clients<F: Future<Output = ()> + Send + 'static>(
    first: u64,
    times: u64,
    step: impl Fn(u64) -> F + Send + Sync + 'static,
) {
    let (step, next) = (Arc::new(step), Arc::new(AtomicU64::new(first)));
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let (step, next) = (step.clone(), next.clone());
        clients.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= first + times {
                    break;
                }
                step(number).await;
            }
        });
    }
    clients.join_all().await;
}

#[test]
#[ignore = "a measurement"]
fn how_fast() {
    let folder = Folder::new();
    let mut file = File::create(folder.join("file")).expect("a file");
    let start = Instant::now();
    for _ in 0..500 {
        file.write_all(&[7; 4096]).and_then(|()| file.sync_data()).expect("room");
    }
    report("syncs of the disk, one after the other", 500, start);
    Builder::new_current_thread().build().expect("a runtime").block_on(measure(&folder));
}

async fn measure(folder: &Folder) {
    let ledger = Arc::new(SqliteLedger::open(folder.join("ledger")).expect("a ledger"));
    open_accounts(&*ledger).await;

    let start = Instant::now();
    for number in 0..300 {
        accept(&*ledger, number).await.expect("a job is accepted");
    }
    report("accepting, 1 client", 300, start);

    let start = Instant::now();
    let shared = ledger.clone();
    with_clients(1_000, 10_000, move |number| {
        let ledger = shared.clone();
        async move { accept(&*ledger, number).await.expect("a job is accepted") }
    })
    .await;
    report("accepting, 32 clients", 10_000, start);

    let start = Instant::now();
    let shared = ledger.clone();
    with_clients(100_000, 10_000, move |number| {
        let ledger = shared.clone();
        async move {
            accept(&*ledger, number).await.expect("a job is accepted");
            let lease = claim(&*ledger, 1, NOW).await.remove(0);
            assert_eq!(complete(&*ledger, lease.id, lease.fence).await, Held::Yes);
        }
    })
    .await;
    report("whole lives, 32 clients, 10,000 waiting", 10_000, start);

    let key = KeyMac([1; 32]);
    ledger.add_key(account(1), key, NOW).await.expect("a key");
    let start = Instant::now();
    for number in 0..50_000 {
        black_box(ledger.key_holder(key).await.expect("an answer"));
        let number = 1_000 + number % 10_000;
        assert!(black_box(ledger.job(account(number), id(number)).await.expect("an answer")).is_some());
    }
    report("looking a key and a result up, 1 client", 50_000, start);

    let blobs = Arc::new(DirectoryBlobs::open(folder.join("blobs")).expect("a directory"));
    let start = Instant::now();
    with_clients(0, 3_000, move |number| {
        let blobs = blobs.clone();
        async move {
            let mut writer = blobs.create(BlobKey::Source(id(number))).await.expect("a blob");
            writer.write(&[7; 20_000]).await.expect("room");
            writer.finish().await.expect("it is stored");
        }
    })
    .await;
    report("storing blobs of 20 kB, 32 clients", 3_000, start);
}
