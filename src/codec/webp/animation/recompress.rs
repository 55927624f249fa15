//! Smaller animations that look the same at every time.

use super::{
    encode::{Coder, changed, encode},
    patch::Patch,
    player::Player,
    sequence::{Sequence, merged, visible},
};
use crate::{
    codec::{
        WebpOptions,
        sequence::{Area, Canvases, Pixel},
        webp::{
            container::{AnimationWriter, Stored, lossy_chunks},
            decode::{Composed, same_pixels},
            riff::{File, FrameChunk, Image},
            vp8::KeyFrame,
        },
    },
    control::Run,
    error::Result,
};

/// How many times the bytes of lossy frames coding the whole without loss may take to be worth a trial.
const WORTH_TRYING: usize = 2;

/// The smallest of `stripped`, which is `file` without metadata, its frames one by one in fewer bytes, and, where most of
/// them are lossless, the sequence split anew.
pub(in crate::codec::webp) fn recompress(
    file: File<'_>,
    bytes: &[u8],
    stripped: Vec<u8>,
    run: Run<'_>,
) -> Result<Vec<u8>> {
    let mut original = Composed::new(file.clone(), bytes, run)?;
    let (kept, lossless) = frame_by_frame(&file, run)?;
    let mut found = vec![kept];
    if lossless {
        found.push(encode(&mut original, &WebpOptions::lossless(), run)?);
    }
    found.retain(|found| found.len() < stripped.len());
    found.sort_by_key(Vec::len);
    for found in found {
        let mut again = Composed::new(File::parse(&found)?, &found, run)?;
        if same(&mut original, &mut again, run)? {
            return Ok(found);
        }
    }
    Ok(stripped)
}

/// Whether both show the same for the same time, whatever the colours of pixels that are not seen.
fn same(one: &mut Composed<'_>, other: &mut Composed<'_>, run: Run<'_>) -> Result<bool> {
    let (mut one, mut other) = (Sequence::new(one, None), Sequence::new(other, None));
    one.restart()?;
    other.restart()?;
    loop {
        let more = one.advance(run)?;
        if more != other.advance(run)? || one.plays() != other.plays() {
            return Ok(false);
        }
        if !more {
            return Ok(true);
        }
        if one.milliseconds() != other.milliseconds() || one.canvas() != other.canvas() {
            return Ok(false);
        }
    }
}

/// The file with its own frames in fewer bytes each, and whether coding without loss may win as a whole.
fn frame_by_frame(file: &File<'_>, run: Run<'_>) -> Result<(Vec<u8>, bool)> {
    let mut coder = Coder::new(&WebpOptions::lossless())?;
    let mut player = Player::new(file.clone(), run)?;
    let mut out = AnimationWriter::like(file);
    let mut last: Option<Kept> = None;
    let (mut lossless_bytes, mut all_bytes) = (0, 0);
    while let Some(frame) = player.next()? {
        run.check()?;
        let base: Vec<Pixel> = player.canvas().iter().copied().map(visible).collect();
        player.draw(&frame, run)?;
        let wanted: Vec<Pixel> = player.canvas().iter().copied().map(visible).collect();
        if let Some(last) = last.as_mut().filter(|last| !last.clears && !frame.clears() && base == wanted)
            && let Some(sum) = merged(last.milliseconds, frame.milliseconds())
        {
            last.milliseconds = sum;
            continue;
        }
        let width = file.width as usize;
        let area = if frame.clears() { frame.area() } else { changed(&base, &wanted, width) };
        let patch = Patch { base: &base, wanted: &wanted, area, width };
        let kept = Kept::smallest(&frame, &patch, &mut coder, run)?;
        all_bytes += frame.image.coded.len();
        lossless_bytes += if frame.image.header.lossless { frame.image.coded.len() } else { kept.if_lossless };
        if let Some(last) = last.replace(kept) {
            out.frame(&last.stored());
        }
    }
    if let Some(last) = &last {
        out.frame(&last.stored());
    }
    Ok((out.finish()?, lossless_bytes <= WORTH_TRYING * all_bytes))
}

/// A frame in its smallest coding.
struct Kept {
    area: Area,
    milliseconds: u32,
    blends: bool,
    clears: bool,
    alpha: bool,
    image: Vec<u8>,
    /// Bytes that it takes without loss.
    if_lossless: usize,
}

impl Kept {
    fn smallest(frame: &FrameChunk<'_>, patch: &Patch<'_>, coder: &mut Coder, run: Run<'_>) -> Result<Self> {
        let image = &frame.image;
        let (milliseconds, clears) = (frame.milliseconds(), frame.clears());
        let mut best = Self {
            area: frame.area(),
            milliseconds,
            blends: frame.blends(),
            clears,
            alpha: image.header.alpha,
            image: image.coded.to_vec(),
            if_lossless: 0,
        };
        if !image.header.lossless
            && let Some(data) = KeyFrame::parse(image.data, run)?.write(run)?
            && data.len() < image.data.len()
        {
            let coded = lossy_chunks(image.alpha, &data);
            if same_pixels(image, &Image { data: &data, coded: &coded, ..*image }, run)? {
                best.image = coded;
            }
        }
        let most = if image.header.lossless { usize::MAX } else { best.image.len() };
        if let Some(bytes) = coder.rests(most) {
            return Ok(Self { if_lossless: bytes, ..best });
        }
        let coded = coder.without_loss(patch, most, run)?;
        best.if_lossless = coded.image.len();
        if coded.image.len() < best.image.len() {
            let (area, if_lossless) = (patch.area, best.if_lossless);
            let (blends, alpha, image) = (coded.blends, coded.alpha, coded.image);
            best = Self { area, milliseconds, blends, clears, alpha, image, if_lossless };
        }
        Ok(best)
    }

    fn stored(&self) -> Stored<'_> {
        let Self { area, milliseconds, blends, clears, alpha, .. } = *self;
        Stored { area, milliseconds, blends, clears, alpha, image: &self.image }
    }
}
