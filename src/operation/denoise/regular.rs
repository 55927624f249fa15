//! What a network takes for noise though it is none: halftone, screentone, weaves, codes of fine modules.
//!
//! Noise is not like itself some pixels farther on, and not stronger than a certain level; a fine pattern that was smoothed
//! away is. Both are read off what is to be removed, tile by tile. On eight photographs with Gaussian noise of standard
//! deviations 15 and 50 or camera noise, the autocorrelation of what is removed is below 0.26 in 99 of 100 tiles; on screentone,
//! halftone and a zone plate its median is 0.59 to 0.69. With JPEG of quality 40 or 10 it reaches 0.40 and 0.81, but there is
//! little to remove there: variances of about 30.
//!
//! Noise beyond that level is known by its values, most of which are near the middle: its kurtosis is above 2.2 in 99 of 100 tiles
//! of four photographs with a standard deviation of 75, clipped at the ends of the scale. Codes of modules of one pixel have 1.2 to
//! 1.5, those resized to nine tenths 1.8 to 2.1.

use crate::{control::Run, error::Result, operation::field::slope, picture::Layout};

/// Side of the tiles, in pixels.
const TILE: usize = 32;
/// Pictures of fewer pixels than this, across or down, are not judged.
const LEAST: usize = 16;
/// The farthest place that is compared, across and down.
const FARTHEST: usize = 8;
/// Places nearer than this, across and down, are not compared: there noise that went through a camera or JPEG is alike.
const NEAREST: usize = 3;
/// The autocorrelation from which a pattern is suspected, and that from which it is sure.
const ALIKE: (f32, f32) = (0.35, 0.5);
/// Variances, in squared steps of 255, below which all may be removed, and above which a pattern stays.
const STRONG: (f32, f32) = (40.0, 100.0);
/// Variances up to which noise is not asked for its kurtosis, and from which that decides.
const NOISE: (f32, f32) = (3000.0, 4500.0);
/// The kurtosis of a code or of the dots of a screen, and that of noise.
const BELL: (f32, f32) = (1.9, 2.1);

/// Which share of what the network removes may go.
pub(super) struct Removable {
    across: usize,
    shares: Vec<f32>,
    width: usize,
}

impl Removable {
    /// Compares a picture of 16 bits with what the network made of it.
    pub(super) fn of(noisy: &[u16], cleaned: &[u16], layout: Layout, run: Run<'_>) -> Result<Self> {
        let (width, height) = (layout.width as usize, layout.height as usize);
        let (across, down) = (width.div_ceil(TILE), height.div_ceil(TILE));
        let count = layout.channels.count();
        // Green is nearest to luminance.
        let channel = if layout.channels.is_gray() { 0 } else { 1 };
        let mut shares = Vec::with_capacity(across * down);
        let mut removed = Vec::with_capacity(TILE * TILE);
        for top in (0..height).step_by(TILE) {
            run.check()?;
            for left in (0..width).step_by(TILE) {
                // The last ones lie over those before.
                let (left, top) = (left.min(width.saturating_sub(TILE)), top.min(height.saturating_sub(TILE)));
                let (wide, high) = (TILE.min(width), TILE.min(height));
                removed.clear();
                for y in top..top + high {
                    let row = (y * width + left) * count;
                    let samples = (row..row + wide * count).skip(channel).step_by(count);
                    removed.extend(samples.map(|at| (i32::from(noisy[at]) - i32::from(cleaned[at])) / 257));
                }
                shares.push(if wide.min(high) < LEAST { 1.0 } else { share(&mut removed, wide) });
            }
        }
        Ok(Self { across, shares, width })
    }

    /// Of the pixels of a row, evenly from the middle of a tile to the next.
    pub(super) fn row(&self, y: usize) -> impl Iterator<Item = f32> {
        let down = self.shares.len() / self.across;
        let (above, below, lower) = between(y, down);
        (0..self.width).map(move |x| {
            let (left, right, further) = between(x, self.across);
            let mix = |row: usize| {
                let [one, other] = [left, right].map(|column| self.shares[row * self.across + column]);
                one + (other - one) * further
            };
            mix(above) + (mix(below) - mix(above)) * lower
        })
    }
}

/// The tiles between whose middles a place lies, of `count`, and how far it is from the first to the second.
fn between(place: usize, count: usize) -> (usize, usize, f32) {
    let at = ((place as f32 + 0.5) / TILE as f32 - 0.5).clamp(0.0, (count - 1) as f32);
    let first = at as usize;
    (first, (first + 1).min(count - 1), at - first as f32)
}

/// 1 where `removed`, rows of `width` differences, may be noise; 0 where it is not.
fn share(removed: &mut [i32], width: usize) -> f32 {
    let mean = removed.iter().sum::<i32>() / removed.len() as i32;
    removed.iter_mut().for_each(|value| *value -= mean);
    let variance = removed.iter().map(|value| value * value).sum::<i32>() as f32 / removed.len() as f32;
    if variance <= STRONG.0 {
        return 1.0;
    }
    let regular = slope(variance, STRONG) * slope(autocorrelation(removed, width) / variance, ALIKE);
    let fourth = removed.iter().map(|&value| f64::from(value).powi(4)).sum::<f64>() / removed.len() as f64;
    let bell = slope(fourth as f32 / (variance * variance), BELL);
    (1.0 - slope(variance, NOISE) * (1.0 - bell)) * (1.0 - regular)
}

/// The greatest mean product with what lies some pixels farther on.
fn autocorrelation(values: &[i32], width: usize) -> f32 {
    let height = values.len() / width;
    let mut greatest = 0f32;
    for down in 0..=FARTHEST {
        for right in -(FARTHEST as isize)..=FARTHEST as isize {
            let across = right.unsigned_abs();
            if down.max(across) < NEAREST || down == 0 && right < 0 {
                continue;
            }
            let (here, there) = if right < 0 { (across, 0) } else { (0, across) };
            let reach = width - across;
            let sum: i32 = (0..height - down)
                .map(|y| {
                    let row = &values[y * width + here..][..reach];
                    let other = &values[(y + down) * width + there..][..reach];
                    row.iter().zip(other).map(|(one, other)| one * other).sum::<i32>()
                })
                .sum();
            greatest = greatest.max(sum as f32 / (reach * (height - down)) as f32);
        }
    }
    greatest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        control::Unattended,
        limits::Limits,
        picture::{Channels, Depth},
    };

    /// What may be removed where each sample of a gray picture loses `loss`, in steps of 255.
    fn removable(width: usize, height: usize, loss: impl Fn(usize, usize) -> i32) -> Vec<f32> {
        let layout =
            Layout { width: width as u32, height: height as u32, channels: Channels::Gray, depth: Depth::Sixteen };
        let places = || (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let noisy: Vec<u16> = places().map(|(x, y)| ((128 + loss(x, y)) * 257) as u16).collect();
        let cleaned = vec![128 * 257; width * height];
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let removable = Removable::of(&noisy, &cleaned, layout, run).unwrap();
        (0..height).flat_map(|y| removable.row(y).collect::<Vec<_>>()).collect()
    }

    fn noise(x: usize, y: usize) -> i32 {
        let state = (x as u32 * 7919 + y as u32 * 104_729 + 1).wrapping_mul(2_654_435_761);
        ((state ^ state >> 15).wrapping_mul(2_246_822_519) >> 24) as i32 - 128
    }

    #[test]
    fn noise_goes_and_dots_of_a_halftone_stay() {
        assert!(removable(70, 40, |x, y| noise(x, y) / 4).iter().all(|share| *share == 1.0));
        let dots = |x: usize, y: usize| if (x % 4 / 2) ^ (y % 4 / 2) == 0 { 20 } else { -20 };
        assert!(removable(70, 40, |x, y| dots(x, y) + noise(x, y) / 16).iter().all(|share| *share == 0.0));
    }

    #[test]
    fn what_is_strong_goes_if_it_is_noise_and_stays_if_it_has_two_values() {
        assert!(removable(40, 40, |x, y| noise(x, y).signum() * 100).iter().all(|share| *share == 0.0));
        // Sums of twelve uniform numbers, of a standard deviation of 70.
        let mut state = 1u32;
        let mut uniform = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as i32 - 128
        };
        let normal: Vec<i32> = (0..40 * 40).map(|_| (0..12).map(|_| uniform()).sum::<i32>() * 70 / 256).collect();
        let shares = removable(40, 40, |x, y| normal[y * 40 + x].clamp(-128, 127));
        assert!(shares.iter().all(|share| *share == 1.0));
    }

    #[test]
    fn faint_patterns_and_tiny_pictures_are_not_judged() {
        let stripes = |height: i32| move |x: usize, _: usize| if x % 4 < 2 { height } else { -height };
        assert!(removable(64, 64, stripes(5)).iter().all(|share| *share == 1.0));
        assert!(removable(64, 64, stripes(20)).iter().all(|share| *share == 0.0));
        for (width, height) in [(1, 1), (7, 5), (15, 64), (64, 15)] {
            assert!(removable(width, height, stripes(20)).iter().all(|share| *share == 1.0), "{width}x{height}");
        }
    }

    #[test]
    fn between_a_pattern_and_noise_the_share_changes_evenly() {
        let row = |x: usize, y: usize| if x < 64 { (x as i32 % 4 / 2 * 2 - 1) * 20 } else { noise(x, y) / 4 };
        let shares = removable(128, 32, row);
        assert!(shares[..48].iter().all(|share| *share == 0.0) && shares[80..128].iter().all(|share| *share == 1.0));
        assert!(shares[..128].windows(2).all(|pair| (0.0..0.05).contains(&(pair[1] - pair[0]))));
    }
}
