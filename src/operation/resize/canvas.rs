//! Cutting out and putting down pixels as they are.

use super::geometry::Placement;
use crate::{
    control::Run,
    error::Result,
    operation::field::checked,
    picture::{Channels, Depth, Layout, Picture, Samples},
};

/// What a padded picture needs to hold `background`, straight alpha: alpha if that is translucent, colour if it shows any.
pub(super) fn padded_channels(channels: Channels, background: [u8; 4]) -> Channels {
    let [r, g, b, a] = background;
    let gray = channels.is_gray() && (a == 0 || (r == g && g == b));
    match (gray, channels.has_alpha() || a < u8::MAX) {
        (true, false) => Channels::Gray,
        (true, true) => Channels::GrayAlpha,
        (false, false) => Channels::Rgb,
        (false, true) => Channels::Rgba,
    }
}

/// The region of `picture`, which must not be scaled.
pub(super) fn cropped(picture: Picture, placement: &Placement, run: Run<'_>) -> Result<Picture> {
    let (layout, (width, height)) = (picture.layout(), placement.scaled);
    if (width, height) == (layout.width, layout.height) {
        return Ok(picture);
    }
    let (left, top) = (placement.region.left as usize, placement.region.top as usize);
    let samples = match picture.samples() {
        Samples::Eight(samples) => Samples::Eight(cut(samples, layout, (left, top), (width, height), run)?),
        Samples::Sixteen(samples) => Samples::Sixteen(cut(samples, layout, (left, top), (width, height), run)?),
    };
    Picture::new(width, height, layout.channels, samples)
}

fn cut<T: Copy>(
    samples: &[T],
    layout: Layout,
    (left, top): (usize, usize),
    (width, height): (u32, u32),
    run: Run<'_>,
) -> Result<Vec<T>> {
    let count = layout.channels.count();
    let length = width as usize * count;
    let mut out = Vec::with_capacity(length * height as usize);
    for (y, row) in samples.chunks_exact(layout.row_samples()).skip(top).take(height as usize).enumerate() {
        checked(y, run)?;
        out.extend_from_slice(&row[left * count..][..length]);
    }
    Ok(out)
}

/// `picture` put on its canvas, the rest filled with `background`.
pub(super) fn padded(picture: Picture, placement: &Placement, background: [u8; 4], run: Run<'_>) -> Result<Picture> {
    let channels = padded_channels(picture.channels(), background);
    let picture = picture.into_channels(channels);
    let (layout, (width, height)) = (picture.layout(), placement.canvas);
    let fill = fill(layout, background);
    let samples = match picture.samples() {
        Samples::Eight(samples) => {
            let fill: Vec<u8> = fill.iter().map(|&sample| sample as u8).collect();
            Samples::Eight(put(samples, layout, &fill, placement, run)?)
        }
        Samples::Sixteen(samples) => Samples::Sixteen(put(samples, layout, &fill, placement, run)?),
    };
    Picture::new(width, height, layout.channels, samples)
}

/// One pixel of background in the channels and depth of `layout`.
fn fill(layout: Layout, [r, g, b, a]: [u8; 4]) -> Vec<u16> {
    let pixel: &[u8] = match layout.channels {
        Channels::Gray => &[g],
        Channels::GrayAlpha => &[g, a],
        Channels::Rgb => &[r, g, b],
        Channels::Rgba | Channels::Cmyk => &[r, g, b, a],
    };
    let unit = if layout.depth == Depth::Eight { 1 } else { 257 };
    pixel.iter().map(|&sample| u16::from(sample) * unit).collect()
}

fn put<T: Copy>(samples: &[T], layout: Layout, fill: &[T], placement: &Placement, run: Run<'_>) -> Result<Vec<T>> {
    let count = layout.channels.count();
    let (width, height) = (placement.canvas.0 as usize, placement.canvas.1 as usize);
    let mut out = fill.repeat(width * height);
    let targets = out.chunks_exact_mut(width * count).skip(placement.at.1 as usize);
    for (y, (target, row)) in targets.zip(samples.chunks_exact(layout.row_samples())).enumerate() {
        checked(y, run)?;
        target[placement.at.0 as usize * count..][..row.len()].copy_from_slice(row);
    }
    Ok(out)
}
