//! Ports, made of what lies outside.

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
