//! Animations: the smallest file whose frames look the same, in the mean and each of them.
//!
//! Each format has a strategy of its own that searches the settings of its encoder by what a viewer sees at points of
//! time ([`Viewed`]): on a sample of frames while it searches, on all of them at the end.

#[cfg(feature = "png")]
mod apng;
mod care;
mod clip;
#[cfg(feature = "gif")]
mod gif;
#[cfg(feature = "gif")]
mod quantised;
#[cfg(all(feature = "gif", feature = "webp"))]
mod repainted;
mod viewed;
#[cfg(feature = "webp")]
mod webp;

pub(crate) use viewed::{Scores, Viewed, compare};

use super::{Goal, Optimised, no_larger_than_high};
use crate::{
    codec::{Codecs, guarded},
    control::Run,
    error::{Error, Result},
    format::Format,
    picture::Frames,
};

/// What is to be optimised, beside the frames.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moving<'a> {
    /// Codecs to search with.
    pub codecs: &'a Codecs,
    /// The wanted format.
    pub format: Format,
    /// The wanted fidelity.
    pub goal: Goal,
    /// The source file, if it is of the wanted format and shows the very frames.
    pub stored: Option<&'a [u8]>,
    /// How many frames there are.
    pub count: u32,
}

/// The smallest file that shows `frames`, in sRGB, and meets the goal; and about how many bytes it would take without loss,
/// where that came to light.
pub(crate) fn optimise(frames: &mut dyn Frames, task: &Moving<'_>, run: Run<'_>) -> Result<(Optimised, Option<u64>)> {
    guarded("optimising", || {
        let by = |goal| {
            let task = &Moving { goal, ..*task };
            match task.format {
                #[cfg(feature = "gif")]
                Format::Gif => Ok((gif::optimise(frames, task, run)?, None)),
                #[cfg(feature = "png")]
                Format::Apng => apng::optimise(frames, task, run),
                #[cfg(feature = "webp")]
                Format::Webp => Ok((webp::optimise(frames, task, run)?, None)),
                other => Err(Error::unsupported(format!("writing animated {other}"))),
            }
        };
        no_larger_than_high((task.format, task.goal), by, |(done, _)| done)
    })
}
