//! The search for the smallest file.
//!
//! Candidates are pairs of a form of the pixels and filters for its rows. All are compressed at a low level, the best
//! again at a higher one, the best of those at the level of the result.

use std::borrow::Cow;

use super::{
    deflate::Deflater,
    filters::{Choice, Lines},
    forms::Form,
    header::{ColourType, Space},
    indexed::Indexed,
    palette_order::{by_luma, by_neighbours, led, translucent_first, turned},
    plan::{Plan, SECOND_LEVEL, SECOND_WORK},
};
use crate::{
    control::Run,
    error::{Error, Result},
};

/// Without a palette only pictures of so few pixels become smaller, by what the palette itself takes.
const DIRECT_PIXELS: usize = 1 << 16;

/// Filtered bytes up to which filters are found by compressing, at 70 ns each; beyond, one that is best for photographs is tried.
const BRUTE_WORK: usize = 1 << 25;
const PAETH: u8 = 4;

/// By what part of the best candidate's bytes others may be larger at [`SECOND_LEVEL`] and yet be the smallest in the end.
const CLOSE: usize = 32;

/// Pixels of 1 or 2 bits are tried with 8 only up to this count.
const UNPACKED_PIXELS: usize = 1 << 18;

/// The pixels to be stored.
pub(super) enum Pixels<'a> {
    /// At most 256 colours, the order of the palette that they came with, and where they may go.
    Few(Indexed, Option<&'a [[u8; 4]]>, Space),
    /// Anything else.
    Many(Form),
}

/// One way to store the pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    /// The only form of many colours.
    Only,
    /// Without a palette.
    Direct { unpacked: bool },
    /// With the palette in an order that is good for rows without filters, with filters, or both.
    Ordered { order: Vec<u8>, unpacked: bool, plain: bool, filtered: bool },
}

impl Shape {
    fn is_unpacked(&self) -> bool {
        matches!(self, Self::Direct { unpacked: true } | Self::Ordered { unpacked: true, .. })
    }

    fn unpacked(&self) -> Self {
        match self.clone() {
            Self::Only => Self::Only,
            Self::Direct { .. } => Self::Direct { unpacked: true },
            Self::Ordered { order, plain, filtered, .. } => Self::Ordered { order, unpacked: true, plain, filtered },
        }
    }

    fn allows(&self, choice: &Choice) -> bool {
        let is_plain = *choice == Choice::All(0);
        match *self {
            Self::Ordered { plain, filtered, .. } => {
                if is_plain {
                    plain
                } else {
                    filtered
                }
            }
            _ => true,
        }
    }
}

impl Pixels<'_> {
    fn form(&self, shape: &Shape) -> Cow<'_, Form> {
        let form = match (self, shape) {
            (Self::Many(form), _) => return Cow::Borrowed(form),
            (Self::Few(indexed, ..), Shape::Ordered { order, .. }) => indexed.reordered(order),
            (Self::Few(indexed, _, space), _) => indexed.direct(*space),
        };
        Cow::Owned(if shape.is_unpacked() { form.unpacked() } else { form })
    }

    /// The shapes that are worth a trial. Gray takes no more bits than indices would, unless there are few of it.
    fn shapes(&self, plan: &Plan) -> Vec<Shape> {
        let Self::Few(indexed, hint, space) = self else { return vec![Shape::Only] };
        let (colour, depth) = indexed.direct_type(*space);
        let (is_gray, pixels) = (colour == ColourType::Gray, indexed.indices.len());
        let tighter = indexed.depth() < depth;
        let mut shapes = Vec::new();
        let unindexed = *space == Space::Gray;
        if unindexed || if plan.orders == 1 { is_gray && !tighter } else { is_gray || pixels <= DIRECT_PIXELS } {
            shapes.push(Shape::Direct { unpacked: false });
        }
        if !unindexed && (!is_gray || tighter || plan.orders >= 4) {
            shapes.extend(orders(indexed, *hint, plan.orders));
        }
        if plan.orders > 2 {
            let worth = |depth: u8| depth == 4 || (depth < 4 && pixels <= UNPACKED_PIXELS);
            let packed = shapes.iter().filter(|shape| worth(self.depth(shape, depth)));
            let wide: Vec<Shape> = packed.map(Shape::unpacked).collect();
            shapes.extend(wide);
        }
        shapes
    }

    /// Bytes of the rows of most candidates.
    fn bytes(&self, (width, height): (u32, u32)) -> usize {
        let of_a_pixel = match self {
            Self::Few(..) => 1,
            Self::Many(form) => form.bytes_per_pixel(),
        };
        width as usize * height as usize * of_a_pixel
    }

    fn depth(&self, shape: &Shape, direct: u8) -> u8 {
        match (self, shape) {
            (Self::Few(indexed, ..), Shape::Ordered { .. }) => indexed.depth(),
            _ => direct,
        }
    }
}

/// The first `count` orders of the palette, by what they gave on dithered photographs and drawings.
fn orders(indexed: &Indexed, hint: Option<&[[u8; 4]]>, count: usize) -> Vec<Shape> {
    let shape = |mut order: Vec<u8>, plain, filtered| {
        translucent_first(&mut order, &indexed.palette);
        Shape::Ordered { order, unpacked: false, plain, filtered }
    };
    let mut shapes = vec![shape(led(by_luma(&indexed.palette), indexed), true, false)];
    if count > 1 {
        let order = by_neighbours(indexed);
        shapes.push(shape(turned(order.clone(), indexed), true, true));
        shapes.push(shape(order, false, true));
    }
    shapes.extend(hint.map(|hint| shape(indexed.order_of(hint), true, true)));
    shapes.truncate(count);
    shapes
}

/// A shape with filters for its rows, and the bytes that they took when last compressed.
#[derive(Debug, Clone)]
struct Candidate {
    shape: Shape,
    choice: Choice,
    bytes: usize,
}

/// What all trials have in common.
struct Search<'a> {
    pixels: &'a Pixels<'a>,
    size: (u32, u32),
    interlaced: bool,
    plan: Plan,
    run: Run<'a>,
}

/// The smallest file that `effort` (0 to 6) finds.
pub(super) fn smallest(
    pixels: &Pixels<'_>,
    size: (u32, u32),
    interlaced: bool,
    effort: u8,
    run: Run<'_>,
) -> Result<Vec<u8>> {
    let plan = Plan::of(effort, matches!(pixels, Pixels::Few(..))).for_rows(pixels.bytes(size));
    let search = Search { pixels, size, interlaced, plan, run };
    let mut candidates = search.first_round()?;
    let bytes = candidates.first().map_or(0, |candidate| candidate.bytes);
    search.second_round(&mut candidates)?;
    search.last_round(&candidates, plan.last_level(bytes))
}

impl Search<'_> {
    fn lines(&self, shape: &Shape) -> (Cow<'_, Form>, Lines) {
        let form = self.pixels.form(shape);
        let lines = form.lines(self.size, self.interlaced);
        (form, lines)
    }

    /// All candidates, the best first. A single one is not compressed.
    fn first_round(&self) -> Result<Vec<Candidate>> {
        let mut candidates = Vec::new();
        let mut deflater = Deflater::new(self.plan.first);
        let shapes = self.pixels.shapes(&self.plan);
        let alone = shapes.len() == 1 && self.plan.fixed.len() + self.plan.heuristics.len() == 1;
        for shape in shapes {
            self.run.check()?;
            if alone {
                return Ok(vec![Candidate { shape, choice: Choice::All(0), bytes: 0 }]);
            }
            let (form, lines) = self.lines(&shape);
            let side = form.side_bytes();
            for choice in self.choices(&lines, &shape)? {
                self.run.check()?;
                let bytes = side + deflater.estimate(&lines.filtered(&choice, self.run)?, self.run)?;
                candidates.push(Candidate { shape: shape.clone(), choice, bytes });
            }
        }
        candidates.sort_by_key(|candidate| candidate.bytes);
        // What came out as large as another was mostly filtered alike.
        candidates.dedup_by(|one, other| one.bytes == other.bytes && one.shape == other.shape);
        if let Some((context, level)) = self.plan.brute {
            let filtered = candidates.iter().find(|candidate| candidate.shape.allows(&Choice::All(1)));
            if let Some(shape) = filtered.map(|candidate| candidate.shape.clone()) {
                let (form, lines) = self.lines(&shape);
                let choice = match lines.filtered_bytes() {
                    ..=BRUTE_WORK => lines.choose_by_compressing(context, &mut Deflater::new(level), self.run)?,
                    _ => Choice::All(PAETH),
                };
                let bytes = form.side_bytes() + deflater.estimate(&lines.filtered(&choice, self.run)?, self.run)?;
                candidates.push(Candidate { shape, choice, bytes });
                candidates.sort_by_key(|candidate| candidate.bytes);
            }
        }
        Ok(candidates)
    }

    fn choices(&self, lines: &Lines, shape: &Shape) -> Result<Vec<Choice>> {
        let mut choices: Vec<Choice> = self.plan.fixed.iter().map(|&filter| Choice::All(filter)).collect();
        choices.retain(|choice| shape.allows(choice));
        if shape.allows(&Choice::All(1)) {
            choices.extend(lines.choose(self.plan.heuristics, self.run)?);
        }
        Ok(choices)
    }

    /// Compares the best of the first round again, by the middle of their rows where there is too much of them. Low
    /// levels underrate pixels that are not packed, so one of these is always among them.
    fn second_round(&self, candidates: &mut Vec<Candidate>) -> Result<()> {
        let count = self.plan.second.min(candidates.len());
        if count < 2 {
            return Ok(());
        }
        let unpacked = |candidate: &Candidate| candidate.shape.is_unpacked();
        if !candidates[..count].iter().any(unpacked)
            && let Some(place) = candidates.iter().position(unpacked)
        {
            candidates.swap(count - 1, place);
        }
        candidates.truncate(count);
        let parts = (self.pixels.bytes(self.size) * count).div_ceil(SECOND_WORK).max(1);
        let mut deflater = Deflater::new(SECOND_LEVEL);
        for candidate in candidates.iter_mut() {
            self.run.check()?;
            let (form, lines) = self.lines(&candidate.shape);
            let rows = lines.filtered(&candidate.choice, self.run)?;
            let length = rows.len() / parts;
            let sample = &rows[(rows.len() - length) / 2..][..length];
            candidate.bytes = form.side_bytes() + parts * deflater.estimate(sample, self.run)?;
        }
        candidates.sort_by_key(|candidate| candidate.bytes);
        Ok(())
    }

    /// The smallest file of those of the best candidates that may be.
    fn last_round(&self, candidates: &[Candidate], level: i32) -> Result<Vec<u8>> {
        let mut deflater = Deflater::new(level);
        let mut smallest: Option<Vec<u8>> = None;
        let mut work = self.plan.work;
        for candidate in candidates {
            self.run.check()?;
            if smallest.is_some() && candidate.bytes > candidates[0].bytes + candidates[0].bytes / CLOSE {
                break;
            }
            let (form, lines) = self.lines(&candidate.shape);
            let after = work.checked_sub(lines.filtered_bytes());
            if smallest.is_some() && after.is_none() {
                break;
            }
            work = after.unwrap_or(0);
            let zlib = deflater.zlib(&lines.filtered(&candidate.choice, self.run)?, self.run)?;
            let file = form.file(self.size, self.interlaced, &zlib);
            if smallest.as_ref().is_none_or(|smallest| file.len() < smallest.len()) {
                smallest = Some(file);
            }
        }
        smallest.ok_or_else(|| Error::internal("encoding PNG", "there was no candidate"))
    }
}
