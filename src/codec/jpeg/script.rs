//! The search for the smallest progression.
//!
//! A scan of one component has a size of its own, whatever the other scans are; and a size is told by counting symbols,
//! without writing any. So ways to send a component are counted: first how many low bits to send later, then where to
//! split the band (the choices of mozjpeg's `optimize_scans`).

use std::{cmp::Reverse, collections::BTreeMap, ops::Range};

use super::{
    blocks::Blocks,
    codes::Tally,
    header::Frame,
    symbols::{Pass, tell},
};
use crate::{control::Run, error::Result};

/// Most blocks that an interleaved MCU may have.
const MAX_UNIT_BLOCKS: usize = 10;
/// First passes leave fewer low bits than this to later ones.
const LOW_BITS: u8 = 4;
/// Last coefficients of the first of two bands.
const SPLITS: [u8; 6] = [2, 5, 8, 12, 18, 27];
/// The band of all AC coefficients.
const WHOLE: (u8, u8) = (1, 63);
/// Blocks from which only some are counted.
const MANY: usize = 1 << 16;
/// Rows of blocks that are counted together, so that runs of ends stay long.
const ROWS_TOGETHER: usize = 8;

/// The scans of a sequential file.
pub(super) fn sequential(frame: &Frame) -> Vec<Pass> {
    let pass = |components| Pass { components, band: (0, 63), bits: (0, 0) };
    groups(frame).into_iter().map(pass).collect()
}

/// The runs of components that may be interleaved, as start and length: all, unless their blocks are too many.
fn groups(frame: &Frame) -> Vec<(u8, u8)> {
    let count = frame.components.len() as u8;
    if can_interleave(frame) { vec![(0, count)] } else { singles(0..count).collect() }
}

/// Whether one scan may hold all components.
pub(super) fn can_interleave(frame: &Frame) -> bool {
    frame.components.iter().map(|c| c.across * c.down).sum::<usize>() <= MAX_UNIT_BLOCKS
}

fn singles(components: Range<u8>) -> impl Iterator<Item = (u8, u8)> {
    components.map(|index| (index, 1))
}

/// The scans of the smallest progressive file.
pub(super) fn smallest(blocks: &Blocks, run: Run<'_>) -> Result<Vec<Pass>> {
    let components = 0..blocks.frame.components.len() as u8;
    let counted: usize = blocks.planes.iter().map(|plane| plane.blocks.len()).sum();
    let mut search = Search { blocks, one_in: counted.div_ceil(MANY), sizes: BTreeMap::new(), run };
    let mut script = search.least(means(&blocks.frame))?;
    let mut rest = Vec::new();
    for component in components {
        let whole = search.least((0..LOW_BITS).map(|low| way(component, low, None)).collect())?;
        let low = whole[0].bits.1;
        let split = (low.saturating_sub(1)..=low).flat_map(|low| SPLITS.map(|split| way(component, low, Some(split))));
        rest.extend(search.least([whole].into_iter().chain(split).collect())?);
    }
    // What shows most comes first; a stable sort keeps the order within a component.
    rest.sort_by_key(|pass| Reverse(pass.bits.1));
    script.append(&mut rest);
    Ok(script)
}

/// Ways to send DC coefficients: at once, without the lowest bit, component by component.
fn means(frame: &Frame) -> Vec<Vec<Pass>> {
    let pass = |bits| move |components| Pass { components, band: (0, 0), bits };
    let groups = groups(frame);
    let whole = groups.iter().copied().map(pass((0, 0))).collect();
    let halved = groups.iter().copied().map(pass((0, 1))).chain(groups.iter().copied().map(pass((1, 0)))).collect();
    vec![whole, halved, singles(0..frame.components.len() as u8).map(pass((0, 0))).collect()]
}

/// A way to send the AC coefficients of a component: a band or two without their lowest bits, then those one by one.
fn way(component: u8, low: u8, split: Option<u8>) -> Vec<Pass> {
    let pass = |band, bits| Pass { components: (component, 1), band, bits };
    let bands = match split {
        Some(split) => vec![(1, split), (split + 1, 63)],
        None => vec![WHOLE],
    };
    let first = bands.into_iter().map(|band| pass(band, (0, low)));
    first.chain((0..low).rev().map(|bit| pass(WHOLE, (bit + 1, bit)))).collect()
}

struct Search<'a> {
    blocks: &'a Blocks,
    /// One of so many groups of rows is counted.
    one_in: usize,
    /// What a scan takes, as far as it is known.
    sizes: BTreeMap<Pass, u64>,
    run: Run<'a>,
}

impl Search<'_> {
    /// The way with the fewest bytes; the first of equal ones.
    fn least(&mut self, ways: Vec<Vec<Pass>>) -> Result<Vec<Pass>> {
        let mut best = (u64::MAX, Vec::new());
        for way in ways {
            let mut size = 0;
            for pass in &way {
                size += self.size(pass)?;
            }
            if size < best.0 {
                best = (size, way);
            }
        }
        Ok(best.1)
    }

    fn size(&mut self, pass: &Pass) -> Result<u64> {
        if let Some(&known) = self.sizes.get(pass) {
            return Ok(known);
        }
        let mut tally = Tally::new();
        let taken = |row: usize| (row / ROWS_TOGETHER).is_multiple_of(self.one_in);
        tell(self.blocks, pass, &mut tally, taken, self.run)?;
        // Headers weigh as much as in the whole picture.
        const HEADER: u64 = 10;
        let size = HEADER + tally.bytes(self.one_in as u64);
        self.sizes.insert(*pass, size);
        Ok(size)
    }
}
