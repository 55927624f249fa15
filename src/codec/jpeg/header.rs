//! What stands before the first scan: frame, colour marks, quantisation tables, metadata segments.

use super::segments::{Segment, Segments, marker};
use crate::{
    error::{Error, Result},
    format::Format,
};

/// One colour component of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Component {
    /// Its name in scan headers.
    pub(super) id: u8,
    /// Horizontal sampling factor, 1 to 4.
    pub(super) across: usize,
    /// Vertical sampling factor, 1 to 4.
    pub(super) down: usize,
    /// Number of its quantisation table, 0 to 3.
    pub(super) table: usize,
}

/// A frame that this crate can decode: 8 bits a sample; 1, 3 or 4 components; sequential or progressive DCT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    /// Pixels, 1 to 65,535.
    pub(super) width: u32,
    /// Pixels, 1 to 65,535.
    pub(super) height: u32,
    /// 1, 3 or 4.
    pub(super) components: Vec<Component>,
    /// Progressive instead of sequential.
    pub(super) progressive: bool,
    /// Arithmetic instead of Huffman coding.
    pub(super) arithmetic: bool,
}

/// How the components make colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colours {
    Gray,
    YCbCr,
    Rgb,
    Cmyk,
    /// CMYK whose first three components went through the transform to YCbCr.
    Ycck,
}

/// Everything before the first scan.
#[derive(Debug)]
pub(super) struct Header<'a> {
    pub(super) frame: Frame,
    /// The colour transform of the last Adobe segment.
    pub(super) adobe: Option<u8>,
    /// Quantisation tables in zigzag order, by number.
    pub(super) tables: [Option<[u16; 64]>; 4],
    /// Application segments and comments, in order.
    pub(super) extras: Vec<Segment<'a>>,
}

impl<'a> Header<'a> {
    /// Walks the segments up to the first scan.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for codings that cannot be decoded, by name; [`Error::Input`] for damage.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let (mut frame, mut tables, mut extras) = (None, [None; 4], Vec::new());
        for segment in Segments::new(bytes)? {
            let segment = segment?;
            match segment.marker {
                marker::SOS => {
                    let frame = frame.ok_or_else(|| damaged("has a scan before its frame header"))?;
                    return Ok(Self {
                        frame,
                        adobe: extras.iter().filter_map(adobe_transform).next_back(),
                        tables,
                        extras,
                    });
                }
                marker::DQT => read_tables(segment.payload, &mut tables)?,
                marker::DHP => return Err(Error::unsupported("hierarchical JPEG")),
                marker::APP0..=0xEF | marker::COM => extras.push(segment),
                _ if segment.is_frame() && frame.is_some() => return Err(damaged("has two frame headers")),
                _ if segment.is_frame() => frame = Some(Frame::read(&segment)?),
                _ => {}
            }
        }
        Err(damaged(if frame.is_some() { "has no scan" } else { "has no frame header" }))
    }

    /// How the components make colours, in the order of libjpeg (`default_decompress_parms` in `jdapimin.c`) and so of
    /// browsers: three are YCbCr by a JFIF header, else what an Adobe segment says, else RGB by the names `RGB`.
    pub(super) fn colours(&self) -> Colours {
        match self.frame.components.len() {
            1 => Colours::Gray,
            3 if self.extras.iter().any(is_jfif) => Colours::YCbCr,
            3 if self.adobe == Some(0) || self.adobe.is_none() && self.frame.is_named_rgb() => Colours::Rgb,
            3 => Colours::YCbCr,
            _ if self.adobe.is_none_or(|transform| transform == 0) => Colours::Cmyk,
            _ => Colours::Ycck,
        }
    }
}

impl Frame {
    fn read(segment: &Segment<'_>) -> Result<Self> {
        let (progressive, arithmetic) = coding(segment.marker)?;
        let [precision, h1, h0, w1, w0, count, listed @ ..] = segment.payload else {
            return Err(damaged("has a frame header that is too short"));
        };
        let (width, height) = (u16::from_be_bytes([*w1, *w0]), u16::from_be_bytes([*h1, *h0]));
        if *precision != 8 {
            return Err(Error::unsupported(format!("{precision}-bit JPEG")));
        }
        if width == 0 || height == 0 {
            return Err(damaged(format!("has no size in its header: {width}x{height} pixels")));
        }
        if !matches!(count, 1 | 3 | 4) {
            return Err(Error::unsupported(format!("JPEG of {count} components")));
        }
        if listed.len() != usize::from(*count) * 3 {
            return Err(damaged(format!("has a frame header of {} bytes", segment.payload.len())));
        }
        let components = listed.chunks_exact(3).map(Component::read).collect::<Result<Vec<_>>>()?;
        if components.iter().enumerate().any(|(index, c)| components[..index].iter().any(|other| other.id == c.id)) {
            return Err(damaged("has two components of one name"));
        }
        Ok(Self { width: width.into(), height: height.into(), components, progressive, arithmetic })
    }

    /// Whether the components bear the names of red, green and blue.
    pub(super) fn is_named_rgb(&self) -> bool {
        self.components.iter().map(|component| component.id).eq(*b"RGB")
    }

    /// The largest sampling factors, across and down.
    pub(super) fn most_sampled(&self) -> (usize, usize) {
        self.components.iter().fold((1, 1), |(across, down), c| (across.max(c.across), down.max(c.down)))
    }

    /// The size of a component's plane in samples.
    pub(super) fn plane(&self, component: &Component) -> (usize, usize) {
        let (across, down) = self.most_sampled();
        (
            (self.width as usize * component.across).div_ceil(across),
            (self.height as usize * component.down).div_ceil(down),
        )
    }

    /// The blocks of 8x8 samples in a component's plane, across and down.
    pub(super) fn blocks(&self, component: &Component) -> (usize, usize) {
        let (width, height) = self.plane(component);
        (width.div_ceil(8), height.div_ceil(8))
    }

    /// MCUs of an interleaved scan, across and down.
    pub(super) fn units(&self) -> (usize, usize) {
        let (across, down) = self.most_sampled();
        ((self.width as usize).div_ceil(8 * across), (self.height as usize).div_ceil(8 * down))
    }
}

impl Component {
    fn read(bytes: &[u8]) -> Result<Self> {
        let (across, down, table) = (usize::from(bytes[1] >> 4), usize::from(bytes[1] & 15), usize::from(bytes[2]));
        if !(1..=4).contains(&across) || !(1..=4).contains(&down) || table > 3 {
            return Err(damaged(format!("has a component sampled {across}x{down} with quantisation table {table}")));
        }
        Ok(Self { id: bytes[0], across, down, table })
    }
}

/// Whether a frame header's process is progressive and whether it is arithmetic.
fn coding(marker: u8) -> Result<(bool, bool)> {
    match marker {
        0xC0 | 0xC1 => Ok((false, false)),
        0xC2 => Ok((true, false)),
        0xC9 => Ok((false, true)),
        0xCA => Ok((true, true)),
        0xC3 | 0xCB => Err(Error::unsupported("lossless JPEG")),
        marker::SOF55 => Err(Error::unsupported("JPEG-LS")),
        _ => Err(Error::unsupported("hierarchical JPEG")),
    }
}

fn read_tables(mut payload: &[u8], tables: &mut [Option<[u16; 64]>; 4]) -> Result<()> {
    while let [head, rest @ ..] = payload {
        let (wide, number) = (head >> 4, usize::from(head & 15));
        let width = match wide {
            0 => 1,
            1 => 2,
            _ => return Err(damaged(format!("has a quantisation table of precision {wide}"))),
        };
        let (Some(values), Some(slot)) = (rest.get(..64 * width), tables.get_mut(number)) else {
            return Err(damaged(format!("has a broken quantisation table {number}")));
        };
        let table = slot.insert([0; 64]);
        for (entry, value) in table.iter_mut().zip(values.chunks_exact(width)) {
            *entry = value.iter().fold(0, |sum, &byte| sum << 8 | u16::from(byte));
        }
        check_table(table)?;
        payload = &rest[64 * width..];
    }
    Ok(())
}

/// Steps are 1 at least (T.81, B.2.4.1); where a picture is quantised again they divide.
pub(super) fn check_table(table: &[u16; 64]) -> Result<()> {
    if table.contains(&0) { Err(damaged("has a quantisation table with a step of 0")) } else { Ok(()) }
}

/// The colour transform that an Adobe segment names.
pub(super) fn adobe_transform(segment: &Segment<'_>) -> Option<u8> {
    let named = segment.marker == marker::APP14 && segment.payload.starts_with(b"Adobe");
    segment.payload.get(11).copied().filter(|_| named)
}

/// Whether a segment is a JFIF header (and not an extension of one), whole as libjpeg asks for it.
pub(super) fn is_jfif(segment: &Segment<'_>) -> bool {
    segment.marker == marker::APP0 && segment.payload.starts_with(b"JFIF\0") && segment.payload.len() >= 14
}

/// An [`Error::Input`] of this format.
pub(super) fn damaged(problem: impl Into<String>) -> Error {
    Error::input(Format::Jpeg, problem)
}
