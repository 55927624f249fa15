//! https, with authorities of the test's own.

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::{ServerConfig, pki_types::PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

use super::{
    super::{Guard, Options},
    sockets::Lying,
    *,
};

/// Serves `answer` over TLS at a socket of this machine, as `name`; the options of who trusts it.
async fn serve(name: &str, answer: &'static str) -> (Options, u16) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed([name.to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let Ok(octet) = stream.read_u8().await else { break };
                head.push(octet);
            }
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    let guard = Guard::default().ports([port]).open(format!("127.0.0.1:{port}").parse().unwrap());
    let network = Arc::new(Lying::always("127.0.0.1"));
    (Options { guard, network, authorities: vec![cert.der().to_vec()], ..Options::default() }, port)
}

#[tokio::test]
async fn https_is_spoken_with_who_proves_the_name() {
    let (options, port) = serve("a.com", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx").await;
    let http = Http::new(options.clone()).unwrap();
    assert_eq!(fetch(&http, &format!("https://a.com:{port}/")).await.unwrap().bytes, b"x");
    assert_eq!(fetch(&http, &format!("https://a.com.:{port}/")).await.unwrap().bytes, b"x");
    for (options, name) in [(options.clone(), "b.com"), (Options { authorities: Vec::new(), ..options }, "a.com")] {
        let failure = failure(&Http::new(options).unwrap(), &format!("https://{name}:{port}/")).await;
        assert_eq!((failure.message, failure.may_pass), (format!("the certificate of {name} is not valid"), false));
    }
}

#[tokio::test]
async fn a_redirect_from_https_to_http_is_refused() {
    let (options, port) =
        serve("a.com", "HTTP/1.1 302 X\r\nlocation: http://a.com/\r\ncontent-length: 0\r\n\r\n").await;
    let failure = failure(&Http::new(options).unwrap(), &format!("https://a.com:{port}/")).await;
    assert_eq!(failure.message, format!("a redirect of a.com:{port} must not leave https"));
}

#[test]
fn an_authority_that_is_no_certificate_is_refused() {
    assert!(Http::new(Options { authorities: vec![b"x".to_vec()], ..Options::default() }).is_err());
    assert!(Http::new(Options { contact: Some("a\nb".into()), ..Options::default() }).is_err());
}
