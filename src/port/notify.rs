//! Clients' webhooks.

use std::{fmt, time::Duration};

use async_trait::async_trait;

use super::Result;
use crate::request::Url;

/// What to tell, and to whom.
#[derive(Clone, Copy)]
pub struct Notification<'a> {
    /// Where; user and password, if it has them, are sent as Basic credentials.
    pub url: &'a Url,
    /// The JSON body, to the byte as it is signed.
    pub body: &'a [u8],
    /// `webhook-id`, `webhook-timestamp` and `webhook-signature`.
    pub headers: &'a [(&'static str, String)],
}

impl fmt::Debug for Notification<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notification").field("url", &self.url).field("body", &self.body.len()).finish_non_exhaustive()
    }
}

/// What the receiver said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// How long it wants to be left alone.
    pub retry_after: Option<Duration>,
}

/// Posts notifications.
#[async_trait]
pub trait Notifier: fmt::Debug + Send + Sync {
    /// Refuses what is refused whatever the network says: schemes, ports, private addresses written as such. Looks
    /// nothing up.
    ///
    /// # Errors
    /// A lasting failure that says what the address must be: words that begin with "must".
    fn check(&self, url: &Url) -> Result<()>;

    /// One POST, which follows no redirect and is over within 10 seconds, its body included. Whether the answer counts as
    /// delivered is the caller's to judge. May be dropped at any time.
    ///
    /// # Errors
    /// Where no answer came: passing, except for addresses that are refused.
    async fn notify(&self, notification: Notification<'_>) -> Result<Answer>;
}
