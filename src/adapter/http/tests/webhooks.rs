//! Receivers of notifications.

use tokio::time::Instant;

use super::*;
use crate::port::{Answer, Notification, Notifier};

async fn notify(web: &Web, url: &str) -> Result<Answer> {
    let headers = [("webhook-id", "msg_1".to_owned()), ("webhook-signature", "v1,x".to_owned())];
    web.http().notify(Notification { url: &url.into(), body: br#"{"success":true}"#, headers: &headers }).await
}

#[cfg(feature = "testing")]
#[tokio::test(start_paused = true)]
async fn the_suite_of_notifiers_holds() {
    let web = Web::new()
        .site("glad.com", "1.1.1.1:80", Site::status(204))
        .site("busy.com", "1.1.1.2:80", Site::raw("HTTP/1.1 503 X\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n"))
        .site("down.com", "1.1.1.3:80", Site::raw("").then_hang());
    let asked = web.clone();
    let heard = move |body: &[u8], (name, value): (&str, &str)| {
        let header = format!("\r\n{name}: {value}\r\n");
        asked.asked().concat().split("POST / ").any(|one| one.contains(&header) && one.as_bytes().ends_with(body))
    };
    let receivers = Arc::new(crate::testing::Receivers {
        heard: Box::new(heard),
        notifier: Arc::new(web.http()),
        glad: "http://glad.com/".into(),
        busy: "http://busy.com/".into(),
        down: "http://down.com/".into(),
    });
    crate::testing::notifier(async || Arc::clone(&receivers)).await;
}

#[tokio::test(start_paused = true)]
async fn a_notification_is_posted_with_its_headers_credentials_and_query() {
    let web = Web::new().site("a.com", "1.1.1.1:80", Site::status(204));
    let answer = notify(&web, "http://user:pass@a.com/hook?token=1").await.unwrap();
    assert_eq!(answer, Answer { status: 204, retry_after: None });
    let asked = web.asked().concat();
    assert!(asked.starts_with("POST /hook?token=1 HTTP/1.1\r\n"), "{asked}");
    assert!(asked.ends_with("\r\n\r\n{\"success\":true}"), "{asked}");
    for line in [
        "user-agent: Lapidary/1.0",
        "content-type: application/json",
        "authorization: Basic dXNlcjpwYXNz",
        "webhook-id: msg_1",
        "webhook-signature: v1,x",
        "content-length: 16",
    ] {
        assert_eq!(asked.matches(&format!("\r\n{line}\r\n")).count(), 1, "{line}: {asked}");
    }
}

#[tokio::test(start_paused = true)]
async fn redirects_are_answers_and_not_followed() {
    let web = Web::new().site("a.com", "1.1.1.1:80", Site::to("/b"));
    assert_eq!(notify(&web, "http://a.com/").await.unwrap().status, 302);
    assert_eq!(web.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_handed_on() {
    let answer = "HTTP/1.1 429 X\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n";
    let web = Web::new().site("a.com", "1.1.1.1:80", Site::raw(answer));
    let answer = notify(&web, "http://a.com/").await.unwrap();
    assert_eq!(answer, Answer { status: 429, retry_after: Some(Duration::from_secs(7)) });
}

#[tokio::test(start_paused = true)]
async fn ten_seconds_are_for_the_whole_answer() {
    let ok = "HTTP/1.1 200 OK\r\n\r\n";
    // Fast enough for the rate, so that only the time cuts it.
    let dripping = Site::drip(ok, Duration::from_micros(500));
    for (site, message) in [
        (Site::raw("").then_hang(), "a.com took longer than 10s"),
        (Site::drip("HTTP/1.1 200 OK\r\nx: ", Duration::from_secs(1)), "a.com took longer than 10s"),
        (dripping, "a.com took longer than 10s"),
    ] {
        let web = Web::new().site("a.com", "1.1.1.1:80", site);
        let start = Instant::now();
        let failure = notify(&web, "http://a.com/").await.expect_err("it is too slow");
        assert_eq!((failure.message.as_str(), failure.may_pass, start.elapsed().as_secs()), (message, true, 10));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_may_end_when_the_receiver_has_done_its_work() {
    // A letter at once, the other after six seconds.
    let site = Site::drip("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n", Duration::from_secs(6));
    let web = Web::new().site("a.com", "1.1.1.1:80", site);
    assert_eq!(notify(&web, "http://a.com/").await.unwrap().status, 200);
}

#[tokio::test(start_paused = true)]
async fn no_more_than_64_kib_of_an_answer_are_read() {
    let web =
        Web::new().site("a.com", "1.1.1.1:80", Site::endless("HTTP/1.1 200 OK\r\ncontent-length: 10000000\r\n\r\n"));
    assert_eq!(notify(&web, "http://a.com/").await.unwrap().status, 200);
    let read = web.written();
    assert!((60_000..300_000).contains(&read), "{read} octets left the receiver");
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_closes_early_has_not_answered() {
    for answer in ["", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"] {
        let web = Web::new().site("a.com", "1.1.1.1:80", Site::raw(answer));
        assert!(notify(&web, "http://a.com/").await.expect_err("it closed").may_pass, "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn private_receivers_are_refused() {
    let web = Web::new().name("a.com", &[&["10.0.0.1"]]);
    for url in ["http://a.com/", "http://127.0.0.1/", "http://localhost/", "ftp://a.com/", "http://a.com:25/"] {
        // A name may lead elsewhere in a while.
        let may_pass = url == "http://a.com/";
        assert_eq!(notify(&web, url).await.expect_err("it is refused").may_pass, may_pass, "{url}");
    }
    assert_eq!(web.dialled(), []);
    for url in ["http://127.0.0.1/", "http://localhost/", "ftp://a.com/", "http://a.com:25/"] {
        assert!(
            Notifier::check(&web.http(), &url.into()).is_err() && Fetcher::check(&web.http(), &url.into()).is_err()
        );
    }
}
