//! Documents that a document shows as pictures, in `data:` addresses: cleaned as the one around them is.

use super::super::{data, write};
use super::address::Address;
use crate::{
    codec::svg,
    control::Run,
    error::{Error, Result},
    format::{Format, GZIP_SIGNATURE, sniff},
};

/// Documents within documents that are cleaned; deeper ones are taken out.
const NESTING: u8 = 2;

/// What becomes of a picture.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Picture {
    /// Nothing was wrong with it, or it is of pixels.
    Kept,
    /// Its new address, and what was taken out of it, by name.
    Cleaned(String, Vec<String>),
    /// It is a document that cannot be read, or lies too deep.
    Refused,
}

/// Cleans what `address` holds, which lies in so many documents within the outermost.
pub(super) fn cleaned(address: &str, nesting: u8, run: Run<'_>) -> Result<Picture> {
    let Some((kind, bytes)) = data::content(address) else {
        return Ok(if Address::read(address) == Address::Document { Picture::Refused } else { Picture::Kept });
    };
    if !kind.contains("svg") && sniff(&bytes) != Some(Format::Svg) {
        return Ok(Picture::Kept);
    }
    // Nothing inflates what an address holds, but could be made to here.
    if nesting >= NESTING || bytes.starts_with(GZIP_SIGNATURE) {
        return Ok(Picture::Refused);
    }
    match document(&bytes, nesting + 1, run) {
        Err(stopped @ Error::Stopped(_)) => Err(stopped),
        Err(_) => Ok(Picture::Refused),
        Ok(Picture::Cleaned(clean, removed)) => {
            let view = address.find('#').map_or("", |at| &address[at..]);
            Ok(Picture::Cleaned(clean + view, removed))
        }
        Ok(picture) => Ok(picture),
    }
}

/// The address of a picture of pixels with the type that it has, where `address` says another.
pub(super) fn typed(address: &str) -> Option<String> {
    if matches!(Address::read(address), Address::Picture | Address::Document) {
        return None;
    }
    let (_, bytes) = data::content(address)?;
    let format = sniff(&bytes).filter(|format| *format != Format::Svg)?;
    Some(data::address(format.media_type(), &bytes))
}

fn document(bytes: &[u8], nesting: u8, run: Run<'_>) -> Result<Picture> {
    let text = svg::text(bytes, run)?;
    let super::Cleaned { tree, mut removed, was_clean } = super::cleaned(&text, nesting, run)?;
    if was_clean && !text.typed {
        return Ok(Picture::Kept);
    }
    if removed.is_empty() {
        removed.push("prolog".to_owned());
    }
    Ok(Picture::Cleaned(data::address(Format::Svg.media_type(), write::write(&tree).as_bytes()), removed))
}
