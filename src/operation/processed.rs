//! A source's frames in sRGB, through a chain, one by one.

use std::borrow::Cow;

use super::{Apply, Chain, survey::Survey};
use crate::{
    control::{Run, Stage},
    error::Result,
    picture::{Converted, Delay, Frame, Frames, Layout, Picture, Plays, ToSrgb},
};

/// Frames as they come out of a [`Chain`], whose steps are prepared on one of them.
pub struct Processed<'a> {
    source: Box<dyn Frames + 'a>,
    conversion: ToSrgb,
    chain: &'a Chain,
    steps: Option<Vec<Box<dyn Apply>>>,
    /// Nobody will take more than the first.
    one: bool,
    layout: Layout,
    kept: Kept,
}

/// The first frames, as many as there is room for, so that they are not processed again for each time that the source is
/// restarted.
#[derive(Default)]
struct Kept {
    frames: Vec<(Picture, Delay)>,
    /// Whether these are all, so that the source need not be asked.
    complete: bool,
    /// Bytes that may still be kept.
    room: usize,
    /// Frames given since the last start.
    given: usize,
}

impl<'a> Processed<'a> {
    /// Takes the frames of `source`, whose colours are those of the profile `icc`, through `chain`.
    ///
    /// # Errors
    /// Of the layouts of the chain.
    pub fn new(source: Box<dyn Frames + 'a>, icc: Option<&[u8]>, chain: &'a Chain, run: Run<'_>) -> Result<Self> {
        let stored = source.layout();
        let conversion = ToSrgb::new(icc, stored.channels);
        let layout = chain.layout(conversion.layout(stored), run)?;
        Ok(Self { source, conversion, chain, steps: None, one: false, layout, kept: Kept::default() })
    }

    /// Keeps finished frames of up to so many bytes in all.
    #[must_use]
    pub fn keeping(mut self, bytes: usize) -> Self {
        self.kept.room = bytes;
        self
    }

    /// Only the first frame is wanted, so that steps judge that one.
    #[must_use]
    pub fn one(mut self) -> Self {
        self.one = true;
        self
    }

    /// How many steps of the chain have something to do; 0 before the first frame.
    pub fn steps(&self) -> usize {
        self.steps.as_ref().map_or(0, Vec::len)
    }

    /// What becomes of the colours.
    pub fn converted(&self) -> Converted {
        self.conversion.converted()
    }
}

impl Processed<'_> {
    /// The frame whose lights differ most, unless it is the first, which has been taken from the source and whose lights differ
    /// by `most`.
    fn telling(&mut self, mut most: f64, run: Run<'_>) -> Result<Option<Picture>> {
        let (mut best, mut more) = (None, false);
        while let Some(Frame { picture, .. }) = self.source.next(run)? {
            more = true;
            let spread = spread(&picture, run)?;
            if spread > most {
                (best, most) = (Some(picture.into_owned()), spread);
            }
        }
        if more {
            self.source.restart()?;
            self.source.next(run)?;
        }
        best.map(|picture| self.conversion.apply(picture, run)).transpose()
    }
}

/// How much the lights of a frame differ.
fn spread(picture: &Picture, run: Run<'_>) -> Result<f64> {
    Ok(Survey::of(picture, run)?.spread().1)
}

/// A frame through all steps.
fn applied(steps: &[Box<dyn Apply>], mut picture: Picture, run: Run<'_>) -> Result<Picture> {
    for step in steps {
        run.check()?;
        picture = step.apply(picture, run)?;
    }
    Ok(picture)
}

impl std::fmt::Debug for Processed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Processed").field("chain", &self.chain).field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl Frames for Processed<'_> {
    fn layout(&self) -> Layout {
        self.layout
    }

    fn plays(&self) -> Plays {
        self.source.plays()
    }

    fn next(&mut self, run: Run<'_>) -> Result<Option<Frame<'_>>> {
        let at = self.kept.given;
        if self.kept.complete {
            self.kept.given = self.kept.frames.len().min(at + 1);
            let kept = self.kept.frames.get(at);
            return Ok(kept.map(|(picture, delay)| Frame { picture: picture.into(), delay: *delay }));
        }
        let Some(Frame { picture, delay }) = self.source.next(run)? else {
            self.kept.complete = at > 0 && at == self.kept.frames.len();
            return Ok(None);
        };
        self.kept.given += 1;
        if at < self.kept.frames.len() {
            return Ok(Some(Frame { picture: Cow::Borrowed(&self.kept.frames[at].0), delay }));
        }
        let judged = self.steps.is_none() && self.chain.judges() && !self.one;
        // Of codes as they are stored, as those of the other frames.
        let most = if judged { Some(spread(&picture, run)?) } else { None };
        let mut picture = self.conversion.apply(picture.into_owned(), run)?;
        match &self.steps {
            Some(steps) => picture = applied(steps, picture, run)?,
            None => {
                run.control.stage(Stage::Operations, 0.25);
                let telling = most.map_or(Ok(None), |most| self.telling(most, run))?;
                let (first, steps) = self.chain.start(picture, telling, run)?;
                (picture, self.steps) = (first, Some(steps));
            }
        }
        let bytes = self.layout.samples() * self.layout.depth.bytes();
        if bytes <= self.kept.room && at == self.kept.frames.len() {
            self.kept.room -= bytes;
            self.kept.frames.push((picture.clone(), delay));
        }
        Ok(Some(Frame { picture: Cow::Owned(picture), delay }))
    }

    fn restart(&mut self) -> Result<()> {
        self.kept.given = 0;
        self.source.restart()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use super::*;
    use crate::{
        Limits, Unattended,
        operation::Operation,
        picture::{Channels, Samples, Shown, Still},
    };

    /// Counts how often it is applied.
    #[derive(Debug, Clone, Default)]
    struct Counting(Arc<AtomicU32>);

    impl Operation for Counting {
        fn name(&self) -> &'static str {
            "counting"
        }
        fn layout(&self, input: Layout) -> Result<Layout> {
            Ok(input)
        }
        fn prepare(&self, _: &Picture, _: Run<'_>) -> Result<Option<Box<dyn Apply>>> {
            Ok(Some(Box::new(self.clone())))
        }
    }

    impl Apply for Counting {
        fn apply(&self, picture: Picture, _: Run<'_>) -> Result<Picture> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(picture)
        }
    }

    /// Notes the first sample of the frame that it is prepared on.
    #[derive(Debug, Clone, Default)]
    struct Judging(Arc<AtomicU32>, bool);

    impl Operation for Judging {
        fn name(&self) -> &'static str {
            "judging"
        }
        fn layout(&self, input: Layout) -> Result<Layout> {
            Ok(input)
        }
        fn judges(&self) -> bool {
            self.1
        }
        fn prepare(&self, picture: &Picture, _: Run<'_>) -> Result<Option<Box<dyn Apply>>> {
            self.0.store(picture.eight().unwrap()[0].into(), Ordering::Relaxed);
            Ok(None)
        }
    }

    #[test]
    fn what_judges_sees_the_frame_whose_lights_differ_most() {
        let limits = Limits::default();
        let run = Run { limits: &limits, control: &Unattended };
        for (judges, one, seen) in [(false, false, 0), (true, false, 7), (true, true, 0)] {
            let frames = [[0, 0, 0, 0], [7, 80, 30, 200], [9, 90, 30, 99]];
            let pictures =
                frames.map(|codes| Picture::new(2, 2, Channels::Gray, Samples::Eight(codes.into())).unwrap());
            let (judging, other) = (Judging(Arc::default(), judges), Judging::default());
            let mut chain = Chain::default();
            chain.push(other.clone());
            chain.push(judging.clone());
            let mut processed = Processed::new(Box::new(Shown::new(pictures.to_vec())), None, &chain, run).unwrap();
            processed = if one { processed.one() } else { processed };
            for picture in pictures {
                assert_eq!(*processed.next(run).unwrap().unwrap().picture, picture);
            }
            assert!(processed.next(run).unwrap().is_none());
            assert_eq!(judging.0.load(Ordering::Relaxed), seen);
            assert_eq!(other.0.load(Ordering::Relaxed), 0, "what does not judge sees the first");
        }
    }

    #[test]
    fn frames_that_are_kept_are_processed_once_and_others_each_time() {
        let limits = Limits::default();
        let run = Run { limits: &limits, control: &Unattended };
        for (room, times) in [(11, 3), (12, 1)] {
            let picture = Picture::new(2, 2, Channels::Rgb, Samples::Eight((0..12).collect())).unwrap();
            let counting = Counting::default();
            let mut chain = Chain::default();
            chain.push(counting.clone());
            let source = Box::new(Still::new(picture.clone()));
            let mut processed = Processed::new(source, None, &chain, run).unwrap().keeping(room);
            for _ in 0..3 {
                assert_eq!(*processed.next(run).unwrap().unwrap().picture, picture);
                assert!(processed.next(run).unwrap().is_none());
                processed.restart().unwrap();
            }
            assert_eq!(counting.0.load(Ordering::Relaxed), times, "room for {room} bytes");
        }
    }
}
