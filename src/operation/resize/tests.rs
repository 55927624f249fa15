use super::*;
use crate::{
    control::{Unattended, Watch},
    limits::Limits,
    picture::{Depth, Samples},
};

const CENTRE: Gravity = Gravity::Fixed(Anchor::Middle, Anchor::Middle);

fn to(width: u32, height: u32, fit: Fit) -> Resize {
    Resize { width: Some(width), height: Some(height), fit, gravity: CENTRE, enlarge: true, background: [0; 4] }
}

fn resized(resize: &Resize, picture: Picture) -> Picture {
    let (limits, control) = (Limits::default(), Unattended);
    let run = Run { limits: &limits, control: &control };
    resize.prepare(&picture, run).unwrap().unwrap().apply(picture, run).unwrap()
}

fn eight(width: u32, height: u32, channels: Channels, sample: impl Fn(usize) -> u8) -> Picture {
    let length = width as usize * height as usize * channels.count();
    Picture::new(width, height, channels, Samples::Eight((0..length).map(sample).collect())).unwrap()
}

/// Something without a pattern.
fn noise(i: usize) -> u8 {
    ((i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as u8
}

#[test]
fn a_checkerboard_halves_to_its_mean_in_linear_light_up_to_the_edges() {
    for channels in [Channels::Gray, Channels::Rgb] {
        let count = channels.count();
        let board = eight(64, 64, channels, |i| if (i / count % 64 + i / count / 64) % 2 == 0 { 255 } else { 0 });
        let half = resized(&to(32, 32, Fit::Stretch), board);
        for (i, &sample) in half.eight().unwrap().iter().enumerate() {
            let (x, y) = (i / count % 32, i / count / 32);
            // A kernel cut off on two sides is not quite even.
            let allowed = if (x == 0 || x == 31) && (y == 0 || y == 31) { 3 } else { 1 };
            assert!(sample.abs_diff(188) <= allowed, "{sample} at {x}, {y}");
        }
    }
}

#[test]
fn layout_and_result_agree_for_every_mode_size_and_kind() {
    let kinds = [Channels::Gray, Channels::GrayAlpha, Channels::Rgb, Channels::Rgba];
    let backgrounds = [[0, 0, 0, 0], [9, 9, 9, 255], [200, 0, 0, 255], [1, 2, 3, 128]];
    let sides = [1u32, 2, 5, 13, 40];
    let mut case = 0;
    for (sw, sh) in sides.iter().flat_map(|&a| sides.map(|b| (a, b))) {
        for (w, h) in sides.iter().flat_map(|&a| sides.map(|b| (a, b))) {
            for fit in [Fit::Inside, Fit::Cover, Fit::Stretch, Fit::Pad] {
                case += 1;
                let background = backgrounds[case % 4];
                let gravity = if case % 3 == 0 { Gravity::Smart } else { Gravity::Fixed(Anchor::Start, Anchor::End) };
                let resize = Resize { gravity, enlarge: case % 2 == 0, background, ..to(w, h, fit) };
                let picture = eight(sw, sh, kinds[case / 4 % 4], noise);
                let planned = resize.layout(picture.layout()).unwrap();
                assert_eq!(resized(&resize, picture).layout(), planned, "{resize:?} of {sw}x{sh}");
            }
        }
    }
}

#[test]
fn the_same_size_leaves_every_bit_as_it_is() {
    for fit in [Fit::Inside, Fit::Cover, Fit::Stretch, Fit::Pad] {
        let picture = eight(31, 17, Channels::Rgba, noise);
        assert_eq!(resized(&to(31, 17, fit), picture.clone()), picture);
    }
    let picture = eight(31, 17, Channels::Rgb, noise);
    let capped = Resize { enlarge: false, ..to(400, 300, Fit::Inside) };
    assert_eq!(resized(&capped, picture.clone()), picture);
}

#[test]
fn a_crop_without_scaling_is_a_copy() {
    let picture = eight(10, 4, Channels::Gray, |i| i as u8);
    let cropped =
        resized(&Resize { gravity: Gravity::Fixed(Anchor::End, Anchor::Middle), ..to(3, 4, Fit::Cover) }, picture);
    assert_eq!(cropped.eight().unwrap(), [7, 8, 9, 17, 18, 19, 27, 28, 29, 37, 38, 39]);
}

#[test]
fn flat_colours_stay_exact_at_any_scale_and_depth() {
    for (w, h) in [(1, 1), (3, 200), (200, 3), (77, 55), (5, 5)] {
        let flat = eight(60, 50, Channels::Rgba, |i| [12, 130, 250, 90][i % 4]);
        let out = resized(&to(w, h, Fit::Stretch), flat);
        for pixel in out.eight().unwrap().chunks_exact(4) {
            assert!(pixel.iter().zip([12, 130, 250, 90]).all(|(a, b)| a.abs_diff(b) <= 1), "{pixel:?}");
        }
        let samples = [3000u16, 30_000, 65_535].repeat(60 * 50);
        let flat = Picture::new(60, 50, Channels::Rgb, Samples::Sixteen(samples)).unwrap();
        // Near black one step of linear light is 13 codes.
        let Samples::Sixteen(out) = resized(&to(w, h, Fit::Stretch), flat).into_samples() else { panic!("depth") };
        for pixel in out.chunks_exact(3) {
            assert!(pixel[0].abs_diff(3000) <= 18 && pixel[1].abs_diff(30_000) <= 2 && pixel[2] == 65_535, "{pixel:?}");
        }
    }
}

#[test]
fn thin_and_tiny_pictures_resize_both_ways() {
    for (source, target) in [((10_000, 10), (1, 1)), ((1, 1), (300, 2)), ((1, 900), (900, 1)), ((900, 1), (1, 900))] {
        let picture = eight(source.0, source.1, Channels::Rgb, |i| [40, 80, 160][i % 3]);
        let out = resized(&to(target.0, target.1, Fit::Stretch), picture);
        assert!(out.eight().unwrap().chunks_exact(3).all(|p| p == [40, 80, 160]), "{source:?} to {target:?}");
    }
}

#[test]
fn what_lies_under_transparency_does_not_bleed_into_the_edge() {
    // A red disc on transparent green and on transparent black shrinks to the same red.
    for under in [[0, 255, 0, 0], [0, 0, 0, 0], [255, 255, 255, 0]] {
        let disc = eight(90, 90, Channels::Rgba, |i| {
            let (x, y) = ((i / 4 % 90) as i32 - 45, (i / 4 / 90) as i32 - 45);
            if x * x + y * y < 1400 { [200, 30, 40, 255][i % 4] } else { under[i % 4] }
        });
        let out = resized(&to(20, 20, Fit::Stretch), disc);
        let mut translucent = 0;
        for pixel in out.eight().unwrap().chunks_exact(4).filter(|pixel| pixel[3] > 8) {
            translucent += usize::from(pixel[3] < 250);
            // What the eye gets of a difference is its share by alpha.
            let seen = |a: u8, b: u8| u32::from(a.abs_diff(b)) * u32::from(pixel[3]) / 255;
            assert!(pixel.iter().zip([200, 30, 40]).all(|(&a, b)| seen(a, b) <= 1), "{pixel:?}");
        }
        assert!(translucent > 10);
    }
}

#[test]
fn opaque_alpha_stays_opaque_and_its_colour_equals_that_of_rgb() {
    let rgb = eight(80, 60, Channels::Rgb, noise);
    let rgba = rgb.clone().into_channels(Channels::Rgba);
    for (w, h) in [(33, 20), (200, 90)] {
        let out = resized(&to(w, h, Fit::Stretch), rgba.clone());
        assert!(out.is_opaque());
        assert_eq!(out.into_channels(Channels::Rgb), resized(&to(w, h, Fit::Stretch), rgb.clone()));
    }
}

#[test]
fn padding_centres_on_the_background_and_gains_the_channels_it_needs() {
    let gray = eight(2, 1, Channels::Gray, |_| 7);
    let pad = |background| resized(&Resize { background, enlarge: false, ..to(4, 2, Fit::Pad) }, gray.clone());
    let out = pad([5, 5, 5, 255]);
    assert_eq!((out.channels(), out.eight().unwrap()), (Channels::Gray, &[5, 7, 7, 5, 5, 5, 5, 5][..]));
    let out = pad([0, 0, 0, 0]);
    assert_eq!(out.channels(), Channels::GrayAlpha);
    assert_eq!(out.eight().unwrap()[..8], [0, 0, 7, 255, 7, 255, 0, 0]);
    assert_eq!(pad([1, 2, 3, 255]).eight().unwrap()[..6], [1, 2, 3, 7, 7, 7]);
    assert_eq!(pad([1, 2, 3, 9]).channels(), Channels::Rgba);
}

#[test]
fn a_sixteen_bit_background_is_as_bright_as_an_eight_bit_one() {
    let picture = Picture::new(1, 1, Channels::Rgb, Samples::Sixteen(vec![1, 2, 3])).unwrap();
    let resize = Resize { background: [255, 128, 0, 255], enlarge: false, ..to(2, 1, Fit::Pad) };
    let out = resized(&resize, picture);
    assert_eq!(out.layout().depth, Depth::Sixteen);
    assert_eq!(out.samples(), &Samples::Sixteen(vec![1, 2, 3, 65_535, 32_896, 0]));
}

#[test]
fn an_edge_that_is_enlarged_keeps_its_dark_side_from_black() {
    let samples: Vec<u8> = (0..20 * 4).map(|at| if at % 20 < 10 { 60 } else { 190 }).collect();
    let picture = Picture::new(20, 4, Channels::Gray, Samples::Eight(samples)).unwrap();
    let wide = resized(&Resize { enlarge: true, ..to(90, 18, Fit::Stretch) }, picture);
    let (low, high) = (wide.eight().unwrap().iter().min(), wide.eight().unwrap().iter().max());
    assert!(low > Some(&45) && high < Some(&205), "{low:?} to {high:?}");
}

#[test]
fn the_same_input_gives_the_bytes_that_every_machine_gives() {
    // Sums of bytes weighted by place, taken once with and once without vector instructions.
    let check = |bytes: &[u8]| bytes.iter().fold(7u64, |sum, &b| sum.wrapping_mul(0x0100_0000_01B3) ^ u64::from(b));
    let sums: Vec<u64> = [Channels::Gray, Channels::GrayAlpha, Channels::Rgb, Channels::Rgba]
        .into_iter()
        .flat_map(|channels| [(61, 37), (301, 333)].map(|size| (channels, size)))
        .map(|(channels, (w, h))| {
            check(resized(&to(w, h, Fit::Cover), eight(203, 151, channels, noise)).eight().unwrap())
        })
        .collect();
    assert_eq!(sums, GOLDEN, "{sums:#x?}");
}

const GOLDEN: [u64; 8] = [
    0x2d12_eae6_3a95_15ed,
    0x4951_67e2_438f_ff40,
    0x8608_6ea7_f3c5_7bcd,
    0xfcdf_6a33_90f2_39fe,
    0x2a5c_5958_cfc5_a647,
    0xeca5_48a2_a9b3_ebbf,
    0xa14a_3360_487e_8e17,
    0xb669_4271_44fc_aeb9,
];

#[test]
fn bands_leave_no_seam() {
    // A vertical ramp crosses many bands; a seam would break its steadiness.
    let ramp = eight(4, 4000, Channels::Gray, |i| (i / 4 * 255 / 3999) as u8);
    let out = resized(&to(4, 1000, Fit::Stretch), ramp);
    let column: Vec<u8> = out.eight().unwrap().chunks_exact(4).map(|row| row[0]).collect();
    assert!(column.windows(2).all(|pair| pair[1] >= pair[0] && pair[1] - pair[0] <= 1));
}

#[test]
fn reduced_decoding_is_asked_for_twice_the_size_only_when_both_sides_shrink_enough() {
    assert_eq!(to(400, 300, Fit::Stretch).decode_at_least(4000, 3000), Some((800, 600)));
    assert_eq!(to(100, 100, Fit::Cover).decode_at_least(4000, 1000), Some((800, 200)));
    assert_eq!(to(400, 2000, Fit::Stretch).decode_at_least(4000, 3000), None);
    assert_eq!(to(5000, 5000, Fit::Inside).decode_at_least(4000, 3000), None);
}

#[test]
fn a_settled_resize_of_a_reduced_source_has_the_planned_size() {
    let resize = Resize { height: None, ..to(999, 1, Fit::Inside) };
    let gray = |width, height| Layout { width, height, channels: Channels::Gray, depth: Depth::Eight };
    let planned = resize.layout(gray(4001, 3007)).unwrap();
    let settled = resize.settled(4001, 3007).unwrap();
    let reduced = settled.layout(gray(2001, 1504)).unwrap();
    assert_eq!((reduced.width, reduced.height), (planned.width, planned.height));
}

#[test]
fn a_settled_pad_of_a_reduced_source_is_padded_where_the_full_one_is() {
    let gray = |width, height| Layout { width, height, channels: Channels::Gray, depth: Depth::Eight };
    for (width, height, full, reduced) in [(600, 400, (4000, 2667), (1500, 1001)), (300, 200, (3000, 2001), (750, 501))]
    {
        let settled = to(width, height, Fit::Pad).settled(full.0, full.1).unwrap();
        assert_eq!(settled.layout(gray(reduced.0, reduced.1)).unwrap(), gray(width, height));
    }
    let padded = to(600, 600, Fit::Pad).settled(4000, 2667).unwrap();
    assert_eq!(padded.layout(gray(1500, 1001)).unwrap().channels, Channels::GrayAlpha);
}

#[test]
fn a_cancelled_run_ends_with_an_error() {
    let (limits, watch) = (Limits::default(), Watch::default());
    let run = Run { limits: &limits, control: &watch };
    let picture = eight(50, 50, Channels::Gray, noise);
    let prepared = to(20, 20, Fit::Stretch).prepare(&picture, run).unwrap().unwrap();
    watch.cancel();
    assert!(matches!(prepared.apply(picture, run), Err(Error::Stopped(_))));
}

#[test]
fn frames_of_another_layout_and_results_over_the_limit_are_refused() {
    let (limits, control) = (Limits { result_pixels: 100, ..Limits::default() }, Unattended);
    let run = Run { limits: &limits, control: &control };
    let picture = eight(5, 5, Channels::Gray, noise);
    assert!(matches!(to(20, 20, Fit::Stretch).prepare(&picture, run), Err(Error::Limit { .. })));
    let prepared = to(10, 10, Fit::Stretch).prepare(&picture, run).unwrap().unwrap();
    assert!(prepared.apply(eight(5, 6, Channels::Gray, noise), run).is_err());
}

#[test]
fn a_smart_crop_looks_at_the_frame_that_tells() {
    let limits = Limits::default();
    let run = Run { limits: &limits, control: &Unattended };
    let smart = Resize { gravity: Gravity::Smart, ..to(20, 20, Fit::Cover) };
    let black = eight(80, 20, Channels::Rgb, |_| 0);
    let subject = eight(80, 20, Channels::Rgb, |at| if at / 3 % 80 < 20 { noise(at) } else { 0 });
    let mut chain = crate::operation::Chain::default();
    chain.push(smart);
    let (_, steps) = chain.start(black, Some(subject.clone()), run).unwrap();
    let cropped = steps[0].apply(subject, run).unwrap();
    assert!(cropped.eight().unwrap().iter().filter(|&&sample| sample > 0).count() > 600, "the subject is left out");
}

#[test]
fn what_gets_smaller_has_no_rims() {
    // Bright strokes across and down, of all widths, on a dark ground.
    let ground = [110, 16, 32, 120];
    let strokes = |x: usize, y: usize| (x * x / 40).is_multiple_of(9) || (y * y / 30).is_multiple_of(11);
    for channels in [Channels::Gray, Channels::GrayAlpha, Channels::Rgb, Channels::Rgba] {
        let count = channels.count();
        let colour = |i: usize| match strokes(i / count % 150, i / count / 150) {
            true => 255,
            false => ground[i % count],
        };
        let picture = eight(150, 130, channels, colour);
        for size in [(149, 130), (97, 41), (60, 52), (31, 129), (7, 200), (1, 1)] {
            let small = resized(&to(size.0, size.1, Fit::Stretch), picture.clone());
            for (i, &sample) in small.eight().unwrap().iter().enumerate() {
                let least = ground[i % count];
                assert!(sample >= least, "{sample} of {least} at {i}, {channels:?}, {size:?}");
            }
        }
    }
}

#[test]
fn a_ground_stays_plain_beside_what_is_drawn_on_it() {
    let half = eight(200, 200, Channels::Gray, |i| if i % 200 < 100 { 200 } else { 40 });
    let small = resized(&to(71, 71, Fit::Stretch), half);
    let row = &small.eight().unwrap()[..71];
    assert!(row.iter().all(|sample| (40..=200).contains(sample)), "{row:?}");
    assert_eq!(row.iter().filter(|sample| ![40, 200].contains(*sample)).count(), 1, "{row:?}");
}
