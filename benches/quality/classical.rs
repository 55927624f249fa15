//! What networks are measured against, and the noise that they are to remove.

use image::RgbImage;

/// White noise of this standard deviation, cut to bytes, the same for every picture of one size.
pub fn noisy(picture: &RgbImage, sigma: f32) -> RgbImage {
    let mut state = 0x1234_5678_9ABC_DEFFu64;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    };
    let mut noisy = picture.clone();
    for sample in noisy.iter_mut() {
        // Box and Muller.
        let normal = (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
        *sample = (f64::from(*sample) + f64::from(sigma) * normal).round().clamp(0.0, 255.0) as u8;
    }
    noisy
}

/// A. Buades, B. Coll and J.-M. Morel, *Non-Local Means Denoising* (IPOL 2011), with their parameters for colour: squares of
/// 3 x 3 or 5 x 5 compared over 21 x 21 or 35 x 35, here 21 x 21 throughout.
pub fn non_local_means(picture: &RgbImage, sigma: f32) -> RgbImage {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let (half, h) = if sigma <= 25.0 { (1, 0.55 * sigma) } else { (2, 0.4 * sigma) };
    let noisy: Vec<f32> = picture.iter().map(|&sample| f32::from(sample)).collect();
    let (mut sums, mut weights) = (vec![0.0f32; noisy.len()], vec![0.0f32; width * height]);
    for (dx, dy) in (-10i32..=10).flat_map(|dy| (-10i32..=10).map(move |dx| (dx, dy))) {
        let moved = |x: usize, y: usize| {
            let at = |at: usize, by: i32, side: usize| (at as i32 + by).clamp(0, side as i32 - 1) as usize;
            at(y, dy, height) * width + at(x, dx, width)
        };
        let pixels = || (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let distance: Vec<f32> = pixels()
            .map(|(x, y)| {
                let (here, there) = ((y * width + x) * 3, moved(x, y) * 3);
                (0..3).map(|c| (noisy[here + c] - noisy[there + c]).powi(2)).sum::<f32>() / 3.0
            })
            .collect();
        let distance = boxed(&distance, width, height, half);
        for (at, (x, y)) in pixels().enumerate() {
            let weight = (-(distance[at] - 2.0 * sigma * sigma).max(0.0) / (h * h)).exp();
            let there = moved(x, y) * 3;
            weights[at] += weight;
            (0..3).for_each(|c| sums[at * 3 + c] += weight * noisy[there + c]);
        }
    }
    let clean = sums.iter().enumerate().map(|(at, sum)| (sum / weights[at / 3]).round() as u8).collect();
    RgbImage::from_raw(picture.width(), picture.height(), clean).expect("the samples fit")
}

/// Means over squares of `2 * half + 1`, cut at the border.
fn boxed(plane: &[f32], width: usize, height: usize, half: usize) -> Vec<f32> {
    let mean = |count: usize, at: usize, value: &dyn Fn(usize) -> f32| {
        let range = at.saturating_sub(half)..(at + half + 1).min(count);
        range.clone().map(value).sum::<f32>() / range.len() as f32
    };
    let mut across = Vec::with_capacity(plane.len());
    for row in plane.chunks_exact(width) {
        across.extend((0..width).map(|x| mean(width, x, &|x| row[x])));
    }
    (0..width * height).map(|at| mean(height, at / width, &|y| across[y * width + at % width])).collect()
}
