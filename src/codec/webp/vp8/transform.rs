//! The transforms of blocks and of their means (RFC 6386, section 14), and the way back, which is not defined there.

/// Coefficients or samples of a block, row by row.
pub(super) type Block = [i32; 16];
/// The same where they are not whole.
pub(super) type Exact = [f32; 16];

/// `sqrt(2) cos(pi/8)` less 1, in 65,536ths.
const COSINE: i32 = 20_091;
/// `sqrt(2) sin(pi/8)`, in 65,536ths.
const SINE: i32 = 35_468;

/// Coefficients to differences of samples.
pub(super) fn inverse(coefficients: &Block) -> Block {
    fn pass([a, b, c, d]: [i32; 4]) -> [i32; 4] {
        // Only damaged frames go beyond 32 bits.
        let cosine = |x: i32| (x.wrapping_mul(COSINE) >> 16) + x;
        let sine = |x: i32| x.wrapping_mul(SINE) >> 16;
        let (even, odd) = ((a + c, a - c), (sine(b) - cosine(d), cosine(b) + sine(d)));
        [even.0 + odd.1, even.1 + odd.0, even.1 - odd.0, even.0 - odd.1]
    }
    let mut columns = [[0; 4]; 4];
    for (x, column) in columns.iter_mut().enumerate() {
        *column = pass([0, 4, 8, 12].map(|row| coefficients[row + x]));
    }
    let mut samples = [0; 16];
    for (y, row) in samples.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let [mean, b, c, d] = columns.map(|column| column[y]);
        *row = pass([mean + 4, b, c, d]).map(|sample| sample >> 3);
    }
    samples
}

/// Coefficients of the second order to the means of blocks.
pub(super) fn inverse_second(coefficients: &Block) -> Block {
    fn pass([a, b, c, d]: [i32; 4]) -> [i32; 4] {
        let (outer, inner) = ((a + d, a - d), (b + c, b - c));
        [outer.0 + inner.0, outer.1 + inner.1, outer.0 - inner.0, outer.1 - inner.1]
    }
    let mut columns = [[0; 4]; 4];
    for (x, column) in columns.iter_mut().enumerate() {
        *column = pass([0, 4, 8, 12].map(|row| coefficients[row + x]));
    }
    let mut means = [0; 16];
    for (y, row) in means.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let [mean, b, c, d] = columns.map(|column| column[y]);
        *row = pass([mean + 3, b, c, d]).map(|mean| i32::from((mean >> 3) as i16));
    }
    means
}

/// Differences of samples to coefficients, without rounding.
pub(super) fn forward(samples: &Block) -> Exact {
    const OUTER: f32 = 1.306_563;
    const INNER: f32 = 0.541_196_1;
    both_ways(samples.map(|sample| sample as f32), |[a, b, c, d]| {
        let (sums, differences) = ((a + d, b + c), (a - d, b - c));
        [
            sums.0 + sums.1,
            OUTER * differences.0 + INNER * differences.1,
            sums.0 - sums.1,
            INNER * differences.0 - OUTER * differences.1,
        ]
    })
}

/// The means of blocks to coefficients of the second order, without rounding.
pub(super) fn forward_second(means: Exact) -> Exact {
    both_ways(means, |[a, b, c, d]| {
        let (sums, differences) = ((a + d, b + c), (a - d, b - c));
        [sums.0 + sums.1, differences.0 + differences.1, sums.0 - sums.1, differences.0 - differences.1]
    })
}

/// A transform of columns and then of rows, halved.
fn both_ways(samples: Exact, pass: impl Fn([f32; 4]) -> [f32; 4]) -> Exact {
    let mut columns = [[0.0; 4]; 4];
    for (x, column) in columns.iter_mut().enumerate() {
        *column = pass([0, 4, 8, 12].map(|row| samples[row + x]));
    }
    let mut coefficients = [0.0; 16];
    for (y, row) in coefficients.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        *row = pass(columns.map(|column| column[y])).map(|coefficient| coefficient / 2.0);
    }
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(seed: u32, span: i32) -> Block {
        let mut state = seed;
        std::array::from_fn(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as i32 % (2 * span + 1) - span
        })
    }

    #[test]
    fn samples_come_back_from_their_coefficients() {
        for seed in 0..200 {
            let samples = numbers(seed, 255);
            let coefficients = forward(&samples).map(|coefficient| coefficient.round() as i32);
            let back = inverse(&coefficients);
            assert!(samples.iter().zip(&back).all(|(a, b)| (a - b).abs() <= 1), "{samples:?} {back:?}");
            let means = samples.map(|sample| sample as f32);
            let back = inverse_second(&forward_second(means).map(|coefficient| coefficient.round() as i32));
            assert!(samples.iter().zip(&back).all(|(a, b)| (a - b).abs() <= 1), "{samples:?} {back:?}");
        }
    }

    #[test]
    fn a_mean_is_an_eighth_of_its_coefficient() {
        let mut coefficients = [0; 16];
        coefficients[0] = 80;
        assert_eq!((inverse(&coefficients), inverse_second(&coefficients)), ([10; 16], [10; 16]));
        assert_eq!(forward(&[10; 16])[0], 80.0);
    }
}
