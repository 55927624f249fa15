//! Webhooks of finished requests.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use lapidary::{
    Clock,
    adapter::memory::Received,
    port::{Answer, Failure, Notification, Notifier, Ports, Result, ledger::DeliveryState},
    request::Url,
    service::{
        Keyring, Service, Settings,
        webhook::{Signed, SigningSecret, verify},
    },
};

use crate::fixture::{DATA, FILE, Host, finish, picture};

const HOOK: &str = "https://example.org/hook?a=b";

async fn submit(host: &Host, delay: u32, file: &[u8]) -> String {
    let data = format!(r#"{{"webhook":{{"url":"{HOOK}","delay":{delay}}}}}"#);
    let answer = host.upload(&[(FILE, file), (DATA, data.as_bytes())]).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    answer.id()
}

async fn told(host: &Host, times: usize) -> Vec<Received> {
    for _ in 0..1_000 {
        if host.notifier.received().len() >= times {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // Whoever would be told too often has the time to be.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let received = host.notifier.received();
    assert_eq!(received.len(), times);
    received
}

fn is_signed_by(received: &Received, secret: &str, host: &Host) -> bool {
    let header = |name: &str| received.headers.iter().find(|(known, _)| *known == name).unwrap().1.as_str();
    let signed = Signed {
        id: header("webhook-id"),
        timestamp: header("webhook-timestamp"),
        signature: header("webhook-signature"),
        body: &received.body,
    };
    verify(&[SigningSecret::parse(secret).unwrap()], signed, host.clock.now()).is_ok()
}

#[tokio::test(start_paused = true)]
async fn the_receiver_is_told_what_a_poll_would_tell_and_can_believe_it() {
    let host = Host::new().await;
    let running = host.service.start();
    let good = submit(&host, 0, &picture()).await;
    let received = told(&host, 1).await;
    assert_eq!((&received[0].url, &received[0].body), (&Url::from(HOOK), &host.result(&good).await.bytes));
    assert!(is_signed_by(&received[0], &host.webhook_secret, &host));
    let bad = submit(&host, 0, b"no picture").await;
    let received = told(&host, 2).await;
    assert_eq!(received[1].body, host.result(&bad).await.bytes);
    assert!(String::from_utf8_lossy(&received[1].body).contains(r#""success":false,"code":422"#));
    finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_delay_is_waited_for_and_a_failure_tried_again_by_the_schedule() {
    let host = Host::new().await;
    let answer = |status| Some(Answer { status, retry_after: None });
    host.notifier.answer(&HOOK.into(), [answer(500), None, answer(302), answer(204)]);
    let running = host.service.start();
    submit(&host, 60, &picture()).await;
    host.settle().await;
    told(&host, 0).await;
    host.clock.advance(Duration::from_secs(59));
    told(&host, 0).await;
    // Waits of 5 s, 30 s and 2 min, each at least four fifths and at most six fifths of that.
    for (times, wait) in [(1, 1), (2, 6), (3, 36), (4, 144)] {
        host.clock.advance(Duration::from_secs(wait));
        told(&host, times).await;
    }
    host.clock.advance(Duration::from_secs(86_400));
    let received = told(&host, 4).await;
    let id = |received: &Received| received.headers[0].clone();
    assert!(received.iter().all(|one| id(one) == id(&received[0]) && one.body == received[0].body));
    let delivery = &host.service.admin().deliveries(host.account, 10).await.unwrap()[0];
    let notes: Vec<&str> = delivery.attempts.iter().map(|(_, note)| note.as_str()).collect();
    assert_eq!((delivery.state, notes[0], notes[2], notes[3]), (DeliveryState::Delivered, "500", "302", "204"));
    finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn gone_ends_it_until_the_host_replays_it() {
    let host = Host::new().await;
    host.notifier.answer(&HOOK.into(), [Some(Answer { status: 410, retry_after: None })]);
    let running = host.service.start();
    let id = submit(&host, 0, &picture()).await;
    told(&host, 1).await;
    host.clock.advance(Duration::from_secs(86_400));
    told(&host, 1).await;
    assert_eq!(host.service.admin().deliveries(host.account, 10).await.unwrap()[0].state, DeliveryState::Dead);
    assert!(host.service.admin().replay(host.account, id.parse().unwrap()).await.unwrap());
    told(&host, 2).await;
    finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_asks_to_be_left_alone_is() {
    let host = Host::new().await;
    let wait = Some(Duration::from_secs(600));
    host.notifier.answer(&HOOK.into(), [Some(Answer { status: 503, retry_after: wait })]);
    let running = host.service.start();
    submit(&host, 0, &picture()).await;
    told(&host, 1).await;
    host.clock.advance(Duration::from_secs(599));
    told(&host, 1).await;
    host.clock.advance(Duration::from_secs(2));
    told(&host, 2).await;
    finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_dead_host_is_tried_three_times_and_then_once_after_each_rest() {
    let host = Host::with(|settings| settings.notifications_per_host = 1, 1_000).await;
    host.notifier.answer(&HOOK.into(), [const { None }; 5]);
    let running = host.service.start();
    for _ in 0..6 {
        submit(&host, 0, &picture()).await;
    }
    host.settle().await;
    told(&host, 3).await;
    host.clock.advance(Duration::from_secs(29));
    told(&host, 3).await;
    host.clock.advance(Duration::from_secs(2));
    told(&host, 4).await;
    host.clock.advance(Duration::from_secs(58));
    told(&host, 4).await;
    host.clock.advance(Duration::from_secs(2));
    told(&host, 5).await;
    let delivered = async || {
        let deliveries = host.service.admin().deliveries(host.account, 10).await.unwrap();
        deliveries.iter().filter(|delivery| delivery.state == DeliveryState::Delivered).count()
    };
    assert_eq!(delivered().await, 0);
    // It has come back, and all is delivered at once: also what has failed three times and waits its 144 s at most.
    host.clock.advance(Duration::from_secs(145));
    told(&host, 11).await;
    assert_eq!(delivered().await, 6);
    finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_a_dead_host_is_given_up_when_its_record_would_end() {
    let host = Host::with(|settings| settings.notifications_per_host = 1, 1_000).await;
    host.notifier.answer(&HOOK.into(), [const { None }; 4]);
    let running = host.service.start();
    for _ in 0..4 {
        submit(&host, 0, &picture()).await;
    }
    told(&host, 3).await;
    host.clock.advance(Duration::from_secs(8 * 24 * 60 * 60));
    told(&host, 4).await;
    let deliveries = host.service.admin().deliveries(host.account, 10).await.unwrap();
    let dead = deliveries.iter().filter(|delivery| delivery.state == DeliveryState::Dead);
    let notes: Vec<_> = dead.map(|delivery| delivery.attempts.last().unwrap().1.as_str()).collect();
    assert_eq!(notes, ["not sent: the receiver was silent"; 3]);
    finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn while_a_secret_is_rotated_both_sign() {
    let host = Host::new().await;
    let admin = host.service.admin();
    let new = admin.rotate_webhook_secret(host.account, Duration::from_secs(3600)).await.unwrap();
    let running = host.service.start();
    submit(&host, 0, &picture()).await;
    let first = told(&host, 1).await.remove(0);
    assert!(is_signed_by(&first, &host.webhook_secret, &host) && is_signed_by(&first, new.expose(), &host));
    host.clock.advance(Duration::from_secs(3601));
    submit(&host, 0, &picture()).await;
    let second = told(&host, 2).await.remove(1);
    assert!(!is_signed_by(&second, &host.webhook_secret, &host) && is_signed_by(&second, new.expose(), &host));
    finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_takes_over_is_resealed_with_the_one_before_it() {
    let ring = || Keyring::new([1; 32], [2; 32]);
    let host = Host::new().await.again(|_| {}, ring().with_key(7, [9; 32]));
    let hour = Duration::from_secs(3600);
    let new = host.service.admin().rotate_webhook_secret(host.account, hour).await.unwrap();
    assert_eq!(host.service.admin().reseal(host.account).await.unwrap(), 1);
    assert_eq!(host.service.admin().reseal(host.account).await.unwrap(), 0);
    // The old key is gone.
    let host = host.again(|_| {}, Keyring::new([5; 32], [2; 32]).with_key(7, [9; 32]));
    let running = host.service.start();
    submit(&host, 0, &picture()).await;
    let first = told(&host, 1).await.remove(0);
    assert!(is_signed_by(&first, &host.webhook_secret, &host) && is_signed_by(&first, new.expose(), &host));
    finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_secret_signs_though_the_one_before_it_does_not_open() {
    let ring = |key| Keyring::new([key; 32], [2; 32]).with_key(7, [9; 32]);
    let host = Host::new().await.again(|_| {}, ring(1));
    let hour = Duration::from_secs(3600);
    let new = host.service.admin().rotate_webhook_secret(host.account, hour).await.unwrap();
    let host = host.again(|_| {}, ring(5));
    assert!(host.service.admin().reseal(host.account).await.is_err());
    let running = host.service.start();
    submit(&host, 0, &picture()).await;
    assert!(is_signed_by(&told(&host, 1).await[0], new.expose(), &host));
    finish(running).await;
    host.clock.advance(hour);
    assert_eq!(host.service.admin().reseal(host.account).await.unwrap(), 0, "its time is over");
}

#[tokio::test(start_paused = true)]
async fn a_port_that_is_silent_keeps_no_other_port_of_its_host_waiting() {
    let host = Host::with(|settings| settings.notifications_per_host = 1, 1_000).await;
    let silent = "https://example.org:8443/";
    host.notifier.answer(&silent.into(), [const { None }; 3]);
    let running = host.service.start();
    for url in [silent, silent, silent] {
        let data = format!(r#"{{"webhook":{{"url":"{url}"}}}}"#);
        assert_eq!(host.upload(&[(FILE, &picture()), (DATA, data.as_bytes())]).await.status, 202);
    }
    told(&host, 3).await;
    submit(&host, 0, &picture()).await;
    assert_eq!(told(&host, 4).await[3].url, Url::from(HOOK));
    finish(running).await;
}

/// Five hosts never answer, the others at once.
#[derive(Debug, Default)]
struct SomeHang(AtomicUsize);

#[async_trait]
impl Notifier for SomeHang {
    fn check(&self, _: &Url) -> Result<()> {
        Ok(())
    }

    async fn notify(&self, notification: Notification<'_>) -> Result<Answer> {
        if notification.url.host().is_some_and(|host| host.starts_with("hangs")) {
            tokio::time::sleep(Duration::from_secs(10)).await;
            return Err(Failure::passing("no answer within 10 s"));
        }
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Answer { status: 200, retry_after: None })
    }
}

#[tokio::test(start_paused = true)]
async fn receivers_that_hang_do_not_keep_others_waiting() {
    let host = Host::with(|_| {}, 1_000).await;
    let notifier = Arc::new(SomeHang::default());
    let ports = Ports {
        ledger: host.ledger.clone(),
        blobs: host.blobs.clone(),
        fetcher: host.fetcher.clone(),
        storage: host.storage.clone(),
        notifier: notifier.clone(),
    };
    let mut settings = Settings::new("https://images.test");
    // Fewer than the notifications that hang.
    settings.notifications = 64;
    let keyring = Keyring::new([1; 32], [2; 32]);
    let service = Service::with_clock(ports, lapidary::Engine::new(), keyring, settings, host.clock.clone());
    for number in 0..1_000 {
        let receiver = match number % 50 {
            bad @ 0..5 => format!("hangs{bad}"),
            good => format!("answers{good}"),
        };
        // What is no picture fails at once; its receiver is told all the same.
        let data = format!(r#"{{"webhook":{{"url":"https://{receiver}.example.org/","delay":60}}}}"#);
        assert_eq!(host.upload(&[(FILE, b"no picture"), (DATA, data.as_bytes())]).await.status, 202);
    }
    let running = service.start();
    host.settle().await;
    host.clock.advance(Duration::from_secs(60));
    let due = tokio::time::Instant::now();
    while notifier.0.load(Ordering::SeqCst) < 900 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert!(due.elapsed() < Duration::from_secs(5), "{} of 900 told", notifier.0.load(Ordering::SeqCst));
    }
    finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_sealed_with_other_keys_waits_for_them() {
    let host = Host::new().await;
    let id = submit(&host, 0, &picture()).await;
    let wrong = |host: Host| host.again(|_| {}, Keyring::new([5; 32], [2; 32]));
    let right = |host: Host| host.again(|_| {}, Keyring::new([1; 32], [2; 32]));
    // The job, and then its notification.
    let host = wrong(host);
    assert!(host.service.admin().check_keys(host.account).await.is_err());
    let running = host.service.start();
    told(&host, 0).await;
    assert_eq!(host.result(&id).await.status, 202);
    finish(running).await;
    host.clock.advance(Duration::from_secs(60));
    let host = right(host);
    assert!(host.service.admin().check_keys(host.account).await.is_ok());
    host.notifier.answer(&HOOK.into(), [Some(Answer { status: 500, retry_after: None })]);
    let running = host.service.start();
    told(&host, 1).await;
    finish(running).await;
    host.clock.advance(Duration::from_secs(60));
    let host = wrong(host);
    let running = host.service.start();
    told(&host, 1).await;
    finish(running).await;
    host.clock.advance(Duration::from_secs(60));
    let host = right(host);
    let running = host.service.start();
    told(&host, 2).await;
    finish(running).await;
}
