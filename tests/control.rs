//! Hosts end work when they like and hear how far it is.
#![cfg(all(feature = "denoise", feature = "jpeg", feature = "png", feature = "upscale", feature = "webp"))]

mod pictures;

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use lapidary::{Control, Engine, Error, Format, Input, Outcome, Result, Stage, Stop, Watch};
use pictures::{FORMATS, file, photo, request};

/// Counts the questions, says stop at one of them and ever after, and notes the stages.
#[derive(Debug, Default)]
struct Counting {
    asked: AtomicU32,
    stop_at: Option<u32>,
    stages: Mutex<Vec<(Stage, f32)>>,
}

impl Control for Counting {
    fn stop(&self) -> Option<Stop> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        self.stop_at.is_some_and(|at| asked >= at).then_some(Stop::Cancelled)
    }

    fn stage(&self, stage: Stage, done: f32) {
        self.stages.lock().unwrap().push((stage, done));
    }
}

const REQUESTS: [&str; 6] = [
    r#"{"optimize": {}}"#,
    r#"{"optimize": {"compression": "lossless"}}"#,
    r#"{"optimize": {"quality": 60}}"#,
    r#"{"optimize": {"compression": "high"}, "resize": {"width": 40}}"#,
    r#"{"optimize": {"compression": "low"}, "output": {"format": "png"}}"#,
    r#"{"denoise": true, "upscale": {"factor": 2}}"#,
];

fn process(bytes: &[u8], json: &str, control: &dyn Control) -> Result<Outcome> {
    Engine::new().process(Input { bytes, name: None }, &request(json), control)
}

#[test]
fn a_stop_at_any_question_ends_the_work_with_that_reason() {
    for format in FORMATS {
        let bytes = file(&photo(64, 48), format);
        for json in REQUESTS {
            let free = Counting::default();
            process(&bytes, json, &free).unwrap();
            let questions = free.asked.load(Ordering::Relaxed);
            assert!(questions >= 4, "{format} {json} asked {questions} times");
            for stop_at in [1, 2, 3, questions / 4, questions / 2, 3 * questions / 4, questions - 1, questions] {
                let control = Counting { stop_at: Some(stop_at.max(1)), ..Counting::default() };
                let result = process(&bytes, json, &control);
                // libwebp is watched by the clock too: the run without a stop may have been the busier one.
                if format == Format::Webp && control.asked.load(Ordering::Relaxed) < stop_at {
                    result.unwrap();
                    continue;
                }
                let error = result.unwrap_err();
                assert!(
                    matches!(error, Error::Stopped(Stop::Cancelled)),
                    "{format} {json}, stopped at {stop_at} of {questions}: {error:?}"
                );
                assert_eq!(error.status(), 503);
            }
        }
    }
}

#[test]
fn little_is_done_behind_a_stop() {
    for format in FORMATS {
        let bytes = file(&photo(64, 48), format);
        for stop_at in [1, 5, 20, 50] {
            let control = Counting { stop_at: Some(stop_at), ..Counting::default() };
            // Some formats are done before they have asked as often.
            let ended = process(&bytes, REQUESTS[0], &control).is_err();
            assert!(ended || stop_at > 5, "{format} did not ask {stop_at} times");
            if ended {
                let more = control.asked.load(Ordering::Relaxed) - stop_at;
                assert!(more <= 8, "{format} asked {more} times more");
            }
        }
    }
}

#[test]
fn a_deadline_in_the_past_ends_the_work_at_once() {
    for format in FORMATS {
        let bytes = file(&photo(64, 48), format);
        let error = process(&bytes, "{}", &Watch::until(Some(Instant::now()))).unwrap_err();
        assert!(matches!(error, Error::Stopped(Stop::Deadline)), "{error:?}");
        assert_eq!(error.status(), 422);
    }
}

/// Ends the work when a stage begins: by a deadline that passes then, or from another thread.
#[derive(Debug)]
struct Ending {
    at: Stage,
    by: Stop,
    watch: Mutex<Watch>,
}

impl Control for Ending {
    fn stop(&self) -> Option<Stop> {
        self.watch.lock().unwrap().stop()
    }

    fn stage(&self, stage: Stage, _: f32) {
        let mut watch = self.watch.lock().unwrap();
        if stage == self.at && watch.stop().is_none() {
            match self.by {
                Stop::Deadline => *watch = Watch::until(Some(Instant::now())),
                Stop::Cancelled => std::thread::scope(|scope| {
                    let watch = watch.clone();
                    scope.spawn(move || watch.cancel());
                }),
            }
        }
    }
}

#[test]
fn work_ends_where_its_deadline_passes_or_another_thread_cancels_it() {
    for format in FORMATS {
        let bytes = file(&photo(64, 48), format);
        for at in [Stage::Decode, Stage::Optimise] {
            for by in [Stop::Deadline, Stop::Cancelled] {
                let hour = Instant::now() + Duration::from_secs(3600);
                let ending = Ending { at, by, watch: Mutex::new(Watch::until(Some(hour))) };
                let result = process(&bytes, r#"{"optimize": {"compression": "low"}}"#, &ending);
                assert!(matches!(result, Err(Error::Stopped(stop)) if stop == by), "{format} {at} {by}");
            }
        }
    }
}

#[test]
fn stages_come_in_order_and_what_is_done_rises_to_the_whole() {
    for format in FORMATS {
        let bytes = file(&photo(64, 48), format);
        for json in REQUESTS {
            let control = Counting::default();
            process(&bytes, json, &control).unwrap();
            let stages = control.stages.into_inner().unwrap();
            assert_eq!(stages.first(), Some(&(Stage::Plan, 0.0)), "{format} {json}");
            assert_eq!(stages.last(), Some(&(Stage::Encode, 1.0)), "{format} {json}");
            let ordered = stages.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1);
            assert!(ordered, "{format} {json}: {stages:?}");
        }
    }
}
