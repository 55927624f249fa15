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
    let (known, around) = (BTreeMap::new(), BTreeMap::new());
    let mut walk = Walk { style, ids: ids(root), known, around, reach: Reach::default(), run, seen: 0 };
    let weight = walk.measured(root, Inherited::default(), 1)?;
    let relative = weight.relative.saturating_mul(walk.reach.bytes(weight.growth()));
    within(EXPANDED, weight.bytes.saturating_add(relative), run.limits.svg_expanded_bytes)
}

/// What a part of a document comes to.
#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    bytes: u64,
    /// Copies of each [`Kind`] that shapes get from what this is in, as nothing in it sets that.
    open: [u64; 3],
    /// Ellipses whose radius is relative to a font or a viewport.
    relative: u64,
    /// How many times longer its own font or viewport makes a relative length, and those within it at most.
    times: f64,
    times_within: f64,
    depth: u64,
}

impl Weight {
    /// A shape with so many vertices.
    fn shape(vertices: u64) -> Self {
        Self { open: [1, 1, vertices], ..Self::default() }
    }

    fn growth(self) -> f64 {
        self.times.max(1.0) * self.times_within.max(1.0)
    }

    /// What is within this, or what this refers to.
    fn add(&mut self, other: Self) {
        self.join(Self { depth: other.depth + 1, ..other });
    }

    fn join(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        for (open, other) in self.open.iter_mut().zip(other.open) {
            *open = open.saturating_add(other);
        }
        self.relative = self.relative.saturating_add(other.relative);
        self.times_within = self.times_within.max(other.growth());
        self.depth = self.depth.max(other.depth);
    }
}

/// What shapes get from the elements they are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Fill,
    Stroke,
    Markers,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Fill, Self::Stroke, Self::Markers];

    fn of(property: &str) -> Option<Self> {
        match property {
            "fill" => Some(Self::Fill),
            "stroke" => Some(Self::Stroke),
            _ if property.starts_with("marker") => Some(Self::Markers),
            _ => None,
        }
    }

    /// Whether a shape may get more than this from further out, as there are three properties for markers.
    fn is_open(self, set: Option<Paint>) -> bool {
        set.is_none() || self == Self::Markers
    }

    fn over(self, set: Option<Paint>, around: Option<Paint>) -> Option<Paint> {
        match (set, around) {
            (Some(set), Some(around)) if self.is_open(Some(set)) => {
                let bytes = set.bytes.saturating_add(around.bytes);
                Some(Paint { bytes, depth: set.depth.max(around.depth) })
            }
            _ => set.or(around),
        }
    }
}

/// What a kind comes to: its bytes are copied once a shape, or for markers once a vertex.
#[derive(Debug, Clone, Copy, Default)]
struct Paint {
    bytes: u64,
    depth: u64,
}

/// What shapes get; of a kind that nothing has set, what the elements around `referred` set, in which they are drawn as well.
#[derive(Debug, Clone, Copy, Default)]
struct Inherited<'a, 'input> {
    set: [Option<Paint>; 3],
    referred: Option<Node<'a, 'input>>,
}

/// How an element is referred to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Link {
    /// By `use`, in whose place it is drawn.
    Copied,
    /// By anything else; it is drawn as it stands in the document.
    Named,
}

struct Walk<'a, 'input> {
    style: Style<'a>,
    /// All elements of a name, in their order: of several, usvg takes the first for `use` and else the last, which is mostly
    /// [made to be the first](super::reading::mended) as well.
    ids: BTreeMap<&'a str, Vec<Node<'a, 'input>>>,
    /// What has been referred to; `None` while it is being measured.
    known: BTreeMap<(&'a str, Link), Option<Weight>>,
    /// What the elements around another set.
    around: BTreeMap<(u32, Kind), Option<Paint>>,
    reach: Reach,
    run: Run<'a>,
    seen: u32,
}

impl<'a, 'input> Walk<'a, 'input> {
    fn measured(&mut self, node: Node<'a, 'input>, inherited: Inherited<'a, 'input>, depth: u64) -> Result<Weight> {
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
    fn own(&mut self, node: Node<'a, 'input>, inherited: &mut Inherited<'a, 'input>, depth: u64) -> Result<Weight> {
        let mut weight = Weight { bytes: ELEMENT, depth: 1, ..Weight::default() };
        let name = node.tag_name().name();
        let properties = self.properties(node)?;
        for &(property, value) in &properties {
            weight.bytes = weight.bytes.saturating_add(value.len() as u64);
            weight.times = weight.times.max(self.reach.property(property, value));
            if Kind::of(property).is_none() {
                for id in names(value) {
                    weight.add(self.target(id, Link::Named, depth)?);
                }
            }
        }
        for kind in Kind::ALL {
            let set = self.set(&properties, kind, depth)?;
            let before = &mut inherited.set[kind as usize];
            *before = kind.over(set, *before);
        }
        let links = node.attributes().filter(|attribute| attribute.name() == "href" && follows_links(name));
        for id in links.filter_map(|attribute| attribute.value().trim().strip_prefix('#')) {
            let link = if name == "use" { Link::Copied } else { Link::Named };
            let target = self.target(id, link, depth)?;
            weight.add(self.painted(target, inherited, depth)?);
        }
        let own = match name {
            "path" => {
                let data = node.attribute("d").unwrap_or_default();
                Weight { bytes: curves::arcs(data), ..Weight::shape(vertices(data)) }
            }
            "polyline" | "polygon" => Weight::shape(vertices(node.attribute("points").unwrap_or_default())),
            "rect" | "circle" | "ellipse" => self.rounded(node),
            "line" => Weight::shape(8),
            // For `context-fill` and `context-stroke` in what it draws.
            "use" => Weight::shape(0),
            "text" | "tspan" | "textPath" | "tref" => {
                let text = node.children().filter_map(|child| child.text()).map(|text| text.len() as u64);
                Weight { bytes: text.sum::<u64>().saturating_mul(TEXT), ..Weight::shape(0) }
            }
            _ => Weight::default(),
        };
        weight.add(self.painted(own, inherited, depth)?);
        Ok(weight)
    }

    /// A shape that has arcs where it has a radius.
    fn rounded(&mut self, node: Node<'a, 'input>) -> Weight {
        let mut weight = Weight::shape(8);
        for radius in ["r", "rx", "ry"].into_iter().filter_map(|name| node.attribute(name)) {
            match self.reach.ellipse(radius) {
                Some(bytes) => weight.bytes = weight.bytes.saturating_add(bytes),
                None => weight.relative += 1,
            }
        }
        weight
    }

    /// Names and values of all that stands in an element and its styles, but for links.
    fn properties(&self, node: Node<'a, 'input>) -> Result<Vec<(&'a str, &'a str)>> {
        let own = node.attributes().map(|attribute| (attribute.name(), attribute.value()));
        let mut all: Vec<_> = own.filter(|(name, _)| !matches!(*name, "href" | "style")).collect();
        all.extend(self.style.of(node, self.run)?);
        Ok(all)
    }

    /// `weight` with what its shapes get from what they are in.
    fn painted(&mut self, mut weight: Weight, inherited: &Inherited<'a, 'input>, depth: u64) -> Result<Weight> {
        for kind in Kind::ALL {
            let copies = weight.open[kind as usize];
            let mut paint = inherited.set[kind as usize];
            if copies == 0 {
                continue;
            }
            if kind.is_open(paint)
                && let Some(referred) = inherited.referred
            {
                paint = kind.over(paint, self.around(referred, kind, depth)?);
            }
            let Paint { bytes, depth } = paint.unwrap_or_default();
            weight.bytes = weight.bytes.saturating_add(copies.saturating_mul(bytes));
            weight.depth = weight.depth.max(depth);
            if inherited.referred.is_some() || !kind.is_open(paint) {
                weight.open[kind as usize] = 0;
            }
        }
        Ok(weight)
    }

    /// What the elements around `node` set, from the nearest on.
    fn around(&mut self, node: Node<'a, 'input>, kind: Kind, depth: u64) -> Result<Option<Paint>> {
        let mut passed = Vec::new();
        let mut paint = None;
        for element in node.ancestors().skip(1).filter(Node::is_element) {
            let key = (element.id().get(), kind);
            if let Some(&known) = self.around.get(&key) {
                paint = known;
                break;
            }
            let set = self.set(&self.properties(element)?, kind, depth)?;
            passed.push((key, set));
            if !kind.is_open(set) {
                break;
            }
        }
        for (key, set) in passed.into_iter().rev() {
            paint = kind.over(set, paint);
            self.around.insert(key, paint);
        }
        Ok(paint)
    }

    /// What one element sets by its properties: of one that is set several times, all.
    fn set(&mut self, properties: &[(&'a str, &'a str)], kind: Kind, depth: u64) -> Result<Option<Paint>> {
        let mut set: Option<Paint> = None;
        for (_, value) in properties.iter().filter(|(name, _)| Kind::of(name) == Some(kind)) {
            if value.trim() == "inherit" {
                continue;
            }
            let paint = set.get_or_insert_default();
            for id in names(value) {
                let target = self.target(id, Link::Named, depth)?;
                paint.bytes = paint.bytes.saturating_add(target.bytes);
                paint.depth = paint.depth.max(target.depth);
            }
        }
        Ok(set)
    }

    /// What is named `id` comes to.
    fn target(&mut self, id: &str, link: Link, depth: u64) -> Result<Weight> {
        let Some((&id, named)) = self.ids.get_key_value(id) else { return Ok(Weight::default()) };
        let weight = match self.known.get(&(id, link)) {
            Some(Some(weight)) => *weight,
            // Markers have no markers of their own kind.
            Some(None) if named.iter().all(|node| node.tag_name().name() == "marker") => return Ok(Weight::default()),
            Some(None) => return Err(damaged(format!("has an element that refers to itself: #{}", shown(id)))),
            None => {
                let named = if link == Link::Copied { vec![named[0]] } else { named.clone() };
                self.known.insert((id, link), None);
                let mut weight = Weight::default();
                for node in named {
                    let referred = Some(node).filter(|_| link == Link::Named);
                    weight.join(self.measured(node, Inherited { referred, ..Inherited::default() }, depth + 1)?);
                }
                self.known.insert((id, link), Some(weight));
                weight
            }
        };
        let deepest = depth.saturating_add(weight.depth);
        within("depth of SVG elements, references followed", deepest, self.run.limits.svg_depth)?;
        Ok(weight)
    }
}

/// Elements by their names.
fn ids<'a, 'input>(root: Node<'a, 'input>) -> BTreeMap<&'a str, Vec<Node<'a, 'input>>> {
    let mut ids: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for node in root.descendants() {
        for id in node.attributes().filter(|attribute| attribute.name() == "id") {
            ids.entry(id.value()).or_default().push(node);
        }
    }
    ids
}

/// What a value refers to.
fn names(value: &str) -> impl Iterator<Item = &str> {
    urls(value).into_iter().filter_map(|url| url.strip_prefix('#'))
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
