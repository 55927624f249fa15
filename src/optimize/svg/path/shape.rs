//! Basic shapes as paths, as SVG 2 defines the equivalent paths.

use super::{Arc, Path, Point, Segment};

impl Path {
    /// A rectangle; `rx`, `ry` round its corners and are clamped to half its sides. Empty without extent.
    pub(crate) fn rect(x: f64, y: f64, width: f64, height: f64, rx: f64, ry: f64) -> Self {
        if !(width > 0.0 && height > 0.0) {
            return Self::default();
        }
        let (rx, ry) = (rx.clamp(0.0, width / 2.0), ry.clamp(0.0, height / 2.0));
        let (right, bottom) = (x + width, y + height);
        let mut segments = Vec::with_capacity(10);
        if rx == 0.0 || ry == 0.0 {
            segments.push(Segment::Move(Point::new(x, y)));
            segments.extend([(right, y), (right, bottom), (x, bottom)].map(|(x, y)| Segment::Line(Point::new(x, y))));
            segments.push(Segment::Close);
            return Self { segments };
        }
        segments.push(Segment::Move(Point::new(x + rx, y)));
        let sides = [
            ((right - rx, y), (right, y + ry)),
            ((right, bottom - ry), (right - rx, bottom)),
            ((x + rx, bottom), (x, bottom - ry)),
            ((x, y + ry), (x + rx, y)),
        ];
        let mut at = (x + rx, y);
        for (line, corner) in sides {
            if line != at {
                segments.push(Segment::Line(Point::new(line.0, line.1)));
            }
            let to = Point::new(corner.0, corner.1);
            segments.push(Segment::Arc(Arc { rx, ry, rotation: 0.0, large: false, sweep: true, to }));
            at = corner;
        }
        segments.push(Segment::Close);
        Self { segments }
    }

    /// A line.
    pub(crate) fn line(x1: f64, y1: f64, x2: f64, y2: f64) -> Self {
        Self { segments: vec![Segment::Move(Point::new(x1, y1)), Segment::Line(Point::new(x2, y2))] }
    }

    /// Lines through `points`, left open. Empty for no point.
    pub(crate) fn polyline(points: &[(f64, f64)]) -> Self {
        let point = |place: usize, &(x, y): &(f64, f64)| {
            if place == 0 { Segment::Move(Point::new(x, y)) } else { Segment::Line(Point::new(x, y)) }
        };
        Self { segments: points.iter().enumerate().map(|(place, pair)| point(place, pair)).collect() }
    }

    /// Lines through `points` and back to the first. Empty for no point.
    pub(crate) fn polygon(points: &[(f64, f64)]) -> Self {
        let mut path = Self::polyline(points);
        if !points.is_empty() {
            path.segments.push(Segment::Close);
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::super::Keep;
    use super::*;

    #[test]
    fn shapes_are_their_equivalent_paths() {
        for (path, text) in [
            (Path::rect(1.0, 2.0, 3.0, 4.0, 0.0, 0.0), "m1 2h3v4H1z"),
            (Path::rect(0.0, 0.0, 10.0, 10.0, 9.0, 1.0), "m5 0a5 1 0 015 1v8a5 1 0 01-5 1A5 1 0 010 9V1a5 1 0 015-1z"),
            (Path::line(1.0, 1.0, 4.0, 1.0), "m1 1h3"),
            (Path::polyline(&[(0.0, 0.0), (1.0, 2.0), (3.0, 1.0)]), "m0 0 1 2 2-1"),
            (Path::polygon(&[(0.0, 0.0), (1.0, 2.0), (3.0, 1.0)]), "m0 0 1 2 2-1z"),
            (Path::rect(0.0, 0.0, 0.0, 3.0, 0.0, 0.0), ""),
        ] {
            assert_eq!(path.written(1e-6, Keep::ALL), text);
        }
    }
}
