//! How a sequence of canvases is split into frames that change as little as may be.
//!
//! Formats agree in what becomes of a frame's place when its time is over: it stays, is cleared, or becomes what it was
//! before. Which of them makes the frames that follow cheapest is found by dynamic programming over what lies on the
//! canvas before each frame, with the format's own cost of a frame. A pixel is any value whose default is transparent.

#[cfg(any(feature = "gif", feature = "webp"))]
use crate::picture::Channels;
use crate::{control::Run, error::Result};

/// Red, green, blue and straight alpha; all transparent ones alike.
pub(crate) type Pixel = [u8; 4];
/// The transparent pixel.
pub(crate) const NOTHING: Pixel = [0; 4];

/// Their samples, with alpha or without.
#[cfg(any(feature = "gif", feature = "webp"))]
pub(crate) fn samples(pixels: &[Pixel], channels: Channels) -> Vec<u8> {
    if channels != Channels::Rgb {
        return pixels.as_flattened().to_vec();
    }
    let mut samples = vec![0; pixels.len() * 3];
    for (samples, &[r, g, b, _]) in samples.as_chunks_mut().0.iter_mut().zip(pixels) {
        *samples = [r, g, b];
    }
    samples
}

/// What happens to a frame's place on the canvas when its time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Disposal {
    /// The frame stays.
    #[default]
    Keep,
    /// It becomes transparent.
    Clear,
    /// It becomes what it was before.
    Restore,
}

/// A part of the canvas, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Area {
    /// One pixel, for frames that change none.
    pub(crate) const LEAST: Self = Self { x: 0, y: 0, width: 1, height: 1 };

    /// The least that holds all pixels of a canvas `width` wide for which `which` is true, of two canvases. It never is of
    /// equal ones.
    pub(crate) fn around<P: Copy + Eq>(
        one: &[P],
        other: &[P],
        width: usize,
        which: impl Fn(P, P) -> bool,
    ) -> Option<Self> {
        let rows = one.chunks_exact(width).zip(other.chunks_exact(width)).enumerate();
        let differ = rows.filter(|(_, (one, other))| one != other);
        differ.filter_map(|(y, (one, other))| Self::line(y, width, |x| which(one[x], other[x]))).reduce(Self::with)
    }

    /// The least that holds all places of `rows`, each `width` long, for which `which` is true.
    pub(crate) fn least<R: Copy>(
        rows: impl Iterator<Item = R>,
        width: usize,
        which: impl Fn(R, usize) -> bool,
    ) -> Option<Self> {
        rows.enumerate().filter_map(|(y, row)| Self::line(y, width, |x| which(row, x))).reduce(Self::with)
    }

    /// The least that holds all of the `width` places of a row for which `which` is true.
    fn line(y: usize, width: usize, which: impl Fn(usize) -> bool) -> Option<Self> {
        let x = (0..width).find(|&x| which(x))?;
        let right = (x..width).rfind(|&x| which(x))?;
        Some(Self { x, y, width: right + 1 - x, height: 1 })
    }

    /// The least that holds it and begins at multiples of `grid` pixels.
    pub(crate) const fn on_grid(self, grid: usize) -> Self {
        let (left, above) = (self.x % grid, self.y % grid);
        let Self { x, y, width, height } = self;
        Self { x: x - left, y: y - above, width: width + left, height: height + above }
    }

    /// Whether a pixel lies within.
    pub(crate) const fn has(self, x: usize, y: usize) -> bool {
        x >= self.x && x - self.x < self.width && y >= self.y && y - self.y < self.height
    }

    /// The least that holds both.
    pub(crate) fn with(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let right = (self.x + self.width).max(other.x + other.width);
        let bottom = (self.y + self.height).max(other.y + other.height);
        Self { x, y, width: right - x, height: bottom - y }
    }

    /// Its rows on a canvas `width` wide.
    pub(crate) fn rows<P>(self, canvas: &[P], width: usize) -> impl Iterator<Item = &[P]> {
        canvas.chunks_exact(width).skip(self.y).take(self.height).map(move |row| &row[self.x..self.x + self.width])
    }

    /// With so many pixels around it, as far as there are any on a canvas of a size.
    pub(crate) fn grown(self, by: usize, (width, height): (usize, usize)) -> Self {
        let (x, y) = (self.x.saturating_sub(by), self.y.saturating_sub(by));
        let (right, bottom) = ((self.x + self.width + by).min(width), (self.y + self.height + by).min(height));
        Self { x, y, width: right - x, height: bottom - y }
    }

    /// The same, to be written.
    pub(crate) fn rows_mut<P>(self, canvas: &mut [P], width: usize) -> impl Iterator<Item = &mut [P]> {
        let rows = canvas.chunks_exact_mut(width).skip(self.y).take(self.height);
        rows.map(move |row| &mut row[self.x..self.x + self.width])
    }

    /// Makes it transparent.
    pub(crate) fn clear<P: Copy + Default>(self, canvas: &mut [P], width: usize) {
        self.rows_mut(canvas, width).for_each(|row| row.fill(P::default()));
    }

    /// Makes it what it is on another canvas.
    fn copy<P: Copy>(self, canvas: &mut [P], other: &[P], width: usize) {
        self.rows_mut(canvas, width).zip(self.rows(other, width)).for_each(|(row, other)| row.copy_from_slice(other));
    }
}

/// Canvases in their order.
pub(crate) trait Canvases<P = Pixel> {
    /// Width and height in pixels.
    fn size(&self) -> (usize, usize);
    /// Begins again.
    fn restart(&mut self) -> Result<()>;
    /// Goes on to the next canvas; false after the last.
    fn advance(&mut self, run: Run<'_>) -> Result<bool>;
    /// The canvas gone on to.
    fn canvas(&self) -> &[P];
}

/// One frame of a split sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split {
    /// What it changes.
    pub(crate) area: Area,
    /// What becomes of it.
    pub(crate) disposal: Disposal,
}

impl Split {
    /// Makes of `base`, what lay there before the frame and differs from what it has `shown` only within its area, what lies
    /// there when its time is over.
    pub(crate) fn leave<P: Copy + Default>(&self, base: &mut [P], shown: &[P], width: usize) {
        match self.disposal {
            Disposal::Keep => self.area.copy(base, shown, width),
            Disposal::Clear => self.area.clear(base, width),
            Disposal::Restore => {}
        }
    }
}

/// What a frame costs that turns the canvas `base` into `wanted` within `area`; `None` if there is no such frame.
pub(crate) trait Cost<P = Pixel> {
    /// Whether frames may be restored from.
    const RESTORES: bool;
    /// Whether a frame may make pixels transparent that were not.
    const ERASES: bool;

    fn cost(&mut self, base: &[P], wanted: &[P], area: Area, run: Run<'_>) -> Result<Option<u64>>;

    /// How much more it costs if what lay there comes back when its time is over.
    fn restoring(&mut self, _base: &[P], _wanted: &[P], _area: Area, _run: Run<'_>) -> Result<u64> {
        Ok(0)
    }
}

/// A way to have come to a canvas.
struct State<P> {
    base: Vec<P>,
    cost: u64,
    /// Its last step, and the frames before by their steps.
    step: Option<usize>,
}

#[derive(Clone, Copy)]
struct Step {
    split: Split,
    before: Option<usize>,
}

/// Splits `canvases` into the cheapest frames; `None` if some canvas cannot be reached.
pub(crate) fn split<P: Copy + Eq + Default, C: Cost<P>>(
    canvases: &mut dyn Canvases<P>,
    cost: &mut C,
    run: Run<'_>,
) -> Result<Option<Vec<Split>>> {
    canvases.restart()?;
    let (width, height) = canvases.size();
    let mut steps: Vec<Step> = Vec::new();
    let mut states = vec![State { base: vec![P::default(); width * height], cost: 0, step: None }];
    let mut more = canvases.advance(run)?;
    let mut wanted = Vec::new();
    while more {
        run.check()?;
        wanted.clear();
        wanted.extend_from_slice(canvases.canvas());
        more = canvases.advance(run)?;
        let next = more.then(|| canvases.canvas());
        states = follow(&states, &wanted, next, width, &mut steps, cost, run)?;
    }
    let best = states.iter().min_by_key(|state| state.cost);
    let Some(mut at) = best.map(|state| state.step) else { return Ok(None) };
    let mut splits = Vec::new();
    while let Some(step) = at {
        splits.push(steps[step].split);
        at = steps[step].before;
    }
    splits.reverse();
    Ok(Some(splits))
}

/// All that may lie on the canvas after `wanted` was shown, each by the cheapest way.
fn follow<P: Copy + Eq + Default, C: Cost<P>>(
    states: &[State<P>],
    wanted: &[P],
    next: Option<&[P]>,
    width: usize,
    steps: &mut Vec<Step>,
    cost: &mut C,
    run: Run<'_>,
) -> Result<Vec<State<P>>> {
    let nothing = P::default();
    let vanishing =
        next.and_then(|next| Area::around(wanted, next, width, |now, then| now != nothing && then == nothing));
    let kept = next.map_or(0, |next| changed(wanted, next));
    let alone = states.len() == 1 && vanishing.is_none();
    let mut found: [Option<State<P>>; 3] = [None, None, None];
    for state in states {
        // What the first frame does not cover is transparent to some readers, to others of the background colour.
        let area = match state.step {
            None => Area { x: 0, y: 0, width, height: wanted.len() / width },
            Some(_) => Area::around(&state.base, wanted, width, |a, b| a != b).unwrap_or(Area::LEAST),
        };
        let cleared = vanishing.map(|vanishing| area.with(vanishing));
        // Some decoders forget that they cleared when the next frame is restored from.
        let forgotten = C::ERASES && state.step.is_none_or(|step| steps[step].split.disposal == Disposal::Clear);
        let restores = C::RESTORES
            && !forgotten
            && next.is_some_and(|next| vanishing.is_some() || changed(&state.base, next) < kept);
        // What need not vanish by itself may do so with the rest of the frame.
        let clears = C::ERASES && vanishing.is_some();
        let cleared = cleared.filter(|cleared| !clears || *cleared != area);
        for (area, disposals) in [(Some(area), [true, restores, clears]), (cleared, [false, false, true])] {
            let Some(area) = area else { continue };
            let price = if alone { Some(0) } else { cost.cost(&state.base, wanted, area, run)? };
            let Some(price) = price else { continue };
            for (index, disposal) in [Disposal::Keep, Disposal::Restore, Disposal::Clear].into_iter().enumerate() {
                if !disposals[index] {
                    continue;
                }
                let more = match disposal {
                    Disposal::Restore => cost.restoring(&state.base, wanted, area, run)?,
                    Disposal::Keep | Disposal::Clear => 0,
                };
                let total = state.cost + price + more;
                if found[index].as_ref().is_some_and(|found| found.cost <= total) {
                    continue;
                }
                let split = Split { area, disposal };
                let mut base = state.base.clone();
                split.leave(&mut base, wanted, width);
                steps.push(Step { split, before: state.step });
                found[index] = Some(State { base, cost: total, step: Some(steps.len() - 1) });
            }
        }
    }
    // What must vanish does not by itself.
    let possible = |state: &State<P>| {
        let stands = |(then, wanted): (&P, &P)| *then == nothing || *wanted != nothing;
        C::ERASES || next.is_none_or(|next| state.base.iter().zip(next).all(stands))
    };
    Ok(found.into_iter().flatten().filter(possible).collect())
}

fn changed<P: Eq>(one: &[P], other: &[P]) -> usize {
    one.iter().zip(other).filter(|(a, b)| a != b).count()
}
