//! What pixels are about to cost in bits.
//!
//! That is what a phrase is worth that reaches as far. It is foreseen by the pixels just before and those above: detail goes
//! on as detail, and what is flat stays so.

use super::wishes::Wish;

/// Shares of the last price in those remembered: of all pixels and of a column.
const RECENT: f32 = 0.1;
const ABOVE: f32 = 0.4;
/// Columns to each side that count as well.
const BESIDE: usize = 2;
/// Shares of what is foreseen: by the pixels above, and by those before. They are more than the whole, because long phrases
/// serve those behind them as well.
const SHARES: [f32; 2] = [1.04, 0.26];
/// What pixels cost before anything is known.
const BEGUN: f32 = 8.0;

/// Of pixels that are there already, and of others.
pub(super) struct Prices {
    recent: [f32; 2],
    /// With as many beyond each side as count.
    columns: [Vec<f32>; 2],
    width: usize,
}

impl Prices {
    pub(super) const fn new() -> Self {
        Self { recent: [BEGUN, 1.0], columns: [Vec::new(), Vec::new()], width: 0 }
    }

    /// Begins with rows so wide.
    pub(super) fn start(&mut self, width: usize) {
        self.columns = self.recent.map(|price| vec![price; width + 2 * BESIDE]);
        self.width = width;
    }

    /// That of a pixel in a column.
    #[inline(always)]
    pub(super) fn of(&self, wish: &Wish, x: usize) -> f32 {
        let kind = usize::from(wish.there);
        let near = &self.columns[kind][x..=x + 2 * BESIDE];
        let above = near.iter().sum::<f32>() / near.len() as f32;
        SHARES[0] * above + SHARES[1] * self.recent[kind]
    }

    /// Remembers that some pixels from `at` on cost `price` each.
    pub(super) fn paid(&mut self, wishes: &[Wish], at: usize, price: f32) {
        for (at, wish) in (at..).zip(wishes) {
            let (kind, x) = (usize::from(wish.there), at % self.width);
            let (recent, columns) = (&mut self.recent[kind], &mut self.columns[kind]);
            *recent += RECENT * (price - *recent);
            let column = columns[x + BESIDE] + ABOVE * (price - columns[x + BESIDE]);
            let first = if x == 0 { 0 } else { x + BESIDE };
            let last = if x + 1 == self.width { x + 2 * BESIDE } else { x + BESIDE };
            columns[first..=last].fill(column);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detail_goes_on_below_itself_and_what_is_there_already_is_told_apart() {
        let black = [0, 0, 0, u8::MAX];
        let wish = |there: bool| {
            let base = if there { black } else { [u8::MAX; 4] };
            Wish::new((black, base), Some((0, black)), (if there { 0.0 } else { f32::INFINITY }, 1.0))
        };
        let row: Vec<Wish> = (0..40).map(|x| wish(x >= 20)).collect();
        let mut prices = Prices::new();
        prices.start(40);
        for start in (0..400).step_by(40) {
            for x in 0..40 {
                let price = [6.0, 0.5][usize::from((10..20).contains(&x))];
                prices.paid(&row[x..=x], start + x, if x < 20 { price } else { 0.01 });
            }
        }
        let [dear, cheap, idle] = [0, 15, 30].map(|x| prices.of(&row[x], x));
        assert!(dear > 6.0 && cheap < dear / 3.0 && idle < 0.1, "{dear} {cheap} {idle}");
        // Where nothing was left, nothing is known of the column.
        assert!(prices.of(&wish(true), 0) > prices.of(&wish(true), 30));
    }
}
