//! Some frames of an animation, to be drawn or encoded in place of the whole while settings are searched.

use crate::{
    control::Run,
    error::Result,
    picture::{Delay, Frame, Frames, Layout, Picture, Plays},
};

/// Bytes of frames that are kept, so that a source need not be decoded anew for every trial.
const KEPT_BYTES: usize = 64 << 20;

/// Chosen frames of a source, of 8 bits.
pub(super) struct Clip<'a> {
    frames: &'a mut dyn Frames,
    has: Box<dyn Fn(u32) -> bool + Send>,
    /// How many there are.
    pub(super) count: u32,
    /// Those of the first that are kept, and bytes for more.
    kept: Vec<(Picture, Delay)>,
    room: usize,
    /// How many were given since the last start.
    given: usize,
    /// How many there turned out to be.
    end: Option<usize>,
    /// Where the source is: at which frame, and how many of the chosen lie before; `None` where it is to be restarted.
    source: Option<(u32, usize)>,
}

impl<'a> Clip<'a> {
    /// Those of the `count` frames of `frames` whose index `has` chooses.
    fn of(frames: &'a mut dyn Frames, count: u32, room: usize, has: impl Fn(u32) -> bool + Send + 'static) -> Self {
        let count = (0..count).filter(|index| has(*index)).count() as u32;
        let has = Box::new(has);
        Self { frames, has, count, kept: Vec::new(), room, given: 0, end: None, source: None }
    }

    /// All of them, none of which is kept.
    pub(super) fn whole(frames: &'a mut dyn Frames, count: u32) -> Self {
        Self::of(frames, count, 0, |_| true)
    }

    /// The first `length` of every `period` frames.
    pub(super) fn periodic(frames: &'a mut dyn Frames, count: u32, length: u32, period: u32) -> Self {
        Self::of(frames, count, KEPT_BYTES, move |index| index % period < length)
    }

    /// So many stretches of `length` frames, at least two, from the first to the last frame; all frames where these are no more.
    pub(super) fn spread(frames: &'a mut dyn Frames, count: u32, length: u32, stretches: u32) -> Self {
        let spare = u64::from(count.saturating_sub(length));
        let starts = (0..stretches).map(|at| (spare * u64::from(at) / u64::from(stretches - 1)) as u32);
        let starts: Vec<u32> = starts.collect();
        let whole = count <= length * stretches;
        let has = move |index| whole || starts.iter().any(|start| (*start..start + length).contains(&index));
        Self::of(frames, count, KEPT_BYTES, has)
    }
}

impl Frames for Clip<'_> {
    fn layout(&self) -> Layout {
        self.frames.layout()
    }

    fn plays(&self) -> Plays {
        self.frames.plays()
    }

    fn next(&mut self, run: Run<'_>) -> Result<Option<Frame<'_>>> {
        if self.end == Some(self.given) {
            return Ok(None);
        }
        self.given += 1;
        if self.given <= self.kept.len() {
            let (picture, delay) = &self.kept[self.given - 1];
            return Ok(Some(Frame { picture: picture.into(), delay: *delay }));
        }
        let (mut at, mut passed) = match self.source {
            Some(place) => place,
            None => {
                self.frames.restart()?;
                (0, 0)
            }
        };
        while !(self.has)(at) || passed + 1 < self.given {
            passed += usize::from((self.has)(at));
            at += 1;
            if self.frames.next(run)?.is_none() {
                self.end = Some(self.given - 1);
                return Ok(None);
            }
        }
        self.source = Some((at + 1, passed + 1));
        let Some(Frame { picture, delay }) = self.frames.next(run)? else {
            self.end = Some(self.given - 1);
            return Ok(None);
        };
        let picture = if picture.eight().is_some() { picture } else { picture.into_owned().into_eight().into() };
        let bytes = picture.layout().samples();
        if self.given == self.kept.len() + 1 && bytes <= self.room {
            self.room -= bytes;
            self.kept.push((picture.clone().into_owned(), delay));
        }
        Ok(Some(Frame { picture, delay }))
    }

    fn restart(&mut self) -> Result<()> {
        (self.given, self.source) = (0, None);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        control::Unattended,
        limits::Limits,
        picture::{Channels, Samples, Shown},
    };

    fn source(count: u8) -> Shown {
        let picture = |code: u8| Picture::new(1, 1, Channels::Gray, Samples::Eight(vec![code])).unwrap();
        Shown::new((0..count).map(picture).collect())
    }

    /// The frames of a clip, by their codes.
    fn codes(clip: &mut Clip<'_>) -> Vec<u8> {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        clip.restart().unwrap();
        let mut codes = Vec::new();
        while let Some(frame) = clip.next(run).unwrap() {
            codes.push(frame.picture.eight().unwrap()[0]);
        }
        codes
    }

    #[test]
    fn frames_are_chosen_over_the_whole_length() {
        let mut source = source(16);
        assert_eq!(codes(&mut Clip::periodic(&mut source, 16, 2, 6)), [0, 1, 6, 7, 12, 13]);
        assert_eq!(codes(&mut Clip::spread(&mut source, 16, 2, 3)), [0, 1, 7, 8, 14, 15]);
        assert_eq!(codes(&mut Clip::spread(&mut source, 16, 6, 3)).len(), 16);
        assert_eq!(codes(&mut Clip::whole(&mut source, 16)).len(), 16);
        assert_eq!(Clip::periodic(&mut source, 16, 2, 6).count, 6);
    }

    #[test]
    fn every_pass_gives_the_same_whatever_is_kept() {
        for room in 0..5 {
            let mut source = source(10);
            let mut clip = Clip::of(&mut source, 10, room, |index| index % 3 == 1);
            for _ in 0..3 {
                assert_eq!(codes(&mut clip), [1, 4, 7], "room for {room}");
            }
            // A pass that is broken off, and one that goes on where nothing is kept.
            let run = Run { limits: &Limits::default(), control: &Unattended };
            clip.restart().unwrap();
            clip.next(run).unwrap();
            assert_eq!(codes(&mut clip), [1, 4, 7], "room for {room}");
        }
    }

    #[test]
    fn what_is_kept_is_not_asked_for_again() {
        let mut source = source(10);
        let mut clip = Clip::periodic(&mut source, 10, 2, 5);
        let first = codes(&mut clip);
        // The source has nothing more to give.
        clip.frames.restart().unwrap();
        clip.source = Some((10, 4));
        (clip.given, clip.end) = (0, Some(first.len()));
        let run = Run { limits: &Limits::default(), control: &Unattended };
        for code in first {
            assert_eq!(clip.next(run).unwrap().unwrap().picture.eight().unwrap(), [code]);
        }
        assert!(clip.next(run).unwrap().is_none());
    }
}
