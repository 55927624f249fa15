//! Documents to pictures, by resvg.

use std::{
    panic::resume_unwind,
    sync::{Mutex, PoisonError},
    thread,
};

use resvg::{
    tiny_skia::{Color, Transform},
    usvg::{ImageHrefResolver, Options, Size, Tree},
};

use roxmltree::Document;

use super::{
    background::background,
    cost, dashes, embedded,
    fonts::{Fontless, Fonts},
    geometry, read, reading, references, render,
};
use crate::{
    control::Run,
    error::{Error, Result, caught},
    format::Format,
    picture::{Channels, Picture, Samples},
};

/// For documents that give no size, as in browsers; what [`probe`](super::probe) says.
const DEFAULT_SIZE: (f32, f32) = (300.0, 150.0);
/// Memory for nested calls, of which usvg and resvg make some for every level of a document.
const STACK: usize = 32 << 20;

/// A document ready to be drawn at any size.
#[derive(Debug)]
pub(crate) struct Drawing {
    tree: Tree,
    background: Option<Color>,
    /// What to say where text of it is not drawn.
    pub(crate) warning: Option<&'static str>,
}

impl Drawing {
    /// Reads `text` and all that is embedded in it. Nothing else is read: no file, no address, no font of the system.
    ///
    /// # Errors
    /// As of [`read::document`]; [`Error::Limit`] if references multiply the document beyond its limits, [`Error::Input`] if
    /// they lead back to where they began or its numbers cannot be drawn.
    pub(crate) fn new(text: &str, fonts: &Fonts, run: Run<'_>) -> Result<Self> {
        let fontless = Fontless::default();
        let (tree, background) = in_reason(|| on_a_large_stack(|| converted(text, (fonts, &fontless), 0, run)))?;
        Ok(Self { tree, background, warning: fontless.warning() })
    }

    /// Width and height that the document gives itself, in CSS pixels.
    pub(crate) fn size(&self) -> (f32, f32) {
        (self.tree.size().width(), self.tree.size().height())
    }

    /// The whole document scaled to `width` x `height` pixels, over its background or else transparency: 8-bit sRGB with
    /// straight alpha.
    ///
    /// # Errors
    /// [`Error::Limit`] if the picture is too large, or the work to draw it is; [`Error::Input`] if its numbers cannot be drawn.
    pub(crate) fn draw(&self, width: u32, height: u32, run: Run<'_>) -> Result<Picture> {
        let (own_width, own_height) = self.size();
        self.scaled((width as f32 / own_width, height as f32 / own_height), (width, height), run)
    }

    /// The same with one scale for both sides, by which the longer one has `side` pixels. `size` is that of the picture; by
    /// default what holds all.
    ///
    /// # Errors
    /// As of [`Self::draw`].
    pub(crate) fn draw_by_side(&self, side: u32, size: Option<(u32, u32)>, run: Run<'_>) -> Result<Picture> {
        let (width, height) = self.size();
        let scale = side as f32 / width.max(height);
        let all = || ((width * scale).ceil().max(1.0) as u32, (height * scale).ceil().max(1.0) as u32);
        self.scaled((scale, scale), size.unwrap_or_else(all), run)
    }

    fn scaled(&self, scale: (f32, f32), (width, height): (u32, u32), run: Run<'_>) -> Result<Picture> {
        run.check()?;
        run.limits.check_result(width, height)?;
        in_reason(|| on_a_large_stack(|| self.drawn(scale, (width, height), run)))
    }

    fn drawn(&self, scale: (f32, f32), (width, height): (u32, u32), run: Run<'_>) -> Result<Picture> {
        let scale = Transform::from_scale(scale.0, scale.1);
        cost::check(&self.tree, scale, (width, height), run)?;
        run.check()?;
        let mut pixels = render::layer(width, height)?;
        self.background.into_iter().for_each(|color| pixels.fill(color));
        render::nodes(self.tree.root(), scale, &mut pixels.as_mut(), run)?;
        run.check()?;
        Picture::new(width, height, Channels::Rgba, Samples::Eight(pixels.take_demultiplied()))
    }
}

/// The tree of a document that is nested in so many others, and what is behind it.
pub(super) fn converted(
    text: &str,
    fonts: (&Fonts, &Fontless),
    nesting: u8,
    run: Run<'_>,
) -> Result<(Tree, Option<Color>)> {
    let document = checked(text, run)?;
    let mended = reading::mended(text, &document);
    let document = mended.as_deref().map_or(Ok(document), |text| checked(text, run))?;
    let text = mended.as_deref().unwrap_or(text);
    let placed = geometry::mended(text, &document, run)?;
    let document = placed.as_deref().map_or(Ok(document), |text| checked(text, run))?;
    let dashed = dashes::mended(placed.as_deref().unwrap_or(text), &document, run)?;
    let document = dashed.as_deref().map_or(Ok(document), |text| checked(text, run))?;
    run.check()?;
    let failure = Mutex::new(None);
    let options = Options {
        default_size: Size::from_wh(DEFAULT_SIZE.0, DEFAULT_SIZE.1).ok_or_else(|| Error::unsupported("a size"))?,
        // That of browsers.
        font_size: 16.0,
        fontdb: fonts.0.database(),
        font_resolver: fonts.1.watched(),
        image_href_resolver: ImageHrefResolver {
            resolve_data: Box::new(|_, bytes, _| match embedded::picture(bytes, fonts, nesting, run) {
                Ok(picture) => picture,
                Err(error) => {
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    None
                }
            }),
            resolve_string: Box::new(|_, _| None),
        },
        ..Options::default()
    };
    let tree = Tree::from_xmltree(&document, &options);
    drop(options);
    let background = background(&document, run)?;
    match (failure.into_inner().unwrap_or_else(PoisonError::into_inner), tree) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(Error::damaged(Format::Svg, "cannot be drawn", error)),
        (None, Ok(tree)) => Ok((tree, background)),
    }
}

/// The document of `text`, which comes to no more than it may. What was changed may come to more than it did.
fn checked<'a>(text: &'a str, run: Run<'_>) -> Result<Document<'a>> {
    let document = read::document(text, run)?;
    references::check(&document, run)?;
    Ok(document)
}

/// Does `work`, in which usvg, resvg and tiny-skia panic where numbers of a document go beyond what theirs hold.
fn in_reason<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    caught(work).unwrap_or_else(|message| Err(Error::damaged(Format::Svg, "cannot be drawn", message)))
}

/// Does `work` where no depth that the limits allow overflows the stack.
fn on_a_large_stack<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| Error::internal("starting a thread", error))?;
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}
