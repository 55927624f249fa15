//! The tables, and the way there from older ones.

use rusqlite::{Connection, TransactionBehavior};

use crate::port::Failure;

/// Marks the file as a ledger of this crate: "lpdl".
const APPLICATION: i32 = 0x6c70_646c;

/// Each step leads from the schema of its place (0 is an empty file) to the next. Steps that were released never change.
const STEPS: &[&str] = &[include_str!("schema/1.sql")];

/// Does the steps that are missing, each whole or not at all. Answers why the file is none to use, if so.
pub(super) fn bring_up_to_date(connection: &mut Connection) -> rusqlite::Result<Option<Failure>> {
    let number = |connection: &Connection, name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let version = number(connection, "user_version")?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables > 0 && number(connection, "application_id")? != APPLICATION {
        return Ok(Some(Failure::lasting("the file is the database of another program")));
    }
    let Some(missing) = usize::try_from(version).ok().and_then(|version| STEPS.get(version..)) else {
        let known = STEPS.len();
        let why = format!("the ledger has schema {version}, and this program knows schemas up to {known}");
        return Ok(Some(Failure::lasting(why)));
    };
    for (step, next) in missing.iter().zip(version + 1..) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", next)?;
        transaction.commit()?;
    }
    Ok(None)
}
