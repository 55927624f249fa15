//! [`Storage`] in clients' buckets, and [`Blobs`](crate::port::Blobs) in the host's own, by the S3 protocol.
//!
//! A client's access key needs `s3:PutObject` and `s3:PutObjectAcl` on `arn:aws:s3:::BUCKET/*`, and `s3:PutObjectTagging`
//! where its requests have tags. The key of a bucket for [`S3Blobs`] needs `s3:PutObject`, `s3:GetObject` and
//! `s3:DeleteObject` on its objects and `s3:ListBucket` on the bucket.

mod answer;
mod blobs;
mod place;
mod sign;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
};
use hyper::body::Bytes;
use sha2::{Digest, Sha256};
use tokio::{
    task::spawn_blocking,
    time::{sleep, timeout},
};

use self::{
    answer::{Refusal, element},
    place::{Place, place},
    sign::{Signer, hex},
};
pub use self::{
    blobs::{Bucket, S3Blobs},
    place::Endpoint,
};
use super::http::{
    Http,
    client::{Client, Read, Reply},
    guard::{self, Target},
};
use crate::{
    clock::Clock,
    error::{Error, Violation},
    percent,
    port::{Credentials, Failure, Object, Result, Storage},
    request::{ObjectHeader, Provider, StorageClass, Store},
};

/// Octets of a refusal that are read.
const REFUSAL_BYTES_AT_MOST: u64 = 64 * 1024;
/// Octets of an object's key in UTF-8.
const KEY_BYTES_AT_MOST: usize = 1024;

/// Puts objects into buckets. Cheap to clone.
#[derive(Debug, Clone)]
pub struct S3 {
    wire: Wire,
    custom: Option<Endpoint>,
}

impl S3 {
    /// Over `http`, whose guard judges the addresses of all providers but `custom`: the endpoint is the host's own word, and
    /// may lie in a private network, which is open to nothing else by that. Where buckets are hosts there, the guard must
    /// let them in.
    ///
    /// # Errors
    /// Where the endpoint is no address.
    pub fn new(http: &Http, custom: Option<Endpoint>) -> Result<Self> {
        let wire = Wire::new(http, custom.as_ref().map(|endpoint| endpoint.url.as_str()))
            .map_err(|failure| failure.about("the endpoint of the provider custom"))?;
        Ok(Self { wire, custom })
    }
}

#[async_trait]
impl Storage for S3 {
    fn check(&self, provider: Provider, store: &Store) -> Vec<Violation> {
        place::check(provider, self.custom.as_ref(), store)
    }

    async fn put(&self, object: Object<'_>) -> Result<String> {
        let Object { store, credentials, .. } = object;
        let named = of_bucket(&store.bucket);
        let violations = self.check(credentials.provider, store);
        if !violations.is_empty() {
            return Err(named(Failure::lasting(Error::Request { violations }.to_string())));
        }
        let key = object.key();
        if key.len() > KEY_BYTES_AT_MOST {
            let message = format!("the object's key has {} bytes, {KEY_BYTES_AT_MOST} at most", key.len());
            return Err(named(Failure::lasting(message)));
        }
        let Place { upload, permanent } =
            place(credentials.provider, self.custom.as_ref(), store, &key).map_err(named)?;
        let asked = Ask {
            method: Method::PUT,
            url: &upload,
            headers: attributes(&object).map_err(named)?,
            bucket: &store.bucket,
            region: &store.region,
            credentials,
        };
        // The head says that the object is there; no body follows.
        let reply = self.wire.exchange(asked, Bytes::copy_from_slice(object.bytes)).await?;
        reply.map(|_| permanent).ok_or_else(|| named(Failure::passing("the object was not kept")))
    }
}

/// Names the bucket in what fails.
fn of_bucket(bucket: &str) -> impl Fn(Failure) -> Failure + Copy {
    move |failure| failure.about(format_args!("bucket {bucket}:"))
}

/// The headers that an object is put with.
fn attributes(object: &Object<'_>) -> Result<HeaderMap> {
    let store = object.store;
    let mut headers = HeaderMap::new();
    let mut put = |name: &str, value: &str| {
        let none = || Failure::lasting(format!("{name:?} is no header"));
        let known = HeaderName::try_from(name).map_err(|error| none().because(error))?;
        headers.insert(known, HeaderValue::try_from(value).map_err(|error| none().because(error))?);
        Ok(())
    };
    put(CONTENT_TYPE.as_str(), object.media_type)?;
    if let Some(encoding) = object.encoding() {
        put(CONTENT_ENCODING.as_str(), encoding)?;
    }
    put("x-amz-acl", store.acl.as_str())?;
    if object.credentials.provider != Provider::DigitalOcean {
        put("x-amz-storage-class", class(store.class))?;
    }
    for (name, value) in &store.headers {
        put(ObjectHeader::as_str(*name), value)?;
    }
    for (name, value) in &store.metadata {
        put(&format!("x-amz-meta-{name}"), value)?;
    }
    if !store.tags.is_empty() {
        let pair = |(name, value): (&String, &String)| {
            format!("{}={}", percent::encode(name, b""), percent::encode(value, b""))
        };
        put("x-amz-tagging", &store.tags.iter().map(pair).collect::<Vec<_>>().join("&"))?;
    }
    Ok(headers)
}

/// The protocol's names of the classes.
const fn class(class: StorageClass) -> &'static str {
    match class {
        StorageClass::Standard => "STANDARD",
        StorageClass::ReducedRedundancy => "REDUCED_REDUNDANCY",
        StorageClass::StandardIa => "STANDARD_IA",
        StorageClass::OnezoneIa => "ONEZONE_IA",
        StorageClass::IntelligentTiering => "INTELLIGENT_TIERING",
        StorageClass::Glacier => "GLACIER",
        StorageClass::DeepArchive => "DEEP_ARCHIVE",
    }
}

/// A request to a bucket, before it is signed.
struct Ask<'a> {
    method: Method,
    url: &'a str,
    headers: HeaderMap,
    bucket: &'a str,
    region: &'a str,
    credentials: &'a Credentials,
}

/// Signs, sends, and sends again.
#[derive(Debug, Clone)]
struct Wire {
    client: Client,
    clock: Arc<dyn Clock>,
    /// Time for one attempt, as far as the head of its answer.
    attempt: Duration,
    /// The first pause between two attempts; the second is four times as long.
    pause: Duration,
}

impl Wire {
    const ATTEMPTS: u32 = 3;

    /// That may speak to the place of `own`, too, wherever it is.
    fn new(http: &Http, own: Option<&str>) -> Result<Self> {
        let place = own.map(guard::Place::of).transpose()?;
        let client = http.client();
        Ok(Self {
            client: place.map_or_else(|| client.clone(), |place| client.open(place)),
            clock: http.clock(),
            attempt: Duration::from_secs(60),
            pause: Duration::from_millis(250),
        })
    }

    /// The answer of a success; `None` where there is no object of that key. Three attempts, as long as a failure may pass.
    async fn exchange(&self, ask: Ask<'_>, body: Bytes) -> Result<Option<Reply>> {
        let named = of_bucket(ask.bucket);
        let guard = self.client.guard();
        let target = guard.target(ask.url).map_err(|failure| named(failure.about("its address")))?;
        let hashed = body.clone();
        // Tens of milliseconds for large bodies.
        let body_sha256 = spawn_blocking(move || hex(&Sha256::digest(&hashed))).await;
        let body_sha256 = body_sha256.map_err(|error| named(Failure::passing("it was not reached")).because(error))?;
        let mut tried = 1;
        loop {
            let late = || Failure::passing(format!("it took longer than {:?}", self.attempt));
            let attempt = timeout(self.attempt, self.attempt(&ask, &target, &body_sha256, body.clone()));
            match attempt.await.unwrap_or_else(|_| Err(named(late()))) {
                Err(failure) if failure.may_pass && tried < Self::ATTEMPTS => {
                    tracing::debug!(bucket = ask.bucket, tried, failure.message, "a bucket is asked again");
                    sleep(spread(self.pause * 4_u32.pow(tried - 1))).await;
                    tried += 1;
                }
                answer => return answer,
            }
        }
    }

    async fn attempt(&self, ask: &Ask<'_>, target: &Target, body_sha256: &str, body: Bytes) -> Result<Option<Reply>> {
        let Ask { bucket, region, credentials, .. } = *ask;
        let named = of_bucket(bucket);
        let mut headers = ask.headers.clone();
        let signer = Signer { key: &credentials.key, secret: &credentials.secret, region, now: self.clock.now() };
        signer
            .sign(&ask.method, (&target.authority(), &target.url), &mut headers, body_sha256)
            .map_err(|error| named(Failure::lasting("the access key id cannot be one")).because(error))?;
        let reply = self.client.send(target, ask.method.clone(), headers, body).await.map_err(named)?;
        if reply.status.is_success() {
            return Ok(Some(reply));
        }
        let (status, headers) = (reply.status, reply.headers.clone());
        let body = match reply.read(REFUSAL_BYTES_AT_MOST).await {
            Ok(Read::Whole(body) | Read::Part(body)) => body,
            // The status is enough.
            Err(_) => Vec::new(),
        };
        let body = String::from_utf8_lossy(&body);
        if element(&body, "Code") == Some("NoSuchKey") {
            return Ok(None);
        }
        let refusal = Refusal { bucket, region, status, headers: &headers, body: &body };
        Err(refusal.failure())
    }
}

/// Between half and one and a half times `pause`, so that many do not come back at once.
fn spread(pause: Duration) -> Duration {
    let mut random = [0; 2];
    // Without random numbers there is no spread.
    let _ = getrandom::fill(&mut random);
    pause / 2 + pause.mul_f64(f64::from(u16::from_be_bytes(random)) / 65_536.0)
}

#[cfg(test)]
mod tests;
