//! How far apart two colours are.

use crate::codec::sequence::Pixel;

/// The greatest error of colour, as a squared distance, and of luma, that does not mislead.
const MOST_CHROMA: f32 = 900.0;
const MOST_LUMA: f32 = 48.0;
/// What a colour is off gray, as a squared distance, at most for it to be gray; and the greatest error of that.
const GRAY: f32 = 16.0;
const MOST_TINT: f32 = 144.0;

/// Luma, and two weighted differences of colour from it.
pub(super) type Point = [f32; 3];

pub(super) fn point(colour: Pixel) -> Point {
    let [r, g, b, _] = colour.map(f32::from);
    let y = 0.25 * r + 0.625 * g + 0.125 * b;
    [y, 0.464 * (r - y), 0.34 * (b - y)]
}

/// How far apart two colours are; its unit is the square of a step of luma.
pub(super) fn distance(one: Point, other: Point) -> f32 {
    square([one[0] - other[0], one[1] - other[1], one[2] - other[2]])
}

/// Whether one must not be taken for the other, however few bits it costs: lines of two colours that change places change what a
/// chart says, black letters that turn blue or green look broken, and pixels that are gone or were added make another letter.
pub(super) fn misleads(one: Point, other: Point) -> bool {
    let chroma = |reds: f32, blues: f32| reds * reds + blues * blues;
    let is_gray = chroma(one[1], one[2]).min(chroma(other[1], other[2])) <= GRAY;
    let most = if is_gray { MOST_TINT } else { MOST_CHROMA };
    (one[0] - other[0]).abs() > MOST_LUMA || chroma(one[1] - other[1], one[2] - other[2]) > most
}

/// How far one is from the other that it is shown in place of; infinite where it must not be.
pub(super) fn error(shown: Point, wanted: Point) -> f32 {
    if misleads(shown, wanted) { f32::INFINITY } else { distance(shown, wanted) }
}

pub(super) fn square(p: Point) -> f32 {
    p[0] * p[0] + p[1] * p[1] + p[2] * p[2]
}

pub(super) fn add(p: Point, q: Point, share: f32) -> Point {
    [p[0] + q[0] * share, p[1] + q[1] * share, p[2] + q[2] * share]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_of_gray_is_one_and_colour_counts_less() {
        let far = |one: [u8; 3], other: [u8; 3]| {
            let [one, other] = [one, other].map(|[r, g, b]| point([r, g, b, u8::MAX]));
            (distance(one, other), misleads(one, other))
        };
        assert_eq!(far([100; 3], [101; 3]), (1.0, false));
        assert_eq!([148, 149].map(|gray| far([100; 3], [gray; 3]).1), [false, true]);
        let blue = far([100; 3], [100, 100, 110]);
        assert!(far([0; 3], [30, 30, 110]).1 && !far([0; 3], [20, 20, 40]).1, "ink that turns blue");
        assert!(!far([0, 0, 80], [30, 30, 110]).1);
        assert!(blue.0 < 20.0 && !blue.1 && far([90, 90, 0], [90, 90, 255]).1, "{blue:?}");
    }
}
