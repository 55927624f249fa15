//! Blobs in a bucket of the host's, for services of several machines.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use http::{HeaderMap, Method};
use hyper::body::Bytes;
use url::{Position, Url};

use super::{
    Ask, Wire,
    answer::element,
    of_bucket,
    place::{Endpoint, Place, place},
    sign::Signer,
};
use crate::{
    adapter::http::{
        Http,
        client::{Read, Reply},
    },
    clock::Timestamp,
    percent,
    port::{BlobKey, BlobReader, BlobWriter, Blobs, Credentials, Face, Failure, OpenBlob, Result},
    request::Store,
};

/// Octets of one page of a listing.
const LIST_BYTES_AT_MOST: u64 = 4 << 20;
/// The longest that a presigned address can be good for: seven days.
const LONGEST_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Octets that a reader hands out at once.
const PIECE_BYTES_AT_MOST: usize = 256 * 1024;

/// A bucket for blobs alone, whose objects are private. A lifecycle rule is a second net below the service's sweeps; it must
/// leave objects for longer than the longest job waits and the longest image lives, since it knows of neither:
///
/// ```json
/// {"Rules": [{"ID": "lapidary", "Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"Days": 8}}]}
/// ```
#[derive(Debug, Clone)]
pub struct Bucket {
    /// Its name.
    pub name: String,
    /// Its region.
    pub region: String,
    /// Whose key reads and writes it, and with which vendor.
    pub credentials: Credentials,
    /// Where [`Provider::Custom`](crate::request::Provider::Custom) is.
    pub endpoint: Option<Endpoint>,
    /// What stands before the names of all objects; empty, or a folder with its slash.
    pub prefix: String,
    /// Whether clients read volatile images from the bucket itself, by presigned addresses that end with the image's life, in
    /// place of through the service. They show the ids of the access key and of the request, and begin with the endpoint's
    /// [`public_url`](Endpoint::public_url) where it has one, to which requests must get through unchanged.
    pub presigned: bool,
}

/// Blobs as objects of a bucket. A blob is in memory while it is written, and one PUT when it is finished: there is
/// nothing unfinished to be left behind.
#[derive(Clone)]
pub struct S3Blobs(Arc<Inner>);

struct Inner {
    wire: Wire,
    bucket: Bucket,
    /// As places are asked for.
    store: Store,
    /// The last that was listed.
    listed: Mutex<Option<BlobKey>>,
}

impl fmt::Debug for S3Blobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("S3Blobs").field(&self.0.bucket).finish()
    }
}

impl S3Blobs {
    /// Over `http`. The bucket is the host's own, and may lie in a private network, which is open to nothing else by that.
    ///
    /// # Errors
    /// Where its address is none, or the provider has no endpoint.
    pub fn new(http: &Http, bucket: Bucket) -> Result<Self> {
        let store = Store::connector("", &bucket.name, &bucket.region);
        let url = place(bucket.credentials.provider, bucket.endpoint.as_ref(), &store, "")?.upload;
        Ok(Self(Arc::new(Inner { wire: Wire::new(http, Some(&url))?, bucket, store, listed: Mutex::default() })))
    }
}

impl Inner {
    /// The addresses of an object, or, with an empty name, of the bucket.
    fn place(&self, name: &str) -> Result<Place> {
        let Bucket { credentials, endpoint, .. } = &self.bucket;
        place(credentials.provider, endpoint.as_ref(), &self.store, name)
    }

    /// Where the service itself finds it.
    fn url(&self, name: &str) -> Result<String> {
        Ok(self.place(name)?.upload)
    }

    fn name(&self, key: BlobKey) -> String {
        format!("{}{key}", self.bucket.prefix)
    }

    async fn ask(&self, method: Method, url: &str, body: Bytes) -> Result<Option<Reply>> {
        let ask = Ask {
            method,
            url,
            headers: HeaderMap::new(),
            bucket: &self.bucket.name,
            region: &self.bucket.region,
            credentials: &self.bucket.credentials,
        };
        self.wire.exchange(ask, body).await
    }

    fn failure(&self, why: &str) -> Failure {
        of_bucket(&self.bucket.name)(Failure::passing(why))
    }

    /// A page of the names that begin with the prefix, in their order, and the token of the next. It begins after a name, or
    /// where a token says.
    async fn list(&self, from: Option<(&str, &str)>) -> Result<(Vec<(BlobKey, Timestamp)>, Option<String>)> {
        let from = from.map(|(kind, value)| format!("&{kind}={}", percent::encode(value, b""))).unwrap_or_default();
        let url = format!("{}?list-type=2&prefix={}{from}", self.url("")?, percent::encode(&self.bucket.prefix, b""));
        let broken = || self.failure("its listing cannot be read");
        let reply = self.ask(Method::GET, &url, Bytes::new()).await?.ok_or_else(broken)?;
        let Read::Whole(page) = reply.read(LIST_BYTES_AT_MOST).await? else { return Err(broken()) };
        let page = String::from_utf8(page).map_err(|error| broken().because(error))?;
        let objects = page.split("<Contents>").skip(1).filter_map(|object| {
            let name = plain(element(object, "Key")?);
            let key = BlobKey::parse(name.strip_prefix(&self.bucket.prefix)?)?;
            Some((key, time(element(object, "LastModified")?)?))
        });
        let more = element(&page, "IsTruncated") == Some("true");
        let next = element(&page, "NextContinuationToken").filter(|_| more).map(plain);
        Ok((objects.collect(), next))
    }
}

#[async_trait]
impl Blobs for S3Blobs {
    async fn create(&self, key: BlobKey) -> Result<Box<dyn BlobWriter>> {
        Ok(Box::new(Writer { blobs: self.clone(), key, bytes: Vec::new() }))
    }

    async fn open(&self, key: BlobKey) -> Result<Option<OpenBlob>> {
        let url = self.0.url(&self.0.name(key))?;
        let Some(reply) = self.0.ask(Method::GET, &url, Bytes::new()).await? else { return Ok(None) };
        let len = reply.content_length().ok_or_else(|| self.0.failure("an object has no length"))?;
        Ok(Some(OpenBlob { len, reader: Box::new(Reader { reply, rest: Bytes::new() }) }))
    }

    fn address(&self, key: BlobKey, face: Face<'_>, now: Timestamp, life: Duration) -> Result<Option<String>> {
        let Bucket { credentials, region, presigned, .. } = &self.0.bucket;
        if !presigned || life > LONGEST_LIFE {
            return Ok(None);
        }
        let permanent = self.0.place(&self.0.name(key))?.permanent;
        let unreadable = || of_bucket(&self.0.bucket.name)(Failure::lasting("its address is none"));
        let mut url = Url::parse(&permanent).map_err(|error| unreadable().because(error))?;
        url.query_pairs_mut()
            .append_pair("response-cache-control", &format!("private, max-age={}, immutable", life.as_secs()))
            .append_pair("response-content-disposition", face.disposition);
        if let Some(encoding) = face.encoding {
            url.query_pairs_mut().append_pair("response-content-encoding", encoding);
        }
        url.query_pairs_mut().append_pair("response-content-type", face.media_type);
        let host = url[Position::BeforeHost..Position::AfterPort].to_owned();
        let signer = Signer { key: &credentials.key, secret: &credentials.secret, region, now };
        signer.presign((&host, &mut url), life.as_secs());
        Ok(Some(url.into()))
    }

    async fn delete(&self, key: BlobKey) -> Result<()> {
        let url = self.0.url(&self.0.name(key))?;
        self.0.ask(Method::DELETE, &url, Bytes::new()).await.map(drop)
    }

    async fn older_than(&self, before: Timestamp, max: usize) -> Result<Vec<BlobKey>> {
        let listed = *self.0.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let begun_after = listed.map(|key| self.0.name(key));
        let mut from = begun_after.clone().map(|name| ("start-after", name));
        let (mut found, mut second_turn) = (Vec::new(), begun_after.is_none());
        while found.len() < max {
            let (page, next) = self.0.list(from.as_ref().map(|(kind, value)| (*kind, value.as_str()))).await?;
            // Once round is enough.
            let is_new = |key| !second_turn || begun_after.as_ref().is_none_or(|begun| self.0.name(key) <= *begun);
            found.extend(page.into_iter().filter(|(key, at)| *at < before && is_new(*key)).map(|(key, _)| key));
            from = match next {
                Some(token) => Some(("continuation-token", token)),
                None if second_turn => break,
                None => None,
            };
            second_turn |= from.is_none();
        }
        found.truncate(max);
        *self.0.listed.lock().unwrap_or_else(PoisonError::into_inner) = found.last().copied().or(listed);
        Ok(found)
    }
}

#[derive(Debug)]
struct Writer {
    blobs: S3Blobs,
    key: BlobKey,
    bytes: Vec<u8>,
}

#[async_trait]
impl BlobWriter for Writer {
    async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    async fn finish(self: Box<Self>) -> Result<()> {
        let blobs = &self.blobs.0;
        let url = blobs.url(&blobs.name(self.key))?;
        let reply = blobs.ask(Method::PUT, &url, self.bytes.into()).await?;
        reply.map(drop).ok_or_else(|| blobs.failure("an object was not kept"))
    }
}

#[derive(Debug)]
struct Reader {
    reply: Reply,
    /// What came and was not handed out.
    rest: Bytes,
}

#[async_trait]
impl BlobReader for Reader {
    async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        if self.rest.is_empty() {
            let Some(piece) = self.reply.piece(&mut self.reply.pace()).await? else { return Ok(None) };
            self.rest = piece;
        }
        let piece = self.rest.split_to(self.rest.len().min(PIECE_BYTES_AT_MOST));
        Ok(Some(piece.into()))
    }
}

/// Text out of XML.
fn plain(text: &str) -> String {
    let known = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    known.iter().fold(text.to_owned(), |text, (escape, character)| text.replace(escape, character))
}

/// Reads `2026-11-21T10:47:42.000Z`, with or without a fraction.
fn time(text: &str) -> Option<Timestamp> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, between: char| -> Option<[u64; 3]> {
        let numbers: Option<Vec<u64>> = text.split(between).map(|number| number.parse().ok()).collect();
        numbers?.try_into().ok()
    };
    let [year, month, day] = numbers(date, '-')?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(time, ':')?;
    let millis = fraction.get(..3).unwrap_or("0").parse().ok()?;
    let midnight = Timestamp::from_date(year, month, day)?;
    Some(midnight + Duration::from_secs(hour * 3600 + minute * 60 + second) + Duration::from_millis(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_listings_are_read() {
        for (text, millis) in [
            ("2013-05-24T00:00:00.000Z", Some(1_369_353_600_000)),
            ("2026-12-31T23:59:59.123Z", Some(1_798_761_599_123)),
            ("2026-12-31T23:59:59Z", Some(1_798_761_599_000)),
            ("2026-13-31T23:59:59Z", None),
            ("2026-12-31 23:59:59", None),
            ("", None),
        ] {
            assert_eq!(time(text), millis.map(Timestamp::from_millis), "{text}");
        }
    }

    #[test]
    fn xml_becomes_text() {
        assert_eq!(plain("a&amp;lt;&lt;&quot;"), "a&lt;<\"");
    }
}
