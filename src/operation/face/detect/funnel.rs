//! Faces of one size in a plane.

use super::{
    Plane, WINDOW,
    boosted::Features,
    model::Model,
    perceptron::{Gradients, Perceptron},
};
use crate::{control::Run, error::Result};

/// Pixels between two windows.
const STEP: usize = 4;
/// Windows with more in common than this, of what both cover, are one for the perceptrons.
const SAME: f32 = 0.8;

/// A square of a plane with the likeness to a face that was found for it and for those that it stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Square {
    pub(super) left: f32,
    pub(super) top: f32,
    pub(super) side: f32,
    pub(super) score: f32,
}

impl Square {
    /// What both cover, as a share of what either covers, and as a share of the smaller.
    pub(super) fn overlap(&self, other: &Self) -> (f32, f32) {
        let along = |a: f32, b: f32| ((a + self.side).min(b + other.side) - a.max(b)).max(0.0);
        let both = along(self.left, other.left) * along(self.top, other.top);
        let (a, b) = (self.side * self.side, other.side * other.side);
        (both / (a + b - both).max(1e-6), both / a.min(b).max(1e-6))
    }
}

/// Squares of about [`WINDOW`] pixels a side that hold faces.
pub(super) fn find(model: &Model, plane: &Plane, run: Run<'_>) -> Result<Vec<Square>> {
    if plane.width.min(plane.height) < WINDOW {
        return Ok(Vec::new());
    }
    let features = Features::of(plane);
    let mut squares = Vec::new();
    for boosted in &model.boosted {
        let mut found = Vec::new();
        for y in (0..=plane.height - WINDOW).step_by(STEP) {
            run.check()?;
            for x in (0..=plane.width - WINDOW).step_by(STEP) {
                if let Some(score) = boosted.score(&features, x, y) {
                    found.push(Square { left: x as f32, top: y as f32, side: WINDOW as f32, score });
                }
            }
        }
        squares.extend(without_doubles(found, SAME));
    }
    for perceptron in &model.perceptrons {
        squares = without_doubles(judged(perceptron, plane, squares, run)?, SAME);
    }
    Ok(squares)
}

/// What the perceptron takes for faces, moved to where it sees them.
fn judged(perceptron: &Perceptron, plane: &Plane, squares: Vec<Square>, run: Run<'_>) -> Result<Vec<Square>> {
    let mut faces = Vec::new();
    for (index, Square { left, top, side, .. }) in squares.into_iter().enumerate() {
        if index % 64 == 0 {
            run.check()?;
        }
        let Some(verdict) = perceptron.judge(&Gradients::of(&plane.window(left, top, side))) else { continue };
        let [right, down, larger] = verdict.shift.map(|shift| shift * side);
        let moved = side + larger;
        // Beyond this a window says nothing of the face in it.
        if moved >= WINDOW as f32 / 2.0 && moved <= WINDOW as f32 * 2.0 {
            let (left, top) = (left + right - larger / 2.0, top + down - larger / 2.0);
            faces.push(Square { left, top, side: moved, score: verdict.score });
        }
    }
    Ok(faces)
}

/// The best of those that are the same, each with the sum of their scores.
fn without_doubles(mut squares: Vec<Square>, same: f32) -> Vec<Square> {
    squares.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut kept: Vec<Square> = Vec::new();
    let mut sums: Vec<f32> = Vec::new();
    for square in squares {
        match kept.iter().position(|other| other.overlap(&square).0 > same) {
            Some(at) => sums[at] += square.score,
            None => {
                kept.push(square);
                sums.push(square.score);
            }
        }
    }
    kept.into_iter().zip(sums).map(|(square, score)| Square { score, ..square }).collect()
}
