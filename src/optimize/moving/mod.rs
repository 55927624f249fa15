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

use super::{Goal, Optimised, is_deeper, no_larger_than_high, shallow};
use crate::{
    codec::Codecs,
    control::Run,
    error::{Error, Result, guarded},
    format::Format,
    picture::{Depth, Frames},
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

/// Pixels of a canvas beyond which no errors are looked for in APNG and WebP: to compare one frame with another takes some 80
/// bytes for each.
const LARGEST: u64 = 16 << 20;

/// Bytes of a file of so many frames that take hardly more than every file and frame has to: errors spare nothing there, as large
/// as the canvas may be. (A GIF has 40 bytes beside its frames and 24 a frame at least, an APNG 110 and 66, a WebP 44 and 44.)
fn bare(format: Format, count: u32) -> usize {
    let (file, frame) = match format {
        Format::Gif => (40, 36),
        Format::Apng => (110, 80),
        Format::Webp => (44, 56),
        _ => (0, 0),
    };
    file + frame * count as usize
}

/// The smallest file that shows `frames`, in sRGB, and meets the goal; and the fewest bytes that it may take without loss,
/// where that came to light.
pub(crate) fn optimise(frames: &mut dyn Frames, task: &Moving<'_>, run: Run<'_>) -> Result<(Optimised, Option<u64>)> {
    guarded("optimising", || {
        let exact = matches!(task.goal, Goal::Lossless | Goal::Quality(100));
        let deeper = exact && task.format != Format::Apng && are_deeper(frames, run)?;
        let is_bare = task.stored.is_some_and(|stored| stored.len() <= bare(task.format, task.count));
        let is_large = !exact && task.format != Format::Gif && frames.layout().pixels() > LARGEST;
        let goal = if is_bare || is_large { Goal::Lossless } else { task.goal };
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
        let (mut done, outlook) = no_larger_than_high(goal, |_| Ok(task.format != Format::Gif), by)?;
        done.warnings.extend(deeper.then(|| shallow(task.format)));
        done.warnings.extend(is_large.then(|| format!("frames of more than {LARGEST} pixels are coded without loss")));
        Ok((done, outlook))
    })
}

/// Whether a frame has more than 8 bits that say something.
fn are_deeper(frames: &mut dyn Frames, run: Run<'_>) -> Result<bool> {
    if frames.layout().depth == Depth::Eight {
        return Ok(false);
    }
    let mut deeper = false;
    while let Some(frame) = frames.next(run)?.filter(|_| !deeper) {
        deeper = is_deeper(&frame.picture);
    }
    frames.restart()?;
    Ok(deeper)
}

#[cfg(all(test, feature = "gif", feature = "png", feature = "webp"))]
mod tests {
    use super::*;
    use crate::{
        control::Unattended,
        limits::Limits,
        optimize::Preset,
        picture::{Channels, Picture, Samples, Shown},
    };

    #[test]
    fn bits_that_a_format_does_not_hold_are_told_of_where_nothing_was_to_be_lost() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let codecs = Codecs::default();
        for (sample, told) in [(0x1234, 1), (0x1212, 0)] {
            let warned = |format| {
                let task = Moving { codecs: &codecs, format, goal: Goal::Lossless, stored: None, count: 2 };
                let picture =
                    |first| Picture::new(2, 1, Channels::Gray, Samples::Sixteen(vec![first, sample])).unwrap();
                let done = optimise(&mut Shown::new(vec![picture(0), picture(257)]), &task, run).unwrap().0;
                done.warnings.iter().filter(|warning| warning.contains("8 bits")).count()
            };
            assert_eq!([warned(Format::Gif), warned(Format::Apng)], [told, 0], "{sample:x}");
        }
    }

    #[test]
    fn canvases_that_would_take_too_much_to_compare_are_coded_without_loss_and_told_of() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let codecs = Codecs::default();
        for (side, told) in [(64, 0), (4_097, 1)] {
            let goal = Goal::Smart(Preset::High);
            let task = Moving { codecs: &codecs, format: Format::Webp, goal, stored: None, count: 2 };
            let samples = |value| Samples::Eight(vec![value; (side * side) as usize]);
            let picture = |value| Picture::new(side, side, Channels::Gray, samples(value)).unwrap();
            let done = optimise(&mut Shown::new(vec![picture(10), picture(12)]), &task, run).unwrap().0;
            let warned = done.warnings.iter().filter(|warning| warning.contains("without loss")).count();
            assert_eq!(warned, told, "{side}: {:?}", done.warnings);
            assert!(told == 0 || done.score == 100.0, "{}", done.score);
        }
    }

    #[test]
    fn errors_are_not_made_where_frames_take_hardly_more_than_all_have_to() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let code = |at: u32| (at.wrapping_mul(0x9E37_79B1) >> 24) as u8;
        let noise = |channels: Channels, seed: u32| {
            let count = 40 * 40 * channels.count() as u32;
            let samples = (0..count).map(|at| code(at + seed * count)).collect();
            Picture::new(40, 40, channels, Samples::Eight(samples)).unwrap()
        };
        let codecs = Codecs::default();
        for (format, channels, least) in [(Format::Gif, Channels::Gray, 24), (Format::Apng, Channels::Rgb, 66)] {
            let score = |bytes: usize| {
                let stored = vec![0; bytes];
                let goal = Goal::Smart(Preset::High);
                let task = Moving { codecs: &codecs, format, goal, stored: Some(&stored), count: 3 };
                let mut frames = Shown::new([1, 2, 3].map(|seed| noise(channels, seed)).to_vec());
                optimise(&mut frames, &task, run).unwrap().0.score
            };
            let scores = [3, 9].map(|frames| score(frames * least));
            assert!(scores[0] == 100.0 && scores[1] < 100.0, "{format}: {scores:?}");
        }
    }
}
