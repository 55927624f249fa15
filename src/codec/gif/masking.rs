//! What hides errors: busy parts of a picture much, plain ones nothing.
//!
//! And where colours differ by little, as in a shadow, a glow or faint letters, errors of as little are all that is left to be
//! seen, long before a score over the whole picture tells.

use crate::{
    codec::sequence::{Area, NOTHING, Pixel},
    control::Run,
    error::Result,
};

/// Variance of luma with which errors begin to cost less than where the picture is flat: half as much at three times of it.
const BUSY: f32 = 30.0;
/// How much more an error costs in a pixel that stays.
const STAYING: f32 = 4.0;
/// How far around a pixel colours count that say how much they differ, and the difference above which more hides no more: along
/// edges on a plain ground errors fray them, and show as remains of what was there before.
const REACH: usize = 2;
const CONTRAST: u8 = 40;
/// The part of that difference whose square, in steps of 8 bits, is the most error that a bit may be worth.
const PART: f32 = 1.0 / 3.5;
/// The least that it may be, and where all is of one colour.
const LEAST: f32 = 1.0;
const FLAT: f32 = 4.0;
/// How many of the pixels so far around are calm at least: where fewer are, noise hides errors. Calm is what lies between its
/// neighbours to the sides or above and below as in a gradient, but for so much, as rounding leaves it.
const FAR: usize = 5;
const CALM: u8 = 48;
const EVEN: i32 = 1;

/// What a unit of error costs in bits for the pixels of `area`: less where the picture is busy, more where it stays, and no less
/// than it must where colours differ by little.
pub(super) fn weights(
    (canvas, next): (&[Pixel], Option<&[Pixel]>),
    width: usize,
    area: Area,
    loss: f32,
    run: Run<'_>,
) -> Result<Vec<f32>> {
    let height = canvas.len() / width;
    let columns = area.x.saturating_sub(1)..(area.x + area.width + 1).min(width);
    // Of three rows, the sums of eight times luma and of its squares.
    let (mut sums, mut squares) = (vec![0u32; columns.len()], vec![0u32; columns.len()]);
    let mut most = most(canvas, width, area, run)?.into_iter();
    let mut out = Vec::with_capacity(area.width * area.height);
    for y in area.y..area.y + area.height {
        run.check()?;
        let rows = y.saturating_sub(1)..(y + 2).min(height);
        sums.fill(0);
        squares.fill(0);
        for row in rows.clone() {
            let pixels = &canvas[row * width + columns.start..row * width + columns.end];
            for ((sum, square), &[r, g, b, _]) in sums.iter_mut().zip(&mut squares).zip(pixels) {
                let luma = 2 * u32::from(r) + 5 * u32::from(g) + u32::from(b);
                *sum += luma;
                *square += luma * luma;
            }
        }
        for (x, most) in (area.x..area.x + area.width).zip(&mut most) {
            let beside = x.saturating_sub(1) - columns.start..(x + 2).min(width) - columns.start;
            let count = (rows.len() * beside.len()) as u32;
            let sum: u32 = sums[beside.clone()].iter().sum();
            let square: u32 = squares[beside].iter().sum();
            let variance = (square * count - sum * sum) as f32 / (count * count * 64) as f32;
            let at = y * width + x;
            let stays = next.is_some_and(|next| next[at] == canvas[at]);
            let weight = if stays { STAYING } else { 1.0 };
            let masked = loss * (1.0 + variance / BUSY).sqrt();
            out.push((weight / masked).max(1.0 / most));
        }
    }
    Ok(out)
}

/// The most error that a bit may be worth in each pixel of `area`; any where there is noise.
fn most(canvas: &[Pixel], width: usize, area: Area, run: Run<'_>) -> Result<Vec<f32>> {
    let size = (width, canvas.len() / width);
    // Beyond the canvas and where it is transparent there is no colour, and all is calm.
    let (mut lows, mut highs) = (Around::new(area, REACH, [u8::MAX; 4]), Around::new(area, REACH, [u8::MIN; 4]));
    for (from, to, count) in lows.rows(size) {
        run.check()?;
        for (&pixel, place) in canvas[from..from + count].iter().zip(to..).filter(|(pixel, _)| **pixel != NOTHING) {
            (lows.values[place], highs.values[place]) = (pixel, pixel);
        }
    }
    let mut calm = Around::new(area, FAR, [1u8]);
    let between = width..canvas.len() - width;
    for (from, to, count) in calm.rows(size) {
        run.check()?;
        for ((at, x), place) in (from..from + count).zip(from % width..).zip(to..) {
            let even = |step: usize| is_even(&canvas[at - step], &canvas[at], &canvas[at + step]);
            let is_calm = (x > 0 && x + 1 < width && even(1)) || (between.contains(&at) && even(width));
            calm.values[place] = [is_calm.into()];
        }
    }
    let lows = lows.pooled(u8::min, run)?;
    let highs = highs.pooled(u8::max, run)?;
    let calm = calm.pooled(u8::wrapping_add, run)?;
    let ranges = lows.as_chunks::<4>().0.iter().zip(highs.as_chunks::<4>().0);
    let difference = |(low, high): (&[u8; 4], &[u8; 4])| {
        low.iter().zip(high).take(3).map(|(low, high)| high.saturating_sub(*low)).max().unwrap_or(0)
    };
    let most = |(difference, calm): (u8, u8)| match f32::from(difference.min(CONTRAST)) * PART {
        _ if calm < CALM => f32::INFINITY,
        0.0 => FLAT,
        part => (part * part).max(LEAST),
    };
    Ok(ranges.map(difference).zip(calm).map(most).collect())
}

/// Values for the pixels of an area, and for those within reach of it.
struct Around<const N: usize> {
    area: Area,
    reach: usize,
    wide: usize,
    values: Vec<[u8; N]>,
}

impl<const N: usize> Around<N> {
    fn new(area: Area, reach: usize, value: [u8; N]) -> Self {
        let (wide, high) = (area.width + 2 * reach, area.height + 2 * reach);
        Self { area, reach, wide, values: vec![value; wide * high] }
    }

    /// Its rows on a canvas of this size: where they start there and among the values, and how long they are.
    fn rows(&self, size: (usize, usize)) -> impl Iterator<Item = (usize, usize, usize)> + use<N> {
        let Self { area, reach, wide, .. } = *self;
        let whole = area.grown(reach, size);
        (whole.y..whole.y + whole.height).map(move |y| {
            let to = (y + reach - area.y) * wide + whole.x + reach - area.x;
            (y * size.0 + whole.x, to, whole.width)
        })
    }

    /// What `with` makes of all values within reach of each pixel of the area.
    fn pooled(self, with: impl Fn(u8, u8) -> u8, run: Run<'_>) -> Result<Vec<u8>> {
        let Self { reach, wide, values, .. } = self;
        let (reach, row) = (2 * reach, (wide - 2 * reach) * N);
        let values = values.into_flattened();
        let pool =
            |out: &mut [u8], more: &[u8]| out.iter_mut().zip(more).for_each(|(out, &more)| *out = with(*out, more));
        let mut across = Vec::with_capacity(values.len());
        for values in values.chunks_exact(wide * N) {
            run.check()?;
            let start = across.len();
            across.extend_from_slice(&values[..row]);
            (1..=reach).for_each(|step| pool(&mut across[start..], &values[step * N..]));
        }
        // As large as a frame, as what comes is.
        drop(values);
        let mut all = Vec::with_capacity(across.len());
        for start in (0..across.len() - reach * row).step_by(row) {
            run.check()?;
            all.extend_from_slice(&across[start..start + row]);
            (1..=reach).for_each(|step| pool(&mut all[start..], &across[start + step * row..]));
        }
        Ok(all)
    }
}

/// Whether a pixel lies between two others as a gradient does.
fn is_even(before: &Pixel, here: &Pixel, behind: &Pixel) -> bool {
    let bend = |at: usize| i32::from(before[at]) + i32::from(behind[at]) - 2 * i32::from(here[at]);
    (0..3).all(|at| bend(at).abs() <= EVEN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, limits::Limits};

    const SIDE: usize = 16;

    /// What a bit may be worth at most in the middle of a picture, at a loss of 100.
    fn worth(code: impl Fn(usize, usize) -> u8) -> f32 {
        let canvas: Vec<Pixel> = (0..SIDE * SIDE).map(|at| [code(at % SIDE, at / SIDE), 90, 90, u8::MAX]).collect();
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let area = Area { x: SIDE / 2, y: SIDE / 2, width: 1, height: 1 };
        1.0 / weights((&canvas, None), SIDE, area, 100.0, run).unwrap()[0]
    }

    #[test]
    fn the_less_colours_differ_the_less_error_a_bit_is_worth() {
        let stripes = |height: u8| move |x: usize, _: usize| 100 + if x.is_multiple_of(2) { height } else { 0 };
        let worths = [0, 3, 7, 14, 100].map(|height| worth(stripes(height)));
        assert_eq!(worths[..4], [FLAT, LEAST, 4.0, 16.0]);
        assert!(worths[4] > 100.0, "{worths:?}");
    }

    #[test]
    fn noise_hides_errors_and_gradients_do_not() {
        let noise = |x: usize, y: usize| 100 + ((x * 7 + y * 31 + 3).pow(3) / 16 % 11) as u8;
        assert!(worth(noise) > 100.0, "{}", worth(noise));
        assert_eq!(worth(|x, y| 100 + x as u8 + y as u8), (8.0 * PART).powi(2));
    }

    #[test]
    fn edges_on_a_plain_ground_hide_no_more_than_some_contrast_does() {
        let most = (f32::from(CONTRAST) * PART).powi(2);
        assert_eq!(worth(|x, _| if x < SIDE / 2 { 0 } else { 250 }), most);
        assert_eq!(worth(|x, y| if x + y == SIDE { 0 } else { 250 }), most);
    }

    #[test]
    fn colours_farther_away_and_those_of_nothing_do_not_count() {
        let far = |x: usize, _: usize| if x + REACH < SIDE / 2 || x > SIDE / 2 + REACH { 250 } else { 100 };
        assert_eq!(worth(far), FLAT);
        let nothing = vec![NOTHING; SIDE * SIDE];
        let run = Run { limits: &Limits::default(), control: &Unattended };
        assert!(most(&nothing, SIDE, Area::LEAST, run).unwrap() == [FLAT]);
    }
}
