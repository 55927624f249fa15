//! How much arcs and ellipses grow when they become cubic curves: by the sixth root of their radius, so that a few bytes
//! can name millions of curves.

use svgtypes::{Length, LengthUnit, PathParser, PathSegment};

/// How far a curve may be from its arc, in units of the document, when usvg reads it.
const TOLERANCE: f64 = 0.1;
/// Pixels of the longest unit that is relative to nothing; a font without a size is smaller.
const INCH: f64 = 96.0;

/// Bytes that count for an arc: for each of its curves, those that are moved when it is taken out of their list.
///
/// The number of curves is kurbo's, for a whole turn.
pub(super) fn arc(radius: f64) -> u64 {
    (1.1163 * radius / TOLERANCE).cbrt().max(16.0) as u64
}

/// Bytes that count for the arcs in path data.
pub(super) fn arcs(data: &str) -> u64 {
    if !data.contains(['a', 'A']) {
        return 0;
    }
    let mut far = 0.0f64; // No vertex so far is farther from the origin.
    let mut bytes = 0u64;
    for segment in PathParser::from(data).map_while(Result::ok) {
        let (abs, to) = end(&segment);
        let from = if abs { far } else { 0.0 };
        if let PathSegment::EllipticalArc { rx, ry, .. } = segment {
            let (least, most) = (rx.abs().min(ry.abs()), rx.abs().max(ry.abs()));
            // Radii too short to reach grow until they do.
            let growth = ((from + to) / least).max(1.0);
            bytes = bytes.saturating_add(if least > 0.0 { arc(most * growth) } else { 0 });
        }
        far = if abs { far.max(to) } else { far + to };
    }
    bytes
}

/// Whether a segment is in absolute numbers, and how far these lead at most.
fn end(segment: &PathSegment) -> (bool, f64) {
    match *segment {
        PathSegment::MoveTo { abs, x, y }
        | PathSegment::LineTo { abs, x, y }
        | PathSegment::CurveTo { abs, x, y, .. }
        | PathSegment::SmoothCurveTo { abs, x, y, .. }
        | PathSegment::Quadratic { abs, x, y, .. }
        | PathSegment::SmoothQuadratic { abs, x, y }
        | PathSegment::EllipticalArc { abs, x, y, .. } => (abs, x.abs() + y.abs()),
        // The other coordinate stays what it was.
        PathSegment::HorizontalLineTo { x: length, .. } | PathSegment::VerticalLineTo { y: length, .. } => {
            (false, length.abs())
        }
        PathSegment::ClosePath { abs } => (abs, 0.0),
    }
}

/// How long lengths may be that are relative to fonts and viewports.
#[derive(Debug)]
pub(super) struct Reach {
    /// The longest absolute size of a font or viewport, in pixels.
    absolute: f64,
    /// The longest relative radius, in what it is relative to.
    radius: f64,
}

impl Default for Reach {
    fn default() -> Self {
        Self { absolute: INCH, radius: 0.0 }
    }
}

impl Reach {
    /// Takes in what a property says of the size of a font or a viewport. Gives how many times longer it makes what is
    /// relative to it.
    pub(super) fn property(&mut self, name: &str, value: &str) -> f64 {
        if !matches!(name, "font" | "font-size" | "viewBox" | "width" | "height") {
            return 1.0;
        }
        let words = value.split(|c: char| c.is_ascii_whitespace() || matches!(c, ',' | '/'));
        let mut times = 1.0f64;
        for length in words.filter_map(|word| word.parse().ok()) {
            match pixels(length) {
                Ok(pixels) => self.absolute = self.absolute.max(pixels),
                Err(more) => times = times.max(more),
            }
        }
        times
    }

    /// Bytes that count for an ellipse of such a radius; `None` for a relative one, of which [`bytes`](Self::bytes) tells.
    pub(super) fn ellipse(&mut self, radius: &str) -> Option<u64> {
        match pixels(radius.parse().unwrap_or_default()) {
            Ok(pixels) => Some(arc(pixels)),
            Err(times) => {
                self.radius = self.radius.max(times);
                None
            }
        }
    }

    /// Bytes that count for each ellipse with a relative radius, where fonts and viewports within one another make it so
    /// many times longer.
    pub(super) fn bytes(&self, times: f64) -> u64 {
        arc((self.absolute * times.max(1.0) * self.radius).min(f32::MAX.into()))
    }
}

/// The pixels of a length; an error with the times that it is longer than what it is relative to.
fn pixels(length: Length) -> Result<f64, f64> {
    let number = length.number.abs();
    match length.unit {
        LengthUnit::None | LengthUnit::Px => Ok(number),
        LengthUnit::Em | LengthUnit::Ex => Err(number),
        LengthUnit::Percent => Err(number / 100.0),
        LengthUnit::In | LengthUnit::Cm | LengthUnit::Mm | LengthUnit::Pt | LengthUnit::Pc => Ok(number * INCH),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arc_weighs_by_its_radius_wherever_that_comes_from() {
        let of_radius = |radius: &str| arcs(&format!("M1 1A{radius} {radius} 0 0 1 9 9"));
        assert_eq!((arcs("M0 0h9v9z"), of_radius("9"), of_radius("0")), (0, 16, 0));
        assert_eq!((of_radius("1e3"), of_radius("1e9"), of_radius("1e30")), (22, 2_234, 22_349_113_868));
        for far in
            ["M0 0A1 1 0 0 1 1e30 0", "M0 0h1e30A1 1 0 0 1 0 0", "M0 0a1 1 0 0 1 0-1e30", "M1 1A1e-9 1e21 0 0 1 2 9"]
        {
            assert!(arcs(far) >= 22_349_113_868, "{far}");
        }
    }

    #[test]
    fn relative_radii_grow_with_what_they_are_relative_to() {
        let mut reach = Reach::default();
        assert_eq!((reach.ellipse("9"), reach.ellipse("1in"), reach.ellipse("50%")), (Some(16), Some(16), None));
        assert_eq!(reach.bytes(1.0), 16);
        assert_eq!((reach.property("viewBox", "0 0 1e12,9"), reach.property("font", "bold 250%/2 a")), (1.0, 2.5));
        assert_eq!((reach.bytes(1.0), reach.bytes(1e3)), (17_738, 177_385));
        assert_eq!(reach.bytes(f64::INFINITY), reach.bytes(1e50));
    }
}
