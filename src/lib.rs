//! Image optimisation and enhancement as a library: bytes and a request in, better bytes out.
//!
//! ```text
//! request ─> sniff ─> probe ─> plan ─> decode ─> operations ─> optimise ─> bytes
//!  (data)    format   codec    (pure)   codec     operation     optimize
//! ```
//!
//! ```no_run
//! use lapidary::{Engine, Input, Request, Unattended};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let bytes = std::fs::read("photo.jpg")?;
//! let request = Request::from_json(br#"{"resize": {"width": 800, "upscale": false}, "output": {"format": "webp"}}"#)?;
//! let input = Input { bytes: &bytes, name: Some("photo.jpg") };
//! let outcome = Engine::new().process(input, &request, &Unattended)?;
//! std::fs::write(&outcome.output.name, &outcome.bytes)?;
//! # Ok(())
//! # }
//! ```
//!
//! An engine takes codecs, networks, fonts and steps of its host's own. With feature `service` there is the asynchronous
//! service around it: durable jobs, storage, notifications; it needs tokio. The README lists features, limits and what
//! hosts should know.
//!
//! One direction, no way back. The plan takes every decision and checks every limit on numbers read from headers, before
//! a pixel exists. [`Engine`] walks this way; it is synchronous and needs no runtime.
//!
//! | floor | rooms | may use |
//! |---|---|---|
//! | 0 ground | `error` `limits` `control` `clock` `format` `percent` | the standard library |
//! | 1 pixels | [`picture`] | 0 |
//! | 2 crafts | [`codec`], [`operation`] | 0-1, not each other |
//! | 3 judgement | [`request`], [`optimize`], `description`, `plan`, `engine` | 0-2 |
//! | 4 doors | `port`: traits and data, feature `service` | `request`, 0 |
//! | 5 world | `adapter`: ports made of foreign crates; `service`: ports and engine; `testing`: suites of ports | as said |

#![cfg_attr(
    not(all(feature = "gif", feature = "jpeg", feature = "png", feature = "svg", feature = "webp")),
    allow(dead_code, unused_imports, unused_variables, reason = "used by codecs that are left out")
)]
// Tells of every item which feature it needs, where the documentation is built by a compiler that can.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(missing_docs, missing_debug_implementations, unreachable_pub)]
#![warn(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used, clippy::disallowed_methods)]

#[cfg(feature = "service")]
pub mod adapter;
#[cfg(feature = "service")]
mod clock;
pub mod codec;
mod control;
mod description;
mod engine;
mod error;
mod format;
mod limits;
pub mod operation;
pub mod optimize;
mod percent;
pub mod picture;
mod plan;
#[cfg(feature = "service")]
pub mod port;
pub mod request;
#[cfg(feature = "service")]
pub mod service;
#[cfg(feature = "testing")]
pub mod testing;

#[cfg(feature = "service")]
pub use clock::{Clock, SystemClock, Timestamp};
pub use control::{Control, Run, Stage, Unattended, Watch};
pub use description::{Description, FaceBox};
pub use engine::{Engine, Input, Outcome};
pub use error::{Error, Result, Source as ErrorSource, Stop, Violation};
pub use format::{Format, sniff};
pub use limits::Limits;
pub use request::Request;

/// The README, so that what it shows compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
