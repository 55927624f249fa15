//! Frames drawn with few colours.

use crate::{
    control::Run,
    error::Result,
    optimize::palette::{Changes, Counter, Palette, cluster, remap_but},
    picture::{Channels, Depth, Frame, Frames, Layout, Picture, Plays, Samples},
};

/// Entries of a table, one of them transparent.
const MOST_COLOURS: usize = 255;
/// Alpha from which a pixel is drawn.
const OPAQUE: u8 = 128;
/// Half of the error is diffused: all of it shimmers.
const DITHER: f32 = 0.5;
/// How many times its error where it was chosen a palette may have elsewhere, and the error that does not matter: a
/// table of its own costs a frame 768 bytes.
const SERVES: f32 = 1.1;
const SAME: f32 = 4e-5;

/// A palette for all frames, where one of them has more colours than a table, and whether anything is translucent.
pub(super) fn shared(frames: &mut dyn Frames, run: Run<'_>) -> Result<(Option<Palette>, bool)> {
    frames.restart()?;
    let (mut all, mut many, mut translucent) = (Changes::default(), false, false);
    while let Some(frame) = frames.next(run)? {
        let picture = bilevel(&frame.picture)?;
        translucent = translucent || frame.picture.is_translucent();
        many = many || Counter::distinct(&picture, run)? > MOST_COLOURS;
        all.add(&picture, run)?;
    }
    let palette = many.then(|| cluster(&all.finish(run)?, MOST_COLOURS, run)).transpose()?;
    Ok((palette, translucent))
}

/// Which pixels are as they were.
fn still(now: &[u8], then: &[u8]) -> Vec<bool> {
    let then = then.chunks_exact(4).map(Some).chain(std::iter::repeat(None));
    now.chunks_exact(4).zip(then).map(|(now, then)| Some(now) == then).collect()
}

/// Whether pixels become transparent.
fn clears(now: &[u8], then: &[u8]) -> bool {
    now.chunks_exact(4).zip(then.chunks_exact(4)).any(|(now, then)| now[3] < then[3])
}

fn changed(now: &[u8], still: &[bool]) -> impl Iterator<Item = [u8; 4]> {
    now.as_chunks().0.iter().zip(still).filter(|(_, still)| !**still).map(|(&colour, _)| colour)
}

/// The palettes of frames that are drawn more than once.
pub(super) struct Palettes {
    shared: Palette,
    /// Those of the first frames, each with its error where it was chosen.
    known: Vec<(Palette, f32)>,
}

impl Palettes {
    pub(super) fn new(shared: Palette) -> Self {
        Self { shared, known: Vec::new() }
    }

    /// The palette of the frame `at`, for its pixels that are not `still`: that of the frame before where it serves as well
    /// as where it was chosen, the one for all frames where that serves about as well as one of its own. And whether it
    /// is another than that of the frame before.
    fn of(&mut self, at: usize, now: &[u8], still: &[bool], run: Run<'_>) -> Result<(&Palette, bool)> {
        if at == self.known.len() {
            let mut counter = Counter::default();
            counter.add(changed(now, still), run)?;
            let changed = counter.finish(run)?;
            let serves = |palette: &Palette, error: f32| palette.error(&changed) <= SAME.max(error * SERVES);
            let chosen = match self.known.last() {
                Some((palette, error)) if serves(palette, *error) => (palette.clone(), *error),
                _ => {
                    let fresh = cluster(&changed, MOST_COLOURS, run)?;
                    let error = fresh.error(&changed);
                    (if serves(&self.shared, error) { self.shared.clone() } else { fresh }, error)
                }
            };
            self.known.push(chosen);
        }
        let palette = &self.known[at].0;
        Ok((palette, at == 0 || *palette != self.known[at - 1].0))
    }
}

/// Frames of at most 255 colours and nothing translucent: those of a palette for all frames or, where that serves badly, of
/// one for what changes. A pixel that has not changed keeps what it was drawn with, but where others become transparent: what
/// takes them away takes it with them, and all that is drawn again has to fit one table.
pub(super) struct Quantised<'a> {
    frames: &'a mut dyn Frames,
    palettes: &'a mut Palettes,
    /// Frames drawn so far, and the last of them, as it came and as it was drawn.
    drawn: usize,
    source: Vec<u8>,
    shown: Vec<u8>,
    /// It has colours of several palettes.
    mixed: bool,
}

impl<'a> Quantised<'a> {
    pub(super) fn new(frames: &'a mut dyn Frames, palettes: &'a mut Palettes) -> Self {
        Self { frames, palettes, drawn: 0, source: Vec::new(), shown: Vec::new(), mixed: false }
    }
}

impl Frames for Quantised<'_> {
    fn layout(&self) -> Layout {
        Layout { channels: Channels::Rgba, depth: Depth::Eight, ..self.frames.layout() }
    }

    fn plays(&self) -> Plays {
        self.frames.plays()
    }

    fn next(&mut self, run: Run<'_>) -> Result<Option<Frame<'_>>> {
        let Some(Frame { picture, delay }) = self.frames.next(run)? else { return Ok(None) };
        let wanted = bilevel(&picture)?;
        let (width, height) = (wanted.width(), wanted.height());
        let now = wanted.eight().unwrap_or(&[]);
        let clears = clears(now, &self.source);
        let mut still = still(now, &self.source);
        let judged = if clears { &vec![false; still.len()] } else { &still };
        let (palette, another) = self.palettes.of(self.drawn, now, judged, run)?;
        self.mixed |= another && self.drawn > 0;
        if clears && self.mixed {
            still.fill(false);
            self.mixed = false;
        }
        let drawn = remap_but(&still, &wanted, palette, DITHER, run)?.picture.into_channels(Channels::Rgba);
        let (Samples::Eight(source), Samples::Eight(mut drawn)) = (wanted.into_samples(), drawn.into_samples()) else {
            return Ok(None);
        };
        let pixels = drawn.chunks_exact_mut(4).zip(self.shown.chunks_exact(4));
        for ((drawn, shown), _) in pixels.zip(&still).filter(|(_, still)| **still) {
            drawn.copy_from_slice(shown);
        }
        (self.source, self.shown) = (source, drawn.clone());
        self.drawn += 1;
        let picture = Picture::new(width, height, Channels::Rgba, Samples::Eight(drawn))?;
        Ok(Some(Frame { picture: picture.into(), delay }))
    }

    fn restart(&mut self) -> Result<()> {
        (self.drawn, self.source, self.shown, self.mixed) = (0, Vec::new(), Vec::new(), false);
        self.frames.restart()
    }
}

/// Frames as a GIF may hold them: with pixels that are opaque or transparent.
pub(super) struct Bilevel<'a>(pub(super) &'a mut dyn Frames);

impl Frames for Bilevel<'_> {
    fn layout(&self) -> Layout {
        Layout { channels: Channels::Rgba, depth: Depth::Eight, ..self.0.layout() }
    }

    fn plays(&self) -> Plays {
        self.0.plays()
    }

    fn next(&mut self, run: Run<'_>) -> Result<Option<Frame<'_>>> {
        let Some(Frame { picture, delay }) = self.0.next(run)? else { return Ok(None) };
        Ok(Some(Frame { picture: bilevel(&picture)?.into(), delay }))
    }

    fn restart(&mut self) -> Result<()> {
        self.0.restart()
    }
}

/// With pixels that are opaque or transparent.
fn bilevel(picture: &Picture) -> Result<Picture> {
    let picture = picture.clone().into_eight().into_channels(Channels::Rgba);
    let (width, height) = (picture.width(), picture.height());
    let Samples::Eight(mut samples) = picture.into_samples() else {
        return Err(crate::Error::internal("drawing with few colours", "samples of 16 bits"));
    };
    for pixel in samples.chunks_exact_mut(4) {
        match pixel[3] < OPAQUE {
            true => pixel.fill(0),
            false => pixel[3] = u8::MAX,
        }
    }
    Picture::new(width, height, Channels::Rgba, Samples::Eight(samples))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, limits::Limits, optimize::palette::Histogram, picture::Shown};

    const SIDE: usize = 64;

    /// A gradient of 4096 colours on which a square of a sixteenth of all pixels is of another colour.
    fn frame(square: Option<[u8; 3]>) -> Picture {
        let pixel = |at: usize| {
            let (x, y) = (at % SIDE, at / SIDE);
            let within = x < SIDE / 4 && y < SIDE / 4;
            square.filter(|_| within).unwrap_or([x as u8 * 2, y as u8 * 2, 200])
        };
        let samples = (0..SIDE * SIDE).flat_map(pixel).collect();
        Picture::new(SIDE as u32, SIDE as u32, Channels::Rgb, Samples::Eight(samples)).unwrap()
    }

    fn drawn(frames: &mut Quantised<'_>, run: Run<'_>) -> Vec<Vec<[u8; 4]>> {
        let mut all = Vec::new();
        frames.restart().unwrap();
        while let Some(frame) = frames.next(run).unwrap() {
            all.push(frame.picture.eight().unwrap().as_chunks().0.to_vec());
        }
        all
    }

    #[test]
    fn what_appears_late_has_its_colour_and_what_stays_is_drawn_once() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let squares = [None, Some([0; 3]), Some([255, 0, 0]), Some([255, 0, 0])];
        let mut source = Shown::new(squares.map(frame).to_vec());
        // One that has neither black nor red.
        let gradient = Histogram::new(&bilevel(&frame(None)).unwrap(), run).unwrap();
        let gradient = cluster(&gradient, MOST_COLOURS, run).unwrap();
        let mut palettes = Palettes::new(gradient);
        let mut frames = Quantised::new(&mut source, &mut palettes);
        let all = drawn(&mut frames, run);
        assert!(drawn(&mut frames, run) == all, "a second way through");
        for (at, (frame, square)) in all.iter().zip(squares).enumerate() {
            let colour = square.map(|[r, g, b]| [r, g, b, 255]);
            for (place, pixel) in frame.iter().enumerate() {
                let within = place % SIDE < SIDE / 4 && place / SIDE < SIDE / 4;
                let expected = colour.filter(|_| within).unwrap_or(all[0][place]);
                assert_eq!(*pixel, expected, "{place} of frame {at}");
            }
        }
        assert_eq!(palettes.known[2].0, palettes.known[3].0);
    }

    #[test]
    fn frames_that_clear_something_fit_a_table_whole() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        // A square of many colours of its own appears, and then a hole moves.
        let holed = |square: bool, hole: usize| {
            let Samples::Eight(mut samples) = frame(None).into_channels(Channels::Rgba).into_samples() else {
                unreachable!()
            };
            for (at, pixel) in samples.chunks_exact_mut(4).enumerate() {
                let (x, y) = (at % SIDE, at / SIDE);
                if square && x < SIDE / 4 && y < SIDE / 4 {
                    pixel[..3].copy_from_slice(&[x as u8 * 16, 255 - y as u8 * 16, 20]);
                }
                if (hole..hole + 9).contains(&at) {
                    pixel.fill(0);
                }
            }
            Picture::new(SIDE as u32, SIDE as u32, Channels::Rgba, Samples::Eight(samples)).unwrap()
        };
        let pictures = [(false, 2_000), (true, 2_000), (true, 3_000)];
        let mut source = Shown::new(pictures.map(|(square, hole)| holed(square, hole)).to_vec());
        let gradient = Histogram::new(&bilevel(&frame(None)).unwrap(), run).unwrap();
        let gradient = cluster(&gradient, MOST_COLOURS, run).unwrap();
        let mut palettes = Palettes::new(gradient);
        let all = drawn(&mut Quantised::new(&mut source, &mut palettes), run);
        let distinct = |frame: &[[u8; 4]]| frame.iter().collect::<std::collections::BTreeSet<_>>().len();
        assert!(distinct(&all[1]) > MOST_COLOURS + 1, "nothing to be seen: {}", distinct(&all[1]));
        assert!(distinct(&all[2]) <= MOST_COLOURS, "{}", distinct(&all[2]));
        assert!(all[2][3_000] == [0; 4] && all[2][2_000][3] == 255);
    }

    #[test]
    fn a_palette_for_all_frames_is_asked_for_where_one_has_too_many_colours() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let shared = |pictures| shared(&mut Shown::new(pictures), run).unwrap().0;
        let plain = Picture::new(2, 1, Channels::Rgb, Samples::Eight(vec![1, 2, 3, 4, 5, 6])).unwrap();
        assert_eq!(shared(vec![plain.clone(), plain]), None);
        let palette = shared(vec![frame(None), frame(Some([0; 3]))]).unwrap();
        assert!(palette.colours.len() <= MOST_COLOURS && palette.colours.contains(&[0, 0, 0, 255]));
    }
}
