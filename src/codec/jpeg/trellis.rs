//! Trellis quantisation: of all ways to quantise a block the one that costs least in bits and error together.
//!
//! The method is that of mozjpeg (`quantize_trellis` in `jcdctmgr.c`): a coefficient may become smaller, or zero, if
//! the bits saved outweigh the error, which counts less in busy blocks, though not as much less as there. The way
//! through the block is found by dynamic programming over the coefficients that are not zero anyway. Bits are counted by
//! codes made for this picture.

use super::{blocks::Block, codes::Codes, spectrum::SCALE};

/// mozjpeg's balance: an error of one step counts `2^14.75 * 64 / 2^16.5` bits in a plain block.
const WEIGHT: f32 = 27_554.494;
const FLOOR: f32 = 92_681.9;
/// Where the first step is coarser than this, errors count more in smooth blocks than in mozjpeg, or edges of blocks show
/// in gradients; the score sees less of that than the eye.
const FINE: f32 = 7.0;
/// A block with more coefficients than this is not searched in full.
const MANY: usize = 40;
/// In such a block, the predecessors of a coefficient that are tried.
const LOOK_BACK: usize = 12;

/// How many times less errors count in a block whose mean square is this, in units of the floor: by the power of 3/4, where mozjpeg
/// has 1; at equal score that took 0.2 to 1.5 % less.
fn masking(energy: f32) -> f32 {
    let root = (1.0 + energy).sqrt();
    root * root.sqrt()
}

/// A quantisation table, ready for use.
#[derive(Debug)]
pub(super) struct Steps {
    /// In the units of coefficients.
    steps: [i32; 64],
    /// Reciprocals, as 2^19 over the step.
    shares: [u32; 64],
    /// What an error of one unit weighs: over the square of the step.
    weights: [f32; 64],
    /// Added to the energy of a block.
    floor: f32,
}

impl Steps {
    pub(super) fn new(table: &[u16; 64]) -> Self {
        let steps = table.map(|step| i32::from(step) * SCALE);
        let shares = steps.map(|step| (1u32 << 19).div_ceil(step as u32));
        let weights = table.map(|step| 1.0 / (f32::from(step) * f32::from(step)));
        let fine = (FINE / f32::from(table[1])).clamp(0.4, 1.0);
        Self { steps, shares, weights, floor: FLOOR * fine * fine }
    }

    /// Every coefficient as the nearest multiple of its step; halves, give or take a 32nd, may go either way.
    #[inline]
    pub(super) fn nearest(&self, block: &Block) -> Block {
        let mut out = [0; 64];
        for (at, out) in out.iter_mut().enumerate() {
            let value = i32::from(block[at]);
            let size = ((value.unsigned_abs() + (self.steps[at] >> 1) as u32) * self.shares[at]) >> 19;
            let size = size.min(1023) as i32;
            *out = (if value < 0 { -size } else { size }) as i16;
        }
        out
    }
}

/// Bits of each AC symbol.
#[derive(Debug, Clone)]
pub(super) struct Rates {
    symbols: [f32; 256],
}

impl Rates {
    /// By these codes; the bits of the value are added.
    pub(super) fn new(codes: &Codes) -> Self {
        let mut symbols = [0.0; 256];
        for (symbol, (rate, &length)) in symbols.iter_mut().zip(codes.lengths()).enumerate() {
            *rate = f32::from(length) + (symbol & 15) as f32;
        }
        Self { symbols }
    }

    /// Of a coefficient of `size` bits behind `zeros`.
    #[inline]
    fn of(&self, zeros: usize, size: usize) -> f32 {
        self.symbols[(zeros & 15) << 4 | size] + (zeros >> 4) as f32 * self.symbols[0xF0]
    }
}

/// The best way to a coefficient.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    at: usize,
    /// Bits and errors of all up to here.
    cost: f32,
    /// Index of the step before.
    before: usize,
    value: i16,
}

/// Room for the search, and its balance.
#[derive(Debug)]
pub(super) struct Trellis {
    fidelity: f32,
    steps: Vec<Step>,
}

impl Trellis {
    pub(super) fn new(fidelity: f32) -> Self {
        Self { fidelity, steps: Vec::with_capacity(64) }
    }

    /// The block quantised; its mean is rounded.
    pub(super) fn block(&mut self, block: &Block, steps: &Steps, rates: &Rates) -> Block {
        let plain = steps.nearest(block);
        if plain[1..].iter().fold(0, |any, value| any | value) == 0 {
            return plain;
        }
        let square = |&value: &i16| (i32::from(value) * i32::from(value)) as u32 >> 4;
        let energy = block[1..].iter().map(square).sum::<u32>() as f32 * (16.0 / 63.0);
        let weight = self.fidelity * WEIGHT / (steps.floor * masking(energy / steps.floor));
        // The error of making all zero up to and with a coefficient.
        let mut zeroed = [0f32; 64];
        for at in 1..64 {
            let value = f32::from(block[at]);
            zeroed[at] = value * value * (weight * steps.weights[at]);
        }
        for at in 1..64 {
            zeroed[at] += zeroed[at - 1];
        }
        self.steps.clear();
        self.steps.push(Step::default());
        for at in (1..64).filter(|&at| plain[at] != 0) {
            let step = self.best(at, plain[at], block[at], steps, weight * steps.weights[at], &zeroed, rates);
            self.steps.push(step);
        }
        self.shortest(&zeroed, plain[0], rates)
    }

    /// The best way to the coefficient `at`, of which `nearest` is the nearest multiple to `exact`.
    #[inline]
    #[allow(clippy::too_many_arguments, reason = "the inner loop of a search, taken out to be read")]
    fn best(
        &self,
        at: usize,
        nearest: i16,
        exact: i16,
        steps: &Steps,
        weight: f32,
        zeroed: &[f32; 64],
        rates: &Rates,
    ) -> Step {
        // Within a size of bits the nearest value is the best; of smaller ones the largest.
        let size = i32::from(nearest.unsigned_abs());
        let most = (32 - size.leading_zeros()) as usize;
        let mut choices = [(0, 0.0); 11];
        for (bits, choice) in (1..=most).zip(&mut choices) {
            let value = if bits == most { size } else { (1 << bits) - 1 };
            let left = (value * steps.steps[at] - i32::from(exact.unsigned_abs())) as f32;
            *choice = (value as i16, left * left * weight);
        }
        let mut best = Step { at, cost: f32::INFINITY, ..Step::default() };
        let from = if self.steps.len() > MANY { self.steps.len() - LOOK_BACK } else { 0 };
        for (before, step) in self.steps.iter().enumerate().skip(from) {
            let cost = step.cost + (zeroed[at - 1] - zeroed[step.at]);
            for (bits, &(value, error)) in (1..=most).zip(&choices) {
                let cost = cost + error + rates.of(at - step.at - 1, bits);
                if cost < best.cost {
                    best = Step { at, cost, before, value };
                }
            }
        }
        best.value *= nearest.signum();
        best
    }

    /// The block that ends at the step where that costs least.
    fn shortest(&self, zeroed: &[f32; 64], mean: i16, rates: &Rates) -> Block {
        let whole = |step: &Step| {
            let end = if step.at < 63 { rates.symbols[0] } else { 0.0 };
            step.cost + (zeroed[63] - zeroed[step.at]) + end
        };
        let (mut index, mut least) = (0, f32::INFINITY);
        for (at, cost) in self.steps.iter().map(whole).enumerate() {
            if cost < least {
                (index, least) = (at, cost);
            }
        }
        let mut out = [0; 64];
        while index > 0 {
            let step = self.steps[index];
            out[step.at] = step.value;
            index = step.before;
        }
        out[0] = mean;
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::jpeg::codes::Tally;

    fn block(seed: usize) -> Block {
        let mix = |k: usize| (seed * 64 + k).wrapping_mul(0x9E37_79B9) >> 9;
        std::array::from_fn(|k| ((mix(k) % 801) as i16 - 400) / (1 + k as i16 / 6))
    }

    fn rates() -> Rates {
        Rates::new(&Tally::new().codes_for_all()[3])
    }

    /// Bits of the block and its weighed error, counted apart from the search.
    fn cost(exact: &Block, quantised: &Block, steps: &Steps, rates: &Rates) -> f64 {
        let energy = exact[1..].iter().map(|&value| f64::from(value).powi(2)).sum::<f64>() / 63.0;
        let weight = f64::from(WEIGHT / (steps.floor * masking(energy as f32 / steps.floor)));
        let (mut total, mut zeros) = (0.0, 0);
        for at in 1..64 {
            let left = f64::from(i32::from(quantised[at]) * steps.steps[at] - i32::from(exact[at]));
            total += left * left * weight * f64::from(steps.weights[at]);
            if quantised[at] == 0 {
                zeros += 1;
            } else {
                let size = 16 - quantised[at].unsigned_abs().leading_zeros();
                total += f64::from(rates.of(zeros, size as usize));
                zeros = 0;
            }
        }
        total + if zeros > 0 { f64::from(rates.symbols[0]) } else { 0.0 }
    }

    #[test]
    fn multiples_of_a_step_stay_as_they_are() {
        for step in [1, 2, 3, 7, 99, 255] {
            let steps = Steps::new(&[step; 64]);
            let whole: Block = std::array::from_fn(|k| (k as i16 - 32) * (1000 / step as i16).clamp(1, 31) / 31);
            let exact = whole.map(|value| (i32::from(value) * i32::from(step) * SCALE) as i16);
            assert_eq!(steps.nearest(&exact), whole, "{step}");
        }
    }

    #[test]
    fn a_heavy_weight_on_errors_leaves_the_nearest_values_and_a_light_one_nothing() {
        let steps = Steps::new(&[5; 64]);
        for seed in 0..20 {
            let error = |quantised: &Block| -> i32 {
                let left = |at: usize| (i32::from(quantised[at]) * steps.steps[at] - i32::from(block(seed)[at])).abs();
                (0..64).map(left).sum()
            };
            // Halves may go either way.
            let exact = Trellis::new(1e6).block(&block(seed), &steps, &rates());
            assert_eq!(error(&exact), error(&steps.nearest(&block(seed))));
            assert!(Trellis::new(1e-6).block(&block(seed), &steps, &rates())[1..] == [0; 63]);
        }
    }

    #[test]
    fn no_change_of_one_coefficient_costs_less() {
        let (steps, rates) = (Steps::new(&[9; 64]), rates());
        for seed in 0..30 {
            let exact = block(seed);
            let found = Trellis::new(1.0).block(&exact, &steps, &rates);
            let least = cost(&exact, &found, &steps, &rates);
            assert!(least <= cost(&exact, &steps.nearest(&exact), &steps, &rates));
            for at in 1..64 {
                let closer = [0, steps.nearest(&exact)[at]];
                for value in closer {
                    let mut other = found;
                    other[at] = value;
                    assert!(least <= cost(&exact, &other, &steps, &rates) + 1e-3, "{seed} {at}");
                }
            }
        }
    }
}
