//! Against a bucket of this machine.

mod judge;
mod presigned;
mod secrets;

use judge::{BUCKET, Fault, Judge, KEY, REGION, SECRET};

use super::*;
use crate::{
    adapter::http::{Guard, Options},
    clock::{SystemClock, Timestamp},
    port::{
        BlobKey, Blobs, Fetcher, Notifier, collect,
        ledger::{Fence, JobId},
    },
    request::Acl,
};

fn credentials(key: &str, secret: &str) -> Credentials {
    Credentials { provider: Provider::Custom, key: key.into(), secret: secret.into() }
}

fn http(port: u16) -> Http {
    let guard = Guard::default().open(format!("127.0.0.1:{port}").parse().unwrap());
    Http::new(Options { guard, clock: Arc::new(SystemClock::new()), ..Options::default() }).unwrap()
}

/// With no pause between attempts.
fn s3(judge: &Judge) -> S3 {
    let endpoint = Endpoint::new(format!("http://127.0.0.1:{}", judge.port));
    let mut s3 = S3::new(&http(judge.port), Some(endpoint)).unwrap();
    s3.wire.pause = Duration::ZERO;
    s3
}

async fn put(s3: &S3, store: &Store, credentials: &Credentials, bytes: &[u8]) -> Result<String> {
    s3.put(Object { bytes, media_type: "image/webp", name: "a b+ü.webp", store, credentials }).await
}

/// As `KEY`, in `REGION`.
async fn put_plain(s3: &S3) -> Result<String> {
    put(s3, &Store::connector("c", BUCKET, REGION), &credentials(KEY, SECRET), b"x").await
}

#[cfg(feature = "testing")]
#[tokio::test]
async fn the_suites_of_storages_and_blobs_hold() {
    crate::testing::storage(async || {
        let judge = Judge::sits().await;
        let kept = judge.clone();
        let public_url = Some("https://cdn.example.com".into());
        let endpoint = Endpoint { public_url, ..Endpoint::new(format!("http://127.0.0.1:{}", judge.port)) };
        Arc::new(crate::testing::Bucket {
            storage: Arc::new(S3::new(&http(judge.port), Some(endpoint)).unwrap()),
            store: Store::connector("c", BUCKET, REGION),
            credentials: credentials(KEY, SECRET),
            object: Box::new(move |key| Some(kept.object(&format!("/{BUCKET}/{key}"))?.body)),
        })
    })
    .await;
    crate::testing::blobs(async || Arc::new(blobs(&Judge::sits().await, SECRET))).await;
}

#[tokio::test]
async fn an_endpoint_in_a_private_network_is_open_to_storage_alone() {
    let judge = Judge::sits().await;
    let http = Http::new(Options::default()).unwrap();
    let endpoint = format!("http://127.0.0.1:{}", judge.port);
    let url = put_plain(&S3::new(&http, Some(Endpoint::new(&endpoint))).unwrap()).await.unwrap();
    assert!(url.starts_with(&endpoint));
    let key = BlobKey::Source(job("0190163d-8694-739b-aea5-966c26f8ad91"));
    S3Blobs::new(&http, bucket(&judge, SECRET)).unwrap().delete(key).await.unwrap();
    assert!(Fetcher::check(&http, &url.as_str().into()).is_err() && Notifier::check(&http, &url.into()).is_err());
}

#[tokio::test]
async fn every_attribute_arrives_signed() {
    let judge = Judge::sits().await;
    let store = Store::connector("c", BUCKET, REGION)
        .path("2026/summer")
        .acl(Acl::BucketOwnerFullControl)
        .class(StorageClass::DeepArchive)
        .metadata("Owner", "a  b=c; d")
        .metadata("x", "")
        .header(ObjectHeader::Expires, "Thu, 01 Dec 2033 16:00:00 GMT")
        .header(ObjectHeader::CacheControl, "max-age=60, public")
        .header(ObjectHeader::ContentType, "image/x-test")
        .header(ObjectHeader::ContentEncoding, "identity")
        .header(ObjectHeader::ContentLanguage, "de")
        .header(ObjectHeader::ContentDisposition, "attachment; filename=\"a b.webp\"")
        .tag("team", "blue & green")
        .tag("ü", "1+1=2");
    let bytes = vec![7; 300_000];
    let url = put(&s3(&judge), &store, &credentials(KEY, SECRET), &bytes).await.unwrap();
    let path = "/photos/2026/summer/a%20b%2B%C3%BC.webp";
    assert_eq!(url, format!("http://127.0.0.1:{}{path}", judge.port));
    let kept = judge.object(path).unwrap();
    assert_eq!(kept.body, bytes);
    for (name, value) in [
        ("x-amz-acl", "bucket-owner-full-control"),
        ("x-amz-storage-class", "DEEP_ARCHIVE"),
        ("x-amz-meta-owner", "a  b=c; d"),
        ("x-amz-tagging", "team=blue%20%26%20green&%C3%BC=1%2B1%3D2"),
        ("expires", "Thu, 01 Dec 2033 16:00:00 GMT"),
        ("cache-control", "max-age=60, public"),
        ("content-type", "image/x-test"),
        ("content-encoding", "identity"),
        ("content-language", "de"),
        ("content-disposition", "attachment; filename=\"a b.webp\""),
        ("content-length", "300000"),
    ] {
        assert_eq!(kept.headers.get(name).map(String::as_str), Some(value), "{name}");
    }
}

#[tokio::test]
async fn a_gzipped_svg_is_kept_as_one_unless_its_client_says_otherwise() {
    let judge = Judge::sits().await;
    let store = Store::connector("c", BUCKET, REGION).path("logo.svg");
    for (name, store, encoding) in [
        ("logo.svg", store.clone(), None),
        ("logo.svgz", store.clone(), Some("gzip")),
        ("logo.svgz", store.header(ObjectHeader::ContentEncoding, "identity"), Some("identity")),
    ] {
        let credentials = &credentials(KEY, SECRET);
        let object = Object { bytes: b"x", media_type: "image/svg+xml", name, store: &store, credentials };
        s3(&judge).put(object).await.unwrap();
        let kept = judge.object("/photos/logo.svg").unwrap();
        assert_eq!(kept.headers.get("content-encoding").map(String::as_str), encoding, "{name}");
    }
}

#[tokio::test]
async fn a_plain_object_is_public_standard_and_of_its_own_type() {
    let judge = Judge::sits().await;
    put_plain(&s3(&judge)).await.unwrap();
    let kept = judge.object("/photos/a%20b%2B%C3%BC.webp").unwrap();
    for (name, value) in
        [("x-amz-acl", "public-read"), ("x-amz-storage-class", "STANDARD"), ("content-type", "image/webp")]
    {
        assert_eq!(kept.headers[name], value);
    }
    assert!(!kept.headers.contains_key("x-amz-tagging"));
}

#[tokio::test]
async fn refusals_last_and_say_why() {
    let judge = Judge::sits().await;
    let s3 = s3(&judge);
    let here = |bucket: &str, region: &str| Store::connector("c", bucket, region);
    for (store, credentials, message) in [
        (
            here(BUCKET, REGION),
            credentials("AKIDOTHER", SECRET),
            "photos: the access key id is unknown (InvalidAccessKeyId)",
        ),
        (
            here(BUCKET, REGION),
            credentials(KEY, "wrong"),
            "photos: the secret does not belong to the access key id (SignatureDoesNotMatch)",
        ),
        (here("missing", REGION), credentials(KEY, SECRET), "missing: there is no such bucket (NoSuchBucket)"),
        (here(BUCKET, "us-east-1"), credentials(KEY, SECRET), "photos: it is not in region us-east-1 but in eu-west-1"),
    ] {
        let before = judge.requests();
        let failure = put(&s3, &store, &credentials, b"x").await.unwrap_err();
        assert_eq!((failure.message, failure.may_pass), (format!("bucket {message}"), false));
        assert_eq!(judge.requests(), before + 1);
    }
}

#[tokio::test]
async fn what_is_wrong_is_refused_before_anything_is_sent() {
    let judge = Judge::sits().await;
    let s3 = s3(&judge);
    let credentials = credentials(KEY, SECRET);
    let long = Store::connector("c", BUCKET, REGION).path("a/".repeat(512).trim_end_matches('/'));
    let foreign = Store::connector("c", BUCKET, REGION).metadata("a", "ü");
    for (store, why) in [(long, "key has 1035 bytes, 1024 at most"), (foreign, "metadata.a must be ASCII")] {
        let failure = put(&s3, &store, &credentials, b"x").await.unwrap_err();
        assert!(!failure.may_pass && failure.message.contains(why), "{failure}");
    }
    let google = Credentials { provider: Provider::Google, ..credentials.clone() };
    assert!(put(&s3, &Store::connector("c", BUCKET, REGION).tag("a", "b"), &google, b"x").await.is_err());
    let odd = Credentials { key: "a\nb".into(), ..credentials };
    assert!(put(&s3, &Store::connector("c", BUCKET, REGION), &odd, b"x").await.is_err());
    assert_eq!(judge.requests(), 0);
}

#[tokio::test]
async fn what_may_pass_is_tried_three_times() {
    let judge = Judge::sits().await;
    let mut s3 = s3(&judge);
    for faults in [vec![Fault::Status(500)], vec![Fault::Status(503), Fault::Status(429)], vec![Fault::Cut, Fault::Cut]]
    {
        let (before, failed) = (judge.requests(), faults.len());
        judge.faults(faults);
        put_plain(&s3).await.unwrap();
        assert_eq!(judge.requests(), before + failed + 1);
    }
    let before = judge.requests();
    judge.faults([Fault::Status(500), Fault::Cut, Fault::Status(503)]);
    let failure = put_plain(&s3).await.unwrap_err();
    assert_eq!(failure.message, "bucket photos: the storage answered with status 503 (InternalError)");
    assert!(failure.may_pass);
    assert_eq!(judge.requests(), before + 3);
    s3.wire.attempt = Duration::from_millis(20);
    judge.faults([Fault::Hang, Fault::Hang, Fault::Hang]);
    let failure = put_plain(&s3).await.unwrap_err();
    assert_eq!((failure.message.as_str(), failure.may_pass), ("bucket photos: it took longer than 20ms", true));
}

#[tokio::test]
async fn an_upload_that_breaks_off_leaves_what_was_there() {
    let judge = Judge::sits().await;
    let s3 = s3(&judge);
    put_plain(&s3).await.unwrap();
    judge.faults([Fault::Cut, Fault::Cut, Fault::Cut]);
    let store = Store::connector("c", BUCKET, REGION);
    let failure = put(&s3, &store, &credentials(KEY, SECRET), &vec![1; 4 << 20]).await.unwrap_err();
    assert!(failure.may_pass && failure.message.starts_with("bucket photos: "), "{failure}");
    assert_eq!(judge.object("/photos/a%20b%2B%C3%BC.webp").unwrap().body, b"x");
    put(&s3, &store, &credentials(KEY, SECRET), b"y").await.unwrap();
    assert_eq!(judge.object("/photos/a%20b%2B%C3%BC.webp").unwrap().body, b"y");
}

#[tokio::test]
async fn an_endpoint_must_be_there_and_an_address() {
    let shut = Http::new(Options::default()).unwrap();
    for none in ["photos", "http://", "ftp://a.com", "mailto:a@example.com"] {
        let failure = S3::new(&shut, Some(Endpoint::new(none))).unwrap_err();
        assert!(failure.message.starts_with("the endpoint of the provider custom must "), "{none}: {failure}");
    }
    let s3 = S3::new(&shut, None).unwrap();
    let failure = put_plain(&s3).await.unwrap_err();
    assert_eq!(failure.message, "bucket photos: provider must be another: no endpoint is configured for custom");
}

fn bucket(judge: &Judge, secret: &str) -> Bucket {
    Bucket {
        name: BUCKET.into(),
        region: REGION.into(),
        credentials: credentials(KEY, secret),
        endpoint: Some(Endpoint::new(format!("http://127.0.0.1:{}", judge.port))),
        prefix: "blobs/".into(),
        presigned: false,
    }
}

fn blobs(judge: &Judge, secret: &str) -> S3Blobs {
    S3Blobs::new(&http(judge.port), bucket(judge, secret)).unwrap()
}

fn job(text: &str) -> JobId {
    text.parse().unwrap()
}

#[tokio::test]
async fn blobs_are_objects() {
    let judge = Judge::sits().await;
    let blobs = blobs(&judge, SECRET);
    let key = BlobKey::Source(job("0190163d-8694-739b-aea5-966c26f8ad91"));
    assert!(blobs.open(key).await.unwrap().is_none());
    let mut writer = blobs.create(key).await.unwrap();
    writer.write(&[1; 200_000]).await.unwrap();
    writer.write(&[2; 400_000]).await.unwrap();
    assert!(blobs.open(key).await.unwrap().is_none());
    writer.finish().await.unwrap();
    assert!(judge.object(&format!("/photos/blobs/{key}")).is_some_and(|kept| !kept.headers.contains_key("x-amz-acl")));
    let mut opened = blobs.open(key).await.unwrap().unwrap();
    assert_eq!(opened.len, 600_000);
    let first = opened.reader.next().await.unwrap().unwrap();
    assert!(!first.is_empty() && first.len() <= PIECE);
    let rest = collect(opened).await.unwrap();
    assert_eq!([first, rest].concat(), [vec![1; 200_000], vec![2; 400_000]].concat());
    drop(blobs.create(key).await.unwrap());
    blobs.delete(key).await.unwrap();
    blobs.delete(key).await.unwrap();
    assert!(blobs.open(key).await.unwrap().is_none());
}

const PIECE: usize = 256 * 1024;

#[tokio::test]
async fn old_blobs_are_listed_page_by_page_and_nothing_else_is() {
    let judge = Judge::sits().await;
    let blobs = blobs(&judge, SECRET);
    let key = |fence| BlobKey::Result(job("0190163d-8694-739b-aea5-966c26f8ad91"), Fence(fence));
    for fence in 0..5 {
        blobs.create(key(fence)).await.unwrap().finish().await.unwrap();
    }
    put(&s3(&judge), &Store::connector("c", BUCKET, REGION).path("blobs"), &credentials(KEY, SECRET), b"x")
        .await
        .unwrap();
    put_plain(&s3(&judge)).await.unwrap();
    // All were last modified at a second past new year.
    let new_year = Timestamp::from_millis(1_767_225_600_000);
    assert_eq!(blobs.older_than(new_year + Duration::from_secs(1), 10).await.unwrap(), []);
    let all = blobs.older_than(new_year + Duration::from_secs(2), 10).await.unwrap();
    assert_eq!(all, (0..5).map(key).collect::<Vec<_>>());
    assert_eq!(blobs.older_than(new_year + Duration::from_secs(2), 3).await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_blob_that_cannot_be_had_is_not_absent() {
    let judge = Judge::sits().await;
    let key = BlobKey::Source(job("0190163d-8694-739b-aea5-966c26f8ad91"));
    assert!(blobs(&judge, "wrong").open(key).await.is_err());
    assert!(blobs(&judge, "wrong").delete(key).await.is_err());
    assert!(blobs(&judge, "wrong").create(key).await.unwrap().finish().await.is_err());
}
