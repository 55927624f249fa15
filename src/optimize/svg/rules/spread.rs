use super::{
    super::{
        Settings,
        matrix::Matrix,
        names::{DEFINITIONS, DRAWN},
        style::is_styled,
        tree::{Content, Id, Tree},
    },
    folding::{Folded, Folding},
    groups::TAGS,
};
use crate::{control::Run, error::Result};

pub(super) const BEFORE: &str = "<svg viewBox=\"0 0 99 99\"><g transform=\"translate(4 8)\"><path d=\"M0 0h9v9z\"/><g>\
    <rect x=\"-4\" y=\"1\" width=\"2\" height=\"3\" rx=\"1\"/><use href=\"#a\" transform=\"translate(2)\"/></g></g></svg>";
pub(super) const AFTER: &str = "<svg viewBox=\"0 0 99 99\"><g><path d=\"m4 8h9v9z\"/><g>\
    <rect x=\"0\" y=\"9\" width=\"2\" height=\"3\" rx=\"1\"/><use href=\"#a\" transform=\"matrix(1 0 0 1 6 8)\"/></g></g></svg>";

/// Groups within groups that are looked into.
const DEEPEST: u32 = 16;

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    let turned = |id: &Id| tree.is(*id, &["g"]) && tree.get(*id, "transform").is_some();
    let groups: Vec<Id> = tree.elements().into_iter().filter(turned).collect();
    if groups.is_empty() || is_styled(tree) {
        return Ok(());
    }
    let folding = Folding::new(tree, settings);
    for id in groups {
        settings.run.check()?;
        let Some(group) = tree.element(id).filter(|element| !element.is_cut()) else { continue };
        let Some(matrix) = group.get("transform").and_then(Matrix::parse) else { continue };
        if !folding.may_turn(tree, id) || tree.within(id, &["clipPath"]) {
            continue;
        }
        let tags = if group.attributes.len() == 1 { TAGS as isize } else { 0 };
        let mut plan = Plan { tree, folding: &folding, taken: Vec::new() };
        let more = plan.inside(id, matrix, DEEPEST)?;
        if more.is_some_and(|more| more < folding.length(tree, id, matrix) + tags) {
            let taken = plan.taken;
            tree.unset(id, "transform");
            taken.into_iter().try_for_each(|(id, taken)| taken.replace(tree, id, settings.run))?;
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
            Self::Turned(matrix) => tree.set(id, "transform", matrix.spelled()),
            Self::Passed => drop(tree.unset(id, "transform")),
        }
        Ok(())
    }
}

/// What becomes of all that is in a group.
struct Plan<'a> {
    tree: &'a Tree,
    folding: &'a Folding<'a>,
    taken: Vec<(Id, Taken)>,
}

impl Plan<'_> {
    /// The bytes that all in a group take more where it has no transform, and each has `matrix` instead; `None` where one cannot.
    fn inside(&mut self, group: Id, matrix: Matrix, depth: u32) -> Result<Option<isize>> {
        let mut sum = 0;
        for child in self.tree.children(group) {
            match self.take(*child, matrix, depth)? {
                Some(more) => sum += more,
                None => return Ok(None),
            }
        }
        Ok(Some(sum))
    }

    /// The same for one element.
    fn take(&mut self, id: Id, outer: Matrix, depth: u32) -> Result<Option<isize>> {
        let (tree, folding) = (self.tree, self.folding);
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
        let folded = match whole.0 {
            _ if element.is(&["path"]) => folding.path(tree, id, whole)?,
            [1.0, 0.0, 0.0, 1.0, x, y] if own == Matrix::IDENTITY => folding.shifted(tree, id, [x, y]),
            _ => None,
        };
        if let Some(folded) = folded.filter(|folded| folded.more - old <= turned) {
            let more = folded.more - old;
            self.taken.push((id, Taken::Folded(folded)));
            return Ok(Some(more));
        }
        let start = self.taken.len();
        if element.is(&["g"]) && depth > 0 && !element.is_cut() {
            let passed = self.inside(id, whole, depth - 1)?.map(|more| more - old);
            if let Some(more) = passed.filter(|more| *more <= turned) {
                self.taken.push((id, Taken::Passed));
                return Ok(Some(more));
            }
        }
        self.taken.truncate(start);
        self.taken.push((id, Taken::Turned(whole)));
        Ok(Some(turned))
    }
}
