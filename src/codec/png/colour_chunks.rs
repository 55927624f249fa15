//! What the colour chunks say about the meaning of the samples.
//!
//! In falling precedence, as in section 4.3 of the specification's third edition: `cICP`, `iCCP`, `sRGB`, then `gAMA`
//! with `cHRM`, which says nothing alone, as in browsers. What is sRGB, or so close to it that nobody would see it, counts
//! as nothing said.

use moxcms::{
    Chromaticity, CicpColorPrimaries, CicpProfile, ColorPrimaries, ColorProfile, MatrixCoefficients, ToneReprCurve,
    TransferCharacteristics, XyY,
};

use super::{chunks::Chunk, high_range, parts::Parts};
use crate::picture::{ColourChunks, icc_of};

/// White point, red, green and blue of sRGB in 1/100,000 of x and y, as in `cHRM`.
const SRGB_CHROMATICITIES: [u32; 8] = [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000];

/// Entries of a curve that no formula of profiles describes.
const SAMPLES: u16 = 1024;

/// What the samples mean.
#[derive(Debug, PartialEq)]
pub(super) enum Colours<'a> {
    /// sRGB, said or assumed.
    Srgb,
    /// The compressed profile of an `iCCP` chunk.
    Embedded(&'a [u8]),
    /// Standard colours that are not sRGB: primaries and transfer as numbered in ITU-T H.273.
    Coded(u8, u8),
    /// Values of `gAMA` and `cHRM`.
    Measured(u32, Option<[u32; 8]>),
    /// Numbered colours that no profile tells, as of narrow range.
    Untold([u8; 4]),
}

impl Colours<'_> {
    pub(super) fn of(said: ColourChunks) -> Self {
        match said {
            ColourChunks::Coded(codes) => coded(codes),
            ColourChunks::Measured(gamma, chromaticities) => Self::Measured(gamma, chromaticities),
        }
    }
}

/// Reads the colour chunks; damaged ones are passed over. Where numbers are of high dynamic range, or tell nothing here, an
/// embedded profile holds: it is there for readers like this one.
pub(super) fn colours<'a>(parts: &Parts<'a>) -> Colours<'a> {
    let coded = codes(parts).map(coded);
    match (coded, find(parts, b"iCCP").and_then(embedded)) {
        (Some(Colours::Untold(_) | Colours::Coded(_, 16 | 18)) | None, Some(profile)) => Colours::Embedded(profile),
        (Some(coded), _) => coded,
        (None, None) => measured(parts),
    }
}

/// What they say, but for a profile.
pub(super) fn said(parts: &Parts<'_>) -> Option<ColourChunks> {
    match colours(parts) {
        Colours::Srgb => None,
        Colours::Measured(gamma, chromaticities) => Some(ColourChunks::Measured(gamma, chromaticities)),
        Colours::Coded(..) | Colours::Untold(_) | Colours::Embedded(_) => codes(parts).map(ColourChunks::Coded),
    }
}

fn find<'p, 'a>(parts: &'p Parts<'a>, kind: &[u8; 4]) -> Option<&'p Chunk<'a>> {
    parts.beside.iter().find(|chunk| &chunk.kind() == kind && chunk.intact())
}

/// What is said beside a profile, which holds where that cannot be read.
pub(super) fn measured(parts: &Parts<'_>) -> Colours<'static> {
    if find(parts, b"sRGB").is_some() {
        return Colours::Srgb;
    }
    let Some(gamma) = find(parts, b"gAMA").and_then(gamma) else { return Colours::Srgb };
    let chromaticities = find(parts, b"cHRM").and_then(chromaticities);
    if chromaticities.is_none() && is_srgb(gamma) { Colours::Srgb } else { Colours::Measured(gamma, chromaticities) }
}

/// The bytes of a `cICP` chunk that says how RGB is to be read.
fn codes(parts: &Parts<'_>) -> Option<[u8; 4]> {
    let codes: [u8; 4] = find(parts, b"cICP")?.data().try_into().ok()?;
    (codes[2] == 0 && codes[3] < 2).then_some(codes)
}

fn coded(codes: [u8; 4]) -> Colours<'static> {
    match codes {
        [1, 13, 0, 1] => Colours::Srgb,
        [primaries @ (1 | 4..=9 | 11 | 12 | 22), transfer @ (1 | 4..=6 | 8 | 13..=16 | 18), 0, 1] => {
            Colours::Coded(primaries, transfer)
        }
        _ => Colours::Untold(codes),
    }
}

/// What follows the profile's name and the compression method 0.
fn embedded<'a>(chunk: &Chunk<'a>) -> Option<&'a [u8]> {
    let name = chunk.data().iter().take(80).position(|&byte| byte == 0)?;
    chunk.data()[name + 1..].strip_prefix(&[0])
}

/// The value of a `gAMA` chunk; what no encoder would write says nothing.
fn gamma(chunk: &Chunk<'_>) -> Option<u32> {
    let gamma = u32::from_be_bytes(chunk.data().try_into().ok()?);
    (10_000..=1_000_000).contains(&gamma).then_some(gamma)
}

/// Whether the exponent differs by no more than 5 % from the one that stands for the curve of sRGB.
fn is_srgb(gamma: u32) -> bool {
    (43_182..=47_728).contains(&gamma)
}

/// The values of a `cHRM` chunk where any differs from sRGB by more than 0.005. What spans no triangle says nothing.
fn chromaticities(chunk: &Chunk<'_>) -> Option<[u32; 8]> {
    let data: &[u8; 32] = chunk.data().try_into().ok()?;
    let values: [u32; 8] =
        std::array::from_fn(|i| u32::from_be_bytes([data[4 * i], data[4 * i + 1], data[4 * i + 2], data[4 * i + 3]]));
    let near = values.iter().zip(SRGB_CHROMATICITIES).all(|(&a, b)| a.abs_diff(b) <= 500);
    let possible = values.chunks_exact(2).all(|xy| xy[1] > 0 && u64::from(xy[0]) + u64::from(xy[1]) <= 100_000);
    let [_, _, rx, ry, gx, gy, bx, by] = values.map(i64::from);
    let twice_the_area = (gx - rx) * (by - ry) - (bx - rx) * (gy - ry);
    (possible && !near && twice_the_area.abs() > 1_000_000).then_some(values)
}

/// An ICC profile for colours that no profile comes with; `gray` asks for one with a curve alone.
pub(super) fn synthesised(colours: &Colours<'_>, gray: bool) -> Option<Vec<u8>> {
    let (curve, white, primaries) = match *colours {
        Colours::Srgb | Colours::Embedded(_) | Colours::Untold(_) => return None,
        Colours::Coded(primaries, transfer) => return coded_profile(primaries, transfer, gray),
        Colours::Measured(gamma, values) => {
            let curve = ToneReprCurve::Parametric(vec![100_000.0 / gamma as f32]);
            let values = values.unwrap_or(SRGB_CHROMATICITIES);
            let xy = |i: usize| (f64::from(values[i]) / 100_000.0, f64::from(values[i + 1]) / 100_000.0);
            let point = |i: usize| Chromaticity { x: xy(i).0 as f32, y: xy(i).1 as f32 };
            let white = XyY { x: xy(0).0, y: xy(0).1, yb: 1.0 };
            (curve, white, ColorPrimaries { red: point(2), green: point(4), blue: point(6) })
        }
    };
    if gray {
        return gray_profile(curve);
    }
    let mut profile = ColorProfile::new_srgb();
    profile.update_rgb_colorimetry(white, primaries);
    encode(profile, curve)
}

fn coded_profile(primaries: u8, transfer: u8, gray: bool) -> Option<Vec<u8>> {
    let cicp = CicpProfile {
        color_primaries: CicpColorPrimaries::try_from(primaries).ok()?,
        transfer_characteristics: TransferCharacteristics::try_from(transfer).ok()?,
        matrix_coefficients: MatrixCoefficients::Identity,
        full_range: true,
    };
    let profile = ColorProfile::new_from_cicp(cicp);
    let curve = match transfer {
        // What screens do with the signal of television (ITU-R BT.1886), as browsers show it.
        1 | 6 | 14 | 15 => ToneReprCurve::Parametric(vec![2.4]),
        16 => sampled(high_range::of_pq),
        18 => sampled(high_range::of_hlg),
        _ => profile.red_trc.clone()?,
    };
    if gray {
        return (transfer != 13).then(|| gray_profile(curve)).flatten();
    }
    encode(profile, curve)
}

fn sampled(curve: fn(f64) -> f64) -> ToneReprCurve {
    let light = |step: u16| curve(f64::from(step) / f64::from(SAMPLES - 1));
    ToneReprCurve::Lut((0..SAMPLES).map(|step| (light(step) * 65_535.0 + 0.5) as u16).collect())
}

fn gray_profile(curve: ToneReprCurve) -> Option<Vec<u8>> {
    let mut profile = ColorProfile::new_gray_with_gamma(1.0);
    profile.gray_trc = Some(curve);
    icc_of(&profile).ok()
}

fn encode(mut profile: ColorProfile, curve: ToneReprCurve) -> Option<Vec<u8>> {
    profile.cicp = None;
    profile.description = None;
    profile.red_trc = Some(curve.clone());
    profile.green_trc = Some(curve.clone());
    profile.blue_trc = Some(curve);
    icc_of(&profile).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::png::{chunks, fixtures::file_with},
        picture::{Channels, srgb_profile},
    };

    fn read(before: &[(&[u8; 4], &[u8])]) -> Option<Vec<u8>> {
        let file = file_with(before, &[]);
        synthesised(&colours(&Parts::of(&file).unwrap()), false)
    }

    const P3: [u32; 8] = [31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000];

    fn bytes(values: [u32; 8]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_be_bytes()).collect()
    }

    #[test]
    fn what_is_nearly_srgb_says_nothing() {
        let gamma = 45_455u32.to_be_bytes();
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[(b"gAMA", &gamma)]), None);
        assert_eq!(read(&[(b"gAMA", &gamma), (b"cHRM", &bytes(SRGB_CHROMATICITIES))]), None);
        assert_eq!(read(&[(b"cICP", &[1, 13, 0, 1])]), None);
        assert_eq!(read(&[(b"sRGB", &[0]), (b"gAMA", &100_000u32.to_be_bytes())]), None);
    }

    #[test]
    fn impossible_values_and_primaries_without_a_gamma_say_nothing() {
        assert_eq!(read(&[(b"gAMA", &[0; 4])]), None);
        assert_eq!(read(&[(b"gAMA", &[0; 3])]), None);
        let gamma: (&[u8; 4], &[u8]) = (b"gAMA", &45_455u32.to_be_bytes());
        assert_eq!(read(&[gamma, (b"cHRM", &[0; 32])]), None);
        assert_eq!(read(&[gamma, (b"cHRM", &bytes([33_333; 8]))]), None);
        assert_eq!(read(&[(b"cHRM", &bytes(P3))]), None);
        assert_eq!(read(&[(b"cICP", &[12, 13, 0, 0])]), None);
    }

    #[test]
    fn other_gammas_and_primaries_become_a_profile_that_says_the_same() {
        let icc = read(&[(b"gAMA", &100_000u32.to_be_bytes()), (b"cHRM", &bytes(P3))]).unwrap();
        let profile = ColorProfile::new_from_slice(&icc).unwrap();
        let expected = ColorProfile::new_display_p3();
        assert!((profile.red_colorant.x - expected.red_colorant.x).abs() < 0.002);
        assert!((profile.green_colorant.y - expected.green_colorant.y).abs() < 0.002);
        assert_eq!(profile.red_trc, Some(ToneReprCurve::Parametric(vec![1.0])));
    }

    #[test]
    fn profiles_are_such_as_libpng_takes_and_tell_no_time() {
        let gamma = Colours::Measured(100_000, Some(P3));
        for (colours, gray) in [(&gamma, false), (&gamma, true), (&Colours::Coded(9, 16), false)] {
            let icc = synthesised(colours, gray).unwrap();
            let number = |at: usize| u32::from_be_bytes(*icc[at..].first_chunk().unwrap()) as usize;
            assert_eq!((number(0), icc.len() % 4), (icc.len(), 0));
            assert_eq!((number(68), number(72), number(76)), (0xF6D6, 0x1_0000, 0xD32D));
            assert!((0..number(128)).all(|tag| number(136 + 12 * tag) % 4 == 0));
            assert_eq!(icc[24..36], srgb_profile(Channels::Rgb).unwrap()[24..36]);
            assert!(ColorProfile::new_from_slice(&icc).is_ok());
        }
    }

    #[test]
    fn coded_colours_come_before_everything_else() {
        let p3 = read(&[(b"cICP", &[12, 13, 0, 1]), (b"sRGB", &[0])]).unwrap();
        let profile = ColorProfile::new_from_slice(&p3).unwrap();
        assert!((profile.red_colorant.x - ColorProfile::new_display_p3().red_colorant.x).abs() < 0.002);
        assert_eq!(read(&[(b"cICP", &[1, 13, 0, 1]), (b"gAMA", &100_000u32.to_be_bytes())]), None);
    }

    #[test]
    fn gray_pictures_get_a_profile_of_a_curve_alone() {
        let icc = synthesised(&Colours::Measured(100_000, None), true).unwrap();
        let profile = ColorProfile::new_from_slice(&icc).unwrap();
        assert_eq!(profile.color_space, moxcms::DataColorSpace::Gray);
    }

    #[test]
    fn what_is_said_without_a_profile_is_told_as_it_stands() {
        let said = |before: &[(&[u8; 4], &[u8])]| said(&Parts::of(&file_with(before, &[])).unwrap());
        let (gamma, p3) = (45_455u32.to_be_bytes(), bytes(P3));
        let measured: [(&[u8; 4], &[u8]); 2] = [(b"gAMA", &gamma), (b"cHRM", &p3)];
        let profile: (&[u8; 4], &[u8]) = (b"iCCP", b"p\0\0not deflate");
        assert_eq!(said(&measured), Some(ColourChunks::Measured(45_455, Some(P3))));
        assert_eq!(said(&[(b"cICP", &[9, 16, 0, 1]), profile]), Some(ColourChunks::Coded([9, 16, 0, 1])));
        assert_eq!(said(&[(b"cICP", &[9, 1, 0, 0]), profile]), Some(ColourChunks::Coded([9, 1, 0, 0])));
        assert_eq!(said(&[(b"cICP", &[1, 13, 0, 1]), measured[0], measured[1]]), None);
        assert_eq!((said(&[profile, measured[0]]), said(&measured[..1]), said(&[])), (None, None, None));
    }

    #[test]
    fn a_chunk_with_a_wrong_checksum_says_nothing() {
        let mut file = file_with(&[(b"gAMA", &100_000u32.to_be_bytes())], &[]);
        let at = file.windows(4).position(|window| window == b"gAMA").unwrap();
        file[at + 8] ^= 1;
        assert_eq!(colours(&Parts::of(&file).unwrap()), Colours::Srgb);
        chunks::Chunks::of(&file).unwrap().for_each(|chunk| assert!(chunk.is_ok()));
    }
}
