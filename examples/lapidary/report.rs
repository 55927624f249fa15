//! What became of one input.

use std::{
    fmt::Display,
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

/// One input's fate.
#[derive(Debug)]
pub struct Report {
    /// The input as given.
    pub input: PathBuf,
    /// What came of it.
    pub result: Result<Success, Failure>,
}

/// A picture that was written.
#[derive(Debug)]
pub struct Success {
    /// Descriptions as in the result of the HTTP interface.
    pub input: lapidary::Description,
    /// As `input`, of the file written.
    pub output: lapidary::Description,
    /// Time from the first byte read to the last one written.
    pub took: Duration,
    /// The file written.
    pub path: PathBuf,
}

/// Why nothing was written.
#[derive(Debug)]
pub struct Failure {
    /// HTTP status of this failure in the interface.
    pub code: u16,
    /// What is wrong.
    pub message: String,
}

impl From<lapidary::Error> for Failure {
    fn from(error: lapidary::Error) -> Self {
        Self { code: error.status(), message: error.to_string() }
    }
}

impl Failure {
    /// A file that could not be read or written.
    pub fn of_file(what: impl Display, error: &io::Error) -> Self {
        let code = if error.kind() == io::ErrorKind::NotFound { 404 } else { 500 };
        Self { code, message: format!("{what}: {error}") }
    }
}

/// A way to print reports.
pub trait Print {
    /// Prints one, in the order of the inputs.
    fn report(&mut self, report: &Report, out: &mut dyn Write) -> io::Result<()>;
    /// Prints what comes behind the last.
    fn end(&mut self, out: &mut dyn Write) -> io::Result<()>;
}
