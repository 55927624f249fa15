//! What a host does for its clients: accounts, keys, connectors, webhook secrets.

use std::time::Duration;

use super::{
    Inner, Service,
    job::credentials_to_bytes,
    response::fresh_id,
    seal::{new_api_key, place},
    webhook::SigningSecret,
};
use crate::{
    error::Violation,
    port::{
        Credentials, Failure,
        ledger::{Account, AccountId, ConnectorView, Delivery, JobId, KeyView, NewAccount, SealedSecrets},
    },
    request::{Secret, TEXT, is_text},
};

/// A host's side of a service. What is shown once is kept as a hash or sealed, and cannot be shown again.
#[derive(Debug, Clone, Copy)]
pub struct Admin<'a>(&'a Inner);

/// A new account.
#[derive(Debug, Clone)]
pub struct Opened {
    /// Its id.
    pub account: AccountId,
    /// What its notifications are signed with (`whsec_…`); shown once.
    pub webhook_secret: Secret,
}

/// Why something was not done for a host.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdminError {
    /// There is no such account.
    #[error("there is no account {0}")]
    NoAccount(AccountId),
    /// Another account has the name.
    #[error("there is an account of the name {0:?} already")]
    NameTaken(String),
    /// A value is none that it may be.
    #[error("{0}")]
    Value(Violation),
    /// What is sealed was sealed with a key that the service does not have.
    #[error("the secrets of account {0} are sealed with other keys than those of this service")]
    Keys(AccountId),
    /// The ledger failed.
    #[error(transparent)]
    Ledger(#[from] Failure),
}

type Result<T, E = AdminError> = std::result::Result<T, E>;

impl Service {
    /// The host's side.
    pub fn admin(&self) -> Admin<'_> {
        Admin(&self.0)
    }
}

impl Admin<'_> {
    /// Opens an account with a monthly quota of credits.
    ///
    /// # Errors
    /// [`AdminError::NameTaken`], and [`AdminError::Value`] of an empty name: lists begin behind that. Here as in all that
    /// follows, [`AdminError::Ledger`] if the ledger fails.
    pub async fn open_account(&self, name: &str, plan: &str, credits: u64) -> Result<Opened> {
        if name.is_empty() {
            return Err(refused("name", "must not be empty".into()));
        }
        let now = self.0.now();
        let account = AccountId(fresh_id(now).0);
        let webhook_secret = SigningSecret::generate();
        let secrets = SealedSecrets { current: self.0.seal_webhook_secret(account, &webhook_secret), previous: None };
        let new = NewAccount { id: account, name: name.to_owned(), plan: plan.to_owned(), credits, secrets };
        if self.0.ports.ledger.create_account(new, now).await? {
            Ok(Opened { account, webhook_secret: webhook_secret.to_text() })
        } else {
            Err(AdminError::NameTaken(name.to_owned()))
        }
    }

    /// An account.
    ///
    /// # Errors
    /// [`AdminError::NoAccount`] if there is none of that id.
    pub async fn account(&self, account: AccountId) -> Result<Account> {
        self.0.ports.ledger.account(account, self.0.now()).await?.ok_or(AdminError::NoAccount(account))
    }

    /// The account of a name; `None` if there is none.
    ///
    /// # Errors
    /// Those of the ledger.
    pub async fn account_named(&self, name: &str) -> Result<Option<Account>> {
        Ok(self.0.ports.ledger.account_named(name, self.0.now()).await?)
    }

    /// Up to `max` accounts in the order of their names, those after `after` alone.
    ///
    /// # Errors
    /// Those of the ledger.
    pub async fn accounts(&self, after: &str, max: usize) -> Result<Vec<Account>> {
        Ok(self.0.ports.ledger.accounts(after, max, self.0.now()).await?)
    }

    /// Refuses (403) or takes an account's keys, from a second later on at the latest.
    ///
    /// # Errors
    /// As of [`account`](Self::account).
    pub async fn set_disabled(&self, account: AccountId, disabled: bool) -> Result<()> {
        found(self.0.ports.ledger.set_disabled(account, disabled).await?, account)
    }

    /// Asks whether the service has the keys that an account's secrets are sealed with, before it takes up work that cannot be
    /// done without them.
    ///
    /// # Errors
    /// As of [`account`](Self::account), and [`AdminError::Keys`].
    pub async fn check_keys(&self, account: AccountId) -> Result<()> {
        let sealed = self.0.ports.ledger.secrets(account).await?.ok_or(AdminError::NoAccount(account))?;
        let opened = self.0.keyring.open(&sealed.current, &webhook_place(account));
        opened.map(drop).map_err(|_| AdminError::Keys(account))
    }

    /// Gives an account another plan and quota, from the present month on.
    ///
    /// # Errors
    /// As of [`account`](Self::account).
    pub async fn set_plan(&self, account: AccountId, plan: &str, credits: u64) -> Result<()> {
        found(self.0.ports.ledger.set_plan(account, plan, credits, self.0.now()).await?, account)
    }

    /// Makes an API key; shown once.
    ///
    /// # Errors
    /// As of [`account`](Self::account).
    pub async fn new_key(&self, account: AccountId) -> Result<Secret> {
        let key = new_api_key();
        let mac = self.0.keyring.mac(key.expose());
        found(self.0.ports.ledger.add_key(account, mac, self.0.now()).await?, account).map(|()| key)
    }

    /// Takes an API key away, from a second later on at the latest; `false` if there was none.
    ///
    /// # Errors
    /// Those of the ledger.
    pub async fn revoke_key(&self, key: &str) -> Result<bool> {
        Ok(self.0.ports.ledger.remove_key(self.0.keyring.mac(key)).await?)
    }

    /// The keys of an account, the oldest first. [`KeyMac::id`](crate::port::ledger::KeyMac::id) is what to call each.
    ///
    /// # Errors
    /// Those of the ledger.
    pub async fn keys(&self, account: AccountId) -> Result<Vec<KeyView>> {
        Ok(self.0.ports.ledger.keys(account).await?)
    }

    /// [`revoke_key`](Self::revoke_key) for who knows a key by its [id](Self::keys) alone.
    ///
    /// # Errors
    /// Those of the ledger.
    pub async fn revoke_key_by_id(&self, account: AccountId, id: &str) -> Result<bool> {
        let found = self.keys(account).await?.into_iter().find(|key| key.mac.id() == id);
        let Some(KeyView { mac, .. }) = found else { return Ok(false) };
        Ok(self.0.ports.ledger.remove_key(mac).await?)
    }

    /// Saves a connector, in place of any other of its id.
    ///
    /// # Errors
    /// As of [`account`](Self::account), and [`AdminError::Value`] where id, key or secret are none that a request could have.
    pub async fn put_connector(&self, account: AccountId, id: &str, credentials: &Credentials) -> Result<()> {
        let texts = [("id", id), ("key", credentials.key.expose()), ("secret", credentials.secret.expose())];
        if let Some((what, _)) = texts.iter().find(|(_, text)| !is_text(text)) {
            return Err(refused(what, TEXT.into()));
        }
        let sealed = self.0.keyring.seal(&credentials_to_bytes(credentials), &connector_place(account, id));
        found(self.0.ports.ledger.put_connector(account, id, None, &sealed, self.0.now()).await?, account)
    }

    /// The connectors of an account, without what is secret in them.
    ///
    /// # Errors
    /// Those of the ledger.
    pub async fn connectors(&self, account: AccountId) -> Result<Vec<ConnectorView>> {
        Ok(self.0.ports.ledger.connectors(account).await?)
    }

    /// Removes a connector; `false` if there was none.
    ///
    /// # Errors
    /// Those of the ledger.
    pub async fn remove_connector(&self, account: AccountId, id: &str) -> Result<bool> {
        Ok(self.0.ports.ledger.remove_connector(account, id).await?)
    }

    /// Makes a new webhook secret; shown once. The one before it signs too for `overlap`.
    ///
    /// # Errors
    /// As of [`account`](Self::account).
    pub async fn rotate_webhook_secret(&self, account: AccountId, overlap: Duration) -> Result<Secret> {
        let ledger = &self.0.ports.ledger;
        let secret = SigningSecret::generate();
        loop {
            let before = ledger.secrets(account).await?.ok_or(AdminError::NoAccount(account))?.current;
            let current = self.0.seal_webhook_secret(account, &secret);
            let secrets = SealedSecrets { current, previous: Some((before.clone(), self.0.now() + overlap)) };
            if ledger.set_secrets(account, &before, secrets).await? {
                return Ok(secret.to_text());
            }
        }
    }

    /// The latest notifications of an account, the newest first, up to `max`.
    ///
    /// # Errors
    /// Those of the ledger.
    pub async fn deliveries(&self, account: AccountId, max: usize) -> Result<Vec<Delivery>> {
        Ok(self.0.ports.ledger.deliveries(account, max).await?)
    }

    /// Makes a notification that was given up due again; `false` if there is none such.
    ///
    /// # Errors
    /// Those of the ledger.
    pub async fn replay(&self, account: AccountId, request: JobId) -> Result<bool> {
        let replayed = self.0.ports.ledger.replay(account, request, self.0.now()).await?;
        self.0.told.notify_one();
        Ok(replayed)
    }

    /// Seals an account's connectors and webhook secrets with the newest key of the ring; answers how many were not.
    /// When every account has been through this, an old key may go after [`record_life`](super::Settings::record_life), in
    /// which requests may wait for the service's own troubles to pass, and that time again or, if they are longer, five days,
    /// in which their notifications are delayed, tried again and replayed.
    ///
    /// # Errors
    /// As of [`account`](Self::account), and [`AdminError::Keys`].
    pub async fn reseal(&self, account: AccountId) -> Result<usize> {
        let Inner { keyring, ports, .. } = self.0;
        let again = |sealed: &[u8], place: &str| -> Result<Vec<u8>> {
            let opened = keyring.open(sealed, place).map_err(|_| AdminError::Keys(account))?;
            Ok(keyring.seal(&opened, place))
        };
        let mut count = 0;
        for ConnectorView { id, .. } in ports.ledger.connectors(account).await? {
            let Some(sealed) = ports.ledger.connector(account, &id).await? else { continue };
            if !keyring.is_newest(&sealed) {
                let resealed = again(&sealed, &connector_place(account, &id))?;
                // One that was saved anew meanwhile is sealed with the newest key.
                ports.ledger.put_connector(account, &id, Some(&sealed), &resealed, self.0.now()).await?;
                count += 1;
            }
        }
        loop {
            let secrets = ports.ledger.secrets(account).await?.ok_or(AdminError::NoAccount(account))?;
            // One whose time is over signs nothing any more.
            let previous = secrets.previous.filter(|(_, until)| *until > self.0.now());
            let mut sealed = std::iter::once(&secrets.current).chain(previous.as_ref().map(|(sealed, _)| sealed));
            if sealed.all(|sealed| keyring.is_newest(sealed)) {
                return Ok(count);
            }
            let place = webhook_place(account);
            let previous = previous.map(|(sealed, until)| Ok::<_, AdminError>((again(&sealed, &place)?, until)));
            let resealed = SealedSecrets { current: again(&secrets.current, &place)?, previous: previous.transpose()? };
            // Looked at again: somebody may have rotated them meanwhile.
            if ports.ledger.set_secrets(account, &secrets.current, resealed).await? {
                return Ok(count + 1);
            }
        }
    }
}

impl Inner {
    fn seal_webhook_secret(&self, account: AccountId, secret: &SigningSecret) -> Vec<u8> {
        self.keyring.seal(secret.to_text().expose().as_bytes(), &webhook_place(account))
    }
}

pub(super) fn webhook_place(account: AccountId) -> String {
    place(account, "webhook")
}

pub(super) fn connector_place(account: AccountId, id: &str) -> String {
    place(account, &format!("connector/{id}"))
}

fn found(found: bool, account: AccountId) -> Result<()> {
    if found { Ok(()) } else { Err(AdminError::NoAccount(account)) }
}

/// A value that may not be shown, or tells nothing.
fn refused(what: &str, allowed: String) -> AdminError {
    AdminError::Value(Violation { path: what.to_owned(), value: None, allowed })
}
