//! Text chunks, and the blocks that ImageMagick hides in them.

use super::{chunks::Chunk, inflate::Inflater};
use crate::picture::{photoshop, text_of};

/// A `tEXt`, `zTXt` or `iTXt` chunk that is not yet decompressed.
#[derive(Debug)]
pub(super) struct Text<'a> {
    /// 1 to 79 Latin-1 bytes.
    pub(super) keyword: &'a [u8],
    stored: &'a [u8],
    compressed: bool,
    /// UTF-8 rather than Latin-1.
    unicode: bool,
}

impl<'a> Text<'a> {
    /// `None` for other chunks and damaged ones.
    pub(super) fn of(chunk: &Chunk<'a>) -> Option<Self> {
        let kind = chunk.kind();
        let unicode = match &kind {
            b"tEXt" | b"zTXt" => false,
            b"iTXt" => true,
            _ => return None,
        };
        let (keyword, rest) = split_at_zero(chunk.data())?;
        if !(1..80).contains(&keyword.len()) || !chunk.intact() {
            return None;
        }
        let (compressed, stored) = match (&kind, rest) {
            (b"zTXt", [0, stored @ ..]) => (true, stored),
            (b"zTXt", _) => return None,
            (b"iTXt", [flag @ (0 | 1), 0, rest @ ..]) => (*flag == 1, split_at_zero(split_at_zero(rest)?.1)?.1),
            (b"iTXt", _) => return None,
            _ => (false, rest),
        };
        Some(Self { keyword, stored, compressed, unicode })
    }

    /// The bytes of the text, decompressed.
    pub(super) fn bytes(&self, inflater: &mut Inflater) -> Option<Vec<u8>> {
        if self.compressed { inflater.inflate(self.stored) } else { inflater.copy(self.stored) }
    }

    /// The text.
    pub(super) fn string(&self, inflater: &mut Inflater) -> Option<String> {
        let bytes = self.bytes(inflater)?;
        if self.unicode { String::from_utf8(bytes).ok() } else { Some(text_of(bytes)) }
    }

    /// The type of an ImageMagick `Raw profile type` chunk: `exif`, `iptc`, `xmp`, `APP1`.
    pub(super) fn raw_profile(&self) -> Option<&'a [u8]> {
        self.keyword.strip_prefix(b"Raw profile type ")
    }
}

fn split_at_zero(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|&byte| byte == 0)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

/// The bytes that ImageMagick wrote as: a line with a name, a line with their count, then their hex digits.
pub(super) fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.strip_prefix(b"\n")?;
    let name = text.iter().position(|&byte| byte == b'\n')?;
    let rest = text[name + 1..].trim_ascii_start();
    let end = rest.iter().position(|&byte| byte == b'\n')?;
    let length: usize = std::str::from_utf8(&rest[..end]).ok()?.trim().parse().ok()?;
    let mut digits = rest[end..].iter().filter(|byte| !byte.is_ascii_whitespace());
    let mut digit = || char::from(*digits.next()?).to_digit(16);
    if length > rest.len() / 2 {
        return None;
    }
    (0..length).map(|_| Some((digit()? << 4 | digit()?) as u8)).collect()
}

/// The same the other way round, 36 bytes a line.
pub(super) fn hex(name: &str, bytes: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = format!("\n{name}\n{:8}", bytes.len()).into_bytes();
    for line in bytes.chunks(36) {
        text.push(b'\n');
        text.extend(line.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]));
    }
    text.push(b'\n');
    text
}

/// IPTC-IIM records out of Photoshop image resources; bytes that are no resources are records as they are.
pub(super) fn iptc_records(bytes: Vec<u8>) -> Option<Vec<u8>> {
    if bytes.starts_with(b"8BIM") {
        return photoshop::records(&bytes).map(<[u8]>::to_vec);
    }
    (!bytes.is_empty()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_blocks_come_back() {
        for length in [0, 1, 35, 36, 37, 500] {
            let bytes: Vec<u8> = (0..length).map(|i| (i * 7) as u8).collect();
            assert_eq!(unhex(&hex("exif", &bytes)), Some(bytes));
        }
    }

    #[test]
    fn hex_blocks_that_promise_more_than_they_hold_are_refused() {
        assert_eq!(unhex(b"\nexif\n  99999999\nabcd\n"), None);
        assert_eq!(unhex(b"\nexif\n       2\nabc\n"), None);
        assert_eq!(unhex(b"\nexif\n       2\nabxy\n"), None);
        assert_eq!(unhex(b"exif"), None);
    }

    #[test]
    fn records_come_as_they_are_and_out_of_photoshop_resources() {
        let records = b"\x1C\x02\x74\0\x03abc".to_vec();
        assert_eq!(iptc_records(photoshop::resources(&records)), Some(records.clone()));
        assert_eq!(iptc_records(records.clone()), Some(records));
        assert_eq!(iptc_records(Vec::new()), None);
    }
}
