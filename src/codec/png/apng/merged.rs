//! The canvases to be written, with the time of each.

use super::pixel::{Colour, pixels};
use crate::{
    codec::sequence::{Canvases, Split},
    control::Run,
    error::{Error, Result},
    picture::{Delay, Frames},
};

/// The largest numerator and denominator that are stored.
const MOST: u64 = u16::MAX as u64;

/// A fraction in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seconds {
    numerator: u64,
    denominator: u64,
}

impl Seconds {
    fn new(numerator: u64, denominator: u64) -> Self {
        let (mut a, mut b) = (numerator, denominator);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        Self { numerator: numerator / a.max(1), denominator: denominator / a.max(1) }
    }

    fn of(delay: Delay) -> Self {
        Self::new(delay.numerator.into(), u64::from(delay.denominator.get()) * 1000)
    }

    /// The sum with what is shown next, if that can be stored and browsers show both for as long as they say: frames of
    /// 10 ms or less they show for 100 ms.
    fn with(self, next: Self) -> Option<Self> {
        let (a, b) = (u128::from(self.numerator), u128::from(self.denominator));
        let (c, d) = (u128::from(next.numerator), u128::from(next.denominator));
        let (numerator, denominator) = (u64::try_from(a * d + c * b).ok()?, u64::try_from(b * d).ok()?);
        let sum = Self::new(numerator, denominator);
        let lasting = |time: &Self| time.numerator * 100 > time.denominator;
        (lasting(&self) && lasting(&next) && sum.numerator <= MOST && sum.denominator <= MOST).then_some(sum)
    }

    /// Equal parts that can be stored, together as long.
    fn parts(self) -> Result<Vec<Self>> {
        let Self { numerator, denominator } = self;
        if denominator > MOST {
            return Err(Error::unsupported(format!("a delay of {numerator}/{denominator} s in an APNG")));
        }
        let count = numerator.div_ceil(MOST).max(1);
        let part = |at: u64| numerator * (at + 1) / count - numerator * at / count;
        Ok((0..count).map(|at| Self { numerator: part(at), denominator }).collect())
    }

    /// Numerator and denominator of one of the parts.
    pub(super) const fn stored(self) -> (u16, u16) {
        (self.numerator as u16, self.denominator as u16)
    }
}

/// Canvases, those that equal the ones before them merged with these.
pub(super) struct Merged<'a, C> {
    frames: &'a mut dyn Frames,
    size: (usize, usize),
    /// What the source has given and is not gone on to yet.
    ahead: Option<(Vec<C>, Seconds)>,
    started: bool,
    canvas: Vec<C>,
    /// Times for which the canvas is still to be shown, the last first.
    times: Vec<Seconds>,
    time: Seconds,
}

impl<'a, C: Colour> Merged<'a, C> {
    pub(super) fn new(frames: &'a mut dyn Frames) -> Self {
        let layout = frames.layout();
        let size = (layout.width as usize, layout.height as usize);
        let time = Seconds::of(Delay::NONE);
        Self { frames, size, ahead: None, started: false, canvas: Vec::new(), times: Vec::new(), time }
    }

    /// How long the canvas is shown.
    pub(super) const fn time(&self) -> Seconds {
        self.time
    }

    /// Goes through all canvases again, each with what lies there before it is drawn.
    pub(super) fn replay(
        &mut self,
        splits: &[Split],
        run: Run<'_>,
        mut each: impl FnMut(&[C], &Self, &Split) -> Result<()>,
    ) -> Result<()> {
        self.restart()?;
        let (width, height) = self.size;
        let mut base = vec![C::default(); width * height];
        for split in splits {
            if !self.advance(run)? {
                return Err(Error::internal("writing frames", "there are fewer of them than before"));
            }
            each(&base, self, split)?;
            split.leave(&mut base, &self.canvas, width);
        }
        Ok(())
    }

    fn pull(&mut self, run: Run<'_>) -> Result<()> {
        self.ahead = match self.frames.next(run)? {
            Some(frame) => Some((pixels(&frame.picture)?, Seconds::of(frame.delay))),
            None => None,
        };
        Ok(())
    }
}

impl<C: Colour> Canvases<C> for Merged<'_, C> {
    fn size(&self) -> (usize, usize) {
        self.size
    }

    fn restart(&mut self) -> Result<()> {
        self.frames.restart()?;
        self.times.clear();
        (self.ahead, self.started) = (None, false);
        Ok(())
    }

    fn advance(&mut self, run: Run<'_>) -> Result<bool> {
        run.check()?;
        if self.times.is_empty() {
            if !std::mem::replace(&mut self.started, true) {
                self.pull(run)?;
            }
            let Some((canvas, mut time)) = self.ahead.take() else { return Ok(false) };
            self.canvas = canvas;
            loop {
                self.pull(run)?;
                let same = self.ahead.as_ref().filter(|(canvas, _)| *canvas == self.canvas);
                let Some(sum) = same.and_then(|(_, next)| time.with(*next)) else { break };
                time = sum;
            }
            self.times = time.parts()?;
        }
        self.time = self.times.pop().unwrap_or(self.time);
        Ok(true)
    }

    fn canvas(&self) -> &[C] {
        &self.canvas
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_add_up_exactly_or_not_at_all() {
        let time = Seconds::new;
        assert_eq!(time(1, 24).with(time(1, 24)), Some(time(1, 12)));
        assert_eq!(time(1, 3).with(time(75, 1000)), Some(time(49, 120)));
        assert_eq!(time(1, 100).with(time(1, 2)), None);
        assert_eq!(time(1, 65_535).with(time(1, 2)), None);
        assert_eq!(time(1, 997).with(time(1, 1009)).map(Seconds::stored), None);
        assert_eq!(time(40_000, 1).with(time(40_000, 1)), None);
    }

    #[test]
    fn what_cannot_be_stored_at_once_is_stored_in_parts() {
        let parts = Seconds::new(16_777_213, 1000).parts().unwrap();
        assert_eq!(parts.len(), 257);
        assert_eq!(parts.iter().map(|part| u64::from(part.stored().0)).sum::<u64>(), 16_777_213);
        assert!(Seconds::new(1, 65_536).parts().is_err());
        assert_eq!(Seconds::new(0, 7).parts().unwrap(), [Seconds::new(0, 1)]);
    }
}
