//! PSNR, SSIM and SSIMULACRA2.

use std::ops::AddAssign;

use fast_ssim2::{PixelDescriptor, PixelSlice, compute_ssimulacra2};
use image::RgbImage;

/// What a result is worth.
#[derive(Debug, Clone, Copy, Default)]
pub struct Score {
    pub psnr: f64,
    pub ssim: f64,
    pub ssimulacra2: f64,
}

impl AddAssign for Score {
    fn add_assign(&mut self, other: Self) {
        self.psnr += other.psnr;
        self.ssim += other.ssim;
        self.ssimulacra2 += other.ssimulacra2;
    }
}

impl Score {
    /// The mean of so many.
    pub fn over(self, count: usize) -> Self {
        let count = count as f64;
        Self { psnr: self.psnr / count, ssim: self.ssim / count, ssimulacra2: self.ssimulacra2 / count }
    }

    /// With a border: of luma, without it. Without one: the mean of the colours.
    pub fn of(original: &RgbImage, result: &RgbImage, border: Option<u32>) -> Self {
        let planes = |picture: &RgbImage| -> Vec<Plane> {
            match border {
                Some(border) => vec![Plane::luma(picture).without(border as usize)],
                None => (0..3).map(|channel| Plane::colour(picture, channel)).collect(),
            }
        };
        let (a, b) = (planes(original), planes(result));
        let error = a.iter().zip(&b).map(|(a, b)| a.mean_square(b)).sum::<f64>() / a.len() as f64;
        let ssim = a.iter().zip(&b).map(|(a, b)| a.ssim(b)).sum::<f64>() / a.len() as f64;
        let (width, height) = original.dimensions();
        let slice = |samples| PixelSlice::new(samples, width, height, width as usize * 3, PixelDescriptor::RGB8_SRGB);
        let pair =
            (slice(original.as_raw()).expect("RGB of 8 bits"), slice(result.as_raw()).expect("of the same size"));
        let ssimulacra2 = compute_ssimulacra2(&pair.0, &pair.1);
        Self {
            psnr: 10.0 * (255.0f64.powi(2) / error.max(1e-3)).log10(),
            ssim,
            ssimulacra2: ssimulacra2.expect("both have one size"),
        }
    }
}

/// One channel, 0 to 255.
struct Plane {
    width: usize,
    height: usize,
    samples: Vec<f64>,
}

impl Plane {
    fn colour(picture: &RgbImage, channel: usize) -> Self {
        let samples = picture.pixels().map(|pixel| f64::from(pixel[channel])).collect();
        Self { width: picture.width() as usize, height: picture.height() as usize, samples }
    }

    /// ITU-R BT.601, 16 to 235, as the published tables take it.
    fn luma(picture: &RgbImage) -> Self {
        let of = |[r, g, b]: [u8; 3]| {
            16.0 + (65.481 * f64::from(r) + 128.553 * f64::from(g) + 24.966 * f64::from(b)) / 255.0
        };
        let samples = picture.pixels().map(|pixel| of(pixel.0)).collect();
        Self { width: picture.width() as usize, height: picture.height() as usize, samples }
    }

    fn without(self, border: usize) -> Self {
        let (width, height) = (self.width - 2 * border, self.height - 2 * border);
        let row = |y: usize| &self.samples[(y + border) * self.width + border..][..width];
        Self { width, height, samples: (0..height).flat_map(|y| row(y).to_vec()).collect() }
    }

    fn mean_square(&self, other: &Self) -> f64 {
        let squares = self.samples.iter().zip(&other.samples).map(|(a, b)| (a - b) * (a - b));
        squares.sum::<f64>() / self.samples.len() as f64
    }

    /// Z. Wang et al., *Image Quality Assessment* (TIP 2004): windows of 11 x 11, Gaussian of sigma 1.5.
    fn ssim(&self, other: &Self) -> f64 {
        let products =
            |a: &Self, b: &Self| Self { samples: a.samples.iter().zip(&b.samples).map(|(a, b)| a * b).collect(), ..*a };
        let (mean_a, mean_b) = (self.smoothed(), other.smoothed());
        let squares =
            [products(self, self), products(other, other), products(self, other)].map(|plane| plane.smoothed());
        let (c1, c2) = ((0.01f64 * 255.0).powi(2), (0.03f64 * 255.0).powi(2));
        let mut sum = 0.0;
        for (at, (a, b)) in mean_a.iter().zip(&mean_b).enumerate() {
            let [aa, bb, ab] = [squares[0][at] - a * a, squares[1][at] - b * b, squares[2][at] - a * b];
            sum += (2.0 * a * b + c1) * (2.0 * ab + c2) / ((a * a + b * b + c1) * (aa + bb + c2));
        }
        sum / mean_a.len() as f64
    }

    /// Where the window is inside.
    fn smoothed(&self) -> Vec<f64> {
        let mut window: Vec<f64> = (-5i32..=5).map(|at| (-f64::from(at * at) / 4.5).exp()).collect();
        let sum: f64 = window.iter().sum();
        window.iter_mut().for_each(|weight| *weight /= sum);
        let width = self.width - 10;
        let weighted =
            |values: &mut dyn Iterator<Item = f64>| values.zip(&window).map(|(value, weight)| value * weight).sum();
        let mut across: Vec<f64> = Vec::with_capacity(width * self.height);
        for row in self.samples.chunks_exact(self.width) {
            across.extend(row.windows(11).map(|part| weighted(&mut part.iter().copied())));
        }
        let pixels = (0..self.height - 10).flat_map(|y| (0..width).map(move |x| (x, y)));
        pixels.map(|(x, y)| weighted(&mut (y..y + 11).map(|y| across[y * width + x]))).collect()
    }
}
