//! Affine transforms, `x' = ax + cy + e`, `y' = bx + dy + f`.

use svgtypes::{TransformListParser, TransformListToken};

use super::path::{Point, direction, number};

/// `[a, b, c, d, e, f]`, as SVG's `matrix()` has them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Matrix(pub [f64; 6]);

impl Matrix {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    /// A `transform` attribute; `None` where it is in error, which browsers take as no transform at all.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut whole = Self::IDENTITY;
        for token in TransformListParser::from(text) {
            whole = whole.then_inside(Self::of(token.ok()?));
        }
        whole.0.iter().all(|number| number.is_finite()).then_some(whole)
    }

    fn of(token: TransformListToken) -> Self {
        match token {
            TransformListToken::Matrix { a, b, c, d, e, f } => Self([a, b, c, d, e, f]),
            TransformListToken::Translate { tx, ty } => Self([1.0, 0.0, 0.0, 1.0, tx, ty]),
            TransformListToken::Scale { sx, sy } => Self([sx, 0.0, 0.0, sy, 0.0, 0.0]),
            TransformListToken::Rotate { angle } => {
                let (sin, cos) = turn(angle);
                Self([cos, sin, -sin, cos, 0.0, 0.0])
            }
            TransformListToken::SkewX { angle } => {
                let (sin, cos) = turn(angle);
                Self([1.0, 0.0, sin / cos, 1.0, 0.0, 0.0])
            }
            TransformListToken::SkewY { angle } => {
                let (sin, cos) = turn(angle);
                Self([1.0, sin / cos, 0.0, 1.0, 0.0, 0.0])
            }
        }
    }

    /// This transform, with another one applied before it.
    pub(super) fn then_inside(self, inner: Self) -> Self {
        let ([a, b, c, d, e, f], [p, q, r, s, x, y]) = (self.0, inner.0);
        Self([a * p + c * q, b * p + d * q, a * r + c * s, b * r + d * s, a * x + c * y + e, b * x + d * y + f])
    }

    pub(super) fn apply(self, x: f64, y: f64) -> (f64, f64) {
        let [a, b, c, d, e, f] = self.0;
        (a * x + c * y + e, b * x + d * y + f)
    }

    pub(super) fn determinant(self) -> f64 {
        let [a, b, c, d, ..] = self.0;
        a * d - b * c
    }

    pub(super) fn inverse(self) -> Option<Self> {
        let [a, b, c, d, e, f] = self.0;
        let det = self.determinant();
        let whole = Self([d / det, -b / det, -c / det, a / det, (c * f - d * e) / det, (b * e - a * f) / det]);
        whole.0.iter().all(|number| number.is_finite()).then_some(whole)
    }

    /// The most that a length grows: the larger singular value.
    pub(super) fn growth(self) -> f64 {
        let [a, b, c, d, ..] = self.0;
        let (sum, difference) = (length(a + d, b - c), length(a - d, b + c));
        (sum + difference) / 2.0
    }

    /// The factor of a transform that keeps shapes; `None` if it does not, to one in a million.
    pub(super) fn uniform(self) -> Option<f64> {
        let [a, b, c, d, ..] = self.0;
        let near = |x: f64, y: f64| (x - y).abs() <= 1e-6 * self.growth();
        (near(a, d) && near(b, -c) || near(a, -d) && near(b, c)).then(|| length(a, b))
    }

    /// Text that loses nothing.
    pub(super) fn spelled(self) -> String {
        format!("matrix({})", self.0.map(|number| number::shortest(number, 0.0)).join(" "))
    }

    /// The shortest text for this transform that moves no point of `extent` around the origin by more than `tolerance`.
    pub(super) fn write(self, tolerance: f64, extent: f64) -> String {
        let [a, b, c, d, e, f] = self.0;
        // Half of what may be lost to the factors, which grow with the distance, half to the shift.
        let factor = tolerance / 4.0 / extent.max(1e-9);
        let shift = tolerance / 2.0;
        let zero = |value: f64, tolerance: f64| value.abs() <= tolerance;
        let moved = if zero(f, shift) { number::list(&[e], shift) } else { number::list(&[e, f], shift) };
        let still = zero(e, shift) && zero(f, shift);
        let straight = zero(b, factor) && zero(c, factor);
        let same = zero(a - d, factor);
        let grown = if same { number::list(&[a], factor) } else { number::list(&[a, d], factor) };
        let flat = straight && zero(a - 1.0, factor) && zero(d - 1.0, factor);
        match (flat, still, straight) {
            (true, true, _) => String::new(),
            (true, false, _) => format!("translate({moved})"),
            (false, true, true) => format!("scale({grown})"),
            _ => {
                let factors = number::list(&[a, b, c, d], factor);
                let rest = number::list(&[e, f], shift);
                let glue = if rest.starts_with('-') { "" } else { " " };
                let whole = format!("matrix({factors}{glue}{rest})");
                let split = format!("translate({moved})scale({grown})");
                if straight && split.len() < whole.len() { split } else { whole }
            }
        }
    }
}

/// Sine and cosine of an angle in degrees, exact at right angles.
fn turn(degrees: f64) -> (f64, f64) {
    let quarter = degrees.rem_euclid(360.0) / 90.0;
    match quarter {
        0.0 => (0.0, 1.0),
        1.0 => (1.0, 0.0),
        2.0 => (0.0, -1.0),
        3.0 => (-1.0, 0.0),
        _ => {
            let Point { x: cos, y: sin } = direction(degrees);
            (sin, cos)
        }
    }
}

/// Of a vector, in the same digits on every platform, which `hypot` does not promise.
fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}
