//! A request from acceptance to the end of its record.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use lapidary::{
    Clock, Timestamp,
    adapter::memory::{MemoryBlobs, Served},
    port::{
        Accounts, BlobKey, BlobWriter, Blobs, Credentials, Face, Fetch, Fetched, Fetcher, Jobs, OpenBlob, Result,
        ledger::{Held, Outcome, Standing},
    },
    request::{Provider, Url},
    service::{AdminError, Call, Keyring, Service, Settings},
};

use crate::fixture::{FILE, Host, finish, picture};

const LEASE: Duration = Duration::from_secs(30);

async fn credits(host: &Host) -> (u64, u64) {
    let credits = host.ledger.account(host.account, host.clock.now()).await.unwrap().unwrap().credits;
    (credits.used, credits.reserved)
}

#[tokio::test(start_paused = true)]
async fn a_job_whose_worker_died_is_taken_up_when_its_lease_has_run_out() {
    let host = Host::new().await;
    let id = host.upload_picture().await.id();
    assert_eq!(host.ledger.claim(1, None, LEASE, host.clock.now()).await.unwrap().len(), 1, "by a worker that dies");
    assert_eq!(host.result(&id).await.status, 202);
    host.clock.advance(LEASE);
    host.work().await;
    assert_eq!((host.result(&id).await.status, credits(&host).await), (200, (1, 0)));
}

#[tokio::test(start_paused = true)]
async fn a_job_that_no_worker_survives_is_given_up() {
    let host = Host::new().await;
    let id = host.upload_picture().await.id();
    for _ in 0..5 {
        assert_eq!(host.ledger.claim(1, None, LEASE, host.clock.now()).await.unwrap().len(), 1);
        host.clock.advance(LEASE);
    }
    host.work().await;
    let answer = host.result(&id).await;
    assert_eq!((answer.status, credits(&host).await), (500, (0, 0)));
    assert_eq!(answer.json()["id"], id.as_str());
    assert_eq!(answer.json()["message"], "the service has stopped 5 times while this was in hand");
    assert_eq!(host.blobs().await, 0);
}

#[tokio::test(start_paused = true)]
async fn jobs_that_were_in_hand_when_a_worker_died_are_begun_one_at_a_time() {
    let host = Host::new().await;
    for _ in 0..3 {
        assert_eq!(host.fetch(r#"{"url":"https://example.com/a.png"}"#).await.status, 202);
    }
    assert_eq!(host.ledger.claim(3, None, LEASE, host.clock.now()).await.unwrap().len(), 3, "by a worker that dies");
    host.clock.advance(LEASE);
    let host = host.again(|ports| ports.fetcher = Arc::new(Silent), Keyring::new([1; 32], [2; 32]));
    let running = host.service.start();
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let health = host.service.health().await;
        assert_eq!((health.processing, health.waiting), (1, 2));
        host.clock.advance(Duration::from_secs(2));
    }
    // It dies, too.
    drop(running);
    host.clock.advance(LEASE);
    let leases = host.ledger.claim(3, None, LEASE, host.clock.now()).await.unwrap();
    let mut attempts: Vec<u32> = leases.iter().map(|lease| lease.attempt).collect();
    attempts.sort_unstable();
    assert_eq!(attempts, [2, 2, 3], "of one that had begun");
}

#[tokio::test(start_paused = true)]
async fn a_source_that_is_down_is_asked_again_and_may_come_back() {
    let host = Host::new().await;
    let url = Url::from("https://example.com/a.png");
    host.fetcher.serve(&url, Served::Down);
    let late = host.fetch(r#"{"url":"https://example.com/a.png"}"#).await.id();
    let running = host.service.start();
    for seconds in [0, 2] {
        host.clock.advance(Duration::from_secs(seconds));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(host.result(&late).await.status, 202);
    }
    host.fetcher.serve(&url, Served::Body(picture()));
    host.clock.advance(Duration::from_secs(8));
    host.settle().await;
    assert_eq!(host.result(&late).await.status, 200);

    host.fetcher.serve(&url, Served::Status(503));
    let never = host.fetch(r#"{"url":"https://example.com/a.png"}"#).await.id();
    for seconds in [0, 2, 8] {
        assert_eq!(host.result(&never).await.status, 202);
        host.clock.advance(Duration::from_secs(seconds));
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    host.settle().await;
    let answer = host.result(&never).await;
    assert_eq!((answer.status, answer.message().contains("503")), (422, true), "{answer:?}");
    finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_job_that_was_handed_back_often_keeps_its_retries() {
    let host = Host::new().await;
    let url = Url::from("https://example.com/a.png");
    host.fetcher.serve(&url, Served::Down);
    let id = host.fetch(r#"{"url":"https://example.com/a.png"}"#).await.id();
    for _ in 0..10 {
        let [lease] = host.ledger.claim(1, None, LEASE, host.clock.now()).await.unwrap().try_into().unwrap();
        let again = Outcome::Again { at: host.clock.now(), counts: false };
        assert_eq!(host.ledger.settle(lease.id, lease.fence, again, host.clock.now()).await.unwrap(), Held::Yes);
    }
    let running = host.service.start();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(host.result(&id).await.status, 202);
    host.fetcher.serve(&url, Served::Body(picture()));
    host.clock.advance(Duration::from_secs(2));
    host.settle().await;
    assert_eq!(host.result(&id).await.status, 200);
    finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn what_fails_stays_failed_and_costs_nothing() {
    let host = Host::new().await;
    let missing = host.fetch(r#"{"url":"https://example.com/gone.png"}"#).await.id();
    let damaged = host.upload(&[(FILE, &picture()[..60])]).await.id();
    let unsupported = host.upload(&[(FILE, b"GIF89a")]).await.id();
    host.work().await;
    for (id, message) in [(missing, "404"), (damaged, "PNG"), (unsupported, "GIF")] {
        let answer = host.result(&id).await;
        assert_eq!(answer.status, 422, "{answer:?}");
        assert!(answer.message().contains(message), "{}", answer.message());
        assert_eq!(answer.bytes, host.result(&id).await.bytes);
    }
    assert_eq!(credits(&host).await, (0, 0));
}

#[tokio::test(start_paused = true)]
async fn an_image_lives_an_hour_and_its_record_a_week() {
    let host = Host::new().await;
    let id = host.upload_picture().await.id();
    let running = host.service.start();
    host.settle().await;
    let url = host.result(&id).await.json()["output"]["url"].as_str().unwrap().to_owned();
    assert!(!url.contains(&id));
    host.clock.advance(Duration::from_secs(3599));
    assert_eq!(host.download(&url).await.status, 200);
    host.clock.advance(Duration::from_secs(1));
    let gone = host.download(&url).await;
    assert_eq!((gone.status, gone.json()["code"].as_u64()), (404, Some(404)));
    assert_eq!(host.result(&id).await.status, 200);
    tokio::time::sleep(Duration::from_secs(31)).await;
    assert_eq!(host.blobs().await, 0, "swept");
    host.clock.advance(Duration::from_secs(7 * 86_400));
    tokio::time::sleep(Duration::from_secs(31)).await;
    assert_eq!(host.result(&id).await.status, 404);
    finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_gzipped_svg_is_delivered_as_one() {
    let host = Host::new().await;
    let svg = br#"<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><path d="M0 0h8v8z"/></svg>"#;
    let mut packer = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
    let mut gzipped = vec![0; packer.gzip_compress_bound(svg.len())];
    let length = packer.gzip_compress(svg, &mut gzipped).unwrap();
    for (file, name, encoding) in [(&svg[..], "dots.svg", None), (&gzipped[..length], "dots.svgz", Some("gzip"))] {
        let id = host.upload(&[(FILE, file)]).await.id();
        let running = host.service.start();
        host.settle().await;
        drop(running);
        let output = host.result(&id).await.json()["output"].clone();
        assert_eq!((output["name"].as_str(), output["format"].as_str()), (Some(name), Some("SVG")), "{output}");
        let image = host.download(output["url"].as_str().unwrap()).await;
        assert_eq!((image.header("content-type"), image.header("content-encoding")), (Some("image/svg+xml"), encoding));
        assert_eq!(image.bytes.starts_with(&[0x1f, 0x8b]), encoding.is_some());
    }
}

/// Has addresses of its own, which tell what they were asked for.
#[derive(Debug)]
struct Direct(Arc<MemoryBlobs>);

#[async_trait]
impl Blobs for Direct {
    async fn create(&self, key: BlobKey) -> Result<Box<dyn BlobWriter>> {
        self.0.create(key).await
    }

    async fn open(&self, key: BlobKey) -> Result<Option<OpenBlob>> {
        self.0.open(key).await
    }

    fn address(&self, key: BlobKey, face: Face<'_>, now: Timestamp, life: Duration) -> Result<Option<String>> {
        let Face { media_type, disposition, .. } = face;
        Ok(Some(format!("https://bucket.test/{key} {media_type} {disposition} {now:?} {life:?}")))
    }

    async fn delete(&self, key: BlobKey) -> Result<()> {
        self.0.delete(key).await
    }

    async fn older_than(&self, before: Timestamp, max: usize) -> Result<Vec<BlobKey>> {
        self.0.older_than(before, max).await
    }
}

#[tokio::test(start_paused = true)]
async fn an_image_is_read_from_the_store_itself_where_that_has_addresses() {
    let host = Host::new().await;
    let ports = lapidary::port::Ports {
        ledger: host.ledger.clone(),
        blobs: Arc::new(Direct(host.blobs.clone())),
        fetcher: host.fetcher.clone(),
        storage: host.storage.clone(),
        notifier: host.notifier.clone(),
    };
    let (keyring, settings) = (Keyring::new([1; 32], [2; 32]), Settings::new("https://images.test"));
    let service = Service::with_clock(ports, lapidary::Engine::new(), keyring, settings, host.clock.clone());
    let id = host.upload_picture().await.id();
    let running = service.start();
    host.settle().await;
    let url = host.result(&id).await.json()["output"]["url"].as_str().unwrap().to_owned();
    let name = "inline; filename=\"dots.png\"; filename*=UTF-8''dots.png";
    let now = host.clock.now();
    assert_eq!(url, format!("https://bucket.test/out-{id}.1 image/png {name} {now:?} 3600s"));
    finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn what_a_dead_process_left_behind_is_swept_and_what_waits_is_not() {
    let host = Host::new().await;
    let waiting = host.upload_picture().await.id();
    let stray = BlobKey::Source("01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap());
    let mut writer = host.blobs.create(stray).await.unwrap();
    writer.write(b"x").await.unwrap();
    writer.finish().await.unwrap();
    host.clock.advance(Duration::from_secs(3601));
    // Another worker has the one that waits, so that only the sweep works here.
    assert_eq!(host.ledger.claim(1, None, Duration::from_secs(86_400), host.clock.now()).await.unwrap().len(), 1);
    let running = host.service.start();
    tokio::time::sleep(Duration::from_secs(31)).await;
    assert_eq!(host.blobs().await, 1);
    assert_eq!(host.result(&waiting).await.status, 202);
    finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_result_goes_to_the_clients_own_storage_inline_or_by_connector() {
    let host = Host::new().await;
    let credentials = Credentials { provider: Provider::Aws, key: "AK".into(), secret: "canary".into() };
    host.service.admin().put_connector(host.account, "mine", &credentials).await.unwrap();
    let destinations = [r#""id":"mine""#, r#""provider":"aws","key":"AK","secret":"canary""#]
        .map(|who| format!(r#"{{"store":{{{who},"bucket":"bucket","region":"eu-west-1","path":"a"}}}}"#));
    for data in destinations {
        let id = host.upload(&[(FILE, &picture()), (crate::fixture::DATA, data.as_bytes())]).await.id();
        let running = host.service.start();
        host.settle().await;
        drop(running);
        let result = host.result(&id).await;
        assert_eq!(result.status, 200, "{result:?}");
        let stored = host.storage.object("bucket", "a/dots.png").unwrap();
        assert_eq!(stored.bytes.len() as u64, result.json()["output"]["bytes"].as_u64().unwrap());
        assert!(!result.json()["output"]["url"].as_str().unwrap().contains("volatile"));
        assert_eq!(host.blobs().await, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn accounts_without_a_name_and_connectors_that_no_request_can_name_are_refused() {
    let host = Host::new().await;
    let admin = host.service.admin();
    assert!(matches!(admin.open_account("", "gold", 1).await, Err(AdminError::Value(_))));
    assert!(matches!(admin.open_account("demo", "gold", 1).await, Err(AdminError::NameTaken(name)) if name == "demo"));
    for (id, key, secret, named) in
        [("", "k", "s", "id"), ("a\n", "k", "s", "id"), ("a", "", "s", "key"), ("a", "k", "s\n", "secret")]
    {
        let credentials = Credentials { provider: Provider::Aws, key: key.into(), secret: secret.into() };
        let refused = admin.put_connector(host.account, id, &credentials).await.unwrap_err();
        assert!(refused.to_string().starts_with(&format!("{named} must be")), "{refused}");
    }
    assert_eq!(admin.connectors(host.account).await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn nobody_uses_anothers_connector() {
    let host = Host::new().await;
    let other = host.service.admin().open_account("other", "gold", 1).await.unwrap().account;
    let credentials = Credentials { provider: Provider::Aws, key: "AK".into(), secret: "canary".into() };
    host.service.admin().put_connector(other, "theirs", &credentials).await.unwrap();
    let data = br#"{"store":{"id":"theirs","bucket":"bucket","region":"eu-west-1"}}"#;
    let answer = host.upload(&[(FILE, &picture()), (crate::fixture::DATA, data)]).await;
    assert_eq!((answer.status, answer.message().contains("store.id")), (422, true), "{answer:?}");
}

/// Never answers.
#[derive(Debug)]
pub struct Silent;

#[async_trait]
impl Fetcher for Silent {
    fn check(&self, _: &Url) -> Result<()> {
        Ok(())
    }

    async fn fetch(&self, _: Fetch<'_>) -> Result<Fetched> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn an_account_whose_sources_hang_keeps_no_others_waiting() {
    let host = Host::with(|_| {}, 100).await;
    let host = host.again(|ports| ports.fetcher = Arc::new(Silent), Keyring::new([1; 32], [2; 32]));
    for _ in 0..100 {
        assert_eq!(host.fetch(r#"{"url":"https://example.com/a.png"}"#).await.status, 202);
    }
    let running = host.service.start();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let other = host.service.admin().open_account("other", "gold", 100).await.unwrap().account;
    let (picture, request) = (picture(), lapidary::Request::new());
    for _ in 0..10 {
        let mut standing = Standing::Accepted;
        let source = lapidary::Input { bytes: &picture, name: None };
        let id = host.service.submit(other, &request, Some(source)).await.unwrap();
        for _ in 0..1_000 {
            standing = host.service.standing(other, id).await.unwrap().unwrap();
            if matches!(standing, Standing::Settled { .. }) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(matches!(standing, Standing::Settled { status: 200, .. }), "{standing:?}");
    }
    drop(running);
}

#[tokio::test(start_paused = true)]
async fn an_account_alone_has_all_its_jobs_done_however_few_hands_there_are() {
    for in_hand in 1..=9 {
        let host = Host::with(|settings| settings.in_hand = Some(in_hand), 100).await;
        for _ in 0..20 {
            host.upload_picture().await;
        }
        host.work().await;
        assert_eq!(credits(&host).await, (20, 0), "{in_hand}");
    }
}

#[tokio::test(start_paused = true)]
async fn at_shutdown_what_does_not_finish_is_handed_back_without_counting() {
    let host = Host::new().await;
    let ports = lapidary::port::Ports {
        ledger: host.ledger.clone(),
        blobs: host.blobs.clone(),
        fetcher: Arc::new(Silent),
        storage: host.storage.clone(),
        notifier: host.notifier.clone(),
    };
    let keyring = Keyring::new([1; 32], [2; 32]);
    let stuck = Service::with_clock(
        ports,
        lapidary::Engine::new(),
        keyring,
        Settings::new("https://images.test"),
        host.clock.clone(),
    );
    let id = host.fetch(r#"{"url":"https://example.com/a.png"}"#).await.id();
    let running = stuck.start();
    while stuck.health().await.processing == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    running.shut_down(Duration::from_secs(1)).await;
    assert_eq!(stuck.health().await.waiting, 1);
    let [lease] = host.ledger.claim(1, None, LEASE, host.clock.now()).await.unwrap().try_into().unwrap();
    assert_eq!((lease.id.to_string(), lease.attempt), (id, 1));
}

#[tokio::test(start_paused = true)]
async fn secrets_are_sealed_and_never_printed() {
    let host = Host::new().await;
    let body = r#"{"url":"https://user:canary1@example.com/a.png?canary2","headers":{"X-Token":"canary3"},
        "store":{"provider":"aws","key":"canary4","secret":"canary5","bucket":"bucket","region":"r"},
        "webhook":{"url":"https://u:canary6@example.org/h?canary7"}}"#;
    let answer = host.fetch(body).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let [lease] = host.ledger.claim(1, None, LEASE, host.clock.now()).await.unwrap().try_into().unwrap();
    let contains = |bytes: &[u8]| bytes.windows(6).any(|window| window == b"canary");
    assert!(!contains(&lease.sealed));
    assert!(!format!("{:?} {lease:?} {:?}", host.service, host.ledger).contains("canary"));
    let call = Call { method: "GET", path: "/1.0/account", authorization: Some("Bearer canary"), ..Call::default() };
    assert!(!format!("{call:?}").contains("canary"));
    host.clock.advance(LEASE);
    host.work().await;
    assert!(!contains(&host.result(&answer.id()).await.bytes));
}

#[tokio::test(start_paused = true)]
async fn settings_without_bounds_and_settings_of_0_make_a_service_that_works() {
    let without_bounds = |settings: &mut Settings| {
        (settings.workers, settings.in_hand) = (usize::MAX, Some(usize::MAX));
        (settings.uploads, settings.attempts) = (usize::MAX, u32::MAX);
        (settings.notifications, settings.notifications_per_host) = (usize::MAX, usize::MAX);
        (settings.lease, settings.poll, settings.sweep) = (Duration::MAX, Duration::MAX, Duration::MAX);
    };
    let of_0 = |settings: &mut Settings| {
        (settings.workers, settings.in_hand) = (0, Some(0));
        (settings.uploads, settings.attempts) = (0, 0);
        (settings.notifications, settings.notifications_per_host) = (0, 0);
        (settings.lease, settings.poll, settings.sweep) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    };
    for change in [&without_bounds as &dyn Fn(&mut Settings), &of_0] {
        let host = Host::with(change, 10).await;
        let parts: [(&str, &[u8]); 2] =
            [(FILE, &picture()), (crate::fixture::DATA, br#"{"webhook":{"url":"https://example.org/"}}"#)];
        let id = host.upload(&parts).await.id();
        host.work().await;
        assert_eq!(host.result(&id).await.status, 200);
    }
}
