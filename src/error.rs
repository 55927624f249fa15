//! What can go wrong, sorted by who can mend it.

use std::{
    any::Any,
    borrow::Cow,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::format::Format;

/// Shorthand used throughout the crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A foreign error kept as the source of one of ours.
pub type Source = Box<dyn std::error::Error + Send + Sync + 'static>;

/// Why a request was not done. Foreign errors are kept as sources and never formatted into the text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request itself is wrong; whoever wrote it can mend it. Holds every violation, never just the first.
    #[error("{}", Violations(violations))]
    Request {
        /// All that is wrong, in the order of the request's fields.
        violations: Vec<Violation>,
    },
    /// The request is not JSON, so nothing can be said of its fields.
    #[error("the request is not readable as JSON: line {line}, column {column}")]
    Json {
        /// Where reading ended, from 1; 0 where there is nothing to read.
        line: usize,
        /// Where reading ended, in bytes from 1; 0 at the end of the line before.
        column: usize,
        /// What the JSON reader said.
        #[source]
        source: Option<Source>,
    },
    /// The image is damaged, or is no image.
    #[error("{} {problem}", Subject(*format))]
    Input {
        /// What the bytes were taken for; `None` if nothing was recognised.
        format: Option<Format>,
        /// What is wrong, as the end of a sentence: `is cut off after 812 of 4096 bytes`.
        problem: String,
        /// What a foreign decoder said.
        #[source]
        source: Option<Source>,
    },
    /// A ceiling of [`Limits`](crate::Limits) would be exceeded.
    #[error("{limit} is {wanted}, the limit is {allowed}")]
    Limit {
        /// The limit's name with its unit: `source pixels`.
        limit: &'static str,
        /// What the request or its image asks for.
        wanted: u64,
        /// What is allowed.
        allowed: u64,
    },
    /// Understood, but not done by this build.
    #[error("{what} is not supported")]
    Unsupported {
        /// The thing by its name: `upscale`, `12-bit JPEG`.
        what: String,
    },
    /// The host's [`Control`](crate::Control) ended the work.
    #[error(transparent)]
    Stopped(#[from] Stop),
    /// A defect of this crate, of a codec beneath it or of what the host gave the engine; the request may be right.
    #[error("internal failure while {doing}")]
    Internal {
        /// The stage that failed: `decoding`, `applying watermark`.
        doing: Cow<'static, str>,
        /// What failed, for the host's log; never shown to a client.
        #[source]
        source: Option<Source>,
    },
}

impl Error {
    /// An [`Error::Input`] without a foreign source.
    pub fn input(format: Format, problem: impl Into<String>) -> Self {
        Self::Input { format: Some(format), problem: problem.into(), source: None }
    }

    /// An [`Error::Input`] that keeps what a foreign decoder said.
    pub fn damaged(format: Format, problem: impl Into<String>, source: impl Into<Source>) -> Self {
        Self::Input { format: Some(format), problem: problem.into(), source: Some(source.into()) }
    }

    /// An [`Error::Unsupported`].
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into() }
    }

    /// An [`Error::Internal`] that keeps its cause.
    pub fn internal(doing: impl Into<Cow<'static, str>>, source: impl Into<Source>) -> Self {
        Self::Internal { doing: doing.into(), source: Some(source.into()) }
    }

    /// The HTTP status that the interface gives this failure: 400 for what is not JSON, 422 for the rest of what the
    /// client can mend, 500 and 503 else.
    pub fn status(&self) -> u16 {
        match self {
            Self::Json { .. } => 400,
            Self::Request { .. } | Self::Input { .. } | Self::Limit { .. } | Self::Unsupported { .. } => 422,
            Self::Stopped(Stop::Deadline) => 422,
            Self::Stopped(Stop::Cancelled) => 503,
            Self::Internal { .. } => 500,
        }
    }
}

/// Turns a panic below into an error. With `panic = "abort"` there is nothing to turn.
pub(crate) fn guarded<T>(doing: impl fmt::Display, work: impl FnOnce() -> Result<T>) -> Result<T> {
    caught(work).unwrap_or_else(|message| Err(Error::internal(doing.to_string(), message)))
}

/// What `work` gives, or the message that it panics with.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> std::result::Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panic_message(&*panic))
}

/// What a panic says.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let message = panic.downcast_ref::<&str>().map(ToString::to_string);
    message.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a message".into())
}

/// Why work ended before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The time allowed for processing ran out.
    #[error("processing took longer than allowed")]
    Deadline,
    /// The host asked for an end.
    #[error("processing was cancelled")]
    Cancelled,
}

/// One value of a request that is not allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// JSON path: `resize.width`, `output.metadata[1]`; empty for the request as a whole.
    pub path: String,
    /// The value found, as JSON; `None` where a required one is missing. Secrets are `***`.
    pub value: Option<String>,
    /// What is allowed, as the end of a sentence: `must be an integer from 1 to 16383`.
    pub allowed: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "the request" } else { &self.path };
        write!(f, "{path} {}", self.allowed)?;
        self.value.as_ref().map_or(Ok(()), |value| write!(f, ", got {value}"))
    }
}

struct Violations<'a>(&'a [Violation]);

impl fmt::Display for Violations<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.0.iter().enumerate() {
            write!(f, "{}{violation}", if index == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

struct Subject(Option<Format>);

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(format) => write!(f, "the {format} image"),
            None => f.write_str("the image"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_violation_is_named_with_path_value_and_what_is_allowed() {
        let error = Error::Request {
            violations: vec![
                Violation {
                    path: "resize.width".into(),
                    value: Some("\"wide\"".into()),
                    allowed: "must be an integer from 1 to 16383".into(),
                },
                Violation { path: "url".into(), value: None, allowed: "is required".into() },
            ],
        };
        assert_eq!(error.to_string(), "resize.width must be an integer from 1 to 16383, got \"wide\"; url is required");
    }

    #[test]
    fn a_foreign_error_is_a_source_and_not_part_of_the_text() {
        let error = Error::damaged(Format::Png, "has a broken header", "secret detail");
        assert_eq!(error.to_string(), "the PNG image has a broken header");
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "secret detail");
    }
}
