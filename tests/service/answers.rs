//! Every code of the interface, with its headers and body.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use futures_util::{FutureExt, StreamExt, stream};
use lapidary::{
    Clock, Input, Request, Violation,
    adapter::{Closed, memory::Served},
    port::{Accounts, Object, Ports, Result, Storage},
    request::{Provider, Store},
    service::{Call, Keyring, Settings},
};

use crate::fixture::{Answer, DATA, FILE, Host, multipart, picture};

const RATE: [&str; 3] = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

fn check(answer: &Answer, status: u16, message: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    let json = answer.json();
    assert_eq!((json["success"].as_bool(), json["code"].as_u64()), (Some(status < 400), Some(status.into())), "{json}");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    for name in RATE {
        assert!(answer.header(name).is_some_and(|value| value.parse::<u64>().is_ok()), "{name} of {answer:?}");
    }
    if status >= 400 {
        assert!(answer.message().contains(message), "{:?} holds no {message:?}", answer.message());
        assert_eq!(answer.id().len(), 36);
    }
}

#[tokio::test(start_paused = true)]
async fn an_upload_is_accepted_polled_and_downloaded() {
    let host = Host::new().await;
    let accepted = host.upload_picture().await;
    check(&accepted, 202, "");
    let waiting = host.result(&accepted.id()).await;
    check(&waiting, 202, "");
    assert_eq!((waiting.header("retry-after"), waiting.id()), (Some("1"), accepted.id()));
    host.work().await;
    let done = host.result(&accepted.id()).await;
    check(&done, 200, "");
    let json = done.json();
    assert_eq!((json["input"]["name"].as_str(), json["output"]["format"].as_str()), (Some("dots.png"), Some("PNG")));
    let image = host.download(json["output"]["url"].as_str().unwrap()).await;
    assert_eq!((image.status, image.header("content-type")), (200, Some("image/png")));
    assert_eq!(image.bytes.len() as u64, json["output"]["bytes"].as_u64().unwrap());
    assert_eq!(image.header("x-content-type-options"), Some("nosniff"));
    assert!(image.header("content-disposition").unwrap().contains("dots.png"));
    assert_eq!(image.header("cache-control"), Some("private, max-age=3600, immutable"));
}

#[tokio::test(start_paused = true)]
async fn a_fetch_is_accepted_and_done() {
    let host = Host::new().await;
    host.fetcher.serve(&"https://example.com/a/dots.png?x".into(), Served::Body(picture()));
    let accepted = host.fetch(r#"{"url":"https://example.com/a/dots.png?x","resize":{"width":8}}"#).await;
    check(&accepted, 202, "");
    host.work().await;
    let done = host.result(&accepted.id()).await;
    check(&done, 200, "");
    assert_eq!((&done.json()["input"]["name"], &done.json()["output"]["width"]), (&"dots.png".into(), &8.into()));
}

#[tokio::test(start_paused = true)]
async fn parts_come_in_any_order_and_under_any_type() {
    let host = Host::new().await;
    let (file, data) = (picture(), br#"{"resize":{"width":8}}"#.to_vec());
    let plain = "Content-Disposition: form-data; name=file";
    let mut accepted = Vec::new();
    let stream =
        "Content-Disposition: form-data; name=\"file\"; filename=\"\"\r\nContent-Type: application/octet-stream";
    let json = "content-disposition: form-data; name=\"data\"\r\nContent-Type: application/json";
    for parts in [
        vec![(FILE, &file)],
        vec![(FILE, &file), (DATA, &data)],
        vec![(DATA, &data), (FILE, &file)],
        vec![(json, &data), (stream, &file)],
        vec![(plain, &file)],
    ] {
        let parts: Vec<(&str, &[u8])> = parts.iter().map(|(head, content)| (*head, content.as_slice())).collect();
        let mixed = host.upload_as("multipart/mixed; boundary=\"XX\"", &multipart(&parts)).await;
        let width = if parts.len() == 2 { 8 } else { 16 };
        accepted.extend([host.upload(&parts).await, mixed].map(|answer| (answer, width)));
    }
    host.work().await;
    for (answer, width) in accepted {
        check(&answer, 202, "");
        assert_eq!(host.result(&answer.id()).await.json()["output"]["width"], width);
    }
}

#[tokio::test(start_paused = true)]
async fn requests_that_are_wrong_are_refused_with_what_is_wrong() {
    let host = Host::new().await;
    let url = r#""url":"https://example.com/a.png""#;
    for (body, status, message) in [
        ("", 400, "not readable as JSON"),
        ("{", 400, "line 1, column 1"),
        ("[]", 422, "must be an object"),
        ("{}", 422, "url is required"),
        (r#"{"url":"ftp://example.com/"}"#, 422, "url must be"),
        (
            &format!("{{{url},\"upscale\":{{\"factor\":1.5}}}}"),
            422,
            "upscale.factor must be a positive integer from 1 to 8, got 1.5",
        ),
        (&format!("{{{url},\"resize\":{{\"width\":\"wide\"}},\"x\":1}}"), 422, "resize.width must be an integer"),
        (
            &format!("{{{url},\"store\":{{\"id\":\"c\",\"bucket\":\"bucket\",\"region\":\"r\"}}}}"),
            422,
            "store.id must be",
        ),
    ] {
        check(&host.fetch(body).await, status, message);
    }
    let both = host.fetch(&format!("{{{url},\"resize\":{{\"width\":0}},\"upscale\":{{\"factor\":9}}}}")).await;
    assert!(both.message().contains("resize.width") && both.message().contains("upscale.factor"));
}

#[tokio::test(start_paused = true)]
async fn what_ports_refuse_is_told_beside_what_is_wrong_already() {
    let host = Host::new().await;
    host.fetcher.serve(&"https://example.com/a.png".into(), Served::Refused);
    let store = r#"{"id":"none","bucket":"bucket","region":"r"}"#;
    let body = format!(r#"{{"url":"https://example.com/a.png","resize":{{"width":0}},"store":{store}}}"#);
    let all = "resize.width must be an integer from 1 to 16383, got 0; \
        url must be an address to fetch from, got \"https://example.com/a.png\"; \
        store.id must be the id of a connector of the account, got \"none\"";
    check(&host.fetch(&body).await, 422, all);
    let all = "file is required; store.id must be the id";
    check(&host.upload(&[(DATA, format!(r#"{{"store":{store}}}"#).as_bytes())]).await, 422, all);
    let wrong = r#"{"id":"none","bucket":"bucket","region":"r","class":"cold"}"#;
    let answer = host.upload(&[(DATA, format!(r#"{{"store":{wrong}}}"#).as_bytes())]).await;
    assert!(["store.class", "store.id"].iter().all(|path| answer.message().contains(path)), "{}", answer.message());
    // What the engine cannot do is told beside it.
    let body = r#"{"url":"https://example.com/a.png","resize":{"width":0},"output":{"format":"avif"}}"#;
    let answer = host.fetch(body).await;
    let all = ["resize.width must be", "url must be", "output.format must be another: writing AVIF is not supported"];
    assert!(answer.status == 422 && all.iter().all(|part| answer.message().contains(part)), "{}", answer.message());
    let answer = host.upload(&[(FILE, b"GIF89a"), (DATA, br#"{"output":{"format":"avif"}}"#)]).await;
    check(&answer, 422, "output.format must be another: writing AVIF is not supported, got \"avif\"");
}

#[tokio::test(start_paused = true)]
async fn a_long_address_is_told_in_part() {
    let ports = |ports: &mut Ports| ports.fetcher = Arc::new(Closed);
    let host = Host::new().await.again(ports, Keyring::new([1; 32], [2; 32]));
    let url = format!("https://example.com/{}", "a".repeat(10_000));
    let answer = host.fetch(&format!(r#"{{"url":"{url}"}}"#)).await;
    check(&answer, 422, "url must not be given");
    assert!(answer.message().len() < 300, "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn uploads_that_are_wrong_are_refused_with_what_is_wrong() {
    let host = Host::new().await;
    let file = picture();
    let other = "Content-Disposition: form-data; name=\"image\"";
    for (parts, status, message) in [
        (vec![], 422, "file is required"),
        (vec![(DATA, &b"{}"[..])], 422, "file is required"),
        (vec![(DATA, br#"{"optimize":{"quality":0}}"#)], 422, "file is required; optimize.quality must be"),
        (vec![(FILE, &file[..]), (FILE, &file[..])], 422, "file is given twice"),
        (vec![(FILE, &file[..]), (DATA, b"{")], 400, "not readable as JSON"),
        (vec![(FILE, &file[..]), (DATA, br#"{"url":"https://example.com/a.png"}"#)], 422, "url must not be given"),
        (vec![(FILE, &file[..]), (DATA, br#"{"optimize":{"quality":0}}"#)], 422, "optimize.quality must be"),
        (vec![(other, &file[..])], 422, "the parts must be file and data, got \"image\""),
    ] {
        check(&host.upload(&parts).await, status, message);
    }
    let cut = &multipart(&[(FILE, &file)])[..100];
    check(&host.upload_as("multipart/form-data; boundary=XX", cut).await, 400, "multipart");
    check(&host.upload_as("multipart/form-data", &file).await, 415, "multipart/form-data");
    check(&host.upload_as("image/png", &file).await, 415, "multipart/form-data");
    assert_eq!(host.blobs().await, 0, "a refused upload leaves nothing behind");
}

/// Refuses two fields of every destination.
#[derive(Debug)]
struct Picky;

#[async_trait]
impl Storage for Picky {
    fn check(&self, _: Provider, _: &Store) -> Vec<Violation> {
        let must = |path: &str, must: &str| Violation { path: path.into(), value: None, allowed: must.into() };
        vec![
            must("class", "must be standard"),
            must("metadata.a.b", "must be ASCII"),
            must("metadata.token", "must not be"),
        ]
    }

    async fn put(&self, _: Object<'_>) -> Result<String> {
        unreachable!("nothing is accepted")
    }
}

#[tokio::test(start_paused = true)]
async fn all_that_a_storage_refuses_is_told_with_the_values_that_are_no_secrets() {
    let host = Host::new().await.again(|ports| ports.storage = Arc::new(Picky), Keyring::new([1; 32], [2; 32]));
    let store = r#"{"provider":"google","key":"k","secret":"s","bucket":"bucket","region":"r","class":"glacier",
        "metadata":{"a.b":"ü","token":"canary"}}"#;
    let answer = host.fetch(&format!(r#"{{"url":"https://example.com/a.png","store":{store}}}"#)).await;
    let all = "store.class must be standard, got \"glacier\"; store.metadata.a.b must be ASCII, got \"ü\"; \
        store.metadata.token must not be, got ***";
    check(&answer, 422, all);
}

#[tokio::test(start_paused = true)]
async fn where_ports_to_the_world_are_closed_uploads_are_done_and_all_else_is_refused() {
    let close = |ports: &mut Ports| {
        (ports.fetcher, ports.storage, ports.notifier) = (Arc::new(Closed), Arc::new(Closed), Arc::new(Closed));
    };
    let host = Host::new().await.again(close, Keyring::new([1; 32], [2; 32]));
    let data = br#"{"store":{"provider":"aws","key":"k","secret":"s","bucket":"bucket","region":"r"},
        "webhook":{"url":"https://example.com/"}}"#;
    let refused = host.upload(&[(FILE, &picture()), (DATA, data)]).await;
    let all = "store must not be given, since results are stored nowhere else here; \
        webhook.url must not be given, since nobody is notified from here, got \"https://example.com/\"";
    check(&refused, 422, all);
    check(&host.fetch(r#"{"url":"https://example.com/a.png"}"#).await, 422, "url must not be given, since images");
    let accepted = host.upload_picture().await;
    host.work().await;
    check(&host.result(&accepted.id()).await, 200, "");
}

fn upload_without_end(bearer: &str) -> Call<'_> {
    Call {
        method: "POST",
        path: "/1.0/upload",
        secure: true,
        authorization: Some(bearer),
        content_type: Some("multipart/form-data; boundary=XX"),
        content_length: None,
    }
}

#[tokio::test(start_paused = true)]
async fn an_upload_over_the_limit_is_refused_while_it_comes_in() {
    let host = Host::new().await;
    let head = b"--XX\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n".to_vec();
    let endless = std::iter::once(head).chain(std::iter::repeat_with(|| vec![7; 1 << 20]));
    let body = Box::pin(stream::iter(endless.map(|chunk| Ok(chunk.into()))));
    let bearer = host.bearer();
    let call = upload_without_end(&bearer);
    let answer = host.service.answer(call, body).await;
    assert_eq!(answer.status, 413);
    assert_eq!(host.blobs().await, 0);
    let long = Call { content_length: Some(34 << 20), ..call };
    check(&host.send(long, vec![]).await, 413, "the file has more than 33554432 bytes");
}

#[tokio::test(start_paused = true)]
async fn a_request_whose_announced_length_is_over_the_limit_is_refused_before_it_comes_in() {
    let host = Host::new().await;
    let bearer = host.bearer();
    let call = Call { path: "/1.0/fetch", content_type: Some("application/json"), ..upload_without_end(&bearer) };
    let long = Call { content_length: Some(2 << 20), ..call };
    let answer = host.service.answer(long, Box::pin(stream::pending())).await;
    assert_eq!(answer.status, 413);
}

#[tokio::test(start_paused = true)]
async fn what_no_picture_can_become_is_refused_at_once() {
    let host = Host::new().await;
    let large = r#"{"resize":{"width":16000,"height":16000,"mode":"pad"}}"#;
    for (data, message) in [
        (r#"{"output":{"format":"avif"}}"#, "output.format must be another: writing AVIF is not supported"),
        (large, "resize must be another: result pixels is 256000000, the limit is 100000000"),
    ] {
        let answer = host.upload(&[(FILE, &picture()), (DATA, data.as_bytes())]).await;
        check(&answer, 422, message);
        assert_eq!(host.blobs().await, 0);
    }
    let inside = large.replace("pad", "auto");
    check(&host.upload(&[(FILE, &picture()), (DATA, inside.as_bytes())]).await, 202, "");
}

#[tokio::test(start_paused = true)]
async fn an_account_whose_uploads_drip_keeps_no_other_from_uploading() {
    let host = Host::with(|settings| settings.uploads = 4, 100).await;
    let bearer = host.bearer();
    let call = upload_without_end(&bearer);
    let mut dripping: Vec<_> =
        (0..3).map(|_| Box::pin(host.service.answer(call, Box::pin(stream::pending())))).collect();
    assert!(dripping.iter_mut().all(|upload| upload.now_or_never().is_none()));
    check(&host.upload_picture().await, 503, "too many uploads");
    let other = host.service.admin().open_account("other", "gold", 100).await.unwrap().account;
    let key = host.service.admin().new_key(other).await.unwrap();
    let anothers = format!("Bearer {}", key.expose());
    let call = Call { authorization: Some(&anothers), ..call };
    check(&host.send(call, vec![multipart(&[(FILE, &picture())])]).await, 202, "");
    drop(dripping);
    check(&host.upload_picture().await, 202, "");
}

#[tokio::test(start_paused = true)]
async fn large_json_bodies_count_among_the_uploads_and_small_ones_do_not() {
    let host = Host::with(|settings| settings.uploads = 2, 100).await;
    let bearer = host.bearer();
    let call = Call { path: "/1.0/fetch", content_type: Some("application/json"), ..upload_without_end(&bearer) };
    let without_end = |bytes: usize| stream::iter([Ok(vec![b' '; bytes].into())]).chain(stream::pending());
    let send = |bytes| Box::pin(host.service.answer(call, Box::pin(without_end(bytes))));
    let mut dripping: Vec<_> = [16 << 10, (16 << 10) + 1, 1 << 20].map(send).into();
    assert!(dripping.iter_mut().all(|fetch| fetch.now_or_never().is_none()));
    check(&host.upload_picture().await, 503, "too many uploads");
    check(&host.fetch(&(" ".repeat(16 << 10) + "{}")).await, 503, "too many uploads");
    check(&host.fetch(r#"{"url":"https://example.com/a.png"}"#).await, 202, "");
    drop(dripping);
    check(&host.upload_picture().await, 202, "");
    check(&host.fetch(&(" ".repeat(16 << 10) + "{}")).await, 422, "url is required");
}

#[tokio::test(start_paused = true)]
async fn a_json_body_that_does_not_come_is_waited_for_half_a_minute() {
    let host = Host::new().await;
    let bearer = host.bearer();
    let call = Call { path: "/1.0/fetch", content_type: Some("application/json"), ..upload_without_end(&bearer) };
    let begun = tokio::time::Instant::now();
    let answer = host.service.answer(call, Box::pin(stream::pending())).await;
    assert_eq!((answer.status, begun.elapsed().as_secs()), (400, 30));
}

#[tokio::test(start_paused = true)]
async fn an_upload_without_a_part_in_its_first_64_kib_is_refused_while_it_comes_in() {
    let host = Host::new().await;
    let bearer = host.bearer();
    let call = upload_without_end(&bearer);
    for head in ["", "--XX\r\nContent-Disposition: form-data; name=\"file\"\r\nX: ", "--XX"] {
        let came = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&came);
        let chunk = move || {
            counted.fetch_add(1, Ordering::SeqCst);
            vec![b' '; 1 << 10]
        };
        let without_part = std::iter::once(head.into()).chain(std::iter::repeat_with(chunk).take(1 << 10));
        let body = Box::pin(stream::iter(without_part.map(|chunk: Vec<u8>| Ok(chunk.into()))));
        let answer = host.service.answer(call, body).await;
        assert_eq!((answer.status, came.load(Ordering::SeqCst)), (400, 64), "{head:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_has_no_valid_key_is_refused() {
    let host = Host::new().await;
    let call = Call { method: "GET", path: "/1.0/account", secure: true, ..Call::default() };
    for authorization in [None, Some("Bearer lap_wrong"), Some("Basic !"), Some("Digest x"), Some("")] {
        let answer = host.send(Call { authorization, ..call }, vec![]).await;
        check(&answer, 401, "API key");
        let schemes = answer.header("www-authenticate").unwrap();
        assert!(schemes.contains("Basic") && schemes.contains("Bearer"));
        assert_eq!(answer.header("x-ratelimit-remaining"), Some("100000"), "nothing is counted");
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_that_nobody_has_in_clear_is_revoked_by_its_id() {
    let host = Host::new().await;
    let admin = host.service.admin();
    host.clock.advance(std::time::Duration::from_secs(60));
    admin.new_key(host.account).await.unwrap();
    let [first, second] = admin.keys(host.account).await.unwrap().try_into().unwrap();
    assert_eq!(second.added.since(first.added).as_secs(), 60);
    assert_eq!(first.mac.id().len(), 16);
    let other = admin.open_account("other", "gold", 1).await.unwrap().account;
    assert!(!admin.revoke_key_by_id(other, &first.mac.id()).await.unwrap(), "it is another's");
    check(&host.get("/1.0/account").await, 200, "");
    assert!(admin.revoke_key_by_id(host.account, &first.mac.id()).await.unwrap());
    assert!(!admin.revoke_key_by_id(host.account, &first.mac.id()).await.unwrap());
    host.clock.advance(std::time::Duration::from_secs(2));
    check(&host.get("/1.0/account").await, 401, "API key");
    assert_eq!(admin.keys(host.account).await.unwrap(), [second]);
}

#[tokio::test(start_paused = true)]
async fn either_scheme_opens_and_plain_http_does_not() {
    use base64::Engine as _;
    let host = Host::new().await;
    let basic = base64::engine::general_purpose::STANDARD.encode(format!("{}:", host.key));
    let basic = format!("Basic {basic}");
    let call =
        Call { method: "GET", path: "/1.0/account", secure: true, authorization: Some(&basic), ..Call::default() };
    check(&host.send(call, vec![]).await, 200, "");
    check(&host.send(Call { secure: false, ..call }, vec![]).await, 403, "HTTPS");
    let account = host.get("/1.0/account").await;
    assert_eq!(
        account.json(),
        serde_json::json!({"success": true, "code": 200, "subscription": {"name": "gold"},
            "credits": {"total": 1000, "used": 0, "remaining": 1000}})
    );
}

#[tokio::test(start_paused = true)]
async fn paths_and_methods_of_no_endpoint_are_told_so() {
    let host = Host::new().await;
    for path in ["/", "/1.0", "/1.0/results", "/2.0/account", "/1.0/account/", "/volatile"] {
        check(&host.get(path).await, 404, "nothing");
    }
    let bearer = host.bearer();
    for (method, path, allowed) in
        [("GET", "/1.0/fetch", "POST"), ("PUT", "/1.0/upload", "POST"), ("DELETE", "/1.0/account", "GET, HEAD")]
    {
        let call = Call { method, path, secure: true, authorization: Some(&bearer), ..Call::default() };
        let answer = host.send(call, vec![]).await;
        check(&answer, 405, "method");
        assert_eq!(answer.header("allow"), Some(allowed));
    }
}

#[tokio::test(start_paused = true)]
async fn ids_that_are_not_the_accounts_own_are_unknown() {
    let host = Host::new().await;
    let mine = host.upload_picture().await.id();
    let other = host.service.admin().open_account("other", "gold", 1).await.unwrap().account;
    let key = host.service.admin().new_key(other).await.unwrap();
    let bearer = format!("Bearer {}", key.expose());
    let path = format!("/1.0/results/{mine}");
    let call = Call { method: "GET", path: &path, secure: true, authorization: Some(&bearer), ..Call::default() };
    check(&host.send(call, vec![]).await, 404, "no request");
    for id in ["", "x", "00000000-0000-0000-0000-000000000000", &mine.to_uppercase(), &format!("{mine}/")] {
        check(&host.result(id).await, 404, "no request");
    }
}

#[tokio::test(start_paused = true)]
async fn a_disabled_account_is_refused_and_an_enabled_one_is_not() {
    let host = Host::new().await;
    host.service.admin().set_disabled(host.account, true).await.unwrap();
    check(&host.get("/1.0/account").await, 403, "disabled");
    host.service.admin().set_disabled(host.account, false).await.unwrap();
    host.clock.advance(std::time::Duration::from_secs(2));
    check(&host.get("/1.0/account").await, 200, "");
}

#[tokio::test(start_paused = true)]
async fn credits_are_reserved_charged_and_given_back() {
    let host = Host::with(|_| {}, 2).await;
    let good = host.upload_picture().await;
    let bad = host.upload(&[(FILE, b"no picture")]).await;
    check(&bad, 202, "");
    check(&host.upload_picture().await, 402, "0 credits of the month that are neither used nor held");
    host.work().await;
    check(&host.result(&good.id()).await, 200, "");
    check(&host.result(&bad.id()).await, 422, "format");
    let credits = host.get("/1.0/account").await.json()["credits"].clone();
    assert_eq!(credits, serde_json::json!({"total": 2, "used": 1, "remaining": 1}));
    let left = host.ledger.account(host.account, host.clock.now()).await.unwrap().unwrap().credits;
    assert_eq!(left.reserved, 0);
}

#[tokio::test(start_paused = true)]
async fn a_request_costs_what_the_host_says() {
    let by_step = |settings: &mut Settings| {
        settings.price = Arc::new(|request| if request.resize.is_some() { 3 } else { 1 });
    };
    let host = Host::with(by_step, 5).await;
    let file = picture();
    let resized = [(FILE, file.as_slice()), (DATA, br#"{"resize":{"width":8}}"#)];
    check(&host.upload(&resized).await, 202, "");
    check(&host.upload(&resized).await, 402, "costs more than the 2 credits");
    check(&host.upload_picture().await, 202, "");
    host.work().await;
    assert_eq!(host.get("/1.0/account").await.json()["credits"]["used"], 4);
}

#[tokio::test(start_paused = true)]
async fn what_can_be_read_can_be_asked_for_by_head() {
    let host = Host::new().await;
    let accepted = host.upload_picture().await;
    host.work().await;
    let bearer = host.bearer();
    for path in ["/1.0/account".to_owned(), format!("/1.0/results/{}", accepted.id())] {
        let call = Call { method: "HEAD", path: &path, authorization: Some(&bearer), secure: true, ..Call::default() };
        check(&host.send(call, vec![]).await, 200, "");
    }
    let call =
        Call { method: "HEAD", path: "/1.0/fetch", authorization: Some(&bearer), secure: true, ..Call::default() };
    let refused = host.send(call, vec![]).await;
    check(&refused, 405, "the method must be POST");
    assert_eq!(refused.header("allow"), Some("POST"));
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_and_a_closing_service_ask_to_come_back() {
    let host = Host::with(|settings| settings.capacity.jobs = 1, 10).await;
    check(&host.upload_picture().await, 202, "");
    let full = host.upload_picture().await;
    check(&full, 503, "queue is full");
    assert!(full.header("retry-after").is_some());
    assert_eq!(host.blobs().await, 1, "the refused source is gone");
    host.work().await;
    let closed = host.upload_picture().await;
    check(&closed, 503, "shutting down");
    assert!(closed.header("retry-after").is_some());
}

#[tokio::test(start_paused = true)]
async fn an_account_that_fills_the_queue_keeps_no_other_out() {
    let host = Host::with(|settings| settings.capacity.jobs = 8, 100).await;
    for _ in 0..8 {
        check(&host.upload_picture().await, 202, "");
    }
    check(&host.upload_picture().await, 503, "queue is full");
    let other = host.service.admin().open_account("other", "gold", 100).await.unwrap().account;
    let (picture, request) = (picture(), Request::new());
    let source = Some(Input { bytes: &picture, name: None });
    host.service.submit(other, &request, source).await.unwrap();
    assert_eq!(host.service.submit(other, &request, source).await.unwrap_err().status, 503, "nor does that one");
}

#[tokio::test(start_paused = true)]
async fn the_rate_is_counted_down_for_every_answer_and_begins_anew() {
    let host = Host::with(|settings| settings.rate_limit = 5, 10).await;
    for left in (0..5).rev() {
        let answer = host.get(if left % 2 == 0 { "/1.0/account" } else { "/nothing" }).await;
        assert_eq!(answer.header("x-ratelimit-remaining"), Some(left.to_string().as_str()));
        assert_eq!(answer.header("x-ratelimit-limit"), Some("5"));
    }
    let over = host.get("/1.0/account").await;
    check(&over, 429, "in 900 seconds");
    assert_eq!((over.header("retry-after"), over.header("x-ratelimit-reset")), (Some("900"), Some("900")));
    host.clock.advance(std::time::Duration::from_secs(900));
    check(&host.get("/1.0/account").await, 200, "");
}

#[tokio::test(start_paused = true)]
async fn where_the_clock_is_set_back_no_key_outlives_its_end_and_no_window_its_length() {
    let host = Host::with(|settings| settings.rate_limit = 2, 10).await;
    let set_back = || host.clock.set(host.clock.now() - std::time::Duration::from_secs(3600));
    for status in [200, 200, 429] {
        assert_eq!(host.get("/1.0/account").await.status, status);
    }
    set_back();
    let anew = host.get("/1.0/account").await;
    assert_eq!((anew.status, anew.header("x-ratelimit-reset")), (200, Some("900")));
    assert!(host.service.admin().revoke_key(&host.key).await.unwrap());
    set_back();
    assert_eq!(host.get("/1.0/account").await.status, 401);
}
