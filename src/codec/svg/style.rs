//! The declarations that style sheets and `style` attributes give an element, and the work of finding them.

use std::{cell::Cell, collections::HashMap};

use roxmltree::Node;
use simplecss::{AttributeOperator, DeclarationTokenizer, Element, PseudoClass, StyleSheet};

use crate::{control::Run, error::Result, limits::within};

/// Style sheets of a document; all rules before are sorted again for each.
const SHEETS: u64 = 500;
/// Rules of all style sheets.
const RULES: u64 = 20_000;
/// Tests of a selector against an element, at worst.
const TESTS: u64 = 300_000_000;

/// Classes of an element that are looked at in about the time that a test takes anyway.
const CLASSES_AT_ONCE: u64 = 4;

/// Steps to read styles: simplecss looks at all of a text before a word, for each of its words.
const READING: u64 = 4_000_000_000;

/// The style sheets of a document.
pub(super) struct Style<'a> {
    sheet: StyleSheet<'a>,
    by_class: ByClass,
    /// Steps that reading took so far.
    read: Cell<u64>,
}

impl<'a> Style<'a> {
    /// What the `style` elements within `root` say.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) for more rules than could be tried on every element in time.
    pub(super) fn new<'input>(root: Node<'a, 'input>, run: Run<'_>) -> Result<Self> {
        let (mut sheet, read) = (StyleSheet::new(), Cell::new(0));
        let (mut sheets, mut rules) = (0, 0);
        for text in root.descendants().filter(|node| node.has_tag_name("style")).filter_map(|node| node.text()) {
            run.check()?;
            sheets += 1;
            within("SVG style sheets", sheets, SHEETS)?;
            // A rule may have several selectors.
            rules += text.bytes().filter(|c| matches!(c, b'{' | b',')).count() as u64;
            within("SVG style rules", rules, RULES)?;
            count_reading(text, &read)?;
            sheet.parse_more(text);
        }
        if !sheet.rules.is_empty() {
            let (elements, depth) = extent(root);
            let tests = sheet.rules.iter().map(|rule| selector_tests(&rule.selector.to_string(), depth));
            let tests = tests.fold(0u64, u64::saturating_add).saturating_mul(elements);
            within("tests of SVG style rules against elements", tests, TESTS)?;
        }
        let by_class = ByClass::of(sheet.rules.iter().map(|rule| rule.selector.to_string()));
        Ok(Self { sheet, by_class, read })
    }

    /// Properties and values of `node`, those of its `style` attribute last.
    pub(super) fn of<'input>(&self, node: Node<'a, 'input>, run: Run<'_>) -> Result<Vec<(&'a str, &'a str)>> {
        run.check()?;
        let rules = self.by_class.candidates(node.attribute("class")).into_iter().map(|at| &self.sheet.rules[at]);
        let rules = rules.filter(|rule| rule.selector.matches(&Styled(node)));
        let mut all: Vec<_> =
            rules.flat_map(|rule| &rule.declarations).map(|found| (found.name, found.value)).collect();
        if let Some(own) = node.attribute("style") {
            count_reading(own, &self.read)?;
            all.extend(DeclarationTokenizer::from(own).map(|found| (found.name, found.value)));
        }
        Ok(all)
    }
}

/// Adds what it takes to read `css`, whose words end at one of these characters.
fn count_reading(css: &str, read: &Cell<u64>) -> Result<()> {
    let words = css.bytes().filter(|c| matches!(c, b':' | b';' | b'{' | b',' | b'.' | b'#' | b' ')).count() as u64;
    read.set(read.get().saturating_add(words.saturating_mul(css.len() as u64)));
    within("steps to read the styles of the SVG", read.get(), READING)
}

/// How many elements there are, those of many classes counted more than once as each test looks at them all, and how deep.
fn extent(root: Node<'_, '_>) -> (u64, u64) {
    let (mut elements, mut deepest) = (0, 0);
    let mut depth = 1u64;
    let mut node = root;
    loop {
        let classes = node.attribute("class").map_or(0, |classes| classes.split_ascii_whitespace().count() as u64);
        elements += 1 + classes / CLASSES_AT_ONCE;
        deepest = deepest.max(depth);
        if let Some(child) = node.first_element_child() {
            (node, depth) = (child, depth + 1);
            continue;
        }
        while node != root && node.next_sibling_element().is_none() {
            let Some(parent) = node.parent_element() else { return (elements, deepest) };
            (node, depth) = (parent, depth - 1);
        }
        match node.next_sibling_element() {
            Some(next) if node != root => node = next,
            _ => return (elements, deepest),
        }
    }
}

/// The places of selectors by a class that each asks its element for, so that only those are tried which may match.
#[derive(Debug)]
pub(crate) struct ByClass {
    named: HashMap<String, Vec<usize>>,
    others: Vec<usize>,
}

impl ByClass {
    /// Of selectors as simplecss writes them.
    pub(crate) fn of(selectors: impl Iterator<Item = String>) -> Self {
        let mut found = Self { named: HashMap::new(), others: Vec::new() };
        for (at, selector) in selectors.enumerate() {
            match class_of(&selector) {
                Some(class) => found.named.entry(class.to_owned()).or_default().push(at),
                None => found.others.push(at),
            }
        }
        found
    }

    /// Those that may match an element of these `classes`, in their order.
    pub(crate) fn candidates(&self, classes: Option<&str>) -> Vec<usize> {
        let mut found = self.others.clone();
        found.extend(classes.unwrap_or("").split(' ').filter_map(|class| self.named.get(class)).flatten());
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// A class that a selector asks its element for; none where other attributes are asked for, too, whose values may hold anything.
fn class_of(selector: &str) -> Option<&str> {
    const CLASS: &str = "[class~='";
    let own = selector.rsplit(' ').next()?;
    let plain = selector.matches('[').count() == selector.matches(CLASS).count();
    own.split_once(CLASS).filter(|_| plain)?.1.split('\'').next()
}

/// How often a selector can be tried on one element and those around it: every way to choose its ancestors.
pub(crate) fn selector_tests(selector: &str, depth: u64) -> u64 {
    let words = selector.split_ascii_whitespace().filter(|word| !matches!(*word, ">" | "+")).count() as u64;
    (1..words).fold(1, |ways: u64, chosen| ways.saturating_mul(depth.saturating_sub(chosen - 1)) / chosen).max(1)
}

struct Styled<'a, 'input>(Node<'a, 'input>);

impl Element for Styled<'_, '_> {
    fn parent_element(&self) -> Option<Self> {
        self.0.parent_element().map(Styled)
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        self.0.prev_sibling_element().map(Styled)
    }

    fn has_local_name(&self, name: &str) -> bool {
        self.0.tag_name().name() == name
    }

    fn attribute_matches(&self, name: &str, operator: AttributeOperator<'_>) -> bool {
        self.0.attribute(name).is_some_and(|value| operator.matches(value))
    }

    fn pseudo_class_matches(&self, class: PseudoClass<'_>) -> bool {
        class == PseudoClass::FirstChild && self.prev_sibling_element().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_found_by_their_class_in_their_order_and_all_others_always() {
        let selectors =
            [".a", "b", ".c .a:first-child", ".a>b", "[x='y [class~=\"a\"]']", ".b.a", "d.a[class~=e]", ".a[x]"];
        let by_class =
            ByClass::of(selectors.iter().map(|selector| simplecss::Selector::parse(selector).unwrap().to_string()));
        let always = [1, 3, 4, 7];
        assert_eq!(by_class.candidates(None), always);
        assert_eq!(by_class.candidates(Some("z a a")), [0, 1, 2, 3, 4, 6, 7]);
        assert_eq!(by_class.candidates(Some("b")), [1, 3, 4, 5, 7]);
    }
}
