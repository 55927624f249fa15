//! The models that requests are served with.

use std::sync::Arc;

use super::Model;
#[cfg(any(feature = "denoise", feature = "upscale"))]
use super::Residual;
use crate::operation::Restore;

/// One model a task; without one the task is refused as unsupported, but for faces, whose restoration needs none. By default
/// those of this build, with the features `denoise` and `upscale`; a host puts its own in their place.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Models {
    /// Enlarges pictures with noise, blur and JPEG artefacts.
    pub upscale_photo: Option<Arc<dyn Model>>,
    /// Enlarges clean pictures, and what has been enlarged already.
    pub upscale_clean: Option<Arc<dyn Model>>,
    /// Removes noise and JPEG artefacts. Its scale is 1.
    pub denoise: Option<Arc<dyn Model>>,
    /// Restores faces; a network does by [`RestoreByModel`](crate::operation::RestoreByModel). `None` is our own restoration,
    /// [`Classic`](crate::operation::Classic), with `denoise`.
    pub face: Option<Arc<dyn Restore>>,
}

impl Models {
    /// Without any network.
    pub fn none() -> Self {
        Self { upscale_photo: None, upscale_clean: None, denoise: None, face: None }
    }
}

impl Default for Models {
    fn default() -> Self {
        #[allow(unused_mut, reason = "as it is without the features")]
        let mut models = Self::none();
        #[cfg(feature = "upscale")]
        {
            models.upscale_photo = shipped(include_bytes!("../../../assets/upscale-photo.lpdy"));
            models.upscale_clean = shipped(include_bytes!("../../../assets/upscale-clean.lpdy"));
        }
        #[cfg(feature = "denoise")]
        {
            models.denoise = shipped(include_bytes!("../../../assets/denoise.lpdy"));
        }
        models
    }
}

/// A file of ours, which a test reads.
#[cfg(any(feature = "denoise", feature = "upscale"))]
fn shipped(file: &[u8]) -> Option<Arc<dyn Model>> {
    Residual::read(file).ok().map(|model| Arc::new(model) as _)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_network_of_this_build_is_read_and_fits_its_task() {
        let models = Models::default();
        let scale = |model: &Option<Arc<dyn Model>>| model.as_ref().map(|model| model.shape().scale);
        assert_eq!(scale(&models.upscale_photo), cfg!(feature = "upscale").then_some(2));
        assert_eq!(scale(&models.upscale_clean), cfg!(feature = "upscale").then_some(2));
        assert_eq!(scale(&models.denoise), cfg!(feature = "denoise").then_some(1));
    }
}
