//! The search for the smallest progression.
//!
//! A scan of one component has a size of its own, whatever the other scans are. So scans are tried in a few files, and
//! the best of each component put together: first how many low bits to send later, then where to split the band, then
//! the low bits again (the choices of mozjpeg's `optimize_scans`, at a fraction of its scans).

use std::{cmp::Reverse, collections::BTreeMap, ops::Range};

use super::{
    header::{Frame, damaged},
    libjpeg::{Coefficients, Pass},
    segments::{Segments, marker, write_segment},
};
use crate::error::Result;

/// Most blocks that an interleaved MCU may have.
const MAX_UNIT_BLOCKS: usize = 10;
/// First passes leave fewer low bits than this to later ones.
const LOW_BITS: u8 = 3;
/// Last coefficients of the first of two bands.
const SPLITS: [u8; 5] = [2, 5, 8, 12, 18];
/// Those that are tried on large pictures, whose every trial costs some 10 ms for each megapixel.
const SPLITS_OF_LARGE: [u8; 1] = [2];
/// Pixels from which a picture is large.
const LARGE: u64 = 1 << 20;
/// The band of all AC coefficients.
const WHOLE: (u8, u8) = (1, 63);

/// The runs of components that may be interleaved, as start and length: all, unless their blocks are too many.
pub(super) fn groups(frame: &Frame) -> Vec<(u8, u8)> {
    let count = frame.components.len() as u8;
    let blocks: usize = frame.components.iter().map(|c| c.across * c.down).sum();
    if blocks <= MAX_UNIT_BLOCKS { vec![(0, count)] } else { singles(0..count).collect() }
}

fn singles(components: Range<u8>) -> impl Iterator<Item = (u8, u8)> {
    components.map(|index| (index, 1))
}

/// The file, without metadata, in the smallest progression found.
pub(super) fn smallest(coefficients: &Coefficients<'_>, frame: &Frame) -> Result<Vec<u8>> {
    let components = 0..frame.components.len() as u8;
    let mut search = Search { coefficients, groups: groups(frame), prelude: Vec::new(), scans: BTreeMap::new() };
    let dc = search.first_trials(components.clone())?;
    let whole = |component| (0..LOW_BITS).map(|low| Way::new(component, low, &[WHOLE])).collect();
    let mut best: Vec<Way> = components.filter_map(|component| search.least(whole(component))).collect();
    let large = u64::from(frame.width) * u64::from(frame.height) > LARGE;
    let splits = if large { &SPLITS_OF_LARGE[..] } else { &SPLITS[..] };
    for &split in splits {
        search.improve(&mut best, |way| Way::new(way.component, way.low, &[(1, split), (split + 1, 63)]))?;
    }
    for step in (1..LOW_BITS).filter(|_| !large) {
        search.improve(&mut best, |way| Way::new(way.component, (way.low + step) % LOW_BITS, &way.bands))?;
    }
    let mut order: Vec<Pass> = best.iter().flat_map(Way::passes).collect();
    // What shows most comes first; a stable sort keeps the order within a component.
    order.sort_by_key(|pass| Reverse(pass.bits.1));
    Ok(search.file(dc.iter().chain(&order)))
}

/// A way to tell all AC coefficients of a component: `bands` without their lowest bits, then those bits one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Way {
    component: u8,
    low: u8,
    bands: Vec<(u8, u8)>,
}

impl Way {
    fn new(component: u8, low: u8, bands: &[(u8, u8)]) -> Self {
        Self { component, low, bands: bands.to_vec() }
    }

    fn first_passes(&self) -> impl Iterator<Item = Pass> {
        self.bands.iter().map(|&band| Pass { components: (self.component, 1), band, bits: (0, self.low) })
    }

    fn later_passes(&self) -> impl Iterator<Item = Pass> {
        let component = (self.component, 1);
        (0..self.low).rev().map(move |bit| Pass { components: component, band: WHOLE, bits: (bit + 1, bit) })
    }

    fn passes(&self) -> impl Iterator<Item = Pass> {
        self.first_passes().chain(self.later_passes())
    }
}

/// Passes over the DC coefficients of `groups` of components.
fn dc(groups: impl IntoIterator<Item = (u8, u8)>, bits: (u8, u8)) -> Vec<Pass> {
    groups.into_iter().map(|components| Pass { components, band: (0, 0), bits }).collect()
}

struct Search<'c, 's> {
    coefficients: &'c Coefficients<'s>,
    groups: Vec<(u8, u8)>,
    /// All that stands before the first scan; the same for every script.
    prelude: Vec<u8>,
    /// What was written for a pass: its tables, header and data.
    scans: BTreeMap<Pass, Vec<u8>>,
}

impl Search<'_, '_> {
    /// Writes all first passes over whole bands and all later ones, and along with them three ways to send DC: at once,
    /// without its lowest bit, component by component. Gives the passes of the smallest.
    fn first_trials(&mut self, components: Range<u8>) -> Result<Vec<Pass>> {
        let groups = self.groups.clone();
        let ways = [
            dc(groups.clone(), (0, 0)),
            [dc(groups.clone(), (0, 1)), dc(groups, (1, 0))].concat(),
            dc(singles(components.clone()), (0, 0)),
        ];
        for (low, dc) in (0..LOW_BITS).zip(&ways) {
            let whole = components.clone().map(|component| Way::new(component, low, &[WHOLE]));
            let ac = whole.flat_map(|way| way.passes().take(2).collect::<Vec<_>>());
            let written = self.write(dc.iter().copied().chain(ac).collect())?;
            self.scans.extend(written);
        }
        Ok(ways.into_iter().min_by_key(|passes| self.size(passes.iter().copied())).unwrap_or_default())
    }

    /// Tries another way for each component, and keeps it where it is smaller.
    fn improve(&mut self, best: &mut [Way], another: impl Fn(&Way) -> Way) -> Result<()> {
        let candidates: Vec<Way> = best.iter().map(another).collect();
        let tried = candidates.iter().flat_map(Way::first_passes).filter(|pass| !self.scans.contains_key(pass));
        let tried: Vec<Pass> = tried.collect();
        if tried.is_empty() {
            return Ok(());
        }
        // Every file needs DC coefficients; these are known already.
        let written = self.write([dc(self.groups.clone(), (0, 0)), tried].concat())?;
        self.scans.extend(written);
        for (way, candidate) in best.iter_mut().zip(candidates) {
            if self.size(candidate.passes()) < self.size(way.passes()) {
                *way = candidate;
            }
        }
        self.scans.retain(|pass, _| {
            pass.band == (0, 0) || pass.band == WHOLE || best.iter().any(|way| way.passes().any(|used| used == *pass))
        });
        Ok(())
    }

    /// Writes a file by `script` and takes it apart.
    fn write(&mut self, script: Vec<Pass>) -> Result<BTreeMap<Pass, Vec<u8>>> {
        let file = self.coefficients.write(&script)?;
        let (mut scans, mut pending, mut passes) = (BTreeMap::new(), file[..2].to_vec(), script.into_iter());
        for segment in Segments::new(&file)? {
            let segment = segment?;
            let first = scans.is_empty() && pending.starts_with(&file[..2]);
            if first && matches!(segment.marker, marker::DHT | marker::SOS) {
                self.prelude = std::mem::take(&mut pending);
            }
            write_segment(&mut pending, segment.marker, &[segment.payload]);
            if segment.marker == marker::SOS {
                pending.extend_from_slice(segment.entropy);
                let pass = passes.next().ok_or_else(|| damaged("gave more scans than were written"))?;
                scans.insert(pass, std::mem::take(&mut pending));
            }
        }
        Ok(scans)
    }

    fn size(&self, passes: impl IntoIterator<Item = Pass>) -> usize {
        passes.into_iter().map(|pass| self.scans.get(&pass).map_or(usize::MAX / 256, Vec::len)).sum()
    }

    fn least(&self, ways: Vec<Way>) -> Option<Way> {
        ways.into_iter().min_by_key(|way| self.size(way.passes()))
    }

    fn file<'p>(&self, order: impl Iterator<Item = &'p Pass>) -> Vec<u8> {
        let mut out = self.prelude.clone();
        order.filter_map(|pass| self.scans.get(pass)).for_each(|scan| out.extend_from_slice(scan));
        out.extend([0xFF, marker::EOI]);
        out
    }
}
