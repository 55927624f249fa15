//! What is done to a document, a rule a file. Each carries an example, which is its test.

mod classes;
mod colours;
mod defaults;
mod definitions;
mod editors;
mod folding;
mod gradients;
mod groups;
mod hidden;
mod ids;
mod images;
mod merge;
mod numbers;
mod order;
mod paths;
mod properties;
mod shapes;
mod spread;
mod styles;
mod transforms;
mod unmatched;

macro_rules! rules {
    ($($room:ident: $stage:ident, $name:literal, $summary:literal;)*) => {
        /// The rules that every SVG goes through, in their order.
        ///
        /// | rule | what it does |
        /// |---|---|
        $(#[doc = concat!("| `", $name, "` | ", $summary, " |")])*
        pub const SVG_RULES: &[Rule] = &[$(Rule {
            name: $name,
            summary: $summary,
            before: $room::BEFORE,
            after: $room::AFTER,
            stage: Stage::$stage,
            apply: $room::apply,
        },)*];
    };
}

rules! {
    unmatched: First, "unmatched", "drops rules of style sheets that match nothing";
    editors: First, "editors", "drops metadata, what only editors read, and attributes that SVG does not have";
    styles: First, "styles", "folds style sheets and `style` into attributes by the cascade, and drops classes that are left without a rule";
    images: First, "images", "optimises embedded pictures";
    colours: First, "colours", "writes colours and keywords in their shortest form";
    defaults: Structure, "defaults", "drops attributes that say what holds anyway";
    hidden: Structure, "hidden", "drops what is never drawn";
    definitions: Structure, "definitions", "drops definitions that nothing uses, and shares equal ones";
    groups: Structure, "groups", "dissolves groups that do nothing, and shares what neighbours repeat";
    properties: Structure, "properties", "places inherited properties where they cost the least";
    gradients: Structure, "gradients", "joins gradients with what they build on, and takes their transforms into their numbers";
    spread: Settled, "spread", "hands the transforms of groups down to what is in them where that is shorter";
    transforms: Numbers, "transforms", "folds transforms into one another and into paths";
    shapes: Numbers, "shapes", "draws simple shapes as paths where that is shorter";
    merge: Numbers, "merge", "joins neighbouring paths of one look that do not touch";
    paths: Numbers, "paths", "rewrites path data in the shortest form within the tolerance";
    numbers: Numbers, "numbers", "rounds all other numbers within the tolerance";
    ids: Last, "ids", "drops unused ids and shortens the others";
    classes: Last, "classes", "gives repeated attributes a class where there was a style sheet before";
    order: Last, "order", "sorts attributes, which compresses better";
}

/// When a rule runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Once, before all others.
    First,
    /// Again and again until nothing gets shorter; independent of the tolerance.
    Structure,
    /// Once, when nothing gets shorter by these any more; they run again behind it.
    Settled,
    /// For every tolerance that is tried.
    Numbers,
    /// Once, after all others.
    Last,
}

pub(super) use images::Pictures;

use super::{Settings, tree::Tree};
use crate::error::Result;

/// One thing that is done to a document.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Rule {
    /// A stable name, as in warnings.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// An example.
    pub before: &'static str,
    /// What the rule alone makes of the example.
    pub after: &'static str,
    pub(super) stage: Stage,
    pub(super) apply: fn(&mut Tree, &Settings<'_>) -> Result<()>,
}
