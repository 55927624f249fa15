//! Scan headers, and what a sequence of scans has told of a frame so far.

use super::{
    header::{Frame, damaged},
    segments::{Segments, marker},
};
use crate::{control::Run, error::Result};

/// More scans than this are taken for an attack: encoders write at most a few dozen.
pub(super) const MAX_SCANS: usize = 500;

/// A component's part in a scan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    /// Its index in the frame.
    pub(super) component: usize,
    /// Number of its DC table, 0 to 15.
    pub(super) dc: usize,
    /// Number of its AC table, 0 to 15.
    pub(super) ac: usize,
}

/// A scan header. In a sequential frame the band is always 0..=63 and both bit positions are 0.
#[derive(Debug, Clone)]
pub(super) struct Scan {
    /// 1 to 4, each of another component.
    pub(super) members: Vec<Member>,
    /// First coefficient in zigzag order.
    pub(super) first: usize,
    /// Last coefficient in zigzag order.
    pub(super) last: usize,
    /// Bit position sent before; 0 in a first pass.
    pub(super) high: u8,
    /// Bit position sent now.
    pub(super) low: u8,
}

impl Scan {
    pub(super) fn read(payload: &[u8], frame: &Frame) -> Result<Self> {
        let [count, rest @ ..] = payload else { return Err(damaged("has an empty scan header")) };
        let count = usize::from(*count);
        if !(1..=4).contains(&count) || rest.len() != count * 2 + 3 {
            return Err(damaged(format!("has a scan header of {} bytes for {count} components", payload.len())));
        }
        let (listed, band) = rest.split_at(count * 2);
        let mut members = Vec::with_capacity(count);
        for pair in listed.chunks_exact(2) {
            members.push(Member::read(pair, frame, &members)?);
        }
        let scan = Self { members, first: band[0].into(), last: band[1].into(), high: band[2] >> 4, low: band[2] & 15 };
        scan.checked(frame)
    }

    fn checked(self, frame: &Frame) -> Result<Self> {
        if !frame.progressive {
            // Some encoders write nonsense here, and every decoder ignores it.
            return Ok(Self { first: 0, last: 63, high: 0, low: 0, ..self });
        }
        let band = if self.first == 0 { self.last == 0 } else { self.members.len() == 1 };
        let ordered = self.first <= self.last && self.last <= 63;
        let bits = self.low <= 13 && (self.high == 0 || self.high == self.low + 1);
        if band && ordered && bits {
            return Ok(self);
        }
        Err(damaged(format!(
            "has a progressive scan of coefficients {} to {} and bits {} to {}",
            self.first, self.last, self.high, self.low
        )))
    }
}

impl Member {
    fn read(pair: &[u8], frame: &Frame, before: &[Self]) -> Result<Self> {
        let component = frame.components.iter().position(|component| component.id == pair[0]);
        match component {
            Some(component) if before.iter().all(|member| member.component != component) => {
                Ok(Self { component, dc: usize::from(pair[1] >> 4), ac: usize::from(pair[1] & 15) })
            }
            _ => Err(damaged(format!("has a scan that names component {} wrongly", pair[0]))),
        }
    }
}

/// The precision with which each coefficient of each component is known: the lowest bit position sent.
#[derive(Debug)]
pub(super) struct Progress {
    scans: usize,
    known: Vec<[Option<u8>; 64]>,
}

impl Progress {
    pub(super) fn new(frame: &Frame) -> Self {
        Self { scans: 0, known: vec![[None; 64]; frame.components.len()] }
    }

    /// Counts `scan` in.
    ///
    /// # Errors
    /// If there are too many scans, or if this one does not continue where those before it ended.
    pub(super) fn add(&mut self, scan: &Scan) -> Result<()> {
        self.scans += 1;
        if self.scans > MAX_SCANS {
            return Err(damaged(format!("has more than {MAX_SCANS} scans")));
        }
        for member in &scan.members {
            for known in &mut self.known[member.component][scan.first..=scan.last] {
                if known.unwrap_or(0) != scan.high || (scan.high == 0 && known.is_some()) {
                    return Err(damaged(format!("has a scan {} that is out of order", self.scans)));
                }
                *known = Some(scan.low);
            }
        }
        Ok(())
    }

    /// How many scans there were.
    pub(super) const fn scans(&self) -> usize {
        self.scans
    }

    /// # Errors
    /// If any bit of any coefficient was never sent. The standard allows that, but no encoder does it: the file was cut
    /// between two scans.
    pub(super) fn finish(&self) -> Result<()> {
        if self.known.iter().flatten().all(|known| *known == Some(0)) {
            return Ok(());
        }
        Err(damaged(format!("is incomplete: scans are missing behind the first {}", self.scans)))
    }
}

/// How a file's scans went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outline {
    /// How many there are.
    pub(super) scans: usize,
    /// Whether the file ends with EOI.
    pub(super) closed: bool,
}

/// Walks all scan headers without decoding their data.
///
/// # Errors
/// As of [`Progress::add`] and [`Progress::finish`]; or if there are fewer bits than blocks, so that no decoder makes room
/// for a picture that cannot be there.
pub(super) fn outline(bytes: &[u8], frame: &Frame, run: Run<'_>) -> Result<Outline> {
    let mut progress = Progress::new(frame);
    let mut segments = Segments::new(bytes)?;
    let mut coded = 0;
    for segment in segments.by_ref() {
        let segment = segment?;
        if segment.marker == marker::SOS {
            run.check()?;
            let scan = Scan::read(segment.payload, frame)?;
            progress.add(&scan)?;
            if scan.first == 0 && scan.high == 0 {
                coded += segment.entropy.len();
            }
        }
    }
    progress.finish()?;
    let blocks: usize =
        frame.components.iter().map(|component| frame.blocks(component)).map(|(across, down)| across * down).sum();
    // Arithmetic coding may tell of any number of equal blocks in no bits at all.
    if !frame.arithmetic && coded.saturating_mul(8) < blocks {
        return Err(damaged(format!("is cut off: {coded} bytes of coded data for {blocks} blocks")));
    }
    Ok(Outline { scans: progress.scans(), closed: segments.closed() })
}
