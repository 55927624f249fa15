//! The walk over a file's marker segments (ITU-T T.81, annex B): the one parser that everything else here is built on.

use memchr::memchr;

use crate::{
    error::{Error, Result},
    format::Format,
};

/// Second bytes of markers; the first is always 0xFF.
pub(super) mod marker {
    pub(in super::super) const TEM: u8 = 0x01;
    pub(in super::super) const SOF0: u8 = 0xC0;
    pub(in super::super) const DHT: u8 = 0xC4;
    pub(in super::super) const JPG: u8 = 0xC8;
    pub(in super::super) const DAC: u8 = 0xCC;
    pub(in super::super) const SOF15: u8 = 0xCF;
    pub(in super::super) const RST0: u8 = 0xD0;
    pub(in super::super) const RST7: u8 = 0xD7;
    pub(in super::super) const SOI: u8 = 0xD8;
    pub(in super::super) const EOI: u8 = 0xD9;
    pub(in super::super) const SOS: u8 = 0xDA;
    pub(in super::super) const DQT: u8 = 0xDB;
    pub(in super::super) const DNL: u8 = 0xDC;
    pub(in super::super) const DRI: u8 = 0xDD;
    pub(in super::super) const DHP: u8 = 0xDE;
    pub(in super::super) const APP0: u8 = 0xE0;
    pub(in super::super) const APP1: u8 = 0xE1;
    pub(in super::super) const APP2: u8 = 0xE2;
    pub(in super::super) const APP13: u8 = 0xED;
    pub(in super::super) const APP14: u8 = 0xEE;
    /// JPEG-LS hides behind a reserved marker.
    pub(in super::super) const SOF55: u8 = 0xF7;
    pub(in super::super) const COM: u8 = 0xFE;
}

/// The most bytes a segment can carry behind its length.
pub(super) const MAX_PAYLOAD: usize = 65_533;

/// One marker segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment<'a> {
    /// The marker's second byte.
    pub(super) marker: u8,
    /// What follows the length.
    pub(super) payload: &'a [u8],
    /// Behind a scan header: the coded data up to the next marker that is no restart, with its stuffing, fill bytes
    /// and restart markers.
    pub(super) entropy: &'a [u8],
}

impl Segment<'_> {
    /// Whether this is a frame header of any kind.
    pub(super) const fn is_frame(&self) -> bool {
        use marker::{DAC, DHT, JPG, SOF0, SOF15, SOF55};
        matches!(self.marker, SOF0..=SOF15 | SOF55) && !matches!(self.marker, DHT | JPG | DAC)
    }
}

/// Iterates over the segments behind SOI, up to EOI or the end of the bytes. Stray bytes between segments are skipped,
/// as every decoder does.
#[derive(Debug, Clone)]
pub(super) struct Segments<'a> {
    bytes: &'a [u8],
    at: usize,
    ended: bool,
    closed: bool,
}

impl<'a> Segments<'a> {
    /// # Errors
    /// If the bytes do not begin with SOI.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self> {
        if !bytes.starts_with(&[0xFF, marker::SOI]) {
            return Err(Error::input(Format::Jpeg, "does not begin with a start marker"));
        }
        Ok(Self { bytes, at: 2, ended: false, closed: false })
    }

    /// Once the walk is over: whether an EOI marker ended it, and not the end of the bytes.
    pub(super) const fn closed(&self) -> bool {
        self.closed
    }

    /// The next marker's second byte, with `at` behind it.
    fn next_marker(&mut self) -> Option<u8> {
        loop {
            self.at += memchr(0xFF, self.bytes.get(self.at..)?)?;
            self.at += self.bytes[self.at..].iter().position(|&byte| byte != 0xFF)?;
            let second = self.bytes[self.at];
            self.at += 1;
            if second != 0 {
                return Some(second);
            }
        }
    }

    fn segment(&mut self, marker: u8) -> Result<Segment<'a>> {
        if marker < marker::SOF0 {
            return Err(Error::input(
                Format::Jpeg,
                format!("has the unknown marker {marker:#04x} at byte {}", self.at),
            ));
        }
        let rest = &self.bytes[self.at..];
        let length = match rest {
            [high, low, ..] => usize::from(u16::from_be_bytes([*high, *low])),
            _ => return Err(self.cut_off(marker, 2)),
        };
        if length < 2 {
            return Err(Error::input(Format::Jpeg, format!("has a segment {marker:#04x} of length {length}")));
        }
        let payload = rest.get(2..length).ok_or_else(|| self.cut_off(marker, length))?;
        self.at += length;
        let entropy = if marker == marker::SOS { self.entropy() } else { &[] };
        Ok(Segment { marker, payload, entropy })
    }

    fn entropy(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let length = entropy_length(rest);
        self.at += length;
        &rest[..length]
    }

    fn cut_off(&self, marker: u8, length: usize) -> Error {
        let (end, total) = (self.at + length, self.bytes.len());
        Error::input(Format::Jpeg, format!("is cut off: segment {marker:#04x} ends at byte {end} of {total}"))
    }
}

/// Where the coded data at the start of `bytes` end: before the last 0xFF of the next marker that is no restart.
fn entropy_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = memchr(0xFF, &bytes[at..]) {
        at += found;
        match bytes.get(at + 1) {
            Some(0 | marker::RST0..=marker::RST7) => at += 2,
            Some(0xFF) => at += 1,
            Some(_) => return at,
            None => break,
        }
    }
    bytes.len()
}

impl<'a> Iterator for Segments<'a> {
    type Item = Result<Segment<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            match self.next_marker() {
                Some(marker::TEM | marker::SOI | marker::RST0..=marker::RST7) => {}
                Some(marker::EOI) => (self.ended, self.closed) = (true, true),
                Some(marker) => {
                    let segment = self.segment(marker);
                    self.ended = segment.is_err();
                    return Some(segment);
                }
                None => self.ended = true,
            }
        }
        None
    }
}

/// Appends a segment. The payload must not be longer than [`MAX_PAYLOAD`].
pub(super) fn write_segment(out: &mut Vec<u8>, marker: u8, payload: &[&[u8]]) {
    let length = 2 + payload.iter().map(|part| part.len()).sum::<usize>();
    debug_assert!(length <= MAX_PAYLOAD + 2, "segment {marker:#04x} of {length} bytes");
    out.extend([0xFF, marker]);
    out.extend((length as u16).to_be_bytes());
    payload.iter().for_each(|part| out.extend_from_slice(part));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markers(bytes: &[u8]) -> Result<Vec<(u8, usize, usize)>> {
        Segments::new(bytes)?.map(|segment| segment.map(|s| (s.marker, s.payload.len(), s.entropy.len()))).collect()
    }

    #[test]
    fn stuffing_restarts_and_fill_bytes_belong_to_the_scan() {
        let bytes = [
            0xFF, 0xD8, 0xFF, 0xFF, 0xFE, 0, 3, 7, // a comment behind a fill byte
            0xFF, 0xDA, 0, 2, 1, 0xFF, 0, 0xFF, 0xD0, 2, 0xFF, 0xFF, 0xD9, 99,
        ];
        assert_eq!(markers(&bytes).unwrap(), [(0xFE, 1, 0), (0xDA, 0, 7)]);
    }

    #[test]
    fn stray_bytes_between_segments_are_skipped() {
        assert_eq!(markers(&[0xFF, 0xD8, 1, 2, 0xFF, 0, 3, 0xFF, 0xE5, 0, 2, 0xFF, 0xD9]).unwrap(), [(0xE5, 0, 0)]);
    }

    #[test]
    fn a_segment_longer_than_the_file_is_an_error_that_names_both() {
        let error = markers(&[0xFF, 0xD8, 0xFF, 0xE1, 0, 9, 1]).unwrap_err();
        assert_eq!(error.to_string(), "the JPEG image is cut off: segment 0xe1 ends at byte 13 of 7");
    }

    #[test]
    fn a_length_below_two_is_an_error() {
        assert!(markers(&[0xFF, 0xD8, 0xFF, 0xE1, 0, 1, 0, 0]).is_err());
    }

    #[test]
    fn only_a_walk_that_met_the_end_marker_is_closed() {
        for (bytes, closed) in [(&[0xFF, 0xD8, 0xFF, 0xD9][..], true), (&[0xFF, 0xD8][..], false)] {
            let mut segments = Segments::new(bytes).unwrap();
            assert_eq!(segments.by_ref().count(), 0);
            assert_eq!(segments.closed(), closed);
        }
    }
}
