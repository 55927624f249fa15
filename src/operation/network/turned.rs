//! A model that is asked twice.

use super::{Model, Raster, Shape};
use crate::{control::Run, error::Result};

/// The mean of what a model makes of a tile and of the tile turned by half a turn, as geometric self-ensembles have it (R. Timofte
/// et al., *Seven Ways to Improve Example-Based Single Image Super Resolution*, CVPR 2016): in twice the time, closer to the
/// truth, as the errors that a network makes have little to do with one another.
#[derive(Debug, Clone)]
pub struct Turned<M>(pub M);

impl<M: Model> Model for Turned<M> {
    fn shape(&self) -> Shape {
        let shape = self.0.shape();
        Shape { work: 2 * shape.work, ..shape }
    }

    fn run(&self, tile: Raster, run: Run<'_>) -> Result<Raster> {
        let turned = self.0.run(tile.clone().turned(), run)?.turned();
        let upright = self.0.run(tile, run)?;
        let means = upright.samples().iter().zip(turned.samples()).map(|(upright, turned)| (upright + turned) / 2.0);
        Raster::new(upright.width(), upright.height(), means.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Unattended};

    /// Doubles the size and adds the number of the pixel in its row.
    #[derive(Debug)]
    struct Leans;

    impl Model for Leans {
        fn shape(&self) -> Shape {
            Shape { scale: 2, margin: 3, multiple: 1, tile: 8, work: 5 }
        }

        fn run(&self, tile: Raster, _: Run<'_>) -> Result<Raster> {
            let rows = (0..2 * tile.height() as usize).map(|y| tile.row(y / 2));
            let pixels = rows.flat_map(|row| (0..2 * row.len()).map(move |x| row[x / 2].map(|value| value + x as f32)));
            Raster::new(2 * tile.width(), 2 * tile.height(), pixels.flatten().collect())
        }
    }

    #[test]
    fn what_leans_to_one_side_is_evened_out() {
        let limits = Limits::default();
        let samples: Vec<f32> = (0..3 * 2 * 3).map(|value| value as f32).collect();
        let tile = Raster::new(3, 2, samples).unwrap();
        let found = Turned(Leans).run(tile.clone(), Run { limits: &limits, control: &Unattended }).unwrap();
        assert_eq!((found.width(), found.height()), (6, 4));
        for (y, row) in found.rows().enumerate() {
            for (x, pixel) in row.iter().enumerate() {
                assert_eq!(*pixel, tile.row(y / 2)[x / 2].map(|value| value + 2.5), "{x}, {y}");
            }
        }
        assert_eq!(Turned(Leans).shape(), Shape { work: 10, ..Leans.shape() });
    }

    #[test]
    fn margins_turn_with_the_tile() {
        let tile = Raster::new(5, 4, vec![0.0; 60]).unwrap().with_margins([1, 2, 3, 0]);
        assert_eq!(tile.turned().margins(), [3, 0, 1, 2]);
    }
}
