//! What [`Fetcher`] promises.

use std::{collections::BTreeMap, sync::Arc};

use super::{Fact, facts, hold};
use crate::{
    port::{Fetch, Fetched, Fetcher, Result},
    request::Url,
};

/// A fetcher, and addresses of which it is known what they answer.
#[derive(Debug)]
pub struct Site {
    /// What is checked.
    pub fetcher: Box<dyn Fetcher>,
    /// Answers 200 with `bytes`, which are at least two; its path ends in `/a.png`, and it has a query.
    pub there: Url,
    /// The body of `there`.
    pub bytes: Vec<u8>,
    /// Answers 404.
    pub missing: Url,
    /// Answers 503.
    pub busy: Url,
    /// Nobody listens there.
    pub down: Url,
    /// Refused without being asked.
    pub refused: Url,
}

const FACTS: &[Fact<Site>] = facts![
    a_body_comes_whole_and_with_its_name,
    a_body_of_just_the_limit_comes,
    a_longer_body_is_a_lasting_failure,
    what_is_missing_is_a_lasting_failure,
    what_is_busy_or_down_may_pass,
    what_is_refused_is_refused_before_and_while_fetching,
    failures_show_no_query,
];

/// Checks what [`Fetcher`] promises.
///
/// # Panics
/// If it does not hold.
pub async fn fetcher(fresh: impl AsyncFn() -> Arc<Site>) {
    hold(FACTS, fresh).await;
}

impl Site {
    async fn fetch(&self, url: &Url, max_bytes: u64) -> Result<Fetched> {
        self.fetcher.fetch(Fetch { url, headers: &BTreeMap::new(), max_bytes }).await
    }

    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
}

async fn a_body_comes_whole_and_with_its_name(site: Arc<Site>) -> Result<()> {
    site.fetcher.check(&site.there)?;
    let fetched = site.fetch(&site.there, 1 << 20).await?;
    assert!(fetched.bytes == site.bytes);
    assert_eq!(fetched.name.as_deref(), Some("a.png"));
    Ok(())
}

async fn a_body_of_just_the_limit_comes(site: Arc<Site>) -> Result<()> {
    assert!(site.fetch(&site.there, site.len()).await?.bytes == site.bytes);
    Ok(())
}

async fn a_longer_body_is_a_lasting_failure(site: Arc<Site>) -> Result<()> {
    let failed = site.fetch(&site.there, site.len() - 1).await.map_err(|failure| failure.may_pass);
    assert_eq!(failed, Err(false));
    Ok(())
}

async fn what_is_missing_is_a_lasting_failure(site: Arc<Site>) -> Result<()> {
    assert_eq!(site.fetch(&site.missing, 1 << 20).await.map_err(|failure| failure.may_pass), Err(false));
    Ok(())
}

async fn what_is_busy_or_down_may_pass(site: Arc<Site>) -> Result<()> {
    for url in [&site.busy, &site.down] {
        assert_eq!(site.fetch(url, 1 << 20).await.map_err(|failure| failure.may_pass), Err(true), "{url}");
    }
    Ok(())
}

async fn what_is_refused_is_refused_before_and_while_fetching(site: Arc<Site>) -> Result<()> {
    let why = site.fetcher.check(&site.refused).expect_err("the address is refused");
    assert!(!why.may_pass && why.message.starts_with("must "), "{}", why.message);
    assert_eq!(site.fetch(&site.refused, 1 << 20).await.map_err(|failure| failure.may_pass), Err(false));
    Ok(())
}

async fn failures_show_no_query(site: Arc<Site>) -> Result<()> {
    let (_, query) = site.there.expose().split_once('?').expect("the address has a query");
    let said = site.fetch(&site.there, 1).await.expect_err("the body is longer").message;
    assert!(!said.contains(query), "{said}");
    Ok(())
}
