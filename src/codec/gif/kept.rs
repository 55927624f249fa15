//! The frames of a file as they are split, each with its codes or with better ones.
//!
//! Codes that a colour was bent for, as lossy ones are, can be shorter than any that are found for what they draw.

use super::{
    blocks::{self, Place, Stored, Walk, blocks},
    frame::{FRAME_BYTES, Frame, needed, thorough},
    player::Player,
    tables::{Needs, Table},
    write::{TRAILER, write_head, write_stored},
};
use crate::{
    codec::sequence::{Area, NOTHING, Pixel, Split},
    control::Run,
    error::Result,
};

/// What a file comes to with its frames as they are split.
pub(super) struct Outlook {
    /// About those of its table and frames.
    pub(super) bytes: u64,
    /// Which frames other codes may be shorter for.
    anew: Vec<bool>,
}

/// By a quick look; `None` where frames are not as we would write them, but for their codes.
pub(super) fn outlook(file: &[u8], run: Run<'_>) -> Result<Option<Outlook>> {
    let mut outlook =
        Outlook { bytes: Walk::start(file)?.0.table.map_or(0, blocks::Table::bytes) as u64, anew: vec![] };
    let all = walk(file, run, |kept| {
        let quick = kept.frame.quick(&kept.needs, kept.global, run)?;
        let (anew, stored) = (quick.map_or(u64::MAX, |quick| thorough(quick as u64)), kept.stored_bytes() as u64);
        outlook.bytes += anew.min(stored) + FRAME_BYTES as u64;
        outlook.anew.push(anew < stored);
        Ok(())
    })?;
    Ok(all.then_some(outlook))
}

/// The file with these frames.
pub(super) fn write(file: &[u8], outlook: &Outlook, run: Run<'_>) -> Result<Vec<u8>> {
    let (screen, player) = (Walk::start(file)?.0, Player::new(file, run)?);
    let (mut out, mut bytes) = (Vec::new(), 0);
    write_head(&mut out, player.size(), &table(screen.table), player.plays());
    let (still, mut anew) = (outlook.anew.len() == 1, outlook.anew.iter());
    walk(file, run, |kept| {
        let (stored, least) = (kept.stored, kept.stored_bytes());
        let best =
            if anew.next() == Some(&true) { kept.frame.best(&kept.needs, kept.global, &mut bytes, run)? } else { None };
        match best.filter(|best| best.bytes() < least) {
            Some(best) => best.write(&mut out, &kept.split, stored.control.ticks, still),
            None => write_stored(&mut out, &stored, still),
        }
        Ok(())
    })?;
    out.push(TRAILER);
    Ok(out)
}

/// A frame as it is stored, and what it draws.
struct Kept<'a> {
    stored: Stored<'a>,
    split: Split,
    frame: Frame<'a>,
    needs: Needs,
    global: &'a Table,
}

impl Kept<'_> {
    /// Those of its codes and its own table.
    fn stored_bytes(&self) -> usize {
        self.stored.table.map_or(0, blocks::Table::bytes) + blocks(self.stored.data).map(<[u8]>::len).sum::<usize>() + 1
    }
}

/// Goes through all frames; false from the first on that cannot be kept.
fn walk(file: &[u8], run: Run<'_>, mut each: impl FnMut(&Kept<'_>) -> Result<()>) -> Result<bool> {
    let (screen, mut frames) = Walk::start(file)?;
    let (global, mut player) = (table(screen.table), Player::new(file, run)?);
    let (width, height) = player.size();
    let mut base = vec![NOTHING; width * height];
    let (mut first, whole) = (true, Area { x: 0, y: 0, width, height });
    while let Some(stored) = frames.next_frame(run)? {
        let Some(area) = area(&stored, (width, height)).filter(|area| !first || *area == whole) else {
            return Ok(false);
        };
        player.draw(run)?;
        let split = Split { area, disposal: stored.control.disposal };
        let needs = needed(&base, player.canvas(), area, width, run)?;
        let frame = Frame { base: &base, wanted: player.canvas(), area, width };
        each(&Kept { stored, split, frame, needs, global: &global })?;
        split.leave(&mut base, player.canvas(), width);
        first = false;
    }
    Ok(true)
}

/// Where a frame lies; `None` if not all of it is seen, its rows are in another order, or its codes are such as not all read.
fn area(stored: &Stored<'_>, (width, height): (usize, usize)) -> Option<Area> {
    let Place { x, y, width: wide, height: high } = stored.place;
    let area = Area { x: x as usize, y: y as usize, width: wide as usize, height: high as usize };
    let within = area.x + area.width <= width && area.y + area.height <= height;
    let usual = !stored.interlaced && stored.code_bits.is_some_and(|bits| bits >= 2);
    (within && usual && wide > 0 && high > 0).then_some(area)
}

fn table(stored: Option<blocks::Table<'_>>) -> Table {
    let colours: Vec<Pixel> =
        stored.into_iter().flat_map(blocks::Table::colours).map(|[r, g, b]| [r, g, b, u8::MAX]).collect();
    let count = colours.len();
    Table::new(colours, count)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Gif, merged::Merged, recompress},
        *,
    };
    use crate::{
        codec::{Encode, EncodeOptions, GifOptions, Recompress},
        control::Unattended,
        limits::Limits,
        picture::{Channels, Picture, Samples, Shown},
    };

    /// Frames of gray noise, or some of which show stripes.
    fn noise(striped: bool) -> Shown {
        let frame = |seed: u32| {
            let noise = |at: u32| at.wrapping_mul(0x9E37_79B1).wrapping_add(seed).wrapping_mul(0x85EB_CA77) >> 26;
            let code = |at: u32| match at / 64 {
                row if striped && seed.is_multiple_of(4) => (row * seed % 5) as u8 * 30,
                row if row < 24 => noise(row / 4 * 64 + at % 64 / 4) as u8 * 3,
                _ => noise(at) as u8 * 3,
            };
            Picture::new(64, 48, Channels::Gray, Samples::Eight((0..64 * 48).map(code).collect())).unwrap()
        };
        Shown::new((1..=12).map(frame).collect())
    }

    fn canvases(file: &[u8], run: Run<'_>) -> Vec<(u16, Vec<Pixel>)> {
        let mut player = Player::new(file, run).unwrap();
        let mut seen = Vec::new();
        while let Some(ticks) = player.draw(run).unwrap() {
            seen.push((ticks, player.canvas().to_vec()));
        }
        seen
    }

    #[test]
    fn codes_that_colours_were_bent_for_are_kept_where_none_are_shorter() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        for striped in [false, true] {
            let file = Gif.encode(&mut noise(striped), &EncodeOptions::Gif(GifOptions::new(40.0)), run).unwrap();
            let anew = recompress::encode(&mut Merged::new(Player::new(&file, run).unwrap()), run).unwrap().unwrap();
            let outlook = outlook(&file, run).unwrap().unwrap();
            let (kept, again) = (write(&file, &outlook, run).unwrap(), Gif.recompress(&file, false, run).unwrap());
            assert!(canvases(&kept, run) == canvases(&file, run));
            match striped {
                false => assert!(kept == file && again == file && anew.len() > file.len(), "{}", anew.len()),
                true => assert!(kept.len() < file.len() && again.len() <= kept.len(), "{} {}", kept.len(), again.len()),
            }
        }
    }

    #[test]
    fn frames_of_which_not_all_is_seen_or_in_another_order_are_not_kept() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let file = Gif.encode(&mut noise(false), &EncodeOptions::Gif(GifOptions::new(40.0)), run).unwrap();
        let mut frames = Walk::start(&file).unwrap().1;
        frames.next_frame(run).unwrap();
        let second = frames.next_frame(run).unwrap().unwrap().head.as_ptr() as usize - file.as_ptr() as usize;
        // Left side, no width, interlaced.
        for (at, bits) in [(0, 0), (0, 1), (4, 0), (8, 0x40)] {
            let mut file = file.clone();
            file[second + at] = if at == 4 { 0 } else { file[second + at] | bits };
            assert_eq!(outlook(&file, run).unwrap().is_some(), bits == 0 && at == 0, "{at}");
        }
    }
}
