//! The tables, and the way there from older ones.

use rusqlite::{Connection, TransactionBehavior};

use crate::port::Failure;

/// Marks the file as a ledger of this crate: "lpdl".
const APPLICATION: i32 = 0x6c70_646c;

/// Each step leads from the schema of its place (0 is an empty file) to the next. Steps that were released never change.
const STEPS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
];

/// Why the file is none to use, if so. Changes nothing.
pub(super) fn objection(connection: &Connection) -> rusqlite::Result<Option<Failure>> {
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables > 0 && number(connection, "application_id")? != APPLICATION {
        return Ok(Some(Failure::lasting("the file is the database of another program")));
    }
    let version = number(connection, "user_version")?;
    let known = usize::try_from(version).is_ok_and(|version| version <= STEPS.len());
    Ok((!known).then(|| {
        let last = STEPS.len();
        Failure::lasting(format!("the ledger has schema {version}, and this program knows schemas up to {last}"))
    }))
}

/// Does the steps that are missing, all or none; of several processes one does, and the others find it done.
pub(super) fn bring_up_to_date(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version = number(&transaction, "user_version")?;
    for (step, next) in STEPS.iter().zip(1..).skip_while(|(_, next)| *next <= version) {
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", next)?;
    }
    transaction.commit()
}

fn number(connection: &Connection, name: &str) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}
