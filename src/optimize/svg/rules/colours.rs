use std::str::FromStr;

use super::super::{
    Settings, css,
    names::property,
    style::{Value, inherited, is_declared, is_relative, is_styled, moves},
    tree::{Id, Tree},
};
use crate::error::Result;

pub(super) const BEFORE: &str = "<svg><path fill=\"#FF0000\" stroke=\"rgb(0, 0, 51)\" font-weight=\"bold\"/><stop stop-color=\"#aabbcd\"/>\
    <path color=\"#0F0\" fill=\"currentColor\"/></svg>";
pub(super) const AFTER: &str = "<svg><path fill=\"red\" stroke=\"#003\" font-weight=\"700\"/><stop stop-color=\"#aabbcd\"/><path fill=\"#0f0\"/></svg>";

/// Names of CSS that are shorter than the colour's number.
const NAMES: [(&str, u32); 33] = [
    ("red", 0xFF_00_00),
    ("tan", 0xD2_B4_8C),
    ("aqua", 0x00_FF_FF),
    ("blue", 0x00_00_FF),
    ("cyan", 0x00_FF_FF),
    ("gold", 0xFF_D7_00),
    ("gray", 0x80_80_80),
    ("lime", 0x00_FF_00),
    ("navy", 0x00_00_80),
    ("peru", 0xCD_85_3F),
    ("pink", 0xFF_C0_CB),
    ("plum", 0xDD_A0_DD),
    ("snow", 0xFF_FA_FA),
    ("teal", 0x00_80_80),
    ("azure", 0xF0_FF_FF),
    ("beige", 0xF5_F5_DC),
    ("brown", 0xA5_2A_2A),
    ("coral", 0xFF_7F_50),
    ("green", 0x00_80_00),
    ("ivory", 0xFF_FF_F0),
    ("khaki", 0xF0_E6_8C),
    ("linen", 0xFA_F0_E6),
    ("olive", 0x80_80_00),
    ("wheat", 0xF5_DE_B3),
    ("bisque", 0xFF_E4_C4),
    ("indigo", 0x4B_00_82),
    ("maroon", 0x80_00_00),
    ("orange", 0xFF_A5_00),
    ("orchid", 0xDA_70_D6),
    ("purple", 0x80_00_80),
    ("salmon", 0xFA_80_72),
    ("sienna", 0xA0_52_2D),
    ("silver", 0xC0_C0_C0),
];

/// Properties that are colours, `color` itself aside.
const PAINT: [&str; 5] = ["fill", "stroke", "stop-color", "flood-color", "lighting-color"];

pub(super) fn apply(tree: &mut Tree, _: &Settings<'_>) -> Result<()> {
    if !is_styled(tree) && !moves(tree, "color") {
        resolve_current(tree);
    }
    for id in tree.elements() {
        let Some(element) = tree.element_mut(id).filter(|element| !element.html) else { continue };
        for attribute in &mut element.attributes {
            let value = attribute.value.trim();
            if property(&attribute.name).is_none() {
                continue;
            }
            attribute.value = match attribute.name.as_str() {
                name if name == "color" || PAINT.contains(&name) => shortest(value).unwrap_or_else(|| value.to_owned()),
                "font-weight" if value == "bold" => "700".to_owned(),
                "font-weight" if value == "normal" => "400".to_owned(),
                _ => value.to_owned(),
            };
        }
    }
    Ok(())
}

/// Writes the colour that the document itself gives in the place of `currentColor`, and drops `color` where nobody asks for it.
/// That of the root may be another one on the page that the document is put into.
fn resolve_current(tree: &mut Tree) {
    let colours = inherited(tree, "color");
    let asks = |value: &str| value.trim().eq_ignore_ascii_case("currentcolor");
    let own = |id: &Id| tree.get(*id, "color").is_some() || is_declared(tree, *id, "color");
    let given = |id: Id| tree.upwards(id).take_while(|above| *above != tree.root()).any(|above| own(&above));
    // What inherits the keyword asks for its own colour.
    let lends =
        |id: Id| tree.descendants(id).into_iter().any(|below| tree.is(below, &["use"]) || below != id && own(&below));
    let mut found = Vec::new();
    for id in tree.elements() {
        for name in PAINT {
            let Value::Known(colour) = &colours[id.index()] else { continue };
            if tree.get(id, name).is_some_and(asks) && !is_relative("color", colour, true) && given(id) && !lends(id) {
                found.push((id, name, colour.clone()));
            }
        }
    }
    found.into_iter().for_each(|(id, name, colour)| tree.set(id, name, colour));
    let elements = tree.elements();
    let mentions = |value: &str| value.to_ascii_lowercase().contains("currentcolor");
    let asked = elements.iter().any(|id| {
        let element = tree.element(*id);
        element.is_some_and(|element| element.html || element.attributes.iter().any(|one| mentions(&one.value)))
            || css::says(tree, *id, mentions)
    });
    if !asked {
        elements.into_iter().for_each(|id| drop(tree.unset(id, "color")));
    }
}

/// An opaque colour in its shortest form; `None` for everything else. The number goes before a name of the same length.
pub(in super::super) fn shortest(value: &str) -> Option<String> {
    let lower = value.to_ascii_lowercase();
    if matches!(lower.as_str(), "none" | "currentcolor" | "inherit" | "transparent" | "context-fill" | "context-stroke")
        || lower.contains("url(")
    {
        return None;
    }
    let colour = svgtypes::Color::from_str(&lower).ok().filter(|colour| colour.alpha == u8::MAX)?;
    let number = (u32::from(colour.red) << 16) | (u32::from(colour.green) << 8) | u32::from(colour.blue);
    let doubled = [colour.red, colour.green, colour.blue].iter().all(|c| c >> 4 == c & 15);
    let hex = match doubled {
        true => format!("#{:x}{:x}{:x}", colour.red & 15, colour.green & 15, colour.blue & 15),
        false => format!("#{number:06x}"),
    };
    let named = NAMES.iter().find(|(name, rgb)| *rgb == number && name.len() < hex.len());
    Some(named.map_or(hex, |(name, _)| (*name).to_owned()))
}
