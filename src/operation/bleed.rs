//! Colours where nothing is seen.

use std::borrow::Cow;

use crate::{
    control::Run,
    error::Result,
    picture::{Picture, Samples},
};

/// How far from what is seen colours are carried, in pixels: most of as far as our networks look. What lies farther is black.
const REACH: usize = 16;

/// The picture as it is, or [`bled`] where some of it is not opaque.
pub(super) fn seen<'p>(picture: &'p Picture, run: Run<'_>) -> Result<Cow<'p, Picture>> {
    Ok(if picture.is_opaque() { Cow::Borrowed(picture) } else { Cow::Owned(bled(picture.clone(), run)?) })
}

/// With the colours of wholly transparent pixels replaced by the mean of those around them that are seen, ring by ring:
/// otherwise whatever is stored there, mostly black, would shine through at edges.
pub(super) fn bled(picture: Picture, run: Run<'_>) -> Result<Picture> {
    let layout = picture.layout();
    if !layout.channels.has_alpha() {
        return Ok(picture);
    }
    let (width, count) = (layout.width as usize, layout.channels.count());
    let samples = match picture.into_samples() {
        Samples::Eight(mut samples) => {
            carry(&mut samples, width, count, run)?;
            Samples::Eight(samples)
        }
        Samples::Sixteen(mut samples) => {
            carry(&mut samples, width, count, run)?;
            Samples::Sixteen(samples)
        }
    };
    Picture::new(layout.width, layout.height, layout.channels, samples)
}

fn carry<T>(samples: &mut [T], width: usize, count: usize, run: Run<'_>) -> Result<()>
where
    T: Copy + Into<u32> + TryFrom<u32> + PartialEq + Default,
{
    let pixels = samples.len() / count;
    let mut known: Vec<bool> = samples.chunks_exact(count).map(|pixel| pixel[count - 1] != T::default()).collect();
    let mut edge = Vec::new();
    for start in (0..pixels).step_by(width) {
        run.check()?;
        let at_edge = |at: &usize| !known[*at] && around(*at, width, pixels).any(|near| known[near]);
        edge.extend((start..start + width).filter(at_edge));
    }
    for _ in 0..REACH {
        run.check()?;
        let mut means = Vec::with_capacity(edge.len());
        for &at in &edge {
            let (mut sums, mut seen) = ([0u32; 3], 0);
            for near in around(at, width, pixels).filter(|&near| known[near]) {
                seen += 1;
                for (sum, sample) in sums.iter_mut().zip(&samples[near * count..][..count - 1]) {
                    *sum += (*sample).into();
                }
            }
            means.push(sums.map(|sum| (sum + seen / 2) / seen.max(1)));
        }
        for (&at, mean) in edge.iter().zip(means) {
            known[at] = true;
            for (sample, mean) in samples[at * count..][..count - 1].iter_mut().zip(mean) {
                *sample = T::try_from(mean).unwrap_or(*sample);
            }
        }
        let mut next: Vec<usize> =
            edge.iter().flat_map(|&at| around(at, width, pixels)).filter(|&near| !known[near]).collect();
        next.sort_unstable();
        next.dedup();
        edge = next;
    }
    for (pixel, _) in samples.chunks_exact_mut(count).zip(&known).filter(|(_, known)| !**known) {
        pixel.fill(T::default());
    }
    Ok(())
}

/// The up to eight neighbours of a pixel.
fn around(at: usize, width: usize, pixels: usize) -> impl Iterator<Item = usize> {
    let (x, y) = (at % width, at / width);
    let height = pixels / width;
    (y.saturating_sub(1)..(y + 2).min(height))
        .flat_map(move |y| (x.saturating_sub(1)..(x + 2).min(width)).map(move |x| y * width + x))
        .filter(move |&near| near != at)
}
