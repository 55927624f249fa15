//! The wide mouth of the funnel: locally assembled binary features and the boosted classifiers over them.
//!
//! S. Yan, S. Shan, X. Chen and W. Gao, *Locally Assembled Binary (LAB) Feature with Feature-centric Cascade for Fast and
//! Accurate Face Detection* (CVPR 2008).

use super::{Plane, WINDOW};

/// Values of a feature.
pub(super) const BINS: usize = 256;
/// Features that vote before the sum of votes is looked at.
pub(super) const GROUP: usize = 10;
/// Pixels on a side of a block; a feature compares the middle one of 3 x 3 blocks with the others.
const BLOCK: usize = 3;
/// Pixels on a side of a feature.
const SPAN: usize = 3 * BLOCK;
/// Windows of a smaller standard deviation are empty.
const FLAT: f32 = 10.0;

/// A boosted classifier of windows.
#[derive(Debug)]
pub(super) struct Boosted {
    groups: Vec<Group>,
}

#[derive(Debug)]
struct Group {
    /// Left and top of each feature in a window.
    places: Vec<(usize, usize)>,
    /// Votes by feature and value.
    votes: Vec<f32>,
    /// The least sum of votes, of this group and those before, to go on with.
    threshold: f32,
}

impl Boosted {
    /// `None` if a feature lies outside of the window.
    pub(super) fn new(places: &[(usize, usize)], thresholds: &[f32], votes: &[f32]) -> Option<Self> {
        if places.iter().any(|&(x, y)| x.max(y) + SPAN > WINDOW) {
            return None;
        }
        let rest = thresholds.chunks_exact(GROUP).zip(votes.chunks_exact(GROUP * BINS));
        let groups = places.chunks_exact(GROUP).zip(rest).map(|(places, (thresholds, votes))| Group {
            places: places.to_vec(),
            votes: votes.to_vec(),
            threshold: thresholds[GROUP - 1],
        });
        Some(Self { groups: groups.collect() })
    }

    /// The sum of votes for a face in the window at `x`, `y`; `None` for what is none.
    pub(super) fn score(&self, features: &Features<'_>, x: usize, y: usize) -> Option<f32> {
        let width = features.plane.width;
        let values = &features.values[y * width + x..];
        let mut sum = 0.0;
        for group in &self.groups {
            for (&(left, top), votes) in group.places.iter().zip(group.votes.chunks_exact(BINS)) {
                sum += votes[usize::from(values[top * width + left])];
            }
            if sum < group.threshold {
                return None;
            }
        }
        (features.plane.deviation(x, y) > FLAT).then_some(sum)
    }
}

/// The value of the feature at every place of a plane.
pub(super) struct Features<'a> {
    plane: &'a Plane,
    values: Vec<u8>,
}

impl<'a> Features<'a> {
    /// Of a plane not smaller than a window.
    pub(super) fn of(plane: &'a Plane) -> Self {
        let (width, height) = (plane.width, plane.height);
        // Sums over blocks, by their left top pixel; those at the right and at the bottom, which lack some, are not used.
        let mut across = vec![0u16; width * height];
        for (sums, row) in across.chunks_exact_mut(width).zip(plane.samples.chunks_exact(width)) {
            for (sum, block) in sums.iter_mut().zip(row.windows(BLOCK)) {
                *sum = block.iter().map(|&value| u16::from(value)).sum();
            }
        }
        let mut sums = vec![0u16; width * height];
        for y in 0..=height - BLOCK {
            let [a, b, c] = [0, 1, 2].map(|down| &across[(y + down) * width..][..width]);
            for (sum, ((a, b), c)) in sums[y * width..][..width].iter_mut().zip(a.iter().zip(b).zip(c)) {
                *sum = a + b + c;
            }
        }
        let mut values = vec![0u8; width * height];
        let columns = width - SPAN + 1;
        for y in 0..=height - SPAN {
            let [top, middle, bottom] = [0, BLOCK, 2 * BLOCK].map(|down| &sums[(y + down) * width..][..width]);
            // The bits of the eight blocks around, from the left top one clockwise.
            let around = [
                (0x80u8, &top[..columns]),
                (0x40, &top[BLOCK..][..columns]),
                (0x20, &top[2 * BLOCK..][..columns]),
                (0x08, &middle[2 * BLOCK..][..columns]),
                (0x01, &bottom[2 * BLOCK..][..columns]),
                (0x02, &bottom[BLOCK..][..columns]),
                (0x04, &bottom[..columns]),
                (0x10, &middle[..columns]),
            ];
            let heart = &middle[BLOCK..][..columns];
            let out = &mut values[y * width..][..columns];
            for (bit, row) in around {
                for ((value, heart), other) in out.iter_mut().zip(heart).zip(row) {
                    *value |= if heart >= other { bit } else { 0 };
                }
            }
        }
        Self { plane, values }
    }
}
