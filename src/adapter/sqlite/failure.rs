//! What SQLite's errors mean.

use rusqlite::{Error, ErrorCode};

use crate::port::Failure;

/// The failure that an error is. May be made more than once of one error, for every step of a transaction.
pub(super) fn of(error: &Error) -> Failure {
    let failure = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Failure::passing("the service's storage is full"),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            Failure::passing("the service's storage cannot be written")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Failure::passing("the service's storage is in use by another program")
        }
        Some(ErrorCode::SystemIoFailure | ErrorCode::OutOfMemory | ErrorCode::FileLockingProtocolFailed) => {
            Failure::passing("the service's storage failed")
        }
        Some(ErrorCode::DatabaseCorrupt) => Failure::lasting("the service's records are damaged"),
        Some(ErrorCode::NotADatabase) => Failure::lasting("the file is no database"),
        _ => Failure::lasting("the service's records do not agree with its program"),
    };
    // Its text names codes and columns, but no value.
    failure.because(error.to_string())
}
