//! The Gaussian blur of the metric, sigma 1.5, with the rounding errors of the original.
//!
//! The original filters recursively after Charalampidis, "Recursive implementation of the Gaussian filter using
//! truncated cosine functions" (IEEE Trans. Signal Processing, 2016), with radius 5: the sum of three undamped
//! oscillators that cancel after four samples. Undamped, they also keep every rounding error, and where a picture is
//! smooth these errors outweigh the difference of good candidates: computed exactly, photographs of score 90 would score
//! 0.5 to 2 more. To agree with everybody else's SSIMULACRA 2 the errors must be the same, and therefore this is, step by
//! step, the arithmetic of `FastGaussian` in libjxl's `lib/jxl/gauss_blur.cc` (BSD 3-clause): `f32` with fused multiply
//! and add, across in groups of four samples, then down. A fused operation is rounded once, by definition, so that
//! [`f32::mul_add`] gives the same bits on every machine, with or without an instruction for it.
//!
//! The third oscillator has a quarter of a turn a sample; the original's coefficients of 1e-16 are 0 here.

/// Rows that are blurred across at a time, one a lane.
pub(super) const LANES: usize = 8;
/// One sample of each of [`LANES`] rows, or [`LANES`] samples of one.
pub(super) type Lanes = [f32; LANES];

/// `work` for every lane. A macro and no function of a closure, since closures need not be inlined, and would then not be
/// compiled for wide vectors.
macro_rules! lanes {
    ($lane:ident => $work:expr) => {{
        let mut lanes = [0.0; LANES];
        for $lane in 0..lanes.len() {
            lanes[$lane] = $work;
        }
        lanes
    }};
}
pub(super) use lanes;

/// Samples ahead of the one put out that the recursion takes in.
pub(super) const AHEAD: usize = 4;
/// Samples behind it that the recursion takes in.
pub(super) const BEHIND: usize = 6;
/// Samples at the beginning of a row that are computed one by one.
const SINGLE: usize = 8;

/// What a sample adds to the first two oscillators, and to the third.
const INPUT: [f64; 3] = [0.055_295_235_726_086_62, -0.058_836_687_026_949_95, 0.012_955_819_110_517_089];
/// `-2 cos(omega)` of the first two oscillators.
const TURN: [f64; 2] = [-1.902_113_032_590_307, -1.175_570_504_584_946_3];

/// An oscillator's coefficients for four samples at once: of the inputs, the last output, and the one before it, by how
/// many samples they are back.
struct Four {
    input: [f32; 4],
    last: [f32; 4],
    before: [f32; 4],
}

const FOUR: [Four; 2] = [Four::new(TURN[0], INPUT[0]), Four::new(TURN[1], INPUT[1])];

impl Four {
    const fn new(d: f64, e: f64) -> Self {
        let s = d * d;
        Self {
            input: [e as f32, (-d * e) as f32, (s * e - e) as f32, (-s * d * e + 2.0 * d * e) as f32],
            last: [-d as f32, (s - 1.0) as f32, (-s * d + 2.0 * d) as f32, (s * s - 3.0 * s + 1.0) as f32],
            before: [-1.0, d as f32, (-s + 1.0) as f32, (s * d - 2.0 * d) as f32],
        }
    }

    /// The next four outputs for four inputs.
    #[inline(always)]
    fn step(&self, s: &[Lanes; 4], [last, before]: &mut [Lanes; 2]) -> [Lanes; 4] {
        let mut out = [[0.0; LANES]; 4];
        for j in 0..4 {
            let mut sum = scale(self.input[j], &s[0]);
            for k in 1..=j {
                sum = fused(self.input[j - k], &s[k], &sum);
            }
            out[j] = fused(self.last[j], last, &fused(self.before[j], before, &sum));
        }
        (*last, *before) = (out[3], out[2]);
        out
    }

    /// The next output for one input.
    #[inline(always)]
    fn single(&self, s: &Lanes, [last, before]: &mut [Lanes; 2]) -> Lanes {
        let out = fused(self.last[0], last, &subtract(&scale(self.input[0], s), before));
        (*before, *last) = (*last, out);
        out
    }
}

#[inline(always)]
fn scale(a: f32, x: &Lanes) -> Lanes {
    lanes!(lane => a * x[lane])
}

#[inline(always)]
fn fused(a: f32, x: &Lanes, y: &Lanes) -> Lanes {
    lanes!(lane => a.mul_add(x[lane], y[lane]))
}

#[inline(always)]
fn add(x: &Lanes, y: &Lanes) -> Lanes {
    lanes!(lane => x[lane] + y[lane])
}

#[inline(always)]
fn subtract(x: &Lanes, y: &Lanes) -> Lanes {
    lanes!(lane => x[lane] - y[lane])
}

/// The oscillators of [`LANES`] rows: the last output of each, and the one before it.
#[derive(Default)]
struct Oscillators([[Lanes; 2]; 3]);

impl Oscillators {
    #[inline(always)]
    fn single(&mut self, s: &Lanes) -> Lanes {
        let Self([first, second, [last, before]]) = self;
        let [first, second] = [FOUR[0].single(s, first), FOUR[1].single(s, second)];
        let third = subtract(&scale(INPUT[2] as f32, s), before);
        (*before, *last) = (*last, third);
        add(&first, &add(&second, &third))
    }

    #[inline(always)]
    fn four(&mut self, s: &[Lanes; 4]) -> [Lanes; 4] {
        let Self([first, second, third]) = self;
        let (first, second, third) = (FOUR[0].step(s, first), FOUR[1].step(s, second), Self::third(s, third));
        let mut out = [[0.0; LANES]; 4];
        for j in 0..4 {
            out[j] = add(&first[j], &add(&second[j], &third[j]));
        }
        out
    }

    #[inline(always)]
    fn third(s: &[Lanes; 4], [last, before]: &mut [Lanes; 2]) -> [Lanes; 4] {
        let e = INPUT[2] as f32;
        let two = [subtract(&scale(e, &s[0]), before), subtract(&scale(e, &s[1]), last)];
        let back = add(&fused(e, &s[2], &scale(-e, &s[0])), before);
        let out = [two[0], two[1], back, add(&fused(e, &s[3], &scale(-e, &s[1])), last)];
        (*last, *before) = (out[3], out[2]);
        out
    }
}

/// [`LANES`] rows on their side.
pub(super) trait Columns: Copy {
    /// The rows' samples in `column`. To be `#[inline(always)]`.
    fn column(self, column: usize) -> Lanes;
}

impl Columns for &[Lanes] {
    #[inline(always)]
    fn column(self, column: usize) -> Lanes {
        self[column]
    }
}

/// Rows multiplied with others.
#[derive(Clone, Copy)]
pub(super) struct Product<'a>(pub(super) &'a [Lanes], pub(super) &'a [Lanes]);

impl Columns for Product<'_> {
    #[inline(always)]
    fn column(self, column: usize) -> Lanes {
        let (p, q) = (&self.0[column], &self.1[column]);
        lanes!(lane => p[lane] * q[lane])
    }
}

/// Blurs [`LANES`] rows across, as wide as `out`; outside of the rows there is 0.
#[inline(always)]
pub(super) fn across(rows: impl Columns, out: &mut [Lanes]) {
    let width = out.len();
    let mut waves = Oscillators::default();
    for n in 0..AHEAD {
        waves.single(&inside(rows, n, width));
    }
    let mut n = 0;
    while n < width {
        if n >= SINGLE && n + AHEAD + 3 < width {
            let mut sums = [[0.0; LANES]; 4];
            for j in 0..4 {
                sums[j] = add(&rows.column(n + j - BEHIND), &rows.column(n + j + AHEAD));
            }
            out[n..n + 4].copy_from_slice(&waves.four(&sums));
            n += 4;
        } else {
            // What is left of the first column wraps around and is outside, too.
            let behind = inside(rows, n.wrapping_sub(BEHIND), width);
            out[n] = waves.single(&add(&behind, &inside(rows, n + AHEAD, width)));
            n += 1;
        }
    }
}

#[inline(always)]
fn inside(rows: impl Columns, column: usize, width: usize) -> Lanes {
    if column < width { rows.column(column) } else { [0.0; LANES] }
}

/// The oscillators of [`LANES`] columns on their way down.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Falling([[Lanes; 2]; 3]);

impl Falling {
    /// The next row for the rows [`BEHIND`] it and [`AHEAD`] of it, which are 0 outside of the picture.
    #[inline(always)]
    pub(super) fn next(&mut self, behind: &Lanes, ahead: &Lanes) -> Lanes {
        let s = add(behind, ahead);
        let Self([first, second, [last, before]]) = self;
        let (first, second) = (fall(0, &s, first), fall(1, &s, second));
        let third = lanes!(lane => (INPUT[2] as f32).mul_add(s[lane], -before[lane]));
        (*before, *last) = (*last, third);
        add(&first, &add(&second, &third))
    }
}

/// One of the first two oscillators on its way down.
#[inline(always)]
fn fall(index: usize, s: &Lanes, [last, before]: &mut [Lanes; 2]) -> Lanes {
    let (turn, input) = (-TURN[index] as f32, INPUT[index] as f32);
    let out = lanes!(lane => input.mul_add(s[lane], turn.mul_add(last[lane], -before[lane])));
    (*before, *last) = (*last, out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The response to an impulse, centre first: the sum of three cosines.
    const RESPONSE: [f32; 5] = [0.264_621_1, 0.212_928_6, 0.109_335_37, 0.036_011_115, 0.009_414_368];

    fn impulse(width: usize, centre: usize) -> Vec<Lanes> {
        let mut out = vec![[0.0; LANES]; width];
        let mut rows = out.clone();
        rows[centre] = [1.0; LANES];
        across(&rows[..], &mut out);
        out
    }

    #[test]
    fn an_impulse_spreads_over_nine_samples_wherever_it_is() {
        for width in [1, 2, 5, 8, 9, 15, 16, 31] {
            for centre in 0..width {
                for (n, out) in impulse(width, centre).iter().enumerate() {
                    let expected = RESPONSE.get(n.abs_diff(centre)).copied().unwrap_or(0.0);
                    assert!((out[3] - expected).abs() < 1e-5, "{width} {centre} {n}: {} for {expected}", out[3]);
                }
            }
        }
    }

    #[test]
    fn falling_gives_what_a_row_gives_across() {
        let (mut falling, height) = (Falling::default(), 20);
        let rows: Vec<Lanes> = (0..height).map(|row| [if row % 7 < 3 { 0.7 } else { 0.1 }; LANES]).collect();
        let at = |row: Option<usize>| row.and_then(|row| rows.get(row)).copied().unwrap_or([0.0; LANES]);
        let mut expected = vec![[0.0; LANES]; height];
        across(&rows[..], &mut expected);
        for fed in 0..height + AHEAD {
            let out = falling.next(&at(fed.checked_sub(AHEAD + BEHIND)), &at(Some(fed)));
            if let Some(row) = fed.checked_sub(AHEAD) {
                assert!((out[0] - expected[row][0]).abs() < 1e-5, "row {row}");
            }
        }
    }
}
