//! What a network says, kept to what is around.

use super::Raster;

/// How far around a pixel is looked, in pixels of the input: as far as from the middle of a block of JPEG into the next.
pub(super) const RADIUS: usize = 4;
/// How far beyond the lightest and darkest around an enlarged pixel may go, as a share of their distance: edges get
/// crisper, but plain areas stay as they are to the bit.
const OVERSHOOT: f32 = 0.25;

/// `output`, `scale` times as large as `input`, within the range of what is around each pixel: colour by colour, and, where
/// it is enlarged, red and blue by how far they are from green, so that neutral lines and letters get no fringes.
/// With `flat`, what comes of a pixel is as it is where all eight around it are the same.
pub(super) fn bounded(input: &Raster, output: Raster, scale: usize, flat: bool) -> Vec<f32> {
    let samples = input.samples();
    let mut within = kept(input, samples, output.into_samples(), scale);
    if scale == 1 {
        return within;
    }
    if flat {
        flattened(input, &mut within, scale);
    }
    let tinted = |samples: &[f32]| -> Vec<f32> {
        samples.as_chunks::<3>().0.iter().flat_map(|&[r, g, b]| [r - g, g, b - g]).collect()
    };
    let tints = kept(input, &tinted(samples), tinted(&within), scale);
    tints.as_chunks::<3>().0.iter().flat_map(|&[r, g, b]| [r + g, g, b + g]).collect()
}

/// Gives back to each pixel that is like all around it what it was.
fn flattened(input: &Raster, samples: &mut [f32], scale: usize) {
    let (width, height) = (input.width() as usize, input.height() as usize);
    for y in 0..height {
        let around = [y.saturating_sub(1), y, (y + 1).min(height - 1)].map(|y| input.row(y));
        for x in 0..width {
            let pixel = around[1][x];
            let near = x.saturating_sub(1)..(x + 2).min(width);
            if around.iter().all(|row| row[near.clone()].iter().all(|other| *other == pixel)) {
                for row in y * scale..(y + 1) * scale {
                    samples.as_chunks_mut::<3>().0[row * width * scale + x * scale..][..scale].fill(pixel);
                }
            }
        }
    }
}

fn kept(input: &Raster, shown: &[f32], mut samples: Vec<f32>, scale: usize) -> Vec<f32> {
    let size = (input.width() as usize, input.height() as usize);
    let (least, most) = (extremes(size, shown, f32::min), extremes(size, shown, f32::max));
    let overshoot = if scale > 1 { OVERSHOOT } else { 0.0 };
    let (width, out_width) = (size.0, size.0 * scale);
    for (y, row) in samples.chunks_exact_mut(out_width * 3).enumerate() {
        for (x, pixel) in row.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            let at = (y / scale * width + x / scale) * 3;
            for (colour, sample) in pixel.iter_mut().enumerate() {
                let (least, most) = (least[at + colour], most[at + colour]);
                let beyond = (most - least) * overshoot;
                // In this order what is no number becomes one.
                *sample = sample.max(least - beyond).min(most + beyond);
            }
        }
    }
    samples
}

/// The extreme over the square around each pixel, across and then down.
fn extremes((width, height): (usize, usize), samples: &[f32], of: impl Fn(f32, f32) -> f32) -> Vec<f32> {
    let mut across = Vec::with_capacity(width * height * 3);
    let mut line = Vec::with_capacity((width + 2 * RADIUS) * 3);
    for row in samples.as_chunks::<3>().0.chunks_exact(width) {
        // What is repeated beyond the edge is within reach anyway.
        line.clear();
        line.extend([row[0]; RADIUS].as_flattened());
        line.extend(row.as_flattened());
        line.extend([row[width - 1]; RADIUS].as_flattened());
        // Of two neighbours, of four, of eight, of nine.
        for pixels in [1, 2, 4, 1] {
            for at in 0..line.len() - 3 * pixels {
                line[at] = of(line[at], line[at + 3 * pixels]);
            }
        }
        across.extend_from_slice(&line[..width * 3]);
    }
    let mut both = Vec::with_capacity(across.len());
    for y in 0..height {
        let rows = y.saturating_sub(RADIUS)..(y + RADIUS + 1).min(height);
        let start = both.len();
        both.extend_from_slice(&across[rows.start * width * 3..][..width * 3]);
        for other in rows.skip(1) {
            for (a, b) in both[start..].iter_mut().zip(&across[other * width * 3..][..width * 3]) {
                *a = of(*a, *b);
            }
        }
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_neutral_all_around_gets_no_colour() {
        let row: Vec<f32> = (0..12).flat_map(|x| [if x % 2 == 0 { 0.25 } else { 0.75 }; 3]).collect();
        let input = Raster::new(12, 1, row).unwrap();
        let tinted = Raster::new(24, 2, (0..24 * 2).flat_map(|_| [0.7, 0.5, 0.3]).collect()).unwrap();
        assert_eq!(bounded(&input, tinted, 2, false), vec![0.5; 24 * 2 * 3]);
    }

    #[test]
    fn what_is_like_all_around_it_stays_beside_a_line_of_a_clean_picture() {
        // A dark row in the middle of nine.
        let rows = (0..9).flat_map(|y| [[if y == 4 { 0.1 } else { 0.9 }; 3]; 7]).flatten().collect();
        let input = Raster::new(7, 9, rows).unwrap();
        let ghosts = Raster::new(14, 18, vec![0.5; 14 * 18 * 3]).unwrap();
        let found = bounded(&input, ghosts, 2, true);
        let row = |y: usize| found[y * 14 * 3..][..14 * 3].to_vec();
        assert!((0..6).chain(12..18).all(|y| row(y) == [0.9; 14 * 3]));
        assert!((6..12).all(|y| row(y) == [0.5; 14 * 3]));
    }

    #[test]
    fn plain_areas_stay_and_edges_overshoot_by_a_quarter_at_most() {
        // Nine plain columns, then a light one.
        let row: Vec<f32> = (0..12).flat_map(|x| [if x < 9 { 0.25 } else { 0.75 }; 3]).collect();
        let input = Raster::new(12, 1, row).unwrap();
        let wild = |value| Raster::new(24, 2, vec![value; 24 * 2 * 3]).unwrap();
        let (low, high) = (bounded(&input, wild(-9.0), 2, false), bounded(&input, wild(9.0), 2, false));
        assert_eq!((low[0], high[0]), (0.25, 0.25));
        assert_eq!((low[23 * 3], high[23 * 3]), (0.125, 0.875));
        assert_eq!((low[9 * 3], high[9 * 3]), (0.25, 0.25));
        assert_eq!((low[10 * 3], high[10 * 3]), (0.125, 0.875));
        let same = Raster::new(12, 1, vec![9.0; 36]).unwrap();
        assert_eq!(bounded(&input, same, 1, false)[33..], [0.75; 3]);
        assert_eq!(bounded(&input, wild(f32::NAN), 2, false)[0], 0.25);
    }
}
