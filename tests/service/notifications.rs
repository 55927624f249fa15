//! Webhooks of finished requests.

use std::time::Duration;

use lapidary::{
    Clock,
    adapter::memory::Received,
    port::{Answer, ledger::DeliveryState},
    request::Url,
    service::webhook::{Signed, SigningSecret, verify},
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
