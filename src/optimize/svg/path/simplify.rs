//! Fewer segments within a tolerance.

use super::curve::{point, raised};
use super::fit::fit;
use super::options::{along, flat, straight};
use super::{AT_ONCE, Keep, Path, Point, Segment};
use crate::{control::Run, error::Result};

/// As many segments become one at most.
const RUN: usize = 32;

/// Points on a curve, and on a line, that a fitted curve has to pass.
const ON_CURVE: usize = 8;
const ON_LINE: usize = 3;

/// A curve is written in six numbers; one that replaces fewer than this many saves nothing.
const WORTH: usize = 8;

/// The cosine of a joint that a curve may smooth: under a stroke the join shows.
const BENT: f64 = 0.8;
const BENT_STROKE: f64 = 0.985;

pub(super) fn simplify(path: &Path, tolerance: f64, keep: Keep, run: Run<'_>) -> Result<Path> {
    if keep.vertices {
        return Ok(path.clone());
    }
    let mut out = Path { segments: Vec::with_capacity(path.segments.len()) };
    let mut subpath: Vec<(Point, Segment)> = Vec::new();
    for (from, segment) in path.with_starts() {
        match segment {
            Segment::Move(_) | Segment::Close => {
                finish(&mut subpath, tolerance, keep, &mut out.segments, run)?;
                out.segments.push(segment);
            }
            _ => subpath.push((from, segment)),
        }
    }
    finish(&mut subpath, tolerance, keep, &mut out.segments, run)?;
    Ok(out)
}

/// Appends what `subpath` becomes, and empties it.
fn finish(
    subpath: &mut Vec<(Point, Segment)>,
    tolerance: f64,
    keep: Keep,
    out: &mut Vec<Segment>,
    run: Run<'_>,
) -> Result<()> {
    if keep.fill_only() && speck(subpath, tolerance) {
        // Its move stays for what may follow its end; a move alone draws nothing and is not written.
        subpath.clear();
        return Ok(());
    }
    subpath.iter_mut().for_each(|(from, segment)| *segment = flattened(*from, *segment, tolerance, keep.stroke));
    let mut at = 0;
    while at < subpath.len() {
        if out.len().is_multiple_of(AT_ONCE) {
            run.check()?;
        }
        let next = &subpath[at..(at + RUN).min(subpath.len())];
        let (count, segment) = merged(next, tolerance, keep.stroke);
        out.push(segment);
        at += count;
    }
    subpath.clear();
    Ok(())
}

/// Whether all of a subpath lies within the tolerance of one point.
fn speck(subpath: &[(Point, Segment)], tolerance: f64) -> bool {
    let Some((first, _)) = subpath.first() else { return false };
    let path = Path {
        segments: [Segment::Move(*first)].into_iter().chain(subpath.iter().map(|(_, segment)| *segment)).collect(),
    };
    path.bounds().is_some_and(|[x0, y0, x1, y1]| x1 - x0 <= 2.0 * tolerance && y1 - y0 <= 2.0 * tolerance)
}

/// A straight curve as a line.
fn flattened(from: Point, segment: Segment, tolerance: f64, stroke: bool) -> Segment {
    let Some(cubic) = cubic(from, &segment) else { return segment };
    let is_line = straight(&cubic, tolerance, stroke) && flat(from, cubic[3], &cubic, tolerance);
    if is_line { Segment::Line(cubic[3]) } else { segment }
}

fn cubic(from: Point, segment: &Segment) -> Option<[Point; 4]> {
    match *segment {
        Segment::Cubic(c1, c2, to) => Some([from, c1, c2, to]),
        Segment::Quad(control, to) => Some(raised(from, control, to)),
        _ => None,
    }
}

/// As many segments as one can stand for, and that one.
fn merged(run: &[(Point, Segment)], tolerance: f64, stroke: bool) -> (usize, Segment) {
    let (count, line) = one_line(run, tolerance, stroke);
    let curve = one_curve(run, tolerance, stroke);
    match curve {
        Some((longer, segment)) if longer > count => (longer, segment),
        _ => (count, line),
    }
}

fn one_line(run: &[(Point, Segment)], tolerance: f64, stroke: bool) -> (usize, Segment) {
    let (from, first) = run[0];
    let mut best = (1, first);
    let mut between = [Point::ZERO; RUN];
    let Segment::Line(mut before) = first else { return best };
    let mut back = from;
    for (count, (_, segment)) in run.iter().enumerate().skip(1) {
        let Segment::Line(to) = *segment else { break };
        between[count - 1] = before;
        if stroke && cosine(before - back, to - before) < BENT_STROKE {
            break;
        }
        if !along(from, to, &between[..count], tolerance) {
            break;
        }
        best = (count + 1, Segment::Line(to));
        (back, before) = (before, to);
    }
    best
}

fn one_curve(run: &[(Point, Segment)], tolerance: f64, stroke: bool) -> Option<(usize, Segment)> {
    let first = ends(&run[0])?;
    let mut arrive = first.arrive;
    let mut trail = Trail { points: vec![run[0].0], course: vec![0.0], pace: 1.0, speed: first.first };
    trail.add(&run[0], &first);
    let mut worth = weight(&run[0].1);
    let mut best = None;
    let mut failed = 0;
    for (count, piece) in run.iter().enumerate().skip(1) {
        let Some(ends) = ends(piece) else { break };
        // `arrive` points back into the piece before.
        if cosine(arrive * -1.0, ends.leave) < if stroke { BENT_STROKE } else { BENT } {
            break;
        }
        arrive = ends.arrive;
        trail.add(piece, &ends);
        worth += weight(&piece.1);
        if worth < WORTH {
            continue;
        }
        match fit(&trail.points, &trail.course, first.leave, arrive, tolerance) {
            Some([_, c1, c2, to]) => best = Some((count + 1, Segment::Cubic(c1, c2, to))),
            None => failed += 1,
        }
        if failed > 1 {
            break;
        }
    }
    best
}

/// Points along some segments, and the parameters that they would have on one curve which goes on at each joint as fast as it came: on a
/// curve that was split these are the true ones.
struct Trail {
    points: Vec<Point>,
    course: Vec<f64>,
    /// The parameter's length of the last segment, and its handle's length at its end.
    pace: f64,
    speed: f64,
}

impl Trail {
    /// Appends points along a segment, its end included.
    fn add(&mut self, (from, segment): &(Point, Segment), ends: &Ends) {
        self.pace *= (ends.first / self.speed).clamp(0.05, 20.0);
        self.speed = ends.last;
        let base = self.course.last().copied().unwrap_or(0.0);
        let count = if ends.curve.is_some() { ON_CURVE } else { ON_LINE };
        let to = segment.end().unwrap_or(*from);
        for step in 1..=count {
            let share = step as f64 / count as f64;
            self.points.push(ends.curve.map_or_else(|| from.lerp(to, share), |curve| point(&curve, share)));
            self.course.push(base + self.pace * share);
        }
    }
}

/// The numbers that a segment is about written in.
fn weight(segment: &Segment) -> usize {
    match segment {
        Segment::Line(_) => 2,
        Segment::Quad(..) => 4,
        _ => 5,
    }
}

/// How a line or curve begins and ends.
struct Ends {
    curve: Option<[Point; 4]>,
    /// Directions into the segment at its start and end.
    leave: Point,
    arrive: Point,
    /// The lengths of its handles.
    first: f64,
    last: f64,
}

/// `None` for a segment without extent, and for arcs.
fn ends(&(from, segment): &(Point, Segment)) -> Option<Ends> {
    let unit = |candidates: [Point; 3]| {
        candidates
            .into_iter()
            .map(|v| (v, v.length()))
            .find(|(_, length)| *length > 0.0)
            .map(|(v, length)| (v * (1.0 / length), length))
    };
    let curve = cubic(from, &segment);
    let [p0, p1, p2, p3] = match (curve, segment) {
        (Some(cubic), _) => cubic,
        (None, Segment::Line(to)) => [from, from.lerp(to, 1.0 / 3.0), to.lerp(from, 1.0 / 3.0), to],
        _ => return None,
    };
    let (leave, first) = unit([p1 - p0, p2 - p0, p3 - p0])?;
    let (arrive, last) = unit([p2 - p3, p1 - p3, p0 - p3])?;
    Some(Ends { curve, leave, arrive, first, last })
}

fn cosine(a: Point, b: Point) -> f64 {
    let lengths = a.dot(a) * b.dot(b);
    if lengths > 0.0 { a.dot(b) / lengths.sqrt() } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simple(data: &str, tolerance: f64, keep: Keep) -> String {
        Path::parse(data).expect("a path").simpler(tolerance, keep).written(1e-4, keep)
    }

    const STROKE: Keep = Keep { vertices: false, dots: false, curves: false, ..Keep::ALL };

    #[test]
    fn nearly_straight_runs_become_one_line() {
        assert_eq!(simple("M0 0L5 .04L10 0L15 .03L20 0", 0.05, STROKE), "m0 0h20");
        assert_eq!(simple("M0 0L5 3L10 0", 0.05, STROKE), "m0 0 5 3 5-3");
    }

    #[test]
    fn nearly_straight_curves_become_lines_and_others_stay() {
        assert_eq!(simple("M0 0C3 .04 7 .04 10 0", 0.05, STROKE), "m0 0h10");
        assert_eq!(simple("M0 0C3 4 7 5 10 0", 0.05, STROKE), "m0 0c3 4 7 5 10 0");
    }

    #[test]
    fn a_curve_in_parts_becomes_one() {
        let text = simple("M0 0C1 2 2 3.5 3 4.5C5 6.5 7 7 9 7", 0.3, STROKE);
        assert_eq!(text.matches(['c', 's']).count(), 1, "{text}");
        assert!(!text.contains('s') && text.split([' ', '-']).count() < 8, "{text}");
    }

    #[test]
    fn specks_vanish_from_fills_and_stay_under_strokes() {
        let data = "M0 0h9v9zM20 20h.05v.05z";
        assert_eq!(simple(data, 0.05, Keep::default()).matches('m').count(), 1);
        assert_eq!(simple(data, 0.05, STROKE).matches('m').count(), 2);
    }

    #[test]
    fn vertices_stay_where_markers_show() {
        let path = Path::parse("M0 0L5 .001L10 0").expect("a path");
        assert_eq!(path.simpler(1.0, Keep::ALL), path);
    }
}
