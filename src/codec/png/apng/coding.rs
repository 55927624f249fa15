//! How the pixels of all frames are stored: one colour type, depth and palette.

use super::{
    super::{
        filters::Lines,
        forms::Form,
        header::{ColourType, Space},
        indexed::{Indexed, Table, palette_depth},
        palette_order::{by_luma, by_neighbours, led, translucent_first, turned},
    },
    pixel::Colour,
};
use crate::{
    codec::sequence::{Area, Canvases},
    control::Run,
    error::Result,
};

/// What the canvases of a sequence have in common.
pub(super) struct Survey {
    /// The colours, as long as they are few.
    table: Option<Table>,
    gray: bool,
    opaque: bool,
    /// No pixel is partly transparent.
    binary: bool,
    /// A bit for every opaque colour of 8 bits a sample that is used.
    used: Vec<u64>,
    sixteen: bool,
}

impl Survey {
    /// Looks at every canvas once.
    pub(super) fn of<C: Colour>(canvases: &mut dyn Canvases<C>, run: Run<'_>) -> Result<Self> {
        let used = vec![0; if C::SIXTEEN { 0 } else { 1 << 18 }];
        let table = (!C::SIXTEEN).then(Table::default);
        let mut survey = Self { table, gray: true, opaque: true, binary: true, used, sixteen: C::SIXTEEN };
        let mut before: Vec<C> = Vec::new();
        canvases.restart()?;
        while canvases.advance(run)? {
            let canvas = canvases.canvas();
            let mut last = None;
            for (at, &pixel) in canvas.iter().enumerate() {
                if last != Some(pixel) && before.get(at) != Some(&pixel) {
                    survey.see(pixel);
                    last = Some(pixel);
                }
            }
            before.clear();
            before.extend_from_slice(canvas);
        }
        Ok(survey)
    }

    fn see<C: Colour>(&mut self, pixel: C) {
        let samples @ [r, g, b, _] = pixel.samples();
        self.gray &= r == g && g == b;
        self.opaque &= pixel.is_opaque();
        self.binary &= pixel.is_opaque() || pixel == C::default();
        if self.sixteen {
            return;
        }
        if pixel.is_opaque() {
            let at = place(samples);
            self.used[at / 64] |= 1 << (at % 64);
        }
        if let Some(table) = &mut self.table
            && table.index(samples.map(|sample| sample as u8)).is_none()
        {
            self.table = None;
        }
    }

    /// Codings without a palette, and with one in the order of the colours' first pixels, which is to be improved.
    pub(super) fn codings(mut self, space: Space) -> Vec<Coding> {
        self.gray &= space != Space::Rgb;
        self.table = self.table.filter(|_| space != Space::Gray);
        let mut codings = Vec::new();
        if let Some(table) = self.table.take() {
            codings.extend(Coding::indexed(&table, true));
            let tight = Coding::indexed(&table, false);
            codings.extend(tight.filter(|tight| codings.first().is_none_or(|wide| tight.depth < wide.depth)));
        }
        if codings.is_empty() || self.gray {
            codings.push(self.direct());
        }
        codings
    }

    fn direct(&self) -> Coding {
        let key = if self.binary { self.key() } else { None };
        let colour = match (self.gray, self.opaque || key.is_some()) {
            (true, true) => ColourType::Gray,
            (true, false) => ColourType::GrayAlpha,
            (false, true) => ColourType::Rgb,
            (false, false) => ColourType::Rgba,
        };
        let depth = if self.sixteen { 16 } else { 8 };
        let hole = if colour.has_alpha() { Some([0; 4]) } else { key.map(|[r, g, b]| [r, g, b, 0]) };
        Coding { colour, depth, hole, few: None }
    }

    /// A colour that no pixel has; of gray ones a gray one.
    fn key(&self) -> Option<[u16; 3]> {
        let free = |at: &usize| self.used.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 0);
        let at = match self.gray {
            true => (0..256).map(|value| value * 0x01_01_01).find(free),
            false => (0..1 << 24).find(free),
        };
        at.map(|at| [at >> 16, at >> 8 & 0xFF, at & 0xFF].map(|sample| sample as u16))
    }
}

fn place([r, g, b, _]: [u16; 4]) -> usize {
    usize::from(r) << 16 | usize::from(g) << 8 | usize::from(b)
}

/// How pixels are stored.
#[derive(Debug, Clone)]
pub(super) struct Coding {
    pub(super) colour: ColourType,
    pub(super) depth: u8,
    /// What is stored where a frame is transparent; its last sample only where alpha is stored.
    hole: Option<[u16; 4]>,
    few: Option<Few>,
}

/// A palette, and the way to its indices.
#[derive(Debug, Clone)]
struct Few {
    table: Table,
    /// The palette's entries by their indices in the table.
    order: Vec<u8>,
    /// The opposite.
    names: [u8; 256],
}

impl Few {
    fn new(table: Table, order: Vec<u8>) -> Self {
        let mut names = [0; 256];
        order.iter().zip(0..=255u8).for_each(|(&index, name)| names[usize::from(index)] = name);
        Self { table, order, names }
    }
}

impl Coding {
    /// With a transparent entry if asked, or needed; `None` if there is no place for one.
    fn indexed(table: &Table, hole: bool) -> Option<Self> {
        let mut table = table.clone();
        if hole {
            table.index([0; 4])?;
        }
        let order: Vec<u8> = (0..table.palette.len()).map(|index| index as u8).collect();
        let depth = palette_depth(order.len());
        let hole = table.palette.contains(&[0; 4]).then_some([0; 4]);
        Some(Self { colour: ColourType::Indexed, depth, hole, few: Some(Few::new(table, order)) })
    }

    /// Whether frames may leave pixels as they are.
    pub(super) const fn has_hole(&self) -> bool {
        self.hole.is_some()
    }

    pub(super) const fn is_indexed(&self) -> bool {
        self.few.is_some()
    }

    /// Bytes of so many pixels of a row.
    pub(super) const fn row_bytes(&self, width: usize) -> usize {
        (width * self.colour.samples() * self.depth as usize).div_ceil(8)
    }

    /// The same with its palette in other orders, by how the indices of `sample` lie beside each other.
    pub(super) fn reordered(&self, sample: &Indexed, hint: &[[u8; 4]]) -> Vec<Self> {
        let Some(few) = &self.few else { return vec![self.clone()] };
        let neighbours = by_neighbours(sample);
        let mut orders = vec![
            led(by_luma(&sample.palette), sample),
            turned(neighbours.clone(), sample),
            neighbours,
            few.order.clone(),
        ];
        if !hint.is_empty() {
            orders.push(sample.order_of(hint));
        }
        let coding = |mut order: Vec<u8>| {
            translucent_first(&mut order, &sample.palette);
            Self { few: Some(Few::new(few.table.clone(), order)), ..self.clone() }
        };
        orders.into_iter().map(coding).collect()
    }

    /// With a byte a pixel.
    pub(super) fn unpacked(&self) -> Option<Self> {
        (self.depth < 8).then(|| Self { depth: 8, ..self.clone() })
    }

    /// Rows of `pixels`, those of `area`, as they are filtered.
    pub(super) fn lines<C: Colour>(&mut self, area: Area, pixels: impl Iterator<Item = C>) -> Lines {
        let samples = match &mut self.few {
            Some(few) => {
                let mut index = |pixel: C| few.table.index(pixel.samples().map(|sample| sample as u8)).unwrap_or(0);
                let (mut last, mut name) = (None, 0);
                let of = |pixel| {
                    if last != Some(pixel) {
                        (last, name) = (Some(pixel), few.names[usize::from(index(pixel))]);
                    }
                    name
                };
                pixels.map(of).collect()
            }
            None => self.direct(pixels),
        };
        let form = Form::new(self.colour, self.depth, Vec::new(), None, samples);
        let lines = form.lines((area.width as u32, area.height as u32), false);
        if self.colour.has_alpha() { lines.with_free_colours(usize::from(self.depth / 8)) } else { lines }
    }

    fn direct<C: Colour>(&self, pixels: impl Iterator<Item = C>) -> Vec<u8> {
        let hole = self.hole.unwrap_or_default();
        let mut out = Vec::new();
        for pixel in pixels {
            let [r, g, b, a] = if pixel == C::default() { hole } else { pixel.samples() };
            let samples = [r, g, b, a];
            let kept: &[u16] = match self.colour {
                ColourType::GrayAlpha => &[r, a],
                ColourType::Rgb => &samples[..3],
                ColourType::Rgba => &samples,
                _ => &samples[..1],
            };
            match self.depth {
                16 => kept.iter().for_each(|sample| out.extend_from_slice(&sample.to_be_bytes())),
                _ => out.extend(kept.iter().map(|&sample| sample as u8)),
            }
        }
        out
    }

    /// What a file says of it beside the header: palette and transparency.
    pub(super) fn side(&self) -> Form {
        let palette = self.few.iter().flat_map(|few| few.order.iter().map(|&at| few.table.palette[usize::from(at)]));
        let key = self.hole.filter(|_| !self.colour.has_alpha()).map(|[r, g, b, _]| [r, g, b]);
        Form::new(self.colour, self.depth, palette.collect(), key, Vec::new())
    }

    /// Indices in the order of the table, for [`reordered`](Self::reordered).
    pub(super) fn sample<C: Colour>(&mut self, width: usize, pixels: &[C]) -> Option<Indexed> {
        let table = &mut self.few.as_mut()?.table;
        let index = |pixel: &C| table.index(pixel.samples().map(|sample| sample as u8)).unwrap_or(0);
        let indices = pixels.iter().map(index).collect();
        Some(Indexed { width: width as u32, palette: table.palette.clone(), indices })
    }
}
