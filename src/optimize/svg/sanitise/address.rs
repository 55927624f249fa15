//! Where an address leads.

use std::ops::Range;

use crate::codec::svg::{placed_urls, urls};

/// Where an address leads, the scheme in any case.
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
    /// What browsers leave out of an address is left out; what any reader might leave out cannot make it harmless.
    pub(super) fn read(address: &str) -> Self {
        let plain = |c: char| !c.is_whitespace() && !c.is_control() && !is_invisible(c);
        let trimmed = address.trim_matches(|c| c <= ' ');
        match Self::of(&begun(address, plain)) {
            leads @ (Self::Link | Self::Refused) => leads,
            stays if stays == Self::of(&begun(trimmed, |c| !matches!(c, '\t' | '\n' | '\r'))) => stays,
            _ => Self::Refused,
        }
    }

    /// By its beginning, in small letters.
    fn of(plain: &str) -> Self {
        if plain.is_empty() || plain.starts_with('#') {
            return Self::Inside;
        }
        let scheme = plain.split([':', '/', '?', '#']).next().unwrap_or("");
        if !plain[scheme.len()..].starts_with(':') {
            return Self::Link;
        }
        let data = plain[scheme.len() + 1..].trim_ascii_start();
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

/// The beginning of an address, which tells where it leads: of the characters that count, in small letters.
fn begun(address: &str, counts: impl Fn(char) -> bool) -> String {
    address.chars().filter(|c| counts(*c)).take(96).collect::<String>().to_ascii_lowercase()
}

/// Characters without a width, which a reader does not see and a parser may skip.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202F}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{AD}')
}

/// What values that run or load something have.
const ACTIVE: [&str; 11] = [
    "javascript:",
    "vbscript:",
    "livescript:",
    "expression(",
    "image-set(",
    "@import",
    "data:text/",
    "data:application/x-javascript",
    "data:application/xhtml",
    "data:application/xml",
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
    let (value, quotes_by_escape) = unescaped(value);
    // The end of a line ends a string, and what is quoted here may not be there; so no address may hold another one. Nor
    // may it go on behind its quotes, or into what comes to stand behind the value.
    let whole = |place: Range<usize>| {
        let inner = value[place.start + "url(".len()..place.end].trim_ascii();
        let closed = inner.ends_with(')') || inner.starts_with('#');
        let inner = inner.trim_end_matches(')');
        closed && !inner.contains(['\n', '\r', '\x0c']) && urls(inner).is_empty()
    };
    let inside = |url: &str| matches!(Address::read(url), Address::Inside | Address::Picture | Address::Font);
    // A quote that is escaped begins and ends no address, though it looks so now.
    let judged = |(place, url): (Range<usize>, &str)| !quotes_by_escape && whole(place) && inside(url);
    if !placed_urls(&value).into_iter().all(judged) {
        return false;
    }
    let lower: String =
        value.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect::<String>().to_ascii_lowercase();
    !ACTIVE.iter().any(|bad| lower.contains(bad))
}

/// What browsers paint with `paint` where the server that it names cannot be reached: the colour behind the address, or
/// nothing. Without the property it would be what is inherited, or black.
pub(super) fn without_server(paint: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '#' | '(' | ')' | '.' | ',' | '%' | '-' | ' ');
    let begins = paint.trim_start().get(..4).is_some_and(|start| start.eq_ignore_ascii_case("url("));
    let behind = paint.split_once(')').map_or("", |(_, behind)| behind.trim());
    let colour = begins && !behind.is_empty() && behind.chars().all(plain) && is_harmless_value(behind);
    if colour { behind.to_owned() } else { "none".to_owned() }
}

/// The fonts among the sources of one that are in their addresses, without what is said of them; empty where there is none.
pub(super) fn embedded_fonts(sources: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | ';' | ':' | ',' | '.' | '-');
    let addresses = sources.split("url(").skip(1).filter_map(|source| source.split_once(')'));
    let addresses = addresses.map(|(address, _)| address.trim().trim_matches(['"', '\'']));
    let fonts = addresses.filter(|address| address.chars().all(plain) && Address::read(address) == Address::Font);
    fonts.map(|font| format!("url({font})")).collect::<Vec<_>>().join(",")
}

/// Without the escapes of CSS, `\75 rl(` for `url(`, and whether one of them was for a quote.
fn unescaped(value: &str) -> (String, bool) {
    let mut text = String::with_capacity(value.len());
    let mut quotes = false;
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
        let meant = match digits {
            0 => rest.next(),
            _ => char::from_u32(code).or(Some('\u{FFFD}')),
        };
        if digits > 0 {
            rest.next_if(char::is_ascii_whitespace);
        }
        quotes |= matches!(meant, Some('"' | '\''));
        text.extend(meant);
    }
    (text, quotes)
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
            ("\u{1} #a\n", Address::Inside),
            ("da\nta:\timage/png,x", Address::Picture),
            ("\u{A0}#a", Address::Refused),
            ("da ta:image/../x", Address::Refused),
            ("\u{200B}data:font/../x", Address::Refused),
        ];
        for (address, expected) in cases {
            assert_eq!(Address::read(address), expected, "{address:?}");
        }
    }

    #[test]
    fn paint_of_a_server_that_cannot_be_reached_is_the_colour_behind_it() {
        let cases = [
            ("url(http://x/y#a) lime", "lime"),
            (" URL('x.svg#a')  rgb(1, 2, 3)", "rgb(1, 2, 3)"),
            ("url(x)#0f0", "#0f0"),
            ("url(x)", "none"),
            ("url(x) url(y)", "none"),
            ("url(')') red", "none"),
            ("url(x) \\75 rl(y)", "none"),
            ("expression(x) red", "none"),
            ("\u{e4}\u{e4}(x) red", "none"),
        ];
        for (paint, expected) in cases {
            assert_eq!(without_server(paint), expected, "{paint}");
        }
    }

    #[test]
    fn nothing_active_goes_without_what_tells() {
        assert!(ACTIVE.iter().all(|active| tells(active)));
    }

    #[test]
    fn values_are_harmless_without_addresses_outside_and_scripts() {
        let harmless = [
            "url(#a) red",
            "url('#a')",
            "none",
            "url(data:image/png;base64,AA)",
            "url(data:application/x-font-ttf;base64,AA)",
            "12px",
            "url( \"#b\" )",
            "url(#a",
            "\"a\\\"b\"",
        ];
        for harmless in harmless {
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
            "url(",
            "url('#a'/x)",
            "url(\\22#a\\22)",
            "url(\\'#a\\')",
            "url(\u{A0}#a)",
            "\"url('#\" url(//x) \"')\"",
        ];
        for bad in bad {
            assert!(!is_harmless_value(bad), "{bad}");
        }
    }
}
