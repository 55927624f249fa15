//! Ctrl-C: ends the work, and what is not yet named goes with it.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use tokio::{runtime, signal};

/// Whether the user wants the work to end.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// By Ctrl-C, from now on.
    ///
    /// # Errors
    /// Where the system does not let it be listened to.
    pub fn by_signal() -> io::Result<Self> {
        let interrupt = Self::default();
        let heard = interrupt.clone();
        let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
        thread::Builder::new().spawn(move || {
            if runtime.block_on(signal::ctrl_c()).is_ok() {
                heard.come();
            }
        })?;
        Ok(interrupt)
    }

    /// Whether it came.
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// It comes.
    pub fn come(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
