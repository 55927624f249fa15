//! Levels that cost least in bits and errors together.

use super::{
    header::Steps,
    odds::Costs,
    tables::ZIGZAG,
    tokens::{Kind, Levels, MOST_LEVEL},
    transform::Exact,
};

/// What a bit may cost in errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weights {
    /// Of a squared error of a coefficient.
    pub(super) error: f32,
    /// Of a 256th of a bit.
    pub(super) bit: f32,
}

/// What the squared error of a coefficient counts by its place, `(1 + f / 2)^-3` for a place `f` steps from the mean: found by
/// trials at equal SSIMULACRA2, to which fine detail is worth far less than it costs.
const WEIGHTS: [f32; 16] = {
    const STEPS: [i32; 16] = [0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6];
    let mut weights = [0.0; 16];
    let mut at = 0;
    while at < 16 {
        let side = STEPS[at] + 2;
        weights[at] = 8.0 / (side * side * side) as f32;
        at += 1;
    }
    weights
};

/// The best way so far to a level of a certain context.
#[derive(Debug, Clone, Copy)]
struct Node {
    price: f32,
    level: i16,
    /// The context that it comes from.
    from: u8,
}

const NONE: Node = Node { price: f32::INFINITY, level: 0, from: 0 };

/// Quantises `coefficients` and gives the levels and their end. The way through the block is found that has the lowest sum
/// of squared errors and bits; each level is the nearest, the next one towards 0, or 0.
pub(super) fn quantised(
    coefficients: &Exact,
    steps: Steps,
    weights: Weights,
    costs: &Costs,
    kind: Kind,
    context: usize,
) -> (Levels, u8) {
    let step = |at: usize| (if at == 0 { steps.dc } else { steps.ac }) as f32;
    let value = |at: usize| coefficients[ZIGZAG[at]].abs();
    let first = kind.first();
    let Some(last) = (first..16).rev().find(|&at| value(at) >= step(at) / 2.0) else { return ([0; 16], 0) };
    let mut nodes = [[NONE; 3]; 16];
    let mut best = (weights.bit * costs.at(kind, first, context).end(), None);
    let mut before = [f32::INFINITY; 3];
    before[context] = 0.0;
    for at in first..=last {
        let (value, step) = (value(at), step(at));
        let nearest = ((value / step + 0.5) as i32).min(MOST_LEVEL);
        let lower = (nearest - 1).max(0);
        for (from, &price) in before.iter().enumerate().filter(|(_, price)| price.is_finite()) {
            let costs = costs.at(kind, at, from);
            let more = if from == 0 && at > first { 0.0 } else { costs.more() };
            let mut offer = |level: i32| {
                let left = value - level as f32 * step;
                // Against what it would be to leave the coefficient away.
                let error = WEIGHTS[at] * (left * left - value * value);
                let price = price + weights.error * error + weights.bit * (more + costs.level(level as u32));
                let node = &mut nodes[at][level.min(2) as usize];
                if price < node.price {
                    *node = Node { price, level: level as i16, from: from as u8 };
                }
            };
            offer(0);
            if nearest > 0 {
                offer(nearest);
            }
            if lower > 0 {
                offer(lower);
            }
        }
        before = nodes[at].map(|node| node.price);
        for (context, &price) in before.iter().enumerate().skip(1) {
            let end = if at < 15 { weights.bit * costs.at(kind, at + 1, context).end() } else { 0.0 };
            if price + end < best.0 {
                best = (price + end, Some((at, context)));
            }
        }
    }
    let mut levels = [0; 16];
    let Some((last, mut context)) = best.1 else { return (levels, 0) };
    for at in (first..=last).rev() {
        let node = nodes[at][context];
        levels[at] = if coefficients[ZIGZAG[at]] < 0.0 { -node.level } else { node.level };
        context = node.from.into();
    }
    (levels, last as u8 + 1)
}
