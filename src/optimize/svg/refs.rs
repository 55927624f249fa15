//! Who names whom: `href="#a"`, `url(#a)`, `begin="a.end"`, `aria-labelledby="a b"`.

use std::{collections::BTreeMap, ops::Range};

use super::tree::{Id, Tree};
use crate::{codec::svg::placed_urls, percent};

/// The elements by their ids; of several with one id the first counts, as in browsers.
pub(super) fn by_id(tree: &Tree) -> BTreeMap<String, Id> {
    let mut found = BTreeMap::new();
    for id in tree.elements() {
        if let Some(name) = tree.get(id, "id") {
            found.entry(name.to_owned()).or_insert(id);
        }
    }
    found
}

/// Every use of an id in the attributes of elements: the element, the name of the attribute, the id.
pub(super) fn references(tree: &Tree) -> Vec<(Id, String, String)> {
    let mut found = Vec::new();
    for id in tree.elements() {
        for attribute in tree.element(id).into_iter().flat_map(|element| &element.attributes) {
            for target in targets(&attribute.name, &attribute.value) {
                found.push((id, attribute.name.clone(), target));
            }
        }
    }
    found
}

/// Attributes whose value is ids alone.
const LISTS: [&str; 8] = [
    "aria-activedescendant",
    "aria-controls",
    "aria-describedby",
    "aria-details",
    "aria-errormessage",
    "aria-flowto",
    "aria-labelledby",
    "aria-owns",
];

/// The ids that an attribute names.
fn targets(name: &str, value: &str) -> Vec<String> {
    named(name, value).into_iter().map(|(_, id, _)| id).collect()
}

/// The ids that an attribute names, each with the place of what names it and how that is written, with `*` for the id.
fn named(name: &str, value: &str) -> Vec<(Range<usize>, String, &'static str)> {
    match name {
        "href" => {
            let id = value.trim().strip_prefix('#').map(decoded);
            id.into_iter().map(|id| (0..value.len(), id, "#*")).collect()
        }
        "begin" | "end" => {
            let id = |(at, time): (usize, &str)| {
                let length = time.find('.').filter(|_| time.starts_with(|c: char| !is_of_number(c)))?;
                Some((at..at + length, time[..length].to_owned(), "*"))
            };
            parts(value, |c| c == ';' || c.is_ascii_whitespace()).filter_map(id).collect()
        }
        _ if LISTS.contains(&name) => {
            parts(value, |c| c.is_ascii_whitespace()).map(|(at, id)| (at..at + id.len(), id.to_owned(), "*")).collect()
        }
        _ => {
            let inside = |(place, url): (Range<usize>, &str)| Some((place, decoded(url.strip_prefix('#')?), "url(#*)"));
            placed_urls(value).into_iter().filter_map(inside).collect()
        }
    }
}

/// Whether times that begin with this are numbers of seconds or names of events.
fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '+' | '-' | '.')
}

/// What stands between separators of a byte each, and where.
fn parts(value: &str, separates: impl Fn(char) -> bool) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    let placed = value.split(separates).map(move |part| {
        let from = at;
        at += part.len() + 1;
        (from, part)
    });
    placed.filter(|(_, part)| !part.is_empty())
}

/// The same attribute with every id it names replaced.
pub(super) fn renamed(name: &str, value: &str, new: impl Fn(&str) -> Option<String>) -> String {
    let (mut text, mut done) = (String::new(), 0);
    for (place, id, written) in named(name, value) {
        if let Some(new) = new(&id) {
            text.push_str(&value[done..place.start]);
            text.push_str(&written.replace('*', &new));
            done = place.end;
        }
    }
    text + &value[done..]
}

/// An id in a fragment may be percent-encoded.
fn decoded(id: &str) -> String {
    String::from_utf8(percent::decode(id)).unwrap_or_else(|_| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_name_an_element_is_found_and_rewritten() {
        let cases = [
            ("href", " #a ", "a", "#x"),
            ("fill", "url( #a )", "a", "url(#x)"),
            ("fill", "URL('#a') red", "a", "url(#x) red"),
            ("fill", "url( \" #a%20\" )none", "a ", "url(#x)none"),
            ("begin", "a.end+1s", "a", "x.end+1s"),
            ("end", "2s;a.click", "a", "2s;x.click"),
        ];
        let aria =
            ["labelledby", "describedby", "controls", "owns", "details", "flowto", "activedescendant", "errormessage"];
        let aria = aria.map(|name| format!("aria-{name}"));
        let aria = aria.iter().map(|name| (name.as_str(), "a", "a", "x"));
        for (name, value, id, new) in cases.into_iter().chain(aria) {
            assert_eq!(targets(name, value), [id], "{name}={value}");
            assert_eq!(renamed(name, value, |found| (found == id).then(|| "x".to_owned())), new, "{name}={value}");
        }
    }

    #[test]
    fn numbers_of_seconds_are_no_ids() {
        for time in ["0.5s", "+0.5s", "-.5s", ".5s", "indefinite", "0:00.5"] {
            assert_eq!(targets("begin", time), Vec::<String>::new(), "{time}");
            assert_eq!(renamed("begin", time, |_| Some("x".to_owned())), time);
        }
    }

    #[test]
    fn ids_that_change_places_do_not_meet() {
        let swapped = |id: &str| Some(if id == "a" { "b" } else { "a" }.to_owned());
        assert_eq!(renamed("values", "url(#b);url(#a)", swapped), "url(#a);url(#b)");
        assert_eq!(renamed("begin", "b.end;a.end", swapped), "a.end;b.end");
    }
}
