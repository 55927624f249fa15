//! Indices to LZW codes where colours may be a little off, if that spares enough bits.
//!
//! Phrases are chosen by bits and errors a pixel, at one price for both, two phrases at a time. Errors are diffused to
//! the pixels behind and below, so that colours stay true in the mean.

use super::compress::Bits;
use crate::{codec::sequence::Pixel, control::Run, error::Result};

/// Bits of the longest code.
const MOST_BITS: u32 = 12;
const MOST_CODES: u16 = 1 << MOST_BITS;
/// No error of a pixel is worth more bits than this: so many spell it out.
pub(super) const MOST_SPARED: f32 = 11.0;
/// Paths followed at once.
const MOST_PATHS: usize = 48;
/// How many phrases are looked behind of.
const MOST_ENDS: usize = 2;
/// Pixels by which a path may be dearer than the best so far and still be followed.
const PATIENCE: f32 = 8.0;
/// Phrases between two questions whether to go on; one takes some microseconds.
const STRIDE: u32 = 1 << 10;
/// Share of an error that counts by itself; the rest is counted with what was diffused to the pixel.
const PLAIN: f32 = 0.25;
/// Shares of an error that go to the right, to the left below, below, and to the right below: 0.8 in sum, because the rest
/// would be seen as noise, as Floyd and Steinberg have them otherwise but for more to the right.
const RIGHT: f32 = 0.4;
const BELOW: [f32; 3] = [0.15, 0.2, 0.05];

/// No code: a child is never the first.
const NONE: u16 = 0;

/// Luma, and two weighted differences of colour from it.
pub(super) type Point = [f32; 3];

pub(super) fn point(colour: Pixel) -> Point {
    let [r, g, b, _] = colour.map(f32::from);
    let y = 0.25 * r + 0.625 * g + 0.125 * b;
    [y, 0.387 * (r - y), 0.283 * (b - y)]
}

/// How far apart two colours are; its unit is the square of a step of luma.
pub(super) fn distance(one: Point, other: Point) -> f32 {
    square([one[0] - other[0], one[1] - other[1], one[2] - other[2]])
}

fn square(p: Point) -> f32 {
    p[0] * p[0] + p[1] * p[1] + p[2] * p[2]
}

fn add(p: Point, q: Point, share: f32) -> Point {
    [p[0] + q[0] * share, p[1] + q[1] * share, p[2] + q[2] * share]
}

/// A pixel to be coded.
pub(super) struct Wish {
    /// The index of its colour, or of the nearest; `None` where it has to be left.
    pub(super) nearest: Option<u8>,
    pub(super) colour: Point,
    /// What the canvas shows.
    pub(super) base: Point,
    /// What it costs in bits to leave it; infinite where it may not be.
    pub(super) left: f32,
    /// What a unit of distance from its colour costs in bits.
    pub(super) weight: f32,
}

/// Pixels to be coded.
pub(super) struct Wishes<'a> {
    pub(super) pixels: &'a [Wish],
    /// Pixels of a row.
    pub(super) width: usize,
    pub(super) entries: &'a [Pixel],
    pub(super) transparent: Option<u8>,
    /// Whether pixels that need not be left may be.
    pub(super) leaves: bool,
}

impl Wishes<'_> {
    /// Whether a pixel may be left as it is.
    fn may_leave(&self, wish: &Wish) -> bool {
        wish.nearest.is_none() || self.leaves && wish.left <= MOST_SPARED
    }

    /// Bits that hold every index, at least 2.
    fn bits(&self) -> u8 {
        let most = self.entries.len().saturating_sub(1).max(self.transparent.unwrap_or(0).into());
        (usize::BITS - most.leading_zeros()).max(2) as u8
    }
}

/// Pixels coded.
pub(super) struct Traded {
    /// The code size and the codes.
    pub(super) codes: Vec<u8>,
    /// What each pixel became.
    pub(super) indices: Vec<u8>,
    /// What the errors cost, in bits.
    error: f32,
}

impl Traded {
    /// In bits, errors counted.
    pub(super) fn price(&self) -> f32 {
        self.codes.len() as f32 * 8.0 + self.error
    }
}

#[derive(Debug, Clone, Copy)]
struct Path {
    code: u16,
    error: f32,
    /// The error that goes to the next pixel.
    carried: Point,
}

/// A phrase and its price a pixel.
#[derive(Debug, Clone, Copy)]
struct Phrase {
    path: Path,
    length: usize,
    price: f32,
}

/// A dictionary that grows as a decoder's does.
pub(super) struct Trader {
    child: Vec<u16>,
    sibling: Vec<u16>,
    last: Vec<u8>,
    first: Vec<u8>,
    parent: Vec<u16>,
    next: u16,
    width: u32,
    bits: u8,
    points: Vec<Point>,
    /// For each index the others by their distance, itself first.
    near: Vec<Vec<(f32, u8)>>,
    /// Errors of the rows above, pixel by pixel, one before the first.
    above: Vec<Point>,
    paths: Vec<Path>,
    further: Vec<Path>,
    ends: Vec<Phrase>,
}

impl Trader {
    pub(super) fn new() -> Self {
        let codes = || vec![NONE; MOST_CODES.into()];
        Self {
            child: codes(),
            sibling: codes(),
            last: vec![0; MOST_CODES.into()],
            first: vec![0; MOST_CODES.into()],
            parent: codes(),
            next: 0,
            width: 0,
            bits: 2,
            points: Vec::new(),
            near: Vec::new(),
            above: Vec::new(),
            paths: Vec::new(),
            further: Vec::new(),
            ends: Vec::new(),
        }
    }

    fn start(&mut self, wishes: &Wishes<'_>) {
        self.bits = wishes.bits();
        for code in 0..1u16 << self.bits {
            (self.last[usize::from(code)], self.first[usize::from(code)]) = (code as u8, code as u8);
        }
        self.points = wishes.entries.iter().map(|&entry| point(entry)).collect();
        self.points.resize(256, [0.0; 3]);
        self.above.clear();
        self.above.resize(wishes.pixels.len() + wishes.width + 2, [0.0; 3]);
        let drawn = |(index, entry): &(usize, &Pixel)| entry[3] != 0 && wishes.transparent != Some(*index as u8);
        let drawn: Vec<usize> = wishes.entries.iter().enumerate().filter(drawn).map(|(index, _)| index).collect();
        self.near = vec![Vec::new(); 256];
        for &one in &drawn {
            let far = |other: usize| (distance(self.points[one], self.points[other]), other as u8);
            let mut near: Vec<_> = drawn.iter().map(|&other| far(other)).collect();
            near.sort_unstable_by(|a, b| {
                a.0.total_cmp(&b.0).then((a.1 != one as u8, a.1).cmp(&(b.1 != one as u8, b.1)))
            });
            self.near[one] = near;
        }
    }

    fn clear(&mut self) {
        self.next = (1 << self.bits) + 2;
        self.width = u32::from(self.bits) + 1;
        self.child[..usize::from(self.next)].fill(NONE);
    }

    /// Codes the pixels. A dictionary that is full is given up: in what is not flat, phrases of long ago seldom fit.
    pub(super) fn code(&mut self, wishes: &Wishes<'_>, run: Run<'_>) -> Result<Traded> {
        self.start(wishes);
        let (clear, mut out) = (1u16 << self.bits, Bits::default());
        let mut indices = Vec::with_capacity(wishes.pixels.len());
        let (mut carried, mut error, mut previous, mut count) = ([0.0; 3], 0.0, None::<u16>, 0u32);
        self.clear();
        out.push(clear, self.width);
        while indices.len() < wishes.pixels.len() {
            count = count.wrapping_add(1);
            if count.is_multiple_of(STRIDE) {
                run.check()?;
            }
            let at = indices.len();
            let (code, length) = self.step(wishes, at, carried, previous);
            out.push(code, self.width);
            self.spell(code, length, &mut indices);
            let drawn = self.settle(wishes, at, &indices[at..], carried);
            (error, carried) = (error + drawn.error, drawn.carried);
            if let Some(before) = previous {
                self.grow(before, self.first[usize::from(code)]);
            }
            previous = Some(code);
            if self.next == MOST_CODES && indices.len() < wishes.pixels.len() {
                out.push(clear, self.width);
                self.clear();
                previous = None;
            }
        }
        out.push(clear + 1, self.width);
        let codes = [vec![self.bits], out.finish()].concat();
        Ok(Traded { codes, indices, error })
    }

    /// Hands down the errors of pixels that are chosen.
    fn settle(&mut self, wishes: &Wishes<'_>, at: usize, indices: &[u8], carried: Point) -> Path {
        let mut path = Path { code: 0, error: 0.0, carried };
        for (at, &index) in (at..).zip(indices) {
            path = self.follow(wishes, at, &path, 0, index).unwrap_or(path);
            for (below, share) in (at + wishes.width..).zip(BELOW) {
                self.above[below] = add(self.above[below], path.carried, share / RIGHT);
            }
        }
        path
    }

    /// The path that goes on with `index`, if it may.
    fn follow(&self, wishes: &Wishes<'_>, at: usize, path: &Path, code: u16, index: u8) -> Option<Path> {
        let wish = &wishes.pixels[at];
        let leaves = wishes.transparent == Some(index);
        if leaves && !wishes.may_leave(wish) || !leaves && wish.nearest.is_none() {
            return None;
        }
        if wish.nearest.is_none() {
            return Some(Path { code, error: path.error, carried: [0.0; 3] });
        }
        let shown = if leaves { wish.base } else { self.points[usize::from(index)] };
        let plain = add(shown, wish.colour, -1.0);
        let meant = add(add(plain, path.carried, 1.0), self.above[at + 1], 1.0);
        let exact = square(plain) == 0.0 || leaves && wish.left == 0.0;
        let price = wish.weight * (PLAIN * square(plain) + (1.0 - PLAIN) * square(meant));
        let error = if exact { path.error } else { path.error + price };
        Some(Path { code, error, carried: meant.map(|axis| axis * RIGHT) })
    }

    /// Collects the paths of one pixel.
    fn begin(&mut self, wishes: &Wishes<'_>, at: usize, carried: Point) {
        let wish = &wishes.pixels[at];
        let start = Path { code: 0, error: 0.0, carried };
        let mut paths = std::mem::take(&mut self.paths);
        paths.clear();
        paths.extend(wishes.transparent.and_then(|index| self.follow(wishes, at, &start, index.into(), index)));
        if let Some(nearest) = wish.nearest {
            for &(far, index) in &self.near[usize::from(nearest)] {
                if paths.len() == MOST_PATHS || !paths.is_empty() && wish.weight * far > MOST_SPARED {
                    break;
                }
                paths.extend(self.follow(wishes, at, &start, index.into(), index));
            }
        }
        self.paths = paths;
    }

    /// The phrase at `at` that costs the fewest bits a pixel; the best of some lengths are kept in `ends`.
    fn best(&mut self, wishes: &Wishes<'_>, at: usize, carried: Point) -> Option<Phrase> {
        let bits = self.width as f32;
        self.begin(wishes, at, carried);
        self.ends.clear();
        for length in 1.. {
            let cheapest = self.paths.iter().min_by(|a, b| a.error.total_cmp(&b.error).then(a.code.cmp(&b.code)));
            let Some(&path) = cheapest else { break };
            let phrase = Phrase { path, length, price: (bits + path.error) / length as f32 };
            let place = self.ends.partition_point(|end| end.price <= phrase.price);
            if place < MOST_ENDS {
                self.ends.insert(place, phrase);
                self.ends.truncate(MOST_ENDS);
            }
            if at + length == wishes.pixels.len() {
                break;
            }
            let limit = self.ends[0].price * (length as f32 + PATIENCE);
            self.go_on(wishes, at + length, limit);
        }
        self.ends.first().copied()
    }

    /// Follows all paths by a pixel.
    fn go_on(&mut self, wishes: &Wishes<'_>, at: usize, limit: f32) {
        let mut further = std::mem::take(&mut self.further);
        further.clear();
        for path in &self.paths {
            let mut child = self.child[usize::from(path.code)];
            while child != NONE {
                let next = self.follow(wishes, at, path, child, self.last[usize::from(child)]);
                further.extend(next.filter(|next| next.error - path.error <= MOST_SPARED && next.error <= limit));
                child = self.sibling[usize::from(child)];
            }
        }
        if further.len() > MOST_PATHS {
            further.select_nth_unstable_by(MOST_PATHS, |a, b| a.error.total_cmp(&b.error).then(a.code.cmp(&b.code)));
            further.truncate(MOST_PATHS);
        }
        self.further = std::mem::replace(&mut self.paths, further);
    }

    /// The code and length of the phrase that together with the best one behind it costs the fewest bits a pixel.
    fn farthest(&mut self, wishes: &Wishes<'_>, at: usize, carried: Point) -> (u16, usize) {
        let bits = self.width as f32;
        let Some(mut best) = self.best(wishes, at, carried) else {
            // Nothing is near: there is no table without a colour.
            return (wishes.pixels[at].nearest.or(wishes.transparent).unwrap_or(0).into(), 1);
        };
        let mut least = f32::INFINITY;
        for phrase in std::mem::take(&mut self.ends) {
            let end = at + phrase.length;
            let behind = if end < wishes.pixels.len() { self.best(wishes, end, phrase.path.carried) } else { None };
            let (spent, pixels) = behind.map_or((0.0, 0), |next| (next.price * next.length as f32, next.length));
            let price = (bits + phrase.path.error + spent) / (phrase.length + pixels) as f32;
            if price < least {
                (least, best) = (price, phrase);
            }
        }
        (best.path.code, best.length)
    }

    /// The next phrase. The code that is being made, which stands for the last phrase and the first index of this one, may
    /// be this one.
    fn step(&mut self, wishes: &Wishes<'_>, at: usize, carried: Point, previous: Option<u16>) -> (u16, usize) {
        let Some(before) = previous else { return self.farthest(wishes, at, carried) };
        let tentative = self.link(before, self.first[usize::from(before)]);
        let found = self.farthest(wishes, at, carried);
        if tentative {
            self.child[usize::from(before)] = self.sibling[usize::from(self.next)];
        }
        found
    }

    fn spell(&self, code: u16, length: usize, indices: &mut Vec<u8>) {
        let start = indices.len();
        indices.resize(start + length, 0);
        let mut code = usize::from(code);
        for index in indices[start..].iter_mut().rev() {
            *index = self.last[code];
            code = self.parent[code].into();
        }
    }

    /// Does what a decoder does behind `before` and a phrase that begins with `index`.
    fn grow(&mut self, before: u16, index: u8) {
        self.link(before, index);
        self.next += 1;
        if u32::from(self.next) == 1 << self.width && self.width < MOST_BITS {
            self.width += 1;
        }
    }

    /// Makes the next code mean `before` and `index`; whether no other code does already.
    fn link(&mut self, before: u16, index: u8) -> bool {
        let (before_at, new) = (usize::from(before), usize::from(self.next));
        (self.last[new], self.first[new], self.parent[new]) = (index, self.first[before_at], before);
        self.child[new] = NONE;
        let mut child = self.child[before_at];
        while child != NONE {
            if self.last[usize::from(child)] == index {
                return false;
            }
            child = self.sibling[usize::from(child)];
        }
        self.sibling[new] = self.child[before_at];
        self.child[before_at] = self.next;
        true
    }
}
