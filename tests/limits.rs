//! What is too large is refused by its numbers, before a pixel is decoded.
#![cfg(all(feature = "jpeg", feature = "png", feature = "webp"))]

mod pictures;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    thread,
};

use lapidary::{
    Engine, Error, Format, Input, Limits, Result, Run, Unattended,
    operation::{Model, Models, Raster, Shape},
};
use pictures::{Decoding, FORMATS, file, photo, request};

/// The refusal of a 60 x 40 picture in every format under changed limits.
fn refusals(json: &str, change: impl Fn(&mut Limits)) -> [String; 3] {
    let mut limits = Limits::default();
    change(&mut limits);
    let engine = Engine::new().with_limits(limits);
    FORMATS.map(|format| {
        let bytes = file(&photo(60, 40), format);
        let control = Decoding::default();
        let error = engine.process(Input { bytes: &bytes, name: None }, &request(json), &control).unwrap_err();
        assert!(matches!(error, Error::Limit { .. }), "{format}: {error}");
        assert_eq!(error.status(), 422);
        assert!(!control.began(), "{format} was decoded");
        error.to_string()
    })
}

#[test]
fn too_many_source_bytes_are_refused() {
    for (text, format) in refusals("{}", |limits| limits.source_bytes = 100).into_iter().zip(FORMATS) {
        let bytes = file(&photo(60, 40), format).len();
        assert_eq!(text, format!("source bytes is {bytes}, the limit is 100"));
    }
}

#[test]
fn too_many_source_pixels_are_refused() {
    let texts = refusals("{}", |limits| limits.frame_pixels = 2399);
    assert!(texts.iter().all(|text| text == "source pixels is 2400, the limit is 2399"), "{texts:?}");
}

#[test]
fn too_long_a_side_is_refused() {
    let texts = refusals("{}", |limits| limits.side_px = 59);
    assert!(texts.iter().all(|text| text == "source width in pixels is 60, the limit is 59"), "{texts:?}");
}

#[test]
fn too_many_result_pixels_are_refused() {
    let json = r#"{"resize": {"width": 120}}"#;
    let texts = refusals(json, |limits| limits.result_pixels = 9599);
    assert!(texts.iter().all(|text| text == "result pixels is 9600, the limit is 9599"), "{texts:?}");
    let texts = refusals(r#"{"resize": {"width": 16383}}"#, |_| {});
    assert!(texts.iter().all(|text| text == "result pixels is 178935126, the limit is 100000000"), "{texts:?}");
}

#[test]
fn too_long_a_side_of_the_result_is_refused() {
    let json = r#"{"resize": {"width": 120, "height": 10, "mode": "fill"}}"#;
    let texts = refusals(json, |limits| limits.side_px = 100);
    assert!(texts.iter().all(|text| text == "result width in pixels is 120, the limit is 100"), "{texts:?}");
}

#[test]
fn what_meets_the_limits_passes() {
    let mut limits = Limits::default();
    (limits.frame_pixels, limits.side_px, limits.result_pixels) = (2400, 60, 2400);
    for format in FORMATS {
        let bytes = file(&photo(60, 40), format);
        limits.source_bytes = bytes.len() as u64;
        let engine = Engine::new().with_limits(limits.clone());
        let input = Input { bytes: &bytes, name: None };
        assert!(engine.process(input, &request("{}"), &Decoding::default()).is_ok(), "{format}");
    }
}

/// A network in many tiles that notes who calls it.
#[derive(Debug, Default)]
struct Callers(Mutex<BTreeSet<String>>);

impl Model for Callers {
    fn shape(&self) -> Shape {
        Shape { scale: 2, margin: 0, multiple: 1, tile: 1, work: 1 }
    }
    fn run(&self, tile: Raster, _: Run<'_>) -> Result<Raster> {
        self.0.lock().unwrap().insert(format!("{:?}", thread::current().id()));
        let (width, height) = (2 * tile.width(), 2 * tile.height());
        Raster::new(width, height, vec![0.5; (width * height * 3) as usize])
    }
}

#[test]
fn networks_work_on_no_more_threads_than_the_limit() {
    let bytes = file(&photo(60, 40), Format::Png);
    for threads in [0, 1] {
        let mut limits = Limits::default();
        limits.threads = threads;
        let callers = Arc::new(Callers::default());
        let mut models = Models::none();
        models.upscale_clean = vec![callers.clone()];
        let engine = Engine::new().with_limits(limits).with_models(models);
        let request = request(r#"{"upscale": {"factor": 2, "model": "clean"}}"#);
        engine.process(Input { bytes: &bytes, name: None }, &request, &Unattended).unwrap();
        let own = format!("{:?}", thread::current().id());
        assert_eq!(callers.0.lock().unwrap().iter().collect::<Vec<_>>(), [&own]);
    }
}
