use super::{
    super::{
        Settings,
        matrix::Matrix,
        names::{DEFINITIONS, DRAWN},
        path::number,
        style::is_styled,
        tree::{Content, Id, Tree},
    },
    folding::{Folded, Folding},
};
use crate::{control::Run, error::Result};

pub(super) const BEFORE: &str = "<svg viewBox=\"0 0 99 99\"><g transform=\"translate(4 8)\"><path d=\"M0 0h9v9z\"/><g>\
    <rect x=\"-4\" y=\"1\" width=\"2\" height=\"3\" rx=\"1\"/><use href=\"#a\" transform=\"translate(2)\"/></g></g></svg>";
pub(super) const AFTER: &str = "<svg viewBox=\"0 0 99 99\"><g><path d=\"m4 8h9v9z\"/><g>\
    <rect x=\"0\" y=\"9\" width=\"2\" height=\"3\" rx=\"1\"/><use href=\"#a\" transform=\"matrix(1 0 0 1 6 8)\"/></g></g></svg>";

/// What the tags of a group cost.
const TAGS: isize = 7;

/// Groups within groups that are looked into.
const DEEPEST: u32 = 16;

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    if is_styled(tree) {
        return Ok(());
    }
    let folding = Folding::new(tree, settings);
    for id in tree.elements() {
        settings.run.check()?;
        let Some(group) = tree.element(id).filter(|element| element.is(&["g"]) && !is_cut(tree, id)) else { continue };
        let Some(matrix) = group.get("transform").and_then(Matrix::parse) else { continue };
        if !folding.may_turn(tree, id) || tree.within(id, &["clipPath"]) {
            continue;
        }
        let tags = if group.attributes.len() == 1 { TAGS } else { 0 };
        let mut plan = Vec::new();
        let more = inside(tree, id, matrix, &folding, &mut plan, DEEPEST)?;
        if more.is_some_and(|more| more < folding.length(tree, id, matrix) + tags) {
            tree.unset(id, "transform");
            plan.into_iter().try_for_each(|(id, taken)| taken.replace(tree, id, settings.run))?;
        }
    }
    Ok(())
}

/// How an element takes over a transform from what is around it.
enum Taken {
    Folded(Folded),
    Turned(Matrix),
    /// What is in it takes that over, and its own.
    Passed,
}

impl Taken {
    fn replace(self, tree: &mut Tree, id: Id, run: Run<'_>) -> Result<()> {
        match self {
            Self::Folded(folded) => folded.replace(tree, id, run)?,
            Self::Turned(matrix) => {
                let numbers = matrix.0.map(|number| number::shortest(number, 0.0));
                tree.set(id, "transform", format!("matrix({})", numbers.join(" ")));
            }
            Self::Passed => drop(tree.unset(id, "transform")),
        }
        Ok(())
    }
}

/// Clips, masks and filters are in the units of who has them.
fn is_cut(tree: &Tree, id: Id) -> bool {
    ["clip-path", "mask", "filter"].iter().any(|name| tree.get(id, name).is_some())
}

/// The bytes that all in a group take more where it has no transform, and each has `matrix` instead; `None` where one cannot.
fn inside(
    tree: &Tree,
    group: Id,
    matrix: Matrix,
    folding: &Folding<'_>,
    plan: &mut Vec<(Id, Taken)>,
    depth: u32,
) -> Result<Option<isize>> {
    let mut sum = 0;
    for child in tree.children(group) {
        match taken(tree, *child, matrix, folding, plan, depth)? {
            Some(more) => sum += more,
            None => return Ok(None),
        }
    }
    Ok(Some(sum))
}

/// The same for one element, and what becomes of it.
fn taken(
    tree: &Tree,
    id: Id,
    outer: Matrix,
    folding: &Folding<'_>,
    plan: &mut Vec<(Id, Taken)>,
    depth: u32,
) -> Result<Option<isize>> {
    let Content::Element(element) = tree.content(id) else { return Ok(Some(0)) };
    if element.is(&DEFINITIONS) || element.is(&["title", "desc", "style"]) {
        return Ok(Some(0));
    }
    if !(element.is(&DRAWN) || element.is(&["g"])) || !folding.may_turn(tree, id) {
        return Ok(None);
    }
    let Some(own) = element.get("transform").map_or(Some(Matrix::IDENTITY), Matrix::parse) else { return Ok(None) };
    let whole = outer.then_inside(own);
    let old = element.get("transform").map_or(0, |_| folding.length(tree, id, own));
    let turned = folding.length(tree, id, whole) - old;
    let start = plan.len();
    let folded = match whole.0 {
        [1.0, 0.0, 0.0, 1.0, x, y] if own == Matrix::IDENTITY && !element.is(&["path", "g"]) => {
            folding.shifted(tree, id, [x, y])
        }
        _ if element.is(&["path"]) => folding.path(tree, id, whole)?,
        _ => None,
    };
    if let Some(folded) = folded.filter(|folded| folded.more - old <= turned) {
        let more = folded.more - old;
        plan.push((id, Taken::Folded(folded)));
        return Ok(Some(more));
    }
    if element.is(&["g"]) && depth > 0 && !is_cut(tree, id) {
        let passed = inside(tree, id, whole, folding, plan, depth - 1)?.map(|more| more - old);
        if let Some(more) = passed.filter(|more| *more <= turned) {
            plan.push((id, Taken::Passed));
            return Ok(Some(more));
        }
    }
    plan.truncate(start);
    plan.push((id, Taken::Turned(whole)));
    Ok(Some(turned))
}
