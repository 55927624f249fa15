//! The system's sockets behind a resolver that lies.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Mutex,
};

use async_trait::async_trait;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::{
    super::{Connection, Network, System},
    *,
};

/// Answers every look-up by what is next, the last for ever.
#[derive(Debug)]
pub(super) struct Lying(Mutex<Vec<IpAddr>>);

impl Lying {
    pub(super) fn always(address: &str) -> Self {
        Self(Mutex::new(vec![address.parse().unwrap()]))
    }
}

#[async_trait]
impl Network for Lying {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        let mut answers = self.0.lock().unwrap();
        Ok(vec![if answers.len() > 1 { answers.remove(0) } else { answers[0] }])
    }

    async fn connect(&self, to: SocketAddr, from: Option<IpAddr>) -> io::Result<Connection> {
        System.connect(to, from).await
    }
}

/// Answers every request at a socket of this machine, and counts.
async fn serve(answer: String) -> (u16, Arc<Mutex<usize>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            *counted.lock().unwrap() += 1;
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let Ok(octet) = stream.read_u8().await else { break };
                head.push(octet);
            }
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (port, count)
}

#[tokio::test]
async fn a_server_of_this_machine_is_reached_when_it_is_open_and_by_no_name_when_it_is_not() {
    let (port, count) = serve("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx".into()).await;
    let guard = Guard::default().ports([port]);
    let network = Arc::new(Lying::always("127.0.0.1"));
    let shut = Options { guard: guard.clone(), network: network.clone(), ..Options::default() };
    for url in [
        format!("http://a.com:{port}/"),
        format!("http://127.0.0.1:{port}/"),
        format!("http://[::ffff:7f00:1]:{port}/"),
    ] {
        failure(&Http::new(shut.clone()).unwrap(), &url).await;
    }
    assert_eq!(*count.lock().unwrap(), 0);
    let open = Options { guard: guard.open(format!("127.0.0.1:{port}").parse().unwrap()), ..shut };
    assert_eq!(fetch(&Http::new(open).unwrap(), &format!("http://a.com:{port}/a.png")).await.unwrap().bytes, b"x");
    let private = Options { guard: Guard::default().allow_private(), ..Options::default() };
    let local = Egress { v4: Some([127, 0, 0, 1].into()), ..Egress::default() };
    for options in [private.clone(), Options { egress: local, ..private }] {
        let url = format!("http://localhost:{port}/");
        assert!(fetch(&Http::new(options).unwrap(), &url).await.is_ok());
    }
    assert_eq!(*count.lock().unwrap(), 3);
}

#[tokio::test]
async fn the_second_look_of_a_redirect_is_judged_like_the_first() {
    let (port, count) = serve("HTTP/1.1 302 X\r\nlocation: /again\r\ncontent-length: 0\r\n\r\n".into()).await;
    // Open at the first look; metadata at the second.
    let answers = vec!["127.0.0.1".parse().unwrap(), "169.254.169.254".parse().unwrap()];
    let guard = Guard::default().allow_private();
    let http =
        Http::new(Options { guard, network: Arc::new(Lying(Mutex::new(answers))), ..Options::default() }).unwrap();
    let failure = failure(&http, &format!("http://a.com:{port}/")).await;
    assert_eq!(failure.message, "a.com leads to no address on the public internet");
    assert_eq!(*count.lock().unwrap(), 1);
}

#[tokio::test]
async fn a_gzip_bomb_is_neither_inflated_nor_read_to_its_end() {
    let (port, _) =
        serve(format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n{}", "\u{1f}".repeat(1 << 20))).await;
    let http = Http::new(Options { guard: Guard::default().allow_private(), ..Options::default() }).unwrap();
    let failure = failure(&http, &format!("http://127.0.0.1:{port}/")).await;
    assert!(failure.message.contains("compressed"), "{failure}");
}
