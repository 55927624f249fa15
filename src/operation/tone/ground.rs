//! Drawings, charts and screenshots on white, which are pale without having had too much light.

use crate::operation::survey::{Survey, peak};

/// A code from which a channel is clipped.
const CLIPPED: f32 = 254.0 / 255.0;
/// Share of all pixels from which a colour is that of a flat area.
const AREA: f64 = 0.002;

/// How surely the white of a picture is its ground, 0 to 1: nearly all of it is white, or much is and the rest is flat
/// colours that are not clipped. Where light has clipped a photograph to white, it has clipped one channel or two of
/// what lies around that as well.
pub(super) fn white(survey: &Survey) -> f64 {
    let is_white = |code: &[f32; 3]| code.iter().all(|&channel| channel >= CLIPPED);
    let mut rest: Vec<_> =
        survey.codes.iter().filter(|code| !is_white(code)).map(|code| code.map(f32::to_bits)).collect();
    rest.sort_unstable();
    let (all, left) = (survey.codes.len().max(1) as f64, rest.len().max(1) as f64);
    let white = 1.0 - rest.len() as f64 / all;
    let areas = rest.chunk_by(|one, other| one == other).map(<[_]>::len).filter(|&area| area as f64 >= AREA * all);
    let flat = areas.sum::<usize>() as f64 / left;
    let clipped = rest.iter().filter(|code| peak(code.map(f32::from_bits)) >= CLIPPED).count() as f64 / left;
    let drawing = ramp(white, 0.2, 0.3) * ramp(flat, 0.25, 0.4) * (1.0 - ramp(clipped, 0.05, 0.15));
    drawing.max(ramp(white, 0.7, 0.85))
}

/// From 0 to 1 on the way between two values.
fn ramp(value: f64, from: f64, to: f64) -> f64 {
    ((value - from) / (to - from)).clamp(0.0, 1.0)
}
