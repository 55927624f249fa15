//! Ports, made of what lies outside.

pub mod memory;
