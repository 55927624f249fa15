//! Frames to a GIF.

use super::{
    Gif,
    clock::Clock,
    lossy,
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
    limits::sides,
    picture::{Channels, Frames, Layout, Picture, Plays},
};

/// The longest side that the screen's descriptor can tell.
const MOST_SIDE_PX: u32 = u16::MAX as u32;
/// Alpha from which a pixel is drawn.
const OPAQUE: u8 = 128;

impl Encode for Gif {
    fn format(&self) -> Format {
        Format::Gif
    }

    fn animations(&self) -> bool {
        true
    }

    /// Pixels are opaque or transparent, whichever is nearer. Delays are rounded to hundredths of a second so that errors
    /// do not add up, and never to what browsers slow down unless they were that short: more than fifty frames a second take
    /// longer.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a frame has to draw more than 256 colours, [`Error::Limit`] if a side is longer than 65,535.
    fn encode(&self, frames: &mut dyn Frames, options: &EncodeOptions, run: Run<'_>) -> Result<Vec<u8>> {
        let EncodeOptions::Gif(options) = options else {
            return Err(options.refused_by(Format::Gif));
        };
        let Layout { width, height, .. } = frames.layout();
        sides(["GIF width in pixels", "GIF height in pixels"], (width, height), MOST_SIDE_PX)?;
        let mut merged = Merged::new(Given::new(frames));
        let written = match options.loss > 0.0 {
            true => lossy::encode(&mut merged, options, run)?,
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
    count: u32,
    /// Hundredths of a second for which the last canvas is to be shown yet: no frame lasts longer than 65,535.
    rest: u64,
    /// Canvases shown again for that, of which there are no more than an animation may have frames.
    again: u64,
}

impl<'f> Given<'f> {
    fn new(frames: &'f mut dyn Frames) -> Self {
        let canvas = vec![NOTHING; frames.layout().pixels() as usize];
        Self { frames, canvas, clock: Clock::default(), count: 0, rest: 0, again: 0 }
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
        (self.clock, self.count, self.rest, self.again) = (Clock::default(), 0, 0, 0);
        self.frames.restart()
    }

    fn draw(&mut self, run: Run<'_>) -> Result<Option<u16>> {
        run.check()?;
        if self.rest == 0 {
            let Some(frame) = self.frames.next(run)? else { return Ok(None) };
            paint(&mut self.canvas, &frame.picture);
            self.count += 1;
            self.rest = self.clock.ticks(frame.delay);
            if self.rest == 0 {
                return Ok(Some(0));
            }
        }
        let ticks = self.rest.min(u16::MAX.into());
        self.rest = if self.again < run.limits.frames { self.rest - ticks } else { 0 };
        self.again += u64::from(self.rest > 0);
        Ok(Some(ticks as u16))
    }

    fn canvas(&self) -> &[Pixel] {
        &self.canvas
    }

    fn index(&self) -> u32 {
        self.count.saturating_sub(1)
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
    let put = |pixel: &mut Pixel, [r, g, b]: [u8; 3], alpha| {
        *pixel = if alpha < OPAQUE { NOTHING } else { [r, g, b, u8::MAX] };
    };
    let canvas = canvas.iter_mut();
    match picture.channels() {
        Channels::Gray => canvas.zip(samples).for_each(|(pixel, &y)| put(pixel, [y; 3], u8::MAX)),
        Channels::GrayAlpha => {
            canvas.zip(samples.as_chunks().0).for_each(|(pixel, &[y, alpha])| put(pixel, [y; 3], alpha));
        }
        Channels::Rgb => canvas.zip(samples.as_chunks().0).for_each(|(pixel, &rgb)| put(pixel, rgb, u8::MAX)),
        Channels::Rgba | Channels::Cmyk => canvas.zip(samples.as_chunks().0).for_each(|(pixel, &rgba)| {
            // As a number, so that several are made at once.
            let drawn = u32::from_ne_bytes(rgba) | u32::from_ne_bytes([0, 0, 0, u8::MAX]);
            *pixel = if rgba[3] < OPAQUE { NOTHING } else { drawn.to_ne_bytes() };
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        num::NonZeroU32,
        sync::atomic::{AtomicU32, Ordering},
    };

    use super::{super::player::Player, *};
    use crate::{
        codec::GifOptions,
        control::{Control, Stage},
        error::Stop,
        limits::Limits,
        picture::{Delay, Frame, Samples, Shown},
    };

    /// Counts how often it is asked whether to go on.
    #[derive(Debug, Default)]
    struct Asked(AtomicU32);

    impl Control for Asked {
        fn stop(&self) -> Option<Stop> {
            self.0.fetch_add(1, Ordering::Relaxed);
            None
        }

        fn stage(&self, _: Stage, _: f32) {}
    }

    #[test]
    fn frames_can_be_stopped_at_every_row_of_every_step() {
        let gray = |code| Picture::new(8, 1000, Channels::Gray, Samples::Eight(vec![code; 8000])).unwrap();
        for (loss, steps) in [(0.0, 4), (1.0, 6)] {
            let asked = Asked::default();
            let run = Run { limits: &Limits::default(), control: &asked };
            let options = EncodeOptions::Gif(GifOptions::new(loss));
            Gif.encode(&mut Shown::new(vec![gray(10), gray(200)]), &options, run).unwrap();
            let asked = asked.0.load(Ordering::Relaxed);
            assert!(asked > 1000 * steps * 2, "{asked} for {loss}");
        }
    }

    #[test]
    fn a_frame_of_less_loss_is_shown_better_than_those_around_it() {
        let run = Run { limits: &Limits::default(), control: &Asked::default() };
        let noise = |seed: u32| {
            let code =
                |at: u32| (at.wrapping_mul(0x9E37_79B1).wrapping_add(seed).wrapping_mul(0x85EB_CA77) >> 25) as u8;
            Picture::new(24, 24, Channels::Gray, Samples::Eight((0..576).map(code).collect())).unwrap()
        };
        // The second is as the first, and merged with it.
        let mut frames = Shown::new([1, 1, 2, 3].map(noise).to_vec());
        let less = [(2, 0.0)].into();
        let bytes = Gif.encode(&mut frames, &EncodeOptions::Gif(GifOptions { loss: 300.0, less }), run).unwrap();
        let mut player = Player::new(&bytes, run).unwrap();
        let wrong = [1, 2, 3].map(|seed| {
            player.draw(run).unwrap();
            let Samples::Eight(codes) = noise(seed).samples().clone() else { panic!("8-bit samples") };
            player.canvas().iter().zip(codes).filter(|(shown, meant)| shown[0] != *meant).count()
        });
        assert!(wrong[1] * 50 < wrong[0].min(wrong[2]), "{wrong:?}");
    }

    #[test]
    fn sides_that_the_screen_cannot_tell_are_refused() {
        let run = Run { limits: &Limits::default(), control: &Asked::default() };
        for (width, height, wanted) in [(65_535, 1, None), (65_536, 1, Some("width")), (1, 65_536, Some("height"))] {
            let samples = Samples::Eight(vec![9; (width * height) as usize]);
            let picture = Picture::new(width, height, Channels::Gray, samples).unwrap();
            let options = EncodeOptions::Gif(GifOptions::new(0.0));
            let refused =
                Gif.encode(&mut Shown::new(vec![picture]), &options, run).err().map(|error| error.to_string());
            let wanted = wanted.map(|side| format!("GIF {side} in pixels is 65536, the limit is 65535"));
            assert_eq!(refused, wanted);
        }
    }

    #[test]
    fn a_frame_of_days_becomes_no_more_canvases_than_an_animation_may_have_frames() {
        /// One picture, shown for that long.
        struct Days(Picture, bool);

        impl Frames for Days {
            fn layout(&self) -> Layout {
                self.0.layout()
            }

            fn plays(&self) -> Plays {
                Plays::Forever
            }

            fn next(&mut self, _: Run<'_>) -> Result<Option<Frame<'_>>> {
                let delay = Delay { numerator: u32::MAX, denominator: NonZeroU32::MIN };
                let again = !std::mem::replace(&mut self.1, true);
                Ok(again.then(|| Frame { picture: (&self.0).into(), delay }))
            }

            fn restart(&mut self) -> Result<()> {
                self.1 = false;
                Ok(())
            }
        }

        let picture = Picture::new(2, 2, Channels::Gray, Samples::Eight(vec![9; 4])).unwrap();
        let limits = Limits { frames: 5, ..Limits::default() };
        let run = Run { limits: &limits, control: &Asked::default() };
        let mut days = Days(picture, false);
        let mut given = Given::new(&mut days);
        let shown: Vec<_> = std::iter::from_fn(|| given.draw(run).unwrap()).collect();
        assert_eq!(shown, [u16::MAX; 6]);
    }
}
