//! Secrets are planted wherever one may be, and looked for in everything that is said.

use std::{
    collections::BTreeMap,
    error::Error,
    io,
    sync::{Arc, Mutex},
};

use tracing_subscriber::fmt::MakeWriter;

use super::{judge::Fault, *};
use crate::{
    adapter::http::{Egress, Guard, Options, Proxy},
    port::{Fetch, Fetcher, Notification, Notifier},
    request::Url,
};

#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// A failure as a host would print it, with all that caused it.
fn said(failure: &Failure) -> String {
    let mut said = format!("{failure} {failure:?}");
    let mut cause = failure.source();
    while let Some(error) = cause {
        said += &format!(" {error} {error:?}");
        cause = error.source();
    }
    said
}

#[tokio::test]
async fn no_planted_secret_is_logged_printed_or_told() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .with_ansi(false)
        .finish();
    // Where there is one subscriber alone, what other threads say first stays unheard on this one.
    let _second = tracing::Dispatch::new(tracing_subscriber::registry());
    let guarded = tracing::subscriber::set_default(subscriber);
    tracing::trace!("listening");
    let judge = Judge::sits().await;
    let http = http(judge.port);
    let mut said_all = format!("{http:?}");

    let place = format!("127.0.0.1:{}", judge.port);
    let urls = [
        format!("http://canary:canary@{place}/a?canary#canary"),
        "http://canary:canary@10.0.0.1/canary?canary".to_owned(),
        "http://canary:canary@localhost/?canary".to_owned(),
        "http://canary:can ary@example.com/".to_owned(),
        "canary://canary:canary@example.com/".to_owned(),
        "http://canary@canary:x/".to_owned(),
        format!("http://canary:canary@{place}/%0d%0acanary"),
    ];
    let headers =
        BTreeMap::from([("X-Key".to_owned(), "canary".into()), ("Authorization".to_owned(), "canary".into())]);
    for url in urls.map(Url::from) {
        let fetched = http.fetch(Fetch { url: &url, headers: &headers, max_bytes: 10 }).await.unwrap_err();
        let notification =
            Notification { url: &url, body: b"canary", headers: &[("webhook-signature", "canary".into())] };
        let notified = http.notify(notification).await;
        said_all += &said(&fetched);
        said_all += &format!("{notified:?} {:?}", Fetcher::check(&http, &url));
        said_all += &notified.map_or_else(|failure| said(&failure), |answer| format!("{answer:?}"));
    }

    let s3 = s3(&judge);
    let canary = credentials("canary", "canary");
    said_all += &format!("{s3:?} {:?} {canary:?}", blobs(&judge, SECRET));
    for (store, credentials) in [
        (Store::connector("c", BUCKET, REGION), &canary),
        (Store::connector("c", "missing", REGION), &credentials(KEY, SECRET)),
        (Store::connector("c", BUCKET, "elsewhere"), &credentials(KEY, SECRET)),
        (Store::connector("c", BUCKET, REGION), &credentials("canary\n", SECRET)),
    ] {
        said_all += &said(&put(&s3, &store, credentials, b"canary").await.unwrap_err());
    }
    judge.faults([Fault::Cut, Fault::Status(500), Fault::Cut]);
    said_all += &said(&put_plain(&s3).await.unwrap_err());

    let proxy = Proxy { host: "proxy".into(), port: 1, authorization: Some("canary".into()), resolves: true };
    let options = Options { egress: Egress { proxy: Some(proxy), ..Egress::default() }, ..Options::default() };
    said_all += &format!("{options:?} {:?} {:?}", Guard::default(), Http::new(options.clone()).unwrap());

    drop(guarded);
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(logged.contains("listening") && logged.contains("asked again"), "{logged}");
    for text in [&logged, &said_all] {
        // The host of an address is no secret.
        let shown = text.replace("canary:x", "");
        assert!(!shown.contains("canary") && !shown.contains(KEY) && !shown.contains("Y2FuYXJ5"), "{text}");
    }
}
