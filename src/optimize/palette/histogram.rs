//! Which colours a picture has, and how often.

use super::space::{Point, point};
use crate::{codec::plain::grounds, control::Run, error::Result, optimize::contour::colour, picture::Picture};

/// Above this many colours, near ones are counted together.
pub(super) const MANY: usize = 1 << 15;

/// One colour, or several near ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bin {
    pub(super) colour: [u8; 4],
    pub(super) point: Point,
    pub(super) pixels: u32,
    pub(super) weight: f32,
}

/// The colours of a picture with their weights.
#[derive(Debug, Clone)]
pub(crate) struct Histogram {
    pub(super) bins: Vec<Bin>,
    /// Colours that differ; all transparent ones count as one.
    pub distinct: usize,
    /// Colours of plain areas with their pixels, the largest first.
    pub(super) plain: Vec<([u8; 4], u32)>,
}

impl Histogram {
    /// Counts the colours of an 8-bit picture.
    pub(crate) fn new(picture: &Picture, run: Run<'_>) -> Result<Self> {
        let mut changes = Changes::default();
        changes.add(picture, run)?;
        changes.finish(run)
    }
}

/// Colours in the counting, of one picture or many.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    counted: Vec<(u32, u32)>,
    /// Entries of `counted` that need no more merging.
    merged: usize,
    /// Near colours are counted together already.
    coarse: bool,
}

impl Counter {
    /// Entries that are merged at once, at least.
    const PENDING: usize = 1 << 20;
    /// Colours that are told apart while they are counted.
    const MOST: usize = 1 << 22;
    /// Pixels between two questions whether to go on.
    const QUESTION: usize = 1 << 18;

    /// Counts more pixels.
    pub(crate) fn add(&mut self, colours: impl Iterator<Item = [u8; 4]>, run: Run<'_>) -> Result<()> {
        for (at, colour) in colours.map(u32::from_be_bytes).enumerate() {
            if at % Self::QUESTION == 0 {
                run.check()?;
            }
            match self.counted.last_mut() {
                Some((last, count)) if *last == colour => *count += 1,
                _ => {
                    if self.counted.len() >= 2 * self.merged + Self::PENDING {
                        self.merge(run)?;
                    }
                    self.counted.push((colour, 1));
                }
            }
        }
        Ok(())
    }

    fn merge(&mut self, run: Run<'_>) -> Result<()> {
        run.check()?;
        self.counted.sort_unstable();
        self.counted.dedup_by(|one, before| {
            let same = one.0 == before.0;
            before.1 += if same { one.1 } else { 0 };
            same
        });
        if self.counted.len() > Self::MOST {
            (self.counted, self.coarse) = (merged(&self.counted), true);
        }
        self.merged = self.counted.len();
        run.check()
    }

    /// All that was counted.
    pub(crate) fn finish(mut self, run: Run<'_>) -> Result<Histogram> {
        self.merge(run)?;
        let distinct = if self.coarse { usize::MAX } else { self.counted.len() };
        if distinct > MANY {
            self.counted = merged(&self.counted);
        }
        let bins = self.counted.into_iter().map(|(colour, count)| bin(colour.to_be_bytes(), count)).collect();
        Ok(Histogram { bins, distinct, plain: Vec::new() })
    }
}

/// The colours of what changes from picture to picture, in the counting.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    counter: Counter,
    plain: Counter,
    before: Vec<[u8; 4]>,
}

impl Changes {
    /// Counts what the next 8-bit picture shows anew.
    pub(crate) fn add(&mut self, picture: &Picture, run: Run<'_>) -> Result<()> {
        run.check()?;
        let now: Vec<[u8; 4]> = colours(picture).collect();
        let changed = now.iter().enumerate().filter(|(at, colour)| self.before.get(*at) != Some(colour));
        self.counter.add(changed.clone().map(|(_, colour)| *colour), run)?;
        let grounds = grounds(&now, picture.width() as usize, run)?;
        self.plain.add(changed.filter(|(at, _)| grounds[*at].is_plain()).map(|(_, colour)| *colour), run)?;
        self.before = now;
        Ok(())
    }

    /// All that was counted.
    pub(crate) fn finish(mut self, run: Run<'_>) -> Result<Histogram> {
        self.plain.merge(run)?;
        let mut areas = self.plain.counted;
        areas.sort_unstable_by_key(|&(colour, count)| (std::cmp::Reverse(count), colour));
        let plain = areas.into_iter().map(|(colour, count)| (colour.to_be_bytes(), count)).collect();
        Ok(Histogram { plain, ..self.counter.finish(run)? })
    }
}

fn bin(colour: [u8; 4], count: u32) -> Bin {
    Bin { colour, point: point(colour), pixels: count, weight: weight(count as f32) }
}

/// Small areas of a colour of their own (an icon, a line) matter more than their share of pixels.
fn weight(count: f32) -> f32 {
    count.sqrt() * count.sqrt().sqrt()
}

/// Merges colours that agree in the upper six bits of each channel into the most frequent of them.
fn merged(counted: &[(u32, u32)]) -> Vec<(u32, u32)> {
    const UPPER: u32 = 0xFCFC_FCFC;
    let mut order: Vec<(u32, u32, u32)> =
        counted.iter().map(|&(colour, count)| (colour & UPPER, colour, count)).collect();
    order.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for group in order.chunk_by(|a, b| a.0 == b.0) {
        let total = group.iter().map(|entry| entry.2).sum();
        if let Some(most) = group.iter().max_by_key(|entry| entry.2) {
            merged.push((most.1, total));
        }
    }
    merged
}

/// The pixels of an 8-bit picture as straight RGBA, all transparent ones alike.
pub(crate) fn colours(picture: &Picture) -> impl Iterator<Item = [u8; 4]> + '_ {
    let channels = picture.channels();
    picture.eight().unwrap_or(&[]).chunks_exact(channels.count()).map(move |pixel| colour(pixel, channels))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::{
        control::{Control, Stage},
        error::Stop,
        limits::Limits,
        picture::{Channels, Samples},
    };

    /// Counts the questions; what is left of them is answered with going on.
    #[derive(Debug)]
    struct Patience(AtomicUsize);

    impl Control for Patience {
        fn stop(&self) -> Option<Stop> {
            let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            left.is_err().then_some(Stop::Cancelled)
        }
        fn stage(&self, _: Stage, _: f32) {}
    }

    #[test]
    fn counting_asks_all_along_whether_to_go_on() {
        let (width, height) = (1024, 1024);
        let samples = (0..width * height).map(|at: u32| (at / 64) as u8).collect();
        let picture = Picture::new(width, height, Channels::Gray, Samples::Eight(samples)).unwrap();
        let asked = |patience: usize| {
            let control = Patience(patience.into());
            let done = Histogram::new(&picture, Run { limits: &Limits::default(), control: &control });
            (patience - control.0.into_inner(), done.map(|histogram| histogram.distinct).ok())
        };
        let (questions, distinct) = asked(1000);
        assert_eq!(distinct, Some(256));
        assert!(questions >= 2 * (width * height) as usize / Counter::QUESTION, "{questions}");
        assert!((0..questions).all(|patience| asked(patience).1.is_none()));
    }
}
