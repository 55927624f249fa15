//! The shortest path data within a tolerance, by a search over ways to write each segment.
//!
//! A state is a way to have written the path up to a vertex: what it cost, the point as written (which later relative numbers start from), the
//! letter that need not be repeated, and the control point that a smooth curve would reflect. At each vertex the few cheapest states stay (a
//! beam); `options` has the ways on from one.

use super::number::{Decimal, Grid, Tail};
use super::{AT_ONCE, Keep, Path, Point, Segment, arcs};
use crate::{control::Run, error::Result};

/// States kept at each vertex.
const BEAM: usize = 4;

/// Beams at once: more than one command goes past.
const AHEAD: usize = 32;

/// Commands that wait to be chosen among, at most.
const WAITING: usize = 1 << 16;

/// What it costs to end apart from where the subpath began, and be closed by a line of no true direction.
const APART: u32 = 1000;

/// What it costs to write control points that single precision does not read as those of the source: where rasterisers divide a
/// curve may jump at the last bit. The same for a start that readers put apart, to which not all of them may come back.
const BENT: u32 = 4;

/// A state dearer than the best by this much cannot catch up by a letter and a separator.
const LAG: u32 = 3;

pub(super) fn write(path: &Path, tolerance: f64, keep: Keep, run: Run<'_>) -> Result<String> {
    let mut writer = Writer::new(path, tolerance, keep);
    for at in 0..writer.steps.len() {
        if at.is_multiple_of(AT_ONCE) {
            run.check()?;
        }
        writer.settle(at);
        let beam = std::mem::take(&mut writer.beams[at % AHEAD]);
        let round = arcs::round(&writer.steps[at..], tolerance, keep);
        for state in &beam.states[..beam.len] {
            writer.expand(at, state, round.as_ref());
        }
    }
    let end = writer.beams[writer.steps.len() % AHEAD];
    debug_assert!(end.len > 0, "no way to write {path:?}");
    if let Some(best) = end.best() {
        writer.spell(best);
    }
    Ok(writer.text)
}

/// A segment with its true ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) from: Point,
    pub(super) to: Point,
    pub(super) segment: Segment,
}

/// The kind of control point that a smooth curve may reflect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    None,
    Cubic,
    Quad,
}

/// One way to have written the path so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) cost: u32,
    /// The letter that further numbers repeat; 0 where none may.
    pub(super) last: u8,
    tail: Tail,
    /// The current point as a reader has it.
    pub(super) at: Point,
    /// The subpath's start as a reader has it.
    pub(super) start: Point,
    /// Both as a reader of single precision has them.
    pub(super) seen: Point,
    pub(super) began: Point,
    /// Both as one has them that adds in double precision.
    summed: Point,
    opened: Point,
    pub(super) control: Point,
    pub(super) curve: Curve,
    node: u32,
}

const FIRST: State = State {
    cost: 0,
    last: 0,
    tail: Tail::Open,
    at: Point::ZERO,
    start: Point::ZERO,
    seen: Point::ZERO,
    began: Point::ZERO,
    summed: Point::ZERO,
    opened: Point::ZERO,
    control: Point::ZERO,
    curve: Curve::None,
    node: u32::MAX,
};

impl State {
    /// Whether it is where its subpath began, whichever way a reader adds.
    fn is_back(&self) -> bool {
        self.seen == self.began && self.summed.single() == self.opened.single()
    }
}

#[derive(Clone, Copy)]
struct Beam {
    states: [State; BEAM],
    len: usize,
}

impl Default for Beam {
    fn default() -> Self {
        Self { states: [FIRST; BEAM], len: 0 }
    }
}

impl Beam {
    fn best(&self) -> Option<&State> {
        self.states[..self.len].iter().min_by_key(|state| state.cost)
    }
}

/// A command as chosen, and the one before.
#[derive(Clone, Copy)]
struct Node {
    before: u32,
    letter: u8,
    implicit: bool,
    /// Of an arc: large, sweep.
    flags: [bool; 2],
    count: u8,
    numbers: [Decimal; 6],
}

/// A command being put together on top of a state.
#[derive(Clone, Copy)]
pub(super) struct Draft {
    node: Node,
    pub(super) state: State,
}

impl Draft {
    pub(super) fn new(state: &State, letter: u8) -> Self {
        let implicit = letter == state.last;
        let mut next = *state;
        if !implicit {
            next.cost += 1;
            next.tail = Tail::Open;
        }
        next.last = letter;
        next.curve = Curve::None;
        let numbers = [Decimal::ZERO; 6];
        let node = Node { before: state.node, letter, implicit, flags: [false; 2], count: 0, numbers };
        Self { node, state: next }
    }

    /// What a reader of single precision has for a number, from where it starts if that is relative.
    fn read(&self, from: f64, number: Decimal) -> f64 {
        let relative = self.node.letter.is_ascii_lowercase();
        super::single(if relative { from } else { 0.0 } + super::single(number.value()))
    }

    /// The numbers that say where it arrives, by axes; `None` where it closes a subpath.
    fn end(&self) -> Option<[Option<Decimal>; 2]> {
        let (numbers, count) = (self.node.numbers, usize::from(self.node.count));
        match self.node.letter.to_ascii_lowercase() {
            b'z' => None,
            b'h' => Some([Some(numbers[0]), None]),
            b'v' => Some([None, Some(numbers[0])]),
            _ => Some([Some(numbers[count - 2]), Some(numbers[count - 1])]),
        }
    }

    /// Where a reader of single precision arrives, and where one that adds in double precision does.
    fn arrives(&self) -> [Point; 2] {
        let State { seen, began, summed, opened, .. } = self.state;
        let Some([x, y]) = self.end() else { return [began, opened] };
        let relative = self.node.letter.is_ascii_lowercase();
        let added = |from: f64, number: Decimal| if relative { from } else { 0.0 } + number.value();
        [
            Point::new(x.map_or(seen.x, |x| self.read(seen.x, x)), y.map_or(seen.y, |y| self.read(seen.y, y))),
            Point::new(x.map_or(summed.x, |x| added(summed.x, x)), y.map_or(summed.y, |y| added(summed.y, y))),
        ]
    }

    /// Whether it draws `segment` with other control points than those of the source, as single precision has both.
    fn bends(&self, segment: Segment) -> bool {
        let count = usize::from(self.node.count);
        let controls = match (segment, count) {
            (Segment::Cubic(first, second, _), 6) => [Some(first), Some(second)],
            (Segment::Cubic(_, control, _) | Segment::Quad(control, _), 4) => [Some(control), None],
            _ => [None; 2],
        };
        let written = self.node.numbers.as_chunks().0;
        controls.into_iter().flatten().zip(written).any(|(control, &[x, y])| {
            let from = self.state.seen;
            (self.read(from.x, x), self.read(from.y, y)) != (super::single(control.x), super::single(control.y))
        })
    }

    pub(super) fn push(&mut self, number: Decimal) {
        let (cost, tail) = number.cost(self.state.tail);
        self.state.cost += cost;
        self.state.tail = tail;
        self.node.numbers[usize::from(self.node.count)] = number;
        self.node.count += 1;
    }

    pub(super) fn push_pair(&mut self, [x, y]: [Decimal; 2]) {
        self.push(x);
        self.push(y);
    }

    /// Both flags of an arc: a space before them, nothing between or after.
    pub(super) fn push_flags(&mut self, large: bool, sweep: bool) {
        self.state.cost += 3;
        self.state.tail = Tail::Open;
        self.node.flags = [large, sweep];
    }

    /// The control point as a reader has it, for a curve that follows.
    pub(super) fn bend(&mut self, curve: Curve, control: Point) {
        self.state.curve = curve;
        self.state.control = control;
    }
}

pub(super) struct Writer {
    pub(super) steps: Vec<Step>,
    pub(super) grid: Grid,
    pub(super) tolerance: f64,
    pub(super) keep: Keep,
    nodes: Vec<Node>,
    /// Of the vertices ahead, each at its number modulo `AHEAD`.
    beams: [Beam; AHEAD],
    text: String,
    tail: Tail,
}

impl Writer {
    fn new(path: &Path, tolerance: f64, keep: Keep) -> Self {
        let mut start = Point::ZERO;
        let mut steps: Vec<Step> = Vec::with_capacity(path.segments.len());
        for (from, segment) in path.with_starts() {
            if let Segment::Move(to) = segment {
                start = to;
                // A move that is followed by another draws nothing.
                if matches!(steps.last(), Some(Step { segment: Segment::Move(_), .. })) && !keep.vertices {
                    steps.pop();
                }
            }
            steps.push(Step { from, to: segment.end().unwrap_or(start), segment });
        }
        if matches!(steps.last(), Some(Step { segment: Segment::Move(_), .. })) && !keep.vertices {
            steps.pop();
        }
        let mut beams = [Beam::default(); AHEAD];
        beams[0].len = 1;
        Self {
            grid: Grid::new(tolerance),
            tolerance,
            keep,
            nodes: Vec::new(),
            beams,
            steps,
            text: String::new(),
            tail: Tail::Open,
        }
    }

    /// Decides for the best way so far where too many wait, so that memory stays small.
    fn settle(&mut self, at: usize) {
        let beam = self.beams[at % AHEAD];
        let Some(best) = beam.best().filter(|_| self.nodes.len() > WAITING) else { return };
        self.spell(best);
        self.nodes.clear();
        self.beams = [Beam::default(); AHEAD];
        let beam = &mut self.beams[at % AHEAD];
        beam.states[0] = State { node: u32::MAX, ..*best };
        beam.len = 1;
    }

    /// How far apart points are the same: sums of decimals differ in their last bits.
    pub(super) fn same_point(&self) -> f64 {
        self.tolerance * 1e-3
    }

    /// Whether a stroke comes back at vertex `end` to where its subpath began, and is closed there. Browsers join the least gap,
    /// as sums of single precision leave it, at both ends by a line that leads anywhere, with spikes where joins are mitred.
    pub(super) fn returns(&self, end: usize) -> bool {
        let [Some(before), Some(close)] = [end.checked_sub(1), Some(end)].map(|at| self.steps.get(at?)) else {
            return false;
        };
        self.keep.stroke
            && close.segment == Segment::Close
            && !matches!(before.segment, Segment::Move(_))
            && (before.to - close.to).reach() <= self.same_point()
    }

    /// Whether a stroke [`returns`](Self::returns) to the vertex that the move at `at` leads to.
    fn comes_back(&self, at: usize) -> bool {
        let parts = |step: &Step| matches!(step.segment, Segment::Move(_) | Segment::Close);
        let end = self.steps[at + 1..].iter().position(parts);
        self.keep.stroke && end.is_some_and(|drawn| self.returns(at + 1 + drawn))
    }

    /// Hands in a command that leads to vertex `to`.
    pub(super) fn offer(&mut self, to: usize, mut draft: Draft) {
        let [seen, summed] = draft.arrives();
        let starts = matches!(draft.node.letter, b'm' | b'M');
        if self.keep.single {
            let Step { to: truth, segment, .. } = self.steps[to - 1];
            // Where the source itself arrives, or an absolute command would.
            let meant = |truth: f64, read: f64| {
                let first = self.grid.nearest(truth);
                let names = [Some(first), self.grid.second(truth, first)];
                read == super::single(truth)
                    || names.into_iter().flatten().any(|name| read == super::single(name.value()))
            };
            let [x, y] = draft.end().filter(|_| draft.node.letter.is_ascii_lowercase()).unwrap_or_default();
            if x.is_some() && !meant(truth.x, seen.x) || y.is_some() && !meant(truth.y, seen.y) {
                return;
            }
            if draft.bends(segment) {
                draft.state.cost += BENT;
            }
            draft.state.at = seen;
            if starts {
                draft.state.start = seen;
            }
        }
        let mut state = State { seen, summed, ..draft.state };
        if starts {
            (state.began, state.opened) = (seen, summed);
            if seen != summed.single() && self.comes_back(to - 1) {
                state.cost += BENT;
            }
        }
        if self.returns(to) && !state.is_back() {
            state.cost += APART;
        }
        if let Some(slot) = self.slot(to, &state) {
            state.node = self.nodes.len() as u32;
            self.nodes.push(draft.node);
            self.beams[to % AHEAD].states[slot] = state;
        }
    }

    /// Hands in a state that reaches vertex `to` without a command.
    pub(super) fn pass(&mut self, to: usize, state: &State) {
        if let Some(slot) = self.slot(to, state) {
            self.beams[to % AHEAD].states[slot] = *state;
        }
    }

    /// Where in the beam at vertex `to` a state belongs; `None` where it is not worth keeping.
    fn slot(&mut self, to: usize, state: &State) -> Option<usize> {
        let same_point = self.same_point();
        let beam = &mut self.beams[to % AHEAD];
        let (mut worst, mut best) = (0, u32::MAX);
        for (slot, other) in beam.states[..beam.len].iter().enumerate() {
            if (other.at - state.at).reach() <= same_point && (other.start - state.start).reach() <= same_point {
                // From the same point another letter to repeat saves a character at most.
                let same = other.last == state.last;
                if other.cost + u32::from(!same) <= state.cost {
                    return None;
                }
                if same || state.cost < other.cost {
                    return Some(slot);
                }
            }
            if other.cost >= beam.states[worst].cost {
                worst = slot;
            }
            best = best.min(other.cost);
        }
        if best != u32::MAX && state.cost > best + LAG {
            return None;
        }
        if beam.len < BEAM {
            beam.len += 1;
            return Some(beam.len - 1);
        }
        (state.cost < beam.states[worst].cost).then_some(worst)
    }

    /// Appends the commands that led to `state`.
    fn spell(&mut self, state: &State) {
        let mut chain = Vec::new();
        let mut node = state.node;
        while let Some(found) = self.nodes.get(node as usize) {
            chain.push(node);
            node = found.before;
        }
        for node in chain.iter().rev() {
            self.tail = self.nodes[*node as usize].append(self.tail, &mut self.text);
        }
    }
}

impl Node {
    fn append(&self, mut tail: Tail, text: &mut String) -> Tail {
        if !self.implicit {
            text.push(char::from(self.letter));
            tail = Tail::Open;
        }
        for (place, number) in self.numbers[..usize::from(self.count)].iter().enumerate() {
            if place == 3 && matches!(self.letter, b'a' | b'A') {
                text.push_str(if self.flags[0] { " 1" } else { " 0" });
                text.push(if self.flags[1] { '1' } else { '0' });
                tail = Tail::Open;
            }
            tail = number.append(tail, text);
        }
        tail
    }
}
