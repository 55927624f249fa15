//! The client against hosts in memory, on a clock that stands still until all wait; and against sockets of this machine.

mod refused;
mod slow;
mod sockets;
mod tls;
mod web;
mod webhooks;

use std::collections::BTreeMap;

use web::{Site, Web};

use super::*;
use crate::port::{Fetch, Fetched, Fetcher};

#[cfg(feature = "testing")]
#[tokio::test(start_paused = true)]
async fn the_suite_of_fetchers_holds() {
    let web = Web::new().name("down.com", &[&["1.1.1.2"]]).site(
        "a.com",
        "1.1.1.1:80",
        Site::paths([("/a.png?sig=canary", Site::ok("bytes")), ("/busy", Site::status(503))]),
    );
    let site = crate::testing::Site {
        fetcher: Box::new(web.http()),
        there: "http://a.com/a.png?sig=canary".into(),
        bytes: b"bytes".to_vec(),
        missing: "http://a.com/missing".into(),
        busy: "http://a.com/busy".into(),
        down: "http://down.com/".into(),
        refused: "http://127.0.0.1/".into(),
    };
    let site = Arc::new(site);
    crate::testing::fetcher(async || Arc::clone(&site)).await;
}

/// Ten octets at most.
async fn fetch(http: &Http, url: &str) -> Result<Fetched> {
    http.fetch(Fetch { url: &url.into(), headers: &BTreeMap::new(), max_bytes: 10 }).await
}

async fn failure(http: &Http, url: &str) -> Failure {
    fetch(http, url).await.expect_err("it is refused")
}

#[tokio::test(start_paused = true)]
async fn a_gzipped_svg_is_taken_as_it_is_served_and_nothing_else_that_is_compressed() {
    let sent = |media_type: &str| {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-encoding: gzip\r\n");
        Site::raw(&format!("{head}content-length: 3\r\n\r\nabc"))
    };
    let web = |media_type| Web::new().site("a.com", "1.1.1.1:80", sent(media_type));
    for svg in ["image/svg+xml", "Image/SVG+XML; charset=utf-8"] {
        assert_eq!(fetch(&web(svg).http(), "http://a.com/a.svgz").await.unwrap().bytes, b"abc");
    }
    let failure = failure(&web("image/png").http(), "http://a.com/a.png").await;
    assert_eq!(failure.message, "a.com sent a compressed body, which it was not asked for");
}

#[tokio::test(start_paused = true)]
async fn an_image_comes_with_its_name_and_is_asked_for_in_the_services_name() {
    let web = Web::new().site("img.example.com", "1.1.1.1:80", Site::ok("0123456789"));
    let contact = Some("https://lapidary.example.com/bot".to_owned());
    let http = Http::new(Options { contact, ..web.options() }).unwrap();
    let url = "http://us%40er:pa%3Ass@img.example.com/a/b%20c.png?x=1&y=%2F#z";
    let fetched = fetch(&http, url).await.unwrap();
    assert_eq!((fetched.bytes.as_slice(), fetched.name.as_deref()), (b"0123456789".as_slice(), Some("b c.png")));
    let asked = web.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].starts_with("GET /a/b%20c.png?x=1&y=%2F HTTP/1.1\r\n"), "{asked:?}");
    let lines: Vec<_> = asked[0].lines().skip(1).filter(|line| !line.is_empty()).collect();
    assert_eq!(
        lines,
        [
            "user-agent: Lapidary/1.0 (+https://lapidary.example.com/bot)",
            "accept: image/*, */*;q=0.1",
            "authorization: Basic dXNAZXI6cGE6c3M=",
            "accept-encoding: identity",
            "host: img.example.com",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn headers_are_added_and_no_compression_is_ever_asked_for() {
    let web = Web::new().site("a.com", "1.1.1.1:8080", Site::ok("x"));
    let http = web.http();
    let headers =
        [("X-Key", "k\u{e4}y"), ("Authorization", "Bearer t"), ("Accept-Encoding", "gzip"), ("User-Agent", "Client/2")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.into())).into();
    let url = "http://user:pass@a.com:8080".into();
    http.fetch(Fetch { url: &url, headers: &headers, max_bytes: 1 }).await.unwrap();
    let asked = web.asked().concat();
    let agent = "user-agent: Client/2 Lapidary/1.0";
    for line in ["x-key: k\u{e4}y", "authorization: Bearer t", "accept-encoding: identity", "host: a.com:8080", agent] {
        assert_eq!(asked.matches(&format!("\r\n{line}\r\n")).count(), 1, "{line}: {asked}");
    }
    assert!(!asked.contains("gzip") && !asked.contains("Basic"), "{asked}");
}

#[tokio::test(start_paused = true)]
async fn redirects_are_followed_and_credentials_stay_with_their_origin() {
    let web = Web::new()
        .site("a.com", "1.1.1.1:80", Site::paths([("/1", Site::to("2")), ("/2", Site::to("http://b.com/3"))]))
        .site("b.com", "1.1.1.2:80", Site::paths([("/3", Site::to("http://a.com/4.png"))]))
        .site("a.com", "1.1.1.1:80", Site::paths([("/4.png", Site::ok("x"))]));
    let headers = BTreeMap::from([("X-Key".to_owned(), "canary".into())]);
    let url = "http://user:pass@a.com/1".into();
    let fetched = web.http().fetch(Fetch { url: &url, headers: &headers, max_bytes: 1 }).await.unwrap();
    assert_eq!(fetched.name.as_deref(), Some("4.png"));
    let told: Vec<_> = web
        .asked()
        .iter()
        .map(|head| (head.contains("x-key: canary"), head.contains("authorization: Basic")))
        .collect();
    assert_eq!(told, [(true, true), (true, true), (false, false), (false, false)]);
}

#[tokio::test(start_paused = true)]
async fn five_redirects_are_followed_and_six_are_not() {
    let chain = |length: usize| {
        let hops = (0..length).map(|hop| (format!("/{hop}"), Site::to(&format!("/{}", hop + 1))));
        Site::paths(hops.chain([(format!("/{length}"), Site::ok("x"))]))
    };
    let web = Web::new().site("a.com", "1.1.1.1:80", chain(5)).site("b.com", "1.1.1.2:80", chain(6));
    assert!(fetch(&web.http(), "http://a.com/0").await.is_ok());
    let failure = failure(&web.http(), "http://b.com/0").await;
    assert_eq!((failure.message.as_str(), failure.may_pass), ("more than 5 redirects", false));
}

#[tokio::test(start_paused = true)]
async fn a_failure_says_whether_it_may_pass() {
    for (status, may_pass) in [
        (404, false),
        (403, false),
        (304, false),
        (206, false),
        (204, false),
        (500, true),
        (503, true),
        (429, true),
        (408, true),
        (425, true),
    ] {
        let web = Web::new().site(
            "a.com",
            "1.1.1.1:80",
            Site::raw(&format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n")),
        );
        let failure = failure(&web.http(), "http://a.com/").await;
        assert_eq!(failure.message, format!("a.com answered with status {status}"));
        assert_eq!(failure.may_pass, may_pass, "{status}");
    }
    for (answer, may_pass) in [
        ("HTTP/1.1 302 X\r\n\r\n", false),
        ("nonsense\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", true),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhalf", true),
        ("HTTP/1.1 200 O", true),
        ("", true),
    ] {
        let web = Web::new().site("a.com", "1.1.1.1:80", Site::raw(answer));
        assert_eq!(failure(&web.http(), "http://a.com/").await.may_pass, may_pass, "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_is_cut_at_its_cap_whether_its_length_is_told_or_not() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n01234567890",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\n012345\r\n5\r\n67890\r\n",
    ] {
        let web = Web::new().site("a.com", "1.1.1.1:80", Site::raw(answer).then_hang());
        let failure = failure(&web.http(), "http://a.com/").await;
        assert_eq!(
            (failure.message.as_str(), failure.may_pass),
            ("a.com sends more than 10 bytes", false),
            "{answer:?}"
        );
    }
    let web = Web::new().site("a.com", "1.1.1.1:80", Site::endless("HTTP/1.1 200 OK\r\n\r\n"));
    assert_eq!(failure(&web.http(), "http://a.com/").await.message, "a.com sends more than 10 bytes");
    let read = web.written();
    assert!(read < 300_000, "{read} octets left the host");
}

#[tokio::test(start_paused = true)]
async fn a_compressed_body_is_refused_and_not_inflated() {
    for encoding in ["gzip", "br", "deflate", "zstd", "identity, gzip", "x"] {
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\ncontent-length: 3\r\n\r\n\u{1f}x");
        let web = Web::new().site("a.com", "1.1.1.1:80", Site::raw(&answer));
        let failure = failure(&web.http(), "http://a.com/").await;
        assert_eq!(failure.message, "a.com sent a compressed body, which it was not asked for");
    }
    let answer = "HTTP/1.1 200 OK\r\ncontent-encoding: Identity\r\ncontent-length: 1\r\n\r\nx";
    assert!(fetch(&Web::new().site("a.com", "1.1.1.1:80", Site::raw(answer)).http(), "http://a.com/").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn heads_without_end_are_cut() {
    let web = Web::new().site("a.com", "1.1.1.1:80", Site::endless("HTTP/1.1 200 OK\r\nx: "));
    assert!(!failure(&web.http(), "http://a.com/").await.may_pass);
    let read = web.written();
    assert!(read < 400_000, "{read} octets left the host");
}
