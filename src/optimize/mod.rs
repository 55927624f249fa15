//! Judgement: the smallest encoding that looks the same.
//!
//! `optimise` takes a processed picture and a [`Goal`] and gives back a file without metadata. Each format has a
//! strategy of its own that searches encoder settings by the score of [`metric`] (SSIMULACRA2), with `search` for the
//! knob that all of them have.

mod contour;
#[cfg(feature = "jpeg")]
mod jpeg;
mod mark;
pub mod metric;
mod moving;
mod oklab;
mod overlooked;
#[cfg(any(feature = "gif", feature = "png"))]
mod palette;
#[cfg(feature = "png")]
mod png;
mod probe;
mod search;
#[cfg(feature = "svg")]
mod svg;
mod tint;
#[cfg(feature = "webp")]
mod webp;

pub use mark::Mark;
pub(crate) use moving::{Moving, optimise as optimise_moving};
#[cfg(feature = "svg")]
pub(crate) use svg::{Drawn, Vector, is_clean as is_clean_svg, optimise as optimise_svg};
#[cfg(feature = "svg")]
pub use svg::{Rule, SVG_RULES};

use crate::{
    codec::Codecs,
    control::Run,
    error::{Error, Result, guarded},
    format::Format,
    picture::{Layout, Picture, Samples},
};

/// How faithful a result has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Goal {
    /// Every pixel as it is.
    Lossless,
    /// Fixed settings for a quality of 1 to 100, without search.
    Quality(u8),
    /// The smallest encoding that reaches the preset's score.
    Smart(Preset),
}

/// The lossy presets of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preset {
    /// Score 90: no difference even when flickering between the two.
    Low,
    /// Score 80: no difference side by side.
    Medium,
    /// Score 70: no artefacts seen without the original.
    High,
    /// Fixed settings without a check, for a score of about 50, or what [`High`](Self::High) finds where that is smaller.
    Ultra,
}

impl Preset {
    /// The SSIMULACRA2 score to reach; the scale's meaning is that of its authors
    /// (<https://github.com/cloudinary/ssimulacra2>). Ultra has none. Where a side has fewer than 29 pixels the metric is
    /// milder, and more is sought.
    pub const fn target(self) -> Option<f64> {
        match self {
            Self::Low => Some(90.0),
            Self::Medium => Some(80.0),
            Self::High => Some(70.0),
            Self::Ultra => None,
        }
    }

    /// What is sought for a picture of `layout`.
    fn target_of(self, layout: Layout) -> Option<f64> {
        self.target().map(|target| metric::target_of(target, layout.width, layout.height))
    }
}

/// What is to be optimised.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task<'a> {
    /// Codecs to search with.
    pub codecs: &'a Codecs,
    /// The processed picture in sRGB; without alpha where the format has none.
    pub picture: &'a Picture,
    /// The wanted format.
    pub format: Format,
    /// The wanted fidelity.
    pub goal: Goal,
    /// Progressive or interlaced.
    pub interlaced: bool,
    /// The source file, if it is of the wanted format and its pixels are the picture's.
    pub stored: Option<&'a [u8]>,
}

/// A file without metadata, and how close it is to the picture.
#[derive(Debug, Clone)]
pub(crate) struct Optimised {
    /// The file.
    pub bytes: Vec<u8>,
    /// SSIMULACRA2 of the file against the picture; not a number where none could be drawn.
    pub score: f64,
    /// What fell short.
    pub warnings: Vec<String>,
}

/// Whether this build has a strategy for `format`: settings of a host's codec are searched by it, too.
pub(crate) const fn has_strategy(format: Format) -> bool {
    match format {
        Format::Gif => cfg!(feature = "gif"),
        Format::Jpeg => cfg!(feature = "jpeg"),
        Format::Png | Format::Apng => cfg!(feature = "png"),
        Format::Webp => cfg!(feature = "webp"),
        Format::Svg | Format::Avif => false,
    }
}

/// The smallest file that meets the goal, and the fewest bytes that its pixels may take without loss, where that is known.
pub(crate) fn optimise(task: &Task<'_>, run: Run<'_>) -> Result<(Optimised, Option<u64>)> {
    // Only exact PNG holds 16 bits.
    let exact = matches!(task.goal, Goal::Lossless | Goal::Quality(100));
    let eight = (task.picture.eight().is_none() && !(task.format == Format::Png && exact))
        .then(|| task.picture.clone().into_eight());
    let deeper = exact && task.format == Format::Webp && is_deeper(task.picture);
    let task = &Task { picture: eight.as_ref().unwrap_or(task.picture), ..*task };
    // Strategies use what the codecs are made of, too, past the guard of the codecs.
    guarded("optimising", || {
        let by = |goal| {
            let task = &Task { goal, ..*task };
            match task.format {
                #[cfg(feature = "jpeg")]
                Format::Jpeg => Ok((jpeg::optimise(task, run)?, None)),
                #[cfg(feature = "png")]
                Format::Png => png::optimise(task, run),
                #[cfg(feature = "webp")]
                Format::Webp => Ok((webp::optimise(task, run)?, None)),
                other => Err(Error::unsupported(format!("writing {other}"))),
            }
        };
        let plain = |done: &Optimised| match task.format {
            Format::Png => Ok(true),
            #[cfg(feature = "webp")]
            Format::Webp => webp::is_plain(task, done.bytes.len(), run),
            _ => Ok(false),
        };
        let (mut done, outlook) = no_larger_than_high(task.goal, plain, by)?;
        done.warnings.extend(deeper.then(|| shallow(task.format)));
        Ok((done, outlook))
    })
}

/// What to say where pixels that were to stay as they are have more bits than a format holds.
fn shallow(format: Format) -> String {
    format!("{format} holds 8 bits a sample, and there were more")
}

/// Whether samples have more than 8 bits that say something.
fn is_deeper(picture: &Picture) -> bool {
    matches!(picture.samples(), Samples::Sixteen(samples) if samples.iter().any(|sample| !sample.is_multiple_of(257)))
}

/// What `by` makes for a goal. The settings of `ultra` are those of photographs: where they look as good as `high`, or the picture
/// is so plain that errors may take more bytes than they spare, that is searched for, too, since it may be smaller.
fn no_larger_than_high(
    goal: Goal,
    is_plain: impl FnOnce(&Optimised) -> Result<bool>,
    mut by: impl FnMut(Goal) -> Result<(Optimised, Option<u64>)>,
) -> Result<(Optimised, Option<u64>)> {
    let done = by(goal)?;
    let target = Preset::High.target().unwrap_or(f64::INFINITY);
    if goal != Goal::Smart(Preset::Ultra) || done.0.score < target && !is_plain(&done.0)? {
        return Ok(done);
    }
    let high = by(Goal::Smart(Preset::High))?;
    Ok(if high.0.bytes.len() < done.0.bytes.len() { high } else { done })
}

/// Errors that spare fewer bytes, or a smaller share of them, are not worth being seen.
const LEAST_SPARED: (usize, usize) = (32, 50);

/// Up to how many bytes a file without errors is better than one of so many `bytes` with them.
pub(crate) fn worth_having_exactly(bytes: usize) -> usize {
    bytes + LEAST_SPARED.0.max(bytes / LEAST_SPARED.1)
}

/// Says why the preset's target was missed, if it was.
fn shortfall(score: f64, goal: Goal) -> Option<String> {
    let Goal::Smart(preset) = goal else { return None };
    preset.target().filter(|&target| score < target).map(|target| {
        format!("the score {score:.2} is below the preset's {target:.0}: the format has no better setting")
    })
}
