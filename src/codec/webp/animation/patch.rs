//! One frame of an animation: what lies there, what is wanted, and the ways to code it.

use super::sequence::BLOCK;
use crate::{
    codec::{
        sequence::{Area, NOTHING, Pixel},
        webp::{
            libwebp::{Colours, Config, Pixels, Source},
            riff::{Content, File},
        },
    },
    control::Run,
    error::{Error, Result},
};

/// What turns the canvas `base` into `wanted`, within `area` and nowhere else.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patch<'a> {
    pub(super) base: &'a [Pixel],
    pub(super) wanted: &'a [Pixel],
    pub(super) area: Area,
    /// Of both canvases, in pixels.
    pub(super) width: usize,
}

/// What a frame draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Drawn {
    /// Its whole area, in the place of what lies there.
    All,
    /// The pixels that change; what lies there shows through the others.
    Changed,
    /// Blocks in which a pixel changes.
    Blocks,
}

/// The coded image of a frame.
#[derive(Debug, Clone)]
pub(super) struct Coded {
    /// Whether it is to be drawn over what lies there.
    pub(super) blends: bool,
    /// Its chunks.
    pub(super) image: Vec<u8>,
    /// Whether it has alpha.
    pub(super) alpha: bool,
}

/// Pixels to be coded.
pub(super) struct Drawing {
    samples: Vec<u8>,
    area: Area,
    blends: bool,
    opaque: bool,
}

impl Patch<'_> {
    /// What is drawn; `None` if that is not possible, or no other than [`Drawn::All`].
    pub(super) fn drawing(&self, drawn: Drawn) -> Option<Drawing> {
        let Self { area, width, .. } = *self;
        let rows = area.rows(self.base, width).zip(area.rows(self.wanted, width));
        let mut samples = Vec::with_capacity(area.width * area.height * 4);
        match drawn {
            Drawn::All => samples.extend(rows.flat_map(|(_, wanted)| wanted.iter().flatten())),
            Drawn::Changed | Drawn::Blocks => {
                let blocks = (drawn == Drawn::Blocks).then(|| self.changed_blocks());
                for (y, (base, wanted)) in rows.enumerate() {
                    for (x, (base, wanted)) in base.iter().zip(wanted).enumerate() {
                        let changed = base != wanted;
                        if changed && wanted[3] != u8::MAX {
                            return None;
                        }
                        let along = blocks.as_ref().is_some_and(|blocks| blocks.has(x, y));
                        let drawn = changed || along && wanted[3] == u8::MAX;
                        samples.extend(if drawn { wanted } else { &NOTHING });
                    }
                }
            }
        }
        if drawn == Drawn::Blocks {
            fill_hidden(&mut samples, area.width);
        }
        let opaque = samples.iter().skip(3).step_by(4).all(|&alpha| alpha == u8::MAX);
        let blends = drawn != Drawn::All;
        (!blends || !opaque).then_some(Drawing { samples, area, blends, opaque })
    }

    /// Blocks on the grid of the canvas, so that they are those that stay or change as a whole.
    fn changed_blocks(&self) -> Blocks {
        let Area { x, y, width, .. } = self.area;
        let origin = (x % BLOCK, y % BLOCK);
        let across = (origin.0 + width).div_ceil(BLOCK);
        let mut changed = vec![false; across * (origin.1 + self.area.height).div_ceil(BLOCK)];
        let rows = self.area.rows(self.base, self.width).zip(self.area.rows(self.wanted, self.width));
        for (y, (base, wanted)) in rows.enumerate() {
            let at = (y + origin.1) / BLOCK * across;
            for (x, _) in base.iter().zip(wanted).enumerate().filter(|(_, (base, wanted))| base != wanted) {
                changed[at + (x + origin.0) / BLOCK] = true;
            }
        }
        Blocks { origin, across, changed }
    }
}

/// Gives what is hidden of RGBA, which libwebp would make black, the colour of what is drawn beside it: the filter that smooths the
/// edges of blocks would darken these.
fn fill_hidden(samples: &mut [u8], width: usize) {
    let (pixels, _) = samples.as_chunks_mut::<4>();
    let (across, down) = (width.div_ceil(BLOCK), (pixels.len() / width).div_ceil(BLOCK));
    // Sums of red, green and blue of each block, and how many.
    let mut sums = vec![[0u32; 4]; across * down];
    for (y, row) in pixels.chunks(width).enumerate() {
        for (sum, pixels) in sums[y / BLOCK * across..].iter_mut().zip(row.chunks(BLOCK)) {
            for &[r, g, b, _] in pixels.iter().filter(|pixel| pixel[3] > 0) {
                *sum = [sum[0] + u32::from(r), sum[1] + u32::from(g), sum[2] + u32::from(b), sum[3] + 1];
            }
        }
    }
    let Some(first) = sums.iter().copied().find(|sum| sum[3] > 0) else { return };
    let mut colours: Vec<[u8; 3]> = Vec::with_capacity(sums.len());
    for at in 0..sums.len() {
        let (x, y) = (at % across, at / across);
        let rows = y.saturating_sub(1)..(y + 2).min(down);
        let beside = rows.flat_map(|y| &sums[y * across..][x.saturating_sub(1)..(x + 2).min(across)]);
        let around = beside.fold([0; 4], |all: [u32; 4], sum| std::array::from_fn(|n| all[n] + sum[n]));
        let sum = if sums[at][3] > 0 { sums[at] } else { around };
        // Where nothing is drawn near, what takes the fewest bytes.
        let before = if x > 0 { colours.get(at - 1) } else { at.checked_sub(across).and_then(|at| colours.get(at)) };
        let mean = |sum: [u32; 4]| [0, 1, 2].map(|n| (sum[n] / sum[3]) as u8);
        colours.push(match before {
            _ if sum[3] > 0 => mean(sum),
            Some(&before) => before,
            None => mean(first),
        });
    }
    for (y, row) in pixels.chunks_mut(width).enumerate() {
        for (&[r, g, b], pixels) in colours[y / BLOCK * across..].iter().zip(row.chunks_mut(BLOCK)) {
            pixels.iter_mut().filter(|pixel| pixel[3] == 0).for_each(|pixel| *pixel = [r, g, b, 0]);
        }
    }
}

struct Blocks {
    origin: (usize, usize),
    across: usize,
    changed: Vec<bool>,
}

impl Blocks {
    fn has(&self, x: usize, y: usize) -> bool {
        self.changed[(y + self.origin.1) / BLOCK * self.across + (x + self.origin.0) / BLOCK]
    }
}

impl Drawing {
    /// Whether what is hidden has colours for it to take few bytes.
    pub(super) const fn is_filled(&self) -> bool {
        self.blends
    }

    /// Whether every pixel is.
    pub(super) const fn is_opaque(&self) -> bool {
        self.opaque
    }

    /// Hands it to libwebp, to be coded as often as one likes.
    pub(super) fn source(&self, colours: Colours, run: Run<'_>) -> Result<Source> {
        let pixels = if self.opaque { Pixels::Rgbx } else { Pixels::Rgba };
        Source::import(&self.samples, self.area.width as u32, self.area.height as u32, pixels, colours, run)
    }

    /// What `source`, made of this drawing, is coded as.
    pub(super) fn coded(&self, source: &mut Source, config: &Config, run: Run<'_>) -> Result<Coded> {
        let (image, alpha) = coded_image(source, config, run)?;
        Ok(Coded { blends: self.blends, image, alpha })
    }
}

/// The chunks of an image, and whether it has alpha.
pub(super) fn coded_image(source: &mut Source, config: &Config, run: Run<'_>) -> Result<(Vec<u8>, bool)> {
    let file = source.encode(config, run)?;
    match File::parse(&file)?.content {
        Content::Still(image) => Ok((image.coded.to_vec(), image.header.alpha)),
        Content::Animation(_) => Err(Error::internal("encoding WebP", "libwebp wrote an animation")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_has_the_colour_of_what_is_drawn_beside_it_and_further_off_of_what_is_before() {
        const WIDTH: usize = 7 * BLOCK;
        let drawn = |x: usize, y: usize| match (x / BLOCK, y / BLOCK) {
            (2, 0) if x % BLOCK < 4 => Some([90, 60, 30]),
            (6, 0) => Some([10, 20, 200]),
            _ => None,
        };
        let pixel = |at: usize| drawn(at % WIDTH, at / WIDTH).map_or(NOTHING, |[r, g, b]| [r, g, b, u8::MAX]);
        let mut samples: Vec<u8> = (0..WIDTH * 3 * BLOCK).flat_map(pixel).collect();
        fill_hidden(&mut samples, WIDTH);
        let filled = samples.as_chunks::<4>().0;
        for (at, &[r, g, b, alpha]) in filled.iter().enumerate() {
            let (x, y) = (at % WIDTH, at / WIDTH);
            let meant = match (x / BLOCK, y / BLOCK) {
                (5 | 6, 0 | 1) => [10, 20, 200],
                _ => [90, 60, 30],
            };
            assert_eq!(([r, g, b], alpha == u8::MAX), (meant, drawn(x, y).is_some()), "{x} {y}");
        }
    }
}
