//! Pictures as DCT coefficients before quantisation, from which files of any quality are made.

use mozjpeg_rs::{deringing::preprocess_deringing, simd::SimdOps};

use super::{
    blocks::{Block, Blocks, Plane, zigzag},
    codes::Tally,
    header::{Component, Frame},
    segments::{marker, write_segment},
    symbols::{AC, Pass, tell},
    trellis::{Rates, Steps, Trellis},
};
use crate::{
    codec::Sampling,
    control::Run,
    error::{Error, Result},
    limits::sides,
    picture::{Channels, Picture},
};

/// Coefficients are held as multiples of an eighth.
pub(super) const SCALE: i32 = 8;
/// The longest side that a frame header can tell.
const MOST_SIDE_PX: u32 = 65_535;
/// Version 1.1, one pixel as wide as high, no thumbnail.
const JFIF: [u8; 14] = *b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0";
/// Of so many rows of blocks one tells how long Huffman codes will be.
const RATED_ROWS: usize = 4;

/// How coefficients are quantised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rounding {
    /// To the nearest multiple.
    Nearest,
    /// To what costs least in bits plus `fidelity` times the error; 1 is mozjpeg's balance.
    Trellis {
        /// Weight of the error, above 0.
        fidelity: f32,
    },
}

impl Rounding {
    /// Trellis quantisation in mozjpeg's balance.
    pub(crate) const BALANCED: Self = Self::Trellis { fidelity: 1.0 };
}

/// The coefficients of a picture.
#[derive(Debug)]
pub(crate) struct Spectrum {
    frame: Frame,
    /// One for each component, in zigzag order, in eighths.
    planes: Vec<Vec<Block>>,
    marks: Vec<u8>,
}

impl Spectrum {
    /// Of a gray or RGB picture of 8 bits. Where a table's mean is `mean` or coarser, overshoots around text are evened
    /// out (mozjpeg's deringing); 0 for none of that.
    pub(crate) fn of_picture(picture: &Picture, sampling: Sampling, mean: u16, run: Run<'_>) -> Result<Self> {
        let (width, height, channels) = (picture.width(), picture.height(), picture.channels());
        let samples = picture.eight().ok_or_else(|| Error::unsupported("JPEG of 16-bit samples"))?;
        if !matches!(channels, Channels::Gray | Channels::Rgb) {
            return Err(Error::unsupported(format!("JPEG from {channels:?} pixels")));
        }
        sides(["JPEG width in pixels", "JPEG height in pixels"], (width, height), MOST_SIDE_PX)?;
        let frame = frame((width, height), channels, sampling);
        let planes = Transform::new(&frame, mean).all(samples, run)?;
        let mut marks = Vec::new();
        write_segment(&mut marks, marker::APP0, &[&JFIF]);
        Ok(Self { frame, planes, marks })
    }

    /// Of a file, as it stores them.
    pub(crate) fn of_blocks(blocks: &Blocks) -> Self {
        let planes = blocks.planes.iter().zip(&blocks.frame.components).map(|(plane, component)| {
            let table = &blocks.tables[component.table];
            let whole = |block: &Block| {
                let mut scaled = [0; 64];
                for ((to, &value), &step) in scaled.iter_mut().zip(block).zip(table) {
                    let exact = i32::from(value) * i32::from(step) * SCALE;
                    *to = exact.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
                }
                scaled
            };
            plane.blocks.iter().map(whole).collect()
        });
        let planes = planes.collect();
        Self { frame: blocks.frame.clone(), planes, marks: blocks.marks.clone() }
    }

    /// Quantised by `tables` in zigzag order: one for luma and one for chroma, or those of the file.
    pub(crate) fn quantised(&self, tables: &[[u16; 64]], rounding: Rounding, run: Run<'_>) -> Result<Blocks> {
        let steps: Vec<_> = tables.iter().map(Steps::new).collect();
        let Rounding::Trellis { fidelity } = rounding else {
            return self.rounded(tables, 1, |_, table, block| steps[table].nearest(block), run);
        };
        let some = self.rounded(tables, RATED_ROWS, |_, table, block| steps[table].nearest(block), run)?;
        let rates = rates(&some, run)?;
        let mut trellis = Trellis::new(fidelity);
        self.rounded(tables, 1, |class, table, block| trellis.block(block, &steps[table], &rates[class]), run)
    }

    /// One of so many rows of blocks, each block by a function of its component's class and table.
    fn rounded(
        &self,
        tables: &[[u16; 64]],
        one_in: usize,
        mut round: impl FnMut(usize, usize, &Block) -> Block,
        run: Run<'_>,
    ) -> Result<Blocks> {
        let (frame, marks) = (self.frame.clone(), self.marks.clone());
        let mut blocks = Blocks { frame, tables: tables.to_vec(), planes: Vec::new(), marks };
        for (index, (component, from)) in self.frame.components.iter().zip(&self.planes).enumerate() {
            let mut plane = Plane::with_room(&self.frame, component);
            let class = blocks.class(index);
            for row in from.chunks(plane.across).step_by(one_in) {
                run.check()?;
                row.iter().for_each(|block| plane.push(round(class, component.table, block)));
            }
            blocks.planes.push(plane);
        }
        Ok(blocks)
    }
}

/// How long the codes of AC coefficients are, by class of component.
fn rates(blocks: &Blocks, run: Run<'_>) -> Result<[Rates; 2]> {
    let mut tally = Tally::new();
    for component in 0..blocks.planes.len() as u8 {
        let pass = Pass { components: (component, 1), band: (0, 63), bits: (0, 0) };
        tell(blocks, &pass, &mut tally, |_| true, run)?;
    }
    let codes = tally.codes_for_all();
    Ok([0, 1].map(|class| Rates::new(&codes[AC + class])))
}

fn frame((width, height): (u32, u32), channels: Channels, sampling: Sampling) -> Frame {
    let (across, down) = match sampling {
        _ if channels.is_gray() => (1, 1),
        Sampling::Full => (1, 1),
        Sampling::HalfWidth => (2, 1),
        Sampling::Half => (2, 2),
    };
    let luma = Component { id: 1, across, down, table: 0 };
    let chroma = |id| Component { id, across: 1, down: 1, table: 1 };
    let components = if channels.is_gray() { vec![luma] } else { vec![luma, chroma(2), chroma(3)] };
    Frame { width, height, components, progressive: false, arithmetic: false }
}

/// The way of pixels to coefficients, a row of MCUs at a time.
struct Transform<'a> {
    frame: &'a Frame,
    mean: u16,
    simd: SimdOps,
    /// Sampling factors of luma, which chroma is reduced by.
    reduction: (usize, usize),
    /// Samples in a row of a strip: whole MCUs.
    stride: usize,
    /// Full-size samples of each component.
    strips: Vec<Vec<u8>>,
}

impl<'a> Transform<'a> {
    fn new(frame: &'a Frame, mean: u16) -> Self {
        let (across, down) = frame.most_sampled();
        let stride = (frame.width as usize).next_multiple_of(8 * across);
        let strips = frame.components.iter().map(|_| vec![0; stride * 8 * down]).collect();
        Self { frame, mean, simd: SimdOps::detect(), reduction: (across, down), stride, strips }
    }

    fn all(mut self, samples: &[u8], run: Run<'_>) -> Result<Vec<Vec<Block>>> {
        let (width, height) = (self.frame.width as usize, self.frame.height as usize);
        let row = samples.len() / height;
        let components = &self.frame.components;
        let room = |component| {
            let (columns, rows) = self.frame.blocks(component);
            Vec::with_capacity(columns * rows)
        };
        let mut planes: Vec<Vec<Block>> = components.iter().map(room).collect();
        let mut reduced = Vec::new();
        for top in (0..height).step_by(8 * self.reduction.1) {
            run.check()?;
            for y in 0..8 * self.reduction.1 {
                // Below the picture its last row goes on.
                let from = (top + y).min(height - 1) * row;
                self.fill(&samples[from..from + row], y * self.stride, width);
            }
            for (index, component) in components.iter().enumerate() {
                let (strip, stride) = if index == 0 || self.reduction == (1, 1) {
                    (&self.strips[index], self.stride)
                } else {
                    reduce(&self.strips[index], self.stride, self.reduction, &mut reduced);
                    (&reduced, self.stride / self.reduction.0)
                };
                let (columns, rows) = self.frame.blocks(component);
                let first = top / (8 * self.reduction.1) * component.down;
                for y in (0..component.down).filter(|y| first + y < rows) {
                    for x in 0..columns {
                        planes[index].push(self.block(&strip[y * 8 * stride + x * 8..], stride));
                    }
                }
            }
        }
        Ok(planes)
    }

    /// One row of pixels into the strips, by BT.601 as JFIF has it, its last pixel repeated up to the stride.
    fn fill(&mut self, row: &[u8], at: usize, width: usize) {
        let mut strips = self.strips.iter_mut().map(|strip| &mut strip[at..at + self.stride]);
        match (strips.next(), strips.next(), strips.next()) {
            (Some(y), Some(cb), Some(cr)) => {
                for (((pixel, y), cb), cr) in row.chunks_exact(3).zip(&mut *y).zip(&mut *cb).zip(&mut *cr) {
                    let [r, g, b] = [pixel[0], pixel[1], pixel[2]].map(i32::from);
                    *y = ((19_595 * r + 38_470 * g + 7_471 * b + 32_768) >> 16) as u8;
                    *cb = ((-11_059 * r - 21_709 * g + 32_768 * b + (128 << 16) + 32_767) >> 16) as u8;
                    *cr = ((32_768 * r - 27_439 * g - 5_329 * b + (128 << 16) + 32_767) >> 16) as u8;
                }
                for strip in [y, cb, cr] {
                    let last = strip[width - 1];
                    strip[width..].fill(last);
                }
            }
            (Some(gray), ..) => {
                gray[..width].copy_from_slice(row);
                gray[width..].fill(row[width - 1]);
            }
            _ => {}
        }
    }

    fn block(&self, samples: &[u8], stride: usize) -> Block {
        let (mut shifted, mut coefficients) = ([0i16; 64], [0i16; 64]);
        for (to, from) in shifted.chunks_exact_mut(8).zip(samples.chunks(stride)) {
            for (to, &from) in to.iter_mut().zip(from) {
                *to = i16::from(from) - 128;
            }
        }
        if self.mean > 0 {
            preprocess_deringing(&mut shifted, self.mean);
        }
        self.simd.do_forward_dct(&shifted, &mut coefficients);
        zigzag(&coefficients)
    }
}

/// Means of 2x1 or 2x2 samples, rounded up and down in turn as libjpeg does.
fn reduce(strip: &[u8], stride: usize, (_, down): (usize, usize), reduced: &mut Vec<u8>) {
    reduced.clear();
    let sum = |pair: &[u8]| u16::from(pair[0]) + u16::from(pair[1]);
    for rows in strip.chunks_exact(stride * down) {
        let (upper, lower) = rows.split_at(stride);
        if down == 1 {
            let means =
                upper.chunks_exact(2).zip([0, 1].into_iter().cycle()).map(|(pair, bias)| (sum(pair) + bias) >> 1);
            reduced.extend(means.map(|mean| mean as u8));
        } else {
            let sums = upper.chunks_exact(2).zip(lower.chunks_exact(2)).map(|(upper, lower)| sum(upper) + sum(lower));
            reduced.extend(sums.zip([1, 2].into_iter().cycle()).map(|(sum, bias)| ((sum + bias) >> 2) as u8));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::jpeg::fixture::{baseline, photo, run, watched_by},
        control::Watch,
        error::Stop,
    };

    #[test]
    fn coefficients_do_not_depend_on_the_processor() {
        let picture = photo(75, 61, Channels::Rgb);
        let frame = frame((75, 61), Channels::Rgb, Sampling::Half);
        let [scalar, detected] = [SimdOps::scalar(), SimdOps::detect()].map(|simd| {
            let transform = Transform { simd, ..Transform::new(&frame, 4) };
            transform.all(picture.eight().unwrap(), run()).unwrap()
        });
        assert!(scalar == detected);
    }

    #[test]
    fn a_file_quantised_again_by_its_own_tables_is_the_same() {
        let blocks = Blocks::of_file(&baseline(70, 50), run()).unwrap();
        let spectrum = Spectrum::of_blocks(&blocks);
        assert_eq!(spectrum.quantised(&blocks.tables, Rounding::Nearest, run()).unwrap(), blocks);
    }

    #[test]
    fn errors_that_count_for_less_leave_fewer_bytes() {
        let blocks = Blocks::of_file(&baseline(70, 50), run()).unwrap();
        let spectrum = Spectrum::of_blocks(&blocks);
        let size = |fidelity| {
            let rounding = Rounding::Trellis { fidelity };
            spectrum.quantised(&blocks.tables, rounding, run()).unwrap().size(run()).unwrap()
        };
        assert!(size(0.05) < size(0.3) && size(0.3) < size(2.0) && size(2.0) <= blocks.size(run()).unwrap());
    }

    #[test]
    fn every_step_can_be_stopped() {
        let watch = Watch::default();
        let picture = photo(40, 40, Channels::Rgb);
        let spectrum = Spectrum::of_picture(&picture, Sampling::Half, 0, run()).unwrap();
        let blocks = spectrum.quantised(&[[4; 64]; 2], Rounding::Nearest, run()).unwrap();
        watch.cancel();
        let stopped = watched_by(&watch);
        let errors = [
            Spectrum::of_picture(&picture, Sampling::Half, 0, stopped).map(drop),
            spectrum.quantised(&[[4; 64]; 2], Rounding::Nearest, stopped).map(drop),
            blocks.write(true, stopped).map(drop),
            blocks.write(false, stopped).map(drop),
        ];
        assert!(errors.iter().all(|error| matches!(error, Err(Error::Stopped(Stop::Cancelled)))));
    }
}
