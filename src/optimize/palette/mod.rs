//! Palettes: the colours that stand for all others, and the picture drawn with them.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

mod cluster;
mod gradient;
mod histogram;
mod hues;
mod remap;
mod space;

pub(crate) use cluster::{Missed, cluster, faithful};
pub(crate) use gradient::Gradients;
pub(crate) use histogram::{Changes, Counter, Histogram};
pub(crate) use remap::{Original, Remap, Remapped, Sequence, remap_but};
use space::{Points, point};

use crate::{control::Run, error::Result};

/// Entries of a table.
const MOST: usize = 256;

/// The distance in Oklab from which a wrong colour of a plain area is seen: about four steps of gray.
const SEEN: f32 = 0.01;

/// At most 256 colours, red, green, blue and straight alpha in sRGB, no two alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Palette {
    /// The colours, in the order of their indices.
    pub colours: Vec<[u8; 4]>,
}

impl Palette {
    /// The weighted mean of squared distances in Oklab from the colours of a picture to the nearest of these.
    pub(crate) fn error(&self, histogram: &Histogram) -> f32 {
        let index = Points::new(&self.colours.iter().map(|&colour| point(colour)).collect::<Vec<_>>());
        let (mut error, mut total) = (0.0, 0.0);
        for bin in &histogram.bins {
            error += index.nearest(bin.point).1 * bin.weight;
            total += bin.weight;
        }
        error / f32::max(total, f32::MIN_POSITIVE)
    }
}

/// Faithful palettes of one histogram, each made once.
pub(crate) struct Palettes<'a> {
    histogram: &'a Histogram,
    missed: Missed,
    made: BTreeMap<usize, Arc<Palette>>,
}

impl<'a> Palettes<'a> {
    pub(crate) const fn new(histogram: &'a Histogram, missed: Missed) -> Self {
        Self { histogram, missed, made: BTreeMap::new() }
    }

    /// That of `size` colours.
    pub(crate) fn of(&mut self, size: usize, run: Run<'_>) -> Result<Arc<Palette>> {
        Ok(match self.made.entry(size) {
            Entry::Occupied(made) => Arc::clone(made.get()),
            Entry::Vacant(place) => {
                Arc::clone(place.insert(Arc::new(faithful(self.histogram, size, self.missed, run)?)))
            }
        })
    }
}
