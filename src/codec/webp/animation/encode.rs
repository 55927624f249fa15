//! Frames to an animated WebP.

use super::{
    patch::{Coded, Drawing, Drawn, Patch, coded_image},
    sequence::{Sequence, Tolerance},
};
use crate::{
    codec::{
        WebpCoding, WebpOptions,
        sequence::{Area, Canvases, Cost, Disposal, Pixel, split},
        webp::{
            container::{AnimationWriter, Stored},
            encode::{MOST_METHOD_OF_ALPHA, check_side, colours, config},
            libwebp::{Colours, Config, Source},
        },
    },
    control::Run,
    error::{Error, Result},
    picture::Frames,
};

/// Method and effort of quick lossless coding.
const QUICK: (u8, u8) = (1, 25);
/// Frames of no more pixels are coded thoroughly in every way, others in the best of the quick ways.
const SMALL: usize = 1 << 14;
/// Thorough coding takes off a third at most.
const GAIN: (usize, usize) = (3, 2);

/// Writes `frames`, of which there are several, each as the part that changes.
///
/// Lossy: blocks that hardly differ from those they were last drawn from stay as they are, so that nothing shimmers and no
/// error grows, and frames that are smaller without loss are stored without loss. Lossless: what is seen is exact.
pub(in crate::codec::webp) fn encode(frames: &mut dyn Frames, options: &WebpOptions, run: Run<'_>) -> Result<Vec<u8>> {
    let layout = frames.layout();
    check_side(layout.width, layout.height)?;
    let coder = Coder::new(options)?;
    let mut sequence = Sequence::new(frames, tolerance(&options.coding));
    let (width, height) = sequence.size();
    let splits = split(&mut sequence, &mut Price { coder: &coder, width }, run)?;
    let splits = splits.ok_or_else(|| Error::internal("encoding WebP", "a canvas that cannot be reached"))?;
    let mut out = AnimationWriter::new(width as u32, height as u32, sequence.plays());
    sequence.replay(&splits, run, |base, sequence, split| {
        let patch = Patch { base, wanted: sequence.canvas(), area: split.area, width };
        let Coded { blends, image, alpha } = coder.best(&patch, run)?;
        let clears = split.disposal == Disposal::Clear;
        let milliseconds = sequence.milliseconds();
        out.frame(&Stored { area: split.area, milliseconds, blends, clears, alpha, image: &image });
        Ok(())
    })?;
    out.finish()
}

/// What the coding spoils anyway. None where it is exact.
fn tolerance(coding: &WebpCoding) -> Option<Tolerance> {
    let mean = match *coding {
        WebpCoding::Lossy { quality, .. } => error_of(quality),
        WebpCoding::Lossless { near_lossless: 100, .. } => return None,
        WebpCoding::Lossless { near_lossless, .. } => 1 + u32::from(100 - near_lossless) / 20,
    };
    Some(Tolerance { mean, most: 16 * mean + 64 })
}

/// The mean square of errors that pictures of a quality have, about.
fn error_of(quality: f32) -> u32 {
    let coarseness = (100.0 - quality.clamp(0.0, 100.0)) / 10.0;
    (1.0 + coarseness * 2.0 + coarseness * coarseness * 0.5) as u32
}

/// How frames are coded.
pub(super) struct Coder {
    lossy: Option<(Config, Colours)>,
    quick: Config,
    slow: Config,
}

impl Coder {
    pub(super) fn new(options: &WebpOptions) -> Result<Self> {
        let lossless = |(method, effort)| {
            let near_lossless = match options.coding {
                WebpCoding::Lossless { near_lossless, .. } => near_lossless,
                WebpCoding::Lossy { .. } => 100,
            };
            config(&WebpOptions { coding: WebpCoding::Lossless { near_lossless, exact: true, effort }, method })
        };
        let (lossy, slow) = match options.coding {
            WebpCoding::Lossy { .. } => (Some((config(options)?, colours(options))), lossless((options.method, 75))?),
            WebpCoding::Lossless { .. } => (None, config(options)?),
        };
        Ok(Self { lossy, quick: lossless(QUICK)?, slow })
    }

    /// The smallest of all ways.
    pub(super) fn best(&self, patch: &Patch<'_>, run: Run<'_>) -> Result<Coded> {
        let Some((config, colours)) = &self.lossy else { return self.without_loss(patch, usize::MAX, run) };
        let mut best: Option<Coded> = None;
        for drawing in [Drawn::Blocks, Drawn::All].into_iter().filter_map(|drawn| patch.drawing(drawn)) {
            let coded = lossy(&drawing, config, *colours, run)?;
            if best.as_ref().is_none_or(|best| coded.image.len() < best.image.len()) {
                best = Some(coded);
            }
        }
        let most = best.as_ref().map_or(usize::MAX, |best| best.image.len());
        let exact = self.without_loss(patch, most, run)?;
        Ok(best.filter(|best| best.image.len() < exact.image.len()).unwrap_or(exact))
    }

    /// The smallest of the ways without loss, coded thoroughly if that may come below `most` bytes.
    pub(super) fn without_loss(&self, patch: &Patch<'_>, most: usize, run: Run<'_>) -> Result<Coded> {
        let small = patch.area.width * patch.area.height <= SMALL;
        let first = if small { &self.slow } else { &self.quick };
        let mut best: Option<(Coded, Source)> = None;
        for drawing in [Drawn::Changed, Drawn::All].into_iter().filter_map(|drawn| patch.drawing(drawn)) {
            let mut source = drawing.source(Colours::Argb, run)?;
            let coded = drawing.coded(&mut source, first, run)?;
            if best.as_ref().is_none_or(|best| coded.image.len() < best.0.image.len()) {
                best = Some((coded, source));
            }
        }
        let (coded, mut source) = best.ok_or_else(|| Error::internal("encoding WebP", "no way to code a frame"))?;
        if small || coded.image.len() > most.saturating_mul(GAIN.0) / GAIN.1 {
            return Ok(coded);
        }
        let slow = Coded { image: coded_image(&mut source, &self.slow, run)?.0, ..coded };
        Ok(if slow.image.len() < coded.image.len() { slow } else { coded })
    }
}

fn lossy(drawing: &Drawing, config: &Config, colours: Colours, run: Run<'_>) -> Result<Coded> {
    let mut config = *config;
    if !drawing.is_opaque() {
        config.method = config.method.min(MOST_METHOD_OF_ALPHA);
    }
    drawing.coded(&mut drawing.source(colours, run)?, &config, run)
}

/// The bytes of a frame by quick coding without loss, also where it will be lossy: what counts is what becomes of its place.
struct Price<'a> {
    coder: &'a Coder,
    width: usize,
}

impl Cost for Price<'_> {
    const RESTORES: bool = false;
    const ERASES: bool = true;
    const GRID: usize = 2;

    fn cost(&mut self, base: &[Pixel], wanted: &[Pixel], area: Area, run: Run<'_>) -> Result<Option<u64>> {
        let patch = Patch { base, wanted, area, width: self.width };
        let mut least = None;
        for drawing in [Drawn::Changed, Drawn::All].into_iter().filter_map(|drawn| patch.drawing(drawn)) {
            let coded = drawing.coded(&mut drawing.source(Colours::Argb, run)?, &self.coder.quick, run)?;
            let bytes = coded.image.len() as u64;
            least = Some(least.map_or(bytes, |least: u64| least.min(bytes)));
        }
        Ok(least)
    }
}
