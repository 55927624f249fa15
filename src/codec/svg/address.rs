//! Addresses in values, and what is written in them.

use std::ops::Range;

/// What stands in the `url()`s of a value, without its quotes; with the first where there is no second.
pub(crate) fn urls(value: &str) -> Vec<&str> {
    placed_urls(value).into_iter().map(|(_, url)| url).collect()
}

/// The same with the place of each `url()` from its name to its bracket. Strings go on behind the end of a line, as in
/// usvg.
pub(crate) fn placed_urls(value: &str) -> Vec<(Range<usize>, &str)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = find_url(&value[from..]) {
        let start = from + at;
        let inner = value[start + 4..].trim_ascii_start();
        let (url, after) = match inner.chars().next() {
            Some(quote @ ('"' | '\'')) => inner[1..].split_once(quote).unwrap_or((inner, "")),
            _ => inner.split_at(inner.find(')').unwrap_or(inner.len())),
        };
        let behind = after.trim_ascii_start();
        from = value.len() - behind.strip_prefix(')').unwrap_or(behind).len();
        found.push((start..from, url.trim_ascii()));
    }
    found
}

/// By the bracket, as path data, of which there is most, have none.
fn find_url(text: &str) -> Option<usize> {
    let names = |at: usize| at.checked_sub(3).filter(|start| text.as_bytes()[*start..at].eq_ignore_ascii_case(b"url"));
    text.match_indices('(').find_map(|(at, _)| names(at))
}
