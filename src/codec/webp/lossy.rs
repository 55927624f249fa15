//! Lossy files whose pixels are coded anew from what is stored, without a detour over colours.

use super::{
    container,
    riff::{Content, File, Image},
    vp8::KeyFrame,
};
use crate::{control::Run, error::Result};

/// A lossy still.
#[derive(Debug)]
pub(crate) struct LossyFile<'a> {
    file: File<'a>,
    image: Image<'a>,
    frame: KeyFrame,
}

impl<'a> LossyFile<'a> {
    /// Reads a WebP file, unless it is lossless or moves.
    pub(crate) fn parse(bytes: &'a [u8], run: Run<'_>) -> Result<Option<Self>> {
        let file = File::parse(bytes)?;
        match file.content {
            Content::Still(image) if !image.header.lossless => {
                let frame = KeyFrame::parse(image.data, run)?;
                Ok(Some(Self { file, image, frame }))
            }
            _ => Ok(None),
        }
    }

    /// A file without metadata of the same picture, coded with better odds; `None` where the format has no room.
    pub(crate) fn same(&self, run: Run<'_>) -> Result<Option<Vec<u8>>> {
        self.with(&self.frame, run)
    }

    /// The same with coefficients for which a bit is worth an error of `worth` squared quantiser steps.
    pub(crate) fn coarser(&self, worth: f32, run: Run<'_>) -> Result<Option<Vec<u8>>> {
        self.with(&self.frame.coarser(worth, run)?, run)
    }

    fn with(&self, frame: &KeyFrame, run: Run<'_>) -> Result<Option<Vec<u8>>> {
        let Some(data) = frame.write(run)? else { return Ok(None) };
        let mut file: File<'_> = self.file.clone();
        file.content = Content::Still(Image { data: &data, ..self.image });
        container::bare(&file, run).map(Some)
    }
}
