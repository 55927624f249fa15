//! What the root element of an SVG tells of its size.

use super::damaged;
use crate::{
    codec::{ColourModel, Info},
    control::Run,
    error::Result,
    format::{Format, MARKUP_WINDOW, first_element, is_svg_name, markup},
    picture::Orientation,
};

/// The size of an SVG that names none, in pixels, as in browsers.
const DEFAULT_SIZE: (f64, f64) = (300.0, 150.0);

/// Reads the attributes of the root element: the width and height they give, else those of the view box, in CSS pixels
/// rounded up. One side alone takes the other from the view box's shape.
pub(crate) fn probe(bytes: &[u8], run: Run<'_>) -> Result<Info> {
    run.check()?;
    let bytes = inflated(bytes, run)?;
    let text: Vec<u8> = markup(&bytes).collect();
    let tag =
        root_tag(&text).ok_or_else(|| damaged(format!("has no root element in its first {MARKUP_WINDOW} bytes")))?;
    let (width, height) = size(|name| attribute(tag, name));
    let whole = |side: f64| side.ceil().max(1.0) as u32;
    Ok(Info {
        format: Format::Svg,
        width: whole(width),
        height: whole(height),
        frames: 1,
        colour: ColourModel::Rgb,
        alpha: true,
        bits_per_pixel: 32,
        sampling: None,
        interlaced: None,
        quality: None,
        lossless: Some(true),
        orientation: Orientation::Upright,
        icc: false,
    })
}

#[cfg(feature = "svg")]
use super::read::inflated;

#[cfg(not(feature = "svg"))]
fn inflated<'a>(bytes: &'a [u8], _: Run<'_>) -> Result<std::borrow::Cow<'a, [u8]>> {
    match bytes.starts_with(crate::format::GZIP_SIGNATURE) {
        true => Err(crate::error::Error::unsupported("gzipped SVG")),
        false => Ok(bytes.into()),
    }
}

/// What stands between `<svg` and the end of that tag, behind comments, declarations and a document type.
fn root_tag(text: &[u8]) -> Option<&[u8]> {
    let text = &text[first_element(text.iter().copied())?..];
    let tag = &text[..tag_length(text)?];
    let name = tag.iter().position(|c| c.is_ascii_whitespace() || *c == b'/').unwrap_or(tag.len());
    let (name, attributes) = tag.split_at(name);
    is_svg_name(name).then_some(attributes)
}

/// The place of the `>` that is outside of quotes.
pub(super) fn tag_length(text: &[u8]) -> Option<usize> {
    let mut quote = None;
    text.iter().position(|&c| {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, b'"' | b'\'') => quote = Some(c),
            (None, b'>') => return true,
            _ => {}
        }
        false
    })
}

/// Width and height of a root element by its attributes, in CSS pixels.
pub(crate) fn size<'a>(attribute: impl Fn(&str) -> Option<&'a str>) -> (f64, f64) {
    let side = |name| attribute(name).and_then(|value| length_px(value.trim()));
    let view_box = attribute("viewBox").and_then(view_box_size);
    match (side("width"), side("height"), view_box) {
        (Some(width), Some(height), _) => (width, height),
        (Some(width), None, Some((w, h))) => (width, width * h / w),
        (None, Some(height), Some((w, h))) => (height * w / h, height),
        (None, None, Some(size)) => size,
        (width, height, None) => (width.unwrap_or(DEFAULT_SIZE.0), height.unwrap_or(DEFAULT_SIZE.1)),
    }
}

/// The value of an attribute without a namespace.
fn attribute<'a>(mut tag: &'a [u8], wanted: &str) -> Option<&'a str> {
    loop {
        let (name, rest) = split_at_byte(tag, b'=')?;
        let (&quote, rest) = rest.trim_ascii_start().split_first()?;
        let (value, rest) = split_at_byte(rest, quote)?;
        if name.trim_ascii() == wanted.as_bytes() {
            return std::str::from_utf8(value).ok();
        }
        tag = rest;
    }
}

fn split_at_byte(text: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|&c| c == byte)?;
    Some((&text[..at], &text[at + 1..]))
}

/// A length in CSS pixels; `None` if it is no positive number, or relative to something outside the file.
fn length_px(value: &str) -> Option<f64> {
    /// Units of CSS in pixels; those of fonts at the default size.
    const UNITS: [(&str, f64); 8] = [
        ("px", 1.0),
        ("pt", 4.0 / 3.0),
        ("pc", 16.0),
        ("mm", 96.0 / 25.4),
        ("cm", 96.0 / 2.54),
        ("in", 96.0),
        ("em", 16.0),
        ("ex", 8.0),
    ];
    let unit = UNITS.iter().find_map(|(unit, px)| value.strip_suffix(unit).map(|number| (number, *px)));
    let (number, px) = unit.unwrap_or((value, 1.0));
    positive(number.trim_end()).map(|number| number * px)
}

fn view_box_size(value: &str) -> Option<(f64, f64)> {
    let mut numbers = value.split(|c: char| c == ',' || c.is_ascii_whitespace()).filter(|number| !number.is_empty());
    let size = (positive(numbers.nth(2)?)?, positive(numbers.next()?)?);
    numbers.next().is_none().then_some(size)
}

fn positive(number: &str) -> Option<f64> {
    number.parse().ok().filter(|&number: &f64| number.is_finite() && number > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, error::Error, limits::Limits};

    fn probed(text: &[u8]) -> Result<(u32, u32)> {
        let info = probe(text, Run { limits: &Limits::default(), control: &Unattended })?;
        Ok((info.width, info.height))
    }

    #[test]
    fn the_size_comes_from_the_attributes_then_from_the_view_box_then_from_the_default() {
        let cases = [
            ("<svg width='20' height=\"10.2px\"/>", (20, 11)),
            ("<svg\n width = '1in' height='2.54cm'>", (96, 96)),
            ("<svg viewBox='0 0 40,20'/>", (40, 20)),
            ("<svg width='20' viewBox='0 0 40 20'/>", (20, 10)),
            ("<svg height='100%' width='100%' viewBox='-5 -5 40 20'/>", (40, 20)),
            ("<svg width='-4' height='0' stroke-width='7'/>", (300, 150)),
            ("<svg/>", (300, 150)),
            ("<svg viewBox='0 0 0 20'/>", (300, 150)),
            ("<svg width='1e30' height='1'/>", (u32::MAX, 1)),
        ];
        for (text, size) in cases {
            assert_eq!(probed(text.as_bytes()).unwrap(), size, "{text}");
        }
    }

    #[test]
    fn the_root_element_is_found_behind_every_usual_prologue() {
        let utf16: Vec<u8> = [0xFF, 0xFE]
            .into_iter()
            .chain("<svg width='7' height='8'>".encode_utf16().flat_map(u16::to_le_bytes))
            .collect();
        let cases: [&[u8]; 8] = [
            b"<?xml-stylesheet href=\"a.css\" title=\"a>b\"?><svg width='7' height='8'/>",
            b"<!DOCTYPE svg [<?a [ ?><!-- don't -->]><svg width='7' height='8'/>",
            b"\xEF\xBB\xBF<?xml version='1.0'?>\n<svg width='7' height='8'>",
            b"<!-- <svg width='1' height='1'> --><svg width='7' height='8'/>",
            b"<!DOCTYPE svg [<!ENTITY a '<svg width=\"1\">'><!ENTITY b \"]>\">]><svg width='7' height='8'>",
            b"<s:svg title='a > b' width='7' height='8' xmlns:s='http://www.w3.org/2000/svg'>",
            b"<svg\txlink:width='1' width='7' height='8'>",
            &utf16,
        ];
        for case in cases {
            assert_eq!(probed(case).unwrap(), (7, 8), "{:?}", String::from_utf8_lossy(case));
        }
    }

    #[test]
    fn a_root_element_that_does_not_end_or_is_something_else_is_an_error() {
        for text in ["<svg width='1", "<html/>", "", "<!-- ", "<?xml", "<!DOCTYPE svg [", "<"] {
            assert!(matches!(probed(text.as_bytes()), Err(Error::Input { .. })), "{text}");
        }
    }

    #[test]
    fn gzipped_files_are_inflated_or_unsupported_by_name() {
        let problem = match cfg!(feature = "svg") {
            true => "the SVG image is gzipped and cut off after 3 bytes",
            false => "gzipped SVG is not supported",
        };
        assert_eq!(probed(b"\x1F\x8B\x08").unwrap_err().to_string(), problem);
    }
}
