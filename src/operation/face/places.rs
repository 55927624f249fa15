//! Faces of a source, looked for once.

use std::sync::{Arc, Mutex, PoisonError};

use super::detect;
use crate::{
    control::Run,
    error::Result,
    operation::{Apply, Operation},
    picture::{Layout, Picture},
};

/// Where a face is: a square from brows to chin, in shares of a picture's width and height, so that it holds whatever size the
/// picture is decoded or brought to. Faces that the border cuts off may reach beyond 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The middle, from the left and from the top.
    pub middle: (f64, f64),
    /// Width and height.
    pub size: (f64, f64),
}

impl Place {
    /// The pixels of a picture of `width` x `height` that it covers, cut off at the border: left, top, width and height.
    pub fn pixels(&self, width: u32, height: u32) -> [u32; 4] {
        let along = |middle: f64, size: f64, length: u32| {
            let length = f64::from(length);
            let place = |at: f64| (at * length).round().clamp(0.0, length);
            let from = place(middle - size / 2.0).min(length - 1.0);
            (from as u32, (place(middle + size / 2.0) - from).max(1.0) as u32)
        };
        let (left, width) = along(self.middle.0, self.size.0, width);
        let (top, height) = along(self.middle.1, self.size.1, height);
        [left, top, width, height]
    }
}

/// The faces that are found in a source, shared by those who need them: [`LookForFaces`] fills it.
#[derive(Debug, Clone, Default)]
pub struct Faces(Arc<Mutex<Vec<Place>>>);

impl Faces {
    /// The faces, the largest first; none before they are looked for.
    pub fn found(&self) -> Vec<Place> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts faces in place of those found, the largest first.
    pub fn set(&self, places: Vec<Place>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = places;
    }
}

/// Looks for faces in one frame, and changes nothing.
#[derive(Debug, Clone)]
pub struct LookForFaces(pub Faces);

impl Operation for LookForFaces {
    fn name(&self) -> &'static str {
        "faces"
    }

    fn layout(&self, input: Layout) -> Result<Layout> {
        Ok(input)
    }

    fn judges(&self) -> bool {
        true
    }

    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) without the feature `face`.
    fn prepare(&self, first: &Picture, run: Run<'_>) -> Result<Option<Box<dyn Apply>>> {
        let (width, height) = (f64::from(first.width()), f64::from(first.height()));
        let mut found = detect::faces(first, run)?;
        found.sort_by(|a, b| b.side.total_cmp(&a.side));
        let place = |found: detect::Found| {
            let ((x, y), side) = (found.middle, f64::from(found.side));
            Place { middle: (f64::from(x) / width, f64::from(y) / height), size: (side / width, side / height) }
        };
        self.0.set(found.into_iter().map(place).collect());
        Ok(None)
    }
}
