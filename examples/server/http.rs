//! HTTP and nothing else: connections, TLS, and the way between hyper's requests and the service's answers.

use std::{convert::Infallible, net::SocketAddr, pin::Pin, sync::Arc, time::Duration};

use anyhow::Result;
use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use hyper::{body::Incoming as HyperBody, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
};
use lapidary::service::{self, Call, Running, Service, openapi};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, mpsc},
    time::timeout,
};
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

/// Connections at a time, where the system lets the process have so many files open.
const CONNECTIONS: usize = 10_000;
/// Files that connections leave to the ledger, blobs and fetches.
const OTHER_FILES: usize = 256;
/// The first byte of every TLS connection.
const TLS_HANDSHAKE: u8 = 0x16;
/// For the first byte, the handshake, and the head of a request, each.
const PATIENCE: Duration = Duration::from_secs(10);
/// For a step of writing an answer.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);
/// Of a request's head at most, and of what is read ahead of a body or waits to be written.
const BUFFER_BYTES: usize = 64 << 10;
/// What is read of a body after its answer, so that the client gets to read that.
const DRAIN_BYTES: usize = 64 << 20;
const DRAIN_TIME: Duration = Duration::from_secs(10);

/// What the routes know.
#[derive(Debug, Clone)]
pub(crate) struct Front {
    pub(crate) service: Service,
    pub(crate) public_url: String,
    pub(crate) metrics: PrometheusHandle,
    /// Whether a proxy in front says by `X-Forwarded-Proto` how it was reached.
    pub(crate) behind_proxy: bool,
}

/// How a connection came in.
#[derive(Debug, Clone, Copy)]
struct Peer {
    address: SocketAddr,
    encrypted: bool,
}

/// Serves until `stop` is done, then lets what runs finish within `grace`.
pub(crate) async fn serve(
    listener: TcpListener,
    tls: TlsAcceptor,
    front: Front,
    running: Running,
    grace: Duration,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let routes = routes(front);
    let graceful = GracefulShutdown::new();
    let at_most = connections_within(&std::fs::read_to_string("/proc/self/limits").unwrap_or_default());
    if at_most < CONNECTIONS {
        tracing::info!(at_most, "fewer connections are taken, since few files may be open: see `ulimit -n`");
    }
    let connections = Arc::new(Semaphore::new(at_most));
    let mut stop = std::pin::pin!(stop);
    loop {
        let (stream, address) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of file handles, most likely: wait for some to come back.
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = &mut stop => break,
        };
        let Ok(slot) = Arc::clone(&connections).try_acquire_owned() else { continue };
        let (routes, tls, watcher) = (routes.clone(), tls.clone(), graceful.watcher());
        tokio::spawn(async move {
            connection(stream, address, tls, routes, watcher).await;
            drop(slot);
        });
    }
    drop(listener);
    let _ = tokio::join!(running.shut_down(grace), timeout(grace, graceful.shutdown()));
    Ok(())
}

/// How many connections the limits of a process allow, as Linux tells them.
fn connections_within(limits: &str) -> usize {
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = files.and_then(|limits| limits.split_whitespace().next()?.parse::<usize>().ok());
    soft.map_or(CONNECTIONS, |files| files.saturating_sub(OTHER_FILES).clamp(1, CONNECTIONS))
}

/// Tells TLS from plain HTTP by the first byte, so that the latter gets its 403 and not a broken connection.
async fn connection(stream: TcpStream, address: SocketAddr, tls: TlsAcceptor, routes: Router, watcher: Watcher) {
    let _ = stream.set_nodelay(true);
    let mut first = [0];
    let Ok(Ok(1)) = timeout(PATIENCE, stream.peek(&mut first)).await else { return };
    // Who does not read an answer is let go.
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_PATIENCE));
    let stream = Box::pin(stream);
    if first[0] != TLS_HANDSHAKE {
        requests(stream, Peer { address, encrypted: false }, routes, watcher).await;
    } else if let Ok(Ok(stream)) = timeout(PATIENCE, tls.accept(stream)).await {
        requests(stream, Peer { address, encrypted: true }, routes, watcher).await;
    }
}

async fn requests<S>(stream: S, peer: Peer, routes: Router, watcher: Watcher)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let answer = service_fn(move |request: hyper::Request<HyperBody>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        let routes = routes.clone();
        async move { Ok::<_, Infallible>(routes.oneshot(request).await.unwrap_or_else(|never| match never {})) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(BUFFER_BYTES)
        .serve_connection(TokioIo::new(stream), answer);
    // Clients break off as they like.
    let _ = watcher.watch(connection).await;
}

fn routes(front: Front) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(document))
        .route("/docs", get(|| async { Html(include_str!("docs.html")) }))
        .fallback(answer)
        .method_not_allowed_fallback(answer)
        .layer(axum::middleware::from_fn_with_state(front.clone(), only_https))
        .with_state(front)
}

/// Behind several proxies the header tells of each, in one line or more: all must have been reached by HTTPS, since a client
/// may have written the first.
fn is_secure(front: &Front, peer: Peer, headers: &HeaderMap) -> bool {
    let mut hops =
        headers.get_all("x-forwarded-proto").iter().flat_map(|line| line.as_bytes().split(|&byte| byte == b','));
    let forwarded =
        headers.contains_key("x-forwarded-proto") && hops.all(|hop| hop.trim_ascii().eq_ignore_ascii_case(b"https"));
    peer.encrypted || front.behind_proxy && forwarded
}

/// Whatever comes in clear goes to the service, which refuses it in its own words.
async fn only_https(
    State(front): State<Front>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    request: Request,
    next: axum::middleware::Next,
) -> Response {
    if is_secure(&front, peer, request.headers()) {
        next.run(request).await
    } else {
        answer(State(front), ConnectInfo(peer), request).await
    }
}

async fn health(State(front): State<Front>) -> Response {
    into_axum(front.service.health_answer().await)
}

/// For who is on this machine; others find nothing here, nor does a proxy, which asks for others.
async fn metrics(State(front): State<Front>, ConnectInfo(peer): ConnectInfo<Peer>, request: Request) -> Response {
    let is_proxy = |name: &HeaderName| name.as_str().starts_with("x-forwarded-") || name == header::FORWARDED;
    if peer.address.ip().is_loopback() && !request.headers().keys().any(is_proxy) {
        ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], front.metrics.render()).into_response()
    } else {
        answer(State(front), ConnectInfo(peer), request).await
    }
}

async fn document(State(front): State<Front>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], openapi(&front.public_url)).into_response()
}

/// Everything else is the service's to answer.
async fn answer(State(front): State<Front>, ConnectInfo(peer): ConnectInfo<Peer>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let text = |name: HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok());
    let call = Call {
        method: head.method.as_str(),
        path: head.uri.path(),
        secure: is_secure(&front, peer, &head.headers),
        authorization: text(header::AUTHORIZATION),
        content_type: text(header::CONTENT_TYPE),
        content_length: text(header::CONTENT_LENGTH).and_then(|length| length.parse().ok()),
    };
    into_axum(front.service.answer(call, drained(body)).await)
}

/// A body that is read on for a while when nobody listens any more: a client that still sends does not read.
fn drained(body: Body) -> service::Incoming {
    let (chunks, received) = mpsc::channel::<Result<Bytes, axum::Error>>(4);
    tokio::spawn(async move {
        let mut body = body.into_data_stream();
        loop {
            let chunk = tokio::select! {
                chunk = body.next() => chunk,
                // A client may also send nothing and wait.
                () = chunks.closed() => break,
            };
            let Some(chunk) = chunk else { return };
            if chunks.send(chunk).await.is_err() {
                break;
            }
        }
        let _ = timeout(DRAIN_TIME, drain(&mut body)).await;
    });
    let next = |mut received: mpsc::Receiver<_>| async move { received.recv().await.map(|chunk| (chunk, received)) };
    Box::pin(stream::unfold(received, next).map(|chunk: Result<Bytes, axum::Error>| chunk.map_err(Into::into)))
}

async fn drain(body: &mut (impl Stream<Item = Result<Bytes, axum::Error>> + Unpin)) {
    let mut left = DRAIN_BYTES;
    while let Some(Ok(chunk)) = body.next().await {
        let Some(rest) = left.checked_sub(chunk.len()) else { return };
        left = rest;
    }
}

fn into_axum(answer: service::Response) -> Response {
    let body = match answer.body {
        service::Body::Bytes(bytes) => Body::from(bytes),
        service::Body::Blob(blob) => {
            let next = |mut reader: Box<dyn lapidary::port::BlobReader>| async move {
                reader.next().await.transpose().map(|piece| (piece, reader))
            };
            Body::from_stream(Box::pin(stream::unfold(blob.reader, next)) as Pin<Box<dyn Stream<Item = _> + Send>>)
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in answer.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use lapidary::{
        Engine,
        adapter::memory,
        service::{Keyring, Settings},
    };
    use metrics_exporter_prometheus::PrometheusBuilder;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::{
        super::{data::tests::folder, tls},
        *,
    };

    fn front(behind_proxy: bool) -> Front {
        let public_url = "https://images.test".to_owned();
        let keyring = Keyring::new([1; 32], [2; 32]);
        let service = Service::new(memory::ports(), Engine::new(), keyring, Settings::new(&public_url));
        let metrics = PrometheusBuilder::new().build_recorder().handle();
        Front { service, public_url, metrics, behind_proxy }
    }

    #[tokio::test]
    async fn a_proxy_says_how_all_hops_were_reached_where_there_is_one() {
        let peer = Peer { address: SocketAddr::from(([127, 0, 0, 1], 1)), encrypted: false };
        let is_secure = |behind_proxy: bool, lines: &[&str]| {
            let name = HeaderName::from_static("x-forwarded-proto");
            let headers = lines.iter().map(|line| (name.clone(), line.parse().unwrap()));
            is_secure(&front(behind_proxy), peer, &headers.collect())
        };
        for lines in [&["https"][..], &["HTTPS , https"], &["https", "https"]] {
            assert!(is_secure(true, lines) && !is_secure(false, lines), "{lines:?}");
        }
        for lines in [&[][..], &[""], &["https, http"], &["http", "https"]] {
            assert!(!is_secure(true, lines), "{lines:?}");
        }
    }

    #[test]
    fn connections_leave_files_to_others() {
        let within = |soft: &str| {
            let limit = format!("Max processes    64    64    processes\nMax open files   {soft}   524288   files\n");
            connections_within(&limit)
        };
        for (soft, connections) in
            [("1024", 768), ("256", 1), ("10255", 9_999), ("524288", CONNECTIONS), ("unlimited", CONNECTIONS)]
        {
            assert_eq!(within(soft), connections, "{soft}");
        }
        assert_eq!(connections_within(""), CONNECTIONS, "elsewhere");
    }

    #[tokio::test]
    async fn what_no_route_takes_is_refused_as_the_interface_says_and_health_is_told_so() {
        let routes = routes(front(false));
        let peer = Peer { address: SocketAddr::from(([127, 0, 0, 1], 1)), encrypted: true };
        let answers = [
            ("GET", "/nothing", 404),
            ("POST", "/health", 404),
            ("PUT", "/docs", 404),
            ("DELETE", "/metrics", 404),
            ("GET", "/health", 200),
        ];
        for (method, path, status) in answers {
            let request = Request::builder().method(method).uri(path).extension(ConnectInfo(peer));
            let answer = routes.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
            assert_eq!(answer.status(), status, "{method} {path}");
            assert_eq!(answer.headers()["content-type"], "application/json", "{method} {path}");
            assert!(answer.headers().contains_key("x-ratelimit-limit"), "{method} {path}");
        }
    }

    /// A client that has sent this, and its connection, to which everything is answered by more than the buffers between the
    /// two take.
    async fn connected(name: &str, request: &[u8]) -> (TcpStream, impl Future<Output = ()>) {
        let data = folder(name);
        let (certificate, key) = tls::files(None, &data).unwrap();
        let tls = tls::acceptor(&certificate, &key).unwrap();
        std::fs::remove_dir_all(data.path("")).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        client.write_all(request).await.unwrap();
        let (stream, address) = listener.accept().await.unwrap();
        let large = Router::new().fallback(|| async { vec![0_u8; 64 << 20] });
        let served = async move {
            let graceful = GracefulShutdown::new();
            connection(stream, address, tls, large, graceful.watcher()).await;
        };
        (client, served)
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_an_answer_by_the_byte_is_let_go() {
        let (mut client, connection) = connected("slow", b"GET / HTTP/1.1\r\nHost: images.test\r\n\r\n").await;
        let mut read = 0;
        let reads = async {
            while client.read_u8().await.is_ok() {
                read += 1;
                tokio::time::sleep(2 * WRITE_PATIENCE).await;
            }
        };
        tokio::select! {
            () = connection => {}
            () = tokio::time::sleep(10 * WRITE_PATIENCE) => panic!("it is held for ever"),
            () = reads => {}
        }
        assert!(read > 0, "it is answered first");
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_of_more_than_64_kib_is_refused_while_it_comes_in() {
        let head = [b"GET / HTTP/1.1\r\nX: ", &[b'x'; BUFFER_BYTES][..]].concat();
        let (mut client, connection) = connected("head", &head).await;
        let mut answer = Vec::new();
        let (_, read) = tokio::join!(connection, client.read_to_end(&mut answer));
        assert!(answer.starts_with(b"HTTP/1.1 431 "), "{read:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_and_that_nobody_reads_is_let_go() {
        let (held, mut let_go) = mpsc::channel::<Infallible>(1);
        let never = stream::pending::<Result<Bytes, Infallible>>().inspect(move |_| drop(held.clone()));
        drop(drained(Body::from_stream(never)));
        assert_eq!(timeout(2 * DRAIN_TIME, let_go.recv()).await, Ok(None));
    }
}
