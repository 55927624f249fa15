//! Canvases as the encoder wants them: what hardly changes stays as it is, and what does not change at all is one.

use super::shown::Quarters;
use crate::{
    codec::sequence::{Canvases, NOTHING, Pixel},
    control::Run,
    error::{Error, Result},
    picture::{Channels, Delay, Frames, Picture, Plays},
};

/// Frames shown for as many milliseconds or fewer are shown for a tenth of a second by browsers.
const TOO_QUICK: u32 = 10;
/// The format has 24 bits for the milliseconds of a frame.
const LONGEST: u32 = (1 << 24) - 1;
/// Side of the blocks that stay or change as a whole.
pub(super) const BLOCK: usize = 8;

/// How far a block may be from what is shown to stay as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tolerance {
    /// Mean square of the differences of samples.
    pub(super) mean: u32,
    /// Square of the largest one.
    pub(super) most: u32,
}

/// The canvases of an animation; those that equal the ones before them are merged with these, and delays added.
pub(super) struct Sequence<'a> {
    frames: &'a mut dyn Frames,
    width: usize,
    tolerance: Option<Tolerance>,
    canvas: Vec<Pixel>,
    milliseconds: u32,
    /// What comes next, and for how long; nothing after the last.
    ahead: (Vec<Pixel>, Option<u32>),
    started: bool,
    clock: Clock,
}

impl<'a> Sequence<'a> {
    pub(super) fn new(frames: &'a mut dyn Frames, tolerance: Option<Tolerance>) -> Self {
        let layout = frames.layout();
        let blank = vec![NOTHING; layout.pixels() as usize];
        let (canvas, ahead) = (blank.clone(), (blank, None));
        let (width, clock) = (layout.width as usize, Clock::default());
        Self { frames, width, tolerance, canvas, milliseconds: 0, ahead, started: false, clock }
    }

    pub(super) fn plays(&self) -> Plays {
        self.frames.plays()
    }

    /// How long the canvas gone on to is shown.
    pub(super) const fn milliseconds(&self) -> u32 {
        self.milliseconds
    }

    fn look_ahead(&mut self, run: Run<'_>) -> Result<()> {
        run.check()?;
        self.ahead.1 = match self.frames.next(run)? {
            Some(frame) => {
                fill(&mut self.ahead.0, &frame.picture)?;
                Some(self.clock.add(frame.delay))
            }
            None => None,
        };
        if let Some(tolerance) = self.tolerance.filter(|_| self.ahead.1.is_some()) {
            tolerance.still(&self.canvas, &mut self.ahead.0, self.width);
        }
        Ok(())
    }
}

impl Canvases for Sequence<'_> {
    fn size(&self) -> (usize, usize) {
        (self.width, self.canvas.len() / self.width)
    }

    fn restart(&mut self) -> Result<()> {
        self.canvas.fill(NOTHING);
        (self.started, self.clock) = (false, Clock::default());
        self.frames.restart()
    }

    fn advance(&mut self, run: Run<'_>) -> Result<bool> {
        if !std::mem::replace(&mut self.started, true) {
            self.look_ahead(run)?;
        }
        let Some(milliseconds) = self.ahead.1 else { return Ok(false) };
        std::mem::swap(&mut self.canvas, &mut self.ahead.0);
        self.milliseconds = milliseconds;
        loop {
            self.look_ahead(run)?;
            let Some(sum) = self.ahead.1.and_then(|more| merged(self.milliseconds, more)) else { break };
            if self.ahead.0 != self.canvas {
                break;
            }
            self.milliseconds = sum;
        }
        Ok(true)
    }

    fn canvas(&self) -> &[Pixel] {
        &self.canvas
    }
}

/// How long two equal frames are shown together; `None` if one frame cannot be shown for that.
pub(super) fn merged(one: u32, other: u32) -> Option<u32> {
    let sum = one + other;
    (one.min(other) > TOO_QUICK && sum <= LONGEST).then_some(sum)
}

/// Makes all transparent pixels alike.
pub(super) fn visible(pixel: Pixel) -> Pixel {
    if pixel[3] == 0 { NOTHING } else { pixel }
}

/// Copies a picture, as 8 bits a sample.
fn fill(canvas: &mut [Pixel], picture: &Picture) -> Result<()> {
    let rounded = picture.eight().is_none().then(|| picture.clone().into_eight());
    let picture = rounded.as_ref().unwrap_or(picture);
    let samples = picture.eight().unwrap_or_default();
    let pixels = samples.chunks_exact(picture.channels().count());
    if pixels.len() != canvas.len() {
        return Err(Error::internal("encoding WebP", "frames of more than one size"));
    }
    let as_pixel = match picture.channels() {
        Channels::Gray => |p: &[u8]| [p[0], p[0], p[0], u8::MAX],
        Channels::GrayAlpha => |p: &[u8]| [p[0], p[0], p[0], p[1]],
        Channels::Rgb => |p: &[u8]| [p[0], p[1], p[2], u8::MAX],
        Channels::Rgba => |p: &[u8]| [p[0], p[1], p[2], p[3]],
        Channels::Cmyk => return Err(Error::unsupported("CMYK WebP")),
    };
    canvas.iter_mut().zip(pixels).for_each(|(pixel, samples)| *pixel = visible(as_pixel(samples)));
    Ok(())
}

impl Tolerance {
    /// Puts blocks of `shown` in the place of those of `wanted` that hardly differ.
    fn still(self, shown: &[Pixel], wanted: &mut [Pixel], width: usize) {
        let height = wanted.len() / width;
        for y in (0..height).step_by(BLOCK) {
            let rows = y..height.min(y + BLOCK);
            for x in (0..width).step_by(BLOCK) {
                let end = width.min(x + BLOCK);
                let places = rows.clone().map(|y| y * width + x..y * width + end);
                if self.allows(places.clone().map(|place| (&shown[place.clone()], &wanted[place]))) {
                    places.for_each(|place| wanted[place.clone()].copy_from_slice(&shown[place]));
                }
            }
        }
    }

    fn allows<'p>(self, rows: impl Iterator<Item = (&'p [Pixel], &'p [Pixel])>) -> bool {
        let (mut sum, mut count, mut quarters) = (0, 0, Quarters::default());
        for (y, (shown, wanted)) in rows.enumerate() {
            count += 3 * shown.len() as u32;
            for (x, (shown, wanted)) in shown.iter().zip(wanted).enumerate() {
                if shown[3] != wanted[3] {
                    return false;
                }
                quarters.add((x, y), shown, wanted);
                for channel in 0..3 {
                    let square = u32::from(shown[channel].abs_diff(wanted[channel])).pow(2);
                    if square > self.most {
                        return false;
                    }
                    sum += square;
                }
            }
        }
        // On plain ground faint traces are seen, however few of its pixels have them.
        sum <= self.mean * count && quarters.plain().all(|(range, most)| most <= range.hides())
    }
}

/// Whole milliseconds that add up to the exact times.
#[derive(Debug, Default)]
struct Clock {
    exact: f64,
    told: f64,
}

impl Clock {
    fn add(&mut self, delay: Delay) -> u32 {
        self.exact += f64::from(delay.numerator) / f64::from(delay.denominator.get());
        let whole = (self.exact - self.told).round().max(0.0);
        // Never to what browsers slow down, unless it was that short.
        let quick = f64::from(delay.numerator) <= f64::from(TOO_QUICK) * f64::from(delay.denominator.get());
        let whole = if quick { whole } else { whole.max(f64::from(TOO_QUICK + 1)) };
        // What is too long for the format is lost, and not added to what comes next. What quick frames took too much of is
        // not taken from a pause behind them.
        self.told = (self.told + whole).min(self.exact + 0.5);
        whole.min(LONGEST.into()) as u32
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn thirds_of_milliseconds_add_up() {
        let mut clock = Clock::default();
        let third = Delay { numerator: 100, denominator: NonZeroU32::new(3).unwrap() };
        assert_eq!([0; 6].map(|_| clock.add(third)), [33, 34, 33, 33, 34, 33]);
    }

    #[test]
    fn what_browsers_show_for_its_time_is_not_made_so_short_that_they_slow_it_down() {
        let of = |numerator, denominator| Delay { numerator, denominator: NonZeroU32::new(denominator).unwrap() };
        let told = |delay| {
            let mut clock = Clock::default();
            [0; 4].map(|_| clock.add(delay))
        };
        assert_eq!(told(of(1000, 96)), [11; 4]);
        assert_eq!(told(of(10, 1)), [10; 4]);
        assert_eq!(told(of(21, 2)), [11, 11, 11, 11]);
        let mut clock = Clock::default();
        (0..60).for_each(|_| assert_eq!(clock.add(of(1000, 96)), 11));
        assert!((499..=500).contains(&clock.add(of(500, 1))), "a pause behind them is cut short");
    }

    #[test]
    fn what_is_too_long_does_not_lengthen_what_comes_next() {
        let seconds = |numerator: u32| Delay { numerator: numerator * 1000, denominator: NonZeroU32::new(1).unwrap() };
        let mut clock = Clock::default();
        assert_eq!([20_000, 1].map(|time| clock.add(seconds(time))), [LONGEST, 1000]);
    }

    #[test]
    fn frames_that_browsers_slow_down_are_not_merged() {
        assert_eq!((merged(20, 30), merged(10, 500), merged(0, 0)), (Some(50), None, None));
        assert_eq!(merged(LONGEST - 11, 12), None);
    }

    #[test]
    fn a_block_stays_until_it_differs_by_more_than_is_allowed() {
        let tolerance = Tolerance { mean: 4, most: 100 };
        let shown = vec![[100, 100, 100, 255]; 16 * 8];
        for (value, stays) in [(102, true), (103, false)] {
            let mut wanted = vec![[value, 100, value, 255]; 16 * 8];
            wanted.iter_mut().for_each(|pixel| pixel[1] = value);
            wanted[5] = [100, 100, 111, 255];
            tolerance.still(&shown, &mut wanted, 16);
            assert!(wanted[5] != shown[5], "one pixel may not differ that much");
            assert_eq!(wanted[8] == shown[8], stays);
        }
        let faint = Tolerance { mean: 4, most: 256 };
        for (detail, stays) in [(120, false), (130, true)] {
            // A trace of text that has gone, on plain ground or beside detail.
            let (mut shown, mut wanted) = (shown.clone(), shown.clone());
            (shown[3], shown[2]) = ([113, 113, 113, 255], [detail, 100, 100, 255]);
            wanted[2] = shown[2];
            faint.still(&shown, &mut wanted, 16);
            assert_eq!(wanted[3] == shown[3], stays);
        }
        let mut fading = vec![[100, 100, 100, 254]; 16 * 8];
        tolerance.still(&shown, &mut fading, 16);
        assert!(fading != shown);
    }
}
