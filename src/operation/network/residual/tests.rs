use super::*;
use crate::{Limits, Unattended, operation::network::tiles::through};

/// Numbers that look random and are the same everywhere.
struct Noise(u32);

impl Noise {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / 16_777_216.0
    }
}

/// A file of small weights, gone through twice where the blocks are odd: 16-bit floats of sign, exponent and fraction from a generator.
fn file(unshuffle: usize, scale: usize, width: usize, blocks: usize) -> Vec<u8> {
    let mut noise = Noise(7);
    let values = std::iter::repeat_with(|| {
        let sign = if noise.next() < 0.5 { 0x8000 } else { 0 };
        // 2^-6 to 2^-4.
        sign | 0x2400 | (noise.next() * 2048.0) as u16
    });
    weights::file(Head { unshuffle, scale, width, blocks, passes: 1 + blocks % 2 }, values)
}

fn picture(width: u32, height: u32) -> Raster {
    let mut noise = Noise(3);
    Raster::new(width, height, (0..width * height * 3).map(|_| noise.next()).collect()).unwrap()
}

fn whole(model: &Residual, picture: &Raster) -> Raster {
    let limits = Limits::default();
    model.run(picture.clone(), Run { limits: &limits, control: &Unattended }).unwrap()
}

/// The textbook's sums, pixel by pixel, in double precision.
fn by_the_book(file: &[u8], picture: &Raster) -> Vec<f64> {
    let (Head { unshuffle: u, scale: s, .. }, layers) = weights::read(file).unwrap();
    let (width, height) = (picture.width() as usize / u, picture.height() as usize / u);
    let convolved = |from: &[Vec<f64>], layer: &Layer| -> Vec<Vec<f64>> {
        let at = |x: usize, y: usize, output: usize| -> f64 {
            let mut sum = f64::from(layer.bias[output]);
            for (row, column) in (0..9).map(|tap| (tap / 3, tap % 3)) {
                let (x, y) = ((x + column).wrapping_sub(1), (y + row).wrapping_sub(1));
                if x < width && y < height {
                    let pixel = &from[y * width + x];
                    for (input, value) in pixel.iter().enumerate() {
                        let weight = ((row * 3 + column) * pixel.len() + input) * layer.bias.len() + output;
                        sum += value * f64::from(layer.weights[weight]);
                    }
                }
            }
            sum
        };
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        pixels.map(|(x, y)| (0..layer.bias.len()).map(|output| at(x, y, output)).collect()).collect()
    };
    let added = |a: &[Vec<f64>], b: &[Vec<f64>]| -> Vec<Vec<f64>> {
        a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect()
    };
    let mut input = vec![vec![0.0; 3 * u * u]; width * height];
    for (y, x) in (0..height * u).flat_map(|y| (0..width * u).map(move |x| (y, x))) {
        for colour in 0..3 {
            let value = f64::from(picture.row(y)[x][colour]) - 0.5;
            input[y / u * width + x / u][(colour * u + y % u) * u + x % u] = value;
        }
    }
    let last = layers.len() - 1;
    let start = convolved(&input, &layers[0]);
    let mut x = start.clone();
    for pair in layers[1..last].chunks(2) {
        let mut between = convolved(&x, &pair[0]);
        between.iter_mut().flatten().for_each(|value| *value = value.max(0.0));
        x = added(&x, &convolved(&between, &pair[1]));
    }
    let change = convolved(&added(&x, &start), &layers[last]);
    let mut output = Vec::new();
    for (y, x) in (0..height * s).flat_map(|y| (0..width * s).map(move |x| (y, x))) {
        for colour in 0..3 {
            let repeated = f64::from(picture.row(y * u / s)[x * u / s][colour]);
            output.push(repeated + change[y / s * width + x / s][(colour * s + y % s) * s + x % s]);
        }
    }
    // Within what is around, as the network keeps it.
    let unbounded = output.iter().map(|&value| value as f32).collect();
    let times = (s / u) as u32;
    let output = Raster::new(picture.width() * times, picture.height() * times, unbounded).unwrap();
    bounded(picture, output, s / u, false).into_iter().map(f64::from).collect()
}

#[test]
fn every_instruction_set_computes_what_the_textbook_says() {
    for (unshuffle, scale, width, blocks) in [(1, 2, 32, 2), (2, 2, 48, 1), (1, 1, 16, 0), (1, 3, 16, 1)] {
        let file = file(unshuffle, scale, width, blocks);
        let model = Residual::read(&file).unwrap();
        // Wider than the widest group of pixels and no multiple of any.
        let picture = picture(46, 6);
        let wanted = by_the_book(&file, &picture);
        for kernel in Kernel::available() {
            let found = whole(&model.clone().with_kernel(kernel), &picture);
            for (found, wanted) in found.samples().iter().zip(&wanted) {
                let off = (f64::from(*found) - wanted).abs();
                assert!(off < 1e-4 * wanted.abs().max(1.0), "{kernel:?} gives {found} for {wanted}");
            }
        }
    }
}

#[test]
fn instruction_sets_that_round_once_agree_to_the_bit() {
    let model = Residual::read(&file(2, 2, 32, 2)).unwrap();
    let results: Vec<_> = Kernel::available()
        .into_iter()
        .filter(|kernel| *kernel != Kernel::Scalar)
        .map(|kernel| whole(&model.clone().with_kernel(kernel), &picture(50, 38)))
        .collect();
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_picture_in_tiles_is_the_picture_as_a_whole() {
    /// The same network, given less at a time.
    #[derive(Debug)]
    struct Tiled(Residual);
    impl Model for Tiled {
        fn shape(&self) -> Shape {
            Shape { tile: 14, ..self.0.shape() }
        }
        fn run(&self, tile: Raster, run: Run<'_>) -> Result<Raster> {
            self.0.run(tile, run)
        }
    }
    let limits = Limits::default();
    let run = Run { limits: &limits, control: &Unattended };
    for (unshuffle, scale) in [(1, 2), (2, 2)] {
        let model = Residual::read(&file(unshuffle, scale, 16, 1)).unwrap();
        let picture = picture(62, 40);
        let wanted = whole(&model, &picture);
        let mut found = vec![f32::NAN; wanted.samples().len()];
        let source = |x: u32, y: u32| picture.row(y as usize)[x as usize];
        let mut sink = |left: u32, top: u32, tile: &Raster| {
            for y in 0..tile.height() {
                let at = ((top + y) * wanted.width() + left) as usize * 3;
                found[at..at + tile.width() as usize * 3].copy_from_slice(tile.row(y as usize).as_flattened());
            }
        };
        let model = Tiled(model);
        through(&model, model.shape(), (62, 40), &source, &mut sink, run).unwrap();
        // To rounding: a tile of the convolutions may begin elsewhere.
        let off = found.iter().zip(wanted.samples()).map(|(found, wanted)| (found - wanted).abs());
        assert!(off.fold(0.0, f32::max) < 2e-6);
    }
}

#[test]
fn a_tile_that_does_not_divide_is_refused() {
    let model = Residual::read(&file(2, 2, 16, 0)).unwrap();
    let limits = Limits::default();
    assert!(model.run(picture(3, 4), Run { limits: &limits, control: &Unattended }).is_err());
}

#[test]
fn every_band_of_every_layer_is_computed_once_when_what_it_looks_at_is_there() {
    for (layers, bands) in [(2, 1), (6, 5), (WAVE, 3), (3 * WAVE + 1, 2), (2 * WAVE, 4 * WAVE)] {
        let mut done = vec![0; layers];
        for (layer, band) in in_waves(layers, bands) {
            assert_eq!(done[layer], band, "bands come from the top, each once");
            done[layer] += 1;
            if layer > 0 {
                assert!(done[layer - 1] >= (band + 2).min(bands), "{layer} needs a band more of the layer before");
            }
            let next = done.get(layer + 1).copied().unwrap_or(0);
            assert!(next < band.max(1), "{} has written over what {layer} looks at", layer + 1);
        }
        assert_eq!(done, vec![bands; layers]);
    }
}
