//! Jobs that a host submits and asks for without HTTP.

use std::time::Duration;

use lapidary::{
    Input, Request,
    port::{
        Uuid, collect,
        ledger::{AccountId, JobId, Standing},
    },
};

use crate::fixture::{Host, picture};

fn request(json: &str) -> Request {
    serde_json::from_str(json).unwrap()
}

async fn standing(host: &Host, id: JobId) -> Option<Standing> {
    host.service.standing(host.account, id).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_picture_is_submitted_worked_on_and_asked_for() {
    let host = Host::new().await;
    let picture = picture();
    let source = Input { bytes: &picture, name: Some("album/dots.png") };
    let id = host.service.submit(host.account, &request(r#"{"optimize":{}}"#), Some(source)).await.unwrap();
    assert_eq!(standing(&host, id).await, Some(Standing::Accepted));
    host.work().await;
    let Some(Standing::Settled { status: 200, body }) = standing(&host, id).await else { panic!("it is settled") };
    assert_eq!(body, host.result(&id.to_string()).await.bytes, "the same as by HTTP");
    let result: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(result["input"]["name"], "dots.png");
    let url = result["output"]["url"].as_str().unwrap();
    let image = host.service.volatile(url).await.unwrap().unwrap();
    assert_eq!((image.name.as_str(), image.media_type.as_str(), image.encoding), ("dots.png", "image/png", None));
    let served = host.download(url).await.bytes;
    assert!(!served.is_empty() && collect(image.blob).await.unwrap() == served);
    host.clock.advance(Duration::from_secs(3_600));
    for gone in [url, "https://elsewhere.example/volatile/AAAA/a.png", ""] {
        assert!(host.service.volatile(gone).await.unwrap().is_none(), "{gone}");
    }
    assert_eq!(host.service.standing(AccountId(id.0), id).await.unwrap(), None, "it is its account's alone");
}

#[tokio::test(start_paused = true)]
async fn what_clients_would_be_refused_a_host_is_too() {
    let host = Host::with(|_| {}, 1).await;
    let picture = picture();
    let large = vec![0; 33 << 20];
    let submit = async |json: &str, bytes: Option<&[u8]>| {
        let source = bytes.map(|bytes| Input { bytes, name: None });
        host.service.submit(host.account, &request(json), source).await.map_err(|refused| refused.status)
    };
    assert_eq!(submit("{}", None).await, Err(422), "neither a source nor a url");
    assert_eq!(submit(r#"{"url":"https://example.com/a.png"}"#, Some(&picture)).await, Err(422), "both");
    assert_eq!(submit("{}", Some(&large)).await, Err(413));
    assert_eq!(host.blobs().await, 0);
    submit("{}", Some(&picture)).await.unwrap();
    assert_eq!(submit("{}", Some(&picture)).await, Err(402));
    assert_eq!(host.blobs().await, 1, "the source of the refused one is gone");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_says_what_is_wrong_in_parts_and_when_to_come_again() {
    let host = Host::with(|settings| settings.capacity.jobs = 1, 100).await;
    let picture = picture();
    let source = Some(Input { bytes: &picture, name: None });
    let submit = async |account, json: &str| host.service.submit(account, &request(json), source).await;
    let wrong = submit(host.account, r#"{"url":"https://example.com/a.png"}"#).await.unwrap_err();
    assert!(matches!(&wrong.violations[..], [one] if one.path == "url"), "{wrong:?}");
    assert_eq!(wrong.retry_after, None);
    let nobody = submit(AccountId(Uuid::nil()), "{}").await.unwrap_err();
    assert_eq!((nobody.status, nobody.message.contains("there is no account")), (403, true), "{nobody}");
    submit(host.account, "{}").await.unwrap();
    let full = submit(host.account, "{}").await.unwrap_err();
    assert_eq!((full.status, full.retry_after), (503, Some(Duration::from_secs(5))), "{full}");
    host.service.admin().set_disabled(host.account, true).await.unwrap();
    let disabled = submit(host.account, "{}").await.unwrap_err();
    assert_eq!((disabled.status, disabled.message.contains("disabled")), (403, true), "{disabled}");
}
