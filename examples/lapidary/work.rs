//! Pictures through the engine, on several threads, reported in order.

use std::{
    collections::BTreeMap,
    error::Error,
    io,
    num::NonZeroUsize,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Instant,
};

use lapidary::{Engine, Input, Limits, request::Request};

use crate::{
    arguments::Arguments,
    fonts, inputs,
    interrupt::Interrupt,
    outputs::{Draft, Folder},
    progress::{Progress, Watch},
    report::{Failure, Report, Success},
};

/// A picture done, but for the name of its file.
type Unnamed = (Success, Draft);

/// Processes `inputs` and hands every report to `print`, in the order of the inputs, until it is interrupted; the number of
/// those that failed.
///
/// # Errors
/// What `print` fails with; inputs not yet begun are left undone then.
pub fn process(
    inputs: &[PathBuf],
    order: &Order,
    jobs: NonZeroUsize,
    mut folder: Folder,
    interrupt: &Interrupt,
    mut print: impl FnMut(&Report) -> io::Result<()>,
) -> io::Result<usize> {
    let progress = Progress::of(inputs.len(), interrupt);
    let drafts = folder.path().to_owned();
    let (next, (done, results)) = (AtomicUsize::new(0), mpsc::channel());
    thread::scope(|scope| {
        for _ in 0..jobs.get().min(inputs.len()) {
            let (done, next, drafts, progress) = (done.clone(), &next, &drafts, &progress);
            scope.spawn(move || {
                while let Some((index, input)) = claim(next, inputs).filter(|_| !interrupt.came()) {
                    let watch = progress.watch(index);
                    let result = order.process(index, input, drafts, &watch);
                    watch.finish();
                    if done.send((index, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        let mut failed = 0;
        for (input, result) in inputs.iter().zip(in_order(results)) {
            if interrupt.came() {
                break;
            }
            let report =
                Report { input: input.clone(), result: result.and_then(|unnamed| named(unnamed, &mut folder)) };
            failed += usize::from(report.result.is_err());
            progress.clear();
            print(&report)?;
        }
        Ok(failed)
    })
}

fn claim<'a>(next: &AtomicUsize, inputs: &'a [PathBuf]) -> Option<(usize, &'a Path)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, inputs.get(index)?))
}

/// Values in the order of their numbers, which have no gaps.
fn in_order<T>(numbered: mpsc::Receiver<(usize, T)>) -> impl Iterator<Item = T> {
    let mut early = BTreeMap::new();
    (0..).map_while(move |number| {
        loop {
            if let Some(value) = early.remove(&number) {
                return Some(value);
            }
            let (number, value) = numbered.recv().ok()?;
            early.insert(number, value);
        }
    })
}

/// Names are given in the order of the inputs, so that they are the same on every run.
fn named((mut success, draft): Unnamed, folder: &mut Folder) -> Result<Success, Failure> {
    let settled = folder.settle(&draft, &success.output.name);
    success.path = settled.map_err(|error| Failure::of_file(folder.path().display(), &error))?;
    Ok(success)
}

/// What is done with every picture.
pub struct Order {
    engine: Engine,
    request: Request,
}

impl Order {
    /// # Errors
    /// What is wrong with a font, or with the request whatever the picture.
    pub fn of(arguments: &Arguments) -> Result<Self, Box<dyn Error>> {
        let engine = Engine::new().with_fonts(fonts::read(&arguments.fonts)?);
        let request = Request::from_value(&arguments.request)?;
        let of_services = [
            ("url", request.url.is_some()),
            ("headers", !request.headers.is_empty()),
            ("store", request.store.is_some()),
            ("webhook", request.webhook.is_some()),
        ];
        if let Some((name, _)) = of_services.iter().find(|(_, given)| *given) {
            return Err(format!("{name} is for services: pictures come from files and go to files here").into());
        }
        engine.supports(&request)?;
        Ok(Self { engine, request })
    }

    fn process(&self, index: usize, path: &Path, drafts: &Path, watch: &Watch<'_>) -> Result<Unnamed, Failure> {
        // A defect met by one input must not take the others down.
        catch_unwind(AssertUnwindSafe(|| self.optimise(index, path, drafts, watch)))
            .unwrap_or_else(|_| Err(Failure { code: 500, message: "internal failure".into() }))
    }

    fn optimise(&self, index: usize, path: &Path, drafts: &Path, watch: &Watch<'_>) -> Result<Unnamed, Failure> {
        let start = Instant::now();
        // One byte more than allowed, for the engine to refuse.
        let bytes = inputs::read_up_to(path, Limits::default().source_bytes + 1)
            .map_err(|error| Failure::of_file("the picture cannot be read", &error))?;
        let name = path.file_name().map(|name| name.to_string_lossy());
        let outcome = self.engine.process(Input { bytes: &bytes, name: name.as_deref() }, &self.request, watch)?;
        let draft = Draft::write(drafts, index, &outcome.bytes)
            .map_err(|error| Failure::of_file(format_args!("cannot write to {}", drafts.display()), &error))?;
        let took = start.elapsed();
        Ok((Success { input: outcome.input, output: outcome.output, took, path: PathBuf::new() }, draft))
    }
}
