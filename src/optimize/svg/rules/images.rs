use super::super::{Settings, data, tree::Tree};
use crate::{
    engine::{Engine, Input},
    error::{Error, Result},
    format::{Format, sniff},
    request::{Optimize, Request},
};

pub(super) const BEFORE: &str =
    "<svg><image width=\"1\" height=\"1\" href=\"data:image/png;base64,\niVBORw0KGgo=\"/></svg>";
pub(super) const AFTER: &str =
    "<svg><image width=\"1\" height=\"1\" href=\"data:image/png;base64,iVBORw0KGgo=\"/></svg>";

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    for id in tree.elements() {
        settings.run.check()?;
        let Some(href) = tree.get(id, "href").filter(|_| tree.is(id, &["image", "feImage"])) else { continue };
        // A fragment names a part to show.
        let held = data::content(href).filter(|(kind, _)| kind.starts_with("image/") && !href.contains('#'));
        let Some((kind, bytes)) = held else { continue };
        let shorter = match optimised(&bytes, settings)? {
            Some((format, bytes)) => data::address(format.media_type(), &bytes),
            None => data::address(&kind, &bytes),
        };
        if shorter.len() < href.len() {
            tree.set(id, "href", shorter);
        }
    }
    Ok(())
}

/// The picture made smaller as the document is; `None` where it cannot be, or is not.
fn optimised(bytes: &[u8], settings: &Settings<'_>) -> Result<Option<(Format, Vec<u8>)>> {
    let Some(format) = sniff(bytes) else { return Ok(None) };
    if format == Format::Svg {
        return Ok(super::super::nested(bytes, settings)?.map(|text| (format, text.into_bytes())));
    }
    let Some(compression) = settings.embedded else { return Ok(None) };
    let request = Request { optimize: Some(Optimize::preset(compression)), ..Request::default() };
    let engine = Engine::new().with_codecs(settings.codecs.clone()).with_limits(settings.run.limits.clone());
    match engine.process(Input { bytes, name: None }, &request, settings.run.control) {
        Ok(done) if done.bytes.len() < bytes.len() => Ok(sniff(&done.bytes).map(|format| (format, done.bytes))),
        Ok(_) => Ok(None),
        Err(Error::Stopped(stop)) => Err(Error::Stopped(stop)),
        // What does not decode here may decode elsewhere.
        Err(_) => Ok(None),
    }
}
