//! Who names whom: `href="#a"`, `url(#a)`, `begin="a.end"`, `aria-labelledby="a b"`.

use std::collections::BTreeMap;

use super::tree::{Id, Tree};
use crate::codec::svg::{percent_decoded, urls};

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

/// The ids that an attribute names.
fn targets(name: &str, value: &str) -> Vec<String> {
    match name {
        "href" => value.trim().strip_prefix('#').map(decoded).into_iter().collect(),
        "begin" | "end" => {
            value.split(';').filter_map(|time| time.trim().split_once('.')).map(|t| t.0.to_owned()).collect()
        }
        "aria-labelledby" | "aria-describedby" | "aria-controls" | "aria-owns" => {
            value.split_ascii_whitespace().map(str::to_owned).collect()
        }
        _ => urls(value).into_iter().filter_map(|url| url.strip_prefix('#').map(decoded)).collect(),
    }
}

/// The same attribute with every id it names replaced.
pub(super) fn renamed(name: &str, value: &str, new: impl Fn(&str) -> Option<String>) -> String {
    let fresh = |id: &str| new(&decoded(id)).unwrap_or_else(|| id.to_owned());
    match name {
        "href" => match value.trim().strip_prefix('#') {
            Some(id) => format!("#{}", fresh(id)),
            None => value.to_owned(),
        },
        "begin" | "end" => {
            let time = |time: &str| match time.trim().split_once('.') {
                Some((id, event)) => format!("{}.{event}", fresh(id)),
                None => time.trim().to_owned(),
            };
            value.split(';').map(time).collect::<Vec<_>>().join(";")
        }
        "aria-labelledby" | "aria-describedby" | "aria-controls" | "aria-owns" => {
            value.split_ascii_whitespace().map(fresh).collect::<Vec<_>>().join(" ")
        }
        _ => urls(value).into_iter().filter(|url| url.starts_with('#')).fold(value.to_owned(), |text, url| {
            // The longest form first, so that quotes go with it.
            let plain = format!("url(#{})", fresh(&url[1..]));
            ["\"", "'", ""].iter().fold(text, |text, quote| text.replace(&format!("url({quote}{url}{quote})"), &plain))
        }),
    }
}

/// An id in a fragment may be percent-encoded.
fn decoded(id: &str) -> String {
    String::from_utf8(percent_decoded(id)).unwrap_or_else(|_| id.to_owned())
}
