//! The frame header of a key frame (RFC 6386, sections 9.2 to 9.6 and 19.2): all of it but the probabilities, which are
//! chosen anew when a frame is written.

use super::{
    boolean::{Reader, Writer},
    tables::{AC_STEPS, DC_STEPS},
};

/// Parts of a picture that may have quantisers of their own.
pub(super) const SEGMENTS: usize = 4;

/// What a frame says of all its macroblocks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Header {
    colour_space: bool,
    unclamped: bool,
    pub(super) segmentation: Option<Segmentation>,
    pub(super) filter: Filter,
    /// The binary logarithm of the number of token partitions.
    pub(super) partitions: u8,
    quantisers: Quantisers,
    refresh: bool,
}

/// The parts of a picture.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Segmentation {
    /// Whether macroblocks say which part they are of.
    pub(super) map: bool,
    data: Option<SegmentData>,
}

#[derive(Debug, Clone, PartialEq)]
struct SegmentData {
    /// Whether quantisers and filters stand for themselves rather than for changes.
    absolute: bool,
    quantisers: [Option<i8>; SEGMENTS],
    filters: [Option<i8>; SEGMENTS],
}

/// The deblocking filter.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filter {
    simple: bool,
    pub(super) level: u8,
    sharpness: u8,
    /// Whether the level differs by reference and mode.
    adjusted: bool,
    adjustments: Option<[Option<i8>; 8]>,
}

#[derive(Debug, Clone, PartialEq)]
struct Quantisers {
    base: u8,
    /// Of luma means, second-order means, their details, chroma means, chroma details.
    deltas: [Option<i8>; 5],
}

/// Quantiser steps of the mean and of all other coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Steps {
    pub(super) dc: i32,
    pub(super) ac: i32,
}

/// The steps of one segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentSteps {
    pub(super) luma: Steps,
    /// Of the means of luma blocks.
    pub(super) second: Steps,
    pub(super) chroma: Steps,
}

impl Header {
    /// Reads up to where the token probabilities begin; also gives the probabilities of the segments' map.
    pub(super) fn read(reader: &mut Reader<'_>) -> (Self, [u8; 3]) {
        let (colour_space, unclamped) = (reader.flag(), reader.flag());
        let mut map = [u8::MAX; 3];
        let segmentation = reader.flag().then(|| Segmentation::read(reader, &mut map));
        let filter = Filter::read(reader);
        let partitions = reader.number(2);
        let quantisers = Quantisers { base: reader.number(7), deltas: std::array::from_fn(|_| reader.optional(4)) };
        let refresh = reader.flag();
        (Self { colour_space, unclamped, segmentation, filter, partitions, quantisers, refresh }, map)
    }

    /// Writes what [`Self::read`] reads, with one token partition.
    pub(super) fn write(&self, writer: &mut Writer, map: [u8; 3]) {
        writer.flag(self.colour_space);
        writer.flag(self.unclamped);
        writer.flag(self.segmentation.is_some());
        if let Some(segmentation) = &self.segmentation {
            segmentation.write(writer, map);
        }
        self.filter.write(writer);
        writer.number(0, 2);
        writer.number(self.quantisers.base, 7);
        for delta in self.quantisers.deltas {
            writer.optional(delta.filter(|delta| *delta != 0), 4);
        }
        writer.flag(self.refresh);
    }

    /// Whether macroblocks say which segment they are of.
    pub(super) fn has_map(&self) -> bool {
        self.segmentation.as_ref().is_some_and(|segmentation| segmentation.map)
    }

    /// Quantiser steps (section 14.1).
    pub(super) fn steps(&self) -> [SegmentSteps; SEGMENTS] {
        std::array::from_fn(|segment| {
            let base = i32::from(self.quantisers.base);
            let base = match &self.segmentation {
                None => base,
                // As libwebp: what is not said is 0.
                Some(Segmentation { data: None, .. }) => 0,
                Some(Segmentation { data: Some(data), .. }) => {
                    i32::from(data.quantisers[segment].unwrap_or(0)) + if data.absolute { 0 } else { base }
                }
            };
            let index = |delta: usize, most: i32| {
                (base + self.quantisers.deltas.get(delta).copied().flatten().map_or(0, i32::from)).clamp(0, most)
                    as usize
            };
            let (dc, ac) = (|index: usize| i32::from(DC_STEPS[index]), |index: usize| i32::from(AC_STEPS[index]));
            SegmentSteps {
                luma: Steps { dc: dc(index(0, 127)), ac: ac(index(usize::MAX, 127)) },
                second: Steps { dc: 2 * dc(index(1, 127)), ac: (ac(index(2, 127)) * 155 / 100).max(8) },
                chroma: Steps { dc: dc(index(3, 117)), ac: ac(index(4, 127)) },
            }
        })
    }
}

impl Segmentation {
    fn read(reader: &mut Reader<'_>, chances: &mut [u8; 3]) -> Self {
        let (map, has_data) = (reader.flag(), reader.flag());
        let data = has_data.then(|| SegmentData {
            absolute: reader.flag(),
            quantisers: std::array::from_fn(|_| reader.optional(7)),
            filters: std::array::from_fn(|_| reader.optional(6)),
        });
        if map {
            *chances = std::array::from_fn(|_| if reader.flag() { reader.number(8) } else { u8::MAX });
        }
        Self { map, data }
    }

    fn write(&self, writer: &mut Writer, chances: [u8; 3]) {
        writer.flag(self.map);
        writer.flag(self.data.is_some());
        if let Some(data) = &self.data {
            writer.flag(data.absolute);
            data.quantisers.iter().for_each(|&number| writer.optional(number, 7));
            data.filters.iter().for_each(|&number| writer.optional(number, 6));
        }
        for chance in chances.into_iter().filter(|_| self.map) {
            writer.flag(chance != u8::MAX);
            if chance != u8::MAX {
                writer.number(chance, 8);
            }
        }
    }
}

impl Filter {
    fn read(reader: &mut Reader<'_>) -> Self {
        let (simple, level, sharpness) = (reader.flag(), reader.number(6), reader.number(3));
        let adjusted = reader.flag();
        let adjustments = (adjusted && reader.flag()).then(|| std::array::from_fn(|_| reader.optional(6)));
        Self { simple, level, sharpness, adjusted, adjustments }
    }

    fn write(&self, writer: &mut Writer) {
        writer.flag(self.simple);
        writer.number(self.level, 6);
        writer.number(self.sharpness, 3);
        writer.flag(self.adjusted);
        if self.adjusted {
            writer.flag(self.adjustments.is_some());
            self.adjustments.iter().flatten().for_each(|&number| writer.optional(number, 6));
        }
    }
}
