//! The ways to write one segment, or several as one.

use super::arcs::Round;
use super::curve::{raised, turns, within};
use super::number::{Decimal, Grid};
use super::write::{Curve, Draft, State, Step, Writer};
use super::{Point, Segment};

/// As many lines are tried as one.
const RUN: usize = 8;

/// A curve of a size this small against its coordinates is not worth trying absolute.
const FAR: f64 = 50.0;

/// What it costs to turn an end of a stroke. Only where there is no other way.
const TURNED: u32 = 1000;

impl Writer {
    /// Offers all ways on from `state`, which has the path up to segment `at` written.
    pub(super) fn expand(&mut self, at: usize, state: &State, round: Option<&Round>) {
        let step = self.steps[at];
        if self.skip(at, state) {
            self.pass(at + 1, state);
        }
        match step.segment {
            Segment::Move(to) => self.moves(at, state, to),
            Segment::Close => self.close(at, state),
            Segment::Line(_) => self.lines(at, state),
            Segment::Quad(control, to) => self.quad(at, state, &raised(step.from, control, to), control),
            Segment::Cubic(c1, c2, to) => self.cubic(at, state, &[step.from, c1, c2, to]),
            Segment::Arc(_) => {}
        }
        if let Some(round) = round {
            self.arc(at, state, round);
        }
    }

    fn near(&self, a: Point, b: Point) -> bool {
        (a - b).reach() <= self.tolerance * (1.0 + 1e-9)
    }

    /// Whether segment `at` may be left out: what it draws is drawn anyway, or lies within the tolerance of the point.
    fn skip(&self, at: usize, state: &State) -> bool {
        if self.keep.vertices {
            return false;
        }
        let Step { from, to, segment } = self.steps[at];
        let next = self.steps.get(at + 1);
        let closing = next.is_some_and(|next| next.segment == Segment::Close);
        let last = next.is_none_or(|next| matches!(next.segment, Segment::Move(_)));
        let free = self.keep.fill_only();
        match segment {
            Segment::Line(_) if closing && to == next.map_or(from, |next| next.to) && from != to => true,
            Segment::Line(_) if free && (last || closing) && self.near(state.start, to) => true,
            Segment::Close if free && last => true,
            Segment::Move(_) | Segment::Close | Segment::Arc(_) => false,
            _ if !free || !self.near(state.at, from) || !self.near(state.at, to) => false,
            Segment::Line(_) => true,
            Segment::Quad(control, _) => self.near(state.at, control),
            Segment::Cubic(c1, c2, _) => self.near(state.at, c1) && self.near(state.at, c2),
        }
    }

    fn place_point(&self, point: Point, base: Point) -> ([Decimal; 2], Point) {
        rounded(&self.grid, point, base)
    }

    /// The shortest numbers for a point, and their neighbours within the tolerance: what follows may start better from those.
    fn places(&self, point: Point, base: Point) -> [Option<([Decimal; 2], Point)>; 4] {
        let off = point - base;
        let (numbers, first) = self.place_point(point, base);
        let [x, y] = [self.grid.second(off.x, numbers[0]), self.grid.second(off.y, numbers[1])];
        let place = |x: Decimal, y: Decimal| ([x, y], base + Point::new(x.value(), y.value()));
        [
            Some((numbers, first)),
            x.map(|x| place(x, numbers[1])),
            y.map(|y| place(numbers[0], y)),
            x.zip(y).map(|(x, y)| place(x, y)),
        ]
    }

    /// Where `state` began the subpath, if that is to end there at vertex `end`.
    fn back(&self, end: usize, state: &State, base: Point) -> Option<([Decimal; 2], Point)> {
        if !self.returns(end) {
            return None;
        }
        // So near that single precision makes it the same.
        let number = |to: f64, base: f64, from: f64| {
            let size = if to == 0.0 { from } else { to };
            Grid::new(size.abs() * f64::from(f32::EPSILON) / 8.0).nearest(to - base)
        };
        let (start, at) = (state.began, state.seen);
        let from = if base == Point::ZERO { base } else { at };
        let numbers = [number(start.x, from.x, at.x), number(start.y, from.y, at.y)];
        Some((numbers, base + Point::new(numbers[0].value(), numbers[1].value())))
    }

    /// The places for vertex `end` at `point`; where the subpath began first, if it is to end there.
    fn ends(&self, end: usize, state: &State, point: Point, base: Point) -> [Option<([Decimal; 2], Point)>; 4] {
        let near = self.places(point, base);
        match self.back(end, state, base) {
            Some(back) => [Some(back), near[0], near[1], near[2]],
            None => near,
        }
    }

    fn moves(&mut self, at: usize, state: &State, to: Point) {
        if state.last == 0 && at > 0 && state.at == state.start && self.near(state.at, to) && !self.keep.vertices {
            self.pass(at + 1, state); // A closed subpath's start is where the point is already.
        }
        for (letter, base) in [(b'm', state.at), (b'M', Point::ZERO)] {
            for (numbers, point) in self.places(to, base).into_iter().flatten() {
                let mut draft = Draft::new(state, letter);
                draft.push_pair(numbers);
                draft.state.at = point;
                draft.state.start = point;
                draft.state.last = letter - 1;
                self.offer(at + 1, draft);
            }
        }
    }

    fn close(&mut self, at: usize, state: &State) {
        let mut draft = Draft::new(state, b'z');
        draft.state.at = state.start;
        draft.state.last = 0;
        self.offer(at + 1, draft);
    }

    /// The line at `at`, alone and together with lines that follow.
    fn lines(&mut self, at: usize, state: &State) {
        self.line_to(at + 1, state, self.steps[at].to, &[]);
        if self.keep.vertices {
            return;
        }
        let mut between = [Point::ZERO; RUN];
        let mut before = self.steps[at];
        for count in 1..RUN {
            let Some(&next) = self.steps.get(at + count).filter(|next| matches!(next.segment, Segment::Line(_))) else {
                return;
            };
            between[count - 1] = before.to;
            let (first, second) = (before.to - before.from, next.to - next.from);
            // A corner shows as a join.
            if self.keep.stroke && first.dot(second) < 0.99 * first.length() * second.length() {
                return;
            }
            if !along(self.steps[at].from, next.to, &between[..count], self.tolerance) {
                return;
            }
            self.line_to(at + count + 1, state, next.to, &between[..count]);
            before = next;
        }
    }

    /// A line from the state's point to the true point `to`, which is vertex `end`, past the points `between`.
    fn line_to(&mut self, end: usize, state: &State, to: Point, between: &[Point]) {
        let tolerance = self.tolerance;
        self.line_if(end, state, to, |from, to| along(from, to, between, tolerance));
    }

    fn line_if(&mut self, end: usize, state: &State, to: Point, fits: impl Fn(Point, Point) -> bool) {
        let at = state.at;
        let limit = self.tolerance * (1.0 + 1e-9);
        let (level, upright) = match self.returns(end) {
            true => (state.seen.y == state.began.y, state.seen.x == state.began.x),
            false => ((to.y - at.y).abs() <= limit, (to.x - at.x).abs() <= limit),
        };
        for (base, [line, across, down]) in [(at, [b'l', b'h', b'v']), (Point::ZERO, [b'L', b'H', b'V'])] {
            for ([x, y], spot) in self.ends(end, state, to, base).into_iter().flatten() {
                let (letter, point) = match (level, upright) {
                    (true, _) => (across, Point::new(spot.x, at.y)),
                    (_, true) => (down, Point::new(at.x, spot.y)),
                    _ => (line, spot),
                };
                if fits(at, point) {
                    let mut draft = Draft::new(state, letter);
                    if letter != down {
                        draft.push(x);
                    }
                    if letter != across {
                        draft.push(y);
                    }
                    draft.state.at = point;
                    self.offer(end, draft);
                }
                // Where `l` need not be repeated it may cost as much, and leave more ways on.
                if letter != line && state.last == line && fits(at, spot) {
                    let mut draft = Draft::new(state, line);
                    draft.push_pair([x, y]);
                    draft.state.at = spot;
                    self.offer(end, draft);
                }
            }
        }
    }

    fn cubic(&mut self, at: usize, state: &State, cubic: &[Point; 4]) {
        let [p0, c1, c2, to] = *cubic;
        // Where both handles meet in one point of a parabola.
        let control = ((c1 + c2) * 3.0 - p0 - to) * 0.25;
        let off = raised(p0, control, to)[1] - c1;
        let stays = self.keep.cubics && matches!(self.steps[at].segment, Segment::Cubic(..));
        if !stays && off.reach() <= 4.0 * self.tolerance {
            self.quad(at, state, cubic, control);
        }
        if !self.keep.vertices && straight(cubic, self.tolerance, self.keep.stroke) {
            let tolerance = self.tolerance;
            self.line_if(at + 1, state, to, |from, point| flat(from, point, cubic, tolerance));
        }
        let span = (c1 - p0).reach().max((c2 - p0).reach()).max((to - p0).reach());
        for (base, letters) in [(state.at, [b'c', b's']), (Point::ZERO, [b'C', b'S'])] {
            // Far from the origin of coordinates absolute numbers have two digits more each.
            let far = p0.x.abs().min(p0.y.abs()) > FAR * span;
            if base == Point::ZERO && far && !self.keep.single && !self.returns(at + 1) {
                break;
            }
            for end in self.ends(at + 1, state, to, base).into_iter().flatten() {
                self.cubic_to(at, state, cubic, base, letters, end);
            }
        }
    }

    /// The cubic with `end` as numbers and point.
    fn cubic_to(
        &mut self,
        at: usize,
        state: &State,
        cubic: &[Point; 4],
        base: Point,
        letters: [u8; 2],
        end: ([Decimal; 2], Point),
    ) {
        let (end, point) = end;
        let (first, first_at) = self.place_point(cubic[1], base);
        let (second, second_at) = self.place_point(cubic[2], base);
        let mut written = [state.at, first_at, second_at, point];
        let mut numbers = [first, second];
        let turned = self.turned(cubic, &written);
        let gone = [(base == state.at).then_some(([Decimal::ZERO; 2], base)), Some((end, point))];
        let mut draft = Draft::new(state, letters[0]);
        for which in [1, 2] {
            if turned[which - 1] && !self.turn_back(cubic, base, &mut written, &mut numbers, (which, gone[which - 1])) {
                draft.state.cost += TURNED;
            }
        }
        let second_at = written[2];
        let [first, second] = numbers;
        self.relax(cubic, base, &mut written, &mut numbers, 1);
        self.relax(cubic, base, &mut written, &mut numbers, 2);
        numbers.into_iter().chain([end]).for_each(|pair| draft.push_pair(pair));
        draft.state.at = point;
        draft.bend(Curve::Cubic, written[2]);
        self.offer(at + 1, draft);
        let reflected = if state.curve == Curve::Cubic { state.at * 2.0 - state.control } else { state.at };
        let mut written = [state.at, reflected, second_at, point];
        if self.fits(cubic, &written) {
            let mut numbers = [first, second];
            self.relax(cubic, base, &mut written, &mut numbers, 2);
            let mut draft = Draft::new(state, letters[1]);
            draft.push_pair(numbers[1]);
            draft.push_pair(end);
            draft.state.at = point;
            draft.bend(Curve::Cubic, written[2]);
            self.offer(at + 1, draft);
        }
    }

    /// Takes handle `which` (1 or 2) away where it leads nowhere else then, or writes it with more digits; one that is
    /// shorter than those goes. Whether it does not turn any more.
    fn turn_back(
        &self,
        cubic: &[Point; 4],
        base: Point,
        written: &mut [Point; 4],
        numbers: &mut [[Decimal; 2]; 2],
        (which, gone): (usize, Option<([Decimal; 2], Point)>),
    ) -> bool {
        let end = 3 * (which - 1);
        let [fine, finest] = [0.1, 0.01].map(|share| {
            // With the end that it belongs to.
            let most = (1.0 - share) * self.tolerance;
            let off = written[end] - cubic[end];
            let to = cubic[which] + Point::new(off.x.clamp(-most, most), off.y.clamp(-most, most));
            rounded(&Grid::new(share * self.tolerance), to, base)
        });
        let ways = [(gone, true), (Some(fine), true), (Some(finest), true), (gone, false)];
        for ((number, at), keeps) in ways.into_iter().filter_map(|(way, keeps)| Some((way?, keeps))) {
            let mut other = *written;
            other[which] = at;
            if self.strays_little(cubic, &other) && !(keeps && self.turned(cubic, &other)[which - 1]) {
                (*written, numbers[which - 1]) = (other, number);
                return true;
            }
        }
        false
    }

    /// Whether the cubic as written stays within the tolerance of the true one, and a stroke its directions.
    fn fits(&self, cubic: &[Point; 4], written: &[Point; 4]) -> bool {
        self.strays_little(cubic, written) && self.turned(cubic, written) == [false; 2]
    }

    fn strays_little(&self, cubic: &[Point; 4], written: &[Point; 4]) -> bool {
        if self.keep.vertices
            && (written[1] - cubic[1]).reach().max((written[2] - cubic[2]).reach()) > self.tolerance * (1.0 + 1e-9)
        {
            return false;
        }
        let off = [0, 1, 2, 3].map(|place| written[place] - cubic[place]);
        within(off.map(|p| p.x), self.tolerance) && within(off.map(|p| p.y), self.tolerance)
    }

    /// Whether the ends of a stroke would turn.
    fn turned(&self, cubic: &[Point; 4], written: &[Point; 4]) -> [bool; 2] {
        if self.keep.stroke { turns(cubic, written, self.same_point()) } else { [false; 2] }
    }

    /// Takes a digit from both numbers of control point `which` (1 or 2) where the curve stays within the tolerance.
    fn relax(
        &self,
        cubic: &[Point; 4],
        base: Point,
        written: &mut [Point; 4],
        numbers: &mut [[Decimal; 2]; 2],
        which: usize,
    ) {
        if self.keep.vertices {
            return;
        }
        let truth = cubic[which];
        let mut errors = [0, 1, 2, 3].map(|place| written[place].x - cubic[place].x);
        if let Some((number, value)) = self.coarser(truth.x, base.x, numbers[which - 1][0], &mut errors, which)
            && self.moves_control(cubic, written, which, Point { x: value, ..written[which] })
        {
            numbers[which - 1][0] = number;
        }
        let mut errors = [0, 1, 2, 3].map(|place| written[place].y - cubic[place].y);
        if let Some((number, value)) = self.coarser(truth.y, base.y, numbers[which - 1][1], &mut errors, which)
            && self.moves_control(cubic, written, which, Point { y: value, ..written[which] })
        {
            numbers[which - 1][1] = number;
        }
    }

    /// Moves control point `which`, unless the ends of a stroke would turn by that; whether it did.
    fn moves_control(&self, cubic: &[Point; 4], written: &mut [Point; 4], which: usize, to: Point) -> bool {
        let mut other = *written;
        other[which] = to;
        let may = self.turned(cubic, &other) == [false; 2];
        if may {
            *written = other;
        }
        may
    }

    fn coarser(
        &self,
        truth: f64,
        base: f64,
        number: Decimal,
        errors: &mut [f64; 4],
        which: usize,
    ) -> Option<(Decimal, f64)> {
        let coarse = Grid::coarser(truth - base, number)?;
        let value = base + coarse.value();
        errors[which] = value - truth;
        within(*errors, self.tolerance).then_some((coarse, value))
    }

    /// The cubic as a quadratic of about this control point.
    fn quad(&mut self, at: usize, state: &State, cubic: &[Point; 4], control: Point) {
        let to = cubic[3];
        for (base, letter, smooth) in [(state.at, b'q', b't'), (Point::ZERO, b'Q', b'T')] {
            let (end, point) = self.back(at + 1, state, base).unwrap_or_else(|| self.place_point(to, base));
            let reflected = if state.curve == Curve::Quad { state.at * 2.0 - state.control } else { state.at };
            if self.fits(cubic, &raised(state.at, reflected, point)) {
                let mut draft = Draft::new(state, smooth);
                draft.push_pair(end);
                draft.state.at = point;
                draft.bend(Curve::Quad, reflected);
                self.offer(at + 1, draft);
            }
            let (mut numbers, mut near) = self.place_point(control, base);
            if !matches!(self.steps[at].segment, Segment::Quad(..)) && !self.fits(cubic, &raised(state.at, near, point))
            {
                continue;
            }
            for axis in [0, 1] {
                let truth = if axis == 0 { control.x - base.x } else { control.y - base.y };
                let Some(number) = Grid::coarser(truth, numbers[axis]) else { continue };
                let mut moved = near;
                if axis == 0 {
                    moved.x = base.x + number.value()
                } else {
                    moved.y = base.y + number.value()
                }
                if (moved - control).reach() < 5.0 * self.tolerance && self.fits(cubic, &raised(state.at, moved, point))
                {
                    (numbers[axis], near) = (number, moved);
                }
            }
            let mut draft = Draft::new(state, letter);
            draft.push_pair(numbers);
            draft.push_pair(end);
            draft.state.at = point;
            draft.bend(Curve::Quad, near);
            self.offer(at + 1, draft);
        }
    }

    /// An arc over the segments from `at` on that `round` covers.
    fn arc(&mut self, at: usize, state: &State, round: &Round) {
        for (letter, base) in [(b'a', state.at), (b'A', Point::ZERO)] {
            let vertex = at + round.count;
            let back = self.back(vertex, state, base).and_then(|(end, point)| {
                round.radii(state.at, point, self.tolerance).map(|(radii, large)| (radii, large, end, point))
            });
            let Some((radii, large, end, point)) = back.or_else(|| self.arc_numbers(state.at, round, base)) else {
                continue;
            };
            let mut draft = Draft::new(state, letter);
            radii.iter().for_each(|number| draft.push(*number));
            draft.push_flags(large, round.sweep);
            draft.push_pair(end);
            draft.state.at = point;
            self.offer(vertex, draft);
        }
    }

    /// Radii, rotation and end; more digits at the end where the arc needs them, as one of nearly half a turn does.
    fn arc_numbers(
        &self,
        from: Point,
        round: &Round,
        base: Point,
    ) -> Option<([Decimal; 3], bool, [Decimal; 2], Point)> {
        for share in [1.0, 1e-1, 1e-2, 1e-4, 1e-6, 1e-8] {
            // With more digits the arc moves as its start did, whole: the ends of one that is nearly a circle lie close together.
            let (grid, to) = match share {
                1.0 => (self.grid, round.to),
                _ => (Grid::new(self.tolerance * share), round.to + (from - round.from) * (1.0 - share)),
            };
            let end = [grid.nearest(to.x - base.x), grid.nearest(to.y - base.y)];
            let point = base + Point::new(end[0].value(), end[1].value());
            if let Some((radii, large)) = round.radii(from, point, self.tolerance) {
                return Some((radii, large, end, point));
            }
            if !round.exact {
                return None;
            }
        }
        let exact = Grid::new(0.0);
        let to = from + (round.to - round.from);
        let end = [exact.nearest(to.x - base.x), exact.nearest(to.y - base.y)];
        Some((round.finest(), round.large, end, base + Point::new(end[0].value(), end[1].value())))
    }
}

/// Whether all `points` lie, in their order, within `tolerance` of the line.
pub(super) fn along(from: Point, to: Point, points: &[Point], tolerance: f64) -> bool {
    if points.is_empty() {
        return true;
    }
    let chord = to - from;
    let square = chord.dot(chord);
    let mut last = 0.0;
    points.iter().all(|point| {
        let share = if square > 0.0 { ((*point - from).dot(chord) / square).clamp(last, 1.0) } else { 0.0 };
        last = share;
        (from + chord * share - *point).reach() <= tolerance * (1.0 + 1e-9)
    })
}

/// Whether a cubic could be a line: both handles run along its chord. A stroke's joins show the handles' directions too.
pub(super) fn straight(cubic: &[Point; 4], tolerance: f64, stroke: bool) -> bool {
    let chord = cubic[3] - cubic[0];
    let square = chord.dot(chord);
    let reach = 3.0 * tolerance;
    let (first, second) = (cubic[1] - cubic[0], cubic[2] - cubic[0]);
    let ordered = first.dot(chord) >= 0.0 && second.dot(chord) <= square;
    let near = |handle: Point| handle.cross(chord).abs() <= reach * square.sqrt();
    let aligned = |handle: Point| !stroke || handle.cross(chord).abs() <= 0.05 * handle.dot(chord).abs();
    square > 0.0 && ordered && near(first) && near(second) && aligned(first) && aligned(cubic[3] - cubic[2])
}

/// Whether the line stays within `tolerance` of a straight cubic.
pub(super) fn flat(from: Point, to: Point, cubic: &[Point; 4], tolerance: f64) -> bool {
    let chord = to - from;
    let square = chord.dot(chord);
    let foot = |point: Point| {
        let share = if square > 0.0 { ((point - from).dot(chord) / square).clamp(0.0, 1.0) } else { 0.0 };
        from + chord * share - point
    };
    let off = [from - cubic[0], foot(cubic[1]), foot(cubic[2]), to - cubic[3]];
    within(off.map(|p| p.x), tolerance) && within(off.map(|p| p.y), tolerance)
}

/// The numbers nearest to a point, from `base` on, and the point they name.
fn rounded(grid: &Grid, point: Point, base: Point) -> ([Decimal; 2], Point) {
    let (x, y) = (grid.nearest(point.x - base.x), grid.nearest(point.y - base.y));
    ([x, y], base + Point::new(x.value(), y.value()))
}
