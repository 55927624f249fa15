//! How much a document grows when its references are followed, found without following any twice.
//!
//! What draws it copies what `use` names, and for every shape the patterns, masks and markers on it, and replaces arcs by
//! curves. A small document can be made to grow without bound by that, or without end where a reference leads back to
//! where it began.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

use super::{
    address::urls,
    curves::{self, Reach},
    damaged,
    style::Style,
};
use crate::{control::Run, error::Result, limits::within};

/// What `svg_expanded_bytes` limits.
const EXPANDED: &str = "SVG bytes, references followed";
/// Bytes that count for an element beside its own.
const ELEMENT: u64 = 256;
/// Bytes that count for one of text, which becomes outlines.
const TEXT: u64 = 16;
/// Elements between two questions whether to go on.
const ELEMENTS_AT_ONCE: u32 = 1 << 10;

/// Checks what `document` comes to.
///
/// # Errors
/// [`Error::Limit`](crate::Error::Limit) above [`svg_expanded_bytes`](crate::Limits::svg_expanded_bytes) or
/// [`svg_depth`](crate::Limits::svg_depth), [`Error::Input`](crate::Error::Input) for references in a circle.
pub(super) fn check(document: &Document<'_>, run: Run<'_>) -> Result<()> {
    let root = document.root_element();
    let style = Style::new(root, run)?;
    let ids = root.descendants().filter_map(|node| Some((node.attribute("id")?, node)));
    let mut ids: Vec<_> = ids.collect();
    ids.reverse(); // Of two with the same name the first counts.
    let ids = ids.into_iter().collect();
    let mut walk = Walk { style, ids, known: BTreeMap::new(), reach: Reach::default(), run, seen: 0 };
    let weight = walk.measured(root, Inherited::default(), 1)?;
    let relative = weight.relative.saturating_mul(walk.reach.bytes(weight.growth()));
    within(EXPANDED, weight.bytes.saturating_add(relative), run.limits.svg_expanded_bytes)
}

/// What a part of a document comes to.
#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    bytes: u64,
    shapes: u64,
    vertices: u64,
    /// Ellipses whose radius is relative to a font or a viewport.
    relative: u64,
    /// How many times longer its own font or viewport makes a relative length, and those within it at most.
    times: f64,
    times_within: f64,
    depth: u64,
}

impl Weight {
    fn growth(self) -> f64 {
        self.times.max(1.0) * self.times_within.max(1.0)
    }

    fn add(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.shapes = self.shapes.saturating_add(other.shapes);
        self.vertices = self.vertices.saturating_add(other.vertices);
        self.relative = self.relative.saturating_add(other.relative);
        self.times_within = self.times_within.max(other.growth());
        self.depth = self.depth.max(other.depth + 1);
    }
}

/// Bytes of what shapes get from the elements they are in: one copy a shape, or for markers one a vertex.
#[derive(Debug, Clone, Copy, Default)]
struct Inherited {
    fill: u64,
    stroke: u64,
    markers: u64,
}

impl Inherited {
    fn on(self, weight: Weight) -> u64 {
        let paint = weight.shapes.saturating_mul(self.fill.saturating_add(self.stroke));
        paint.saturating_add(weight.vertices.saturating_mul(self.markers))
    }
}

struct Walk<'a, 'input> {
    style: Style<'a>,
    ids: BTreeMap<&'a str, Node<'a, 'input>>,
    /// What has been referred to; `None` while it is being measured.
    known: BTreeMap<u32, Option<Weight>>,
    reach: Reach,
    run: Run<'a>,
    seen: u32,
}

impl<'a, 'input> Walk<'a, 'input> {
    fn measured(&mut self, node: Node<'a, 'input>, inherited: Inherited, depth: u64) -> Result<Weight> {
        within("depth of SVG elements, references followed", depth, self.run.limits.svg_depth)?;
        self.seen += 1;
        if self.seen.is_multiple_of(ELEMENTS_AT_ONCE) {
            self.run.check()?;
        }
        let mut inherited = inherited;
        let mut weight = self.own(node, &mut inherited, depth)?;
        for child in node.children().filter(Node::is_element) {
            weight.add(self.measured(child, inherited, depth + 1)?);
        }
        within(EXPANDED, weight.bytes, self.run.limits.svg_expanded_bytes)?;
        Ok(weight)
    }

    /// The element without its children, but with what it refers to.
    fn own(&mut self, node: Node<'a, 'input>, inherited: &mut Inherited, depth: u64) -> Result<Weight> {
        let mut weight = Weight { bytes: ELEMENT, depth: 1, ..Weight::default() };
        let name = node.tag_name().name();
        for attribute in node.attributes() {
            match attribute.name() {
                "href" => {
                    if follows_links(name)
                        && let Some(id) = attribute.value().trim().strip_prefix('#')
                    {
                        let target = self.target(id, depth)?;
                        weight.add(target);
                        weight.bytes = weight.bytes.saturating_add(inherited.on(target));
                    }
                }
                "style" => {}
                property => self.property(property, attribute.value(), inherited, &mut weight, depth)?,
            }
        }
        for (property, value) in self.style.of(node, self.run)? {
            self.property(property, value, inherited, &mut weight, depth)?;
        }
        let own = match name {
            "path" => {
                let data = node.attribute("d").unwrap_or_default();
                Weight { shapes: 1, vertices: vertices(data), bytes: curves::arcs(data), ..Weight::default() }
            }
            "polyline" | "polygon" => {
                let points = node.attribute("points").unwrap_or_default();
                Weight { shapes: 1, vertices: vertices(points), ..Weight::default() }
            }
            "rect" | "circle" | "ellipse" => self.rounded(node),
            "line" | "image" => Weight { shapes: 1, vertices: 8, ..Weight::default() },
            "text" | "tspan" | "textPath" | "tref" => {
                let text = node.children().filter_map(|child| child.text()).map(|text| text.len() as u64);
                Weight { shapes: 1, bytes: text.sum::<u64>().saturating_mul(TEXT), ..Weight::default() }
            }
            _ => Weight::default(),
        };
        weight.add(Weight { bytes: own.bytes.saturating_add(inherited.on(own)), ..own });
        Ok(weight)
    }

    /// A shape that has arcs where it has a radius.
    fn rounded(&mut self, node: Node<'a, 'input>) -> Weight {
        let mut weight = Weight { shapes: 1, vertices: 8, ..Weight::default() };
        for radius in ["r", "rx", "ry"].into_iter().filter_map(|name| node.attribute(name)) {
            match self.reach.ellipse(radius) {
                Some(bytes) => weight.bytes = weight.bytes.saturating_add(bytes),
                None => weight.relative += 1,
            }
        }
        weight
    }

    /// What a property brings: more to be inherited, or more to this very element.
    fn property(
        &mut self,
        name: &str,
        value: &'a str,
        inherited: &mut Inherited,
        weight: &mut Weight,
        depth: u64,
    ) -> Result<()> {
        weight.bytes = weight.bytes.saturating_add(value.len() as u64);
        weight.times = weight.times.max(self.reach.property(name, value));
        let mut referred = 0u64;
        let inherits = matches!(name, "fill" | "stroke") || name.starts_with("marker");
        for id in urls(value).into_iter().filter_map(|url| url.strip_prefix('#')) {
            let target = self.target(id, depth)?;
            referred = referred.saturating_add(target.bytes);
            match inherits {
                true => weight.depth = weight.depth.max(target.depth + 1),
                false => weight.add(target),
            }
        }
        match name {
            _ if value.trim() == "inherit" => {}
            "fill" => inherited.fill = referred,
            "stroke" => inherited.stroke = referred,
            _ if inherits => inherited.markers = inherited.markers.saturating_add(referred),
            _ => {}
        }
        Ok(())
    }

    /// What the element named `id` comes to.
    fn target(&mut self, id: &str, depth: u64) -> Result<Weight> {
        let Some(&node) = self.ids.get(id) else { return Ok(Weight::default()) };
        let weight = match self.known.get(&node.id().get()) {
            Some(Some(weight)) => *weight,
            Some(None) => return Err(damaged(format!("has an element that refers to itself: #{}", shown(id)))),
            None => {
                self.known.insert(node.id().get(), None);
                let weight = self.measured(node, Inherited::default(), depth + 1)?;
                self.known.insert(node.id().get(), Some(weight));
                weight
            }
        };
        let deepest = depth.saturating_add(weight.depth);
        within("depth of SVG elements, references followed", deepest, self.run.limits.svg_depth)?;
        Ok(weight)
    }
}

/// Elements whose links are to what they draw; the links of others lead to be followed by people.
fn follows_links(name: &str) -> bool {
    matches!(
        name,
        "use" | "pattern" | "linearGradient" | "radialGradient" | "filter" | "feImage" | "textPath" | "tref" | "mask"
    )
}

/// A bound on the vertices in path data or points.
fn vertices(data: &str) -> u64 {
    data.len() as u64 / 3 + 1
}

/// The beginning of a name, for an error.
fn shown(id: &str) -> String {
    id.chars().take(40).collect()
}
