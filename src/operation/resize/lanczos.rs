//! Lanczos3, a band of rows at a time: in linear light and without overshoot, so that fine patterns keep their brightness as they
//! get smaller, but enlarging in codes of sRGB, where the kernel may overshoot as what lies between samples needs it.
//!
//! Samples become 16-bit numbers, premultiplied where there is alpha, and go through `fast_image_resize` in integer
//! arithmetic, once across and once down. Rows stream through a window as tall as the kernel and as wide as the narrower
//! of source and result, so that memory does not grow with the number of source pixels.

use fast_image_resize::{
    Filter, FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer,
    images::{Image, ImageRef},
};

use super::{geometry::Placement, overshoot};
use crate::{
    control::Run,
    error::{Error, Result},
    operation::stops::sine,
    picture::{Channels, Layout, Picture, Samples, transfer},
};

/// Lobes of the kernel on either side.
const LOBES: f64 = 3.0;
/// Source pixels turned to linear light, and kernel taps applied, between two looks at the clock; about 5 ms each.
const STRIP_PIXELS: usize = 1 << 19;
const BAND_TAPS: usize = 1 << 23;

/// The region of `picture` at the scaled size.
pub(super) fn resampled(picture: &Picture, placement: &Placement, run: Run<'_>) -> Result<Picture> {
    let (width, height) = placement.scaled;
    let count = picture.channels().count();
    let enlarges = f64::from(width) >= placement.region.width && f64::from(height) >= placement.region.height;
    let coding = Coding { channels: picture.channels(), translucent: !picture.is_opaque(), linear: !enlarges };
    let samples = match picture.samples() {
        Samples::Eight(source) => {
            let mut out = Vec::with_capacity(width as usize * height as usize * count);
            stream(picture.layout(), source, placement, &coding, &mut out, run)?;
            Samples::Eight(out)
        }
        Samples::Sixteen(source) => {
            let mut out = Vec::with_capacity(width as usize * height as usize * count);
            stream(picture.layout(), source, placement, &coding, &mut out, run)?;
            Samples::Sixteen(out)
        }
    };
    Picture::new(width, height, picture.channels(), samples)
}

/// Source positions along one axis that result positions depend on.
struct Axis {
    start: f64,
    step: f64,
    source: usize,
}

impl Axis {
    fn new(start: f64, length: f64, source: u32, result: u32) -> Self {
        Self { start, step: length / f64::from(result), source: source as usize }
    }

    fn radius(&self) -> f64 {
        LOBES * self.step.max(1.0)
    }

    /// One position more than needed on either side, for no rounding to matter.
    fn needed(&self, first: usize, end: usize) -> (usize, usize) {
        let from = (self.start + (first as f64 + 0.5) * self.step - self.radius()).floor() - 1.0;
        let to = (self.start + (end as f64 - 0.5) * self.step + self.radius()).ceil() + 1.0;
        (from.max(0.0) as usize, (to as usize).min(self.source))
    }
}

fn stream<T: Sample>(
    layout: Layout,
    source: &[T],
    placement: &Placement,
    coding: &Coding,
    out: &mut Vec<T>,
    run: Run<'_>,
) -> Result<()> {
    let (width, height) = (placement.scaled.0 as usize, placement.scaled.1 as usize);
    let region = placement.region;
    let across = Axis::new(region.left, region.width, layout.width, placement.scaled.0);
    let down = Axis::new(region.top, region.height, layout.height, placement.scaled.1);
    let count = layout.channels.count();
    let (left, right) = across.needed(0, width);
    let columns = right - left;
    let across_first = width <= columns;
    let window_width = width.min(columns);
    let band_rows = (BAND_TAPS / (window_width * (2.0 * down.radius()) as usize)).clamp(1, 64);
    let strip_rows = (STRIP_PIXELS / columns).max(1);
    let mut lanczos = Lanczos::new(count, coding.linear)?;
    let (mut window, mut first, mut end) = (Vec::new(), 0, 0);
    let (mut strip, mut band, mut wide) = (Vec::new(), Vec::new(), Vec::new());

    for top in (0..height).step_by(band_rows) {
        let bottom = height.min(top + band_rows);
        let (from, to) = down.needed(top, bottom);
        window.drain(..(from - first).min(end - first) * window_width * count);
        (first, end) = (from, end.max(from));
        while end < to {
            run.check()?;
            let rows = strip_rows.min(to - end);
            strip.clear();
            for row in source.chunks_exact(layout.row_samples()).skip(end).take(rows) {
                coding.prepare(&row[left * count..right * count], &mut strip);
            }
            if across_first {
                let crop = Crop { left: region.left - left as f64, top: 0.0, width: region.width, height: rows as f64 };
                let at = window.len();
                window.resize(at + rows * width * count, 0);
                lanczos.pass(&strip, (columns, rows), crop, &mut window[at..], (width, rows))?;
            } else {
                window.extend_from_slice(&strip);
            }
            end += rows;
        }
        run.check()?;
        let rows = bottom - top;
        let crop = Crop {
            left: 0.0,
            top: down.start + top as f64 * down.step - first as f64,
            width: window_width as f64,
            height: rows as f64 * down.step,
        };
        band.resize(rows * window_width * count, 0);
        lanczos.pass(&window, (window_width, end - first), crop, &mut band, (window_width, rows))?;
        if !across_first {
            run.check()?;
            let crop = Crop { left: region.left - left as f64, top: 0.0, width: region.width, height: rows as f64 };
            wide.resize(rows * width * count, 0);
            lanczos.pass(&band, (columns, rows), crop, &mut wide, (width, rows))?;
        }
        coding.finish(if across_first { &band } else { &wide }, out);
    }
    Ok(())
}

struct Crop {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

/// The foreign resizer, with what stays the same between passes.
struct Lanczos {
    resizer: Resizer,
    options: ResizeOptions,
    pixel: PixelType,
    /// Whether nothing may overshoot.
    bounded: bool,
}

impl Lanczos {
    fn new(count: usize, bounded: bool) -> Result<Self> {
        let pixel = match count {
            1 => PixelType::U16,
            2 => PixelType::U16x2,
            3 => PixelType::U16x3,
            _ => PixelType::U16x4,
        };
        // Not the built-in kernel, whose sine is the platform's and may differ in the last bit.
        let filter = Filter::new("Lanczos3", lanczos3, LOBES).map_err(failed)?;
        let options =
            ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Custom(filter))).use_alpha(false);
        Ok(Self { resizer: Resizer::new(), options, pixel, bounded })
    }

    /// Scales `crop` of `source`, across or down, to all of `target`; sizes are columns and rows.
    fn pass(
        &mut self,
        source: &[u16],
        (columns, rows): (usize, usize),
        crop: Crop,
        target: &mut [u16],
        (width, height): (usize, usize),
    ) -> Result<()> {
        let from =
            ImageRef::new(columns as u32, rows as u32, bytemuck::cast_slice(source), self.pixel).map_err(failed)?;
        let mut to = Image::from_slice_u8(width as u32, height as u32, bytemuck::cast_slice_mut(target), self.pixel)
            .map_err(failed)?;
        // Rounding must not push the crop over the far edge.
        let w = crop.width.min(columns as f64 - crop.left);
        let h = crop.height.min(rows as f64 - crop.top);
        self.resizer.resize(&from, &mut to, &self.options.crop(crop.left, crop.top, w, h)).map_err(failed)?;
        if !self.bounded {
            return Ok(());
        }
        if rows == height && h == rows as f64 {
            let windows = overshoot::windows(crop.left, w / width as f64, width, columns);
            match self.pixel {
                PixelType::U16 => overshoot::across::<1>(source, columns, &windows, target),
                PixelType::U16x2 => overshoot::across::<2>(source, columns, &windows, target),
                PixelType::U16x3 => overshoot::across::<3>(source, columns, &windows, target),
                _ => overshoot::across::<4>(source, columns, &windows, target),
            }
        } else {
            let windows = overshoot::windows(crop.top, h / height as f64, height, rows);
            overshoot::down(source, source.len() / rows, &windows, target);
        }
        Ok(())
    }
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::internal("resizing", error)
}

/// sinc(x) sinc(x / 3) for |x| < 3.
fn lanczos3(x: f64) -> f64 {
    use std::f64::consts::PI;
    let x = x.abs();
    if x < 1e-8 {
        return 1.0;
    }
    if x >= LOBES {
        return 0.0;
    }
    let angle = PI * x / LOBES;
    let slow = sine(angle.min(PI - angle));
    // sin 3a = 3 sin a - 4 sin^3 a
    let fast = 3.0 * slow - 4.0 * slow * slow * slow;
    fast * slow * LOBES / (PI * x * PI * x)
}

/// Where black lies among 16 bits, with white three quarters of the range above: Lanczos overshoots between the two
/// passes, and what is clipped there would change hues along edges, most in translucent ones.
const BLACK: i32 = 8192;

/// 0 to 65535, with an eighth of the range free at either end.
fn with_headroom(value: u16) -> u16 {
    BLACK as u16 + ((u32::from(value) * 3 + 2) / 4) as u16
}

/// 0 to 65535 again, and a sixth beyond either end.
fn without_headroom(sample: u16) -> i32 {
    ((i32::from(sample) - BLACK) * 4 + 1).div_euclid(3)
}

/// How samples become what is filtered, and come back.
struct Coding {
    channels: Channels,
    translucent: bool,
    /// In linear light, or as they are.
    linear: bool,
}

impl Coding {
    fn prepare<T: Sample>(&self, row: &[T], out: &mut Vec<u16>) {
        let colour = |sample: T| if self.linear { sample.linear() } else { sample.code() };
        match (self.translucent, self.channels) {
            (true, Channels::GrayAlpha) => premultiplied::<T, 2>(row, colour, out),
            (true, Channels::Rgba) => premultiplied::<T, 4>(row, colour, out),
            // Opaque alpha comes out as opaque whatever is done to it.
            _ if self.linear => T::linearise(row, out),
            _ => out.extend(row.iter().map(|sample| with_headroom(sample.code()))),
        }
    }

    fn finish<T: Sample>(&self, band: &[u16], out: &mut Vec<T>) {
        if self.linear {
            let curve = T::curve();
            self.finish_by(band, |value| curve[usize::from(value)], out);
        } else {
            self.finish_by(band, T::of_code, out);
        }
    }

    fn finish_by<T: Sample>(&self, band: &[u16], sample: impl Fn(u16) -> T, out: &mut Vec<T>) {
        match self.channels {
            Channels::GrayAlpha => straight::<T, 2>(band, self.translucent, sample, out),
            Channels::Rgba => straight::<T, 4>(band, self.translucent, sample, out),
            _ => out.extend(band.iter().map(|&value| sample(clipped(without_headroom(value))))),
        }
    }
}

fn premultiplied<T: Sample, const N: usize>(row: &[T], colour: impl Fn(T) -> u16, out: &mut Vec<u16>) {
    let (pixels, _) = row.as_chunks::<N>();
    for pixel in pixels {
        let alpha = u32::from(pixel[N - 1].code());
        let mut values = [with_headroom(alpha as u16); N];
        for (value, &sample) in values.iter_mut().zip(&pixel[..N - 1]) {
            *value = with_headroom(((u32::from(colour(sample)) * alpha + 32_767) / 65_535) as u16);
        }
        out.extend_from_slice(&values);
    }
}

fn straight<T: Sample, const N: usize>(band: &[u16], translucent: bool, sample: impl Fn(u16) -> T, out: &mut Vec<T>) {
    let (pixels, _) = band.as_chunks::<N>();
    for pixel in pixels {
        let alpha = if translucent { without_headroom(pixel[N - 1]) } else { 65_535 };
        let mut samples = [T::of_code(clipped(alpha)); N];
        for (to, &value) in samples.iter_mut().zip(&pixel[..N - 1]) {
            *to = sample(clipped(unmultiplied(without_headroom(value), alpha)));
        }
        out.extend_from_slice(&samples);
    }
}

fn clipped(value: i32) -> u16 {
    value.clamp(0, 65_535) as u16
}

/// Alpha may be beyond its ends here: colour overshoots in proportion to it.
fn unmultiplied(value: i32, alpha: i32) -> i32 {
    match alpha {
        65_535 => value,
        ..=0 => 0,
        _ => ((i64::from(value.max(0)) * 65_535 + i64::from(alpha) / 2) / i64::from(alpha)).min(65_535) as i32,
    }
}

/// A stored sample, sRGB or alpha.
trait Sample: Copy + 'static {
    /// Linear light with headroom.
    fn linearise(row: &[Self], out: &mut Vec<u16>);
    /// Linear light, 0 to 65535.
    fn linear(self) -> u16;
    /// Samples by linear light.
    fn curve() -> &'static [Self];
    /// As it is, 0 to 65535.
    fn code(self) -> u16;
    fn of_code(code: u16) -> Self;
}

impl Sample for u8 {
    fn linearise(row: &[Self], out: &mut Vec<u16>) {
        let curve = transfer::linear_of_eight().map(with_headroom);
        out.extend(row.iter().map(|&sample| curve[usize::from(sample)]));
    }
    fn linear(self) -> u16 {
        transfer::linear_of_eight()[usize::from(self)]
    }
    fn curve() -> &'static [Self] {
        transfer::eight_of_linear()
    }
    fn code(self) -> u16 {
        u16::from(self) * 257
    }
    fn of_code(code: u16) -> Self {
        ((u32::from(code) * 255 + 32_767) / 65_535) as u8
    }
}

impl Sample for u16 {
    fn linearise(row: &[Self], out: &mut Vec<u16>) {
        let curve = transfer::linear_of_sixteen();
        out.extend(row.iter().map(|&sample| with_headroom(curve[usize::from(sample)])));
    }
    fn linear(self) -> u16 {
        transfer::linear_of_sixteen()[usize::from(self)]
    }
    fn curve() -> &'static [Self] {
        transfer::sixteen_of_linear()
    }
    fn code(self) -> u16 {
        self
    }
    fn of_code(code: u16) -> Self {
        code
    }
}
