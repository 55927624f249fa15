use super::super::{
    Settings,
    names::property,
    style::{animated, is_styled, names_markers},
    tree::{Attribute, Tree},
};
use crate::error::Result;

pub(super) const BEFORE: &str = "<svg><rect x=\"0\" y=\"0\" width=\"5px\" height=\"5\" opacity=\"1\"/><linearGradient x1=\"0%\" x2=\"100%\" y2=\"1\" gradientUnits=\"objectBoundingBox\"/>\
    <path stroke-width=\"2\" clip-path=\"none\"/></svg>";
pub(super) const AFTER: &str =
    "<svg><rect width=\"5\" height=\"5\"/><linearGradient y2=\"1\"/><path stroke-width=\"2\"/></svg>";

/// Attributes that only say what holds without them: of which elements (a name may end in `*`), the attribute, values.
const DEFAULTS: [(&str, &str, &[&str]); 39] = [
    ("svg", "preserveAspectRatio", &["xMidYMid meet", "xMidYMid"]),
    ("svg", "x", &["0", "0px"]),
    ("svg", "y", &["0", "0px"]),
    ("rect", "x", &["0"]),
    ("rect", "y", &["0"]),
    ("use", "x", &["0"]),
    ("use", "y", &["0"]),
    ("image", "x", &["0"]),
    ("image", "y", &["0"]),
    ("image", "preserveAspectRatio", &["xMidYMid meet", "xMidYMid"]),
    ("circle", "cx", &["0"]),
    ("circle", "cy", &["0"]),
    ("ellipse", "cx", &["0"]),
    ("ellipse", "cy", &["0"]),
    ("line", "x1", &["0"]),
    ("line", "y1", &["0"]),
    ("line", "x2", &["0"]),
    ("line", "y2", &["0"]),
    ("*Gradient", "gradientUnits", &["objectBoundingBox"]),
    ("*Gradient", "spreadMethod", &["pad"]),
    ("linearGradient", "x1", &["0", "0%"]),
    ("linearGradient", "y1", &["0", "0%"]),
    ("linearGradient", "x2", &["1", "100%"]),
    ("linearGradient", "y2", &["0", "0%"]),
    ("radialGradient", "cx", &["50%", ".5", "0.5"]),
    ("radialGradient", "cy", &["50%", ".5", "0.5"]),
    ("radialGradient", "r", &["50%", ".5", "0.5"]),
    ("clipPath", "clipPathUnits", &["userSpaceOnUse"]),
    ("mask", "maskUnits", &["objectBoundingBox"]),
    ("mask", "maskContentUnits", &["userSpaceOnUse"]),
    ("pattern", "patternUnits", &["objectBoundingBox"]),
    ("pattern", "patternContentUnits", &["userSpaceOnUse"]),
    ("marker", "markerUnits", &["strokeWidth"]),
    ("filter", "filterUnits", &["objectBoundingBox"]),
    ("filter", "primitiveUnits", &["userSpaceOnUse"]),
    ("style", "type", &["text/css"]),
    ("feColorMatrix", "type", &["matrix"]),
    ("feComposite", "operator", &["over"]),
    ("feBlend", "mode", &["normal"]),
];

pub(super) fn apply(tree: &mut Tree, _: &Settings<'_>) -> Result<()> {
    let styled = is_styled(tree);
    let animated = animated(tree);
    let marked = names_markers(tree);
    for id in tree.elements() {
        let animated = animated[id.index()];
        let Some(element) = tree.element_mut(id).filter(|element| !element.html) else { continue };
        for attribute in &mut element.attributes {
            shorten_unit(attribute);
        }
        // Only what has a viewport of its own overflows, and without markers nobody has to be without.
        let clips =
            element.is(&["svg", "symbol", "marker", "pattern", "image", "foreignObject", "mask", "use", "text"]);
        if !styled && !animated {
            element.attributes.retain(|attribute| {
                (marked || !attribute.name.starts_with("marker-")) && (clips || attribute.name != "overflow")
            });
        }
        // A gradient or pattern that builds on another one overrides it.
        let builds = element.has("href") && !element.is(&["use", "image"]);
        let name = element.name.clone();
        // Shares are of the box, or else of the viewport, where 1 is not all of it.
        let boxed = element.get("gradientUnits") != Some("userSpaceOnUse");
        if !animated {
            element.attributes.retain(|attribute| {
                !(is_default(&name, attribute) && !builds && (boxed || !is_share(attribute))
                    || !styled && is_initial(attribute))
            });
        }
    }
    Ok(())
}

fn is_default(element: &str, attribute: &Attribute) -> bool {
    DEFAULTS.iter().any(|(of, name, values)| {
        *name == attribute.name
            && of.strip_prefix('*').map_or(*of == element, |end| element.ends_with(end))
            && values.contains(&attribute.value.trim())
    })
}

/// A number that is the default where 1 is all of the box.
fn is_share(attribute: &Attribute) -> bool {
    matches!(attribute.name.as_str(), "x2" | "cx" | "cy" | "r") && !attribute.value.contains('%')
}

/// Properties that are not inherited have their initial value without an attribute.
fn is_initial(attribute: &Attribute) -> bool {
    property(&attribute.name).is_some_and(|property| {
        !property.inherited && !property.initial.is_empty() && property.initial == attribute.value.trim()
    })
}

/// `px` is what a number without a unit means.
fn shorten_unit(attribute: &mut Attribute) {
    if super::super::names::NUMBERS.contains(&attribute.name.as_str())
        && let Some(number) = attribute.value.trim().strip_suffix("px")
        && number.parse::<f64>().is_ok()
    {
        attribute.value = number.to_owned();
    }
}
