use moxcms::{ColorProfile, Layout as Order, TransformOptions};

use super::*;
use crate::{
    control::{Unattended, Watch},
    error::Error,
    limits::Limits,
};

fn converted(picture: Picture, icc: Option<&[u8]>) -> (Picture, Converted) {
    let (limits, control) = (Limits::default(), Unattended);
    to_srgb(picture, icc, Run { limits: &limits, control: &control }).unwrap()
}

fn icc(profile: ColorProfile) -> Vec<u8> {
    profile.encode().unwrap()
}

/// All combinations of 18 levels, with alpha that varies.
fn lattice() -> Picture {
    let levels = || (0..=255u8).step_by(15);
    let pixels = levels().flat_map(|r| levels().flat_map(move |g| levels().map(move |b| [r, g, b, r ^ g])));
    Picture::new(18 * 18, 18, Channels::Rgba, Samples::Eight(pixels.flatten().collect())).unwrap()
}

/// Whether the lattice stays bit for bit, with `outcome`.
fn stays(icc: Option<&[u8]>, outcome: Converted) -> bool {
    let (picture, found) = converted(lattice(), icc);
    picture == lattice() && found == outcome
}

#[test]
fn rgb_profiles_convert_within_one_step_of_the_reference_and_leave_alpha() {
    for profile in [ColorProfile::new_display_p3(), ColorProfile::new_adobe_rgb(), ColorProfile::new_bt2020()] {
        let source = lattice();
        let transform = profile
            .create_transform_8bit(Order::Rgba, &ColorProfile::new_srgb(), Order::Rgba, TransformOptions::default())
            .unwrap();
        let mut expected = vec![0; source.eight().unwrap().len()];
        transform.transform(source.eight().unwrap(), &mut expected).unwrap();
        let (out, outcome) = converted(source.clone(), Some(&icc(profile)));
        assert_eq!(outcome, Converted::Converted);
        for (i, (found, expected)) in out.eight().unwrap().iter().zip(&expected).enumerate() {
            let pixel = &source.eight().unwrap()[i / 4 * 4..][..4];
            assert!(found.abs_diff(*expected) <= 1, "{pixel:?}: {found} instead of {expected}");
        }
        let alpha = |picture: &Picture| picture.eight().unwrap().iter().skip(3).step_by(4).copied().collect::<Vec<_>>();
        assert_eq!(alpha(&out), alpha(&source));
    }
}

#[test]
fn grays_and_white_stay_neutral_in_every_rgb_space() {
    for profile in [ColorProfile::new_display_p3(), ColorProfile::new_adobe_rgb(), ColorProfile::new_pro_photo_rgb()] {
        let gray =
            Picture::new(256, 1, Channels::Rgb, Samples::Eight((0..=255).flat_map(|v| [v; 3]).collect())).unwrap();
        let (out, _) = converted(gray, Some(&icc(profile)));
        assert!(out.is_gray());
        assert_eq!(out.eight().unwrap()[765..], [255; 3]);
    }
}

#[test]
fn a_profile_that_is_srgb_in_effect_leaves_every_bit() {
    for profile in [icc(ColorProfile::new_srgb()), {
        let mut named_otherwise = ColorProfile::new_srgb();
        named_otherwise.description = None;
        icc(named_otherwise)
    }] {
        assert!(stays(Some(&profile), Converted::Untouched));
    }
    assert!(stays(None, Converted::Untouched));
}

#[test]
fn sixteen_bits_are_as_eight_with_more_steps() {
    let profile = icc(ColorProfile::new_display_p3());
    let wide = lattice().eight().unwrap().iter().map(|&v| u16::from(v) * 257).collect();
    let wide = Picture::new(18 * 18, 18, Channels::Rgba, Samples::Sixteen(wide)).unwrap();
    let (narrow, _) = converted(lattice(), Some(&profile));
    let (wide, _) = converted(wide, Some(&profile));
    assert_eq!(wide.layout().depth, Depth::Sixteen);
    let rounded = wide.into_eight();
    assert!(rounded.eight().unwrap().iter().zip(narrow.eight().unwrap()).all(|(a, b)| a.abs_diff(*b) <= 1));
}

#[test]
fn a_gray_profile_moves_the_gray_levels() {
    let profile = icc(ColorProfile::new_gray_with_gamma(1.0));
    let gray = Picture::new(3, 1, Channels::GrayAlpha, Samples::Eight(vec![0, 9, 55, 8, 255, 7])).unwrap();
    let (out, outcome) = converted(gray, Some(&profile));
    assert_eq!((out.eight().unwrap(), outcome), (&[0, 9, 128, 8, 255, 7][..], Converted::Converted));
}

#[test]
fn an_rgb_profile_on_a_gray_picture_keeps_it_gray() {
    let mut profile = ColorProfile::new_adobe_rgb();
    profile.cicp = None;
    let gray = Picture::new(2, 1, Channels::Gray, Samples::Eight(vec![40, 255])).unwrap();
    let (out, outcome) = converted(gray, Some(&icc(profile)));
    assert_eq!((out.channels(), outcome), (Channels::Gray, Converted::Converted));
    assert!(out.eight().unwrap()[0].abs_diff(35) <= 1 && out.eight().unwrap()[1] == 255, "{:?}", out.eight());
}

#[test]
fn profiles_that_are_damaged_or_for_other_pixels_are_ignored_and_said_to_be() {
    let gray_profile = icc(ColorProfile::new_gray_with_gamma(2.2));
    let p3 = icc(ColorProfile::new_display_p3());
    assert!(stays(Some(&gray_profile), Converted::Ignored));
    assert!(stays(Some(&p3[..p3.len() / 2]), Converted::Ignored));
    assert!(stays(Some(b"no profile"), Converted::Ignored));
    let mut white_is_off = ColorProfile::new_display_p3();
    white_is_off.blue_colorant.z += 0.3;
    assert_eq!(converted(lattice(), Some(&icc(white_is_off))).1, Converted::Ignored);
}

#[test]
fn no_single_damaged_byte_of_a_profile_does_worse_than_other_colours() {
    let profile = icc(ColorProfile::new_display_p3());
    let pixel = Picture::new(1, 1, Channels::Rgb, Samples::Eight(vec![9, 99, 199])).unwrap();
    for at in 0..profile.len() {
        for flip in [0x01, 0x80, 0xFF] {
            let mut damaged = profile.clone();
            damaged[at] ^= flip;
            assert_eq!(converted(pixel.clone(), Some(&damaged)).0.layout(), pixel.layout());
        }
    }
}

#[test]
fn cmyk_becomes_rgb_without_a_profile_and_with_one_that_does_not_fit() {
    let inks = [[0; 4], [255; 4], [255, 0, 0, 0], [0, 128, 255, 51]].concat();
    let ink = Picture::new(4, 1, Channels::Cmyk, Samples::Eight(inks.clone())).unwrap();
    let wide = inks.iter().map(|&ink| u16::from(ink) * 257).collect();
    let wide = Picture::new(4, 1, Channels::Cmyk, Samples::Sixteen(wide)).unwrap();
    for (profile, outcome) in [(None, Converted::Converted), (Some(&b"?"[..]), Converted::Ignored)] {
        let (out, found) = converted(ink.clone(), profile);
        assert_eq!((out.channels(), found), (Channels::Rgb, outcome));
        // As Chromium shows them.
        let shown = [[255; 3], [0; 3], [0, 255, 255], [204, 102, 0]].concat();
        assert_eq!(out.eight().unwrap(), shown);
        assert_eq!(converted(wide.clone(), profile).0.into_eight().eight().unwrap(), shown);
        assert_eq!(ToSrgb::new(profile, Channels::Cmyk).layout(ink.layout()), out.layout());
    }
}

#[test]
fn a_cancelled_conversion_ends_with_an_error() {
    let (limits, watch) = (Limits::default(), Watch::default());
    watch.cancel();
    let run = Run { limits: &limits, control: &watch };
    let profile = icc(ColorProfile::new_display_p3());
    assert!(matches!(to_srgb(lattice(), Some(&profile), run), Err(Error::Stopped(_))));
}

#[test]
fn the_profile_of_srgb_is_of_the_space_of_the_pixels_and_changes_none() {
    for (channels, space) in
        [(Channels::Rgb, b"RGB "), (Channels::Rgba, b"RGB "), (Channels::Gray, b"GRAY"), (Channels::GrayAlpha, b"GRAY")]
    {
        let profile = srgb_profile(channels).unwrap();
        assert_eq!(&profile[16..20], space, "{channels:?}");
        assert_eq!(ToSrgb::new(Some(&profile), channels).converted(), Converted::Untouched, "{channels:?}");
        assert_eq!(profile, srgb_profile(channels).unwrap());
        let number = |at: usize| u32::from_be_bytes(*profile[at..].first_chunk().unwrap()) as usize;
        assert_eq!((number(0), profile.len() % 4), (profile.len(), 0));
        let ends = (0..number(128)).map(|tag| number(136 + 12 * tag) + number(140 + 12 * tag));
        assert!(ends.max().is_some_and(|end| end <= profile.len()));
        assert!((0..number(128)).all(|tag| number(136 + 12 * tag) % 4 == 0));
    }
}
