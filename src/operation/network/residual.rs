//! Our own network: a residual one in the manner of B. Lim et al., *Enhanced Deep Residual Networks for Single Image
//! Super-Resolution* (EDSR, CVPRW 2017), at half resolution for noise removal as in K. Zhang et al., *FFDNet* (TIP 2018).
//!
//! Blocks of pixels become channels, a convolution widens them, residual blocks of two convolutions around a ReLU follow, and the
//! last convolution gives what is added to the input, which is repeated to the size of the output. Some networks go through their
//! blocks twice, with the same weights, as in Y. Tai et al., *Image Super-Resolution via Deep Recursive Residual Network* (CVPR
//! 2017). Outside the picture is mid-grey at the input and zero between the layers, as in training. Results stay in the range of
//! what is around them, so that plain areas are not touched.

use std::{fmt, ops::Range, sync::OnceLock};

use super::{
    Model, Raster, Shape,
    bounds::{RADIUS, bounded},
    kernel::{Filters, Finish, Job, Kernel, Map, Part, Space, TILE},
    weights::{self, Head, Layer},
};
use crate::{
    control::Run,
    error::{Error, Result},
};

/// Values of a map, at most: a tile with its margins has two of them, 54 MB together, and a smaller one.
const VALUES: usize = 6_750_000;
/// Rows of a band. Layers go on together, each a band behind the one before, which leaves in the cache what they look at.
const BAND: usize = TILE;
/// Layers that do: with more there is too much for the cache.
const WAVE: usize = 8;
/// Sides of tiles, in blocks of pixels, are multiples of this.
const STEP: usize = 16;

/// A trained network with its weights, as `models/` makes them.
#[derive(Clone)]
pub struct Residual {
    head: Head,
    /// One of ours, of which the filters are made when they are first needed.
    file: &'static [u8],
    filters: OnceLock<Vec<Filters>>,
    kernel: Kernel,
    /// For pictures without noise and artefacts.
    clean: bool,
}

impl fmt::Debug for Residual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Residual").field("head", &self.head).field("kernel", &self.kernel).finish_non_exhaustive()
    }
}

impl Residual {
    /// Reads the file of a trained network; its format is described in `models/README.md`.
    ///
    /// # Errors
    /// [`Error::Internal`] that says what is wrong with the file.
    pub fn read(file: &[u8]) -> Result<Self> {
        let (head, layers) = weights::read(file)?;
        let filters = OnceLock::from(filters(&layers));
        Ok(Self { head, file: &[], filters, kernel: Kernel::available()[0], clean: false })
    }

    /// For a network that enlarges clean pictures: a pixel whose eight neighbours are the same as it becomes pixels that are, too.
    /// Beside hard lines of a pixel, which no training shows, networks draw faint ghosts of them.
    #[must_use]
    pub fn of_clean_pictures(self) -> Self {
        Self { clean: true, ..self }
    }

    /// A file whose layers are not read before they are needed.
    pub(super) fn shipped(file: &'static [u8]) -> Result<Self> {
        let (head, _) = weights::read_head(file)?;
        Ok(Self { head, file, filters: OnceLock::new(), kernel: Kernel::available()[0], clean: false })
    }

    fn filters(&self) -> Result<&[Filters]> {
        if let Some(filters) = self.filters.get() {
            return Ok(filters);
        }
        let (_, layers) = weights::read(self.file)?;
        Ok(self.filters.get_or_init(|| filters(&layers)))
    }

    /// The longest side of a tile without its margins, in blocks of pixels.
    fn tile(&self) -> usize {
        let margins = 2 * self.head.layers();
        ((VALUES / self.head.width).isqrt().saturating_sub(margins) / STEP * STEP).max(STEP)
    }

    /// With other instructions than the best.
    #[cfg(test)]
    pub(super) fn with_kernel(self, kernel: Kernel) -> Self {
        Self { kernel, ..self }
    }

    /// What is to be added to the input, by block of pixels; anything in the margins, of which blocks are given.
    fn change(&self, input: &Map, margins: [usize; 4], run: Run<'_>) -> Result<Map> {
        let filters = self.filters()?;
        let [first, .., last] = filters else {
            return Err(Error::internal("running a network", "it has no layers"));
        };
        let end = filters.len() - 1;
        // Each layer is looked at by one pixel more than the next: what nobody looks at any more is left out.
        let part = |layer: usize, rows: Range<usize>| {
            let [left, top, right, bottom] = margins.map(|margin| margin.saturating_sub(end - layer));
            let (right, bottom) = (input.width - right, input.height - bottom);
            Part { left, top: top.max(rows.start), right, bottom: bottom.min(rows.end) }
        };
        let map = |filters: &Filters| Map::new(input.width, input.height, filters.outputs());
        let (mut x, mut between, mut change) = (map(first), map(first), map(last));
        let mut space = Space::new(filters);
        let mut convolve = |layer: usize, rows: Range<usize>| {
            let (from, to, filters, at, finish) = match layer {
                0 => (input, &mut x, first, 0, Finish::Store),
                // The first layer again, where blocks skip to: to keep it would take a map more, and longer.
                _ if layer == end => (input, &mut x, first, end - 1, Finish::Add),
                _ if layer > end => (&x, &mut change, last, end, Finish::Store),
                _ if layer % 2 == 1 => (&x, &mut between, &filters[layer], layer, Finish::Relu),
                _ => (&between, &mut x, &filters[layer], layer, Finish::Add),
            };
            self.kernel.convolve(&Job { from, filters, part: part(at, rows), finish }, to, &mut space, run)
        };
        for (layer, band) in in_waves(end + 2, input.height.div_ceil(BAND)) {
            convolve(layer, band * BAND..(band + 1) * BAND)?;
        }
        Ok(change)
    }
}

impl Model for Residual {
    fn shape(&self) -> Shape {
        let Head { unshuffle, scale, width, .. } = self.head;
        let layers = self.head.layers();
        let products = 9 * width * (3 * unshuffle * unshuffle + (layers - 2) * width + 3 * scale * scale);
        Shape {
            scale: (scale / unshuffle) as u32,
            margin: ((layers * unshuffle) as u32).max((RADIUS as u32).next_multiple_of(unshuffle as u32)),
            multiple: unshuffle as u32,
            tile: (self.tile() * unshuffle) as u32,
            work: (products / (unshuffle * unshuffle)) as u64,
        }
    }

    fn run(&self, tile: Raster, run: Run<'_>) -> Result<Raster> {
        let input = gathered(&tile, self.head.unshuffle)?;
        let margins = tile.margins().map(|margin| margin as usize / self.head.unshuffle);
        let change = self.change(&input, margins, run)?;
        let output = spread(&tile, &change, self.head.unshuffle, self.head.scale)?;
        let (width, height) = (output.width(), output.height());
        Raster::new(width, height, bounded(&tile, output, self.head.scale / self.head.unshuffle, self.clean))
    }
}

/// All bands of all layers in an order in which a layer finds what it looks at, in its band and those beside it, and no layer
/// has yet written over it that uses the same map: the next but one.
fn in_waves(layers: usize, bands: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..layers).step_by(WAVE).flat_map(move |first| {
        let wave = first..(first + WAVE).min(layers);
        (0..bands + wave.len() - 1).flat_map(move |time| {
            let started = wave.clone().take(time + 1).enumerate();
            started.map(move |(late, layer)| (layer, time - late)).filter(move |(_, band)| *band < bands)
        })
    })
}

fn filters(layers: &[Layer]) -> Vec<Filters> {
    layers.iter().map(|layer| Filters::new(&layer.weights, &layer.bias)).collect()
}

/// Blocks of `by` x `by` pixels as channels: the colours one after the other, each by row and column in the block.
fn gathered(tile: &Raster, by: usize) -> Result<Map> {
    let (width, height) = (tile.width() as usize, tile.height() as usize);
    if !width.is_multiple_of(by) || !height.is_multiple_of(by) {
        return Err(Error::internal("running a network", format!("a tile of {width}x{height} is no multiple of {by}")));
    }
    let mut map = Map::new(width / by, height / by, 3 * by * by);
    let blocks = map.blocks;
    for y in 0..height {
        let (row, to) = (y % by, map.row_mut(y / by));
        for (pixels, to) in tile.row(y).chunks_exact(by).zip(to.chunks_exact_mut(blocks)) {
            for (column, pixel) in pixels.iter().enumerate() {
                for (colour, value) in pixel.iter().enumerate() {
                    to.as_flattened_mut()[(colour * by + row) * by + column] = value - 0.5;
                }
            }
        }
    }
    Ok(map)
}

/// The input repeated to the output's size, and the change by block added to it.
fn spread(tile: &Raster, change: &Map, unshuffle: usize, scale: usize) -> Result<Raster> {
    let (width, height, times) = (change.width * scale, change.height * scale, scale / unshuffle);
    let mut samples = Vec::with_capacity(width * height * 3);
    for y in 0..height {
        let (from, row) = (tile.row(y / times), change.row(y / scale));
        for (pixels, block) in from.chunks_exact(unshuffle).zip(row.chunks_exact(change.blocks)) {
            let block = block.as_flattened();
            for column in 0..scale {
                for (colour, value) in pixels[column / times].iter().enumerate() {
                    samples.push(value + block[(colour * scale + y % scale) * scale + column]);
                }
            }
        }
    }
    Raster::new(width as u32, height as u32, samples)
}

#[cfg(test)]
mod tests;
