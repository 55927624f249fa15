//! Images at addresses.

use std::collections::BTreeMap;

use async_trait::async_trait;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
    header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, LOCATION, USER_AGENT},
};
use hyper::body::Bytes;
use tokio::time::timeout;

use super::{
    Http,
    client::{Read, Reply},
    guard::Target,
};
use crate::{
    format::Format,
    percent,
    port::{Failure, Fetch, Fetched, Fetcher, Result},
    request::{Secret, Url},
};

const NAME_BYTES_AT_MOST: usize = 255;

#[async_trait]
impl Fetcher for Http {
    fn check(&self, url: &Url) -> Result<()> {
        self.client.guard().target(url.expose()).map(drop)
    }

    async fn fetch(&self, fetch: Fetch<'_>) -> Result<Fetched> {
        let first = self.client.guard().target(fetch.url.expose()).map_err(|failure| failure.about("the address"))?;
        let late = || Failure::passing(format!("{} took longer than {:?}", first.authority(), self.fetch));
        timeout(self.fetch, self.follow(first.clone(), &fetch)).await.unwrap_or_else(|_| Err(late()))
    }
}

impl Http {
    async fn follow(&self, mut target: Target, fetch: &Fetch<'_>) -> Result<Fetched> {
        // What the first origin alone may see, and the address's own credentials.
        let mut given = headers(fetch.headers)?;
        for _ in 0..=self.redirects {
            let headers = self.head(&target, &given)?;
            let reply = self.client.send(&target, Method::GET, headers, Bytes::new()).await?;
            let Some(location) = location(&reply)? else { return body(&target, reply, fetch.max_bytes).await };
            let next = self.client.guard().redirect(&target, location);
            let next = next.map_err(|failure| failure.about(format_args!("a redirect of {}", target.authority())))?;
            target = if next.is_same_origin(&target) {
                Target { authorization: next.authorization.or(target.authorization), ..next }
            } else {
                given.clear();
                next
            };
        }
        Err(Failure::lasting(format!("more than {} redirects", self.redirects)))
    }

    fn head(&self, target: &Target, given: &HeaderMap) -> Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, self.agent.clone());
        headers.insert(ACCEPT, HeaderValue::from_static("image/*, */*;q=0.1"));
        if let Some(authorization) = &target.authorization {
            headers.insert(AUTHORIZATION, sensitive(authorization)?);
        }
        headers.extend(given.clone());
        // Whatever name the client gives, ours stands behind it.
        if let Some(first) = given.get(USER_AGENT) {
            headers.insert(USER_AGENT, header_value([first.as_bytes(), b" ", self.agent.as_bytes()].concat())?);
        }
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        Ok(headers)
    }
}

/// As a value that no `Debug` prints.
pub(in crate::adapter) fn sensitive(secret: &Secret) -> Result<HeaderValue> {
    let mut value = header_value(secret.expose().as_bytes().to_vec())?;
    value.set_sensitive(true);
    Ok(value)
}

fn header_value(value: Vec<u8>) -> Result<HeaderValue> {
    HeaderValue::try_from(value).map_err(|error| Failure::lasting("a header's value is none").because(error))
}

fn headers(given: &BTreeMap<String, Secret>) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let known = HeaderName::try_from(name);
        let name = known.map_err(|error| Failure::lasting(format!("{name:?} names no header")).because(error))?;
        let value = sensitive(value)?;
        headers.try_insert(name, value).map_err(|error| Failure::lasting("too many headers").because(error))?;
    }
    Ok(headers)
}

/// Where a redirect leads; `None` for an answer that has the body.
fn location(reply: &Reply) -> Result<Option<&str>> {
    match reply.status {
        StatusCode::OK => Ok(None),
        StatusCode::MOVED_PERMANENTLY
        | StatusCode::FOUND
        | StatusCode::SEE_OTHER
        | StatusCode::TEMPORARY_REDIRECT
        | StatusCode::PERMANENT_REDIRECT => {
            let location = reply.headers.get(LOCATION).and_then(|value| str::from_utf8(value.as_bytes()).ok());
            location.map(Some).ok_or_else(|| Failure::lasting(format!("{} redirects nowhere", reply.host())))
        }
        status => {
            let message = format!("{} answered with status {}", reply.host(), status.as_u16());
            Err(Failure { may_pass: may_pass(status), ..Failure::lasting(message) })
        }
    }
}

/// Whether the same request may be answered otherwise later.
pub(in crate::adapter) fn may_pass(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429)
}

async fn body(target: &Target, reply: Reply, max: u64) -> Result<Fetched> {
    let host = target.authority();
    // A gzipped SVG is served no other way, and read as it is.
    let gzipped = |value: &[u8]| is_svg(&reply.headers) && value.eq_ignore_ascii_case(b"gzip");
    let encodings = reply.headers.get_all(CONTENT_ENCODING).iter().map(HeaderValue::as_bytes);
    let is_file = |value: &[u8]| value.eq_ignore_ascii_case(b"identity") || gzipped(value);
    if !encodings.into_iter().all(is_file) {
        return Err(Failure::lasting(format!("{host} sent a compressed body, which it was not asked for")));
    }
    let too_long = || Failure::lasting(format!("{host} sends more than {max} bytes"));
    if reply.content_length().is_some_and(|length| length > max) {
        return Err(too_long());
    }
    match reply.read(max).await? {
        Read::Whole(bytes) => Ok(Fetched { bytes, name: name(&target.url) }),
        Read::Part(_) => Err(too_long()),
    }
}

fn is_svg(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    let essence = media_type.split(|octet| *octet == b';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(Format::Svg.media_type().as_bytes())
}

/// The last segment of the path, decoded.
fn name(url: &url::Url) -> Option<String> {
    let last = percent::decode(url.path().rsplit('/').next()?);
    let mut name: String = String::from_utf8_lossy(&last).chars().filter(|c| !c.is_control()).collect();
    while name.len() > NAME_BYTES_AT_MOST {
        name.pop();
    }
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn the_name_is_the_decoded_end_of_the_path() {
        for (url, expected) in [
            ("https://a/b/c%20d.png?x=/y", Some("c d.png")),
            ("https://a/%C3%A4.png#f", Some("ä.png")),
            ("https://a/100%.png", Some("100%.png")),
            ("https://a/%0d%0ax", Some("x")),
            ("https://a/%ff", Some("\u{fffd}")),
            ("https://a/b/", None),
            ("https://a", None),
        ] {
            assert_eq!(name(&url.parse().unwrap()).as_deref(), expected, "{url}");
        }
        let long = format!("https://a/{}", "ä".repeat(200));
        assert_eq!(name(&long.parse().unwrap()).unwrap().len(), 254);
    }
}
