//! The same input gives the same bytes, whoever else is at work.
#![cfg(all(feature = "jpeg", feature = "png", feature = "webp"))]

mod pictures;

use std::thread;

use lapidary::{Engine, Format, Input, Limits, Unattended};
use pictures::{FORMATS, file, logo, photo, process, request};

const REQUESTS: [&str; 6] = [
    r#"{"optimize": {"compression": "low"}}"#,
    r#"{"optimize": {"compression": "high"}}"#,
    r#"{"optimize": {"compression": "ultra"}}"#,
    r#"{"optimize": {"compression": "lossless"}}"#,
    r#"{"optimize": {"quality": 55}, "resize": {"width": 50, "height": 50, "mode": "fit", "gravity": "smart"}}"#,
    r#"{"optimize": {}, "output": {"format": "webp", "metadata": ["profile"]}}"#,
];

fn sources() -> Vec<Vec<u8>> {
    let mut sources: Vec<_> = FORMATS.map(|format| file(&photo(96, 64), format)).into();
    sources.push(file(&logo(96, 64), Format::Png));
    sources
}

#[test]
fn the_same_work_twice_gives_the_same_bytes() {
    for source in sources() {
        for json in REQUESTS {
            let (first, second) = (process(&source, json), process(&source, json));
            assert!(first.bytes == second.bytes, "{} {json}", first.input.format);
            assert_eq!(first.output, second.output);
        }
    }
}

#[test]
fn as_many_threads_as_work_may_take_give_the_same_bytes() {
    // Large enough to be compressed in pieces.
    let source = file(&photo(600, 400), Format::Png);
    for json in [REQUESTS[1], REQUESTS[3]] {
        let with = |threads| {
            let mut limits = Limits::default();
            limits.threads = threads;
            let input = Input { bytes: &source, name: None };
            Engine::new().with_limits(limits).process(input, &request(json), &Unattended).unwrap().bytes
        };
        assert!(with(1) == with(7), "{json}");
    }
}

#[test]
fn threads_that_share_an_engine_get_the_same_bytes_as_one_alone() {
    let engine = Engine::new();
    for source in sources() {
        let alone: Vec<_> = REQUESTS.iter().map(|json| process(&source, json).bytes).collect();
        let work = || {
            let input = Input { bytes: &source, name: None };
            REQUESTS.map(|json| engine.process(input, &request(json), &Unattended).unwrap().bytes)
        };
        thread::scope(|scope| {
            for thread in [(); 4].map(|()| scope.spawn(work)) {
                assert!(thread.join().unwrap().as_slice() == alone);
            }
        });
    }
}
