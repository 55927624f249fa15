//! Frames of libwebp, read, made coarser and written, against what libwebp makes of them.

use super::{super::lossy::LossyFile, *};
use crate::{
    codec::{
        WebpOptions,
        webp::{
            decode,
            encode::{config, import},
            libwebp::{Colours, Config, decode_planes},
            riff::{Content, File},
        },
    },
    control::{Unattended, Watch},
    error::{Error, Stop},
    limits::Limits,
    picture::{Channels, Picture, Samples},
};

fn run<T>(work: impl FnOnce(Run<'_>) -> T) -> T {
    work(Run { limits: &Limits::default(), control: &Unattended })
}

fn random(state: &mut u32) -> u32 {
    *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    *state >> 8
}

/// Slopes, edges, noise and flat parts.
fn picture(width: u32, height: u32, channels: Channels) -> Picture {
    let (mut samples, mut state) = (Vec::new(), 5);
    for y in 0..height {
        for x in 0..width {
            let noise = if (x / 20 + y / 30) % 3 == 0 { random(&mut state) % 40 } else { 0 };
            let edge = if (x + 2 * y) / 37 % 2 == 0 { 90 } else { 0 };
            samples.extend([3 * x % 160 + noise + edge, y + edge, 200 - (x * y / 64) % 100].map(|s| s.min(255) as u8));
            if channels.has_alpha() {
                samples.push((x * 5).min(255) as u8);
            }
        }
    }
    Picture::new(width, height, channels, Samples::Eight(samples)).unwrap()
}

/// A file that libwebp makes with settings that `change` changes.
fn file(picture: &Picture, quality: f32, change: impl FnOnce(&mut Config)) -> Vec<u8> {
    let mut config = config(&WebpOptions { method: 4, ..WebpOptions::lossy(quality) }).unwrap();
    change(&mut config);
    run(|run| import(picture, Colours::Yuv, run).unwrap().encode(&config, run)).unwrap()
}

/// Files of many shapes: odd sizes, one and four segments, several partitions, all filters, with alpha and without.
fn files() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for (at, (width, height)) in [(1, 1), (16, 16), (17, 33), (100, 75), (161, 90)].into_iter().enumerate() {
        let channels = if at % 2 == 0 { Channels::Rgb } else { Channels::Rgba };
        let picture = picture(width, height, channels);
        for (quality, segments, partitions, filter) in
            [(5.0, 4, 0, 1), (40.0, 1, 3, 0), (80.0, 4, 2, 1), (98.0, 2, 1, 0)]
        {
            files.push(file(&picture, quality, |config| {
                (config.segments, config.partitions, config.filter_type) = (segments, partitions, filter);
            }));
        }
    }
    files
}

fn frame(file: &[u8]) -> KeyFrame {
    let Content::Still(image) = File::parse(file).unwrap().content else { panic!("a still was made") };
    run(|run| KeyFrame::parse(image.data, run)).unwrap()
}

fn pixels(file: &[u8]) -> Picture {
    match File::parse(file).unwrap().content {
        Content::Still(image) => run(|run| decode::picture(&image, run)).unwrap(),
        Content::Animation(_) => unreachable!("stills are tested"),
    }
}

fn coarser(file: &[u8], worth: f32) -> Vec<u8> {
    run(|run| LossyFile::parse(file, run).unwrap().unwrap().coarser(worth, run)).unwrap().unwrap()
}

#[test]
fn decoding_gives_the_samples_of_libwebp() {
    for (width, height) in [(1, 1), (17, 33), (100, 75), (161, 90)] {
        for quality in [3.0, 30.0, 75.0, 100.0] {
            let picture = picture(width, height, Channels::Rgb);
            let file = file(&picture, quality, |config| config.filter_strength = 0);
            let (ours, theirs) = (recode::planes(&frame(&file)), decode_planes(&file));
            for (at, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
                let share = if at == 0 { 1 } else { 2 };
                let (width, stride) =
                    (width.div_ceil(share) as usize, width.div_ceil(16) as usize * 16 / share as usize);
                let ours = ours.chunks(stride).flat_map(|row| &row[..width]).take(theirs.len());
                assert!(ours.eq(theirs), "plane {at} of {width}x{height} at {quality}");
            }
        }
    }
}

#[test]
fn what_is_read_is_written_with_the_same_pixels() {
    for file in files() {
        let same = run(|run| LossyFile::parse(&file, run).unwrap().unwrap().same(run)).unwrap().unwrap();
        assert_eq!(pixels(&same), pixels(&file));
        assert!(same.len() <= file.len() + 8, "{} of {}", same.len(), file.len());
        let (before, after) = (frame(&file), frame(&same));
        assert!(before.residuals.iter().eq(after.residuals.iter()) && before.macroblocks == after.macroblocks);
        assert_eq!(coarser(&file, 0.0), same);
    }
}

#[test]
fn bits_of_more_worth_leave_fewer_bytes_and_errors_do_not_add_up() {
    let picture = picture(200, 300, Channels::Rgb);
    let source = file(&picture, 90.0, |_| {});
    let wanted = pixels(&source);
    let mut last = source.len() + 1;
    for (worth, most) in [(0.01, 1.0), (0.03, 2.0), (0.1, 4.0)] {
        let file = coarser(&source, worth);
        assert!(file.len() < last, "{} bytes at {worth}, {last} before", file.len());
        last = file.len();
        let pixels = pixels(&file);
        let rows = pixels.eight().unwrap().chunks(200 * 3 * 50).zip(wanted.eight().unwrap().chunks(200 * 3 * 50));
        for (at, (ours, theirs)) in rows.enumerate() {
            let sum: u32 = ours.iter().zip(theirs).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
            let mean = f64::from(sum) / ours.len() as f64;
            assert!(mean < most, "{mean} in part {at} at {worth}");
        }
    }
}

#[test]
fn damaged_frames_never_panic() {
    let mut state = 3;
    for file in files() {
        let Content::Still(image) = File::parse(&file).unwrap().content else { panic!("a still was made") };
        for _ in 0..30 {
            let mut data = image.data.to_vec();
            for _ in 0..1 + random(&mut state) % 4 {
                // Size and length of the first partition are checked before.
                let at = TAG + random(&mut state) as usize % (data.len() - TAG);
                data[at] = random(&mut state) as u8;
            }
            data.truncate(data.len() - random(&mut state) as usize % 9);
            run(|run| {
                if let Ok(frame) = KeyFrame::parse(&data, run) {
                    frame.coarser(0.02, run).unwrap().write(run).unwrap();
                }
            });
        }
    }
}

#[test]
fn every_step_can_be_stopped() {
    let source = file(&picture(40, 40, Channels::Rgb), 50.0, |_| {});
    let parsed = run(|run| LossyFile::parse(&source, run)).unwrap().unwrap();
    let watch = Watch::default();
    watch.cancel();
    let stopped = Run { limits: &Limits::default(), control: &watch };
    let errors = [
        LossyFile::parse(&source, stopped).map(drop),
        parsed.same(stopped).map(drop),
        parsed.coarser(0.1, stopped).map(drop),
    ];
    assert!(errors.iter().all(|error| matches!(error, Err(Error::Stopped(Stop::Cancelled)))));
}
