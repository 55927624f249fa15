//! Webhooks beyond the wire: signatures by Standard Webhooks, and when a delivery that failed is tried again.

mod retry;
mod sign;

pub use retry::{Next, after};
pub use sign::{Refused, Signed, SigningSecret, sign, verify};
