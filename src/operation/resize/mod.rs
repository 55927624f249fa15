//! Changing the size.

mod attention;
mod barrier;
mod canvas;
mod focus;
mod geometry;
mod lanczos;
mod overshoot;

use geometry::Placement;

use super::{
    Apply, Operation,
    face::{Faces, Place},
};
use crate::{
    control::Run,
    error::{Error, Result},
    picture::{Channels, Layout, Picture},
};

/// How a picture meets the size that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Fit {
    /// Aspect kept, inside the box; a side that is not given follows the other.
    #[default]
    Inside,
    /// Covers the box, the excess is cropped by gravity. Needs both sides.
    Cover,
    /// Exactly the box, aspect not kept. Needs both sides.
    Stretch,
    /// Inside the box, the rest is filled with the background. Needs both sides.
    Pad,
}

/// Where to crop; padding is always even.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gravity {
    /// At a fixed place.
    Fixed(Anchor, Anchor),
    /// Where there is most to see: faces where they were looked for, edges, saturation, skin.
    Smart,
    /// At the largest face of those that were looked for; without one as [`Self::Smart`].
    Face,
    /// At all of them; without one as [`Self::Smart`].
    Faces,
}

/// A place along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Anchor {
    /// Left or top.
    Start,
    /// In the middle.
    Middle,
    /// Right or bottom.
    End,
}

/// Lanczos3 with premultiplied alpha; where pictures get smaller, in linear light and without overshoot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resize {
    /// Width in pixels, at least 1; `None` follows the height.
    pub width: Option<u32>,
    /// Height in pixels, at least 1; `None` follows the width.
    pub height: Option<u32>,
    /// How the picture meets the box.
    pub fit: Fit,
    /// Where to crop.
    pub gravity: Gravity,
    /// Whether a picture may be made larger than it is.
    pub enlarge: bool,
    /// Fill of padding, red, green, blue and straight alpha in sRGB.
    pub background: [u8; 4],
}

/// The size of a picture without pixels, and what is seen in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// In CSS pixels.
    pub width: u32,
    /// In CSS pixels.
    pub height: u32,
    /// The part of the source that is seen, in shares of its width and height: left, top, width, height. Beyond 0 to 1
    /// there is nothing.
    pub part: [f64; 4],
    /// The aspect is not kept.
    pub stretched: bool,
    /// What is behind the picture, red, green, blue and straight alpha in sRGB.
    pub ground: [u8; 4],
}

impl Frame {
    /// A whole source of `width` x `height`, so many times larger.
    pub fn enlarged(width: u32, height: u32, factor: u32) -> Self {
        let (width, height) = (width.saturating_mul(factor), height.saturating_mul(factor));
        Self { width, height, part: [0.0, 0.0, 1.0, 1.0], stretched: false, ground: [0; 4] }
    }
}

impl Resize {
    /// The smallest size at which a source of `width` x `height` may be decoded for this resize to lose nothing visible:
    /// twice what the whole source is scaled to, before cropping. `None` where the source itself is not larger than that
    /// on both sides. Both sizes are upright.
    pub fn decode_at_least(&self, width: u32, height: u32) -> Option<(u32, u32)> {
        let (w, h) = Placement::new(self, width, height).ok()?.scaled_source(width, height);
        let least = (w.saturating_mul(2), h.saturating_mul(2));
        (least.0 < width && least.1 < height).then_some(least)
    }

    /// The size at which a source of `width` x `height` that has no pixels of its own is to be drawn, whole, so that the
    /// [`settled`](Self::settled) resize of it scales nothing.
    ///
    /// # Errors
    /// As of [`Operation::layout`].
    pub fn draw_exactly(&self, width: u32, height: u32) -> Result<(u32, u32)> {
        Ok(Placement::new(self, width, height)?.scaled_source(width, height))
    }

    /// The same for a source without pixels, of `width` x `height`. Other gravities than [`Gravity::Fixed`] crop from the
    /// middle here.
    ///
    /// # Errors
    /// As of [`Operation::layout`].
    pub fn frame(&self, width: u32, height: u32) -> Result<Frame> {
        Ok(self.framed(Placement::new(self, width, height)?, width, height))
    }

    /// The same, cropped around what people look at in `drawn`: the whole source, at any size.
    ///
    /// # Errors
    /// As of [`Operation::layout`], and [`Error::Stopped`].
    pub fn frame_around(&self, drawn: &Picture, width: u32, height: u32, run: Run<'_>) -> Result<Frame> {
        let placement = Placement::new(self, width, height)?;
        Ok(self.framed(attention::settle(drawn, (width, height), placement, &[], run)?, width, height))
    }

    fn framed(&self, placement: Placement, width: u32, height: u32) -> Frame {
        let Placement { region, scaled, canvas, at } = placement;
        // Source pixels for a pixel of the result.
        let (across, down) = (region.width / f64::from(scaled.0), region.height / f64::from(scaled.1));
        let (w, h) = (f64::from(width), f64::from(height));
        let (left, top) = (region.left - f64::from(at.0) * across, region.top - f64::from(at.1) * down);
        let part = [left / w, top / h, f64::from(canvas.0) * across / w, f64::from(canvas.1) * down / h];
        let stretched = self.fit == Fit::Stretch;
        Frame { width: canvas.0, height: canvas.1, part, stretched, ground: self.background }
    }

    /// This resize for a source of `width` x `height`, with both sides settled. A source decoded at a reduced size has not
    /// quite the same aspect; resized by this it has the very size that was planned for the full one.
    ///
    /// # Errors
    /// As of [`Operation::layout`].
    pub fn settled(self, width: u32, height: u32) -> Result<Self> {
        let placement = Placement::new(&self, width, height)?;
        let (width, height) = (Some(placement.canvas.0), Some(placement.canvas.1));
        // Where nothing is left to pad, a rounded side of a reduced source would leave a line of background.
        let fills = self.fit == Fit::Inside || self.fit == Fit::Pad && !placement.is_padded();
        Ok(match fills {
            true => Self { width, height, fit: Fit::Stretch, enlarge: true, ..self },
            false => Self { width, height, ..self },
        })
    }

    /// Whether where a source of `width` x `height` is cropped depends on what it shows, faces first of all.
    ///
    /// # Errors
    /// As of [`Operation::layout`].
    pub fn needs_a_look(&self, width: u32, height: u32) -> Result<bool> {
        let region = Placement::new(self, width, height)?.region;
        let cropped = region.width < f64::from(width) || region.height < f64::from(height);
        Ok(cropped && matches!(self.gravity, Gravity::Smart | Gravity::Face | Gravity::Faces))
    }

    /// This resize for pictures like `first`, in which there are `faces`, the largest first.
    fn prepared(&self, first: &Picture, faces: &[Place], run: Run<'_>) -> Result<Box<dyn Apply>> {
        let source = first.layout();
        if source.channels == Channels::Cmyk {
            return Err(Error::unsupported("resizing of CMYK pixels"));
        }
        let layout = self.layout(source)?;
        run.limits.check_result(layout.width, layout.height)?;
        let placement = Placement::new(self, source.width, source.height)?;
        let placement = match (self.fit, self.gravity, faces) {
            (Fit::Cover, Gravity::Face, [face, ..]) => focus::settle(placement, source, &[*face]),
            (Fit::Cover, Gravity::Faces, [_, ..]) => focus::settle(placement, source, faces),
            (Fit::Cover, Gravity::Smart | Gravity::Face | Gravity::Faces, _) => {
                attention::settle(first, (source.width, source.height), placement, faces, run)?
            }
            _ => placement,
        };
        Ok(Box::new(Prepared { placement, source, background: self.background }))
    }
}

impl Operation for Resize {
    fn name(&self) -> &'static str {
        "resize"
    }

    /// # Errors
    /// [`Error::Request`] if a side that the mode needs is missing or 0.
    fn layout(&self, input: Layout) -> Result<Layout> {
        let placement = Placement::new(self, input.width, input.height)?;
        let channels = match placement.is_padded() {
            true => canvas::padded_channels(input.channels, self.background),
            false => input.channels,
        };
        Ok(Layout { width: placement.canvas.0, height: placement.canvas.1, channels, depth: input.depth })
    }

    fn judges(&self) -> bool {
        self.fit == Fit::Cover && !matches!(self.gravity, Gravity::Fixed(..))
    }

    fn prepare(&self, first: &Picture, run: Run<'_>) -> Result<Option<Box<dyn Apply>>> {
        self.prepared(first, &[], run).map(Some)
    }
}

/// A resize that knows where faces are.
#[derive(Debug, Clone)]
pub struct Around {
    /// How.
    pub resize: Resize,
    /// Filled by a [`LookForFaces`](super::LookForFaces) earlier in the chain.
    pub faces: Faces,
}

impl Operation for Around {
    fn name(&self) -> &'static str {
        self.resize.name()
    }

    fn layout(&self, input: Layout) -> Result<Layout> {
        self.resize.layout(input)
    }

    fn judges(&self) -> bool {
        self.resize.judges()
    }

    fn prepare(&self, first: &Picture, run: Run<'_>) -> Result<Option<Box<dyn Apply>>> {
        self.resize.prepared(first, &self.faces.found(), run).map(Some)
    }
}

/// A resize of pictures of one size, from one place.
#[derive(Debug)]
struct Prepared {
    placement: Placement,
    source: Layout,
    background: [u8; 4],
}

impl Apply for Prepared {
    fn apply(&self, picture: Picture, run: Run<'_>) -> Result<Picture> {
        run.check()?;
        let layout = picture.layout();
        if layout != self.source {
            return Err(Error::internal(
                "resizing",
                format!("a frame is {layout:?} after a first of {:?}", self.source),
            ));
        }
        let picture = match self.placement.is_unscaled() {
            true => canvas::cropped(picture, &self.placement, run)?,
            false => lanczos::resampled(&picture, &self.placement, run)?,
        };
        match self.placement.is_padded() {
            true => canvas::padded(picture, &self.placement, self.background, run),
            false => Ok(picture),
        }
    }
}

#[cfg(test)]
mod tests;
