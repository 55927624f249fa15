//! Clients' webhooks.

use std::time::{Duration, UNIX_EPOCH};

use async_trait::async_trait;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method,
    header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, USER_AGENT},
};
use hyper::body::Bytes;
use tokio::time::timeout;

use super::{Drip, Http, client::Client, fetch::sensitive};
use crate::{
    clock::Timestamp,
    port::{Answer, Failure, Notification, Notifier, Result},
    request::Url,
};

/// What is read of an answer's body, so that a receiver can end its work in peace.
const ANSWER_BYTES_AT_MOST: u64 = 64 * 1024;

#[async_trait]
impl Notifier for Http {
    fn check(&self, url: &Url) -> Result<()> {
        self.client.guard().target(url.expose()).map(drop)
    }

    async fn notify(&self, notification: Notification<'_>) -> Result<Answer> {
        let target = self.client.guard().target(notification.url.expose());
        let target = target.map_err(|failure| failure.about("the address"))?;
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, self.agent.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if let Some(authorization) = &target.authorization {
            headers.insert(AUTHORIZATION, sensitive(authorization)?);
        }
        for (name, value) in notification.headers {
            let none = || Failure::lasting(format!("{name:?} is no header"));
            let known = HeaderName::try_from(*name).map_err(|error| none().because(error))?;
            headers.insert(known, HeaderValue::try_from(value).map_err(|error| none().because(error))?);
        }
        // An answer has a few bytes or none, and may end when the receiver has done its work: only the time of all bounds it.
        let client = Client { drip: Drip { bytes: 0, ..self.client.drip }, ..self.client.clone() };
        let exchange = async {
            let body = Bytes::copy_from_slice(notification.body);
            let reply = client.send(&target, Method::POST, headers, body).await?;
            let retry_after =
                reply.headers.get(RETRY_AFTER).and_then(|value| retry_after(value.to_str().ok()?, self.clock.now()));
            let answer = Answer { status: reply.status.as_u16(), retry_after };
            reply.read(ANSWER_BYTES_AT_MOST).await?;
            Ok(answer)
        };
        let late = || Failure::passing(format!("{} took longer than {:?}", target.authority(), self.notify));
        timeout(self.notify, exchange).await.unwrap_or_else(|_| Err(late()))
    }
}

/// Seconds or a date, as of RFC 9110, section 10.2.3. A date gone by is no wait.
fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|digit| digit.is_ascii_digit()) {
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(value).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((Timestamp::default() + date).since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = Timestamp::from_millis(784_111_777_000 - 90_000);
        for (value, expected) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("99999999999999999999", Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(90)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(90)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("", None),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
        ] {
            assert_eq!(retry_after(value, now), expected.map(Duration::from_secs), "{value:?}");
        }
    }
}
