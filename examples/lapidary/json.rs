//! One line of JSON for every input.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use lapidary::Description;
use serde::Serialize;

use crate::report::{Print, Report};

/// Prints JSON lines and nothing else.
#[derive(Debug)]
pub struct Lines;

#[derive(Serialize)]
#[serde(untagged)]
enum Line<'a> {
    Success {
        success: bool,
        input: &'a Description,
        output: &'a Description,
        ms: f64,
        source: Cow<'a, str>,
        path: Cow<'a, str>,
    },
    Failure {
        success: bool,
        code: u16,
        message: &'a str,
        path: Cow<'a, str>,
    },
}

impl Print for Lines {
    fn report(&mut self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let line = match &report.result {
            Ok(done) => Line::Success {
                success: true,
                input: &done.input,
                output: &done.output,
                ms: (done.took.as_secs_f64() * 10_000.0).round() / 10.0,
                source: report.input.to_string_lossy(),
                path: done.path.to_string_lossy(),
            },
            Err(failure) => Line::Failure {
                success: false,
                code: failure.code,
                message: &failure.message,
                path: report.input.to_string_lossy(),
            },
        };
        serde_json::to_writer(&mut *out, &line)?;
        writeln!(out)?;
        out.flush()
    }

    fn end(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
