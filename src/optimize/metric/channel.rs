//! One channel of two pictures at one scale, compared a few rows at a time.

use super::{
    blur::{self, AHEAD, BEHIND, Falling, LANES, Lanes, Product},
    pool::Pool,
    weights::{MAPS, Pooled},
};

/// Rows that are pushed at a time, but for the last.
pub(super) const BATCH: usize = LANES;
/// Rows kept: those that the blur downwards still looks back at, and a batch.
const RING: usize = AHEAD + BEHIND + BATCH;
/// Blurred planes: the means of reference and candidate, their squares, their product.
const BLURS: usize = 5;
/// Rows kept of each row pushed: the blurred ones, and the candidate as it is.
const KEPT: usize = BLURS + 1;

/// Room for rows on their side, shared by all channels.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    reference: Vec<Lanes>,
    candidate: Vec<Lanes>,
    blurred: Vec<Lanes>,
}

/// Columns rounded up to whole lanes.
pub(super) fn stride(width: usize) -> usize {
    width.next_multiple_of(LANES)
}

/// Where a picture is stacked of bands of one height: rows near a seam do not count, as the blur mixes strangers there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seams {
    /// Rows of a band; 0 for a picture in one piece.
    band: usize,
    /// Rows on either side of a seam that do not count.
    margin: usize,
}

impl Seams {
    /// For bands of `band` rows, 0 for none.
    pub(super) fn every(band: usize) -> Self {
        Self { band, margin: AHEAD.min(band / 4) }
    }

    /// The row that is pooled once row `fed` was fed to the blur.
    fn pooled_row(self, fed: usize) -> Option<usize> {
        let row = fed.checked_sub(AHEAD)?;
        let inside = self.band == 0 || (self.margin..self.band - self.margin).contains(&(row % self.band));
        inside.then_some(row)
    }
}

/// Compares a candidate's channel, given row by row, with the reference's.
#[derive(Debug)]
pub(super) struct Channel<'a> {
    reference: &'a [f32],
    width: usize,
    height: usize,
    /// Rows pushed, with those below the picture.
    pushed: usize,
    /// Rows blurred across; 0 outside of the picture.
    ring: Ring,
    /// By block of columns and blurred plane.
    falling: Vec<[Falling; BLURS]>,
    wanted: [bool; MAPS],
    seams: Seams,
    pool: Pool,
    /// Rows pooled.
    pooled: usize,
}

impl<'a> Channel<'a> {
    /// `reference` holds a row of [`stride`] samples for each of the height, 0 behind the picture; `wanted` says which
    /// maps count, and `seams` which rows.
    pub(super) fn new(
        reference: &'a [f32],
        (width, height): (usize, usize),
        wanted: [bool; MAPS],
        seams: Seams,
    ) -> Self {
        let stride = stride(width);
        Self {
            reference,
            width,
            height,
            pushed: 0,
            ring: Ring::new(stride),
            falling: vec![[Falling::default(); BLURS]; stride / LANES],
            wanted,
            seams,
            pool: Pool::default(),
            pooled: 0,
        }
    }

    /// Takes the candidate's next rows, at most [`BATCH`], each a [`stride`] long, and after the last the rows below.
    #[inline(always)]
    pub(super) fn push(&mut self, rows: &[f32], scratch: &mut Scratch) {
        let count = rows.len() / stride(self.width);
        self.blur_across(rows, count, scratch);
        self.settle(count);
        if self.pushed == self.height {
            (self.pushed..self.pushed + AHEAD).for_each(|row| self.ring.clear(row));
            self.settle(AHEAD);
        }
    }

    /// The norms, once every row was pushed.
    pub(super) fn norms(&self) -> Pooled {
        self.pool.norms(self.width * self.pooled)
    }

    #[inline(always)]
    fn blur_across(&mut self, rows: &[f32], count: usize, scratch: &mut Scratch) {
        let (width, stride) = (self.width, stride(self.width));
        let Scratch { reference, candidate, blurred } = scratch;
        turn(&self.reference[self.pushed * stride..][..count * stride], stride, reference);
        turn(rows, stride, candidate);
        let (p, q) = (&reference[..width], &candidate[..width]);
        blurred.resize(stride.max(blurred.len()), [0.0; LANES]);
        blurred[width..stride].fill([0.0; LANES]);
        for kept in 0..BLURS {
            let out = &mut blurred[..width];
            match kept {
                0 => blur::across(p, out),
                1 => blur::across(q, out),
                2 => blur::across(Product(p, p), out),
                3 => blur::across(Product(q, q), out),
                _ => blur::across(Product(p, q), out),
            }
            for row in 0..count {
                turn_back(blurred, row, self.ring.row_mut(self.pushed + row, kept));
            }
        }
        for (row, samples) in rows.chunks_exact(stride).enumerate() {
            self.ring.row_mut(self.pushed + row, BLURS).copy_from_slice(samples);
        }
    }

    /// Blurs the next `count` rows down, and pools the rows which that completes.
    #[inline(always)]
    fn settle(&mut self, count: usize) {
        let Self { reference, ring, falling, pool, wanted, pushed, seams, .. } = self;
        let mut centres = [None; BATCH];
        for (row, centre) in centres[..count].iter_mut().enumerate() {
            *centre = seams.pooled_row(*pushed + row);
            self.pooled += usize::from(centre.is_some());
        }
        for (block, falling) in falling.iter_mut().enumerate() {
            let mut state = *falling;
            for (row, centre) in (*pushed..).zip(&centres[..count]) {
                // The ring is longer than the blur looks back, so that rows above the picture are still 0.
                let behind = row + RING - (AHEAD + BEHIND);
                let mut blurred = [[0.0; LANES]; BLURS];
                for kept in 0..BLURS {
                    blurred[kept] = state[kept].next(&ring.lanes(behind, kept, block), &ring.lanes(row, kept, block));
                }
                if let Some(centre) = *centre {
                    let p = lanes(&reference[centre * ring.stride + block * LANES..]);
                    pool.add(*wanted, &p, &ring.lanes(centre, BLURS, block), &blurred);
                }
            }
            *falling = state;
            pool.settle();
        }
        *pushed += count;
    }
}

/// The last [`RING`] rows, each [`KEPT`] strides long.
#[derive(Debug)]
struct Ring {
    samples: Vec<f32>,
    stride: usize,
}

impl Ring {
    fn new(stride: usize) -> Self {
        Self { samples: vec![0.0; RING * KEPT * stride], stride }
    }

    #[inline(always)]
    fn at(&self, row: usize, kept: usize) -> usize {
        (row % RING * KEPT + kept) * self.stride
    }

    #[inline(always)]
    fn row_mut(&mut self, row: usize, kept: usize) -> &mut [f32] {
        let at = self.at(row, kept);
        &mut self.samples[at..at + self.stride]
    }

    #[inline(always)]
    fn lanes(&self, row: usize, kept: usize, block: usize) -> Lanes {
        lanes(&self.samples[self.at(row, kept) + block * LANES..])
    }

    fn clear(&mut self, row: usize) {
        let at = self.at(row, 0);
        self.samples[at..at + KEPT * self.stride].fill(0.0);
    }
}

#[inline(always)]
fn lanes(samples: &[f32]) -> Lanes {
    let mut lanes = [0.0; LANES];
    lanes.copy_from_slice(&samples[..LANES]);
    lanes
}

/// Turns up to [`LANES`] rows on their side: `out[x]` holds column `x`; lanes of missing rows stay
/// as they are, since lanes never mix.
#[inline(always)]
fn turn(rows: &[f32], stride: usize, out: &mut Vec<Lanes>) {
    out.resize(stride.max(out.len()), [0.0; LANES]);
    for (lane, row) in rows.chunks_exact(stride).enumerate() {
        for (out, &sample) in out.iter_mut().zip(row) {
            out[lane] = sample;
        }
    }
}

#[inline(always)]
fn turn_back(columns: &[Lanes], lane: usize, out: &mut [f32]) {
    for (out, column) in out.iter_mut().zip(columns) {
        *out = column[lane];
    }
}
