//! The computation that every instruction set shares: minimal filtering by S. Winograd, as F(4 x 4, 3 x 3) of A. Lavin and
//! S. Gray, *Fast Algorithms for Convolutional Neural Networks* (CVPR 2016). Of a tile of 6 x 6 inputs 4 x 4 outputs are made
//! by 36 multiplications where the textbook needs 144.

#![allow(
    unsafe_code,
    reason = "loads without bounds checks in the innermost loops; the sizes are checked once a convolution"
)]

use std::ops::Range;

use super::{BLOCK, Filters, Line, Map, Part, ZERO, map::TILE};

/// Places of a tile.
pub(super) const PLACES: usize = 36;
/// Tiles that are computed together: so many that weights are read seldom, and few enough for the second level of cache.
const GROUP: usize = 24;
/// Lines from one place of a group to the next: one more, as the places of a tile would share few sets of the first cache.
const PITCH: usize = GROUP + 1;

/// One convolution.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Job<'a> {
    pub from: &'a Map,
    pub filters: &'a Filters,
    /// What is computed at least; around it up to whole tiles.
    pub part: Part,
    /// What is done with the sums.
    pub finish: Finish,
}

/// What becomes of the sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Finish {
    /// They replace what was in the output.
    Store,
    /// Likewise, but none is below zero.
    Relu,
    /// They are added to what was in the output.
    Add,
}

impl Job<'_> {
    /// That all loads and stores are within their slices.
    pub(super) fn check(&self, to: &Map, space: &Space) {
        let (from, filters) = (self.from, self.filters);
        assert!(space.inputs.len() >= PLACES * filters.inputs * PITCH);
        assert_eq!((from.width, from.height), (to.width, to.height));
        assert!(self.part.right <= to.width && self.part.bottom <= to.height);
        assert_eq!((from.blocks, to.blocks), (filters.inputs, filters.bias.len()));
        assert_eq!(filters.lines.len(), filters.bias.len() * PLACES * filters.inputs * BLOCK);
        for map in [from, to] {
            assert_eq!(map.lines.len(), (map.height.next_multiple_of(TILE) + 2) * map.pitch());
        }
    }

    /// Columns and rows of tiles.
    fn tiles(&self) -> [Range<usize>; 2] {
        let Part { left, top, right, bottom } = self.part;
        [left / TILE..right.div_ceil(TILE), top / TILE..bottom.div_ceil(TILE)]
    }

    /// The tiles, row by row, in groups.
    pub(super) fn groups(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let [columns, rows] = self.tiles();
        let count = columns.len() * rows.len();
        (0..count).step_by(GROUP).map(move |start| start..(start + GROUP).min(count))
    }
}

/// Where a group is computed.
#[derive(Debug)]
pub(in super::super) struct Space {
    /// Inputs by block, place and tile.
    inputs: Vec<Line>,
    /// Outputs of one block by place and tile.
    sums: Vec<Line>,
}

impl Space {
    /// For any of these.
    pub(in super::super) fn new(filters: &[Filters]) -> Self {
        let lines = |blocks: usize| vec![ZERO; PLACES * blocks * PITCH];
        Self { inputs: lines(filters.iter().map(|filters| filters.inputs).max().unwrap_or(0)), sums: lines(1) }
    }
}

/// A register.
pub(super) trait Vector: Copy {
    /// Floats in it.
    const LANES: usize;

    /// # Safety
    /// The instructions are there, and so are `LANES` floats at `from`.
    unsafe fn load(from: *const f32) -> Self;
    /// # Safety
    /// The instructions are there.
    unsafe fn splat(value: f32) -> Self;
    /// `self + a * b`.
    /// # Safety
    /// The instructions are there.
    unsafe fn plus_product(self, a: Self, b: Self) -> Self;
    /// # Safety
    /// The instructions are there.
    unsafe fn plus(self, other: Self) -> Self;
    /// # Safety
    /// The instructions are there.
    unsafe fn minus(self, other: Self) -> Self;
    /// # Safety
    /// The instructions are there.
    unsafe fn at_least_zero(self) -> Self;
    /// # Safety
    /// The instructions are there, and so are `LANES` floats at `to`.
    unsafe fn store(self, to: *mut f32);
}

/// [`Vector`] by the intrinsics of one instruction set.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! vector {
    ($vector:ty, $lanes:literal, $load:ident, $splat:ident, $store:ident, $plus:ident, $minus:ident, $larger:ident,
     |$sum:ident, $a:ident, $b:ident| $product:expr) => {
        impl Vector for $vector {
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn load(from: *const f32) -> Self {
                // SAFETY: promised by the caller, here and below.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn splat(value: f32) -> Self {
                // SAFETY: see `load`.
                unsafe { $splat(value) }
            }
            #[inline(always)]
            unsafe fn plus_product(self, $a: Self, $b: Self) -> Self {
                let $sum = self;
                // SAFETY: see `load`.
                unsafe { $product }
            }
            #[inline(always)]
            unsafe fn plus(self, other: Self) -> Self {
                // SAFETY: see `load`.
                unsafe { $plus(self, other) }
            }
            #[inline(always)]
            unsafe fn minus(self, other: Self) -> Self {
                // SAFETY: see `load`.
                unsafe { $minus(self, other) }
            }
            #[inline(always)]
            unsafe fn at_least_zero(self) -> Self {
                // SAFETY: see `load`.
                unsafe { $larger(self, $splat(0.0)) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut f32) {
                // SAFETY: see `load`.
                unsafe { $store(to, self) }
            }
        }
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use vector;

/// A group of tiles, `P` at a time with blocks of outputs in `N` registers.
///
/// # Safety
/// `job.check(to, space)` passed, `tiles` is one of `job.groups()`, and the instructions of `V` are there.
#[inline(always)]
pub(super) unsafe fn group<V: Vector, const N: usize, const P: usize>(
    job: &Job<'_>,
    tiles: Range<usize>,
    space: &mut Space,
    to: &mut Map,
) {
    const { assert!(V::LANES * N == BLOCK && GROUP.is_multiple_of(P)) };
    let (blocks, [columns, rows]) = (job.filters.inputs, job.tiles());
    let place =
        |tile: usize| ((columns.start + tile % columns.len()) * TILE, (rows.start + tile / columns.len()) * TILE);
    // SAFETY: tiles lie in the padded map; `inputs` holds `PLACES * blocks * PITCH` lines, `sums` `PLACES * PITCH`, and the
    // filters `PLACES * blocks * BLOCK` for each block of outputs. Tiles that a last group lacks are computed of what is left in
    // their place, and go nowhere.
    unsafe {
        for (n, (x, y)) in tiles.clone().map(place).enumerate() {
            for block in 0..blocks {
                let from = job.from.lines.as_ptr().add(y * job.from.pitch() + x * blocks + block);
                let into = space.inputs.as_mut_ptr().add(block * PLACES * PITCH + n);
                for part in (0..BLOCK).step_by(V::LANES) {
                    let (from, into) = (from.cast::<f32>().add(part), into.cast::<f32>().add(part));
                    spread_tile::<V>(from, into, (job.from.pitch() * BLOCK, blocks * BLOCK));
                }
            }
        }
        for (output, bias) in job.filters.bias.iter().enumerate() {
            for at in 0..PLACES {
                let weights = job.filters.lines.as_ptr().add((output * PLACES + at) * blocks * BLOCK).cast();
                for n in (0..tiles.len()).step_by(P) {
                    let values = space.inputs.as_ptr().add(at * PITCH + n).cast();
                    let sums = space.sums.as_mut_ptr().add(at * PITCH + n).cast();
                    products::<V, N, P>(values, weights, blocks, sums);
                }
            }
            let (pitch, pixel) = (to.pitch(), to.blocks);
            for (n, (x, y)) in tiles.clone().map(place).enumerate() {
                let size = ((to.width - x).min(TILE), (to.height - y).min(TILE));
                let sums = space.sums.as_ptr().add(n);
                let into = to.lines.as_mut_ptr().add((y + 1) * pitch + (x + 1) * pixel + output);
                for part in (0..BLOCK).step_by(V::LANES) {
                    let (sums, into) = (sums.cast::<f32>().add(part), into.cast::<f32>().add(part));
                    let bias = V::load(bias.as_ptr().add(part));
                    gather_tile(sums, bias, job.finish, into, (pitch * BLOCK, pixel * BLOCK), size);
                }
            }
        }
    }
}

/// What six inputs in a row become.
///
/// # Safety
/// The instructions are there.
#[inline(always)]
unsafe fn spread<V: Vector>(d: [V; 6]) -> [V; 6] {
    // SAFETY: promised by the caller.
    unsafe {
        let (two, four, less_four, less_five) = (V::splat(2.0), V::splat(4.0), V::splat(-4.0), V::splat(-5.0));
        let (even, odd) = (d[4].plus_product(d[2], less_four), d[3].plus_product(d[1], less_four));
        let (outer, inner) = (d[4].minus(d[2]), d[3].minus(d[1]));
        [
            d[4].plus_product(d[0], four).plus_product(d[2], less_five),
            even.plus(odd),
            even.minus(odd),
            outer.plus_product(inner, two),
            outer.plus_product(inner, V::splat(-2.0)),
            d[5].plus_product(d[1], four).plus_product(d[3], less_five),
        ]
    }
}

/// What six sums in a row give: four outputs.
///
/// # Safety
/// The instructions are there.
#[inline(always)]
unsafe fn gather<V: Vector>(m: [V; 6]) -> [V; 4] {
    // SAFETY: promised by the caller.
    unsafe {
        let (one, one_off) = (m[1].plus(m[2]), m[1].minus(m[2]));
        let (two, two_off) = (m[3].plus(m[4]), m[3].minus(m[4]));
        [
            m[0].plus(one).plus(two),
            one_off.plus_product(two_off, V::splat(2.0)),
            one.plus_product(two, V::splat(4.0)),
            m[5].plus(one_off).plus_product(two_off, V::splat(8.0)),
        ]
    }
}

/// Rows of columns.
#[inline(always)]
fn turned<V: Copy, const C: usize, const R: usize>(columns: [[V; R]; C]) -> [[V; C]; R] {
    std::array::from_fn(|y| std::array::from_fn(|x| columns[x][y]))
}

/// A register of each of 6 x 6 pixels, `down` and `across` floats apart, into the places of a tile.
///
/// # Safety
/// All are there, and so are the instructions.
#[inline(always)]
unsafe fn spread_tile<V: Vector>(from: *const f32, into: *mut f32, (down, across): (usize, usize)) {
    // SAFETY: promised by the caller.
    unsafe {
        let mut columns = [[V::splat(0.0); 6]; 6];
        for (x, column) in columns.iter_mut().enumerate() {
            let mut pixels = [V::splat(0.0); 6];
            for (y, pixel) in pixels.iter_mut().enumerate() {
                *pixel = V::load(from.add(y * down + x * across));
            }
            *column = spread(pixels);
        }
        for (y, row) in turned(columns).into_iter().enumerate() {
            for (x, value) in spread(row).into_iter().enumerate() {
                value.store(into.add((y * 6 + x) * PITCH * BLOCK));
            }
        }
    }
}

/// At one place, the sums over all inputs of `P` tiles for a block of outputs.
///
/// # Safety
/// `values` holds `P` lines for each of `blocks`, `weights` `blocks * BLOCK` lines, `into` takes `P`, and the instructions are
/// there.
#[inline(always)]
unsafe fn products<V: Vector, const N: usize, const P: usize>(
    values: *const f32,
    mut weights: *const f32,
    blocks: usize,
    into: *mut f32,
) {
    // SAFETY: promised by the caller.
    unsafe {
        let mut sums = [[V::splat(0.0); N]; P];
        for block in 0..blocks {
            let values = values.add(block * PLACES * PITCH * BLOCK);
            for input in 0..BLOCK {
                let mut row = [V::splat(0.0); N];
                for (n, weight) in row.iter_mut().enumerate() {
                    *weight = V::load(weights.add(n * V::LANES));
                }
                for (p, sums) in sums.iter_mut().enumerate() {
                    let value = V::splat(*values.add(p * BLOCK + input));
                    for (sum, weight) in sums.iter_mut().zip(row) {
                        *sum = sum.plus_product(value, weight);
                    }
                }
                weights = weights.add(BLOCK);
            }
        }
        for (at, sum) in sums.as_flattened().iter().enumerate() {
            sum.store(into.add(at * V::LANES));
        }
    }
}

/// A register of each place of `sums` into the pixels of a tile that are in the picture, `down` and `across` floats apart.
///
/// # Safety
/// All are there, and so are the instructions.
#[inline(always)]
unsafe fn gather_tile<V: Vector>(
    sums: *const f32,
    bias: V,
    finish: Finish,
    into: *mut f32,
    (down, across): (usize, usize),
    (width, height): (usize, usize),
) {
    // SAFETY: promised by the caller.
    unsafe {
        let mut columns = [[bias; 4]; 6];
        for (x, column) in columns.iter_mut().enumerate() {
            let mut places = [bias; 6];
            for (y, value) in places.iter_mut().enumerate() {
                *value = V::load(sums.add((y * 6 + x) * PITCH * BLOCK));
            }
            *column = gather(places);
        }
        for (y, row) in turned(columns).into_iter().enumerate() {
            for (x, sum) in gather(row).into_iter().enumerate() {
                if x >= width || y >= height {
                    continue;
                }
                let into = into.add(y * down + x * across);
                let sum = sum.plus(bias);
                match finish {
                    Finish::Store => sum,
                    Finish::Relu => sum.at_least_zero(),
                    Finish::Add => sum.plus(V::load(into)),
                }
                .store(into);
            }
        }
    }
}
