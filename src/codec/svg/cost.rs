//! How much work and memory a drawing takes, estimated before a pixel of it exists.
//!
//! The walk is the one that draws: every group with an opacity, a mask, a clip path, a blend mode or a filter is drawn on a layer
//! of its own, every pattern on a tile, every time it is met. A step is about a nanosecond.

use resvg::{
    tiny_skia::{PathSegment, Point, Transform},
    usvg::{
        ClipPath, Group, Image, ImageKind, Mask, Node, NonZeroRect, Paint, Path, Pattern, Rect, Stop, Stroke, Tree,
    },
};

use super::filter_cost;
use crate::{control::Run, error::Result, limits::within};

/// Steps to begin with a node.
const NODE: f64 = 200.0;
/// Steps for a segment of a path, and for each row of pixels that it crosses.
const SEGMENT: f64 = 40.0;
const ROW: f64 = 20.0;
/// Steps for a segment to find its place among those that cross the same row, for each of these.
const SORTED: f64 = 2.0;
/// Steps for a dash, which becomes an outline of its own.
const DASH: f64 = 4_000.0;
/// Steps for a pixel: of a layer made, cleared and laid over another; of a mask; of an embedded picture decoded; drawn.
const LAYER: f64 = 12.0;
const MASK: f64 = 12.0;
const DECODED: f64 = 20.0;
const RESAMPLED: f64 = 30.0;
const SHADED: f64 = 6.0;
/// Steps for a pixel of a gradient to be compared with one of its stops, as it is with all of them.
const STOP: f64 = 0.25;
/// How far the layers of filters, which resvg draws, reach at most, in sides of what they are drawn on.
const REACH: f64 = 5.0;
/// Nodes between two questions whether to go on.
const NODES_AT_ONCE: u32 = 1 << 12;

/// Checks the work to draw `tree`, scaled by `scale`, on `canvas` pixels.
///
/// # Errors
/// [`Error::Limit`](crate::Error::Limit) above [`svg_steps`](crate::Limits::svg_steps) or
/// [`svg_layer_pixels`](crate::Limits::svg_layer_pixels).
pub(super) fn check(tree: &Tree, scale: Transform, canvas: (u32, u32), run: Run<'_>) -> Result<()> {
    let surface = Surface::new(canvas.0.into(), canvas.1.into());
    let mut cost = Cost { run, steps: 0.0, held: 0.0, visited: 0 };
    cost.nodes(tree.root(), scale, surface)
}

/// What is drawn on, in pixels, and how large a layer above it may become.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surface {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) most: (f64, f64),
}

impl Surface {
    fn new(width: f64, height: f64) -> Self {
        Self { width, height, most: (width, height) }
    }

    /// The same, with layers that reach beyond it, as all within them do.
    fn reaching(self) -> Self {
        let most = |side: f64, most: f64| most.max(side * REACH);
        Self { most: (most(self.width, self.most.0), most(self.height, self.most.1)), ..self }
    }

    pub(super) fn pixels(self) -> f64 {
        self.width * self.height
    }

    /// A layer above this for what is in `bounds`.
    fn layer(self, bounds: NonZeroRect, transform: Transform) -> Self {
        let (width, height) = bounds.transform(transform).map_or((0.0, 0.0), |b| (b.width().into(), b.height().into()));
        self.sized(width, height)
    }

    pub(super) fn sized(self, width: f64, height: f64) -> Self {
        let side = |side: f64, most: f64| (side + 5.0).min(most);
        Self { width: side(width, self.most.0), height: side(height, self.most.1), ..self }
    }

    /// The pixels of `bounds` that are on this.
    fn visible(self, bounds: Rect, transform: Transform) -> f64 {
        let Some(on) = bounds.transform(transform) else { return 0.0 };
        let side = |from: f32, to: f32, most: f64| (f64::from(to).min(most) - f64::from(from).max(0.0) + 2.0).max(0.0);
        side(on.left(), on.right(), self.width) * side(on.top(), on.bottom(), self.height)
    }
}

/// What has been counted so far.
pub(super) struct Cost<'a> {
    run: Run<'a>,
    steps: f64,
    held: f64,
    visited: u32,
}

impl Cost<'_> {
    pub(super) fn nodes(&mut self, group: &Group, transform: Transform, surface: Surface) -> Result<()> {
        group.children().iter().try_for_each(|node| self.node(node, transform, surface))
    }

    fn node(&mut self, node: &Node, transform: Transform, surface: Surface) -> Result<()> {
        self.visited += 1;
        if self.visited.is_multiple_of(NODES_AT_ONCE) {
            self.run.check()?;
        }
        self.add(NODE)?;
        match node {
            Node::Group(group) => self.group(group, transform, surface),
            Node::Path(path) => self.path(path, transform, surface),
            Node::Image(image) => self.image(image, transform, surface),
            Node::Text(text) => self.group(text.flattened(), transform, surface),
        }
    }

    fn group(&mut self, group: &Group, transform: Transform, surface: Surface) -> Result<()> {
        let transform = transform.pre_concat(group.transform());
        if !group.should_isolate() {
            return self.nodes(group, transform, surface);
        }
        let layer = match group.filters().is_empty() {
            true => surface.layer(group.layer_bounding_box(), transform),
            false => surface.reaching().layer(group.layer_bounding_box(), transform),
        };
        self.holding(layer.pixels(), LAYER, |cost| {
            cost.nodes(group, transform, layer)?;
            for filter in group.filters() {
                filter_cost::add(cost, filter, transform, layer)?;
            }
            group.clip_path().map_or(Ok(()), |clip| cost.clip(clip, transform, layer))?;
            group.mask().map_or(Ok(()), |mask| cost.mask(mask, transform, layer))
        })
    }

    fn clip(&mut self, clip: &ClipPath, transform: Transform, layer: Surface) -> Result<()> {
        self.holding(layer.pixels() * 1.25, LAYER, |cost| {
            cost.clipped(clip.root(), transform.pre_concat(clip.transform()), layer)?;
            clip.clip_path().map_or(Ok(()), |clip| cost.clip(clip, transform, layer))
        })
    }

    /// The children of a clip path; one with a clip path of its own is drawn on a layer.
    fn clipped(&mut self, group: &Group, transform: Transform, layer: Surface) -> Result<()> {
        for node in group.children() {
            self.add(NODE)?;
            match node {
                Node::Path(path) => self.path(path, transform, layer)?,
                Node::Text(text) => self.clipped(text.flattened(), transform, layer)?,
                Node::Group(group) => {
                    let transform = transform.pre_concat(group.transform());
                    match group.clip_path() {
                        Some(clip) => self.holding(layer.pixels(), LAYER, |cost| {
                            cost.clipped(group, transform, layer)?;
                            cost.clip(clip, transform, layer)
                        })?,
                        None => self.clipped(group, transform, layer)?,
                    }
                }
                Node::Image(_) => {}
            }
        }
        Ok(())
    }

    fn mask(&mut self, mask: &Mask, transform: Transform, layer: Surface) -> Result<()> {
        self.holding(layer.pixels() * 1.5, MASK, |cost| {
            cost.nodes(mask.root(), transform, layer)?;
            mask.mask().map_or(Ok(()), |mask| cost.mask(mask, transform, layer))
        })
    }

    fn path(&mut self, path: &Path, transform: Transform, surface: Surface) -> Result<()> {
        if !path.is_visible() {
            return Ok(());
        }
        let outline = Outline::new(path, transform, surface);
        if let Some(fill) = path.fill() {
            self.add(outline.segments * (SEGMENT + outline.abreast * SORTED) + outline.rows * ROW)?;
            self.paint(fill.paint(), surface.visible(path.bounding_box(), transform), transform, surface)?;
        }
        if let Some(stroke) = path.stroke() {
            let dashes = dashes(stroke, outline.length);
            // Two edges for each segment.
            let sorted = outline.abreast * SORTED * 4.0;
            self.add(outline.segments * (SEGMENT * 8.0 + sorted) + outline.rows * ROW * 2.0 + dashes * DASH)?;
            let band = outline.length * scale(transform) * (f64::from(stroke.width().get()) * scale(transform) + 3.0);
            let pixels = surface.visible(path.stroke_bounding_box(), transform).min(band);
            self.paint(stroke.paint(), pixels, transform, surface)?;
        }
        Ok(())
    }

    fn paint(&mut self, paint: &Paint, pixels: f64, transform: Transform, surface: Surface) -> Result<()> {
        match paint {
            Paint::Color(_) => self.add(pixels),
            Paint::LinearGradient(gradient) => self.add(pixels * shading(gradient.stops())),
            Paint::RadialGradient(gradient) => self.add(pixels * shading(gradient.stops())),
            Paint::Pattern(pattern) => {
                self.add(pixels * RESAMPLED)?;
                self.pattern(pattern, transform, surface)
            }
        }
    }

    fn pattern(&mut self, pattern: &Pattern, transform: Transform, surface: Surface) -> Result<()> {
        let (sx, sy) = sides(transform.pre_concat(pattern.transform()));
        let (width, height) = (f64::from(pattern.rect().width()) * sx, f64::from(pattern.rect().height()) * sy);
        let tile = Surface { width, height, ..surface };
        let onto = Transform::from_scale(sx as f32, sy as f32);
        self.holding(tile.pixels(), LAYER, |cost| cost.nodes(pattern.root(), onto, tile))
    }

    fn image(&mut self, image: &Image, transform: Transform, surface: Surface) -> Result<()> {
        if !image.is_visible() {
            return Ok(());
        }
        if let ImageKind::SVG(tree) = image.kind() {
            let layer = Surface::new(surface.width, surface.height);
            return self.holding(layer.pixels(), LAYER, |cost| cost.nodes(tree.root(), transform, layer));
        }
        let size = image.size();
        let pixels = f64::from(size.width()) * f64::from(size.height());
        let bounds = Rect::from_xywh(0.0, 0.0, size.width(), size.height());
        let visible = bounds.map_or(0.0, |bounds| surface.visible(bounds, transform));
        self.holding(pixels * 2.0, DECODED, |cost| cost.add(visible * RESAMPLED))
    }

    /// What `work` costs while so many pixels are held, each of which costs so many steps itself.
    pub(super) fn holding(
        &mut self,
        pixels: f64,
        steps: f64,
        work: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.held += pixels;
        within("pixels of SVG layers", self.held as u64, self.run.limits.svg_layer_pixels)?;
        self.add(pixels * steps)?;
        work(self)?;
        self.held -= pixels;
        Ok(())
    }

    pub(super) fn add(&mut self, steps: f64) -> Result<()> {
        self.steps += steps;
        within("steps to draw the SVG", self.steps as u64, self.run.limits.svg_steps)
    }
}

/// Steps for a pixel of a gradient of these stops.
fn shading(stops: &[Stop]) -> f64 {
    SHADED + STOP * stops.len() as f64
}

/// What a path is made of.
struct Outline {
    segments: f64,
    /// Rows of the surface that all segments cross.
    rows: f64,
    /// Segments that cross a row of the surface, in the mean.
    abreast: f64,
    /// In units of the path.
    length: f64,
}

impl Outline {
    fn new(path: &Path, transform: Transform, surface: Surface) -> Self {
        let mut outline = Self { segments: 0.0, rows: 0.0, abreast: 0.0, length: 0.0 };
        let mut last = Point::default();
        for segment in path.data().segments() {
            outline.segments += 1.0;
            match segment {
                PathSegment::MoveTo(to) => last = to,
                PathSegment::LineTo(to) => outline.line(&mut last, to, transform, surface),
                PathSegment::QuadTo(by, to) => {
                    [by, to].into_iter().for_each(|to| outline.line(&mut last, to, transform, surface));
                }
                PathSegment::CubicTo(a, b, to) => {
                    [a, b, to].into_iter().for_each(|to| outline.line(&mut last, to, transform, surface));
                }
                PathSegment::Close => {}
            }
        }
        outline.abreast = outline.rows / surface.height.max(1.0);
        outline
    }

    fn line(&mut self, from: &mut Point, to: Point, transform: Transform, surface: Surface) {
        let (x, y) = (f64::from(to.x - from.x), f64::from(to.y - from.y));
        let down = (x * f64::from(transform.ky) + y * f64::from(transform.sy)).abs();
        self.rows += down.min(surface.height);
        self.length += (x * x + y * y).sqrt();
        *from = to;
    }
}

/// How many dashes a stroke of that length comes to.
fn dashes(stroke: &Stroke, length: f64) -> f64 {
    let Some(array) = stroke.dasharray() else { return 0.0 };
    let sum: f64 = array.iter().map(|&dash| f64::from(dash)).sum();
    if sum > 0.0 { length / sum * array.len() as f64 } else { 0.0 }
}

/// How long a unit along either axis becomes.
pub(super) fn sides(transform: Transform) -> (f64, f64) {
    let [a, b, c, d] = [transform.sx, transform.ky, transform.kx, transform.sy].map(f64::from);
    ((a * a + b * b).sqrt(), (c * c + d * d).sqrt())
}

fn scale(transform: Transform) -> f64 {
    let (x, y) = sides(transform);
    x.max(y)
}
