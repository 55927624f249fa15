//! Bytes to text, and text to a document, within the limits.

use std::{borrow::Cow, ops::Deref};

use libdeflater::{DecompressionError, Decompressor};
use roxmltree::{Document, ParsingOptions};

use super::{damaged, entities, scan};
use crate::{
    control::Run,
    error::{Error, Result},
    format::{Format, GZIP_SIGNATURE},
    limits::within,
};

/// The namespace of SVG.
pub(crate) const NAMESPACE: &str = "http://www.w3.org/2000/svg";
/// Bytes around the content of a gzipped file.
const GZIP_FRAME: usize = 18;
/// Bytes that one byte of DEFLATE can hold: two codes of a bit each, a length of 258 and its distance, in two bits.
const MOST_IN_A_BYTE: u64 = 4 * 258;

/// The text of a document: inflated if it was gzipped, in UTF-8 whatever it was stored in, without a byte order mark and a
/// document type, with what internal entities stand for in their places.
pub(crate) struct Text<'a> {
    text: Cow<'a, str>,
    /// There was a document type.
    pub typed: bool,
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// The text of a document.
///
/// UTF-8 and UTF-16 are recognised by themselves; ISO 8859-1 and Windows-1252 where the XML declaration names them.
///
/// # Errors
/// [`Error::Limit`] for more than [`svg_text_bytes`](crate::Limits::svg_text_bytes), [`Error::Input`] for bytes that are no
/// text of these encodings; those of entities.
pub(crate) fn text<'a>(bytes: &'a [u8], run: Run<'_>) -> Result<Text<'a>> {
    run.check()?;
    let text = match inflated(bytes, run)? {
        Cow::Borrowed(bytes) => decoded(bytes)?,
        Cow::Owned(bytes) => Cow::Owned(decoded(&bytes)?.into_owned()),
    };
    within("SVG text in bytes", text.len() as u64, run.limits.svg_text_bytes)?;
    Ok(match entities::resolved(&text, run)? {
        Some(resolved) => Text { text: resolved.into(), typed: true },
        None => Text { text, typed: false },
    })
}

/// The document of `text`, whose root element is `svg` in the namespace of SVG. It has no document type, and no entities
/// but those of XML itself: the use of others is an error.
///
/// Without the namespace a file is no SVG: browsers show nothing of it as an image, and what is drawn of it elsewhere
/// differs.
///
/// # Errors
/// [`Error::Limit`] as of the `svg_` limits, before anything is built; [`Error::Input`] for what is not well-formed.
pub(crate) fn document<'a>(text: &'a str, run: Run<'_>) -> Result<Document<'a>> {
    scan::check(text, run)?;
    let document = Document::parse_with_options(text, ParsingOptions::default())
        .map_err(|error| Error::damaged(Format::Svg, malformed(&error), error))?;
    run.check()?;
    let root = document.root_element().tag_name();
    match (root.name(), root.namespace()) {
        ("svg", Some(NAMESPACE)) => Ok(document),
        ("svg", _) => Err(damaged(format!("lacks the namespace {NAMESPACE}"))),
        _ => Err(damaged("has another root element than svg")),
    }
}

/// What is wrong with XML, and where; names of the document that are longer than any in use are left out.
fn malformed(error: &roxmltree::Error) -> String {
    const LONGEST_NAME: usize = 64;
    let (row, column) = (error.pos().row, error.pos().col);
    match error {
        roxmltree::Error::NoRootNode => "is not well-formed XML: it has no element".to_owned(),
        roxmltree::Error::UnclosedRootNode => "is not well-formed XML: it ends within an element".to_owned(),
        roxmltree::Error::UnknownNamespace(prefix, _) if prefix.len() <= LONGEST_NAME => {
            format!(
                "is not well-formed XML: nothing declares the namespace prefix {prefix}, line {row}, column {column}"
            )
        }
        roxmltree::Error::UnknownEntityReference(name, _) if name.len() <= LONGEST_NAME => {
            format!("is not well-formed XML: nothing declares the entity {name}, line {row}, column {column}")
        }
        _ => format!("is not well-formed XML: line {row}, column {column}"),
    }
}

/// What is in a gzipped file, never more than the limit allows; other files as they are. The length is what the end of
/// the file says, so that a bomb is refused before it is lit.
pub(super) fn inflated<'a>(bytes: &'a [u8], run: Run<'_>) -> Result<Cow<'a, [u8]>> {
    if !bytes.starts_with(GZIP_SIGNATURE) {
        return Ok(Cow::Borrowed(bytes));
    }
    let Some(length) = bytes.last_chunk().filter(|_| bytes.len() >= GZIP_FRAME) else {
        return Err(damaged(format!("is gzipped and cut off after {} bytes", bytes.len())));
    };
    let length = u32::from_le_bytes(*length);
    if u64::from(length) > MOST_IN_A_BYTE * bytes.len() as u64 {
        let problem =
            format!("is gzipped and cut off, or damaged: {} bytes do not hold the {length} it says", bytes.len());
        return Err(damaged(problem));
    }
    within("inflated SVG in bytes", length.into(), run.limits.svg_text_bytes)?;
    let mut text = vec![0; length as usize];
    match Decompressor::new().gzip_decompress(bytes, &mut text) {
        Ok(written) if written == text.len() => Ok(Cow::Owned(text)),
        Ok(_) | Err(DecompressionError::InsufficientSpace) => {
            Err(damaged(format!("is gzipped and does not inflate to the {length} bytes it says")))
        }
        Err(DecompressionError::BadData) => Err(damaged("is gzipped and damaged")),
    }
}

fn decoded(bytes: &[u8]) -> Result<Cow<'_, str>> {
    match bytes {
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [b'<', 0, ..] => utf16(bytes, u16::from_le_bytes),
        [0, b'<', ..] => utf16(bytes, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest),
        _ => match declared_encoding(bytes) {
            Some(name) if is_latin(name) => Ok(Cow::Owned(bytes.iter().map(|&byte| windows_1252(byte)).collect())),
            _ => utf8(bytes),
        },
    }
}

fn utf8(bytes: &[u8]) -> Result<Cow<'_, str>> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let problem = format!("is not UTF-8 from byte {} on, and names no other known encoding", error.valid_up_to());
        Error::damaged(Format::Svg, problem, error)
    })?;
    Ok(Cow::Borrowed(text))
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Cow<'_, str>> {
    let (units, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(damaged("is UTF-16 of an odd number of bytes"));
    }
    let text: Result<String, _> = char::decode_utf16(units.iter().map(|&bytes| unit(bytes))).collect();
    text.map(Cow::Owned).map_err(|error| Error::damaged(Format::Svg, "is not valid UTF-16", error))
}

/// The encoding that the XML declaration names.
fn declared_encoding(bytes: &[u8]) -> Option<&[u8]> {
    let declaration = bytes.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..declaration.windows(2).position(|end| end == b"?>")?];
    let name = declaration.windows(8).position(|word| word == b"encoding")? + 8;
    let value = declaration[name..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (&quote, value) = value.split_first()?;
    value.split(|&c| c == quote).next()
}

/// Whether `name` is one of those that browsers read as Windows-1252.
fn is_latin(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 7] =
        [b"iso-8859-1", b"iso8859-1", b"latin1", b"latin-1", b"windows-1252", b"cp1252", b"us-ascii"];
    NAMES.iter().any(|latin| name.eq_ignore_ascii_case(latin))
}

/// A byte of Windows-1252 as the Encoding Standard reads it.
fn windows_1252(byte: u8) -> char {
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}', '\u{90}', '‘',
        '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9F => HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}
