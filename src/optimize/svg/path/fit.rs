//! One cubic for several segments: least squares with given end tangents and parameters improved by Newton's method (P. J. Schneider, "An
//! Algorithm for Automatically Fitting Digitized Curves", Graphics Gems, 1990).

use super::Point;
use super::curve::point;

/// Rounds of improving parameters.
const ROUNDS: usize = 10;

/// An error this many times the tolerance in the first round does not come down to it.
const HOPELESS: f64 = 20.0;

/// A round that leaves this much of the square of the error is not worth another.
const STUCK: f64 = 0.9;

/// Part of the tolerance that points may use; what lies between them gets the rest.
const POINTS: f64 = 0.95;

/// A cubic from the first of `points` to the last that passes each within `tolerance`, in their order; it leaves along `leave` and arrives
/// from `arrive` (unit vectors, both into the curve). `course` has a first guess of each point's parameter, from 0 to any length.
pub(super) fn fit(points: &[Point], course: &[f64], leave: Point, arrive: Point, tolerance: f64) -> Option<[Point; 4]> {
    let length = course.last().copied().filter(|length| *length > 0.0)?;
    let mut shares: Vec<f64> = course.iter().map(|share| share / length).collect();
    let limit = POINTS * POINTS * tolerance * tolerance;
    let mut before = f64::INFINITY;
    for _ in 0..ROUNDS {
        let cubic = squares(points, &shares, leave, arrive)?;
        let errors = points.iter().zip(&shares).map(|(at, share)| {
            let off = point(&cubic, *share) - *at;
            off.dot(off)
        });
        let worst = errors.fold(0.0, f64::max);
        if worst <= limit {
            return Some(cubic);
        }
        if worst > limit * HOPELESS * HOPELESS || worst > before * STUCK {
            return None;
        }
        before = worst;
        improve(points, &mut shares, &cubic)?;
    }
    None
}

fn squares(points: &[Point], shares: &[f64], leave: Point, arrive: Point) -> Option<[Point; 4]> {
    let (first, last) = (*points.first()?, *points.last()?);
    let (mut c00, mut c01, mut c11, mut x0, mut x1) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (at, &u) in points.iter().zip(shares) {
        let v = 1.0 - u;
        let (b0, b1, b2, b3) = (v * v * v, 3.0 * v * v * u, 3.0 * v * u * u, u * u * u);
        let (a0, a1) = (leave * b1, arrive * b2);
        let rest = *at - first * (b0 + b1) - last * (b2 + b3);
        c00 += a0.dot(a0);
        c01 += a0.dot(a1);
        c11 += a1.dot(a1);
        x0 += a0.dot(rest);
        x1 += a1.dot(rest);
    }
    let det = c00 * c11 - c01 * c01;
    if det <= 1e-12 * c00 * c11 {
        return None;
    }
    let (alpha, beta) = ((x0 * c11 - x1 * c01) / det, (x1 * c00 - x0 * c01) / det);
    let least = 1e-3 * (last - first).length();
    (alpha > least && beta > least).then(|| [first, first + leave * alpha, last + arrive * beta, last])
}

/// Moves each parameter towards the nearest point of the curve; `None` where their order is lost.
fn improve(points: &[Point], shares: &mut [f64], cubic: &[Point; 4]) -> Option<()> {
    let [p0, p1, p2, p3] = *cubic;
    let d = [(p1 - p0) * 3.0, (p2 - p1) * 3.0, (p3 - p2) * 3.0];
    let dd = [(d[1] - d[0]) * 2.0, (d[2] - d[1]) * 2.0];
    let mut before = 0.0;
    let inner = points.len().saturating_sub(1);
    for (at, share) in points[..inner].iter().zip(shares.iter_mut()).skip(1) {
        let u = *share;
        let v = 1.0 - u;
        let off = point(cubic, u) - *at;
        let first = d[0] * (v * v) + d[1] * (2.0 * u * v) + d[2] * (u * u);
        let second = dd[0] * v + dd[1] * u;
        let slope = first.dot(first) + off.dot(second);
        if slope > 0.0 {
            *share = u - off.dot(first) / slope;
        }
        if !(*share >= before && *share <= 1.0) {
            return None;
        }
        before = *share;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVE: [Point; 4] = [Point::new(0.0, 0.0), Point::new(3.0, 8.0), Point::new(9.0, 7.0), Point::new(12.0, 1.0)];

    #[test]
    fn the_parts_of_a_split_curve_are_found_to_be_one() {
        let (before, after) = split(CURVE, 0.4);
        let part = |cubic: [Point; 4]| (0..8).map(move |step| point(&cubic, f64::from(step) / 8.0));
        let points: Vec<Point> = part(before).chain(part(after)).chain([CURVE[3]]).collect();
        let course: Vec<f64> = (0..8)
            .map(|step| f64::from(step) * 0.05)
            .chain((0..=8).map(|step| 0.4 + f64::from(step) * 0.075))
            .collect();
        let leave = (CURVE[1] - CURVE[0]) * (1.0 / (CURVE[1] - CURVE[0]).length());
        let arrive = (CURVE[2] - CURVE[3]) * (1.0 / (CURVE[2] - CURVE[3]).length());
        let cubic = fit(&points, &course, leave, arrive, 0.02).expect("one curve");
        for (found, true_point) in cubic.iter().zip(CURVE) {
            assert!((*found - true_point).length() < 0.5);
        }
        for step in 0..=100 {
            let at = point(&CURVE, f64::from(step) / 100.0);
            let nearest =
                (0..=2000).map(|u| (point(&cubic, f64::from(u) / 2000.0) - at).length()).fold(f64::MAX, f64::min);
            assert!(nearest < 0.02);
        }
    }

    #[test]
    fn a_corner_is_no_curve() {
        let points: Vec<Point> = (0..=20i32).map(|x| Point::new(f64::from(x), f64::from((x - 10).abs()))).collect();
        let slope = 0.5f64.sqrt();
        let course: Vec<f64> = (0..=20).map(f64::from).collect();
        assert_eq!(fit(&points, &course, Point::new(slope, -slope), Point::new(-slope, -slope), 0.1), None);
    }

    /// A cubic's parts before and after `u`.
    fn split([p0, p1, p2, p3]: [Point; 4], u: f64) -> ([Point; 4], [Point; 4]) {
        let (a, b, c) = (p0.lerp(p1, u), p1.lerp(p2, u), p2.lerp(p3, u));
        let (d, e) = (a.lerp(b, u), b.lerp(c, u));
        let middle = d.lerp(e, u);
        ([p0, a, d, middle], [middle, e, c, p3])
    }
}
