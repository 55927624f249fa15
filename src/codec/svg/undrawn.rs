//! What documents may have that is not drawn as browsers do.

/// By what stands in the text of those that have it: what usvg leaves out without a word.
const UNDRAWN: [(&str, &str); 6] = [
    ("foreignObject", "foreignObject"),
    ("var(--", "variables of CSS"),
    ("@font-face", "embedded fonts"),
    ("@media", "media queries"),
    (":nth-", "selectors by number"),
    ("non-scaling-stroke", "strokes that do not scale"),
];

/// What to say of it, if a document has some.
pub(crate) fn undrawn(text: &str) -> Option<String> {
    let names: Vec<&str> = UNDRAWN.iter().filter(|(sign, _)| text.contains(sign)).map(|(_, name)| *name).collect();
    (!names.is_empty()).then(|| format!("not drawn as in browsers: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_named() {
        assert_eq!(undrawn("<svg><rect style='fill: red'/></svg>"), None);
        let text = "<svg><style>@media print { a { fill: var(--a) } }</style><foreignObject/></svg>";
        assert_eq!(
            undrawn(text).as_deref(),
            Some("not drawn as in browsers: foreignObject, variables of CSS, media queries")
        );
    }
}
