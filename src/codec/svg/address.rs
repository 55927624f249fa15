//! Addresses in values, and what is written in them.

/// What stands in the `url()`s of a value, without quotes.
pub(crate) fn urls(value: &str) -> Vec<&str> {
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

/// By the bracket, as path data, of which there is most, have none.
fn find_url(text: &str) -> Option<usize> {
    let names = |at: usize| at.checked_sub(3).filter(|start| text.as_bytes()[*start..at].eq_ignore_ascii_case(b"url"));
    text.match_indices('(').find_map(|(at, _)| names(at))
}

/// What stands in a part of an address.
pub(crate) fn percent_decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
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
    bytes
}
