//! Pictures that a document holds in `data:` links. What any other link leads to is never read.

use std::sync::Arc;

use imagesize::ImageType;
use resvg::usvg::ImageKind;

use super::{
    draw,
    fonts::{Fontless, Fonts},
    read,
};
use crate::{
    control::Run,
    error::{Error, Result},
};

/// Documents within documents within documents.
const NESTING: u8 = 3;

/// The picture in `bytes`, by its content: PNG, JPEG, GIF (its first frame), WebP or SVG; `None`, as in browsers, for what
/// is none of them or is damaged.
///
/// # Errors
/// [`Error::Limit`] for pictures larger than a source may be, or nested too deep.
pub(super) fn picture(
    bytes: Arc<Vec<u8>>,
    fonts: (&Fonts, &Fontless),
    nesting: u8,
    run: Run<'_>,
) -> Result<Option<ImageKind>> {
    run.check()?;
    let kind = match imagesize::image_type(&bytes) {
        Ok(ImageType::Png) => ImageKind::PNG,
        Ok(ImageType::Jpeg) => ImageKind::JPEG,
        Ok(ImageType::Gif) => ImageKind::GIF,
        Ok(ImageType::Webp) => ImageKind::WEBP,
        _ => return drawing(&bytes, fonts, nesting, run),
    };
    let Ok(size) = imagesize::blob_size(&bytes) else { return Ok(None) };
    let side = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
    run.limits.check_canvas(side(size.width), side(size.height), 1)?;
    Ok(Some(kind(bytes)))
}

fn drawing(bytes: &[u8], fonts: (&Fonts, &Fontless), nesting: u8, run: Run<'_>) -> Result<Option<ImageKind>> {
    if nesting == NESTING {
        return Err(Error::Limit { limit: "SVG within SVG", wanted: u64::from(NESTING) + 1, allowed: NESTING.into() });
    }
    let tree = read::text(bytes, run).and_then(|text| draw::converted(&text, fonts, nesting + 1, run));
    match tree {
        // (Its background has no place in that, and is not drawn.)
        Ok((tree, _)) => Ok(Some(ImageKind::SVG(tree))),
        Err(Error::Input { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
