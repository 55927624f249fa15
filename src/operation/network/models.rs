//! The models that requests are served with.

use std::sync::Arc;

use super::Model;
#[cfg(any(feature = "denoise", feature = "face", feature = "upscale"))]
use super::Residual;
#[cfg(feature = "denoise")]
use super::Turned;
use crate::operation::Restore;

/// The models of each task; without one the task is refused as unsupported, but for faces, whose restoration needs none. By
/// default those of this build, with the features `denoise`, `face` and `upscale`; a host puts its own in their place.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Models {
    /// Enlarge pictures with noise, blur and JPEG artefacts. Of several, the one whose scale fits the factor best is asked.
    pub upscale_photo: Vec<Arc<dyn Model>>,
    /// Enlarge clean pictures, and what has been enlarged already.
    pub upscale_clean: Vec<Arc<dyn Model>>,
    /// Removes noise and JPEG artefacts. Its scale is 1. Ours is asked twice, [`Turned`](super::Turned).
    pub denoise: Option<Arc<dyn Model>>,
    /// Restores faces; a network does by [`RestoreByModel`](crate::operation::RestoreByModel). `None` is our own restoration,
    /// [`Classic`](crate::operation::Classic), with `denoise`, `face_grain` and `face_restore`.
    pub face: Option<Arc<dyn Restore>>,
    /// Takes noise out of faces that were not stored by JPEG, in a quarter of the time of `denoise`. Its scale is 1.
    pub face_grain: Option<Arc<dyn Model>>,
    /// Makes faces sharp that were blurred and then noisy or stored by JPEG. Its scale is 1.
    pub face_restore: Option<Arc<dyn Model>>,
}

impl Models {
    /// Without any network.
    pub fn none() -> Self {
        let (upscale_photo, upscale_clean) = (Vec::new(), Vec::new());
        Self { upscale_photo, upscale_clean, denoise: None, face: None, face_grain: None, face_restore: None }
    }
}

impl Default for Models {
    fn default() -> Self {
        #[allow(unused_mut, reason = "as it is without the features")]
        let mut models = Self::none();
        #[cfg(feature = "upscale")]
        {
            models.upscale_photo.extend(shipped(include_bytes!("../../../assets/upscale-photo.lpdy")));
            models.upscale_photo.extend(shipped(include_bytes!("../../../assets/upscale-photo-4.lpdy")));
            let clean = [
                include_bytes!("../../../assets/upscale-clean.lpdy").as_slice(),
                include_bytes!("../../../assets/upscale-clean-4.lpdy"),
            ];
            let clean = clean.into_iter().filter_map(|file| Residual::shipped(file).ok());
            models.upscale_clean.extend(clean.map(|network| Arc::new(network.of_clean_pictures()) as _));
        }
        #[cfg(feature = "denoise")]
        {
            let network = Residual::shipped(include_bytes!("../../../assets/denoise.lpdy"));
            models.denoise = network.ok().map(|network| Arc::new(Turned(network)) as _);
        }
        #[cfg(feature = "face")]
        {
            models.face_grain = shipped(include_bytes!("../../../assets/face-grain.lpdy"));
            models.face_restore = shipped(include_bytes!("../../../assets/face.lpdy"));
        }
        models
    }
}

/// A file of ours, which a test reads.
#[cfg(any(feature = "denoise", feature = "face", feature = "upscale"))]
fn shipped(file: &'static [u8]) -> Option<Arc<dyn Model>> {
    Residual::shipped(file).ok().map(|model| Arc::new(model) as _)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Unattended, control::Run, operation::Raster};

    #[test]
    fn every_network_of_this_build_is_read_and_fits_its_task() {
        let models = Models::default();
        let limits = Limits::default();
        // By what comes out of a tile of 4 x 4 pixels.
        let scale = |model: Arc<dyn Model>| {
            let gray = Raster::new(4, 4, vec![0.5; 48]).unwrap();
            model.run(gray, Run { limits: &limits, control: &Unattended }).unwrap().width() / 4
        };
        let scales = |models: Vec<Arc<dyn Model>>| models.into_iter().map(scale).collect::<Vec<_>>();
        let of = |scales: &[u32]| if cfg!(feature = "upscale") { scales.to_vec() } else { Vec::new() };
        assert_eq!(scales(models.upscale_photo), of(&[2, 4]));
        assert_eq!(scales(models.upscale_clean), of(&[2, 4]));
        assert_eq!(models.denoise.map(scale), cfg!(feature = "denoise").then_some(1));
        assert_eq!(models.face_grain.map(scale), cfg!(feature = "face").then_some(1));
        assert_eq!(models.face_restore.map(scale), cfg!(feature = "face").then_some(1));
    }
}
