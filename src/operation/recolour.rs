//! Rows of a picture as linear light, to be changed in place and stored again.

use crate::{
    control::Run,
    error::Result,
    picture::{Channels, Layout, Picture, Samples, transfer},
};

/// Pixels between two looks at the clock, about 2 ms of work.
const STRIP_PIXELS: usize = 1 << 16;

/// What each code of red, green and blue stands for in linear light, 0 to 1 inside the gamut.
#[derive(Debug)]
pub(super) struct Decoding {
    tables: [Vec<f32>; 3],
}

impl Decoding {
    /// `light` of a channel's index and linear light, for the samples of `layout`.
    pub(super) fn new(layout: Layout, light: impl Fn(usize, f64) -> f64) -> Self {
        let full = if layout.depth.bytes() == 1 { 255u16 } else { u16::MAX };
        let linear: Vec<f64> = (0..=full).map(|code| transfer::decode(f64::from(code) / f64::from(full))).collect();
        let table = |channel| linear.iter().map(|&value| light(channel, value) as f32).collect();
        Self { tables: [table(0), table(1), table(2)] }
    }

    fn row<T: Sample>(&self, samples: &[T], channels: Channels, row: &mut Vec<[f32; 3]>) {
        let [red, green, blue] = &self.tables;
        let at = |table: &[f32], sample: T| table.get(sample.index()).copied().unwrap_or_default();
        row.clear();
        if channels.is_gray() {
            row.extend(samples.chunks_exact(channels.count()).map(|p| [at(green, p[0]); 3]));
        } else {
            let pixels = samples.chunks_exact(channels.count());
            row.extend(pixels.map(|p| [at(red, p[0]), at(green, p[1]), at(blue, p[2])]));
        }
    }

    /// Every `step`th row of the picture in turn, as linear light.
    pub(super) fn rows(
        &self,
        picture: &Picture,
        step: usize,
        run: Run<'_>,
        mut look: impl FnMut(usize, &[[f32; 3]]),
    ) -> Result<()> {
        let layout = picture.layout();
        let mut row = Vec::with_capacity(layout.width as usize);
        for y in (0..layout.height as usize).step_by(step) {
            checked(y, layout, run)?;
            let span = y * layout.row_samples()..(y + 1) * layout.row_samples();
            match picture.samples() {
                Samples::Eight(samples) => self.row(&samples[span], layout.channels, &mut row),
                Samples::Sixteen(samples) => self.row(&samples[span], layout.channels, &mut row),
            }
            look(y, &row);
        }
        Ok(())
    }

    /// The picture with every row changed; alpha stays, and gray takes the green of what becomes of it.
    pub(super) fn recoloured(
        &self,
        picture: Picture,
        run: Run<'_>,
        change: impl FnMut(usize, &mut [[f32; 3]]),
    ) -> Result<Picture> {
        let layout = picture.layout();
        let samples = match picture.into_samples() {
            Samples::Eight(samples) => Samples::Eight(self.stored(samples, layout, run, change)?),
            Samples::Sixteen(samples) => Samples::Sixteen(self.stored(samples, layout, run, change)?),
        };
        Picture::new(layout.width, layout.height, layout.channels, samples)
    }

    fn stored<T: Sample>(
        &self,
        mut samples: Vec<T>,
        layout: Layout,
        run: Run<'_>,
        mut change: impl FnMut(usize, &mut [[f32; 3]]),
    ) -> Result<Vec<T>> {
        let encoding = T::encoding();
        let mut row = Vec::with_capacity(layout.width as usize);
        for (y, stored) in samples.chunks_exact_mut(layout.row_samples()).enumerate() {
            checked(y, layout, run)?;
            self.row(stored, layout.channels, &mut row);
            change(y, &mut row);
            for (pixel, light) in stored.chunks_exact_mut(layout.channels.count()).zip(&row) {
                if layout.channels.is_gray() {
                    pixel[0] = T::of_linear(encoding, light[1]);
                } else {
                    for (sample, &value) in pixel.iter_mut().zip(light) {
                        *sample = T::of_linear(encoding, value);
                    }
                }
            }
        }
        Ok(samples)
    }
}

fn checked(y: usize, layout: Layout, run: Run<'_>) -> Result<()> {
    let rows = (STRIP_PIXELS / layout.width as usize).max(1);
    if y.is_multiple_of(rows) { run.check() } else { Ok(()) }
}

/// A stored sample.
trait Sample: Copy + 'static {
    fn index(self) -> usize;
    fn encoding() -> &'static [Self];
    /// The nearest code; light outside of 0 to 1 is clipped.
    fn of_linear(encoding: &[Self], light: f32) -> Self;
}

impl Sample for u8 {
    fn index(self) -> usize {
        self.into()
    }

    fn encoding() -> &'static [Self] {
        transfer::eight_of_linear()
    }

    fn of_linear(encoding: &[Self], light: f32) -> Self {
        encoding.get(usize::from((light * 65_535.0 + 0.5) as u16)).copied().unwrap_or_default()
    }
}

impl Sample for u16 {
    fn index(self) -> usize {
        self.into()
    }

    fn encoding() -> &'static [Self] {
        transfer::sixteen_of_linear()
    }

    /// Between two entries by a straight line: near black they are 13 codes apart.
    fn of_linear(encoding: &[Self], light: f32) -> Self {
        let at = (light * 65_535.0).clamp(0.0, 65_535.0);
        let index = at as usize;
        let entry = |index: usize| encoding.get(index).copied().map_or(65_535.0, f32::from);
        let (low, high) = (entry(index), entry(index + 1));
        (low + (high - low) * (at - index as f32) + 0.5) as Self
    }
}
