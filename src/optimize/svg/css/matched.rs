//! Which declarations win for an element.

use std::{collections::BTreeSet, str::FromStr};

use simplecss::{AttributeOperator, PseudoClass, Selector};

use super::{
    Changes, Declaration, declarations, rule, rules, split,
    valid::{Place, is_invalid},
};
use crate::{
    codec::svg::{ByClass, selector_tests},
    control::Run,
    error::Result,
    optimize::svg::tree::{Id, Tree},
};

/// A style sheet, of which some rules hold always and others at times.
#[derive(Debug)]
pub(in crate::optimize::svg) struct Sheet<'a> {
    rules: Vec<Rule<'a>>,
    /// Every selector that says nothing of the viewer, with the place of its rule; from the least specific to the most.
    selectors: Vec<(Selector<'a>, usize)>,
    by_class: ByClass,
}

#[derive(Debug)]
struct Rule<'a> {
    head: &'a str,
    body: &'a str,
    declarations: Vec<Declaration>,
    /// It stays in the sheet, as it holds at times, or is for elements that such rules are for, too.
    stays: bool,
}

impl<'a> Sheet<'a> {
    /// Reads a sheet without comments; `None` where something is not understood.
    pub(in crate::optimize::svg) fn parse(css: &'a str) -> Option<Self> {
        let (mut found, mut selectors) = (Vec::new(), Vec::new());
        for (head, body) in rules(css, false) {
            let mut rule = Rule { head, body, declarations: Vec::new(), stays: head.starts_with('@') };
            if !rule.stays {
                if body.contains('{') {
                    return None;
                }
                rule.declarations = understood(body);
                let bare: String = head.split_ascii_whitespace().collect();
                // A list with an empty place in it is none.
                if rule.declarations.is_empty() || format!(",{bare},").contains(",,") {
                    continue;
                }
                for selector in split(head, ',') {
                    let known = selector.replace(":first-child", "");
                    if known.contains(['~', '\\', '|']) {
                        return None;
                    }
                    if known.contains(':') {
                        rule.stays = true;
                    } else {
                        selectors.push((Selector::parse(selector)?, found.len()));
                    }
                }
            }
            found.push(rule);
        }
        selectors.sort_by_key(|(selector, _): &(Selector<'_>, _)| selector.specificity());
        let by_class = ByClass::of(selectors.iter().map(|(selector, _)| selector.to_string()));
        Some(Self { rules: found, selectors, by_class })
    }

    /// The rules that match an element, from the least specific to the most.
    fn matching(&self, styled: &Styled<'_>) -> impl Iterator<Item = usize> {
        let candidates = self.by_class.candidates(styled.elements.tree.get(styled.id, "class")).into_iter();
        let matching = candidates.map(|at| &self.selectors[at]).filter(|(selector, _)| selector.matches(styled));
        matching.map(|(_, at)| *at)
    }

    /// How many tests of selectors an element that is so `deep` may take.
    pub(in crate::optimize::svg) fn tests(&self, deep: u64) -> u64 {
        let tests = self.selectors.iter().map(|(selector, _)| selector_tests(&selector.to_string(), deep));
        tests.fold(0, u64::saturating_add)
    }

    /// How many declarations there are.
    pub(in crate::optimize::svg) fn declarations(&self) -> u64 {
        self.selectors.iter().map(|(_, at)| self.rules[*at].declarations.len() as u64).sum()
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
    sheet: Sheet<'a>,
    /// The rules that match each element, by [`Id::index`], from the least specific to the most.
    matched: Vec<Vec<usize>>,
}

impl<'a> Cascade<'a> {
    pub(in crate::optimize::svg) fn new(tree: &'a Tree, sheet: Sheet<'a>, run: Run<'_>) -> Result<Self> {
        let (elements, mut matched) = (Elements::of(tree), vec![Vec::new(); tree.capacity()]);
        for id in tree.elements() {
            run.check()?;
            matched[id.index()] = sheet.matching(&Styled { elements: &elements, id, root: None }).collect();
        }
        Ok(Self { elements, sheet, matched })
    }

    /// Finds out which rules stay in the sheet if any has to: with these all that are for an element that one of them may be
    /// for, so that their order counts as before, and those that say what `stays` in sheets. Gives back the elements, by
    /// [`Id::index`], that rules in the sheet are for; `None` where nobody knows.
    pub(in crate::optimize::svg) fn settle(&mut self, stays: impl Fn(&Declaration) -> bool) -> Option<Vec<bool>> {
        let tree = self.elements.tree;
        let mut held = vec![false; tree.capacity()];
        if self.sheet.rules.iter().all(|rule| !rule.stays) {
            return Some(held);
        }
        self.sheet.rules.iter_mut().for_each(|rule| rule.stays |= rule.declarations.iter().any(&stays));
        let changes = Changes::of_sheet(&self.left());
        let mut grows = true;
        while std::mem::take(&mut grows) {
            for id in tree.elements() {
                let rules = &self.matched[id.index()];
                let reached = || tree.element(id).is_some_and(|element| changes.reach(element));
                held[id.index()] = held[id.index()] || rules.iter().any(|at| self.sheet.rules[*at].stays) || reached();
                for at in rules.iter().filter(|_| held[id.index()]) {
                    grows |= !std::mem::replace(&mut self.sheet.rules[*at].stays, true);
                }
            }
        }
        (!Changes::of_sheet(&self.left()).are_unknown()).then_some(held)
    }

    /// The rules that stay in the sheet.
    pub(in crate::optimize::svg) fn left(&self) -> String {
        self.sheet.rules.iter().filter(|one| one.stays).map(|one| rule(one.head, one.body)).collect()
    }

    /// What its own `style` attribute and the rules that do not stay in the sheet declare for an element, each property once,
    /// but that what only some browsers understand comes behind what others fall back to; presentation attributes come below
    /// all of it.
    pub(in crate::optimize::svg) fn of(&self, id: Id) -> Vec<Declaration> {
        self.winning(id, &self.matched[id.index()])
    }

    /// What is declared for an element where a `use` shows it: nothing around `root`, to which that leads, is seen there.
    pub(in crate::optimize::svg) fn of_copy(&self, id: Id, root: Id) -> Vec<Declaration> {
        let styled = Styled { elements: &self.elements, id, root: Some(root) };
        self.winning(id, &self.sheet.matching(&styled).collect::<Vec<_>>())
    }

    fn winning(&self, id: Id, rules: &[usize]) -> Vec<Declaration> {
        let own = declarations(self.elements.tree.get(id, "style").unwrap_or(""));
        let rules = rules.iter().map(|at| &self.sheet.rules[*at]).filter(|rule| !rule.stays);
        let all: Vec<&Declaration> = rules.flat_map(|rule| &rule.declarations).chain(&own).collect();
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
