//! Indices to LZW codes where colours may be a little off, if that spares enough bits.
//!
//! Errors are counted at the price of bits. A phrase costs its code and its errors, and is worth what its pixels would cost
//! otherwise, as foreseen by those around; of a few that come out best, the one is taken that the next phrase fits best
//! behind. Errors are diffused to the pixels behind and below, so that colours stay true in the mean.

use super::{
    colour::{Point, add, misleads, point, square},
    compress::Bits,
    neighbours::{Apart, Neighbours, PLAIN},
    phrases::Phrases,
    prices::Prices,
    wishes::{MOST_SPARED, Wish, Wishes},
};
use crate::{codec::sequence::Pixel, control::Run, error::Result};

/// Paths followed at once.
const MOST_PATHS: usize = 48;
/// Pixels' worth by which a path may be dearer than the best so far and still be followed.
const PATIENCE: f32 = 8.0;
/// Phrases behind each of which the next one is looked at, of different lengths, and bits by which they may be dearer than
/// the best.
const AHEAD: usize = 3;
const CLOSE: f32 = 6.0;
/// What it costs in bits to make a phrase that is known already: the dictionary grows by nothing.
const KNOWN: f32 = 5.0;
/// Phrases between two questions whether to go on; one takes some microseconds.
const STRIDE: u32 = 1 << 10;
/// Shares of an error that go to the right, to the left below, below, and to the right below: 0.8 in sum, because the rest
/// would be seen as noise, as Floyd and Steinberg have them otherwise but for more to the right.
const RIGHT: f32 = 0.4;
const BELOW: [f32; 3] = [0.15, 0.2, 0.05];
/// Squared errors below this are not handed on: they would become ever smaller, down to numbers that machines are slow with.
const GONE: f32 = 1e-8;

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

impl Target<'_> {
    /// The error behind a pixel that shows what is plainly off by so much, of which so much is `counted` by itself, and what
    /// goes to the next.
    #[inline(always)]
    fn bear(
        &self,
        (error, carried): (f32, Point),
        plain: Point,
        weight: f32,
        counted: f32,
        limit: f32,
    ) -> Option<(f32, Point)> {
        // Mostly what is plainly off is too much by itself.
        if error + weight * counted > limit {
            return None;
        }
        let meant = add(add(plain, carried, 1.0), self.above, 1.0);
        let error = error + weight * (counted + (1.0 - PLAIN) * square(meant));
        (error <= limit).then(|| (error, meant.map(|axis| axis * RIGHT)))
    }
}

#[derive(Debug, Clone, Copy)]
struct Path {
    code: u16,
    error: f32,
    /// The error that goes to the next pixel.
    carried: Point,
}

/// A phrase that may come next.
#[derive(Debug, Clone, Copy)]
struct Phrase {
    code: u16,
    length: usize,
    /// What it costs in bits above what its pixels are worth.
    price: f32,
    /// The error that goes to the next pixel.
    carried: Point,
}

impl Phrase {
    /// What is dearer than any.
    const NONE: Self = Self { code: 0, length: 1, price: f32::INFINITY, carried: [0.0; 3] };
}

/// The best first.
type Few = [Phrase; AHEAD];

/// Those that are not much dearer than the best.
fn close(few: &Few) -> impl Iterator<Item = &Phrase> {
    few.iter().take_while(|phrase| phrase.price <= few[0].price + CLOSE)
}

/// Codes pixels.
pub(super) struct Trader {
    phrases: Phrases,
    prices: Prices,
    /// The index that leaves a pixel as it is.
    leaving: Option<u8>,
    points: Vec<Point>,
    /// The indices that draw a colour.
    drawn: Vec<u8>,
    /// For each index; `None` until it is asked for.
    neighbours: Vec<Option<Neighbours>>,
    /// Errors handed down to the pixels of at least a row, in turn: that of a pixel is one behind its place. (What looks farther
    /// ahead than a row sees none, or those of rows before; what is drawn does not.)
    above: Vec<Point>,
    paths: Vec<Path>,
    further: Vec<Path>,
    /// Phrases that may come next, if they are known already.
    ahead: Option<Few>,
}

impl Trader {
    pub(super) fn new() -> Self {
        Self {
            phrases: Phrases::new(),
            prices: Prices::new(),
            leaving: None,
            points: Vec::new(),
            drawn: Vec::new(),
            neighbours: Vec::new(),
            above: Vec::new(),
            paths: Vec::new(),
            further: Vec::new(),
            ahead: None,
        }
    }

    fn start(&mut self, wishes: &Wishes<'_>) {
        self.phrases.start(wishes.bits());
        self.prices.start(wishes.width);
        self.leaving = wishes.transparent;
        self.ahead = None;
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
            (self.points, self.drawn) = (points, drawn);
            self.neighbours.clear();
            self.neighbours.resize_with(256, || None);
        }
    }

    /// Has the neighbours of an index at hand.
    #[inline(always)]
    fn meet(&mut self, index: u8) {
        let Self { points, drawn, neighbours, .. } = self;
        neighbours[usize::from(index)].get_or_insert_with(|| Neighbours::of(index, points, drawn));
    }

    /// Codes the pixels. A dictionary that is full is given up: in what is not flat, phrases of long ago seldom fit.
    pub(super) fn code(&mut self, wishes: &Wishes<'_>, run: Run<'_>) -> Result<Traded> {
        self.start(wishes);
        let (clear, mut out) = (self.phrases.clear_code(), Bits::new(wishes.bits()));
        let mut indices = Vec::with_capacity(wishes.pixels.len());
        let (mut carried, mut error, mut previous, mut count) = ([0.0; 3], 0.0, None::<u16>, 0u32);
        out.push(clear, self.phrases.width());
        while indices.len() < wishes.pixels.len() {
            count = count.wrapping_add(1);
            if count.is_multiple_of(STRIDE) {
                run.check()?;
            }
            let at = indices.len();
            let Phrase { code, length, .. } = self.step(wishes, at, carried, previous);
            let width = self.phrases.width();
            out.push(code, width);
            self.phrases.spell(code, length, &mut indices);
            let drawn = self.settle(wishes, at, &indices[at..], carried);
            (error, carried) = (error + drawn.error, drawn.carried);
            self.prices.paid(&wishes.pixels[at..at + length], at, (width as f32 + drawn.error) / length as f32);
            if let Some(before) = previous {
                self.phrases.grow(before, self.phrases.first(code));
            }
            previous = Some(code);
            if self.phrases.is_full() && indices.len() < wishes.pixels.len() {
                out.push(clear, self.phrases.width());
                self.phrases.clear();
                self.ahead = None;
                previous = None;
            }
        }
        out.push(clear + 1, self.phrases.width());
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
        // What is there already is not drawn over with another colour: that would be seen to flicker.
        let draws_another = !leaves && far > 0.0;
        if draws_another && wish.there && (target.may_leave || wish.nearest != Some(index)) {
            return None;
        }
        let weight = if far == 0.0 || leaves && wish.left == 0.0 { 0.0 } else { wish.weight };
        let borne = target.bear((error, carried), plain, weight, PLAIN * far, limit)?;
        let misleads = draws_another && wish.nearest != Some(index) && misleads(shown, wish.colour);
        (!misleads).then_some(borne)
    }

    /// The same of a pixel whose colour is in the table, from what is `apart` from it.
    #[inline(always)]
    fn follow_exact(
        &self,
        target: &Target<'_>,
        before: (f32, Point),
        (index, apart): (u8, &Apart),
        limit: f32,
    ) -> Option<(f32, Point)> {
        if self.leaving == Some(index) {
            return self.follow(target, before, index, limit);
        }
        let (plain, counted) = apart[usize::from(index)];
        if target.wish.there && counted > 0.0 {
            return None;
        }
        target.bear(before, plain, if counted == 0.0 { 0.0 } else { target.wish.weight }, counted, limit)
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
        if let Some(neighbours) = wish.nearest.and_then(|nearest| self.neighbours[usize::from(nearest)].as_ref()) {
            for &(far, index) in &neighbours.near {
                if paths.len() == MOST_PATHS || !paths.is_empty() && wish.weight * far > MOST_SPARED {
                    break;
                }
                take(&mut paths, index);
            }
        }
        self.paths = paths;
    }

    /// The phrases of different lengths that come out best at `at` behind `previous`. Of paths that cost the same, the one that
    /// began by leaving a pixel goes first, so that what is left makes long phrases.
    fn search(&mut self, wishes: &Wishes<'_>, at: usize, carried: Point, previous: Option<u16>) -> Few {
        let mut few = [Phrase::NONE; AHEAD];
        // The code that is being made may be the next.
        let foreseen = previous.and_then(|before| self.phrases.foresee(before));
        let (bits, mut worth, mut x) = (self.phrases.width() as f32, 0.0, at % wishes.width);
        self.begin(wishes, at, carried);
        for length in 1.. {
            let least = self.paths.iter().reduce(|best, path| if path.error < best.error { path } else { best });
            let Some(path) = least else { break };
            let each = self.prices.of(&wishes.pixels[at + length - 1], x);
            worth += each;
            let mut phrase =
                Phrase { code: path.code, length, price: bits + path.error - worth, carried: path.carried };
            for place in &mut few {
                if phrase.price < place.price {
                    std::mem::swap(place, &mut phrase);
                }
            }
            if at + length == wishes.pixels.len() {
                break;
            }
            let limit = few[0].price - bits + worth + each.max(worth / length as f32) * PATIENCE;
            self.go_on(wishes, at + length, limit);
            x = if x + 1 == wishes.width { 0 } else { x + 1 };
        }
        self.phrases.unlink(foreseen);
        few
    }

    /// Follows all paths by a pixel.
    fn go_on(&mut self, wishes: &Wishes<'_>, at: usize, limit: f32) {
        let target = self.target(wishes, at);
        let exact = target.wish.nearest.filter(|_| target.wish.exact);
        if let Some(index) = exact {
            self.meet(index);
        }
        let mut further = std::mem::take(&mut self.further);
        further.clear();
        match exact.and_then(|index| self.neighbours[usize::from(index)].as_ref()) {
            Some(Neighbours { apart, .. }) => self.extend(&mut further, limit, |before, index, limit| {
                self.follow_exact(&target, before, (index, apart), limit)
            }),
            None => self.extend(&mut further, limit, |before, index, limit| self.follow(&target, before, index, limit)),
        }
        if further.len() > MOST_PATHS {
            further.sort_by(|a, b| a.error.total_cmp(&b.error));
            further.truncate(MOST_PATHS);
        }
        self.further = std::mem::replace(&mut self.paths, further);
    }

    /// The paths that `follow` lets go on.
    #[inline(always)]
    fn extend(
        &self,
        further: &mut Vec<Path>,
        limit: f32,
        follow: impl Fn((f32, Point), u8, f32) -> Option<(f32, Point)>,
    ) {
        for path in self.paths.iter().filter(|path| path.error <= limit) {
            let limit = limit.min(path.error + MOST_SPARED);
            for (code, index) in self.phrases.after(path.code) {
                if let Some((error, carried)) = follow((path.error, path.carried), index, limit) {
                    further.push(Path { code, error, carried });
                }
            }
        }
    }

    /// The next phrase.
    fn step(&mut self, wishes: &Wishes<'_>, at: usize, carried: Point, previous: Option<u16>) -> Phrase {
        let few = self.ahead.take().unwrap_or_else(|| self.search(wishes, at, carried, previous));
        // The code that is being made may be the next, and gets other meanings while more are looked at.
        let name = |phrases: &mut Phrases| {
            previous.into_iter().for_each(|before| phrases.name(before, phrases.first(before)));
        };
        name(&mut self.phrases);
        let (mut best, mut least) = (few[0], f32::INFINITY);
        if !wishes.thorough || close(&few).nth(1).is_none() {
            return best;
        }
        for &phrase in close(&few) {
            let beyond = self.beyond(wishes, at, &phrase, previous);
            let total = phrase.price + beyond.map_or(0.0, |(price, _)| price);
            if total < least {
                (best, least, self.ahead) = (phrase, total, beyond.map(|(_, few)| few));
            }
        }
        name(&mut self.phrases);
        best
    }

    /// What may come behind a phrase, and the price of the best; `None` at the end.
    fn beyond(&mut self, wishes: &Wishes<'_>, at: usize, phrase: &Phrase, previous: Option<u16>) -> Option<(f32, Few)> {
        let end = at + phrase.length;
        if end == wishes.pixels.len() {
            return None;
        }
        let was = previous.map(|before| self.phrases.grow(before, self.phrases.first(phrase.code)));
        let few = self.search(wishes, end, phrase.carried, Some(phrase.code));
        let price = |next: &Phrase| {
            let known = self.phrases.knows(phrase.code, self.phrases.first(next.code));
            next.price + if known { KNOWN } else { 0.0 }
        };
        let least = close(&few).map(price).fold(f32::INFINITY, f32::min);
        if let Some(was) = was {
            self.phrases.shrink(&was);
        }
        Some((least, few))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::decompress::Decompressor, *};
    use crate::{control::Unattended, limits::Limits};

    fn wishes<'a>(pixels: &'a [Wish], entries: &'a [Pixel], transparent: Option<u8>) -> Wishes<'a> {
        Wishes { pixels, width: 50, entries, transparent, leaves: true, thorough: true }
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
