//! How much noise there is, by brightness and channel, and how much JPEG.

use crate::{
    control::Run,
    error::Result,
    operation::drawn::{coded, drawn, slope},
    picture::Layout,
};

/// Sides of the blocks that are looked at.
const BLOCK: usize = 8;
/// Classes of brightness.
const CLASSES: usize = 8;
/// A class of fewer blocks tells nothing.
const FEW: usize = 16;
/// Standard deviations, in codes of 8 bits: noise of the first is the grain of a good picture, which stays, and from the
/// second on all of it goes.
const NOISE: (f32, f32) = (2.0, 5.0);

/// The share of what a network takes for noise that is to go, by class of brightness and channel.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shares([[f32; 3]; CLASSES]);

/// What one block says.
struct Seen {
    /// Sum of the distances from the mean of the block: what is not plain is not asked.
    activity: u64,
    /// Mean squares of what was removed.
    removed: [f32; 3],
}

impl Shares {
    /// Measures what a network took for noise in the plainest quarter of the blocks of every brightness: where that is little,
    /// what it takes away elsewhere is texture that it mistook. Pictures that have been through JPEG are told by their blocks.
    /// Samples are of 16 bits, alpha among them.
    pub(super) fn of(noisy: &[u16], clean: &[u16], layout: Layout, run: Run<'_>) -> Result<Self> {
        let coded = coded(noisy, layout, run)?;
        let mut classes: [Vec<Seen>; CLASSES] = Default::default();
        let (width, height) = (layout.width as usize, layout.height as usize);
        for top in (0..height / BLOCK).map(|row| row * BLOCK) {
            run.check()?;
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
                let share = slope(squares[squares.len() / 2].sqrt() / 257.0, NOISE);
                coded.max(share * share * (3.0 - 2.0 * share))
            };
            Some([median(0), median(1), median(2)])
        });
        let nearest = |at: usize| {
            let by_distance = |class: &usize| class.abs_diff(at);
            (0..CLASSES).filter(|&class| known[class].is_some()).min_by_key(by_distance).and_then(|class| known[class])
        };
        let all = 1.0 - drawn(noisy, layout, coded, run)?;
        // A picture too small to tell is left to the network.
        Ok(Self(std::array::from_fn(|class| nearest(class).unwrap_or([1.0; 3]).map(|share| share * all))))
    }

    /// The share where the brightness is that of `code`.
    pub(super) fn at(&self, code: u16, channel: usize) -> f32 {
        // Between the middles of the classes.
        let place = (f32::from(code) / 65_536.0 * CLASSES as f32 - 0.5).clamp(0.0, (CLASSES - 1) as f32);
        let class = (place as usize).min(CLASSES - 2);
        let (low, high) = (self.0[class][channel], self.0[class + 1][channel]);
        low + (high - low) * (place - class as f32)
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
    use crate::{
        Limits, Unattended,
        picture::{Channels, Depth},
    };

    fn layout() -> Layout {
        Layout { width: 128, height: 64, channels: Channels::Rgb, depth: Depth::Sixteen }
    }

    /// Dark on the left, light on the right, each of many colours that are about the same, with noise of so many codes in either
    /// half.
    fn pair(dark: i32, light: i32) -> (Vec<u16>, Vec<u16>) {
        let at = |i: usize| i / 3 % 128 < 64;
        let tone = |i: usize| (i * 31 % 13) as u16 + if at(i) { 10_000 } else { 50_000 };
        let clean: Vec<u16> = (0..128 * 64 * 3).map(tone).collect();
        let noise = |i: usize| if i.wrapping_mul(2_654_435_761) >> 16 & 1 == 0 { 1 } else { -1 };
        let noisy =
            (0..clean.len()).map(|i| (i32::from(clean[i]) + noise(i) * if at(i) { dark } else { light }) as u16);
        (noisy.collect(), clean)
    }

    fn shares(noisy: &[u16], clean: &[u16], layout: Layout) -> Shares {
        let limits = Limits::default();
        Shares::of(noisy, clean, layout, Run { limits: &limits, control: &Unattended }).unwrap()
    }

    #[test]
    fn noise_is_measured_by_brightness() {
        // Six codes of eight bits, and one.
        let (noisy, clean) = pair(6 * 257, 257);
        let shares = shares(&noisy, &clean, layout());
        for channel in 0..3 {
            assert_eq!((shares.at(10_000, channel), shares.at(60_000, channel)), (1.0, 0.0));
            let between = shares.at(32_000, channel);
            assert!(between > 0.0 && between < 1.0, "{between}");
        }
    }

    #[test]
    fn more_noise_goes_rather() {
        let share = |codes: i32| {
            let (noisy, clean) = pair(codes * 257, codes * 257);
            shares(&noisy, &clean, layout()).at(10_000, 1)
        };
        assert_eq!((share(0), share(2), share(5)), (0.0, 0.0, 1.0));
        assert!(share(3) < share(4) && share(3) > 0.0);
    }

    #[test]
    fn from_what_is_drawn_nothing_goes() {
        // Flat stripes of many colours, and few colours that change with every pixel; of each much was taken.
        let stripes: Vec<u16> = (0..128 * 64 * 3).map(|i| (i / 30 * 977 % 60_000) as u16).collect();
        let checked: Vec<u16> = (0..128 * 64 * 3).map(|i| if i / 3 % 2 == 0 { 10_000 } else { 50_000 }).collect();
        for drawn in [stripes, checked] {
            let clean = vec![30_000; drawn.len()];
            for code in [5_000, 30_000, 60_000] {
                assert_eq!(shares(&drawn, &clean, layout()).at(code, 1), 0.0);
            }
        }
    }

    #[test]
    fn from_text_on_exact_white_nothing_goes_and_from_what_is_clipped_something() {
        // A page, of which every fifth pixel is of some of five hundred colours.
        let page = |rest: u16| -> Vec<u16> {
            let colour = |i: usize| (i * 7_919 % 500) as u16 * 80 + 5_000;
            (0..128 * 64 * 3)
                .map(|i| if i / 3 % 5 == 0 { colour(i) } else { u16::MAX - rest * (i / 3 % 5 == 1) as u16 })
                .collect()
        };
        let taken = |page: Vec<u16>| {
            let clean = vec![30_000; page.len()];
            shares(&page, &clean, layout()).at(30_000, 1)
        };
        assert_eq!(taken(page(0)), 0.0);
        assert!(taken(page(3 * 257)) > 0.3);
    }

    #[test]
    fn a_tiny_picture_is_left_to_the_network() {
        let (_, clean) = pair(0, 0);
        let tiny = Layout { width: 7, height: 7, ..layout() };
        assert_eq!(shares(&clean[..147], &clean[..147], tiny).at(30_000, 1), 1.0);
    }

    #[test]
    fn what_is_taken_from_texture_is_not_counted() {
        let (noisy, mut clean) = pair(0, 0);
        // Half of the blocks are full of detail, of which much was taken.
        for (i, sample) in clean.iter_mut().enumerate().filter(|(i, _)| i / (128 * 3) < 32) {
            *sample += if i % 2 == 0 { 5_000 } else { 0 };
        }
        assert_eq!(shares(&noisy, &clean, layout()).at(10_000, 0), 0.0);
    }

    #[test]
    fn blocks_of_jpeg_go_where_there_is_no_noise() {
        let (clean, _) = pair(0, 0);
        let mut blocky = clean.clone();
        // Every other block is lighter by three codes.
        for (i, sample) in blocky.iter_mut().enumerate() {
            let (x, y) = (i / 3 % 128, i / 3 / 128);
            *sample += if (x / 8 + y / 8) % 2 == 0 { 3 * 257 } else { 0 };
        }
        assert_eq!(shares(&blocky, &blocky, layout()).at(10_000, 0), 1.0);
        assert_eq!(shares(&clean, &clean, layout()).at(10_000, 0), 0.0);
    }
}
