use std::collections::{BTreeMap, BTreeSet};

use super::super::{
    Settings,
    names::{ANIMATIONS, DEFINITIONS, SHAPES, property},
    style::{Value, coloured, inherited, is_declared, is_relative, is_styled, moves, paints, used},
    tree::{Id, Tree},
};
use crate::error::Result;

pub(super) const BEFORE: &str = "<svg><g fill=\"#000\"><path fill=\"red\" stroke-width=\"2\"/><path fill=\"red\"/><path fill=\"red\" stroke=\"#000\"/></g></svg>";
pub(super) const AFTER: &str = "<svg><g fill=\"red\"><path/><path/><path stroke=\"#000\"/></g></svg>";

/// What no attribute can cost: the value has to come from above.
const MUST: u64 = 1 << 40;

/// Where each inherited property is declared is chosen anew, by dynamic programming over the tree: for every element,
/// what each value that may be inherited saves below it (Sankoff's parsimony with the bytes of an attribute as cost).
pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    if is_styled(tree) {
        return Ok(());
    }
    // Of an animation `fill` says what holds after its end.
    let order: Vec<Id> = tree.elements().into_iter().filter(|id| !tree.is(*id, &ANIMATIONS)).collect();
    let names: BTreeSet<String> = order
        .iter()
        .filter_map(|id| tree.element(*id))
        .flat_map(|element| &element.attributes)
        .filter(|attribute| property(&attribute.name).is_some_and(|property| property.inherited))
        .map(|attribute| attribute.name.clone())
        .collect();
    let (fill, stroke) = (inherited(tree, "fill"), inherited(tree, "stroke"));
    let (used, coloured) = (used(tree), coloured(tree));
    let clips_copies = order.iter().any(|id| tree.is(*id, &["use"]) && tree.within(*id, &["clipPath"]));
    for name in &names {
        settings.run.check()?;
        // What is drawn as a marker would inherit them as well.
        if name.starts_with("marker-")
            || name == "clip-rule" && clips_copies
            || moves(tree, name)
            || !is_absolute(tree, name, coloured)
        {
            continue;
        }
        let cares = |id: Id| {
            cares(tree, id, name)
                && match name.as_str() {
                    "fill-opacity" | "fill-rule" => paints(&fill[id.index()]),
                    other if other.starts_with("stroke-") => paints(&stroke[id.index()]),
                    _ => true,
                }
        };
        let chosen = Placement::new(tree, name, &order, &used, cares).choose();
        for (id, value) in chosen {
            match value {
                Some(value) => tree.set(id, name, value),
                None => drop(tree.unset(id, name)),
            }
        }
    }
    Ok(())
}

/// Whether no value of the property depends on where it is declared, and all are declared by attributes.
fn is_absolute(tree: &Tree, name: &str, coloured: bool) -> bool {
    tree.elements().iter().all(|id| {
        !is_declared(tree, *id, name) && tree.get(*id, name).is_none_or(|value| !is_relative(name, value, coloured))
    })
}

/// Whether an element shows the property itself.
fn cares(tree: &Tree, id: Id, name: &str) -> bool {
    let kind = tree.name(id);
    let shape = SHAPES.contains(&kind);
    let text = matches!(kind, "text" | "tspan" | "textPath" | "tref" | "altGlyph");
    let html = tree.element(id).is_some_and(|element| element.html) || kind == "foreignObject";
    match name {
        "clip-rule" => (shape || text) && tree.within(id, &["clipPath"]),
        "color-interpolation-filters" => kind.starts_with("fe") && kind != "fe",
        "color" => true,
        "color-interpolation" => shape || text || kind.ends_with("Gradient") || kind == "mask",
        "image-rendering" => matches!(kind, "image" | "feImage"),
        "visibility" | "cursor" | "pointer-events" => shape || text || html || matches!(kind, "image" | "a" | "svg"),
        _ if name.starts_with("font") && measures(tree, id) => true,
        _ if name.starts_with("font") || name.starts_with("text") || name.starts_with("glyph") => text || html,
        "direction" | "dominant-baseline" | "letter-spacing" | "word-spacing" | "writing-mode" => text || html,
        "color-rendering" => false,
        // Where a pattern gets itself to paint with, usvg never ends, as it asks what paints each `use` too.
        "fill" | "stroke" => shape || text || kind == "use" && tree.within(id, &["pattern"]),
        _ => shape || text,
    }
}

/// Whether lengths of an element are in units of its font.
fn measures(tree: &Tree, id: Id) -> bool {
    let attributes = tree.element(id).map_or(&[][..], |element| &element.attributes);
    attributes.iter().any(|attribute| ["em", "ex", "ch"].iter().any(|unit| attribute.value.trim_end().ends_with(unit)))
}

/// One property over the whole tree. Values are numbered: 0 comes from whoever uses the element, 1 is the initial one.
struct Placement<'a> {
    tree: &'a Tree,
    name: &'a str,
    order: &'a [Id],
    used: &'a [bool],
    values: Vec<String>,
    /// By [`Id::index`]: what is to be seen at the element, if anything is.
    needs: Vec<Option<u32>>,
    /// What is to come from above at an element that is used elsewhere.
    outside: Vec<Option<u32>>,
    /// What each inherited value saves at the element and below it.
    savings: Vec<BTreeMap<u32, u64>>,
}

impl<'a> Placement<'a> {
    fn new(tree: &'a Tree, name: &'a str, order: &'a [Id], used: &'a [bool], cares: impl Fn(Id) -> bool) -> Self {
        let initial = property(name).map_or("", |property| property.initial);
        let seen = inherited(tree, name);
        let mut numbers = BTreeMap::from([(initial.to_owned(), 1)]);
        let mut values = vec![String::new(), initial.to_owned()];
        let mut number = |value: &Value| match value {
            Value::Context => 0,
            Value::Known(value) => *numbers.entry(value.clone()).or_insert_with(|| {
                values.push(value.clone());
                values.len() as u32 - 1
            }),
        };
        let mut needs = vec![None; tree.capacity()];
        let mut outside = vec![None; tree.capacity()];
        for id in order {
            needs[id.index()] = cares(*id).then(|| number(&seen[id.index()]));
        }
        // What is drawn both in its place and elsewhere needs in its place what it has there now.
        let context = order.iter().any(|id| needs[id.index()] == Some(0));
        for id in order.iter().filter(|_| context) {
            if tree.is(*id, &["use"]) {
                needs[id.index()] = Some(number(&seen[id.index()]));
            }
            if used[id.index()] && !tree.within(*id, &DEFINITIONS) {
                outside[id.index()] = tree.parent(*id).map(|parent| number(&seen[parent.index()]));
            }
        }
        Self { tree, name, order, used, values, needs, outside, savings: vec![BTreeMap::new(); tree.capacity()] }
    }

    /// The attribute of every element, or that it has none.
    fn choose(mut self) -> Vec<(Id, Option<String>)> {
        for id in self.order.iter().rev() {
            if let Some(need) = self.needs[id.index()] {
                *self.savings[id.index()].entry(need).or_default() += MUST;
            }
            let above = self.above(*id);
            if let Some(parent) = self.tree.parent(*id) {
                for (value, saved) in above {
                    *self.savings[parent.index()].entry(value).or_default() += saved;
                }
            }
        }
        let mut at = vec![1; self.tree.capacity()];
        let mut chosen = Vec::new();
        for id in self.order {
            let inherited = match self.tree.parent(*id) {
                _ if self.used[id.index()] => 0,
                Some(parent) => at[parent.index()],
                None => 1,
            };
            let (best, gain) = self.best(*id);
            let stays = self.savings[id.index()].get(&inherited).copied().unwrap_or(0) >= gain;
            at[id.index()] = if stays { inherited } else { best };
            chosen.push((*id, (!stays).then(|| self.values[best as usize].clone())));
        }
        chosen
    }

    /// The value that is best declared here, and what that gains.
    fn best(&self, id: Id) -> (u32, u64) {
        let gains = self.savings[id.index()]
            .iter()
            .filter(|(value, _)| **value != 0 && !self.values[**value as usize].is_empty());
        let gains = gains.map(|(value, saved)| (*value, saved.saturating_sub(self.cost(*value))));
        gains.fold((1, 0), |best, one| if one.1 > best.1 { one } else { best })
    }

    /// What the values that an element may inherit save, over what it does without.
    fn above(&self, id: Id) -> Vec<(u32, u64)> {
        let gain = self.best(id).1;
        let over = |saved: u64| saved.saturating_sub(gain);
        if self.used[id.index()] {
            let needs = self.savings[id.index()].get(&0).is_some_and(|saved| *saved >= MUST && *saved > gain);
            return self.outside[id.index()].filter(|_| needs).map(|value| (value, MUST)).into_iter().collect();
        }
        self.savings[id.index()]
            .iter()
            .map(|(value, saved)| (*value, over(*saved)))
            .filter(|(_, saved)| *saved > 0)
            .collect()
    }

    fn cost(&self, value: u32) -> u64 {
        (self.name.len() + self.values[value as usize].len() + 4) as u64
    }
}
