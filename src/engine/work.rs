//! One source on its way to its result.

use super::{Engine, source::IGNORED};
use crate::{
    codec::Info,
    control::{Run, Stage},
    error::{Error, Result},
    format::Format,
    operation::Processed,
    optimize::{Moving, Optimised, Task, optimise, optimise_moving, worth_having_exactly},
    picture::{ColourChunks, Converted, Frames, Metadata, Picture},
    plan::Plan,
};

/// What to say where networks would take more than [`Limits::network_products`].
const LEFT_OUT: &str = "too large for networks to remove the noise of light or faces: simpler means did";
/// What to say of pictures of high dynamic range.
const NARROWED: &str = "the high dynamic range was brought into that of sRGB";

/// One source on its way.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub(super) engine: &'a Engine,
    pub(super) bytes: &'a [u8],
    pub(super) info: &'a Info,
    pub(super) plan: &'a Plan,
    /// The result is the smallest of all formats.
    pub(super) of_all: bool,
    pub(super) run: Run<'a>,
}

impl Work<'_> {
    pub(super) fn do_it(&self) -> Result<Optimised> {
        #[cfg(feature = "svg")]
        if self.plan.format == Format::Svg {
            return self.vector();
        }
        let mut done = self.raster(&self.engine.codecs.metadata(self.info.format, self.bytes, self.run)?)?;
        done.warnings.extend(self.pictures_left_out(&done).map(str::to_owned));
        Ok(done)
    }

    /// What to say of pictures that the source holds behind the first.
    fn pictures_left_out(&self, done: &Optimised) -> Option<&'static str> {
        match self.info.format {
            #[cfg(feature = "jpeg")]
            Format::Jpeg if done.bytes != self.bytes => crate::codec::jpeg::left_out(self.bytes),
            _ => None,
        }
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
        let size = (frames.layout().width, frames.layout().height);
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
        let kept = metadata.kept(self.plan.keep, Some(size));
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
        done.warnings.extend(self.grown(&done));
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

    /// What to say where another format takes more bytes for the same pixels.
    fn grown(&self, done: &Optimised) -> Option<String> {
        let (from, into) = (self.info.format, self.plan.format);
        let (before, after) = (self.bytes.len(), done.bytes.len());
        let same_pixels = from != Format::Svg && self.plan.chain.is_empty();
        (from != into && same_pixels && after > before)
            .then(|| format!("{into} takes more bytes than {from} for it: {after} in place of {before}"))
    }

    /// What to say where faces were looked for and there are none.
    fn without_faces(&self) -> Option<String> {
        let sought = self.plan.faces.as_ref().filter(|sought| sought.faces.found().is_empty())?;
        sought.without.map(str::to_owned)
    }

    fn moving(&self, frames: &mut Processed<'_>, stores_it: bool) -> Result<(Optimised, Option<u64>)> {
        frames.restart()?;
        let task = Moving {
            codecs: &self.engine.codecs,
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
            codecs: &self.engine.codecs,
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
        let mut frames = self.engine.codecs.frames(self.info.format, self.bytes, &self.plan.decode, self.run)?;
        let (mut done, _) = self.optimised(&self.first(&mut *frames)?, true)?;
        // The pixels are as in sRGB, and their colour type may have changed, for which a profile must be.
        let kept = Metadata { icc: None, ..metadata.kept(self.plan.keep, None) };
        done.bytes = self.marked(self.plan.format, &done.bytes, kept, (self.plan.goal, self.of_all))?;
        Ok(done)
    }

    /// The frames, decoded, converted to sRGB and taken through the operations as they are asked for.
    fn processed(&self, metadata: &Metadata) -> Result<Processed<'_>> {
        let frames = self.engine.codecs.frames(self.info.format, self.bytes, &self.plan.decode, self.run)?;
        let processed = Processed::new(frames, metadata.icc.as_deref(), &self.plan.chain, self.run)?;
        Ok(if self.plan.moves { processed.keeping(self.plan.kept_bytes) } else { processed.one() })
    }

    fn first(&self, frames: &mut dyn Frames) -> Result<Picture> {
        let frame = frames.next(self.run)?.ok_or_else(|| Error::input(self.info.format, "has no frame"))?;
        Ok(frame.picture.into_owned())
    }
}
