//! The tag structure of EXIF: directories of typed fields behind a TIFF header (TIFF 6.0, section 2).
//!
//! Offsets are followed only where the caller says so, and never from one directory to the next, so no file can make a
//! walk loop or grow: reading a directory costs its own length at most. (General EXIF readers follow every pointer of
//! every directory, which a file of 64 KiB can turn into millions of fields.)

use std::{borrow::Cow, ops::Range};

/// Bytes of a TIFF header.
const HEADER: usize = 8;
/// Bytes of a directory entry.
const ENTRY: usize = 12;

/// Field types that are made or looked into here.
pub(super) mod kind {
    pub(crate) const BYTE: u16 = 1;
    pub(crate) const ASCII: u16 = 2;
    pub(crate) const SHORT: u16 = 3;
    pub(crate) const LONG: u16 = 4;
    /// Exif 3.0.
    pub(crate) const UTF8: u16 = 129;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    fn signature(self) -> &'static [u8; 4] {
        match self {
            Self::Little => b"II*\0",
            Self::Big => b"MM\0*",
        }
    }

    fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    pub(super) fn short(self, value: u16) -> [u8; 2] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }

    pub(super) fn long(self, value: u32) -> [u8; 4] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }
}

/// One field, with its value in the byte order of the structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field<'a> {
    pub(super) tag: u16,
    pub(super) kind: u16,
    pub(super) count: u32,
    pub(super) value: Cow<'a, [u8]>,
}

/// A field and where it lies.
#[derive(Debug, Clone)]
pub(super) struct Entry<'a> {
    pub(super) field: Field<'a>,
    /// Offset of the twelve bytes in the directory.
    pub(super) at: usize,
    /// Where the value lies, in the entry or elsewhere.
    pub(super) value_at: Range<usize>,
}

/// A structure behind a sound header; everything else in it may be damaged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tiff<'a> {
    bytes: &'a [u8],
    pub(super) order: ByteOrder,
}

impl<'a> Tiff<'a> {
    /// `None` without a TIFF header.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let order = [ByteOrder::Little, ByteOrder::Big].into_iter().find(|o| bytes.starts_with(o.signature()))?;
        (bytes.len() >= HEADER).then_some(Self { bytes, order })
    }

    /// Offset of the first directory.
    pub(super) fn first(&self) -> Option<usize> {
        self.pointer(4)
    }

    /// Where in the structure the offset of the directory after the one at `directory` is written.
    pub(super) fn next_pointer_at(&self, directory: usize) -> Option<usize> {
        let count = usize::from(self.u16_at(directory)?);
        let at = directory + 2 + count * ENTRY;
        (at + 4 <= self.bytes.len()).then_some(at)
    }

    /// The offset written at `at`, if it is not 0 and leads to a directory inside the structure.
    pub(super) fn pointer(&self, at: usize) -> Option<usize> {
        let to = self.u32_at(at)? as usize;
        (to >= HEADER && self.u16_at(to).is_some()).then_some(to)
    }

    /// The structure with `fields` in its first directory, which moves behind everything else; all other offsets hold.
    pub(super) fn with_first(&self, fields: Vec<Field<'_>>) -> Vec<u8> {
        let mut out = self.bytes.to_vec();
        out.resize(out.len().next_multiple_of(2), 0);
        let at = out.len();
        out[4..HEADER].copy_from_slice(&self.order.long(at as u32));
        out.extend(directory(self.order, sorted(fields), at));
        out
    }

    /// The bytes of the directory itself, with the pointer to the next one, as far as they go.
    pub(super) fn directory_range(&self, directory: usize) -> Range<usize> {
        let count = usize::from(self.u16_at(directory).unwrap_or(0));
        let end = (directory + 2 + count * ENTRY + 4).min(self.bytes.len());
        directory.min(end)..end
    }

    /// The entries of the directory at `directory`, as far as the bytes go. Those of unknown type, or with a value that
    /// is not wholly inside the structure, are left out.
    pub(super) fn entries(&self, directory: usize) -> impl Iterator<Item = Entry<'a>> + use<'a> {
        let tiff = *self;
        let count = tiff.u16_at(directory).unwrap_or(0);
        (0..usize::from(count)).map_while(move |i| tiff.raw_entry(directory + 2 + i * ENTRY)).filter_map(move |e| {
            let (at, tag, kind, count) = e;
            let value_at = tiff.value_range(at, kind, count)?;
            let value = Cow::Borrowed(tiff.bytes.get(value_at.clone())?);
            Some(Entry { field: Field { tag, kind, count, value }, at, value_at })
        })
    }

    /// The first field of `tag` in the directory.
    pub(super) fn find(&self, directory: usize, tag: u16) -> Option<Field<'a>> {
        self.entries(directory).map(|entry| entry.field).find(|field| field.tag == tag)
    }

    /// The directory that the field `tag` of `directory` leads to.
    pub(super) fn child(&self, directory: usize, tag: u16) -> Option<usize> {
        let to = self.numbers(&self.find(directory, tag)?).next()? as usize;
        (to >= HEADER && self.u16_at(to).is_some()).then_some(to)
    }

    /// The unsigned integers that a field holds; none for other types.
    pub(super) fn numbers(&self, field: &Field<'_>) -> impl Iterator<Item = u32> {
        let (order, kind) = (self.order, field.kind);
        let width = match kind {
            kind::BYTE | kind::SHORT | kind::LONG => size_of_kind(kind),
            _ => usize::MAX,
        };
        field.value.chunks_exact(width).map(move |bytes| match *bytes {
            [a] => a.into(),
            [a, b] => order.u16([a, b]).into(),
            [a, b, c, d] => order.u32([a, b, c, d]),
            _ => 0,
        })
    }

    fn raw_entry(&self, at: usize) -> Option<(usize, u16, u16, u32)> {
        self.bytes.get(at..at + ENTRY)?;
        Some((at, self.u16_at(at)?, self.u16_at(at + 2)?, self.u32_at(at + 4)?))
    }

    fn value_range(&self, entry: usize, kind: u16, count: u32) -> Option<Range<usize>> {
        let length = size_of_kind(kind).checked_mul(count as usize).filter(|&length| length > 0)?;
        let at = if length <= 4 { entry + 8 } else { self.u32_at(entry + 8)? as usize };
        Some(at..at.checked_add(length)?)
    }

    fn u16_at(&self, at: usize) -> Option<u16> {
        Some(self.order.u16(*self.bytes.get(at..)?.first_chunk()?))
    }

    fn u32_at(&self, at: usize) -> Option<u32> {
        Some(self.order.u32(*self.bytes.get(at..)?.first_chunk()?))
    }
}

/// Bytes a value, 0 for types that nobody defines.
const fn size_of_kind(kind: u16) -> usize {
    match kind {
        kind::BYTE | kind::ASCII | 6 | 7 | kind::UTF8 => 1,
        kind::SHORT | 8 => 2,
        kind::LONG | 9 | 11 | 13 => 4,
        5 | 10 | 12 => 8,
        _ => 0,
    }
}

/// A directory to be written, and the tag of the field in the first one that leads to it.
#[derive(Debug)]
pub(super) struct Directory<'a> {
    pub(super) pointer: u16,
    pub(super) fields: Vec<Field<'a>>,
}

/// A structure of a first directory, `primary`, and its `children`, those without fields left out; `None` if nothing is
/// left. Each tag is written once, the first of its fields.
pub(super) fn write(order: ByteOrder, mut primary: Vec<Field<'_>>, children: Vec<Directory<'_>>) -> Option<Vec<u8>> {
    let children: Vec<_> = children.into_iter().filter(|child| !child.fields.is_empty()).collect();
    // Their places are not known before the first directory is laid out; the length of the pointers is.
    primary.extend(children.iter().map(|child| pointer(order, child.pointer, 0)));
    if primary.is_empty() {
        return None;
    }
    let first_length = directory(order, sorted(primary.clone()), HEADER).len();
    let (mut at, mut blocks) = (HEADER + first_length, Vec::new());
    for child in children {
        let block = directory(order, sorted(child.fields), at);
        for field in primary.iter_mut().filter(|field| field.tag == child.pointer) {
            *field = pointer(order, child.pointer, at as u32);
        }
        at += block.len();
        blocks.push(block);
    }
    let mut out = order.signature().to_vec();
    out.extend(order.long(HEADER as u32));
    out.extend(directory(order, sorted(primary), HEADER));
    out.extend(blocks.concat());
    Some(out)
}

fn pointer(order: ByteOrder, tag: u16, to: u32) -> Field<'static> {
    Field { tag, kind: kind::LONG, count: 1, value: order.long(to).to_vec().into() }
}

/// In the order that the format asks for, each tag once.
fn sorted(mut fields: Vec<Field<'_>>) -> Vec<Field<'_>> {
    fields.sort_by_key(|field| field.tag);
    fields.dedup_by_key(|field| field.tag);
    fields
}

/// A directory that begins at `at`, with the values too long for their entries behind it.
fn directory(order: ByteOrder, fields: Vec<Field<'_>>, at: usize) -> Vec<u8> {
    let values_at = at + 2 + fields.len() * ENTRY + 4;
    let (mut out, mut values) = (order.short(fields.len() as u16).to_vec(), Vec::new());
    for field in fields {
        out.extend(order.short(field.tag));
        out.extend(order.short(field.kind));
        out.extend(order.long(field.count));
        if field.value.len() <= 4 {
            out.extend_from_slice(&field.value);
            out.resize(out.len() + 4 - field.value.len(), 0);
        } else {
            out.extend(order.long((values_at + values.len()) as u32));
            values.extend_from_slice(&field.value);
            // Values begin on even offsets.
            values.resize(values.len().next_multiple_of(2), 0);
        }
    }
    out.extend([0; 4]);
    out.extend(values);
    out
}
