//! How much noise there is, by brightness and channel.

use crate::picture::Layout;

/// Sides of the blocks that are looked at.
const BLOCK: usize = 8;
/// Classes of brightness.
const CLASSES: usize = 8;
/// A class of fewer blocks tells nothing.
const FEW: usize = 16;
/// No sample moves further than so many times the noise of its brightness. Noise itself seldom goes beyond three; artefacts
/// of JPEG are larger along edges than in plain areas, by which they are measured.
const REACH: f32 = 6.0;

/// How far samples may be moved, in codes of 16 bits, by class of brightness and channel.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Levels([[f32; 3]; CLASSES]);

/// What one block says.
struct Seen {
    /// Sum of the distances from the mean of the block: what is not plain is not asked.
    activity: u64,
    /// Mean squares of what was removed.
    removed: [f32; 3],
}

impl Levels {
    /// Measures what a network took for noise in the plainest quarter of the blocks of every brightness. What it takes
    /// away elsewhere beyond that is not noise, but texture that it mistook. Samples are of 16 bits, alpha among them.
    pub(super) fn of(noisy: &[u16], clean: &[u16], layout: Layout) -> Self {
        let mut classes: [Vec<Seen>; CLASSES] = Default::default();
        let (width, height) = (layout.width as usize, layout.height as usize);
        for top in (0..height / BLOCK).map(|row| row * BLOCK) {
            for left in (0..width / BLOCK).map(|column| column * BLOCK) {
                let (class, seen) = block(noisy, clean, layout, left, top);
                classes[class].push(seen);
            }
        }
        let known = classes.map(|mut class| {
            if class.len() < FEW {
                return None;
            }
            class.sort_by_key(|seen| seen.activity);
            class.truncate(class.len().div_ceil(4));
            let median = |channel: usize| {
                let mut squares: Vec<f32> = class.iter().map(|seen| seen.removed[channel]).collect();
                squares.sort_by(f32::total_cmp);
                REACH * squares[squares.len() / 2].sqrt()
            };
            Some([median(0), median(1), median(2)])
        });
        let nearest = |at: usize| {
            let by_distance = |class: &usize| class.abs_diff(at);
            (0..CLASSES).filter(|&class| known[class].is_some()).min_by_key(by_distance).and_then(|class| known[class])
        };
        // A picture too small to tell is left to the network.
        Self(std::array::from_fn(|class| nearest(class).unwrap_or([f32::INFINITY; 3])))
    }

    /// How far a sample of `channel` may be moved where the brightness is that of `code`.
    pub(super) fn limit(&self, code: u16, channel: usize) -> f32 {
        // Between the middles of the classes.
        let place = (f32::from(code) / 65_536.0 * CLASSES as f32 - 0.5).clamp(0.0, (CLASSES - 1) as f32);
        let class = (place as usize).min(CLASSES - 2);
        let (low, high) = (self.0[class][channel], self.0[class + 1][channel]);
        if low == high { low } else { low + (high - low) * (place - class as f32) }
    }
}

/// The class of a block and what it says. Brightness is that of the first channel of grey, and of green.
fn block(noisy: &[u16], clean: &[u16], layout: Layout, left: usize, top: usize) -> (usize, Seen) {
    let count = layout.channels.count();
    let (colours, bright) = if layout.channels.is_gray() { (1, 0) } else { (3, 1) };
    let rows = || (top..top + BLOCK).map(|y| (y * layout.width as usize + left) * count..).map(|row| row.start);
    let codes = || rows().flat_map(|start| (0..BLOCK).map(move |x| start + x * count));
    let area = (BLOCK * BLOCK) as u64;
    let mean = codes().map(|at| u64::from(clean[at + bright])).sum::<u64>() / area;
    let activity = codes().map(|at| u64::from(clean[at + bright]).abs_diff(mean)).sum();
    let mut removed = [0.0; 3];
    for (channel, removed) in removed.iter_mut().enumerate().take(colours) {
        let squares = codes().map(|at| (i64::from(noisy[at + channel]) - i64::from(clean[at + channel])).pow(2));
        *removed = squares.sum::<i64>() as f32 / area as f32;
    }
    ((mean as usize * CLASSES / 65_536).min(CLASSES - 1), Seen { activity, removed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{Channels, Depth};

    fn layout() -> Layout {
        Layout { width: 128, height: 64, channels: Channels::Rgb, depth: Depth::Sixteen }
    }

    /// Dark on the left, light on the right, with noise of so many codes in either half.
    fn pair(dark: i32, light: i32) -> (Vec<u16>, Vec<u16>) {
        let at = |i: usize| i / 3 % 128 < 64;
        let clean: Vec<u16> = (0..128 * 64 * 3).map(|i| if at(i) { 10_000 } else { 50_000 }).collect();
        let noise = |i: usize| if i.wrapping_mul(2_654_435_761) >> 16 & 1 == 0 { 1 } else { -1 };
        let noisy =
            (0..clean.len()).map(|i| (i32::from(clean[i]) + noise(i) * if at(i) { dark } else { light }) as u16);
        (noisy.collect(), clean)
    }

    #[test]
    fn noise_is_measured_by_brightness() {
        let (noisy, clean) = pair(1000, 200);
        let levels = Levels::of(&noisy, &clean, layout());
        for channel in 0..3 {
            assert_eq!(levels.limit(10_000, channel), 6_000.0);
            assert_eq!(levels.limit(50_000, channel), 1_200.0);
            let between = levels.limit(30_000, channel);
            assert!((1_200.0..6_000.0).contains(&between), "{between}");
        }
    }

    #[test]
    fn a_clean_picture_has_no_noise_and_a_tiny_one_no_limit() {
        let (_, clean) = pair(0, 0);
        assert_eq!(Levels::of(&clean, &clean, layout()).limit(30_000, 1), 0.0);
        let tiny = Layout { width: 7, height: 7, ..layout() };
        assert_eq!(Levels::of(&clean, &clean, tiny).limit(30_000, 1), f32::INFINITY);
    }

    #[test]
    fn what_is_taken_from_texture_is_not_counted() {
        let (noisy, mut clean) = pair(100, 100);
        // Half of the blocks are full of detail, of which much was taken.
        for (i, sample) in clean.iter_mut().enumerate().filter(|(i, _)| i / (128 * 3) < 32) {
            *sample += if i % 2 == 0 { 5_000 } else { 0 };
        }
        assert_eq!(Levels::of(&noisy, &clean, layout()).limit(10_000, 0), 600.0);
    }
}
