//! The coarsest numbers at which the document still looks the same.

use super::{Rule, SVG_RULES, Settings, Vector, finished, structured, tree::Tree, witness::Witness};
use crate::{
    control::Run,
    error::{Error, Result},
    optimize::{Goal, Optimised, Preset},
    request::Compression,
};

/// How far a point may move where nothing may be lost, in pixels of a screen of 2048.
pub(super) const EXACT: f64 = 1.0 / 512.0;
/// What an exact result scores at the least: coverage of edges comes in steps, which the smallest move may change.
const EXACT_SCORE: f64 = 90.0;
/// How much finer numbers are where that is not enough, before rules are taken back.
const FINER: [f64; 3] = [1.0, 8.0, 64.0];
/// Tolerances that are tried: so many halvings of a pixel, in halves.
const LEVELS: usize = 21;
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

/// The shortest text for `source` that shows what it does, as well as the goal asks for.
pub(super) fn search(source: &Source<'_>, task: &Vector<'_>, run: Run<'_>) -> Result<Optimised> {
    let tree = source.tree;
    let exact = Settings::exact(tree, task, run);
    let witness = match Witness::new(source.seen, task.fonts, run) {
        Ok(witness) => Some(witness),
        Err(stopped @ Error::Stopped(_)) => return Err(stopped),
        // What cannot be drawn here, or takes too long, is still made smaller by exact rules.
        Err(_) => None,
    };
    let mut search = Search { tree, exact, task, witness, warnings: Vec::new(), run };
    let Some(target) = target(task.goal).filter(|_| search.witness.is_some()) else {
        let seen = search.witness.is_some();
        let settings = if seen { search.settings(ULTRA) } else { exact };
        let text = finished(&structured(tree, &exact, &|_| true)?, &settings, &|_| true)?;
        if !seen {
            search
                .warnings
                .push("could not be drawn, so that only exact rules were applied, without verification".to_owned());
        }
        let score = if seen { search.glance(&text)? } else { f64::NAN };
        return Ok(search.done(text, score));
    };
    search.run(target, source.fallback)
}

/// The score to reach; `None` where nothing is verified.
const fn target(goal: Goal) -> Option<f64> {
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
    task: &'a Vector<'a>,
    witness: Option<Witness<'a>>,
    warnings: Vec<String>,
    run: Run<'a>,
}

impl Search<'_> {
    fn settings(&self, level: usize) -> Settings<'_> {
        // Halves of halvings: 1, 0.71, 0.5, 0.35 ...
        let whole = 1.0 / f64::from(1u32 << (level / 2));
        let tolerance = if level % 2 == 1 { whole * std::f64::consts::FRAC_1_SQRT_2 } else { whole };
        Settings { tolerance, lossy: true, ..self.exact }
    }

    fn run(mut self, target: f64, fallback: &str) -> Result<Optimised> {
        let lossless = matches!(self.task.goal, Goal::Lossless | Goal::Quality(100));
        let mut refused: Vec<&'static str> = Vec::new();
        loop {
            let allowed = |rule: &Rule| !refused.contains(&rule.name);
            let structure = structured(self.tree, &self.exact, &allowed)?;
            let mut score = f64::NEG_INFINITY;
            for finer in FINER {
                let settings = Settings { tolerance: EXACT / finer, ..self.exact };
                let text = finished(&structure, &settings, &allowed)?;
                score = self.score(&text)?;
                if score >= target {
                    let (text, score) = if lossless {
                        (text, score)
                    } else {
                        self.coarsest(&structure, &allowed, target, (text, score))?
                    };
                    return Ok(self.done(text, score));
                }
            }
            match self.culprit(&refused, target)? {
                // Some rules have a milder form.
                Some("paths") if !self.exact.gentle => {
                    self.exact.gentle = true;
                    continue;
                }
                Some("images") if self.exact.embedded != Some(Compression::Lossless) => {
                    self.exact.embedded = Some(Compression::Lossless);
                    continue;
                }
                Some(rule) => refused.push(rule),
                None => {
                    self.warnings
                        .push(format!("nothing smaller looked the same: the score was {score:.2} of {target:.0}"));
                    let score = self.score(fallback)?;
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
        let settings = Settings { tolerance: EXACT / FINER[FINER.len() - 1], ..self.exact };
        let tree = self.tree;
        let mut holds = |count: usize| -> Result<bool> {
            let allowed = |rule: &Rule| rules[..count].contains(&rule.name);
            let structure = structured(tree, &settings, &allowed)?;
            Ok(self.score(&finished(&structure, &settings, &allowed)?)? >= target)
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

    /// Bisects the levels by the smaller size, then steps back until both sizes hold.
    fn coarsest(
        &mut self,
        structure: &Tree,
        allowed: &dyn Fn(&Rule) -> bool,
        target: f64,
        exact: (String, f64),
    ) -> Result<(String, f64)> {
        let (mut fails, mut holds) = (0, LEVELS);
        while holds > fails + 1 {
            let middle = usize::midpoint(fails, holds);
            let text = finished(structure, &self.settings(middle), allowed)?;
            match self.glance(&text)? >= target {
                true => holds = middle,
                false => fails = middle,
            }
        }
        for level in holds..LEVELS {
            let text = finished(structure, &self.settings(level), allowed)?;
            if text.len() >= exact.0.len() {
                break;
            }
            let score = self.score(&text)?;
            if score >= target {
                return Ok((text, score));
            }
        }
        Ok(exact)
    }

    fn glance(&self, text: &str) -> Result<f64> {
        seen(self.witness.as_ref().map_or(Ok(100.0), |witness| witness.glance(text, self.run)))
    }

    fn score(&mut self, text: &str) -> Result<f64> {
        seen(self.witness.as_mut().map_or(Ok(100.0), |witness| witness.score(text, self.run)))
    }

    fn done(self, text: String, score: f64) -> Optimised {
        Optimised { bytes: text.into_bytes(), score, warnings: self.warnings }
    }
}

/// What cannot be drawn any more is as far off as can be.
fn seen(score: Result<f64>) -> Result<f64> {
    match score {
        Err(stopped @ Error::Stopped(_)) => Err(stopped),
        Err(_) => Ok(f64::NEG_INFINITY),
        Ok(score) => Ok(score),
    }
}
