//! SVG: cleaned of what could act, made smaller by rules, and verified by drawing it.
//!
//! ```text
//! text ─> tree ─> sanitise ─> rules ─> text ─> drawn and compared with what the sanitised document shows
//!                              ^────────────────┘ a coarser tolerance, or without the rule that broke it
//! ```

mod browser;
mod build;
mod css;
mod data;
mod matrix;
mod names;
mod outside;
mod passed_over;
mod path;
mod refs;
mod resize;
mod rules;
mod sanitise;
mod screen;
mod search;
mod style;
mod tree;
mod witness;
mod write;

#[cfg(test)]
mod tests;

pub use rules::{Rule, SVG_RULES};

use super::{Goal, Optimised, Preset};
use crate::{
    codec::{
        Codecs,
        svg::{self, Fonts},
    },
    control::Run,
    error::Result,
    operation::Frame,
    request::Compression,
};
use path::Path;
use rules::{Pictures, Stage};
use tree::Tree;

/// What is to be done with an SVG.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vector<'a> {
    /// For embedded pictures.
    pub codecs: &'a Codecs,
    /// The document.
    pub text: &'a str,
    /// The wanted fidelity.
    pub goal: Goal,
    /// Ids of elements stay as they are.
    pub keep_ids: bool,
    /// For text, while results are verified.
    pub fonts: &'a Fonts,
    /// Another size.
    pub size: Option<Frame>,
}

/// A document that was made smaller.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// Its text.
    pub done: Optimised,
    /// The source has nothing that could act or lead elsewhere, and may stay as it is.
    pub clean: bool,
}

/// How rules go about it.
#[derive(Debug, Clone, Copy)]
struct Settings<'a> {
    /// How far a point may move, in pixels of a screen of 2048.
    tolerance: f64,
    /// The most of that for what comes to be seen otherwise than at rest.
    unsteady: f64,
    /// Shapes and shares of 1, as opacities, may change by a tolerance too; else only numbers are rounded.
    lossy: bool,
    /// Paths keep every vertex, whether it shows or not.
    gentle: bool,
    /// Rectangles, curves and paths on their own stay that: renderers have other ways to draw each, and edges that move by
    /// up to a quarter of a pixel from one way to the other (Skia's for arcs, convex paths and rectangles).
    kinds: bool,
    /// Cubic curves are written as such, where quadratic ones would do, too: tiny-skia steps along each otherwise, by which the
    /// tops of small letters change.
    cubics: bool,
    /// Paths are read and written as browsers add their numbers, in single precision.
    single: bool,
    keep_ids: bool,
    /// There was a style sheet in the source.
    sheets: bool,
    /// How embedded pictures are compressed; not at all for `None`.
    embedded: Option<Compression>,
    pictures: &'a Pictures,
    run: Run<'a>,
}

/// Whether a document has nothing that could act or lead elsewhere, and may stay as it is.
pub(crate) fn is_clean(text: &str, run: Run<'_>) -> Result<bool> {
    Ok(sanitise::cleaned(text, 0, run)?.was_clean)
}

/// The document made smaller, sanitised whatever the goal.
pub(crate) fn optimise(task: &Vector<'_>, run: Run<'_>) -> Result<Drawn> {
    let sanitise::Cleaned { mut tree, removed, was_clean: clean } = sanitise::cleaned(task.text, 0, run)?;
    if let Some(size) = task.size {
        resize::resize(&mut tree, size);
    }
    let passed_over = passed_over::drop_passed_over(&mut tree);
    let cleaned = write::write(&tree);
    let source = search::Source {
        tree: &tree,
        // What is compared with is the document as it came, wherever that was to stay as it is, and is read as by browsers.
        seen: if removed.is_empty() && task.size.is_none() && !passed_over { task.text } else { &cleaned },
        fallback: if clean && task.size.is_none() { task.text } else { &cleaned },
    };
    let mut done = search::search(&source, task, run)?;
    if !removed.is_empty() {
        done.warnings.insert(0, format!("removed for safety: {}", removed.join(", ")));
    }
    Ok(Drawn { done, clean })
}

impl<'a> Settings<'a> {
    /// The tolerance for what cannot be verified, for what is seen otherwise than at rest, or else for everything.
    fn pixels(&self, unverified: bool, unsteady: bool) -> f64 {
        match (unverified, unsteady) {
            (true, _) => search::EXACT.min(self.tolerance),
            (_, true) => self.unsteady.min(self.tolerance),
            _ => self.tolerance,
        }
    }

    /// Makes the next milder form of a rule hold, where it has one that does not yet; whether it has.
    fn milder(&mut self, rule: &str) -> bool {
        if rule == "images" {
            return self.embedded.replace(Compression::Lossless) != Some(Compression::Lossless);
        }
        let forms = [&mut self.kinds, &mut self.cubics, &mut self.gentle];
        let count = match rule {
            "shapes" => 1,
            "paths" => 3,
            _ => 0,
        };
        let next = forms.into_iter().take(count).find(|form| !**form);
        next.is_some_and(|form| !std::mem::replace(form, true))
    }

    /// Path data as they are to be understood.
    fn path(&self, data: &str) -> Option<Path> {
        if self.single { Path::parse_single(data) } else { Path::parse(data) }
    }

    /// Exact, but for what no screen shows.
    fn exact(tree: &Tree, task: &Vector<'_>, pictures: &'a Pictures, run: Run<'a>) -> Self {
        let target = search::target(task.goal);
        let near = target.is_some_and(|target| target >= search::NEAR_SCORE);
        Self {
            tolerance: search::EXACT,
            unsteady: search::UNSTEADY[usize::from(target.is_none_or(|target| target < 90.0))],
            lossy: false,
            gentle: near,
            kinds: near || matches!(task.goal, Goal::Lossless | Goal::Quality(100)),
            cubics: false,
            single: near,
            keep_ids: task.keep_ids,
            sheets: tree.changes().are_any(),
            // What the document has to reach, its pictures have to.
            embedded: match task.goal {
                Goal::Lossless | Goal::Quality(100) | Goal::Smart(Preset::Low) => Some(Compression::Lossless),
                Goal::Smart(Preset::Medium) | Goal::Quality(_) => Some(Compression::Low),
                Goal::Smart(Preset::High) => Some(Compression::Medium),
                Goal::Smart(Preset::Ultra) => Some(Compression::High),
            },
            pictures,
            run,
        }
    }
}

/// Passes of the structural rules.
const PASSES: usize = 6;

/// Applies the structural rules that `allowed` lets through to what the first stage has made of a document.
fn structured(tree: Tree, settings: &Settings<'_>, allowed: &dyn Fn(&Rule) -> bool) -> Result<Tree> {
    let mut tree = settled(tree, settings, allowed)?;
    apply(&mut tree, Stage::Settled, settings, allowed)?;
    settled(tree, settings, allowed)
}

/// The same until nothing gets shorter.
fn settled(mut tree: Tree, settings: &Settings<'_>, allowed: &dyn Fn(&Rule) -> bool) -> Result<Tree> {
    let mut length = usize::MAX;
    for _ in 0..PASSES {
        settings.run.check()?;
        let before = tree.clone();
        apply(&mut tree, Stage::Structure, settings, allowed)?;
        let now = write::write(&tree).len();
        if now >= length {
            return Ok(if now > length { before } else { tree });
        }
        length = now;
    }
    Ok(tree)
}

/// The text of a structured document at the tolerance of `settings`.
fn finished(tree: &Tree, settings: &Settings<'_>, allowed: &dyn Fn(&Rule) -> bool) -> Result<String> {
    let mut tree = tree.clone();
    apply(&mut tree, Stage::Numbers, settings, allowed)?;
    // What was folded may have left groups and properties to place anew.
    apply(&mut tree, Stage::Structure, settings, allowed)?;
    apply(&mut tree, Stage::Last, settings, allowed)?;
    Ok(write::write(&tree))
}

fn apply(tree: &mut Tree, stage: Stage, settings: &Settings<'_>, allowed: &dyn Fn(&Rule) -> bool) -> Result<()> {
    for rule in SVG_RULES.iter().filter(|rule| rule.stage == stage && allowed(rule)) {
        settings.run.check()?;
        if outside::allows(tree, settings, rule.name) {
            (rule.apply)(tree, settings)?;
        }
    }
    Ok(())
}

/// A document inside another one, which has been cleaned: made smaller by exact rules. `None` if it cannot be read.
fn nested(bytes: &[u8], settings: &Settings<'_>) -> Result<Option<String>> {
    let Ok(text) = svg::text(bytes, settings.run) else { return Ok(None) };
    let Ok(document) = svg::document(&text, settings.run) else { return Ok(None) };
    let mut tree = build::build(&document);
    passed_over::drop_passed_over(&mut tree);
    let sheets = tree.changes().are_any();
    let inner = Settings { keep_ids: false, tolerance: search::EXACT, lossy: false, sheets, ..*settings };
    apply(&mut tree, Stage::First, &inner, &|_| true)?;
    let tree = structured(tree, &inner, &|_| true)?;
    finished(&tree, &inner, &|_| true).map(Some)
}
