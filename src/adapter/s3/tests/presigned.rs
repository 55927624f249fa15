//! Blobs that are read from the bucket itself.

use super::*;
use crate::port::{Face, Fetch, Fetcher};

const FACE: Face<'_> = Face { media_type: "image/png", encoding: None, disposition: "inline; filename=\"a b.png\"" };
const HOUR: Duration = Duration::from_secs(3600);

fn key() -> BlobKey {
    BlobKey::Result(job("0190163d-8694-739b-aea5-966c26f8ad91"), Fence(1))
}

/// Of the judge's bucket, with `bytes` in it.
async fn presigning(judge: &Judge, change: impl FnOnce(&mut Bucket)) -> S3Blobs {
    let mut bucket = bucket(judge, SECRET);
    bucket.presigned = true;
    change(&mut bucket);
    let blobs = S3Blobs::new(&http(judge.port), bucket).unwrap();
    let mut writer = blobs.create(key()).await.unwrap();
    writer.write(b"bytes").await.unwrap();
    writer.finish().await.unwrap();
    blobs
}

async fn read(judge: &Judge, url: &str) -> Result<Vec<u8>> {
    let headers = std::collections::BTreeMap::new();
    let fetched = http(judge.port).fetch(Fetch { url: &url.into(), headers: &headers, max_bytes: 100 }).await?;
    Ok(fetched.bytes)
}

#[tokio::test]
async fn an_address_opens_its_object_alone_until_its_time_is_over() {
    let judge = Judge::sits().await;
    let blobs = presigning(&judge, |_| {}).await;
    let now = SystemClock::new().now();
    let address = |now| blobs.address(key(), FACE, now, HOUR).unwrap().unwrap();
    let url = address(now);
    assert_eq!(read(&judge, &url).await.unwrap(), b"bytes");
    assert!(read(&judge, &address(now - HOUR + Duration::from_secs(30))).await.is_ok());
    for refused in [
        address(now - HOUR - Duration::from_secs(1)),
        url.split_once('?').unwrap().0.to_owned(),
        url.replace("out-0190163d", "out-0190163e"),
        url.replace("image%2Fpng", "text%2Fhtml"),
        url.replace("X-Amz-Expires=3600", "X-Amz-Expires=7200"),
    ] {
        let failure = read(&judge, &refused).await.unwrap_err();
        assert!(failure.message.ends_with("answered with status 403"), "{refused}: {failure}");
    }
}

#[tokio::test]
async fn an_address_says_how_its_object_is_served() {
    let judge = Judge::sits().await;
    let blobs = presigning(&judge, |_| {}).await;
    let url = blobs.address(key(), FACE, SystemClock::new().now(), HOUR).unwrap().unwrap();
    for pair in [
        "response-content-type=image%2Fpng",
        "response-content-disposition=inline%3B%20filename%3D%22a%20b.png%22",
        "response-cache-control=private%2C%20max-age%3D3600%2C%20immutable",
    ] {
        assert!(url.split(['?', '&']).any(|found| found == pair), "{pair}: {url}");
    }
    assert!(!url.contains(SECRET) && !url.contains("canary"));
    let gzipped = Face { media_type: "image/svg+xml", encoding: Some("gzip"), ..FACE };
    let url = blobs.address(key(), gzipped, SystemClock::new().now(), HOUR).unwrap().unwrap();
    assert!(url.contains("&response-content-encoding=gzip&"), "{url}");
    assert_eq!(read(&judge, &url).await.unwrap(), b"bytes");
}

#[tokio::test]
async fn an_address_begins_where_clients_reach_the_bucket() {
    let judge = Judge::sits().await;
    let blobs = presigning(&judge, |bucket| {
        bucket.endpoint.as_mut().unwrap().public_url = Some("https://images.example.com".into());
    })
    .await;
    let url = blobs.address(key(), FACE, SystemClock::new().now(), HOUR).unwrap().unwrap();
    assert!(url.starts_with(&format!("https://images.example.com/{BUCKET}/blobs/{}?", key())), "{url}");
}

#[tokio::test]
async fn there_is_no_address_where_none_is_wanted_or_none_lasts_that_long() {
    let judge = Judge::sits().await;
    let now = SystemClock::new().now();
    let week = Duration::from_secs(604_800);
    let presigning = presigning(&judge, |_| {}).await;
    assert!(presigning.address(key(), FACE, now, week).unwrap().is_some());
    assert_eq!(presigning.address(key(), FACE, now, week + Duration::from_secs(1)).unwrap(), None);
    assert_eq!(blobs(&judge, SECRET).address(key(), FACE, now, HOUR).unwrap(), None);
}
