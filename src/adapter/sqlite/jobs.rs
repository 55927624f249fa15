//! Requests from acceptance to their end.

use std::time::Duration;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::{
    SqliteLedger,
    accounts::Quota,
    columns::{Count, Id, Moment, count, id, limit, millis, moment},
};
use crate::{
    clock::Timestamp,
    port::{
        BlobKey, Jobs, Result,
        ledger::{
            Accepted, AccountId, Capacity, Fence, Held, Image, JobId, JobLease, JobView, Link, Load, NewHook, NewJob,
            Outcome, Refusal, SKEW, Standing, Swept, Unfinished,
        },
    },
};

/// Blobs that are looked up before others have their turn.
const LOOK_UPS: usize = 64;

const INSERT: &str = "INSERT INTO job (id, account, accepted, cost, month, source_bytes, sealed)
    VALUES (:id, :account, :accepted, :cost, :month, :source_bytes, :sealed) RETURNING number";
const INSERT_HOOK: &str = "INSERT INTO hook (job, account, lane, delay, sealed) VALUES (?1, ?2, ?3, ?4, ?5)";
const DEFERRED: &str = "UPDATE job INDEXED BY job_deferred SET state = 0 WHERE state = 1 AND due <= ?1";
const LEASED: &str = "UPDATE job INDEXED BY job_leased SET state = 0 WHERE state = 2 AND (due <= ?1 OR since > ?2)";
const ACCOUNT: &str = "SELECT id FROM account INDEXED BY account_turn WHERE ready > 0 AND id IS NOT ?1
    ORDER BY turn LIMIT 1";
const LEASE: &str = "UPDATE job SET state = 2, due = ?2, since = ?3, fence = fence + 1, attempts = attempts + 1
    WHERE number = (
        SELECT number FROM job INDEXED BY job_ready WHERE state = 0 AND account = ?1 ORDER BY number LIMIT 1
    )
    RETURNING id, fence, attempts, failures, sealed, source_bytes, accepted";
const TURNS: &str = "UPDATE tally SET turns = turns + 1 RETURNING turns";
const PROLONG: &str = "UPDATE job SET state = 2, due = ?3, since = ?4
    WHERE id = ?1 AND fence = ?2 AND since IS NOT NULL";
const FIND_LEASE: &str = "SELECT number, account, cost, month, since IS NOT NULL FROM job WHERE id = ?1 AND fence = ?2";
const AGAIN: &str =
    "UPDATE job SET state = 1, due = ?2, since = NULL, attempts = attempts - 1, failures = failures + ?3
    WHERE number = ?1";
const FINISH: &str = "UPDATE job SET state = 3, since = NULL, sealed = NULL, settled = ?2, status = ?3, body = ?4
    WHERE number = ?1";
const BEGIN_HOOK: &str = "UPDATE hook SET state = 1, due = min(?2 + delay, 9223372036854775807) WHERE job = ?1";
const KEEP: &str = "INSERT INTO image (job, link, blob, name, media_type, expires) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
const IMAGES: &str = "DELETE FROM image
    WHERE job IN (SELECT job FROM image WHERE expires <= ?1 ORDER BY expires LIMIT ?2) RETURNING blob";
const RECORDS: &str = "DELETE FROM job WHERE number IN (
        SELECT number FROM job INDEXED BY job_settled
        WHERE state = 3 AND settled < ?1
            AND NOT EXISTS (SELECT 1 FROM image WHERE image.job = job.number)
            AND NOT EXISTS (SELECT 1 FROM hook WHERE hook.job = job.number AND hook.state < 3)
        ORDER BY settled LIMIT ?2
    )";
const SOURCE: &str = "SELECT 1 FROM job WHERE id = ?1 AND state < 3";
const RESULT: &str = "SELECT 1 FROM job WHERE id = ?1 AND (
    fence = ?2 AND since IS NOT NULL OR EXISTS (SELECT 1 FROM image WHERE image.job = job.number AND blob = ?3)
)";
const SUMS: &str = "SELECT waiting, leased, source_bytes, notifications FROM tally";
const OWN: &str = "SELECT jobs, source_bytes FROM account WHERE id = ?1";
const FIND_VIEW: &str = "SELECT accepted, status, body, since IS NOT NULL FROM job WHERE id = ?1 AND account = ?2";
const FIND_IMAGE: &str = "SELECT blob, name, media_type, expires FROM image WHERE link = ?1 AND expires > ?2";
const OLDEST: &str = "SELECT min(accepted) FROM job INDEXED BY job_waiting WHERE state < 3 AND since IS NULL";

/// Statements of which none may go through a table.
#[cfg(test)]
pub(super) const OFTEN: &[&str] = &[
    INSERT,
    INSERT_HOOK,
    DEFERRED,
    LEASED,
    ACCOUNT,
    LEASE,
    TURNS,
    PROLONG,
    FIND_LEASE,
    AGAIN,
    FINISH,
    BEGIN_HOOK,
    KEEP,
    IMAGES,
    RECORDS,
    SOURCE,
    RESULT,
    SUMS,
    OWN,
    FIND_VIEW,
    FIND_IMAGE,
    OLDEST,
];

fn accept(
    connection: &Connection,
    job: NewJob,
    capacity: Capacity,
    now: Timestamp,
) -> rusqlite::Result<Result<Accepted, Refusal>> {
    if connection.prepare_cached("SELECT 1 FROM job WHERE id = ?1")?.exists([Id(job.id.0)])? {
        return Ok(Ok(Accepted::Before));
    }
    let account = Id(job.account.0);
    let Some(mut quota) = Quota::of(connection, account, now)?.filter(|quota| !quota.disabled) else {
        return Ok(Err(Refusal::Closed));
    };
    let remaining = quota.remaining();
    if job.cost > remaining {
        return Ok(Err(Refusal::NoCredits { remaining }));
    }
    let load = sums(connection)?;
    let all = Unfinished { jobs: load.waiting + load.leased, source_bytes: load.source_bytes };
    let row = |row: &Row<'_>| Ok(Unfinished { jobs: count(row, 0)?, source_bytes: count(row, 1)? });
    let own = connection.prepare_cached(OWN)?.query_row([account], row)?;
    if !capacity.admits(all, own, job.source_bytes.unwrap_or_default()) {
        return Ok(Err(Refusal::QueueFull));
    }
    quota.reserved += job.cost;
    quota.save(connection, account)?;
    insert(connection, job, quota.month, now)?;
    Ok(Ok(Accepted::Now))
}

fn insert(connection: &Connection, job: NewJob, month: Timestamp, now: Timestamp) -> rusqlite::Result<()> {
    let values = named_params! {
        ":id": Id(job.id.0),
        ":account": Id(job.account.0),
        ":accepted": Moment(now),
        ":cost": Count(job.cost),
        ":month": Moment(month),
        ":source_bytes": job.source_bytes.map(Count),
        ":sealed": job.sealed,
    };
    let number: i64 = connection.prepare_cached(INSERT)?.query_row(values, |row| row.get(0))?;
    if let Some(NewHook { sealed, lane, delay }) = job.hook {
        let values = (number, Id(job.account.0), lane.cast_signed(), millis(delay), sealed);
        connection.prepare_cached(INSERT_HOOK)?.execute(values)?;
    }
    Ok(())
}

/// Makes jobs ready whose time has come.
fn wake(connection: &Connection, now: Timestamp) -> rusqlite::Result<()> {
    // Goes through all leases, of which there are as many as workers.
    connection.prepare_cached(DEFERRED)?.execute([Moment(now)])?;
    connection.prepare_cached(LEASED)?.execute([Moment(now), Moment(now + SKEW)])?;
    Ok(())
}

/// Leases the next job that is ready.
fn claim(
    connection: &Connection,
    but: Option<AccountId>,
    lease: Duration,
    now: Timestamp,
) -> rusqlite::Result<Option<JobLease>> {
    let but = but.map(|account| Id(account.0));
    let first = connection.prepare_cached(ACCOUNT)?.query_row([but], |row| id(row, 0)).optional()?;
    let Some(account) = first else { return Ok(None) };
    let row = |row: &Row<'_>| {
        Ok(JobLease {
            id: JobId(id(row, 0)?),
            account: AccountId(account),
            fence: Fence(count(row, 1)?),
            attempt: row.get(2)?,
            failures: row.get(3)?,
            sealed: row.get(4)?,
            source_bytes: row.get::<_, Option<Count>>(5)?.map(|Count(bytes)| bytes),
            accepted: moment(row, 6)?,
        })
    };
    let values = (Id(account), Moment(now + lease), Moment(now));
    let leased = connection.prepare_cached(LEASE)?.query_row(values, row)?;
    let turn = (Id(account), next_turn(connection)?);
    connection.prepare_cached("UPDATE account SET turn = ?2 WHERE id = ?1")?.execute(turn)?;
    Ok(Some(leased))
}

/// The number of a lease that was given, of a job or of a notification.
pub(super) fn next_turn(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached(TURNS)?.query_row([], |row| row.get(0))
}

fn prolong(
    connection: &Connection,
    (job, fence): (JobId, Fence),
    lease: Duration,
    now: Timestamp,
) -> rusqlite::Result<Held> {
    let values = (Id(job.0), Count(fence.0), Moment(now + lease), Moment(now));
    let held = connection.prepare_cached(PROLONG)?.execute(values)? > 0;
    Ok(if held { Held::Yes } else { Held::Lost })
}

/// What settling needs to know of a job.
struct Found {
    number: i64,
    account: Id,
    cost: u64,
    month: Timestamp,
    held: bool,
}

fn settle(
    connection: &Connection,
    job: JobId,
    fence: Fence,
    outcome: Outcome,
    now: Timestamp,
) -> rusqlite::Result<Held> {
    let row = |row: &Row<'_>| {
        Ok(Found {
            number: row.get(0)?,
            account: row.get(1)?,
            cost: count(row, 2)?,
            month: moment(row, 3)?,
            held: row.get(4)?,
        })
    };
    let found = connection.prepare_cached(FIND_LEASE)?.query_row((Id(job.0), Count(fence.0)), row).optional()?;
    let Some(found) = found else { return Ok(Held::Lost) };
    if !found.held {
        return Ok(Held::Yes);
    }
    let (status, body, image) = match outcome {
        Outcome::Completed { body, image } => (200, body, image),
        Outcome::Failed { status, body } => (status, body, None),
        Outcome::Again { at, counts } => {
            connection.prepare_cached(AGAIN)?.execute((found.number, Moment(at), counts))?;
            return Ok(Held::Yes);
        }
    };
    charge(connection, &found, status == 200, now)?;
    finish(connection, found.number, status, &body, now)?;
    if let Some(image) = image {
        keep(connection, found.number, &image)?;
    }
    Ok(Held::Yes)
}

/// Charges what was reserved, or gives it back; what an earlier month reserved is gone with it.
fn charge(connection: &Connection, job: &Found, completed: bool, now: Timestamp) -> rusqlite::Result<()> {
    let Some(mut quota) = Quota::of(connection, job.account, now)? else { return Ok(()) };
    if quota.month == job.month {
        quota.reserved = quota.reserved.saturating_sub(job.cost);
        quota.used += if completed { job.cost } else { 0 };
        quota.save(connection, job.account)?;
    }
    Ok(())
}

fn finish(connection: &Connection, job: i64, status: u16, body: &[u8], now: Timestamp) -> rusqlite::Result<()> {
    connection.prepare_cached(FINISH)?.execute((job, Moment(now), status, body))?;
    connection.prepare_cached(BEGIN_HOOK)?.execute((job, Moment(now)))?;
    Ok(())
}

fn keep(connection: &Connection, job: i64, image: &Image) -> rusqlite::Result<()> {
    let link = image.link.0.to_be_bytes();
    let values = (job, link, image.blob.to_string(), &image.name, &image.media_type, Moment(image.expires));
    connection.prepare_cached(KEEP)?.execute(values).map(drop)
}

fn view(row: &Row<'_>) -> rusqlite::Result<JobView> {
    let standing = match (row.get::<_, Option<u16>>(1)?, row.get(3)?) {
        (Some(status), _) => Standing::Settled { status, body: row.get(2)? },
        (None, true) => Standing::Processing,
        (None, false) => Standing::Accepted,
    };
    Ok(JobView { accepted: moment(row, 0)?, standing })
}

/// A blob's key, as it was written into this column.
fn blob(row: &Row<'_>, column: usize) -> rusqlite::Result<BlobKey> {
    let text: String = row.get(column)?;
    BlobKey::parse(&text).ok_or(rusqlite::Error::InvalidColumnType(
        column,
        "blob".to_owned(),
        rusqlite::types::Type::Text,
    ))
}

fn sweep(connection: &Connection, before: Timestamp, max: usize, now: Timestamp) -> rusqlite::Result<Swept> {
    let mut images = connection.prepare_cached(IMAGES)?;
    let blobs = images.query_map((Moment(now), limit(max)), |row| blob(row, 0))?.collect::<rusqlite::Result<_>>()?;
    let records = connection.prepare_cached(RECORDS)?.execute((Moment(before), limit(max)))?;
    connection.prepare_cached("DELETE FROM rate WHERE ends <= ?1")?.execute([Moment(now)])?;
    Ok(Swept { blobs, records: records as u64 })
}

fn is_orphan(connection: &Connection, key: BlobKey) -> rusqlite::Result<bool> {
    let job = Id(key.job().0);
    let needed = match key {
        BlobKey::Source(_) => connection.prepare_cached(SOURCE)?.exists([job])?,
        BlobKey::Result(_, fence) => {
            connection.prepare_cached(RESULT)?.exists((job, Count(fence.0), key.to_string()))?
        }
    };
    Ok(!needed)
}

fn sums(connection: &Connection) -> rusqlite::Result<Load> {
    connection.prepare_cached(SUMS)?.query_row([], |row| {
        Ok(Load {
            waiting: count(row, 0)?,
            leased: count(row, 1)?,
            source_bytes: count(row, 2)?,
            oldest: None,
            notifications: count(row, 3)?,
        })
    })
}

#[async_trait]
impl Jobs for SqliteLedger {
    async fn accept(&self, job: NewJob, capacity: Capacity, now: Timestamp) -> Result<Result<Accepted, Refusal>> {
        self.writer.run(move |connection| accept(connection, job, capacity, now)).await
    }

    async fn claim(
        &self,
        max: usize,
        but: Option<AccountId>,
        lease: Duration,
        now: Timestamp,
    ) -> Result<Vec<JobLease>> {
        let claims = move |connection: &Connection| {
            wake(connection, now)?;
            std::iter::from_fn(|| claim(connection, but, lease, now).transpose()).take(max).collect()
        };
        self.writer.run(claims).await
    }

    async fn prolong(&self, held: &[(JobId, Fence)], lease: Duration, now: Timestamp) -> Result<Vec<Held>> {
        let held = held.to_vec();
        let all =
            move |connection: &Connection| held.into_iter().map(|held| prolong(connection, held, lease, now)).collect();
        self.writer.run(all).await
    }

    async fn settle(&self, job: JobId, fence: Fence, outcome: Outcome, now: Timestamp) -> Result<Held> {
        self.writer.run(move |connection| settle(connection, job, fence, outcome, now)).await
    }

    async fn job(&self, account: AccountId, job: JobId) -> Result<Option<JobView>> {
        let values = (Id(job.0), Id(account.0));
        self.readers.read(|connection| connection.prepare_cached(FIND_VIEW)?.query_row(values, view).optional())
    }

    async fn image(&self, link: Link, now: Timestamp) -> Result<Option<Image>> {
        let row = |row: &Row<'_>| {
            let (name, media_type) = (row.get(1)?, row.get(2)?);
            Ok(Image { blob: blob(row, 0)?, link, name, media_type, expires: moment(row, 3)? })
        };
        let values = (link.0.to_be_bytes(), Moment(now));
        self.readers.read(|connection| connection.prepare_cached(FIND_IMAGE)?.query_row(values, row).optional())
    }

    async fn sweep(&self, settled_before: Timestamp, max: usize, now: Timestamp) -> Result<Swept> {
        self.writer.run(move |connection| sweep(connection, settled_before, max, now)).await
    }

    async fn orphans(&self, blobs: &[BlobKey]) -> Result<Vec<BlobKey>> {
        let mut orphans = Vec::new();
        for some in blobs.chunks(LOOK_UPS) {
            let found = |connection: &Connection| {
                let orphan = |key: &BlobKey| is_orphan(connection, *key).map(|is| is.then_some(*key)).transpose();
                some.iter().filter_map(orphan).collect::<rusqlite::Result<Vec<_>>>()
            };
            orphans.extend(self.readers.read(found)?);
            tokio::task::yield_now().await;
        }
        Ok(orphans)
    }

    async fn load(&self) -> Result<Load> {
        self.readers.read(|connection| {
            let oldest: Option<Moment> = connection.prepare_cached(OLDEST)?.query_row([], |row| row.get(0))?;
            Ok(Load { oldest: oldest.map(|Moment(oldest)| oldest), ..sums(connection)? })
        })
    }
}
