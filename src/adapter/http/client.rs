//! One request and its answer over a connection of its own.

use std::{sync::Arc, time::Duration};

use http::{
    HeaderMap, HeaderValue, Method, Request, Response, StatusCode,
    header::{CONTENT_LENGTH, HOST},
};
use http_body_util::{BodyExt, Full};
use hyper::{
    body::{Bytes, Incoming},
    client::conn::http1,
};
use hyper_util::rt::TokioIo;
use tokio::{
    task::JoinHandle,
    time::{Instant, timeout_at},
};

use super::{
    dial::Dialer,
    guard::{Guard, Target},
};
use crate::port::{Failure, Result};

/// Octets of an answer's head, and of what is read ahead of a body.
const BUFFER_BYTES: usize = 64 * 1024;

/// A client that speaks HTTP/1.1 to whom its guard lets in. A connection serves one request: what was judged is what is
/// spoken to, and nothing stays open.
#[derive(Debug, Clone)]
pub(in crate::adapter) struct Client {
    pub(super) dialer: Arc<Dialer>,
    pub(super) drip: Drip,
}

/// The slowest that a body may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drip {
    /// Octets that every window must bring, the last excepted.
    pub bytes: u64,
    /// How long a window is.
    pub window: Duration,
}

impl Client {
    pub(in crate::adapter) fn guard(&self) -> &Guard {
        &self.dialer.guard
    }

    /// The same, which may speak to `place`, too.
    #[cfg(feature = "s3")]
    pub(in crate::adapter) fn open(&self, place: super::Place) -> Self {
        let dialer = Dialer { guard: self.guard().clone().open(place), ..(*self.dialer).clone() };
        Self { dialer: Arc::new(dialer), ..self.clone() }
    }

    /// Sends a request and waits for the head of its answer, for ever: the caller has the time. Follows nothing.
    ///
    /// # Errors
    /// Passing, except where the guard refuses and where the answer is no HTTP.
    pub(in crate::adapter) async fn send(
        &self,
        target: &Target,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Reply> {
        let request = request(target, method, headers, body)?;
        let stream = self.dialer.dial(target).await?;
        let broken = |error: hyper::Error| Failure::passing(format!("{} broke off", target.authority())).because(error);
        let (mut sender, connection) =
            http1::Builder::new().max_buf_size(BUFFER_BYTES).handshake(TokioIo::new(stream)).await.map_err(broken)?;
        let driver = Driver(tokio::spawn(async { drop(connection.await) }));
        let response: Response<Incoming> = sender.send_request(request).await.map_err(|error| {
            if error.is_parse() {
                return Failure::lasting(format!("{} does not answer by HTTP/1.1", target.authority())).because(error);
            }
            broken(error)
        })?;
        let (head, body) = response.into_parts();
        Ok(Reply {
            status: head.status,
            headers: head.headers,
            host: target.authority(),
            body,
            drip: self.drip,
            _driver: driver,
        })
    }
}

fn request(target: &Target, method: Method, mut headers: HeaderMap, body: Bytes) -> Result<Request<Full<Bytes>>> {
    let unspeakable = || Failure::lasting(format!("{target:?} cannot be asked for by HTTP/1.1"));
    let host = HeaderValue::try_from(target.authority()).map_err(|error| unspeakable().because(error))?;
    headers.insert(HOST, host);
    let path = &target.url[url::Position::BeforePath..url::Position::AfterQuery];
    let mut request = Request::new(Full::new(body));
    *request.uri_mut() = path.parse().map_err(|error: http::uri::InvalidUri| unspeakable().because(error))?;
    *request.method_mut() = method;
    *request.headers_mut() = headers;
    Ok(request)
}

/// Drives a connection until nobody wants it any more.
#[derive(Debug)]
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// An answer whose body is yet to come.
#[derive(Debug)]
pub(in crate::adapter) struct Reply {
    pub(in crate::adapter) status: StatusCode,
    pub(in crate::adapter) headers: HeaderMap,
    host: String,
    body: Incoming,
    drip: Drip,
    _driver: Driver,
}

/// How much of a body was read.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::adapter) enum Read {
    Whole(Vec<u8>),
    /// There is more than was asked for.
    Part(Vec<u8>),
}

impl Reply {
    /// Who answers.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// The length that it tells.
    pub(in crate::adapter) fn content_length(&self) -> Option<u64> {
        self.headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
    }

    /// Reads at most `max` octets.
    ///
    /// # Errors
    /// Passing, where the body breaks off or drips.
    pub(in crate::adapter) async fn read(mut self, max: u64) -> Result<Read> {
        let expected = self.content_length().unwrap_or_default().min(max);
        let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or_default());
        let mut pace = self.pace();
        while let Some(piece) = self.piece(&mut pace).await? {
            let room = usize::try_from(max).unwrap_or(usize::MAX) - bytes.len();
            // Grows as vectors do, but never beyond `max`.
            if bytes.capacity() - bytes.len() < piece.len().min(room) {
                bytes.reserve_exact(bytes.capacity().max(piece.len()).min(room));
            }
            bytes.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.len() > room {
                return Ok(Read::Part(bytes));
            }
        }
        Ok(Read::Whole(bytes))
    }

    /// A watch that begins now.
    pub(in crate::adapter) fn pace(&self) -> Pace {
        Pace { drip: self.drip, ends: Instant::now() + self.drip.window, bytes: 0 }
    }

    /// The next piece of the body.
    pub(in crate::adapter) async fn piece(&mut self, pace: &mut Pace) -> Result<Option<Bytes>> {
        loop {
            let frame = match timeout_at(pace.ends, self.body.frame()).await {
                Ok(None) => return Ok(None),
                Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
                Ok(Some(Err(error))) => {
                    return Err(Failure::passing(format!("{} broke off", self.host)).because(error));
                }
                Err(_) => Bytes::new(),
            };
            if !pace.keeps_up(frame.len(), Instant::now()) {
                return Err(Failure::passing(format!("{} is too slow", self.host)));
            }
            if !frame.is_empty() {
                return Ok(Some(frame));
            }
        }
    }
}

/// Watches the speed of a body.
#[derive(Debug)]
pub(in crate::adapter) struct Pace {
    drip: Drip,
    ends: Instant,
    bytes: u64,
}

impl Pace {
    /// Counts `bytes` that came; `false` at the end of a window that brought too few.
    fn keeps_up(&mut self, bytes: usize, now: Instant) -> bool {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        if now < self.ends {
            return true;
        }
        let enough = self.bytes >= self.drip.bytes;
        (self.ends, self.bytes) = (now + self.drip.window, 0);
        enough
    }
}
