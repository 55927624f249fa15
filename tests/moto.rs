//! Storage and blobs against moto, a server of the S3 protocol that others wrote. It takes every region for the bucket's, and
//! fails at presigned addresses; those are for the judge of `adapter::s3` and for s3s. Needs a Python with `moto[server]` and
//! `boto3`: `LAPIDARY_PYTHON`, or `python3`. Without one the tests say so and pass.

#![cfg(feature = "s3")]

use std::{
    env,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::Arc,
};

use lapidary::{
    adapter::{
        http::{Http, Options},
        s3::{Bucket, Endpoint, S3, S3Blobs},
    },
    port::{Credentials, Failure, Object, Storage},
    request::{Acl, ObjectHeader, Provider, StorageClass, Store},
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
};

const REGION: &str = "eu-west-1";

/// A running server; it ends with this.
struct Moto {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    endpoint: String,
    credentials: Credentials,
}

impl Moto {
    /// `None` where it is not installed.
    fn start() -> Option<Self> {
        let named = env::var("LAPIDARY_PYTHON");
        let python = named.as_deref().unwrap_or("python3");
        let probe = Command::new(python).args(["-c", "import boto3, moto.server"]).stderr(Stdio::null()).status();
        if !probe.is_ok_and(|status| status.success()) {
            assert!(named.is_err(), "{python} lacks moto or boto3");
            eprintln!("left out: {python} with moto and boto3 is not installed");
            return None;
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/moto/server.py");
        let mut process = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        let nobody = Credentials { provider: Provider::Custom, key: "".into(), secret: "".into() };
        let mut moto = Self { process, input, output, endpoint: String::new(), credentials: nobody };
        let started = moto.line();
        let text = |name: &str| started[name].as_str().unwrap().to_owned();
        moto.endpoint = text("endpoint");
        moto.credentials.key = text("key").into();
        moto.credentials.secret = text("secret").into();
        Some(moto)
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// What the server knows of an object.
    fn object(&mut self, key: &str) -> Value {
        writeln!(self.input.as_mut().unwrap(), "{}", Value::from(key)).unwrap();
        self.line()
    }

    fn s3(&self) -> S3 {
        s3(&self.endpoint)
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        drop(self.input.take());
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn http() -> Http {
    Http::new(Options::default()).unwrap()
}

fn s3(endpoint: &str) -> S3 {
    S3::new(&http(), Some(Endpoint::new(endpoint))).unwrap()
}

async fn put(s3: &S3, store: &Store, credentials: &Credentials, bytes: &[u8]) -> Result<String, Failure> {
    s3.put(Object { bytes, media_type: "image/webp", name: "a.webp", store, credentials }).await
}

#[tokio::test]
async fn every_attribute_is_read_back() {
    let Some(mut moto) = Moto::start() else { return };
    let store = Store::connector("c", "photos", REGION)
        .path("2026/a b.webp")
        .acl(Acl::PublicRead)
        .class(StorageClass::DeepArchive)
        .metadata("Owner", "a b=c; d")
        .header(ObjectHeader::Expires, "Thu, 01 Dec 2033 16:00:00 GMT")
        .header(ObjectHeader::CacheControl, "max-age=60, public")
        .header(ObjectHeader::ContentType, "image/x-test")
        .header(ObjectHeader::ContentEncoding, "identity")
        .header(ObjectHeader::ContentLanguage, "de")
        .header(ObjectHeader::ContentDisposition, "attachment; filename=\"a b.webp\"")
        .tag("team", "blue + green")
        .tag("year", "2026");
    // Archived objects cannot be read at once: the others are read from one that is not.
    let url = put(&moto.s3(), &store, &moto.credentials, b"archived").await.unwrap();
    assert_eq!(url, format!("{}/photos/2026/a%20b.webp", moto.endpoint));
    let store = store.class(StorageClass::IntelligentTiering);
    put(&moto.s3(), &store, &moto.credentials, b"bytes").await.unwrap();
    let object = moto.object("2026/a b.webp");
    for (name, value) in [
        ("body", "bytes"),
        ("x-amz-storage-class", "INTELLIGENT_TIERING"),
        ("x-amz-meta-owner", "a b=c; d"),
        ("expires", "Thu, 01 Dec 2033 16:00:00 GMT"),
        ("cache-control", "max-age=60, public"),
        ("content-type", "image/x-test"),
        ("content-encoding", "identity"),
        ("content-language", "de"),
        ("content-disposition", "attachment; filename=\"a b.webp\""),
    ] {
        assert_eq!(object[name], value, "{name} of {object}");
    }
    assert_eq!(object["tags"], serde_json::json!({ "team": "blue + green", "year": "2026" }));
    assert_eq!(object["grants"], serde_json::json!([["owner", "FULL_CONTROL"], ["AllUsers", "READ"]]));
}

#[tokio::test]
async fn every_class_and_acl_is_known_to_the_server() {
    let Some(mut moto) = Moto::start() else { return };
    let store = || Store::connector("c", "photos", REGION);
    for (class, name) in [
        (StorageClass::Standard, Value::Null),
        (StorageClass::ReducedRedundancy, "REDUCED_REDUNDANCY".into()),
        (StorageClass::StandardIa, "STANDARD_IA".into()),
        (StorageClass::OnezoneIa, "ONEZONE_IA".into()),
        (StorageClass::IntelligentTiering, "INTELLIGENT_TIERING".into()),
    ] {
        put(&moto.s3(), &store().class(class), &moto.credentials, b"x").await.unwrap();
        assert_eq!(moto.object("a.webp")["x-amz-storage-class"], name);
    }
    put(&moto.s3(), &store().class(StorageClass::Glacier).path("cold"), &moto.credentials, b"x").await.unwrap();
    for (acl, grants) in
        [(Acl::Private, 1), (Acl::PublicRead, 2), (Acl::PublicReadWrite, 2), (Acl::AuthenticatedRead, 2)]
    {
        put(&moto.s3(), &store().acl(acl), &moto.credentials, b"x").await.unwrap();
        assert_eq!(moto.object("a.webp")["grants"].as_array().unwrap().len(), grants, "{acl:?}");
    }
}

#[tokio::test]
async fn refusals_name_the_bucket_and_the_reason() {
    let Some(moto) = Moto::start() else { return };
    let Credentials { provider, key, secret } = moto.credentials.clone();
    let wrong_secret = Credentials { provider, key, secret: "wrong".into() };
    let wrong_key = Credentials { provider, key: "AKIAWRONG".into(), secret };
    for (bucket, credentials, reason) in [
        ("photos", &wrong_secret, "the secret does not belong to the access key id (SignatureDoesNotMatch)"),
        ("photos", &wrong_key, "the access key id is unknown (InvalidAccessKeyId)"),
        ("missing", &moto.credentials, "there is no such bucket (NoSuchBucket)"),
        ("others", &moto.credentials, "the access key may not write objects and their acl (AccessDenied)"),
    ] {
        let failure = put(&moto.s3(), &Store::connector("c", bucket, REGION), credentials, b"x").await.unwrap_err();
        assert_eq!((failure.message, failure.may_pass), (format!("bucket {bucket}: {reason}"), false));
    }
}

/// Passes connections on to `endpoint`; the first of them no more than `octets` of.
async fn cutting(endpoint: &str, octets: u64) -> String {
    let to = endpoint.trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let here = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (first, _) = listener.accept().await.unwrap();
        let mut server = TcpStream::connect(&to).await.unwrap();
        tokio::io::copy(&mut first.take(octets), &mut server).await.unwrap();
        drop(server);
        while let Ok((mut client, _)) = listener.accept().await {
            let mut server = TcpStream::connect(&to).await.unwrap();
            let _ = copy_bidirectional(&mut client, &mut server).await;
        }
    });
    here
}

#[tokio::test]
async fn an_upload_that_is_cut_in_its_middle_is_made_good() {
    let Some(mut moto) = Moto::start() else { return };
    let endpoint = cutting(&moto.endpoint, 1 << 20).await;
    let bytes = vec![b'a'; 4 << 20];
    put(&s3(&endpoint), &Store::connector("c", "photos", REGION), &moto.credentials, &bytes).await.unwrap();
    assert_eq!(moto.object("a.webp")["body"].as_str().unwrap().len(), bytes.len());
}

#[cfg(feature = "testing")]
#[tokio::test]
async fn the_suite_of_blobs_holds() {
    let Some(moto) = Moto::start() else { return };
    let number = std::cell::Cell::new(0);
    lapidary::testing::blobs(async || {
        number.set(number.get() + 1);
        let bucket = Bucket {
            name: "photos".into(),
            region: REGION.into(),
            credentials: moto.credentials.clone(),
            endpoint: Some(Endpoint::new(moto.endpoint.as_str())),
            // moto decodes slashes of queries before it looks at signatures, also at those of Amazon's own client.
            prefix: format!("blobs{}-", number.get()),
            presigned: false,
        };
        Arc::new(S3Blobs::new(&http(), bucket).unwrap())
    })
    .await;
}
