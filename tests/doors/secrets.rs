//! Secrets are planted wherever one may be, and looked for in everything that is kept or said.

use std::{
    fs, io,
    path::Path,
    sync::{Arc, Mutex},
};

use lapidary::{
    port::Credentials,
    request::{Provider, Request, Way},
};
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::{Value, json};

use crate::host::{Host, picture};

#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The word in clear, in Base64 wherever it begins, and in hexadecimal.
const CANARY: [&str; 5] = ["canary", "Y2FuYXJ5", "NhbmFye", "jYW5hcn", "63616e617279"];

/// What of `secrets` is in `bytes`.
fn found<'a>(bytes: &[u8], secrets: &[&'a str]) -> Vec<&'a str> {
    let holds = |secret: &str| bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
    secrets.iter().copied().filter(|secret| holds(secret)).collect()
}

/// Every file below `folder` by its path.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of = |path: std::path::PathBuf| {
        if path.is_dir() { files(&path) } else { vec![(path.display().to_string(), fs::read(&path).unwrap())] }
    };
    entries.flat_map(of).collect()
}

/// Requests that are accepted: an image that is made and told of, stores that refuse, a receiver that never takes it, a
/// source that is not there and one that redirects to the inside.
fn accepted() -> [Value; 5] {
    let url = "http://canary01:canary02@images.example.net/a.png?sig=canary03#canary04";
    let headers = json!({ "X-Token": "canary05", "Cookie": "canary06", "Authorization": "canary07" });
    let hook = json!({ "url": "http://canary08:canary09@hooks.example.net/taken?token=canary10" });
    let dead = json!({ "url": "http://canary08:canary09@hooks.example.net/broken?token=canary10", "delay": 60 });
    let place = json!({ "provider": "custom", "key": "canary11", "secret": "canary12", "bucket": "photos", "region": "r",
        "metadata": { "owner": "me" } });
    let connected = json!({ "id": "mine", "bucket": "photos", "region": "r" });
    [
        json!({ "url": url, "headers": headers, "webhook": hook }),
        json!({ "url": url, "headers": headers, "store": place, "webhook": dead }),
        json!({ "url": url, "store": connected, "webhook": hook }),
        json!({ "url": url.replace("a.png", "missing"), "headers": headers, "webhook": dead }),
        json!({ "url": url.replace("a.png", "inside"), "headers": headers, "webhook": hook }),
    ]
}

/// Requests that are refused.
fn refused() -> Vec<String> {
    [
        json!({ "url": "http://canary13:canary14@10.0.0.1/a.png?canary15" }),
        json!({ "url": "ftp://canary13:canary14@example.net/?canary15" }),
        json!({ "url": "http://canary13:can ary@example.net:x/?canary15" }),
        json!({ "url": "http://a.net/", "webhook": { "url": "http://canary13:canary14@localhost/?canary15" } }),
        json!({ "url": "http://a.net/", "headers": { "X-Token": ["canary13"] } }),
        json!({ "url": "http://a.net/", "headers": { "X-Token": "canary13\r\ncanary14: x" } }),
        json!({ "url": "http://a.net/", "store": { "provider": "aws", "key": ["canary13"], "secret": "canary14" } }),
        json!({ "url": "http://a.net/", "store": { "id": "other", "secret": "canary14", "bucket": "b", "region": "r" } }),
        json!({ "url": "http://a.net/", "store": { "provider": "google", "key": "canary13", "secret": "canary14",
            "bucket": "bucket", "region": "r", "class": "glacier" } }),
    ]
    .iter()
    .map(Value::to_string)
    .chain([r#"{"url":"http://canary13:canary14@a.net/","headers":{"X":"canary15""#.to_owned()])
    .collect()
}

#[tokio::test]
async fn no_planted_secret_is_kept_in_clear_logged_counted_printed_or_told() {
    let log = Log::default();
    let writer = log.clone();
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .init();
    let metrics = PrometheusBuilder::new().install_recorder().unwrap();
    let host = Host::new().await;
    let admin = host.service.admin();
    let (key, secret) = ("canary16".into(), "canary17".into());
    let credentials = Credentials { provider: Provider::Custom, key, secret };
    admin.put_connector(host.account, "mine", &credentials).await.unwrap();
    host.internet.answer("images.example.net/a.png", "200 OK", &picture());
    host.internet.answer("images.example.net/inside", "302 Found\r\nlocation: http://u:p@10.0.0.1/", b"");
    host.internet.answer("hooks.example.net/taken", "204 No Content", b"");
    host.internet.answer("hooks.example.net/broken", "500 No", b"");
    let wrong = "<Error><Code>SignatureDoesNotMatch</Code><Message>of canary12</Message></Error>";
    host.internet.answer("s3.example.com/photos/a.png", "403 No", wrong.as_bytes());

    let (mut said, mut ids) = (format!("{:?} {credentials:?}", host.service), Vec::new());
    for body in accepted() {
        said += &format!("{:?}", Request::from_json_for(Way::Fetch, body.to_string().as_bytes()));
        let (status, answer) = host.fetch(&body).await;
        assert_eq!(status, 202, "{answer}");
        ids.push(answer["id"].as_str().unwrap().to_owned());
    }
    for body in refused() {
        said +=
            &format!("{:?}", Request::from_json_for(Way::Fetch, body.as_bytes()).map_err(|error| error.to_string()));
        let (status, answer) = host.fetch_text(body).await;
        assert!([400, 422].contains(&status), "{answer}");
        said += &answer.to_string();
    }
    let rotated = admin.rotate_webhook_secret(host.account, std::time::Duration::from_secs(60)).await.unwrap();
    let own = [host.key.as_str(), &host.webhook_secret["whsec_".len()..], &rotated.expose()["whsec_".len()..]];
    let secrets = [&CANARY[..], &own].concat();

    let waiting = files(&host.folder);
    host.work().await;
    let done = files(&host.folder);
    let names: Vec<&str> = waiting.iter().map(|(name, _)| name.rsplit('/').next().unwrap()).collect();
    assert!(names.contains(&"ledger.sqlite") && names.contains(&"ledger.sqlite-wal"), "{names:?}");
    for (name, bytes) in waiting.iter().chain(&done) {
        assert_eq!(found(bytes, &secrets), [""; 0], "{name}");
    }

    let mut codes = Vec::new();
    for id in &ids {
        let (status, answer) = host.result(id).await;
        codes.push(status);
        said += &answer.to_string();
    }
    assert_eq!(codes, [200, 422, 422, 422, 422], "{said}");
    let deliveries = admin.deliveries(host.account, 10).await.unwrap();
    said += &format!("{deliveries:?} {:?}", admin.account(host.account).await.unwrap());
    said += &format!("{:?} {rotated:?}", admin.connectors(host.account).await.unwrap());
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let counted = metrics.render();
    assert!(logged.contains("notified") && counted.contains("lapidary_notifications_total"), "{logged}");
    assert!(said.contains("the secret does not belong to the access key id"), "{said}");
    for (what, text) in [("said", &said), ("logged", &logged), ("counted", &counted)] {
        assert_eq!(found(text.as_bytes(), &secrets), [""; 0], "{what}: {text}");
    }
}
