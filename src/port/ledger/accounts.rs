//! Who may ask for work, how much, and how fast.

use std::{fmt, time::Duration};

use async_trait::async_trait;

use super::AccountId;
use crate::{clock::Timestamp, port::Result};

/// A keyed hash of an API key: all that is kept of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyMac(pub [u8; 32]);

impl KeyMac {
    /// What the key is called where it must not be shown: its first 8 bytes, in hexadecimal.
    pub fn id(&self) -> String {
        self.0.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}

impl fmt::Debug for KeyMac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// An account to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAccount {
    /// Its id.
    pub id: AccountId,
    /// The host's name for it, unlike every other's.
    pub name: String,
    /// Name of the subscription plan.
    pub plan: String,
    /// Credits in the monthly quota.
    pub credits: u64,
    /// Secrets that its notifications are signed with, sealed.
    pub secrets: SealedSecrets,
}

/// The secrets that an account's notifications are signed with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecrets {
    /// The present one, sealed.
    pub current: Vec<u8>,
    /// The one before it, sealed, and until when it signs too.
    pub previous: Option<(Vec<u8>, Timestamp)>,
}

/// Credits of the present month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credits {
    /// The quota.
    pub total: u64,
    /// Charged for completed requests.
    pub used: u64,
    /// Held for unfinished ones.
    pub reserved: u64,
    /// When the next month begins.
    pub reset: Timestamp,
}

/// An account as the host may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its id.
    pub id: AccountId,
    /// The host's name for it.
    pub name: String,
    /// Name of the subscription plan.
    pub plan: String,
    /// Whether its keys are refused.
    pub disabled: bool,
    /// Credits of the present month.
    pub credits: Credits,
}

/// Whom a key belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyHolder {
    /// The account.
    pub account: AccountId,
    /// Whether it is disabled.
    pub disabled: bool,
}

/// A key as the host may see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyView {
    /// All that is kept of it.
    pub mac: KeyMac,
    /// When it was added.
    pub added: Timestamp,
}

/// A connector as its owner may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectorView {
    /// Its id.
    pub id: String,
    /// When it was saved.
    pub saved: Timestamp,
}

/// Requests that a key may make at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateGrant {
    /// How many of those asked for are granted.
    pub granted: u64,
    /// Granted in this window, these included.
    pub used: u64,
    /// When the window ends.
    pub resets: Timestamp,
}

/// Who may ask for work, how much, and how fast.
///
/// A month of credits is a calendar month in UTC ([`Timestamp::next_month`]). A charge belongs to the month in which its
/// request was accepted: one that completes after the turn takes nothing from the new month. What is reserved is thus the
/// sum of the costs of the unfinished jobs that were accepted in the present month.
#[async_trait]
pub trait Accounts: fmt::Debug + Send + Sync {
    /// Makes an account. `false` if the name is taken by another; the same id again changes nothing.
    async fn create_account(&self, account: NewAccount, now: Timestamp) -> Result<bool>;

    /// An account; `None` if there is none of that id.
    async fn account(&self, account: AccountId, now: Timestamp) -> Result<Option<Account>>;

    /// The account of a name; `None` if there is none.
    async fn account_named(&self, name: &str, now: Timestamp) -> Result<Option<Account>>;

    /// Up to `max` accounts in the order of their names, those after `after` alone.
    async fn accounts(&self, after: &str, max: usize, now: Timestamp) -> Result<Vec<Account>>;

    /// Refuses or takes an account's keys from now on; its accepted requests are still done. `false` if there is no
    /// such account, as in all that follows.
    async fn set_disabled(&self, account: AccountId, disabled: bool) -> Result<bool>;

    /// Gives an account another plan and monthly quota, from the present month on.
    async fn set_plan(&self, account: AccountId, plan: &str, credits: u64, now: Timestamp) -> Result<bool>;

    /// Puts other webhook secrets in place of an account's. `false` also if its present one is not `before` any more, for
    /// somebody else has changed it meanwhile.
    async fn set_secrets(&self, account: AccountId, before: &[u8], secrets: SealedSecrets) -> Result<bool>;

    /// An account's webhook secrets.
    async fn secrets(&self, account: AccountId) -> Result<Option<SealedSecrets>>;

    /// Gives an account a key. `false` also if it is another account's.
    async fn add_key(&self, account: AccountId, key: KeyMac, now: Timestamp) -> Result<bool>;

    /// Takes a key away; `false` if there was none.
    async fn remove_key(&self, key: KeyMac) -> Result<bool>;

    /// The keys of an account, the oldest first.
    async fn keys(&self, account: AccountId) -> Result<Vec<KeyView>>;

    /// Whom a key belongs to.
    async fn key_holder(&self, key: KeyMac) -> Result<Option<KeyHolder>>;

    /// Saves a connector, sealed, in place of any other of its id; where `before` is given, of that alone, and `false` if it
    /// is another or gone.
    async fn put_connector(
        &self,
        account: AccountId,
        id: &str,
        before: Option<&[u8]>,
        sealed: &[u8],
        now: Timestamp,
    ) -> Result<bool>;

    /// A connector of this account, sealed.
    async fn connector(&self, account: AccountId, id: &str) -> Result<Option<Vec<u8>>>;

    /// The connectors of this account, by id.
    async fn connectors(&self, account: AccountId) -> Result<Vec<ConnectorView>>;

    /// Removes a connector; `false` if there was none.
    async fn remove_connector(&self, account: AccountId, id: &str) -> Result<bool>;

    /// Takes up to `want` requests out of a key's window of `limit` requests per `window`. A window begins with the first
    /// request after the last one's end. Never grants more than `limit` in a window. Sweeps remove ended windows.
    async fn take_rate(
        &self,
        key: KeyMac,
        want: u64,
        limit: u64,
        window: Duration,
        now: Timestamp,
    ) -> Result<RateGrant>;
}
