//! Signatures judged by s3s-fs, a server of the S3 protocol that others wrote and that checks them and the bodies' hashes.
//! Needs its program: `LAPIDARY_S3S`, or `s3s-fs` on the path. Without it the tests say so and pass.
//!
//! It knows neither acls nor tags, of the classes `STANDARD` and `REDUCED_REDUNDANCY` alone, and one account; the rest is
//! asked of moto.

#![cfg(feature = "s3")]

use std::{
    collections::BTreeMap,
    env, fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use lapidary::{
    Clock, SystemClock, Timestamp,
    adapter::{
        http::{Guard, Http, Options},
        s3::{Bucket, Endpoint, S3, S3Blobs},
    },
    port::{BlobKey, Blobs, Credentials, Face, Failure, Fetch, Fetcher, Object, Storage, collect, ledger::Fence},
    request::{ObjectHeader, Provider, Store},
};

const KEY: &str = "AKIDEXAMPLE";
const SECRET: &str = "wJalr/XUtnFEMI+K7MDENG";
const REGION: &str = "eu-west-1";

/// A running server on a folder of its own; both end with this.
struct Judge {
    process: Child,
    folder: PathBuf,
    endpoint: String,
}

impl Judge {
    /// `None` where it is not installed.
    fn sits(name: &str) -> Option<Self> {
        let named = env::var("LAPIDARY_S3S");
        let program = named.as_deref().unwrap_or("s3s-fs");
        let folder = env::temp_dir().join(format!("lapidary-s3s-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("photos")).unwrap();
        let started = Command::new(program)
            .args(["--host", "127.0.0.1", "--port", "0", "--access-key", KEY, "--secret-key", SECRET])
            .arg(&folder)
            .env("RUST_LOG", "info")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut process) = started else {
            assert!(named.is_err(), "there is no {program}");
            eprintln!("left out: {program} is not installed");
            fs::remove_dir_all(folder).unwrap();
            return None;
        };
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        let endpoint =
            lines.find_map(|line| Some(format!("http://{}", line.split_once("running at http://")?.1.trim())));
        // What more it says has to go somewhere.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { process, folder, endpoint: endpoint.unwrap_or_else(|| panic!("{program} ended")) })
    }

    fn http(&self) -> Http {
        let place = self.endpoint.trim_start_matches("http://").parse().unwrap();
        Http::new(Options { guard: Guard::default().open(place), ..Options::default() }).unwrap()
    }

    fn s3(&self) -> S3 {
        S3::new(&self.http(), Some(Endpoint::new(self.endpoint.as_str()))).unwrap()
    }

    fn blobs(&self) -> S3Blobs {
        let bucket = Bucket {
            name: "photos".into(),
            region: REGION.into(),
            credentials: credentials(KEY, SECRET),
            endpoint: Some(Endpoint::new(self.endpoint.as_str())),
            prefix: "blobs/".into(),
            presigned: true,
        };
        S3Blobs::new(&self.http(), bucket).unwrap()
    }

    /// Status 200, or why not.
    async fn read(&self, url: &str) -> Result<Vec<u8>, Failure> {
        let fetch = Fetch { url: &url.into(), headers: &BTreeMap::new(), max_bytes: 1000 };
        self.http().fetch(fetch).await.map(|fetched| fetched.bytes)
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn credentials(key: &str, secret: &str) -> Credentials {
    Credentials { provider: Provider::Custom, key: key.into(), secret: secret.into() }
}

async fn put(s3: &S3, store: &Store, credentials: &Credentials, bytes: &[u8]) -> Result<String, Failure> {
    s3.put(Object { bytes, media_type: "image/webp", name: "a b+ü.webp", store, credentials }).await
}

#[tokio::test]
async fn what_is_signed_with_every_attribute_is_believed_and_kept() {
    let Some(judge) = Judge::sits("put") else { return };
    let store = Store::connector("c", "photos", REGION)
        .path("2026/summer's (best)")
        .metadata("Owner", "a  b=c; d")
        .header(ObjectHeader::CacheControl, "max-age=60, public")
        .header(ObjectHeader::ContentLanguage, "de")
        .header(ObjectHeader::ContentDisposition, "attachment; filename=\"a b.webp\"")
        .tag("team", "blue & green")
        .tag("ü", "1+1=2");
    let bytes = vec![7; 300_000];
    let url = put(&judge.s3(), &store, &credentials(KEY, SECRET), &bytes).await.unwrap();
    assert_eq!(url, format!("{}/photos/2026/summer%27s%20%28best%29/a%20b%2B%C3%BC.webp", judge.endpoint));
    assert_eq!(fs::read(judge.folder.join("photos/2026/summer's (best)/a b+ü.webp")).unwrap(), bytes);
}

#[tokio::test]
async fn a_wrong_key_and_a_wrong_secret_are_refused() {
    let Some(judge) = Judge::sits("refuse") else { return };
    let store = Store::connector("c", "photos", REGION);
    for (credentials, reason) in [
        (credentials(KEY, "wrong"), "the secret does not belong to the access key id (SignatureDoesNotMatch)"),
        // A code of its own.
        (credentials("AKIDOTHER", SECRET), "the storage answered with status 403 (NotSignedUp)"),
    ] {
        let failure = put(&judge.s3(), &store, &credentials, b"x").await.unwrap_err();
        assert_eq!((failure.message, failure.may_pass), (format!("bucket photos: {reason}"), false));
    }
    assert_eq!(fs::read_dir(judge.folder.join("photos")).unwrap().count(), 0);
}

#[tokio::test]
async fn blobs_are_put_read_listed_and_deleted() {
    let Some(judge) = Judge::sits("blobs") else { return };
    let blobs = judge.blobs();
    let job = "0190163d-8694-739b-aea5-966c26f8ad91".parse().unwrap();
    let keys = [BlobKey::Source(job), BlobKey::Result(job, Fence(1))];
    for key in keys {
        let mut writer = blobs.create(key).await.unwrap();
        writer.write(b"bytes").await.unwrap();
        writer.finish().await.unwrap();
        assert_eq!(collect(blobs.open(key).await.unwrap().unwrap()).await.unwrap(), b"bytes");
    }
    let later = SystemClock::new().now() + Duration::from_secs(60);
    assert_eq!(blobs.older_than(later, 10).await.unwrap(), keys);
    for key in keys {
        blobs.delete(key).await.unwrap();
        assert!(blobs.open(key).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn a_presigned_address_is_believed_until_its_time_is_over() {
    let Some(judge) = Judge::sits("presigned") else { return };
    let blobs = judge.blobs();
    let key = BlobKey::Result("0190163d-8694-739b-aea5-966c26f8ad91".parse().unwrap(), Fence(1));
    let mut writer = blobs.create(key).await.unwrap();
    writer.write(b"bytes").await.unwrap();
    writer.finish().await.unwrap();
    let face = Face { media_type: "image/png", encoding: None, disposition: "inline; filename=\"a b.png\"" };
    let hour = Duration::from_secs(3600);
    let address = |now: Timestamp| blobs.address(key, face, now, hour).unwrap().unwrap();
    let now = SystemClock::new().now();
    assert_eq!(judge.read(&address(now)).await.unwrap(), b"bytes");
    for refused in [
        address(now - 2 * hour),
        address(now).replace("image%2Fpng", "text%2Fhtml"),
        address(now).split_once('?').unwrap().0.to_owned(),
    ] {
        let failure = judge.read(&refused).await.unwrap_err();
        assert!(failure.message.contains("answered with status 40"), "{refused}: {failure}");
    }
}
