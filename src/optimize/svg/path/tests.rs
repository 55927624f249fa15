use super::curve::{point, raised};
use super::*;
use crate::{
    Limits, Unattended,
    control::{Control, Stage},
    error::{Error, Stop},
};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

impl Path {
    pub(super) fn written(&self, tolerance: f64, keep: Keep) -> String {
        unattended(|run| self.write(tolerance, keep, run))
    }

    pub(super) fn simpler(&self, tolerance: f64, keep: Keep) -> Self {
        unattended(|run| self.simplify(tolerance, keep, run))
    }
}

fn unattended<T>(work: impl FnOnce(Run<'_>) -> Result<T>) -> T {
    work(Run { limits: &Limits::default(), control: &Unattended }).expect("nobody stops this")
}

/// A seeded generator.
struct Random(u64);

impl Random {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % count
    }

    /// -`size` to `size`, now and then a round number.
    fn number(&mut self, size: f64) -> f64 {
        let value = (self.below(2_000_001) as f64 / 1e6 - 1.0) * size;
        if self.below(4) == 0 { value.round() } else { value }
    }

    fn near(&mut self, at: Point, size: f64) -> Point {
        at + Point::new(self.number(size), self.number(size))
    }

    fn path(&mut self) -> Path {
        let size = [3.0, 40.0, 500.0][self.below(3) as usize];
        let mut start = self.near(Point::ZERO, size * 3.0);
        let mut at = start;
        let mut segments = vec![Segment::Move(at)];
        let mut control = at;
        for _ in 0..self.below(30) {
            let to = self.near(at, size);
            let segment = match self.below(12) {
                0 if matches!(segments.last(), Some(Segment::Close | Segment::Move(_))) => continue,
                0 => Segment::Close,
                1 => Segment::Move(to),
                2..=3 => Segment::Line(to),
                4 => Segment::Line(Point::new(to.x, at.y)),
                5 => Segment::Line(Point::new(at.x, to.y)),
                6 => Segment::Quad(self.near(at, size), to),
                7 => Segment::Cubic(at * 2.0 - control, self.near(to, size), to),
                8 => Segment::Cubic(at.lerp(to, 0.3), at.lerp(to, 0.8), to),
                9..=10 => Segment::Cubic(self.near(at, size), self.near(to, size), to),
                _ => Segment::Arc(Arc {
                    rx: self.number(size).abs() + 0.1,
                    ry: self.number(size).abs() + 0.1,
                    rotation: self.number(90.0),
                    large: self.below(2) == 0,
                    sweep: self.below(2) == 0,
                    to,
                }),
            };
            if let Segment::Cubic(_, last, _) = segment {
                control = last;
            }
            at = segment.end().unwrap_or(start);
            if matches!(segment, Segment::Move(_)) {
                start = at;
            }
            segments.push(segment);
        }
        Path { segments }
    }
}

fn cubics_of(from: Point, segment: &Segment, to: Point) -> Vec<[Point; 4]> {
    match *segment {
        Segment::Quad(control, to) => vec![raised(from, control, to)],
        Segment::Cubic(c1, c2, to) => vec![[from, c1, c2, to]],
        Segment::Arc(arc) => arcs::cubics(from, &arc),
        _ => vec![[from, from.lerp(to, 1.0 / 3.0), from.lerp(to, 2.0 / 3.0), to]],
    }
}

#[test]
fn written_paths_read_back_within_the_tolerance_vertex_by_vertex() {
    let mut random = Random(7);
    for round in 0..3000 {
        let path = random.path();
        let tolerance = [0.5, 0.05, 0.003, 1e-4, 1e-7][round % 5];
        let text = path.written(tolerance, Keep::ALL);
        let back = Path::parse(&text).expect("path data");
        assert_eq!(back.segments.len(), path.segments.len(), "{path:?} as {text}");
        let mut starts = (Point::ZERO, Point::ZERO);
        for ((from, segment), (found_from, found)) in path.with_starts().zip(back.with_starts()) {
            let (Some(to), Some(found_to)) = (segment.end(), found.end()) else {
                assert_eq!(segment, found);
                continue;
            };
            assert!((to - found_to).reach() <= tolerance * (1.0 + 1e-6), "{to:?} became {found_to:?} in {text}");
            if let Segment::Move(_) = segment {
                starts = (to, found_to);
            } else if matches!(segment, Segment::Line(_) | Segment::Quad(..) | Segment::Cubic(..)) {
                let (truth, read) = (cubics_of(from, &segment, to)[0], cubics_of(found_from, &found, found_to)[0]);
                for step in 0..=20 {
                    let off = point(&truth, f64::from(step) / 20.0) - point(&read, f64::from(step) / 20.0);
                    assert!(off.reach() <= tolerance * (1.0 + 1e-6), "{off:?} at {step} of {segment:?} as {found:?}");
                }
            } else if let (Segment::Arc(arc), Segment::Arc(read)) = (segment, found)
                && let (Some(truth), Some(drawn)) =
                    (ellipse::Ellipse::new(from, &arc), ellipse::Ellipse::new(found_from, &read))
                && tolerance < 0.02 * truth.rx.min(truth.ry)
            {
                for sample in truth.samples() {
                    assert!(drawn.stray(sample, tolerance) <= 1.1, "{arc:?} as {read:?} within {tolerance}");
                }
            }
        }
        assert!((starts.0 - starts.1).reach() <= tolerance * (1.0 + 1e-6));
    }
}

/// Points along a path, each subpath closed.
fn outline(path: &Path) -> Vec<Vec<Point>> {
    let mut lines: Vec<Vec<Point>> = Vec::new();
    let mut fresh = true;
    for (from, segment) in path.with_starts() {
        if matches!(segment, Segment::Move(_) | Segment::Close) {
            fresh = true;
            continue;
        }
        if std::mem::take(&mut fresh) {
            lines.push(vec![from]);
        }
        let line = lines.last_mut().expect("a line");
        for cubic in cubics_of(from, &segment, segment.end().unwrap_or(from)) {
            line.extend((1..=60).map(|step| point(&cubic, f64::from(step) / 60.0)));
        }
    }
    lines.iter_mut().for_each(|line| line.push(line[0]));
    lines
}

/// The farthest that a point of `a` lies from the lines of `b`.
fn farthest(a: &[Vec<Point>], b: &[Vec<Point>]) -> f64 {
    let nearest = |at: &Point| {
        let distance = |pair: &[Point]| {
            let chord = pair[1] - pair[0];
            let square = chord.dot(chord);
            let share = if square > 0.0 { ((*at - pair[0]).dot(chord) / square).clamp(0.0, 1.0) } else { 0.0 };
            (pair[0] + chord * share - *at).length()
        };
        b.iter().flat_map(|line| line.windows(2)).map(distance).fold(f64::MAX, f64::min)
    };
    a.iter().flatten().step_by(5).map(nearest).fold(0.0, f64::max)
}

#[test]
fn filled_outlines_stay_where_they_were_written_and_simplified() {
    let mut random = Random(11);
    for round in 0..60 {
        let mut path = random.path();
        // Arcs are drawn here as cubics, which are as far off as these tolerances.
        path.segments.retain(|segment| !matches!(segment, Segment::Arc(_)));
        let tolerance = [0.4, 0.05, 0.01][round % 3];
        let truth = outline(&path);
        // A subpath of one line has no area, and may vanish.
        if truth.is_empty() || truth.iter().any(|line| line.len() < 130) {
            continue;
        }
        let text = path.written(tolerance, Keep::default());
        let written = outline(&Path::parse(&text).expect("path data"));
        let simple = outline(&path.simpler(tolerance, Keep::default()));
        let limit = tolerance * 1.5 + 0.02;
        for found in [written, simple] {
            let (there, back) = (farthest(&truth, &found), farthest(&found, &truth));
            assert!(there <= limit && back <= limit, "{there} and {back} within {tolerance}: {text}");
        }
    }
}

#[test]
fn a_tiny_tolerance_keeps_every_digit_that_single_precision_has() {
    let data = "M10.123456 20.654321C11.1 22.2 13.3 24.4 15.55555 26.77777S1e3 1e-3 .1 .2z";
    let path = Path::parse(data).expect("a path");
    let back = Path::parse(&path.written(1e-9, Keep::ALL)).expect("path data");
    for (segment, found) in path.segments.iter().zip(&back.segments) {
        let (Some(a), Some(b)) = (segment.end(), found.end()) else { continue };
        assert_eq!((a.x as f32, a.y as f32), (b.x as f32, b.y as f32));
    }
}

#[test]
fn written_data_are_the_same_when_written_again() {
    let mut random = Random(3);
    let mut grown = 0;
    for _ in 0..500 {
        let mut path = random.path();
        path.segments.retain(|segment| !matches!(segment, Segment::Arc(_)));
        let text = path.written(1e-3, Keep::ALL);
        let again = Path::parse(&text).expect("path data").written(1e-9, Keep::ALL);
        grown += usize::from(again.len() > text.len());
    }
    assert_eq!(grown, 0);
}

#[test]
fn numbers_for_single_precision_lead_where_absolute_ones_would() {
    let mut random = Random(5);
    let mut drifted = |single: bool| {
        let mut drifted = 0;
        for _ in 0..200 {
            let hundredths = |coordinate: f64| (coordinate * 100.0).round() / 100.0;
            let path = random.path().spelled();
            let path = Path::parse(&path).expect("a path");
            let ends = path.segments.iter().map(|segment| match segment {
                Segment::Move(to) => Segment::Move(Point::new(hundredths(to.x), hundredths(to.y))),
                other => {
                    Segment::Line(other.end().map_or(Point::ZERO, |to| Point::new(hundredths(to.x), hundredths(to.y))))
                }
            });
            let path = Path { segments: ends.collect() };
            let text = path.written(0.004, Keep { single, ..Keep::ALL });
            let read = Path::parse_single(&text).expect("path data");
            assert_eq!(read.segments.len(), path.segments.len());
            for (wanted, found) in path.segments.iter().zip(&read.segments) {
                let both = [wanted, found].map(|segment| segment.end().map(|to| (to.x as f32, to.y as f32)));
                drifted += usize::from(both[0] != both[1]);
            }
        }
        drifted
    };
    assert_eq!(drifted(true), 0);
    assert!(drifted(false) > 100, "relative numbers drift");
}

#[test]
fn curves_keep_the_control_points_that_single_precision_reads() {
    for data in [
        "M206.169,94.16c10.838,63.003,113.822,46.345,99.03-17.197C291.935,19.983,202.567,35.755,206.169,94.16",
        "M108.579,519.975c-14.229,2.202-22.238,15.039-34.1,21.558c-11.178,6.665-15.454-2.134-16.461-3.92c-1.752-0.799-1.605,\
         0.744-4.309-1.979c-10.362-16.354,10.797-28.308,21.815-36.432C90.87,496.1,100.487,509.404,108.579,519.975z",
    ] {
        let path = Path::parse_single(data).expect("a path");
        let text = path.written(4e-4, Keep { single: true, curves: true, stroke: true, ..Keep::default() });
        assert_eq!(Path::parse_single(&text), Some(path), "{text}");
    }
}

#[test]
fn fills_lose_what_closing_draws_anyway() {
    for (data, filled, stroked) in [
        ("M1 1H9V9H1Z", "m1 1h8v8H1", "m1 1h8v8H1z"),
        ("M1 1H9V9H1V1", "m1 1h8v8H1", "m1 1h8v8H1V1"),
        ("M0 0L5 7L9 2L0 0z", "m0 0 5 7 4-5", "m0 0 5 7 4-5z"),
        ("M0 0L5 7L9 2M30 30", "m0 0 5 7 4-5", "m0 0 5 7 4-5"),
        ("M0 0C1 2 3 4 5 1z", "m0 0c1 2 3 4 5 1", "m0 0c1 2 3 4 5 1z"),
    ] {
        let path = Path::parse(data).expect("a path");
        assert_eq!(path.written(1e-3, Keep::default()), filled);
        assert_eq!(path.written(1e-3, Keep { stroke: true, ..Keep::default() }), stroked);
    }
}

#[test]
fn dots_stay_where_caps_paint_them() {
    let path = Path::parse("M5 5h0M7 7z").expect("a path");
    assert_eq!(path.written(1e-3, Keep { stroke: true, dots: true, ..Keep::default() }), "m5 5h0m2 2z");
    assert_eq!(path.written(1e-3, Keep::default()), "");
}

#[test]
fn circles_drawn_as_one_arc_stay_circles() {
    let path = Path::parse("M10.03 5a5 5 0 1 1-.001 0z").expect("a path");
    let text = path.written(0.05, Keep::default());
    let bounds = Path::parse(&text).and_then(|path| path.bounds()).expect("a circle");
    for (bound, expected) in bounds.iter().zip([5.03, 5.0, 15.03, 15.0]) {
        assert!((bound - expected).abs() < 0.11 || (bound - expected + 10.0).abs() < 0.11, "{bounds:?} of {text}");
    }
    assert!((bounds[3] - bounds[1] - 10.0).abs() < 0.1);
}

#[test]
fn long_paths_are_written_whole() {
    let mut segments = vec![Segment::Move(Point::ZERO)];
    segments.extend((0..120_000).map(|x| Segment::Line(Point::new(f64::from(x) * 1.37, f64::from(x % 89 * 7 % 31)))));
    let path = Path { segments };
    let back = Path::parse(&path.written(0.05, Keep::ALL)).expect("path data");
    assert_eq!(back.segments.len(), path.segments.len());
    for (segment, found) in path.segments.iter().zip(&back.segments) {
        let (Some(a), Some(b)) = (segment.end(), found.end()) else { continue };
        assert!((a - b).reach() < 0.0501);
    }
}

#[test]
fn curves_take_the_shortest_command_that_draws_them() {
    for (data, text) in [
        ("M0 0C1 2 4 2 5 0C6-2 9-2 10 0", "m0 0c1 2 4 2 5 0s4-2 5 0"),
        ("M0 0C2 4 4 4 6 0", "m0 0q3 6 6 0"),
        ("M0 0Q3 6 6 0Q9-6 12 0", "m0 0q3 6 6 0t6 0"),
        ("M0 0C1 1 2 2 3 3", "m0 0 3 3"),
        ("M100 100C101 102 104 102 105 100", "m100 100c1 2 4 2 5 0"),
        ("M0 0C0 5.522848 4.477152 10 10 10", "m0 0a10 10 0 0010 10"),
    ] {
        let path = Path::parse(data).expect("a path");
        assert_eq!(path.written(3e-3, Keep { stroke: true, start: true, ..Keep::default() }), text);
    }
}

#[test]
fn strokes_come_back_to_where_they_began() {
    let data = [
        "M108.579 519.975c-14.23 2.197-22.238 15.031-34.101 21.548-11.18 6.668-15.459-2.134-16.468-3.915-1.744-.796-1.6.749-4.299-1.981\
         C43.35 519.27 64.51 507.32 75.52 499.19 90.87 496.09 100.491 509.391 108.579 519.975z",
        "M.137.264Q3.3 7.711 5.123 4.456T.137.264z",
        "M10.123 5.456A4.987 4.987 0 0 1 .149 5.456 4.987 4.987 0 0 1 10.123 5.456z",
        "M1.23 4.567 8.91.123 4.56 9.87 1.23 4.567z",
        "M 188.3596 310.8171 C 198.5256 264.7781 218.8566 132.7231 231.3686 125.7821 C 247.7896 119.4911 376.8136 116.0071 389.6196 123.8271\
         C 401.2586 134.5041 410.9286 259.7091 410.9286 313.7501 C 401.3096 320.1631 325.3366 316.6181 305.8506 313.5531\
         C 301.6056 295.4011 301.4416 258.4351 293.7306 245.8151 C 284.4196 241.6861 270.0536 243.5671 253.0676 243.5671\
         C 253.8016 259.2311 233.9096 300.8421 233.9096 316.1921 C 225.3816 316.8271 201.5546 318.7341 188.3596 310.8171 z",
    ];
    for (data, tolerance) in data.into_iter().flat_map(|data| [1.0, 0.3, 0.05, 1e-3].map(|tolerance| (data, tolerance)))
    {
        let path = Path::parse(data).expect("a path");
        for keep in [
            Keep { stroke: true, ..Keep::default() },
            Keep::ALL,
            Keep { single: true, ..Keep::ALL },
            Keep { single: true, curves: true, stroke: true, ..Keep::default() },
        ] {
            let text = path.written(tolerance, keep);
            for read in [Path::parse_single(&text), Path::parse(&text)] {
                let read = read.expect("path data");
                let Some(Segment::Move(start)) = read.segments.first() else { panic!("{text}") };
                let ends: Vec<Point> = read.segments.iter().filter_map(Segment::end).collect();
                let (gap, last) = (ends[ends.len() - 1].single() - start.single(), path.segments.len() - 2);
                // What closing draws as the source did need not come back.
                let drawn = matches!(path.segments[last], Segment::Line(_)) && !keep.vertices;
                assert!(drawn || gap == Point::ZERO, "{tolerance} {keep:?}: {text} leaves {gap:?}");
            }
        }
    }
}

/// Ends what asks for the third time.
#[derive(Debug, Default)]
struct Impatient(AtomicU32);

impl Control for Impatient {
    fn stop(&self) -> Option<Stop> {
        (self.0.fetch_add(1, Relaxed) >= 2).then_some(Stop::Cancelled)
    }
    fn stage(&self, _: Stage, _: f32) {}
}

#[test]
fn one_long_path_asks_again_and_again_whether_to_go_on() {
    let lines = (0..5_000).map(|x| Segment::Line(Point::new(f64::from(x), f64::from(x * x % 7))));
    let path = Path { segments: [Segment::Move(Point::ZERO)].into_iter().chain(lines).collect() };
    let limits = Limits::default();
    let stopped = |work: &dyn Fn(Run<'_>) -> Option<Error>| {
        matches!(work(Run { limits: &limits, control: &Impatient::default() }), Some(Error::Stopped(_)))
    };
    assert!(stopped(&|run| path.write(0.01, Keep::ALL, run).err()));
    assert!(stopped(&|run| path.simplify(0.01, Keep::default(), run).err()));
}

#[test]
fn strokes_leave_and_arrive_as_they_did_however_short_their_handles_are() {
    let keep = Keep { stroke: true, ..Keep::default() };
    let mut random = Random(11);
    for round in 0..400 {
        let mut short = |at: Point| random.near(at, [0.0, 0.02, 0.2, 4.0][round % 4]);
        let ends = [(0.0, 0.0), (31.337, -7.713), (54.546, 19.191)].map(|(x, y)| Point::new(x, y));
        let mut segments = vec![Segment::Move(ends[0])];
        segments.extend(ends.windows(2).map(|ends| Segment::Cubic(short(ends[0]), short(ends[1]), ends[1])));
        let path = Path { segments };
        for (tolerance, keep) in [0.3, 0.05, 0.01].into_iter().flat_map(|t| [(t, keep), (t, Keep::ALL)]) {
            let text = path.written(tolerance, keep);
            let read = Path::parse(&text).unwrap();
            if read.segments.len() != path.segments.len() {
                continue;
            }
            for ((from, truth), (at, written)) in path.with_starts().zip(read.with_starts()).skip(1) {
                let [truth] = cubics_of(from, &truth, truth.end().unwrap())[..] else { continue };
                let [written] = cubics_of(at, &written, written.end().unwrap())[..] else { continue };
                let turned = curve::turns(&truth, &written, 1e-9);
                let handles = |[p0, c1, c2, p3]: [Point; 4]| [(c1 - p0).reach(), (c2 - p3).reach()];
                for (turned, (handle, left)) in turned.into_iter().zip(handles(truth).into_iter().zip(handles(written)))
                {
                    let gone = handle < 0.1 * tolerance && left < 1e-9;
                    assert!(!turned || gone, "{text} for {}", path.spelled());
                }
            }
        }
    }
}

#[test]
fn no_path_is_lost_for_handles_that_are_too_short_to_be_written() {
    let mut random = Random(5);
    for round in 0..400 {
        let mut short = |at: Point| random.near(at, [1e-8, 1e-6, 1e-4, 1e-2][round % 4]);
        let ends = [(11.996, 1.503), (15.0, 17.713), (54.546, 19.191)].map(|(x, y)| Point::new(x, y));
        let mut segments = vec![Segment::Move(ends[0])];
        segments.extend(ends.windows(2).map(|ends| Segment::Cubic(short(ends[0]), short(ends[1]), ends[1])));
        let path = Path { segments };
        let truth = path.bounds().unwrap();
        for tolerance in [2e-3, 2e-4, 2e-5, 2e-6] {
            let text = path.written(tolerance, Keep { single: true, ..Keep::ALL });
            let Some(drawn) = Path::parse_single(&text).and_then(|path| path.bounds()) else { panic!("{tolerance}") };
            let off = drawn.iter().zip(truth).map(|(drawn, truth)| (drawn - truth).abs()).fold(0.0, f64::max);
            assert!(off <= tolerance + 1e-5, "{tolerance}: {text} is off by {off}");
        }
    }
}
