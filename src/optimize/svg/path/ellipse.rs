//! Elliptical arcs by centre and unit vectors, without trigonometric functions of the platform.

use super::{Arc, Point};

/// The ellipse that an arc is part of, and the part: from `start` to `end`, on the unit circle before it is stretched, turned and moved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ellipse {
    pub(super) center: Point,
    pub(super) rx: f64,
    pub(super) ry: f64,
    /// (cos, sin) of the rotation.
    pub(super) axis: Point,
    start: Point,
    end: Point,
    large: bool,
    sweep: bool,
}

impl Ellipse {
    /// The arc drawn from `from`, as SVG's implementation notes say (radii that are too small grow); `None` for one without extent.
    pub(super) fn new(from: Point, arc: &Arc) -> Option<Self> {
        let (mut rx, mut ry) = (arc.rx, arc.ry);
        let axis = direction(arc.rotation);
        let half = unturn((from - arc.to) * 0.5, axis);
        let mut a = Point::new(half.x / rx, half.y / ry);
        let square = a.dot(a);
        if !(square > 0.0 && square.is_finite()) {
            return None;
        }
        let mut middle = Point::ZERO;
        if square >= 1.0 {
            let grown = square.sqrt();
            (rx, ry, a) = (rx * grown, ry * grown, a * (1.0 / grown));
        } else {
            let side = ((1.0 - square) / square).sqrt();
            middle = Point::new(a.y, -a.x) * if arc.large == arc.sweep { -side } else { side };
        }
        let offset = turn(Point::new(middle.x * rx, middle.y * ry), axis);
        let center = from.lerp(arc.to, 0.5) + offset;
        // As seen from the centre the chord's middle is at -`middle`, and the ends are at ±a from there.
        let (start, end) = (a - middle, Point::ZERO - a - middle);
        Some(Self { center, rx, ry, axis, start, end, large: arc.large, sweep: arc.sweep })
    }

    /// How much larger the ellipse has to be drawn for an arc between other ends to keep the centre. For ends about opposite each other also
    /// whether the way on in the direction of positive angles is the shorter one.
    pub(super) fn between(&self, from: Point, to: Point) -> (f64, Option<bool>) {
        let unit = |point: Point| {
            let local = unturn(point - self.center, self.axis);
            Point::new(local.x / self.rx, local.y / self.ry)
        };
        let (a, b) = (unit(from), unit(to));
        let chord = b - a;
        let square = chord.dot(chord);
        // The chord's distance from the centre, and half its length.
        let height = if square > 0.0 { a.cross(b) * a.cross(b) / square } else { 1.0 };
        ((height + square * 0.25).sqrt(), (a.dot(b) < 0.0).then(|| a.cross(b) > 0.0))
    }

    fn place(&self, unit: Point) -> Point {
        self.center + turn(Point::new(unit.x * self.rx, unit.y * self.ry), self.axis)
    }

    /// How far outside the ellipse `point` lies along its normal, in shares of a per-axis tolerance of `tolerance`: within where at most 1.
    pub(super) fn stray(&self, point: Point, tolerance: f64) -> f64 {
        let local = unturn(point - self.center, self.axis);
        let unit = Point::new(local.x / self.rx, local.y / self.ry);
        let length = unit.length();
        let normal = turn(Point::new(unit.x / self.rx, unit.y / self.ry), self.axis);
        let steep = normal.x.abs() + normal.y.abs();
        if steep == 0.0 { f64::INFINITY } else { (length - 1.0).abs() * length / (steep * tolerance) }
    }

    /// A whole circle, for asking how far points lie from it.
    pub(super) fn circle(center: Point, radius: f64) -> Self {
        let start = Point::new(1.0, 0.0);
        Self { center, rx: radius, ry: radius, axis: start, start, end: start, large: true, sweep: true }
    }

    /// The point in the middle of the arc.
    pub(super) fn middle(&self) -> Point {
        self.place(self.middle_unit())
    }

    fn middle_unit(&self) -> Point {
        let sum = self.start + self.end;
        let length = sum.length();
        if length > 1e-6 {
            return sum * if self.large { -1.0 / length } else { 1.0 / length };
        }
        let side = Point::new(-self.start.y, self.start.x);
        if self.sweep { side } else { side * -1.0 }
    }

    /// Unit vectors along the arc, evenly, both ends included.
    fn units(&self, halvings: u32) -> Vec<Point> {
        let mut units = vec![self.start, self.middle_unit(), self.end];
        for _ in 1..halvings {
            let mut finer = Vec::with_capacity(units.len() * 2);
            for pair in units.windows(2) {
                let sum = pair[0] + pair[1];
                finer.push(pair[0]);
                finer.push(sum * (1.0 / sum.length()));
            }
            finer.push(self.end);
            units = finer;
        }
        units
    }

    /// Nine points along the arc.
    pub(super) fn samples(&self) -> Vec<Point> {
        self.units(3).iter().map(|unit| self.place(*unit)).collect()
    }

    /// The arc as cubics, each of at most 90 degrees (0.03 % of a radius off).
    pub(super) fn cubics(&self) -> Vec<[Point; 4]> {
        let units = self.units(2);
        let piece = |pair: &[Point]| {
            let (a, b) = (pair[0], pair[1]);
            let (cos, sin) = (a.dot(b), a.cross(b));
            let half = sin / (1.0 + cos);
            let handle = 4.0 / 3.0 * half / (1.0 + (1.0 + half * half).sqrt());
            let (c1, c2) = (a + Point::new(-a.y, a.x) * handle, b - Point::new(-b.y, b.x) * handle);
            [a, c1, c2, b].map(|unit| self.place(unit))
        };
        units.windows(2).map(piece).collect()
    }
}

fn turn(v: Point, axis: Point) -> Point {
    Point::new(v.x * axis.x - v.y * axis.y, v.x * axis.y + v.y * axis.x)
}

fn unturn(v: Point, axis: Point) -> Point {
    Point::new(v.x * axis.x + v.y * axis.y, v.y * axis.x - v.x * axis.y)
}

/// (cos, sin) of an angle in degrees.
pub(in crate::optimize::svg) fn direction(degrees: f64) -> Point {
    let quarters = (degrees / 90.0).round();
    let x = (degrees - quarters * 90.0) * (std::f64::consts::PI / 180.0);
    // Both series to the last bit below 45 degrees.
    let (mut sin, mut cos, mut term) = (0.0, 0.0, 1.0);
    for step in 0..9 {
        cos += term;
        term *= x / f64::from(2 * step + 1);
        sin += term;
        term *= -x / f64::from(2 * step + 2);
    }
    match quarters.rem_euclid(4.0) as u8 {
        0 => Point::new(cos, sin),
        1 => Point::new(-sin, cos),
        2 => Point::new(-cos, -sin),
        _ => Point::new(sin, -cos),
    }
}

/// The angle of a vector in degrees, -180 to 180.
pub(super) fn angle(vector: Point) -> f64 {
    let length = vector.length();
    if length == 0.0 {
        return 0.0;
    }
    let unit = vector * (1.0 / length);
    let mut degrees: f64 = match (unit.x.abs() >= unit.y.abs(), unit.x >= 0.0, unit.y >= 0.0) {
        (true, true, _) => 0.0,
        (true, false, _) => 180.0,
        (false, _, true) => 90.0,
        (false, _, false) => -90.0,
    };
    // Each step cubes the error.
    for _ in 0..6 {
        degrees += direction(degrees).cross(unit) * (180.0 / std::f64::consts::PI);
    }
    if degrees > 180.0 { degrees - 360.0 } else { degrees }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_those_of_the_angle_and_back() {
        for step in -72..=72 {
            let degrees = f64::from(step) * 2.5 + 0.125;
            let unit = direction(degrees);
            let (sin, cos) = degrees.to_radians().sin_cos();
            assert!((unit.x - cos).abs() < 1e-14 && (unit.y - sin).abs() < 1e-14, "{degrees}");
            let back = (angle(unit * 7.0) - degrees).abs();
            assert!(back < 1e-10 || (back - 360.0).abs() < 1e-10, "{degrees} came back {back} off");
        }
    }

    #[test]
    fn arcs_lie_on_their_ellipse_between_their_ends() {
        for (large, sweep) in [(false, false), (false, true), (true, false), (true, true)] {
            let (from, to) = (Point::new(1.0, 2.0), Point::new(5.0, 4.0));
            let arc = Arc { rx: 4.0, ry: 3.0, rotation: 20.0, large, sweep, to };
            let ellipse = Ellipse::new(from, &arc).expect("an arc");
            let samples = ellipse.samples();
            assert!((samples[0] - from).length() < 1e-12 && (samples[8] - to).length() < 1e-12);
            // With a positive sweep (y down) the arc turns clockwise on the screen: the cross product of steps is above 0.
            let turned = (samples[4] - from).cross(to - samples[4]);
            assert_eq!(turned > 0.0, sweep);
            assert_eq!((samples[4] - from).length() > 4.0, large, "{large} {sweep}");
            for cubic in ellipse.cubics() {
                assert!(ellipse.stray(super::super::curve::point(&cubic, 0.3), 4e-3) < 1.0);
            }
        }
    }

    #[test]
    fn radii_that_are_too_small_grow() {
        let arc = Arc { rx: 1.0, ry: 1.0, rotation: 0.0, large: false, sweep: true, to: Point::new(10.0, 0.0) };
        let ellipse = Ellipse::new(Point::ZERO, &arc).expect("an arc");
        assert!((ellipse.rx - 5.0).abs() < 1e-12);
        assert!((ellipse.samples()[4] - Point::new(5.0, -5.0)).length() < 1e-9);
    }
}
