//! One frame, stored in the fewest bytes.

use super::{
    super::{
        deflate::Deflater,
        filters::{Choice, Lines},
        plan::{Plan, SECOND_LEVEL},
    },
    coding::Coding,
    pixel::Colour,
    repeat::repeating,
};
use crate::{
    codec::sequence::{Area, Cost, Disposal, Split},
    control::Run,
    error::{Error, Result},
};

/// Level at which ways to split the sequence are compared.
const QUICK_LEVEL: i32 = 4;
/// Frames of more filtered bytes are not filtered by compressing row by row, which takes a microsecond a byte.
const BRUTE_BYTES: usize = 1 << 18;
/// Runs of unchanged pixels that are drawn again where fewer are.
const SHORT: usize = 12;

/// What a frame turns into what.
pub(super) struct Part<'a, C> {
    pub(super) base: &'a [C],
    pub(super) wanted: &'a [C],
    pub(super) area: Area,
    pub(super) width: usize,
    /// Whether what lay there comes back when its time is over.
    pub(super) restored: bool,
}

/// How the pixels of a frame may be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// All of them, in place of what is there.
    Whole,
    /// Only those that change.
    Changed,
    /// Those that change, and unchanged ones between them if they are few.
    Joined,
    /// Those that change, and unchanged ones with which they repeat each other.
    Repeating,
}

impl<'a, C: Colour> Part<'a, C> {
    pub(super) fn of(split: &Split, base: &'a [C], wanted: &'a [C], width: usize) -> Self {
        Self { base, wanted, area: split.area, width, restored: split.disposal == Disposal::Restore }
    }

    /// The ways that give the canvas exactly. Partly transparent pixels are not blended, not even with nothing: decoders
    /// differ in how; nor is anything that is restored from, which Pillow takes for what lay there before.
    pub(super) fn ways(&self, coding: &Coding) -> &'static [Way] {
        if self.restored {
            return &[Way::Whole];
        }
        let mut any = false;
        let drawable = self.pairs().all(|(base, wanted)| {
            any |= base == wanted && wanted != C::default();
            base == wanted || wanted.is_opaque()
        });
        match drawable && any && coding.has_hole() {
            true => &[Way::Whole, Way::Changed, Way::Joined, Way::Repeating],
            false => &[Way::Whole],
        }
    }

    fn pairs(&self) -> impl Iterator<Item = (C, C)> {
        let rows = self.area.rows(self.base, self.width).zip(self.area.rows(self.wanted, self.width));
        rows.flat_map(|(base, wanted)| base.iter().copied().zip(wanted.iter().copied()))
    }

    /// What is drawn, row by row.
    pub(super) fn pixels(&self, way: Way, run: Run<'_>) -> Result<Vec<C>> {
        let nothing = C::default();
        match way {
            Way::Whole => Ok(self.area.rows(self.wanted, self.width).flatten().copied().collect()),
            Way::Repeating => {
                let (changed, wanted) = (self.pixels(Way::Changed, run)?, self.pixels(Way::Whole, run)?);
                repeating(&changed, &wanted, self.area.width, run)
            }
            _ => {
                let mut out = Vec::with_capacity(self.area.width * self.area.height);
                for (base, wanted) in self.area.rows(self.base, self.width).zip(self.area.rows(self.wanted, self.width))
                {
                    let start = out.len();
                    out.extend(base.iter().zip(wanted).map(|(b, w)| if b == w { nothing } else { *w }));
                    if way == Way::Joined {
                        join(&mut out[start..], wanted);
                    }
                }
                Ok(out)
            }
        }
    }
}

/// Draws short runs of unchanged pixels between changed ones.
fn join<C: Colour>(drawn: &mut [C], wanted: &[C]) {
    let nothing = C::default();
    let mut last: Option<usize> = None;
    for x in 0..drawn.len() {
        if drawn[x] == nothing {
            continue;
        }
        if let Some(last) = last
            && x - last <= SHORT
            && wanted[last + 1..x].iter().all(|pixel| pixel.is_opaque())
        {
            drawn[last + 1..x].copy_from_slice(&wanted[last + 1..x]);
        }
        last = Some(x);
    }
}

/// About what a frame costs.
pub(super) struct Price {
    coding: Coding,
    width: usize,
    deflater: Deflater,
}

impl Price {
    pub(super) fn new(coding: Coding, width: usize) -> Self {
        Self { coding, width, deflater: Deflater::new(QUICK_LEVEL) }
    }

    pub(super) fn of<C: Colour>(&mut self, part: &Part<'_, C>, run: Run<'_>) -> Result<u64> {
        let plan = Plan::of(0, self.coding.is_indexed());
        let mut least = usize::MAX;
        for &way in part.ways(&self.coding) {
            if matches!(way, Way::Joined | Way::Repeating) {
                continue;
            }
            let lines = self.coding.lines(part.area, part.pixels(way, run)?.into_iter());
            let mut choices = lines.choose(plan.heuristics, run)?;
            if choices.is_empty() {
                choices.push(Choice::All(0));
            }
            for choice in choices {
                least = least.min(self.deflater.estimate(&lines.filtered(&choice, run)?, run)?);
            }
        }
        Ok(least as u64)
    }
}

impl<C: Colour> Cost<C> for Price {
    const RESTORES: bool = true;
    const ERASES: bool = true;

    fn cost(&mut self, base: &[C], wanted: &[C], area: Area, run: Run<'_>) -> Result<Option<u64>> {
        self.of(&Part { base, wanted, area, width: self.width, restored: false }, run).map(Some)
    }

    fn restoring(&mut self, base: &[C], wanted: &[C], area: Area, run: Run<'_>) -> Result<u64> {
        let part = Part { base, wanted, area, width: self.width, restored: false };
        match part.ways(&self.coding) {
            [Way::Whole] => Ok(0),
            _ => Ok(self.of(&Part { restored: true, ..part }, run)?.saturating_sub(self.of(&part, run)?)),
        }
    }
}

/// One frame stored.
pub(super) struct Coded {
    pub(super) over: bool,
    pub(super) zlib: Vec<u8>,
}

/// A way to draw with filters for its rows.
struct Candidate {
    at: usize,
    choice: Choice,
    bytes: usize,
}

/// The smallest that `effort` (0 to 6) finds. It may spend on it its part of the work for
/// `count` frames.
pub(super) fn smallest<C: Colour>(
    part: &Part<'_, C>,
    coding: &mut Coding,
    (effort, count): (u8, usize),
    run: Run<'_>,
) -> Result<Coded> {
    let plan = Plan::of(effort, coding.is_indexed());
    let mut ways = Vec::new();
    for &way in part.ways(coding) {
        ways.push((way, coding.lines(part.area, part.pixels(way, run)?.into_iter())));
    }
    let mut candidates = first_round(&ways, &plan, run)?;
    candidates.truncate(plan.second.max(1));
    if candidates.len() > 1 {
        let mut deflater = Deflater::new(SECOND_LEVEL);
        for candidate in &mut candidates {
            let rows = ways[candidate.at].1.filtered(&candidate.choice, run)?;
            candidate.bytes = deflater.estimate(&rows, run)?;
        }
        candidates.sort_by_key(|candidate| candidate.bytes);
    }
    let mut deflater = Deflater::new(plan.last_level(candidates.first().map_or(0, |best| best.bytes)));
    let mut best: Option<Coded> = None;
    let mut work = plan.work / count;
    for candidate in &candidates {
        let (way, lines) = &ways[candidate.at];
        let after = work.checked_sub(lines.filtered_bytes());
        if best.is_some() && after.is_none() {
            break;
        }
        work = after.unwrap_or(0);
        let zlib = deflater.zlib(&lines.filtered(&candidate.choice, run)?, run)?;
        if best.as_ref().is_none_or(|best| zlib.len() < best.zlib.len()) {
            best = Some(Coded { over: *way != Way::Whole, zlib });
        }
    }
    best.ok_or_else(|| Error::internal("encoding APNG", "there was no candidate"))
}

fn first_round(ways: &[(Way, Lines)], plan: &Plan, run: Run<'_>) -> Result<Vec<Candidate>> {
    let mut deflater = Deflater::new(plan.first);
    let mut candidates = Vec::new();
    for (at, (_, lines)) in ways.iter().enumerate() {
        let mut choices: Vec<Choice> = plan.fixed.iter().map(|&filter| Choice::All(filter)).collect();
        choices.extend(lines.choose(plan.heuristics, run)?);
        for choice in choices {
            let bytes = deflater.estimate(&lines.filtered(&choice, run)?, run)?;
            candidates.push(Candidate { at, choice, bytes });
        }
    }
    candidates.sort_by_key(|candidate| candidate.bytes);
    if let (Some((context, level)), Some(best)) = (plan.brute, candidates.first())
        && ways[best.at].1.filtered_bytes() <= BRUTE_BYTES
    {
        let (at, lines) = (best.at, &ways[best.at].1);
        let choice = lines.choose_by_compressing(context, &mut Deflater::new(level), run)?;
        let bytes = deflater.estimate(&lines.filtered(&choice, run)?, run)?;
        candidates.push(Candidate { at, choice, bytes });
        candidates.sort_by_key(|candidate| candidate.bytes);
    }
    Ok(candidates)
}
