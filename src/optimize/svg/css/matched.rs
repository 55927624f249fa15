//! Which declarations win for an element.

use std::{collections::BTreeSet, str::FromStr};

use simplecss::{AttributeOperator, PseudoClass, Selector};

use super::{
    Declaration, declarations, rules, split,
    valid::{Place, is_invalid},
};
use crate::{
    codec::svg::selector_tests,
    optimize::svg::tree::{Id, Tree},
};

/// A style sheet without anything that depends on the viewer: no at-rules, no pseudo-classes but `:first-child`.
#[derive(Debug)]
pub(in crate::optimize::svg) struct Sheet<'a> {
    /// From the least specific to the most.
    rules: Vec<(Selector<'a>, Vec<Declaration>)>,
}

impl<'a> Sheet<'a> {
    /// Reads a sheet without comments; `None` where anything in it could apply at one time and not at another, or is
    /// not understood.
    pub(in crate::optimize::svg) fn parse(css: &'a str) -> Option<Self> {
        let mut found = Vec::new();
        for (head, body) in rules(css, false) {
            if head.starts_with('@') || body.contains('{') {
                return None;
            }
            let bare: String = head.split_ascii_whitespace().collect();
            if format!(",{bare},").contains(",,") {
                // A list with an empty place in it is none.
                continue;
            }
            for selector in split(head, ',') {
                let known = selector.replace(":first-child", "");
                if known.contains([':', '~', '\\', '|']) {
                    return None;
                }
                found.push((Selector::parse(selector)?, understood(body)));
            }
        }
        found.sort_by_key(|(selector, _)| selector.specificity());
        Some(Self { rules: found })
    }

    /// How many tests of selectors an element that is so `deep` may take.
    pub(in crate::optimize::svg) fn tests(&self, deep: u64) -> u64 {
        let tests = self.rules.iter().map(|(selector, _)| selector_tests(&selector.to_string(), deep));
        tests.fold(0, u64::saturating_add)
    }

    /// How many declarations there are.
    pub(in crate::optimize::svg) fn declarations(&self) -> u64 {
        self.rules.iter().map(|(_, declarations)| declarations.len() as u64).sum()
    }
}

/// The elements of a document as they are.
#[derive(Debug)]
pub(super) struct Elements<'a> {
    tree: &'a Tree,
    /// The element in front of each among its siblings.
    before: Vec<Option<Id>>,
}

impl<'a> Elements<'a> {
    pub(super) fn of(tree: &'a Tree) -> Self {
        let mut before = vec![None; tree.capacity()];
        for id in tree.elements() {
            let elements = tree.children(id).iter().filter(|child| tree.element(**child).is_some());
            let mut last = None;
            for child in elements {
                before[child.index()] = last.replace(*child);
            }
        }
        Self { tree, before }
    }

    /// Whether a selector matches any of them.
    pub(super) fn any_matches(&self, selector: &Selector<'_>) -> bool {
        self.tree.elements().into_iter().any(|id| selector.matches(&Styled { elements: self, id, root: None }))
    }
}

/// A sheet and what it styles.
#[derive(Debug)]
pub(in crate::optimize::svg) struct Cascade<'a> {
    elements: Elements<'a>,
    sheet: &'a Sheet<'a>,
}

impl<'a> Cascade<'a> {
    pub(in crate::optimize::svg) fn new(tree: &'a Tree, sheet: &'a Sheet<'a>) -> Self {
        Self { elements: Elements::of(tree), sheet }
    }

    /// What the sheet and its own `style` attribute declare for an element, each property once, but that what only some
    /// browsers understand comes behind what others fall back to; presentation attributes come below all of it.
    pub(in crate::optimize::svg) fn of(&self, id: Id) -> Vec<Declaration> {
        self.matched(Styled { elements: &self.elements, id, root: None })
    }

    /// What is declared for an element where a `use` shows it: nothing around `root`, to which that leads, is seen there.
    pub(in crate::optimize::svg) fn of_copy(&self, id: Id, root: Id) -> Vec<Declaration> {
        self.matched(Styled { elements: &self.elements, id, root: Some(root) })
    }

    fn matched(&self, styled: Styled<'_>) -> Vec<Declaration> {
        let own = declarations(self.elements.tree.get(styled.id, "style").unwrap_or(""));
        let rules = self.sheet.rules.iter().filter(|(selector, _)| selector.matches(&styled));
        let all: Vec<&Declaration> = rules.flat_map(|(_, declarations)| declarations).chain(&own).collect();
        let ranked = [false, true].map(|important| all.iter().filter(move |one| one.important == important));
        // Of each property the last counts, and stands where that did.
        let mut seen = BTreeSet::new();
        let mut won: Vec<Declaration> = ranked
            .into_iter()
            .flatten()
            .rev()
            .filter(|declaration| match falls_back(declaration) {
                true => !seen.contains(declaration.name.as_str()),
                false => seen.insert(declaration.name.as_str()),
            })
            .map(|declaration| Declaration { important: false, ..(*declaration).clone() })
            .collect();
        won.reverse();
        won
    }
}

/// The declarations of a block that browsers do not pass over.
fn understood(block: &str) -> Vec<Declaration> {
    let mut found = declarations(block);
    found.retain(|declaration| !is_invalid(&declaration.name, &declaration.value, Place::Sheet));
    found
}

/// Whether a colour is such that some browsers pass over it.
pub(in crate::optimize::svg) fn falls_back(Declaration { name, value, .. }: &Declaration) -> bool {
    match name.as_str() {
        "fill" | "stroke" => svgtypes::Paint::from_str(value).is_err(),
        "color" | "stop-color" | "flood-color" | "lighting-color" => {
            !matches!(value.as_str(), "currentColor" | "inherit") && svgtypes::Color::from_str(value).is_err()
        }
        _ => false,
    }
}

/// An element as selectors see it.
struct Styled<'a> {
    elements: &'a Elements<'a>,
    id: Id,
    /// Beyond this nothing is seen.
    root: Option<Id>,
}

impl simplecss::Element for Styled<'_> {
    fn parent_element(&self) -> Option<Self> {
        let inside = self.root != Some(self.id);
        self.elements.tree.parent(self.id).filter(|_| inside).map(|id| Self { id, ..*self })
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        let inside = self.root != Some(self.id);
        self.elements.before[self.id.index()].filter(|_| inside).map(|id| Self { id, ..*self })
    }

    fn has_local_name(&self, name: &str) -> bool {
        self.elements.tree.element(self.id).is_some_and(|element| element.name == name)
    }

    fn attribute_matches(&self, name: &str, operator: AttributeOperator<'_>) -> bool {
        self.elements.tree.get(self.id, name).is_some_and(|value| operator.matches(value))
    }

    fn pseudo_class_matches(&self, class: PseudoClass<'_>) -> bool {
        matches!(class, PseudoClass::FirstChild) && self.prev_sibling_element().is_none()
    }
}
