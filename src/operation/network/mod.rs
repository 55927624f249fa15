//! Trained networks: the trait of a model, our own residual network on our own convolutions, and the tiles in which any
//! model sees a picture.

#[cfg(feature = "network")]
mod bounds;
#[cfg(feature = "network")]
mod kernel;
mod models;
#[cfg(feature = "onnx")]
mod onnx;
mod pass;
mod raster;
#[cfg(feature = "network")]
mod residual;
mod tiles;
mod turned;
#[cfg(feature = "network")]
mod weights;

use std::fmt::Debug;

pub use models::Models;
#[cfg(feature = "onnx")]
pub use onnx::{ChannelOrder, Onnx, OnnxOptions, OnnxRuntime, OnnxSource};
pub(super) use pass::pass;
pub use raster::Raster;
#[cfg(feature = "network")]
pub use residual::Residual;
pub(super) use tiles::through;
pub use turned::Turned;

use crate::{
    control::Run,
    error::{Error, Result},
};

/// A network that makes pixels of pixels: one of ours, or a host's in its place.
pub trait Model: Debug + Send + Sync {
    /// What it needs of the tiles that it is given, and what it costs.
    fn shape(&self) -> Shape;

    /// The tile with each side [`Shape::scale`] times as long. Called from several threads at a time. `run` is to be asked
    /// at least every 50 ms whether to go on; what cannot ask ends a tile late.
    ///
    /// # Errors
    /// Whatever fails, which is told of as a failure of the model.
    fn run(&self, tile: Raster, run: Run<'_>) -> Result<Raster>;
}

/// What a model needs of its tiles, and what it costs. All sizes are in pixels of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// How many times longer each side of the output is: 1 for noise removal.
    pub scale: u32,
    /// How far around a pixel the model looks. Tiles overlap by that much, so that no seam can be seen.
    pub margin: u32,
    /// Sides of tiles are multiples of this.
    pub multiple: u32,
    /// The longest side of a tile without its margins. Where this or `margin` is no multiple of `multiple`, it is taken for the
    /// next one.
    pub tile: u32,
    /// Multiplications a pixel, for an estimate of time; 0 if not known.
    pub work: u64,
}

impl Shape {
    /// Refuses a model that enlarges where none may.
    pub(crate) fn check_keeps_size(&self, doing: &'static str) -> Result<()> {
        match self.scale {
            1 => Ok(()),
            scale => Err(Error::internal(doing, format!("the model is one that enlarges by {scale}"))),
        }
    }
}
