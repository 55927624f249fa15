//! What documents may have that is not drawn as browsers do.

use super::{read, reading};
use crate::{control::Run, error::Result};

/// By what stands in the text of those that have it: what usvg leaves out without a word.
const UNDRAWN: [(&str, &str); 14] = [
    ("foreignObject", "foreignObject"),
    ("var(--", "variables of CSS"),
    ("@font-face", "embedded fonts"),
    ("@media", "media queries"),
    (":nth-", "selectors by number"),
    ("non-scaling-stroke", "strokes that do not scale"),
    ("transform-box", "boxes of transforms"),
    ("color-mix(", "mixed colours"),
    ("oklch(", "colours of oklch"),
    ("polygon(", "clips by shapes of CSS"),
    ("circle(", "clips by shapes of CSS"),
    ("translate3d(", "transforms in space"),
    (":not(", "selectors of what is not"),
    (":is(", "selectors of one of several"),
];

/// What to say of it, if a document has some.
///
/// # Errors
/// As of [`read::document`].
pub(crate) fn undrawn(text: &str, run: Run<'_>) -> Result<Option<String>> {
    if !has_some(text) {
        return Ok(None);
    }
    let mended = reading::mended(text, &read::document(text, run)?);
    let text = mended.as_deref().unwrap_or(text);
    let mut names: Vec<&str> = UNDRAWN.iter().filter(|(sign, _)| text.contains(sign)).map(|(_, name)| *name).collect();
    names.dedup();
    Ok((!names.is_empty()).then(|| format!("not drawn as in browsers: {}", names.join(", "))))
}

fn has_some(text: &str) -> bool {
    UNDRAWN.iter().any(|(sign, _)| text.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, limits::Limits};

    #[test]
    fn what_is_left_out_is_named() {
        let undrawn = |inner: &str| {
            let text = format!("<svg xmlns='{}'>{inner}</svg>", read::NAMESPACE);
            undrawn(&text, Run { limits: &Limits::default(), control: &Unattended }).unwrap()
        };
        assert_eq!(undrawn("<rect style='fill: red'/>"), None);
        assert_eq!(undrawn("<style>@media print { a { fill: var(--a) } }</style>"), None);
        let some = "<style>@media (width: 3px) { a { fill: var(--a) } }</style><foreignObject/>";
        let said = "not drawn as in browsers: foreignObject, variables of CSS, media queries";
        assert_eq!(undrawn(some).as_deref(), Some(said));
    }
}
