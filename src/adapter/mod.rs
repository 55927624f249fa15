//! Ports, made of what lies outside.

#[cfg(feature = "http")]
pub mod http;
pub mod memory;
#[cfg(feature = "s3")]
pub mod s3;
