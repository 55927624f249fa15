//! What is refused before a pixel exists.

use std::sync::Arc;

use super::{
    Means, enhanced, named,
    size::{crops, gravity},
};
use crate::{
    codec::{Codecs, Info},
    error::{Error, Result},
    format::Format,
    limits::Limits,
    operation::Operation,
    optimize::has_strategy,
    request::{self, Request, ResizeMode},
};

/// Work on pixels is refused for a result without, never skipped.
pub(super) fn refuse_work_on_pixels(request: &Request, operations: &[Arc<dyn Operation>]) -> Result<()> {
    use request::Gravity as Asked;
    let gravity = request.resize.as_ref().filter(|resize| crops(resize)).map(|resize| resize.gravity);
    let asked = [
        (r#"the gravity "face""#, gravity == Some(Asked::Face)),
        (r#"the gravity "faces""#, gravity == Some(Asked::Faces)),
        ("denoise", request.denoise.is_some_and(|denoise| denoise.strength > 0)),
        ("light", request.light.is_some_and(|light| light.strength > 0)),
        ("tone", request.tone.is_some_and(|tone| tone != request::Tone::default())),
        ("face", request.face.is_some_and(|face| face.strength > 0)),
        (operations.first().map_or("", |operation| operation.name()), !operations.is_empty()),
    ];
    asked
        .into_iter()
        .find(|(_, asked)| *asked)
        .map_or(Ok(()), |(name, _)| Err(Error::unsupported(format!("{name} of an SVG without a raster output.format"))))
}

/// What cannot be done whatever the source is, and where the request asks for it: formats that nothing writes, networks and a
/// detector of faces that are not there, and exact sizes that are too large.
pub(crate) fn refusals(request: &Request, means: Means<'_>, limits: &Limits) -> Vec<(&'static str, Error)> {
    let Means { codecs, models, .. } = means;
    let exact = match request.resize {
        Some(request::Resize { width: Some(width), height: Some(height), mode, upscale: true, .. })
            if mode != ResizeMode::Auto =>
        {
            limits.check_result(width, height)
        }
        _ => Ok(()),
    };
    let unwritten =
        named(request.output.format).filter(|&format| !codecs.encodes(format) && !codecs.recompresses(format));
    let written = unwritten.map_or(Ok(()), |format| Err(Error::unsupported(format!("writing {format}"))));
    let cropped = request.resize.as_ref().map_or(Ok(()), |resize| gravity(resize).map(drop));
    let asked = [
        ("resize", exact),
        ("resize.gravity", cropped),
        ("output.format", written),
        ("denoise", enhanced::noise_removal(request, models, None).map(drop)),
        ("face", enhanced::faces(request, models).map(drop)),
        ("upscale", enhanced::super_resolution(request, models).map(drop)),
    ];
    asked.into_iter().filter_map(|(path, done)| Some((path, done.err()?))).collect()
}

/// Some formats are only made smaller as they are, and not written from other pixels; so are some animations.
pub(super) fn refuse_what_no_codec_does(
    info: &Info,
    format: Format,
    recompressed: bool,
    moves: bool,
    codecs: &Codecs,
) -> Result<()> {
    let animation = moves && info.frames > 1;
    let recompresses = if animation { codecs.recompresses_animations(format) } else { codecs.recompresses(format) };
    let encodes = if animation { codecs.encodes_animations(format) } else { codecs.encodes(format) };
    if encodes && has_strategy(format) || recompressed && recompresses {
        return Ok(());
    }
    let animated = if animation { "animated " } else { "" };
    Err(Error::unsupported(format!("writing {animated}{format}")))
}
