//! Path data: read, written in the fewest bytes within a tolerance, and simplified.
//!
//! Segments are absolute and in user units. A tolerance is per axis: a point lies within `t` of another where neither coordinate differs by more
//! than `t`. All decisions are made with basic arithmetic and square roots, so results are the same on each machine.

mod affine;
mod arcs;
mod curve;
mod ellipse;
mod fit;
mod loosen;
pub(crate) mod number;
mod options;
mod read;
mod shape;
mod simplify;
mod write;

use std::ops::{Add, Mul, Sub};

pub(super) use ellipse::direction;

use crate::{control::Run, error::Result};

/// Segments that are worked on between two questions whether to go on.
const AT_ONCE: usize = 1_000;

/// A point or vector in user units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

impl Point {
    pub(crate) const ZERO: Self = Self { x: 0.0, y: 0.0 };

    pub(crate) const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y
    }

    fn cross(self, other: Self) -> f64 {
        self.x * other.y - self.y * other.x
    }

    fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    fn lerp(self, to: Self, share: f64) -> Self {
        self + (to - self) * share
    }

    /// Both coordinates in single precision.
    fn single(self) -> Self {
        Self::new(single(self.x), single(self.y))
    }

    /// The larger of both coordinates' sizes.
    fn reach(self) -> f64 {
        self.x.abs().max(self.y.abs())
    }
}

impl Add for Point {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y)
    }
}

impl Sub for Point {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y)
    }
}

impl Mul<f64> for Point {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::new(self.x * factor, self.y * factor)
    }
}

/// An elliptical arc as in SVG: radii in user units and above 0 (too small ones are scaled up when drawn), rotation in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Arc {
    pub(crate) rx: f64,
    pub(crate) ry: f64,
    pub(crate) rotation: f64,
    pub(crate) large: bool,
    pub(crate) sweep: bool,
    pub(crate) to: Point,
}

/// One absolute segment; it starts where the one before ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Segment {
    Move(Point),
    Line(Point),
    Quad(Point, Point),
    Cubic(Point, Point, Point),
    Arc(Arc),
    Close,
}

impl Segment {
    /// Where the segment ends; `None` for `Close`, which ends where its subpath began.
    pub(crate) fn end(&self) -> Option<Point> {
        match *self {
            Self::Move(to) | Self::Line(to) | Self::Quad(_, to) | Self::Cubic(_, _, to) => Some(to),
            Self::Arc(arc) => Some(arc.to),
            Self::Close => None,
        }
    }
}

/// What of a path shows beside its fill, and so has to stay. The default is a plain fill, which may be changed most freely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keep {
    /// A stroke is painted: joins and caps show, so open subpaths stay open, closed ones closed, and corners stay corners.
    pub(crate) stroke: bool,
    /// Round or square caps are painted: subpaths of no length are dots.
    pub(crate) dots: bool,
    /// Markers are painted: vertices neither vanish nor appear, and directions at them stay.
    pub(crate) vertices: bool,
    /// Dashes, text or motion run along the path: it starts where it did. (For a fill alone subpaths are rotated.)
    pub(crate) start: bool,
    /// Curves do not become arcs, which some renderers draw less exactly.
    pub(crate) curves: bool,
    /// Nor do cubic curves become quadratic ones.
    pub(crate) cubics: bool,
    /// Relative numbers do not drift where sums are of single precision, as in browsers: edges that lie just on one of the steps in
    /// which coverage is counted would jump to another.
    pub(crate) single: bool,
}

impl Keep {
    /// Keeps everything that could show.
    pub(crate) const ALL: Self =
        Self { stroke: true, dots: true, vertices: true, start: true, curves: true, cubics: false, single: false };

    /// Whether only the area inside matters.
    fn fill_only(self) -> bool {
        Self { curves: false, cubics: false, single: false, ..self } == Self::default()
    }
}

/// The number in single precision. Sums of two such numbers, rounded by this again, are what single precision makes of them.
fn single(number: f64) -> f64 {
    f64::from(number as f32)
}

/// A path of absolute segments.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Path {
    pub(crate) segments: Vec<Segment>,
}

impl Path {
    /// Reads path data. Empty data and `none` are the empty path; `None` where the data break the grammar (renderers draw them up to the error).
    pub(crate) fn parse(data: &str) -> Option<Self> {
        read::read(data, false)
    }

    /// The same as browsers read it: in single precision, in which relative numbers drift.
    pub(crate) fn parse_single(data: &str) -> Option<Self> {
        read::read(data, true)
    }

    /// In absolute commands and full length, so that all read the same.
    pub(crate) fn spelled(&self) -> String {
        let point = |point: Point| format!("{} {}", point.x as f32, point.y as f32);
        let one = |segment: &Segment| match *segment {
            Segment::Move(to) => format!("M{}", point(to)),
            Segment::Line(to) => format!("L{}", point(to)),
            Segment::Quad(control, to) => format!("Q{} {}", point(control), point(to)),
            Segment::Cubic(first, second, to) => format!("C{} {} {}", point(first), point(second), point(to)),
            Segment::Arc(Arc { rx, ry, rotation, large, sweep, to }) => {
                format!("A{rx} {ry} {rotation} {} {} {}", u8::from(large), u8::from(sweep), point(to))
            }
            Segment::Close => "Z".to_owned(),
        };
        self.segments.iter().map(one).collect()
    }

    /// The shortest path data found whose every point lies within `tolerance` (per axis, above 0) of the true one.
    ///
    /// Numbers are relative to the point as written, so errors never add up. Control points may stray further than `tolerance` where the curve
    /// does not (unless `keep.vertices`).
    pub(crate) fn write(&self, tolerance: f64, keep: Keep, run: Run<'_>) -> Result<String> {
        if keep.fill_only() {
            write::write(&loosen::loosen(self, tolerance), tolerance, keep, run)
        } else {
            write::write(self, tolerance, keep, run)
        }
    }

    /// A path of fewer segments whose every point lies within `tolerance` (per axis) of this one's, and the other way round.
    pub(crate) fn simplify(&self, tolerance: f64, keep: Keep, run: Run<'_>) -> Result<Self> {
        simplify::simplify(self, tolerance, keep, run)
    }

    /// The path under `[a b c d e f]` (x' = ax + cy + e, y' = bx + dy + f); `None` where an arc would collapse or a number overflow.
    pub(crate) fn transform(&self, matrix: [f64; 6]) -> Option<Self> {
        affine::transform(self, matrix)
    }

    /// The box (x0, y0, x1, y1) around all that is drawn, control points not counted; `None` for a path that draws nothing.
    pub(crate) fn bounds(&self) -> Option<[f64; 4]> {
        curve::bounds(self)
    }

    /// Segments with the points where they start.
    pub(crate) fn with_starts(&self) -> impl Iterator<Item = (Point, Segment)> + '_ {
        let (mut at, mut start) = (Point::ZERO, Point::ZERO);
        self.segments.iter().map(move |segment| {
            let from = at;
            at = segment.end().unwrap_or(start);
            if matches!(segment, Segment::Move(_)) {
                start = at;
            }
            (from, *segment)
        })
    }
}

#[cfg(test)]
mod tests;
