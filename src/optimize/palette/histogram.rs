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
        changes.take(picture, true, run)?;
        changes.finish(run)
    }
}

/// How often there is a colour, and how much errors of its pixels are seen in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Count {
    colour: u32,
    pixels: u32,
    seen: u32,
}

impl Count {
    fn join(&mut self, other: &Self) {
        self.pixels += other.pixels;
        self.seen = self.seen.saturating_add(other.seen);
    }

    fn bin(&self) -> Bin {
        let colour = self.colour.to_be_bytes();
        Bin { colour, point: point(colour), pixels: self.pixels, weight: weight(self.seen as f32 / MOST_SEEN as f32) }
    }
}

/// How much errors of a pixel are seen that is as those around it, and the mean difference from these, in eighths of a step of luma,
/// with which it is half as much.
const MOST_SEEN: u32 = 16;
const BUSY: u32 = 64;

/// Colours in the counting, of one picture or many.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    counted: Vec<Count>,
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

    /// Counts more pixels, whose errors are all seen alike.
    pub(crate) fn add(&mut self, colours: impl Iterator<Item = [u8; 4]>, run: Run<'_>) -> Result<()> {
        self.add_seen(colours.map(|colour| (colour, MOST_SEEN)), run)
    }

    /// Counts more pixels, each with how much its errors are seen.
    fn add_seen(&mut self, colours: impl Iterator<Item = ([u8; 4], u32)>, run: Run<'_>) -> Result<()> {
        for (at, (colour, seen)) in colours.enumerate() {
            if at % Self::QUESTION == 0 {
                run.check()?;
            }
            let count = Count { colour: u32::from_be_bytes(colour), pixels: 1, seen };
            match self.counted.last_mut() {
                Some(last) if last.colour == count.colour => last.join(&count),
                _ => {
                    if self.counted.len() >= 2 * self.merged + Self::PENDING {
                        self.merge(run)?;
                    }
                    self.counted.push(count);
                }
            }
        }
        Ok(())
    }

    fn merge(&mut self, run: Run<'_>) -> Result<()> {
        run.check()?;
        self.counted.sort_unstable();
        self.counted.dedup_by(|one, before| {
            let same = one.colour == before.colour;
            if same {
                before.join(one);
            }
            same
        });
        if self.counted.len() > Self::MOST {
            (self.counted, self.coarse) = (merged(&self.counted), true);
        }
        self.merged = self.counted.len();
        run.check()
    }

    /// How many colours there are, all transparent ones as one.
    pub(crate) fn distinct(picture: &Picture, run: Run<'_>) -> Result<usize> {
        let mut counter = Self::default();
        counter.add(colours(picture), run)?;
        Ok(counter.finish(run)?.distinct)
    }

    /// All that was counted.
    pub(crate) fn finish(mut self, run: Run<'_>) -> Result<Histogram> {
        self.merge(run)?;
        let distinct = if self.coarse { usize::MAX } else { self.counted.len() };
        if distinct > MANY {
            self.counted = merged(&self.counted);
        }
        let bins = self.counted.iter().map(Count::bin).collect();
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
        self.take(picture, false, run)
    }

    /// The same, where detail `hides` errors or all are seen alike.
    fn take(&mut self, picture: &Picture, hides: bool, run: Run<'_>) -> Result<()> {
        run.check()?;
        let now: Vec<[u8; 4]> = colours(picture).collect();
        let changed = now.iter().enumerate().filter(|(at, colour)| self.before.get(*at) != Some(colour));
        let width = picture.width() as usize;
        let seen = hides.then(|| seen(&now, width));
        let seen = |at: usize| seen.as_ref().map_or(MOST_SEEN, |seen| seen(at));
        self.counter.add_seen(changed.clone().map(|(at, colour)| (*colour, seen(at))), run)?;
        let grounds = grounds(&now, width, run)?;
        self.plain.add(changed.filter(|(at, _)| grounds[*at].is_plain()).map(|(_, colour)| *colour), run)?;
        self.before = now;
        Ok(())
    }

    /// All that was counted.
    pub(crate) fn finish(mut self, run: Run<'_>) -> Result<Histogram> {
        self.plain.merge(run)?;
        let mut areas = self.plain.counted;
        areas.sort_unstable_by_key(|area| (std::cmp::Reverse(area.pixels), area.colour));
        let plain = areas.into_iter().map(|area| (area.colour.to_be_bytes(), area.pixels)).collect();
        Ok(Histogram { plain, ..self.counter.finish(run)? })
    }
}

/// How much the error of each pixel is seen: the less the more it differs from those beside, above and below it, as detail hides
/// errors.
fn seen(pixels: &[[u8; 4]], width: usize) -> impl Fn(usize) -> u32 + use<> {
    // Over black, and a little of alpha.
    let light = |&[r, g, b, a]: &[u8; 4]| {
        let [r, g, b, a] = [r, g, b, a].map(u32::from);
        ((2 * r + 5 * g + b) * a / 255 + 2 * a) as u16
    };
    let lights: Vec<u16> = pixels.iter().map(light).collect();
    move |at| {
        let x = at % width;
        let around = [
            (x > 0).then(|| at - 1),
            (x + 1 < width).then_some(at + 1),
            at.checked_sub(width),
            Some(at + width).filter(|&below| below < lights.len()),
        ];
        let differences = around.into_iter().flatten().map(|other| u32::from(lights[at].abs_diff(lights[other])));
        let (count, sum) = differences.fold((0, 0), |(count, sum), difference| (count + 1, sum + difference));
        (MOST_SEEN * BUSY / (BUSY + sum / count.max(1))).max(1)
    }
}

/// Small areas of a colour of their own (an icon, a line) matter more than their share of pixels.
fn weight(count: f32) -> f32 {
    count.sqrt() * count.sqrt().sqrt()
}

/// Merges colours that agree in the upper six bits of each channel into the most frequent of them.
fn merged(counted: &[Count]) -> Vec<Count> {
    const UPPER: u32 = 0xFCFC_FCFC;
    let mut order = counted.to_vec();
    order.sort_unstable_by_key(|count| (count.colour & UPPER, count.colour));
    let groups = order.chunk_by(|a, b| (a.colour ^ b.colour) & UPPER == 0);
    groups
        .filter_map(|group| {
            let colour = group.iter().max_by_key(|count| count.pixels)?.colour;
            let all = group.iter().copied().reduce(|mut all, count| {
                all.join(&count);
                all
            });
            all.map(|all| Count { colour, ..all })
        })
        .collect()
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
    fn a_colour_of_detail_weighs_less_than_one_of_a_plain_area() {
        const SIDE: usize = 32;
        // A chessboard beside an area, of as many pixels each.
        let gray = |at: usize| match (at % SIDE, at / SIDE) {
            (x, _) if x < SIDE / 4 => 90,
            (x, _) if x < SIDE / 2 => 30,
            (x, y) => {
                if (x + y) % 2 == 0 {
                    120
                } else {
                    200
                }
            }
        };
        let samples = (0..SIDE * SIDE).map(gray).collect();
        let picture = Picture::new(SIDE as u32, SIDE as u32, Channels::Gray, Samples::Eight(samples)).unwrap();
        let run = Run { limits: &Limits::default(), control: &crate::control::Unattended };
        let histogram = Histogram::new(&picture, run).unwrap();
        let of = |gray: u8| histogram.bins.iter().find(|bin| bin.colour[0] == gray).unwrap();
        assert_eq!([90, 120].map(|gray| of(gray).pixels), [256; 2]);
        assert!(of(120).weight * 3.0 < of(90).weight, "{} of {}", of(120).weight, of(90).weight);
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
