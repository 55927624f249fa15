//! Webhooks that are made up.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::Mutex,
};

use async_trait::async_trait;

use super::lock;
use crate::{
    port::{Answer, Failure, Notification, Notifier, Result},
    request::Url,
};

/// Notifications that are kept; older ones are forgotten.
const KEPT: usize = 10_000;

/// A notification that came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Where.
    pub url: Url,
    /// The JSON body.
    pub body: Vec<u8>,
    /// The headers it came with.
    pub headers: Vec<(&'static str, String)>,
}

/// Takes notifications, keeps the last 10,000, and answers 200, or as it was told.
#[derive(Default)]
pub struct MemoryNotifier {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    received: VecDeque<Received>,
    /// By address, the next first; `None` is no answer at all.
    answers: BTreeMap<String, VecDeque<Option<Answer>>>,
}

impl fmt::Debug for MemoryNotifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryNotifier").field("received", &lock(&self.state).received.len()).finish_non_exhaustive()
    }
}

impl MemoryNotifier {
    /// Answers 200.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers the next notifications to `url` with these, one each; `None` is no answer at all.
    pub fn answer(&self, url: &Url, answers: impl IntoIterator<Item = Option<Answer>>) {
        lock(&self.state).answers.entry(url.expose().to_owned()).or_default().extend(answers);
    }

    /// What came in, the oldest first.
    pub fn received(&self) -> Vec<Received> {
        lock(&self.state).received.iter().cloned().collect()
    }
}

#[async_trait]
impl Notifier for MemoryNotifier {
    fn check(&self, _url: &Url) -> Result<()> {
        Ok(())
    }

    async fn notify(&self, notification: Notification<'_>) -> Result<Answer> {
        let Notification { url, body, headers } = notification;
        let mut state = lock(&self.state);
        state.received.push_back(Received { url: url.clone(), body: body.to_vec(), headers: headers.to_vec() });
        if state.received.len() > KEPT {
            state.received.pop_front();
        }
        let told = state.answers.get_mut(url.expose()).and_then(VecDeque::pop_front);
        told.unwrap_or(Some(Answer { status: 200, retry_after: None }))
            .ok_or_else(|| Failure::passing(format!("{} did not answer", url.redacted())))
    }
}
