//! Files of several pictures, of which only the first is read: the Multi-Picture Format (CIPA DC-007), which phones use for gain maps.

use memchr::memmem;

use super::segments::{Segments, marker};

const MULTI_PICTURE: &[u8] = b"MPF\0";
/// Of gain maps by ISO 21496-1, and by the XMP that Ultra HDR had before it.
const GAIN_MAP: [&[u8]; 2] = [b"urn:iso:std:iso:ts:21496:-1\0", b"hdrgm:Version"];

/// What to say of the pictures behind the first, if a file has some.
pub(crate) fn left_out(bytes: &[u8]) -> Option<&'static str> {
    let segments =
        Segments::new(bytes).ok()?.map_while(Result::ok).filter(|s| matches!(s.marker, marker::APP1 | marker::APP2));
    let (mut several, mut gain) = (false, false);
    for segment in segments {
        several |= segment.marker == marker::APP2 && segment.payload.starts_with(MULTI_PICTURE);
        gain |= GAIN_MAP.iter().any(|sign| memmem::find(segment.payload, sign).is_some());
    }
    match (several, gain) {
        (true, true) => Some("the gain map for screens of high dynamic range was left out"),
        (true, false) => Some("the file holds several pictures, of which all but the first were left out"),
        (false, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::jpeg::segments::write_segment;

    #[test]
    fn pictures_behind_the_first_are_told_of() {
        let file = |segments: &[(u8, &[u8])]| {
            let mut file = vec![0xFF, marker::SOI];
            segments.iter().for_each(|(marker, payload)| write_segment(&mut file, *marker, &[payload]));
            [file, vec![0xFF, marker::EOI]].concat()
        };
        let index = (marker::APP2, b"MPF\0II*\0".as_slice());
        let xmp = (marker::APP1, b"<x hdrgm:Version=\"1.0\"/>".as_slice());
        let iso = (marker::APP2, GAIN_MAP[0]);
        assert_eq!([file(&[]), file(&[xmp])].map(|file| left_out(&file)), [None, None]);
        assert!(left_out(&file(&[index])).unwrap().contains("several pictures"));
        for gain in [xmp, iso] {
            assert!(left_out(&file(&[gain, index])).unwrap().contains("gain map"));
        }
        assert_eq!(left_out(b"no JPEG"), None);
    }
}
