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
        let mut codes: Vec<_> = survey.codes.iter().map(|code| code.map(|c| (c * 255.0 + 0.5) as u8)).collect();
        codes.sort_unstable();
        let areas: Vec<_> = codes.chunk_by(|one, other| one == other).map(|area| (area[0], area.len())).collect();
        let all = codes.len().max(1) as f64;
        let (mut rest, mut flat, mut clipped, mut coloured) = (0, 0, 0, 0);
        let (mut paints, mut fills, mut most, mut filled) = (0, 0, 0, 0);
        for &(stored, area) in &areas {
            let code = stored.map(|c| f32::from(c) / 255.0);
            // What is of little contrast has much of any code, and as much of those around it.
            let distinct = if area as f64 >= AREA * all && crowded(stored, area, &areas) { 0 } else { area };
            if code.iter().all(|&channel| channel >= CLIPPED) {
                continue;
            }
            rest += area;
            if distinct as f64 >= AREA * all {
                flat += area;
            }
            if distinct as f64 >= PAINT * all {
                paints += area;
            }
            if distinct as f64 >= FILL * all {
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
                most = most.max(distinct);
                if distinct as f64 >= FILL * all {
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

/// Whether the colours a code away in any channels are together much more frequent than one is: more than the two beside it in a
/// gradient that was painted.
fn crowded(code: [u8; 3], area: usize, areas: &[([u8; 3], usize)]) -> bool {
    let near = |c: u8| c.saturating_sub(1)..=c.saturating_add(1);
    let around = near(code[0]).flat_map(|r| near(code[1]).map(move |g| [r, g]));
    let around = around.map(|[r, g]| {
        let from = areas.partition_point(|(other, _)| *other < [r, g, *near(code[2]).start()]);
        let within = areas[from..].iter().take_while(|(other, _)| *other <= [r, g, *near(code[2]).end()]);
        within.map(|(_, area)| area).sum::<usize>()
    });
    around.sum::<usize>() - area > 2 * area + area / 4
}
