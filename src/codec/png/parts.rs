//! A file taken apart: what shows the pixels, and what travels beside them.

use super::{
    chunks::{self, Chunk, Chunks, damaged},
    header::{ColourType, Header},
};
use crate::{
    control::Run,
    error::{Error, Result},
    format::PNG_SIGNATURE,
};

/// Text chunks beyond this count are not looked at; a real file has a handful.
const MOST_TEXTS: usize = 1024;

/// The chunks of a file, sorted by use. Header, palette and transparency are whole and believed; the checksums of all
/// others are not looked at yet.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    pub(super) header: Header,
    /// Data of `PLTE`; empty unless the colour type is indexed.
    pub(super) palette: &'a [u8],
    /// Data of `tRNS`, cut to what the colour type calls for; `None` where alpha is stored with the pixels.
    pub(super) transparency: Option<&'a [u8]>,
    /// `IDAT`, in their order, at least one.
    pub(super) data: Vec<Chunk<'a>>,
    /// `fcTL` before the data; then `fcTL` and `fdAT` behind it, in their order.
    pub(super) animation: (Vec<Chunk<'a>>, Vec<Chunk<'a>>),
    /// `acTL` before the data.
    control: Option<Chunk<'a>>,
    /// Colour and metadata chunks, in their order.
    pub(super) beside: Vec<Chunk<'a>>,
}

impl<'a> Parts<'a> {
    /// Walks the file once. No checksum of pixel data is computed.
    ///
    /// # Errors
    /// [`Error::Input`] if anything up to the end of the pixel data is damaged, out of order or missing;
    /// [`Error::Unsupported`] for critical chunks that nobody knows, such as Apple's `CgBI`.
    pub(super) fn of(bytes: &'a [u8]) -> Result<Self> {
        let mut chunks = Chunks::of(bytes)?;
        let first = chunks.next().ok_or_else(|| damaged("is cut off after 8 bytes"))??;
        let mut parts = Self {
            header: parse_header(&first)?,
            palette: &[],
            transparency: None,
            data: Vec::new(),
            animation: (Vec::new(), Vec::new()),
            control: None,
            beside: Vec::new(),
        };
        let mut behind = false;
        while let Some(chunk) = chunks.next() {
            match chunk {
                Ok(chunk) => {
                    behind |= &chunk.kind() != b"IDAT" && !parts.data.is_empty();
                    parts.take(chunk, behind)?;
                }
                // What is broken behind the pixels is no loss, and pixels that are missing will be missed.
                Err(_) if !parts.data.is_empty() && chunks.kind_here() != b"IDAT" => break,
                Err(error) => return Err(error),
            }
        }
        parts.check_order()?;
        Ok(parts)
    }

    fn take(&mut self, chunk: Chunk<'a>, behind: bool) -> Result<()> {
        match &chunk.kind() {
            b"IDAT" if behind => return Err(damaged("has IDAT chunks that do not follow each other")),
            b"IDAT" => self.data.push(chunk),
            b"PLTE" if !behind => self.take_palette(&chunk)?,
            // A second one is passed over, as in libpng.
            b"tRNS" if !behind && self.transparency.is_none() => self.take_transparency(&chunk)?,
            b"acTL" if !behind && self.control.is_none() => self.control = Some(chunk),
            b"fcTL" if !behind => self.animation.0.push(chunk),
            b"fcTL" | b"fdAT" => self.animation.1.push(chunk),
            b"iCCP" | b"sRGB" | b"gAMA" | b"cHRM" | b"cICP" if !behind => self.beside.push(chunk),
            b"pHYs" if !behind => self.beside.push(chunk),
            b"eXIf" | b"tIME" => self.beside.push(chunk),
            b"tEXt" | b"zTXt" | b"iTXt" if self.beside.len() < MOST_TEXTS => self.beside.push(chunk),
            b"IHDR" => return Err(damaged("has a second IHDR chunk")),
            b"PLTE" | b"IEND" => {}
            kind if kind[0].is_ascii_uppercase() && !behind => {
                return Err(Error::unsupported(format!("a PNG with the critical chunk {}", chunk.name())));
            }
            _ => {}
        }
        Ok(())
    }

    fn take_palette(&mut self, chunk: &Chunk<'a>) -> Result<()> {
        chunk.check()?;
        if self.header.colour != ColourType::Indexed {
            return Ok(());
        }
        let length = chunk.data().len();
        if !self.palette.is_empty() {
            return Err(damaged("has a second PLTE chunk"));
        }
        if length == 0 || length > 768 || !length.is_multiple_of(3) {
            return Err(damaged(format!("has a PLTE chunk of {length} bytes")));
        }
        self.palette = chunk.data();
        Ok(())
    }

    fn take_transparency(&mut self, chunk: &Chunk<'a>) -> Result<()> {
        chunk.check()?;
        let length = chunk.data().len();
        let wanted = match self.header.colour {
            ColourType::GrayAlpha | ColourType::Rgba => return Ok(()),
            // Before the palette it says nothing, as in libpng.
            ColourType::Indexed if self.palette.is_empty() => return Ok(()),
            ColourType::Indexed => length.min(self.palette.len() / 3),
            ColourType::Gray => 2,
            ColourType::Rgb => 6,
        };
        let data = chunk.data().get(..wanted);
        self.transparency = Some(data.ok_or_else(|| damaged(format!("has a tRNS chunk of {length} bytes")))?);
        Ok(())
    }

    fn check_order(&self) -> Result<()> {
        if self.data.is_empty() {
            return Err(damaged("has no IDAT chunk"));
        }
        if self.header.colour == ColourType::Indexed && self.palette.is_empty() {
            return Err(damaged("is indexed but has no PLTE chunk"));
        }
        Ok(())
    }

    /// Frames of the animation, if the file is an APNG. One of none is a still picture, as in browsers.
    ///
    /// # Errors
    /// If the `acTL` chunk is damaged.
    pub(super) fn frames(&self) -> Result<Option<u32>> {
        let Some(control) = &self.control else { return Ok(None) };
        control.check()?;
        match control.data() {
            &[0, 0, 0, 0, _, _, _, _] => Ok(None),
            &[a, b, c, d, _, _, _, _] => Ok(Some(u32::from_be_bytes([a, b, c, d]))),
            other => Err(damaged(format!("has an acTL chunk of {} bytes", other.len()))),
        }
    }

    /// How often the animation is shown; 0 is for ever.
    pub(super) fn plays(&self) -> u32 {
        let data = self.control.as_ref().map_or(&[][..], Chunk::data);
        data.get(4..).and_then(|data| data.first_chunk()).map_or(0, |&plays| u32::from_be_bytes(plays))
    }

    /// Whether alpha is stored in any way.
    pub(super) fn has_alpha(&self) -> bool {
        self.header.colour.has_alpha() || self.transparency.is_some()
    }

    /// Checks the checksums of everything that shows pixels.
    pub(super) fn check_data(&self, run: Run<'_>) -> Result<()> {
        let all = self.data.iter().chain(&self.control).chain(&self.animation.0).chain(&self.animation.1);
        for chunk in all {
            run.check()?;
            chunk.check()?;
        }
        Ok(())
    }

    /// A whole file of what shows the pixels, with what `early` writes before the palette and `late` at the end. The
    /// still image is one `IDAT`. `animated` keeps the animation.
    pub(super) fn file(&self, animated: bool, early: &[u8], late: &[u8]) -> Vec<u8> {
        let data: Vec<&[u8]> = self.data.iter().map(Chunk::data).collect();
        let bytes: usize = data.iter().map(|part| part.len()).sum();
        let mut out = Vec::with_capacity(bytes + early.len() + late.len() + 1024);
        out.extend_from_slice(PNG_SIGNATURE);
        chunks::write(&mut out, b"IHDR", &[&self.header.to_bytes()]);
        out.extend_from_slice(early);
        let copy = |out: &mut Vec<u8>, chunk: &Chunk<'_>| chunks::write(out, &chunk.kind(), &[chunk.data()]);
        self.control.iter().filter(|_| animated).for_each(|chunk| copy(&mut out, chunk));
        self.write_colours(&mut out);
        self.animation.0.iter().filter(|_| animated).for_each(|chunk| copy(&mut out, chunk));
        chunks::write(&mut out, b"IDAT", &data);
        self.animation.1.iter().filter(|_| animated).for_each(|chunk| copy(&mut out, chunk));
        out.extend_from_slice(late);
        chunks::write(&mut out, b"IEND", &[]);
        out
    }

    /// A bare file of other pixels that share palette and transparency with this one.
    pub(super) fn image(&self, header: Header, data: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::with_capacity(data.iter().map(|part| part.len()).sum::<usize>() + 1200);
        out.extend_from_slice(PNG_SIGNATURE);
        chunks::write(&mut out, b"IHDR", &[&header.to_bytes()]);
        self.write_colours(&mut out);
        chunks::write(&mut out, b"IDAT", data);
        chunks::write(&mut out, b"IEND", &[]);
        out
    }

    fn write_colours(&self, out: &mut Vec<u8>) {
        if !self.palette.is_empty() {
            chunks::write(out, b"PLTE", &[self.palette]);
        }
        if let Some(transparency) = self.transparency {
            chunks::write(out, b"tRNS", &[transparency]);
        }
    }
}

fn parse_header(first: &Chunk<'_>) -> Result<Header> {
    if &first.kind() != b"IHDR" {
        if &first.kind() == b"CgBI" {
            return Err(Error::unsupported("a PNG with the critical chunk CgBI"));
        }
        return Err(damaged(format!("begins with the chunk {} instead of IHDR", first.name())));
    }
    first.check()?;
    Header::parse(first.data())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::png::fixtures::{assembled, file_with, raw_rows, run};

    fn problem(file: &[u8]) -> String {
        Parts::of(file).unwrap_err().to_string()
    }

    fn indexed() -> Header {
        Header { width: 5, height: 4, colour: ColourType::Indexed, depth: 4, interlaced: false }
    }

    #[test]
    fn a_file_put_together_again_is_bare_and_stays_the_same() {
        let file = [file_with(&[(b"tEXt", b"a\0b")], &[(b"tIME", &[0; 7])]), b"behind".to_vec()].concat();
        let bare = Parts::of(&file).unwrap().file(false, &[], &[]);
        let kinds: Vec<_> = Chunks::of(&bare).unwrap().map(|chunk| chunk.unwrap().name()).collect();
        assert_eq!(kinds, ["IHDR", "IDAT", "IEND"]);
        assert_eq!(Parts::of(&bare).unwrap().file(false, &[], &[]), bare);
    }

    #[test]
    fn broken_chunks_behind_the_data_are_passed_over() {
        let file = file_with(&[], &[]);
        let open = &file[..file.len() - 12];
        for junk in [&b""[..], b"junk", b"\0\0\0\x09tEXta\0b", &[0xFF; 40]] {
            assert!(Parts::of(&[open, junk].concat()).is_ok(), "{junk:?}");
        }
    }

    #[test]
    fn what_is_missing_or_in_disorder_is_named() {
        let rows = raw_rows(indexed());
        let with = |before: &[(&[u8; 4], &[u8])]| assembled(indexed(), &rows, before, &[]);
        assert!(problem(&with(&[(b"PLTE", &[0; 3])])).contains("second PLTE"));
        assert!(problem(&with(&[(b"IHDR", &indexed().to_bytes())])).contains("second IHDR"));
        assert_eq!(Parts::of(&with(&[(b"tRNS", &[7]), (b"tRNS", &[9])])).unwrap().transparency, Some(&[7][..]));
        assert!(problem(&file_with(&[(b"tRNS", &[0; 5])], &[])).contains("tRNS chunk of 5 bytes"));
        assert!(problem(&file_with(&[], &[(b"tIME", &[]), (b"IDAT", &[])])).contains("follow each other"));
        let mut file = PNG_SIGNATURE.to_vec();
        chunks::write(&mut file, b"IHDR", &[&indexed().to_bytes()]);
        assert!(problem(&file).contains("no IDAT"));
        let start = file.len();
        chunks::write(&mut file, b"IDAT", &[]);
        assert!(problem(&file).contains("no PLTE"));
        file.truncate(start);
        chunks::write(&mut file, b"tRNS", &[&[0]]);
        chunks::write(&mut file, b"PLTE", &[&[0; 3]]);
        chunks::write(&mut file, b"IDAT", &[]);
        assert_eq!(Parts::of(&file).unwrap().transparency, None);
        file.truncate(start);
        chunks::write(&mut file, b"PLTE", &[&[0; 4]]);
        assert!(problem(&file).contains("PLTE chunk of 4 bytes"));
        let mut file = PNG_SIGNATURE.to_vec();
        chunks::write(&mut file, b"IDAT", &[]);
        assert!(problem(&file).contains("begins with the chunk IDAT"));
    }

    #[test]
    fn an_animation_keeps_its_frames_only_if_asked() {
        let control: &[u8] = &[0, 0, 0, 1, 0, 0, 0, 0];
        let file = file_with(&[(b"acTL", control), (b"fcTL", &[0; 26])], &[(b"fcTL", &[1; 26]), (b"fdAT", &[0; 9])]);
        let parts = Parts::of(&file).unwrap();
        assert_eq!(parts.frames().unwrap(), Some(1));
        let kinds = |file: &[u8]| Chunks::of(file).unwrap().map(|chunk| chunk.unwrap().name()).collect::<Vec<_>>();
        assert_eq!(kinds(&parts.file(true, &[], &[])), ["IHDR", "acTL", "fcTL", "IDAT", "fcTL", "fdAT", "IEND"]);
        assert_eq!(kinds(&parts.file(false, &[], &[])), ["IHDR", "IDAT", "IEND"]);
        parts.check_data(run()).unwrap();
    }
}
