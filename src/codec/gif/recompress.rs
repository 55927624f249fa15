//! A GIF again in fewer bytes, with every canvas as it was, for as long as it was.

use super::{
    Gif,
    frame::{FRAME_BYTES, Frame, LESS_THOROUGH, needed, thorough},
    kept,
    merged::{Merged, Source},
    player::Player,
    tables::{Needs, Table, global},
    write::{TRAILER, write_head},
};
use crate::{
    codec::{
        Container, Recompress,
        sequence::{Area, Canvases, Cost, Pixel, Split, split},
    },
    control::Run,
    error::Result,
    format::Format,
    picture::Metadata,
};

/// The share of a file by which two ways to write it may differ before they are and look alike, and bytes up to which both are
/// tried then.
const ALIKE: u64 = 64;
const SMALL: usize = 1 << 16;

impl Recompress for Gif {
    fn format(&self) -> Format {
        Format::Gif
    }

    fn animations(&self) -> bool {
        true
    }

    /// Never interlaced. Canvases that equal the ones before them are merged with these, unless the frames as they are split
    /// come out smaller, which is looked at up to three megabytes.
    fn recompress(&self, bytes: &[u8], _: bool, run: Run<'_>) -> Result<Vec<u8>> {
        let mut merged = Merged::new(Player::new(bytes, run)?);
        let draft = Draft::of(&mut merged, run)?;
        let written = |merged: &mut _| draft.as_ref().map(|draft| draft.written(merged, run)).transpose();
        // What is large would only take longer.
        let kept = if bytes.len() <= LESS_THOROUGH { kept::outlook(bytes, run)? } else { None };
        if let Some(kept) = kept {
            let anew = draft.as_ref().map(|draft| draft.outlook(&mut merged, u64::MAX, run)).transpose()?.flatten();
            let frames = draft.as_ref().map_or(0, |draft| draft.splits.len());
            let anew = anew.map_or(u64::MAX, |anew| thorough(anew) + (frames * FRAME_BYTES) as u64);
            if frames > 1 && kept.bytes.abs_diff(anew) <= kept.bytes / ALIKE && bytes.len() <= SMALL {
                let (kept, anew) = (kept::write(bytes, &kept, run)?, written(&mut merged)?.flatten());
                return Ok(anew.filter(|anew| anew.len() < kept.len()).unwrap_or(kept));
            }
            if kept.bytes < anew {
                return kept::write(bytes, &kept, run);
            }
        }
        match written(&mut merged)?.flatten() {
            Some(bytes) => Ok(bytes),
            None => self.with_metadata(bytes, &Metadata::default(), run),
        }
    }

    /// By the first phrases that come; better ones take off a sixteenth at most.
    fn outlook(&self, bytes: &[u8], most: u64, run: Run<'_>) -> Result<Option<u64>> {
        let mut merged = Merged::new(Player::new(bytes, run)?);
        let draft = Draft::of(&mut merged, run)?;
        draft.map(|draft| draft.outlook(&mut merged, most, run)).transpose().map(Option::flatten)
    }
}

/// A sequence split, what each of its frames draws, and the table for most of them.
pub(super) struct Draft {
    pub(super) splits: Vec<Split>,
    needs: Vec<Needs>,
    pub(super) table: Table,
}

impl Draft {
    /// `None` if some canvas cannot be reached.
    pub(super) fn of<S: Source>(merged: &mut Merged<S>, run: Run<'_>) -> Result<Option<Self>> {
        let width = merged.size().0;
        let Some(splits) = split(merged, &mut Price { width }, run)? else { return Ok(None) };
        let mut needs = Vec::with_capacity(splits.len());
        merged.replay(&splits, run, |base, merged, split| {
            needs.push(needed(base, merged.canvas(), split.area, width, run)?);
            Ok(())
        })?;
        let table = global(&needs);
        Ok(Some(Self { splits, needs, table }))
    }

    /// About the bytes of its table and frames, or any number above `most`; `None` as of [`written`](Self::written).
    fn outlook<S: Source>(&self, merged: &mut Merged<S>, most: u64, run: Run<'_>) -> Result<Option<u64>> {
        let width = merged.size().0;
        let (mut sum, mut needs) = (Some(self.table.bytes() as u64), self.needs.iter());
        merged.replay(&self.splits, run, |base, merged, split| {
            let Some(before) = sum.filter(|&sum| sum <= most) else { return Ok(()) };
            let frame = Frame { base, wanted: merged.canvas(), area: split.area, width };
            let bytes = needs.next().map(|needs| frame.quick(needs, &self.table, run)).transpose()?.flatten();
            sum = bytes.map(|bytes| before + bytes as u64);
            Ok(())
        })?;
        Ok(sum)
    }

    /// The file; `None` if a frame would need more colours than a table has.
    fn written<S: Source>(&self, merged: &mut Merged<S>, run: Run<'_>) -> Result<Option<Vec<u8>>> {
        let (splits, table, width) = (&self.splits, &self.table, merged.size().0);
        let mut out = Vec::new();
        write_head(&mut out, merged.size(), table, merged.plays());
        let (mut needs, mut bytes, mut possible) = (self.needs.iter(), 0, true);
        merged.replay(splits, run, |base, merged, split| {
            let frame = Frame { base, wanted: merged.canvas(), area: split.area, width };
            let best = needs.next().map(|needs| frame.best(needs, table, &mut bytes, run)).transpose()?.flatten();
            match best {
                Some(best) => best.write(&mut out, split, merged.ticks, splits.len() == 1),
                None => possible = false,
            }
            Ok(())
        })?;
        out.push(TRAILER);
        Ok(possible.then_some(out))
    }
}

/// Writes a sequence; `None` if a frame would need more colours than a table has.
pub(super) fn encode<S: Source>(merged: &mut Merged<S>, run: Run<'_>) -> Result<Option<Vec<u8>>> {
    Draft::of(merged, run)?.map(|draft| draft.written(merged, run)).transpose().map(Option::flatten)
}

/// The bytes of a frame with a table of its own, which is not counted.
pub(super) struct Price {
    pub(super) width: usize,
}

impl Cost for Price {
    const RESTORES: bool = true;
    const ERASES: bool = false;

    fn cost(&mut self, base: &[Pixel], wanted: &[Pixel], area: Area, run: Run<'_>) -> Result<Option<u64>> {
        let needs = needed(base, wanted, area, self.width, run)?;
        if needs.colours.len() > 256 {
            return Ok(None);
        }
        let codes = Frame { base, wanted, area, width: self.width }.alone(&needs, run)?;
        Ok(codes.map(|codes| codes.len() as u64))
    }
}
