//! A host's network in the place of our restoration.

use std::sync::Arc;

use super::{Crop, Restore};
use crate::{
    control::Run,
    error::Result,
    operation::{
        Shape,
        network::{Model, Raster, through},
    },
};

/// Restores faces by a network of scale 1, which sees the face and what is around it in the size that it has.
#[derive(Debug, Clone)]
pub struct RestoreByModel(pub Arc<dyn Model>);

impl Restore for RestoreByModel {
    fn restore(&self, crop: Crop, run: Run<'_>) -> Result<Crop> {
        passed(&*self.0, self.0.shape(), crop, run)
    }
}

/// Without noise and blocks, by a network that looks no further than its margin. A crop is mostly within one tile: it is cut in
/// two where the margins are little beside it, for two cores.
pub(super) fn cleaned(model: &dyn Model, crop: Crop, run: Run<'_>) -> Result<Crop> {
    let shape = model.shape();
    let longer = crop.width.max(crop.height) as u32;
    let tile = if longer < 6 * shape.margin { shape.tile } else { shape.tile.min(longer.div_ceil(2)) };
    passed(model, Shape { tile, ..shape }, crop, run)
}

/// The crop through a model, in tiles of a shape.
fn passed(model: &dyn Model, shape: Shape, mut crop: Crop, run: Run<'_>) -> Result<Crop> {
    shape.check_keeps_size("restoring a face")?;
    let (width, seen) = (crop.width, crop.pixels.clone());
    let mut sink = |left: u32, top: u32, tile: &Raster| {
        for (y, row) in (top as usize..).zip(tile.rows()) {
            crop.pixels[y * width + left as usize..][..row.len()].copy_from_slice(row);
        }
    };
    let size = (width as u32, crop.height as u32);
    through(model, shape, size, &|x, y| seen[y as usize * width + x as usize], &mut sink, run)?;
    Ok(crop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Unattended};

    /// Turns everything to its negative.
    #[derive(Debug)]
    struct Negative(u32);

    impl Model for Negative {
        fn shape(&self) -> Shape {
            Shape { scale: self.0, margin: 0, multiple: 1, tile: 3, work: 0 }
        }
        fn run(&self, tile: Raster, _: Run<'_>) -> Result<Raster> {
            Raster::new(tile.width(), tile.height(), tile.samples().iter().map(|sample| 1.0 - sample).collect())
        }
    }

    #[test]
    fn the_whole_crop_goes_through_the_model_and_one_that_enlarges_is_refused() {
        let limits = Limits::default();
        let run = Run { limits: &limits, control: &Unattended };
        let pixels: Vec<[f32; 3]> = (0..35).map(|at| [at as f32 / 64.0, 0.25, 1.0]).collect();
        let crop = Crop { width: 7, height: 5, pixels: pixels.clone(), middle: (3.0, 2.0), side: 4.0 };
        let negative = RestoreByModel(Arc::new(Negative(1))).restore(crop.clone(), run).unwrap();
        let wanted: Vec<[f32; 3]> = pixels.iter().map(|pixel| pixel.map(|sample| 1.0 - sample)).collect();
        assert_eq!(negative, Crop { pixels: wanted, ..crop.clone() });
        assert!(RestoreByModel(Arc::new(Negative(2))).restore(crop, run).is_err());
    }
}
