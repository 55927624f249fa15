//! A web in memory: names, addresses and hosts that do as they are told.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    time::interval,
};

use super::super::{Connection, Http, Network, Options};

/// What a host does with a request.
#[derive(Debug, Clone)]
pub(super) enum Site {
    /// Writes, and ends the connection unless it is to hang.
    Raw(Vec<u8>, bool),
    /// Writes, and goes on with the letter `a` as fast as it may.
    Endless(Vec<u8>),
    /// Writes, and goes on with a letter every so often.
    Drip(Vec<u8>, Duration),
    /// Writes, and then is another.
    Tunnel(Vec<u8>, Box<Site>),
    /// By the path.
    Paths(BTreeMap<String, Site>),
}

impl Site {
    pub(super) fn raw(answer: &str) -> Self {
        Self::Raw(answer.into(), false)
    }

    pub(super) fn ok(body: &str) -> Self {
        Self::raw(&format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()))
    }

    pub(super) fn status(status: u16) -> Self {
        Self::raw(&format!("HTTP/1.1 {status} Status\r\ncontent-length: 0\r\n\r\n"))
    }

    pub(super) fn to(location: &str) -> Self {
        Self::raw(&format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n"))
    }

    pub(super) fn paths<P: Into<String>>(paths: impl IntoIterator<Item = (P, Self)>) -> Self {
        Self::Paths(paths.into_iter().map(|(path, site)| (path.into(), site)).collect())
    }

    pub(super) fn endless(start: &str) -> Self {
        Self::Endless(start.into())
    }

    pub(super) fn drip(start: &str, every: Duration) -> Self {
        Self::Drip(start.into(), every)
    }

    pub(super) fn then_hang(self) -> Self {
        match self {
            Self::Raw(answer, _) => Self::Raw(answer, true),
            other => other,
        }
    }

    fn of(&self, head: &str) -> Self {
        let Self::Paths(paths) = self else { return self.clone() };
        let path = head.split(' ').nth(1).unwrap_or_default();
        paths.get(path).cloned().unwrap_or_else(|| Self::status(404))
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Web(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// Answers to look-ups, one after the other; the last stays.
    names: Mutex<BTreeMap<String, VecDeque<Vec<IpAddr>>>>,
    sites: Mutex<BTreeMap<SocketAddr, Vec<Site>>>,
    /// Where a connection is said to have ended, if not where it was dialled.
    peers: Mutex<BTreeMap<SocketAddr, SocketAddr>>,
    asked: Mutex<Vec<String>>,
    dialled: Mutex<Vec<(SocketAddr, Option<IpAddr>)>>,
    written: AtomicUsize,
}

impl Web {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// A name, where it leads, and what is there. A second one of the same place takes over what the first answers by 404.
    pub(super) fn site(self, name: &str, at: &str, site: Site) -> Self {
        let at: SocketAddr = at.parse().unwrap();
        self.0.names.lock().unwrap().insert(name.to_owned(), [vec![at.ip()]].into());
        self.0.sites.lock().unwrap().entry(at).or_default().push(site);
        self
    }

    /// A name and its answers to one look-up after the other.
    pub(super) fn name(self, name: &str, answers: &[&[&str]]) -> Self {
        let parse = |answer: &&[&str]| answer.iter().map(|address| address.parse().unwrap()).collect();
        self.0.names.lock().unwrap().insert(name.to_owned(), answers.iter().map(parse).collect());
        self
    }

    /// Lets connections to `at` end at `peer`.
    pub(super) fn peer(self, at: &str, peer: &str) -> Self {
        self.0.peers.lock().unwrap().insert(at.parse().unwrap(), peer.parse().unwrap());
        self
    }

    pub(super) fn options(&self) -> Options {
        Options { network: Arc::new(self.clone()), ..Options::default() }
    }

    pub(super) fn http(&self) -> Http {
        Http::new(self.options()).unwrap()
    }

    /// Heads, and bodies, of the requests so far.
    pub(super) fn asked(&self) -> Vec<String> {
        self.0.asked.lock().unwrap().clone()
    }

    /// Addresses that were dialled so far, and from where.
    pub(super) fn dialled(&self) -> Vec<(SocketAddr, Option<IpAddr>)> {
        self.0.dialled.lock().unwrap().clone()
    }

    /// Octets that hosts got rid of.
    pub(super) fn written(&self) -> usize {
        self.0.written.load(Ordering::SeqCst)
    }

    async fn serve(self, mut stream: DuplexStream, sites: Vec<Site>) -> io::Result<()> {
        let mut asked = Vec::new();
        while !is_whole(&asked) {
            asked.push(stream.read_u8().await?);
        }
        let head = String::from_utf8_lossy(&asked).into_owned();
        self.0.asked.lock().unwrap().push(head.clone());
        let not_found = |site: &Site| matches!(site, Site::Raw(answer, _) if answer.starts_with(b"HTTP/1.1 404"));
        let mut found = sites.iter().map(|site| site.of(&head));
        let last = sites.last().map_or_else(|| Site::status(404), |site| site.of(&head));
        match found.find(|site| !not_found(site)).unwrap_or(last) {
            Site::Raw(answer, hang) => {
                stream.write_all(&answer).await?;
                if hang {
                    std::future::pending::<()>().await;
                }
            }
            Site::Endless(start) => {
                stream.write_all(&start).await?;
                loop {
                    self.0.written.fetch_add(stream.write(&[b'a'; 4096]).await?, Ordering::SeqCst);
                }
            }
            Site::Drip(start, every) => {
                stream.write_all(&start).await?;
                let mut ticks = interval(every);
                loop {
                    ticks.tick().await;
                    stream.write_all(b"a").await?;
                }
            }
            Site::Tunnel(answer, inner) => {
                stream.write_all(&answer).await?;
                Box::pin(self.serve(stream, vec![*inner])).await?;
            }
            Site::Paths(_) => {}
        }
        Ok(())
    }
}

fn is_whole(request: &[u8]) -> bool {
    let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&request[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    request.len() == end + 4 + length
}

#[async_trait]
impl Network for Web {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut names = self.0.names.lock().unwrap();
        let answers = names.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0].clone() })
    }

    async fn connect(&self, to: SocketAddr, from: Option<IpAddr>) -> io::Result<Connection> {
        self.0.dialled.lock().unwrap().push((to, from));
        let sites = self.0.sites.lock().unwrap().get(&to).cloned();
        match sites {
            None => Err(io::ErrorKind::ConnectionRefused.into()),
            // A host that swallows whatever is sent to it.
            Some(sites) if sites.is_empty() => std::future::pending().await,
            Some(sites) => {
                let (ours, theirs) = duplex(4096);
                tokio::spawn(self.clone().serve(theirs, sites));
                let peer = self.0.peers.lock().unwrap().get(&to).copied().unwrap_or(to);
                Ok(Connection { stream: Box::new(ours), peer })
            }
        }
    }
}

impl Web {
    /// An address where nobody answers and nobody refuses.
    pub(super) fn black_hole(self, at: &str) -> Self {
        self.0.sites.lock().unwrap().insert(at.parse().unwrap(), Vec::new());
        self
    }
}
