//! A service on SQLite and a directory that is killed again and again, also in the middle of telling: what it said yes to is
//! done once, and a receiver that tells notifications apart by their id hears of each once.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use bytes::Bytes;
use futures_util::stream;
use lapidary::{
    Clock, Engine, SystemClock, Timestamp,
    adapter::{
        directory::DirectoryBlobs,
        http::{Guard, Http, Options},
        memory::{MemoryFetcher, MemoryStorage},
        sqlite::SqliteLedger,
    },
    port::{
        Accounts, Blobs, Ports,
        ledger::{AccountId, DeliveryState},
    },
    service::{
        Body, Call, Keyring, Service, Settings,
        webhook::{Signed, SigningSecret, verify},
    },
    testing::ManualClock,
};

/// Names the folder to a child process.
const FOLDER: &str = "LAPIDARY_CRASH_FOLDER";
const KEY: &str = "LAPIDARY_CRASH_KEY";
const HOOK: &str = "LAPIDARY_CRASH_HOOK";
/// How often the service is killed: 200 times, or as often as this says.
const KILLS: &str = "LAPIDARY_CRASH_KILLS";

/// How often the last service is looked at before it counts as stuck.
const ROUNDS: u32 = 60_000;

/// A receiver of notifications, in a process that nobody kills.
#[derive(Debug)]
struct Receiver {
    secret: SigningSecret,
    /// By id: how often it came, and each body that differs.
    heard: Mutex<BTreeMap<String, (usize, Vec<Bytes>)>>,
}

impl Receiver {
    /// Its address.
    async fn listens(self: &Arc<Self>) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let routes = Router::new().route("/", post(Self::hears)).with_state(Arc::clone(self));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        url
    }

    fn note(&self, id: String, body: Bytes) {
        let mut heard = self.heard.lock().unwrap();
        let (times, bodies) = heard.entry(id).or_default();
        *times += 1;
        if !bodies.contains(&body) {
            bodies.push(body);
        }
    }

    async fn hears(State(receiver): State<Arc<Self>>, headers: HeaderMap, body: Bytes) -> StatusCode {
        let header = |name: &str| headers[name].to_str().unwrap();
        let signed = Signed {
            id: header("webhook-id"),
            timestamp: header("webhook-timestamp"),
            signature: header("webhook-signature"),
            body: &body,
        };
        // The last service is on a clock of its own.
        let then = Timestamp::from_millis(signed.timestamp.parse::<u64>().unwrap() * 1000);
        if verify(std::slice::from_ref(&receiver.secret), signed, then).is_err() {
            return StatusCode::UNAUTHORIZED;
        }
        receiver.note(signed.id.to_owned(), body);
        // Slow to answer, so that many a kill comes between hearing and being known to have heard.
        tokio::time::sleep(Duration::from_millis(20)).await;
        StatusCode::OK
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
        notifier: Arc::new(
            Http::new(Options { guard: Guard::default().allow_private(), ..Options::default() }).unwrap(),
        ),
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
async fn child(folder: &Path, key: &str, hook: &str) {
    let host = host(folder, Arc::new(SystemClock::new()));
    let _running = host.service.start();
    loop {
        let (status, id) = upload(&host.service, key, hook).await;
        assert_eq!(status, 202);
        say("202", &id);
    }
}

async fn upload(service: &Service, key: &str, hook: &str) -> (u16, String) {
    let data = format!(r#"{{"webhook":{{"url":"{hook}"}}}}"#);
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
    let (status, _, id) = answer(service, call, body).await;
    (status, id)
}

const fn authorised(key: &str) -> Call<'_> {
    Call { method: "GET", path: "", secure: true, authorization: Some(key), content_type: None, content_length: None }
}

/// Status, body, and the id in it.
async fn answer(service: &Service, call: Call<'_>, body: Vec<u8>) -> (u16, Vec<u8>, String) {
    let answer = service.answer(call, Box::pin(stream::iter([Ok(Bytes::from(body))]))).await;
    let Body::Bytes(bytes) = answer.body else { panic!("an image") };
    let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    (answer.status, bytes, json["id"].as_str().unwrap_or_default().to_owned())
}

fn picture() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let pixel = |x: u32, y: u32| image::Rgb([(x * 30) as u8, (y * 30) as u8, 7]);
    image::RgbImage::from_fn(8, 8, pixel).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// Starts the service in a process of its own, kills it after a while, and notes to whom it said yes.
fn run_and_kill(folder: &Path, key: &str, hook: &str, after: Duration, accepted: &mut BTreeSet<String>) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "what_was_accepted_is_done_once_whatever_kills_the_service", "--nocapture"])
        .env(FOLDER, folder)
        .env(KEY, key)
        .env(HOOK, hook)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    // Counted from its first word, so that slow machines do not kill it before it lives.
    let first = lines.by_ref().find(|line| line.starts_with("202 ")).expect("it lives until it is killed");
    let (killed, kill) = std::sync::mpsc::channel::<()>();
    let killer = std::thread::spawn(move || {
        let _ = kill.recv_timeout(after);
        child.kill().unwrap();
        child.wait().unwrap();
    });
    for line in std::iter::once(first).chain(lines) {
        // The last line may be cut.
        accepted.extend(line.strip_prefix("202 ").filter(|id| id.len() == 36).map(str::to_owned));
    }
    drop(killed);
    killer.join().unwrap();
}

#[test]
fn what_was_accepted_is_done_once_whatever_kills_the_service() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if let Some(folder) = env::var_os(FOLDER) {
        runtime.block_on(child(folder.as_ref(), &env::var(KEY).unwrap(), &env::var(HOOK).unwrap()));
    }
    let kills: u64 = env::var(KILLS).map_or(200, |kills| kills.parse().unwrap());
    let folder = env::temp_dir().join(format!("lapidary-crash-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (account, key, receiver, hook) = runtime.block_on(async {
        let host = host(&folder, Arc::new(SystemClock::new()));
        let opened = host.service.admin().open_account("a", "p", 1_000_000).await.unwrap();
        let secret = SigningSecret::parse(opened.webhook_secret.expose()).unwrap();
        let receiver = Arc::new(Receiver { secret, heard: Mutex::default() });
        let key = host.service.admin().new_key(opened.account).await.unwrap();
        let hook = receiver.listens().await;
        (opened.account, format!("Bearer {}", key.expose()), receiver, hook)
    });
    let mut accepted = BTreeSet::new();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..kills {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        run_and_kill(&folder, &key, &hook, Duration::from_micros(random >> 33 & 0xFFFF), &mut accepted);
    }
    runtime.block_on(end_well(&folder, account, &key, &accepted, &receiver));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Lets the service finish in peace, and holds it to what it said.
async fn end_well(folder: &Path, account: AccountId, key: &str, accepted: &BTreeSet<String>, receiver: &Receiver) {
    let clock = Arc::new(ManualClock::new(SystemClock::new().now()));
    let host = host(folder, clock.clone());
    let running = host.service.start();
    let mut health = host.service.health().await;
    for _ in 0..ROUNDS {
        if (health.waiting, health.processing, health.notifications) == (0, 0, 0) {
            break;
        }
        // Leases of the dead run out, and failed deliveries become due.
        clock.advance(Duration::from_millis(100));
        tokio::time::sleep(Duration::from_millis(5)).await;
        health = host.service.health().await;
    }
    assert_eq!((health.waiting, health.processing, health.notifications), (0, 0, 0));
    let heard = receiver.heard.lock().unwrap().clone();
    assert!(!accepted.is_empty());
    for id in accepted {
        let path = format!("/1.0/results/{id}");
        let (status, body, _) = answer(&host.service, Call { path: &path, ..authorised(key) }, Vec::new()).await;
        assert_eq!(status, 200, "{id}");
        assert_eq!(heard[id].1, [body], "what it heard of {id} is what a poll tells, whenever it was told");
    }
    let credits = host.ledger.account(account, clock.now()).await.unwrap().unwrap().credits;
    // A reply that was lost leaves a job that is done, though nobody heard yes.
    let done = host.service.admin().deliveries(account, 1 << 30).await.unwrap();
    assert!(done.len() >= accepted.len());
    assert_eq!((credits.used, credits.reserved), (done.len() as u64, 0), "each is charged once");
    assert!(done.iter().all(|delivery| delivery.state == DeliveryState::Delivered));
    let told: BTreeSet<String> = done.iter().map(|delivery| delivery.job.to_string()).collect();
    assert_eq!(heard.keys().cloned().collect::<BTreeSet<_>>(), told, "each is heard of, and nothing else");
    assert!(heard.values().all(|(_, bodies)| bodies.len() == 1));
    let again: usize = heard.values().map(|(times, _)| times - 1).sum();
    println!("{} heard yes, {} done, {} told, {again} told again", accepted.len(), done.len(), heard.len());
    // Two hours later every image has expired, and what the dead left behind is swept.
    clock.advance(Duration::from_secs(2 * 60 * 60));
    while !host.blobs.older_than(Timestamp::from_millis(u64::MAX >> 20), 1).await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    running.shut_down(Duration::from_secs(10)).await;
}
