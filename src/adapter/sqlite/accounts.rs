//! Who may ask for work, how much, and how fast.

use std::time::Duration;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::{
    SqliteLedger,
    columns::{Count, Id, Moment, count, id, limit, millis, moment},
};
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

/// An account's quota, in the present month.
pub(super) struct Quota {
    pub(super) disabled: bool,
    total: u64,
    pub(super) used: u64,
    pub(super) reserved: u64,
    /// End of the month.
    pub(super) month: Timestamp,
}

impl Quota {
    pub(super) fn of(connection: &Connection, account: Id, now: Timestamp) -> rusqlite::Result<Option<Self>> {
        const FIND: &str = "SELECT disabled, total, used, reserved, month FROM account WHERE id = ?1";
        let row = |row: &Row<'_>| Self::read(row, 0, now);
        connection.prepare_cached(FIND)?.query_row([account], row).optional()
    }

    /// From the columns `disabled, total, used, reserved, month`.
    fn read(row: &Row<'_>, first: usize, now: Timestamp) -> rusqlite::Result<Self> {
        let month = moment(row, first + 4)?;
        let over = now >= month;
        Ok(Self {
            disabled: row.get(first)?,
            total: count(row, first + 1)?,
            used: if over { 0 } else { count(row, first + 2)? },
            reserved: if over { 0 } else { count(row, first + 3)? },
            month: if over { now.next_month() } else { month },
        })
    }

    pub(super) fn remaining(&self) -> u64 {
        self.total.saturating_sub(self.used + self.reserved)
    }

    pub(super) fn save(&self, connection: &Connection, account: Id) -> rusqlite::Result<()> {
        const SAVE: &str = "UPDATE account SET used = ?2, reserved = ?3, month = ?4 WHERE id = ?1";
        let values = (account, Count(self.used), Count(self.reserved), Moment(self.month));
        connection.prepare_cached(SAVE)?.execute(values).map(drop)
    }
}

/// Columns that [`view`] reads.
const VIEW: &str = "SELECT id, name, plan, disabled, total, used, reserved, month FROM account";

fn view(row: &Row<'_>, now: Timestamp) -> rusqlite::Result<Account> {
    let Quota { disabled, total, used, reserved, month } = Quota::read(row, 3, now)?;
    let credits = Credits { total, used, reserved, reset: month };
    Ok(Account { id: AccountId(id(row, 0)?), name: row.get(1)?, plan: row.get(2)?, disabled, credits })
}

fn create(connection: &Connection, account: &NewAccount, now: Timestamp) -> rusqlite::Result<bool> {
    const CREATE: &str = "INSERT INTO account (id, name, plan, total, month, secret, old_secret, old_secret_until)
        VALUES (:id, :name, :plan, :total, :month, :secret, :old_secret, :old_secret_until) ON CONFLICT DO NOTHING";
    let (old_secret, until) = account.secrets.previous.clone().unzip();
    connection.prepare_cached(CREATE)?.execute(named_params! {
        ":id": Id(account.id.0),
        ":name": account.name,
        ":plan": account.plan,
        ":total": Count(account.credits),
        ":month": Moment(now.next_month()),
        ":secret": account.secrets.current,
        ":old_secret": old_secret,
        ":old_secret_until": until.map(Moment),
    })?;
    connection.prepare_cached("SELECT 1 FROM account WHERE id = ?1")?.exists([Id(account.id.0)])
}

struct Window {
    began: Timestamp,
    ends: Timestamp,
    used: u64,
}

fn take_rate(
    connection: &Connection,
    key: KeyMac,
    want: u64,
    limit: u64,
    fresh: Window,
) -> rusqlite::Result<RateGrant> {
    const FIND: &str = "SELECT began, ends, used FROM rate WHERE key = ?1";
    const SAVE: &str = "INSERT OR REPLACE INTO rate (key, began, ends, used) VALUES (?1, ?2, ?3, ?4)";
    let now = fresh.began;
    let row = |row: &Row<'_>| Ok(Window { began: moment(row, 0)?, ends: moment(row, 1)?, used: count(row, 2)? });
    let last = connection.prepare_cached(FIND)?.query_row([key.0], row).optional()?;
    let mut window = last.filter(|last| last.ends > now && last.began <= now + SKEW).unwrap_or(fresh);
    let granted = want.min(limit.saturating_sub(window.used));
    window.used += granted;
    let values = (key.0, Moment(window.began), Moment(window.ends), Count(window.used));
    connection.prepare_cached(SAVE)?.execute(values)?;
    Ok(RateGrant { granted, used: window.used, resets: window.ends })
}

impl SqliteLedger {
    /// Changes one row, and answers whether it was there.
    async fn change<P: rusqlite::Params + Send + 'static>(&self, statement: &'static str, values: P) -> Result<bool> {
        self.writer.run(move |connection| Ok(connection.prepare_cached(statement)?.execute(values)? > 0)).await
    }
}

#[async_trait]
impl Accounts for SqliteLedger {
    async fn create_account(&self, account: NewAccount, now: Timestamp) -> Result<bool> {
        self.writer.run(move |connection| create(connection, &account, now)).await
    }

    async fn account(&self, account: AccountId, now: Timestamp) -> Result<Option<Account>> {
        self.readers.read(|connection| {
            let mut find = connection.prepare_cached(&format!("{VIEW} WHERE id = ?1"))?;
            find.query_row([Id(account.0)], |row| view(row, now)).optional()
        })
    }

    async fn account_named(&self, name: &str, now: Timestamp) -> Result<Option<Account>> {
        self.readers.read(|connection| {
            let mut find = connection.prepare_cached(&format!("{VIEW} WHERE name = ?1"))?;
            find.query_row([name], |row| view(row, now)).optional()
        })
    }

    async fn accounts(&self, after: &str, max: usize, now: Timestamp) -> Result<Vec<Account>> {
        self.readers.read(|connection| {
            let mut list = connection.prepare_cached(&format!("{VIEW} WHERE name > ?1 ORDER BY name LIMIT ?2"))?;
            list.query_map((after, limit(max)), |row| view(row, now))?.collect()
        })
    }

    async fn set_disabled(&self, account: AccountId, disabled: bool) -> Result<bool> {
        self.change("UPDATE account SET disabled = ?2 WHERE id = ?1", (Id(account.0), disabled)).await
    }

    async fn set_plan(&self, account: AccountId, plan: &str, credits: u64, now: Timestamp) -> Result<bool> {
        const SET: &str = "UPDATE account SET plan = ?2, total = ?3 WHERE id = ?1";
        let (account, plan) = (Id(account.0), plan.to_owned());
        let set = move |connection: &Connection| {
            let Some(quota) = Quota::of(connection, account, now)? else { return Ok(false) };
            quota.save(connection, account)?;
            connection.prepare_cached(SET)?.execute((account, plan, Count(credits)))?;
            Ok(true)
        };
        self.writer.run(set).await
    }

    async fn set_secrets(&self, account: AccountId, before: &[u8], secrets: SealedSecrets) -> Result<bool> {
        const SET: &str = "UPDATE account SET secret = ?2, old_secret = ?3, old_secret_until = ?4
            WHERE id = ?1 AND secret IN (?2, ?5)";
        let (old, until) = secrets.previous.unzip();
        self.change(SET, (Id(account.0), secrets.current, old, until.map(Moment), before.to_vec())).await
    }

    async fn secrets(&self, account: AccountId) -> Result<Option<SealedSecrets>> {
        const FIND: &str = "SELECT secret, old_secret, old_secret_until FROM account WHERE id = ?1";
        let row = |row: &Row<'_>| {
            let until: Option<Moment> = row.get(2)?;
            let old: Option<Vec<u8>> = row.get(1)?;
            Ok(SealedSecrets { current: row.get(0)?, previous: old.zip(until.map(|Moment(until)| until)) })
        };
        self.readers.read(|connection| connection.prepare_cached(FIND)?.query_row([Id(account.0)], row).optional())
    }

    async fn add_key(&self, account: AccountId, key: KeyMac, now: Timestamp) -> Result<bool> {
        const ADD: &str = "INSERT INTO api_key (mac, account, added) SELECT ?1, id, ?3 FROM account WHERE id = ?2
            ON CONFLICT DO NOTHING";
        let (account, key) = (Id(account.0), key.0);
        let add = move |connection: &Connection| {
            connection.prepare_cached(ADD)?.execute((key, account, Moment(now)))?;
            connection.prepare_cached("SELECT 1 FROM api_key WHERE mac = ?1 AND account = ?2")?.exists((key, account))
        };
        self.writer.run(add).await
    }

    async fn remove_key(&self, key: KeyMac) -> Result<bool> {
        self.change("DELETE FROM api_key WHERE mac = ?1", [key.0]).await
    }

    async fn keys(&self, account: AccountId) -> Result<Vec<KeyView>> {
        const LIST: &str = "SELECT mac, added FROM api_key WHERE account = ?1 ORDER BY added, mac";
        self.readers.read(|connection| {
            let view = |row: &Row<'_>| Ok(KeyView { mac: KeyMac(row.get(0)?), added: moment(row, 1)? });
            connection.prepare_cached(LIST)?.query_map([Id(account.0)], view)?.collect()
        })
    }

    async fn key_holder(&self, key: KeyMac) -> Result<Option<KeyHolder>> {
        const FIND: &str =
            "SELECT account.id, account.disabled FROM api_key JOIN account ON account.id = api_key.account
            WHERE api_key.mac = ?1";
        let row = |row: &Row<'_>| Ok(KeyHolder { account: AccountId(id(row, 0)?), disabled: row.get(1)? });
        self.readers.read(|connection| connection.prepare_cached(FIND)?.query_row([key.0], row).optional())
    }

    async fn put_connector(
        &self,
        account: AccountId,
        id: &str,
        before: Option<&[u8]>,
        sealed: &[u8],
        now: Timestamp,
    ) -> Result<bool> {
        const PUT: &str = "INSERT OR REPLACE INTO connector (account, id, sealed, saved)
            SELECT id, ?2, ?3, ?4 FROM account WHERE id = ?1 AND (?5 IS NULL OR EXISTS (
                SELECT 1 FROM connector WHERE account = ?1 AND id = ?2 AND sealed IN (?3, ?5)
            ))";
        let before = before.map(<[u8]>::to_vec);
        self.change(PUT, (Id(account.0), id.to_owned(), sealed.to_vec(), Moment(now), before)).await
    }

    async fn connector(&self, account: AccountId, id: &str) -> Result<Option<Vec<u8>>> {
        const FIND: &str = "SELECT sealed FROM connector WHERE account = ?1 AND id = ?2";
        let values = (Id(account.0), id);
        self.readers.read(|connection| connection.prepare_cached(FIND)?.query_row(values, |row| row.get(0)).optional())
    }

    async fn connectors(&self, account: AccountId) -> Result<Vec<ConnectorView>> {
        const LIST: &str = "SELECT id, saved FROM connector WHERE account = ?1 ORDER BY id";
        self.readers.read(|connection| {
            let view = |row: &Row<'_>| Ok(ConnectorView { id: row.get(0)?, saved: moment(row, 1)? });
            connection.prepare_cached(LIST)?.query_map([Id(account.0)], view)?.collect()
        })
    }

    async fn remove_connector(&self, account: AccountId, id: &str) -> Result<bool> {
        self.change("DELETE FROM connector WHERE account = ?1 AND id = ?2", (Id(account.0), id.to_owned())).await
    }

    async fn take_rate(
        &self,
        key: KeyMac,
        want: u64,
        limit: u64,
        window: Duration,
        now: Timestamp,
    ) -> Result<RateGrant> {
        let Count(length) = millis(window);
        let fresh = Window { began: now, ends: now + Duration::from_millis(length), used: 0 };
        self.writer.run(move |connection| take_rate(connection, key, want, limit, fresh)).await
    }
}
