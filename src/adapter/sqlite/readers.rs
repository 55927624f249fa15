//! Connections to read with.

use std::{
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use rusqlite::{Connection, OpenFlags};

use super::{connect, failure};
use crate::port::Result;

/// More would only wait for each other's processor.
const CONNECTIONS: usize = 4;

/// Connections to read with, each for one caller at a time.
pub(super) struct Readers {
    connections: Vec<Mutex<Connection>>,
    next: AtomicUsize,
}

impl Readers {
    pub(super) fn open(path: &Path) -> rusqlite::Result<Self> {
        let open = |_| {
            let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            connection.pragma_update(None, "query_only", true)?;
            Ok(Mutex::new(connection))
        };
        Ok(Self {
            connections: (0..CONNECTIONS).map(open).collect::<rusqlite::Result<_>>()?,
            next: AtomicUsize::new(0),
        })
    }

    /// Reads, on this thread: only for what is found by an index and is short.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let turn = |at: usize| &self.connections[first.wrapping_add(at) % self.connections.len()];
        let free = (0..self.connections.len()).find_map(|at| turn(at).try_lock().ok());
        let connection = free.unwrap_or_else(|| turn(0).lock().unwrap_or_else(PoisonError::into_inner));
        work(&connection).map_err(|error| failure::of(&error))
    }
}
