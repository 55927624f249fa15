//! A service in memory with a clock to set, and a client that speaks to it as a host would.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::stream;
use lapidary::{
    Clock, Engine, Timestamp,
    adapter::memory::{MemoryBlobs, MemoryFetcher, MemoryLedger, MemoryNotifier, MemoryStorage},
    port::{Blobs, Ports, collect, ledger::AccountId},
    service::{Body, Call, Keyring, Opened, Running, Service, Settings},
    testing::ManualClock,
};
use serde_json::Value;

/// The parts of a host.
pub struct Host {
    pub service: Service,
    pub clock: Arc<ManualClock>,
    pub ledger: Arc<MemoryLedger>,
    pub blobs: Arc<MemoryBlobs>,
    pub fetcher: Arc<MemoryFetcher>,
    pub storage: Arc<MemoryStorage>,
    pub notifier: Arc<MemoryNotifier>,
    pub account: AccountId,
    pub webhook_secret: String,
    pub key: String,
}

/// An answer, read.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub bytes: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn message(&self) -> String {
        self.json()["message"].as_str().unwrap_or_default().to_owned()
    }

    pub fn id(&self) -> String {
        self.json()["id"].as_str().unwrap().to_owned()
    }
}

impl Host {
    pub async fn new() -> Self {
        Self::with(|_| {}, 1_000).await
    }

    pub async fn with(change: impl FnOnce(&mut Settings), credits: u64) -> Self {
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_800_000_000_000)));
        let (ledger, blobs) = (Arc::new(MemoryLedger::new()), Arc::new(MemoryBlobs::new(1 << 30, clock.clone())));
        let (fetcher, storage) = (Arc::new(MemoryFetcher::new()), Arc::new(MemoryStorage::new()));
        let notifier = Arc::new(MemoryNotifier::new());
        let ports = Ports {
            ledger: ledger.clone(),
            blobs: blobs.clone(),
            fetcher: fetcher.clone(),
            storage: storage.clone(),
            notifier: notifier.clone(),
        };
        let mut settings = Settings::new("https://images.test/");
        settings.workers = 1;
        change(&mut settings);
        let keyring = Keyring::new([1; 32], [2; 32]);
        let service = Service::with_clock(ports, Engine::new(), keyring, settings, clock.clone());
        let Opened { account, webhook_secret } = service.admin().open_account("demo", "gold", credits).await.unwrap();
        let key = service.admin().new_key(account).await.unwrap().expose().to_owned();
        let webhook_secret = webhook_secret.expose().to_owned();
        Self { service, clock, ledger, blobs, fetcher, storage, notifier, account, webhook_secret, key }
    }

    /// The same on other ports, or under other keys.
    pub fn again(self, change: impl FnOnce(&mut Ports), keyring: Keyring) -> Self {
        let mut ports = Ports {
            ledger: self.ledger.clone(),
            blobs: self.blobs.clone(),
            fetcher: self.fetcher.clone(),
            storage: self.storage.clone(),
            notifier: self.notifier.clone(),
        };
        change(&mut ports);
        let settings = Settings::new("https://images.test/");
        let service = Service::with_clock(ports, Engine::new(), keyring, settings, self.clock.clone());
        Self { service, ..self }
    }

    pub async fn send(&self, call: Call<'_>, chunks: Vec<Vec<u8>>) -> Answer {
        let chunks = chunks.into_iter().map(|chunk| Ok(Bytes::from(chunk)));
        let answer = self.service.answer(call, Box::pin(stream::iter(chunks))).await;
        let bytes = match answer.body {
            Body::Bytes(bytes) => bytes,
            Body::Blob(blob) => collect(blob).await.unwrap(),
        };
        Answer { status: answer.status, headers: answer.headers, bytes }
    }

    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.key)
    }

    pub async fn get(&self, path: &str) -> Answer {
        let bearer = self.bearer();
        self.send(Call { method: "GET", path, secure: true, authorization: Some(&bearer), ..Call::default() }, vec![])
            .await
    }

    pub async fn fetch(&self, body: &str) -> Answer {
        let bearer = self.bearer();
        let call = Call {
            method: "POST",
            path: "/1.0/fetch",
            secure: true,
            authorization: Some(&bearer),
            content_type: Some("application/json"),
            ..Call::default()
        };
        self.send(call, vec![body.into()]).await
    }

    /// Uploads parts given as (header lines, content).
    pub async fn upload(&self, parts: &[(&str, &[u8])]) -> Answer {
        self.upload_as("multipart/form-data; boundary=XX", &multipart(parts)).await
    }

    pub async fn upload_as(&self, content_type: &str, body: &[u8]) -> Answer {
        let bearer = self.bearer();
        let call = Call {
            method: "POST",
            path: "/1.0/upload",
            secure: true,
            authorization: Some(&bearer),
            content_type: Some(content_type),
            ..Call::default()
        };
        self.send(call, body.chunks(1000).map(<[u8]>::to_vec).collect()).await
    }

    pub async fn upload_picture(&self) -> Answer {
        self.upload(&[(FILE, &picture())]).await
    }

    /// Works until nothing is left to do.
    pub async fn work(&self) {
        let running = self.service.start();
        self.settle().await;
        finish(running).await;
    }

    /// Waits until no job waits or is processed.
    pub async fn settle(&self) {
        loop {
            let health = self.service.health().await;
            if health.waiting == 0 && health.processing == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    pub async fn result(&self, id: &str) -> Answer {
        self.get(&format!("/1.0/results/{id}")).await
    }

    /// Blobs that are there.
    pub async fn blobs(&self) -> usize {
        self.blobs.older_than(self.clock.now() + Duration::from_secs(1), usize::MAX).await.unwrap().len()
    }

    /// The volatile image at the URL of a result.
    pub async fn download(&self, url: &str) -> Answer {
        let path = url.strip_prefix("https://images.test").unwrap();
        self.send(Call { method: "GET", path, secure: true, ..Call::default() }, vec![]).await
    }
}

pub async fn finish(running: Running) {
    running.shut_down(Duration::from_secs(60)).await;
}

pub const FILE: &str = "Content-Disposition: form-data; name=\"file\"; filename=\"dots.png\"";
pub const DATA: &str = "Content-Disposition: form-data; name=\"data\"";

pub fn multipart(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (head, content) in parts {
        body.extend_from_slice(format!("--XX\r\n{head}\r\n\r\n").as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--XX--\r\n");
    body
}

/// A PNG of 16 x 16 pixels.
pub fn picture() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let pixel = |x: u32, y: u32| image::Rgb([(x * 16) as u8, (y * 16) as u8, (x * y) as u8]);
    image::RgbImage::from_fn(16, 16, pixel).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}
