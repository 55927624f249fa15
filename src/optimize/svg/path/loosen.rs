//! Freedoms of a path that is only filled.

use super::number::{Grid, Tail};
use super::{Path, Point, Segment};

/// The same area: subpaths without a line that closing draws anyway, started where that line is the dearest.
///
/// Every subpath of a fill is closed, so each comes back with a `Close`, which the writer may leave out.
pub(super) fn loosen(path: &Path, tolerance: f64) -> Path {
    let grid = Grid::new(tolerance);
    let mut segments = Vec::with_capacity(path.segments.len() + 2);
    let mut start = Point::ZERO;
    let mut rest = path.segments.as_slice();
    while let Some(first) = rest.first() {
        if let Segment::Move(to) = first {
            start = *to;
            rest = &rest[1..];
        }
        let len =
            rest.iter().position(|segment| matches!(segment, Segment::Move(_) | Segment::Close)).unwrap_or(rest.len());
        subpath(start, &rest[..len], &grid, &mut segments);
        rest = &rest[len..];
        if rest.first() == Some(&Segment::Close) {
            rest = &rest[1..];
        }
    }
    Path { segments }
}

fn subpath(start: Point, mut drawn: &[Segment], grid: &Grid, out: &mut Vec<Segment>) {
    if let [before @ .., Segment::Line(to)] = drawn
        && *to == start
    {
        drawn = before;
    }
    if drawn.is_empty() {
        return;
    }
    let end = drawn.last().and_then(Segment::end).unwrap_or(start);
    let mut best = (price(end, start, grid), None);
    let mut at = start;
    for (place, segment) in drawn.iter().enumerate() {
        let to = segment.end().unwrap_or(start);
        if matches!(segment, Segment::Line(_)) {
            let cost = price(at, to, grid);
            if cost > best.0 {
                best = (cost, Some(place));
            }
        }
        at = to;
    }
    let Some(place) = best.1 else {
        out.push(Segment::Move(start));
        out.extend_from_slice(drawn);
        out.push(Segment::Close);
        return;
    };
    out.push(Segment::Move(drawn[place].end().unwrap_or(start)));
    out.extend_from_slice(&drawn[place + 1..]);
    if end != start {
        out.push(Segment::Line(start));
    }
    out.extend_from_slice(&drawn[..place]);
    out.push(Segment::Close);
}

/// About what a line costs.
fn price(from: Point, to: Point, grid: &Grid) -> u32 {
    let offset = to - from;
    let across = if offset.x == 0.0 { 0 } else { grid.nearest(offset.x).cost(Tail::Digits).0 };
    let down = if offset.y == 0.0 { 0 } else { grid.nearest(offset.y).cost(Tail::Digits).0 };
    across + down
}
