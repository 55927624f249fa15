//! The adapters in memory keep what their ports promise.
#![cfg(feature = "testing")]

use std::{sync::Arc, time::Duration};

use lapidary::{
    SystemClock,
    adapter::memory::{MemoryBlobs, MemoryFetcher, MemoryLedger, MemoryNotifier, MemoryStorage, Served},
    port::{Answer, Credentials},
    request::{Provider, Store, Url},
    testing::{self, Bucket, Receivers, Site},
};
use tokio::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}

#[test]
fn the_ledger_in_memory_conforms() {
    runtime().block_on(testing::ledger(async || Arc::new(MemoryLedger::new())));
}

#[test]
fn the_ledger_in_memory_does_as_the_model_foretells() {
    for seed in 0..20 {
        runtime().block_on(testing::ledger_at_random(Arc::new(MemoryLedger::new()), seed, 3_000));
    }
}

#[test]
fn blobs_in_memory_conform() {
    let fresh = async || Arc::new(MemoryBlobs::new(1 << 30, Arc::new(SystemClock::new())));
    runtime().block_on(testing::blobs(fresh));
}

#[test]
fn the_fetcher_in_memory_conforms() {
    let site = async || {
        let fetcher = MemoryFetcher::new();
        let at = |path: &str, served| {
            let url = Url::from(format!("https://user:word@example.com/{path}"));
            fetcher.serve(&url, served);
            url
        };
        Arc::new(Site {
            there: at("b/a.png?token=secret", Served::Body(b"bytes".to_vec())),
            bytes: b"bytes".to_vec(),
            missing: Url::from("https://example.com/missing"),
            busy: at("busy", Served::Status(503)),
            down: at("down", Served::Down),
            refused: at("refused", Served::Refused),
            fetcher: Box::new(fetcher),
        })
    };
    runtime().block_on(testing::fetcher(site));
}

#[test]
fn the_notifier_in_memory_conforms() {
    let receivers = async || {
        let notifier = MemoryNotifier::new();
        let [glad, busy, down] = ["glad", "busy", "down"].map(|path| Url::from(format!("https://example.com/{path}")));
        notifier.answer(&glad, [Some(Answer { status: 204, retry_after: None })]);
        notifier.answer(&busy, [Some(Answer { status: 503, retry_after: Some(Duration::from_secs(7)) })]);
        notifier.answer(&down, [None]);
        let notifier = Arc::new(notifier);
        let (of_glad, received) = (glad.clone(), Arc::clone(&notifier));
        let heard = move |body: &[u8], (name, value): (&str, &str)| {
            received.received().iter().any(|one| {
                let with = one.headers.iter().any(|header| (header.0, header.1.as_str()) == (name, value));
                one.url == of_glad && one.body == body && with
            })
        };
        Arc::new(Receivers { notifier, glad, busy, down, heard: Box::new(heard) })
    };
    runtime().block_on(testing::notifier(receivers));
}

#[test]
fn the_storage_in_memory_conforms() {
    let bucket = async || {
        let storage = Arc::new(MemoryStorage::new());
        let kept = Arc::clone(&storage);
        Arc::new(Bucket {
            storage,
            object: Box::new(move |key| Some(kept.object("bucket", key)?.bytes)),
            store: Store::connector("c", "bucket", "region"),
            credentials: Credentials { provider: Provider::Aws, key: "key".into(), secret: "secret".into() },
        })
    };
    runtime().block_on(testing::storage(bucket));
}
