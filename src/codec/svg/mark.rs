//! The comment at the end of a document that is our own, and the way back into its wrapping.

use libdeflater::{CompressionLvl, Compressor};

use crate::{
    error::{Error, Result},
    format::GZIP_SIGNATURE,
};

/// `text` with `mark` in a comment behind it.
pub(crate) fn marked(mut text: Vec<u8>, mark: &str) -> Vec<u8> {
    text.extend_from_slice(format!("<!--{mark}-->").as_bytes());
    text
}

/// The text in front of the comment at its end, and the comment.
pub(crate) fn unmarked(text: &str) -> Option<(&str, &str)> {
    text.strip_suffix("-->")?.rsplit_once("<!--")
}

/// `text` as `source` is stored: gzipped if that was.
///
/// # Errors
/// [`Error::Internal`] if the compressor has no room, which it is given.
pub(crate) fn packed(text: &[u8], source: &[u8]) -> Result<Vec<u8>> {
    if !source.starts_with(GZIP_SIGNATURE) {
        return Ok(text.to_vec());
    }
    let mut compressor = Compressor::new(CompressionLvl::best());
    let mut packed = vec![0; compressor.gzip_compress_bound(text.len())];
    let length = compressor
        .gzip_compress(text, &mut packed)
        .map_err(|error| Error::internal("gzipping an SVG", error.to_string()))?;
    packed.truncate(length);
    Ok(packed)
}
