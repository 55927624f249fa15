//! How fast each step of the way is, in pixels a second.

#[path = "../tests/pictures/mod.rs"]
mod pictures;

use std::{hint::black_box, time::Duration};

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use lapidary::{
    Format, Limits, Run, Unattended,
    codec::{Codecs, DecodeOptions},
    operation::{Anchor, Fit, Gravity, Operation, Resize},
    optimize::metric::Reference,
    picture::Picture,
};
use pictures::{FORMATS, file, graphic, photo, process};

const WIDTH: u32 = 640;
const HEIGHT: u32 = 480;

fn run(limits: &Limits) -> Run<'_> {
    Run { limits, control: &Unattended }
}

fn decoded(format: Format, bytes: &[u8]) -> Picture {
    let limits = Limits::default();
    let codecs = Codecs::default();
    let mut frames = codecs.frames(format, bytes, &DecodeOptions::default(), run(&limits)).expect("a sound file");
    frames.next(run(&limits)).expect("a sound file").expect("a frame").picture.into_owned()
}

fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    group.throughput(Throughput::Elements(u64::from(WIDTH) * u64::from(HEIGHT)));
    group
}

/// Sources as they come, and WebP as it mostly comes: lossy.
fn sources() -> Vec<(String, Format, Vec<u8>)> {
    let picture = photo(WIDTH, HEIGHT);
    let mut sources: Vec<_> =
        FORMATS.map(|format| (format.name().to_lowercase(), format, file(&picture, format))).into();
    let lossy = r#"{"optimize": {"quality": 80}, "output": {"format": "webp"}}"#;
    sources.push(("webp lossy".into(), Format::Webp, process(&sources[1].2, lossy).bytes));
    sources
}

fn decode(criterion: &mut Criterion) {
    let mut group = group(criterion, "decode");
    for (name, format, bytes) in sources() {
        group.bench_function(name, |bencher| bencher.iter(|| decoded(format, black_box(&bytes))));
    }
}

fn resize(criterion: &mut Criterion) {
    let limits = Limits::default();
    let picture = decoded(Format::Png, &file(&photo(WIDTH, HEIGHT), Format::Png));
    let mut group = group(criterion, "resize");
    for (name, width) in [("to a third", WIDTH / 3), ("to half as much more", WIDTH * 3 / 2)] {
        let resize = Resize {
            width: Some(width),
            height: None,
            fit: Fit::Inside,
            gravity: Gravity::Fixed(Anchor::Middle, Anchor::Middle),
            enlarge: true,
            background: [0; 4],
        };
        let apply = || {
            resize.prepare(&picture, run(&limits))?.map(|step| step.apply(picture.clone(), run(&limits))).transpose()
        };
        group.bench_function(name, |bencher| bencher.iter(|| apply().expect("a size within the limits")));
    }
}

fn metric(criterion: &mut Criterion) {
    let limits = Limits::default();
    let source = file(&photo(WIDTH, HEIGHT), Format::Png);
    let (picture, worse) = (
        decoded(Format::Png, &source),
        decoded(Format::Png, &process(&source, r#"{"optimize": {"quality": 50}}"#).bytes),
    );
    let worse = worse.into_channels(picture.channels());
    let mut group = group(criterion, "metric");
    group.bench_function("reference", |bencher| bencher.iter(|| Reference::new(black_box(&picture), run(&limits))));
    let reference = Reference::new(&picture, run(&limits)).expect("no CMYK");
    group.bench_function("score", |bencher| bencher.iter(|| reference.score(black_box(&worse), run(&limits))));
}

fn optimise(criterion: &mut Criterion) {
    let mut group = group(criterion, "optimise");
    for (kind, picture) in [("photo", photo(WIDTH, HEIGHT)), ("graphic", graphic(WIDTH, HEIGHT))] {
        for format in FORMATS {
            let source = file(&picture, format);
            let name = format!("{kind} {} medium", format.name().to_lowercase());
            group.bench_function(name, |bencher| bencher.iter(|| process(black_box(&source), r#"{"optimize": {}}"#)));
        }
    }
}

fn whole(criterion: &mut Criterion) {
    let source = file(&photo(WIDTH, HEIGHT), Format::Jpeg);
    let mut group = group(criterion, "engine");
    for (name, json) in [
        ("jpeg lossless", r#"{"optimize": {"compression": "lossless"}}"#),
        ("jpeg quality 75", r#"{"optimize": {"quality": 75}}"#),
        ("jpeg to webp of a third", r#"{"optimize": {}, "resize": {"width": 213}, "output": {"format": "webp"}}"#),
    ] {
        group.bench_function(name, |bencher| bencher.iter(|| process(black_box(&source), json)));
    }
    let done = process(&source, "{}").bytes;
    group.bench_function("jpeg done before", |bencher| bencher.iter(|| process(black_box(&done), "{}")));
}

criterion_group!(benches, decode, resize, metric, optimise, whole);
criterion_main!(benches);
