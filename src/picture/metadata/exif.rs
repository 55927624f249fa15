//! What is read from EXIF, taken over from it, and removed from it (Exif 3.0, CIPA DC-008).

use std::ops::Range;

use super::{
    Keep,
    tiff::{ByteOrder, Directory, Field, Tiff, kind, write},
};
use crate::picture::layout::Orientation;

pub(super) const ARTIST: u16 = 0x013B;
pub(super) const COPYRIGHT: u16 = 0x8298;
const ORIENTATION: u16 = 0x0112;
const DATE_TIME: u16 = 0x0132;
/// Width and height of the picture, in the first directory and in that of EXIF.
const SIZE: [[u16; 2]; 2] = [[0x0100, 0x0101], [0xA002, 0xA003]];
const EXIF_POINTER: u16 = 0x8769;
const GPS_POINTER: u16 = 0x8825;
const INTEROPERABILITY_POINTER: u16 = 0xA005;
/// Date and time of exposure and of digitisation, the offsets of all three times, and their fractions of a second.
const EXIF_DATES: [u16; 8] = [0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x9290, 0x9291, 0x9292];
/// The last tag of the GPS directory that is defined.
const LAST_GPS_TAG: u16 = 0x1F;
/// Fields of the thumbnail's directory: where its data begins, and how long it is.
const THUMBNAIL_DATA: [(u16, u16); 2] = [(0x0201, 0x0202), (0x0111, 0x0117)];
/// How many pieces a thumbnail may come in.
const THUMBNAIL_STRIPS: usize = 64;

/// Longest notice taken over, in bytes. With [`FIELD_BYTES`] it keeps a new block below the 64 KiB that a JPEG segment
/// holds.
const NOTICE_BYTES: usize = 16 << 10;
/// Longest date or GPS field taken over, in bytes; longer ones are no such thing.
const FIELD_BYTES: usize = 512;

/// The orientation that an EXIF block asks for; upright where it says nothing or cannot be read. `exif` begins with the
/// TIFF header, or with `Exif\0\0` before it. Reads the first directory once; never fails.
pub fn orientation_of_exif(exif: &[u8]) -> Orientation {
    let value = Tiff::parse(without_prefix(exif)).and_then(|tiff| {
        let field = tiff.find(tiff.first()?, ORIENTATION)?;
        tiff.numbers(&field).next()
    });
    value.map_or(Orientation::Upright, Orientation::from_exif)
}

/// A new block of nothing but the orientation that `exif` asks for, where the whole is too large to keep; `None` where that
/// is upright.
pub fn orientation_alone(exif: &[u8]) -> Option<Vec<u8>> {
    selected(Tiff::parse(without_prefix(exif)), Vec::new(), Keep::NONE, true)
}

/// The text of a notice in the first directory, without the blanks and terminators that follow it; `None` if there is
/// nothing else. Bytes are as found: EXIF says ASCII, writers put UTF-8.
pub(super) fn notice(tiff: &Tiff<'_>, tag: u16) -> Option<Vec<u8>> {
    let field = tiff.find(tiff.first()?, tag)?;
    matches!(field.kind, kind::ASCII | kind::UTF8).then(|| shortened(&field.value)).filter(|text| !text.is_empty())
}

/// At most [`NOTICE_BYTES`] of `text`, cut before a whole UTF-8 character, without trailing blanks and terminators.
pub(super) fn shortened(text: &[u8]) -> Vec<u8> {
    let end = if text.len() <= NOTICE_BYTES {
        text.len()
    } else {
        let continues = |&at: &usize| at > 0 && text[at] & 0xC0 == 0x80;
        let start = std::iter::successors(Some(NOTICE_BYTES), |at| Some(at - 1)).take(4).find(|at| !continues(at));
        start.unwrap_or(NOTICE_BYTES)
    };
    let blank = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    let length = text[..end].iter().rposition(|byte| !blank(byte)).map_or(0, |last| last + 1);
    text[..length].to_vec()
}

/// A new block of what `keep` names: `notices` (tag and text), dates and position from `source`, and its orientation
/// where pixels are `untouched`; `None` if there is nothing to keep. Always short enough for one JPEG segment.
pub(super) fn selected(
    source: Option<Tiff<'_>>,
    notices: Vec<(u16, Vec<u8>)>,
    keep: Keep,
    untouched: bool,
) -> Option<Vec<u8>> {
    let order = source.map_or(ByteOrder::Big, |tiff| tiff.order);
    let mut primary: Vec<Field<'_>> = notices.into_iter().map(|(tag, text)| text_field(tag, text)).collect();
    let (mut dates, mut position) = (Vec::new(), Vec::new());
    if let Some((tiff, first)) = source.and_then(|tiff| Some((tiff, tiff.first()?))) {
        let orientation = tiff.find(first, ORIENTATION).and_then(|field| tiff.numbers(&field).next());
        if let Some(value @ 2..=8) = orientation.filter(|_| untouched) {
            let value = order.short(value as u16).to_vec().into();
            primary.push(Field { tag: ORIENTATION, kind: kind::SHORT, count: 1, value });
        }
        if keep.date {
            primary.extend(short_fields(tiff, first, |tag| tag == DATE_TIME));
            let exif = tiff.child(first, EXIF_POINTER);
            dates.extend(exif.iter().flat_map(|&at| short_fields(tiff, at, |tag| EXIF_DATES.contains(&tag))));
        }
        if keep.location {
            let gps = tiff.child(first, GPS_POINTER);
            position.extend(gps.iter().flat_map(|&at| short_fields(tiff, at, |tag| tag <= LAST_GPS_TAG)));
        }
    }
    // Cameras without a fix write the version of the directory (tag 0) and nothing else.
    if position.iter().all(|field| field.tag == 0) {
        position.clear();
    }
    let children =
        vec![Directory { pointer: EXIF_POINTER, fields: dates }, Directory { pointer: GPS_POINTER, fields: position }];
    write(order, primary, children)
}

/// The whole block with `notices` (tag and text) added to it.
pub(super) fn with_notices(source: Tiff<'_>, notices: Vec<(u16, Vec<u8>)>) -> Vec<u8> {
    let mut fields: Vec<Field<'_>> = notices.into_iter().map(|(tag, text)| text_field(tag, text)).collect();
    fields.extend(source.first().iter().flat_map(|&first| source.entries(first)).map(|entry| entry.field));
    source.with_first(fields)
}

fn text_field(tag: u16, mut text: Vec<u8>) -> Field<'static> {
    text.push(0);
    Field { tag, kind: kind::ASCII, count: text.len() as u32, value: text.into() }
}

/// The fields of a directory that `wanted` names, without those too long to be what they claim.
fn short_fields<'a>(tiff: Tiff<'a>, at: usize, wanted: impl Fn(u16) -> bool) -> impl Iterator<Item = Field<'a>> {
    let fields = tiff.entries(at).map(|entry| entry.field);
    fields.filter(move |field| wanted(field.tag) && field.value.len() <= FIELD_BYTES)
}

/// The whole block without its thumbnail, upright if asked for, and where it tells a width and height with these. Works in
/// place, since maker notes hold offsets that a rewritten block would break. `None` for a block that cannot be read.
pub(super) fn whole(exif: &[u8], reset_orientation: bool, size: Option<(u32, u32)>) -> Option<Vec<u8>> {
    let exif = without_prefix(exif);
    let tiff = Tiff::parse(exif)?;
    let first = tiff.first()?;
    let mut out = exif.to_vec();
    if let Some(pointer) = tiff.next_pointer_at(first) {
        if let Some(thumbnail) = tiff.pointer(pointer) {
            out = without_thumbnail(tiff, exif, first, thumbnail);
        }
        out[pointer..pointer + 4].fill(0);
    }
    // One number, whatever there was and of whatever type.
    let order = tiff.order;
    let short = |value: u16| [&order.short(kind::SHORT)[..], &order.long(1), &order.short(value), &[0; 2]].concat();
    let long = |value: u32| [&order.short(kind::LONG)[..], &order.long(1), &order.long(value)].concat();
    for (directory, [width, height]) in [Some(first), tiff.child(first, EXIF_POINTER)].into_iter().zip(SIZE) {
        for entry in directory.into_iter().flat_map(|at| tiff.entries(at)) {
            let field = match (entry.field.tag, size) {
                (ORIENTATION, _) if reset_orientation && directory == Some(first) => short(1),
                (tag, Some((told, _))) if tag == width => long(told),
                (tag, Some((_, told))) if tag == height => long(told),
                _ => continue,
            };
            out[entry.at + 2..entry.at + 12].copy_from_slice(&field);
        }
    }
    Some(out)
}

/// The block with zeros where only the thumbnail and its directory were, and without what follows the last field.
fn without_thumbnail(tiff: Tiff<'_>, exif: &[u8], first: usize, thumbnail: usize) -> Vec<u8> {
    let used = used_ranges(tiff, first);
    let mut out = exif.to_vec();
    let strips = THUMBNAIL_DATA.iter().flat_map(|&(at, length)| {
        let numbers = |tag| tiff.find(thumbnail, tag).map(|field| tiff.numbers(&field).collect::<Vec<_>>());
        let (at, length) = (numbers(at).unwrap_or_default(), numbers(length).unwrap_or_default());
        at.into_iter()
            .zip(length)
            .take(THUMBNAIL_STRIPS)
            .map(|(at, length)| at as usize..(at as usize).saturating_add(length as usize))
    });
    let directory = directory_ranges(tiff, thumbnail);
    for range in merged(strips.chain(directory).collect()) {
        let end = range.end.min(out.len());
        out[range.start.min(end)..end].fill(0);
    }
    for range in &used {
        out[range.clone()].copy_from_slice(&exif[range.clone()]);
    }
    out.truncate(used.last().map_or(out.len(), |range| range.end));
    out
}

/// What the block needs without a thumbnail, in order and without overlaps: the header, and the directories with their
/// values.
fn used_ranges(tiff: Tiff<'_>, first: usize) -> Vec<Range<usize>> {
    let exif = tiff.child(first, EXIF_POINTER);
    let children = [exif, tiff.child(first, GPS_POINTER), exif.and_then(|at| tiff.child(at, INTEROPERABILITY_POINTER))];
    let directories = [Some(first)].into_iter().chain(children).flatten();
    let header = 0..8;
    merged(directories.flat_map(|at| directory_ranges(tiff, at)).chain([header]).collect())
}

/// A directory and the values of its fields.
fn directory_ranges(tiff: Tiff<'_>, at: usize) -> Vec<Range<usize>> {
    let mut ranges: Vec<_> = tiff.entries(at).map(|entry| entry.value_at).collect();
    ranges.push(tiff.directory_range(at));
    ranges
}

fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut out: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match out.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

/// The block from its TIFF header on; `None` without one.
#[cfg(any(feature = "png", feature = "webp"))]
pub(crate) fn with_tiff_header(exif: &[u8]) -> Option<&[u8]> {
    let exif = without_prefix(exif);
    Tiff::parse(exif).map(|_| exif)
}

/// The whole block, upright; `None` for one that cannot be read.
#[cfg(feature = "png")]
pub(crate) fn upright(exif: &[u8]) -> Option<Vec<u8>> {
    whole(exif, true, None)
}

/// The block from its TIFF header on.
pub(super) fn without_prefix(exif: &[u8]) -> &[u8] {
    exif.strip_prefix(b"Exif\0\0").unwrap_or(exif)
}
