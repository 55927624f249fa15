//! The names of SVG and what they mean to the rules.

use std::{collections::BTreeSet, sync::LazyLock};

/// A presentation attribute.
#[derive(Debug, Clone, Copy)]
pub(super) struct Property {
    pub name: &'static str,
    /// The initial value, as the rules write it; empty where it is not a plain word.
    pub initial: &'static str,
    pub inherited: bool,
}

const fn inherited(name: &'static str, initial: &'static str) -> Property {
    Property { name, initial, inherited: true }
}

const fn own(name: &'static str, initial: &'static str) -> Property {
    Property { name, initial, inherited: false }
}

/// The presentation attributes of SVG 1.1 and 2 that renderers read, <https://www.w3.org/TR/SVG2/propidx.html>.
const PROPERTIES: [Property; 59] = [
    inherited("fill", "#000"),
    inherited("fill-opacity", "1"),
    inherited("fill-rule", "nonzero"),
    inherited("stroke", "none"),
    inherited("stroke-dasharray", "none"),
    inherited("stroke-dashoffset", "0"),
    inherited("stroke-linecap", "butt"),
    inherited("stroke-linejoin", "miter"),
    inherited("stroke-miterlimit", "4"),
    inherited("stroke-opacity", "1"),
    inherited("stroke-width", "1"),
    inherited("clip-rule", "nonzero"),
    inherited("color", "#000"),
    inherited("color-interpolation", "sRGB"),
    inherited("color-interpolation-filters", "linearRGB"),
    inherited("color-rendering", "auto"),
    inherited("cursor", "auto"),
    inherited("direction", "ltr"),
    inherited("dominant-baseline", ""),
    inherited("font-family", ""),
    inherited("font-size", "medium"),
    inherited("font-stretch", "normal"),
    inherited("font-style", "normal"),
    inherited("font-variant", "normal"),
    inherited("font-weight", "400"),
    inherited("glyph-orientation-horizontal", ""),
    inherited("glyph-orientation-vertical", "auto"),
    inherited("image-rendering", "auto"),
    inherited("letter-spacing", "normal"),
    inherited("marker-end", "none"),
    inherited("marker-mid", "none"),
    inherited("marker-start", "none"),
    inherited("paint-order", "normal"),
    inherited("pointer-events", ""),
    inherited("shape-rendering", "auto"),
    inherited("text-anchor", "start"),
    inherited("text-rendering", "auto"),
    inherited("visibility", "visible"),
    inherited("word-spacing", "normal"),
    inherited("writing-mode", ""),
    own("alignment-baseline", ""),
    own("baseline-shift", ""),
    own("clip", "auto"),
    own("clip-path", "none"),
    own("display", "inline"),
    own("enable-background", "accumulate"),
    own("filter", "none"),
    own("flood-color", "#000"),
    own("flood-opacity", "1"),
    own("lighting-color", "#fff"),
    own("mask", "none"),
    own("opacity", "1"),
    own("overflow", ""),
    own("stop-color", "#000"),
    own("stop-opacity", "1"),
    own("text-decoration", "none"),
    own("transform-origin", ""),
    own("unicode-bidi", "normal"),
    own("vector-effect", "none"),
];

/// What is known of a presentation attribute.
pub(super) fn property(name: &str) -> Option<Property> {
    PROPERTIES.into_iter().find(|property| property.name == name)
}

/// Basic shapes and paths.
pub(super) const SHAPES: [&str; 7] = ["path", "rect", "circle", "ellipse", "line", "polyline", "polygon"];

/// Elements that draw something by themselves.
pub(super) const DRAWN: [&str; 14] = [
    "path",
    "rect",
    "circle",
    "ellipse",
    "line",
    "polyline",
    "polygon",
    "use",
    "image",
    "text",
    "foreignObject",
    "tspan",
    "textPath",
    "tref",
];

/// Elements that draw nothing where they stand.
pub(super) const DEFINITIONS: [&str; 10] =
    ["defs", "clipPath", "mask", "pattern", "marker", "symbol", "filter", "linearGradient", "radialGradient", "font"];

/// Elements that change others over time.
pub(super) const ANIMATIONS: [&str; 6] =
    ["animate", "animateColor", "animateMotion", "animateTransform", "set", "discard"];

/// Attributes whose values are lengths in user units or plain numbers.
pub(super) const NUMBERS: [&str; 34] = [
    "x",
    "y",
    "x1",
    "y1",
    "x2",
    "y2",
    "cx",
    "cy",
    "r",
    "rx",
    "ry",
    "fx",
    "fy",
    "fr",
    "width",
    "height",
    "dx",
    "dy",
    "stroke-width",
    "stroke-dashoffset",
    "stroke-miterlimit",
    "opacity",
    "fill-opacity",
    "stroke-opacity",
    "stop-opacity",
    "flood-opacity",
    "offset",
    "font-size",
    "letter-spacing",
    "word-spacing",
    "refX",
    "refY",
    "markerWidth",
    "markerHeight",
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

/// Whether SVG or HTML has an attribute of this name.
pub(super) fn is_attribute(name: &str) -> bool {
    KNOWN.contains(name) || property(name).is_some() || OPEN.iter().any(|begins| name.starts_with(begins))
}
