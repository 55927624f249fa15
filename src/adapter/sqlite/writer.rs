//! The one thread that writes.

use std::{
    io,
    thread::{self, JoinHandle},
};

use rusqlite::{Connection, Error};
use tokio::sync::{mpsc, oneshot};

use super::failure;
use crate::port::{Failure, Result};

/// Steps that wait at most; further callers wait for room.
const QUEUE: usize = 1024;

/// Steps of a transaction at most, so that the first does not wait long for the last.
const BATCH: usize = 256;

/// The one thread that writes, and the way to it.
pub(super) struct Writer {
    /// `None` while it is dropped.
    steps: Option<mpsc::Sender<Box<dyn Step>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(connection: Connection) -> io::Result<Self> {
        let (steps, waiting) = mpsc::channel(QUEUE);
        // A thread of its own, since a commit blocks for as long as the disk takes.
        let thread = thread::Builder::new().name("ledger".to_owned()).spawn(move || write(connection, waiting))?;
        Ok(Self { steps: Some(steps), thread: Some(thread) })
    }

    /// Does a step, and answers when it is on disk.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let stopped = || Failure::passing("the ledger has stopped");
        let (reply, answer) = oneshot::channel();
        let step = Box::new(Waiting { work: Some(work), done: None, reply });
        self.steps.as_ref().ok_or_else(stopped)?.send(step).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.steps = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// A caller's step.
trait Step: Send {
    /// Does it; an error is kept for the answer, too.
    fn work(&mut self, connection: &Connection) -> rusqlite::Result<()>;

    /// Answers the caller, given how the transaction ended.
    fn answer(self: Box<Self>, committed: &rusqlite::Result<()>);
}

struct Waiting<T, F> {
    work: Option<F>,
    done: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T: Send, F: FnOnce(&Connection) -> rusqlite::Result<T> + Send> Step for Waiting<T, F> {
    fn work(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let Some(work) = self.work.take() else { return Ok(()) };
        match work(connection) {
            Ok(done) => {
                self.done = Some(Ok(done));
                Ok(())
            }
            Err(error) => {
                self.done = Some(Err(failure::of(&error)));
                Err(error)
            }
        }
    }

    fn answer(self: Box<Self>, committed: &rusqlite::Result<()>) {
        let answer = match (committed, self.done) {
            (_, Some(Err(failure))) => Err(failure),
            (Err(error), _) => Err(failure::of(error)),
            (Ok(()), Some(done)) => done,
            (Ok(()), None) => Err(Failure::passing("the ledger has stopped")),
        };
        // Whoever no longer listens can find out by doing the step again.
        drop(self.reply.send(answer));
    }
}

/// Does steps until nobody can ask for more.
fn write(connection: Connection, mut waiting: mpsc::Receiver<Box<dyn Step>>) {
    let mut steps = Vec::with_capacity(BATCH);
    while let Some(first) = waiting.blocking_recv() {
        steps.push(first);
        while steps.len() < BATCH
            && let Ok(next) = waiting.try_recv()
        {
            steps.push(next);
        }
        let committed = transact(&connection, &mut steps);
        if committed.is_err() && !connection.is_autocommit() {
            // If this fails too, the next transaction cannot begin, and its callers are told.
            drop(run(&connection, "ROLLBACK"));
        }
        steps.drain(..).for_each(|step| step.answer(&committed));
    }
}

/// Does all steps in one transaction, of which those that fail leave nothing.
fn transact(connection: &Connection, steps: &mut [Box<dyn Step>]) -> rusqlite::Result<()> {
    run(connection, "BEGIN IMMEDIATE")?;
    for step in steps {
        run(connection, "SAVEPOINT step")?;
        match step.work(connection) {
            Ok(()) => {}
            // The likes of a full disk end the whole transaction.
            Err(error) if connection.is_autocommit() => return Err(error),
            Err(_) => run(connection, "ROLLBACK TO step")?,
        }
        run(connection, "RELEASE step")?;
    }
    run(connection, "COMMIT")
}

fn run(connection: &Connection, statement: &str) -> Result<(), Error> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}
