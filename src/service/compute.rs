//! The one place where work for the processor leaves the asynchronous threads.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::Semaphore;

use super::{response::Problem, settings::Settings};
use crate::{
    control::{Control, Stage, Watch},
    engine::{Engine, Input, Outcome},
    error::{Error, Stop, panic_message},
    request::Request,
};

/// Runs the engine, on as many threads as there are permits.
#[derive(Debug)]
pub(super) struct Compute {
    engine: Arc<Engine>,
    permits: Arc<Semaphore>,
    time: Duration,
    network_time: Duration,
}

/// Why there is no outcome.
#[derive(Debug)]
pub(super) enum Ended {
    /// The request's own fault, or the engine's.
    Failed(Problem),
    /// The work was cancelled.
    Cancelled,
}

impl Compute {
    pub(super) fn new(engine: Arc<Engine>, settings: &Settings) -> Self {
        let permits = Arc::new(Semaphore::new(settings.workers));
        Self { engine, permits, time: settings.processing, network_time: settings.network_processing }
    }

    /// Waits for a permit and does the work. Dropped, it cancels what it began.
    pub(super) async fn run(&self, bytes: Vec<u8>, name: Option<String>, request: Request) -> Result<Outcome, Ended> {
        // The semaphore is never closed.
        let Ok(permit) = Arc::clone(&self.permits).acquire_owned().await else { return Err(Ended::Cancelled) };
        let Request { upscale, denoise, light, face, .. } = &request;
        let by_network = upscale.is_some() || denoise.is_some() || light.is_some() || face.is_some();
        let time = if by_network { self.network_time } else { self.time };
        let watch = Watch::until(Instant::now().checked_add(time));
        let _cancels = CancelsOnDrop(watch.clone());
        let engine = Arc::clone(&self.engine);
        let work = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let timed = Timed { watch, stage: Mutex::new((Stage::Plan, Instant::now())) };
            let input = Input { bytes: &bytes, name: name.as_deref() };
            let outcome = engine.process(input, &request, &timed);
            timed.enter(None);
            outcome
        });
        match work.await {
            Ok(Ok(outcome)) => Ok(outcome),
            Ok(Err(Error::Stopped(Stop::Cancelled))) => Err(Ended::Cancelled),
            Ok(Err(error)) => Err(Ended::Failed(error.into())),
            Err(error) => {
                let panic = error.try_into_panic().ok().map(|panic| panic_message(&*panic));
                tracing::error!(panic, "the engine did not come to its end");
                Err(Ended::Failed(Problem::internal()))
            }
        }
    }
}

struct CancelsOnDrop(Watch);

impl Drop for CancelsOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A watch that measures the stages.
#[derive(Debug)]
struct Timed {
    watch: Watch,
    stage: Mutex<(Stage, Instant)>,
}

impl Timed {
    /// Ends the present stage, and begins `next` if it is another.
    fn enter(&self, next: Option<Stage>) {
        let mut at = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if next == Some(at.0) {
            return;
        }
        let (stage, took) = (at.0.to_string(), at.1.elapsed());
        tracing::debug!(stage, ms = took.as_millis() as u64, "stage done");
        metrics::histogram!("lapidary_stage_seconds", "stage" => stage).record(took.as_secs_f64());
        *at = (next.unwrap_or(at.0), Instant::now());
    }
}

impl Control for Timed {
    fn stop(&self) -> Option<Stop> {
        self.watch.stop()
    }

    fn stage(&self, stage: Stage, _: f32) {
        self.enter(Some(stage));
    }
}
