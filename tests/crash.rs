//! A service on SQLite and a directory that is killed again and again: what it said yes to is done, once.

use std::{
    collections::BTreeMap,
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream;
use lapidary::{
    Clock, Engine, SystemClock, Timestamp,
    adapter::{
        directory::DirectoryBlobs,
        memory::{MemoryFetcher, MemoryStorage},
        sqlite::SqliteLedger,
    },
    port::{
        Accounts, Answer, Blobs, Notification, Notifier, Ports, Result,
        ledger::{AccountId, DeliveryState},
    },
    request::Url,
    service::{Body, Call, Keyring, Service, Settings},
    testing::ManualClock,
};

/// Names the folder to a child process.
const FOLDER: &str = "LAPIDARY_CRASH_FOLDER";
const KEY: &str = "LAPIDARY_CRASH_KEY";
/// How often the service is killed: 200 times, or as often as this says.
const KILLS: &str = "LAPIDARY_CRASH_KILLS";

/// Says on standard output who was told.
#[derive(Debug)]
struct Printing;

#[async_trait]
impl Notifier for Printing {
    fn check(&self, _: &Url) -> Result<()> {
        Ok(())
    }

    async fn notify(&self, notification: Notification<'_>) -> Result<Answer> {
        say("told", &notification.headers[0].1);
        Ok(Answer { status: 200, retry_after: None })
    }
}

/// A line that reaches the pipe before anything else happens.
fn say(what: &str, id: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{what} {id}\n").as_bytes()).and_then(|()| out.flush()).unwrap();
}

struct Host {
    service: Service,
    ledger: Arc<SqliteLedger>,
    blobs: Arc<DirectoryBlobs>,
}

fn host(folder: &Path, clock: Arc<dyn Clock>) -> Host {
    let ledger = Arc::new(SqliteLedger::open(folder.join("ledger.sqlite")).unwrap());
    let blobs = Arc::new(DirectoryBlobs::open(folder.join("blobs")).unwrap());
    let ports = Ports {
        ledger: ledger.clone(),
        blobs: blobs.clone(),
        fetcher: Arc::new(MemoryFetcher::new()),
        storage: Arc::new(MemoryStorage::new()),
        notifier: Arc::new(Printing),
    };
    let mut settings = Settings::new("https://images.test");
    settings.lease = Duration::from_millis(300);
    settings.poll = Duration::from_millis(10);
    settings.sweep = Duration::from_millis(50);
    // Killed in every hand it is in, a job may use up any number of attempts.
    settings.attempts = 1_000;
    // With each process that is killed the rest of its block of permits is lost.
    settings.rate_limit = u64::MAX >> 1;
    let keyring = Keyring::new([1; 32], [2; 32]);
    Host { service: Service::with_clock(ports, Engine::new(), keyring, settings, clock), ledger, blobs }
}

/// Accepts uploads, one after another, and works on them until it is killed.
async fn child(folder: &Path, key: &str) {
    let host = host(folder, Arc::new(SystemClock::new()));
    let _running = host.service.start();
    loop {
        let (status, id) = upload(&host.service, key).await;
        if status == 202 {
            say("202", &id);
        }
    }
}

async fn upload(service: &Service, key: &str) -> (u16, String) {
    let data = r#"{"webhook":{"url":"https://example.org/hook"}}"#;
    let mut body = format!("--X\r\nContent-Disposition: form-data; name=\"data\"\r\n\r\n{data}\r\n").into_bytes();
    body.extend_from_slice(b"--X\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n");
    body.extend_from_slice(&picture());
    body.extend_from_slice(b"\r\n--X--\r\n");
    let call = Call {
        method: "POST",
        path: "/1.0/upload",
        content_type: Some("multipart/form-data; boundary=X"),
        ..authorised(key)
    };
    answer(service, call, body).await
}

const fn authorised(key: &str) -> Call<'_> {
    Call { method: "GET", path: "", secure: true, authorization: Some(key), content_type: None, content_length: None }
}

async fn answer(service: &Service, call: Call<'_>, body: Vec<u8>) -> (u16, String) {
    let answer = service.answer(call, Box::pin(stream::iter([Ok(Bytes::from(body))]))).await;
    let Body::Bytes(bytes) = answer.body else { panic!("an image") };
    let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    (answer.status, json["id"].as_str().unwrap_or_default().to_owned())
}

fn picture() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let pixel = |x: u32, y: u32| image::Rgb([(x * 30) as u8, (y * 30) as u8, 7]);
    image::RgbImage::from_fn(8, 8, pixel).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// Starts the service in a process of its own, kills it after a while, and notes what it said.
fn run_and_kill(folder: &Path, key: &str, after: Duration, said: &mut BTreeMap<String, Vec<String>>) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "what_was_accepted_is_done_once_whatever_kills_the_service", "--nocapture"])
        .env(FOLDER, folder)
        .env(KEY, key)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(std::result::Result::ok);
    // Counted from its first word, so that slow machines do not kill it before it lives.
    let first = lines.by_ref().find(|line| line.starts_with("202 "));
    let (killed, kill) = std::sync::mpsc::channel::<()>();
    let killer = std::thread::spawn(move || {
        let _ = kill.recv_timeout(after);
        child.kill().unwrap();
        child.wait().unwrap();
    });
    for line in first.into_iter().chain(lines) {
        if let Some((what, id)) =
            line.split_once(' ').filter(|(what, id)| ["202", "told"].contains(what) && id.len() == 36)
        {
            said.entry(id.to_owned()).or_default().push(what.to_owned());
        }
    }
    drop(killed);
    killer.join().unwrap();
}

#[test]
fn what_was_accepted_is_done_once_whatever_kills_the_service() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if let Some(folder) = env::var_os(FOLDER) {
        runtime.block_on(child(folder.as_ref(), &env::var(KEY).unwrap()));
    }
    let kills: u64 = env::var(KILLS).map_or(200, |kills| kills.parse().unwrap());
    let folder = env::temp_dir().join(format!("lapidary-crash-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (account, key) = runtime.block_on(async {
        let host = host(&folder, Arc::new(SystemClock::new()));
        let account = host.service.admin().open_account("a", "p", 1_000_000).await.unwrap().account;
        (account, format!("Bearer {}", host.service.admin().new_key(account).await.unwrap().expose()))
    });
    let mut said = BTreeMap::new();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..kills {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        run_and_kill(&folder, &key, Duration::from_micros(random >> 33 & 0xFFFF), &mut said);
    }
    runtime.block_on(end_well(&folder, account, &key, &said));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Lets the service finish in peace, and holds it to what it said.
async fn end_well(folder: &Path, account: AccountId, key: &str, said: &BTreeMap<String, Vec<String>>) {
    let clock = Arc::new(ManualClock::new(SystemClock::new().now()));
    let host = host(folder, clock.clone());
    let running = host.service.start();
    loop {
        let health = host.service.health().await;
        if (health.waiting, health.processing, health.notifications) == (0, 0, 0) {
            break;
        }
        // Leases of the dead run out, and failed deliveries become due.
        clock.advance(Duration::from_millis(100));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let heard =
        |word: &str, id: &str| said.get(id).map_or(0, |words| words.iter().filter(|said| *said == word).count());
    let accepted: Vec<&String> = said.keys().filter(|id| heard("202", id) > 0).collect();
    assert!(!accepted.is_empty());
    for id in &accepted {
        let path = format!("/1.0/results/{id}");
        assert_eq!(answer(&host.service, Call { path: &path, ..authorised(key) }, Vec::new()).await.0, 200, "{id}");
    }
    let credits = host.ledger.account(account, clock.now()).await.unwrap().unwrap().credits;
    // A reply that was lost leaves a job that is done, though nobody heard yes.
    let done = host.service.admin().deliveries(account, 1 << 30).await.unwrap();
    assert!(done.len() >= accepted.len());
    assert_eq!((credits.used, credits.reserved), (done.len() as u64, 0), "each is charged once");
    assert!(done.iter().all(|delivery| delivery.state == DeliveryState::Delivered));
    let again: usize = done.iter().map(|delivery| heard("told", &delivery.job.to_string()).saturating_sub(1)).sum();
    println!("{} heard yes, {} done, {again} told again", accepted.len(), done.len());
    // Two hours later every image has expired, and what the dead left behind is swept.
    clock.advance(Duration::from_secs(2 * 60 * 60));
    while !host.blobs.older_than(Timestamp::from_millis(u64::MAX >> 20), 1).await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    running.shut_down(Duration::from_secs(10)).await;
}
