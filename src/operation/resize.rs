//! Changing the size.

use super::{Apply, Operation};
use crate::{
    control::Run,
    error::{Error, Result},
    picture::{Layout, Picture},
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

/// Where to crop, or where in the padding to put the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gravity {
    /// At a fixed place.
    Fixed(Anchor, Anchor),
    /// Where there is most to see: edges, saturation, skin.
    Smart,
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

/// Lanczos3 in linear light with premultiplied alpha.
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

impl Operation for Resize {
    fn name(&self) -> &'static str {
        "resize"
    }

    fn layout(&self, _: Layout) -> Result<Layout> {
        Err(Error::unsupported("resize"))
    }

    fn prepare(&self, _: &Picture, _: Run<'_>) -> Result<Box<dyn Apply>> {
        Err(Error::unsupported("resize"))
    }
}
