//! Drawing a picture with the colours of a palette.

use std::ops::Range;

use super::{
    Palette, SEEN,
    histogram::colours,
    hues::{TINGED, tinge},
    space::{Point, Points, distance, point},
};
use crate::{
    codec::{
        known::Known,
        plain::{FAR, Ground, grounds},
        sequence::{NOTHING, Pixel},
    },
    control::Run,
    error::Result,
    picture::{Channels, Picture, Samples},
};

/// How to draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Remap {
    /// Share of the error of a pixel that is diffused to its neighbours (Floyd and Steinberg), 0 to 1.
    pub dither: f32,
    /// How much farther than the nearest colour a neighbour's may be and still be repeated, as a distance in Oklab; 0 is
    /// always the nearest. What is repeated costs next to nothing in a file.
    pub tolerance: f32,
}

/// A picture drawn with a palette.
#[derive(Debug, Clone)]
pub(crate) struct Remapped {
    /// One index a pixel.
    pub indices: Vec<u8>,
    /// What it looks like.
    pub picture: Picture,
}

/// An 8-bit picture that is drawn with palettes.
pub(crate) struct Original<'a> {
    pub(crate) picture: &'a Picture,
    grounds: Vec<Ground>,
}

impl<'a> Original<'a> {
    pub(crate) fn new(picture: &'a Picture, run: Run<'_>) -> Result<Self> {
        let pixels: Vec<Pixel> = colours(picture).collect();
        Ok(Self { picture, grounds: grounds(&pixels, picture.width() as usize, run)? })
    }

    /// Drawn with `palette`.
    pub(crate) fn remap(&self, palette: &Palette, how: Remap, run: Run<'_>) -> Result<Remapped> {
        draw(self.picture, (&self.grounds, &[]), palette, how, run)
    }
}

/// Draws an 8-bit picture with `palette` without tolerance, but for pixels that are `still`: these are any colour, and their
/// error goes nowhere.
pub(crate) fn remap_but(
    still: &[bool],
    picture: &Picture,
    palette: &Palette,
    dither: f32,
    run: Run<'_>,
) -> Result<Remapped> {
    // Every pixel has its nearest colour, wherever it lies.
    draw(picture, (&[], still), palette, Remap { dither, tolerance: 0.0 }, run)
}

/// Draws a picture whose pixels lie in these grounds, and of which some are still.
fn draw(
    picture: &Picture,
    (grounds, still): (&[Ground], &[bool]),
    palette: &Palette,
    how: Remap,
    run: Run<'_>,
) -> Result<Remapped> {
    let width = picture.width() as usize;
    let mut pen = Pen::new(palette, how, (picture.width(), picture.height()));
    let mut indices = Vec::with_capacity(width * picture.height() as usize);
    let (mut pixels, mut row, mut kept) = (colours(picture), Vec::with_capacity(width), Vec::new());
    let (mut grounds, mut still) = (grounds.chunks(width), still.chunks(width));
    for y in 0..picture.height() {
        if y % 16 == 0 {
            run.check()?;
        }
        row.clear();
        row.extend(pixels.by_ref().take(width).map(|colour| pen.seen(colour)));
        kept.clear();
        kept.extend(still.next().unwrap_or(&[]).iter().map(|still| still.then_some(0)));
        pen.draw(&row, y == 0, &kept, grounds.next().unwrap_or(&[]));
        indices.extend_from_slice(&pen.above);
    }
    let picture = shown(palette, &indices, picture)?;
    Ok(Remapped { indices, picture })
}

/// What indices look like, as large as `like`.
fn shown(palette: &Palette, indices: &[u8], like: &Picture) -> Result<Picture> {
    let channels = channels(palette);
    let samples = samples(palette, indices).collect();
    Picture::new(like.width(), like.height(), channels, Samples::Eight(samples))
}

fn channels(palette: &Palette) -> Channels {
    if palette.colours.iter().all(|colour| colour[3] == 255) { Channels::Rgb } else { Channels::Rgba }
}

fn samples<'a>(palette: &'a Palette, indices: &'a [u8]) -> impl Iterator<Item = u8> {
    let count = channels(palette).count();
    indices.iter().flat_map(move |&i| palette.colours[usize::from(i)].into_iter().take(count))
}

/// Pictures that follow each other, drawn with one palette. Where the true colour has hardly changed since it was last
/// drawn, what is shown stays, so that dither does not shimmer, but less where it is plain; the comparison is with the colour
/// of that time, so that nothing drifts.
pub(crate) struct Sequence<'a> {
    palette: &'a Palette,
    pen: Pen,
    /// Squared distance up to which a change is none.
    still: f32,
    /// The picture before.
    before: Vec<Pixel>,
    /// What every pixel should have shown when it was last drawn, its index, and what all look like.
    drawn: Vec<Pixel>,
    indices: Vec<u8>,
    samples: Vec<u8>,
    /// Which of them were drawn in plain areas.
    plain: Vec<bool>,
}

impl<'a> Sequence<'a> {
    /// `still` is the distance in Oklab up to which a change is none.
    pub(crate) fn new(palette: &'a Palette, how: Remap, still: f32, size: (u32, u32)) -> Self {
        Self {
            palette,
            pen: Pen::new(palette, how, size),
            still: still * still,
            before: Vec::new(),
            drawn: Vec::new(),
            indices: Vec::new(),
            samples: Vec::new(),
            plain: Vec::new(),
        }
    }

    /// Forgets what was drawn.
    pub(crate) fn restart(&mut self) {
        self.before.clear();
    }

    /// What the next picture, of 8 bits, looks like.
    pub(crate) fn next(&mut self, picture: &Picture, run: Run<'_>) -> Result<Picture> {
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        let pixels: Vec<Pixel> = colours(picture).collect();
        if self.before.is_empty() {
            self.drawn.clone_from(&pixels);
            self.plain = vec![false; pixels.len()];
            self.indices = vec![0; pixels.len()];
            self.samples = vec![0; pixels.len() * channels(self.palette).count()];
        }
        // Elsewhere nothing is plain that was not, and all stays.
        for rows in differing(&self.before, &pixels, width) {
            let around = grown(rows.clone(), height);
            let grounds = grounds(&pixels[around.start * width..around.end * width], width, run)?;
            let grounds = &grounds[(rows.start - around.start) * width..][..rows.len() * width];
            self.draw(&pixels, grounds, rows, run)?;
        }
        self.before = pixels;
        let samples = Samples::Eight(self.samples.clone());
        Picture::new(picture.width(), picture.height(), channels(self.palette), samples)
    }

    /// Draws some rows, whose grounds are given.
    fn draw(&mut self, pixels: &[Pixel], grounds: &[Ground], rows: Range<usize>, run: Run<'_>) -> Result<()> {
        let width = self.pen.above.len();
        let first = rows.start * width;
        if let Some(above) = first.checked_sub(width) {
            self.pen.above.copy_from_slice(&self.indices[above..first]);
        }
        let (mut row, mut kept) = (Vec::with_capacity(width), Vec::with_capacity(width));
        for (y, grounds) in rows.clone().zip(grounds.chunks(width)) {
            if y % 16 == 0 {
                run.check()?;
            }
            row.clear();
            kept.clear();
            for (at, plain) in (y * width..).zip(grounds.iter().map(|ground| ground.is_plain())) {
                let colour = pixels[at];
                let seen = self.pen.seen(colour);
                row.push(seen);
                let drawn = self.drawn[at];
                let matters = plain || self.plain[at];
                let still = if matters { self.still.min(SEEN * SEEN) } else { self.still };
                let close = drawn == colour || distance(seen.point, self.pen.seen(drawn).point) <= still;
                // What was as good as any beside something that has gone shows where that has left a plain area.
                let shown = self.pen.points[usize::from(self.indices[at])];
                let reach = seen.nearest.1.max(SEEN * SEEN);
                let stands_out = plain && !self.plain[at] && distance(shown, seen.point) > reach;
                let stays = !self.before.is_empty() && close && !stands_out;
                kept.push(stays.then(|| self.indices[at]));
                if !stays {
                    (self.drawn[at], self.plain[at]) = (colour, plain);
                }
            }
            self.pen.draw(&row, y == 0, &kept, grounds);
            self.indices[y * width..][..width].copy_from_slice(&self.pen.above);
        }
        self.pen.errors.iter_mut().for_each(|row| row.fill([0.0; 4]));
        let indices = &self.indices[first..rows.end * width];
        let count = channels(self.palette).count();
        for (sample, new) in self.samples[first * count..].iter_mut().zip(samples(self.palette, indices)) {
            *sample = new;
        }
        Ok(())
    }
}

/// The rows in which a picture differs from the one before, if there is one, and those about them in which other pixels may be
/// plain.
fn differing(before: &[Pixel], pixels: &[Pixel], width: usize) -> Vec<Range<usize>> {
    let height = pixels.len() / width;
    let mut found: Vec<Range<usize>> = Vec::new();
    for (y, row) in pixels.chunks(width).enumerate() {
        if before.get(y * width..(y + 1) * width) != Some(row) {
            let rows = grown(y..y + 1, height);
            match found.last_mut() {
                Some(last) if last.end >= rows.start => last.end = rows.end,
                _ => found.push(rows),
            }
        }
    }
    found
}

fn grown(rows: Range<usize>, height: usize) -> Range<usize> {
    rows.start.saturating_sub(FAR)..(rows.end + FAR).min(height)
}

struct Pen {
    index: Points,
    points: Vec<Point>,
    known: Known<Seen>,
    how: Remap,
    /// Indices of the row above, overwritten by those of the row being drawn.
    above: Vec<u8>,
    /// Errors carried into the row being drawn and into the next; the pixel `x` is at `x + 1`.
    errors: [Vec<Point>; 2],
}

impl Pen {
    fn new(palette: &Palette, how: Remap, (width, height): (u32, u32)) -> Self {
        let points: Vec<Point> = palette.colours.iter().map(|&colour| point(colour)).collect();
        let (index, width) = (Points::new(&points), width as usize);
        let known = Known::new(Seen::new(NOTHING, &index), width * height as usize);
        let errors = [vec![[0.0; 4]; width + 2], vec![[0.0; 4]; width + 2]];
        Self { index, points, known, how, above: vec![0; width], errors }
    }

    fn seen(&mut self, colour: Pixel) -> Seen {
        self.known.of(colour, || Seen::new(colour, &self.index))
    }

    /// Draws a row, of which `grounds` says what its pixels lie in, if in anything. What `kept` names is taken as it is, and its error
    /// goes nowhere.
    fn draw(&mut self, row: &[Seen], first: bool, kept: &[Option<u8>], grounds: &[Ground]) {
        let (mut left, mut copying_above) = (None, false);
        for (x, seen) in row.iter().enumerate() {
            if let Some(index) = kept.get(x).copied().flatten() {
                copying_above = !first && self.above[x] == index;
                self.above[x] = index;
                left = Some(index);
                continue;
            }
            let ground = grounds.get(x).copied().unwrap_or_default();
            // Lines would come out dotted.
            let solid = ground.is_thin();
            let carried = if solid { [0.0; 4] } else { self.errors[0][x + 1] };
            let wanted = add(seen.point, carried);
            let above = (!first).then(|| self.above[x]);
            let nearest = if carried.iter().all(|error| error.to_bits() == 0) {
                seen.nearest
            } else {
                self.index.nearest(wanted)
            };
            let chosen = self.choose(wanted, nearest, left, above, (copying_above, ground.is_plain()));
            copying_above = above == Some(chosen);
            self.above[x] = chosen;
            left = Some(chosen);
            if self.how.dither > 0.0 && !solid {
                let error = scaled(sub(wanted, self.points[usize::from(chosen)]), self.how.dither);
                self.diffuse(x, error);
            }
        }
        self.errors.swap(0, 1);
        self.errors[1].fill([0.0; 4]);
    }

    /// Floyd and Steinberg's shares: 7/16 ahead, 3/16, 5/16 and 1/16 below.
    fn diffuse(&mut self, x: usize, error: Point) {
        let [row, next] = &mut self.errors;
        row[x + 2] = add(row[x + 2], scaled(error, 7.0 / 16.0));
        next[x] = add(next[x], scaled(error, 3.0 / 16.0));
        next[x + 1] = add(next[x + 1], scaled(error, 5.0 / 16.0));
        next[x + 2] = add(next[x + 2], scaled(error, 1.0 / 16.0));
    }

    /// The nearest colour, or that of a neighbour which is hardly farther, of no other hue, and in a plain area not seen to be
    /// wrong.
    fn choose(
        &self,
        wanted: Point,
        (nearest, least): (usize, f32),
        left: Option<u8>,
        above: Option<u8>,
        (copying_above, plain): (bool, bool),
    ) -> u8 {
        let nearest = nearest as u8;
        if self.how.tolerance <= 0.0 || left == Some(nearest) || above == Some(nearest) {
            return nearest;
        }
        let reach = match plain {
            true => SEEN.clamp(least.sqrt(), least.sqrt() + self.how.tolerance),
            false => least.sqrt() + self.how.tolerance,
        };
        let off = tinge(self.points[usize::from(nearest)], wanted).max(TINGED * TINGED);
        let within = |candidate: &u8, reach: f32| {
            let there = self.points[usize::from(*candidate)];
            distance(there, wanted) <= reach * reach && tinge(there, wanted) <= off
        };
        let (first, second) = if copying_above { (above, left) } else { (left, above) };
        first.filter(|c| within(c, reach)).or(second.filter(|c| within(c, reach))).unwrap_or(nearest)
    }
}

fn add(p: Point, q: Point) -> Point {
    [p[0] + q[0], p[1] + q[1], p[2] + q[2], p[3] + q[3]]
}

fn sub(p: Point, q: Point) -> Point {
    [p[0] - q[0], p[1] - q[1], p[2] - q[2], p[3] - q[3]]
}

fn scaled(p: Point, by: f32) -> Point {
    p.map(|axis| axis * by)
}

/// A colour of the picture, and the palette's nearest to it with the squared distance.
#[derive(Clone, Copy)]
struct Seen {
    point: Point,
    nearest: (usize, f32),
}

impl Seen {
    fn new(colour: Pixel, index: &Points) -> Self {
        let point = point(colour);
        Self { point, nearest: index.nearest(point) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, limits::Limits};

    fn gray(values: impl Iterator<Item = u8>) -> Picture {
        Picture::new(32, 8, Channels::Gray, Samples::Eight(values.take(32 * 8).collect())).unwrap()
    }

    #[test]
    fn what_hardly_changes_stays_as_it_was_drawn_and_does_not_drift() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let palette = Palette { colours: vec![[0, 0, 0, 255], [128, 128, 128, 255], [255, 255, 255, 255]] };
        let mut sequence = Sequence::new(&palette, Remap { dither: 1.0, tolerance: 0.0 }, 0.03, (32, 8));
        // The left half is still, but for noise of one step; the right half turns bright, two steps at a time.
        let frame = |at: u8| {
            gray((0..=255).map(move |place: u8| if place % 32 < 16 { 90 + (place ^ at) % 2 } else { 60 + 2 * at }))
        };
        let first = sequence.next(&frame(0), run).unwrap();
        let halves = |picture: &Picture| {
            let rows = picture.eight().unwrap().chunks_exact(32 * 3);
            rows.map(|row| (row[..48].to_vec(), row[48..].to_vec())).unzip::<_, _, Vec<_>, Vec<_>>()
        };
        let mut last = first.clone();
        for at in 1..60 {
            last = sequence.next(&frame(at), run).unwrap();
            assert!(halves(&last).0 == halves(&first).0, "{at}");
        }
        let mean =
            |half: Vec<Vec<u8>>| half.iter().flatten().map(|&v| u32::from(v)).sum::<u32>() / (half.len() * 48) as u32;
        assert!((160..=200).contains(&mean(halves(&last).1)), "{}", mean(halves(&last).1));
        sequence.restart();
        assert!(sequence.next(&frame(0), run).unwrap() == first);
    }

    #[test]
    fn what_something_gone_has_left_behind_is_drawn_again_where_all_is_plain() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let palette = Palette { colours: [80, 120, 140].map(|code| [code, code, code, 255]).to_vec() };
        let mut sequence = Sequence::new(&palette, Remap { dither: 0.0, tolerance: 0.07 }, 0.03, (32, 8));
        // Two posts, one of which has a smooth edge, and what lies between them before and after.
        let posts = |at: u8| match at % 32 {
            10 | 13 => 80,
            11 => 120,
            _ => 140,
        };
        let between = |picture: &Picture| picture.eight().unwrap()[(3 * 32 + 12) * 3];
        let before = sequence.next(&gray((0..=255).map(posts)), run).unwrap();
        assert_eq!(between(&before), 120, "the colour of the edge is cheaper");
        assert_eq!(between(&sequence.next(&gray((0..=255).map(|_: u8| 140)), run).unwrap()), 140);
    }

    #[test]
    fn lines_are_solid_where_all_else_is_dithered() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let palette = Palette { colours: vec![[0, 0, 0, 255], [160, 160, 160, 255], [255, 255, 255, 255]] };
        // The smooth edge of a box, and a shade that is no line.
        let picture = gray((0..=255).map(|at: u8| match at % 32 {
            0..10 => 255,
            10 => 205,
            11 => 80,
            12..20 => 0,
            column => 60 + column,
        }));
        let how = Remap { dither: 1.0, tolerance: 0.0 };
        let columns = |rows: u32| {
            let tall = Picture::new(
                32,
                rows,
                Channels::Gray,
                Samples::Eight(picture.eight().unwrap().repeat(rows as usize / 8)),
            );
            let tall = tall.unwrap();
            let indices = Original::new(&tall, run).unwrap().remap(&palette, how, run).unwrap().indices;
            [10, 11, 25]
                .map(|x| indices.iter().skip(x).step_by(32).copied().collect::<std::collections::BTreeSet<_>>().len())
        };
        assert_eq!(columns(32)[..2], [1, 1]);
        assert!(columns(32)[2] > 1 && columns(8)[..2].iter().all(|shades| *shades > 1), "{:?}", columns(8));
    }

    #[test]
    fn a_neighbour_of_another_hue_is_not_repeated() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        // Two grays, and a blue that is as light as one and nearly as near as the other.
        let colours = vec![[90, 90, 90, 255], [110, 110, 110, 255], [70, 90, 130, 255]];
        let palette = Palette { colours: colours.clone() };
        let drawn = |other: [u8; 4]| {
            let pixel = |at: usize| if at % 4 == 3 { other } else { colours[0] };
            let samples = (0..32 * 8).flat_map(pixel).collect();
            let picture = Picture::new(32, 8, Channels::Rgba, Samples::Eight(samples)).unwrap();
            let how = Remap { dither: 0.0, tolerance: 0.12 };
            let indices = Original::new(&picture, run).unwrap().remap(&palette, how, run).unwrap().indices;
            indices.into_iter().skip(3).step_by(4).collect::<Vec<u8>>()
        };
        assert!(drawn(colours[1]).into_iter().all(|index| index == 0), "as before");
        assert!(drawn(colours[2]).into_iter().all(|index| index == 2));
    }

    #[test]
    fn what_is_drawn_of_a_change_is_drawn_of_all_rows_together() {
        const SIDE: u32 = 120;
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let palette = Palette { colours: (0..9).map(|step| [step * 30, step * 30, 120, 255]).collect() };
        // Plates, lines and a gradient, and what moves. A small plate that fades is none until a pixel of another colour is gone.
        // What blinks to the left leaves no row as it was.
        let picture = |at: u32, blinks: u32| {
            let level = |x: u32, y: u32| match (x, y) {
                (0, _) if blinks > 0 => blinks % 2 * 240,
                (70, 20) if at < 4 => 200,
                (70..74, 20..24) if at < 2 => 73,
                (70..74, 20..24) => 77,
                (60.., 3..9 | 60..70) if (x + at * 7) % 40 < 12 => (y + at) % 4 * 3 + 100,
                (_, 90..) => x * 2,
                _ if x % 31 == 5 => 30,
                _ => y / 30 * 47 + 60,
            };
            let samples = (0..SIDE * SIDE)
                .flat_map(|place| [level(place % SIDE, place / SIDE) as u8; 2].into_iter().chain([120]));
            Picture::new(SIDE, SIDE, Channels::Rgb, Samples::Eight(samples.collect())).unwrap()
        };
        for (dither, tolerance) in [(0.0, 0.0), (0.6, 0.0), (0.0, 0.05), (0.6, 0.05)] {
            let draw = || Sequence::new(&palette, Remap { dither, tolerance }, 0.02, (SIDE, SIDE));
            let (mut some, mut all) = (draw(), draw());
            for at in 0..12 {
                let [some, all] = [(&mut some, 0), (&mut all, at)]
                    .map(|(drawn, blinks)| drawn.next(&picture(at / 2, blinks), run).unwrap());
                let right = |picture: &Picture| {
                    let rows = picture.eight().unwrap().chunks_exact(SIDE as usize * 3);
                    rows.map(|row| row[150..].to_vec()).collect::<Vec<_>>()
                };
                assert!(right(&some) == right(&all), "{dither} {tolerance} {at}");
            }
        }
    }
}
