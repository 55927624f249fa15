//! Who names whom: `href="#a"`, `url(#a)`, `begin="a.end"`, `aria-labelledby="a b"`.

use std::collections::BTreeMap;

use super::tree::{Id, Tree};

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

/// What stands in the `url()`s of a value, without quotes.
pub(super) fn urls(value: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = value;
    while let Some(at) = find_url(rest) {
        rest = &rest[at + 4..];
        let end = match rest.trim_start().chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let start = rest.len() - rest.trim_start().len() + 1;
                rest[start..].find(quote).map(|end| start + end + 1)
            }
            _ => rest.find(')'),
        };
        let end = end.unwrap_or(rest.len());
        found.push(rest[..end].trim().trim_matches(['"', '\'']).trim());
        rest = &rest[end..];
    }
    found
}

fn find_url(text: &str) -> Option<usize> {
    text.as_bytes().windows(4).position(|window| window.eq_ignore_ascii_case(b"url("))
}

/// An id in a fragment may be percent-encoded.
fn decoded(id: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = id.as_bytes();
    while let Some((&c, after)) = rest.split_first() {
        let hex = |c: u8| char::from(c).to_digit(16).map(|d| d as u8);
        match (c, after) {
            (b'%', [a, b, after @ ..]) if hex(*a).is_some() && hex(*b).is_some() => {
                bytes.push(hex(*a).unwrap_or(0) * 16 + hex(*b).unwrap_or(0));
                rest = after;
            }
            _ => {
                bytes.push(c);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| id.to_owned())
}
