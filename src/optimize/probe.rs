//! Trying an encoding: bytes and the score of what a decoder makes of them.

use super::{Task, metric::Reference};
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

/// Decodes a file of the task's format and scores it.
pub(crate) fn score(task: &Task<'_>, reference: &Reference, bytes: &[u8], run: Run<'_>) -> Result<f64> {
    run.check()?;
    let mut frames = task.codecs.frames(task.format, bytes, &DecodeOptions::default(), run)?;
    let frame =
        frames.next(run)?.ok_or_else(|| Error::internal("scoring", "an encoder wrote a file without frames"))?;
    reference.score(&frame.picture, run)
}
