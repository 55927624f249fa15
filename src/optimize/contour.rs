//! Steps in what was smooth: shadows, glows and skies without noise, where few colours show as contours or grain before the
//! metric tells.

use super::overlooked::seen;
use crate::{
    control::Run,
    error::Result,
    picture::{Channels, Picture},
};

/// Codes from a pixel to the next, in any channel, of what is smooth, in a square of pixels that reach so far.
const SMOOTH: u8 = 2;
const REACH: usize = 3;
/// The same of what is steeper, but even, and by how much its steps differ; and how many times as high they may be: grain of dither
/// hides among them.
const STEEP: u8 = 6;
const EVEN: u8 = 2;
const HIDDEN: u8 = 3;
/// Codes by which a step may be higher than it was and not be seen side by side; and from which target on half of that is: then
/// nothing is to be seen where both flicker.
const UNSEEN: u8 = 2;
const FLICKERING: f64 = 85.0;
/// Pixels from which on what is smooth counts in full.
const MANY: f64 = 20_000.0;
/// The mean square of steps above that may be seen at a score of 80, as its root, and the score that more of them cost. A lower
/// target allows no more: rings around a shadow are seen without the original.
const FEW: f64 = 0.4;
const COST: f64 = 45.0;

/// Where a picture is smooth.
pub(super) struct Contours {
    /// For each pixel the highest step to the right and downwards that may be, and one; 0 where it is not smooth.
    steps: Vec<u8>,
    smooth: u64,
    unseen: u8,
    allowed: f64,
}

impl Contours {
    /// In a picture of 8 bits that is to score `target`.
    pub(super) fn of(picture: &Picture, target: f64, run: Run<'_>) -> Result<Self> {
        let width = picture.width() as usize;
        let mut steps = Vec::with_capacity(width * picture.height() as usize);
        each_row(picture, |_| true, run, |_, row| steps.extend_from_slice(row))?;
        let highest = widest(&steps, width, run)?;
        let flattest = widest(&steps.iter().map(|step| !step).collect::<Vec<_>>(), width, run)?;
        let mut smooth = 0;
        for ((step, highest), lowest) in steps.iter_mut().zip(highest).zip(flattest.into_iter().map(|flat| !flat)) {
            let is_even = highest <= STEEP && highest - lowest <= EVEN;
            let is_smooth = highest > 0 && (highest <= SMOOTH || is_even);
            smooth += u64::from(is_smooth);
            *step = match is_smooth {
                true if highest > SMOOTH => HIDDEN * *step + 1,
                true => *step + 1,
                false => 0,
            };
        }
        let unseen = if target < FLICKERING { UNSEEN } else { UNSEEN / 2 };
        Ok(Self { steps, smooth, unseen, allowed: FEW * ((100.0 - target) / 20.0).clamp(0.0, 1.0) })
    }

    /// What steps of `drawn`, of the same size, take from its score.
    pub(super) fn cost(&self, drawn: &Picture, run: Run<'_>) -> Result<f64> {
        if self.smooth == 0 {
            return Ok(0.0);
        }
        let (width, mut sum) = (drawn.width() as usize, 0);
        let meant = |y: usize| &self.steps[y * width..(y + 1) * width];
        let is_smooth = |y: usize| meant(y).iter().any(|&step| step > 0);
        each_row(drawn, is_smooth, run, |y, row| {
            for (&step, &meant) in row.iter().zip(meant(y)).filter(|(_, meant)| **meant > 0) {
                let excess = u64::from(step.saturating_sub(self.unseen + meant - 1));
                sum += excess * excess;
            }
        })?;
        let seen = seen(sum as f64, self.smooth as f64, self.steps.len(), MANY);
        Ok(COST * (seen - self.allowed).max(0.0))
    }
}

/// Gives `take` each row that is `wanted` and its steps: from a pixel to the one on its right or the one below, whichever is
/// higher.
fn each_row(
    picture: &Picture,
    wanted: impl Fn(usize) -> bool,
    run: Run<'_>,
    mut take: impl FnMut(usize, &[u8]),
) -> Result<()> {
    let (channels, height) = (picture.channels(), picture.height() as usize);
    let samples = picture.eight().unwrap_or(&[]).chunks_exact(picture.layout().row_samples());
    let read = |samples: &[u8], row: &mut Vec<[u8; 4]>| {
        row.clear();
        row.extend(samples.chunks_exact(channels.count()).map(|pixel| over_black(colour(pixel, channels))));
    };
    let apart = |a: &[u8; 4], b: &[u8; 4]| a.iter().zip(b).fold(0, |most, (a, b)| most.max(a.abs_diff(*b)));
    let (mut row, mut below, mut steps) = (Vec::new(), Vec::new(), Vec::new());
    // Which row is read as the one below.
    let mut read_below = None;
    for (y, this) in samples.clone().enumerate().filter(|(y, _)| wanted(*y)) {
        run.check()?;
        match read_below {
            Some(last) if last == y => std::mem::swap(&mut row, &mut below),
            _ => read(this, &mut row),
        }
        let next = (y + 1).min(height - 1);
        samples.clone().nth(next).into_iter().for_each(|samples| read(samples, &mut below));
        read_below = Some(next);
        steps.clear();
        let right = row.iter().skip(1).chain(row.last());
        steps.extend(
            row.iter().zip(right).zip(&below).map(|((here, right), below)| apart(here, right).max(apart(here, below))),
        );
        take(y, &steps);
    }
    Ok(())
}

/// The highest of all values within reach, in either direction.
fn widest(values: &[u8], width: usize, run: Run<'_>) -> Result<Vec<u8>> {
    let highest = |values: &[u8]| values.iter().copied().max().unwrap_or(0);
    let mut across = Vec::with_capacity(values.len());
    for row in values.chunks_exact(width) {
        run.check()?;
        across.extend((0..width).map(|x| highest(&row[x.saturating_sub(REACH)..(x + REACH + 1).min(width)])));
    }
    let height = across.len() / width;
    let mut all = Vec::with_capacity(across.len());
    for y in 0..height {
        run.check()?;
        let rows = y.saturating_sub(REACH)..(y + REACH + 1).min(height);
        all.extend((0..width).map(|x| rows.clone().map(|y| across[y * width + x]).max().unwrap_or(0)));
    }
    Ok(all)
}

/// Red, green and blue as far as they are seen, and alpha.
pub(super) fn shown(picture: &Picture, at: usize) -> [i32; 4] {
    let channels = picture.channels();
    let count = channels.count();
    let pixel = picture.eight().and_then(|samples| samples.get(at * count..(at + 1) * count));
    pixel.map_or([0; 4], |pixel| over_black(colour(pixel, channels)).map(i32::from))
}

fn over_black([r, g, b, alpha]: [u8; 4]) -> [u8; 4] {
    let seen = |code: u8| if alpha == 255 { code } else { ((u32::from(code) * u32::from(alpha) + 127) / 255) as u8 };
    [seen(r), seen(g), seen(b), alpha]
}

/// The colour of a pixel as straight RGBA, all transparent ones alike.
pub(super) const fn colour(p: &[u8], channels: Channels) -> [u8; 4] {
    match channels {
        Channels::Gray => [p[0], p[0], p[0], 255],
        Channels::GrayAlpha if p[1] > 0 => [p[0], p[0], p[0], p[1]],
        Channels::Rgb => [p[0], p[1], p[2], 255],
        Channels::Rgba | Channels::Cmyk if p[3] > 0 => [p[0], p[1], p[2], p[3]],
        _ => [0; 4],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, limits::Limits, picture::Samples};

    const SIDE: usize = 120;

    fn picture(code: impl Fn(usize, usize) -> u8) -> Picture {
        let samples = (0..SIDE * SIDE).map(|at| code(at % SIDE, at / SIDE)).collect();
        Picture::new(SIDE as u32, SIDE as u32, Channels::Gray, Samples::Eight(samples)).unwrap()
    }

    fn cost(meant: &Picture, drawn: &Picture, target: f64) -> f64 {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        Contours::of(meant, target, run).unwrap().cost(drawn, run).unwrap()
    }

    #[test]
    fn steps_in_a_shadow_cost_more_the_higher_they_are_and_where_both_flicker() {
        let shadow = picture(|_, y| 60 + y as u8);
        let stepped = |codes: u8| picture(move |_, y| 60 + y as u8 / codes * codes + codes / 2);
        let costs = [1, 3, 6, 10].map(|codes| cost(&shadow, &stepped(codes), 80.0));
        assert_eq!(costs[..2], [0.0; 2]);
        assert!(costs[1] < costs[2] && costs[2] < costs[3], "{costs:?}");
        assert!(cost(&shadow, &stepped(6), 90.0) > costs[2]);
        assert_eq!(cost(&shadow, &stepped(6), 70.0), costs[2], "contours are seen without the original");
        assert_eq!([2, 3].map(|codes| cost(&shadow, &stepped(codes), 90.0) > 0.0), [false, true], "where both flicker");
        let grain = picture(|x, y| 56 + y as u8 + if (x + y) % 2 == 0 { 8 } else { 0 });
        assert!(cost(&shadow, &grain, 80.0) > 0.0, "grain is seen, too");
    }

    #[test]
    fn steps_cost_in_steep_gradients_too_and_the_grain_of_dither_does_not() {
        let steep = picture(|_, y| (y * 4 % 250) as u8);
        let stepped = |rows: usize| cost(&steep, &picture(|_, y| (y / rows * rows * 4 % 250) as u8), 80.0);
        assert!(stepped(1) == 0.0 && stepped(6) > 0.0, "{} {}", stepped(1), stepped(6));
        let grain = picture(|x, y| (y * 4 % 250) as u8 / 4 * 4 + if (x + y) % 2 == 0 { 3 } else { 0 });
        assert_eq!(cost(&steep, &grain, 80.0), 0.0);
    }

    #[test]
    fn a_shadow_of_a_large_page_counts_as_it_does_of_a_smaller_one() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let of = |rows: usize| {
            let page = |codes: u8| {
                let row = |y: usize| [if y < SIDE { 60 + y as u8 / codes * codes } else { 255 }; SIDE];
                let samples = (0..rows).flat_map(row).collect();
                Picture::new(SIDE as u32, rows as u32, Channels::Gray, Samples::Eight(samples)).unwrap()
            };
            Contours::of(&page(1), 80.0, run).unwrap().cost(&page(9), run).unwrap()
        };
        let costs = [20, 40, 100].map(|pages| of(pages * SIDE));
        assert!(costs[0] > costs[1] && costs[1] == costs[2] && costs[2] > 10.0, "{costs:?}");
    }

    #[test]
    fn edges_noise_and_plain_areas_may_be_drawn_with_any_steps() {
        let noise = picture(|x, y| 100 + ((x * x * 7 + x * y * 13 + y * y * 5) % 11 * 2) as u8);
        for meant in [noise, picture(|_, _| 100), picture(|x, _| if x / 4 % 2 == 0 { 90 } else { 110 })] {
            assert_eq!(cost(&meant, &picture(|x, y| ((x + y) % 2 * 20) as u8 + 90), 80.0), 0.0);
        }
    }
}
