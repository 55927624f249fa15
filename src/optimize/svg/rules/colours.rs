use std::str::FromStr;

use super::super::{Settings, names::property, tree::Tree};
use crate::error::Result;

pub(super) const BEFORE: &str =
    "<svg><path fill=\"#FF0000\" stroke=\"rgb(0, 0, 51)\" font-weight=\"bold\"/><stop stop-color=\"#aabbcd\"/></svg>";
pub(super) const AFTER: &str =
    "<svg><path fill=\"red\" stroke=\"#003\" font-weight=\"700\"/><stop stop-color=\"#aabbcd\"/></svg>";

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

pub(super) fn apply(tree: &mut Tree, _: &Settings<'_>) -> Result<()> {
    for id in tree.elements() {
        let Some(element) = tree.element_mut(id).filter(|element| !element.html) else { continue };
        for attribute in &mut element.attributes {
            let value = attribute.value.trim();
            if property(&attribute.name).is_none() {
                continue;
            }
            attribute.value = match attribute.name.as_str() {
                "fill" | "stroke" | "color" | "stop-color" | "flood-color" | "lighting-color" => {
                    shortest(value).unwrap_or_else(|| value.to_owned())
                }
                "font-weight" if value == "bold" => "700".to_owned(),
                "font-weight" if value == "normal" => "400".to_owned(),
                _ => value.to_owned(),
            };
        }
    }
    Ok(())
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
