//! A GIF again in fewer bytes, with every canvas as it was, for as long as it was.

use super::{
    Gif,
    compress::compress,
    frame::{Frame, Unchanged, needed},
    merged::{Merged, Source},
    player::Player,
    tables::{Table, global},
    write::{TRAILER, write_head},
};
use crate::{
    codec::{
        Container, Recompress,
        sequence::{Area, Canvases, Cost, Pixel, split},
    },
    control::Run,
    error::Result,
    format::Format,
    picture::Metadata,
};

impl Recompress for Gif {
    fn format(&self) -> Format {
        Format::Gif
    }

    fn animations(&self) -> bool {
        true
    }

    /// Never interlaced. Canvases that equal the ones before them are merged with these.
    fn recompress(&self, bytes: &[u8], _: bool, run: Run<'_>) -> Result<Vec<u8>> {
        let mut merged = Merged::new(Player::new(bytes, run)?);
        match encode(&mut merged, run)? {
            Some(bytes) => Ok(bytes),
            None => self.with_metadata(bytes, &Metadata::default(), run),
        }
    }

    /// By the first phrases that come, without tables.
    fn outlook(&self, bytes: &[u8], run: Run<'_>) -> Result<Option<u64>> {
        let mut merged = Merged::new(Player::new(bytes, run)?);
        let mut price = Price { width: merged.size().0 };
        let Some(splits) = split(&mut merged, &mut price, run)? else { return Ok(None) };
        let mut sum = 0;
        merged.replay(&splits, run, |base, merged, split| {
            sum += price.cost(base, merged.canvas(), split.area, run)?.unwrap_or(0);
            Ok(())
        })?;
        Ok(Some(sum))
    }
}

/// Writes a sequence; `None` if a frame would need more colours than a table has.
pub(super) fn encode<S: Source>(merged: &mut Merged<S>, run: Run<'_>) -> Result<Option<Vec<u8>>> {
    let width = merged.size().0;
    let Some(splits) = split(merged, &mut Price { width }, run)? else { return Ok(None) };
    let mut needs = Vec::with_capacity(splits.len());
    merged.replay(&splits, run, |base, merged, split| {
        needs.push(needed(base, merged.canvas(), split.area, width));
        Ok(())
    })?;
    let table = global(&needs);
    let mut out = Vec::new();
    write_head(&mut out, merged.size(), &table, merged.plays());
    let (mut at, mut possible) = (0, true);
    merged.replay(&splits, run, |base, merged, split| {
        let frame = Frame { base, wanted: merged.canvas(), area: split.area, width };
        let best = frame.best(&needs[at], &table, run)?;
        at += 1;
        match best {
            Some(best) => best.write(&mut out, split, merged.ticks, splits.len() == 1),
            None => possible = false,
        }
        Ok(())
    })?;
    out.push(TRAILER);
    Ok(possible.then_some(out))
}

/// The bytes of a frame with a table of its own, which is not counted.
pub(super) struct Price {
    pub(super) width: usize,
}

impl Cost for Price {
    const RESTORES: bool = true;
    const ERASES: bool = false;

    fn cost(&mut self, base: &[Pixel], wanted: &[Pixel], area: Area, run: Run<'_>) -> Result<Option<u64>> {
        let needs = needed(base, wanted, area, self.width);
        if needs.colours.len() > 256 {
            return Ok(None);
        }
        let frame = Frame { base, wanted, area, width: self.width };
        let coded = frame.coded(&Table::local(&needs, false), false, Unchanged::Either, compress, run)?;
        Ok(coded.map(|coded| coded.codes.len() as u64))
    }
}
