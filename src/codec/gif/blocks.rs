//! The blocks of a GIF, walked by their lengths.
//!
//! After the GIF89a specification. Nothing is decompressed; a file may end anywhere behind the descriptor of a frame.

use super::damaged;
use crate::{
    codec::sequence::Disposal,
    control::Run,
    error::Result,
    picture::{Delay, Plays},
};

/// Blocks between two questions whether to go on; one takes some nanoseconds.
const STRIDE: usize = 1 << 16;
/// Milliseconds of a hundredth of a second, the unit of delays.
const MS_OF_A_TICK: u32 = 10;

/// What the header says of the whole file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screen<'a> {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) table: Option<Table<'a>>,
}

/// A colour table: 2 to 256 times red, green and blue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'a>(&'a [u8]);

impl<'a> Table<'a> {
    /// Bits of an index.
    pub(super) const fn bits(self) -> u16 {
        (self.0.len() / 3).ilog2() as u16
    }

    pub(super) const fn bytes(self) -> usize {
        self.0.len()
    }

    pub(super) fn colours(self) -> impl Iterator<Item = [u8; 3]> + 'a {
        self.0.chunks_exact(3).map(|c| [c[0], c[1], c[2]])
    }
}

/// The graphic control extension's three bits. 4 was once written for 3; what else is not defined counts as 0, as in
/// browsers.
const fn disposal(flags: u8) -> Disposal {
    match flags >> 2 & 7 {
        2 => Disposal::Clear,
        3 | 4 => Disposal::Restore,
        _ => Disposal::Keep,
    }
}

/// The graphic control extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Control {
    pub(super) disposal: Disposal,
    pub(super) transparent: Option<u8>,
    /// Hundredths of a second.
    pub(super) ticks: u16,
}

impl Control {
    fn read(data: [u8; 4]) -> Self {
        let transparent = (data[0] & 1 != 0).then_some(data[3]);
        let ticks = u16::from_le_bytes([data[1], data[2]]);
        Self { disposal: disposal(data[0]), transparent, ticks }
    }
}

/// The time on screen of `ticks` hundredths of a second, as written. (Browsers show a frame of 0 or 1 for a tenth of a
/// second.)
pub(super) fn delay(ticks: u16) -> Delay {
    Delay { numerator: u32::from(ticks) * MS_OF_A_TICK, ..Delay::NONE }
}

/// Where a frame lies on the canvas, which it may reach beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Place {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) width: u32,
    pub(super) height: u32,
}

/// A frame as stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stored<'a> {
    pub(super) place: Place,
    pub(super) interlaced: bool,
    pub(super) control: Control,
    /// Its own colour table.
    pub(super) table: Option<Table<'a>>,
    /// Bits of an index in the compressed data; `None` where the file ends before.
    pub(super) code_bits: Option<u8>,
    /// The blocks of compressed data, each behind its length.
    pub(super) data: &'a [u8],
    /// The descriptor, the colour table and the code size.
    pub(super) head: &'a [u8],
}

#[derive(Debug)]
pub(super) enum Block<'a> {
    Frame(Stored<'a>),
    /// A comment's blocks, each behind its length.
    Comment(&'a [u8]),
    /// An application's name of 11 bytes, and its blocks, each behind its length.
    Application(&'a [u8], &'a [u8]),
    /// An extension that nobody shows.
    Other,
}

/// The bytes not walked yet.
#[derive(Debug, Clone)]
pub(super) struct Walk<'a> {
    bytes: &'a [u8],
    control: Control,
    blocks: usize,
}

impl<'a> Walk<'a> {
    /// Reads the header, the logical screen and the global colour table.
    pub(super) fn start(file: &'a [u8]) -> Result<(Screen<'a>, Self)> {
        let mut walk = Self { bytes: file, control: Control::default(), blocks: 0 };
        let length = file.len();
        let cut_off = |place: &str| damaged(format!("is cut off after {length} {place}"));
        let header = walk.take(13).ok_or_else(|| cut_off("of 13 header bytes"))?;
        if !header.starts_with(b"GIF87a") && !header.starts_with(b"GIF89a") {
            return Err(damaged("has no GIF header"));
        }
        let table = walk.table(header[10]).ok_or_else(|| cut_off("bytes, in its colour table"))?;
        Ok((Screen { width: u16_at(header, 6), height: u16_at(header, 8), table }, walk))
    }

    /// The next block; `None` at the trailer or the end of the bytes.
    pub(super) fn next(&mut self, run: Run<'_>) -> Result<Option<Block<'a>>> {
        match self.take(1) {
            Some([0x2C]) => self.frame(run),
            Some([0x21]) => self.extension(run),
            // What is neither frame nor extension ends the file, as for browsers.
            _ => Ok(None),
        }
    }

    /// The next frame, past all extensions.
    pub(super) fn next_frame(&mut self, run: Run<'_>) -> Result<Option<Stored<'a>>> {
        while let Some(block) = self.next(run)? {
            if let Block::Frame(frame) = block {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    fn frame(&mut self, run: Run<'_>) -> Result<Option<Block<'a>>> {
        let start = self.bytes;
        let Some(descriptor) = self.take(9) else { return Ok(None) };
        let place = Place {
            x: u16_at(descriptor, 0),
            y: u16_at(descriptor, 2),
            width: u16_at(descriptor, 4),
            height: u16_at(descriptor, 6),
        };
        let table = self.table(descriptor[8]);
        let code_bits = if table.is_some() { self.take(1).map(|bits| bits[0]) } else { None };
        if code_bits.is_none() {
            self.bytes = &[];
        }
        let head = &start[..start.len() - self.bytes.len()];
        let data = self.data(run)?;
        let (table, interlaced) = (table.flatten(), descriptor[8] & 0x40 != 0);
        let control = std::mem::take(&mut self.control);
        Ok(Some(Block::Frame(Stored { place, interlaced, control, table, code_bits, head, data })))
    }

    fn extension(&mut self, run: Run<'_>) -> Result<Option<Block<'a>>> {
        let Some(&[label]) = self.take(1) else { return Ok(None) };
        let data = self.data(run)?;
        Ok(Some(match (label, data) {
            (0xF9, &[4, a, b, c, d, ..]) => {
                self.control = Control::read([a, b, c, d]);
                Block::Other
            }
            (0xFE, data) => Block::Comment(data),
            (0xFF, &[11, ref rest @ ..]) => match rest.split_at_checked(11) {
                Some((name, data)) => Block::Application(name, data),
                None => Block::Other,
            },
            _ => Block::Other,
        }))
    }

    /// Blocks of data up to the empty one, each behind its length; the last may be cut off.
    fn data(&mut self, run: Run<'_>) -> Result<&'a [u8]> {
        let start = self.bytes;
        let mut length = 0;
        while let Some(&[block]) = self.take(1) {
            self.blocks += 1;
            if self.blocks.is_multiple_of(STRIDE) {
                run.check()?;
            }
            if block == 0 {
                break;
            }
            if self.take(block.into()).is_none() {
                self.bytes = &[];
            }
            length = start.len() - self.bytes.len();
        }
        Ok(&start[..length])
    }

    /// The colour table that `flags` announce, if any; `None` where it is cut off.
    fn table(&mut self, flags: u8) -> Option<Option<Table<'a>>> {
        if flags & 0x80 == 0 {
            return Some(None);
        }
        self.take(3 << (1 + (flags & 7))).map(|bytes| Some(Table(bytes)))
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }
}

/// Takes blocks apart, each behind its length; the last one may be shorter than that.
pub(super) fn blocks(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = data;
    std::iter::from_fn(move || {
        let (&length, tail) = rest.split_first()?;
        let (block, tail) = tail.split_at(tail.len().min(length.into()));
        rest = tail;
        Some(block)
    })
}

/// How often the blocks of an application called `name` say that the animation is shown. Browsers count repetitions:
/// a 1 shows it twice, 0 for ever.
pub(super) fn plays(name: &[u8], data: &[u8]) -> Option<Plays> {
    match (name, data) {
        (b"NETSCAPE2.0" | b"ANIMEXTS1.0", &[3..=255, 1, low, high, ..]) => {
            Some(match u32::from(u16::from_le_bytes([low, high])) {
                0 => Plays::Forever,
                again => Plays::Times(std::num::NonZeroU32::MIN.saturating_add(again)),
            })
        }
        _ => None,
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(bytes[at]) | u32::from(bytes[at + 1]) << 8
}
