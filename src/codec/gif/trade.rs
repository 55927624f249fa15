//! Indices to LZW codes where colours may be a little off, if that spares enough bits.
//!
//! Each phrase is the one that costs the fewest bits a pixel, errors counted at the price of bits. (Cutting a phrase short
//! so that the next one reaches farther costs more than it gains: the dictionary grows more slowly.) Errors are diffused to
//! the pixels behind and below, so that colours stay true in the mean.

use super::compress::Bits;
use crate::{codec::sequence::Pixel, control::Run, error::Result};

/// Bits of the longest code.
const MOST_BITS: u32 = 12;
const MOST_CODES: u16 = 1 << MOST_BITS;
/// No error of a pixel is worth more bits than this: so many spell it out.
pub(super) const MOST_SPARED: f32 = 11.0;
/// The greatest error of colour, as a squared distance, and of luma.
const MOST_CHROMA: f32 = 900.0;
const MOST_LUMA: f32 = 48.0;
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

/// No code: a child is never the first.
const NONE: u16 = 0;

/// Luma, and two weighted differences of colour from it.
pub(super) type Point = [f32; 3];

pub(super) fn point(colour: Pixel) -> Point {
    let [r, g, b, _] = colour.map(f32::from);
    let y = 0.25 * r + 0.625 * g + 0.125 * b;
    [y, 0.464 * (r - y), 0.34 * (b - y)]
}

/// How far apart two colours are; its unit is the square of a step of luma.
pub(super) fn distance(one: Point, other: Point) -> f32 {
    square([one[0] - other[0], one[1] - other[1], one[2] - other[2]])
}

/// Whether one must not be taken for the other, however few bits it costs: lines of two colours that change places change what a
/// chart says, and pixels that are gone or were added make another letter.
pub(super) fn misleads(one: Point, other: Point) -> bool {
    let (luma, reds, blues) = (one[0] - other[0], one[1] - other[1], one[2] - other[2]);
    luma.abs() > MOST_LUMA || reds * reds + blues * blues > MOST_CHROMA
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
    pub(super) colour: Pixel,
    /// What the canvas shows.
    pub(super) base: Pixel,
    /// What it costs in bits to leave it; infinite where it may not be.
    pub(super) left: f32,
    /// What a unit of distance from its colour costs in bits.
    pub(super) weight: f32,
}

impl Wish {
    /// Whether the canvas shows the very colour.
    fn is_there(&self) -> bool {
        self.left == 0.0 && self.base == self.colour
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
    fn may_leave(&self, wish: &Wish) -> bool {
        let Some(nearest) = wish.nearest else { return true };
        self.leaves && wish.left <= MOST_SPARED
            || self.transparent == Some(nearest)
            || wish.is_there() && self.entries[usize::from(nearest)] != wish.colour
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
    colour: Point,
    base: Point,
    /// The error handed down.
    above: Point,
    /// The index that leaves it, if that may be.
    leaving: Option<u8>,
    transparent: Option<u8>,
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
    points: Vec<Point>,
    /// For each index the others by their distance, itself first.
    near: Vec<Vec<(f32, u8)>>,
    /// Errors handed down to the pixels of about a row, in turn: that of a pixel is one behind its place. (What looks farther
    /// ahead than a row sees those of the row before; what is drawn does not.)
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
            points: Vec::new(),
            near: Vec::new(),
            above: Vec::new(),
            paths: Vec::new(),
            further: Vec::new(),
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
        self.above.resize(wishes.width + 3, [0.0; 3]);
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
            path = self.follow(&self.target(wishes, at), &path, 0, index).unwrap_or(path);
            let cells = self.above.len();
            // Behind this pixel its cell is that of one in the next row.
            self.above[at % cells] = [0.0; 3];
            for (below, share) in (at + wishes.width..).zip(BELOW) {
                self.above[below % cells] = add(self.above[below % cells], path.carried, share / RIGHT);
            }
        }
        path
    }

    fn target<'a>(&self, wishes: &Wishes<'a>, at: usize) -> Target<'a> {
        let wish = &wishes.pixels[at];
        Target {
            wish,
            colour: point(wish.colour),
            base: point(wish.base),
            above: self.above[(at + 1) % self.above.len()],
            leaving: wishes.transparent.filter(|_| wishes.may_leave(wish)),
            transparent: wishes.transparent,
        }
    }

    /// The path that goes on with `index`, if it may.
    fn follow(&self, target: &Target<'_>, path: &Path, code: u16, index: u8) -> Option<Path> {
        let wish = target.wish;
        let leaves = target.transparent == Some(index);
        if leaves && target.leaving.is_none() || !leaves && wish.nearest.is_none() {
            return None;
        }
        if wish.nearest.is_none() {
            return Some(Path { code, error: path.error, carried: [0.0; 3] });
        }
        let shown = if leaves { target.base } else { self.points[usize::from(index)] };
        let plain = add(shown, target.colour, -1.0);
        if !leaves && square(plain) > 0.0 {
            // What is there already is not drawn over with another colour: that would be seen to flicker.
            let disturbs = wish.is_there() && (target.leaving.is_some() || wish.nearest != Some(index));
            if disturbs || wish.nearest != Some(index) && misleads(shown, target.colour) {
                return None;
            }
        }
        let meant = add(add(plain, path.carried, 1.0), target.above, 1.0);
        let exact = square(plain) == 0.0 || leaves && wish.left == 0.0;
        let price = wish.weight * (PLAIN * square(plain) + (1.0 - PLAIN) * square(meant));
        let error = if exact { path.error } else { path.error + price };
        Some(Path { code, error, carried: meant.map(|axis| axis * RIGHT) })
    }

    /// Collects the paths of one pixel.
    fn begin(&mut self, wishes: &Wishes<'_>, at: usize, carried: Point) {
        let target = self.target(wishes, at);
        let wish = target.wish;
        let start = Path { code: 0, error: 0.0, carried };
        let mut paths = std::mem::take(&mut self.paths);
        paths.clear();
        paths.extend(wishes.transparent.and_then(|index| self.follow(&target, &start, index.into(), index)));
        if let Some(nearest) = wish.nearest {
            for &(far, index) in &self.near[usize::from(nearest)] {
                if paths.len() == MOST_PATHS || !paths.is_empty() && wish.weight * far > MOST_SPARED {
                    break;
                }
                paths.extend(self.follow(&target, &start, index.into(), index));
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
            let mut child = self.child[usize::from(path.code)];
            while child != NONE {
                let next = self.follow(&target, path, child, self.last[usize::from(child)]);
                further.extend(next.filter(|next| next.error - path.error <= MOST_SPARED && next.error <= limit));
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

    /// Noise of `count` grays.
    fn noise(entries: &[Pixel], weight: f32) -> Vec<Wish> {
        let mut state = 1u32;
        let mut wish = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let index = (state >> 16) as usize % entries.len();
            Wish {
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
            let pixels = noise(&entries, weight);
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
        let exact = noise(&entries, 1e9);
        let dear = traded(&wishes(&exact, &entries, Some(40)));
        let right = |(&index, wish): (&u8, &Wish)| index == 40 || Some(index) == wish.nearest;
        assert!(dear.indices.iter().zip(&exact).all(right));
        let cheap = traded(&wishes(&noise(&entries, 0.003), &entries, Some(40)));
        assert!(cheap.codes.len() * 4 < dear.codes.len() * 3, "{} of {}", cheap.codes.len(), dear.codes.len());
    }

    #[test]
    fn blue_and_green_of_a_chart_are_not_taken_for_each_other_at_any_price() {
        let entries = [[255; 4], [235, 235, 235, 255], [31, 119, 180, 255], [44, 160, 44, 255]];
        let pixels = noise(&entries, 1e-4);
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
        let drawn = traded(&Wishes { leaves: false, ..wishes(&pixels, &entries, Some(2)) }).indices;
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
        let others = |ground: Option<u8>, pixels: &[Wish], leaves: bool| {
            let drawn = traded(&Wishes { leaves, ..wishes(pixels, &entries, Some(40)) }).indices;
            let there = |wish: &Wish| wish.left == 0.0 && wish.base == wish.colour;
            let other = |index: u8| index != 40 && Some(index) != ground;
            drawn.iter().zip(pixels).filter(|(index, wish)| there(wish) && other(**index)).count()
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
        let between = |at: usize| Wish {
            nearest: Some(5),
            colour: [110, 110, 110, 255],
            base: [0; 4],
            left: f32::INFINITY,
            weight: if at == 0 { 0.02 } else { 0.01 },
        };
        let pixels: Vec<Wish> = (0..10_000).map(between).collect();
        let drawn = traded(&wishes(&pixels, &entries, None)).indices;
        let mean = drawn.iter().map(|&index| f64::from(entries[usize::from(index)][0])).sum::<f64>() / 10_000.0;
        assert!((mean - 110.0).abs() < 5.0, "{mean}");
    }
}
