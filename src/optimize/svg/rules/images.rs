use std::cell::RefCell;

use super::super::{Settings, data, tree::Tree};
use crate::{
    codec::Codecs,
    control::Run,
    engine::{Engine, Input},
    error::{Error, Result},
    format::{Format, sniff},
    request::{Compression, Optimize, Request},
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

/// How pictures are made smaller, and what came of those that were: source, way and result.
#[derive(Debug, Default)]
pub(in super::super) struct Pictures {
    codecs: Codecs,
    known: RefCell<Vec<(Vec<u8>, Compression, Smaller)>>,
}

/// A format and its bytes; `None` where nothing is smaller.
type Smaller = Option<(Format, Vec<u8>)>;

impl Pictures {
    pub(in super::super) fn new(codecs: &Codecs) -> Self {
        Self { codecs: codecs.clone(), known: RefCell::default() }
    }

    /// Asked for again and again as rules run again, a picture is worked on once.
    fn smaller(&self, bytes: &[u8], compression: Compression, run: Run<'_>) -> Result<Smaller> {
        let same = |(source, way, _): &&(Vec<u8>, Compression, Smaller)| source == bytes && *way == compression;
        if let Some((.., done)) = self.known.borrow().iter().find(same) {
            return Ok(done.clone());
        }
        let request = Request { optimize: Some(Optimize::preset(compression)), ..Request::default() };
        let engine = Engine::new().with_codecs(self.codecs.clone()).with_limits(run.limits.clone());
        let done = match engine.process(Input { bytes, name: None }, &request, run.control) {
            Ok(done) if done.bytes.len() < bytes.len() => sniff(&done.bytes).map(|format| (format, done.bytes)),
            Err(Error::Stopped(stop)) => return Err(Error::Stopped(stop)),
            // What does not decode here may decode elsewhere.
            Ok(_) | Err(_) => None,
        };
        self.known.borrow_mut().push((bytes.to_vec(), compression, done.clone()));
        Ok(done)
    }
}

/// The picture made smaller as the document is; `None` where it cannot be, or is not.
fn optimised(bytes: &[u8], settings: &Settings<'_>) -> Result<Smaller> {
    let Some(format) = sniff(bytes) else { return Ok(None) };
    if format == Format::Svg {
        return Ok(super::super::nested(bytes, settings)?.map(|text| (format, text.into_bytes())));
    }
    let Some(compression) = settings.embedded else { return Ok(None) };
    settings.pictures.smaller(bytes, compression, settings.run)
}
