//! Oklab, Björn Ottosson's space of colours (<https://bottosson.github.io/posts/oklab/>), where distances are as they are seen.
//! Plain `f32` in a fixed order, so that every machine comes to the same.

use std::sync::LazyLock;

use crate::picture::transfer::decode;

/// Linear light of each 8-bit sRGB value.
pub(super) static LINEAR: LazyLock<[f32; 256]> =
    LazyLock::new(|| std::array::from_fn(|value| decode(value as f64 / 255.0) as f32));

/// Lightness, green-red and blue-yellow of linear light.
pub(super) fn oklab([r, g, b]: [f32; 3]) -> [f32; 3] {
    let l = cube_root(0.412_221_46 * r + 0.536_332_55 * g + 0.051_445_995 * b);
    let m = cube_root(0.211_903_5 * r + 0.680_699_5 * g + 0.107_396_96 * b);
    let s = cube_root(0.088_302_46 * r + 0.281_718_85 * g + 0.629_978_7 * b);
    [
        0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_047 * s,
        1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s,
        0.025_904_037 * l + 0.782_771_77 * m - 0.808_675_77 * s,
    ]
}

/// Linear light of a place in Oklab, maybe outside of what sRGB can show.
#[cfg(any(feature = "gif", feature = "png"))]
pub(super) fn linear([light, a, b]: [f32; 3]) -> [f32; 3] {
    let cube = |x: f32| x * x * x;
    let l = cube(light + 0.396_337_78 * a + 0.215_803_76 * b);
    let m = cube(light - 0.105_561_346 * a - 0.063_854_17 * b);
    let s = cube(light - 0.089_484_18 * a - 1.291_485_5 * b);
    [
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_38 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    ]
}

/// Cube root for non-negative values by Halley's method on an estimate from the exponent.
fn cube_root(x: f32) -> f32 {
    if x <= 1e-12 {
        return 0.0;
    }
    let mut root = f32::from_bits(x.to_bits() / 3 + 0x2A51_19F2);
    for _ in 0..3 {
        let cube = root * root * root;
        root *= (cube + 2.0 * x) / (2.0 * cube + x);
    }
    root
}
