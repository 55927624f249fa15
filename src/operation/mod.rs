//! Operations: pixels to pixels, one file each, chained in the order of the interface.

mod bleed;
mod blocks;
mod chain;
mod denoise;
mod face;
mod field;
mod flatten;
mod ground;
mod guided;
mod light;
mod network;
mod orient;
mod processed;
mod recolour;
mod resize;
mod sharpen;
mod shoulder;
mod stops;
mod survey;
mod tone;
mod upscale;

use std::{fmt::Debug, sync::Arc};

pub use chain::Chain;
pub use denoise::Denoise;
pub(crate) use face::CAN_LOOK;
pub use face::{Classic, Crop, Face, Faces, LookForFaces, Place, Restore, RestoreByModel};
pub use flatten::Flatten;
pub use light::Light;
#[cfg(feature = "network")]
pub use network::Residual;
#[cfg(feature = "onnx")]
pub use network::{ChannelOrder, Onnx, OnnxOptions, OnnxRuntime, OnnxSource};
pub use network::{Model, Models, Raster, Shape, Turned};
pub use orient::Orient;
pub use processed::Processed;
pub use resize::{Anchor, Around, Fit, Frame, Gravity, Resize};
pub use sharpen::Sharpen;
pub use tone::Tone;
pub use upscale::Upscale;

use crate::{
    control::Run,
    error::Result,
    picture::{Layout, Picture},
};

/// One step on pixels, the same for every frame. Pictures come in sRGB, never CMYK; in gray or in colour, with alpha or without,
/// of 8 or 16 bits a sample, as the source has them. A panic becomes an error by the step's name.
pub trait Operation: Debug + Send + Sync {
    /// A stable name for errors and progress.
    fn name(&self) -> &'static str;

    /// The layout that it makes of `input`; what it [prepares](Self::prepare) is held to that. Pure arithmetic, so that a whole
    /// chain is sized and checked before anything is decoded: by what the source's headers say, and again for its frames, as
    /// gray that a profile tints comes as RGB.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) for a layout that it cannot work on.
    fn layout(&self, input: Layout) -> Result<Layout>;

    /// Whether it judges what a picture is like. Then [`prepare`](Self::prepare) is given the frame of an animation whose
    /// lights differ most, as the first is often black or still to be faded in; else it is given the first.
    fn judges(&self) -> bool {
        false
    }

    /// Settles what must be the same for all frames (a crop box, a noise level) on one of them, whose layout has been
    /// through [`layout`](Self::layout), and gives back the function for one composed frame: `None` where nothing is to be
    /// done.
    ///
    /// # Errors
    /// Whatever fails; it is told of as a failure of this operation.
    fn prepare(&self, first: &Picture, run: Run<'_>) -> Result<Option<Box<dyn Apply>>>;
}

impl<T: Operation + ?Sized> Operation for Arc<T> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn layout(&self, input: Layout) -> Result<Layout> {
        (**self).layout(input)
    }

    fn judges(&self) -> bool {
        (**self).judges()
    }

    fn prepare(&self, first: &Picture, run: Run<'_>) -> Result<Option<Box<dyn Apply>>> {
        (**self).prepare(first, run)
    }
}

/// A prepared operation.
pub trait Apply: Send {
    /// Works on one composed frame, all of which have the layout of the one that it was prepared on, and gives back one of the
    /// layout that [`Operation::layout`] makes of it.
    ///
    /// # Errors
    /// Whatever fails; it is told of as a failure of this operation.
    fn apply(&self, picture: Picture, run: Run<'_>) -> Result<Picture>;
}
