//! Notifications that are to be delivered.

use std::time::Duration;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row};

use super::{
    SqliteLedger,
    columns::{Count, Id, Moment, count, id, limit, moment},
    jobs::next_turn,
};
use crate::{
    clock::Timestamp,
    port::{
        Outbox, Result,
        ledger::{AccountId, Delivery, DeliveryState, Fence, Held, HookLease, HookOutcome, JobId, SKEW},
    },
};

/// Attempts of a delivery that are kept.
const ATTEMPTS: i64 = 20;

const WAKE: &str = "UPDATE hook INDEXED BY hook_leased SET state = 1, due = min(due, ?1)
    WHERE state = 2 AND (until <= ?1 OR since > ?2)";
const LANE: &str = "SELECT lane FROM lane INDEXED BY lane_due
    WHERE due IS NOT NULL AND due <= ?1 AND leased < ?2 ORDER BY due LIMIT 1";
const SENDER: &str = "SELECT account FROM sender INDEXED BY sender_turn WHERE lane = ?1 AND due <= ?2
    ORDER BY leased, turn LIMIT 1";
const LEASE: &str = "UPDATE hook SET state = 2, until = ?3, since = ?4, fence = fence + 1
    WHERE job = (
        SELECT job FROM hook INDEXED BY hook_waiting WHERE state = 1 AND lane = ?1 AND account = ?2 ORDER BY due LIMIT 1
    )
    RETURNING job, fence, failures, sealed";
const TURN: &str = "UPDATE sender SET turn = ?3 WHERE lane = ?1 AND account = ?2";
const FIND_LEASE: &str = "SELECT hook.job, hook.since IS NOT NULL FROM hook JOIN job ON job.number = hook.job
    WHERE job.id = ?1 AND hook.fence = ?2";
const END: &str = "UPDATE hook SET state = ?2, due = ifnull(?3, due), since = NULL, failures = failures + ?4,
    sealed = iif(?2 = 3, NULL, sealed) WHERE job = ?1";
const COUNT_ATTEMPT: &str = "UPDATE hook SET attempts = attempts + 1 WHERE job = ?1 RETURNING attempts";
const ADD_ATTEMPT: &str = "INSERT INTO attempt (job, number, at, note) VALUES (?1, ?2, ?3, ?4)";
const LIST: &str = "SELECT job.id, latest.state, latest.due, attempt.at, attempt.note
    FROM (SELECT job, state, due FROM hook WHERE account = ?1 AND state > 0 ORDER BY job DESC LIMIT ?2) latest
    JOIN job ON job.number = latest.job
    LEFT JOIN attempt ON attempt.job = latest.job
    ORDER BY latest.job DESC, attempt.number";
const FIND_DELIVERY: &str = "SELECT hook.job, hook.state FROM hook JOIN job ON job.number = hook.job
    WHERE job.id = ?1 AND hook.account = ?2";
const REPLAY: &str = "UPDATE hook SET state = 1, due = ?2, failures = 0 WHERE job = ?1";

/// Statements of which none may go through a table.
#[cfg(test)]
pub(super) const OFTEN: &[&str] =
    &[WAKE, LANE, SENDER, LEASE, TURN, FIND_LEASE, END, COUNT_ATTEMPT, ADD_ATTEMPT, FIND_DELIVERY, REPLAY];

/// Lets hooks wait again whose lease is over: looks at all leases, of which there are as many as posts at a time.
fn wake(connection: &Connection, now: Timestamp) -> rusqlite::Result<()> {
    connection.prepare_cached(WAKE)?.execute([Moment(now), Moment(now + SKEW)]).map(drop)
}

/// Leases the next hook of the lane that is due the longest, of those with room.
fn claim(
    connection: &Connection,
    per_lane: usize,
    lease: Duration,
    now: Timestamp,
) -> rusqlite::Result<Option<HookLease>> {
    // Passes over full lanes, of which there are no more than leases.
    let mut first = connection.prepare_cached(LANE)?;
    let lane: Option<i64> = first.query_row((Moment(now), limit(per_lane)), |row| row.get(0)).optional()?;
    let Some(lane) = lane else { return Ok(None) };
    let account = connection.prepare_cached(SENDER)?.query_row((lane, Moment(now)), |row| id(row, 0))?;
    let mut update = connection.prepare_cached(LEASE)?;
    let leased = update.query_row((lane, Id(account), Moment(now + lease), Moment(now)), |row| {
        let number: i64 = row.get(0)?;
        let (job, body) = connection
            .prepare_cached("SELECT id, body FROM job WHERE number = ?1")?
            .query_row([number], |row| Ok((JobId(id(row, 0)?), row.get(1)?)))?;
        Ok(HookLease {
            job,
            account: AccountId(account),
            fence: Fence(count(row, 1)?),
            failures: row.get(2)?,
            sealed: row.get(3)?,
            lane: lane.cast_unsigned(),
            body,
        })
    })?;
    connection.prepare_cached(TURN)?.execute((lane, Id(account), next_turn(connection)?))?;
    Ok(Some(leased))
}

fn settle(
    connection: &Connection,
    job: JobId,
    fence: Fence,
    outcome: &HookOutcome,
    note: &str,
    now: Timestamp,
) -> rusqlite::Result<Held> {
    let found = connection
        .prepare_cached(FIND_LEASE)?
        .query_row((Id(job.0), Count(fence.0)), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (number, held): (i64, bool) = match found {
        Some(found) => found,
        None => return Ok(Held::Lost),
    };
    if !held {
        return Ok(Held::Yes);
    }
    let (state, due, failed) = match outcome {
        HookOutcome::Delivered => (3, None, false),
        HookOutcome::Failed { again: Some(due) } => (1, Some(Moment(*due)), true),
        HookOutcome::Failed { again: None } => (4, None, true),
        HookOutcome::HandedBack { at } => (1, Some(Moment(*at)), false),
    };
    connection.prepare_cached(END)?.execute((number, state, due, failed))?;
    if !matches!(outcome, HookOutcome::HandedBack { .. }) {
        add_attempt(connection, number, note, now)?;
    }
    Ok(Held::Yes)
}

fn add_attempt(connection: &Connection, hook: i64, note: &str, now: Timestamp) -> rusqlite::Result<()> {
    let number: i64 = connection.prepare_cached(COUNT_ATTEMPT)?.query_row([hook], |row| row.get(0))?;
    connection.prepare_cached(ADD_ATTEMPT)?.execute((hook, number, Moment(now), note))?;
    connection
        .prepare_cached("DELETE FROM attempt WHERE job = ?1 AND number <= ?2")?
        .execute((hook, number - ATTEMPTS))?;
    Ok(())
}

fn deliveries(connection: &Connection, account: Id, max: usize) -> rusqlite::Result<Vec<Delivery>> {
    let mut list = connection.prepare_cached(LIST)?;
    let mut rows = list.query((account, limit(max)))?;
    let mut found: Vec<Delivery> = Vec::new();
    while let Some(row) = rows.next()? {
        let job = JobId(id(row, 0)?);
        if found.last().is_none_or(|last| last.job != job) {
            found.push(Delivery { job, state: state(row)?, attempts: Vec::new() });
        }
        if let (Some(last), Some(Moment(at))) = (found.last_mut(), row.get(3)?) {
            last.attempts.push((at, row.get(4)?));
        }
    }
    Ok(found)
}

/// From the columns 1, `state`, and 2, `due`.
fn state(row: &Row<'_>) -> rusqlite::Result<DeliveryState> {
    Ok(match row.get(1)? {
        3 => DeliveryState::Delivered,
        4 => DeliveryState::Dead,
        _ => DeliveryState::Pending { due: moment(row, 2)? },
    })
}

fn replay(connection: &Connection, account: Id, job: JobId, now: Timestamp) -> rusqlite::Result<bool> {
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found: Option<(i64, i64)> =
        connection.prepare_cached(FIND_DELIVERY)?.query_row((Id(job.0), account), row).optional()?;
    if let Some((number, 4)) = found {
        connection.prepare_cached(REPLAY)?.execute((number, Moment(now)))?;
    }
    Ok(found.is_some_and(|(_, state)| [1, 2, 4].contains(&state)))
}

#[async_trait]
impl Outbox for SqliteLedger {
    async fn claim_hooks(
        &self,
        max: usize,
        per_lane: usize,
        lease: Duration,
        now: Timestamp,
    ) -> Result<Vec<HookLease>> {
        let claims = move |connection: &Connection| {
            wake(connection, now)?;
            std::iter::from_fn(|| claim(connection, per_lane, lease, now).transpose()).take(max).collect()
        };
        self.writer.run(claims).await
    }

    async fn settle_hook(
        &self,
        job: JobId,
        fence: Fence,
        outcome: HookOutcome,
        note: &str,
        now: Timestamp,
    ) -> Result<Held> {
        let note = note.to_owned();
        self.writer.run(move |connection| settle(connection, job, fence, &outcome, &note, now)).await
    }

    async fn deliveries(&self, account: AccountId, max: usize) -> Result<Vec<Delivery>> {
        self.readers.read(|connection| deliveries(connection, Id(account.0), max))
    }

    async fn replay(&self, account: AccountId, job: JobId, now: Timestamp) -> Result<bool> {
        self.writer.run(move |connection| replay(connection, Id(account.0), job, now)).await
    }
}
