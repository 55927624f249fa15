//! The service as the reference server puts it together, with real adapters on a network that answers as it likes.

mod host;
mod refused;
mod secrets;
