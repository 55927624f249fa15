//! Colours of soft areas, such as skin, sky and walls, which drift where few colours stand for many before the metric tells: they
//! turn gray, or fall into steps that grain hides from [`Contours`](super::contour::Contours).

use super::{
    contour::colour,
    oklab::{LINEAR, oklab},
    overlooked::seen,
};
use crate::{
    control::Run,
    error::Result,
    picture::{Channels, Picture},
};

/// The side of a square whose mean is seen as one colour.
const SIDE: usize = 16;
/// Codes of luma from the darkest to the lightest pixel of a square without edges.
const SOFT: u8 = 32;
/// Squares from which on those that are soft count in full.
const MANY: f64 = 80.0;
/// Codes of luma by which a mean may be off unseen.
const UNSEEN: f64 = 1.0;

/// Distances in Oklab without lightness, as the root of their mean square: JPEG is as far off at such scores.
const HUE: Allowance = Allowance { at_80: 0.0018, farther: 0.000_15, cost: 10_000.0 };
/// Codes of luma beyond [`UNSEEN`].
const LUMA: Allowance = Allowance { at_80: 0.2, farther: 0.01, cost: 30.0 };

/// How far off colours may be in the mean.
struct Allowance {
    /// Where 80 is to be scored, and how much more for each point below; half of that, at the least.
    at_80: f64,
    farther: f64,
    /// Points of score for each that it is more.
    cost: f64,
}

impl Allowance {
    /// What being so far `off` takes from a score that is to be `target`.
    fn cost(&self, off: f64, target: f64) -> f64 {
        let allowed = (self.at_80 + self.farther * (80.0 - target)).max(self.at_80 / 2.0);
        self.cost * (off - allowed).max(0.0)
    }
}

/// The colours of a picture's soft squares.
pub(super) struct Tints {
    /// Row by row; `None` of one colour, and where there is an edge.
    squares: Vec<Option<Mean>>,
    soft: usize,
    target: f64,
}

impl Tints {
    /// Of a picture of 8 bits that is to score `target`.
    pub(super) fn of(picture: &Picture, target: f64, run: Run<'_>) -> Result<Self> {
        let mut squares = Vec::new();
        each_row_of_squares(picture, run, |row| {
            squares.extend(row.iter().map(|square| square.is_soft().then(|| square.mean())));
        })?;
        let soft = squares.iter().flatten().count();
        Ok(Self { squares, soft, target })
    }

    /// What wrong colours of `drawn`, of the same size, take from its score.
    pub(super) fn cost(&self, drawn: &Picture, run: Run<'_>) -> Result<f64> {
        if self.soft == 0 {
            return Ok(0.0);
        }
        let (mut hue, mut luma, mut meant) = (0.0, 0.0, self.squares.iter());
        each_row_of_squares(drawn, run, |row| {
            for (drawn, meant) in row.iter().zip(meant.by_ref()) {
                if let Some(meant) = meant {
                    let [tinge, step] = drawn.mean().off(meant);
                    hue += tinge;
                    luma += step;
                }
            }
        })?;
        let [hue, luma] = [hue, luma].map(|sum| seen(sum, self.soft as f64, self.squares.len(), MANY));
        Ok(HUE.cost(hue, self.target).max(LUMA.cost(luma, self.target)))
    }
}

/// What a square looks like from afar.
#[derive(Debug, Clone, Copy)]
struct Mean {
    /// Green-red and blue-yellow of Oklab.
    hue: [f32; 2],
    /// In codes.
    luma: f64,
}

impl Mean {
    /// Squares of how far off hue is, and luma beyond [`UNSEEN`].
    fn off(&self, meant: &Self) -> [f64; 2] {
        let [a, b] = [0, 1].map(|axis| f64::from(self.hue[axis] - meant.hue[axis]));
        let step = ((self.luma - meant.luma).abs() - UNSEEN).max(0.0);
        [a * a + b * b, step * step]
    }
}

/// A square of a picture over middle gray, on which what is black and what is white show.
#[derive(Clone)]
struct Square {
    pixels: u32,
    /// Sums of red, green and blue in linear light, and of luma.
    light: [f32; 3],
    luma: u32,
    darkest: u8,
    lightest: u8,
    first: Option<[u8; 4]>,
    is_varied: bool,
}

impl Square {
    const EMPTY: Self =
        Self { pixels: 0, light: [0.0; 3], luma: 0, darkest: u8::MAX, lightest: 0, first: None, is_varied: false };

    fn add(&mut self, pixel: &[u8], channels: Channels) {
        let colour = colour(pixel, channels);
        let alpha = u32::from(colour[3]);
        let [r, g, b] = [0, 1, 2].map(|at| (u32::from(colour[at]) * alpha + 128 * (255 - alpha)) / 255);
        for (sum, code) in self.light.iter_mut().zip([r, g, b]) {
            *sum += LINEAR[code as usize];
        }
        let luma = (77 * r + 150 * g + 29 * b + 128) >> 8;
        self.luma += luma;
        self.pixels += 1;
        (self.darkest, self.lightest) = (self.darkest.min(luma as u8), self.lightest.max(luma as u8));
        self.is_varied |= *self.first.get_or_insert(colour) != colour;
    }

    const fn is_soft(&self) -> bool {
        self.is_varied && self.lightest - self.darkest <= SOFT
    }

    fn mean(&self) -> Mean {
        let [_, a, b] = oklab(self.light.map(|sum| sum / self.pixels as f32));
        Mean { hue: [a, b], luma: f64::from(self.luma) / f64::from(self.pixels) }
    }
}

fn each_row_of_squares(picture: &Picture, run: Run<'_>, mut take: impl FnMut(&[Square])) -> Result<()> {
    let (channels, row_samples) = (picture.channels(), picture.layout().row_samples());
    let across = (picture.width() as usize).div_ceil(SIDE);
    for rows in picture.eight().unwrap_or(&[]).chunks(SIDE * row_samples) {
        run.check()?;
        let mut squares = vec![Square::EMPTY; across];
        for row in rows.chunks_exact(row_samples) {
            for (pixels, square) in row.chunks(SIDE * channels.count()).zip(&mut squares) {
                pixels.chunks_exact(channels.count()).for_each(|pixel| square.add(pixel, channels));
            }
        }
        take(&squares);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, limits::Limits, picture::Samples};

    const SIZE: u32 = 100;

    fn picture(colour: impl Fn(u32, u32) -> [u8; 4]) -> Picture {
        let samples = (0..SIZE * SIZE).flat_map(|at| colour(at % SIZE, at / SIZE)).collect();
        Picture::new(SIZE, SIZE, Channels::Rgba, Samples::Eight(samples)).unwrap()
    }

    fn cost(meant: &Picture, drawn: &Picture, target: f64) -> f64 {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        Tints::of(meant, target, run).unwrap().cost(drawn, run).unwrap()
    }

    /// From 0 to 7, by chance.
    const fn grain(x: u32, y: u32) -> u8 {
        ((x * x * 7 + x * y * 13 + y * y * 5) % 8) as u8
    }

    /// Skin with grain, some of whose red has gone.
    fn skin(gone: u8) -> Picture {
        picture(|x, y| [200 + grain(x, y) - gone, 150 + grain(x, y), 120 + grain(x, y), 255])
    }

    #[test]
    fn wrong_hues_cost_the_more_the_farther_they_are_off_and_less_where_less_is_asked_for() {
        let costs = [0, 2, 6, 12].map(|gone| cost(&skin(0), &skin(gone), 80.0));
        assert_eq!(costs[0], 0.0);
        assert!(0.0 < costs[1] && costs[1] < costs[2] && costs[2] < costs[3], "{costs:?}");
        assert!(cost(&skin(0), &skin(2), 70.0) < costs[1] && costs[1] < cost(&skin(0), &skin(2), 90.0));
    }

    #[test]
    fn grain_may_be_drawn_in_any_way_that_keeps_the_mean() {
        let plain = picture(|_, _| [203, 153, 123, 255]);
        let coarse = picture(|x, y| if grain(x, y) < 4 { [199, 149, 119, 255] } else { [208, 158, 128, 255] });
        assert_eq!([plain, coarse].map(|drawn| cost(&skin(0), &drawn, 80.0)), [0.0; 2]);
    }

    #[test]
    fn steps_behind_grain_cost_in_what_is_half_transparent_too() {
        let slope = |step: u32, alpha: u8| {
            picture(move |x, y| {
                let code = 80 + (y / step * step + step / 2) as u8 + grain(x, y);
                if alpha == 255 { [code, code, code, 255] } else { [0, 0, 0, code] }
            })
        };
        for alpha in [255, 0] {
            let costs = [1, 8, 32].map(|step| cost(&slope(1, alpha), &slope(step, alpha), 80.0));
            assert!(costs[0] == 0.0 && costs[1] < costs[2] && costs[2] > 5.0, "{costs:?}");
        }
    }

    #[test]
    fn plain_areas_and_edges_are_left_to_the_metric() {
        let plain = picture(|_, _| [200, 150, 120, 255]);
        let bars = picture(|x, _| if x / 5 % 2 == 0 { [200, 150, 120, 255] } else { [90, 60, 40, 255] });
        for meant in [plain, bars] {
            assert_eq!(cost(&meant, &picture(|_, _| [120, 150, 200, 255]), 80.0), 0.0);
        }
    }
}
