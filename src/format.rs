//! File formats, recognised by content alone.

use std::{cell::Cell, fmt};

use serde::{Deserialize, Serialize};

/// A file format that requests and results can name. Serialises as its [name](Self::name).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
pub enum Format {
    /// JPEG, in any of its codings.
    Jpeg,
    /// PNG of one frame.
    Png,
    /// PNG with animation chunks.
    Apng,
    /// GIF, still or animated.
    Gif,
    /// WebP, still or animated.
    Webp,
    /// SVG, plain or gzipped.
    Svg,
    /// AVIF.
    Avif,
}

impl Format {
    /// The name used in results: `JPEG`, `WEBP`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jpeg => "JPEG",
            Self::Png => "PNG",
            Self::Apng => "APNG",
            Self::Gif => "GIF",
            Self::Webp => "WEBP",
            Self::Svg => "SVG",
            Self::Avif => "AVIF",
        }
    }

    /// The usual file name extension, without a dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png | Self::Apng => "png",
            Self::Gif => "gif",
            Self::Webp => "webp",
            Self::Svg => "svg",
            Self::Avif => "avif",
        }
    }

    /// The media type, as in `Content-Type`.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Apng => "image/apng",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Svg => "image/svg+xml",
            Self::Avif => "image/avif",
        }
    }
}

/// The `Content-Encoding` of a file of this type and name. No browser shows a gzipped SVG without, which is named `svgz`.
pub(crate) fn content_encoding(media_type: &str, name: &str) -> Option<&'static str> {
    let gzipped = name.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("svgz"));
    (gzipped && media_type == Format::Svg.media_type()).then_some("gzip")
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Names the format of `bytes` by their content, or `None`. Reads no more than signatures, the chunk headers that
/// tell APNG from PNG, and the start of a text that may be SVG; never fails, never allocates.
pub fn sniff(bytes: &[u8]) -> Option<Format> {
    if bytes.starts_with(&[0xFF, 0xD8, 0xFF]) {
        Some(Format::Jpeg)
    } else if bytes.starts_with(PNG_SIGNATURE) {
        Some(if animation_control_precedes_data(bytes) { Format::Apng } else { Format::Png })
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        Some(Format::Gif)
    } else if bytes.len() >= 12 && bytes.starts_with(b"RIFF") && &bytes[8..12] == b"WEBP" {
        Some(Format::Webp)
    } else if is_avif(bytes) {
        Some(Format::Avif)
    } else if bytes.starts_with(GZIP_SIGNATURE) || looks_like_svg(bytes) {
        // Of the formats known here only SVG comes gzipped; its probe looks inside.
        Some(Format::Svg)
    } else {
        None
    }
}

/// The eight bytes that open every PNG.
pub(crate) const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The two bytes that open every gzipped file.
pub(crate) const GZIP_SIGNATURE: &[u8] = &[0x1F, 0x8B];

/// Walks chunk headers: a valid APNG has its `acTL` before the first `IDAT`.
fn animation_control_precedes_data(bytes: &[u8]) -> bool {
    let mut at = PNG_SIGNATURE.len();
    while let Some(header) = bytes.get(at..at + 8) {
        match &header[4..] {
            b"acTL" => return true,
            b"IDAT" | b"IEND" => return false,
            _ => {}
        }
        let length = u32::from_be_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let Some(next) = at.checked_add(length).and_then(|end| end.checked_add(12)) else { return false };
        at = next;
    }
    false
}

/// An ISO media file whose `ftyp` box lists an AVIF brand.
fn is_avif(bytes: &[u8]) -> bool {
    let Some(header) = bytes.get(..8) else { return false };
    let length = u32::from_be_bytes([header[0], header[1], header[2], header[3]]) as usize;
    &header[4..] == b"ftyp"
        && bytes[8..bytes.len().min(length.clamp(8, 4096))]
            .chunks_exact(4)
            .any(|brand| brand == b"avif" || brand == b"avis")
}

/// Text whose first element, behind a byte order mark, declarations, comments and white space, is `svg`, with or
/// without a namespace prefix.
fn looks_like_svg(bytes: &[u8]) -> bool {
    let Some(at) = first_element(markup(bytes)) else { return false };
    let ends = |c: &u8| c.is_ascii_whitespace() || matches!(c, b'>' | b'/');
    let name: ([u8; 64], usize) =
        markup(bytes).skip(at).take_while(|c| !ends(c)).take(64).fold(([0; 64], 0), |(mut name, length), c| {
            name[length] = c;
            (name, length + 1)
        });
    is_svg_name(&name.0[..name.1])
}

/// Whether an element of this name, with or without a namespace prefix, is `svg`.
pub(crate) fn is_svg_name(name: &[u8]) -> bool {
    name == b"svg" || name.ends_with(b":svg")
}

/// How much of a text is searched for its first element, which comments and declarations push back.
pub(crate) const MARKUP_WINDOW: usize = 64 << 10;

/// The beginning of a text with a byte a character: of UTF-16 only the lower halves, which is all that markup uses.
pub(crate) fn markup(bytes: &[u8]) -> impl Iterator<Item = u8> {
    let (skip, step) = match bytes {
        [0xFF, 0xFE, ..] => (2, 2),
        [0xFE, 0xFF, ..] => (3, 2),
        [0xEF, 0xBB, 0xBF, ..] => (3, 1),
        _ => (0, 1),
    };
    bytes.iter().skip(skip).step_by(step).take(MARKUP_WINDOW).copied()
}

/// The place of the name of the first element, behind comments, instructions and a document type; `None` where something
/// else comes first, or does not end.
pub(crate) fn first_element(text: impl Iterator<Item = u8>) -> Option<usize> {
    let read = Cell::new(0);
    let mut text = text.inspect(|_| read.set(read.get() + 1));
    loop {
        text.find(|c| !c.is_ascii_whitespace()).filter(|c| *c == b'<')?;
        match text.next()? {
            b'?' => skip_past(&mut text, b"?>")?,
            b'!' => skip_declaration(&mut text)?,
            _ => return Some(read.get() - 1),
        }
    }
}

/// Steps over a comment or a document type behind its `<!`. In the quotes, comments and instructions of the latter no
/// bracket counts.
fn skip_declaration(text: &mut impl Iterator<Item = u8>) -> Option<()> {
    let (mut depth, mut last) = (0i32, *b"<!");
    loop {
        let c = text.next()?;
        match (last, c) {
            ([b'!', b'-'], b'-') => {
                skip_past(text, b"-->")?;
                if depth == 0 {
                    return Some(());
                }
            }
            ([_, b'<'], b'?') => skip_past(text, b"?>")?,
            (_, b'"' | b'\'') => skip_past(text, &[c])?,
            (_, b'[') => depth += 1,
            (_, b']') => depth -= 1,
            (_, b'>') if depth <= 0 => return Some(()),
            _ => {}
        }
        last = [last[1], c];
    }
}

/// Steps over the first place where the text reads `end`, of three bytes at most.
fn skip_past(text: &mut impl Iterator<Item = u8>, end: &[u8]) -> Option<()> {
    let mut last = [0; 3];
    text.find(|c| {
        last = [last[1], last[2], *c];
        last.ends_with(end)
    })
    .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_name_their_formats() {
        let cases: [(&[u8], Option<Format>); 10] = [
            (b"\xFF\xD8\xFF\xE0", Some(Format::Jpeg)),
            (b"\x89PNG\r\n\x1a\n", Some(Format::Png)),
            (b"GIF89a", Some(Format::Gif)),
            (b"RIFF\x04\0\0\0WEBPVP8 ", Some(Format::Webp)),
            (b"\0\0\0\x18ftypmif1\0\0\0\0mif1avif", Some(Format::Avif)),
            (b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom", None),
            (b"\x1F\x8B\x08", Some(Format::Svg)),
            (b"<html><svg/></html>", None),
            (b"", None),
            (b"BM", None),
        ];
        for (bytes, format) in cases {
            assert_eq!(sniff(bytes), format, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn an_animation_control_chunk_before_the_data_makes_a_png_an_apng() {
        let chunk = |kind: &[u8]| [&[0, 0, 0, 1], kind, &[7, 0, 0, 0, 0]].concat();
        let file =
            |kinds: &[&[u8]]| kinds.iter().fold(PNG_SIGNATURE.to_vec(), |file, kind| [file, chunk(kind)].concat());
        assert_eq!(sniff(&file(&[b"IHDR", b"acTL", b"IDAT"])), Some(Format::Apng));
        assert_eq!(sniff(&file(&[b"IHDR", b"IDAT", b"acTL"])), Some(Format::Png));
    }

    #[test]
    fn svg_is_found_behind_every_usual_prologue() {
        let utf16: Vec<u8> =
            [0xFF, 0xFE].into_iter().chain("<svg/>".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        let cases: [&[u8]; 10] = [
            b"<?xml-stylesheet href=\"a.css\" title=\"a>b\"?><svg xmlns='http://www.w3.org/2000/svg'/>",
            b"<!DOCTYPE svg [<?a [ ?><!-- don't --><!ENTITY b \"]>\">]><svg/>",
            b"<svg xmlns='http://www.w3.org/2000/svg'/>",
            b"\xEF\xBB\xBF<?xml version='1.0'?>\n<svg>",
            b"<!-- a > b --><svg/>",
            b"<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"x\"><svg/>",
            b"<!DOCTYPE svg [<!ENTITY a \"b\"><!ENTITY c \"d\">]><svg/>",
            b"<!DOCTYPE svg [ <!ENTITY a \"b\"> ] ><svg/>",
            b"<s:svg xmlns:s='http://www.w3.org/2000/svg'>",
            &utf16,
        ];
        for case in cases {
            assert_eq!(sniff(case), Some(Format::Svg), "{:?}", String::from_utf8_lossy(case));
        }
        for case in [&b"<!-- <svg> -->"[..], b"<?xml version='1.0'?><html/>", b"<", b"<!"] {
            assert_eq!(sniff(case), None, "{:?}", String::from_utf8_lossy(case));
        }
    }
}
