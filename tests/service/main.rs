//! The service through its front door, in memory and on a clock that is set.

mod answers;
mod direct;
mod fixture;
mod life;
mod notifications;
mod troubles;
