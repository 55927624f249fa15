//! Indices to LZW codes where colours may be a little off, if that spares enough bits.
//!
//! Each phrase is the one that costs the fewest bits a pixel, errors counted at the price of bits. (Cutting a phrase short
//! so that the next one reaches farther costs more than it gains: the dictionary grows more slowly.) Errors are diffused to
//! the pixels behind and below, so that colours stay true in the mean.

use super::{
    colour::{Point, add, distance, misleads, point, square},
    compress::Bits,
};
use crate::{codec::sequence::Pixel, control::Run, error::Result};

/// Bits of the longest code.
const MOST_BITS: u32 = 12;
const MOST_CODES: u16 = 1 << MOST_BITS;
/// No error of a pixel is worth more bits than this: so many spell it out.
pub(super) const MOST_SPARED: f32 = 11.0;
/// Paths followed at once.
const MOST_PATHS: usize = 48;
/// Pixels by which a path may be dearer than the best so far and still be followed.
const PATIENCE: f32 = 8.0;
/// Phrases between two questions whether to go on; one takes some microseconds.
const STRIDE: u32 = 1 << 10;
/// Share of an error that counts by itself; the rest is counted with what was diffused to the pixel.
const PLAIN: f32 = 0.4;
/// Shares of an error that go to the right, to the left below, below, and to the right below: 0.8 in sum, because the rest
/// would be seen as noise, as Floyd and Steinberg have them otherwise but for more to the right.
const RIGHT: f32 = 0.4;
const BELOW: [f32; 3] = [0.15, 0.2, 0.05];
/// Squared errors below this are not handed on: they would become ever smaller, down to numbers that machines are slow with.
const GONE: f32 = 1e-8;

/// No code: a child is never the first.
const NONE: u16 = 0;

/// A pixel to be coded.
pub(super) struct Wish {
    /// The index of its colour, or of the nearest; `None` where it has to be left.
    nearest: Option<u8>,
    colour: Point,
    /// What the canvas shows.
    base: Point,
    /// What it costs in bits to leave it; infinite where it may not be.
    left: f32,
    /// What a unit of distance from its colour costs in bits.
    weight: f32,
    /// Whether the canvas shows the very colour, and whether the table has it.
    there: bool,
    exact: bool,
}

impl Wish {
    /// Of a colour, where the canvas shows another, and the table has one that is `nearest`.
    pub(super) fn new(
        (colour, base): (Pixel, Pixel),
        nearest: Option<(u8, Pixel)>,
        (left, weight): (f32, f32),
    ) -> Self {
        Self {
            nearest: nearest.map(|(index, _)| index),
            colour: point(colour),
            base: point(base),
            left,
            weight,
            there: left == 0.0 && base == colour,
            exact: nearest.is_some_and(|(_, entry)| entry == colour),
        }
    }

    /// Whether the very colour is what `index` shows.
    fn is_met(&self, index: u8, leaving: Option<u8>) -> bool {
        if leaving == Some(index) { self.there } else { self.exact && self.nearest == Some(index) }
    }
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
    /// Whether a pixel may be left as it is. One whose colour has its index taken for that must be, and so must one that is
    /// there already and could only be drawn otherwise.
    #[inline(always)]
    fn may_leave(&self, wish: &Wish) -> bool {
        let taken = wish.nearest.is_none() || wish.nearest == self.transparent || wish.there && !wish.exact;
        self.transparent.is_some() && (taken || self.leaves && wish.left <= MOST_SPARED)
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

/// What all paths have to do with at a pixel.
struct Target<'a> {
    wish: &'a Wish,
    /// The error handed down.
    above: Point,
    may_leave: bool,
}

#[derive(Debug, Clone, Copy)]
struct Path {
    code: u16,
    error: f32,
    /// The error that goes to the next pixel.
    carried: Point,
}

/// A phrase, and its price a pixel in bits.
#[derive(Debug, Clone, Copy)]
struct Phrase {
    code: u16,
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
    /// The index that leaves a pixel as it is.
    leaving: Option<u8>,
    points: Vec<Point>,
    /// The indices that draw a colour.
    drawn: Vec<u8>,
    /// For each index those that draw, by their distance, itself first; empty until it is asked for.
    near: Vec<Vec<(f32, u8)>>,
    /// Errors handed down to the pixels of at least a row, in turn: that of a pixel is one behind its place. (What looks farther
    /// ahead than a row sees none, or those of rows before; what is drawn does not.)
    above: Vec<Point>,
    paths: Vec<Path>,
    further: Vec<Path>,
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
            leaving: None,
            points: Vec::new(),
            drawn: Vec::new(),
            near: Vec::new(),
            above: Vec::new(),
            paths: Vec::new(),
            further: Vec::new(),
        }
    }

    fn start(&mut self, wishes: &Wishes<'_>) {
        (self.bits, self.leaving) = (wishes.bits(), wishes.transparent);
        for code in 0..1u16 << self.bits {
            (self.last[usize::from(code)], self.first[usize::from(code)]) = (code as u8, code as u8);
        }
        self.above.clear();
        self.above.resize((wishes.width + 3).next_power_of_two(), [0.0; 3]);
        let mut points: Vec<_> = wishes.entries.iter().map(|&entry| point(entry)).collect();
        points.resize(256, [0.0; 3]);
        let draws = |(index, entry): (usize, &Pixel)| {
            (entry[3] != 0 && wishes.transparent != Some(index as u8)).then_some(index as u8)
        };
        let drawn: Vec<u8> = wishes.entries.iter().enumerate().filter_map(draws).collect();
        // Most frames share a table.
        if points != self.points || drawn != self.drawn {
            (self.points, self.drawn, self.near) = (points, drawn, vec![Vec::new(); 256]);
        }
    }

    /// Has the neighbours of an index at hand; one that draws nothing has none.
    fn meet(&mut self, index: u8) {
        if self.near[usize::from(index)].is_empty() && self.drawn.binary_search(&index).is_ok() {
            let from = self.points[usize::from(index)];
            let far = |&other: &u8| (distance(from, self.points[usize::from(other)]), other);
            let mut near: Vec<_> = self.drawn.iter().map(far).collect();
            near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1 != index, a.1).cmp(&(b.1 != index, b.1))));
            self.near[usize::from(index)] = near;
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
        let (clear, mut out) = (1u16 << self.bits, Bits::new(self.bits));
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
        let codes = out.finish();
        Ok(Traded { codes, indices, error })
    }

    /// Hands down the errors of pixels that are chosen.
    fn settle(&mut self, wishes: &Wishes<'_>, at: usize, indices: &[u8], carried: Point) -> Path {
        let mut path = Path { code: 0, error: 0.0, carried };
        for (at, &index) in (at..).zip(indices) {
            let before = (path.error, path.carried);
            let target = self.target(wishes, at);
            // Mostly there is nothing to hand down.
            if path.carried == [0.0; 3] && target.above == [0.0; 3] && target.wish.is_met(index, self.leaving) {
                continue;
            }
            if let Some((error, carried)) = self.follow(&target, before, index, f32::INFINITY) {
                (path.error, path.carried) = (error, if square(carried) < GONE { [0.0; 3] } else { carried });
            }
            // Behind this pixel its cell is that of one in a row below.
            *self.above(at + 1) = [0.0; 3];
            for (below, share) in (at + wishes.width..).zip(BELOW) {
                let above = self.above(below);
                *above = add(*above, path.carried, share / RIGHT);
            }
        }
        path
    }

    /// The error handed down to the pixel before `at`.
    #[inline(always)]
    fn above(&mut self, at: usize) -> &mut Point {
        let cells = self.above.len();
        &mut self.above[at & (cells - 1)]
    }

    #[inline(always)]
    fn target<'a>(&mut self, wishes: &Wishes<'a>, at: usize) -> Target<'a> {
        let wish = &wishes.pixels[at];
        Target { wish, above: *self.above(at + 1), may_leave: wishes.may_leave(wish) }
    }

    /// What a path goes on with behind `index`: its error, no more than `limit`, and that for the next pixel. `None` where it
    /// may not.
    #[inline(always)]
    fn follow(
        &self,
        target: &Target<'_>,
        (error, carried): (f32, Point),
        index: u8,
        limit: f32,
    ) -> Option<(f32, Point)> {
        let wish = target.wish;
        let leaves = self.leaving == Some(index);
        if leaves && !target.may_leave {
            return None;
        }
        if wish.nearest.is_none() {
            return leaves.then_some((error, [0.0; 3]));
        }
        let shown = if leaves { wish.base } else { self.points[usize::from(index)] };
        let plain = add(shown, wish.colour, -1.0);
        let far = square(plain);
        if !leaves && far > 0.0 {
            // What is there already is not drawn over with another colour: that would be seen to flicker.
            let disturbs = wish.there && (target.may_leave || wish.nearest != Some(index));
            if disturbs || wish.nearest != Some(index) && misleads(shown, wish.colour) {
                return None;
            }
        }
        let weight = if far == 0.0 || leaves && wish.left == 0.0 { 0.0 } else { wish.weight };
        // Mostly what is plainly off is too much by itself.
        if error + weight * (PLAIN * far) > limit {
            return None;
        }
        let meant = add(add(plain, carried, 1.0), target.above, 1.0);
        let error = error + weight * (PLAIN * far + (1.0 - PLAIN) * square(meant));
        (error <= limit).then(|| (error, meant.map(|axis| axis * RIGHT)))
    }

    /// Collects the paths of one pixel.
    fn begin(&mut self, wishes: &Wishes<'_>, at: usize, carried: Point) {
        let target = self.target(wishes, at);
        let wish = target.wish;
        if let Some(nearest) = wish.nearest {
            self.meet(nearest);
        }
        let mut paths = std::mem::take(&mut self.paths);
        paths.clear();
        let take = |paths: &mut Vec<Path>, index: u8| {
            if let Some((error, carried)) = self.follow(&target, (0.0, carried), index, f32::INFINITY) {
                paths.push(Path { code: index.into(), error, carried });
            }
        };
        if let Some(index) = wishes.transparent {
            take(&mut paths, index);
        }
        if let Some(nearest) = wish.nearest {
            for &(far, index) in &self.near[usize::from(nearest)] {
                if paths.len() == MOST_PATHS || !paths.is_empty() && wish.weight * far > MOST_SPARED {
                    break;
                }
                take(&mut paths, index);
            }
        }
        self.paths = paths;
    }

    /// The code and length of the phrase at `at` that costs the fewest bits a pixel. Of paths that cost the same, the one
    /// that began by leaving a pixel goes first, so that what is left makes long phrases.
    fn best(&mut self, wishes: &Wishes<'_>, at: usize, carried: Point) -> (u16, usize) {
        let bits = self.width as f32;
        self.begin(wishes, at, carried);
        // There is no table without a colour, so that some path is begun.
        let mut best = Phrase { code: 0, length: 1, price: f32::INFINITY };
        for length in 1.. {
            let Some(path) = self.paths.iter().min_by(|a, b| a.error.total_cmp(&b.error)) else { break };
            let price = (bits + path.error) / length as f32;
            if price < best.price {
                best = Phrase { code: path.code, length, price };
            }
            if at + length == wishes.pixels.len() {
                break;
            }
            self.go_on(wishes, at + length, best.price * (length as f32 + PATIENCE));
        }
        (best.code, best.length)
    }

    /// Follows all paths by a pixel.
    fn go_on(&mut self, wishes: &Wishes<'_>, at: usize, limit: f32) {
        let target = self.target(wishes, at);
        let mut further = std::mem::take(&mut self.further);
        further.clear();
        for path in &self.paths {
            let limit = limit.min(path.error + MOST_SPARED);
            let mut child = self.child[usize::from(path.code)];
            while child != NONE {
                let before = (path.error, path.carried);
                if let Some((error, carried)) = self.follow(&target, before, self.last[usize::from(child)], limit) {
                    further.push(Path { code: child, error, carried });
                }
                child = self.sibling[usize::from(child)];
            }
        }
        if further.len() > MOST_PATHS {
            further.sort_by(|a, b| a.error.total_cmp(&b.error));
            further.truncate(MOST_PATHS);
        }
        self.further = std::mem::replace(&mut self.paths, further);
    }

    /// The next phrase. The code that is being made, which stands for the last phrase and the first index of this one, may
    /// be this one.
    fn step(&mut self, wishes: &Wishes<'_>, at: usize, carried: Point, previous: Option<u16>) -> (u16, usize) {
        let Some(before) = previous else { return self.best(wishes, at, carried) };
        let tentative = self.link(before, self.first[usize::from(before)]);
        let found = self.best(wishes, at, carried);
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

#[cfg(test)]
mod tests {
    use super::{super::decompress::Decompressor, *};
    use crate::{control::Unattended, limits::Limits};

    fn wishes<'a>(pixels: &'a [Wish], entries: &'a [Pixel], transparent: Option<u8>) -> Wishes<'a> {
        Wishes { pixels, width: 50, entries, transparent, leaves: true }
    }

    fn grays(count: u8, step: u8) -> Vec<Pixel> {
        (0..count).map(|index| [index * step, index * step, index * step, 255]).collect()
    }

    /// What a [`Wish`] is made of.
    #[derive(Clone, Copy)]
    struct Raw {
        nearest: Option<u8>,
        colour: Pixel,
        base: Pixel,
        left: f32,
        weight: f32,
    }

    fn wished(raws: &[Raw], entries: &[Pixel]) -> Vec<Wish> {
        let near = |raw: &Raw| raw.nearest.map(|index| (index, entries[usize::from(index)]));
        raws.iter().map(|raw| Wish::new((raw.colour, raw.base), near(raw), (raw.left, raw.weight))).collect()
    }

    /// Noise of `count` grays.
    fn noise(entries: &[Pixel], weight: f32) -> Vec<Raw> {
        let mut state = 1u32;
        let mut wish = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let index = (state >> 16) as usize % entries.len();
            Raw {
                nearest: Some(index as u8),
                colour: entries[index],
                base: [0; 4],
                left: if state >> 30 == 0 { 0.0 } else { f32::INFINITY },
                weight,
            }
        };
        (0..20_000).map(|_| wish()).collect()
    }

    fn traded(wishes: &Wishes<'_>) -> Traded {
        Trader::new().code(wishes, Run { limits: &Limits::default(), control: &Unattended }).unwrap()
    }

    #[test]
    fn a_decoder_reads_what_each_pixel_became() {
        let entries = grays(40, 6);
        for weight in [1e9, 0.1, 0.001] {
            let pixels = wished(&noise(&entries, weight), &entries);
            let traded = traded(&wishes(&pixels, &entries, Some(40)));
            let blocks: Vec<u8> =
                traded.codes[1..].chunks(255).flat_map(|block| [&[block.len() as u8][..], block].concat()).collect();
            let mut indices = vec![0; pixels.len()];
            let run = Run { limits: &Limits::default(), control: &Unattended };
            Decompressor::new().run(traded.codes[0], &blocks, &mut indices, run).unwrap();
            assert!(indices == traded.indices, "{weight}");
            let allowed = indices.iter().zip(&pixels).all(|(&index, wish)| index != 40 || wish.left == 0.0);
            assert!(allowed, "a pixel is left that may not be");
        }
    }

    #[test]
    fn errors_that_cost_too_much_are_not_made_and_cheaper_ones_spare_bytes() {
        let entries = grays(40, 6);
        let exact = wished(&noise(&entries, 1e9), &entries);
        let dear = traded(&wishes(&exact, &entries, Some(40)));
        let right = |(&index, wish): (&u8, &Wish)| index == 40 || Some(index) == wish.nearest;
        assert!(dear.indices.iter().zip(&exact).all(right));
        let cheap = traded(&wishes(&wished(&noise(&entries, 0.003), &entries), &entries, Some(40)));
        assert!(cheap.codes.len() * 4 < dear.codes.len() * 3, "{} of {}", cheap.codes.len(), dear.codes.len());
    }

    #[test]
    fn blue_and_green_of_a_chart_are_not_taken_for_each_other_at_any_price() {
        let entries = [[255; 4], [235, 235, 235, 255], [31, 119, 180, 255], [44, 160, 44, 255]];
        let pixels = wished(&noise(&entries, 1e-4), &entries);
        let drawn = traded(&wishes(&pixels, &entries, None)).indices;
        let taken = |from: u8, to: u8| {
            drawn.iter().zip(&pixels).filter(|(drawn, wish)| wish.nearest == Some(from) && **drawn == to).count()
        };
        assert_eq!([taken(2, 3), taken(3, 2), taken(2, 0), taken(3, 1)], [0; 4]);
        assert!(taken(0, 1) + taken(1, 0) > 1_000, "nothing was spared");
    }

    #[test]
    fn what_has_the_index_that_leaves_is_left_even_where_nothing_else_is() {
        let entries = grays(4, 60);
        let mut pixels = noise(&entries, 1e9);
        for (at, pixel) in pixels.iter_mut().enumerate() {
            let still = pixel.nearest == Some(2);
            (pixel.base, pixel.left) = (pixel.colour, if still { 0.0 } else { f32::INFINITY });
            pixel.nearest = if still && at % 2 == 0 { None } else { pixel.nearest };
        }
        let wished = wished(&pixels, &entries);
        let drawn = traded(&Wishes { leaves: false, ..wishes(&wished, &entries, Some(2)) }).indices;
        assert!(drawn.iter().zip(&pixels).all(|(&index, wish)| index == wish.nearest.unwrap_or(2)));
    }

    #[test]
    fn what_is_there_already_is_left_or_drawn_as_it_is() {
        let entries = grays(40, 6);
        let mut pixels = noise(&entries, 0.001);
        for (at, pixel) in pixels.iter_mut().enumerate() {
            // In rows of ground that stays, something moves.
            if at % 7 > 2 {
                (pixel.nearest, pixel.colour) = (Some(20), entries[20]);
                (pixel.base, pixel.left) = (entries[20], 0.0);
            }
        }
        let others = |ground: Option<u8>, pixels: &[Raw], leaves: bool| {
            let pixels = wished(pixels, &entries);
            let drawn = traded(&Wishes { leaves, ..wishes(&pixels, &entries, Some(40)) }).indices;
            let other = |index: u8| index != 40 && Some(index) != ground;
            drawn.iter().zip(&pixels).filter(|(index, wish)| wish.there && other(**index)).count()
        };
        assert_eq!([true, false].map(|leaves| others(Some(20), &pixels, leaves)), [0, 0]);
        // The table lacks the colour of the ground.
        pixels.iter_mut().filter(|pixel| pixel.left == 0.0).for_each(|pixel| {
            (pixel.base, pixel.colour) = ([121, 121, 121, 255], [121, 121, 121, 255]);
        });
        assert_eq!([true, false].map(|leaves| others(None, &pixels, leaves)), [0, 0]);
    }

    #[test]
    fn errors_are_evened_out() {
        // Every other gray: half of what is wanted lies between.
        let entries = grays(12, 20);
        let between = |at: usize| Raw {
            nearest: Some(5),
            colour: [110, 110, 110, 255],
            base: [0; 4],
            left: f32::INFINITY,
            weight: if at == 0 { 0.02 } else { 0.01 },
        };
        let pixels = wished(&(0..10_000).map(between).collect::<Vec<_>>(), &entries);
        let drawn = traded(&wishes(&pixels, &entries, None)).indices;
        let mean = drawn.iter().map(|&index| f64::from(entries[usize::from(index)][0])).sum::<f64>() / 10_000.0;
        assert!((mean - 110.0).abs() < 5.0, "{mean}");
    }
}
