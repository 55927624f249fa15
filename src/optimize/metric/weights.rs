//! How the norms of all maps become one score.
//!
//! The 108 weights, the polynomial and the power are those of SSIMULACRA 2.1 (J. Sneyers, Cloudinary;
//! <https://github.com/cloudinary/ssimulacra2>, `src/ssimulacra2.cc`, BSD 3-clause).

use crate::picture::power::power;

/// Colour channels: X (red against green), Y (brightness), B (blue against yellow).
pub(super) const CHANNELS: usize = 3;

/// Maps that are pooled a channel and scale: dissimilarity of structure, new artefacts, lost detail.
pub(super) const MAPS: usize = 3;

/// Scales that a picture of 127 pixels or more has.
pub(super) const SCALES: usize = 6;

/// Weights below this are taken as none: they are 1/300 of the least of the others, and a scale's whole channel
/// need not be computed when nothing else is left of it (the "fast" mode of Kanetaka et al., IWAIT 2026,
/// doi:10.1117/12.3100969, with a larger bound). 33 of 108 weights fall, scores move by less than 0.01.
const NEGLIGIBLE: f64 = 0.003;

/// Norms of one map: the mean, and the fourth root of the mean fourth power.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Norms {
    pub(super) mean: f64,
    pub(super) fourth: f64,
}

/// Norms of the maps of one channel at one scale.
pub(super) type Pooled = [Norms; MAPS];

/// The position of a weight pair in [`WEIGHTS`]. Pictures with fewer than six scales use the table's front without
/// gaps, as the original does, so that a weight's meaning depends on the number of scales.
fn position(channel: usize, scale: usize, scales: usize, map: usize) -> usize {
    (channel * scales + scale) * 2 * MAPS + map
}

/// The weights of a map's mean and fourth norm; negligible ones are 0.
fn weights(channel: usize, scale: usize, scales: usize, map: usize) -> (f64, f64) {
    let at = position(channel, scale, scales, map);
    let kept = |weight: f64| if weight < NEGLIGIBLE { 0.0 } else { weight };
    (kept(WEIGHTS[at]), kept(WEIGHTS[at + MAPS]))
}

/// Which maps of a channel count at a scale of a picture that has `scales` of them.
pub(super) fn wanted(channel: usize, scale: usize, scales: usize) -> [bool; MAPS] {
    let counts = |scales, map| weights(channel, scale, scales, map) != (0.0, 0.0);
    std::array::from_fn(|map| counts(scales, map) || share(scales).is_some() && counts(SCALES, map))
}

/// The score from the norms of every scale and channel: 100 for none, without a lower bound.
///
/// Of four and five scales, as of pictures from 29 to 126 pixels, the original gives brightness weights that belong to the hue of
/// coarser scales, and sees hardly anything where all is gray. There weights in their places count too, and the lower score.
pub(super) fn score(scales: &[[Pooled; CHANNELS]]) -> f64 {
    let usual = original(scales);
    share(scales.len()).map_or(usual, |share| usual.min(bent(sum(scales, SCALES) / share)))
}

/// The original's score.
pub(super) fn original(scales: &[[Pooled; CHANNELS]]) -> f64 {
    bent(sum(scales, scales.len()))
}

/// Weighted as in a picture of `count` scales.
fn sum(scales: &[[Pooled; CHANNELS]], count: usize) -> f64 {
    let mut sum = 0.0;
    for channel in 0..CHANNELS {
        for (scale, pooled) in scales.iter().enumerate() {
            for (map, norms) in pooled[channel].iter().enumerate() {
                let (mean, fourth) = weights(channel, scale, count, map);
                sum += mean * norms.mean + fourth * norms.fourth;
            }
        }
    }
    sum
}

fn bent(sum: f64) -> f64 {
    let sum = sum * 0.956_238_261_683_484_4;
    let bent = sum * (2.326_765_642_916_932 + sum * (6.248_496_625_763_138e-5 * sum - 0.020_884_521_182_843_837));
    if bent > 0.0 { 100.0 - 10.0 * power(bent, 0.627_633_646_783_138_7) } else { 100.0 }
}

/// What parts of gray photographs, of 48 and of 96 pixels, have of the sum of parts of 128, each scale by its own weights: in the
/// median of fourteen by JPEG of quality 40 and 75 and in twelve levels. `None` where that does not count.
fn share(scales: usize) -> Option<f64> {
    match scales {
        4 => Some(0.71),
        5 => Some(0.88),
        _ => None,
    }
}

/// By channel, then scale, then norm (mean, fourth), then map.
#[rustfmt::skip]
const WEIGHTS: [f64; CHANNELS * SCALES * 2 * MAPS] = [
    0.0, 0.000_737_660_670_740_658_6, 0.0,  // X, scale 0
    0.0, 0.000_779_348_168_286_730_9, 0.0,
    0.0, 0.000_437_115_573_010_737_9, 0.0,  // X, scale 1
    1.104_172_642_665_734_6, 0.000_662_848_341_292_71, 0.000_152_316_327_837_187_52,
    0.0, 0.001_640_643_745_659_975_4, 0.0,  // X, scale 2
    1.842_245_552_053_929_8, 11.441_172_603_757_666, 0.0,
    0.000_798_910_943_601_516_3, 0.000_176_816_438_078_653, 0.0,  // X, scale 3
    1.878_759_497_954_638_7, 10.949_069_906_051_42, 0.0,
    0.000_728_934_699_150_807_2, 0.967_793_708_062_683_3, 0.0,  // X, scale 4
    0.000_140_034_242_854_358_84, 0.998_176_697_785_496_7, 0.000_319_497_559_344_350_53,
    0.000_455_099_211_379_206_3, 0.0, 0.0,  // X, scale 5
    0.001_364_876_616_324_339_8, 0.0, 0.0,
    0.0, 0.0, 0.0,  // Y, scale 0
    7.466_890_328_078_848, 0.0, 17.445_833_984_131_262,
    0.000_623_560_163_404_146_6, 0.0, 0.0,  // Y, scale 1
    6.683_678_146_179_332, 0.000_377_244_079_796_112_96, 1.027_889_937_768_264,
    225.205_153_008_492_74, 0.0, 0.0,  // Y, scale 2
    19.213_238_186_143_016, 0.001_140_152_458_661_836_1, 0.001_237_755_635_509_985,
    176.393_175_984_506_94, 0.0, 0.0,  // Y, scale 3
    24.433_009_998_704_76, 0.285_208_026_121_177_57, 0.000_448_543_692_383_340_8,
    0.0, 0.0, 0.0,  // Y, scale 4
    34.779_063_444_837_72, 44.835_625_328_877_896, 0.0,
    0.0, 0.0, 0.0,  // Y, scale 5
    0.0, 0.0, 0.0,
    0.0, 0.000_868_055_657_329_169_8, 0.0,  // B, scale 0
    0.0, 0.0, 0.0,
    0.0, 0.000_531_319_187_435_874_7, 0.0,  // B, scale 1
    0.000_165_338_141_613_791_12, 0.0, 0.0,
    0.0, 0.0, 0.0,  // B, scale 2
    0.000_417_917_180_325_133_6, 0.001_729_082_823_472_283_3, 0.0,
    0.002_082_700_584_663_643_7, 0.0, 0.0,  // B, scale 3
    8.826_982_764_996_862, 23.192_433_439_989_26, 0.0,
    95.108_049_881_108_6, 0.986_397_803_440_068_2, 0.983_438_279_246_535_3,  // B, scale 4
    0.001_228_640_504_827_849_3, 171.266_725_589_730_7, 0.980_785_887_243_537_9,
    0.0, 0.0, 0.0,  // B, scale 5
    0.000_513_006_458_899_067_9, 0.0, 0.000_108_540_578_584_115_37,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_difference_scores_exactly_one_hundred() {
        assert_eq!(score(&[[Pooled::default(); CHANNELS]; 6]), 100.0);
    }

    #[test]
    fn the_score_falls_as_any_wanted_norm_grows() {
        for scales in 2..=6 {
            for (channel, scale, map) in (0..CHANNELS * scales * MAPS)
                .map(|index| (index / MAPS / scales, index / MAPS % scales, index % MAPS))
                .filter(|&(channel, scale, map)| wanted(channel, scale, scales)[map])
            {
                let mut norms = vec![[Pooled::default(); CHANNELS]; scales];
                norms[scale][channel][map] = Norms { mean: 0.01, fourth: 0.01 };
                assert!(score(&norms) < 100.0, "channel {channel} scale {scale} map {map}");
            }
        }
    }

    #[test]
    fn only_brightness_counts_at_the_finest_of_six_scales() {
        assert_eq!(wanted(0, 0, 6), [false; 3]);
        assert_eq!(wanted(1, 0, 6), [true, false, true]);
        assert_eq!(wanted(2, 0, 6), [false; 3]);
    }

    #[test]
    fn nothing_counts_at_the_coarsest_of_six_scales() {
        assert!((0..CHANNELS).all(|channel| wanted(channel, 5, 6) == [false; 3]));
    }
}
