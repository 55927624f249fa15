//! Gradients, where too few colours show as bands before any score tells: those of small pictures, buttons and icons, which leave
//! the metric few scales to see them at, and smooth ones of any picture.

use crate::{
    control::Run,
    error::Result,
    optimize::{contour::shown, overlooked::Overlooked},
    picture::Picture,
};

/// Codes from one pixel to the next but one, in any channel: steeper gradients hide their bands.
const STEEP: i32 = 16;
/// Codes by which the steps to either side of a pixel differ: rounding, but no noise and no edge.
const EVEN: i32 = 1;
/// Codes by which the mean of nine pixels is off where a band is seen. What is dithered well is not.
const SEEN: i32 = 3;
/// The share of a picture that may be in bands: more are seen, and where gradients are most of it, better ones cost little.
const FEW: f64 = 0.02;
/// Points of score that bands would cost where all is in them: so many that better drawing elsewhere hardly makes up for them.
const COST: f64 = 400.0;
/// Pixels of a small picture, at most. In larger ones the metric sees bands, and photographs have gradients that cost much.
const SMALL: usize = 1 << 16;

/// Where a picture has gradients.
pub(crate) struct Gradients<'a> {
    picture: &'a Picture,
    /// Indices of pixels of a small picture, none of them at an edge.
    places: Vec<u32>,
    overlooked: Overlooked,
}

impl<'a> Gradients<'a> {
    /// Those of an 8-bit picture that is to score `target`.
    pub(crate) fn of(picture: &'a Picture, target: f64, run: Run<'_>) -> Result<Self> {
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        let mut places = Vec::new();
        let rows = if width * height > SMALL { 0..0 } else { 1..height.saturating_sub(1) };
        for y in rows {
            run.check()?;
            let row = y * width + 1..(y + 1) * width - 1;
            places.extend(row.filter(|&at| lies_in_gradient(picture, at, width)).map(|at| at as u32));
        }
        Ok(Self { picture, places, overlooked: Overlooked::of(picture, target, run)? })
    }

    /// What the bands of `drawn`, of the same size, take from its score.
    pub(crate) fn cost(&self, drawn: &Picture, run: Run<'_>) -> Result<f64> {
        let (width, height) = (self.picture.width() as usize, self.picture.height() as usize);
        let is_banded = |&&at: &&u32| {
            let mut wrong = [0i32; 4];
            let rows = [at as usize - width, at as usize, at as usize + width];
            for near in rows.into_iter().flat_map(|at| at - 1..at + 2) {
                let pair = shown(self.picture, near).into_iter().zip(shown(drawn, near));
                for (wrong, (meant, drawn)) in wrong.iter_mut().zip(pair) {
                    *wrong += drawn - meant;
                }
            }
            wrong.iter().any(|wrong| wrong.abs() > 9 * SEEN)
        };
        let banded = self.places.iter().filter(is_banded).count();
        let bands = COST * (banded as f64 / (width * height) as f64 - FEW).max(0.0);
        Ok(bands.max(self.overlooked.cost(drawn, run)?))
    }
}

/// Whether the pixels around one, none of them beyond the edge, rise or fall evenly.
fn lies_in_gradient(picture: &Picture, at: usize, width: usize) -> bool {
    let here = shown(picture, at);
    let mut rises = false;
    for step in [1, width] {
        let (before, after) = (shown(picture, at - step), shown(picture, at + step));
        for channel in 0..4 {
            let slope = after[channel] - before[channel];
            let bend = before[channel] + after[channel] - 2 * here[channel];
            if slope.abs() > STEEP || bend.abs() > EVEN {
                return false;
            }
            rises |= slope != 0;
        }
    }
    rises
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        control::Unattended,
        limits::Limits,
        picture::{Channels, Samples},
    };

    const SIZE: (usize, usize) = (60, 40);

    fn picture(code: impl Fn(usize, usize) -> u8) -> Picture {
        let samples = (0..SIZE.0 * SIZE.1).map(|at| code(at % SIZE.0, at / SIZE.0)).collect();
        Picture::new(SIZE.0 as u32, SIZE.1 as u32, Channels::Gray, Samples::Eight(samples)).unwrap()
    }

    fn cost(meant: &Picture, drawn: &Picture) -> f64 {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        Gradients::of(meant, 80.0, run).unwrap().cost(drawn, run).unwrap()
    }

    #[test]
    fn what_bands_take_from_a_score_grows_with_them() {
        let gradient = picture(|_, y| 20 + 5 * y as u8);
        let banded = |rows: usize| cost(&gradient, &picture(|_, y| 20 + 5 * ((y / rows * rows) + rows / 2) as u8));
        assert_eq!(banded(1), 0.0);
        assert!(0.0 < banded(4) && banded(4) < banded(8), "{} {}", banded(4), banded(8));
        // A mark of a few pixels.
        let marked = |lift: u8| picture(move |x, y| 20 + 5 * y as u8 + if x < 4 && y < 4 { lift } else { 0 });
        assert_eq!(cost(&gradient, &marked(10)), 0.0);
    }

    #[test]
    fn dithered_gradients_noise_and_plain_areas_have_no_bands() {
        let gradient = picture(|_, y| 20 + 5 * y as u8);
        let dithered = picture(|x, y| 20 + 5 * y as u8 + if (x + y) % 2 == 0 { 12 } else { 0 } - 6);
        assert_eq!(cost(&gradient, &dithered), 0.0);
        let noise = |x: usize, y: usize| 100 + ((x * x * 7 + x * y * 13 + y * y * 5) % 11 * 2) as u8;
        assert!(cost(&picture(noise), &picture(|_, _| 110)) < 1.0);
        assert_eq!(cost(&picture(|_, _| 100), &picture(|_, _| 120)), 0.0);
    }
}
