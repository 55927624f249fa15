//! The grounds of drawings, charts and screenshots, which are pale, dark or coloured because they are meant to be.

use std::ops::Range;

use super::survey::{Survey, peak, ramp};

/// A code from which a channel is clipped.
pub(super) const CLIPPED: f32 = 254.0 / 255.0;
/// Shares of all pixels from which a colour is that of a flat area, of one in a drawing, and of one that a painter filled.
const AREA: f64 = 0.002;
const PAINT: f64 = 0.005;
const FILL: f64 = 0.02;
/// Codes between the channels of what has a colour.
const COLOURED: f32 = 16.0 / 255.0;
/// Codes of the darkest channel of a clipped colour where too much light has clipped it: below, it is the colour, above it is
/// what JPEG has made of white.
const PALE: Range<f32> = 0.5..0.9;

/// What a picture is drawn on.
pub(super) struct Ground {
    /// How surely its white is the ground, 0 to 1: most of it is white, or much is and next to nothing of the rest is
    /// clipped in one channel or two, as it is where light has clipped a photograph to white. What has no colour does not tell
    /// that and has to be of flat tones. What is not there counts as white: a cut-out is as it would be on paper.
    pub(super) white: f64,
    /// How surely what is on that ground is drawn, 0 to 1: much of it is of few colours. Of grays there are not many anyway.
    pub(super) drawn: f64,
    /// How surely the ground is of any other colour, 0 to 1: so much is of exactly one. Photographs have noise and gradients,
    /// but for what is clipped in all channels (of some 250, one with a painted sky came near a fifth).
    pub(super) plain: f64,
    /// How surely there are fills, 0 to 1: as `plain`, but of several colours together. Photographs with much that is out of focus
    /// have them as well, those with too much light seldom.
    pub(super) filled: f64,
}

impl Ground {
    pub(super) fn of(survey: &Survey) -> Self {
        let mut codes: Vec<_> = survey.codes.iter().map(|code| code.map(f32::to_bits)).collect();
        codes.sort_unstable();
        let areas = codes.chunk_by(|one, other| one == other).map(|area| (area[0].map(f32::from_bits), area.len()));
        let all = codes.len().max(1) as f64;
        let (mut rest, mut flat, mut clipped, mut coloured) = (0, 0, 0, 0);
        let (mut paints, mut fills, mut most, mut filled) = (0, 0, 0, 0);
        for (code, area) in areas {
            if code.iter().all(|&channel| channel >= CLIPPED) {
                continue;
            }
            rest += area;
            if area as f64 >= AREA * all {
                flat += area;
            }
            if area as f64 >= PAINT * all {
                paints += area;
            }
            if area as f64 >= FILL * all {
                fills += area;
            }
            let least = code.into_iter().fold(1.0, f32::min);
            if peak(code) >= CLIPPED && PALE.contains(&least) {
                clipped += area;
            }
            if peak(code) - least >= COLOURED {
                coloured += area;
            }
            if code.iter().any(|&channel| channel > 1.0 - CLIPPED && channel < CLIPPED) {
                most = most.max(area);
                if area as f64 >= FILL * all {
                    filled += area;
                }
            }
        }
        let of_rest = |pixels: usize| pixels as f64 / rest.max(1) as f64;
        let white = 1.0 - rest as f64 / (all + survey.hidden as f64);
        let drawing =
            ramp(white, 0.2, 0.3) * ramp(of_rest(flat), 0.25, 0.4) * (1.0 - ramp(of_rest(clipped), 0.05, 0.15));
        let coloured = ramp(of_rest(coloured), 0.02, 0.06);
        let placed = ramp(white, 0.2, 0.35) * coloured * (1.0 - ramp(of_rest(clipped), 0.005, 0.03));
        Self {
            white: drawing.max(placed).max(ramp(white, 0.55, 0.7)),
            drawn: ramp(white, 0.2, 0.3)
                * ramp(of_rest(fills), 0.4, 0.6).max(coloured * ramp(of_rest(paints), 0.3, 0.5)),
            plain: ramp(most as f64 / all, 0.2, 0.3),
            filled: ramp(filled as f64 / all, 0.1, 0.2),
        }
    }
}
