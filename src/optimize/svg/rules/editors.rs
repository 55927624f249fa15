use std::{collections::BTreeSet, sync::LazyLock};

use super::super::{
    Settings, css,
    names::property,
    tree::{Attribute, Content, Id, Tree},
};
use crate::error::Result;

pub(super) const BEFORE: &str = "<svg version=\"1.1\" data-name=\"Layer 1\" xml:space=\"preserve\"><metadata>x</metadata><desc>Created with \
    Sketch.</desc><title>Kept</title><g p-id=\"7\" data-kept=\"7\"/></svg>";
pub(super) const AFTER: &str = "<svg><title>Kept</title><g data-kept=\"7\"/></svg>";

/// Attributes without a meaning for any viewer of today.
const IDLE: [&str; 10] = [
    "version",
    "baseProfile",
    "enable-background",
    "data-name",
    "zoomAndPan",
    "overflow-x",
    "about",
    "resource",
    "property",
    "typeof",
];

/// The attributes of SVG that are no properties (SVG 1.1 and 2, their appendices of attributes; SMIL; Filter Effects), and
/// those that HTML has for every element. Names that begin like one of [`OPEN`] are known too.
const ATTRIBUTES: &str = "accent-height accumulate additive alphabetic amplitude arabic-form ascent attributeName \
    attributeType autofocus azimuth baseFrequency bbox begin bias buffered-rendering by calcMode cap-height class \
    clipPathUnits color-profile contenteditable crossorigin cx cy d decoding descent diffuseConstant dir divisor \
    download draggable dur dx dy edgeMode elevation end exponent externalResourcesRequired fetchpriority filterRes \
    filterUnits focusable format fr from fx fy g1 g2 glyph-name glyphRef gradientTransform gradientUnits hanging height \
    hidden horiz-adv-x horiz-origin-x horiz-origin-y href hreflang id ideographic in in2 inert inline-size intercept is \
    isolation k k1 k2 k3 k4 kernelMatrix kernelUnitLength kerning keyPoints keySplines keyTimes lang lengthAdjust \
    limitingConeAngle line-height loading local markerHeight markerUnits markerWidth mask-type maskContentUnits \
    maskUnits mathematical max media method min mix-blend-mode mode name nonce numOctaves offset operator order orient \
    orientation origin overline-position overline-thickness panose-1 part path pathLength patternContentUnits \
    patternTransform patternUnits ping playbackorder points pointsAtX pointsAtY pointsAtZ preserveAlpha \
    preserveAspectRatio primitiveUnits r radius refX refY referrerpolicy rel rendering-intent repeatCount repeatDur \
    requiredExtensions requiredFeatures restart result role rotate rx ry scale seed side slope slot spacing \
    specularConstant specularExponent spreadMethod startOffset stdDeviation stemh stemv stitchTiles \
    strikethrough-position strikethrough-thickness string style surfaceScale systemLanguage tabindex tableValues target \
    targetX targetY textLength timelinebegin title to transform transform-box translate type u1 u2 underline-position \
    underline-thickness unicode unicode-range units-per-em v-alphabetic v-hanging v-ideographic v-mathematical values \
    vert-adv-y vert-origin-x vert-origin-y viewBox viewTarget white-space width widths x x-height x1 x2 \
    xChannelSelector y y1 y2 yChannelSelector z";
const OPEN: [&str; 8] = ["aria-", "data-", "xml:", "font-", "text-", "shape-", "solid-", "viewport-"];

static KNOWN: LazyLock<BTreeSet<&str>> = LazyLock::new(|| ATTRIBUTES.split_ascii_whitespace().collect());

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    tree.retain(|tree, id| !tree.is(id, &["metadata"]) && !is_advertisement(tree, id));
    let elements = tree.elements();
    let texts = elements.iter().any(|id| tree.is(*id, &["text"]));
    let asked = elements.iter().any(|id| css::says(tree, *id, |css| css.contains("attr(")));
    for id in elements {
        let Some(element) = tree.element_mut(id).filter(|element| !element.html) else { continue };
        element.attributes.retain(|Attribute { name, .. }| {
            !IDLE.contains(&name.as_str())
                && (texts || name != "xml:space")
                && (settings.keep_ids || asked || is_known(name))
        });
    }
    Ok(())
}

fn is_known(name: &str) -> bool {
    KNOWN.contains(name) || property(name).is_some() || OPEN.iter().any(|begins| name.starts_with(begins))
}

/// A description that names the program instead of the picture.
fn is_advertisement(tree: &Tree, id: Id) -> bool {
    let text = || match tree.children(id).first().map(|child| tree.content(*child)) {
        Some(Content::Text(text)) => text.trim_start(),
        _ => "",
    };
    tree.is(id, &["desc"]) && (text().starts_with("Created with") || text().starts_with("Created using"))
}
