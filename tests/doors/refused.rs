//! Addresses that clients have no business with, as clients would try them.

use std::net::IpAddr;

use serde_json::json;

use crate::host::{Host, picture};

/// Refused (`false`) and let in, as far as their text tells: the table of the guard's own tests.
fn cases() -> Vec<(bool, &'static str)> {
    let table = include_str!("../../src/adapter/http/guard/cases.txt");
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| (line.starts_with('+'), &line[2..])).collect()
}

/// Words that would tell what is at a place.
fn tells(message: &str) -> bool {
    let words = ["os error", "timed out", "refused", "unreachable", "reset", "resolve", "lookup", "status"];
    words.iter().any(|word| message.to_ascii_lowercase().contains(word))
}

fn is_public(ip: IpAddr) -> bool {
    let within = match ip.to_canonical() {
        IpAddr::V4(ip) => ip.is_private() || ip.is_link_local() || ip.is_broadcast() || ip.is_documentation(),
        IpAddr::V6(ip) => ip.is_unique_local() || ip.is_unicast_link_local(),
    };
    !within && !ip.is_loopback() && !ip.is_unspecified() && !ip.is_multicast()
}

#[tokio::test]
async fn a_refused_address_is_a_422_that_tells_nothing_and_dials_nothing() {
    let host = Host::new().await;
    for (_, url) in cases().into_iter().filter(|(passes, _)| !passes) {
        for (body, field) in [
            (json!({ "url": url }), "url"),
            (json!({ "url": "https://example.org/", "webhook": { "url": url } }), "webhook.url"),
        ] {
            let (status, answer) = host.fetch(&body).await;
            assert_eq!((status, &answer["success"], &answer["code"]), (422, &json!(false), &json!(422)), "{url}");
            let message = answer["message"].as_str().unwrap();
            assert!(message.starts_with(field) && message.contains("must ") && !tells(message), "{url}: {message}");
        }
    }
    host.work().await;
    assert_eq!(host.internet.dialled(), []);
}

#[tokio::test]
async fn an_address_that_is_let_in_is_dialled_at_a_public_address_alone() {
    let host = Host::new().await;
    let passing: Vec<_> = cases().into_iter().filter(|(passes, _)| *passes).collect();
    for (_, url) in &passing {
        let (status, answer) = host.fetch(&json!({ "url": url })).await;
        assert_eq!(status, 202, "{url}: {answer}");
    }
    host.work().await;
    let dialled = host.internet.dialled();
    assert!(dialled.len() >= passing.len(), "{dialled:?}");
    assert!(dialled.iter().all(|to| is_public(to.ip()) && [80, 443, 8080, 8443].contains(&to.port())), "{dialled:?}");
}

#[tokio::test]
async fn a_redirect_to_any_refused_address_ends_at_the_first_host() {
    let host = Host::new().await;
    let mut asked = Vec::new();
    let refused = cases().into_iter().filter(|(passes, _)| !passes).map(|(_, url)| url);
    // The others are paths of the first host, or hosts by the leave of the WHATWG.
    let is_whole = |url: &&str| {
        url.split_once(':').is_some_and(|(scheme, rest)| {
            !scheme.starts_with("http") || rest.strip_prefix("//").is_some_and(|rest| !rest.starts_with('/'))
        })
    };
    for (number, url) in refused.filter(is_whole).enumerate() {
        let place = format!("images.example.net/{number}");
        host.internet.answer(&place, &format!("302 Found\r\nlocation: {url}"), b"");
        let (status, answer) = host.fetch(&json!({ "url": format!("http://{place}") })).await;
        assert_eq!(status, 202, "{answer}");
        asked.push((url, answer["id"].as_str().unwrap().to_owned()));
    }
    assert!(asked.len() > 140, "{}", asked.len());
    host.work().await;
    for (url, id) in &asked {
        let (status, answer) = host.result(id).await;
        let message = answer["message"].as_str().unwrap_or_default();
        assert_eq!((status, answer["code"].as_u64()), (422, Some(422)), "{url}: {answer}");
        let opening = "a redirect of images.example.net must ";
        assert!(message.starts_with(opening) && !tells(message), "{url}: {message}");
    }
    let dialled = host.internet.dialled();
    assert_eq!((dialled.len(), dialled.iter().all(|to| to.to_string() == "1.1.1.1:80")), (asked.len(), true));
}

#[tokio::test]
async fn a_name_that_lies_at_any_look_is_not_dialled_there() {
    let host = Host::new().await;
    for (place, head) in [("a.example.net/", "302 Found\r\nlocation: /2"), ("a.example.net/2", "200 OK")] {
        host.internet.answer(place, head, &picture());
    }
    host.internet.answer("b.example.net/", "302 Found\r\nlocation: http://inside.example.net/", b"");
    host.internet.lie("a.example.net", &["1.1.1.1", "127.0.0.1"]);
    host.internet.lie("inside.example.net", &["10.0.0.1"]);
    host.internet.lie("c.example.net", &["169.254.169.254"]);
    let mut asked = Vec::new();
    for name in ["a", "b", "c"] {
        let (_, answer) = host.fetch(&json!({ "url": format!("http://{name}.example.net/") })).await;
        asked.push(answer["id"].as_str().unwrap().to_owned());
    }
    host.work().await;
    for (id, name) in asked.iter().zip(["a", "inside", "c"]) {
        let expected = format!("{name}.example.net leads to no address on the public internet");
        assert_eq!(host.result(id).await.1["message"], expected);
    }
    assert!(host.internet.dialled().iter().all(|to| to.to_string() == "1.1.1.1:80"));
}
