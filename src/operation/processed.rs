//! A source's frames in sRGB, through a chain, one by one.

use super::{Apply, Chain};
use crate::{
    control::{Run, Stage},
    error::Result,
    picture::{Converted, Frame, Frames, Layout, Plays, ToSrgb},
};

/// Frames as they come out of a [`Chain`], whose steps are prepared on the first of them.
pub struct Processed<'a> {
    source: Box<dyn Frames + 'a>,
    conversion: ToSrgb,
    chain: &'a Chain,
    steps: Option<Vec<Box<dyn Apply>>>,
    layout: Layout,
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
        Ok(Self { source, conversion, chain, steps: None, layout })
    }

    /// What becomes of the colours.
    pub fn converted(&self) -> Converted {
        self.conversion.converted()
    }
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
        let Some(Frame { picture, delay }) = self.source.next(run)? else { return Ok(None) };
        let mut picture = self.conversion.apply(picture.into_owned(), run)?;
        match &self.steps {
            Some(steps) => {
                for step in steps {
                    run.check()?;
                    picture = step.apply(picture, run)?;
                }
            }
            None => {
                run.control.stage(Stage::Operations, 0.25);
                let (first, steps) = self.chain.start(picture, run)?;
                (picture, self.steps) = (first, Some(steps));
            }
        }
        Ok(Some(Frame { picture: picture.into(), delay }))
    }

    fn restart(&mut self) -> Result<()> {
        self.source.restart()
    }
}
