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
