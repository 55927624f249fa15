//! What is passed on of the source, and the marks by which our own results are known again.

use std::borrow::Cow;

use super::work::Work;
use crate::{
    codec::{ColourModel, least, most},
    control::Run,
    error::Result,
    format::Format,
    optimize::{Goal, Mark, Optimised},
    picture::{Channels, Metadata, srgb_profile},
};

/// What to say of a profile that is not kept and not converted from.
pub(super) const IGNORED: &str = "the embedded profile does not fit the picture and was ignored";

/// What a mark is over: the smallest of all formats is another result than that of one.
fn of_formats_too(unmarked: &[u8], of_all: bool) -> Cow<'_, [u8]> {
    if of_all { [unmarked, b" of all formats"].concat().into() } else { unmarked.into() }
}

impl Work<'_> {
    /// Our own result of the same request, recognised by its mark, of one format or of all: only metadata may still go.
    pub(super) fn already_done(&self, metadata: &Metadata, of_all: &[bool]) -> Result<Option<Optimised>> {
        if !self.plan.may_keep_source || self.info.interlaced.is_some_and(|stored| stored != self.plan.interlaced) {
            return Ok(None);
        }
        let Some(mark) = metadata.comments.iter().find_map(|comment| Mark::parse(comment)) else { return Ok(None) };
        let mut unmarked = metadata.clone();
        unmarked.comments.retain(|comment| Mark::parse(comment).is_none());
        let bytes = self.engine.codecs.with_metadata(self.info.format, self.bytes, &unmarked, self.run)?;
        let goals = [Some(self.plan.goal), self.plan.done_before].into_iter().flatten();
        let mut kinds = goals.flat_map(|goal| of_all.iter().map(move |&of_all| (goal, of_all)));
        let vouches = |(goal, of_all): &(Goal, bool)| mark.vouches_for(*goal, &of_formats_too(&bytes, *of_all));
        let Some(kind) = kinds.find(vouches) else { return Ok(None) };
        let kept = unmarked.kept(self.plan.keep, None);
        let bytes = self.marked(self.info.format, &bytes, kept.clone(), kind)?;
        Ok(Some(Optimised { bytes: self.no_larger(bytes, metadata, &kept)?, score: 100.0, warnings: Vec::new() }))
    }

    /// Whether [`passed_on`](Self::passed_on) may come to fewer bytes; `known` is the least it may come to. Where no codec
    /// has an outlook on it either, no file is taken to shrink to half without loss.
    pub(super) fn may_do_without_loss(&self, bytes: usize, known: Option<u64>) -> Result<bool> {
        if bytes >= self.bytes.len() {
            return Ok(true);
        }
        let fewest = match known {
            Some(fewest) => Some(fewest),
            None => self.engine.codecs.outlook(self.info.format, self.bytes, most(bytes as u64), self.run)?.map(least),
        };
        Ok(fewest.map_or(bytes * 2 > self.bytes.len(), |fewest| fewest < bytes as u64))
    }

    /// The smallest file that has the stored pixels or coefficients: recompressed, or the source without what may be
    /// stripped, or the source as it is. Each has a profile if one is asked for, and none has anything that is to go: where
    /// nothing else saves what the rewritten rest takes, the result is larger than the source by that.
    pub(super) fn passed_on(&self, metadata: &Metadata) -> Result<Optimised> {
        let kept = metadata.kept(self.plan.keep, None);
        let recompressed =
            self.engine.codecs.recompress(self.info.format, self.bytes, self.plan.interlaced, self.run)?;
        let mut best = self.marked(self.info.format, &recompressed, kept.clone(), (self.plan.goal, self.of_all))?;
        if self.plan.may_keep_source {
            let named = self.named(self.info.format, self.bytes, kept.clone())?;
            let stripped = self.engine.codecs.with_metadata(self.info.format, self.bytes, &named, self.run)?;
            if stripped.len() <= best.len() {
                best = stripped;
            }
            best = self.no_larger(best, metadata, &kept)?;
        }
        let lost = self.info.icc && metadata.icc.is_none();
        Ok(Optimised { bytes: best, score: 100.0, warnings: lost.then(|| IGNORED.to_owned()).into_iter().collect() })
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
        let anew = self.engine.codecs.with_metadata(self.info.format, self.bytes, metadata, self.run)?;
        Ok((*kept == all || *kept == moved) && anew.len() >= self.bytes.len())
    }

    /// `metadata` with a profile for the file `bytes` if one is asked for and not there. Pixels without a profile are in
    /// sRGB, but for ink.
    fn named(&self, format: Format, bytes: &[u8], metadata: Metadata) -> Result<Metadata> {
        if !self.plan.keep.profile || metadata.icc.is_some() {
            return Ok(metadata);
        }
        let limits = self.run.limits.for_results();
        let channels = self.engine.codecs.probe(format, bytes, Run { limits: &limits, ..self.run })?.channels();
        let icc = (channels != Channels::Cmyk).then(|| srgb_profile(channels)).transpose()?;
        Ok(Metadata { icc, ..metadata })
    }

    /// The file with exactly `metadata`, named, and the mark of a goal, in one format or of all.
    pub(super) fn marked(
        &self,
        format: Format,
        bytes: &[u8],
        metadata: Metadata,
        (goal, of_all): (Goal, bool),
    ) -> Result<Vec<u8>> {
        let mut metadata = self.named(format, bytes, metadata)?;
        // Marks of before say nothing any more, and the first one is believed.
        metadata.comments.retain(|comment| Mark::parse(comment).is_none());
        let unmarked = self.engine.codecs.with_metadata(format, bytes, &metadata, self.run)?;
        metadata.comments.push(Mark::new(goal, &of_formats_too(&unmarked, of_all)).to_string());
        self.engine.codecs.with_metadata(format, &unmarked, &metadata, self.run)
    }
}
