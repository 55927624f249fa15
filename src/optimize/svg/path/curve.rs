//! Bézier curves: how far one strays from another, and where they lie.

use super::{Path, Point, Segment, arcs};

/// Whether two cubics whose control points differ by `errors` on one axis differ nowhere by more than `tolerance` at equal parameters.
///
/// The difference is itself a cubic of Bernstein coefficients `errors`: it is bounded by the largest, or else by its extremes.
pub(super) fn within(errors: [f64; 4], tolerance: f64) -> bool {
    let [e0, e1, e2, e3] = errors;
    let tolerance = tolerance * (1.0 + 1e-9);
    if e0.abs() > tolerance || e3.abs() > tolerance {
        return false;
    }
    if e1.abs() <= tolerance && e2.abs() <= tolerance {
        return true;
    }
    // Half a handle's error shows at most: 4/9 of one alone, and opposite ones less.
    if e1.abs() > 5.0 * tolerance || e2.abs() > 5.0 * tolerance {
        return false;
    }
    // Mostly the middle tells, or the coefficients of the two halves do.
    let middle = (e0 + 3.0 * (e1 + e2) + e3) / 8.0;
    if middle.abs() > tolerance {
        return false;
    }
    let halves = [(e0 + e1) / 2.0, (e0 + 2.0 * e1 + e2) / 4.0, (e1 + 2.0 * e2 + e3) / 4.0, (e2 + e3) / 2.0];
    if halves.iter().all(|coefficient| coefficient.abs() <= tolerance) {
        return true;
    }
    extremes(errors).iter().flatten().all(|u| value(errors, *u).abs() <= tolerance)
}

/// Parameters inside (0, 1) where a cubic of these coefficients turns.
pub(super) fn extremes([e0, e1, e2, e3]: [f64; 4]) -> [Option<f64>; 2] {
    let (a, b, c) = (e3 - e0 + 3.0 * (e1 - e2), 2.0 * (e0 - 2.0 * e1 + e2), e1 - e0);
    let inside = |u: f64| (u > 0.0 && u < 1.0).then_some(u);
    let root = b * b - 4.0 * a * c;
    if root < 0.0 {
        return [None, None];
    }
    // The form without cancellation.
    let q = -0.5 * (b + root.sqrt().copysign(b));
    [if a == 0.0 { None } else { inside(q / a) }, if q == 0.0 { None } else { inside(c / q) }]
}

/// A cubic of these coefficients at `u`.
pub(super) fn value([e0, e1, e2, e3]: [f64; 4], u: f64) -> f64 {
    let v = 1.0 - u;
    v * v * v * e0 + 3.0 * v * v * u * e1 + 3.0 * v * u * u * e2 + u * u * u * e3
}

/// A cubic's point at `u`.
pub(super) fn point(cubic: &[Point; 4], u: f64) -> Point {
    Point::new(value(cubic.map(|p| p.x), u), value(cubic.map(|p| p.y), u))
}

/// Cosine of how far a stroke may turn at an end, by some 25 degrees.
const TURN: f64 = 0.9;

/// Whether a cubic leaves or arrives in another direction than `written`. Caps and joins of strokes show it however short the handle is,
/// and renderers lose pieces of strokes that turn back at their ends. Handles of up to `least` have no direction.
pub(super) fn turns(cubic: &[Point; 4], written: &[Point; 4], least: f64) -> [bool; 2] {
    let leaves = |[from, others @ ..]: [Point; 4]| {
        others.into_iter().map(|other| other - from).find(|handle| handle.reach() > least)
    };
    let turned = |truth: [Point; 4], written: [Point; 4]| {
        leaves(truth).zip(leaves(written)).is_some_and(|(a, b)| a.dot(b) < TURN * a.length() * b.length())
    };
    let back = |[p0, c1, c2, p3]: [Point; 4]| [p3, c2, c1, p0];
    [turned(*cubic, *written), turned(back(*cubic), back(*written))]
}

/// The cubic that is the same curve as a quadratic.
pub(super) fn raised(from: Point, control: Point, to: Point) -> [Point; 4] {
    [from, from.lerp(control, 2.0 / 3.0), to.lerp(control, 2.0 / 3.0), to]
}

pub(super) fn bounds(path: &Path) -> Option<[f64; 4]> {
    let mut bounds: Option<[f64; 4]> = None;
    let mut add = |point: Point| {
        let [x0, y0, x1, y1] = bounds.unwrap_or([point.x, point.y, point.x, point.y]);
        bounds = Some([x0.min(point.x), y0.min(point.y), x1.max(point.x), y1.max(point.y)]);
    };
    for (from, segment) in path.with_starts() {
        match segment {
            Segment::Move(_) | Segment::Close => continue,
            Segment::Line(_) => {}
            Segment::Quad(control, to) => cubic_extremes(&raised(from, control, to), &mut add),
            Segment::Cubic(c1, c2, to) => cubic_extremes(&[from, c1, c2, to], &mut add),
            Segment::Arc(arc) => arcs::cubics(from, &arc).iter().for_each(|cubic| cubic_extremes(cubic, &mut add)),
        }
        add(from);
        add(segment.end().unwrap_or(from));
    }
    bounds
}

fn cubic_extremes(cubic: &[Point; 4], add: &mut impl FnMut(Point)) {
    add(cubic[0]);
    add(cubic[3]);
    for axis in [cubic.map(|p| p.x), cubic.map(|p| p.y)] {
        for u in extremes(axis).iter().flatten() {
            add(point(cubic, *u));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_bounded_by_its_extremes_not_its_coefficients() {
        assert!(within([0.0, 2.2, 0.0, 0.0], 1.0));
        assert!(!within([0.0, 2.3, 0.0, 0.0], 1.0));
        assert!(within([0.0, 3.4, -3.4, 0.0], 1.0));
        assert!(!within([0.0, 1.4, 1.4, 0.0], 1.0));
        assert!(!within([1.1, 0.0, 0.0, 0.0], 1.0));
    }

    #[test]
    fn the_bound_holds_at_every_parameter() {
        let mut seed = 9u64;
        let mut held = 0;
        for _ in 0..5000 {
            let errors = [1.0, 4.0, 4.0, 1.0].map(|size| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((seed >> 33) as f64 / (1u64 << 30) as f64 - 1.0) * size
            });
            let most = (0..=200).map(|step| value(errors, f64::from(step) / 200.0).abs()).fold(0.0, f64::max);
            if within(errors, 1.0) {
                held += 1;
                assert!(most <= 1.0 + 1e-6, "{errors:?} reach {most}");
            } else {
                assert!(most > 0.999, "{errors:?} reach only {most}");
            }
        }
        assert!(held > 500);
    }

    #[test]
    fn bounds_count_curves_not_their_control_points() {
        let path = Path::parse("M0 0C0 4 4 4 4 0M10 0").expect("a path");
        let near = |bounds: Option<[f64; 4]>, expected: [f64; 4]| {
            bounds.is_some_and(|bounds| {
                bounds.iter().zip(expected).all(|(bound, expected)| (bound - expected).abs() < 2e-3)
            })
        };
        assert!(near(path.bounds(), [0.0, 0.0, 4.0, 3.0]));
        let circle = Path::parse("M-5 0A5 5 0 0 1 5 0A5 5 0 0 1-5 0").expect("a circle");
        assert!(near(circle.bounds(), [-5.0, -5.0, 5.0, 5.0]));
        assert_eq!(Path::parse("M1 1").expect("a path").bounds(), None);
    }
}
