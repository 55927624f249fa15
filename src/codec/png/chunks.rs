//! The one walk over the chunks of a file, and the way to write one.

use libdeflater::Crc;

use crate::{
    error::{Error, Result},
    format::{Format, PNG_SIGNATURE},
};

/// A chunk whose length fits the file. Its checksum is not yet believed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk<'a> {
    /// Four bytes of kind, then the data: what the checksum is over.
    body: &'a [u8],
    checksum: u32,
}

impl<'a> Chunk<'a> {
    /// Four letters.
    pub(super) fn kind(&self) -> [u8; 4] {
        [self.body[0], self.body[1], self.body[2], self.body[3]]
    }

    /// What the chunk carries.
    pub(super) fn data(&self) -> &'a [u8] {
        &self.body[4..]
    }

    /// Whether the checksum is right.
    pub(super) fn intact(&self) -> bool {
        crc(&[self.body]) == self.checksum
    }

    /// Fails if the checksum is wrong.
    pub(super) fn check(&self) -> Result<()> {
        if self.intact() { Ok(()) } else { Err(damaged(format!("has a wrong checksum in its {} chunk", self.name()))) }
    }

    /// The kind for messages.
    pub(super) fn name(&self) -> String {
        self.body[..4].escape_ascii().to_string()
    }
}

/// An input error of a PNG.
pub(super) fn damaged(problem: impl Into<String>) -> Error {
    Error::input(Format::Png, problem)
}

/// Walks from the signature to `IEND` or the end of the bytes, whichever comes first.
#[derive(Debug)]
pub(super) struct Chunks<'a> {
    bytes: &'a [u8],
    at: usize,
    ended: bool,
}

impl<'a> Chunks<'a> {
    /// # Errors
    /// If the signature is not there.
    pub(super) fn of(bytes: &'a [u8]) -> Result<Self> {
        if bytes.starts_with(PNG_SIGNATURE) {
            Ok(Self { bytes, at: PNG_SIGNATURE.len(), ended: false })
        } else {
            Err(damaged("does not begin with the signature of a PNG"))
        }
    }

    /// The kind of the chunk that the walk is at, or stopped at with an error, as far as the bytes go.
    pub(super) fn kind_here(&self) -> &'a [u8] {
        self.bytes.get(self.at + 4..).map_or(&[], |rest| &rest[..rest.len().min(4)])
    }

    fn read(&mut self) -> Result<Chunk<'a>> {
        /// "Must not exceed 2^31-1 bytes", section 5.3 of the specification.
        const LONGEST: u32 = i32::MAX as u32;
        let cut = || damaged(format!("is cut off after {} bytes, inside a chunk", self.bytes.len()));
        let rest = &self.bytes[self.at..];
        let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
        let length = u32::from_be_bytes(*length);
        let kind: &[u8] = rest.get(..4).ok_or_else(cut)?;
        if length > LONGEST || !kind.iter().all(u8::is_ascii_alphabetic) {
            let kind = kind.escape_ascii();
            return Err(damaged(format!(
                "has a chunk {kind} of {length} bytes at byte {}, which none can be",
                self.at
            )));
        }
        let (body, rest) = rest.split_at_checked(length as usize + 4).ok_or_else(cut)?;
        let checksum = u32::from_be_bytes(*rest.first_chunk().ok_or_else(cut)?);
        self.at += length as usize + 12;
        Ok(Chunk { body, checksum })
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Result<Chunk<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended || self.at >= self.bytes.len() {
            return None;
        }
        let chunk = self.read();
        self.ended = chunk.as_ref().map_or(true, |chunk| &chunk.kind() == b"IEND");
        Some(chunk)
    }
}

/// Appends a chunk whose data are `parts`, one after the other.
pub(super) fn write(out: &mut Vec<u8>, kind: &[u8; 4], parts: &[&[u8]]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    out.extend_from_slice(&(length as u32).to_be_bytes());
    let start = out.len();
    out.extend_from_slice(kind);
    for part in parts {
        out.extend_from_slice(part);
    }
    let checksum = crc(&[&out[start..]]);
    out.extend_from_slice(&checksum.to_be_bytes());
}

fn crc(parts: &[&[u8]]) -> u32 {
    let mut crc = Crc::new();
    parts.iter().for_each(|part| crc.update(part));
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_chunks() -> Vec<u8> {
        let mut file = PNG_SIGNATURE.to_vec();
        write(&mut file, b"teSt", &[b"ab", b"c"]);
        write(&mut file, b"IEND", &[]);
        file
    }

    #[test]
    fn written_chunks_are_read_back_with_right_checksums() {
        let file = [two_chunks(), b"behind".to_vec()].concat();
        let chunks: Vec<_> = Chunks::of(&file).unwrap().map(Result::unwrap).collect();
        assert_eq!(chunks.len(), 2);
        assert_eq!((chunks[0].name().as_str(), chunks[0].data()), ("teSt", &b"abc"[..]));
        assert!(chunks.iter().all(Chunk::intact));
        // The checksum of an empty IEND is the same in every PNG.
        assert_eq!(chunks[1].checksum, 0xAE42_6082);
    }

    #[test]
    fn a_changed_byte_makes_the_checksum_wrong() {
        let mut file = two_chunks();
        file[17] ^= 1;
        let chunk = Chunks::of(&file).unwrap().next().unwrap().unwrap();
        assert!(chunk.check().unwrap_err().to_string().contains("teSt"));
    }

    #[test]
    fn every_cut_ends_in_one_error_or_a_shorter_walk() {
        let file = two_chunks();
        for length in 8..file.len() {
            let results: Vec<_> = Chunks::of(&file[..length]).unwrap().collect();
            let failed = results.iter().filter(|chunk| chunk.is_err()).count();
            assert_eq!(failed, usize::from(length != 8 && length != 23), "cut at {length}");
        }
        assert!(Chunks::of(&file[..7]).is_err());
    }

    #[test]
    fn lengths_and_kinds_that_cannot_be_are_errors_that_name_them() {
        let file = [PNG_SIGNATURE, &[0xFF, 0, 0, 0], b"IDAT", &[0; 9]].concat();
        let error = Chunks::of(&file).unwrap().next().unwrap().unwrap_err();
        assert!(error.to_string().contains("IDAT of 4278190080 bytes"), "{error}");
        let file = [PNG_SIGNATURE, &[0, 0, 0, 1], b"ID\0T", &[0; 9]].concat();
        let error = Chunks::of(&file).unwrap().next().unwrap().unwrap_err();
        assert!(error.to_string().contains("ID\\x00T"), "{error}");
    }
}
