//! Frames drawn with few colours.

use crate::{
    control::Run,
    error::Result,
    optimize::palette::{Histogram, Palette, Remap, cluster, remap},
    picture::{Channels, Depth, Frame, Frames, Layout, Picture, Plays, Samples},
};

/// Entries of a table, one of them transparent.
const MOST_COLOURS: usize = 255;
/// Alpha from which a pixel is drawn.
const OPAQUE: u8 = 128;
/// Half of the error is diffused: all of it shimmers.
const HOW: Remap = Remap { dither: 0.5, tolerance: 0.0 };

/// Whether some frame of a source has more colours than a table.
pub(super) fn has_many_colours(frames: &mut dyn Frames, run: Run<'_>) -> Result<bool> {
    frames.restart()?;
    while let Some(frame) = frames.next(run)? {
        if Histogram::new(&bilevel(&frame.picture)?).distinct > MOST_COLOURS {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Frames of at most 255 colours and nothing translucent, each with a palette of its own. A pixel that has not changed
/// keeps what it was drawn with.
pub(super) struct Quantised<'a> {
    frames: &'a mut dyn Frames,
    /// The frame before, as it came and as it was drawn.
    before: Option<(Vec<u8>, Vec<u8>, Palette)>,
}

impl<'a> Quantised<'a> {
    pub(super) fn new(frames: &'a mut dyn Frames) -> Self {
        Self { frames, before: None }
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
        let fresh = match &self.before {
            Some((source, _, palette)) if !is_new(source, wanted.eight().unwrap_or(&[])) => palette.clone(),
            _ => cluster(&Histogram::new(&wanted), MOST_COLOURS, run)?,
        };
        let drawn = remap(&wanted, &fresh, HOW, run)?.picture.into_channels(Channels::Rgba);
        let (Samples::Eight(wanted), Samples::Eight(mut drawn)) = (wanted.into_samples(), drawn.into_samples()) else {
            return Ok(None);
        };
        if let Some((source, shown, _)) = &self.before {
            let before = source.chunks_exact(4).zip(shown.chunks_exact(4));
            for ((now, drawn), (then, shown)) in wanted.chunks_exact(4).zip(drawn.chunks_exact_mut(4)).zip(before) {
                if now == then {
                    drawn.copy_from_slice(shown);
                }
            }
        }
        self.before = Some((wanted, drawn.clone(), fresh));
        let picture = Picture::new(width, height, Channels::Rgba, Samples::Eight(drawn))?;
        Ok(Some(Frame { picture: picture.into(), delay }))
    }

    fn restart(&mut self) -> Result<()> {
        self.before = None;
        self.frames.restart()
    }
}

/// Whether so much has changed that the colours of the frame before may not do: an eighth of all pixels.
fn is_new(before: &[u8], now: &[u8]) -> bool {
    let changed = before.chunks_exact(4).zip(now.chunks_exact(4)).filter(|(one, other)| one != other).count();
    changed * 8 > now.len() / 4
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
