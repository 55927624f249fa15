//! Operations in a row.

use super::{Apply, Operation};
use crate::{
    control::Run,
    error::Result,
    picture::{Layout, Picture},
};

/// Operations in the order in which they are applied.
#[derive(Debug, Default)]
pub struct Chain {
    steps: Vec<Box<dyn Operation>>,
}

impl Chain {
    /// Appends a step.
    pub fn push(&mut self, step: impl Operation + 'static) {
        self.steps.push(Box::new(step));
    }

    /// Appends a step, if there is one.
    pub fn push_some(&mut self, step: Option<impl Operation + 'static>) {
        if let Some(step) = step {
            self.push(step);
        }
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The layout after the last step; every one between is checked against the limits.
    pub fn layout(&self, input: Layout, run: Run<'_>) -> Result<Layout> {
        self.steps.iter().try_fold(input, |layout, step| {
            let layout = step.layout(layout)?;
            run.limits.check_result(layout.width, layout.height)?;
            Ok(layout)
        })
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether a step judges what a picture is like.
    pub fn judges(&self) -> bool {
        self.steps.iter().any(|step| step.judges())
    }

    /// Takes the `first` frame through all steps, and gives back those that have something to do, prepared for all frames: on
    /// the `telling` one where they judge what they see, if that is another than the first.
    pub fn start(
        &self,
        first: Picture,
        mut telling: Option<Picture>,
        run: Run<'_>,
    ) -> Result<(Picture, Vec<Box<dyn Apply>>)> {
        let mut prepared = Vec::with_capacity(self.steps.len());
        let mut picture = first;
        for (n, step) in self.steps.iter().enumerate() {
            run.check()?;
            telling = telling.filter(|_| self.steps[n..].iter().any(|step| step.judges()));
            let seen = telling.as_ref().filter(|_| step.judges()).unwrap_or(&picture);
            if let Some(apply) = step.prepare(seen, run)? {
                // Before the first frame, since some settle what they see when they are applied.
                telling = telling.map(|telling| apply.apply(telling, run)).transpose()?;
                picture = apply.apply(picture, run)?;
                prepared.push(apply);
            }
        }
        Ok((picture, prepared))
    }
}
