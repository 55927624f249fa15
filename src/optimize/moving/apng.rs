//! APNG.

use super::{Moving, Optimised};
use crate::{
    codec::{ApngOptions, EncodeOptions},
    control::Run,
    error::Result,
    picture::Frames,
};

/// Effort of what is delivered.
const EFFORT: u8 = 4;

pub(super) fn optimise(frames: &mut dyn Frames, task: &Moving<'_>, run: Run<'_>) -> Result<Optimised> {
    let bytes = task.codecs.encode(frames, &EncodeOptions::Apng(ApngOptions { effort: EFFORT }), run)?;
    Ok(Optimised { bytes, score: 100.0, warnings: Vec::new() })
}
