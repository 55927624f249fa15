//! Which values browsers do not understand, so that they pass over what is declared.

use std::str::FromStr;

use svgtypes::Color;

/// Where a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::optimize::svg) enum Place {
    /// A presentation attribute.
    Attribute,
    /// A `style` attribute, where browsers are lenient.
    Style,
    /// A style sheet, where lengths have units.
    Sheet,
}

/// Keywords of properties that have nothing else.
const KEYWORDS: [(&str, &[&str]); 7] = [
    ("fill-rule", &["nonzero", "evenodd"]),
    ("clip-rule", &["nonzero", "evenodd"]),
    ("stroke-linecap", &["butt", "round", "square"]),
    // Of SVG 2, which browsers may come to know.
    ("stroke-linejoin", &["miter", "round", "bevel", "miter-clip", "arcs"]),
    ("text-anchor", &["start", "middle", "end"]),
    ("visibility", &["visible", "hidden", "collapse"]),
    ("shape-rendering", &["auto", "optimizespeed", "crispedges", "geometricprecision"]),
];
/// Values of every property.
const EVERYWHERE: [&str; 5] = ["inherit", "initial", "unset", "revert", "revert-layer"];
/// Lengths that need a unit in a sheet.
const TEXT_LENGTHS: [&str; 3] = ["font-size", "letter-spacing", "word-spacing"];
/// Geometry that sheets may declare, with units.
const GEOMETRY: [&str; 9] = ["x", "y", "width", "height", "cx", "cy", "r", "rx", "ry"];
/// Colours of the viewer's system (CSS Color 4, and those that it deprecates).
const SYSTEM: [&str; 42] = [
    "accentcolor",
    "accentcolortext",
    "activetext",
    "buttonborder",
    "buttonface",
    "buttontext",
    "canvas",
    "canvastext",
    "field",
    "fieldtext",
    "graytext",
    "highlight",
    "highlighttext",
    "linktext",
    "mark",
    "marktext",
    "selecteditem",
    "selecteditemtext",
    "visitedtext",
    "activeborder",
    "activecaption",
    "appworkspace",
    "background",
    "buttonhighlight",
    "buttonshadow",
    "captiontext",
    "inactiveborder",
    "inactivecaption",
    "inactivecaptiontext",
    "infobackground",
    "infotext",
    "menu",
    "menutext",
    "scrollbar",
    "threeddarkshadow",
    "threedface",
    "threedhighlight",
    "threedlightshadow",
    "threedshadow",
    "window",
    "windowframe",
    "windowtext",
];

/// Whether no browser understands the value of a property, nor may come to. What is not known here is none of these.
pub(in crate::optimize::svg) fn is_invalid(name: &str, value: &str, place: Place) -> bool {
    let value = value.trim().to_ascii_lowercase();
    let value = value.as_str();
    if EVERYWHERE.contains(&value) || value.contains("var(") || value.contains("/*") || value.contains('\\') {
        return false;
    }
    if let Some((_, keywords)) = KEYWORDS.iter().find(|(property, _)| *property == name) {
        return !keywords.contains(&value);
    }
    match name {
        "fill" | "stroke" => !matches!(value, "none" | "context-fill" | "context-stroke") && is_no_colour(value, place),
        "color" | "stop-color" | "flood-color" | "lighting-color" => is_no_colour(value, place),
        "opacity" | "fill-opacity" | "stroke-opacity" | "stop-opacity" | "flood-opacity" | "stroke-dashoffset" => {
            !is_length(value, true)
        }
        "stroke-width" | "stroke-miterlimit" => !is_length(value, false),
        "stroke-dasharray" => {
            let separates = |c: char| c == ',' || c.is_ascii_whitespace();
            value != "none"
                && !value.contains('(')
                && !value.split(separates).filter(|word| !word.is_empty()).all(|word| is_length(word, false))
        }
        "font-style" => !matches!(value, "normal" | "italic") && !value.starts_with("oblique"),
        "font-weight" => {
            let number = value.parse::<f64>().is_ok_and(|number| (1.0..=1000.0).contains(&number));
            !matches!(value, "normal" | "bold" | "bolder" | "lighter") && !value.contains('(') && !number
        }
        "paint-order" => {
            let known = |word: &str| matches!(word, "normal" | "fill" | "stroke" | "markers");
            !value.split_ascii_whitespace().all(known)
        }
        _ if place == Place::Sheet && (TEXT_LENGTHS.contains(&name) || GEOMETRY.contains(&name)) => {
            value.parse().is_ok_and(|number: f64| number.is_finite() && number != 0.0)
        }
        "font-size" => number_at_start(value).is_some_and(|(number, unit)| number < 0.0 || unit.starts_with(' ')),
        _ => false,
    }
}

/// A number, a share, or a number with what may be a unit; or a function, which may be anything.
fn is_length(value: &str, negative: bool) -> bool {
    if value.contains('(') {
        return true;
    }
    number_at_start(value).is_some_and(|(number, unit)| {
        (negative || number >= 0.0) && (unit == "%" || unit.chars().all(|c| c.is_ascii_alphabetic()))
    })
}

/// A number and what stands behind it.
fn number_at_start(value: &str) -> Option<(f64, &str)> {
    let part_of = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-');
    let mut end = value.find(|c| !part_of(c)).unwrap_or(value.len());
    let exponent = value[end..].strip_prefix('e').filter(|rest| rest.starts_with(part_of));
    if let Some(rest) = exponent {
        end = value.len() - rest.len() + rest.find(|c| !part_of(c)).unwrap_or(rest.len());
    }
    Some((value[..end].parse().ok()?, &value[end..]))
}

/// Whether a value in lower case is a colour nowhere.
fn is_no_colour(value: &str, place: Place) -> bool {
    let hex = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if let Some(digits) = value.strip_prefix('#') {
        // Behind the colour SVG 1.1 allows one of an ICC profile.
        let known = matches!(digits.len(), 3 | 4 | 6 | 8) && hex(digits) || value.contains('(');
        return !known;
    }
    if let Some((function, rest)) = value.split_once('(') {
        let arguments = rest.strip_suffix(')').unwrap_or(rest);
        let plain = arguments.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.' | ' ' | '%' | '-' | '+'));
        let count = arguments.split([',', ' ']).filter(|part| !part.is_empty()).count();
        return matches!(function, "rgb" | "rgba" | "hsl" | "hsla") && plain && count < 3;
    }
    // Some properties take numbers without a sign in a style of theirs.
    let lenient = place == Place::Style && matches!(value.len(), 3 | 6) && hex(value);
    let other = matches!(value, "currentcolor" | "transparent" | "rebeccapurple");
    !(other || lenient || value.starts_with('-') || SYSTEM.contains(&value) || Color::from_str(value).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_browsers_pass_over_is_told_from_what_they_understand_or_may_come_to() {
        let invalid = [
            ("fill", "undefined"),
            ("fill", "none;"),
            ("fill", "#F00;"),
            ("fill", "#12"),
            ("fill", "rgb(1,2)"),
            ("fill", ""),
            ("stroke-width", "NaN"),
            ("stroke-width", "2 px"),
            ("stroke-width", "-1"),
            ("stroke-dasharray", "1 x"),
            ("text-anchor", "center"),
            ("font-weight", "semibold"),
            ("opacity", "null"),
            ("paint-order", "fill first"),
            ("font-size", "12 px"),
        ];
        let valid = [
            ("fill", "RED"),
            ("fill", "#AbCd"),
            ("fill", "url(#a) none"),
            ("fill", "context-fill"),
            ("fill", "oklch(60% .2 200)"),
            ("fill", "rgb(1 2 3 / 4%)"),
            ("fill", "var(--a)"),
            ("fill", "#000 icc-color(a, 1)"),
            ("color", "CanvasText"),
            ("stroke-width", "1e-1"),
            ("stroke-width", "2em"),
            ("stroke-width", "calc(1px + 2px)"),
            ("stroke-dashoffset", "-1%"),
            ("stroke-dasharray", "1,2 3%"),
            ("font-weight", "650"),
            ("font-size", "smaller"),
            ("opacity", "50%"),
            ("visibility", "inherit"),
            ("paint-order", "stroke fill"),
            ("display", "none;"),
        ];
        for (name, value) in invalid {
            assert!(is_invalid(name, value, Place::Attribute), "{name}: {value}");
        }
        for (name, value) in valid {
            assert!(!is_invalid(name, value, Place::Attribute), "{name}: {value}");
        }
    }

    #[test]
    fn lengths_have_units_in_sheets_unless_they_are_nothing_or_those_of_strokes() {
        for (name, value, wrong) in
            [("font-size", "40", true), ("width", "5", true), ("r", "0", false), ("stroke-width", "5", false)]
        {
            assert_eq!(is_invalid(name, value, Place::Sheet), wrong, "{name}: {value}");
            assert!(!is_invalid(name, value, Place::Style), "{name}: {value}");
        }
    }
}
