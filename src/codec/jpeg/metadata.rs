//! Metadata in application segments and comments.

use std::borrow::Cow;

use super::{
    density,
    segments::{Segment, marker},
};
use crate::{
    limits::Limits,
    picture::{Metadata, Orientation, orientation_alone, orientation_of_exif, photoshop, text_of},
};

pub(super) const EXIF: &[u8] = b"Exif\0\0";
pub(super) const XMP: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
pub(super) const ICC: &[u8] = b"ICC_PROFILE\0";
pub(super) const PHOTOSHOP: &[u8] = b"Photoshop 3.0\0";
/// Bytes of a marker and the length behind it, which count as well, so that many empty comments are not for nothing.
const SEGMENT_HEADER: usize = 4;

/// All metadata in `extras`; blocks that are broken, or larger than the limit, are left out, but for the orientation. Of the
/// comments there are as many of the first ones as the limit holds.
pub(super) fn read(extras: &[Segment<'_>], limits: &Limits) -> Metadata {
    let allowed = |block: &Vec<u8>| limits.check_metadata(block.len()).is_ok();
    let whole = |exif: &[u8]| Some(exif.to_vec()).filter(allowed).or_else(|| orientation_alone(exif));
    Metadata {
        icc: icc(extras, limits),
        exif: named(extras, marker::APP1, EXIF).and_then(whole),
        xmp: named(extras, marker::APP1, XMP).map(<[u8]>::to_vec).filter(allowed),
        iptc: iptc(extras).filter(allowed),
        comments: comments(extras, limits),
        chunks: density::read(extras).into_iter().collect(),
        ..Metadata::default()
    }
}

fn comments(extras: &[Segment<'_>], limits: &Limits) -> Vec<String> {
    let mut total = 0;
    let all = extras.iter().filter(|segment| segment.marker == marker::COM);
    let within = all.take_while(|segment| {
        total += SEGMENT_HEADER + segment.payload.len();
        limits.check_metadata(total).is_ok()
    });
    within.map(|segment| text_of(segment.payload.to_vec())).collect()
}

/// What follows `name` in the first segment of this kind.
fn named<'a>(extras: &[Segment<'a>], marker: u8, name: &[u8]) -> Option<&'a [u8]> {
    all_named(extras, marker, name).next()
}

fn all_named<'a>(extras: &[Segment<'a>], marker: u8, name: &[u8]) -> impl Iterator<Item = &'a [u8]> {
    let of_kind = extras.iter().filter(move |segment| segment.marker == marker);
    of_kind.filter_map(move |segment| segment.payload.strip_prefix(name))
}

/// Whether there is an ICC profile, be it broken or too large.
pub(super) fn has_icc(extras: &[Segment<'_>]) -> bool {
    all_named(extras, marker::APP2, ICC).next().is_some()
}

/// The ICC profile, joined from its chunks in the order of their numbers. As in browsers there is none unless the chunks
/// are numbered from 1 to the count that each of them names.
fn icc(extras: &[Segment<'_>], limits: &Limits) -> Option<Vec<u8>> {
    let mut chunks: Vec<(u8, &[u8])> = Vec::new();
    let mut counts = Vec::new();
    for payload in all_named(extras, marker::APP2, ICC) {
        let [number, count, data @ ..] = payload else { return None };
        chunks.push((*number, data));
        counts.push(usize::from(*count));
    }
    chunks.sort_by_key(|(number, _)| *number);
    let whole = !chunks.is_empty()
        && counts.iter().all(|&count| count == chunks.len())
        && chunks.iter().zip(1..).all(|((number, _), expected)| i32::from(*number) == expected);
    let length = chunks.iter().map(|(_, data)| data.len()).sum();
    (whole && limits.check_metadata(length).is_ok())
        .then(|| chunks.iter().flat_map(|(_, data)| *data).copied().collect())
}

/// The IPTC records among the Photoshop resources, which may go on from one segment to the next.
fn iptc(extras: &[Segment<'_>]) -> Option<Vec<u8>> {
    let parts: Vec<&[u8]> = all_named(extras, marker::APP13, PHOTOSHOP).collect();
    let joined = match parts[..] {
        [single] => Cow::Borrowed(single),
        _ => Cow::Owned(parts.concat()),
    };
    photoshop::records(&joined).map(<[u8]>::to_vec)
}

/// The orientation in the first EXIF segment; upright where there is none or it cannot be read.
pub(super) fn orientation(extras: &[Segment<'_>]) -> Orientation {
    named(extras, marker::APP1, EXIF).map_or(Orientation::Upright, orientation_of_exif)
}
