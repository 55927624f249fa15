//! What the headers of a WebP file tell.

use super::{
    container,
    riff::{Content, File, Flags, damaged},
};
use crate::{
    codec::{ColourModel, Info},
    control::Run,
    error::Result,
    format::Format,
};

/// Reads the headers of the file and of every frame; decodes no pixel.
pub(super) fn probe(bytes: &[u8], run: Run<'_>) -> Result<Info> {
    let file = File::parse(bytes)?;
    let shown = shown(&file, run)?;
    Ok(Info {
        format: Format::Webp,
        width: file.width,
        height: file.height,
        frames: shown.frames,
        colour: ColourModel::Rgb,
        alpha: shown.alpha,
        bits_per_pixel: if shown.alpha { 32 } else { 24 },
        sampling: (shown.lossy && !shown.lossless).then(|| "4:2:0".into()),
        interlaced: None,
        quality: None,
        lossless: (shown.lossy != shown.lossless).then_some(shown.lossless),
        orientation: container::exif(&file, run).orientation(),
        icc: file.announced(Flags::ICC, *b"ICCP").is_some_and(|icc| !icc.is_empty()),
    })
}

/// What all images of a file have in common.
#[derive(Default)]
struct Shown {
    frames: u32,
    alpha: bool,
    lossy: bool,
    lossless: bool,
}

fn shown(file: &File<'_>, run: Run<'_>) -> Result<Shown> {
    let mut shown = Shown::default();
    match file.content {
        Content::Still(image) => {
            let lossless = image.header.lossless;
            shown = Shown { frames: 1, alpha: image.header.alpha, lossy: !lossless, lossless };
        }
        Content::Animation(_) => {
            let mut cleared = false;
            file.for_each_frame(run, |frame| {
                let header = frame.image.header;
                // The canvas is transparent where no frame has been; what blends with opaque pixels is opaque.
                let first = shown.frames == 0;
                let bare = first && (header.width, header.height) != (file.width, file.height);
                shown.frames = shown.frames.saturating_add(1);
                shown.alpha |= bare || cleared || header.alpha && (first || !frame.blends());
                cleared = frame.clears();
                shown.lossy |= !header.lossless;
                shown.lossless |= header.lossless;
            })?;
            if shown.frames == 0 {
                return Err(damaged("has no frames"));
            }
        }
    }
    Ok(shown)
}
