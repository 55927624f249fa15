//! Faces that a request makes us look for.

use crate::{
    operation::Faces,
    request::{Gravity, Request},
};

/// Faces that are looked for.
#[derive(Debug)]
pub(crate) struct Sought {
    /// Filled by the chain.
    pub faces: Faces,
    /// What to say where there are none.
    pub without: Option<&'static str>,
}

impl Sought {
    pub(super) fn by(request: &Request, around: bool) -> Self {
        let by_gravity = around
            && request.resize.as_ref().is_some_and(|resize| matches!(resize.gravity, Gravity::Face | Gravity::Faces));
        let without = match (request.face.is_some_and(|face| face.strength > 0), by_gravity) {
            (true, true) => {
                Some("no face was found: none is enhanced, and the picture is cropped as by the gravity \"smart\"")
            }
            (true, false) => Some("no face was found: none is enhanced"),
            (false, true) => Some("no face was found: the picture is cropped as by the gravity \"smart\""),
            (false, false) => None,
        };
        Self { faces: Faces::default(), without }
    }
}

/// What becomes of a source of `width` x `height` decoded at a reduced size of at least `least`: faces that are small in it
/// have to be seen yet. `None` for the whole size.
pub(super) fn large_enough(least: (u32, u32), width: u32, height: u32) -> Option<(u32, u32)> {
    const PIXELS: f64 = 1_000_000.0;
    let factor = (PIXELS / (f64::from(width) * f64::from(height))).sqrt();
    let side = |least: u32, side: u32| least.max((f64::from(side) * factor).ceil() as u32);
    let least = (side(least.0, width), side(least.1, height));
    (least.0 < width && least.1 < height).then_some(least)
}
