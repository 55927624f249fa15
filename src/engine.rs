//! The way of an image, from bytes and a request to better bytes.

use std::{borrow::Cow, fmt, sync::Arc};

#[cfg(feature = "svg")]
use crate::{
    codec::{self, svg::Fonts},
    operation::Frame,
    optimize::{Drawn, Vector, is_clean_svg, optimise_svg},
};
use crate::{
    codec::{Codecs, ColourModel, Info, least, most},
    control::{Control, Rising, Run, Stage, Unattended},
    description::{Description, face_boxes, input_name, output_name},
    error::{Error, Result},
    format::{Format, content_encoding, sniff},
    limits::Limits,
    operation::{Models, Operation, Processed},
    optimize::{Goal, Mark, Moving, Optimised, Task, optimise, optimise_moving, worth_having_exactly},
    picture::{Channels, ColourChunks, Converted, Frames, Metadata, Picture, srgb_profile},
    plan::{self, Means, Plan, of_formats, plan},
    request::{Output, OutputFormat, Request},
};

/// A source: its bytes, and the file name that results should be named after.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The file, of any supported format; recognised by content.
    pub bytes: &'a [u8],
    /// A file name or path; only its last segment is used.
    pub name: Option<&'a str>,
}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("bytes", &self.bytes.len()).field("name", &self.name).finish()
    }
}

/// A finished result.
#[derive(Clone)]
pub struct Outcome {
    /// The file.
    pub bytes: Vec<u8>,
    /// Its format.
    pub format: Format,
    /// The `Content-Encoding` that it has to be served and stored with: `gzip` for a gzipped SVG.
    pub encoding: Option<&'static str>,
    /// What came in.
    pub input: Description,
    /// What came out, with its score and warnings.
    pub output: Description,
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, format, encoding, input, output } = self;
        let mut shown = f.debug_struct("Outcome");
        shown.field("bytes", &bytes.len()).field("format", format).field("encoding", encoding);
        shown.field("input", input).field("output", output).finish()
    }
}

/// Turns bytes and a request into better bytes. Synchronous, without global state; share one among threads.
#[derive(Debug, Clone, Default)]
pub struct Engine {
    codecs: Codecs,
    limits: Limits,
    models: Models,
    operations: Vec<Arc<dyn Operation>>,
    #[cfg(feature = "svg")]
    fonts: Fonts,
}

impl Engine {
    /// With the codecs of this build and the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// With other limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// With other codecs; those of [`with_fonts`](Self::with_fonts) are among what they replace. Codecs read and write; the
    /// search for settings is the engine's, so that a format without one ([`optimize`](crate::optimize)) is not written.
    /// That of JPEG works on coefficients, and writes them by itself.
    #[must_use]
    pub fn with_codecs(self, codecs: Codecs) -> Self {
        Self { codecs, ..self }
    }

    /// With other trained networks.
    #[must_use]
    pub fn with_models(self, models: Models) -> Self {
        Self { models, ..self }
    }

    /// With a step of the host's own, a watermark for one, on the pixels of every result: behind all that a request asks
    /// for and behind such steps that were given before, in sRGB, ahead of the encoder. What it makes of a picture is
    /// optimised, compared and limited like any other. As it changes pixels, no source is passed on as it is; an SVG that is
    /// to stay one is refused by the step's name.
    #[must_use]
    pub fn with_operation(mut self, operation: Arc<dyn Operation>) -> Self {
        self.operations.push(operation);
        self
    }

    /// With fonts for the text of SVG; without any it is not drawn. Puts a codec with them in the place of that of SVG, so
    /// it comes behind [`with_codecs`](Self::with_codecs).
    #[cfg(feature = "svg")]
    #[must_use]
    pub fn with_fonts(mut self, fonts: Fonts) -> Self {
        self.codecs.register(codec::svg::codec(fonts.clone()));
        Self { fonts, ..self }
    }

    /// Refuses a valid request that this engine can do with no picture whatever, for hosts to say so before they take one in.
    ///
    /// # Errors
    /// [`Error::Unsupported`] that says what it cannot do, [`Error::Limit`] for a size that would be too large of any.
    pub fn supports(&self, request: &Request) -> Result<()> {
        self.refusals(request).into_iter().next().map_or(Ok(()), |(_, refusal)| Err(refusal))
    }

    /// All that [`supports`](Self::supports) refuses, behind the paths that ask for it.
    pub(crate) fn refusals(&self, request: &Request) -> Vec<(&'static str, Error)> {
        plan::refusals(request, self.means(), &self.limits)
    }

    /// What a file says of itself in its headers: format, size, frames. No pixel is decoded, but the file has to be whole, as its
    /// frames are counted.
    ///
    /// # Errors
    /// [`Error::Input`] for what is no image or has damaged headers, [`Error::Limit`] for one that is too large to be worked on,
    /// [`Error::Unsupported`] for a format that this engine does not read.
    pub fn probe(&self, bytes: &[u8]) -> Result<Info> {
        self.probed(bytes, Run { limits: &self.limits, control: &Unattended })
    }

    fn probed(&self, bytes: &[u8], run: Run<'_>) -> Result<Info> {
        let format = sniff(bytes).ok_or_else(|| unrecognised(bytes))?;
        self.codecs.probe(format, bytes, run)
    }

    /// Does what `request` asks with `input`. Destinations and notifications are the caller's: `url`, `headers`, `store`
    /// and `webhook` have to be valid, and are not followed.
    ///
    /// # Errors
    /// [`Error::Request`] with every violation, [`Error::Input`] for damaged images, [`Error::Limit`] for what is too
    /// large, [`Error::Unsupported`] for what this build cannot do, [`Error::Stopped`] when `control` says so,
    /// [`Error::Internal`] for a defect, which a panic of a codec, of a step or of a model is.
    pub fn process(&self, input: Input<'_>, request: &Request, control: &dyn Control) -> Result<Outcome> {
        let control = &Rising::new(control);
        let run = Run { limits: &self.limits, control };
        control.stage(Stage::Plan, 0.0);
        run.check()?;
        request.validate()?;
        self.limits.check_source(input.bytes.len())?;
        let info = self.probed(input.bytes, run)?;
        let Made { plan, done } = match request.output.format {
            OutputFormat::Smallest => self.smallest(input.bytes, request, &info, run)?,
            _ => self.made(input.bytes, request, &info, false, run)?,
        };
        control.stage(Stage::Encode, 1.0);
        self.describe(input, info, &plan, done, run)
    }

    fn means(&self) -> Means<'_> {
        Means { codecs: &self.codecs, models: &self.models, operations: &self.operations }
    }

    fn made(&self, bytes: &[u8], request: &Request, info: &Info, of_all: bool, run: Run<'_>) -> Result<Made> {
        let plan = plan(request, info, self.means(), run)?;
        let work = Work { engine: self, codecs: &self.codecs, bytes, info, plan: &plan, of_all, run };
        let done = work.do_it()?;
        Ok(Made { plan, done })
    }

    /// The smallest of all formats that can hold the picture, of those that reach the goal if any does.
    fn smallest(&self, bytes: &[u8], request: &Request, info: &Info, run: Run<'_>) -> Result<Made> {
        let own =
            Request { output: Output { format: OutputFormat::Auto, ..request.output.clone() }, ..request.clone() };
        if let Ok(plan) = plan(&own, info, self.means(), run) {
            let work = Work { engine: self, codecs: &self.codecs, bytes, info, plan: &plan, of_all: true, run };
            if let Some(done) = work.already_done(&self.codecs.metadata(info.format, bytes, run)?, &[true])? {
                return Ok(Made { plan, done });
            }
        }
        let (mut best, mut refused) = (None::<Made>, None);
        for request in of_formats(request, info, &self.operations) {
            match self.made(bytes, &request, info, true, run) {
                Ok(made) if best.as_ref().is_none_or(|best| made.rank() < best.rank()) => best = Some(made),
                Ok(_) => {}
                // That format's alone: a side that is too long for it, a codec that is not there.
                Err(error @ (Error::Unsupported { .. } | Error::Limit { .. })) => refused = refused.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        best.ok_or_else(|| refused.unwrap_or_else(|| unrecognised(bytes)))
    }

    fn describe(&self, input: Input<'_>, info: Info, plan: &Plan, done: Optimised, run: Run<'_>) -> Result<Outcome> {
        let name = input_name(input.name, info.format);
        let limits = self.limits.for_results();
        let result = self.codecs.probe(plan.format, &done.bytes, Run { limits: &limits, ..run })?;
        let format = result.format;
        let mut output = Description::new(output_name(&name, plan.format, &done.bytes), result, &done.bytes);
        let (width, height) = info.upright_size();
        let faces = plan.faces.as_ref().map(|sought| face_boxes(&sought.faces, width, height));
        // What could not be drawn has none.
        output.score = done.score.is_finite().then(|| (done.score * 100.0).round() / 100.0);
        output.warnings = Some(done.warnings);
        let input = Description { faces, ..Description::new(name, info, input.bytes) };
        let encoding = content_encoding(format.media_type(), &output.name);
        Ok(Outcome { bytes: done.bytes, format, encoding, input, output })
    }
}

/// Of frames that other steps than networks made, which are kept for as often as an encoder asks for them.
const KEPT_BYTES: usize = 64 << 20;
/// What to say where networks would take more than [`Limits::network_products`].
const LEFT_OUT: &str = "too large for networks to remove the noise of light or faces: simpler means did";
/// What to say of a profile that is not kept and not converted from.
const IGNORED: &str = "the embedded profile does not fit the picture and was ignored";
/// What to say of pictures of high dynamic range.
const NARROWED: &str = "the high dynamic range was brought into that of sRGB";
/// The longer side, in pixels, of an SVG that is looked at to be cropped.
#[cfg(feature = "svg")]
const LOOK: u64 = 640;

/// A result and the plan that it comes of.
struct Made {
    plan: Plan,
    done: Optimised,
}

impl Made {
    /// Whether it falls short of its goal, and its size.
    fn rank(&self) -> (bool, usize) {
        let target = match self.plan.goal {
            Goal::Lossless => Some(100.0),
            Goal::Smart(preset) => preset.target(),
            Goal::Quality(_) => None,
        };
        (target.is_some_and(|target| self.done.score < target), self.done.bytes.len())
    }
}

fn unrecognised(bytes: &[u8]) -> Error {
    let problem = if bytes.is_empty() { "is empty" } else { "is in no format known here" };
    Error::Input { format: None, problem: problem.into(), source: None }
}

/// What a mark is over: the smallest of all formats is another result than that of one.
fn of_formats_too(unmarked: &[u8], of_all: bool) -> Cow<'_, [u8]> {
    if of_all { [unmarked, b" of all formats"].concat().into() } else { unmarked.into() }
}

/// One source on its way.
#[derive(Clone, Copy)]
struct Work<'a> {
    #[cfg_attr(not(feature = "svg"), allow(dead_code, reason = "for its fonts"))]
    engine: &'a Engine,
    codecs: &'a Codecs,
    bytes: &'a [u8],
    info: &'a Info,
    plan: &'a Plan,
    /// The result is the smallest of all formats.
    of_all: bool,
    run: Run<'a>,
}

impl Work<'_> {
    fn do_it(&self) -> Result<Optimised> {
        #[cfg(feature = "svg")]
        if self.plan.format == Format::Svg {
            return self.vector();
        }
        self.raster(&self.codecs.metadata(self.info.format, self.bytes, self.run)?)
    }

    fn raster(&self, metadata: &Metadata) -> Result<Optimised> {
        if let Some(kept) = self.already_done(metadata, &[false, true])? {
            return Ok(kept);
        }
        if self.plan.leaves_pixels_alone() {
            self.run.control.stage(Stage::Optimise, 0.1);
            return self.passed_on(metadata);
        }
        self.run.control.stage(Stage::Decode, 0.15);
        let mut frames = self.processed(metadata)?;
        let converted = if metadata.icc.is_none() && (metadata.colours.is_some() || self.info.icc) {
            // What tells the colours cannot be read, or not be converted.
            Converted::Ignored
        } else {
            frames.converted()
        };
        let stores_it = self.plan.stores_picture() && converted == Converted::Untouched;
        let looked_at = !self.plan.moves || self.plan.otherwise.is_some();
        let first = looked_at.then(|| self.first(&mut frames)).transpose()?;
        if let Some(plan) = self.plan.otherwise.as_deref().filter(|plan| frames.steps() == plan.chain.len()) {
            drop((first, frames));
            let mut done = Work { plan, ..*self }.raster(metadata)?;
            done.warnings.extend(self.without_faces());
            return Ok(done);
        }
        self.run.control.stage(Stage::Optimise, 0.3);
        let (mut done, lossless) = match first.filter(|_| !self.plan.moves) {
            Some(picture) => self.optimised(&picture, stores_it)?,
            None => self.moving(&mut frames, stores_it)?,
        };
        let kept = metadata.kept(self.plan.keep, false);
        done.bytes = self.marked(self.plan.format, &done.bytes, kept, (self.plan.goal, self.of_all))?;
        match (converted, metadata.colours) {
            (Converted::Ignored, _) => done.warnings.insert(0, IGNORED.to_owned()),
            (Converted::Converted, Some(ColourChunks::Coded([_, 16 | 18, ..]))) => {
                done.warnings.insert(0, NARROWED.to_owned());
            }
            _ => {}
        }
        done.warnings.extend(self.without_faces());
        done.warnings.extend(self.plan.left_out.then(|| LEFT_OUT.to_owned()));
        #[cfg(feature = "svg")]
        done.warnings.extend(self.undrawn()?);
        if self.info.frames > 1 && !self.plan.moves {
            done.warnings.push(format!("{} holds one frame: the first of {}", self.plan.format, self.info.frames));
        }
        // Up to how many bytes what is passed on is better.
        let enough = |made: &Optimised| match made.bytes.len() {
            bytes if made.score < 100.0 => worth_having_exactly(bytes),
            bytes => bytes,
        };
        if self.plan.may_keep_source && self.may_do_without_loss(enough(&done), lossless)? {
            let passed_on = self.passed_on(metadata)?;
            if passed_on.bytes.len() <= enough(&done) {
                done = passed_on;
                // What is passed on keeps its orientation tag; so may its coefficients, coarser, and smaller yet.
                if !self.plan.stores_picture() && converted == Converted::Untouched && !self.plan.moves {
                    let unturned = self.unturned(metadata)?;
                    done = if enough(&unturned) < done.bytes.len() { unturned } else { done };
                }
            }
        }
        Ok(done)
    }

    /// An SVG that stays one. Its mark is a comment at its end, and a gzipped one is gzipped again.
    #[cfg(feature = "svg")]
    fn vector(&self) -> Result<Optimised> {
        let text = codec::svg::text(self.bytes, self.run)?;
        // Anybody can write a mark: it spares the search, never the cleaning.
        let marked = |(rest, mark): (&str, &str)| {
            Mark::parse(mark).is_some_and(|mark| mark.vouches_for(self.plan.goal, &self.signed(rest.as_bytes())))
        };
        let notices = codec::svg::notices(&text);
        let kept = if self.plan.keep.copyright || self.plan.keep.all { notices.as_slice() } else { &[] };
        // A document type may name what viewers load.
        let may_keep_source = self.plan.may_keep_source && !text.typed && kept == notices;
        if may_keep_source && codec::svg::unmarked(&text).is_some_and(marked) && is_clean_svg(&text, self.run)? {
            return Ok(Optimised { bytes: self.bytes.to_vec(), score: 100.0, warnings: Vec::new() });
        }
        self.run.control.stage(Stage::Optimise, 0.1);
        let (size, unseen) = self.framed(&text)?;
        let task = Vector {
            codecs: self.codecs,
            text: &text,
            goal: self.plan.goal,
            keep_ids: self.plan.keep_ids,
            fonts: &self.engine.fonts,
            size,
        };
        let Drawn { mut done, clean } = optimise_svg(&task, self.run)?;
        done.warnings.extend(unseen.map(str::to_owned));
        done.bytes = codec::svg::with_notices(done.bytes, kept);
        let mark = Mark::new(self.plan.goal, &self.signed(&done.bytes)).to_string();
        done.bytes = codec::svg::packed(&codec::svg::marked(done.bytes, &mark), self.bytes)?;
        if may_keep_source && clean && self.bytes.len() <= done.bytes.len() {
            done = Optimised { bytes: self.bytes.to_vec(), score: 100.0, warnings: done.warnings };
        }
        Ok(done)
    }

    /// What the mark of an SVG is over: with its ids it is another result than without.
    #[cfg(feature = "svg")]
    fn signed<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        if self.plan.keep_ids { [text, b" with ids"].concat().into() } else { text.into() }
    }

    /// The size of an SVG and the part of it to show, and what to say where that could not be looked for.
    #[cfg(feature = "svg")]
    fn framed(&self, text: &str) -> Result<(Option<Frame>, Option<&'static str>)> {
        let Some((resize, width, height)) = self.plan.look else { return Ok((self.plan.frame, None)) };
        let side = |side: u32| (u64::from(side) * LOOK / u64::from(width.max(height))).max(1) as u32;
        let drawn = codec::svg::Drawing::new(text, &self.engine.fonts, self.run)
            .and_then(|drawing| drawing.draw(side(width), side(height), self.run));
        match drawn {
            Ok(drawn) => Ok((Some(resize.frame_around(&drawn, width, height, self.run)?), None)),
            Err(stopped @ Error::Stopped(_)) => Err(stopped),
            Err(_) => Ok((self.plan.frame, Some("could not be drawn to look at, and was cropped from the middle"))),
        }
    }

    /// What to say of an SVG that was drawn: of text without fonts, and of what is drawn otherwise than by browsers. Codecs have no
    /// place to say it in, so what may have text is read once more.
    #[cfg(feature = "svg")]
    fn undrawn(&self) -> Result<Vec<String>> {
        if self.info.format != Format::Svg {
            return Ok(Vec::new());
        }
        let text = codec::svg::text(self.bytes, self.run)?;
        // Documents in addresses may have some text, too.
        let fontless = match text.contains("text") || text.contains("data:") {
            true => codec::svg::Drawing::new(&text, &self.engine.fonts, self.run)?.warning,
            false => None,
        };
        Ok(fontless.map(str::to_owned).into_iter().chain(codec::svg::undrawn(&text)).collect())
    }

    /// What to say where faces were looked for and there are none.
    fn without_faces(&self) -> Option<String> {
        let sought = self.plan.faces.as_ref().filter(|sought| sought.faces.found().is_empty())?;
        sought.without.map(str::to_owned)
    }

    fn moving(&self, frames: &mut Processed<'_>, stores_it: bool) -> Result<(Optimised, Option<u64>)> {
        frames.restart()?;
        let task = Moving {
            codecs: self.codecs,
            format: self.plan.format,
            goal: self.plan.goal,
            stored: stores_it.then_some(self.bytes),
            count: self.info.frames,
        };
        let limits = self.run.limits.for_results();
        optimise_moving(frames, &task, Run { limits: &limits, ..self.run })
    }

    fn optimised(&self, picture: &Picture, stores_it: bool) -> Result<(Optimised, Option<u64>)> {
        let task = Task {
            codecs: self.codecs,
            picture,
            format: self.plan.format,
            goal: self.plan.goal,
            interlaced: self.plan.interlaced,
            stored: stores_it.then_some(self.bytes),
        };
        let limits = self.run.limits.for_results();
        optimise(&task, Run { limits: &limits, ..self.run })
    }

    /// The picture optimised as it is stored, still to be turned by its viewer: turned before, it could not be coded by
    /// what the source stores.
    fn unturned(&self, metadata: &Metadata) -> Result<Optimised> {
        let mut frames = self.codecs.frames(self.info.format, self.bytes, &self.plan.decode, self.run)?;
        let (mut done, _) = self.optimised(&self.first(&mut *frames)?, true)?;
        // The pixels are as in sRGB, and their colour type may have changed, for which a profile must be.
        let kept = Metadata { icc: None, ..metadata.kept(self.plan.keep, true) };
        done.bytes = self.marked(self.plan.format, &done.bytes, kept, (self.plan.goal, self.of_all))?;
        Ok(done)
    }

    /// Our own result of the same request, recognised by its mark, of one format or of all: only metadata may still go.
    fn already_done(&self, metadata: &Metadata, of_all: &[bool]) -> Result<Option<Optimised>> {
        if !self.plan.may_keep_source || self.info.interlaced.is_some_and(|stored| stored != self.plan.interlaced) {
            return Ok(None);
        }
        let Some(mark) = metadata.comments.iter().find_map(|comment| Mark::parse(comment)) else { return Ok(None) };
        let mut unmarked = metadata.clone();
        unmarked.comments.retain(|comment| Mark::parse(comment).is_none());
        let bytes = self.codecs.with_metadata(self.info.format, self.bytes, &unmarked, self.run)?;
        let goals = [Some(self.plan.goal), self.plan.done_before].into_iter().flatten();
        let mut kinds = goals.flat_map(|goal| of_all.iter().map(move |&of_all| (goal, of_all)));
        let vouches = |(goal, of_all): &(Goal, bool)| mark.vouches_for(*goal, &of_formats_too(&bytes, *of_all));
        let Some(kind) = kinds.find(vouches) else { return Ok(None) };
        let kept = unmarked.kept(self.plan.keep, true);
        let bytes = self.marked(self.info.format, &bytes, kept.clone(), kind)?;
        Ok(Some(Optimised { bytes: self.no_larger(bytes, metadata, &kept)?, score: 100.0, warnings: Vec::new() }))
    }

    /// Whether [`passed_on`](Self::passed_on) may come to fewer bytes; `known` is the least it may come to. Where no codec
    /// has an outlook on it either, no file is taken to shrink to half without loss.
    fn may_do_without_loss(&self, bytes: usize, known: Option<u64>) -> Result<bool> {
        if bytes >= self.bytes.len() {
            return Ok(true);
        }
        let fewest = match known {
            Some(fewest) => Some(fewest),
            None => self.codecs.outlook(self.info.format, self.bytes, most(bytes as u64), self.run)?.map(least),
        };
        Ok(fewest.map_or(bytes * 2 > self.bytes.len(), |fewest| fewest < bytes as u64))
    }

    /// The smallest file that has the stored pixels or coefficients: recompressed, or the source without what may be
    /// stripped, or the source as it is. Each has a profile if one is asked for, and none has anything that is to go: where
    /// nothing else saves what the rewritten rest takes, the result is larger than the source by that.
    fn passed_on(&self, metadata: &Metadata) -> Result<Optimised> {
        let kept = metadata.kept(self.plan.keep, true);
        let recompressed = self.codecs.recompress(self.info.format, self.bytes, self.plan.interlaced, self.run)?;
        let mut best = self.marked(self.info.format, &recompressed, kept.clone(), (self.plan.goal, self.of_all))?;
        if self.plan.may_keep_source {
            let named = self.named(self.info.format, self.bytes, kept.clone())?;
            let stripped = self.codecs.with_metadata(self.info.format, self.bytes, &named, self.run)?;
            if stripped.len() <= best.len() {
                best = stripped;
            }
            best = self.no_larger(best, metadata, &kept)?;
        }
        let lost = self.info.icc && metadata.icc.is_none();
        Ok(Optimised { bytes: best, score: 100.0, warnings: lost.then(|| IGNORED.to_owned()).into_iter().collect() })
    }

    /// The frames, decoded, converted to sRGB and taken through the operations as they are asked for.
    fn processed(&self, metadata: &Metadata) -> Result<Processed<'_>> {
        let frames = self.codecs.frames(self.info.format, self.bytes, &self.plan.decode, self.run)?;
        let processed = Processed::new(frames, metadata.icc.as_deref(), &self.plan.chain, self.run)?;
        Ok(match self.plan.moves {
            true if self.plan.by_network => processed.keeping(plan::KEPT_BYTES),
            true if !self.plan.chain.is_empty() => processed.keeping(KEPT_BYTES),
            true => processed,
            false => processed.one(),
        })
    }

    fn first(&self, frames: &mut dyn Frames) -> Result<Picture> {
        let frame = frames.next(self.run)?.ok_or_else(|| Error::input(self.info.format, "has no frame"))?;
        Ok(frame.picture.into_owned())
    }

    /// `bytes`, or the source as it is where that is smaller, has the profile that is asked for, and nothing that is to go.
    /// A JPEG opens everywhere without its end marker, a PNG that was cut does not, even where no pixel is lost.
    fn no_larger(&self, bytes: Vec<u8>, metadata: &Metadata, kept: &Metadata) -> Result<Vec<u8>> {
        let named = !self.plan.keep.profile || kept.icc.is_some() || self.info.colour == ColourModel::Cmyk;
        let whole = self.info.format != Format::Png || self.bytes.ends_with(b"\0\0\0\0IEND\xAE\x42\x60\x82");
        let keeps = self.bytes.len() < bytes.len() && named && whole && self.holds_nothing_but(kept, metadata)?;
        Ok(if keeps { self.bytes.to_vec() } else { bytes })
    }

    /// Whether all that the source carries is `kept`, be it in another place. What is in no part of its `metadata` is missing
    /// where these are written anew.
    fn holds_nothing_but(&self, kept: &Metadata, metadata: &Metadata) -> Result<bool> {
        let mut all = metadata.clone();
        all.comments.retain(|comment| Mark::parse(comment).is_none());
        let moved = all.clone().with_notices_moved();
        let anew = self.codecs.with_metadata(self.info.format, self.bytes, metadata, self.run)?;
        Ok((*kept == all || *kept == moved) && anew.len() >= self.bytes.len())
    }

    /// `metadata` with a profile for the file `bytes` if one is asked for and not there. Pixels without a profile are in
    /// sRGB, but for ink.
    fn named(&self, format: Format, bytes: &[u8], metadata: Metadata) -> Result<Metadata> {
        if !self.plan.keep.profile || metadata.icc.is_some() {
            return Ok(metadata);
        }
        let limits = self.run.limits.for_results();
        let channels = self.codecs.probe(format, bytes, Run { limits: &limits, ..self.run })?.channels();
        let icc = (channels != Channels::Cmyk).then(|| srgb_profile(channels)).transpose()?;
        Ok(Metadata { icc, ..metadata })
    }

    /// The file with exactly `metadata`, named, and the mark of a goal, in one format or of all.
    fn marked(
        &self,
        format: Format,
        bytes: &[u8],
        metadata: Metadata,
        (goal, of_all): (Goal, bool),
    ) -> Result<Vec<u8>> {
        let mut metadata = self.named(format, bytes, metadata)?;
        // Marks of before say nothing any more, and the first one is believed.
        metadata.comments.retain(|comment| Mark::parse(comment).is_none());
        let unmarked = self.codecs.with_metadata(format, bytes, &metadata, self.run)?;
        metadata.comments.push(Mark::new(goal, &of_formats_too(&unmarked, of_all)).to_string());
        self.codecs.with_metadata(format, &unmarked, &metadata, self.run)
    }
}
