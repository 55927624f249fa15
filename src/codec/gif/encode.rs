//! Frames to a GIF.

use super::{
    Gif, lossy,
    merged::{Merged, Source},
    recompress,
};
use crate::{
    codec::{
        Encode, EncodeOptions,
        sequence::{NOTHING, Pixel},
    },
    control::Run,
    error::{Error, Result},
    format::Format,
    picture::{Channels, Delay, Frames, Picture, Plays},
};

/// Alpha from which a pixel is drawn.
const OPAQUE: u8 = 128;
/// Milliseconds of a hundredth of a second.
const MS_OF_A_TICK: f64 = 10.0;

impl Encode for Gif {
    fn format(&self) -> Format {
        Format::Gif
    }

    fn animations(&self) -> bool {
        true
    }

    /// Pixels are opaque or transparent, whichever is nearer. Delays are rounded to hundredths of a second so that errors
    /// do not add up, and never to what browsers slow down unless they were that short.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a frame has to draw more than 256 colours.
    fn encode(&self, frames: &mut dyn Frames, options: &EncodeOptions, run: Run<'_>) -> Result<Vec<u8>> {
        let EncodeOptions::Gif(options) = options else {
            return Err(Error::internal("encoding GIF", format!("options for {}", options.format())));
        };
        let mut merged = Merged::new(Given::new(frames));
        let written = match options.loss > 0.0 {
            true => lossy::encode(&mut merged, options.loss, run)?,
            false => recompress::encode(&mut merged, run)?,
        };
        written.ok_or_else(|| Error::unsupported("a GIF frame of more than 256 colours"))
    }
}

/// Frames of any source as canvases of a GIF.
struct Given<'f> {
    frames: &'f mut dyn Frames,
    canvas: Vec<Pixel>,
    clock: Clock,
    /// Hundredths of a second for which the last canvas is to be shown yet: no frame lasts longer than 65,535.
    rest: u64,
}

impl<'f> Given<'f> {
    fn new(frames: &'f mut dyn Frames) -> Self {
        let canvas = vec![NOTHING; frames.layout().pixels() as usize];
        Self { frames, canvas, clock: Clock::default(), rest: 0 }
    }
}

impl Source for Given<'_> {
    fn size(&self) -> (usize, usize) {
        let layout = self.frames.layout();
        (layout.width as usize, layout.height as usize)
    }

    fn plays(&self) -> Plays {
        self.frames.plays()
    }

    fn restart(&mut self) -> Result<()> {
        self.canvas.fill(NOTHING);
        (self.clock, self.rest) = (Clock::default(), 0);
        self.frames.restart()
    }

    fn draw(&mut self, run: Run<'_>) -> Result<Option<u16>> {
        run.check()?;
        if self.rest == 0 {
            let Some(frame) = self.frames.next(run)? else { return Ok(None) };
            paint(&mut self.canvas, &frame.picture);
            self.rest = self.clock.ticks(frame.delay);
            if self.rest == 0 {
                return Ok(Some(0));
            }
        }
        let ticks = self.rest.min(u16::MAX.into());
        self.rest -= ticks;
        Ok(Some(ticks as u16))
    }

    fn canvas(&self) -> &[Pixel] {
        &self.canvas
    }
}

fn paint(canvas: &mut [Pixel], picture: &Picture) {
    let eight;
    let samples = match picture.eight() {
        Some(samples) => samples,
        None => {
            eight = picture.clone().into_eight();
            eight.eight().unwrap_or(&[])
        }
    };
    let channels = picture.channels();
    let pixels = canvas.iter_mut().zip(samples.chunks_exact(channels.count()));
    let put = |pixel: &mut Pixel, [r, g, b]: [u8; 3], alpha| {
        *pixel = if alpha < OPAQUE { NOTHING } else { [r, g, b, u8::MAX] };
    };
    match channels {
        Channels::Gray => pixels.for_each(|(pixel, p)| put(pixel, [p[0]; 3], u8::MAX)),
        Channels::GrayAlpha => pixels.for_each(|(pixel, p)| put(pixel, [p[0]; 3], p[1])),
        Channels::Rgb => pixels.for_each(|(pixel, p)| put(pixel, [p[0], p[1], p[2]], u8::MAX)),
        Channels::Rgba | Channels::Cmyk => pixels.for_each(|(pixel, p)| put(pixel, [p[0], p[1], p[2]], p[3])),
    }
}

/// Rounds times so that their sum is right.
#[derive(Debug, Default)]
struct Clock {
    /// Milliseconds that were meant, and hundredths of a second that were given.
    meant: f64,
    given: f64,
}

impl Clock {
    fn ticks(&mut self, delay: Delay) -> u64 {
        let wanted = f64::from(delay.numerator) / f64::from(delay.denominator.get());
        self.meant += wanted;
        let ticks = match wanted {
            none if none <= 0.0 => 0.0,
            hurried if hurried <= MS_OF_A_TICK => 1.0,
            _ => (self.meant / MS_OF_A_TICK - self.given).round().max(2.0),
        };
        self.given += ticks;
        ticks as u64
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn delays_round_so_that_their_sum_is_right_and_none_is_slowed_down() {
        let mut clock = Clock::default();
        let thirtieth = Delay { numerator: 1000, denominator: NonZeroU32::new(30).unwrap() };
        let ticks: Vec<u64> = (0..6).map(|_| clock.ticks(thirtieth)).collect();
        assert_eq!(ticks, [3, 4, 3, 3, 4, 3]);
        let mut clock = Clock::default();
        let short = |ms| Delay { numerator: ms, ..Delay::NONE };
        assert_eq!([15, 15, 15].map(|ms| clock.ticks(short(ms))), [2, 2, 2]);
        assert_eq!([0, 10, 4].map(|ms| clock.ticks(short(ms))), [0, 1, 1]);
    }
}
