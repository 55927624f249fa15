//! Facts of the metric as a whole.

use fast_ssim2::{PixelDescriptor, PixelSlice};

use super::*;
use crate::{
    control::{Unattended, Watch},
    error::Stop,
    limits::Limits,
    picture::Samples,
};

fn run<T>(work: impl FnOnce(Run<'_>) -> T) -> T {
    work(Run { limits: &Limits::default(), control: &Unattended })
}

fn score(reference: &Picture, candidate: &Picture) -> f64 {
    run(|run| Reference::new(reference, run).unwrap().score(candidate, run).unwrap())
}

/// Samples between 0 and 255 that follow from their number alone.
fn noise(index: usize) -> u8 {
    let mixed = (index as u32 ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b);
    ((mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35) >> 24) as u8
}

fn draw(width: u32, height: u32, sample: impl Fn(usize, usize, usize) -> u8) -> Picture {
    let (w, h) = (width as usize, height as usize);
    let samples = (0..w * h * 3).map(|index| sample(index / 3 % w, index / 3 / w, index % 3)).collect();
    Picture::new(width, height, Channels::Rgb, Samples::Eight(samples)).unwrap()
}

/// Gradients, a disc with hard edges, stripes, and a grainy side.
fn scene(width: u32, height: u32) -> Picture {
    draw(width, height, |x, y, channel| {
        let (dx, dy) = (x as i32 - width as i32 / 2, y as i32 - height as i32 / 2);
        let grain = if x * 3 > width as usize * 2 { noise(x + y * 977 + channel * 31) / 4 } else { 0 };
        let base = match (dx * dx + dy * dy < (width.min(height) / 3).pow(2) as i32, y % 12 < 3) {
            (true, _) => [200, 60, 90][channel],
            (false, true) => 40 + (x / 2 % 60) as u8,
            (false, false) => (x * 130 / width as usize + channel * 20) as u8,
        };
        base.saturating_add(grain)
    })
}

fn changed(picture: &Picture, change: impl Fn(usize, u8) -> u8) -> Picture {
    let samples = picture.eight().unwrap().iter().enumerate().map(|(index, &sample)| change(index, sample)).collect();
    Picture::new(picture.width(), picture.height(), picture.channels(), Samples::Eight(samples)).unwrap()
}

/// Every 8 x 8 block drawn towards its first pixel, as strong compression does; `keep` of 16 parts stay.
fn blocky(picture: &Picture, keep: u32) -> Picture {
    let width = picture.width() as usize;
    let samples = picture.eight().unwrap();
    changed(picture, |index, sample| {
        let (x, y) = (index / 3 % width, index / 3 / width);
        let corner = samples[((y & !7) * width + (x & !7)) * 3 + index % 3];
        ((u32::from(sample) * keep + u32::from(corner) * (16 - keep)) / 16) as u8
    })
}

fn candidates(picture: &Picture) -> Vec<(&'static str, Picture)> {
    vec![
        ("coarse steps", changed(picture, |_, sample| sample & 0xf0 | 8)),
        ("fine steps", changed(picture, |_, sample| sample & 0xfc | 2)),
        ("grain", changed(picture, |index, sample| sample.saturating_add(noise(index) / 20))),
        ("blocks", blocky(picture, 8)),
        ("faint blocks", blocky(picture, 14)),
        ("one sample", changed(picture, |index, sample| if index == 40 { sample ^ 0x20 } else { sample })),
        ("blue", changed(picture, |index, sample| if index % 3 == 2 { sample / 2 + 30 } else { sample })),
    ]
}

/// The score of fast-ssim2, with small pictures widened as ours are.
fn theirs(reference: &Picture, candidate: &Picture) -> f64 {
    let (w, h) = (reference.width() as usize, reference.height() as usize);
    let (wide, high) = (w.max(8), h.max(8));
    let widened = |picture: &Picture| -> Vec<u8> {
        let samples = picture.eight().unwrap();
        let pixel = |x: usize, y: usize| &samples[(y.min(h - 1) * w + x.min(w - 1)) * 3..][..3];
        (0..wide * high).flat_map(|at| pixel(at % wide, at / wide)).copied().collect()
    };
    let (p, q) = (widened(reference), widened(candidate));
    let slice =
        |samples| PixelSlice::new(samples, wide as u32, high as u32, wide * 3, PixelDescriptor::RGB8_SRGB).unwrap();
    fast_ssim2::compute_ssimulacra2(&slice(&p), &slice(&q)).unwrap()
}

fn assert_agreement(picture: &Picture) {
    for (change, candidate) in candidates(picture) {
        let (ours, theirs) = (score(picture, &candidate), theirs(picture, &candidate));
        let size = (picture.width(), picture.height());
        let view = &run(|run| Reference::new(picture, run)).unwrap().views[0];
        let norms = run(|run| view.norms(Grounded::new(&candidate, GROUNDS[0]), run)).unwrap();
        let original = weights::original(&norms);
        assert!(theirs < -50.0 || (original - theirs).abs() < 0.05, "{change} of {size:?}: {original} for {theirs}");
        // In small pictures we are stricter with what is nearly gray.
        let is_small = (29..127).contains(&size.0.min(size.1));
        assert!(if is_small { ours <= original } else { ours == original }, "{change} of {size:?}: {ours}");
    }
}

#[test]
fn scores_agree_with_fast_ssim2_at_every_size_and_kind_of_change() {
    for (width, height) in
        [(1, 1), (3, 7), (7, 30), (8, 8), (9, 17), (13, 8), (57, 33), (64, 64), (100, 113), (113, 115), (241, 130)]
    {
        assert_agreement(&scene(width, height));
    }
}

#[test]
fn flat_and_noisy_pictures_agree_with_fast_ssim2_too() {
    assert_agreement(&draw(130, 120, |_, _, channel| [90, 120, 40][channel]));
    assert_agreement(&draw(130, 120, |x, y, channel| noise(x + 131 * y + 7919 * channel)));
}

#[test]
fn equal_pictures_score_exactly_one_hundred() {
    for (width, height) in [(1, 1), (8, 9), (31, 300), (130, 129)] {
        let picture = scene(width, height);
        assert_eq!(score(&picture, &picture), 100.0);
    }
}

/// Bits of the score of a certain pair of pictures.
const GOLDEN: u64 = 0x4030_bb1a_eaf5_c548;

#[test]
fn a_score_has_the_same_bits_on_every_machine() {
    let picture = scene(150, 117);
    let score = score(&picture, &blocky(&picture, 12));
    assert_eq!(score.to_bits(), GOLDEN, "{score} is {:#x}", score.to_bits());
}

#[test]
fn stronger_changes_score_lower() {
    let picture = scene(160, 120);
    let scores: Vec<f64> = [15, 12, 8, 0].iter().map(|&keep| score(&picture, &blocky(&picture, keep))).collect();
    assert!(scores.is_sorted_by(|weak, strong| weak > strong) && scores[0] < 100.0, "{scores:?}");
}

#[test]
fn a_mirrored_pair_scores_nearly_the_same() {
    let mirror = |picture: &Picture| {
        let width = picture.width() as usize;
        let samples = picture.eight().unwrap();
        draw(picture.width(), picture.height(), |x, y, c| samples[(y * width + width - 1 - x) * 3 + c])
    };
    let picture = scene(160, 128);
    let candidate = blocky(&picture, 12);
    let (there, back) = (score(&picture, &candidate), score(&mirror(&picture), &mirror(&candidate)));
    assert!((there - back).abs() < 0.1, "{there} and {back}");
}

/// With alpha in three of five columns of pixels; where that is 0 their colour is `hidden`.
fn translucent(picture: &Picture, hidden: u8, alpha: u8) -> Picture {
    changed(&picture.clone().into_channels(Channels::Rgba), |index, sample| match (index % 4, index / 4 % 5 < 3) {
        (3, true) => alpha,
        (3, false) => 255,
        (_, true) if alpha == 0 => hidden,
        _ => sample,
    })
}

#[test]
fn translucent_pictures_count_by_the_ground_that_shows_more() {
    let picture = scene(120, 120);
    let (veiled, clear) = (translucent(&picture, 0, 200), picture.clone().into_channels(Channels::Rgba));
    let over = |ground: u32| {
        let samples = veiled.eight().unwrap();
        draw(120, 120, |x, y, c| {
            let pixel = &samples[(y * 120 + x) * 4..][..4];
            let alpha = u32::from(pixel[3]);
            ((u32::from(pixel[c]) * alpha + ground * (255 - alpha) + 127) / 255) as u8
        })
    };
    let (black, white) = (score(&picture, &over(0)), score(&picture, &over(255)));
    assert!((black - white).abs() > 1.0);
    assert_eq!(score(&clear, &veiled), black.min(white));
    let (black, white) = (score(&over(0), &picture), score(&over(255), &picture));
    assert_eq!(score(&veiled, &clear), black.min(white));
}

#[test]
fn colours_under_full_transparency_do_not_count() {
    let picture = scene(60, 60);
    assert_eq!(score(&translucent(&picture, 0, 0), &translucent(&picture, 200, 0)), 100.0);
}

#[test]
fn channels_and_depth_do_not_matter_where_they_hold_the_same_picture() {
    let gray = draw(40, 50, |x, y, _| (x * 5 + y) as u8).into_reduced();
    let samples = gray.eight().unwrap().iter().map(|&sample| u16::from(sample) * 257).collect();
    let deep = Picture::new(40, 50, Channels::Gray, Samples::Sixteen(samples)).unwrap();
    assert_eq!(score(&gray, &gray.clone().into_channels(Channels::Rgba)), 100.0);
    assert_eq!(score(&deep, &gray), 100.0);
}

#[test]
fn another_size_and_cmyk_are_errors() {
    run(|run| {
        let reference = Reference::new(&scene(20, 20), run).unwrap();
        assert!(matches!(reference.score(&scene(20, 21), run), Err(Error::Internal { .. })));
        let cmyk = Picture::new(20, 20, Channels::Cmyk, Samples::Eight(vec![0; 1600])).unwrap();
        assert!(matches!(reference.score(&cmyk, run), Err(Error::Unsupported { .. })));
        assert!(matches!(Reference::new(&cmyk, run), Err(Error::Unsupported { .. })));
    });
}

#[test]
fn a_host_can_stop_it() {
    let (picture, watch, limits) = (scene(30, 30), Watch::default(), Limits::default());
    let stoppable = Run { limits: &limits, control: &watch };
    let reference = Reference::new(&picture, stoppable).unwrap();
    watch.cancel();
    assert!(matches!(reference.score(&picture, stoppable), Err(Error::Stopped(Stop::Cancelled))));
    assert!(matches!(Reference::new(&picture, stoppable), Err(Error::Stopped(Stop::Cancelled))));
}

#[test]
fn a_reference_holds_at_most_seven_bytes_a_pixel() {
    let reference = run(|run| Reference::new(&scene(640, 480), run)).unwrap();
    let bytes: usize = reference.views.iter().map(View::bytes).sum();
    assert!(bytes <= 7 * 640 * 480, "{bytes}");
}

#[test]
fn bands_score_nearly_as_the_whole_picture() {
    let picture = scene(1030, 1100);
    let stacked = bands(&picture).unwrap();
    for keep in [15, 13, 8] {
        let whole = score(&picture, &blocky(&picture, keep));
        let part = run(|run| Reference::of_bands(&stacked, run).unwrap().score(&blocky(&stacked, keep), run).unwrap());
        assert!((whole - part).abs() < 3.0, "{part} for {whole}");
    }
}

#[test]
fn equal_bands_score_exactly_one_hundred_and_other_heights_are_refused() {
    let stacked = bands(&scene(1030, 1100)).unwrap();
    run(|run| {
        assert_eq!(Reference::of_bands(&stacked, run).unwrap().score(&stacked, run).unwrap(), 100.0);
        assert!(matches!(Reference::of_bands(&scene(30, 120), run), Err(Error::Internal { .. })));
    });
}

#[test]
fn tiny_pictures_have_higher_targets_and_others_the_same() {
    let targets = |size| [70.0, 80.0, 90.0].map(|target| target_of(target, size, 1000));
    for size in [29, 64, 1000] {
        assert_eq!(targets(size), [70.0, 80.0, 90.0], "{size}");
    }
    for size in [1, 8, 16, 28] {
        assert!(targets(size).iter().zip([70.0, 80.0, 90.0]).all(|(small, large)| *small > large + 7.4), "{size}");
    }
}

#[test]
fn small_gray_pictures_score_about_what_large_ones_do() {
    let gray = |side: u32| {
        let scene = scene(side, side);
        let samples = scene.eight().unwrap().chunks_exact(3).flat_map(|pixel| [pixel[1]; 3]).collect();
        Picture::new(side, side, Channels::Rgb, Samples::Eight(samples)).unwrap()
    };
    for keep in [4, 8, 12] {
        let lost = |side| 100.0 - score(&gray(side), &blocky(&gray(side), keep));
        let large = lost(256);
        for side in [29, 48, 63, 100, 126] {
            let share = lost(side) / large;
            assert!((0.6..1.6).contains(&share), "{side}, {keep}: {share} of {large}");
        }
    }
}
