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
/// How far around a pixel colours count that say how much they differ.
const REACH: usize = 2;
/// The part of that difference whose square, in steps of 8 bits, is the most error that a bit may be worth.
const PART: f32 = 1.0 / 3.5;
/// The least that it may be, and where all is of one colour.
const LEAST: f32 = 1.0;
const FLAT: f32 = 4.0;
/// The share of pixels around one that are calm: fewer are noise, which hides errors. Calm is what lies between its neighbours to
/// the sides or above and below as in a gradient, but for so much, as rounding leaves it.
const CALM: (u32, u32) = (2, 5);
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
    let mut all_around = around(canvas, width, area, run)?.into_iter();
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
        for (x, around) in (area.x..area.x + area.width).zip(&mut all_around) {
            let beside = x.saturating_sub(1) - columns.start..(x + 2).min(width) - columns.start;
            let count = (rows.len() * beside.len()) as u32;
            let sum: u32 = sums[beside.clone()].iter().sum();
            let square: u32 = squares[beside].iter().sum();
            let variance = (square * count - sum * sum) as f32 / (count * count * 64) as f32;
            let at = y * width + x;
            let stays = next.is_some_and(|next| next[at] == canvas[at]);
            let weight = if stays { STAYING } else { 1.0 };
            let masked = loss * (1.0 + variance / BUSY).sqrt();
            out.push((weight / masked).max(1.0 / around.most()));
        }
    }
    Ok(out)
}

/// What the pixels around one are like.
#[derive(Debug, Clone, Copy)]
struct Around {
    /// What each channel ranges over.
    low: [u8; 3],
    high: [u8; 3],
    /// Pixels, and those of them that are calm.
    count: u8,
    calm: u8,
}

impl Around {
    const NONE: Self = Self { low: [u8::MAX; 3], high: [u8::MIN; 3], count: 0, calm: 0 };

    /// One pixel; what is transparent has no colour.
    fn of(&pixel: &Pixel, calm: bool) -> Self {
        let [r, g, b, _] = pixel;
        let (low, high) = if pixel == NOTHING { (Self::NONE.low, Self::NONE.high) } else { ([r, g, b], [r, g, b]) };
        Self { low, high, count: 1, calm: calm.into() }
    }

    fn with(self, other: Self) -> Self {
        let low = std::array::from_fn(|at| self.low[at].min(other.low[at]));
        let high = std::array::from_fn(|at| self.high[at].max(other.high[at]));
        Self { low, high, count: self.count + other.count, calm: self.calm + other.calm }
    }

    /// The most error that a bit may be worth; any where there is noise.
    fn most(self) -> f32 {
        let difference = self.high.iter().zip(self.low).map(|(high, low)| high.saturating_sub(low)).max().unwrap_or(0);
        match f32::from(difference) * PART {
            _ if u32::from(self.calm) * CALM.1 < u32::from(self.count) * CALM.0 => f32::INFINITY,
            0.0 => FLAT,
            part => (part * part).max(LEAST),
        }
    }
}

/// What the pixels around each of `area` are like.
fn around(canvas: &[Pixel], width: usize, area: Area, run: Run<'_>) -> Result<Vec<Around>> {
    let height = canvas.len() / width;
    let whole = area.grown(REACH, (width, height));
    let (left, above) = (area.x - whole.x, area.y - whole.y);
    let mut across = Vec::with_capacity(area.width * whole.height);
    for y in whole.y..whole.y + whole.height {
        run.check()?;
        let pixel = |x: usize| {
            let at = y * width + x;
            let between = |low: bool, high: bool, step: usize| {
                low && high && is_even(&canvas[at - step], &canvas[at], &canvas[at + step])
            };
            let calm = between(x > 0, x + 1 < width, 1) || between(y > 0, y + 1 < height, width);
            Around::of(&canvas[at], calm)
        };
        let row: Vec<Around> = (whole.x..whole.x + whole.width).map(pixel).collect();
        let near = |x: usize| row[x.saturating_sub(REACH)..(x + REACH + 1).min(row.len())].iter().copied();
        across.extend((left..left + area.width).map(|x| near(x).fold(Around::NONE, Around::with)));
    }
    let mut out = Vec::with_capacity(area.width * area.height);
    for y in above..above + area.height {
        run.check()?;
        let rows = y.saturating_sub(REACH)..(y + REACH + 1).min(whole.height);
        let near = |x: usize| rows.clone().map(move |row| row * area.width + x).map(|at| across[at]);
        out.extend((0..area.width).map(|x| near(x).fold(Around::NONE, Around::with)));
    }
    Ok(out)
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
    fn colours_farther_away_and_those_of_nothing_do_not_count() {
        let far = |x: usize, _: usize| if x + REACH < SIDE / 2 || x > SIDE / 2 + REACH { 250 } else { 100 };
        assert_eq!(worth(far), FLAT);
        let all = [NOTHING, [5, 9, 7, u8::MAX], [6, 9, 14, 1]].map(|pixel| Around::of(&pixel, true));
        assert_eq!(all.into_iter().fold(Around::NONE, Around::with).most(), 4.0);
    }
}
