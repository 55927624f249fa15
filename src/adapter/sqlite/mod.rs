//! A ledger in one file of SQLite: what it answered survives the end of the process and the loss of power. Several processes
//! of one machine may share the file, taking turns at writing: a server and the commands of its administrator.
//!
//! One thread writes. It takes all the steps that wait, does each in a savepoint of one transaction, and answers when the
//! commit is on disk: 32 callers share one sync (group commit). Reads go to connections of their own, on the caller's
//! thread: they wait for no writer, and a look-up in memory that takes microseconds is over before another thread would
//! have begun it.
//!
//! What is wiped is overwritten in the file; in the write-ahead log it stays, as ciphertext, until later steps have
//! overwritten that or the ledger is closed.
//!
//! | files | what |
//! |---|---|
//! | `mod` | [`SqliteLedger`]: opening |
//! | `schema` | tables, and the way there from older ones |
//! | `writer` `readers` | who may use a connection, and when |
//! | `jobs` `outbox` `accounts` | the ports |
//! | `columns` `failure` | numbers, moments, ids, errors |

mod accounts;
mod columns;
mod failure;
mod jobs;
mod outbox;
mod readers;
mod schema;
#[cfg(test)]
mod tests;
mod writer;

use std::{
    fmt,
    fs::{File, OpenOptions},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use readers::Readers;
use rusqlite::{Connection, OpenFlags};
use writer::Writer;

use crate::port::{Failure, Result};

/// The first version without the corruption that resetting a write-ahead log could bring about.
const OLDEST: i32 = 3_051_003;

/// How long a connection waits for another that writes, or that recovers the log after a crash.
const PATIENCE: Duration = Duration::from_secs(10);

/// The log is copied into the database when it has this many pages (of 4 KiB).
const LOG_PAGES: u32 = 4_000;

/// A ledger in one file of SQLite. Dropping it waits for the steps that were begun.
pub struct SqliteLedger {
    readers: Readers,
    writer: Writer,
    path: PathBuf,
}

impl fmt::Debug for SqliteLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteLedger").field("path", &self.path).finish_non_exhaustive()
    }
}

impl SqliteLedger {
    /// Opens the ledger at `path`, or makes one, readable for its owner alone; beside it lie `-wal` and `-shm` of SQLite.
    /// Blocks for the time it takes to open a file, or to move an older ledger to the present schema.
    ///
    /// # Errors
    /// Where the file is another program's, damaged, of a newer version or cannot be written; where the host's SQLite is
    /// older than 3.51.3.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let about = |failure: Failure| match failure.source {
            Some(source) => Failure { source: None, ..failure }.because(format!("{}: {source}", path.display())),
            None => failure.because(path.display().to_string()),
        };
        Self::open_at(path).map_err(about)
    }

    fn open_at(path: &Path) -> Result<Self> {
        let version = rusqlite::version_number();
        if version < OLDEST {
            let shown = rusqlite::version();
            return Err(Failure::lasting(format!("SQLite {shown} may damage the ledger: 3.51.3 or later is needed")));
        }
        let unopened = |error: io::Error| Failure::lasting("the ledger cannot be opened").because(error);
        let folder = folder_of(path).map_err(unopened)?;
        // One at a time: of two that make a journal at once SQLite refuses one, however patient. Where there are no such
        // locks, that one may try again.
        let _locked = folder.as_ref().map(File::lock);
        create_file(path).map_err(unopened)?;
        let of = |error| failure::of(&error);
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(of)?;
        if let Some(refused) = schema::objection(&connection).map_err(of)? {
            return Err(refused);
        }
        if prepare(&mut connection).map_err(of)? != "wal" {
            return Err(Failure::lasting("the ledger's file system cannot keep a write-ahead log"));
        }
        // So that the new file's name survives a loss of power, too.
        folder.as_ref().map_or(Ok(()), File::sync_all).map_err(unopened)?;
        let readers = Readers::open(path).map_err(of)?;
        let writer = Writer::start(connection)
            .map_err(|error| Failure::passing("the ledger cannot start its thread").because(error))?;
        Ok(Self { readers, writer, path: path.to_owned() })
    }
}

/// Makes the database's file where there is none, so that it is its owner's alone. One that is there is not touched: to
/// close a file ends all locks that this process has on it, those of other ledgers, too.
fn create_file(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Makes a connection one to write with. Answers how it keeps its journal.
fn prepare(connection: &mut Connection) -> rusqlite::Result<String> {
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    let journal = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    schema::bring_up_to_date(connection)?;
    Ok(journal)
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(128);
    Ok(connection)
}

/// The folder of the ledger, where folders can be opened.
fn folder_of(path: &Path) -> io::Result<Option<File>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) { File::open(folder).map(Some) } else { Ok(None) }
}
