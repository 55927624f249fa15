//! The frames of a file as they are stored.

use super::{
    super::{chunks::Chunk, parts::Parts},
    damaged,
};
use crate::{
    codec::sequence::{Area, Disposal},
    error::Result,
    picture::Delay,
};

/// What lies before a frame's data: `fcTL`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Control {
    pub(super) area: Area,
    /// Seconds: numerator and denominator. A denominator of 0 stands for 100.
    pub(super) seconds: (u16, u16),
    pub(super) disposal: Disposal,
    /// Blended over what is there, instead of replacing it.
    pub(super) over: bool,
}

impl Control {
    /// Reads all but the sequence number.
    fn parse(data: &[u8]) -> Result<Self> {
        let &[w0, w1, w2, w3, h0, h1, h2, h3, x0, x1, x2, x3, y0, y1, y2, y3, n0, n1, d0, d1, disposal, blend] = data
        else {
            return Err(damaged(format!("has an fcTL chunk of {} bytes instead of 26", data.len() + 4)));
        };
        let side = |bytes| u32::from_be_bytes(bytes) as usize;
        let area = Area {
            x: side([x0, x1, x2, x3]),
            y: side([y0, y1, y2, y3]),
            width: side([w0, w1, w2, w3]),
            height: side([h0, h1, h2, h3]),
        };
        let disposal = match disposal {
            0 => Disposal::Keep,
            1 => Disposal::Clear,
            2 => Disposal::Restore,
            other => return Err(damaged(format!("names the disposal {other}, which does not exist"))),
        };
        if blend > 1 {
            return Err(damaged(format!("names the blend operation {blend}, which does not exist")));
        }
        let seconds = (u16::from_be_bytes([n0, n1]), u16::from_be_bytes([d0, d1]));
        Ok(Self { area, seconds, disposal, over: blend == 1 })
    }

    /// The data of an `fcTL` chunk.
    pub(super) fn to_bytes(self, sequence: u32) -> [u8; 26] {
        let mut data = [0; 26];
        data[..4].copy_from_slice(&sequence.to_be_bytes());
        let sides = [self.area.width, self.area.height, self.area.x, self.area.y];
        for (bytes, side) in data[4..20].as_chunks_mut::<4>().0.iter_mut().zip(sides) {
            *bytes = (side as u32).to_be_bytes();
        }
        data[20..22].copy_from_slice(&self.seconds.0.to_be_bytes());
        data[22..24].copy_from_slice(&self.seconds.1.to_be_bytes());
        data[24] = match self.disposal {
            Disposal::Keep => 0,
            Disposal::Clear => 1,
            Disposal::Restore => 2,
        };
        data[25] = self.over.into();
        data
    }

    /// How long the frame is shown.
    pub(super) fn delay(&self) -> Delay {
        let (numerator, denominator) = self.seconds;
        let denominator = if denominator == 0 { 100 } else { denominator };
        let least = std::num::NonZeroU32::MIN;
        Delay {
            numerator: u32::from(numerator) * 1000,
            denominator: std::num::NonZeroU32::new(denominator.into()).unwrap_or(least),
        }
    }
}

/// One frame.
#[derive(Debug)]
pub(super) struct Stored<'a> {
    pub(super) control: Control,
    /// Its zlib stream in pieces.
    pub(super) data: Vec<&'a [u8]>,
}

/// All frames that the file says it has.
///
/// # Errors
/// If frames are missing, lie beyond the canvas, or their chunks are out of order.
pub(super) fn frames<'a>(parts: &Parts<'a>) -> Result<Vec<Stored<'a>>> {
    let count = parts.frames()?.ok_or_else(|| damaged("has no acTL chunk"))?;
    let (before, behind) = &parts.animation;
    let mut frames: Vec<Stored<'a>> = Vec::new();
    let mut sequence = 0;
    for chunk in before {
        frames.push(Stored { control: control(parts, chunk, &mut sequence)?, data: Vec::new() });
    }
    match &mut frames[..] {
        [] => {}
        [first] => {
            let (width, height) = (parts.header.width as usize, parts.header.height as usize);
            if first.control.area != (Area { x: 0, y: 0, width, height }) {
                return Err(damaged("has a first frame that is not as large as its canvas"));
            }
            first.data = parts.data.iter().map(Chunk::data).collect();
        }
        _ => return Err(damaged("has two fcTL chunks before its IDAT chunk")),
    }
    for chunk in behind {
        if &chunk.kind() == b"fcTL" {
            if frames.len() == count as usize {
                break;
            }
            frames.push(Stored { control: control(parts, chunk, &mut sequence)?, data: Vec::new() });
        } else {
            let data = numbered(chunk, &mut sequence)?;
            let frame = frames.last_mut().ok_or_else(|| damaged("has an fdAT chunk without an fcTL chunk"))?;
            frame.data.push(data);
        }
    }
    let whole = frames.iter().filter(|frame| !frame.data.is_empty()).count();
    if whole < count as usize {
        return Err(damaged(format!("has {whole} frames instead of {count}")));
    }
    Ok(frames)
}

fn control(parts: &Parts<'_>, chunk: &Chunk<'_>, sequence: &mut u32) -> Result<Control> {
    let control = Control::parse(numbered(chunk, sequence)?)?;
    let Area { x, y, width, height } = control.area;
    let within = |from: usize, length: usize, side: u32| {
        length > 0 && from.checked_add(length).is_some_and(|end| end <= side as usize)
    };
    if !within(x, width, parts.header.width) || !within(y, height, parts.header.height) {
        let (w, h) = (parts.header.width, parts.header.height);
        return Err(damaged(format!("has a frame of {width}x{height} at {x},{y} on a canvas of {w}x{h}")));
    }
    Ok(control)
}

/// What follows the sequence number, which has to be the next one.
fn numbered<'a>(chunk: &Chunk<'a>, sequence: &mut u32) -> Result<&'a [u8]> {
    let name = chunk.name();
    let (number, rest) =
        chunk.data().split_first_chunk().ok_or_else(|| damaged(format!("has an {name} chunk without a number")))?;
    let number = u32::from_be_bytes(*number);
    if number != *sequence {
        return Err(damaged(format!("has an {name} chunk numbered {number} where {sequence} is due")));
    }
    *sequence += 1;
    Ok(rest)
}
