//! The coarsest numbers at which the document still looks the same.

use super::{
    Rule, SVG_RULES, Settings, Stage, Vector, apply, finished, rules::Pictures, screen::grows_unseen, structured,
    tree::Tree, witness::Witness,
};
use crate::{
    control::Run,
    error::{Error, Result},
    optimize::{Goal, Optimised, Preset},
};

/// How far a point may move where nothing may be lost, in pixels of a screen of 2048.
pub(super) const EXACT: f64 = 1.0 / 512.0;
/// The same, at targets from 90 on and below, of what comes to be seen otherwise than it is compared, such as what is hidden at
/// first: as far as the points of most documents move at 90 and at 80.
pub(super) const UNSTEADY: [f64; 2] = [1.0 / 32.0, 1.0 / 8.0];
/// What an exact result scores at the least: coverage of edges comes in steps, which the smallest move may change.
pub(super) const EXACT_SCORE: f64 = 90.0;
/// From this target on edges have to be on the same steps in browsers too; to lower ones they matter little.
pub(super) const NEAR_SCORE: f64 = 95.0;
/// What numbers reach beyond the target if they can: renderers round edges in steps of their own, by which a change that is
/// small here may be larger there. In Chromium scores came out as high in the mean, and up to 6 lower. Not asked of the larger
/// size as it is drawn here, where steps are most of what is seen to differ, but of that averaged, where they are finer.
const HEADROOM: f64 = 2.0;
/// The same of coarse numbers where browsers are not asked about: up to 4 lower at a target of 90, and up to 6 at 80.
const COARSE_HEADROOM: f64 = 4.0;
/// How much finer numbers are where that is not enough, before rules are taken back.
const FINER: [f64; 4] = [1.0, 2.0, 8.0, 64.0];
/// The same where browsers have to come near: first without regard to how they add up, of which they mostly show nothing.
const NEAR_FINER: [f64; 3] = [1.0, 8.0, 64.0];
/// Then with it.
const NEAREST_FINER: [f64; 4] = [1.0, 64.0, 512.0, 4096.0];
/// Tolerances that are tried: so many halvings of a pixel, in halves.
const LEVELS: usize = 21;
/// A share of the bytes, this part of them, that is not worth drawing a document for.
const NOTHING: usize = 500;
/// The level without search.
const ULTRA: usize = 6;

/// A document in the forms that the search needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    /// Sanitised.
    pub tree: &'a Tree,
    /// What results have to look like.
    pub seen: &'a str,
    /// The result where nothing smaller looks like that.
    pub fallback: &'a str,
}

/// How a text was seen to score.
#[derive(Debug, Clone, Copy)]
struct Seen {
    /// The least of all ways to look at it.
    score: f64,
    /// The same without those of which no [`HEADROOM`] is asked.
    held: f64,
}

/// The shortest text for `source` that shows what it does, as well as the goal asks for.
pub(super) fn search(source: &Source<'_>, task: &Vector<'_>, run: Run<'_>) -> Result<Optimised> {
    let tree = source.tree;
    let pictures = Pictures::new(task.codecs);
    let exact = Settings::exact(tree, task, &pictures, run);
    let witness = match Witness::new(source.seen, task.fonts, run) {
        Ok(witness) => Some(witness),
        Err(stopped @ Error::Stopped(_)) => return Err(stopped),
        // What cannot be drawn here, or takes too long, is still made smaller by exact rules.
        Err(_) => None,
    };
    let mut search = Search { tree, exact, grows: grows_unseen(tree), task, witness, warnings: Vec::new(), run };
    let Some(target) = target(task.goal).filter(|_| search.witness.is_some()) else {
        let seen = search.witness.is_some();
        let settings = if seen { search.lossy(&exact, ULTRA) } else { exact };
        let text = finished(&search.structured(&|_| true)?, &settings, &|_| true)?;
        if !seen {
            search
                .warnings
                .push("could not be drawn, so that only exact rules were applied, without verification".to_owned());
        }
        let score = if seen { search.ask(|witness, run| witness.small(&text, run))? } else { f64::NAN };
        return Ok(search.done(text, score));
    };
    search.run(target, source.fallback)
}

/// The score to reach; `None` where nothing is verified.
pub(super) const fn target(goal: Goal) -> Option<f64> {
    match goal {
        Goal::Lossless | Goal::Quality(100) => Some(EXACT_SCORE),
        Goal::Quality(quality) => Some(50.0 + 0.5 * quality as f64),
        Goal::Smart(Preset::Low) => Some(95.0),
        Goal::Smart(Preset::Medium) => Some(90.0),
        Goal::Smart(Preset::High) => Some(80.0),
        Goal::Smart(Preset::Ultra) => None,
    }
}

struct Search<'a> {
    tree: &'a Tree,
    exact: Settings<'a>,
    /// What is drawn may be larger than it seems.
    grows: bool,
    task: &'a Vector<'a>,
    witness: Option<Witness<'a>>,
    warnings: Vec<String>,
    run: Run<'a>,
}

impl<'a> Search<'a> {
    /// Exact settings made coarser.
    fn lossy(&self, exact: &Settings<'a>, level: usize) -> Settings<'a> {
        // Halves of halvings: 1, 0.71, 0.5, 0.35 ...
        let whole = 1.0 / f64::from(1u32 << (level / 2));
        let tolerance = if level % 2 == 1 { whole * std::f64::consts::FRAC_1_SQRT_2 } else { whole };
        let settings = Settings { tolerance, lossy: true, ..*exact };
        Settings { tolerance: settings.pixels(self.grows, false), ..settings }
    }

    /// Exact settings, those of the shortest results first, and what these have to reach.
    fn attempts(&self, target: f64) -> Vec<(Settings<'a>, f64)> {
        let at = |finer: &f64, settings: Settings<'a>| Settings { tolerance: EXACT / finer, ..settings };
        if !self.exact.single {
            return FINER.iter().map(|finer| (at(finer, self.exact), target)).collect();
        }
        let free = Settings { single: false, ..self.exact };
        let first = NEAR_FINER.iter().map(|finer| (at(finer, free), target + HEADROOM));
        first.chain(NEAREST_FINER.iter().map(|finer| (at(finer, self.exact), target))).collect()
    }

    fn run(mut self, target: f64, fallback: &str) -> Result<Optimised> {
        let lossless = matches!(self.task.goal, Goal::Lossless | Goal::Quality(100));
        let wanted = target + HEADROOM;
        let coarse_headroom = if self.exact.single { HEADROOM } else { COARSE_HEADROOM };
        let mut refused: Vec<&'static str> = Vec::new();
        loop {
            let allowed = |rule: &Rule| !refused.contains(&rule.name);
            let structure = self.structured(&allowed)?;
            let mut reached = None;
            let (mut last, mut too_coarse) = (String::new(), f64::INFINITY);
            for (settings, least) in self.attempts(target) {
                // Numbers that were too coarse by far seldom get better by how they are added up.
                if settings.tolerance > too_coarse {
                    continue;
                }
                let text = finished(&structure, &settings, &allowed)?;
                if text == last {
                    continue;
                }
                last.clone_from(&text);
                let small = self.ask(|witness, run| witness.small(&text, run))?;
                let least = if reached.is_some() { wanted } else { least };
                if small < least {
                    if small < target {
                        too_coarse = settings.tolerance;
                    }
                    continue;
                }
                // Half of the way to what exact numbers reach.
                let coarse = f64::midpoint(wanted, small).clamp(wanted, target + coarse_headroom);
                if settings.tolerance == EXACT
                    && !lossless
                    && let Some((text, score)) =
                        self.coarser(&structure, &settings, &allowed, [coarse, wanted], text.len())?
                {
                    return Ok(self.done(text, score));
                }
                let Some(seen) = self.verified(&text, small, least)? else { continue };
                if seen.held >= wanted {
                    return Ok(self.done(text, seen.score));
                }
                // The first, which is the shortest, where none has that much.
                reached = Some((text, seen.score));
            }
            if let Some((text, score)) = reached {
                return Ok(self.done(text, score));
            }
            match self.culprit(&refused, target)? {
                Some(rule) if self.exact.milder(rule) => continue,
                // In the units where they were, their edges may hold.
                Some("paths") if !refused.contains(&"spread") => refused.push("spread"),
                Some(rule) => refused.push(rule),
                None => {
                    self.warnings.push(format!("nothing smaller reached a score of {target:.0}"));
                    let score = self.score(fallback, f64::NEG_INFINITY)?.unwrap_or(f64::NEG_INFINITY);
                    return Ok(self.done(fallback.to_owned(), score));
                }
            }
            self.warnings.retain(|warning| !warning.starts_with("rules taken back"));
            self.warnings.push(format!("rules taken back because they changed the picture: {}", refused.join(", ")));
        }
    }

    /// The first rule, in their order, with which the document does not look the same any more: found by halving.
    fn culprit(&mut self, refused: &[&'static str], target: f64) -> Result<Option<&'static str>> {
        let rules: Vec<&'static str> =
            SVG_RULES.iter().map(|rule| rule.name).filter(|name| !refused.contains(name)).collect();
        let Some((settings, _)) = self.attempts(target).pop() else { return Ok(None) };
        let mut holds = |count: usize| -> Result<bool> {
            let allowed = |rule: &Rule| rules[..count].contains(&rule.name);
            let structure = self.structured(&allowed)?;
            let text = finished(&structure, &settings, &allowed)?;
            Ok(self.score(&text, target)?.is_some())
        };
        if rules.is_empty() || !holds(0)? {
            return Ok(None);
        }
        let (mut good, mut bad) = (0, rules.len());
        while bad > good + 1 {
            let middle = usize::midpoint(good, bad);
            match holds(middle)? {
                true => good = middle,
                false => bad = middle,
            }
        }
        Ok(rules.get(good).copied())
    }

    /// The shortest text found that is worth it beside `length` bytes and scores `wanted` at the smaller size and `least` in all
    /// ways, by bisecting the levels. What holds at one level may fail at a finer one now and then; what is given back has been
    /// seen to hold.
    fn coarser(
        &mut self,
        structure: &Tree,
        exact: &Settings<'a>,
        allowed: &dyn Fn(&Rule) -> bool,
        [wanted, least]: [f64; 2],
        length: usize,
    ) -> Result<Option<(String, f64)>> {
        // The smaller size is quick, and mostly decides.
        let (mut fails, mut holds, mut worth) = (0, LEVELS, LEVELS);
        let mut held = Vec::new();
        while holds > fails + 1 {
            let level = usize::midpoint(fails, holds);
            match self.tried(structure, &self.lossy(exact, level), allowed, length)? {
                Some((text, small)) if small >= wanted => {
                    holds = level;
                    held.push((level, text, small));
                }
                Some(_) => fails = level,
                // No finer one is any shorter.
                None => {
                    (holds, worth) = (level, level);
                    held.clear();
                }
            }
        }
        // Then the rest is asked of these, and of what lies between.
        let mut best = None;
        holds = worth;
        while holds > fails + 1 {
            let (level, tried) = match held.pop() {
                Some((level, text, small)) => (level, Some((text, small))),
                None => {
                    let level = usize::midpoint(fails, holds);
                    (level, self.tried(structure, &self.lossy(exact, level), allowed, length)?)
                }
            };
            let Some((text, small)) = tried else {
                holds = level;
                continue;
            };
            match if small < wanted { None } else { self.verified(&text, small, least)? } {
                Some(seen) => {
                    holds = level;
                    held.clear();
                    best = Some((text, seen.score));
                }
                None => fails = level,
            }
        }
        Ok(best)
    }

    /// The text that settings make, and its score at the smaller size; `None` if it saves next to nothing of `length` bytes.
    fn tried(
        &mut self,
        structure: &Tree,
        settings: &Settings<'_>,
        allowed: &dyn Fn(&Rule) -> bool,
        length: usize,
    ) -> Result<Option<(String, f64)>> {
        let text = finished(structure, settings, allowed)?;
        if text.len() + length / NOTHING >= length {
            return Ok(None);
        }
        let small = self.ask(|witness, run| witness.small(&text, run))?;
        Ok(Some((text, small)))
    }

    /// The score of a text if it holds in all ways.
    fn score(&mut self, text: &str, least: f64) -> Result<Option<f64>> {
        let small = self.ask(|witness, run| witness.small(text, run))?;
        let seen = if small < least { None } else { self.verified(text, small, least)? };
        Ok(seen.map(|seen| seen.score))
    }

    /// How a text scores that has `small` at the smaller size, if it holds in all other ways.
    fn verified(&mut self, text: &str, small: f64, least: f64) -> Result<Option<Seen>> {
        if self.exact.single && self.ask(|witness, run| witness.in_browsers(text, run))? < least {
            return Ok(None);
        }
        let bare = target(self.task.goal).map_or(least, |target| target.min(least));
        let [large, smooth] = self.ask_all(|witness, run| witness.large(text, bare, run))?;
        let seen = Seen { score: small.min(large).min(smooth), held: small.min(smooth) };
        Ok((large >= bare && seen.held >= least).then_some(seen))
    }

    fn ask(&mut self, question: impl FnOnce(&mut Witness<'a>, Run<'a>) -> Result<f64>) -> Result<f64> {
        self.ask_all(|witness, run| question(witness, run).map(|score| [score])).map(|[score]| score)
    }

    /// What the witness says; all is well without one, and what cannot be drawn any more is as far off as can be.
    fn ask_all<const N: usize>(
        &mut self,
        question: impl FnOnce(&mut Witness<'a>, Run<'a>) -> Result<[f64; N]>,
    ) -> Result<[f64; N]> {
        match self.witness.as_mut().map_or(Ok([100.0; N]), |witness| question(witness, self.run)) {
            Err(stopped @ Error::Stopped(_)) => Err(stopped),
            Err(_) => Ok([f64::NEG_INFINITY; N]),
            Ok(scores) => Ok(scores),
        }
    }

    /// The document after the rules that do not depend on the tolerance.
    fn structured(&self, allowed: &dyn Fn(&Rule) -> bool) -> Result<Tree> {
        let mut tree = self.tree.clone();
        apply(&mut tree, Stage::First, &self.exact, allowed)?;
        structured(tree, &self.exact, allowed)
    }

    fn done(self, text: String, score: f64) -> Optimised {
        Optimised { bytes: text.into_bytes(), score, warnings: self.warnings }
    }
}
