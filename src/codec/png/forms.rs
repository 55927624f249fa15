//! The ways to store the same pixels: colour types, depths, palettes.

use super::{
    chunks,
    filters::Lines,
    header::{ColourType, Header, Pass},
    palette_order::{by_luma, by_neighbours, translucent_first},
};
use crate::{
    control::Run,
    error::{Error, Result},
    format::PNG_SIGNATURE,
    picture::{Channels, Picture, Samples},
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
    fn reordered(&self, order: &[u8]) -> Form {
        let mut names = [0; 256];
        order.iter().zip(0..=255u8).for_each(|(&index, name)| names[usize::from(index)] = name);
        let samples = self.indices.iter().map(|&index| names[usize::from(index)]).collect();
        let palette: Vec<_> = order.iter().map(|&index| self.palette[usize::from(index)]).collect();
        Form { colour: ColourType::Indexed, depth: palette_depth(palette.len()), palette, key: None, samples }
    }

    /// Every index replaced by the samples of its colour.
    fn spread<const N: usize>(&self, samples: impl Fn([u8; 4]) -> [u8; N]) -> Vec<u8> {
        let colours: Vec<[u8; N]> = self.palette.iter().map(|&colour| samples(colour)).collect();
        self.indices.iter().flat_map(|&index| colours[usize::from(index)]).collect()
    }

    /// The colour that is transparent, if one is, all others are opaque, and none of them is the same but for alpha.
    fn key(&self) -> Option<[u8; 3]> {
        let mut translucent = self.palette.iter().filter(|colour| colour[3] != 255);
        let &[r, g, b, 0] = translucent.next()? else { return None };
        (translucent.next().is_none() && !self.palette.contains(&[r, g, b, 255])).then_some([r, g, b])
    }

    /// Without a palette, in the fewest bits.
    pub(super) fn direct(&self) -> Form {
        let gray = self.palette.iter().all(|&[r, g, b, _]| r == g && g == b);
        let opaque = self.palette.iter().all(|colour| colour[3] == 255);
        let key = self.key();
        let wide = key.map(|key| key.map(u16::from));
        let (colour, depth, samples) = match (gray, opaque || key.is_some()) {
            (true, true) => {
                let depth = gray_depth(&self.palette);
                let scale = 255 / ((1u16 << depth) - 1) as u8;
                let key = key.map(|key| key.map(|value| u16::from(value / scale)));
                let samples = self.spread(|[value, ..]| [value / scale]);
                return Form { colour: ColourType::Gray, depth, palette: Vec::new(), key, samples };
            }
            (true, false) => (ColourType::GrayAlpha, 8, self.spread(|[value, _, _, a]| [value, a])),
            (false, true) => (ColourType::Rgb, 8, self.spread(|[r, g, b, _]| [r, g, b])),
            (false, false) => (ColourType::Rgba, 8, self.spread(|colour| colour)),
        };
        Form { colour, depth, palette: Vec::new(), key: wide, samples }
    }

    /// With a palette, in the orders that pay for `effort`; `hint` is one more.
    pub(super) fn orders(&self, effort: u8, hint: Option<&[[u8; 4]]>) -> Vec<Form> {
        let mut orders = vec![by_luma(&self.palette)];
        if effort >= 1 && self.palette.len() > 2 {
            orders.push(by_neighbours(self));
        }
        if effort >= 2 {
            orders.extend(hint.map(|hint| self.order_of(hint)));
        }
        orders.iter_mut().for_each(|order| translucent_first(order, &self.palette));
        let mut forms: Vec<Form> = Vec::new();
        for order in &orders {
            let form = self.reordered(order);
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        forms
    }
}

/// Finds the index of a colour.
struct Table {
    palette: Vec<[u8; 4]>,
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
    /// `None` for the 257th colour.
    fn index(&mut self, colour: [u8; 4]) -> Option<u8> {
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

fn palette_depth(entries: usize) -> u8 {
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

/// Pixels in one colour type and depth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) colour: ColourType,
    pub(super) depth: u8,
    palette: Vec<[u8; 4]>,
    key: Option<[u16; 3]>,
    /// A byte a sample up to 8 bits, two (the higher first) for 16.
    samples: Vec<u8>,
}

impl Form {
    /// A picture of more than 256 colours or 16 bits, without channels that say nothing.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for CMYK.
    pub(super) fn of(picture: &Picture) -> Result<Self> {
        if picture.channels() == Channels::Cmyk {
            return Err(Error::unsupported("a PNG of CMYK"));
        }
        let (gray, opaque) = (picture.is_gray(), picture.is_opaque());
        let key = if opaque { None } else { key_of(picture) };
        let (colour, channels) = match (gray, opaque || key.is_some()) {
            (true, true) => (ColourType::Gray, Channels::Gray),
            (true, false) => (ColourType::GrayAlpha, Channels::GrayAlpha),
            (false, true) => (ColourType::Rgb, Channels::Rgb),
            (false, false) => (ColourType::Rgba, Channels::Rgba),
        };
        let (depth, samples) = match picture.samples() {
            Samples::Eight(samples) => (8, kept(samples, picture.channels(), channels, |&sample| [sample])),
            Samples::Sixteen(samples) => {
                (16, kept(samples, picture.channels(), channels, |sample: &u16| sample.to_be_bytes()))
            }
        };
        Ok(Self { colour, depth, palette: Vec::new(), key, samples })
    }

    /// The same at 8 bits a sample where there are fewer: packed pixels sometimes compress worse.
    pub(super) fn unpacked(&self) -> Option<Self> {
        if self.depth >= 8 {
            return None;
        }
        let mut form = Self { depth: 8, ..self.clone() };
        if self.colour == ColourType::Gray {
            let scale = 255 / ((1u16 << self.depth) - 1) as u8;
            form.samples.iter_mut().for_each(|sample| *sample *= scale);
            form.key = self.key.map(|key| key.map(|value| value * u16::from(scale)));
        }
        Some(form)
    }

    fn header(&self, size: (u32, u32), interlaced: bool) -> Header {
        Header { width: size.0, height: size.1, colour: self.colour, depth: self.depth, interlaced }
    }

    /// The rows as they are filtered.
    pub(super) fn lines(&self, size: (u32, u32), interlaced: bool) -> Lines {
        let header = self.header(size, interlaced);
        let bits = header.bits_per_pixel();
        let pixel = bits.div_ceil(8);
        let stride = size.0 as usize * pixel;
        let mut data = Vec::new();
        let mut passes = Vec::new();
        let mut scattered = Vec::new();
        for pass in Pass::all(size.0, size.1, interlaced) {
            passes.push(((pass.width as usize * bits).div_ceil(8), pass.height as usize));
            for y in 0..pass.height {
                let row = &self.samples[pass.y(y) * stride..][..stride];
                let row = if pass.is_contiguous() {
                    row
                } else {
                    scattered.clear();
                    pass.columns().for_each(|x| scattered.extend_from_slice(&row[x * pixel..][..pixel]));
                    &scattered
                };
                if self.depth < 8 { pack(row, self.depth, &mut data) } else { data.extend_from_slice(row) }
            }
        }
        Lines::new(data, passes, pixel)
    }

    /// Bytes of the palette and transparency chunks.
    pub(super) fn side_bytes(&self) -> usize {
        let mut out = Vec::new();
        self.write_side(&mut out);
        out.len()
    }

    fn write_side(&self, out: &mut Vec<u8>) {
        if self.colour == ColourType::Indexed {
            let colours: Vec<u8> = self.palette.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect();
            chunks::write(out, b"PLTE", &[&colours]);
            let translucent = self.palette.iter().rposition(|colour| colour[3] != 255).map_or(0, |last| last + 1);
            let alpha: Vec<u8> = self.palette[..translucent].iter().map(|colour| colour[3]).collect();
            if !alpha.is_empty() {
                chunks::write(out, b"tRNS", &[&alpha]);
            }
        } else if let Some(key) = self.key {
            let values = if self.colour == ColourType::Gray { &key[..1] } else { &key[..] };
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
            chunks::write(out, b"tRNS", &[&bytes]);
        }
    }

    /// A whole file around compressed rows.
    pub(super) fn file(&self, size: (u32, u32), interlaced: bool, zlib: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(zlib.len() + 1200);
        out.extend_from_slice(PNG_SIGNATURE);
        chunks::write(&mut out, b"IHDR", &[&self.header(size, interlaced).to_bytes()]);
        self.write_side(&mut out);
        chunks::write(&mut out, b"IDAT", &[zlib]);
        chunks::write(&mut out, b"IEND", &[]);
        out
    }
}

/// The bytes of the samples that `to` keeps of `from`; colour that is kept as gray is the red sample.
fn kept<T, const N: usize>(samples: &[T], from: Channels, to: Channels, bytes: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
    let count = from.count();
    let colours = if to.is_gray() { 1 } else { 3 };
    let mut out = Vec::with_capacity(samples.len() / count * to.count() * N);
    for pixel in samples.chunks_exact(count) {
        pixel[..colours].iter().for_each(|sample| out.extend_from_slice(&bytes(sample)));
        if to.has_alpha() {
            out.extend_from_slice(&bytes(&pixel[count - 1]));
        }
    }
    out
}

/// The colour of all transparent pixels, if every other pixel is opaque and of another colour.
fn key_of(picture: &Picture) -> Option<[u16; 3]> {
    fn find<T: Copy + PartialEq + Into<u16>>(samples: &[T], count: usize, full: T) -> Option<[u16; 3]> {
        let transparent = samples.chunks_exact(count).find(|pixel| pixel[count - 1] != full)?;
        let colour = &transparent[..count - 1];
        let holds = samples.chunks_exact(count).all(|pixel| {
            let alpha = pixel[count - 1];
            if alpha == full {
                pixel[..count - 1] != *colour
            } else {
                alpha.into() == 0 && pixel[..count - 1] == *colour
            }
        });
        let at = |i: usize| colour[i.min(count - 2)].into();
        holds.then(|| [at(0), at(1), at(2)])
    }
    let count = picture.channels().count();
    match picture.samples() {
        _ if !picture.channels().has_alpha() => None,
        Samples::Eight(samples) => find(samples, count, u8::MAX),
        Samples::Sixteen(samples) => find(samples, count, u16::MAX),
    }
}

/// Samples of `depth` bits, the first in the highest.
fn pack(row: &[u8], depth: u8, out: &mut Vec<u8>) {
    let per_byte = usize::from(8 / depth);
    out.extend(
        row.chunks(per_byte).map(|samples| {
            samples.iter().zip(1..).fold(0, |byte, (&sample, place)| byte | sample << (8 - place * depth))
        }),
    );
}
