//! What the headers of a GIF tell; its pixels are not read yet.
//!
//! After the GIF89a specification. Blocks are walked by their lengths, and nothing is decompressed.

use super::{ColourModel, Info};
use crate::{
    control::Run,
    error::{Error, Result},
    format::Format,
    picture::Orientation,
};

/// Blocks between two questions whether to go on; one takes some nanoseconds.
const STRIDE: usize = 1 << 16;

/// Walks all blocks. A frame counts once its descriptor is whole, so a file may end anywhere behind its first one.
pub(crate) fn probe(bytes: &[u8], run: Run<'_>) -> Result<Info> {
    let mut walk = Walk { bytes, run, blocks: 0 };
    let screen = walk.screen()?;
    let mut seen = Seen::default();
    while let Some(block) = walk.next_block(&mut seen)? {
        if let Block::Frame(frame) = block {
            let covers = (frame.x, frame.y) == (0, 0) && frame.width >= screen.width && frame.height >= screen.height;
            seen.alpha |= seen.frames == 0 && !covers;
            seen.frames = seen.frames.saturating_add(1);
            seen.bits = seen.bits.max(frame.table_bits.or(screen.table_bits).unwrap_or(8));
            seen.first.get_or_insert(frame);
        }
    }
    let first = seen.first.ok_or_else(|| damaged("has no frames"))?;
    // Writers that leave the screen empty mean the first frame.
    let (width, height) = match (screen.width, screen.height) {
        (0, _) | (_, 0) => (first.x + first.width, first.y + first.height),
        size => size,
    };
    if width == 0 || height == 0 {
        return Err(damaged(format!("is {width}x{height} pixels")));
    }
    Ok(Info {
        format: Format::Gif,
        width,
        height,
        frames: seen.frames,
        colour: ColourModel::Indexed,
        alpha: seen.alpha,
        bits_per_pixel: seen.bits,
        sampling: None,
        interlaced: Some(first.interlaced),
        quality: None,
        lossless: Some(true),
        orientation: Orientation::Upright,
        icc: false,
    })
}

/// What the blocks have told so far.
#[derive(Default)]
struct Seen {
    frames: u32,
    alpha: bool,
    /// The most bits of an index.
    bits: u16,
    first: Option<Frame>,
}

struct Screen {
    width: u32,
    height: u32,
    table_bits: Option<u16>,
}

#[derive(Clone, Copy)]
struct Frame {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
    interlaced: bool,
    table_bits: Option<u16>,
}

enum Block {
    Frame(Frame),
    Extension,
}

/// The bytes not walked yet.
struct Walk<'a> {
    bytes: &'a [u8],
    run: Run<'a>,
    blocks: usize,
}

impl<'a> Walk<'a> {
    /// The header, the logical screen and the global colour table.
    fn screen(&mut self) -> Result<Screen> {
        let length = self.bytes.len();
        let header = self.take(13).ok_or_else(|| damaged(format!("is cut off after {length} of 13 header bytes")))?;
        if !header.starts_with(b"GIF87a") && !header.starts_with(b"GIF89a") {
            return Err(damaged("has no GIF header"));
        }
        let (width, height, table_bits) = (u16_at(header, 6), u16_at(header, 8), table_bits(header[10]));
        if self.take(table_bytes(table_bits)).is_none() {
            return Err(damaged(format!("is cut off after {length} bytes, in its colour table")));
        }
        Ok(Screen { width, height, table_bits })
    }

    /// The next block; `None` at the trailer or the end of the bytes.
    fn next_block(&mut self, seen: &mut Seen) -> Result<Option<Block>> {
        match self.take(1) {
            Some([0x2C]) => self.frame(),
            Some([0x21]) => self.extension(seen),
            // What is neither frame nor extension ends the file, as for browsers.
            _ => Ok(None),
        }
    }

    fn frame(&mut self) -> Result<Option<Block>> {
        let Some(descriptor) = self.take(9) else { return Ok(None) };
        let flags = descriptor[8];
        let frame = Frame {
            x: u16_at(descriptor, 0),
            y: u16_at(descriptor, 2),
            width: u16_at(descriptor, 4),
            height: u16_at(descriptor, 6),
            interlaced: flags & 0x40 != 0,
            table_bits: table_bits(flags),
        };
        // The colour table, and the code size of the compressed data behind it.
        if self.take(table_bytes(frame.table_bits) + 1).is_none() {
            self.bytes = &[];
        }
        self.skip_data()?;
        Ok(Some(Block::Frame(frame)))
    }

    fn extension(&mut self, seen: &mut Seen) -> Result<Option<Block>> {
        let Some(label) = self.take(1) else { return Ok(None) };
        if let (0xF9, &[4, flags, ..]) = (label[0], self.bytes) {
            seen.alpha |= flags & 1 != 0;
        }
        self.skip_data()?;
        Ok(Some(Block::Extension))
    }

    /// Skips blocks of data up to the empty one.
    fn skip_data(&mut self) -> Result<()> {
        while let Some(&[length]) = self.take(1) {
            self.blocks += 1;
            if self.blocks.is_multiple_of(STRIDE) {
                self.run.check()?;
            }
            if length == 0 {
                break;
            }
            if self.take(length.into()).is_none() {
                self.bytes = &[];
            }
        }
        Ok(())
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }
}

fn damaged(problem: impl Into<String>) -> Error {
    Error::input(Format::Gif, problem)
}

fn u16_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(bytes[at]) | u32::from(bytes[at + 1]) << 8
}

/// Bits of an index into the colour table that `flags` announce.
fn table_bits(flags: u8) -> Option<u16> {
    (flags & 0x80 != 0).then_some(u16::from(flags & 7) + 1)
}

fn table_bytes(bits: Option<u16>) -> usize {
    bits.map_or(0, |bits| 3 << bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, limits::Limits};

    fn probed(bytes: &[u8]) -> Result<Info> {
        probe(bytes, Run { limits: &Limits::default(), control: &Unattended })
    }

    /// Header, screen, and a global table of four colours.
    fn head(width: u16, height: u16) -> Vec<u8> {
        [&b"GIF89a"[..], &width.to_le_bytes(), &height.to_le_bytes(), &[0x81, 0, 0], &[0; 12]].concat()
    }

    fn frame(place: [u16; 4], flags: u8) -> Vec<u8> {
        let place: Vec<u8> = place.into_iter().flat_map(u16::to_le_bytes).collect();
        [&[0x2C], &place[..], &[flags, 2, 3, 0x44, 0x01, 0x2C, 0]].concat()
    }

    const TRANSPARENT: &[u8] = &[0x21, 0xF9, 4, 1, 0, 0, 0, 0];

    #[test]
    fn frames_are_counted_by_their_blocks() {
        let comment = b"\x21\xFE\x03\x2C\x2C\x2C\x00";
        let file =
            [head(5, 3), frame([0, 0, 5, 3], 0x40), comment.to_vec(), frame([1, 1, 1, 1], 0), vec![0x3B]].concat();
        let info = probed(&file).unwrap();
        assert_eq!((info.width, info.height, info.frames), (5, 3, 2));
        assert_eq!((info.bits_per_pixel, info.interlaced, info.alpha), (2, Some(true), false));
    }

    #[test]
    fn a_transparent_index_in_any_frame_and_a_first_frame_smaller_than_the_screen_mean_alpha() {
        let second = [head(5, 3), frame([0, 0, 5, 3], 0), TRANSPARENT.to_vec(), frame([0, 0, 5, 3], 0)].concat();
        assert!(probed(&second).unwrap().alpha);
        assert!(probed(&[head(5, 3), frame([1, 0, 4, 3], 0)].concat()).unwrap().alpha);
    }

    #[test]
    fn an_empty_screen_takes_the_size_of_the_first_frame() {
        let info = probed(&[head(0, 0), frame([1, 2, 5, 3], 0)].concat()).unwrap();
        assert_eq!((info.width, info.height), (6, 5));
        let error = probed(&[head(0, 0), frame([0, 0, 0, 0], 0)].concat()).unwrap_err();
        assert_eq!(error.to_string(), "the GIF image is 0x0 pixels");
    }

    #[test]
    fn a_file_may_end_behind_the_descriptor_of_its_first_frame_and_not_before() {
        let file = [head(5, 3), TRANSPARENT.to_vec(), frame([0, 0, 5, 3], 0)].concat();
        let descriptor = file.len() - 6;
        for length in 0..file.len() {
            let result = probed(&file[..length]);
            assert_eq!(result.is_ok(), length >= descriptor, "{length} bytes");
            if let Err(error) = result {
                assert!(matches!(error, Error::Input { .. }), "{error}");
            }
        }
    }

    #[test]
    fn a_local_table_gives_the_bits_of_its_frame() {
        let local = [head(1, 1), frame([0, 0, 1, 1], 0x80 | 7)[..10].to_vec(), vec![0; 768], vec![8, 0]].concat();
        assert_eq!(probed(&local).unwrap().bits_per_pixel, 8);
    }
}
