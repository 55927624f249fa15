//! Palettes: the colours that stand for all others, and the picture drawn with them.

mod cluster;
mod histogram;
mod remap;
mod space;

pub(crate) use cluster::cluster;
pub(crate) use histogram::{Counter, Histogram, colours};
pub(crate) use remap::{Remap, Remapped, Sequence, remap};

/// At most 256 colours, red, green, blue and straight alpha in sRGB, no two alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Palette {
    /// The colours, in the order of their indices.
    pub colours: Vec<[u8; 4]>,
}
