//! Which declarations win for an element.

use simplecss::{AttributeOperator, PseudoClass, Selector};

use super::text::{Declaration, declarations, rules, split};
use crate::optimize::svg::tree::{Id, Tree};

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
        for (head, body) in rules(css) {
            if head.starts_with('@') || body.contains('{') {
                return None;
            }
            for selector in split(head, ',') {
                let known = selector.replace(":first-child", "");
                if known.contains([':', '~', '\\', '|']) {
                    return None;
                }
                found.push((Selector::parse(selector)?, declarations(body)));
            }
        }
        found.sort_by_key(|(selector, _)| selector.specificity());
        Some(Self { rules: found })
    }

    pub(in crate::optimize::svg) const fn len(&self) -> usize {
        self.rules.len()
    }

    fn matching(&self, tree: &Tree, id: Id) -> impl Iterator<Item = &Declaration> {
        let styled = Styled { tree, id };
        let rules = self.rules.iter().filter(move |(selector, _)| selector.matches(&styled));
        rules.flat_map(|(_, declarations)| declarations)
    }
}

/// What `sheet` and its own `style` attribute declare for an element, each property once; presentation attributes come
/// below all of it.
pub(in crate::optimize::svg) fn cascade(tree: &Tree, id: Id, sheet: &Sheet<'_>) -> Vec<Declaration> {
    let own = declarations(tree.get(id, "style").unwrap_or(""));
    let all: Vec<&Declaration> = sheet.matching(tree, id).chain(&own).collect();
    let mut won: Vec<Declaration> = Vec::new();
    for important in [false, true] {
        for declaration in all.iter().filter(|declaration| declaration.important == important) {
            won.retain(|earlier| earlier.name != declaration.name);
            won.push(Declaration { important: false, ..(*declaration).clone() });
        }
    }
    won
}

/// An element as selectors see it.
struct Styled<'a> {
    tree: &'a Tree,
    id: Id,
}

impl simplecss::Element for Styled<'_> {
    fn parent_element(&self) -> Option<Self> {
        self.tree.parent(self.id).map(|id| Self { id, ..*self })
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        let siblings = self.tree.children(self.tree.parent(self.id)?);
        let before = siblings.iter().take_while(|sibling| **sibling != self.id);
        before.filter(|id| self.tree.element(**id).is_some()).last().map(|id| Self { id: *id, ..*self })
    }

    fn has_local_name(&self, name: &str) -> bool {
        self.tree.element(self.id).is_some_and(|element| element.name == name)
    }

    fn attribute_matches(&self, name: &str, operator: AttributeOperator<'_>) -> bool {
        self.tree.get(self.id, name).is_some_and(|value| operator.matches(value))
    }

    fn pseudo_class_matches(&self, class: PseudoClass<'_>) -> bool {
        matches!(class, PseudoClass::FirstChild) && self.prev_sibling_element().is_none()
    }
}
