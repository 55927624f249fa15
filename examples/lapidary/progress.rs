//! The bar on a terminal.

use std::{
    io::{self, IsTerminal, Write},
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use lapidary::{Control, Stage, Stop};

use crate::interrupt::Interrupt;

/// Characters of the bar.
const WIDTH: usize = 30;
/// Time between two drawings.
const PAUSE: Duration = Duration::from_millis(100);
/// A whole input, in the units in which progress is counted.
const WHOLE: u32 = 1000;

/// How far the work on all inputs is, drawn to standard error if that is a terminal.
#[derive(Debug)]
pub struct Progress<'a> {
    done: Vec<AtomicU32>,
    drawn: Option<Mutex<Instant>>,
    interrupt: &'a Interrupt,
}

impl<'a> Progress<'a> {
    /// For a number of inputs.
    pub fn of(inputs: usize, interrupt: &'a Interrupt) -> Self {
        let drawn = io::stderr().is_terminal().then(|| Mutex::new(Instant::now()));
        Self { done: (0..inputs).map(|_| AtomicU32::new(0)).collect(), drawn, interrupt }
    }

    /// Sees to one input.
    pub fn watch(&self, input: usize) -> Watch<'_> {
        Watch { progress: self, input }
    }

    /// Takes the bar away, so that something can be printed.
    pub fn clear(&self) {
        if self.drawn.is_some() {
            // A terminal that is gone is no reason to fail.
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }

    fn set(&self, input: usize, share: f32) {
        self.done[input].store((share.clamp(0.0, 1.0) * WHOLE as f32) as u32, Ordering::Relaxed);
        let Some(drawn) = &self.drawn else { return };
        // Another thread is drawing: it will do.
        let Ok(mut last) = drawn.try_lock() else { return };
        if last.elapsed() >= PAUSE {
            *last = Instant::now();
            let _ = write!(io::stderr(), "\r\x1b[K{}", self.bar());
        }
    }

    fn bar(&self) -> String {
        let done: Vec<_> = self.done.iter().map(|input| input.load(Ordering::Relaxed)).collect();
        let finished = done.iter().filter(|&&input| input == WHOLE).count();
        let all = (done.len() * WHOLE as usize).max(1);
        let filled = done.iter().map(|&input| input as usize).sum::<usize>() * WIDTH / all;
        format!("[{}{}] {finished} of {}", "#".repeat(filled), ".".repeat(WIDTH - filled), done.len())
    }
}

/// The progress of one input.
#[derive(Debug)]
pub struct Watch<'a> {
    progress: &'a Progress<'a>,
    input: usize,
}

impl Watch<'_> {
    /// The input is done, or has failed.
    pub fn finish(&self) {
        self.progress.set(self.input, 1.0);
    }
}

impl Control for Watch<'_> {
    fn stop(&self) -> Option<Stop> {
        self.progress.interrupt.came().then_some(Stop::Cancelled)
    }

    fn stage(&self, _: Stage, done: f32) {
        self.progress.set(self.input, done.min(0.99));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_shows_the_share_of_all_inputs_that_is_done() {
        let interrupt = Interrupt::default();
        let progress = Progress::of(2, &interrupt);
        progress.watch(0).finish();
        assert_eq!(progress.bar(), format!("[{}{}] 1 of 2", "#".repeat(15), ".".repeat(15)));
        progress.watch(1).stage(Stage::Encode, 1.0);
        assert!(progress.bar().ends_with("1 of 2"));
        progress.watch(1).finish();
        assert_eq!(progress.bar(), format!("[{}] 2 of 2", "#".repeat(30)));
        assert_eq!(progress.watch(1).stop(), None);
        interrupt.come();
        assert_eq!(progress.watch(1).stop(), Some(Stop::Cancelled));
    }
}
