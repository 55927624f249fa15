//! How alike two pictures look: SSIMULACRA 2.1, the same number on every machine.
//!
//! The metric is Jon Sneyers' (Cloudinary, <https://github.com/cloudinary/ssimulacra2>): structural similarity and edge
//! changes in XYB at up to six scales, pooled by two norms and weighted to fit opinions of people. 100 is identical,
//! 90 hardly to be told apart in turns, 80 side by side, 70 good, 50 middling, 30 poor; there is no lower bound.
//!
//! Rounding errors belong to the metric: those of its blur lower the scores of good candidates by up to 3. Hence the
//! arithmetic is the original's, digit by digit, wherever errors can grow, and scores agree with the original's within
//! 0.01; but for pictures whose smaller side has 29 to 126 pixels, which score lower where the original hardly sees brightness
//! (`weights.rs`). All of it is exactly defined operations (fused ones and square roots among them) in a fixed order, so that a
//! score does not depend on the machine; a processor without fused multiply and add is some twenty times slower.
//!
//! Memory is about 7 bytes a pixel for a [`Reference`] (twice that where it is translucent) and about 2 kB a column
//! for a comparison.

mod bands;
#[allow(clippy::needless_range_loop, reason = "an index a lane shows which operations go together")]
mod blur;
mod channel;
mod ground;
#[allow(clippy::needless_range_loop, reason = "an index a lane shows which operations go together")]
mod pool;
mod pyramid;
#[cfg(test)]
mod tests;
mod transfer;
mod vectors;
mod view;
mod weights;
mod xyb;

pub(crate) use self::bands::BAND_ROWS;
#[cfg(feature = "jpeg")]
pub(crate) use self::bands::Places;
pub use self::bands::bands;
#[cfg(any(feature = "jpeg", feature = "png", feature = "webp"))]
pub(crate) use self::bands::{Sample, times};
use self::{
    ground::{Grounded, LEAST_SIDE},
    view::View,
};
use crate::{
    control::Run,
    error::{Error, Result},
    picture::{Channels, Picture},
};

/// Levels of the grounds that translucent pictures are seen over.
const GROUNDS: &[u8] = &[0, 255];
/// Pixels from which on a comparison takes longer than it takes to begin another beside it.
const LONG: u64 = 1 << 16;

/// A picture that others are compared with.
#[derive(Debug)]
pub struct Reference {
    width: u32,
    height: u32,
    grounds: &'static [u8],
    /// Over each of these; over the first alone where the picture is opaque.
    views: Vec<View>,
}

impl Reference {
    /// Prepares `picture`, in sRGB with or without alpha; 16-bit samples are rounded to 8 bits.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for CMYK; [`Error::Stopped`].
    pub fn new(picture: &Picture, run: Run<'_>) -> Result<Self> {
        Self::stacked(picture, GROUNDS, 0, run)
    }

    /// The same for pictures that are seen over `grounds` where they are not opaque.
    #[cfg(feature = "svg")]
    pub(crate) fn over(grounds: &'static [u8], picture: &Picture, run: Run<'_>) -> Result<Self> {
        Self::stacked(picture, grounds, 0, run)
    }

    /// Prepares a picture that [`bands`] made. Rows near a seam do not count, so that scores are close to those of the
    /// whole picture.
    ///
    /// # Errors
    /// [`Error::Internal`] if the height is not one of [`bands`]; otherwise as [`Self::new`].
    pub fn of_bands(picture: &Picture, run: Run<'_>) -> Result<Self> {
        if !(picture.height() as usize).is_multiple_of(BAND_ROWS) {
            let problem = format!("{} rows are not a number of bands of {BAND_ROWS}", picture.height());
            return Err(Error::internal("comparing bands", problem));
        }
        Self::stacked(picture, GROUNDS, BAND_ROWS, run)
    }

    fn stacked(picture: &Picture, grounds: &'static [u8], band: usize, run: Run<'_>) -> Result<Self> {
        refuse_cmyk(picture)?;
        let seen = if picture.is_opaque() { &grounds[..1] } else { grounds };
        let view = |&ground: &u8| View::new(Grounded::new(picture, ground), band, run);
        let views = each(seen, picture, view, run)?;
        Ok(Self { width: picture.width(), height: picture.height(), grounds, views })
    }

    /// How alike `candidate` looks, 100 for equal pictures and less for others, without a lower bound. If this or the
    /// candidate has a pixel that is not opaque, both are seen over black and over white, and the lower score counts; on two
    /// cores where the limits allow.
    /// Pictures below 8 pixels wide or high are widened to that by repeating their last column and row.
    ///
    /// # Errors
    /// [`Error::Internal`] if the candidate has another size; [`Error::Unsupported`] for CMYK; [`Error::Stopped`].
    pub fn score(&self, candidate: &Picture, run: Run<'_>) -> Result<f64> {
        refuse_cmyk(candidate)?;
        if (candidate.width(), candidate.height()) != (self.width, self.height) {
            let (width, height) = (candidate.width(), candidate.height());
            let problem = format!("a candidate of {width}x{height} for a reference of {}x{}", self.width, self.height);
            return Err(Error::internal("comparing pictures", problem));
        }
        let seen = if self.views.len() == 1 && candidate.is_opaque() { &self.grounds[..1] } else { self.grounds };
        // One view serves for all grounds where the reference is opaque.
        let pairs: Vec<(&View, u8)> = self.views.iter().cycle().zip(seen.iter().copied()).collect();
        let scores = each(&pairs, candidate, |(view, ground)| view.score(Grounded::new(candidate, *ground), run), run)?;
        Ok(scores.into_iter().fold(f64::INFINITY, f64::min))
    }
}

/// What comes of every piece of work on `picture`, side by side where that takes long.
fn each<T: Sync, R: Send>(
    work: &[T],
    picture: &Picture,
    result: impl Fn(&T) -> Result<R> + Sync,
    run: Run<'_>,
) -> Result<Vec<R>> {
    if picture.layout().pixels() < LONG {
        work.iter().map(result).collect()
    } else {
        run.side_by_side(work, || &result)
    }
}

/// The score with which a picture of `width` x `height` looks as larger ones do with `target`: the same, but for tiny ones. These
/// have two or three scales in place of six, and the metric puts little weight on what is left: degraded photographs and
/// drawings lose in parts of 16 and 8 pixels 0.11 and 0.03 of what they lose as a whole (in the sum before the power, which this
/// has been through). A gradient of 8 x 12 pixels scores 90 in five colours.
pub(crate) fn target_of(target: f64, width: u32, height: u32) -> f64 {
    let side = |side: u32| (side as usize).max(LEAST_SIDE);
    let share = match pyramid::sizes(side(width), side(height)).len() {
        ..=2 => 0.12,
        3 => 0.25,
        _ => 1.0,
    };
    100.0 - (100.0 - target) * share
}

fn refuse_cmyk(picture: &Picture) -> Result<()> {
    if picture.channels() == Channels::Cmyk {
        return Err(Error::unsupported("comparing CMYK pictures"));
    }
    Ok(())
}
