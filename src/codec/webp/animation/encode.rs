//! Frames to an animated WebP.

use super::{
    patch::{Coded, Drawing, Drawn, Patch, coded_image},
    sequence::{Sequence, Tolerance},
    shown::Shown,
};
use crate::{
    codec::{
        WebpCoding, WebpOptions,
        sequence::{Area, Canvases, NOTHING, Pixel},
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

/// Frames begin at multiples of so many pixels.
const GRID: usize = 2;
/// Square of the largest difference that is hardly seen.
const FAINT: u32 = 16 * 16;
/// Method and effort of quick lossless coding.
const QUICK: (u8, u8) = (1, 25);
/// Frames of no more pixels are coded thoroughly in every way, others in the best of the quick ways.
const SMALL: usize = 1 << 14;
/// Thorough coding takes off a third at most.
const GAIN: (usize, usize) = (3, 2);
/// What quick coding without loss makes so many times larger than another way is not tried further.
const HOPELESS: usize = 3;
/// Frames for which a way that came out far dearer than another is left out.
const REST: u32 = 8;
/// Of how many times the bytes that is, of two ways with loss.
const DEARER: (usize, usize) = (17, 16);

/// Milliseconds after which what is visibly off is drawn once more in a frame of its own, if it would stay for [`PAUSE`].
const SOON: u32 = 100;
/// See [`SOON`].
const PAUSE: u32 = 250;

/// Writes `frames`, of which there are several, each as the part that changes.
///
/// Lossy: blocks that hardly differ from those they were last drawn from stay as they are, so that nothing shimmers and no
/// error grows; plain ones that came out visibly different are drawn once more; and frames that are smaller without loss are
/// stored without loss. Lossless: what is seen is exact.
///
/// No frame is cleared when its time is over: it costs next to nothing to draw the next one in its place, and some readers
/// clear nothing.
pub(in crate::codec::webp) fn encode(frames: &mut dyn Frames, options: &WebpOptions, run: Run<'_>) -> Result<Vec<u8>> {
    let layout = frames.layout();
    check_side(layout.width, layout.height)?;
    let mut coder = Coder::new(options)?;
    let mut sequence = Sequence::new(frames, tolerance(options));
    sequence.restart()?;
    let (width, height) = sequence.size();
    let mut out = AnimationWriter::new(layout.width, layout.height, sequence.plays());
    let mut base = vec![NOTHING; width * height];
    let mut shown = coder.loses().then(|| Shown::new(width, height));
    let mut first = true;
    while sequence.advance(run)? {
        let wanted = sequence.canvas();
        let mut milliseconds = sequence.milliseconds();
        loop {
            // What the first frame does not cover is transparent to some readers, to others of the background colour.
            let area = match std::mem::take(&mut first) {
                true => Area { x: 0, y: 0, width, height },
                false => changed(&base, wanted, width),
            };
            let coded = coder.best(&Patch { base: &base, wanted, area, width }, run)?;
            let off = match &mut shown {
                Some(shown) => {
                    shown.draw(area, &coded, run)?;
                    shown.rebase(&mut base, wanted)
                }
                None => {
                    base.copy_from_slice(wanted);
                    false
                }
            };
            let time = if off && milliseconds >= PAUSE { SOON } else { milliseconds };
            let Coded { blends, image, alpha } = &coded;
            out.frame(&Stored { area, milliseconds: time, blends: *blends, clears: false, alpha: *alpha, image });
            milliseconds -= time;
            if milliseconds == 0 {
                break;
            }
        }
    }
    out.finish()
}

/// The part in which two canvases differ, as far as frames can say.
pub(super) fn changed(base: &[Pixel], wanted: &[Pixel], width: usize) -> Area {
    Area::around(base, wanted, width, |a, b| a != b).unwrap_or(Area::LEAST).on_grid(GRID)
}

/// Single pixels may differ by more than their block, but not so far that what has gone leaves a trace.
fn tolerance(options: &WebpOptions) -> Option<Tolerance> {
    let mean = u32::from(options.tolerance);
    (mean > 0).then_some(Tolerance { mean, most: (16 * mean + 64).min(FAINT) })
}

/// Preprocessing before lossless coding that is about as faithful as lossy coding.
fn near_lossless(coding: &WebpCoding) -> u8 {
    match *coding {
        WebpCoding::Lossless { near_lossless, .. } => near_lossless,
        WebpCoding::Lossy { quality, .. } if quality >= 95.0 => 100,
        WebpCoding::Lossy { quality, .. } if quality >= 85.0 => 80,
        WebpCoding::Lossy { quality, .. } if quality >= 60.0 => 60,
        WebpCoding::Lossy { .. } => 40,
    }
}

/// How frames are coded.
pub(super) struct Coder {
    lossy: Option<(Config, Colours)>,
    quick: Config,
    slow: Config,
    /// Which way with loss is likely the smaller one, and rests of the other and of coding without loss.
    likely: Drawn,
    other: Rest,
    exact: Rest,
}

/// How long a way to code frames is left out that came out far dearer.
#[derive(Debug, Default)]
struct Rest {
    frames: u32,
    /// Of the frame behind which it began, in the way that served and in this one.
    bytes: usize,
    dearer: usize,
}

impl Rest {
    fn begin(&mut self, bytes: usize, dearer: usize) {
        *self = Self { frames: REST, bytes, dearer };
    }

    /// Whether it holds for the next frame, which takes so many bytes: many more or less, and it is of another kind.
    fn holds(&mut self, bytes: usize) -> bool {
        let alike = bytes / 2 <= self.bytes && self.bytes / 2 <= bytes;
        self.frames = if alike { self.frames.saturating_sub(1) } else { 0 };
        self.frames > 0
    }
}

impl Coder {
    pub(super) fn new(options: &WebpOptions) -> Result<Self> {
        let near_lossless = near_lossless(&options.coding);
        let lossless = |(method, effort)| {
            let coding = WebpCoding::Lossless { near_lossless, exact: true, effort };
            config(&WebpOptions { coding, method, tolerance: 0 })
        };
        let (lossy, slow) = match options.coding {
            WebpCoding::Lossy { .. } => (Some((config(options)?, colours(options))), lossless((options.method, 75))?),
            WebpCoding::Lossless { .. } => (None, config(options)?),
        };
        let (likely, other, exact) = (Drawn::Blocks, Rest::default(), Rest::default());
        Ok(Self { lossy, quick: lossless(QUICK)?, slow, likely, other, exact })
    }

    /// Whether frames may be coded with loss.
    fn loses(&self) -> bool {
        self.lossy.is_some()
    }

    /// The smallest of all ways, but for those at rest.
    fn best(&mut self, patch: &Patch<'_>, run: Run<'_>) -> Result<Coded> {
        let Some((config, colours)) = self.lossy else { return self.without_loss(patch, usize::MAX, run) };
        let best = self.with_loss(patch, |drawing| lossy(drawing, &config, colours, run))?;
        let most = best.image.len();
        if self.rests(most).is_some() {
            return Ok(best);
        }
        let exact = self.without_loss(patch, most, run)?;
        Ok(if most < exact.image.len() { best } else { exact })
    }

    /// About the bytes that coding without loss takes in place of another way's, where it is at rest.
    pub(super) fn rests(&mut self, bytes: usize) -> Option<usize> {
        let rest = &mut self.exact;
        rest.holds(bytes).then(|| bytes * rest.dearer / rest.bytes)
    }

    /// The smaller of the ways with loss, unless one is at rest.
    fn with_loss(&mut self, patch: &Patch<'_>, code: impl Fn(&Drawing) -> Result<Coded>) -> Result<Coded> {
        let ways = if self.likely == Drawn::All { [Drawn::All, Drawn::Blocks] } else { [Drawn::Blocks, Drawn::All] };
        let mut drawings = ways.into_iter().filter_map(|drawn| Some((drawn, patch.drawing(drawn)?)));
        let (_, likely) = drawings.next().ok_or_else(no_way)?;
        let best = code(&likely)?;
        if self.other.holds(best.image.len()) {
            return Ok(best);
        }
        let Some((drawn, other)) = drawings.next() else { return Ok(best) };
        let other = code(&other)?;
        let is_less = other.image.len() < best.image.len();
        let (less, more) = if is_less { (other, best) } else { (best, other) };
        if is_less {
            self.likely = drawn;
        }
        if more.image.len() > less.image.len() * DEARER.0 / DEARER.1 {
            self.other.begin(less.image.len(), more.image.len());
        }
        Ok(less)
    }

    /// The smallest of the ways without loss, coded thoroughly if that may come below `most` bytes.
    pub(super) fn without_loss(&mut self, patch: &Patch<'_>, most: usize, run: Run<'_>) -> Result<Coded> {
        let small = patch.area.width * patch.area.height <= SMALL;
        let first = if small { &self.slow } else { &self.quick };
        let mut best: Option<(Coded, Source)> = None;
        for drawing in [Drawn::Changed, Drawn::All].into_iter().filter_map(|drawn| patch.drawing(drawn)) {
            let mut source = drawing.source(Colours::Argb, run)?;
            let coded = drawing.coded(&mut source, first, run)?;
            let hopeless = coded.image.len() > most.saturating_mul(HOPELESS);
            if best.as_ref().is_none_or(|best| coded.image.len() < best.0.image.len()) {
                best = Some((coded, source));
            }
            if hopeless {
                break;
            }
        }
        let (coded, mut source) = best.ok_or_else(no_way)?;
        let beyond = coded.image.len() > most.saturating_mul(GAIN.0) / GAIN.1;
        if beyond {
            self.exact.begin(most, coded.image.len());
        }
        if small || beyond {
            return Ok(coded);
        }
        let slow = Coded { image: coded_image(&mut source, &self.slow, run)?.0, ..coded };
        Ok(if slow.image.len() < coded.image.len() { slow } else { coded })
    }
}

fn no_way() -> Error {
    Error::internal("encoding WebP", "no way to code a frame")
}

fn lossy(drawing: &Drawing, config: &Config, colours: Colours, run: Run<'_>) -> Result<Coded> {
    let mut config = *config;
    if !drawing.is_opaque() {
        config.method = config.method.min(MOST_METHOD_OF_ALPHA);
        config.exact = drawing.is_filled().into();
    }
    drawing.coded(&mut drawing.source(colours, run)?, &config, run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_at_rest_is_tried_again_after_some_frames_and_where_another_kind_of_frame_comes() {
        let mut rest = Rest::default();
        assert!(!rest.holds(1000));
        rest.begin(1000, 4000);
        assert_eq!((0..100).take_while(|_| rest.holds(1100)).count(), 7);
        for other in [450, 2300] {
            rest.begin(1000, 4000);
            assert!(rest.holds(1000) && !rest.holds(other) && !rest.holds(1000), "{other}");
        }
    }

    #[test]
    fn what_coding_without_loss_would_take_is_known_while_it_rests() {
        let mut coder = Coder::new(&WebpOptions::lossy(80.0)).unwrap();
        assert_eq!(coder.rests(1000), None);
        coder.exact.begin(1000, 4000);
        assert_eq!(coder.rests(1500), Some(6000));
    }
}
