//! What [`Notifier`] promises.

use std::{fmt, sync::Arc};

use super::{Fact, facts, hold};
use crate::{
    port::{Notification, Notifier, Result},
    request::Url,
};

/// Whether this body came with this header, by name and value.
pub type Heard = dyn Fn(&[u8], (&str, &str)) -> bool + Send + Sync;

/// A notifier, and receivers of which it is known what they answer.
pub struct Receivers {
    /// What is checked.
    pub notifier: Arc<dyn Notifier>,
    /// Answers 204.
    pub glad: Url,
    /// Answers 503 with `Retry-After: 7`.
    pub busy: Url,
    /// Never answers.
    pub down: Url,
    /// What `glad` was sent.
    pub heard: Box<Heard>,
}

impl fmt::Debug for Receivers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receivers").field("notifier", &self.notifier).finish_non_exhaustive()
    }
}

const FACTS: &[Fact<Receivers>] = facts![
    a_notification_arrives_with_its_headers,
    an_answer_is_handed_on,
    a_wish_to_be_left_alone_is_handed_on,
    no_answer_is_a_failure_that_may_pass
];

/// Checks what [`Notifier`] promises.
///
/// # Panics
/// If it does not hold.
pub async fn notifier(fresh: impl AsyncFn() -> Arc<Receivers>) {
    hold(FACTS, fresh).await;
}

fn to(url: &Url) -> Notification<'_> {
    Notification { url, body: b"{}", headers: &[] }
}

async fn a_notification_arrives_with_its_headers(receivers: Arc<Receivers>) -> Result<()> {
    let headers = [("webhook-id", "msg_1".to_owned()), ("webhook-signature", "v1,x= v1,y=".to_owned())];
    let body = br#"{"success":true}"#;
    assert!(!(receivers.heard)(body, ("webhook-id", "msg_1")));
    receivers.notifier.notify(Notification { url: &receivers.glad, body, headers: &headers }).await?;
    for (name, value) in &headers {
        assert!((receivers.heard)(body, (name, value)), "{name}");
    }
    Ok(())
}

async fn an_answer_is_handed_on(receivers: Arc<Receivers>) -> Result<()> {
    receivers.notifier.check(&receivers.glad)?;
    let answer = receivers.notifier.notify(to(&receivers.glad)).await?;
    assert_eq!((answer.status, answer.retry_after), (204, None));
    Ok(())
}

async fn a_wish_to_be_left_alone_is_handed_on(receivers: Arc<Receivers>) -> Result<()> {
    let answer = receivers.notifier.notify(to(&receivers.busy)).await?;
    assert_eq!((answer.status, answer.retry_after.map(|wait| wait.as_secs())), (503, Some(7)));
    Ok(())
}

async fn no_answer_is_a_failure_that_may_pass(receivers: Arc<Receivers>) -> Result<()> {
    let failed = receivers.notifier.notify(to(&receivers.down)).await.map_err(|failure| failure.may_pass);
    assert_eq!(failed, Err(true));
    Ok(())
}
