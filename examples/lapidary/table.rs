//! A table for people.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use crate::report::{Print, Report, Success};

/// Widest column of names, in characters.
const NAME_WIDTH: usize = 40;

/// Prints a row an input, and a sum.
#[derive(Debug)]
pub struct Table {
    width: usize,
    rows: usize,
    done: usize,
    before: u64,
    after: u64,
    took: Duration,
}

impl Table {
    /// With a column as wide as the names of `inputs` need.
    pub fn of(inputs: &[PathBuf]) -> Self {
        let width = inputs.iter().map(|path| name(path).chars().count()).max().unwrap_or(0).clamp(5, NAME_WIDTH);
        Self { width, rows: 0, done: 0, before: 0, after: 0, took: Duration::ZERO }
    }

    fn row(&self, out: &mut dyn Write, name: &str, cells: [&str; 5]) -> io::Result<()> {
        let [before, after, saving, score, time] = cells;
        writeln!(out, "{name:w$}  {before:>10}  {after:>10}  {saving:>7}  {score:>6}  {time:>8}", w = self.width)
    }

    fn success(&mut self, name: &str, done: &Success, out: &mut dyn Write) -> io::Result<()> {
        let (before, after) = (done.input.bytes, done.output.bytes);
        let score = done.output.score.map_or_else(|| "-".into(), |score| format!("{score:.1}"));
        self.done += 1;
        self.before += before;
        self.after += after;
        self.took += done.took;
        let cells = [&bytes(before), &bytes(after), &saving(before, after), &score, &seconds(done.took)];
        self.row(out, name, cells.map(|cell: &String| cell.as_str()))?;
        let written = self::name(&done.path);
        if written != plain(&done.output.name) {
            writeln!(out, "  written as {written}")?;
        }
        done.output.warnings.iter().flatten().try_for_each(|warning| writeln!(out, "  note: {warning}"))
    }
}

impl Print for Table {
    fn report(&mut self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        if self.rows == 0 {
            self.row(out, "input", ["before", "after", "saving", "score", "time"])?;
        }
        self.rows += 1;
        let name = shortened(&name(&report.input), self.width);
        match &report.result {
            Ok(done) => self.success(&name, done, out),
            Err(failure) => {
                writeln!(out, "{name:w$}  failed ({}): {}", failure.code, failure.message, w = self.width)
            }
        }
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.done < 2 {
            return Ok(());
        }
        let name = format!("{} of {}", self.done, self.rows);
        let cells = [bytes(self.before), bytes(self.after), saving(self.before, self.after), "".into()];
        self.row(out, &name, [&cells[0], &cells[1], &cells[2], &cells[3], &seconds(self.took)])
    }
}

fn name(path: &Path) -> String {
    plain(&path.file_name().unwrap_or(path.as_os_str()).to_string_lossy())
}

/// A name without what a terminal would take for a command.
fn plain(name: &str) -> String {
    name.replace(char::is_control, "\u{FFFD}")
}

/// The end of a name says more than its beginning.
fn shortened(name: &str, width: usize) -> String {
    match name.chars().count().checked_sub(width) {
        None | Some(0) => name.into(),
        Some(excess) => std::iter::once('…').chain(name.chars().skip(excess + 1)).collect(),
    }
}

/// A count in groups of three digits.
fn bytes(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

fn saving(before: u64, after: u64) -> String {
    if before == 0 {
        return "-".into();
    }
    format!("{:.1} %", 100.0 - 100.0 * after as f64 / before as f64)
}

fn seconds(took: Duration) -> String {
    format!("{:.2} s", took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_grouped_and_savings_signed() {
        assert_eq!(["0", "999", "1,000", "1,234,567"], [0, 999, 1000, 1_234_567].map(bytes).each_ref().map(|s| &s[..]));
        assert_eq!((saving(200, 50), saving(200, 250), saving(0, 5)), ("75.0 %".into(), "-25.0 %".into(), "-".into()));
    }

    #[test]
    fn names_command_no_terminal() {
        assert_eq!(name(Path::new("a/b\u{1b}[2J\n.jpg")), "b\u{FFFD}[2J\u{FFFD}.jpg");
    }

    #[test]
    fn long_names_lose_their_beginning() {
        assert_eq!(shortened("abcdef.jpg", 8), "…def.jpg");
        assert_eq!(shortened("äbcdefgh", 8), "äbcdefgh");
    }
}
