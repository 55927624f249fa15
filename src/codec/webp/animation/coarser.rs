//! Animations whose lossy frames are coded anew from what is stored, without a detour over colours.

use crate::{
    codec::webp::{
        container::{AnimationWriter, Stored, lossy_chunks},
        riff::{Content, File},
        vp8::KeyFrame,
    },
    control::Run,
    error::Result,
};

/// An animation with lossy frames.
#[derive(Debug)]
pub(crate) struct LossyAnimation<'a> {
    file: File<'a>,
}

impl<'a> LossyAnimation<'a> {
    /// Reads a WebP file, unless it is a still or all its frames are lossless.
    pub(crate) fn parse(bytes: &'a [u8], run: Run<'_>) -> Result<Option<Self>> {
        let file = File::parse(bytes)?;
        let mut lossy = false;
        if let Content::Animation(_) = file.content {
            file.for_each_frame(run, |frame| lossy |= !frame.image.header.lossless)?;
        }
        Ok(lossy.then_some(Self { file }))
    }

    /// A file without metadata of the same frames, the lossy ones with coefficients for which a bit is worth an error of
    /// `worth` squared quantiser steps. Lossless frames and alpha stay as they are; so do frames that the format has no room
    /// for otherwise.
    pub(crate) fn coarser(&self, worth: f32, run: Run<'_>) -> Result<Vec<u8>> {
        let mut out = AnimationWriter::like(&self.file);
        for frame in self.file.frames() {
            run.check()?;
            let frame = frame?;
            let image = &frame.image;
            let coded = match image.header.lossless {
                true => None,
                false => KeyFrame::parse(image.data, run)?.coarser(worth, run)?.write(run)?,
            };
            let coded = coded.map(|data| lossy_chunks(image.alpha, &data));
            out.frame(&Stored { image: coded.as_deref().unwrap_or(image.coded), ..frame.stored() });
        }
        out.finish()
    }
}
