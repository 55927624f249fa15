//! What of sheets says nothing of a document.

use std::collections::BTreeMap;

use simplecss::Selector;

use super::{in_name, matched::Elements, rule, rules, split};
use crate::{codec::svg::selector_tests, optimize::svg::tree::Tree};

/// Tests of selectors against elements beyond which every rule stays.
const MOST_TESTS: u64 = 100_000_000;
/// At-rules with rules in them that hold at times. (A layer counts even where it is empty.)
const GROUPS: [&str; 3] = ["@media", "@supports", "@container"];

/// The sheets without rules that no element of the document can match, whatever is pointed at or plays, and without key
/// frames that no rule and no `style` names.
pub(in crate::optimize::svg) fn reaching(tree: &Tree, sheets: &[String]) -> Vec<String> {
    if sheets.iter().any(|sheet| sheet.contains("@namespace")) {
        return sheets.to_vec();
    }
    let elements = tree.elements();
    let (count, deepest) = (elements.len() as u64, tree.deepest() as u64);
    let mut reach = Reach { elements: Elements::of(tree), count, deepest, left: MOST_TESTS };
    let kept: Vec<String> = sheets.iter().map(|sheet| reach.kept(sheet)).collect();
    let heads: Vec<&str> =
        kept.iter().flat_map(|sheet| rules(sheet, false)).filter_map(|(head, _)| frames(head)).collect();
    if heads.is_empty() {
        return kept;
    }
    // Beside where they are defined.
    let mut said: BTreeMap<&str, i64> = BTreeMap::new();
    let styles = elements.iter().filter_map(|id| tree.get(*id, "style"));
    kept.iter().map(String::as_str).chain(styles).flat_map(words).for_each(|word| *said.entry(word).or_default() += 1);
    heads.iter().for_each(|name| *said.entry(name).or_default() -= 1);
    let plays = |name: &str| said.get(name).is_some_and(|times| *times > 0);
    let played = |sheet: &String| {
        let kept = rules(sheet, false).into_iter().filter(|(head, _)| frames(head).is_none_or(plays));
        kept.map(|(head, body)| rule(head, body)).collect()
    };
    kept.iter().map(played).collect()
}

/// The name of key frames that begin like this.
fn frames(head: &str) -> Option<&str> {
    let (keyword, name) = head.strip_prefix('@')?.split_once(|c: char| c.is_ascii_whitespace())?;
    let name = name.trim_ascii().trim_matches(['"', '\'']);
    (keyword.ends_with("keyframes") && words(name).eq([name])).then_some(name)
}

/// Identifiers, and what looks like such.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !in_name(c) && c != '\\').filter(|word| !word.is_empty())
}

struct Reach<'a> {
    elements: Elements<'a>,
    count: u64,
    deepest: u64,
    left: u64,
}

impl Reach<'_> {
    fn kept(&mut self, sheet: &str) -> String {
        let mut text = String::new();
        for (head, body) in rules(sheet, false) {
            if GROUPS.iter().any(|group| head.starts_with(group)) && !body.is_empty() {
                let inner = self.kept(body);
                text.extend((!inner.is_empty()).then(|| rule(head, &inner)));
            } else if head.starts_with('@') || split(head, ',').into_iter().any(|one| self.may_match(one)) {
                // The others of a list stay: browsers pass over all of it for one that they do not understand.
                text.push_str(&rule(head, body));
            }
        }
        text
    }

    /// Whether a selector matches an element, or could in another state of it, or is not understood.
    fn may_match(&mut self, selector: &str) -> bool {
        let Some(stateless) = stateless(selector) else { return true };
        let Some(parsed) = Selector::parse(&stateless) else { return true };
        let tests = selector_tests(&stateless, self.deepest).saturating_mul(self.count);
        let Some(left) = self.left.checked_sub(tests) else { return true };
        self.left = left;
        self.elements.any_matches(&parsed)
    }
}

/// A selector without its pseudo-classes and pseudo-elements, which matches all that it does; `None` where it has more to it.
fn stateless(selector: &str) -> Option<String> {
    if selector.contains(['\\', '|', '&', '~']) {
        return None;
    }
    let (mut text, mut rest) = (String::new(), selector);
    while let Some((plain, state)) = rest.split_once(':') {
        text.push_str(plain);
        if text.matches('[').count() != text.matches(']').count() {
            return None;
        }
        if text.is_empty() || text.ends_with(|c: char| c.is_ascii_whitespace() || matches!(c, '>' | '+')) {
            text.push('*');
        }
        let state = state.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '_'));
        rest = if state.starts_with('(') { behind_brackets(state)? } else { state };
    }
    text.push_str(rest);
    Some(text)
}

/// What stands behind the brackets that a text begins with.
fn behind_brackets(text: &str) -> Option<&str> {
    let mut open = 0;
    let closing = |(at, c): (usize, char)| {
        open += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        (open == 0).then(|| &text[at + 1..])
    };
    text.char_indices().find_map(closing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Unattended, codec::svg, control::Run, limits::Limits, optimize::svg::build};

    fn left(sheet: &str) -> String {
        let limits = Limits::default();
        let run = Run { limits: &limits, control: &Unattended };
        let text = "<svg xmlns='http://www.w3.org/2000/svg' id='a' class='b c'><g data-x='1' style='animation:h 1s'/><path class='d'/></svg>";
        let tree = build::build(&svg::document(text, run).unwrap());
        reaching(&tree, &[sheet.to_owned()]).concat()
    }

    #[test]
    fn rules_that_match_an_element_in_some_state_stay() {
        for sheet in [
            "g,.none{a:b}",
            ".b.c:hover>g{a:b}",
            "#a :hover{a:b}",
            "::selection{a:b}",
            ":root{--a:b}",
            "g+.d::before{a:b}",
            "g:not(.e:hover, g){a:b}",
            "[data-x='1']:focus{a:b}",
            "@media print{g{a:b}}",
            "@font-face{font-family:x}",
            "@keyframes h{0%{a:b}}",
            "@import \"x\";",
            "@layer e{.none{a:b}}",
            "@keyframes \u{a0}h{to{a:b}}g{animation:\u{a0}h 1s}",
            "path{animation:i 1s}@-webkit-keyframes i{to{a:b}}",
            // Not understood here.
            "g~path{a:b}",
            ".none\\:x{a:b}",
            "[lang|=en]{a:b}",
            "[data-x=':']{a:b}",
            "g{a:b}@namespace x url(y);.none{a:b}",
        ] {
            assert_eq!(left(sheet), sheet);
        }
    }

    #[test]
    fn rules_that_match_nothing_and_frames_that_nobody_names_go() {
        for (sheet, expected) in [
            (".none{a:b}", ""),
            ("path{a:b}.d g:hover,#none{c:d}.d{e:f}", "path{a:b}.d{e:f}"),
            (":hover.none{a:b}", ""),
            ("g>path:hover{a:b}", ""),
            ("@media print{.none{a:b}g{c:d}}", "@media print{g{c:d}}"),
            ("@supports (a:b){.none{a:b}}", ""),
            ("@keyframes i{0%{a:b}}@-webkit-keyframes i{0%{a:b}}g{stroke-dasharray:i-1}", "g{stroke-dasharray:i-1}"),
            (".none{animation:j}@keyframes j{to{a:b}}", ""),
        ] {
            assert_eq!(left(sheet), expected, "{sheet}");
        }
    }
}
