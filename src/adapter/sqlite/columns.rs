//! Numbers, moments and ids, as columns hold them.

use std::time::Duration;

use rusqlite::{
    Row, ToSql,
    types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef},
};
use uuid::Uuid;

use crate::clock::Timestamp;

/// A number that is not negative; what is beyond 2^63-1 is kept as that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count(pub(super) u64);

impl ToSql for Count {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(i64::try_from(self.0).unwrap_or(i64::MAX).into())
    }
}

impl FromSql for Count {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = value.as_i64()?;
        u64::try_from(number).map(Self).map_err(|_| FromSqlError::OutOfRange(number))
    }
}

/// A moment, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment(pub(super) Timestamp);

impl ToSql for Moment {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(i64::try_from(self.0.millis()).unwrap_or(i64::MAX).into())
    }
}

impl FromSql for Moment {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Count::column_result(value).map(|Count(millis)| Self(Timestamp::from_millis(millis)))
    }
}

/// An id of 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Id(pub(super) Uuid);

impl ToSql for Id {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.as_bytes().as_slice().into())
    }
}

impl FromSql for Id {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        <[u8; 16]>::column_result(value).map(|bytes| Self(Uuid::from_bytes(bytes)))
    }
}

pub(super) fn millis(time: Duration) -> Count {
    Count(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// How many rows at most.
pub(super) fn limit(max: usize) -> Count {
    Count(max as u64)
}

pub(super) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get(column).map(|Count(number)| number)
}

pub(super) fn moment(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    row.get(column).map(|Moment(moment)| moment)
}

pub(super) fn id(row: &Row<'_>, column: usize) -> rusqlite::Result<Uuid> {
    row.get(column).map(|Id(id)| id)
}
