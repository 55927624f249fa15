//! How much noise there is, by brightness and channel, and how much JPEG.

use std::collections::HashSet;

use crate::{
    control::Run,
    error::Result,
    operation::{
        blocks::{blocks, step_of_means},
        field::{Field, slope},
    },
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
/// Codes by which the edges of blocks stand out: up to the first there are none (pictures without JPEG have 0.1 at most, of
/// quality 95 mostly 0.2, of 80 0.8, of 40 1.5), and from the second on all artefacts go. At quality 80 half of them is best:
/// to eyes, texture goes along with the rest.
const BLOCKS: (f32, f32) = (0.1, 1.7);
/// Qualities of the JPEG that a picture comes from: at the first nothing is to go, from the second down all. Of photographs a
/// quarter at quality 90 and half at 80 look best, of what is drawn, which has no texture to lose, twice as much.
const QUALITIES: (f32, f32) = (100.0, 60.0);
/// Steps of the means of blocks: at quality 70 they say nothing yet, and from 20 down all artefacts go, however faint the edges
/// of blocks are, as they are in fine texture.
const MEANS: (f32, f32) = (10.0, 40.0);

/// Colours that no picture with noise has so few of, not even a dark one in gray; those that a palette has at most; and those
/// that text and shapes on white or black have with their smooth edges.
const FEW_COLOURS: usize = 8;
const PALETTE: usize = 256;
const SMOOTH: usize = 1024;
/// Codes from an end of the scale, of 8 bits, and the share of pixels so near it up to which those at it are drawn: where light
/// has clipped them, as many are about to be.
const NEAR_END: u16 = 6;
const FEW_NEAR: f32 = 0.03;
/// Shares of pixels that are the same as the next: up to the first there may be noise, from the second on there is none.
const ALIKE: (f32, f32) = (0.3, 0.5);

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
    /// what it takes away elsewhere is texture that it mistook. Pictures that have been through JPEG are told by their blocks,
    /// and by the quality of the `jpeg` that they come from. Samples are of 16 bits, alpha among them.
    pub(super) fn of(noisy: &[u16], clean: &[u16], layout: Layout, jpeg: Option<u8>, run: Run<'_>) -> Result<Self> {
        let luma = Field::of_luma(noisy, layout);
        let seen = slope(blocks(&luma, run)?, BLOCKS).max(slope(step_of_means(&luma, run)? as f32, MEANS));
        let Drawn { few, alike } = drawn(noisy, layout, run)?;
        let (coded, all) = match jpeg {
            _ if few => (seen, 0.0),
            // What JPEG made alike may have had noise.
            None => (seen, 1.0 - alike * (1.0 - seen)),
            Some(quality) => {
                let told = 1.0 - slope(quality.into(), (QUALITIES.1, QUALITIES.0));
                (seen.max((told * (1.0 + alike)).min(1.0)), 1.0)
            }
        };
        let mut classes: [Vec<Seen>; CLASSES] = Default::default();
        let (width, height) = (layout.width as usize, layout.height as usize);
        for top in (0..height / BLOCK).map(|row| row * BLOCK) {
            run.check()?;
            for left in (0..width / BLOCK).map(|column| column * BLOCK) {
                if is_hidden(noisy, layout, left, top) {
                    continue;
                }
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

/// What tells that a picture is drawn.
struct Drawn {
    /// It has few colours.
    few: bool,
    /// How many neighbours are alike, 0 to 1: of a palette's colours, or of some more and an exact white or black, or of those that
    /// are not at an end of the scale. Noise leaves no two so.
    alike: f32,
}

fn drawn(samples: &[u16], layout: Layout, run: Run<'_>) -> Result<Drawn> {
    let count = layout.channels.count();
    let colours = if layout.channels.is_gray() { 1 } else { 3 };
    let (mut found, mut last) = (HashSet::new(), None);
    // Pairs that are alike, of all pairs; of any colours, and not at an end of the scale.
    let (mut any, mut inner) = ((0, 0), (0, 0));
    let mut near = 0;
    for row in samples.chunks_exact(layout.row_samples()) {
        run.check()?;
        let visible = |pixel: &&[u16]| !layout.channels.has_alpha() || pixel[count - 1] > 0;
        let mut pixels = row.chunks_exact(count).filter(visible).map(|pixel| &pixel[..colours]).peekable();
        while let Some(colour) = pixels.next() {
            if found.len() <= SMOOTH && last.replace(colour) != Some(colour) {
                found.insert(colour);
            }
            let alike = u32::from(pixels.peek() == Some(&colour));
            any = (any.0 + alike, any.1 + 1);
            if colour.iter().any(|&code| code > 0 && code < u16::MAX) {
                inner = (inner.0 + alike, inner.1 + 1);
                let dark = colour.iter().all(|&code| code <= NEAR_END * 257);
                near += u32::from(dark || colour.iter().all(|&code| code >= u16::MAX - NEAR_END * 257));
            }
        }
    }
    let exact = found.len() <= SMOOTH && near as f32 <= FEW_NEAR * (any.1 - inner.1) as f32;
    let (same, all) = if exact || found.len() <= PALETTE { any } else { inner };
    Ok(Drawn { few: found.len() <= FEW_COLOURS, alike: slope(same as f32 / all.max(1) as f32, ALIKE) })
}

/// Whether a pixel of a block is wholly transparent.
fn is_hidden(samples: &[u16], layout: Layout, left: usize, top: usize) -> bool {
    let count = layout.channels.count();
    let row = |y: usize| &samples[(y * layout.width as usize + left) * count..][..BLOCK * count];
    layout.channels.has_alpha()
        && (top..top + BLOCK).any(|y| row(y).chunks_exact(count).any(|pixel| pixel[count - 1] == 0))
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
        Shares::of(noisy, clean, layout, None, Run { limits: &limits, control: &Unattended }).unwrap()
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
    fn what_is_hidden_is_not_counted() {
        let (noisy, clean) = pair(6 * 257, 6 * 257);
        // Of the dark half three of four columns are black and transparent.
        let hidden = |pixel: usize| pixel % 128 < 48;
        let cut = |samples: &[u16]| -> Vec<u16> {
            let pixels = samples.chunks_exact(3).enumerate();
            pixels.flat_map(|(n, p)| if hidden(n) { [0; 4] } else { [p[0], p[1], p[2], u16::MAX] }).collect()
        };
        let layout = Layout { channels: Channels::Rgba, ..layout() };
        assert_eq!(shares(&cut(&noisy), &cut(&clean), layout).at(5_000, 1), 1.0);
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
    fn from_what_a_jpeg_shows_more_goes_the_lower_its_quality_and_from_what_is_drawn_twice_as_much() {
        let (photograph, _) = pair(0, 0);
        let drawn: Vec<u16> = (0..128 * 64 * 3).map(|i| (i / 30 * 977 % 60_000) as u16).collect();
        let limits = Limits::default();
        let run = Run { limits: &limits, control: &Unattended };
        let share = |picture: &[u16], quality| {
            Shares::of(picture, picture, layout(), Some(quality), run).unwrap().at(30_000, 1)
        };
        assert_eq!([100, 90, 80, 60, 20].map(|quality| share(&photograph, quality)), [0.0, 0.25, 0.5, 1.0, 1.0]);
        assert_eq!([100, 90, 80, 60, 20].map(|quality| share(&drawn, quality)), [0.0, 0.5, 1.0, 1.0, 1.0]);
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
