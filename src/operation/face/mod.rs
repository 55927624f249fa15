//! Faces: where they are, and making them clearer.

mod detect;
mod mask;
mod places;
mod restore;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use places::{Faces, LookForFaces, Place};
pub use restore::{Classic, Crop, Restore, RestoreByModel};

use super::{Apply, Operation, bleed::bled};
use crate::{
    control::Run,
    error::{Error, Result},
    picture::{Layout, Picture},
};

/// Whether this build can find faces: it holds the detector's numbers, by the feature `face`.
pub(crate) const CAN_LOOK: bool = cfg!(feature = "face");

/// Makes faces clearer. Only what lies under their soft masks changes; without a face nothing does.
#[derive(Debug, Clone)]
pub struct Face {
    /// 0 (nothing changes) to 100; the default of 80 gives 96 % of what is restored.
    pub strength: u8,
    /// Only the largest face.
    pub largest: bool,
    /// Filled by a [`LookForFaces`] earlier in the chain; the same places are taken in all frames.
    pub faces: Faces,
    /// What restores them.
    pub restorer: Arc<dyn Restore>,
}

impl Operation for Face {
    fn name(&self) -> &'static str {
        "face"
    }

    fn layout(&self, input: Layout) -> Result<Layout> {
        Ok(input)
    }

    fn prepare(&self, _: &Picture, _: Run<'_>) -> Result<Option<Box<dyn Apply>>> {
        let mut places = self.faces.found();
        if places.is_empty() || self.strength == 0 {
            return Ok(None);
        }
        places.truncate(if self.largest { 1 } else { places.len() });
        let lacking = 1.0 - f32::from(self.strength.min(100)) / 100.0;
        let share = 1.0 - lacking * lacking;
        Ok(Some(Box::new(Clearer { places, share, restorer: Arc::clone(&self.restorer) })))
    }
}

/// Faces settled.
struct Clearer {
    places: Vec<Place>,
    /// Of what is restored.
    share: f32,
    restorer: Arc<dyn Restore>,
}

impl Apply for Clearer {
    fn apply(&self, picture: Picture, run: Run<'_>) -> Result<Picture> {
        let mut picture = bled(picture, run)?;
        let gray = picture.is_gray();
        for place in &self.places {
            let Some(mask) = mask::Mask::new(place, picture.layout()) else { continue };
            run.check()?;
            let seen = mask.cut(&picture, run)?;
            let mut clear = self.restorer.restore(seen.clone(), run)?;
            if (clear.width, clear.height, clear.pixels.len()) != (seen.width, seen.height, seen.pixels.len()) {
                let size = format!("{}x{} became {}x{}", seen.width, seen.height, clear.width, clear.height);
                return Err(Error::internal("restoring a face", size));
            }
            if gray {
                clear.pixels.iter_mut().for_each(|pixel| *pixel = [pixel[1]; 3]);
            }
            picture = mask.laid_over(picture, &seen, &clear, self.share, run)?;
        }
        Ok(picture)
    }
}
