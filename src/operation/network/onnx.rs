//! A host's own network in the ONNX format, run by ONNX Runtime.

use std::{
    fmt,
    path::Path,
    sync::{Mutex, PoisonError},
};

use ort::{environment::Environment, session::Session, value::Tensor};

use super::{Model, Raster, Shape};
use crate::{
    control::Run,
    error::{Error, Result},
};

/// ONNX Runtime, loaded. Clones share it.
#[derive(Clone)]
pub struct OnnxRuntime(Environment);

impl fmt::Debug for OnnxRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnnxRuntime")
    }
}

impl OnnxRuntime {
    /// Loads the library in the file `path` (`libonnxruntime.so`, `onnxruntime.dll`), once in the life of a process.
    ///
    /// # Errors
    /// [`Error::Internal`] with what went wrong, if the library cannot be loaded or has been before.
    pub fn load(path: &Path) -> Result<Self> {
        let failed = |why: String| Error::internal("loading ONNX Runtime", why);
        let builder = ort::init_from(path).map_err(|why| failed(why.to_string()))?;
        builder.build().map(Self).map_err(|why| failed(why.to_string()))
    }
}

/// Where an ONNX model is.
#[derive(Debug, Clone, Copy)]
pub enum OnnxSource<'a> {
    /// In a file.
    Path(&'a Path),
    /// In memory.
    Bytes(&'a [u8]),
}

/// The order in which a model takes and gives colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChannelOrder {
    /// Red, green, blue.
    #[default]
    Rgb,
    /// Blue, green, red, as OpenCV has them.
    Bgr,
}

/// What cannot be read from a model. Its only input and its first output are 32-bit floats of 1 x 3 x height x width.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnnxOptions {
    /// What the model needs of its tiles. Sessions do one tile at a time, each on all cores.
    pub shape: Shape,
    /// The order of colours.
    pub order: ChannelOrder,
    /// What white is: 1 or 255.
    pub white: f32,
    /// The model takes one size only, a tile with its margins on both sides: what is smaller is filled up by its last row
    /// and column.
    pub fixed: bool,
}

/// A model in a session of ONNX Runtime.
pub struct Onnx {
    session: Mutex<Session>,
    options: OnnxOptions,
    // After the session, which needs it.
    _runtime: OnnxRuntime,
}

impl fmt::Debug for Onnx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Onnx").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Onnx {
    /// Opens `model`.
    ///
    /// # Errors
    /// [`Error::Internal`] with what ONNX Runtime says, if the model cannot be read or has not one input and an output; or if
    /// it takes one size only and tile or margin are not multiples of [`Shape::multiple`].
    pub fn open(runtime: &OnnxRuntime, model: OnnxSource<'_>, options: OnnxOptions) -> Result<Self> {
        let failed = |why: String| Error::internal("opening an ONNX model", why);
        let Shape { tile, margin, multiple, .. } = options.shape;
        if options.fixed && [tile, margin].iter().any(|side| !side.is_multiple_of(multiple.max(1))) {
            return Err(failed(format!("its tile of {tile} and margin of {margin} are not multiples of {multiple}")));
        }
        let mut builder = Session::builder(&runtime.0).map_err(|why| failed(why.to_string()))?;
        let session = match model {
            OnnxSource::Path(path) => builder.commit_from_file(path),
            OnnxSource::Bytes(bytes) => builder.commit_from_memory(bytes),
        };
        let session = session.map_err(|why| failed(why.to_string()))?;
        if session.inputs().len() != 1 || session.outputs().is_empty() {
            let (inputs, outputs) = (session.inputs().len(), session.outputs().len());
            return Err(failed(format!("it has {inputs} inputs and {outputs} outputs, not one and at least one")));
        }
        Ok(Self { session: Mutex::new(session), options, _runtime: runtime.clone() })
    }

    /// The size in which a tile goes in.
    fn taken(&self, tile: &Raster) -> (usize, usize) {
        let Shape { tile: side, margin, .. } = self.options.shape;
        let side = (side + 2 * margin) as usize;
        match self.options.fixed {
            true => (side.max(tile.width() as usize), side.max(tile.height() as usize)),
            false => (tile.width() as usize, tile.height() as usize),
        }
    }

    fn channel(&self, colour: usize) -> usize {
        match self.options.order {
            ChannelOrder::Rgb => colour,
            ChannelOrder::Bgr => 2 - colour,
        }
    }
}

impl Model for Onnx {
    fn shape(&self) -> Shape {
        self.options.shape
    }

    fn run(&self, tile: Raster, run: Run<'_>) -> Result<Raster> {
        let failed = |why: String| Error::internal("running an ONNX model", why);
        run.check()?;
        let (width, height) = self.taken(&tile);
        let mut planes = Vec::with_capacity(3 * width * height);
        for colour in (0..3).map(|channel| self.channel(channel)) {
            for y in 0..height {
                let row = tile.row(y.min(tile.height() as usize - 1));
                planes.extend((0..width).map(|x| row[x.min(row.len() - 1)][colour] * self.options.white));
            }
        }
        let input = Tensor::from_array(([1, 3, height, width], planes)).map_err(|why| failed(why.to_string()))?;
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        run.check()?;
        let outputs = session.run(ort::inputs![input]).map_err(|why| failed(why.to_string()))?;
        let (shape, planes) = outputs[0].try_extract_tensor::<f32>().map_err(|why| failed(why.to_string()))?;
        let scale = self.options.shape.scale as usize;
        let (wide, high) = (width * scale, height * scale);
        if **shape != [1, 3, high as i64, wide as i64] {
            return Err(failed(format!("it gives {shape:?} where 1 x 3 x {high} x {wide} was expected")));
        }
        let (cut_width, cut_height) =
            (tile.width() * self.options.shape.scale, tile.height() * self.options.shape.scale);
        let mut samples = Vec::with_capacity(3 * cut_width as usize * cut_height as usize);
        for y in 0..cut_height as usize {
            for x in 0..cut_width as usize {
                let at = |colour| planes[(self.channel(colour) * high + y) * wide + x] / self.options.white;
                samples.extend([at(0), at(1), at(2)]);
            }
        }
        Raster::new(cut_width, cut_height, samples)
    }
}
