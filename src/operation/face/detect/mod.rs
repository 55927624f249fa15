//! Where faces are.
//!
//! The funnel-structured cascade of S. Wu, M. Kan, Z. He, S. Shan and X. Chen (*Funnel-structured cascade for multi-view face
//! detection with alignment awareness*, Neurocomputing 221, 2017) with the numbers that its authors trained and published as
//! SeetaFace Detection, read and run by code of our own: safe, stopped at any time, and the same on every machine. A picture
//! is looked at in many sizes, upright and turned to either side; what is found more than once is more surely a face.

mod boosted;
mod funnel;
mod model;
mod perceptron;
mod plane;

use std::sync::LazyLock;

use funnel::Square;
use model::Model;
use plane::{Plane, Window};

use crate::{
    control::Run,
    error::{Error, Result},
    picture::Picture,
};

/// The side of a window in pixels, which every face is brought to.
const WINDOW: usize = 40;

#[cfg(feature = "face")]
const NUMBERS: Option<&[u8]> = Some(include_bytes!("../../../../assets/seeta_fd_frontal_v1.0.bin"));
#[cfg(not(feature = "face"))]
const NUMBERS: Option<&[u8]> = None;

static MODEL: LazyLock<Option<Model>> = LazyLock::new(|| NUMBERS.and_then(Model::read));

/// Pixels that are looked at, at most; larger pictures are reduced by a whole factor.
const PIXELS: u64 = 2_000_000;
/// Pixels of the largest size, at most, upright and turned.
const LARGEST: [f32; 2] = [1_500_000.0, 400_000.0];
/// How many of a picture's pixels that is, at most.
const SHARE: [f32; 2] = [1.0, 0.5];
/// Pixels that smaller pictures are enlarged to, at most twice as wide, upright and turned.
const SMALLEST: [f32; 2] = [330_000.0, 130_000.0];
/// How many pixels the canvas of a turned picture may have for each of these. Those of long strips would have many more, and
/// are reduced instead.
const CANVAS: f32 = 2.5;
/// From one size to the next.
const SCALE: f32 = 0.85;
/// Pixels around the picture at each size, for faces that are cut off by its border.
const RIM: usize = 12;
/// The least score of a face. Among 100 photographs of other things two had something that scored more, 10 at most; a face that is
/// half hidden, noisy and blurred has 7, one in plain sight 12 to 90.
const SURE: f32 = 6.7;
/// Cosine and sine of what a picture is turned by: not at all and 25 degrees to either side. A face may be 15 more aslant.
const TURNS: [(f32, f32); 3] = [(1.0, 0.0), (0.906_307_8, 0.422_618_26), (0.906_307_8, -0.422_618_26)];

/// A face.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    /// The middle of a square from brows to chin, in pixels of the picture.
    pub(super) middle: (f32, f32),
    /// Its side in pixels.
    pub(super) side: f32,
    /// How sure it is.
    pub(super) score: f32,
}

/// The faces of a picture, the surest first.
///
/// # Errors
/// [`Error::Unsupported`] without the feature `face`.
pub(super) fn faces(picture: &Picture, run: Run<'_>) -> Result<Vec<Found>> {
    if NUMBERS.is_none() {
        return Err(Error::unsupported("looking for faces without the feature \"face\""));
    }
    let model = MODEL.as_ref().ok_or_else(|| Error::internal("looking for faces", "the detector is damaged"))?;
    let factor = (picture.layout().pixels().div_ceil(PIXELS) as f64).sqrt().ceil() as usize;
    let plane = Plane::of(picture, factor, run)?;
    let mut all = Vec::new();
    for turn in TURNS {
        all.extend(turned(model, &plane, turn, run)?);
    }
    let sure = grouped(all).into_iter();
    let full = |found: Found| {
        let factor = factor as f32;
        Found { middle: (found.middle.0 * factor, found.middle.1 * factor), side: found.side * factor, ..found }
    };
    Ok(sure.map(full).collect())
}

/// What looks like a face when the plane is turned, in all sizes.
fn turned(model: &Model, plane: &Plane, turn: (f32, f32), run: Run<'_>) -> Result<Vec<Found>> {
    let (cos, sin) = turn;
    let index = usize::from(sin != 0.0);
    let pixels = (plane.width * plane.height) as f32;
    let wanted = LARGEST[index].min(pixels * SHARE[index]).max(SMALLEST[index].min(4.0 * pixels)) / pixels;
    let (across, down) = plane::canvas(plane.width as f32, plane.height as f32, turn);
    let factor = wanted.min(CANVAS * LARGEST[index] / (across * down)).sqrt();
    let size = |side: usize, scale: f32| ((side as f32 * scale + 0.5) as usize).max(1);
    let first = plane.sized(size(plane.width, factor), size(plane.height, factor), run)?;
    if first.width.min(first.height) + 2 * RIM < WINDOW {
        return Ok(Vec::new());
    }
    let first = if index == 0 { first } else { first.turned(turn, run)? };
    let (mut source, mut scale, mut found) = (first.clone(), 1.0, Vec::new());
    for step in 1.. {
        let (width, height) = (size(first.width, scale), size(first.height, scale));
        if width.min(height) + 2 * RIM < WINDOW {
            break;
        }
        let level = source.sized(width, height, run)?;
        for square in funnel::find(model, &level.rimmed(RIM), run)? {
            // From the middle of the picture, around which it was turned.
            let off = |at: f32, side: usize| at + square.side / 2.0 - RIM as f32 - side as f32 / 2.0;
            let (x, y) = (off(square.left, width), off(square.top, height));
            let (x, y) = (x * cos - y * sin, x * sin + y * cos);
            let place = |at: f32, side: usize| at / (factor * scale) + side as f32 / 2.0;
            let middle = (place(x, plane.width), place(y, plane.height));
            found.push(Found { middle, side: square.side / (factor * scale), score: square.score });
        }
        scale *= SCALE;
        // Sizes are not made one from the other, which would blur them.
        if step % 3 == 0 {
            source = level;
        }
    }
    Ok(found)
}

fn square(found: &Found) -> Square {
    let half = found.side / 2.0;
    Square { left: found.middle.0 - half, top: found.middle.1 - half, side: found.side, score: found.score }
}

/// One for each group of those that overlap, if together they are sure enough.
fn grouped(mut all: Vec<Found>) -> Vec<Found> {
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut groups: Vec<Vec<Found>> = Vec::new();
    for found in all {
        let same = |group: &&mut Vec<Found>| {
            let (of_both, of_smaller) = square(&group[0]).overlap(&square(&found));
            of_both > 0.3 || of_smaller > 0.7
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(found),
            None => groups.push(vec![found]),
        }
    }
    let mut faces: Vec<Found> = groups.iter().filter_map(|group| settled(group)).collect();
    faces.retain(|face| face.score >= SURE);
    faces.sort_by(|a, b| b.score.total_cmp(&a.score));
    faces
}

/// The mean of those that agree most, with the score of all.
fn settled(group: &[Found]) -> Option<Found> {
    let near = |a: &Found, b: &Found| square(a).overlap(&square(b)).0 > 0.5;
    let support = |a: &Found| group.iter().filter(|b| near(a, b)).map(|b| b.score).sum::<f32>();
    let first = group.iter().max_by(|a, b| support(a).total_cmp(&support(b)))?;
    let (mut sums, mut weights) = ([0f32; 3], 0f32);
    for found in group.iter().filter(|found| near(first, found)) {
        for (sum, value) in sums.iter_mut().zip([found.middle.0, found.middle.1, found.side]) {
            *sum += value * found.score;
        }
        weights += found.score;
    }
    let [x, y, side] = sums.map(|sum| sum / weights);
    Some(Found { middle: (x, y), side, score: group.iter().map(|found| found.score).sum() })
}
