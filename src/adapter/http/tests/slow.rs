//! Hosts that take their time.

use tokio::time::Instant;

use super::*;

const HEAD: &str = "HTTP/1.1 200 OK\r\n\r\n";

/// What `site` is refused for, and after how long.
async fn refusal(site: Site, options: impl FnOnce(Options) -> Options) -> (String, Duration) {
    let web = Web::new().site("a.com", "1.1.1.1:80", site);
    let http = Http::new(options(web.options())).unwrap();
    let start = Instant::now();
    let url = "http://a.com/".into();
    let fetch = Fetch { url: &url, headers: &BTreeMap::new(), max_bytes: 1 << 20 };
    let failure = http.fetch(fetch).await.expect_err("it is too slow");
    assert!(failure.may_pass);
    (failure.message, start.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_host_that_never_answers_is_left_after_thirty_seconds() {
    let (message, after) = refusal(Site::raw("").then_hang(), |options| options).await;
    assert_eq!((message.as_str(), after.as_secs()), ("a.com took longer than 30s", 30));
}

#[tokio::test(start_paused = true)]
async fn a_head_that_drips_is_left_after_thirty_seconds() {
    let (message, after) =
        refusal(Site::drip("HTTP/1.1 200 OK\r\nx: ", Duration::from_millis(100)), |options| options).await;
    assert_eq!((message.as_str(), after.as_secs()), ("a.com took longer than 30s", 30));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_drips_is_left_after_its_first_window() {
    // 50 octets in a window of 5 s, where 5 KiB are asked for.
    let (message, after) = refusal(Site::drip(HEAD, Duration::from_millis(100)), |options| options).await;
    assert_eq!((message.as_str(), after.as_secs()), ("a.com is too slow", 5));
    let (message, after) = refusal(Site::raw(HEAD).then_hang(), |options| options).await;
    assert_eq!((message.as_str(), after.as_secs()), ("a.com is too slow", 5));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_keeps_up_is_left_when_its_time_is_over() {
    let drip = Drip { bytes: 10, window: Duration::from_secs(5) };
    let options = |options| Options { drip, ..options };
    let (message, after) = refusal(Site::drip(HEAD, Duration::from_millis(400)), options).await;
    assert_eq!((message.as_str(), after.as_secs()), ("a.com took longer than 30s", 30));
}

#[tokio::test(start_paused = true)]
async fn all_redirects_share_one_time() {
    let hop = |to: &str| Site::Raw(format!("HTTP/1.1 302 X\r\nlocation: {to}\r\n\r\n").into(), false);
    let site = Site::paths([("/", hop("/1")), ("/1", hop("/2")), ("/2", Site::raw("").then_hang())]);
    assert_eq!(refusal(site, |options| options).await.1.as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn an_address_where_nobody_answers_is_left_after_five_seconds() {
    let web = Web::new().name("a.com", &[&["1.1.1.1"]]).black_hole("1.1.1.1:80");
    let start = Instant::now();
    let failure = failure(&web.http(), "http://a.com/").await;
    assert_eq!((failure.message.as_str(), failure.may_pass), ("no connection to a.com", true));
    assert_eq!(start.elapsed().as_secs(), 5);
}
