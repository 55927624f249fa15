//! A picture over one ground, and the comparison with it.

use super::{
    channel::{Channel, Scratch, Seams, stride},
    ground::Grounded,
    pyramid::{self, Pyramid, Rows},
    weights::{self, CHANNELS, MAPS, Pooled},
};
use crate::{control::Run, error::Result};

/// The planes of a picture's scales that count.
#[derive(Debug)]
pub(super) struct View {
    scales: Vec<Scale>,
    /// Scales that the picture has, at least as many as are kept.
    count: usize,
    /// Rows of the bands that the picture is stacked of; 0 for one piece.
    band: usize,
}

/// X, Y and B of one scale; empty where a channel does not count.
#[derive(Debug)]
struct Scale {
    width: usize,
    height: usize,
    wanted: [[bool; MAPS]; CHANNELS],
    planes: [Vec<f32>; CHANNELS],
}

impl View {
    pub(super) fn new(picture: Grounded<'_>, band: usize, run: Run<'_>) -> Result<Self> {
        let (width, height) = picture.size();
        let sizes = pyramid::sizes(width, height);
        let needs = pyramid::needs(sizes.len());
        let scales = needs.into_iter().zip(&sizes).map(|(wanted, &(width, height))| {
            let room = |wanted| if wanted == [false; MAPS] { 0 } else { stride(width) * height };
            Scale { width, height, wanted, planes: wanted.map(|wanted| Vec::with_capacity(room(wanted))) }
        });
        let mut view = Self { scales: scales.collect(), count: sizes.len(), band };
        Pyramid::new(width, height).walk(picture, &mut view, run)?;
        Ok(view)
    }

    /// The score of a candidate of the same size.
    pub(super) fn score(&self, candidate: Grounded<'_>, run: Run<'_>) -> Result<f64> {
        Ok(weights::score(&self.norms(candidate, run)?))
    }

    /// The norms of a candidate's maps, by scale and channel.
    pub(super) fn norms(&self, candidate: Grounded<'_>, run: Run<'_>) -> Result<Vec<[Pooled; CHANNELS]>> {
        let (width, height) = candidate.size();
        let scales = self.scales.iter().enumerate();
        let scales = scales.map(|(index, scale)| scale.channels(Seams::every(self.band >> index))).collect();
        let mut comparison = Comparison { scales, scratch: Scratch::default() };
        Pyramid::new(width, height).walk(candidate, &mut comparison, run)?;
        let mut norms = vec![[Pooled::default(); CHANNELS]; self.count];
        for (norms, channels) in norms.iter_mut().zip(comparison.scales) {
            *norms = channels.map(|channel| channel.map_or_else(Pooled::default, |channel| channel.norms()));
        }
        Ok(norms)
    }

    /// Bytes of the planes.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let planes = self.scales.iter().flat_map(|scale| &scale.planes);
        planes.map(|plane| plane.capacity() * size_of::<f32>()).sum()
    }
}

impl Scale {
    fn channels(&self, seams: Seams) -> [Option<Channel<'_>>; CHANNELS] {
        let size = (self.width, self.height);
        std::array::from_fn(|index| {
            let wanted = self.wanted[index];
            (wanted != [false; MAPS]).then(|| Channel::new(&self.planes[index], size, wanted, seams))
        })
    }
}

impl Rows for View {
    #[inline(always)]
    fn rows(&mut self, scale: usize, xyb: [&[f32]; CHANNELS]) {
        let Scale { wanted, planes, .. } = &mut self.scales[scale];
        for ((plane, rows), wanted) in planes.iter_mut().zip(xyb).zip(wanted) {
            if *wanted != [false; MAPS] {
                plane.extend_from_slice(rows);
            }
        }
    }
}

/// A candidate on its way past a [`View`].
#[derive(Debug)]
struct Comparison<'a> {
    scales: Vec<[Option<Channel<'a>>; CHANNELS]>,
    scratch: Scratch,
}

impl Rows for Comparison<'_> {
    #[inline(always)]
    fn rows(&mut self, scale: usize, xyb: [&[f32]; CHANNELS]) {
        for (channel, rows) in self.scales[scale].iter_mut().zip(xyb) {
            if let Some(channel) = channel {
                channel.push(rows, &mut self.scratch);
            }
        }
    }
}
