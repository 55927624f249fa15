//! An SVG that stays one, and what is said of one that is drawn.

use std::borrow::Cow;

use super::work::Work;
use crate::{
    codec,
    control::Stage,
    error::{Error, Result},
    format::Format,
    operation::Frame,
    optimize::{Drawn, Mark, Optimised, Vector, is_clean_svg, optimise_svg},
};

/// The longer side, in pixels, of an SVG that is looked at to be cropped.
const LOOK: u64 = 640;

impl Work<'_> {
    /// An SVG that stays one. Its mark is a comment at its end, and a gzipped one is gzipped again.
    pub(super) fn vector(&self) -> Result<Optimised> {
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
            codecs: &self.engine.codecs,
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
    fn signed<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        if self.plan.keep_ids { [text, b" with ids"].concat().into() } else { text.into() }
    }

    /// The size of an SVG and the part of it to show, and what to say where that could not be looked for.
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
    pub(super) fn undrawn(&self) -> Result<Vec<String>> {
        if self.info.format != Format::Svg {
            return Ok(Vec::new());
        }
        let text = codec::svg::text(self.bytes, self.run)?;
        // Documents in addresses may have some text, too.
        let fontless = match text.contains("text") || text.contains("data:") {
            true => codec::svg::Drawing::new(&text, &self.engine.fonts, self.run)?.warning,
            false => None,
        };
        Ok(fontless.map(str::to_owned).into_iter().chain(codec::svg::undrawn(&text, self.run)?).collect())
    }
}
