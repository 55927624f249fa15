use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::super::{Settings, tree::Tree};
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
        let Some(bytes) = content(href) else { continue };
        match optimised(&bytes, settings)? {
            Some((format, bytes)) => {
                tree.set(id, "href", format!("data:{};base64,{}", format.media_type(), STANDARD.encode(bytes)))
            }
            None if href.contains(char::is_whitespace) => {
                let compact: String = href.split_ascii_whitespace().collect();
                tree.set(id, "href", compact);
            }
            None => {}
        }
    }
    Ok(())
}

/// What a `data:` address in Base64 holds.
fn content(href: &str) -> Option<Vec<u8>> {
    let (head, data) = href.trim().split_once(',')?;
    let head = head.to_ascii_lowercase();
    if !head.starts_with("data:image/") || !head.trim_end().ends_with(";base64") {
        return None;
    }
    let data: String = data.split_ascii_whitespace().collect();
    STANDARD.decode(data).ok()
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
