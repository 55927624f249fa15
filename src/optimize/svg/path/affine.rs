//! Paths under affine maps.

use super::ellipse::{angle, direction};
use super::{Arc, Path, Point, Segment};

pub(super) fn transform(path: &Path, matrix: [f64; 6]) -> Option<Path> {
    let [a, b, c, d, e, f] = matrix;
    let map = |p: Point| Point::new(a * p.x + c * p.y + e, b * p.x + d * p.y + f);
    let mut segments = Vec::with_capacity(path.segments.len());
    let mut fine = true;
    for segment in &path.segments {
        segments.push(match *segment {
            Segment::Move(to) => Segment::Move(map(to)),
            Segment::Line(to) => Segment::Line(map(to)),
            Segment::Quad(control, to) => Segment::Quad(map(control), map(to)),
            Segment::Cubic(c1, c2, to) => Segment::Cubic(map(c1), map(c2), map(to)),
            Segment::Arc(arc) => Segment::Arc(Arc { to: map(arc.to), ..turned(&arc, [a, b, c, d])? }),
            Segment::Close => Segment::Close,
        });
        fine &= segments.last().and_then(Segment::end).is_none_or(|end| end.x.is_finite() && end.y.is_finite());
    }
    fine.then_some(Path { segments })
}

/// An arc's ellipse under a linear map: its radii are the singular values of the map after the ellipse's own.
fn turned(arc: &Arc, [a, b, c, d]: [f64; 4]) -> Option<Arc> {
    let axis = direction(arc.rotation);
    let linear = |v: Point| Point::new(a * v.x + c * v.y, b * v.x + d * v.y);
    let (p, q) = (linear(axis * arc.rx), linear(Point::new(-axis.y, axis.x) * arc.ry));
    // The image of the unit circle is cos·p + sin·q; [xx xy; xy yy] is its matrix times its transpose.
    let (xx, xy, yy) = (p.x * p.x + q.x * q.x, p.x * p.y + q.x * q.y, p.y * p.y + q.y * q.y);
    let (mean, half) = ((xx + yy) * 0.5, (xx - yy) * 0.5);
    let spread = (half * half + xy * xy).sqrt();
    let round = spread <= mean * 1e-12;
    let rx = if round { mean.sqrt() } else { (mean + spread).sqrt() };
    let ry = if round { rx } else { p.cross(q).abs() / rx };
    // The longer axis is the eigenvector of the larger value, taken from the row that does not cancel.
    let long = if half >= 0.0 { Point::new(half + spread, xy) } else { Point::new(xy, spread - half) };
    let rotation = if round { 0.0 } else { angle(long) };
    let sweep = arc.sweep != (a * d - b * c < 0.0);
    (rx.is_finite() && ry > 0.0 && ry.is_finite()).then_some(Arc { rx, ry, rotation, sweep, ..*arc })
}

#[cfg(test)]
mod tests {
    use super::super::ellipse::Ellipse;
    use super::*;

    #[test]
    fn arcs_go_where_their_points_go() {
        let from = Point::new(1.0, 2.0);
        for matrix in [
            [2.0, 0.0, 0.0, 2.0, 5.0, 6.0],
            [1.0, 0.5, -0.3, 2.0, 0.0, 1.0],
            [-1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
            [0.0, 3.0, 1.0, 0.0, 9.0, 9.0],
        ] {
            for (rx, ry, rotation) in [(4.0, 4.0, 0.0), (4.0, 2.5, 30.0), (2.5, 4.0, -75.0)] {
                for (large, sweep) in [(false, false), (false, true), (true, false), (true, true)] {
                    let arc = Arc { rx, ry, rotation, large, sweep, to: Point::new(4.0, 3.0) };
                    let moved = turned(&arc, [matrix[0], matrix[1], matrix[2], matrix[3]]).expect("an arc");
                    let path = Path { segments: vec![Segment::Move(from), Segment::Arc(arc)] };
                    let image = transform(&path, matrix).expect("a path");
                    let (Segment::Move(start), Segment::Arc(end)) = (image.segments[0], image.segments[1]) else {
                        panic!("an arc")
                    };
                    assert_eq!(moved.rx, end.rx);
                    let after = Ellipse::new(start, &end).expect("an arc");
                    for sample in Ellipse::new(from, &arc).expect("an arc").samples() {
                        let [a, b, c, d, e, f] = matrix;
                        let expected = Point::new(a * sample.x + c * sample.y + e, b * sample.x + d * sample.y + f);
                        assert!(after.stray(expected, 1e-9) < 1.0, "{arc:?} under {matrix:?}");
                    }
                    let half = after.samples()[4];
                    let [a, b, c, d, e, f] = matrix;
                    let middle = Ellipse::new(from, &arc).expect("an arc").samples()[4];
                    let expected = Point::new(a * middle.x + c * middle.y + e, b * middle.x + d * middle.y + f);
                    assert!((half - expected).length() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn collapsed_arcs_and_numbers_past_range_are_refused() {
        let path = Path::parse("M0 0A5 5 0 0 1 3 3").expect("a path");
        assert_eq!(path.transform([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]), None);
        assert_eq!(path.transform([1e308, 0.0, 0.0, 1e308, 0.0, 0.0]), None);
    }
}
