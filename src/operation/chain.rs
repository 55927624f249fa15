//! Operations in a row.

use super::{Apply, Operation};
use crate::{
    control::Run,
    error::{Error, Result, guarded},
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
    ///
    /// # Errors
    /// Those of the steps, by their names; [`Error::Limit`](crate::Error::Limit) for a layout that is too large.
    pub fn layout(&self, input: Layout, run: Run<'_>) -> Result<Layout> {
        self.steps.iter().try_fold(input, |layout, step| {
            let layout = by_name(step.name(), || step.layout(layout))?;
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
    ///
    /// # Errors
    /// Those of the steps; [`Error::Internal`] by a step's name if it panics, or makes another layout than it said.
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
            let makes = by_name(step.name(), || step.layout(picture.layout()))?;
            if let Some(work) = by_name(step.name(), || step.prepare(seen, run))? {
                let apply = Prepared { name: step.name(), makes, work };
                // Before the first frame, since some settle what they see when they are applied.
                telling = telling.map(|telling| apply.apply(telling, run)).transpose()?;
                picture = apply.apply(picture, run)?;
                prepared.push(Box::new(apply) as _);
            }
        }
        Ok((picture, prepared))
    }
}

/// A step's function for one frame, held to the layout that the step said.
struct Prepared {
    name: &'static str,
    makes: Layout,
    work: Box<dyn Apply>,
}

impl Apply for Prepared {
    fn apply(&self, picture: Picture, run: Run<'_>) -> Result<Picture> {
        let made = by_name(self.name, || self.work.apply(picture, run))?;
        if made.layout() == self.makes {
            return Ok(made);
        }
        let problem = format!("it made {:?} where it had said {:?}", made.layout(), self.makes);
        Err(Error::internal(format!("applying {}", self.name), problem))
    }
}

/// A panic is the step's, by its name.
fn by_name<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    guarded(format_args!("applying {name}"), work)
}
