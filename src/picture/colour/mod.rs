//! Colour conversion to the working space, sRGB.

mod curve;
mod grid;
mod lut;
mod profile;
mod space;
mod writing;

pub(crate) use writing::icc_of;
pub use writing::srgb_profile;

use profile::Model;

use super::{
    layout::{Channels, Depth, Layout},
    pixels::{Picture, Samples},
    transfer,
};
use crate::{control::Run, error::Result};

/// Pixels between two looks at the clock, a few milliseconds.
const STRIP_PIXELS: usize = 1 << 17;

/// What became of a picture's colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Converted {
    /// They were in sRGB, or in what is hardly different, and stay bit for bit.
    Untouched,
    /// They were converted, from the space of the profile or, without one, from CMYK as browsers show it.
    Converted,
    /// The profile is damaged or not for such pixels; they were taken for sRGB, CMYK as browsers show it.
    Ignored,
}

/// The way from the space of a profile to sRGB, for pictures of one layout.
#[derive(Debug)]
pub struct ToSrgb {
    source: Channels,
    result: Channels,
    model: Option<Model>,
    converted: Converted,
}

impl ToSrgb {
    /// Reads `icc`, which may be damaged. RGB profiles are also taken for gray pictures, others only for pixels of their
    /// own space.
    pub fn new(icc: Option<&[u8]>, channels: Channels) -> Self {
        let untouched = |converted| Self { source: channels, result: channels, model: None, converted };
        let model = icc.and_then(Model::of_profile);
        let fits = match &model {
            Some(Model::Gray { .. }) => channels.is_gray(),
            Some(Model::Shaper { .. } | Model::Rgb(_)) => channels != Channels::Cmyk,
            Some(Model::Cmyk(_) | Model::Inks) => channels == Channels::Cmyk,
            None => false,
        };
        let converted = match (icc, fits) {
            (Some(_), false) => Converted::Ignored,
            _ => Converted::Converted,
        };
        match model.filter(|_| fits) {
            _ if channels == Channels::Cmyk && !fits => {
                Self { source: channels, result: Channels::Rgb, model: Some(Model::Inks), converted }
            }
            None if icc.is_none() => untouched(Converted::Untouched),
            None => untouched(Converted::Ignored),
            Some(model) if model.is_srgb() => untouched(Converted::Untouched),
            Some(model) => {
                let result = match channels {
                    Channels::Cmyk => Channels::Rgb,
                    Channels::Gray if !keeps_gray(&model) => Channels::Rgb,
                    Channels::GrayAlpha if !keeps_gray(&model) => Channels::Rgba,
                    same => same,
                };
                Self { source: channels, result, model: Some(model), converted }
            }
        }
    }

    /// What becomes of the colours.
    pub fn converted(&self) -> Converted {
        self.converted
    }

    /// The layout of the result: CMYK becomes RGB, and so does gray in an RGB space that tints it.
    #[must_use]
    pub fn layout(&self, input: Layout) -> Layout {
        Layout { channels: self.result, ..input }
    }

    /// Converts a picture of the channels that this was made for; alpha stays.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub fn apply(&self, picture: Picture, run: Run<'_>) -> Result<Picture> {
        let Some(model) = self.model.as_ref().filter(|_| picture.channels() == self.source) else {
            return Ok(picture);
        };
        let (width, height, depth) = (picture.width(), picture.height(), picture.layout().depth);
        let picture = picture.into_channels(self.result);
        let samples = match (picture.into_samples(), model) {
            (Samples::Eight(samples), Model::Cmyk(_) | Model::Inks) => Samples::Eight(printed(&samples, model, run)?),
            (Samples::Sixteen(samples), Model::Cmyk(_) | Model::Inks) => {
                Samples::Sixteen(printed(&samples, model, run)?)
            }
            (Samples::Eight(mut samples), _) => {
                convert(&mut samples, self.result, model, run)?;
                Samples::Eight(samples)
            }
            (Samples::Sixteen(mut samples), _) => {
                convert(&mut samples, self.result, model, run)?;
                Samples::Sixteen(samples)
            }
        };
        debug_assert!(matches!(
            (&samples, depth),
            (Samples::Eight(_), Depth::Eight) | (Samples::Sixteen(_), Depth::Sixteen)
        ));
        Picture::new(width, height, self.result, samples)
    }
}

/// Converts a picture from the space of `icc` to sRGB; CMYK becomes RGB, with or without a profile.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub fn to_srgb(picture: Picture, icc: Option<&[u8]>, run: Run<'_>) -> Result<(Picture, Converted)> {
    let conversion = ToSrgb::new(icc, picture.channels());
    Ok((conversion.apply(picture, run)?, conversion.converted()))
}

/// Whether equal samples stay equal within one step of 8 bits.
fn keeps_gray(model: &Model) -> bool {
    (0..=255).all(|code| {
        let [r, g, b] = model.srgb([f64::from(code) / 255.0; 3]);
        r.max(g).max(b) - r.min(g).min(b) <= 1.0 / 255.0
    })
}

fn convert<T: Sample>(samples: &mut [T], channels: Channels, model: &Model, run: Run<'_>) -> Result<()> {
    let count = channels.count();
    let shaper = match model {
        Model::Shaper { curves, matrix } if !channels.is_gray() => Some(Shaper::new::<T>(curves, matrix)),
        _ => None,
    };
    let levels: Vec<T> = match channels.is_gray() {
        true => {
            (0..=T::MOST).map(|level| T::of_unit(model.srgb([f64::from(level) / f64::from(T::MOST); 3])[1])).collect()
        }
        false => Vec::new(),
    };
    for strip in samples.chunks_mut(STRIP_PIXELS * count) {
        run.check()?;
        match (&shaper, model) {
            _ if channels.is_gray() => {
                for pixel in strip.chunks_exact_mut(count) {
                    pixel[0] = levels[pixel[0].index()];
                }
            }
            (Some(shaper), _) if count == 3 => shaper.convert::<T, 3>(strip),
            (Some(shaper), _) => shaper.convert::<T, 4>(strip),
            (None, Model::Rgb(grid)) => {
                for pixel in strip.chunks_exact_mut(count) {
                    let rgb = grid.at([pixel[0].wide(), pixel[1].wide(), pixel[2].wide()]);
                    pixel[..3].copy_from_slice(&rgb.map(T::of_wide));
                }
            }
            (None, _) => {}
        }
    }
    Ok(())
}

fn printed<T: Sample>(samples: &[T], model: &Model, run: Run<'_>) -> Result<Vec<T>> {
    match model {
        Model::Cmyk(grid) => mixed(samples, |inks| grid.at(inks.map(T::wide)).map(T::of_wide), run),
        _ => mixed(samples, filtered, run),
    }
}

fn mixed<T: Sample>(samples: &[T], colour: impl Fn([T; 4]) -> [T; 3], run: Run<'_>) -> Result<Vec<T>> {
    let (pixels, _) = samples.as_chunks::<4>();
    let mut out = Vec::with_capacity(pixels.len() * 3);
    for strip in pixels.chunks(STRIP_PIXELS) {
        run.check()?;
        for pixel in strip {
            out.extend_from_slice(&colour(*pixel));
        }
    }
    Ok(out)
}

/// What three inks and black leave of the light.
fn filtered<T: Sample>([cyan, magenta, yellow, black]: [T; 4]) -> [T; 3] {
    let left = |ink: T| u32::from(T::MOST) - ink.index() as u32;
    [cyan, magenta, yellow]
        .map(|ink| T::of_level((left(ink) * left(black) + u32::from(T::MOST) / 2) / u32::from(T::MOST)))
}

/// Curves as tables of linear light, and the columns of the matrix, scaled to 65535.
struct Shaper {
    curves: [Vec<f32>; 3],
    columns: [[f32; 3]; 3],
}

impl Shaper {
    fn new<T: Sample>(curves: &[curve::Curve; 3], matrix: &[[f64; 3]; 3]) -> Self {
        let table = |curve: &curve::Curve| {
            (0..=T::MOST).map(|level| curve.at(f64::from(level) / f64::from(T::MOST)) as f32).collect()
        };
        let tables = if curves[0] == curves[1] && curves[1] == curves[2] {
            let shared: Vec<f32> = table(&curves[0]);
            [shared.clone(), shared.clone(), shared]
        } else {
            [table(&curves[0]), table(&curves[1]), table(&curves[2])]
        };
        let columns = std::array::from_fn(|column| std::array::from_fn(|row| (matrix[row][column] * 65_535.0) as f32));
        Self { curves: tables, columns }
    }

    fn convert<T: Sample, const N: usize>(&self, samples: &mut [T]) {
        let [red, green, blue] = &self.curves;
        let [from_red, from_green, from_blue] = self.columns;
        let (pixels, _) = samples.as_chunks_mut::<N>();
        for pixel in pixels {
            let (r, g, b) = (red[pixel[0].index()], green[pixel[1].index()], blue[pixel[2].index()]);
            for channel in 0..3 {
                let linear = r * from_red[channel] + g * from_green[channel] + b * from_blue[channel];
                pixel[channel] = T::of_linear(linear);
            }
        }
    }
}

/// A sample of 8 or 16 bits.
trait Sample: Copy + 'static {
    const MOST: u16;
    fn index(self) -> usize;
    /// As 16 bits.
    fn wide(self) -> u16;
    fn of_wide(wide: u16) -> Self;
    /// From 0 to [`Self::MOST`].
    fn of_level(level: u32) -> Self;
    /// From 0 to 1.
    fn of_unit(value: f64) -> Self;
    /// The sRGB code of linear light, 0 to 65535 and beyond.
    fn of_linear(linear: f32) -> Self;
}

impl Sample for u8 {
    const MOST: u16 = 255;
    fn index(self) -> usize {
        self.into()
    }
    fn wide(self) -> u16 {
        u16::from(self) * 257
    }
    fn of_wide(wide: u16) -> Self {
        ((u32::from(wide) * 255 + 32_767) / 65_535) as u8
    }
    fn of_level(level: u32) -> Self {
        level as u8
    }
    fn of_unit(value: f64) -> Self {
        (value * 255.0 + 0.5) as u8
    }
    fn of_linear(linear: f32) -> Self {
        transfer::eight_of_linear()[usize::from((linear + 0.5) as u16)]
    }
}

impl Sample for u16 {
    const MOST: u16 = u16::MAX;
    fn index(self) -> usize {
        self.into()
    }
    fn wide(self) -> u16 {
        self
    }
    fn of_wide(wide: u16) -> Self {
        wide
    }
    fn of_level(level: u32) -> Self {
        level as u16
    }
    fn of_unit(value: f64) -> Self {
        (value * 65_535.0 + 0.5) as u16
    }
    /// Between two entries, since near black one entry is 13 codes away from the next.
    fn of_linear(linear: f32) -> Self {
        let table = transfer::sixteen_of_linear();
        let below = linear.clamp(0.0, 65_534.0) as u16;
        let (low, high) = (f32::from(table[usize::from(below)]), f32::from(table[usize::from(below) + 1]));
        (low + (high - low) * (linear - f32::from(below)).clamp(0.0, 1.0) + 0.5) as u16
    }
}

#[cfg(test)]
mod tests;
