//! Ports, made of what lies outside.

#[cfg(feature = "http")]
pub mod http;
pub mod memory;
