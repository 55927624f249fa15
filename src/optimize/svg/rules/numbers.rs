use super::super::{
    Settings,
    names::{NUMBERS, SHAPES, property},
    path::number,
    screen::Screen,
    style::{textual, unsteady},
    tree::Tree,
};
use crate::error::Result;

pub(super) const BEFORE: &str =
    "<svg width=\"1000.00\" viewBox=\"0, 0,  99 99\"><use x=\"10.00001\" y=\"0.50\"/><stop offset=\"0.50\"/></svg>";
pub(super) const AFTER: &str =
    "<svg width=\"1000\" viewBox=\"0 0 99 99\"><use x=\"10\" y=\".5\"/><stop offset=\".5\"/></svg>";

/// Numbers that are shares of 1 are seen in 8 bits.
const SHARE: f64 = 1.0 / 512.0;

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    let (screen, textual, unsteady) = (Screen::of(tree), textual(tree, settings.run)?, unsteady(tree));
    for id in tree.elements() {
        let Some(element) = tree.element(id).filter(|element| !element.html && !element.name.starts_with("fe")) else {
            continue;
        };
        // The size of the document and of what is written in it stays.
        let fixed = element.is(&["svg"]) || tree.within(id, &["text", "font"]);
        let shape = SHAPES.contains(&tree.name(id));
        let pixels = settings.pixels(textual[id.index()], unsteady[id.index()]);
        let mut changed = Vec::new();
        for attribute in &element.attributes {
            let inherited = property(&attribute.name).is_some_and(|property| property.inherited);
            // What is inherited may be drawn larger further down.
            let scale = if inherited && !shape { screen.largest() } else { screen.place(tree, id).scale };
            let kind = Kind::of(&attribute.name, fixed && !inherited);
            let shorter = kind.and_then(|kind| {
                kind.shorten(attribute.value.trim(), pixels / scale, pixels, if settings.lossy { SHARE } else { 0.0 })
            });
            if let Some(shorter) = shorter.filter(|shorter| shorter.len() < attribute.value.len()) {
                changed.push((attribute.name.clone(), shorter));
            }
        }
        changed.into_iter().for_each(|(name, value)| tree.set(id, &name, value));
    }
    Ok(())
}

/// What an attribute's numbers say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Something whose every digit counts, in one number or a list of them.
    Exact,
    /// The same of a document, which readers look at that know no exponents.
    Size,
    /// Lengths.
    Lengths,
    /// A length or coordinate.
    Length,
    /// A share of 1.
    Share,
}

impl Kind {
    fn of(name: &str, fixed: bool) -> Option<Self> {
        match name {
            "viewBox" => Some(Self::Size),
            "width" | "height" if fixed => Some(Self::Size),
            "stroke-dasharray" => Some(Self::Lengths),
            _ if !NUMBERS.contains(&name) => None,
            "offset" => Some(Self::Share),
            _ if name.ends_with("opacity") => Some(Self::Share),
            "stroke-miterlimit" | "font-size" | "letter-spacing" | "word-spacing" => Some(Self::Exact),
            _ if fixed => Some(Self::Exact),
            _ => Some(Self::Length),
        }
    }

    /// The value within a tolerance in user units, which is so many `pixels` of the screen.
    fn shorten(self, value: &str, units: f64, pixels: f64, shares: f64) -> Option<String> {
        if self == Self::Lengths || value.contains([' ', ',']) {
            let numbers: Vec<f64> =
                svgtypes::NumberListParser::from(value).collect::<std::result::Result<_, _>>().ok()?;
            let tolerance = if self == Self::Lengths { units / 4.0 } else { 0.0 };
            // Not every reader of these lists does without spaces.
            return Some(numbers.iter().map(|one| self.written(*one, tolerance)).collect::<Vec<_>>().join(" "));
        }
        let (digits, unit) =
            value.split_at(value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%').len());
        let parsed: f64 = digits.parse().ok().filter(|number: &f64| number.is_finite())?;
        let tolerance = match (self, unit) {
            (Self::Exact | Self::Size | Self::Lengths, _) => 0.0,
            (Self::Share, "%") => 100.0 * shares,
            (Self::Share, _) => shares,
            // Of the screen, which is not larger.
            (Self::Length, "%") => 100.0 * pixels / 2048.0,
            (Self::Length, "") => units / 2.0,
            // A unit is at most 96 user units.
            (Self::Length, "px" | "pt" | "pc" | "mm" | "cm" | "in") => units / 100.0,
            (Self::Length, _) => 0.0,
        };
        Some(format!("{}{unit}", self.written(parsed, tolerance)))
    }

    fn written(self, value: f64, tolerance: f64) -> String {
        let text = number::shortest(value, tolerance);
        if self == Self::Size && text.contains('e') { value.to_string() } else { text }
    }
}
