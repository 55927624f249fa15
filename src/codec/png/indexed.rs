//! Pixels of few colours.

use super::{
    forms::Form,
    header::{ColourType, Space},
};
use crate::{
    control::Run,
    error::{Error, Result},
    picture::{Channels, Picture},
};

/// Pixels of at most 256 colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Indexed {
    /// Pixels in a row.
    pub(super) width: u32,
    /// Different colours with straight alpha, all of them used.
    pub(super) palette: Vec<[u8; 4]>,
    /// One a pixel.
    pub(super) indices: Vec<u8>,
}

impl Indexed {
    /// The picture's colours in the order of their first pixel; `None` if there are more than 256, or 16 bits.
    pub(super) fn of(picture: &Picture, run: Run<'_>) -> Result<Option<Self>> {
        let Some(samples) = picture.eight() else { return Ok(None) };
        let channels = picture.channels();
        let mut table = Table::default();
        let mut indices = Vec::new();
        for row in samples.chunks(picture.layout().row_samples().saturating_mul(16)) {
            run.check()?;
            for pixel in row.chunks_exact(channels.count()) {
                let Some(index) = table.index(rgba(pixel, channels)) else { return Ok(None) };
                indices.push(index);
            }
        }
        Ok(Some(Self { width: picture.width(), palette: table.palette, indices }))
    }

    /// The same from any palette: equal and unused entries are dropped.
    ///
    /// # Errors
    /// [`Error::Internal`] if an index has no entry.
    pub(super) fn from_palette(width: u32, palette: &[[u8; 4]], indices: &[u8]) -> Result<Self> {
        let mut table = Table::default();
        let mut names: Vec<Option<u8>> = vec![None; 256];
        let mut renamed = Vec::with_capacity(indices.len());
        for &index in indices {
            let name = &mut names[usize::from(index)];
            if name.is_none() {
                *name = palette.get(usize::from(index)).and_then(|&colour| table.index(colour));
            }
            let Some(name) = *name else {
                let problem = format!("index {index} in a palette of {} entries", palette.len());
                return Err(Error::internal("encoding an indexed PNG", problem));
            };
            renamed.push(name);
        }
        Ok(Self { width, palette: table.palette, indices: renamed })
    }

    /// The order of entries that follows another palette; what is not in it comes last.
    pub(super) fn order_of(&self, palette: &[[u8; 4]]) -> Vec<u8> {
        let mut order: Vec<u8> = (0..self.palette.len()).map(|index| index as u8).collect();
        let place = |colour: &[u8; 4]| palette.iter().position(|other| other == colour).unwrap_or(usize::MAX);
        order.sort_by_cached_key(|&index| place(&self.palette[usize::from(index)]));
        order
    }

    /// With the entries in another order, as the order lists them.
    pub(super) fn reordered(&self, order: &[u8]) -> Form {
        let mut names = [0; 256];
        order.iter().zip(0..=255u8).for_each(|(&index, name)| names[usize::from(index)] = name);
        let samples = self.indices.iter().map(|&index| names[usize::from(index)]).collect();
        let palette: Vec<_> = order.iter().map(|&index| self.palette[usize::from(index)]).collect();
        Form::new(ColourType::Indexed, palette_depth(palette.len()), palette, None, samples)
    }

    /// Every index replaced by the samples of its colour.
    fn spread<const N: usize>(&self, samples: impl Fn([u8; 4]) -> [u8; N]) -> Vec<u8> {
        let colours: Vec<[u8; N]> = self.palette.iter().map(|&colour| samples(colour)).collect();
        self.indices.iter().flat_map(|&index| colours[usize::from(index)]).collect()
    }

    /// Bits of an index.
    pub(super) fn depth(&self) -> u8 {
        palette_depth(self.palette.len())
    }

    /// The colour that is transparent, if one is, all others are opaque, and none of them is the same but for alpha.
    fn key(&self) -> Option<[u8; 3]> {
        let mut translucent = self.palette.iter().filter(|colour| colour[3] != 255);
        let &[r, g, b, 0] = translucent.next()? else { return None };
        (translucent.next().is_none() && !self.palette.contains(&[r, g, b, 255])).then_some([r, g, b])
    }

    /// Colour type and depth of [`direct`](Self::direct).
    pub(super) fn direct_type(&self, space: Space) -> (ColourType, u8) {
        let gray = space != Space::Rgb && self.palette.iter().all(|&[r, g, b, _]| r == g && g == b);
        let opaque = self.palette.iter().all(|colour| colour[3] == 255);
        match (gray, opaque || self.key().is_some()) {
            (true, true) => (ColourType::Gray, gray_depth(&self.palette)),
            (true, false) => (ColourType::GrayAlpha, 8),
            (false, true) => (ColourType::Rgb, 8),
            (false, false) => (ColourType::Rgba, 8),
        }
    }

    /// Without a palette, in the fewest bits that `space` allows.
    pub(super) fn direct(&self, space: Space) -> Form {
        let (colour, depth) = self.direct_type(space);
        let scale = 255 / ((1u16 << depth) - 1) as u8;
        let key = self.key().map(|key| key.map(|value| u16::from(value / scale)));
        let samples = match colour {
            ColourType::GrayAlpha => self.spread(|[value, _, _, a]| [value, a]),
            ColourType::Rgb => self.spread(|[r, g, b, _]| [r, g, b]),
            ColourType::Rgba => self.spread(|colour| colour),
            _ => self.spread(|[value, ..]| [value / scale]),
        };
        Form::new(colour, depth, Vec::new(), key, samples)
    }
}

/// Finds the index of a colour.
#[derive(Debug, Clone)]
pub(super) struct Table {
    /// The colours that there are indices of.
    pub(super) palette: Vec<[u8; 4]>,
    /// Open addressing: 0 is free, otherwise index + 1.
    slots: Vec<u16>,
    last: ([u8; 4], u8),
}

impl Default for Table {
    fn default() -> Self {
        Self { palette: Vec::new(), slots: vec![0; 1024], last: ([0; 4], 0) }
    }
}

impl Table {
    /// A new one for a new colour; `None` for the 257th.
    pub(super) fn index(&mut self, colour: [u8; 4]) -> Option<u8> {
        if self.last.0 == colour && !self.palette.is_empty() {
            return Some(self.last.1);
        }
        let mut at = (u32::from_le_bytes(colour).wrapping_mul(0x9E37_79B1) >> 22) as usize;
        let index = loop {
            match self.slots[at] {
                0 => break self.insert(at, colour)?,
                slot if self.palette[usize::from(slot) - 1] == colour => break (slot - 1) as u8,
                _ => at = (at + 1) % self.slots.len(),
            }
        };
        self.last = (colour, index);
        Some(index)
    }

    fn insert(&mut self, at: usize, colour: [u8; 4]) -> Option<u8> {
        let index = u8::try_from(self.palette.len()).ok()?;
        self.palette.push(colour);
        self.slots[at] = u16::from(index) + 1;
        Some(index)
    }
}

fn rgba(pixel: &[u8], channels: Channels) -> [u8; 4] {
    match (channels, pixel) {
        (Channels::Gray, &[v]) => [v, v, v, 255],
        (Channels::GrayAlpha, &[v, a]) => [v, v, v, a],
        (_, &[r, g, b]) => [r, g, b, 255],
        (_, &[r, g, b, a]) => [r, g, b, a],
        _ => [0; 4],
    }
}

/// Bits of an index into so many entries.
pub(super) fn palette_depth(entries: usize) -> u8 {
    match entries {
        0..=2 => 1,
        3..=4 => 2,
        5..=16 => 4,
        _ => 8,
    }
}

/// The fewest bits that hold all values exactly.
fn gray_depth(palette: &[[u8; 4]]) -> u8 {
    let all = |step: u8| palette.iter().all(|colour| colour[0].is_multiple_of(step));
    if all(255) {
        1
    } else if all(85) {
        2
    } else if all(17) {
        4
    } else {
        8
    }
}
