//! The curves of high dynamic range, brought into that of a screen.

use crate::picture::power::power;

/// Luminance of diffuse white in cd/m2 (ITU-R BT.2408), and of what is as bright as it gets: where nothing is said
/// of the picture, browsers and televisions take it for this.
const WHITE: f64 = 203.0;
const PEAK: f64 = 1000.0;
/// Of the screen's light what diffuse white gets, the rest is for highlights.
const WHITE_SHOWN: f64 = 0.5;
/// How near to the corner the curve of highlights comes.
const BEND: f64 = 0.65;

/// The light that a screen shows for PQ (SMPTE ST 2084), of full scale 1 both.
pub(super) fn of_pq(code: f64) -> f64 {
    const M1: f64 = 2610.0 / 16384.0;
    const M2: f64 = 2523.0 / 32.0;
    const C: [f64; 3] = [3424.0 / 4096.0, 2413.0 / 128.0, 2392.0 / 128.0];
    let root = if code > 0.0 { power(code, 1.0 / M2) } else { 0.0 };
    let ratio = (root - C[0]) / (C[1] - C[2] * root);
    shown(if ratio > 0.0 { 10_000.0 * power(ratio, 1.0 / M1) } else { 0.0 })
}

/// The light that a screen shows for HLG (ARIB STD-B67, ITU-R BT.2100), of full scale 1 both. The system's gamma, 1.2 for
/// such a peak, is raised channel by channel.
pub(super) fn of_hlg(code: f64) -> f64 {
    const A: f64 = 0.178_832_77;
    const B: f64 = 0.284_668_92;
    const C: f64 = 0.559_910_73;
    let scene = match code <= 0.5 {
        true => code * code / 3.0,
        false => (power(std::f64::consts::E, (code - C) / A) + B) / 12.0,
    };
    shown(if scene > 0.0 { PEAK * power(scene, 1.2) } else { 0.0 })
}

/// Reference white tone mapping as Chromium does it (SMPTE ST 2094-50): straight up to diffuse white, then a quadratic Bezier
/// curve to the peak, whose middle point is [`BEND`] of the way to where the straight line would leave the screen.
fn shown(luminance: f64) -> f64 {
    let (light, most) = (luminance / WHITE, PEAK / WHITE);
    if light <= 1.0 {
        return light * WHITE_SHOWN;
    }
    let (x, y) = (1.0 + BEND * (1.0 / WHITE_SHOWN - 1.0), WHITE_SHOWN + BEND * (1.0 - WHITE_SHOWN));
    let (square, linear) = (1.0 - 2.0 * x + most, x - 1.0);
    let t = ((linear * linear + square * (light.min(most) - 1.0)).sqrt() - linear) / square;
    WHITE_SHOWN * (1.0 - t) * (1.0 - t) + 2.0 * y * t * (1.0 - t) + t * t
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::transfer::encode;

    #[test]
    fn grays_are_shown_within_two_levels_of_what_chromium_shows() {
        let pq = [(0, 0), (48, 15), (96, 70), (132, 142), (156, 206), (168, 226), (180, 242), (192, 255), (255, 255)];
        let hlg = [(0, 0), (48, 29), (96, 71), (144, 115), (204, 207), (216, 220), (240, 243), (252, 253)];
        let off = |curve: fn(f64) -> f64, (code, shown): &(u8, i32)| {
            ((encode(curve(f64::from(*code) / 255.0)) * 255.0) as i32 - shown).abs()
        };
        assert!(pq.iter().all(|pair| off(of_pq, pair) <= 2), "{:?}", pq.map(|pair| off(of_pq, &pair)));
        assert!(hlg.iter().all(|pair| off(of_hlg, pair) <= 2), "{:?}", hlg.map(|pair| off(of_hlg, &pair)));
    }
}
