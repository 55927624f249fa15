//! Canvases to a file: split, coded, written.

use super::{
    super::{chunks, header::Space},
    coding::{Coding, Survey},
    frame::{Part, Price, Way, smallest},
    merged::{Merged, Seconds},
    pixel::{Colour, is_eight},
    stored::Control,
};
use crate::{
    codec::sequence::{Area, Canvases, Split, split},
    control::Run,
    error::{Error, Result},
    format::PNG_SIGNATURE,
    picture::{Channels, Depth, Frames, Plays},
};

/// The effort of lossless recompression.
pub(super) const RECOMPRESSION: u8 = 4;
/// Bytes of all frames' rows from which no more than an effort is made. Where there is noise 4 takes some 3 s for a million of them, 3
/// three fifths of that for up to 1 % more, 2 two fifths for 1 to 4 % more, 1 a seventh for 2 to 12 % more.
const DEAR: [(usize, u8); 3] = [(4 << 20, 3), (8 << 20, 2), (24 << 20, 1)];
/// Pixels by which orders of a palette are found.
const SAMPLE: usize = 1 << 20;

/// A file that shows `frames`, with all transparent pixels alike. `hint` is the order of a palette that may be good, `space`
/// where the pixels may go.
pub(super) fn encode(
    frames: &mut dyn Frames,
    effort: u8,
    hint: &[[u8; 4]],
    space: Space,
    run: Run<'_>,
) -> Result<Vec<u8>> {
    if frames.layout().channels == Channels::Cmyk {
        return Err(Error::unsupported("an APNG of CMYK"));
    }
    let sixteen = frames.layout().depth == Depth::Sixteen && !are_eight(frames, run)?;
    let written = if sixteen { written::<[u16; 4]> } else { written::<[u8; 4]> };
    written(frames, effort, hint, space, run)
}

fn are_eight(frames: &mut dyn Frames, run: Run<'_>) -> Result<bool> {
    frames.restart()?;
    while let Some(frame) = frames.next(run)? {
        if !is_eight(&frame.picture) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn written<C: Colour>(
    frames: &mut dyn Frames,
    effort: u8,
    hint: &[[u8; 4]],
    space: Space,
    run: Run<'_>,
) -> Result<Vec<u8>> {
    let plays = frames.plays();
    let mut merged = Merged::<C>::new(frames);
    let width = merged.size().0;
    let codings = Survey::of(&mut merged, run)?.codings(space);
    let first = codings.first().cloned().ok_or_else(|| Error::internal("encoding APNG", "there is no coding"))?;
    let splits = split(&mut merged, &mut Price::new(first, width), run)?;
    let splits = splits.filter(|splits| !splits.is_empty());
    let splits = splits.ok_or_else(|| Error::internal("encoding APNG", "there is no frame"))?;
    let mut coding = best(codings, &mut merged, &splits, hint, run)?;
    let rows: usize = splits.iter().map(|split| coding.row_bytes(split.area.width) * split.area.height).sum();
    let affordable = DEAR.iter().filter(|(dear, _)| rows > *dear).map(|&(_, effort)| effort).min();
    let effort = affordable.map_or(effort, |most| effort.min(most));
    let mut file = File::new(&coding, merged.size(), splits.len(), plays);
    merged.replay(&splits, run, |base, merged, split| {
        let part = Part::of(split, base, merged.canvas(), width);
        let coded = smallest(&part, &mut coding, (effort, splits.len()), run)?;
        file.frame(split, merged.time(), coded.over, &coded.zlib);
        Ok(())
    })?;
    Ok(file.finished())
}

/// The coding with the fewest bytes, with its palette in the best order.
fn best<C: Colour>(
    codings: Vec<Coding>,
    merged: &mut Merged<'_, C>,
    splits: &[Split],
    hint: &[[u8; 4]],
    run: Run<'_>,
) -> Result<Coding> {
    let mut candidates = Vec::new();
    for mut coding in codings {
        let sample = if coding.is_indexed() { sampled(merged, splits, coding.has_hole(), run)? } else { Vec::new() };
        let width = merged.size().0;
        match coding.sample(width, &sample) {
            Some(sample) => candidates.extend(coding.reordered(&sample, hint)),
            None => candidates.push(coding),
        }
    }
    let unpacked: Vec<Coding> = candidates.iter().filter_map(Coding::unpacked).collect();
    candidates.extend(unpacked);
    if candidates.len() == 1 {
        return candidates.pop().ok_or_else(|| Error::internal("encoding APNG", "there is no coding"));
    }
    let width = merged.size().0;
    let mut prices: Vec<Price> = candidates.iter().map(|coding| Price::new(coding.clone(), width)).collect();
    let mut sums: Vec<u64> = candidates.iter().map(|coding| coding.side().side_bytes() as u64).collect();
    merged.replay(splits, run, |base, merged, split| {
        let part = Part::of(split, base, merged.canvas(), width);
        for (price, sum) in prices.iter_mut().zip(&mut sums) {
            *sum += price.of(&part, run)?;
        }
        Ok(())
    })?;
    let least = (0..sums.len()).min_by_key(|&at| sums[at]).unwrap_or(0);
    Ok(candidates.swap_remove(least))
}

/// Rows of frames as wide as the canvas.
fn sampled<C: Colour>(merged: &mut Merged<'_, C>, splits: &[Split], hole: bool, run: Run<'_>) -> Result<Vec<C>> {
    let width = merged.size().0;
    let mut sample: Vec<C> = Vec::new();
    merged.replay(splits, run, |base, merged, split| {
        if sample.len() >= SAMPLE {
            return Ok(());
        }
        let area = Area { x: 0, width, ..split.area };
        let part = Part { area, ..Part::of(split, base, merged.canvas(), width) };
        sample.extend(part.pixels(if hole { Way::Changed } else { Way::Whole }, run)?);
        Ok(())
    })?;
    Ok(sample)
}

/// A file in the making.
struct File {
    bytes: Vec<u8>,
    sequence: u32,
}

impl File {
    fn new(coding: &Coding, (width, height): (usize, usize), count: usize, plays: Plays) -> Self {
        let mut bytes = PNG_SIGNATURE.to_vec();
        let side = coding.side();
        chunks::write(&mut bytes, b"IHDR", &[&side.header((width as u32, height as u32), false).to_bytes()]);
        let times = match plays {
            Plays::Forever => 0,
            Plays::Times(times) => times.get(),
        };
        chunks::write(&mut bytes, b"acTL", &[&(count as u32).to_be_bytes(), &times.to_be_bytes()]);
        side.write_side(&mut bytes);
        Self { bytes, sequence: 0 }
    }

    fn frame(&mut self, split: &Split, time: Seconds, over: bool, zlib: &[u8]) {
        let control = Control { area: split.area, seconds: time.stored(), disposal: split.disposal, over };
        let is_first = self.sequence == 0;
        chunks::write(&mut self.bytes, b"fcTL", &[&control.to_bytes(self.sequence)]);
        if is_first {
            chunks::write(&mut self.bytes, b"IDAT", &[zlib]);
        } else {
            chunks::write(&mut self.bytes, b"fdAT", &[&(self.sequence + 1).to_be_bytes(), zlib]);
        }
        self.sequence += if is_first { 1 } else { 2 };
    }

    fn finished(mut self) -> Vec<u8> {
        chunks::write(&mut self.bytes, b"IEND", &[]);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::{super::pixel::pixels, *};
    use crate::{
        codec::png::{
            apng::{player::composed, stored::frames},
            fixtures::{noise, run},
            header::ColourType,
            parts::Parts,
        },
        codec::sequence::Disposal,
        picture::{Delay, Picture, Samples, Shown},
    };

    /// Three pictures that differ in a square each; samples are made of noise by `sample`.
    fn shown(channels: Channels, sample: impl Fn(u8) -> u16, sixteen: bool) -> Shown {
        let picture = |at: usize| {
            let (mut still, mut moving) = (noise(5), noise(at as u32));
            let mut samples = Vec::new();
            for place in 0..24 * 18usize {
                let moves = (place % 24).abs_diff(6 + at * 4) < 4 && (place / 24).abs_diff(9) < 4;
                let source = if moves { &mut moving } else { &mut still };
                samples.extend(source.take(channels.count()).map(&sample));
                if channels.has_alpha() && place % 3 > 0 {
                    *samples.last_mut().unwrap() = if sixteen { u16::MAX } else { 255 };
                }
            }
            let samples = match sixteen {
                true => Samples::Sixteen(samples),
                false => Samples::Eight(samples.into_iter().map(|sample| sample as u8).collect()),
            };
            Picture::new(24, 18, channels, samples).unwrap()
        };
        Shown::new((0..3).map(picture).collect())
    }

    /// Encodes, decodes, compares; gives back colour type and depth.
    fn round(shown: Shown) -> (ColourType, u8) {
        round_in(Space::Any, shown)
    }

    fn round_in(space: Space, mut shown: Shown) -> (ColourType, u8) {
        let file = encode(&mut shown, 2, &[], space, run()).unwrap();
        let mut frames = composed(&file, run()).unwrap();
        assert_eq!(frames.plays(), shown.plays());
        for picture in &shown.pictures {
            let frame = frames.next(run()).unwrap().unwrap();
            assert_eq!(frame.delay, Delay { numerator: 1000, denominator: NonZeroU32::new(15).unwrap() });
            let wanted: Vec<[u16; 4]> = pixels(picture).unwrap();
            assert!(pixels::<[u16; 4]>(&frame.picture).unwrap() == wanted);
        }
        assert!(frames.next(run()).unwrap().is_none());
        let header = Parts::of(&file).unwrap().header;
        (header.colour, header.depth)
    }

    #[test]
    fn frames_stay_in_the_space_of_their_profile() {
        for channels in [Channels::Gray, Channels::GrayAlpha] {
            for (mask, sixteen) in [(0x03, false), (0xFF, false), (0xFF, true)] {
                let colour = |space| round_in(space, shown(channels, |value| u16::from(value & mask), sixteen)).0;
                let gray = [ColourType::Gray, ColourType::GrayAlpha];
                assert!(gray.contains(&colour(Space::Gray)), "{channels:?} {mask} {sixteen}");
                assert!(!gray.contains(&colour(Space::Rgb)), "{channels:?} {mask} {sixteen}");
            }
        }
    }

    #[test]
    fn nothing_that_is_restored_from_is_blended() {
        // Two far dots on a ground of noise, which come and go.
        let ground: Vec<u8> = noise(7).take(64 * 48 * 3).map(|value| value & 0xC0).collect();
        let picture = |dots: bool| {
            let mut samples = ground.clone();
            for place in [2 * 64 + 3, 45 * 64 + 60].into_iter().filter(|_| dots) {
                samples[place * 3..][..3].fill(255);
            }
            Picture::new(64, 48, Channels::Rgb, Samples::Eight(samples)).unwrap()
        };
        let mut shown = Shown::new((0..4).map(|at| picture(at % 2 == 1)).collect());
        let file = encode(&mut shown, 2, &[], Space::Any, run()).unwrap();
        let parts = Parts::of(&file).unwrap();
        let controls: Vec<Control> = frames(&parts).unwrap().iter().map(|frame| frame.control).collect();
        assert!(controls.iter().all(|control| !control.over || control.disposal != Disposal::Restore), "{controls:?}");
        assert!(controls.iter().any(|control| control.over), "{controls:?}");
    }

    #[test]
    fn frames_of_every_layout_come_back_exactly_in_the_form_that_they_need() {
        let all = [
            (Channels::Gray, ColourType::Gray),
            (Channels::GrayAlpha, ColourType::GrayAlpha),
            (Channels::Rgb, ColourType::Rgb),
            (Channels::Rgba, ColourType::Rgba),
        ];
        for (channels, colour) in all {
            let exact = |value: u8| u16::from(value) * 251;
            assert_eq!(round(shown(channels, exact, true)), (colour, 16));
            assert_eq!(round(shown(channels, u16::from, false)).1, 8);
            assert_eq!(round(shown(channels, |value| u16::from(value) * 257, true)).1, 8);
        }
        assert_eq!(round(shown(Channels::Rgb, u16::from, false)).0, ColourType::Rgb);
        let few = round(shown(Channels::Rgb, |value| u16::from(value & 0x80), false));
        assert_eq!(few, (ColourType::Indexed, 4));
    }
}
