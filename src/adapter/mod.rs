//! Ports, made of what lies outside.
//!
//! | adapter | ports | feature |
//! |---|---|---|
//! | `sqlite` | ledger, durable in one file | `sqlite` |
//! | [`directory`] | blobs, as files | `service` |
//! | `http` | fetcher and notifier, behind a guard against private addresses | `http` |
//! | `s3` | storage, and blobs for several machines, by the S3 protocol | `s3` |
//! | [`Closed`] | fetcher, storage and notifier, for hosts that want none | `service` |
//! | [`memory`] | all of them, for tests and demonstrations | `service` |

mod closed;
pub mod directory;
#[cfg(feature = "http")]
pub mod http;
pub mod memory;
#[cfg(feature = "s3")]
pub mod s3;
#[cfg(feature = "sqlite")]
pub mod sqlite;

pub use closed::Closed;
