//! Whether a picture is drawn by a program, and how much JPEG has made of it. Samples are of 16 bits, alpha among them.

use std::collections::HashSet;

use super::{
    blocks::{blocks, step_of_means},
    field::Field,
};
use crate::{control::Run, error::Result, picture::Layout};

/// Codes by which the edges of blocks stand out: up to the first there are none (pictures without JPEG have 0.1 at most, of
/// quality 95 mostly 0.2, of 80 0.8, of 40 1.5), and from the second on all artefacts go. At quality 80 half of them is best:
/// to eyes, texture goes along with the rest.
const BLOCKS: (f32, f32) = (0.1, 1.7);
/// Steps of the means of blocks: at quality 70 they say nothing yet, and from 20 down all artefacts go, however faint the edges
/// of blocks are, as they are in fine texture.
const MEANS: (f32, f32) = (10.0, 40.0);

/// Colours that no picture with noise has so few of, not even a dark one in gray; those that a palette has at most; and those
/// that text and shapes on white or black have with their smooth edges.
const FEW_COLOURS: usize = 8;
const PALETTE: usize = 256;
const SMOOTH: usize = 1024;
/// Codes from an end of the scale, of 8 bits, and the share of pixels so near it up to which those at it are drawn: where light
/// has clipped them, as many are about to be.
const NEAR_END: u16 = 6;
const FEW_NEAR: f32 = 0.03;
/// Shares of pixels that are the same as the next: up to the first there may be noise, from the second on there is none.
const ALIKE: (f32, f32) = (0.3, 0.5);

/// How much of a picture went through JPEG, 0 to 1, told by its blocks.
pub(super) fn coded(samples: &[u16], layout: Layout, run: Run<'_>) -> Result<f32> {
    let luma = luma(samples, layout);
    Ok(slope(blocks(&luma, run)?, BLOCKS).max(slope(step_of_means(&luma, run)? as f32, MEANS)))
}

/// How surely a picture is drawn, 0 to 1: it has few colours, or a palette's and many neighbours alike, or some more and an exact
/// white or black, or those that are not at an end of the scale are alike: noise leaves no two so. What JPEG has made alike, as
/// far as it was `coded`, may have had some.
pub(super) fn drawn(samples: &[u16], layout: Layout, coded: f32, run: Run<'_>) -> Result<f32> {
    let count = layout.channels.count();
    let colours = if layout.channels.is_gray() { 1 } else { 3 };
    let (mut found, mut last) = (HashSet::new(), None);
    // Pairs that are alike, of all pairs; of any colours, and not at an end of the scale.
    let (mut any, mut inner) = ((0, 0), (0, 0));
    let mut near = 0;
    for row in samples.chunks_exact(layout.row_samples()) {
        run.check()?;
        let mut pixels = row.chunks_exact(count).map(|pixel| &pixel[..colours]).peekable();
        while let Some(colour) = pixels.next() {
            if found.len() <= SMOOTH && last.replace(colour) != Some(colour) {
                found.insert(colour);
            }
            let alike = u32::from(pixels.peek() == Some(&colour));
            any = (any.0 + alike, any.1 + 1);
            if colour.iter().any(|&code| code > 0 && code < u16::MAX) {
                inner = (inner.0 + alike, inner.1 + 1);
                let dark = colour.iter().all(|&code| code <= NEAR_END * 257);
                near += u32::from(dark || colour.iter().all(|&code| code >= u16::MAX - NEAR_END * 257));
            }
        }
    }
    let exact = found.len() <= SMOOTH && near as f32 <= FEW_NEAR * (any.1 - inner.1) as f32;
    let (same, all) = if exact || found.len() <= PALETTE { any } else { inner };
    Ok(match found.len() {
        ..=FEW_COLOURS => 1.0,
        _ => slope(same as f32 / all.max(1) as f32, ALIKE) * (1.0 - coded),
    })
}

/// 0 up to the first, 1 from the second on.
pub(super) fn slope(value: f32, (from, to): (f32, f32)) -> f32 {
    ((value - from) / (to - from)).clamp(0.0, 1.0)
}

/// In codes of 8 bits, by the weights of JPEG.
fn luma(samples: &[u16], layout: Layout) -> Field {
    let mut luma = Field::new(layout.width as usize, layout.height as usize);
    for (luma, pixel) in luma.values.iter_mut().zip(samples.chunks_exact(layout.channels.count())) {
        let code = |channel: usize| f32::from(pixel[channel]) / 257.0;
        let gray = layout.channels.is_gray();
        *luma = if gray { code(0) } else { 0.299 * code(0) + 0.587 * code(1) + 0.114 * code(2) };
    }
    luma
}
