//! `lapidary`: optimises the pictures it is given, over the crate's public interface alone.
//!
//! ```text
//! cargo run --release --example lapidary -- --help
//! ```
//!
//! | file | what |
//! |---|---|
//! | `arguments` | the command line, and the request that it makes |
//! | `fonts` | fonts for the text of SVG, from files |
//! | `inputs` | which files are meant, and their bytes |
//! | `interrupt` | Ctrl-C, which ends the work |
//! | `work` | pictures through the engine, on several threads, reported in order |
//! | `outputs` | names in the output folder, never those of an input |
//! | `report` | what became of one input |
//! | `json`, `table` | the two ways to print reports |
//! | `progress` | the bar on a terminal |

mod arguments;
mod fonts;
mod inputs;
mod interrupt;
mod json;
mod outputs;
mod progress;
mod report;
mod table;
#[cfg(test)]
mod tests;
mod work;

use std::{
    error::Error,
    io::{self, Write},
    process::ExitCode,
};

use arguments::{Arguments, Command};
use interrupt::Interrupt;

/// What shells take for the end by Ctrl-C.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    match Command::parse(std::env::args_os().skip(1)) {
        Ok(Command::Help) => show(arguments::HELP),
        Ok(Command::Version) => show(concat!("lapidary ", env!("CARGO_PKG_VERSION"), "\n")),
        Ok(Command::Process(arguments)) => process(&arguments),
        Err(usage) => refuse(&usage),
    }
}

fn process(arguments: &Arguments) -> ExitCode {
    // Where the system has no such signal, nothing can be interrupted.
    let interrupt = Interrupt::by_signal().unwrap_or_default();
    match run(arguments, &interrupt, &mut io::stdout().lock()) {
        _ if interrupt.came() => ExitCode::from(INTERRUPTED),
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        // Whoever read the reports has seen enough.
        Err(error) if is_closed_pipe(&*error) => ExitCode::FAILURE,
        Err(error) => refuse(&error.to_string()),
    }
}

/// Does what the command line asks and prints the reports to `out`; the number of inputs that failed. Once it is interrupted
/// nothing is reported any more.
///
/// # Errors
/// Where nothing could be begun or printed; what is wrong with one input is in its report.
fn run(arguments: &Arguments, interrupt: &Interrupt, out: &mut impl Write) -> Result<usize, Box<dyn Error>> {
    let order = work::Order::of(arguments)?;
    let (inputs, left_out) = inputs::expand(&arguments.inputs);
    if left_out > 0 {
        eprintln!("lapidary: {left_out} files of folders look like no pictures and are left out");
    }
    if inputs.is_empty() {
        eprintln!("lapidary: no pictures found");
    }
    let folder = outputs::Folder::create(&arguments.folder, &inputs)?;
    let mut printer: Box<dyn report::Print> =
        if arguments.json { Box::new(json::Lines) } else { Box::new(table::Table::of(&inputs)) };
    let print = |report: &_| printer.report(report, out);
    let failed = work::process(&inputs, &order, arguments.jobs, folder, interrupt, print)?;
    printer.end(out)?;
    Ok(failed)
}

fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn show(text: &str) -> ExitCode {
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Wrong usage.
fn refuse(message: &str) -> ExitCode {
    eprintln!("lapidary: {message}\nTry --help.");
    ExitCode::from(2)
}
