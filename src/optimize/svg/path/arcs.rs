//! Arcs: how many digits one needs, and curves that are arcs of a circle.

use super::curve;
use super::ellipse::Ellipse;
use super::number::{Decimal, Grid};
use super::write::Step;
use super::{Arc, Keep, Point, Segment};

/// Points that stand for a curve.
const SAMPLES: usize = 24;

/// Points on each cubic.
const EACH: usize = 4;

/// A tolerance of the radii as shares of that of the points, coarse ones first: how much a radius shows depends on the arc.
const FACTORS: [f64; 14] = [4e3, 1e3, 256.0, 64.0, 16.0, 4.0, 1.0, 0.25, 0.06, 0.01, 1e-3, 1e-4, 1e-6, 1e-8];

/// As many of them are tried for a curve that may stay a curve.
const ROUGH: usize = 9;

/// Degrees in a radian.
const DEGREES: f64 = 57.3;

/// What an arc may stray, in tolerances, where its start was moved as far as may be.
const SLACK: f64 = 1.01;

/// How far an arc's middle may lie from the true ellipse; its other way round is held to 1.
const BACK: f64 = 1.1;

/// Part of how many full circles is the most that one arc draws: ends that come too near each other would leave the centre open.
const NEARLY_ROUND: f64 = 0.1;

/// An arc that is, or could stand for, one or more segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// As many segments.
    pub(super) count: usize,
    pub(super) from: Point,
    pub(super) to: Point,
    pub(super) large: bool,
    pub(super) sweep: bool,
    /// Whether the segment is an arc, so that it has to be written as one.
    pub(super) exact: bool,
    rx: f64,
    ry: f64,
    /// Radii before they grew to reach both ends.
    given: [f64; 2],
    rotation: f64,
    ellipse: Option<Ellipse>,
    samples: [Point; SAMPLES],
    sampled: usize,
}

impl Round {
    pub(super) fn of(from: Point, arc: &Arc) -> Self {
        // Radii that grow are written as grown: others could differ where both ends are rounded.
        let ellipse = Ellipse::new(from, arc);
        let (mut rx, mut ry) = ellipse.map_or((arc.rx, arc.ry), |ellipse| (ellipse.rx, ellipse.ry));
        let mut given = [arc.rx, arc.ry];
        let mut rotation = arc.rotation.rem_euclid(180.0);
        if rotation >= 90.0 {
            rotation -= 90.0;
            (rx, ry) = (ry, rx);
            given.reverse();
        }
        let Arc { large, sweep, to, .. } = *arc;
        let mut round = Self {
            count: 1,
            from,
            to,
            large,
            sweep,
            exact: true,
            rx,
            ry,
            given,
            rotation,
            ellipse,
            samples: [from; SAMPLES],
            sampled: 0,
        };
        ellipse.iter().flat_map(Ellipse::samples).for_each(|sample| round.sample(sample));
        round
    }

    fn sample(&mut self, point: Point) {
        if self.sampled < SAMPLES {
            self.samples[self.sampled] = point;
            self.sampled += 1;
        }
    }

    /// The shortest radii and rotation, and the large flag, with which the arc between both ends as written stays within the tolerance.
    pub(super) fn radii(&self, from: Point, to: Point, tolerance: f64) -> Option<([Decimal; 3], bool)> {
        let circle = self.rx == self.ry;
        let (growth, ahead) = self.ellipse?.between(from, to);
        let large = ahead.map_or(self.large, |ahead| ahead != self.sweep);
        let (rx, ry) = (self.rx * growth, self.ry * growth);
        let chord = (to - from).length();
        // A radius that is too small makes half a circle.
        let half = (circle && chord > 1.98 * rx && chord > 2.0).then_some([Decimal::ONE, Decimal::ONE, Decimal::ZERO]);
        let tries = FACTORS[..if self.exact { FACTORS.len() } else { ROUGH }].iter().map(|factor| {
            let grid = Grid::new(tolerance * factor);
            let turned = Grid::new(DEGREES * tolerance * factor / rx.max(ry));
            [grid.nearest(rx), grid.nearest(ry), if circle { Decimal::ZERO } else { turned.nearest(self.rotation) }]
        });
        let mut last = [Decimal::ZERO; 3];
        let found = half.into_iter().chain(tries).find(|numbers| {
            let seen = std::mem::replace(&mut last, *numbers) == *numbers;
            !seen && self.fits(from, to, numbers, large, tolerance)
        });
        found.map(|numbers| (numbers, large))
    }

    /// Radii and rotation as they were given: radii that had to grow then still do.
    pub(super) fn finest(&self) -> [Decimal; 3] {
        let exact = Grid::new(0.0);
        [self.given[0], self.given[1], self.rotation].map(|number| exact.nearest(number))
    }

    fn fits(&self, from: Point, to: Point, numbers: &[Decimal; 3], large: bool, tolerance: f64) -> bool {
        let [rx, ry, rotation] = numbers.map(Decimal::value);
        let arc = Arc { rx, ry, rotation, large, sweep: self.sweep, to };
        let drawn = if rx > 0.0 && ry > 0.0 { Ellipse::new(from, &arc) } else { None };
        let (Some(drawn), Some(truth)) = (drawn, self.ellipse) else { return false };
        // An arc that has to be one may stray a little more where both its ends were moved as far as may be.
        let most = if self.exact { SLACK } else { 1.0 };
        let ends = usize::from(self.exact);
        self.samples[ends..self.sampled.saturating_sub(1)].iter().all(|sample| drawn.stray(*sample, tolerance) <= most)
            && truth.stray(drawn.middle(), tolerance) <= BACK
    }
}

/// The arc that the first step is, or the longest one of a circle that it and those after it are within `tolerance`.
pub(super) fn round(steps: &[Step], tolerance: f64, keep: Keep) -> Option<Round> {
    match steps[0].segment {
        Segment::Arc(arc) => Some(Round::of(steps[0].from, &arc)),
        Segment::Cubic(..) if !keep.vertices && !keep.curves => circular(steps, tolerance),
        _ => None,
    }
}

fn cubic_of(step: &Step) -> Option<[Point; 4]> {
    match step.segment {
        Segment::Cubic(c1, c2, to) => Some([step.from, c1, c2, to]),
        _ => None,
    }
}

fn circular(steps: &[Step], tolerance: f64) -> Option<Round> {
    let first = cubic_of(steps.first()?)?;
    let circle = Circle::of(&first, tolerance)?;
    let limit = 0.99 * tolerance;
    if !circle.holds(&first, limit) {
        return None;
    }
    let mut round = Round {
        count: 1,
        from: first[0],
        to: first[3],
        large: false,
        sweep: circle.sweep,
        exact: false,
        rx: circle.radius,
        ry: circle.radius,
        given: [circle.radius; 2],
        rotation: 0.0,
        ellipse: Some(Ellipse::circle(circle.center, circle.radius)),
        samples: [first[0]; SAMPLES],
        sampled: 0,
    };
    sample_cubic(&mut round, &first);
    let opening = first[0] - circle.center;
    for step in &steps[1..] {
        let Some(next) = cubic_of(step) else { break };
        let end = next[3] - circle.center;
        // Past the half: the end is on the other side of the opening's diameter.
        let side = if circle.sweep { opening.cross(end) } else { end.cross(opening) };
        let wrapped = round.large && side > 0.0;
        let closed = (next[3] - first[0]).length() < NEARLY_ROUND * circle.radius;
        if wrapped || closed || !circle.holds(&next, limit) || round.sampled + EACH > SAMPLES {
            break;
        }
        round.large = side < 0.0;
        round.to = next[3];
        round.count += 1;
        sample_cubic(&mut round, &next);
    }
    Some(round)
}

fn sample_cubic(round: &mut Round, cubic: &[Point; 4]) {
    for share in 1..=EACH {
        round.sample(curve::point(cubic, share as f64 / EACH as f64));
    }
}

struct Circle {
    center: Point,
    radius: f64,
    sweep: bool,
}

impl Circle {
    /// The circle through both ends and the middle of a cubic that bends one way, by less than a half turn.
    fn of(cubic: &[Point; 4], tolerance: f64) -> Option<Self> {
        let [p0, c1, c2, p3] = *cubic;
        let (first, last) = (c1 - p0, p3 - c2);
        // An arc's handles are of one length.
        let (a, b) = (first.dot(first), last.dot(last));
        if (a - b).abs() > 0.2 * a.max(b) + 4.0 * tolerance * tolerance {
            return None;
        }
        let chord = p3 - p0;
        let middle = curve::point(cubic, 0.5);
        let (square, arm) = (chord.dot(chord), middle - p0);
        let twice = 2.0 * chord.cross(arm);
        let rise = arm.dot(arm);
        // A curve as flat as the tolerance is better a line; a full loop has no chord.
        if twice.abs() < 4.0 * tolerance * square.sqrt() || first.dot(chord) < 0.0 {
            return None;
        }
        let center = p0 + Point::new(arm.y * square - chord.y * rise, chord.x * rise - arm.x * square) * (1.0 / twice);
        let radius = (center - p0).length();
        let sweep = first.cross(chord) > 0.0;
        radius.is_finite().then_some(Self { center, radius, sweep })
    }

    /// Whether a cubic runs along the circle, the right way round.
    fn holds(&self, cubic: &[Point; 4], tolerance: f64) -> bool {
        let on = |u: f64| {
            let off = curve::point(cubic, u) - self.center;
            let length = off.length();
            let steep = (off.x.abs() + off.y.abs()) / length;
            (length - self.radius).abs() <= tolerance * steep
        };
        let ahead = (cubic[0] - self.center).cross(cubic[3] - self.center);
        (ahead > 0.0) == self.sweep && [0.25, 0.0, 1.0, 0.5, 0.75, 0.125, 0.375, 0.625, 0.875].iter().all(|u| on(*u))
    }
}

/// An arc as cubics; none for an arc without extent.
pub(super) fn cubics(from: Point, arc: &Arc) -> Vec<[Point; 4]> {
    Ellipse::new(from, arc).map(|ellipse| ellipse.cubics()).unwrap_or_default()
}
