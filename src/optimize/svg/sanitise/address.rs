//! Where an address leads.

use std::ops::Range;

use crate::codec::svg::{placed_urls, urls};

/// An address, read as browsers do: without white space and control characters, the scheme in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Address {
    /// An element of this document.
    Inside,
    /// A picture in the address itself.
    Picture,
    /// A document in the address itself.
    Document,
    /// A font in the address itself.
    Font,
    /// Another document, by a scheme that only leads there.
    Link,
    /// Everything else.
    Refused,
}

impl Address {
    pub(super) fn read(address: &str) -> Self {
        let plain: String =
            address.chars().filter(|c| !c.is_whitespace() && !c.is_control() && !is_invisible(*c)).collect();
        let plain = plain.get(..plain.len().min(96)).map_or_else(|| plain.clone(), str::to_owned).to_ascii_lowercase();
        if plain.is_empty() || plain.starts_with('#') {
            return Self::Inside;
        }
        let scheme = plain.split([':', '/', '?', '#']).next().unwrap_or("");
        if !plain[scheme.len()..].starts_with(':') {
            return Self::Link;
        }
        let data = &plain[scheme.len() + 1..];
        match scheme {
            "http" | "https" | "mailto" | "tel" => Self::Link,
            "data" if data.starts_with("image/svg") => Self::Document,
            "data" if data.starts_with("image/") => Self::Picture,
            "data"
                if ["font/", "application/font", "application/x-font", "application/vnd.ms-font"]
                    .iter()
                    .any(|t| data.starts_with(t)) =>
            {
                Self::Font
            }
            _ => Self::Refused,
        }
    }

    /// Whether an element of this name may have it as its `href` or `src`.
    pub(super) fn may_load(self, element: &str) -> bool {
        match self {
            Self::Inside => true,
            Self::Picture | Self::Document => super::PICTURES.contains(&element),
            Self::Link => element == "a",
            Self::Font | Self::Refused => false,
        }
    }
}

/// Characters without a width, which a reader does not see and a parser may skip.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202F}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{AD}')
}

/// What values that run or load something have.
const ACTIVE: [&str; 9] = [
    "javascript:",
    "vbscript:",
    "livescript:",
    "expression(",
    "image-set(",
    "@import",
    "data:text/",
    "data:application/x",
    "src(",
];

/// One of these is in everything of [`ACTIVE`], in every `url()`, and begins every escape.
const TELLING: [u8; 4] = *b"\\(:@";

fn tells(value: &str) -> bool {
    value.bytes().any(|byte| TELLING.contains(&byte))
}

/// Whether a value, of an attribute or in a style sheet, loads nothing from elsewhere and runs nothing. Documents in
/// addresses are let through where they are cleaned, which is not here.
pub(super) fn is_harmless_value(value: &str) -> bool {
    // Path data, of which there is most, have no such character.
    if !tells(value) {
        return true;
    }
    let value = unescaped(value);
    // The end of a line ends a string, and what is quoted here may not be there; so no address may hold another one.
    let whole = |place: Range<usize>| {
        let inner = value[place.start + "url(".len()..place.end].trim_end_matches(')').trim();
        !inner.contains(['\n', '\r', '\x0c']) && urls(inner).is_empty()
    };
    let inside = |url: &str| matches!(Address::read(url), Address::Inside | Address::Picture | Address::Font);
    if !placed_urls(&value).into_iter().all(|(place, url)| whole(place) && inside(url)) {
        return false;
    }
    let lower: String =
        value.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect::<String>().to_ascii_lowercase();
    !ACTIVE.iter().any(|bad| lower.contains(bad))
}

/// Without the escapes of CSS, `\75 rl(` for `url(`.
fn unescaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut rest = value.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        let mut code = 0;
        let mut digits = 0;
        while let Some(digit) = rest.peek().and_then(|c| c.to_digit(16)).filter(|_| digits < 6) {
            (code, digits) = (code * 16 + digit, digits + 1);
            rest.next();
        }
        if digits > 0 {
            text.push(char::from_u32(code).unwrap_or('\u{FFFD}'));
            rest.next_if(|c| c.is_whitespace());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_browsers_read_them() {
        let cases = [
            ("#a", Address::Inside),
            ("", Address::Inside),
            ("data:image/png;base64,AA", Address::Picture),
            (" DATA:image/svg+xml,x", Address::Document),
            ("data:text/html,x", Address::Refused),
            ("https://example.com", Address::Link),
            ("//example.com/x.svg#a", Address::Link),
            ("other.svg#a", Address::Link),
            ("java\tscript:alert(1)", Address::Refused),
            ("\u{1}javascript:alert(1)", Address::Refused),
            ("JaVaScRiPt:alert(1)", Address::Refused),
            ("file:///etc/passwd", Address::Refused),
        ];
        for (address, expected) in cases {
            assert_eq!(Address::read(address), expected, "{address:?}");
        }
    }

    #[test]
    fn nothing_active_goes_without_what_tells() {
        assert!(ACTIVE.iter().all(|active| tells(active)));
    }

    #[test]
    fn values_are_harmless_without_addresses_outside_and_scripts() {
        for harmless in ["url(#a) red", "url('#a')", "none", "url(data:image/png;base64,AA)", "12px", "url( \"#b\" )"] {
            assert!(is_harmless_value(harmless), "{harmless}");
        }
        let bad = [
            "url(http://x/y)",
            "url(x.svg#a)",
            "\\75 rl(//x)",
            "url(data:image/svg+xml,x)",
            "expression(alert(1))",
            "java script:x",
            "URL(a)",
            "url('x",
            "url('#x",
            "url(\"#a\n)",
            "url(\"#a\n\")",
            "url(\"#a\\a )\")",
            "\"url('#\" url(//x) \"')\"",
        ];
        for bad in bad {
            assert!(!is_harmless_value(bad), "{bad}");
        }
    }
}
