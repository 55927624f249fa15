//! Pictures of at most 256 colours.

use std::sync::Arc;

use super::{Optimised, Task, options};
use crate::{
    codec::png::encode_indexed,
    control::{Run, Stage},
    error::{Error, Result},
    optimize::{
        metric::{Reference, Sample},
        palette::{Gradients, Histogram, Missed, Original, Palette, Palettes, Remap, Remapped, faithful},
        search::{Aim, Trial, solve_while},
        shortfall,
    },
    picture::Picture,
};

/// Colours with which `ultra` scores about 50 in the median, drawn as follows.
pub(in super::super) const ULTRA_COLOURS: usize = 26;
/// Repetition buys more colours for the bytes, which spares graphics of many colours the worst.
pub(super) const ULTRA: Remap = Remap { dither: 0.6, tolerance: 0.04 };
/// How palettes of an explicit quality are drawn.
pub(super) const USUAL: Remap = Remap { dither: 0.5, tolerance: 0.01 };
/// Effort of what is only compared, and what twice the colours leave of a file at the least.
const LOOK: u8 = 1;
const MAY_FALL: f64 = 0.8;
/// Entries of a table.
const MOST: usize = 256;
/// Palette sizes that are tried.
const SIZES: [usize; 20] = [2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 208, 256];
/// Shares of diffused error that are tried: none for flat graphics, some for gradients.
const DITHERS: [f32; 2] = [0.0, 0.6];
/// Points above the target from which on it counts in full what a way of dithering spares gradients. Nearer to it, hardly a
/// colour is to be had for fewer bytes that way, and others should not have to be as good.
const ROOM: f64 = 1.0;
/// What a palette of fewer colours may score above one of more, by chance.
const BY_CHANCE: f64 = 2.0;
/// What more tolerance than one that was tried leaves of a file, at the least.
const MAY_SHRINK: f64 = 0.75;
/// The greatest tolerance worth trying, as a distance in Oklab.
const MOST_TOLERANCE: f64 = 0.12;

/// A picture in few colours.
pub(in super::super) struct Drawn {
    /// The most colours that its palette might have had.
    pub(super) most: usize,
    palette: Arc<Palette>,
    pub(in super::super) drawn: Remapped,
    pub(in super::super) score: f64,
}

impl Drawn {
    /// As a file.
    pub(super) fn finished(&self, task: &Task<'_>, run: Run<'_>) -> Result<Optimised> {
        let bytes = file(task, task.picture, &self.palette, &self.drawn, super::EFFORT, run)?;
        let warnings = shortfall(self.score, task.goal).into_iter().collect();
        Ok(Optimised { bytes, score: self.score, warnings })
    }
}

/// A picture to be drawn in palettes of any size, with no search.
struct Unsought<'a> {
    task: &'a Task<'a>,
    histogram: Histogram,
    original: Original<'a>,
    reference: Reference,
    how: Remap,
    run: Run<'a>,
}

impl<'a> Unsought<'a> {
    fn new(task: &'a Task<'a>, how: Remap, run: Run<'a>) -> Result<Self> {
        let (histogram, reference) = (Histogram::new(task.picture, run)?, Reference::new(task.picture, run)?);
        Ok(Self { task, histogram, original: Original::new(task.picture, run)?, reference, how, run })
    }

    fn drawn(&self, colours: usize) -> Result<(Palette, Remapped)> {
        let palette = faithful(&self.histogram, colours, Missed::MOST, self.run)?;
        let drawn = self.original.remap(&palette, self.how, self.run)?;
        Ok((palette, drawn))
    }

    fn score(&self, drawn: &Remapped) -> Result<f64> {
        self.reference.score(&drawn.picture, self.run)
    }

    fn file(&self, (palette, drawn): &(Palette, Remapped), effort: u8) -> Result<Vec<u8>> {
        file(self.task, self.task.picture, palette, drawn, effort, self.run)
    }
}

/// Twice as many, if a table has more.
fn doubled(colours: usize) -> Option<usize> {
    Some((2 * colours).min(MOST)).filter(|&more| more > colours)
}

/// A palette of `colours`, of twice as many as long as that is below `least`.
pub(super) fn fixed(task: &Task<'_>, mut colours: usize, how: Remap, least: f64, run: Run<'_>) -> Result<Optimised> {
    let unsought = Unsought::new(task, how, run)?;
    loop {
        let made = unsought.drawn(colours)?;
        let score = unsought.score(&made.1)?;
        match doubled(colours).filter(|_| score < least) {
            Some(more) => colours = more,
            None => {
                run.control.stage(Stage::Encode, 0.6);
                let bytes = unsought.file(&made, super::EFFORT)?;
                return Ok(Optimised { bytes, score, warnings: Vec::new() });
            }
        }
    }
}

/// A palette of `colours`, or of two, four and so on times as many where that comes out smaller: the fewer there are, the more
/// is dithered, and that may take more bytes than colours do.
pub(super) fn cheapest(task: &Task<'_>, colours: usize, how: Remap, run: Run<'_>) -> Result<Optimised> {
    let unsought = Unsought::new(task, how, run)?;
    let mut best: Vec<(usize, (Palette, Remapped))> = Vec::new();
    for colours in std::iter::successors(Some(colours), |&colours| doubled(colours)) {
        let made = unsought.drawn(colours)?;
        let bytes = unsought.file(&made, LOOK)?.len();
        if best.first().is_some_and(|&(least, _)| bytes as f64 * MAY_FALL > least as f64) {
            break;
        }
        best.push((bytes, made));
        best.sort_by_key(|&(bytes, _)| bytes);
        // Two, as effort orders those alike otherwise.
        best.truncate(2);
    }
    run.control.stage(Stage::Encode, 0.6);
    let mut written = Vec::new();
    for (_, made) in &best {
        written.push((unsought.file(made, super::EFFORT)?, &made.1));
    }
    let least = written.into_iter().min_by_key(|(bytes, _)| bytes.len());
    let (bytes, drawn) = least.ok_or_else(|| Error::internal("palettes", "none was drawn"))?;
    Ok(Optimised { bytes, score: unsought.score(drawn)?, warnings: Vec::new() })
}

/// What makes the smallest file of at most 256 colours that reaches `target`, if there is one.
pub(in super::super) fn search(
    task: &Task<'_>,
    histogram: &Histogram,
    reference: &Reference,
    sample: Option<&Sample>,
    target: f64,
    run: Run<'_>,
) -> Result<Option<Drawn>> {
    let (picture, sampled) = sample.map_or((task.picture, reference), |sample| (&sample.picture, &sample.reference));
    let palettes = &mut Palettes::new(histogram, Missed::at(target));
    let gradients = Gradients::of(picture, target, run)?;
    let most = histogram.distinct;
    let mut trials = Trials {
        task,
        most,
        palettes,
        original: Original::new(picture, run)?,
        reference: sampled,
        gradients,
        reached: [Score { metric: 0.0, judged: 0.0 }; 2],
        unspared: 0.0,
        target,
        run,
    };
    trials.look()?;
    let Some(best) = trials.best()? else { return Ok(None) };
    run.control.stage(Stage::Encode, 0.7);
    if sample.is_some() {
        trials.original = Original::new(task.picture, run)?;
        trials.reference = reference;
        trials.gradients = Gradients::of(task.picture, target, run)?;
        if !trials.look_again(&best)? {
            return Ok(None);
        }
    }
    trials.finished(best)
}

/// Settings, and what they gave.
#[derive(Clone)]
struct Choice {
    size: usize,
    how: Remap,
    score: Score,
    file: Vec<u8>,
}

/// What the metric says, and what is left of it where gradients are in bands: the search is for the latter.
#[derive(Debug, Clone, Copy)]
struct Score {
    metric: f64,
    judged: f64,
}

impl Score {
    /// What gradients cost.
    fn cost(self) -> f64 {
        self.metric - self.judged
    }
}

/// What none of these, of all colours that a table has, spares the gradients, if it reaches the target.
fn unspared(reached: &[Score], target: f64) -> f64 {
    let reaching = reached.iter().filter(|score| score.metric >= target);
    let most = reaching.clone().map(|score| score.cost()).fold(0.0, f64::max);
    let share = |score: &Score| ((score.metric - target) / ROOM).min(1.0);
    let spared = reaching.map(|score| share(score) * (most - score.cost()));
    most - spared.fold(0.0, f64::max)
}

struct Trials<'a, 'h> {
    task: &'a Task<'a>,
    /// Colours of the picture.
    most: usize,
    palettes: &'a mut Palettes<'h>,
    original: Original<'a>,
    reference: &'a Reference,
    gradients: Gradients<'a>,
    /// What all colours that a table has score, for each way of dithering.
    reached: [Score; 2],
    /// What its gradients cost in all colours that a table has: no reason to do without one.
    unspared: f64,
    target: f64,
    run: Run<'a>,
}

impl Trials<'_, '_> {
    /// The settings with the fewest bytes: for each way of dithering the smallest palette that will do, and larger ones
    /// whose surplus of fidelity is spent on repetition.
    fn best(&mut self) -> Result<Option<Choice>> {
        let mut best: Option<Choice> = None;
        for (dither, reached) in DITHERS.into_iter().zip(self.reached) {
            if reached.metric < self.target - BY_CHANCE {
                continue;
            }
            let Some(least) = self.least_size(dither, 0)? else { continue };
            let mut sizes = [least, least + 2, least + 5].map(|at| self.size(at)).to_vec();
            sizes.dedup();
            for size in sizes {
                let enough = best.as_ref().map_or(usize::MAX, |best| best.file.len());
                let found = self.most_tolerance(size, dither, MOST_TOLERANCE / 12.0, 4, enough)?;
                if let Some(found) = found.filter(|found| found.score.judged >= self.target) {
                    best = if found.file.len() < enough { Some(found) } else { best };
                }
            }
        }
        Ok(best)
    }

    /// Looks what a table can reach, and what none can spare the picture.
    fn look(&mut self) -> Result<()> {
        for (at, dither) in DITHERS.into_iter().enumerate() {
            self.reached[at] = self.with_all_colours(dither)?;
        }
        self.unspared = unspared(&self.reached, self.target);
        Ok(())
    }

    /// The same of the whole picture behind its bands, for the way of dithering that is chosen; whether it may reach the target.
    fn look_again(&mut self, Choice { size, how, .. }: &Choice) -> Result<bool> {
        let above = self.reached[usize::from(how.dither > DITHERS[0])].cost() - self.unspared;
        let score = self.with_all_colours(how.dither)?;
        self.unspared = if score.metric >= self.target { score.cost() - above.max(0.0) } else { 0.0 };
        let by_chance = if *size < self.size(SIZES.len() - 1) { BY_CHANCE } else { 0.0 };
        Ok(score.metric >= self.target - by_chance)
    }

    /// The score of as many colours as a table has, with nothing spared.
    fn with_all_colours(&mut self, dither: f32) -> Result<Score> {
        self.unspared = 0.0;
        let palette = self.palettes.of(SIZES[SIZES.len() - 1], self.run)?;
        let drawn = self.original.remap(&palette, Remap { dither, tolerance: 0.0 }, self.run)?;
        self.score(&drawn)
    }

    fn size(&self, at: usize) -> usize {
        SIZES[at.min(SIZES.len() - 1)].min(self.most)
    }

    /// Index into [`SIZES`], from `low` on, of the smallest palette that reaches the target without repetition.
    fn least_size(&mut self, dither: f32, mut low: usize) -> Result<Option<usize>> {
        let mut high = SIZES.len();
        while low < high {
            let middle = usize::midpoint(low, high);
            let palette = self.palettes.of(SIZES[middle], self.run)?;
            let drawn = self.original.remap(&palette, Remap { dither, tolerance: 0.0 }, self.run)?;
            let reached = self.score(&drawn)?.judged >= self.target;
            (low, high) = if reached { (low, middle) } else { (middle + 1, high) };
        }
        Ok((low < SIZES.len()).then_some(low))
    }

    /// The greatest tolerance at which the target is still reached, or none; `None` once it is clear that the file would be no
    /// smaller than `enough`. The knob that is solved for is `MOST_TOLERANCE` less the tolerance, which rises with the score.
    fn most_tolerance(
        &mut self,
        size: usize,
        dither: f32,
        first: f64,
        trials: u32,
        enough: usize,
    ) -> Result<Option<Choice>> {
        let aim = Aim {
            target: self.target,
            slack: 0.7,
            low: 0.0,
            high: MOST_TOLERANCE,
            first: MOST_TOLERANCE - first,
            slope: 400.0,
            step: MOST_TOLERANCE / 256.0,
            trials,
        };
        let palette = self.palettes.of(size, self.run)?;
        let how = |knob: f64| Remap { dither, tolerance: (MOST_TOLERANCE - knob) as f32 };
        let found = solve_while(aim, |knob| {
            let drawn = self.original.remap(&palette, how(knob), self.run)?;
            let file = file(self.task, self.original.picture, &palette, &drawn, 0, self.run)?;
            if file.len() as f64 * MAY_SHRINK > enough as f64 {
                return Ok(None);
            }
            let score = self.score(&drawn)?;
            // Less tolerance, which the score asks for, makes it larger.
            let hopeless = score.judged < self.target && file.len() >= enough;
            Ok((!hopeless).then_some(Trial { knob, score: score.judged, file: (score, file) }))
        })?;
        Ok(found.map(|Trial { knob, file: (score, file), .. }| Choice { size, how: how(knob), score, file }))
    }

    fn score(&self, drawn: &Remapped) -> Result<Score> {
        let metric = self.reference.score(&drawn.picture, self.run)?;
        let cost = self.gradients.cost(&drawn.picture, self.run)? - self.unspared;
        Ok(Score { metric, judged: metric - cost.max(0.0) })
    }

    /// Draws the whole picture as chosen on a sample of it, with more colours if the sample promised too much.
    fn finished(&mut self, choice: Choice) -> Result<Option<Drawn>> {
        let (dither, tolerance) = (choice.how.dither, choice.how.tolerance.into());
        let mut settled = self.most_tolerance(choice.size, dither, tolerance, 3, usize::MAX)?;
        if settled.as_ref().is_none_or(|settled| settled.score.judged < self.target) {
            let from = SIZES.partition_point(|&size| size <= choice.size);
            let Some(least) = self.least_size(dither, from)? else { return Ok(None) };
            settled = self.most_tolerance(self.size(least), dither, 0.005, 3, usize::MAX)?;
        }
        let Some(Choice { size, how, score, .. }) = settled else { return Ok(None) };
        let palette = self.palettes.of(size, self.run)?;
        let drawn = self.original.remap(&palette, how, self.run)?;
        Ok(Some(Drawn { most: size, palette, drawn, score: score.metric }))
    }
}

fn file(
    task: &Task<'_>,
    picture: &Picture,
    palette: &Palette,
    drawn: &Remapped,
    effort: u8,
    run: Run<'_>,
) -> Result<Vec<u8>> {
    encode_indexed(picture.width(), picture.height(), &palette.colours, &drawn.indices, &options(task, effort), run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hardly_reaches_the_target_is_no_reason_to_do_without_another() {
        let scored = |metric: f64, cost: f64| Score { metric, judged: metric - cost };
        let beside = |metric: f64| unspared(&[scored(metric, 1.0), scored(83.0, 4.0)], 80.0);
        for (metric, expected) in [(79.9, 4.0), (80.0, 4.0), (80.5, 2.5), (81.0, 1.0), (90.0, 1.0)] {
            assert!((beside(metric) - expected).abs() < 1e-9, "{metric}: {}", beside(metric));
        }
        assert_eq!(unspared(&[scored(70.0, 1.0), scored(71.0, 2.0)], 80.0), 0.0, "none reaches it");
    }
}
