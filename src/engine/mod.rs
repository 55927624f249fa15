//! The way of an image, from bytes and a request to better bytes.
//!
//! | file | what |
//! |---|---|
//! | `mod` | [`Engine`], and the smallest of all formats |
//! | `work` | one picture or animation on its way |
//! | `vector` | an SVG on its way |
//! | `source` | what is passed on of the source, and the marks by which our own results are known |

mod source;
#[cfg(feature = "svg")]
mod vector;
mod work;

use std::{fmt, sync::Arc};

use work::Work;

#[cfg(feature = "svg")]
use crate::codec::{self, svg::Fonts};
use crate::{
    codec::{Codecs, Info},
    control::{Control, Rising, Run, Stage, Unattended},
    description::{Description, face_boxes, input_name, output_name},
    error::{Error, Result},
    format::{Format, content_encoding, sniff},
    limits::Limits,
    operation::{Models, Operation},
    optimize::{Goal, Optimised},
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
        let work = Work { engine: self, bytes, info, plan: &plan, of_all, run };
        let done = work.do_it()?;
        Ok(Made { plan, done })
    }

    /// The smallest of all formats that can hold the picture, of those that reach the goal if any does.
    fn smallest(&self, bytes: &[u8], request: &Request, info: &Info, run: Run<'_>) -> Result<Made> {
        let own =
            Request { output: Output { format: OutputFormat::Auto, ..request.output.clone() }, ..request.clone() };
        if let Ok(plan) = plan(&own, info, self.means(), run) {
            let work = Work { engine: self, bytes, info, plan: &plan, of_all: true, run };
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
