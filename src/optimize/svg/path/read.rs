//! The path grammar of SVG 1.1 and 2.

use super::{Arc, Path, Point, Segment};

/// Reads path data; `None` where they break the grammar or hold a number of 1e30 or more. In `single` precision sums are
/// rounded as in browsers, so that relative numbers drift.
pub(super) fn read(data: &str, single: bool) -> Option<Path> {
    let mut reader =
        Reader { data, single, at: 0, point: Point::ZERO, start: Point::ZERO, control: None, segments: Vec::new() };
    reader.spaces();
    if &data[reader.at..] == "none" {
        return Some(Path::default());
    }
    while let Some(letter) = reader.peek() {
        if reader.segments.is_empty() && !matches!(letter, b'M' | b'm') {
            return None;
        }
        reader.at += 1;
        reader.spaces();
        reader.command(letter)?;
    }
    Some(Path { segments: reader.segments })
}

/// The last control point, which a smooth curve reflects.
enum Control {
    Cubic(Point),
    Quad(Point),
}

struct Reader<'a> {
    data: &'a str,
    single: bool,
    at: usize,
    point: Point,
    start: Point,
    control: Option<Control>,
    segments: Vec<Segment>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.data.as_bytes().get(self.at).copied()
    }

    fn spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')) {
            self.at += 1;
        }
    }

    /// The arguments of `letter`, as often as they come.
    fn command(&mut self, letter: u8) -> Option<()> {
        if matches!(letter, b'Z' | b'z') {
            self.point = self.start;
            self.control = None;
            self.segments.push(Segment::Close);
            return Some(());
        }
        let mut letter = letter;
        loop {
            let segment = self.segment(letter)?;
            self.control = match segment {
                Segment::Cubic(_, control, _) => Some(Control::Cubic(control)),
                Segment::Quad(control, _) => Some(Control::Quad(control)),
                _ => None,
            };
            self.point = segment.end().unwrap_or(self.start);
            if matches!(letter, b'M' | b'm') {
                self.start = self.point;
                letter -= 1; // Further pairs are lines.
            }
            self.segments.push(segment);
            let comma = self.separator();
            match self.peek() {
                Some(b'0'..=b'9' | b'.' | b'-' | b'+') => {}
                _ if comma => return None,
                _ => return Some(()),
            }
        }
    }

    fn segment(&mut self, letter: u8) -> Option<Segment> {
        let base = if letter.is_ascii_lowercase() { self.point } else { Point::ZERO };
        Some(match letter.to_ascii_uppercase() {
            b'M' => Segment::Move(self.pair(base)?),
            b'L' => Segment::Line(self.pair(base)?),
            b'H' => Segment::Line(Point::new(self.coordinate(base.x)?, self.point.y)),
            b'V' => Segment::Line(Point::new(self.point.x, self.coordinate(base.y)?)),
            b'C' => Segment::Cubic(self.pair(base)?, self.then(base)?, self.then(base)?),
            b'S' => {
                let first = match self.control {
                    Some(Control::Cubic(control)) => self.reflected(control),
                    _ => self.point,
                };
                Segment::Cubic(first, self.pair(base)?, self.then(base)?)
            }
            b'Q' => Segment::Quad(self.pair(base)?, self.then(base)?),
            b'T' => {
                let control = match self.control {
                    Some(Control::Quad(control)) => self.reflected(control),
                    _ => self.point,
                };
                Segment::Quad(control, self.pair(base)?)
            }
            b'A' => self.arc(base)?,
            _ => return None,
        })
    }

    fn arc(&mut self, base: Point) -> Option<Segment> {
        let rx = self.number()?.abs();
        self.separator();
        let ry = self.number()?.abs();
        self.separator();
        let rotation = self.number()?;
        self.separator();
        let large = self.flag()?;
        self.separator();
        let sweep = self.flag()?;
        let to = self.then(base)?;
        if rx == 0.0 || ry == 0.0 {
            return Some(Segment::Line(to));
        }
        Some(Segment::Arc(Arc { rx, ry, rotation, large, sweep, to }))
    }

    fn then(&mut self, base: Point) -> Option<Point> {
        self.separator();
        self.pair(base)
    }

    fn pair(&mut self, base: Point) -> Option<Point> {
        let x = self.coordinate(base.x)?;
        self.separator();
        Some(Point::new(x, self.coordinate(base.y)?))
    }

    fn coordinate(&mut self, base: f64) -> Option<f64> {
        let number = self.number()?;
        Some(if self.single { super::single(base + super::single(number)) } else { base + number })
    }

    fn reflected(&self, control: Point) -> Point {
        let point = self.point * 2.0 - control;
        if self.single { Point::new(super::single(point.x), super::single(point.y)) } else { point }
    }

    /// Spaces and at most one comma; whether there was one.
    fn separator(&mut self) -> bool {
        self.spaces();
        let comma = self.peek() == Some(b',');
        if comma {
            self.at += 1;
            self.spaces();
        }
        comma
    }

    fn flag(&mut self) -> Option<bool> {
        let flag = match self.peek()? {
            b'0' => false,
            b'1' => true,
            _ => return None,
        };
        self.at += 1;
        Some(flag)
    }

    fn number(&mut self) -> Option<f64> {
        let from = self.at;
        let negative = self.peek() == Some(b'-');
        if matches!(self.peek(), Some(b'-' | b'+')) {
            self.at += 1;
        }
        let mut mantissa = 0u64;
        let whole = self.digits(&mut mantissa);
        let mut decimals = 0;
        if self.peek() == Some(b'.') {
            self.at += 1;
            decimals = self.digits(&mut mantissa);
            if decimals == 0 {
                return None; // Some readers take `1.`, others stop there.
            }
        }
        if whole + decimals == 0 {
            return None;
        }
        let plain = !self.exponent();
        let value = if plain && whole + decimals <= 15 {
            // Both are exact, so their quotient is the correctly rounded number.
            let value = mantissa as f64 / TENS[decimals];
            if negative { -value } else { value }
        } else {
            self.data[from..self.at].parse::<f64>().ok()?
        };
        (value.abs() < LARGEST).then_some(value)
    }

    fn digits(&mut self, mantissa: &mut u64) -> usize {
        let from = self.at;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            *mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            self.at += 1;
        }
        self.at - from
    }

    fn exponent(&mut self) -> bool {
        let bytes = &self.data.as_bytes()[self.at..];
        if !matches!(bytes.first(), Some(b'e' | b'E')) {
            return false;
        }
        let sign = usize::from(matches!(bytes.get(1), Some(b'+' | b'-')));
        let digits = bytes[1 + sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits > 0 {
            self.at += 1 + sign + digits;
        }
        digits > 0
    }
}

/// Renderers count in single precision, which sums of larger numbers leave.
const LARGEST: f64 = 1e30;

const TENS: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(data: &str) -> Option<Vec<(f64, f64)>> {
        Some(read(data, false)?.segments.iter().filter_map(Segment::end).map(|point| (point.x, point.y)).collect())
    }

    #[test]
    fn numbers_need_no_separators_where_they_cannot_run_together() {
        assert_eq!(ends("M1.5.5-2-3"), Some(vec![(1.5, 0.5), (-2.0, -3.0)]));
        assert_eq!(
            ends(" m 1e-1 , +2E1l.5-1e2h3v-4 "),
            Some(vec![(0.1, 20.0), (0.6, -80.0), (3.6, -80.0), (3.6, -84.0)])
        );
    }

    #[test]
    fn arc_flags_need_no_separators() {
        let path = read("M0 0a1 2 30 0110 5 3 3 0 10-1-1", false).expect("arcs");
        let Segment::Arc(first) = path.segments[1] else { panic!("an arc") };
        assert!(!first.large && first.sweep);
        assert_eq!(first.to, Point::new(10.0, 5.0));
        let Segment::Arc(second) = path.segments[2] else { panic!("an arc") };
        assert!(second.large && !second.sweep);
        assert_eq!(second.to, Point::new(9.0, 4.0));
    }

    #[test]
    fn smooth_curves_reflect_only_their_own_kind() {
        let path = read("M0 0C1 1 2 2 3 0S5 5 6 0T9 9", false).expect("curves");
        assert_eq!(path.segments[2], Segment::Cubic(Point::new(4.0, -2.0), Point::new(5.0, 5.0), Point::new(6.0, 0.0)));
        assert_eq!(path.segments[3], Segment::Quad(Point::new(6.0, 0.0), Point::new(9.0, 9.0)));
    }

    #[test]
    fn closing_returns_the_point() {
        assert_eq!(ends("M1 1l2 0zl0 5"), Some(vec![(1.0, 1.0), (3.0, 1.0), (1.0, 6.0)]));
    }

    #[test]
    fn relative_numbers_drift_in_single_precision() {
        let end = |single| read("m.1 0h.6", single).and_then(|path| path.segments[1].end()).expect("a path").x;
        assert_eq!((end(false), end(true)), (0.1 + 0.6, f64::from(0.1f32 + 0.6)));
        assert_ne!(end(true), f64::from(0.7f32));
    }

    #[test]
    fn empty_data_and_none_are_empty_paths() {
        assert_eq!(ends(""), Some(vec![]));
        assert_eq!(ends(" none"), Some(vec![]));
    }

    #[test]
    fn data_in_error_are_refused() {
        for data in [
            "L1 1",
            "M",
            "M1",
            "M1 2,",
            "M,1 2",
            "M1 2 3",
            "M1 2X",
            "M1 2L3 4 5",
            "M0 0a1 1 0 2 0 5 5",
            "M1. 2",
            "M1e999 0",
            "M1e30 0",
            "M1 2é",
            "M1 2z3 4",
        ] {
            assert_eq!(read(data, false), None, "{data}");
        }
    }
}
