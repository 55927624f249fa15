//! What browsers compute of CSS for a picture on a light screen, in words that usvg knows.

mod ends;
mod syntax;

use std::{cell::Cell, collections::BTreeMap};

pub(crate) use syntax::{Declaration, declarations, in_name, rule, rules, split, stripped, written};

use self::{ends::Ends, syntax::function};
use crate::picture::transfer;

/// What stands in every text that may have something to compute.
const SIGNS: [&str; 11] = [
    "var(",
    "light-dark(",
    "color(",
    ":root",
    "@media",
    "@supports",
    "@layer",
    "transform",
    "animation",
    "%)",
    "drop-shadow(",
];
/// Functions and blocks within each other.
const DEPTH: u8 = 16;
/// Bytes of all values that variables stand for, wherever they do.
const VARIABLE_BYTES: usize = 1 << 20;
/// Linear Display P3 to linear sRGB (both D65; CSS Color 4, section 10).
const SRGB_OF_P3: [[f64; 3]; 3] = [
    [1.224_940_176_28, -0.224_940_176_28, 0.0],
    [-0.042_056_954_71, 1.042_056_954_71, 0.0],
    [-0.019_637_554_59, -0.078_636_045_55, 1.098_273_600_14],
];

/// Whether `text` may have something to compute.
pub(super) fn is_in(text: &str) -> bool {
    SIGNS.iter().any(|sign| text.contains(sign))
}

/// The style of a document: its custom properties and key frames.
pub(super) struct Css {
    ends: Ends,
    /// Of the root element, by their names; `None` where others have such, too, as what inherits them is not looked at.
    variables: BTreeMap<String, Option<String>>,
    room: Cell<usize>,
}

impl Css {
    /// Of a document with these style sheets, and these declarations in the `style` of its root.
    pub(super) fn new<'a>(sheets: impl IntoIterator<Item = &'a str>, root: &str) -> Self {
        let mut css = Self { ends: Ends::default(), variables: BTreeMap::new(), room: Cell::new(VARIABLE_BYTES) };
        for sheet in sheets {
            let sheet = shown(sheet, DEPTH);
            css.ends.read(&sheet);
            for (selectors, block) in rules(&sheet, true) {
                let mut selectors = split(selectors, ',').into_iter();
                css.declare(block, selectors.any(|one| matches!(one, ":root" | "svg" | "*" | "html")));
            }
        }
        css.declare(root, true);
        css
    }

    fn declare(&mut self, block: &str, of_root: bool) {
        for Declaration { name, value, .. } in declarations(block).into_iter().filter(|one| one.name.starts_with("--"))
        {
            let known = self.variables.entry(name).or_insert_with(|| Some(String::new()));
            *known = known.take().filter(|_| of_root).map(|_| value);
        }
    }

    /// A style sheet.
    pub(super) fn sheet(&self, text: &str) -> String {
        self.computed(&self.ends.in_sheet(shown(text, DEPTH).replace(":root", "svg")), true, DEPTH)
    }

    /// Declarations, as of a `style` attribute.
    pub(super) fn declarations(&self, text: &str) -> String {
        self.computed(&self.ends.in_declarations(text), true, DEPTH)
    }

    /// The value of a presentation attribute, whose transforms have no units anyway.
    pub(super) fn value(&self, text: &str) -> String {
        self.computed(text, false, DEPTH)
    }

    /// `text` with what its functions come to; those that are not known here stay.
    fn computed(&self, text: &str, transforms: bool, depth: u8) -> String {
        let Some(deeper) = depth.checked_sub(1) else { return text.to_owned() };
        let (mut out, mut rest) = (String::with_capacity(text.len()), text);
        while let Some((before, name, arguments, behind)) = function(rest) {
            out.push_str(before);
            rest = behind;
            let lower = name.to_ascii_lowercase();
            let computed = match &*lower {
                // What stands in an address is no CSS.
                "url" => None,
                "var" => self.variable(arguments, transforms, deeper),
                known => {
                    let arguments = self.computed(arguments, transforms, deeper);
                    let plain = match known {
                        "light-dark" => split(&arguments, ',').first().map(|light| (*light).to_owned()),
                        "color" => colour(&arguments),
                        "rgb" | "rgba" | "hsl" | "hsla" => digits(known, &arguments),
                        known if transforms => transform(known, &arguments),
                        _ => None,
                    };
                    Some(plain.unwrap_or_else(|| format!("{name}({arguments})")))
                }
            };
            match computed {
                Some(computed) => out.push_str(&computed),
                None => out.extend([name, "(", arguments, ")"]),
            }
        }
        out.push_str(rest);
        out
    }

    /// The value of a variable, or what stands for one that is not declared; `None` where that is not known.
    fn variable(&self, arguments: &str, transforms: bool, depth: u8) -> Option<String> {
        let (name, fallback) = arguments.split_once(',').map_or((arguments, None), |(name, other)| (name, Some(other)));
        let value = match self.variables.get(name.trim()) {
            Some(value) => value.as_deref()?,
            None => fallback?,
        };
        // Before its own variables, which may have others in them, and so on.
        self.room.set(self.room.get().checked_sub(value.len() + 1)?);
        Some(self.computed(value.trim(), transforms, depth))
    }
}

/// The rules that are in force on a light screen, out of blocks that ask for one. Blocks of other kinds stay, as do those of
/// which it is not known.
fn shown(sheet: &str, depth: u8) -> String {
    let Some(deeper) = depth.checked_sub(1) else { return sheet.to_owned() };
    let shown = rules(sheet, true).into_iter().map(|(head, body)| {
        let name = head.split(|c: char| c.is_ascii_whitespace() || c == '(').next().unwrap_or(head);
        let condition = &head[name.len()..];
        let holds = match &*name.to_ascii_lowercase() {
            "@media" => is_light_screen(condition),
            "@supports" => (!condition.contains("not")).then_some(true),
            "@layer" => Some(true),
            _ => None,
        };
        match holds {
            Some(true) => shown(body, deeper),
            Some(false) => String::new(),
            None => rule(head, body),
        }
    });
    shown.collect()
}

/// Whether a list of media queries holds on a light screen; `None` where that depends on something else.
fn is_light_screen(queries: &str) -> Option<bool> {
    let queries = queries.to_ascii_lowercase();
    // What does not hold decides over a query, whatever else it asks, and a query that holds over the list.
    let decided = |known: &[Option<bool>], deciding: bool| match known.contains(&Some(deciding)) {
        true => Some(deciding),
        false => (!known.contains(&None)).then_some(!deciding),
    };
    let holds = queries.split(',').map(|query| {
        let terms = query.trim().trim_start_matches("only ").split(" and ");
        decided(&terms.map(feature).collect::<Vec<_>>(), false)
    });
    decided(&holds.collect::<Vec<_>>(), true)
}

fn feature(term: &str) -> Option<bool> {
    let term: String = term.chars().filter(|c| !c.is_whitespace()).collect();
    match &*term {
        "all" | "screen" => Some(true),
        "print" | "speech" => Some(false),
        "(prefers-color-scheme:light)" | "(prefers-reduced-motion:no-preference)" => Some(true),
        "(prefers-contrast:no-preference)" | "(forced-colors:none)" => Some(true),
        "(prefers-color-scheme:dark)" | "(prefers-reduced-motion:reduce)" | "(prefers-reduced-motion)" => Some(false),
        "(prefers-contrast:more)" | "(prefers-contrast:less)" | "(forced-colors:active)" => Some(false),
        _ => None,
    }
}

/// A colour of `color()` in sRGB, clipped as on a screen of its gamut; `None` for other spaces than Display P3 and sRGB.
fn colour(arguments: &str) -> Option<String> {
    let (channels, alpha) = arguments.split_once('/').map_or((arguments, None), |(c, alpha)| (c, Some(alpha)));
    let mut words = channels.split_ascii_whitespace();
    let space = words.next()?.to_ascii_lowercase();
    let number = |word: &str| match word.strip_suffix('%') {
        Some(percents) => percents.parse().ok().map(|value: f64| value / 100.0),
        None if word == "none" => Some(0.0),
        None => word.parse().ok(),
    };
    let values: Vec<f64> = words.map(number).collect::<Option<_>>()?;
    let values: [f64; 3] = values.try_into().ok()?;
    let rgb = match &*space {
        "srgb" => values,
        "display-p3" => {
            let linear = values.map(|value| transfer::decode(value.clamp(0.0, 1.0)));
            SRGB_OF_P3.map(|row| transfer::encode(row[0] * linear[0] + row[1] * linear[1] + row[2] * linear[2]))
        }
        _ => return None,
    };
    let [r, g, b] = rgb.map(|value| (value * 255.0).round().clamp(0.0, 255.0) as u8);
    Some(match alpha {
        Some(alpha) => format!("rgba({r},{g},{b},{})", number(alpha.trim())?.clamp(0.0, 1.0)),
        None => format!("rgb({r},{g},{b})"),
    })
}

/// A colour in hexadecimal digits, which may stand within the brackets of another function, and whose alpha may be a share.
fn digits(name: &str, arguments: &str) -> Option<String> {
    let has_alpha = arguments.contains('/') || arguments.matches(',').count() == 3;
    let share = arguments.trim_end().strip_suffix('%').filter(|_| has_alpha).and_then(|rest| {
        let (before, percents) = rest.split_at(rest.rfind(['/', ',', ' '])? + 1);
        Some(format!("{before}{}", percents.parse::<f64>().ok()? / 100.0))
    });
    let text = format!("{name}({})", share.as_deref().unwrap_or(arguments));
    let svgtypes::Color { red, green, blue, alpha } = text.parse().ok()?;
    let opaque = format!("#{red:02x}{green:02x}{blue:02x}");
    Some(if alpha == u8::MAX { opaque } else { format!("{opaque}{alpha:02x}") })
}

/// A function of a transform as SVG writes it, without units; `None` where that cannot be said.
fn transform(name: &str, arguments: &str) -> Option<String> {
    let plain = match name {
        "translate" | "translatex" | "translatey" => lengths(arguments)?,
        "rotate" | "rotatez" | "skew" | "skewx" | "skewy" => angles(arguments)?,
        "scalex" | "scaley" => arguments.trim().to_owned(),
        _ => return None,
    };
    Some(match name {
        "translatex" => format!("translate({plain})"),
        "translatey" => format!("translate(0 {plain})"),
        "scalex" => format!("scale({plain} 1)"),
        "scaley" => format!("scale(1 {plain})"),
        "rotatez" => format!("rotate({plain})"),
        "skewx" => format!("skewX({plain})"),
        "skewy" => format!("skewY({plain})"),
        name => format!("{name}({plain})"),
    })
}

fn lengths(arguments: &str) -> Option<String> {
    let number = |word: &str| word.trim_end_matches("px").parse().ok();
    numbers(arguments, number)
}

fn angles(arguments: &str) -> Option<String> {
    const UNITS: [(&str, f64); 4] =
        [("grad", 0.9), ("deg", 1.0), ("rad", 180.0 / std::f64::consts::PI), ("turn", 360.0)];
    numbers(arguments, |word| {
        let unit = UNITS.iter().find_map(|(unit, degrees)| Some((word.strip_suffix(unit)?, *degrees)));
        let (number, degrees) = unit.unwrap_or((word, 1.0));
        number.parse().ok().map(|number: f64| number * degrees)
    })
}

fn numbers(arguments: &str, number: impl Fn(&str) -> Option<f64>) -> Option<String> {
    let words = arguments.split(|c: char| c == ',' || c.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let numbers: Vec<String> =
        words.map(|word| number(word).map(|number| number.to_string())).collect::<Option<_>>()?;
    Some(numbers.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn css(sheet: &str) -> Css {
        Css::new([sheet], "")
    }

    #[test]
    fn colours_are_those_of_a_light_screen() {
        let drawio = "fill: light-dark(rgb(255, 224, 224), var(--dark, #121212)); stroke: light-dark(#000, #fff);";
        assert_eq!(css("").declarations(drawio), "fill: #ffe0e0; stroke: #000;");
        let figma = "fill:#D95040;fill:color(display-p3 0.8510 0.3137 0.2510);fill-opacity:1";
        assert_eq!(css("").declarations(figma), "fill:#D95040;fill:rgb(235,66,54);fill-opacity:1");
        assert_eq!(css("").value("color(srgb 1 50% 0 / .5)"), "rgba(255,128,0,0.5)");
        for white in ["color(display-p3 1 1 1)", "color(srgb 100% 1 1)"] {
            assert_eq!(css("").value(white), "rgb(255,255,255)");
        }
        assert_eq!(css("").value("color(rec2020 1 0 0)"), "color(rec2020 1 0 0)");
    }

    #[test]
    fn colours_within_functions_and_with_a_share_for_alpha_are_digits() {
        let shadow = "filter:drop-shadow(0 1px 2px rgba(0, 0, 0, .5))";
        assert_eq!(css("").declarations(shadow), "filter:drop-shadow(0 1px 2px #00000080)");
        for half in [
            "rgb(255 0 0 / 50%)",
            "rgba(255,0,0,50%)",
            "rgb(255 0 0/0.5)",
            "rgba(100%, 0%, 0%, .5)",
            "hsl(0 100% 50% / 50%)",
        ] {
            assert_eq!(css("").value(half), "#ff000080", "{half}");
        }
        assert_eq!(css("").value("rgb(255,0,0)"), "#ff0000");
        assert_eq!(css("").value("rgb(from red r g b)"), "rgb(from red r g b)");
    }

    #[test]
    fn variables_are_those_of_the_root_or_what_stands_for_them() {
        let sheet =
            ":root{--a:red;--b:var(--a)} .x{--c:1} svg{--c:2} @media (prefers-color-scheme:dark){:root{--a:blue}}";
        let css = css(sheet);
        assert_eq!(css.value("var(--b)"), "red");
        assert_eq!(css.value("var(--none, rgb(1, 2, 3))"), "#010203");
        for unknown in ["var(--c)", "var(--none)"] {
            assert_eq!(css.value(unknown), unknown);
        }
        assert_eq!(Css::new([], "--a: #123").value("var(--a)"), "#123");
        let bomb: String = (1..60).map(|n| format!("--v{n}:var(--v{0}) var(--v{0});", n - 1)).collect();
        let bomb = Css::new([], &format!("--v0:{};{bomb}", "x".repeat(1000)));
        // Its room is used up once, not at every place.
        assert!((0..1000).all(|_| bomb.value("var(--v59)").len() < 1 << 21));
        assert_eq!(Css::new([], "--a:var(--a)").value("var(--a)").len(), "var(--a)".len());
    }

    #[test]
    fn blocks_hold_or_not_and_what_is_unknown_stays() {
        let sheet =
            "@media screen{a{fill:red}}@media print,(prefers-color-scheme: dark){b{c:d}}@supports (a:b){e{f:g}}";
        assert_eq!(css("").sheet(sheet), "a{fill:red}e{f:g}");
        let stays = "@media (min-width:3px){a{b:c}}@font-face{src:url(a)}@import 'x';";
        assert_eq!(css("").sheet(stays), stays);
        assert_eq!(css("").sheet("/*@media*/:root{color:red}"), "/*@media*/svg{color:red}");
        assert_eq!(css("").sheet("@media print{a{b:c}"), "");
    }

    #[test]
    fn transforms_lose_their_units_and_addresses_stay() {
        let declarations = |text| css("").declarations(text);
        assert_eq!(declarations("transform:rotate(.5turn) translateX(3px)"), "transform:rotate(180) translate(3)");
        assert_eq!(declarations("transform:translate(1px, -2.5px)"), "transform:translate(1 -2.5)");
        assert_eq!(declarations("transform:translate(50%)"), "transform:translate(50%)");
        assert_eq!(declarations("fill:url('a(b')"), "fill:url('a(b')");
        assert_eq!(css("").value("rotate(90deg)"), "rotate(90deg)");
    }

    #[test]
    fn whatever_is_open_ends_somewhere() {
        for text in [
            "",
            "(",
            "a(",
            "var(",
            "var(--a,",
            "@media",
            "@media{",
            "@",
            "'",
            "/*",
            "a{",
            "@media (a",
            "color(/",
            "é(ü",
        ] {
            let _ = (css(text).sheet(text), css(text).declarations(text));
        }
        let deep = "var(--a,".repeat(50_000);
        assert!(css("").value(&deep).len() <= deep.len() + 1000);
    }
}
