//! Trying an encoding: bytes and the score of what a decoder makes of them.

use super::{Optimised, Task, metric::Reference, search::Trial};
use crate::{
    codec::{DecodeOptions, EncodeOptions},
    control::Run,
    error::{Error, Result},
    picture::{Picture, Still},
};

/// Encodes `picture`.
pub(crate) fn encode(task: &Task<'_>, picture: &Picture, options: &EncodeOptions, run: Run<'_>) -> Result<Vec<u8>> {
    run.check()?;
    task.codecs.encode(&mut Still::new(picture), options, run)
}

/// Encodes `picture` and scores what a decoder makes of it.
pub(crate) fn trial(
    task: &Task<'_>,
    picture: &Picture,
    reference: &Reference,
    knob: f64,
    options: &EncodeOptions,
    run: Run<'_>,
) -> Result<Trial> {
    let file = encode(task, picture, options, run)?;
    let score = score(task, reference, &file, run)?;
    Ok(Trial { knob, score, file })
}

/// The task's picture with these very settings.
pub(crate) fn fixed(task: &Task<'_>, options: &EncodeOptions, run: Run<'_>) -> Result<Optimised> {
    let bytes = encode(task, task.picture, options, run)?;
    let score = score(task, &Reference::new(task.picture, run)?, &bytes, run)?;
    Ok(Optimised { bytes, score, warnings: Vec::new() })
}

/// Decodes a file of the task's format and scores it.
pub(crate) fn score(task: &Task<'_>, reference: &Reference, bytes: &[u8], run: Run<'_>) -> Result<f64> {
    run.check()?;
    let mut frames = task.codecs.frames(task.format, bytes, &DecodeOptions::default(), run)?;
    let frame =
        frames.next(run)?.ok_or_else(|| Error::internal("scoring", "an encoder wrote a file without frames"))?;
    reference.score(&frame.picture, run)
}
