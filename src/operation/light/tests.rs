use super::*;
use crate::{
    control::Unattended,
    limits::Limits,
    operation::{Raster, Shape},
    picture::{Channels, Samples},
};

const SIDE: usize = 96;

fn lit(strength: u8, first: &Picture, picture: &Picture) -> Picture {
    let (limits, control) = (Limits::default(), Unattended);
    let run = Run { limits: &limits, control: &control };
    let step = Light { strength, denoise: None, jpeg: None }.prepare(first, run).unwrap();
    step.map_or_else(|| picture.clone(), |step| step.apply(picture.clone(), run).unwrap())
}

/// Patches of many lights and colours, codes of 0 to `full`.
fn patches(full: f64) -> Picture {
    let sample = |n: usize| {
        let (x, y, channel) = (n / 3 % SIDE, n / 3 / SIDE, n % 3);
        let light = ((x / 12 * 7 + y / 12 * 3) % 16) as f64 / 15.0;
        let tint = [1.0, 0.85, 0.7][(channel + x / 24) % 3];
        (light * tint * full + (n * 31 % 7) as f64 / 7.0) as u8
    };
    let samples = (0..SIDE * SIDE * 3).map(sample).collect();
    Picture::new(SIDE as u32, SIDE as u32, Channels::Rgb, Samples::Eight(samples)).unwrap()
}

fn mean(picture: &Picture) -> f64 {
    let samples = picture.eight().unwrap();
    samples.iter().map(|&v| f64::from(v)).sum::<f64>() / samples.len() as f64
}

#[test]
fn zero_and_good_light_change_nothing() {
    let dark = patches(60.0);
    assert_eq!(lit(0, &dark, &dark), dark);
    let bright = patches(250.0);
    assert_eq!(lit(50, &bright, &bright), bright);
}

#[test]
fn more_strength_gives_more_light() {
    let dark = patches(70.0);
    let means: Vec<f64> = [0, 10, 25, 50, 75, 100].map(|strength| mean(&lit(strength, &dark, &dark))).to_vec();
    assert!(means.windows(2).all(|pair| pair[0] + 1.0 < pair[1]), "{means:?}");
    assert!(means[3] > 2.0 * means[0], "{means:?}");
}

#[test]
fn ratios_of_channels_stay() {
    let dark = Picture::new(64, 64, Channels::Rgb, Samples::Eight([60, 40, 20].repeat(64 * 64))).unwrap();
    let [r, g, b] = lit(50, &dark, &dark).eight().unwrap()[..3] else { panic!() };
    let light = |code: u8| transfer::decode(f64::from(code) / 255.0);
    for (after, before) in [((r, g), (60, 40)), ((g, b), (40, 20))] {
        let (after, before) = (light(after.0) / light(after.1), light(before.0) / light(before.1));
        assert!((after / before - 1.0).abs() < 0.05, "{r} {g} {b}");
    }
}

#[test]
fn a_lamp_in_the_dark_keeps_its_light_and_throws_no_halo() {
    let sample = |n: usize| if n % 128 < 64 { 12u8 } else { 245 };
    let samples = (0..128 * 128).map(sample).collect();
    let scene = Picture::new(128, 128, Channels::Gray, Samples::Eight(samples)).unwrap();
    // With grain, as of one colour it would be a ground.
    let night = |n: usize| if n % 128 < 120 { 8 + (n * 31 % 9) as u8 } else { 245 };
    let night = Picture::new(128, 128, Channels::Gray, Samples::Eight((0..128 * 128).map(night).collect())).unwrap();
    let open = lit(50, &night, &scene);
    let row = &open.eight().unwrap()[64 * 128..65 * 128];
    assert!(row[0] > 24, "{row:?}");
    assert!(row[127] >= 235, "{row:?}");
    let (dark, bright) = row.split_at(64);
    assert!(dark.iter().all(|v| v.abs_diff(dark[0]) <= 3), "{dark:?}");
    assert!(bright.iter().all(|v| v.abs_diff(bright[63]) <= 6), "{bright:?}");
}

#[test]
fn gray_stays_gray_and_alpha_stays() {
    let gray: Vec<u8> = (0..64 * 64).flat_map(|n: u32| [(n % 61) as u8, (n % 256) as u8]).collect();
    let gray = Picture::new(64, 64, Channels::GrayAlpha, Samples::Eight(gray)).unwrap();
    let rgba = gray.clone().into_channels(Channels::Rgba);
    let (from_gray, from_rgba) = (lit(50, &gray, &gray), lit(50, &rgba, &rgba));
    assert_ne!(from_gray, gray);
    assert_eq!(from_gray.clone().into_channels(Channels::Rgba), from_rgba);
    let alpha = |picture: &Picture| picture.eight().unwrap().iter().skip(1).step_by(2).copied().collect::<Vec<_>>();
    assert_eq!(alpha(&from_gray), alpha(&gray));
}

#[test]
fn sixteen_bits_stay_and_say_what_eight_say() {
    let dark = patches(60.0);
    let wide = dark.eight().unwrap().iter().map(|&v| u16::from(v) * 257).collect();
    let wide = Picture::new(SIDE as u32, SIDE as u32, Channels::Rgb, Samples::Sixteen(wide)).unwrap();
    let (eight, sixteen) = (lit(50, &dark, &dark), lit(50, &wide, &wide));
    assert!(matches!(sixteen.samples(), Samples::Sixteen(_)));
    for (a, b) in eight.eight().unwrap().iter().zip(sixteen.into_eight().eight().unwrap()) {
        assert!(a.abs_diff(*b) <= 1);
    }
}

#[test]
fn what_says_nothing_of_light_stays() {
    let of = |samples: Vec<u8>| Picture::new(64, 64, Channels::Rgba, Samples::Eight(samples)).unwrap();
    let wall = of((0..64 * 64).flat_map(|n: usize| [90 + (n * 31 % 9) as u8, 110, 120, 255]).collect());
    // Windows and letters on navy.
    let screen = |n: usize| if n.is_multiple_of(7) { [(n % 256) as u8, 160, 90, 255] } else { [10, 10, 40, 255] };
    let screen = of((0..64 * 64).flat_map(screen).collect());
    let Samples::Eight(mut faint) = patches(60.0).into_channels(Channels::Rgba).into_samples() else { unreachable!() };
    faint.chunks_mut(4).for_each(|pixel| pixel[3] = 100);
    let faint = Picture::new(SIDE as u32, SIDE as u32, Channels::Rgba, Samples::Eight(faint)).unwrap();
    for picture in [wall, screen, faint] {
        assert_eq!(lit(50, &picture, &picture), picture);
    }
}

#[test]
fn frames_get_the_light_that_the_first_lacks() {
    let (dark, bright) = (patches(60.0), patches(250.0));
    assert_eq!(lit(50, &bright, &dark), dark);
    assert_ne!(lit(50, &dark, &bright), bright);
}

#[test]
fn the_smallest_and_the_invisible_are_fine() {
    for samples in [vec![0, 0, 0, 0], vec![3, 2, 1, 255]] {
        let one = Picture::new(1, 1, Channels::Rgba, Samples::Eight(samples)).unwrap();
        assert_eq!(lit(100, &one, &one).layout(), one.layout());
    }
}

/// Says that everything is the mean of the tile.
#[derive(Debug)]
struct Flattens;

impl Model for Flattens {
    fn shape(&self) -> Shape {
        Shape { scale: 1, margin: 0, multiple: 1, tile: 8, work: 7 }
    }

    fn run(&self, tile: Raster, _: Run<'_>) -> Result<Raster> {
        let samples = tile.samples();
        let mean = samples.iter().sum::<f32>() / samples.len() as f32;
        Raster::new(tile.width(), tile.height(), vec![mean; samples.len()])
    }
}

#[test]
fn noise_that_would_show_is_removed_and_what_stays_dark_or_is_clean_is_not_touched() {
    let cleaned = |picture: &Picture| {
        let limits = Limits::default();
        let run = Run { limits: &limits, control: &Unattended };
        let light = Light { strength: 50, denoise: Some(Arc::new(Flattens)), jpeg: None };
        let step = light.prepare(picture, run).unwrap();
        step.map_or_else(|| picture.clone(), |step| step.apply(picture.clone(), run).unwrap())
    };
    let grainy = |grain: usize| {
        let random =
            |n: usize| (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (n * n).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let sample = |n: usize| 8 + ((random(n) >> 32) % 97 * grain / 8) as u8;
        Picture::new(64, 64, Channels::Gray, Samples::Eight((0..64 * 64).map(sample).collect())).unwrap()
    };
    let spread = |picture: &Picture| {
        let mean = mean(picture);
        picture.eight().unwrap().iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>().sqrt()
    };
    // Beside a white that is there already only shadows are opened.
    let beside_white = |picture: &Picture| {
        let mut samples = picture.eight().unwrap().to_vec();
        samples[..16 * 64].fill(255);
        Picture::new(64, 64, Channels::Gray, Samples::Eight(samples)).unwrap()
    };
    let opened = beside_white(&grainy(1));
    assert_ne!(cleaned(&opened), lit(50, &opened, &opened));
    let noisy = grainy(2);
    assert!(spread(&cleaned(&noisy)) < 0.7 * spread(&lit(50, &noisy, &noisy)));
    let clean = grainy(0);
    assert_eq!(cleaned(&clean), lit(50, &clean, &clean));
    let bright = patches(250.0);
    assert_eq!(cleaned(&bright), bright);
}

/// Leaves everything, and remembers the lightest that it has seen.
#[derive(Debug, Default)]
struct Watches(std::sync::Mutex<f32>);

impl Model for Watches {
    fn shape(&self) -> Shape {
        Flattens.shape()
    }

    fn run(&self, tile: Raster, _: Run<'_>) -> Result<Raster> {
        let mut lightest = self.0.lock().unwrap();
        *lightest = tile.samples().iter().copied().fold(*lightest, f32::max);
        Ok(tile)
    }
}

#[test]
fn what_jpeg_left_in_blocks_is_removed_before_it_is_lifted() {
    // Every other block has the noise that it had.
    let dark = |noise: usize| {
        let sample = |n: usize| {
            let (x, y) = (n % SIDE, n / SIDE);
            let kept = (x / 8 + y / 8) % 2 * noise;
            (10 + (x * 3 + y * 5) / 43 + kept * (2 + n * n * 7 % 5)) as u8
        };
        Picture::new(SIDE as u32, SIDE as u32, Channels::Gray, Samples::Eight((0..SIDE * SIDE).map(sample).collect()))
            .unwrap()
    };
    let limits = Limits::default();
    let run = Run { limits: &limits, control: &Unattended };
    let seen = |picture: &Picture| {
        let watches = Arc::new(Watches::default());
        let light = Light { strength: 50, denoise: Some(watches.clone()), jpeg: Some(80) };
        let result = light.prepare(picture, run).unwrap().unwrap().apply(picture.clone(), run).unwrap();
        assert_eq!(result.layout(), picture.layout());
        assert!(mean(&result) > 2.0 * mean(picture));
        *watches.0.lock().unwrap()
    };
    assert_eq!(seen(&dark(0)), 0.0, "nothing shows");
    let (brightest, lightest) = (dark(1).eight().unwrap().iter().copied().max().unwrap(), seen(&dark(1)));
    assert!((lightest * 255.0 - f32::from(brightest)).abs() < 1.0, "{lightest} of {brightest}");
}

#[test]
fn the_steps_of_a_jpeg_are_coarser_the_more_they_are_lifted() {
    assert_eq!([1, 30, 50, 80, 100].map(|quality| coarser(quality, 1.0)), [1, 30, 50, 80, 100]);
    let lifted = [1.0, 2.0, 4.0, 16.0].map(|gain| coarser(80, gain));
    assert!(lifted.is_sorted_by(|one, other| one > other) && lifted[3] < 50, "{lifted:?}");
}

#[test]
fn what_is_white_stays_white_where_shadows_are_opened() {
    let white = |n: usize| n / 3 % SIDE < 12;
    let dark = patches(40.0);
    let samples = dark.eight().unwrap().iter().enumerate().map(|(n, &code)| if white(n) { 255 } else { code });
    let night = Picture::new(SIDE as u32, SIDE as u32, Channels::Rgb, Samples::Eight(samples.collect())).unwrap();
    let lit = lit(50, &night, &night);
    assert!(mean(&lit) > mean(&night) + 10.0, "nothing was opened");
    assert!(lit.eight().unwrap().iter().enumerate().all(|(n, &code)| !white(n) || code >= 254));
}

#[test]
fn what_is_hidden_does_not_change_what_is_seen() {
    let cut = |hidden: u8| {
        let shown = |n: usize| (n % SIDE).abs_diff(SIDE / 2) < 30;
        let scene = patches(70.0);
        let pixels = scene.eight().unwrap().chunks_exact(3).enumerate();
        // With the noise of a photograph.
        let noise = |n: usize| (n * 37 % 13) as u8;
        let seen = |n: usize, p: &[u8]| [p[0] + noise(n), p[1] + noise(5 * n), p[2] + noise(7 * n), 255];
        let samples = pixels.flat_map(|(n, p)| if shown(n) { seen(n, p) } else { [hidden, hidden, 0, 0] });
        let side = SIDE as u32;
        let cut = Picture::new(side, side, Channels::Rgba, Samples::Eight(samples.collect())).unwrap();
        lit(50, &cut, &cut)
    };
    assert_eq!(cut(0), cut(255));
}

#[test]
fn a_drawing_on_transparency_has_the_light_that_it_is_meant_to_have() {
    let side = SIDE as u32;
    let sign = |n: usize| match (n % SIDE / 8 + n / SIDE / 8) % 3 {
        0 => [0, 0, 0, 0],
        1 => [90, 10, 20, 255],
        _ => [0, 0, 0, 255],
    };
    let logo =
        Picture::new(side, side, Channels::Rgba, Samples::Eight((0..SIDE * SIDE).flat_map(sign).collect())).unwrap();
    assert_eq!(lit(100, &logo, &logo), logo);
}
