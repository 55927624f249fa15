//! The parts of a service over real adapters, and an internet of one machine behind them.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream;
use lapidary::{
    Clock, Engine, SystemClock,
    adapter::{
        directory::DirectoryBlobs,
        http::{Connection, Guard, Http, Network, Options, System},
        s3::{Endpoint, S3},
        sqlite::SqliteLedger,
    },
    port::{Ports, ledger::AccountId},
    service::{Body, Call, Keyring, Service, Settings},
    testing::ManualClock,
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Where names lead that nobody has lied about.
const PUBLIC: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(1, 1, 1, 1));

/// How often a service is looked at before it counts as stuck.
const ROUNDS: u32 = 60_000;

/// The first octet of every TLS connection.
const TLS_HANDSHAKE: u8 = 0x16;

/// Every public address is a socket of this machine, which answers by host and path. Others are not there; that they were
/// dialled is noted.
#[derive(Debug, Clone)]
pub struct Internet(Arc<State>);

#[derive(Debug)]
struct State {
    socket: SocketAddr,
    /// Answers to look-ups of a name, the next first; the last stays.
    names: Mutex<BTreeMap<String, VecDeque<IpAddr>>>,
    /// By host and path.
    answers: Mutex<BTreeMap<String, Vec<u8>>>,
    dialled: Mutex<Vec<SocketAddr>>,
}

impl Internet {
    pub async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let internet = Self(Arc::new(State {
            socket: listener.local_addr().unwrap(),
            names: Mutex::default(),
            answers: Mutex::default(),
            dialled: Mutex::default(),
        }));
        let serving = internet.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().serve(stream));
            }
        });
        internet
    }

    /// Lets look-ups of `name` be answered by these, one after the other.
    pub fn lie(&self, name: &str, answers: &[&str]) {
        let answers = answers.iter().map(|address| address.parse().unwrap()).collect();
        self.0.names.lock().unwrap().insert(name.to_owned(), answers);
    }

    /// Answers requests for `place`, a host and a path, by a status line, headers and a body.
    pub fn answer(&self, place: &str, head: &str, body: &[u8]) {
        let head = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
        self.0.answers.lock().unwrap().insert(place.to_owned(), [head.as_bytes(), body].concat());
    }

    /// What was dialled since it was asked last.
    pub fn dialled(&self) -> Vec<SocketAddr> {
        std::mem::take(&mut self.0.dialled.lock().unwrap())
    }

    async fn serve(self, mut stream: TcpStream) -> io::Result<()> {
        let mut head = vec![stream.read_u8().await?];
        if head == [TLS_HANDSHAKE] {
            return Ok(());
        }
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let field = |name: &str| {
            let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with(name))?;
            Some(line[name.len()..].trim().to_owned())
        };
        let mut body = vec![0; field("content-length:").map_or(0, |length| length.parse().unwrap())];
        stream.read_exact(&mut body).await?;
        let path = head.split(' ').nth(1).unwrap_or_default();
        let place = format!("{}{}", field("host:").unwrap_or_default(), path.split('?').next().unwrap_or_default());
        let answer = self.0.answers.lock().unwrap().get(&place).cloned();
        let missing = || b"HTTP/1.1 404 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec();
        stream.write_all(&answer.unwrap_or_else(missing)).await?;
        stream.shutdown().await
    }
}

#[async_trait]
impl Network for Internet {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut names = self.0.names.lock().unwrap();
        let Some(answers) = names.get_mut(name) else { return Ok(vec![PUBLIC]) };
        Ok(vec![if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0] }])
    }

    async fn connect(&self, to: SocketAddr, from: Option<IpAddr>) -> io::Result<Connection> {
        self.0.dialled.lock().unwrap().push(to);
        let connection = System.connect(self.0.socket, from).await?;
        Ok(Connection { peer: to, ..connection })
    }
}

/// A service on a folder of its own, which goes with it.
pub struct Host {
    pub service: Service,
    pub internet: Internet,
    pub clock: Arc<ManualClock>,
    pub folder: PathBuf,
    pub account: AccountId,
    pub webhook_secret: String,
    pub key: String,
}

impl Host {
    pub async fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("lapidary-doors-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let internet = Internet::new().await;
        let clock = Arc::new(ManualClock::new(SystemClock::new().now()));
        let network = Arc::new(internet.clone());
        let http = Http::new(Options { guard: Guard::default(), network, ..Options::default() }).unwrap();
        let storage = S3::new(&http, Some(Endpoint::new("http://s3.example.com"))).unwrap();
        let ports = Ports {
            ledger: Arc::new(SqliteLedger::open(folder.join("ledger.sqlite")).unwrap()),
            blobs: Arc::new(DirectoryBlobs::open(folder.join("blobs")).unwrap()),
            fetcher: Arc::new(http.clone()),
            storage: Arc::new(storage),
            notifier: Arc::new(http),
        };
        let mut settings = Settings::new("https://service.example.org");
        settings.poll = Duration::from_millis(2);
        // The clock is put forward while work is in hand.
        settings.lease = Duration::from_secs(30 * 86_400);
        let keyring = Keyring::new([1; 32], [2; 32]);
        let service = Service::with_clock(ports, Engine::new(), keyring, settings, clock.clone());
        let opened = service.admin().open_account("demo", "gold", 100_000).await.unwrap();
        let key = service.admin().new_key(opened.account).await.unwrap().expose().to_owned();
        let webhook_secret = opened.webhook_secret.expose().to_owned();
        Self { service, internet, clock, folder, account: opened.account, webhook_secret, key }
    }

    /// Status and body of a request for a fetch.
    pub async fn fetch(&self, body: &Value) -> (u16, Value) {
        self.fetch_text(body.to_string()).await
    }

    /// The same of any text.
    pub async fn fetch_text(&self, body: String) -> (u16, Value) {
        let call =
            Call { method: "POST", path: "/1.0/fetch", content_type: Some("application/json"), ..Call::default() };
        self.call(call, body).await
    }

    pub async fn result(&self, id: &str) -> (u16, Value) {
        self.call(Call { method: "GET", path: &format!("/1.0/results/{id}"), ..Call::default() }, String::new()).await
    }

    async fn call(&self, call: Call<'_>, body: String) -> (u16, Value) {
        let bearer = format!("Bearer {}", self.key);
        let call = Call { secure: true, authorization: Some(&bearer), ..call };
        let answer = self.service.answer(call, Box::pin(stream::iter([Ok(Bytes::from(body))]))).await;
        let Body::Bytes(bytes) = answer.body else { panic!("an image") };
        (answer.status, serde_json::from_slice(&bytes).unwrap())
    }

    /// Works until nothing is left to do; what is to be tried again later is tried at once.
    pub async fn work(&self) {
        let running = self.service.start();
        let mut health = self.service.health().await;
        for _ in 0..ROUNDS {
            if (health.waiting, health.processing, health.notifications) == (0, 0, 0) {
                break;
            }
            if health.processing == 0 {
                self.clock.advance(Duration::from_secs(60));
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
            health = self.service.health().await;
        }
        assert_eq!((health.waiting, health.processing, health.notifications), (0, 0, 0), "it is stuck");
        running.shut_down(Duration::from_secs(10)).await;
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A PNG of 16 x 16 pixels.
pub fn picture() -> Vec<u8> {
    let mut bytes = io::Cursor::new(Vec::new());
    let pixel = |x: u32, y: u32| image::Rgb([(x * 16) as u8, (y * 16) as u8, (x * y) as u8]);
    image::RgbImage::from_fn(16, 16, pixel).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}
