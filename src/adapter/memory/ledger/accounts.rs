//! Who may ask for work, how much, and how fast.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    time::Duration,
};

use async_trait::async_trait;

use super::{MemoryLedger, State};
use crate::{
    clock::Timestamp,
    port::{
        Accounts, Result,
        ledger::{
            Account, AccountId, ConnectorView, Credits, KeyHolder, KeyMac, KeyView, NewAccount, RateGrant, SKEW,
            SealedSecrets,
        },
    },
};

pub(super) struct AccountRow {
    name: String,
    plan: String,
    pub(super) disabled: bool,
    total: u64,
    used: u64,
    pub(super) reserved: u64,
    /// End of the month that `used` and `reserved` belong to.
    pub(super) month: Timestamp,
    secrets: SealedSecrets,
    connectors: BTreeMap<String, (Vec<u8>, Timestamp)>,
    /// Number of the last lease that was given to one of its jobs.
    pub(super) turn: u64,
}

pub(super) struct Window {
    began: Timestamp,
    pub(super) ends: Timestamp,
    used: u64,
}

impl AccountRow {
    /// Begins a new month if the last one is over.
    pub(super) fn turn_month(&mut self, now: Timestamp) {
        if now >= self.month {
            (self.month, self.used, self.reserved) = (now.next_month(), 0, 0);
        }
    }

    pub(super) fn remaining(&self) -> u64 {
        self.total.saturating_sub(self.used + self.reserved)
    }

    /// Charges or gives back what was reserved in the month that ends at `month`.
    pub(super) fn settle(&mut self, month: Timestamp, cost: u64, charge: bool) {
        if month == self.month {
            self.reserved -= cost;
            self.used += if charge { cost } else { 0 };
        }
    }

    fn view(&self, id: AccountId, now: Timestamp) -> Account {
        let over = now >= self.month;
        Account {
            id,
            name: self.name.clone(),
            plan: self.plan.clone(),
            disabled: self.disabled,
            credits: Credits {
                total: self.total,
                used: if over { 0 } else { self.used },
                reserved: if over { 0 } else { self.reserved },
                reset: if over { now.next_month() } else { self.month },
            },
        }
    }
}

impl State {
    /// Does something with an account; `false` if there is none.
    fn with_account(&mut self, account: AccountId, step: impl FnOnce(&mut AccountRow)) -> bool {
        self.accounts.get_mut(&account).map(step).is_some()
    }
}

#[async_trait]
impl Accounts for MemoryLedger {
    async fn create_account(&self, account: NewAccount, now: Timestamp) -> Result<bool> {
        let mut state = self.state();
        if state.accounts.contains_key(&account.id) {
            return Ok(true);
        }
        if state.accounts.values().any(|other| other.name == account.name) {
            return Ok(false);
        }
        let row = AccountRow {
            name: account.name,
            plan: account.plan,
            disabled: false,
            total: account.credits,
            used: 0,
            reserved: 0,
            month: now.next_month(),
            secrets: account.secrets,
            connectors: BTreeMap::new(),
            turn: 0,
        };
        state.accounts.insert(account.id, row);
        Ok(true)
    }

    async fn account(&self, account: AccountId, now: Timestamp) -> Result<Option<Account>> {
        Ok(self.state().accounts.get(&account).map(|row| row.view(account, now)))
    }

    async fn account_named(&self, name: &str, now: Timestamp) -> Result<Option<Account>> {
        let state = self.state();
        let found = state.accounts.iter().find(|(_, row)| row.name == name);
        Ok(found.map(|(id, row)| row.view(*id, now)))
    }

    async fn accounts(&self, after: &str, max: usize, now: Timestamp) -> Result<Vec<Account>> {
        let state = self.state();
        let mut rows: Vec<_> = state.accounts.iter().filter(|(_, row)| row.name.as_str() > after).collect();
        rows.sort_by_key(|(_, row)| &row.name);
        Ok(rows.into_iter().take(max).map(|(id, row)| row.view(*id, now)).collect())
    }

    async fn set_disabled(&self, account: AccountId, disabled: bool) -> Result<bool> {
        Ok(self.state().with_account(account, |row| row.disabled = disabled))
    }

    async fn set_plan(&self, account: AccountId, plan: &str, credits: u64, now: Timestamp) -> Result<bool> {
        Ok(self.state().with_account(account, |row| {
            row.turn_month(now);
            row.plan = plan.to_owned();
            row.total = credits;
        }))
    }

    async fn set_secrets(&self, account: AccountId, before: &[u8], secrets: SealedSecrets) -> Result<bool> {
        let mut state = self.state();
        let Some(row) = state.accounts.get_mut(&account) else { return Ok(false) };
        let known = [before, &secrets.current].contains(&&*row.secrets.current);
        if known {
            row.secrets = secrets;
        }
        Ok(known)
    }

    async fn secrets(&self, account: AccountId) -> Result<Option<SealedSecrets>> {
        Ok(self.state().accounts.get(&account).map(|row| row.secrets.clone()))
    }

    async fn add_key(&self, account: AccountId, key: KeyMac, now: Timestamp) -> Result<bool> {
        let mut state = self.state();
        if !state.accounts.contains_key(&account) {
            return Ok(false);
        }
        Ok(state.keys.entry(key).or_insert((account, now)).0 == account)
    }

    async fn remove_key(&self, key: KeyMac) -> Result<bool> {
        Ok(self.state().keys.remove(&key).is_some())
    }

    async fn keys(&self, account: AccountId) -> Result<Vec<KeyView>> {
        let state = self.state();
        let keys = state.keys.iter().filter(|(_, (holder, _))| *holder == account);
        let mut keys: Vec<_> = keys.map(|(mac, (_, added))| KeyView { mac: *mac, added: *added }).collect();
        keys.sort_by_key(|key| key.added);
        Ok(keys)
    }

    async fn key_holder(&self, key: KeyMac) -> Result<Option<KeyHolder>> {
        let state = self.state();
        let holder = |account| Some(KeyHolder { account, disabled: state.accounts.get(&account)?.disabled });
        Ok(state.keys.get(&key).and_then(|(account, _)| holder(*account)))
    }

    async fn put_connector(
        &self,
        account: AccountId,
        id: &str,
        before: Option<&[u8]>,
        sealed: &[u8],
        now: Timestamp,
    ) -> Result<bool> {
        let mut state = self.state();
        let Some(row) = state.accounts.get_mut(&account) else { return Ok(false) };
        let present = row.connectors.get(id).map(|(present, _)| &**present);
        let known = before.is_none() || present == before || present == Some(sealed);
        if known {
            row.connectors.insert(id.to_owned(), (sealed.to_vec(), now));
        }
        Ok(known)
    }

    async fn connector(&self, account: AccountId, id: &str) -> Result<Option<Vec<u8>>> {
        let state = self.state();
        Ok(state.accounts.get(&account).and_then(|row| Some(row.connectors.get(id)?.0.clone())))
    }

    async fn connectors(&self, account: AccountId) -> Result<Vec<ConnectorView>> {
        let state = self.state();
        let rows = state.accounts.get(&account).into_iter().flat_map(|row| &row.connectors);
        Ok(rows.map(|(id, (_, saved))| ConnectorView { id: id.clone(), saved: *saved }).collect())
    }

    async fn remove_connector(&self, account: AccountId, id: &str) -> Result<bool> {
        let mut state = self.state();
        Ok(state.accounts.get_mut(&account).is_some_and(|row| row.connectors.remove(id).is_some()))
    }

    async fn take_rate(
        &self,
        key: KeyMac,
        want: u64,
        limit: u64,
        window: Duration,
        now: Timestamp,
    ) -> Result<RateGrant> {
        let mut state = self.state();
        let fresh = Window { began: now, ends: now + window, used: 0 };
        let taken = match state.windows.entry(key) {
            Entry::Vacant(place) => place.insert(fresh),
            Entry::Occupied(place) => {
                let last = place.into_mut();
                if last.ends <= now || last.began > now + SKEW {
                    *last = fresh;
                }
                last
            }
        };
        let granted = want.min(limit.saturating_sub(taken.used));
        taken.used += granted;
        Ok(RateGrant { granted, used: taken.used, resets: taken.ends })
    }
}
