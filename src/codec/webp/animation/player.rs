//! Frames drawn one over the other, as libwebp's own player draws them, which browsers use.

use crate::{
    codec::{
        sequence::{Area, NOTHING, Pixel},
        webp::{
            libwebp,
            riff::{Chunks, File, FrameChunk, damaged},
        },
    },
    control::Run,
    error::Result,
};

/// Composes a file's frames one by one on a transparent canvas, whatever background the file names.
pub(in crate::codec::webp) struct Player<'a> {
    file: File<'a>,
    chunks: Chunks<'a>,
    width: usize,
    canvas: Vec<Pixel>,
    last: Option<Last>,
    count: usize,
}

/// What is left of the last frame.
#[derive(Debug, Clone, Copy)]
struct Last {
    area: Area,
    clears: bool,
    /// Nothing lay beneath it.
    alone: bool,
}

impl<'a> Player<'a> {
    pub(in crate::codec::webp) fn new(file: File<'a>, run: Run<'_>) -> Result<Self> {
        run.limits.check_canvas(file.width, file.height, 1)?;
        let canvas = vec![NOTHING; file.width as usize * file.height as usize];
        Ok(Self { chunks: file.chunks(), width: file.width as usize, file, canvas, last: None, count: 0 })
    }

    pub(in crate::codec::webp) const fn file(&self) -> &File<'a> {
        &self.file
    }

    /// The canvas after the last frame drawn; colours that are fully transparent are kept.
    pub(in crate::codec::webp) fn canvas(&self) -> &[Pixel] {
        &self.canvas
    }

    /// Begins again with an empty canvas.
    pub(in crate::codec::webp) fn restart(&mut self) {
        self.chunks = self.file.chunks();
        self.canvas.fill(NOTHING);
        (self.last, self.count) = (None, 0);
    }

    /// Does what the last frame leaves to be done and goes on to the next one, which is not drawn yet.
    pub(in crate::codec::webp) fn next(&mut self) -> Result<Option<FrameChunk<'a>>> {
        let frame = self.file.next_frame(&mut self.chunks, self.count).transpose()?;
        if let Some(last) = self.last.filter(|last| last.clears && frame.is_some()) {
            last.area.clear(&mut self.canvas, self.width);
        }
        self.count += 1;
        Ok(frame)
    }

    /// Draws the frame gone on to.
    pub(in crate::codec::webp) fn draw(&mut self, frame: &FrameChunk<'_>, run: Run<'_>) -> Result<()> {
        let (area, image) = (frame.area(), &frame.image);
        let (width, height) = (image.header.width, image.header.height);
        let samples = libwebp::decode(image.coded, width, height, image.header.alpha, run)?;
        let channels = if image.header.alpha { 4 } else { 3 };
        let full = |area: Area| area.width * area.height == self.canvas.len();
        let covers = full(area) && !(frame.blends() && image.header.alpha);
        let bare = self.last.is_none_or(|last| last.clears && (full(last.area) || last.alone));
        let alone = covers || bare;
        let cleared = self.last.filter(|last| last.clears).map(|last| last.area);
        let rows = samples.chunks_exact(area.width * channels);
        if rows.len() != area.height {
            return Err(damaged(format!("has a frame {} of {} rows", self.count, rows.len())));
        }
        for (y, row) in (area.y..).zip(rows) {
            let at = y * self.width + area.x;
            let drawn = self.canvas[at..at + area.width].iter_mut().zip(row.chunks_exact(channels));
            for (x, (pixel, colour)) in (area.x..).zip(drawn) {
                *pixel = match *colour {
                    [r, g, b] => [r, g, b, u8::MAX],
                    [r, g, b, a] if alone || !frame.blends() || cleared.is_some_and(|cleared| cleared.has(x, y)) => {
                        [r, g, b, a]
                    }
                    [r, g, b, a] => over([r, g, b, a], *pixel),
                    _ => *pixel,
                };
            }
        }
        self.last = Some(Last { area, clears: frame.clears(), alone });
        Ok(())
    }
}

/// `above` over `below`, both of straight alpha, rounded as libwebp does.
pub(super) fn over(above: Pixel, below: Pixel) -> Pixel {
    let alpha = u32::from(above[3]);
    match alpha {
        0 => return below,
        255 => return above,
        _ => {}
    }
    let rest = (u32::from(below[3]) * (256 - alpha)) >> 8;
    let sum = alpha + rest;
    let scale = (1 << 24) / sum;
    let [r, g, b] = [0, 1, 2].map(|c| {
        let mixed = u32::from(above[c]) * alpha + u32::from(below[c]) * rest;
        ((mixed * scale) >> 24) as u8
    });
    [r, g, b, sum as u8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opaque_canvas_stays_opaque_under_any_alpha() {
        for alpha in 0..=255 {
            assert_eq!(over([9, 99, 199, alpha], [200, 100, 0, 255])[3], 255);
        }
    }

    #[test]
    fn blending_rounds_down_as_libwebp_does() {
        assert_eq!(over([255, 255, 255, 3], NOTHING), [254, 254, 254, 3]);
        assert_eq!(over([100, 0, 200, 128], [0, 100, 200, 255]), [50, 49, 199, 255]);
    }
}
