use super::*;
use crate::{
    control::Unattended,
    limits::Limits,
    picture::{Channels, Samples, transfer},
};

const SIDE: usize = 96;

fn toned(tone: Tone, first: &Picture, picture: &Picture) -> Picture {
    let (limits, control) = (Limits::default(), Unattended);
    let run = Run { limits: &limits, control: &control };
    let step = tone.prepare(first, run).unwrap();
    step.map_or_else(|| picture.clone(), |step| step.apply(picture.clone(), run).unwrap())
}

fn itself(tone: Tone, picture: &Picture) -> Picture {
    toned(tone, picture, picture)
}

/// A well-lit picture of many lights and colours with some texture, each code through `change`.
fn scene(change: impl Fn(f64, usize) -> f64) -> Picture {
    let sample = |n: usize| {
        let (x, y, channel) = (n / 3 % SIDE, n / 3 / SIDE, n % 3);
        let light = ((x / 8 * 5 + y / 8 * 7) % 25) as f64 / 24.0;
        let tint = 1.0 - 0.25 * ((channel * 2 + x / 16 + y / 24) % 3) as f64;
        let grain = (n / 3 * 7919 % 13) as f64 - 6.0;
        (change((10.0 + 236.0 * light * tint + grain).max(0.0) / 255.0, channel).clamp(0.0, 1.0) * 255.0 + 0.5) as u8
    };
    let samples = (0..SIDE * SIDE * 3).map(sample).collect();
    Picture::new(SIDE as u32, SIDE as u32, Channels::Rgb, Samples::Eight(samples)).unwrap()
}

fn exposed(stops: f64) -> Picture {
    scene(|code, _| transfer::encode(transfer::decode(code) * exp2(stops)))
}

fn means(picture: &Picture) -> [f64; 3] {
    let samples = picture.eight().unwrap();
    std::array::from_fn(|c| {
        samples.iter().skip(c).step_by(3).map(|&v| f64::from(v)).sum::<f64>() / samples.len() as f64
    })
}

fn mean(picture: &Picture) -> f64 {
    means(picture).iter().sum()
}

fn difference(a: &Picture, b: &Picture) -> f64 {
    let (a, b) = (a.eight().unwrap(), b.eight().unwrap());
    a.iter().zip(b).map(|(a, b)| f64::from(a.abs_diff(*b))).sum::<f64>() / a.len() as f64
}

/// What a number makes of the scene, from its least to its most.
fn series(set: impl Fn(i8) -> Tone) -> Vec<Picture> {
    [-100, -70, -40, -10, 0, 10, 40, 70, 100].map(|number| itself(set(number), &scene(|code, _| code))).to_vec()
}

fn rises(numbers: &[f64]) -> bool {
    numbers.windows(2).all(|pair| pair[0] < pair[1])
}

#[test]
fn zero_changes_nothing() {
    let scene = scene(|code, _| code);
    assert_eq!(itself(Tone::default(), &scene), scene);
    assert!(Tone::default().is_identity());
}

#[test]
fn exposure_highlights_and_shadows_only_give_light() {
    let tones: [fn(i8) -> Tone; 3] = [
        |exposure| Tone { exposure, ..Tone::default() },
        |highlights| Tone { highlights, ..Tone::default() },
        |shadows| Tone { shadows, ..Tone::default() },
    ];
    for set in tones {
        let pictures = series(set);
        let means: Vec<f64> = pictures.iter().map(mean).collect();
        assert!(rises(&means), "{means:?}");
    }
}

#[test]
fn exposure_counts_stops_of_linear_light() {
    let gray = Picture::new(1, 1, Channels::Gray, Samples::Eight(vec![100])).unwrap();
    let brighter = itself(Tone { exposure: 33, ..Tone::default() }, &gray);
    let expected = transfer::encode(transfer::decode(100.0 / 255.0) * exp2(0.99)) * 255.0;
    assert_eq!(brighter.eight().unwrap(), [expected.round() as u8]);
}

#[test]
fn contrast_spreads_saturation_colours_and_warmth_tints() {
    let deviation = |picture: &Picture| {
        let samples = picture.eight().unwrap();
        let mean = mean(picture);
        (samples.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / samples.len() as f64).sqrt()
    };
    let spread: Vec<f64> = series(|contrast| Tone { contrast, ..Tone::default() }).iter().map(deviation).collect();
    assert!(rises(&spread), "{spread:?}");
    let colour = |picture: &Picture| -> f64 {
        let pixels = picture.eight().unwrap().chunks(3);
        pixels.map(|p| f64::from(p.iter().max().unwrap() - p.iter().min().unwrap())).sum()
    };
    let colours: Vec<f64> = series(|saturation| Tone { saturation, ..Tone::default() }).iter().map(colour).collect();
    assert!(rises(&colours) && colours[0] == 0.0, "{colours:?}");
    let warmth: Vec<f64> = series(|warmth| Tone { warmth, ..Tone::default() })
        .iter()
        .map(|picture| means(picture)[0] - means(picture)[2])
        .collect();
    assert!(rises(&warmth), "{warmth:?}");
}

#[test]
fn auto_leaves_a_good_picture_nearly_alone_and_brings_wrong_ones_back() {
    let auto = Tone { auto: true, ..Tone::default() };
    let good = scene(|code, _| code);
    assert!(difference(&itself(auto, &good), &good) < 8.0);
    let dark = exposed(-1.5);
    let flat = scene(|code, _| 0.5 + (code - 0.5) * 0.6);
    for wrong in [dark, flat] {
        let (before, after) = (difference(&wrong, &good), difference(&itself(auto, &wrong), &good));
        assert!(after < before / 2.0, "{before} became {after}");
    }
}

#[test]
fn auto_gives_contrast_to_what_is_flat_and_leaves_it_its_light() {
    let spread = |picture: &Picture| {
        let (middle, samples) = (mean(picture), picture.eight().unwrap());
        samples.iter().map(|&v| (f64::from(v) - middle).powi(2)).sum::<f64>().sqrt()
    };
    // A twelfth of the scale is left: a few codes have most of the pixels, and are no fills.
    for (share, above) in [(0.15, 0.35), (0.08, 0.4), (0.08, 0.5)] {
        let flat = scene(|code, _| above + code * share);
        let after = itself(Tone { auto: true, ..Tone::default() }, &flat);
        let (light, contrast) = (mean(&after) - mean(&flat), spread(&after) / spread(&flat));
        assert!(light.abs() < 25.0 && contrast > 1.25, "{share} over {above}: {light} and {contrast}");
    }
}

#[test]
fn auto_takes_back_a_strong_cast() {
    let warm = scene(|code, c| transfer::encode(transfer::decode(code) * [1.28, 0.97, 0.5][c]));
    let balanced = itself(Tone { auto: true, ..Tone::default() }, &warm);
    let cast = |picture: &Picture| means(picture)[0] - means(picture)[2];
    assert!(cast(&balanced) < cast(&warm) - 1.0, "{} {}", cast(&warm), cast(&balanced));
}

#[test]
fn auto_leaves_the_colours_of_a_sunset_and_of_water() {
    for own in [[1.0, 0.5, 0.12], [0.04, 0.5, 0.9], [0.9, 0.08, 0.3]] {
        let coloured = scene(|code, c| transfer::encode(transfer::decode(code) * own[c]));
        let after = itself(Tone { auto: true, ..Tone::default() }, &coloured);
        let share = |picture: &Picture| means(picture).map(|mean| mean / means(picture).iter().sum::<f64>());
        let apart = share(&coloured).iter().zip(share(&after)).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
        assert!(apart < 0.03, "{:?} became {:?}", share(&coloured), share(&after));
    }
}

#[test]
fn auto_clips_hardly_anything_and_keeps_a_white_ground_white() {
    let auto = Tone { auto: true, ..Tone::default() };
    for stops in [-2.0, -1.0, 0.0, 0.7, 1.5] {
        let wrong = exposed(stops);
        let clips = |p: &[u8]| p.contains(&0) || p.contains(&255);
        let after = itself(auto, &wrong);
        let pairs = wrong.eight().unwrap().chunks(3).zip(after.eight().unwrap().chunks(3));
        let clipped = pairs.clone().filter(|(before, after)| !clips(before) && clips(after)).count();
        assert!(clipped * 200 <= SIDE * SIDE, "{stops}: {clipped}");
        assert!(pairs.filter(|(before, _)| **before == [255; 3]).all(|(_, after)| after.iter().all(|&v| v >= 250)));
    }
}

#[test]
fn auto_takes_light_from_pixels_whole_so_that_clipped_ones_get_no_stronger_colours() {
    let pale = scene(|code, _| transfer::encode(transfer::decode(0.35 + 0.6 * code) * 2.8));
    let after = itself(Tone { auto: true, ..Tone::default() }, &pale);
    assert!(mean(&after) < mean(&pale) - 60.0, "{} became {}", mean(&pale), mean(&after));
    let colour = |pixel: &[u8]| {
        let light = [0, 1, 2].map(|c| transfer::decode(f64::from(pixel[c]) / 255.0));
        1.0 - light.into_iter().fold(1.0, f64::min) / light.into_iter().fold(1e-9, f64::max)
    };
    let pairs = pale.eight().unwrap().chunks(3).zip(after.eight().unwrap().chunks(3));
    for (before, after) in pairs.filter(|(before, _)| before.contains(&255)) {
        assert!(colour(after) < colour(before) + 0.1, "{before:?} became {after:?}");
    }
}

#[test]
fn auto_leaves_drawings_as_they_are() {
    let auto = Tone { auto: true, ..Tone::default() };
    // A chart: fills and lines on a ground.
    let chart = |ground: [u8; 3], line: [u8; 3], fills: &[[u8; 3]]| {
        let pixel = |at: usize| match (at % SIDE / 8, at / SIDE / 8) {
            (x, y) if x < 8 && y > 3 => fills[(x / 2 + y) % fills.len()],
            (x, 2) if x % 2 == 0 => line,
            _ => ground,
        };
        Picture::new(
            SIDE as u32,
            SIDE as u32,
            Channels::Rgb,
            Samples::Eight((0..SIDE * SIDE).flat_map(pixel).collect()),
        )
        .unwrap()
    };
    for (ground, line, fills) in [
        ([255; 3], [30; 3], &[[200, 230, 240], [240, 225, 200]][..]),
        ([255; 3], [30; 3], &[[237, 125, 49], [200, 230, 240], [68, 114, 196]]),
        ([255; 3], [30; 3], &[[220; 3]]),
        ([41, 44, 71], [170, 170, 190], &[[60, 64, 96], [52, 56, 84]]),
        ([184, 212, 246], [20, 40, 90], &[[150, 190, 240], [220, 230, 250]]),
        ([229; 3], [90; 3], &[[200; 3], [240; 3]]),
        ([255, 230, 136], [30; 3], &[[255; 3]]),
        ([180; 3], [90; 3], &[[255; 3], [190, 140, 170], [230; 3], [153; 3], [210, 190, 200]]),
    ] {
        let chart = chart(ground, line, fills);
        let after = itself(auto, &chart);
        // Local contrast and vibrance are left.
        assert!(difference(&after, &chart) < 8.0, "{ground:?}, {fills:?}: {}", difference(&after, &chart));
    }
}

#[test]
fn auto_takes_no_light_from_pale_fills() {
    let fills = [[255; 3], [246, 230, 214], [221, 235, 247], [255, 242, 204], [226, 239, 218], [255; 3], [237; 3]];
    let samples = (0..SIDE * SIDE).flat_map(|at| fills[(at % SIDE / 12 + at / SIDE / 12) % fills.len()]).collect();
    let pale = Picture::new(SIDE as u32, SIDE as u32, Channels::Rgb, Samples::Eight(samples)).unwrap();
    let after = itself(Tone { auto: true, ..Tone::default() }, &pale);
    assert!(difference(&after, &pale) < 8.0, "{}", difference(&after, &pale));
}

#[test]
fn auto_takes_no_light_from_a_shaded_thing_on_white_and_leaves_the_white() {
    let ball = |at: usize| {
        let (x, y) = ((at % SIDE) as f64 / SIDE as f64 - 0.5, (at / SIDE) as f64 / SIDE as f64 - 0.5);
        let shade = 1.0 - (x * x + y * y).sqrt();
        let grain = (at * 31 % 7) as f64;
        if shade > 0.6 {
            [230.0, 180.0, 130.0].map(|code| (code * (2.2 * shade - 1.25) + grain) as u8)
        } else {
            [255; 3]
        }
    };
    let samples = (0..SIDE * SIDE).flat_map(ball).collect();
    let product = Picture::new(SIDE as u32, SIDE as u32, Channels::Rgb, Samples::Eight(samples)).unwrap();
    let after = itself(Tone { auto: true, ..Tone::default() }, &product);
    assert!(mean(&after) > mean(&product) - 2.0, "{} became {}", mean(&product), mean(&after));
    assert_eq!(after.eight().unwrap()[..3], [255; 3]);
}

#[test]
fn gray_stays_gray_and_alpha_stays() {
    let samples = (0..64 * 64).flat_map(|n: u32| [40 + (n % 181) as u8, (n % 256) as u8]).collect();
    let gray = Picture::new(64, 64, Channels::GrayAlpha, Samples::Eight(samples)).unwrap();
    let tone = Tone { auto: true, exposure: 20, contrast: 30, highlights: -40, shadows: 50, saturation: 60, warmth: 0 };
    let from_gray = itself(tone, &gray);
    assert_ne!(from_gray, gray);
    assert_eq!(
        from_gray.clone().into_channels(Channels::Rgba),
        itself(tone, &gray.clone().into_channels(Channels::Rgba))
    );
    let alpha = |picture: &Picture| picture.eight().unwrap().iter().skip(1).step_by(2).copied().collect::<Vec<_>>();
    assert_eq!(alpha(&from_gray), alpha(&gray));
    assert_eq!(itself(Tone { warmth: 90, ..tone }, &gray), from_gray);
    let stored_as_rgb = gray.into_channels(Channels::Rgba);
    assert_eq!(itself(Tone { warmth: 90, ..tone }, &stored_as_rgb), from_gray.into_channels(Channels::Rgba));
}

#[test]
fn sixteen_bits_stay_and_say_what_eight_say() {
    let eight = scene(|code, _| code);
    let wide = eight.eight().unwrap().iter().map(|&v| u16::from(v) * 257).collect();
    let wide = Picture::new(SIDE as u32, SIDE as u32, Channels::Rgb, Samples::Sixteen(wide)).unwrap();
    let tone = Tone { auto: true, contrast: 30, warmth: 30, ..Tone::default() };
    let sixteen = itself(tone, &wide);
    assert!(matches!(sixteen.samples(), Samples::Sixteen(_)));
    for (a, b) in itself(tone, &eight).eight().unwrap().iter().zip(sixteen.into_eight().eight().unwrap()) {
        assert!(a.abs_diff(*b) <= 1);
    }
}

#[test]
fn frames_are_balanced_by_the_first() {
    let auto = Tone { auto: true, ..Tone::default() };
    let (good, dark) = (scene(|code, _| code), exposed(-2.0));
    assert!(mean(&toned(auto, &dark, &good)) > mean(&toned(auto, &good, &good)) + 30.0);
    assert!(mean(&toned(auto, &good, &dark)) < mean(&toned(auto, &dark, &dark)) - 30.0);
}

#[test]
fn what_is_exposed_beyond_white_keeps_its_hue_and_only_gets_lighter() {
    let yellow = Picture::new(2, 1, Channels::Rgb, Samples::Eight([255, 205, 60].repeat(2))).unwrap();
    let steps = [0, 10, 20, 40, 70, 100].map(|exposure| {
        let lit = itself(Tone { exposure, ..Tone::default() }, &yellow);
        <[u8; 3]>::try_from(&lit.eight().unwrap()[..3]).unwrap()
    });
    assert!(steps.windows(2).all(|pair| pair[0][1] <= pair[1][1] && pair[0][2] < pair[1][2]), "{steps:?}");
    assert!(steps[2][2] < 180 && steps.iter().all(|[r, g, b]| r > g && g > b), "{steps:?}");
}

#[test]
fn auto_does_not_see_what_is_hidden() {
    let cut = |hidden: u8| {
        let shown = |n: usize| (n % SIDE).abs_diff(SIDE / 2) < 30;
        let scene = scene(|code, _| code * 0.6);
        let pixels = scene.eight().unwrap().chunks_exact(3).enumerate();
        let samples = pixels.flat_map(|(n, p)| if shown(n) { [p[0], p[1], p[2], 255] } else { [hidden, hidden, 0, 0] });
        itself(
            Tone { auto: true, ..Tone::default() },
            &Picture::new(SIDE as u32, SIDE as u32, Channels::Rgba, Samples::Eight(samples.collect())).unwrap(),
        )
    };
    assert_eq!(cut(0), cut(255));
}

#[test]
fn the_rim_of_a_cut_out_is_like_its_middle() {
    let (width, height) = (2048, 64);
    for (tone, code) in [
        (Tone { shadows: 100, ..Tone::default() }, 40),
        (Tone { highlights: -100, ..Tone::default() }, 240),
        (Tone { auto: true, shadows: 50, ..Tone::default() }, 90),
    ] {
        let pixel = |at: usize| if at % width < width / 2 { [code, code, code, 255] } else { [0; 4] };
        let samples = Samples::Eight((0..width * height).flat_map(pixel).collect());
        let done = itself(tone, &Picture::new(width as u32, height as u32, Channels::Rgba, samples).unwrap());
        let row = &done.eight().unwrap()[height / 2 * width * 4..];
        assert_eq!(row[0], row[(width / 2 - 1) * 4], "{tone:?}");
    }
}

#[test]
fn what_stands_before_a_light_backdrop_is_not_darkened() {
    let auto = Tone { auto: true, ..Tone::default() };
    let bright = exposed(1.6);
    let before = |backdrop: [f64; 3]| {
        let (mut samples, mut n) = (bright.eight().unwrap().to_vec(), 0);
        for y in 0..SIDE {
            for x in 0..SIDE {
                let inside = |at: usize| (SIDE / 16..SIDE - SIDE / 16).contains(&at);
                if !inside(x) || !inside(y) {
                    n += 1;
                    let lit = backdrop.map(|code| (code + (x + y) as f64 / 8.0 + (n * 7919 % 19) as f64) as u8);
                    samples[(y * SIDE + x) * 3..][..3].copy_from_slice(&lit);
                }
            }
        }
        let picture = Picture::new(SIDE as u32, SIDE as u32, Channels::Rgb, Samples::Eight(samples)).unwrap();
        mean(&itself(auto, &picture)) - mean(&picture)
    };
    let (neutral, coloured) = (before([205.0; 3]), before([215.0, 205.0, 145.0]));
    assert!(neutral > -5.0 && coloured < -20.0, "{neutral} {coloured}");
}
